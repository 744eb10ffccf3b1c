//! Asking a Shepherd a question and waiting for the answer, with progress on the way.

use bytes::Bytes;
use serde_json::Value;
use std::time::{Duration, Instant, SystemTime};
use testkit::ArsDouble;
use testkit::ars::Accepted;
use testkit::poll::eventually;

use crate::error::CliError;
use crate::progress::ProgressLine;
use crate::status::JobStatus;

/// Time between two looks at the status; it has no event to wait for.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long a finished query's callback may still be on its way before its answer is fetched instead.
const CALLBACK_GRACE: Duration = Duration::from_secs(3);
/// How long the end of an answered query may take to show.
const LAST_LOOK: Duration = Duration::from_secs(2);
/// The whole-query budget of a Shepherd that was not told otherwise.
const DEFAULT_LIMIT: Duration = Duration::from_secs(300);
/// How much later than its limit an answer may come in.
const SLACK: Duration = Duration::from_secs(20);

/// An answer, and how it came.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) body: Bytes,
    /// HTTP status, where the answer was fetched or waited for on the connection.
    pub(crate) http_status: Option<u16>,
    pub(crate) way: Way,
    pub(crate) took: Duration,
    pub(crate) at: SystemTime,
}

/// How an answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Callback,
    Fetched,
    Connection,
}

impl Received {
    fn now(body: Bytes, http_status: Option<u16>, way: Way, asked: Instant) -> Self {
        Self { body, http_status, way, took: asked.elapsed(), at: SystemTime::now() }
    }
}

/// How long to wait for the answer to `query`.
pub(crate) fn limit(query: &Value) -> Duration {
    let seconds = query.pointer("/parameters/timeout").and_then(Value::as_f64);
    let asked = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    asked.filter(|asked| !asked.is_zero()).map_or(DEFAULT_LIMIT, |asked| asked.max(DEFAULT_LIMIT)) + SLACK
}

/// Posts to `/query` and waits on the connection.
pub(crate) async fn sync(
    http: &ArsDouble,
    base: &str,
    ara: &str,
    query: &Value,
) -> Result<Received, CliError> {
    let asked = Instant::now();
    let mut line = ProgressLine::start();
    let mut looks = tokio::time::interval(LOOK_EVERY);
    let answer = http.query_sync(base, ara, query, limit(query));
    tokio::pin!(answer);
    loop {
        tokio::select! {
            answer = &mut answer => {
                line.end();
                let answer = answer.map_err(CliError::Submit)?;
                return Ok(Received::now(answer.body, Some(answer.status), Way::Connection, asked));
            }
            _ = looks.tick() => line.show(None),
        }
    }
}

/// Posts to `/asyncquery` and waits for the callback; an answer that is ready but does not come is fetched.
pub(crate) async fn asynchronous(
    http: &ArsDouble,
    base: &str,
    ara: &str,
    query: Value,
    limit: Duration,
) -> Result<Received, CliError> {
    let asked = Instant::now();
    let accepted = http.submit_async(base, ara, query).await.map_err(CliError::Submit)?;
    let mut line = ProgressLine::start();
    let waited = tokio::select! {
        delivery = http.wait_for(&accepted.key, limit) => match delivery {
            Ok(delivery) => Ok(Received::now(delivery.body, None, Way::Callback, asked)),
            Err(_) => Err(CliError::NoAnswer(limit)),
        },
        fetched = watch(http, base, &accepted, &mut line, asked) => Ok(fetched),
    };
    if waited.is_ok()
        && let Some(job_id) = &accepted.job_id
    {
        // The last state of the counts, which a quick answer leaves unseen; and whoever delivered the answer has had
        // our thanks by then.
        let ended = || async { JobStatus::ask(http, base, job_id).await.filter(JobStatus::is_final) };
        line.show(eventually("the query's end", LAST_LOOK, ended).await.ok().as_ref());
    }
    line.end();
    waited
}

/// Shows the status until the query is finished and its callback has had its time; then fetches the answer.
async fn watch(
    http: &ArsDouble,
    base: &str,
    accepted: &Accepted,
    line: &mut ProgressLine,
    asked: Instant,
) -> Received {
    let mut looks = tokio::time::interval(LOOK_EVERY);
    let mut finished: Option<Instant> = None;
    loop {
        looks.tick().await;
        let Some(job_id) = &accepted.job_id else {
            line.show(None);
            continue;
        };
        let status = JobStatus::ask(http, base, job_id).await;
        line.show(status.as_ref());
        if status.is_some_and(|status| status.is_final()) {
            let since = *finished.get_or_insert_with(Instant::now);
            if since.elapsed() >= CALLBACK_GRACE
                && let Ok(answer) = http.get(&format!("{base}/response/{job_id}"), LOOK_EVERY * 50).await
                && answer.status == 200
            {
                return Received::now(answer.body, Some(answer.status), Way::Fetched, asked);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::queries;

    #[test]
    fn the_wait_is_longer_than_what_the_query_may_take() {
        let query = queries::treats("MONDO:0005148");
        assert_eq!(limit(&query), DEFAULT_LIMIT + SLACK);
        assert_eq!(limit(&queries::with_timeout(query.clone(), 900)), Duration::from_secs(920));
        assert_eq!(limit(&queries::with_timeout(query, -1)), DEFAULT_LIMIT + SLACK);
    }
}
