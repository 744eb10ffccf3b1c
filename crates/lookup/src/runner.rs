//! One lookup from its entry to its close.

mod own;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use budget::{Clock, Deadline};
use meters::{CloseReason, Outstanding};
use rand::SeedableRng;
use rand::rngs::StdRng;
use retriever::SubmissionOutcome;
use runtime::{Task, TaskError, Wait, Waits, insist, log_entry};
use state::{
    Begun, CallbackId, CallbackRecord, CallbackStatus, Close, Closing, ConsumerName, FanOut, LookupTimes,
    NewSubQuery, QueryRecord, Recorded, Standing, StepEntry, StoredLog, SubmissionRecord,
};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};
use tracing::Instrument;
use trapi::{Dialect, LogLevel, Query};

use crate::constraints;
use crate::expand::{Ask, Expand, Expansion};
use crate::ports::{LookupStore, Submit};
use crate::recovery::Recovery;
use crate::submission::{self, Shared};
use crate::work::Worked;

/// A lost event costs at most this long.
const RECHECK: Duration = Duration::from_secs(20);
/// No expansion is larger; a rule pack that exceeds it is cut, and the query's log says so.
const MAX_SUB_QUERIES: usize = 500;

/// How many lost callbacks one worker fetches at once: each may be as large as a callback may be.
const MAX_RECOVERIES: usize = 16;

/// What a runner needs to know beside the query.
#[derive(Clone, Debug)]
pub struct RunnerSettings {
    /// The operator's budgets.
    pub budgets: budget::Budgets,
    /// In which dialect sub-queries are written.
    pub dialect: Dialect,
    /// The tier asked for when the client names none.
    pub default_tier: u32,
    /// The submitter when the client names none; `{ara}` stands for the persona.
    pub submitter: String,
    /// `CALLBACK_HOST`, without a slash at its end.
    pub callback_host: String,
    /// How many submissions are open at once.
    pub max_concurrent_submissions: usize,
    /// Largest answer that is fetched where a callback was lost, also decoded.
    pub max_recovered_bytes: usize,
}

/// Runs lookups.
pub struct Runner<S, R, C, E> {
    pub(crate) store: S,
    retriever: Arc<R>,
    pub(crate) clock: Arc<C>,
    expand: E,
    pub(crate) owner: ConsumerName,
    settings: RunnerSettings,
    waits: Waits,
    slots: Arc<Semaphore>,
    recoveries: Arc<Semaphore>,
}

impl<S: LookupStore + Clone, R: Submit, C: Clock, E: Expand> Runner<S, R, C, E> {
    /// A runner whose lookups are woken through `waits`.
    pub fn new(
        store: S,
        retriever: R,
        clock: C,
        expand: E,
        owner: ConsumerName,
        settings: RunnerSettings,
        waits: Waits,
    ) -> Self {
        let slots = settings.max_concurrent_submissions.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            store,
            retriever: Arc::new(retriever),
            clock: Arc::new(clock),
            expand,
            owner,
            settings,
            waits,
            slots: Arc::new(Semaphore::new(slots)),
            recoveries: Arc::new(Semaphore::new(MAX_RECOVERIES)),
        }
    }

    /// Runs the lookup of `task` until it is closed, lost or handed back.
    ///
    /// # Errors
    /// [`TaskError`]; a second run resumes from what is stored, with the same deadline and callback ids.
    pub async fn run(&self, task: Task) -> Result<(), TaskError> {
        let Task { entry, work, draining, .. } = task;
        let begun = match self.store.begin(&entry, &self.owner, self.clock.now()).await? {
            Ok(begun) => begun,
            Err(standing) => return self.not_ours(&entry, standing).await,
        };
        let next_operation = next_operation(&begun.record, entry.step)?;
        // an event between the registration and the wait must not be missed
        let wait = self.waits.register(entry.query);
        let mut lookup = Lookup {
            runner: self,
            entry: &entry,
            next_operation,
            logs: Vec::new(),
            ara: begun.record.ara.clone(),
            started: Instant::now(),
            outstanding: Outstanding::default(),
            submissions: JoinSet::new(),
            works: JoinSet::new(),
            recovering: JoinSet::new(),
            recovered: Arc::default(),
        };
        let deadline = match lookup.start(begun).await? {
            Ok(deadline) => deadline,
            Err(standing) => return self.not_ours(&entry, standing).await,
        };
        drop(work);
        tokio::select! {
            closed = lookup.wait_until_closed(deadline, &wait) => closed,
            () = draining.cancelled() => {
                self.store.hand_back(&entry, &self.owner).await?.ok();
                Ok(())
            }
        }
    }

    /// The entry is of no use to this worker any more.
    async fn not_ours(&self, entry: &StepEntry, standing: Standing) -> Result<(), TaskError> {
        match standing {
            // whoever took over settles the entry
            Standing::Lost => {}
            Standing::Missing | Standing::Past => self.store.discard(entry).await?,
            Standing::Over => {
                self.store.discard_payloads(entry.query).await?;
                self.store.discard(entry).await?;
            }
        }
        Ok(())
    }

    fn shared(
        &self,
        record: &QueryRecord,
        query: &Query,
        expansion: &Expansion,
        deadline: Deadline,
    ) -> Shared {
        let submitter = query.submitter.clone();
        let bypass_cache = query.extra.get("bypass_cache").or_else(|| query.parameters.get("bypass_cache"));
        Shared {
            budgets: self.settings.budgets,
            client: record.budget.client,
            deadline,
            dialect: self.settings.dialect,
            parameters: expansion.parameters.clone(),
            default_tier: self.settings.default_tier,
            ara: record.ara.clone(),
            submitter: submitter.unwrap_or_else(|| self.settings.submitter.replace("{ara}", &record.ara)),
            log_level: query.log_level,
            bypass_cache: bypass_cache.cloned(),
            callback_base: format!("{}/{}/callback/", self.settings.callback_host, record.ara),
            traceparent: record.traceparent.clone(),
        }
    }
}

fn next_operation(record: &QueryRecord, step: usize) -> Result<String, TaskError> {
    record.plan.get(step + 1).cloned().ok_or_else(|| TaskError::Defect {
        what: format!("the plan of the query ends with its lookup, at step {step}"),
    })
}

/// A lookup at work.
struct Lookup<'a, S, R, C, E> {
    runner: &'a Runner<S, R, C, E>,
    entry: &'a StepEntry,
    next_operation: String,
    /// For the query's log, written when the lookup closes.
    logs: Vec<StoredLog>,
    ara: String,
    started: Instant,
    outstanding: Outstanding,
    /// Dropped with the lookup: a hung ACK delays nothing.
    submissions: JoinSet<(CallbackId, String, SubmissionOutcome, Duration)>,
    /// The worker's own work, dropped with the lookup, too.
    works: JoinSet<(CallbackId, String, Worked)>,
    /// The attempt to recover lost callbacks, one at a time.
    recovering: JoinSet<()>,
    recovered: Arc<AtomicUsize>,
}

impl<S: LookupStore + Clone, R: Submit, C: Clock, E: Expand> Lookup<'_, S, R, C, E> {
    /// Fixes the deadline, registers the sub-queries and sends them off. An earlier worker's deadline and
    /// sub-queries are taken over as they are.
    async fn start(&mut self, begun: Begun) -> Result<Result<Deadline, Standing>, TaskError> {
        let runner = self.runner;
        let Begun { record, body } = begun;
        let query = Query::parse(&body).map_err(|invalid| defect(&invalid))?;
        drop(body);
        let question = query.query_graph.examine().map_err(|invalid| defect(&invalid))?;
        let mut expansion = match runner.expand.expand(&query, &question) {
            Ok(expansion) => expansion,
            Err(error) => return Err(defect(&error)),
        };
        if expansion.sub_queries.len() > MAX_SUB_QUERIES {
            let count = expansion.sub_queries.len();
            self.log(LogLevel::Warning, format!("Only {MAX_SUB_QUERIES} of {count} sub-queries are sent"));
            expansion.sub_queries.truncate(MAX_SUB_QUERIES);
        }
        if expansion.sub_queries.len() > 1
            && let Some(message) = constraints::not_carried(&query, &question)
        {
            self.log(LogLevel::Warning, message);
        }
        let now = runner.clock.now();
        let deadline = runner.settings.budgets.lookup_deadline(now, &record.budget);
        let retriever_stop = runner.settings.budgets.retriever_stop(deadline, now);
        let own = LookupTimes { deadline, retriever_stop };
        let sub_queries = self.name(&expansion)?;
        let fan_out = match runner.store.register(self.entry, &runner.owner, own, &sub_queries).await? {
            Ok(fan_out) => fan_out,
            Err(standing) => return Ok(Err(standing)),
        };
        self.tell_start(&record, &fan_out);
        self.outstanding.set(fan_out.outstanding());
        let deadline = fan_out.deadline;
        let shared = Arc::new(runner.shared(&record, &query, &expansion, deadline));
        drop((query, record));
        // an earlier worker may have had another rule pack; its sub-queries are asked as they were stored
        let otherwise = std::iter::repeat_with(|| Ask::Retriever);
        let answers = expansion.sub_queries.into_iter().map(|(_, ask)| ask).chain(otherwise);
        for (callback, ask) in fan_out.callbacks.into_iter().zip(answers) {
            if callback.status != CallbackStatus::Registered {
                continue;
            }
            match ask {
                Ask::Retriever => self.submit(&shared, callback),
                Ask::Work(work) => self.begin_work(&shared, callback, work),
            }
        }
        Ok(Ok(deadline))
    }

    fn name(&self, expansion: &Expansion) -> Result<Vec<NewSubQuery>, TaskError> {
        let mut rng = StdRng::from_os_rng();
        let partition = self.entry.query.partition();
        let named = expansion.sub_queries.iter().map(|(sub_query, _)| {
            Ok(NewSubQuery {
                callback: CallbackId::random(partition, &mut rng),
                label: sub_query.label.clone(),
                query_graph: serde_json::to_string(&sub_query.query_graph)?,
            })
        });
        named.collect::<serde_json::Result<_>>().map_err(|error| defect(&error))
    }

    fn tell_start(&mut self, record: &QueryRecord, fan_out: &FanOut) {
        let count = fan_out.callbacks.len();
        let left = fan_out.deadline.remaining(self.runner.clock.now());
        let verb = if fan_out.resumed { "taken over" } else { "started" };
        let query = self.entry.query;
        tracing::info!(
            %query,
            sub_queries = count,
            left_ms = left.as_millis(),
            "lookup of query {query} for {} {verb}: {count} sub-queries, {:.1} s left",
            record.ara,
            left.as_secs_f64(),
        );
        let message = format!("Lookup {verb}: {count} sub-queries, {:.1} s left", left.as_secs_f64());
        self.log(LogLevel::Info, message);
    }

    fn submit(&mut self, shared: &Arc<Shared>, callback: CallbackRecord) {
        let (id, label) = (callback.id, callback.label.clone());
        let span = tracing::info_span!(
            "retriever.submit",
            otel.kind = "client",
            sub_query = label,
            outcome = tracing::field::Empty
        );
        let sent = Instant::now();
        let submission = Arc::clone(shared).submit(
            Arc::clone(&self.runner.retriever),
            Arc::clone(&self.runner.slots),
            Arc::clone(&self.runner.clock),
            callback,
        );
        let submission = submission.instrument(span);
        self.submissions.spawn(async move { (id, label, submission.await, sent.elapsed()) });
    }

    /// Waits for ACKs and callbacks at the same time, until nothing is outstanding or the deadline passes.
    async fn wait_until_closed(&mut self, deadline: Deadline, wait: &Wait) -> Result<(), TaskError> {
        let left = deadline.remaining(self.runner.clock.now());
        let at_deadline = tokio::time::sleep(left);
        tokio::pin!(at_deadline);
        let mut recheck = tokio::time::interval_at(Instant::now() + RECHECK, RECHECK);
        let recovery = self.runner.settings.budgets.recovery(deadline, self.runner.clock.now());
        let first_recovery = Instant::now() + recovery.start.remaining(self.runner.clock.now());
        let mut recover = tokio::time::interval_at(first_recovery, recovery.pause);
        recover.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // what came in before the wait began needs no event
        let mut look = true;
        loop {
            if look && self.close(deadline, false).await? {
                return Ok(());
            }
            look = tokio::select! {
                Some(submitted) = self.submissions.join_next() => match submitted {
                    Ok((id, label, outcome, took)) => self.submitted(id, &label, &outcome, took).await?,
                    Err(failed) => {
                        tracing::error!("a submission ended by itself: {failed}");
                        false
                    }
                },
                Some(worked) = self.works.join_next() => match worked {
                    Ok((id, label, worked)) => self.worked(id, &label, worked).await?,
                    Err(failed) => {
                        tracing::error!("work on a sub-query ended by itself: {failed}");
                        false
                    }
                },
                () = wait.woken() => true,
                _ = recheck.tick() => true,
                _ = recover.tick(), if self.recovering.is_empty() => {
                    self.recovering.spawn(self.recovery(deadline).ask());
                    false
                }
                Some(_) = self.recovering.join_next() => false,
                () = &mut at_deadline => {
                    self.close(deadline, true).await?;
                    return Ok(());
                }
            };
        }
    }

    fn recovery(&self, deadline: Deadline) -> Recovery<S, Arc<R>, Arc<C>> {
        let runner = self.runner;
        Recovery {
            store: runner.store.clone(),
            retriever: Arc::clone(&runner.retriever),
            clock: Arc::clone(&runner.clock),
            query: self.entry.query,
            deadline,
            max_bytes: runner.settings.max_recovered_bytes,
            recovered: Arc::clone(&self.recovered),
            places: Arc::clone(&runner.recoveries),
        }
    }

    fn tell_recovered(&mut self) {
        let count = self.recovered.swap(0, Ordering::Relaxed);
        if count > 0 {
            self.log(LogLevel::Warning, format!("{count} lost callbacks were recovered from Retriever"));
        }
    }

    /// Records what became of a submission; true when that leaves nothing outstanding, or when the query
    /// is no longer ours.
    async fn submitted(
        &mut self,
        id: CallbackId,
        label: &str,
        outcome: &SubmissionOutcome,
        took: Duration,
    ) -> Result<bool, TaskError> {
        meters::submitted(&self.ara, submission::counted(outcome), took);
        let (level, message) = submission::told(label, outcome, took);
        let query = self.entry.query;
        match level {
            LogLevel::Debug | LogLevel::Info => tracing::debug!(%query, "query {query}: {message}"),
            LogLevel::Warning | LogLevel::Error => tracing::warn!(%query, "query {query}: {message}"),
        }
        self.log(level, message);
        self.record(id, &submission::record(outcome)).await
    }

    /// Stores what became of a sub-query.
    async fn record(&mut self, id: CallbackId, record: &SubmissionRecord) -> Result<bool, TaskError> {
        let runner = self.runner;
        let now = runner.clock.now();
        // not by another run of the lookup, which would send again what is not recorded
        let call = || runner.store.record_submission(self.entry, &runner.owner, id, record, now);
        let Ok(Recorded { outstanding }) = insist(call).await? else { return Ok(true) };
        self.outstanding.set(outstanding);
        Ok(outstanding == 0)
    }

    /// Closes the lookup if it can be closed; true when this worker is done with it.
    async fn close(&mut self, deadline: Deadline, deadline_passed: bool) -> Result<bool, TaskError> {
        self.tell_recovered();
        let runner = self.runner;
        let close = Close {
            next_operation: &self.next_operation,
            force: deadline_passed,
            failure: None,
            logs: &self.logs,
        };
        let query = self.entry.query;
        let now = runner.clock.now();
        let call = || runner.store.close_lookup(self.entry, &runner.owner, &close, now);
        Ok(match insist(call).await? {
            Closing::Open { outstanding } => {
                self.outstanding.set(outstanding);
                false
            }
            Closing::Closed { missing: 0 } => {
                self.count_close(CloseReason::Complete, deadline.remaining(now));
                tracing::info!(%query, "lookup of query {query} closed: nothing is outstanding");
                true
            }
            Closing::Closed { missing } => {
                self.count_close(CloseReason::Deadline, deadline.remaining(now));
                tracing::warn!(%query, missing, "lookup of query {query} closed at its deadline: {missing} callbacks never came");
                true
            }
            Closing::Not(standing) => {
                // the script has settled the entry
                if standing == Standing::Over {
                    runner.store.discard_payloads(query).await?;
                }
                true
            }
        })
    }

    fn count_close(&self, reason: CloseReason, left: Duration) {
        meters::lookup_closed(&self.ara, reason, left);
        meters::stage_ended(&self.entry.operation, self.started.elapsed());
    }

    fn log(&mut self, level: LogLevel, message: String) {
        self.logs.push(log_entry(self.runner.clock.now(), level, message));
    }
}

fn defect(what: &dyn std::fmt::Display) -> TaskError {
    TaskError::Defect { what: what.to_string() }
}
