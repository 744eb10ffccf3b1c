//! Text in JSON that is no Unicode: escapes for half of a surrogate pair, which a parser lets through where it
//! need not read a text, and which some readers take and cannot write again.

use memchr::memchr;

/// What an escape for one half of a character is long, without its backslash: `uXXXX`.
const CODE: usize = 5;

/// Whether every escape in `json` stands for a character. What is no JSON is for a parser to refuse.
pub fn is_unicode(json: &str) -> bool {
    let mut rest = json.as_bytes();
    while let Some(backslash) = memchr(b'\\', rest) {
        rest = &rest[backslash + 1..];
        let length = match code_unit(rest) {
            Some(0xD800..=0xDBFF) => match rest[CODE..].strip_prefix(b"\\").map(code_unit) {
                Some(Some(0xDC00..=0xDFFF)) => 2 * CODE + 1,
                _ => return false,
            },
            Some(0xDC00..=0xDFFF) => return false,
            Some(_) => CODE,
            // of one character, or none at all
            None => rest.len().min(1),
        };
        rest = &rest[length..];
    }
    true
}

/// The number that `uXXXX` names.
fn code_unit(escape: &[u8]) -> Option<u32> {
    let digits = escape.strip_prefix(b"u")?.get(..CODE - 1)?;
    digits.iter().try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_found_wherever_it_is() {
        for text in [
            r#"{"a":"\ud800"}"#,
            r#"{"a":["x\udc00y"]}"#,
            r#"{"\uD83D":1}"#,
            r#"["\ud83d\n\ude00"]"#,
            r#"["\ud83d\ud83d\ude00"]"#,
            r#"["\\\ud800"]"#,
            r#"["\ud83d"#,
        ] {
            assert!(!is_unicode(text), "{text}");
        }
    }

    #[test]
    fn whole_characters_and_what_is_no_escape_are_passed_over() {
        for text in [
            r#"["\ud83d\ude00","\\ud800","\u00e9\ud7ff\ue000","é😀"]"#,
            r#"["\\","\"","\\\""]"#,
            r#"["\uzzzz"#,
            "\\u",
            "\\",
            "",
        ] {
            assert!(is_unicode(text), "{text}");
        }
    }
}
