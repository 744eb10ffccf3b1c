//! When a submission may be sent again, and after what pause.

use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder, ExponentialBuilder};
use http::{HeaderMap, StatusCode, header::RETRY_AFTER};

/// Growing pauses with jitter; never ends by itself, as the ACK timeout ends the tries.
pub(crate) fn pauses() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(5))
        .with_factor(2.0)
        .with_jitter()
        .without_max_times()
        .build()
}

/// The least time that a further try is worth: with less, its answer could hardly come, and a submission that was
/// surely not taken would end as one that may have been, whose callback is waited for to the end.
pub(crate) fn least_time(ack_timeout: Duration) -> Duration {
    const ENOUGH: Duration = Duration::from_secs(2);
    ENOUGH.min(ack_timeout / 4)
}

/// Whether the server is only too busy just now.
pub(crate) fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

/// How long the server asks us to wait: seconds or an HTTP date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &'static str) -> Option<Duration> {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, http::HeaderValue::from_static(text))]);
        retry_after(&headers, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770))
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(asked("7"), Some(Duration::from_secs(7)));
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(7)));
        assert_eq!(asked("soon"), None);
        assert_eq!(asked("-1"), None);
    }

    #[test]
    fn pauses_grow_to_a_bound_and_never_end() {
        let pauses: Vec<_> = pauses().take(50).collect();
        assert_eq!(pauses.len(), 50);
        assert!(pauses.iter().all(|pause| *pause <= Duration::from_secs(10)), "{pauses:?}");
    }
}
