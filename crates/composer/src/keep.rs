//! How a step ends in the store: with the response, with a message for the next process, or not at all.

use std::time::Duration;

use budget::Clock;
use rand::Rng;
use runtime::TaskError;
use state::{Delivery, FinalResponse, Intermediate, QueryRecord, Standing, StepEntry, StoredLog};
use trapi::LogEntry;

use crate::composer::Composer;
use crate::ingredients::{Composed, Unfinished};

impl<C: Clock> Composer<C> {
    /// So that another process goes on at once.
    pub(crate) async fn hand_back(&self, entry: &StepEntry) -> Result<(), TaskError> {
        // the script has settled the entry, or its new owner will
        self.store.hand_back(entry, &self.owner).await?.ok();
        Ok(())
    }

    pub(crate) async fn not_ours(&self, entry: &StepEntry, standing: Standing) -> Result<(), TaskError> {
        match standing {
            Standing::Lost => return Ok(()),
            Standing::Over => self.store.discard_payloads(entry.query).await?,
            Standing::Missing | Standing::Past => {}
        }
        Ok(self.store.settle(&entry.operation, entry.query.partition(), &entry.id).await?)
    }

    pub(crate) async fn hand_on(
        &self,
        entry: &StepEntry,
        record: &QueryRecord,
        unfinished: &Unfinished,
        next_step: usize,
    ) -> Result<(), TaskError> {
        let Some(next_operation) = record.plan.get(next_step) else {
            return Err(TaskError::Defect { what: format!("the plan ends before step {next_step}") });
        };
        let intermediate = Intermediate {
            message: &unfinished.message,
            note: &unfinished.note,
            next_step,
            next_operation,
            keep_payloads_ms: u64::try_from(self.keep_payloads.as_millis()).unwrap_or(u64::MAX),
            logs: &texts(&unfinished.logs),
            token: rand::rng().random(),
        };
        let query = record.id;
        match self.store.hand_on(entry, &self.owner, &intermediate).await? {
            Ok(()) => {
                let bytes = unfinished.message.decoded_bytes;
                tracing::info!(
                    %query, bytes, "handed the message of query {query} on to {next_operation}: {bytes} bytes"
                );
            }
            Err(Standing::Over) => self.store.discard_payloads(query).await?,
            // the script has settled the entry, or its new owner will
            Err(Standing::Lost | Standing::Missing | Standing::Past) => {}
        }
        Ok(())
    }

    pub(crate) async fn put(
        &self,
        entry: &StepEntry,
        record: &QueryRecord,
        composed: &Composed,
        keep_payloads: Duration,
    ) -> Result<(), TaskError> {
        let Composed { body, ending, results, logs } = composed;
        let logs = texts(logs);
        let delivery_step = match record.delivery {
            Delivery::Callback(_) => Some(record.plan.len().saturating_sub(1)),
            Delivery::Connection => None,
        };
        let response = FinalResponse {
            body,
            outcome: ending.job,
            status: ending.status,
            description: &ending.description,
            http_status: ending.http_status,
            delivery_step,
            keep_payloads_ms: u64::try_from(keep_payloads.as_millis()).unwrap_or(u64::MAX),
            logs: &logs,
            token: rand::rng().random(),
        };
        let query = record.id;
        match self.store.store_response(entry, &self.owner, &response, self.clock.now()).await? {
            Ok(()) => {
                let bytes = body.len();
                tracing::info!(
                    %query, results, bytes, status = ending.status,
                    "composed the response to query {query}: {}, {results} results, {bytes} bytes", ending.status
                );
            }
            Err(Standing::Over) => self.store.discard_payloads(query).await?,
            // the script has settled the entry, or its new owner will
            Err(Standing::Lost | Standing::Missing | Standing::Past) => {}
        }
        Ok(())
    }
}

/// Entries as they are stored.
fn texts(logs: &[LogEntry]) -> Vec<StoredLog> {
    logs.iter().filter_map(|entry| serde_json::to_string(entry).ok()).map(StoredLog).collect()
}
