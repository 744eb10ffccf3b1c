//! Waiting for what sends no event: a port that opens, a line in a log file.

use std::time::Duration;

use crate::journal::WaitError;

/// Pause between two looks; short against any limit, long against the cost of a look.
const PAUSE: Duration = Duration::from_millis(10);

/// Looks again and again until `look` finds what it looks for, at most for `limit`.
///
/// Only for state that cannot be waited on; where there is an event, wait for that.
///
/// # Errors
/// [`WaitError`] after `limit`; its `seen` counts the looks.
pub async fn eventually<R, F>(
    wanted: &str,
    limit: Duration,
    mut look: impl FnMut() -> F,
) -> Result<R, WaitError>
where
    F: Future<Output = Option<R>>,
{
    let mut looks = 0;
    let search = async {
        loop {
            looks += 1;
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let found = tokio::time::timeout(limit, search).await;
    found.map_err(|_| WaitError { wanted: wanted.to_owned(), limit, seen: looks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn looks_until_it_finds() {
        let mut left = 3;
        let found = eventually("zero", Duration::from_secs(1), || {
            left -= 1;
            std::future::ready((left == 0).then_some("zero"))
        });
        assert_eq!(found.await.unwrap(), "zero");
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up_at_the_limit() {
        let never = eventually("never", Duration::from_secs(1), || std::future::ready(None::<()>));
        assert_eq!(never.await.unwrap_err().wanted, "never");
    }
}
