//! W3C trace context at the edge.

use axum::http::HeaderMap;
use rand::Rng;

/// The trace context of a query: that of the request's span where spans are recorded, else the client's
/// own where it sent a valid one, else a new one, so that every query has a trace id that logs and callees
/// share.
pub(crate) fn traceparent(headers: &HeaderMap) -> String {
    let sent = headers.get("traceparent").and_then(|value| value.to_str().ok()).map(str::trim);
    let inherited = sent.filter(|text| is_valid(text)).map_or_else(fresh, str::to_owned);
    runtime::traceparent(&tracing::Span::current(), &inherited)
}

fn fresh() -> String {
    let mut rng = rand::rng();
    let (trace, span) = (rng.random_range(1..=u128::MAX), rng.random_range(1..=u64::MAX));
    format!("00-{trace:032x}-{span:016x}-01")
}

fn is_valid(text: &str) -> bool {
    let hexadecimal = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let zero = |part: &str| part.bytes().all(|b| b == b'0');
    match text.split('-').collect::<Vec<_>>()[..] {
        [version, trace, span, flags] => {
            hexadecimal(version, 2)
                && version != "ff"
                && hexadecimal(trace, 32)
                && !zero(trace)
                && hexadecimal(span, 16)
                && !zero(span)
                && hexadecimal(flags, 2)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_context_is_kept_and_anything_else_replaced() {
        let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert!(is_valid(valid));
        assert!(is_valid(&fresh()));
        for broken in [
            "",
            "00-0-0-01",
            &valid.to_uppercase(),
            &valid.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
        ] {
            assert!(!is_valid(broken), "{broken}");
        }
    }
}
