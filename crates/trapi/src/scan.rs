//! One pass over JSON text for what a parser would let through: nesting without end, and members whose
//! name is repeated, of which each reader would see another one.
//!
//! The text is not validated here: whatever it is, this neither panics nor recurses.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use memchr::memchr2;

/// What a parser would let through.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// Objects and lists nested too deeply.
    #[error("is nested deeper than {limit} levels")]
    TooDeep {
        /// The deepest nesting accepted.
        limit: usize,
    },
    /// An object has two members of one name.
    #[error("has a member twice: `{name}`")]
    RepeatedMember {
        /// The name, cut to a few plain characters.
        name: String,
    },
}

/// Objects with more members than this get a set of their names; in smaller ones names are compared.
const FEW: usize = 16;
const SHOWN_CHARS: usize = 40;

/// Looks for flaws in `text`, which may be nested `limit` levels deep.
///
/// Names are compared by 64-bit hashes under a random seed, so that nobody can make two of them collide.
///
/// # Errors
/// The first [`Flaw`].
pub fn scan(text: &str, limit: usize) -> Result<(), Flaw> {
    Scan { text, at: 0, limit, hasher: RandomState::default(), open: Vec::new(), names: Vec::new() }.run()
}

/// An object or a list that is open.
struct Open {
    object: bool,
    /// Whether the next string is a name.
    expects_name: bool,
    /// Where its names begin among all names.
    first: usize,
    /// All its names, once there are many.
    many: Option<HashSet<u64, RandomState>>,
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    limit: usize,
    hasher: RandomState,
    open: Vec<Open>,
    /// Hashes of the names of all open objects, the innermost last.
    names: Vec<u64>,
}

impl Scan<'_> {
    fn run(mut self) -> Result<(), Flaw> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'{' => self.enter(true)?,
                b'[' => self.enter(false)?,
                b'}' | b']' => self.leave(),
                b',' => {
                    if let Some(open) = self.open.last_mut() {
                        open.expects_name = open.object;
                    }
                }
                b'"' => self.string()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn enter(&mut self, object: bool) -> Result<(), Flaw> {
        if self.open.len() >= self.limit {
            return Err(Flaw::TooDeep { limit: self.limit });
        }
        let first = self.names.len();
        self.open.push(Open { object, expects_name: object, first, many: None });
        Ok(())
    }

    fn leave(&mut self) {
        if let Some(open) = self.open.pop() {
            self.names.truncate(open.first);
        }
    }

    /// Passes over a string whose quote has been read, and notes it where it is a name.
    fn string(&mut self) -> Result<(), Flaw> {
        let start = self.at;
        let rest = self.text.as_bytes();
        let mut escaped = false;
        while let Some(found) = memchr2(b'"', b'\\', rest.get(self.at..).unwrap_or_default()) {
            self.at += found + 1;
            if rest.get(self.at - 1) == Some(&b'"') {
                let end = self.at - 1;
                return self.noted(start, end, escaped);
            }
            escaped = true;
            self.at += 1;
        }
        // unterminated: a parser will say so
        self.at = rest.len();
        Ok(())
    }

    fn noted(&mut self, start: usize, end: usize, escaped: bool) -> Result<(), Flaw> {
        let Some(open) = self.open.last_mut().filter(|open| open.expects_name) else { return Ok(()) };
        open.expects_name = false;
        let raw = self.text.get(start..end).unwrap_or_default();
        // `"\u0061"` and `"a"` are one name; what is no string is left to the parser
        let name = if escaped { unescaped(raw) } else { Cow::Borrowed(raw) };
        let hash = self.hasher.hash_one(name.as_bytes());
        let names = self.names.get(open.first..).unwrap_or_default();
        let repeated = match &mut open.many {
            Some(many) => !many.insert(hash),
            None => names.contains(&hash),
        };
        if repeated {
            return Err(Flaw::RepeatedMember { name: shown(&name) });
        }
        if open.many.is_none() {
            self.names.push(hash);
            if self.names.len() - open.first > FEW {
                open.many = Some(self.names.drain(open.first..).collect());
            }
        }
        Ok(())
    }
}

fn unescaped(raw: &str) -> Cow<'_, str> {
    serde_json::from_str::<String>(&format!("\"{raw}\"")).map_or(Cow::Borrowed(raw), Cow::Owned)
}

fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(text: &str) -> Option<String> {
        match scan(text, 100) {
            Ok(()) => None,
            Err(Flaw::RepeatedMember { name }) => Some(name),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn repeated_names_are_found_at_any_depth() {
        assert_eq!(repeated(r#"{"a":1,"a":2}"#).as_deref(), Some("a"));
        assert_eq!(repeated(r#"[{"x":[{"b":{},"c":"b","b":[]}]}]"#).as_deref(), Some("b"));
        assert_eq!(repeated(r#"{"a":1,"\u0061":2}"#).as_deref(), Some("a"));
        assert_eq!(repeated(r#"{"a":{"a":{"a":1}},"b":["a","a"],"c":"a"}"#), None);
        assert_eq!(repeated(r#"[{"a":1},{"a":1}]"#), None);
        assert_eq!(repeated(r#"{"a\"":1,"a":"\\","b":"{\"a\":1"}"#), None);
    }

    #[test]
    fn objects_with_many_members_are_looked_through_too() {
        let members: Vec<String> = (0..1000).map(|i| format!("\"k{i}\":{{\"k\":{i}}}")).collect();
        assert_eq!(repeated(&format!("{{{}}}", members.join(","))), None);
        for twice in [0, 7, 16, 17, 999] {
            let text = format!("{{{},\"k{twice}\":1}}", members.join(","));
            assert_eq!(repeated(&text), Some(format!("k{twice}")));
        }
    }

    #[test]
    fn depth_counts_brackets_outside_of_strings_only() {
        let too_deep = |limit| Err(Flaw::TooDeep { limit });
        assert_eq!(scan(r#"[["[[[[\"[[["]]"#, 2), Ok(()));
        assert_eq!(scan("[[[]]]", 2), too_deep(2));
        assert_eq!(scan("[][][]", 1), Ok(()));
        assert_eq!(scan(&"[".repeat(1_000_000), 128), too_deep(128));
        assert_eq!(scan(&"{\"a\":".repeat(1_000_000), 128), too_deep(128));
    }

    #[test]
    fn what_is_no_json_is_passed_over_without_panicking() {
        for text in
            ["", "}", "]]]", "\"", "\"\\", "{\"a\\", ",,,", "{,\"a\":\"", "é{\"é\":1,\"é\":2", "\"\\u"]
        {
            let _ = scan(text, 10);
        }
    }
}
