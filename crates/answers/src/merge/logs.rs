//! The logs that callbacks bring, made fit for ours.

use serde::Deserialize;
use serde_json::value::RawValue;
use trapi::{LogEntry, LogLevel};

/// How many entries of one callback are kept.
const MAX_ENTRIES: usize = 1000;

#[derive(Deserialize)]
struct EntryText {
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    level: Option<String>,
    #[serde(default)]
    code: Option<serde_json::Value>,
    #[serde(default)]
    message: Option<String>,
}

/// The entries that say something, and when; what is not readable is left out.
pub(super) fn read(raw: Option<&RawValue>) -> Vec<LogEntry> {
    let items: Vec<&RawValue> = raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    items.into_iter().take(MAX_ENTRIES).filter_map(entry).collect()
}

fn entry(raw: &RawValue) -> Option<LogEntry> {
    let text: EntryText = serde_json::from_str(raw.get()).ok()?;
    Some(LogEntry {
        timestamp: timestamp(&text.timestamp?)?,
        level: text.level.and_then(|level| level.parse().ok()).unwrap_or(LogLevel::Info),
        code: match text.code {
            Some(serde_json::Value::String(code)) => Some(code),
            Some(serde_json::Value::Number(code)) => Some(code.to_string()),
            _ => None,
        },
        message: text.message?,
    })
}

/// RFC 3339: a time without an offset is taken for UTC.
fn timestamp(text: &str) -> Option<String> {
    let (date, time) = text.split_once(['T', ' '])?;
    let well_formed = |text: &str, mask: &str| {
        text.len() == mask.len()
            && text.bytes().zip(mask.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                wanted => byte == wanted,
            })
    };
    let clock = time.get(..8)?;
    if !well_formed(date, "0000-00-00") || !well_formed(clock, "00:00:00") {
        return None;
    }
    let zone = time.get(8..)?.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let fraction = time.get(8..time.len() - zone.len())?;
    match zone {
        "" | "Z" | "z" => Some(format!("{date}T{clock}{fraction}Z")),
        offset if well_formed(offset.get(1..)?, "00:00") => Some(format!("{date}T{clock}{fraction}{offset}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(text: &str) -> Vec<LogEntry> {
        read(Some(serde_json::from_str(text).unwrap()))
    }

    #[test]
    fn entries_are_made_fit() {
        let entries = logs(
            r#"[{"timestamp":"2026-01-02T03:04:05.678","level":"TRACE","message":"m","code":null},
                {"timestamp":"2026-01-02 03:04:05+01:00","level":null,"message":"n","code":7,"x":1}]"#,
        );
        assert_eq!(entries[0].timestamp, "2026-01-02T03:04:05.678Z");
        assert_eq!(entries[0].level, LogLevel::Debug);
        assert_eq!(entries[1].timestamp, "2026-01-02T03:04:05+01:00");
        assert_eq!((entries[1].level, entries[1].code.as_deref()), (LogLevel::Info, Some("7")));
    }

    #[test]
    fn what_says_nothing_is_left_out_and_the_rest_is_capped() {
        assert!(
            logs(r#"[1,null,{},{"timestamp":"1","message":"m"},{"timestamp":"2026-01-02T03:04:05Z"}]"#)
                .is_empty()
        );
        assert!(logs("{}").is_empty() && read(None).is_empty());
        assert!(logs(r#"[{"timestamp":"2026-01-02T03:04:0é","message":"m"}]"#).is_empty());
        let many =
            format!("[{}]", vec![r#"{"timestamp":"2026-01-02T03:04:05Z","message":"m"}"#; 1500].join(","));
        assert_eq!(logs(&many).len(), MAX_ENTRIES);
    }
}
