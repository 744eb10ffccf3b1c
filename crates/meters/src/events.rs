//! What happens, as it is counted and timed.

use std::time::Duration;

use metrics::{counter, gauge, histogram};

use crate::labels::{
    BodyKind, CallbackOutcome, CloseReason, CommandKind, DeliveryOutcome, Label, MissingReason, Mode,
    QueryKind, Rehydration, ServiceOutcome, SubmissionOutcome,
};

/// A query was accepted.
pub fn query_accepted(ara: &'static str, mode: Mode) {
    counter!("shepherd_queries_accepted_total", "ara" => ara, "mode" => mode.as_str()).increment(1);
}

/// A query was refused with this error code; `ara` is empty where there is no such persona.
pub fn query_refused(ara: &'static str, code: &'static str) {
    counter!("shepherd_queries_refused_total", "ara" => ara, "code" => code).increment(1);
}

/// The response of a query was stored, with this TRAPI status.
pub fn query_finished(ara: &str, kind: QueryKind, status: &'static str) {
    counter!(
        "shepherd_queries_finished_total",
        "ara" => ara.to_owned(), "kind" => kind.as_str(), "status" => status
    )
    .increment(1);
}

/// A step of a query took this long in this process.
pub fn stage_ended(operation: &str, took: Duration) {
    histogram!("shepherd_stage_duration_seconds", "stage" => operation.to_owned()).record(took);
}

/// A submission ended.
pub fn submitted(ara: &str, outcome: SubmissionOutcome, took: Duration) {
    let ara = ara.to_owned();
    counter!("shepherd_submissions_total", "ara" => ara.clone(), "outcome" => outcome.as_str()).increment(1);
    histogram!("shepherd_ack_duration_seconds", "ara" => ara).record(took);
}

/// A question to a service that answers on the connection ended.
pub fn service_asked(ara: &str, outcome: ServiceOutcome, took: Duration) {
    let ara = ara.to_owned();
    counter!("shepherd_service_queries_total", "ara" => ara.clone(), "outcome" => outcome.as_str())
        .increment(1);
    histogram!("shepherd_service_query_duration_seconds", "ara" => ara).record(took);
}

/// A callback was answered.
pub fn callback(outcome: CallbackOutcome) {
    counter!("shepherd_callbacks_total", "outcome" => outcome.as_str()).increment(1);
}

/// A callback came so many seconds after the instant by which Retriever was told to stop.
pub fn callback_lateness(seconds: f64) {
    histogram!("shepherd_callback_lateness_seconds").record(seconds);
}

/// A lookup closed with so much time left.
pub fn lookup_closed(ara: &str, reason: CloseReason, left: Duration) {
    let ara = ara.to_owned();
    counter!("shepherd_lookups_closed_total", "ara" => ara.clone(), "reason" => reason.as_str()).increment(1);
    histogram!("shepherd_lookup_time_left_seconds", "ara" => ara).record(left);
}

/// Sub-queries that a lookup waits for, while the value lives.
#[derive(Debug, Default)]
pub struct Outstanding(u32);

impl Outstanding {
    /// So many are outstanding now.
    pub fn set(&mut self, count: u32) {
        gauge!("shepherd_sub_queries_outstanding").increment(f64::from(count) - f64::from(self.0));
        self.0 = count;
    }
}

impl Drop for Outstanding {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// So many sub-queries of a lookup have no answer.
pub fn sub_queries_missing(ara: &str, reason: MissingReason, count: u64) {
    counter!(
        "shepherd_sub_queries_missing_total",
        "ara" => ara.to_owned(), "reason" => reason.as_str()
    )
    .increment(count);
}

/// How an operation's stream stands, over all partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamStanding {
    /// Entries, queued or worked on.
    pub length: u64,
    /// Entries that no worker has taken yet.
    pub lag: u64,
    /// Entries that workers hold.
    pub pending: u64,
    /// Workers that have read lately.
    pub live_workers: u64,
}

/// The stream of an operation was looked at.
pub fn stream(operation: &str, standing: StreamStanding) {
    let set = |name: &'static str, count: u64| {
        #[expect(clippy::cast_precision_loss, reason = "a count of entries")]
        gauge!(name, "operation" => operation.to_owned()).set(count as f64);
    };
    set("shepherd_stream_length", standing.length);
    set("shepherd_stream_lag", standing.lag);
    set("shepherd_stream_pending", standing.pending);
    set("shepherd_stream_live_workers", standing.live_workers);
}

/// So many dead letters wait for an operator.
pub fn dead_letters(count: u64) {
    #[expect(clippy::cast_precision_loss, reason = "a count of entries")]
    gauge!("shepherd_dead_letters").set(count as f64);
}

/// A step was taken over from a worker that let it go.
pub fn lease_taken_over(operation: &str) {
    counter!("shepherd_lease_takeovers_total", "operation" => operation.to_owned()).increment(1);
}

/// A step was given up.
pub fn dead_letter(operation: &str) {
    counter!("shepherd_dead_letters_total", "operation" => operation.to_owned()).increment(1);
}

/// A worker reads the stream of `operation`: what it counts begins at zero.
pub fn worker_started(operation: &str) {
    for name in ["shepherd_lease_takeovers_total", "shepherd_dead_letters_total"] {
        counter!(name, "operation" => operation.to_owned()).increment(0);
    }
}

/// A second pass ended.
pub fn rehydrated(outcome: Rehydration) {
    counter!("shepherd_rehydrations_total", "outcome" => outcome.as_str()).increment(1);
}

/// A process that makes second passes has started.
pub fn rehydration_started() {
    for outcome in Rehydration::ALL {
        counter!("shepherd_rehydrations_total", "outcome" => outcome.as_str()).increment(0);
    }
}

/// A response was posted once.
pub fn delivery_attempt(outcome: DeliveryOutcome) {
    counter!("shepherd_delivery_attempts_total", "outcome" => outcome.as_str()).increment(1);
}

/// A process that delivers has started.
pub fn delivery_started() {
    for outcome in DeliveryOutcome::ALL {
        counter!("shepherd_delivery_attempts_total", "outcome" => outcome.as_str()).increment(0);
    }
}

/// A process that takes callbacks has started.
pub fn callbacks_started() {
    for outcome in CallbackOutcome::ALL {
        counter!("shepherd_callbacks_total", "outcome" => outcome.as_str()).increment(0);
    }
}

/// A body has so many bytes, decoded.
pub fn body(kind: BodyKind, bytes: u64) {
    #[expect(clippy::cast_precision_loss, reason = "a size")]
    histogram!("shepherd_body_bytes", "kind" => kind.as_str()).record(bytes as f64);
}

/// So many bytes of callbacks were read and merged.
pub fn merged(bytes: u64, took: Duration) {
    counter!("shepherd_merge_bytes_total").increment(bytes);
    histogram!("shepherd_merge_duration_seconds").record(took);
}

/// Redis answered a command.
pub fn redis_answered(kind: CommandKind, took: Duration) {
    histogram!("shepherd_redis_command_duration_seconds", "kind" => kind.as_str()).record(took);
}

/// A command to Redis failed; `lost` where the connection was.
pub fn redis_failed(lost: bool) {
    counter!("shepherd_redis_errors_total").increment(1);
    counter!("shepherd_redis_reconnects_total").increment(u64::from(lost));
}

/// A process that uses Redis has started.
pub fn redis_started() {
    counter!("shepherd_redis_errors_total").increment(0);
    counter!("shepherd_redis_reconnects_total").increment(0);
}

/// How much memory Redis uses, and may use; 0 for no limit.
pub fn redis_memory(used_bytes: f64, max_bytes: f64) {
    gauge!("shepherd_redis_memory_used_bytes").set(used_bytes);
    gauge!("shepherd_redis_memory_max_bytes").set(max_bytes);
}
