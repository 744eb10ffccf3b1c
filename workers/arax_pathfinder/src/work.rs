//! One search from its turn to its answer.

use std::pin::pin;
use std::time::Duration;

use budget::Clock;
use lookup::{Assignment, WorkError};
use paths::{Ended, Found};
use runtime::rfc3339;
use serde_json::value::RawValue;
use tokio::time::sleep;
use trapi::{LogEntry, LogLevel};

use crate::graph::{Ask, Graph, GraphError, Retriever};
use crate::request::Request;
use crate::{Pathfinder, answer};

/// A tenth of the time, and at most this, is kept for joining the paths and writing them down.
const LONGEST_RESERVE: Duration = Duration::from_secs(2);

type Paths = Found<Box<RawValue>, GraphError>;

impl Pathfinder {
    /// Searches until all is known, or until the time is over, and answers with the best of what is known by then.
    pub(crate) async fn work(self, request: Request, assignment: Assignment) -> Result<Vec<u8>, WorkError> {
        let left = assignment.remaining();
        let end = assignment.answer_by().earlier_by(LONGEST_RESERVE.min(left / 10));
        let mut stop = pin!(sleep(end.remaining(assignment.clock().now())));
        let _place = tokio::select! {
            place = self.places.acquire() => place,
            () = &mut stop => return Err(WorkError::Late),
        };
        let retriever = Retriever { assignment: assignment.clone(), service: self.service.clone(), end };
        self.answer(&request, &retriever, assignment.clock(), stop).await
    }

    /// The body of the response with what is found before `stop`.
    pub(crate) async fn answer(
        &self,
        request: &Request,
        asked: &impl Ask,
        clock: &dyn Clock,
        stop: impl Future<Output = ()>,
    ) -> Result<Vec<u8>, WorkError> {
        let graph = Graph(asked);
        let Request { question, limits, .. } = request;
        let found = paths::search(question, &self.blocked, limits, &graph, &self.files, stop).await;
        let Found { batches, answered, .. } = found;
        tracing::info!(
            paths = found.paths.len(),
            batches,
            answered,
            "{} paths found, {answered} of {batches} questions answered",
            found.paths.len()
        );
        if answered == 0 {
            return Err(no_answer(&found));
        }
        let timestamp = rfc3339(clock.now());
        let entry = |(level, message)| LogEntry { timestamp: timestamp.clone(), level, code: None, message };
        let logs: Vec<LogEntry> = told(request, &found).into_iter().map(entry).collect();
        answer::body(request, &found, &logs).map_err(|error| WorkError::Failed(error.to_string()))
    }
}

/// Why nothing at all is known.
fn no_answer(found: &Paths) -> WorkError {
    match found.failed.iter().find(|error| !error.is_late()) {
        Some(error) => WorkError::Failed(format!("the graph cannot be searched: {error}")),
        None => WorkError::Late,
    }
}

/// What the client should know of a search.
fn told(request: &Request, found: &Paths) -> Vec<(LogLevel, String)> {
    let mut told: Vec<_> =
        request.warnings.iter().map(|warning| (LogLevel::Warning, warning.clone())).collect();
    let Found { paths, batches, answered, failed, not_asked, .. } = found;
    told.push((
        LogLevel::Info,
        format!(
            "{} paths found; {answered} of {batches} questions about neighbours were answered",
            paths.len()
        ),
    ));
    if let Some(first) = failed.first() {
        let message =
            format!("Paths may be missing: {} questions failed, the first because {first}", failed.len());
        told.push((LogLevel::Warning, message));
    }
    if found.ended == Ended::Stopped {
        told.push((LogLevel::Warning, "Paths may be missing: the search ended with its time".to_owned()));
    }
    if *not_asked > 0 {
        let message = format!("Paths may be missing: {not_asked} nodes were too many to ask about");
        told.push((LogLevel::Warning, message));
    }
    told
}
