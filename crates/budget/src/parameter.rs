//! How `parameters.timeout` of a TRAPI query is read.
//!
//! Clients write seconds as a number, as a string, as `null`, and sometimes as something else; TRAPI
//! 2.0 gives a negative number the meaning "no limit". Whatever they write, a query gets a budget.

use std::fmt;
use std::time::Duration;

use crate::budgets::LONGEST_BUDGET;

/// What a client's `parameters.timeout` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutParameter {
    /// Nothing was said (missing or `null`): the default applies.
    Absent,
    /// Something unusable was said: the default applies, and the client is told why.
    Unusable(Unusable),
    /// The client waits this long; never zero, never more than a day.
    Budget(Duration),
    /// A negative number (TRAPI 2.0): no limit of its own, only the whole-query budget binds.
    NoLimit,
}

/// Why a `parameters.timeout` cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Zero, of either sign.
    Zero,
    /// Not a number, or too large to be one.
    NotFinite,
    /// A string that holds no number.
    Text,
    /// A boolean, a list or an object.
    WrongType,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "parameters.timeout is 0",
            Self::NotFinite => "parameters.timeout is not a finite number",
            Self::Text => "parameters.timeout is a string without a number in it",
            Self::WrongType => "parameters.timeout is neither a number nor a string",
        })
    }
}

impl TimeoutParameter {
    /// Reads the JSON text of the parameter; `None` where the client sent none.
    pub fn read(json: Option<&str>) -> Self {
        let Some(json) = json.map(str::trim) else { return Self::Absent };
        match json.as_bytes().first() {
            None | Some(b'n') => Self::Absent,
            Some(b'"') => match serde_json::from_str::<String>(json) {
                Ok(text) => Self::from_number_text(text.trim(), Unusable::Text),
                Err(_) => Self::Unusable(Unusable::Text),
            },
            Some(b'-' | b'0'..=b'9') => Self::from_number_text(json, Unusable::WrongType),
            Some(_) => Self::Unusable(Unusable::WrongType),
        }
    }

    fn from_number_text(text: &str, otherwise: Unusable) -> Self {
        match text.parse::<f64>() {
            Ok(seconds) => Self::from_seconds(seconds),
            Err(_) => Self::Unusable(otherwise),
        }
    }

    fn from_seconds(seconds: f64) -> Self {
        if !seconds.is_finite() {
            Self::Unusable(Unusable::NotFinite)
        } else if seconds == 0.0 {
            Self::Unusable(Unusable::Zero)
        } else if seconds < 0.0 {
            Self::NoLimit
        } else {
            Self::Budget(duration_from_seconds(seconds))
        }
    }
}

/// Whole milliseconds, rounded up, so that a positive number never becomes zero.
fn duration_from_seconds(seconds: f64) -> Duration {
    let bounded = seconds.min(LONGEST_BUDGET.as_secs_f64());
    let up = Duration::from_secs_f64(bounded).as_micros().div_ceil(1000);
    Duration::from_millis(u64::try_from(up).unwrap_or(u64::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(json: &str, expected: TimeoutParameter) {
        assert_eq!(TimeoutParameter::read(Some(json)), expected, "for {json}");
    }

    #[test]
    fn positive_finite_numbers_and_strings_that_hold_one_are_used() {
        for (json, millis) in [
            ("60", 60_000),
            ("0.25", 250),
            ("1e2", 100_000),
            ("\"60\"", 60_000),
            ("\" 7.5 \"", 7500),
            ("1e-300", 1),
            ("9223372036854775808", 86_400_000),
        ] {
            reads(json, TimeoutParameter::Budget(Duration::from_millis(millis)));
        }
    }

    #[test]
    fn nothing_said_means_the_default_without_a_warning() {
        assert_eq!(TimeoutParameter::read(None), TimeoutParameter::Absent);
        reads("null", TimeoutParameter::Absent);
    }

    #[test]
    fn unusable_values_mean_the_default_and_say_why() {
        for (json, why) in [
            ("0", Unusable::Zero),
            ("-0.0", Unusable::Zero),
            ("0e5", Unusable::Zero),
            ("\"0\"", Unusable::Zero),
            ("1e400", Unusable::NotFinite),
            ("-1e400", Unusable::NotFinite),
            ("\"NaN\"", Unusable::NotFinite),
            ("\"inf\"", Unusable::NotFinite),
            ("\"abc\"", Unusable::Text),
            ("\"\"", Unusable::Text),
            ("\"\\ud800\"", Unusable::Text),
            ("true", Unusable::WrongType),
            ("false", Unusable::WrongType),
            ("[]", Unusable::WrongType),
            ("[60]", Unusable::WrongType),
            ("{}", Unusable::WrongType),
        ] {
            reads(json, TimeoutParameter::Unusable(why));
        }
    }

    #[test]
    fn negative_numbers_mean_no_limit_of_its_own() {
        for json in ["-1", "-0.5", "-9223372036854775808", "\"-1\""] {
            reads(json, TimeoutParameter::NoLimit);
        }
    }
}
