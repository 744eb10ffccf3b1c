//! One spelling for equal JSON values: keys sorted, no white space, numbers as they came.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// Deepest nesting that is taken apart; what is deeper is compared as it is spelled.
const MAX_DEPTH: usize = 64;

/// The canonical text of a value.
pub(crate) fn canonical(raw: &RawValue) -> String {
    let mut out = String::with_capacity(raw.get().len());
    write(raw, 0, &mut out);
    out
}

fn write(raw: &RawValue, depth: usize, out: &mut String) {
    let text = raw.get();
    let written = match text.as_bytes().first() {
        Some(b'{') if depth < MAX_DEPTH => write_object(text, depth, out),
        Some(b'[') if depth < MAX_DEPTH => write_list(text, depth, out),
        Some(b'"') => write_string(text, out),
        _ => None,
    };
    if written.is_none() {
        out.push_str(text);
    }
}

fn write_object(text: &str, depth: usize, out: &mut String) -> Option<()> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    out.push('{');
    for (count, (name, value)) in members.into_iter().enumerate() {
        if count > 0 {
            out.push(',');
        }
        push_string(&name, out)?;
        out.push(':');
        write(value, depth + 1, out);
    }
    out.push('}');
    Some(())
}

fn write_list(text: &str, depth: usize, out: &mut String) -> Option<()> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    out.push('[');
    for (count, value) in items.into_iter().enumerate() {
        if count > 0 {
            out.push(',');
        }
        write(value, depth + 1, out);
    }
    out.push(']');
    Some(())
}

fn write_string(text: &str, out: &mut String) -> Option<()> {
    // Only escapes have more than one spelling.
    if !text.contains('\\') {
        return None;
    }
    let string: String = serde_json::from_str(text).ok()?;
    push_string(&string, out)
}

fn push_string(string: &str, out: &mut String) -> Option<()> {
    out.push_str(&serde_json::to_string(string).ok()?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        canonical(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn key_order_white_space_and_escapes_do_not_count() {
        assert_eq!(
            of(r#"{ "b" : [1, {"y":0,"x":"\u0041/"}], "a":null }"#),
            r#"{"a":null,"b":[1,{"x":"A/","y":0}]}"#
        );
    }

    #[test]
    fn numbers_keep_their_spelling() {
        assert_eq!(of("[1.0,1,1e-300,12345678901234567890]"), "[1.0,1,1e-300,12345678901234567890]");
    }

    #[test]
    fn deep_nesting_ends() {
        let text = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(of(&text).len(), text.len());
    }
}
