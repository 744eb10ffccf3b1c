//! Deadlines of open queries, for whoever watches over them.

use std::time::Duration;

use budget::{Deadline, EpochMillis};
use redis::AsyncCommands;

use crate::connect::Store;
use crate::error::{Action, StateError};
use crate::ids::{ConsumerName, EntryId, QueryId};
use crate::keys;
use crate::script::Run;
use crate::tasks::StepEntry;

impl Store {
    /// At most `count` open queries of a partition, which are those without a response, with their deadlines, the
    /// earliest first. Queries without a deadline are not watched.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn open_queries(
        &self,
        partition: u16,
        count: usize,
    ) -> Result<Vec<(QueryId, Deadline)>, StateError> {
        let last = isize::try_from(count).unwrap_or(isize::MAX).saturating_sub(1);
        let open: Vec<(String, f64)> = self
            .small
            .clone()
            .zrange_withscores(keys::open(partition), 0, last)
            .await
            .action("list the open queries")?;
        let known = open.into_iter().filter_map(|(id, deadline_ms)| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "stored as whole milliseconds"
            )]
            let deadline = Deadline::at(EpochMillis(deadline_ms.max(0.0) as u64));
            Some((id.parse().ok()?, deadline))
        });
        Ok(known.collect())
    }

    /// Makes `owner` the one that answers a query whose workers are late, and returns the step that is
    /// due; `None` where another has done so within `patience`, or nothing is left to do.
    ///
    /// # Errors
    /// [`StateError::Redis`] when Redis cannot be asked.
    pub async fn rescue(
        &self,
        query: QueryId,
        owner: &ConsumerName,
        patience: Duration,
        now: EpochMillis,
    ) -> Result<Option<StepEntry>, StateError> {
        let patience_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        let answer: Vec<String> = self
            .scripts
            .rescue_query
            .key(keys::query(query))
            .key(keys::open(query.partition()))
            .arg(owner.as_str())
            .arg(now.0)
            .arg(patience_ms)
            .arg(query.to_string())
            .run(&self.small, "rescue a query")
            .await?;
        let [_, step, operation, traceparent] = &answer[..] else { return Ok(None) };
        Ok(Some(StepEntry {
            // the entry itself stays with whoever holds it, until it finds that the step is past
            id: EntryId(String::new()),
            operation: operation.clone(),
            query,
            step: step.parse().map_err(|_| StateError::Answer { script: "rescue_query" })?,
            traceparent: traceparent.clone(),
        }))
    }
}
