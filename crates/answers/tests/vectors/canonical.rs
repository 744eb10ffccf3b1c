//! The canonical JSON of the vectors, and its hash.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Keys sorted, no spaces.
pub(crate) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (count, (name, value)) in members.into_iter().enumerate() {
                out.push_str(if count > 0 { "," } else { "" });
                write!(out, "{}:", Value::from(name.as_str())).unwrap();
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (count, value) in items.iter().enumerate() {
                out.push_str(if count > 0 { "," } else { "" });
                write(value, out);
            }
            out.push(']');
        }
        other => write!(out, "{other}").unwrap(),
    }
}

/// SHA-256 of the canonical text, in hex.
pub(crate) fn hash(value: &Value) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(canonical(value).as_bytes()) {
        write!(hex, "{byte:02x}").unwrap();
    }
    hex
}
