//! Reading JSON objects member by member, with the path at hand for the error.
//!
//! Values stay raw slices until a typed reader asks for them; a repeated key keeps its last value.

use std::fmt;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::scan::{Flaw, scan};
use crate::{Invalid, Members, Problem};

/// Deepest nesting of objects and lists that is read at all.
pub const MAX_DEPTH: usize = 128;

/// Longest part of a client's key that a path shows, in characters.
const SHOWN_KEY: usize = 48;

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number
    Number,
    /// A string
    String,
    /// An array
    List,
    /// An object
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::List => "a list",
            Self::Object => "an object",
        })
    }
}

/// The type of a raw value, from its first byte.
pub fn kind(raw: &RawValue) -> Kind {
    match raw.get().trim_ascii_start().as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::List,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Boolean,
        Some(b'n') | None => Kind::Null,
        Some(_) => Kind::Number,
    }
}

/// Where a reader is; a list on the stack, so that it costs nothing until an error is made.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    pub(crate) fn error(&self, problem: Problem) -> Invalid {
        Invalid { path: self.to_string(), problem }
    }
}

impl fmt::Display for Path<'_> {
    // The depth is that of the readers below, not that of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(parent, key) => {
                if !matches!(parent, Self::Root) {
                    write!(f, "{parent}.")?;
                }
                write_key(f, key)
            }
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A client's key, shortened and without control characters.
fn write_key(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    for (count, character) in key.chars().enumerate() {
        if count == SHOWN_KEY {
            return f.write_str("…");
        }
        let shown = if character.is_control() { char::REPLACEMENT_CHARACTER } else { character };
        write!(f, "{shown}")?;
    }
    Ok(())
}

/// An object's members: each taken once by name, the rest kept.
pub(crate) struct Object<'j> {
    members: IndexMap<String, &'j RawValue>,
}

impl<'j> Object<'j> {
    pub(crate) fn read(raw: &'j RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        expect(raw, Kind::Object, path)?;
        Ok(Self { members: typed(raw, path)? })
    }

    /// The member of that name, unless absent or null.
    pub(crate) fn take(&mut self, name: &str) -> Option<&'j RawValue> {
        self.members.shift_remove(name).filter(|raw| kind(raw) != Kind::Null)
    }

    /// The member of that name, if it is of that kind; else it stays.
    pub(crate) fn take_if(&mut self, name: &str, wanted: Kind) -> Option<&'j RawValue> {
        let is_wanted = self.members.get(name).is_some_and(|raw| kind(raw) == wanted);
        if is_wanted { self.members.shift_remove(name) } else { None }
    }

    /// The member of that name, which stays.
    pub(crate) fn get(&self, name: &str) -> Option<&'j RawValue> {
        self.members.get(name).copied()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    pub(crate) fn take_string(&mut self, name: &str, path: &Path<'_>) -> Result<Option<String>, Invalid> {
        self.take(name).map(|raw| string(raw, &Path::Key(path, name))).transpose()
    }

    pub(crate) fn require_string(&mut self, name: &str, path: &Path<'_>) -> Result<String, Invalid> {
        self.take_string(name, path)?.ok_or_else(|| Path::Key(path, name).error(Problem::Missing))
    }

    pub(crate) fn take_strings(
        &mut self,
        name: &str,
        path: &Path<'_>,
    ) -> Result<Option<Vec<String>>, Invalid> {
        self.take_list(name, path, string)
    }

    /// A list read item by item.
    pub(crate) fn take_list<T>(
        &mut self,
        name: &str,
        path: &Path<'_>,
        item: impl Fn(&'j RawValue, &Path<'_>) -> Result<T, Invalid>,
    ) -> Result<Option<Vec<T>>, Invalid> {
        let Some(raw) = self.take(name) else { return Ok(None) };
        list(raw, &Path::Key(path, name), item).map(Some)
    }

    /// An object whose keys are names and whose values are all of one kind; absent is empty.
    pub(crate) fn take_named<T>(
        &mut self,
        name: &str,
        path: &Path<'_>,
        item: impl Fn(&'j RawValue, &Path<'_>) -> Result<T, Invalid>,
    ) -> Result<IndexMap<String, T>, Invalid> {
        let Some(raw) = self.take(name) else { return Ok(IndexMap::new()) };
        let path = Path::Key(path, name);
        Self::read(raw, &path)?.entries(&path, item)
    }

    /// All members, where all are of one kind.
    pub(crate) fn entries<T>(
        self,
        path: &Path<'_>,
        item: impl Fn(&'j RawValue, &Path<'_>) -> Result<T, Invalid>,
    ) -> Result<IndexMap<String, T>, Invalid> {
        let entries = self.members.into_iter().map(|(key, raw)| {
            let value = item(raw, &Path::Key(path, &key))?;
            Ok((key, value))
        });
        entries.collect()
    }

    /// An object kept as it is; absent is empty.
    pub(crate) fn take_members(&mut self, name: &str, path: &Path<'_>) -> Result<Members, Invalid> {
        match self.take(name) {
            None => Ok(Members::new()),
            Some(raw) => Ok(Self::read(raw, &Path::Key(path, name))?.rest()),
        }
    }

    /// All that was not taken.
    pub(crate) fn rest(self) -> Members {
        self.members.into_iter().map(|(key, raw)| (key, raw.to_owned())).collect()
    }
}

pub(crate) fn list<'j, T>(
    raw: &'j RawValue,
    path: &Path<'_>,
    item: impl Fn(&'j RawValue, &Path<'_>) -> Result<T, Invalid>,
) -> Result<Vec<T>, Invalid> {
    expect(raw, Kind::List, path)?;
    let items: Vec<&RawValue> = typed(raw, path)?;
    items.into_iter().enumerate().map(|(index, raw)| item(raw, &Path::Index(path, index))).collect()
}

pub(crate) fn string(raw: &RawValue, path: &Path<'_>) -> Result<String, Invalid> {
    expect(raw, Kind::String, path)?;
    typed(raw, path)
}

fn expect(raw: &RawValue, expected: Kind, path: &Path<'_>) -> Result<(), Invalid> {
    let found = kind(raw);
    if found == expected { Ok(()) } else { Err(path.error(Problem::WrongType { expected, found })) }
}

/// Reads a value whose kind was checked: only an escape for half a character can still fail.
fn typed<'j, T: Deserialize<'j>>(raw: &'j RawValue, path: &Path<'_>) -> Result<T, Invalid> {
    serde_json::from_str(raw.get()).map_err(|_| path.error(Problem::NotUnicode))
}

/// The one JSON value of a text, nested no deeper than [`MAX_DEPTH`] and without repeated members.
pub(crate) fn document<'j>(text: &'j str, path: &Path<'_>) -> Result<&'j RawValue, Invalid> {
    scan(text, MAX_DEPTH).map_err(|flaw| match flaw {
        Flaw::TooDeep { limit } => path.error(Problem::TooDeep { limit }),
        Flaw::RepeatedMember { name } => path.error(Problem::Repeated { name }),
    })?;
    serde_json::from_str(text)
        .map_err(|error| path.error(Problem::NotJson { line: error.line(), column: error.column() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_shows_no_control_characters_and_no_long_keys() {
        let key = format!("a\n\u{7}{}", "x".repeat(200));
        let shown = Path::Key(&Path::Key(&Path::Root, "nodes"), &key).to_string();
        assert!(shown.starts_with("nodes.a\u{fffd}\u{fffd}x") && shown.ends_with('…'), "{shown}");
        assert!(shown.chars().count() < 60);
    }

    #[test]
    fn a_repeated_key_keeps_its_last_value() {
        let raw: &RawValue = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        let rest = Object::read(raw, &Path::Root).unwrap().rest();
        assert_eq!(serde_json::to_string(&rest).unwrap(), r#"{"a":3,"b":2}"#);
    }
}
