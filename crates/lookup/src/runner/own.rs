//! Sub-queries that the worker answers itself: their answers take the way of a callback.

use std::sync::Arc;

use budget::Clock;
use runtime::TaskError;
use state::{CallbackId, CallbackRecord, CallbackReport, NewCallback, SubmissionRecord};
use tracing::Instrument;
use trapi::LogLevel;

use super::Lookup;
use crate::expand::Expand;
use crate::ports::{LookupStore, Submit};
use crate::submission::Shared;
use crate::work::{Assignment, Work, Worked};

impl<S: LookupStore + Clone, R: Submit, C: Clock, E: Expand> Lookup<'_, S, R, C, E> {
    pub(super) fn begin_work(&mut self, shared: &Arc<Shared>, callback: CallbackRecord, work: Work) {
        let runner = self.runner;
        let clock: Arc<dyn Clock> = Arc::<C>::clone(&runner.clock);
        let answer_by = runner.settings.budgets.answer_by(shared.deadline, clock.now());
        let slots = Arc::clone(&runner.slots);
        let assignment = Assignment { shared: Arc::clone(shared), clock, slots, answer_by };
        let span = tracing::info_span!("lookup.work", sub_query = callback.label);
        let worked = Worked::of(work, assignment, runner.settings.max_recovered_bytes).instrument(span);
        self.works.spawn(async move { (callback.id, callback.label, worked.await) });
    }

    /// Records what became of work; true when the lookup may be over.
    pub(super) async fn worked(
        &mut self,
        id: CallbackId,
        label: &str,
        worked: Worked,
    ) -> Result<bool, TaskError> {
        match worked {
            Worked::Report(report) => {
                self.keep(id, report).await?;
                Ok(true)
            }
            Worked::Late => {
                self.warn(LogLevel::Warning, format!("Sub-query {label}: nothing was heard in time"));
                Ok(false)
            }
            Worked::Failed(reason) => {
                self.warn(LogLevel::Error, format!("Sub-query {label}: {reason}"));
                self.record(id, &SubmissionRecord::Removed { reason }).await
            }
        }
    }

    /// Tells the client, and whoever watches over this process.
    fn warn(&mut self, level: LogLevel, message: String) {
        let query = self.entry.query;
        tracing::warn!(%query, "query {query}: {message}");
        self.log(level, message);
    }

    async fn keep(&self, id: CallbackId, report: CallbackReport) -> Result<(), TaskError> {
        let now = self.runner.clock.now();
        let new = NewCallback { id, query: self.entry.query, report, now, token: now.0 };
        self.runner.store.keep_callback(&new).await?.ok();
        Ok(())
    }
}
