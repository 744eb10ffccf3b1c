//! What a client asks of an operation, and what it is told where that cannot be used.

use serde_json::value::RawValue;
use trapi::{LogLevel, Operation};

use crate::Note;

/// Longest value that a note shows, in characters.
const SHOWN: usize = 40;

/// The value of a parameter: among the operation's parameters, else a member of the operation itself.
pub(super) fn value<'o>(operation: &'o Operation, name: &str) -> Option<&'o RawValue> {
    operation.parameters.get(name).or_else(|| operation.extra.get(name)).map(AsRef::as_ref)
}

/// A whole number that is not negative, however it is spelled: `2.0` and `2e0` are 2.
pub(super) fn whole_number(raw: &RawValue) -> Option<usize> {
    let text = raw.get();
    text.parse().ok().or_else(|| {
        let number: f64 = serde_json::from_str(text).ok()?;
        let is_whole = number >= 0.0 && number.fract() == 0.0;
        // more than can be counted is all there is
        is_whole.then(|| format!("{number:.0}").parse().unwrap_or(usize::MAX))
    })
}

/// The note for a value that cannot be used.
pub(super) fn unusable(operation: &Operation, name: &str, raw: &RawValue, applies: &str) -> Note {
    let value: String = raw.get().chars().filter(|character| !character.is_control()).take(SHOWN).collect();
    Note {
        level: LogLevel::Warning,
        code: "UnusableParameter",
        message: format!("{}: `{name}` cannot be {value}; {applies} applies", operation.id),
    }
}
