//! The variables a process of the stack gets.
//!
//! From the weakest to the strongest: defaults (only where the operator has set nothing), the operator's own
//! environment (if it is inherited), how the stack's parts find each other, and what the caller of the builder asked for.

use std::collections::BTreeMap;

/// Variables a program needs from its surroundings even when settings are not inherited.
const BASICS: [&str; 8] =
    ["PATH", "HOME", "TMPDIR", "TZ", "LANG", "RUST_BACKTRACE", "RUST_LOG", "LLVM_PROFILE_FILE"];

/// What would lead a process to another Redis than the stack's own.
const OTHER_REDIS: [&str; 2] = ["REDIS_URL", "REDIS_PASSWORD"];

/// Variables, in layers.
#[derive(Clone, Debug, Default)]
pub(super) struct Environment {
    /// Whether the operator's variables are passed on.
    pub(super) inherits: bool,
    pub(super) defaults: BTreeMap<String, String>,
    pub(super) wiring: BTreeMap<String, String>,
    pub(super) overrides: BTreeMap<String, String>,
}

impl Environment {
    /// Everything a process gets, given the operator's variables.
    pub(super) fn resolve(
        &self,
        operator: impl IntoIterator<Item = (String, String)>,
    ) -> Vec<(String, String)> {
        let mut all = self.defaults.clone();
        all.extend(operator.into_iter().filter(|(name, _)| {
            BASICS.contains(&name.as_str()) || (self.inherits && !OTHER_REDIS.contains(&name.as_str()))
        }));
        all.extend(self.wiring.clone());
        all.extend(self.overrides.clone());
        all.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn environment(inherits: bool) -> Environment {
        Environment {
            inherits,
            defaults: map(&[("LOG_LEVEL", "INFO"), ("CALLBACK_HOST", "http://127.0.0.1:1")]),
            wiring: map(&[("REDIS_PORT", "7000")]),
            overrides: map(&[("LOOKUP_TIMEOUT", "3")]),
        }
    }

    #[test]
    fn the_operators_settings_win_over_defaults_but_not_over_the_wiring() {
        let operator =
            map(&[("LOG_LEVEL", "DEBUG"), ("REDIS_PORT", "6379"), ("REDIS_URL", "redis://elsewhere")]);
        let resolved: BTreeMap<_, _> = environment(true).resolve(operator).into_iter().collect();
        let expected = map(&[
            ("LOG_LEVEL", "DEBUG"),
            ("CALLBACK_HOST", "http://127.0.0.1:1"),
            ("REDIS_PORT", "7000"),
            ("LOOKUP_TIMEOUT", "3"),
        ]);
        assert_eq!(resolved, expected);
    }

    #[test]
    fn without_inheritance_only_the_basics_come_through() {
        let operator = map(&[("LOG_LEVEL", "DEBUG"), ("LOOKUP_TIMEOUT", "9"), ("PATH", "/bin")]);
        let resolved: BTreeMap<_, _> = environment(false).resolve(operator).into_iter().collect();
        assert_eq!((resolved["LOG_LEVEL"].as_str(), resolved["LOOKUP_TIMEOUT"].as_str()), ("INFO", "3"));
        assert_eq!(resolved["PATH"], "/bin");
    }
}
