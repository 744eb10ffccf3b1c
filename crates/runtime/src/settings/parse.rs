//! How the values of variables are spelled.

use std::time::Duration;

/// Seconds, fractions allowed.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    let longest = 366.0 * 86_400.0;
    (seconds.is_finite() && (0.0..=longest).contains(&seconds)).then(|| Duration::from_secs_f64(seconds))
}

/// A size as Kubernetes writes it: `512Mi`, `100M`, `1.5GiB`, `1048576`. Zero means the largest we take.
pub(super) fn size(text: &str) -> Option<usize> {
    const LARGEST: f64 = 4.0 * 1024.0 * 1024.0 * 1024.0;
    let lower = text.to_ascii_lowercase();
    let lower = lower.strip_suffix('b').unwrap_or(&lower);
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &lower[digits.len()..] {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        "ki" => f64::from(1u32 << 10),
        "mi" => f64::from(1u32 << 20),
        "gi" => f64::from(1u32 << 30),
        "ti" => f64::from(1u32 << 30) * 1024.0,
        _ => return None,
    };
    let number: f64 = digits.trim().parse().ok()?;
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    let bytes = if number == 0.0 { LARGEST } else { (number * unit).min(LARGEST) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just above")]
    Some(bytes as usize)
}

/// A switch.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// A level by its Python or its Rust name.
pub(super) fn level(text: &str) -> Option<tracing_subscriber::filter::LevelFilter> {
    use tracing_subscriber::filter::LevelFilter;
    Some(match text.to_ascii_uppercase().as_str() {
        "CRITICAL" | "FATAL" | "ERROR" => LevelFilter::ERROR,
        "WARNING" | "WARN" => LevelFilter::WARN,
        "INFO" => LevelFilter::INFO,
        "DEBUG" => LevelFilter::DEBUG,
        "TRACE" | "NOTSET" => LevelFilter::TRACE,
        _ => return None,
    })
}
