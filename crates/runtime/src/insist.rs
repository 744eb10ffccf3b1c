//! State changes that must be made although Redis is away for a while.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use state::StateError;

/// Repeats a state change while Redis is away, with growing, jittered pauses. What led to it happened outside
/// and must not happen again: a sub-query that was acknowledged, a response that was delivered. It ends with
/// its task, when the lease is lost or the process aborts.
///
/// # Errors
/// [`StateError`] when trying again cannot help.
pub async fn insist<T, F: Future<Output = Result<T, StateError>>>(
    call: impl FnMut() -> F,
) -> Result<T, StateError> {
    let pauses = ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(50))
        .with_max_delay(Duration::from_secs(2))
        .with_jitter()
        .without_max_times();
    call.retry(pauses).when(StateError::is_transient).await
}
