//! Every metric there is.

/// How a metric is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts values by these upper bounds.
    Histogram(&'static [f64]),
}

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// How it is measured.
    pub kind: Kind,
    /// What it tells.
    pub about: &'static str,
}

/// Seconds of work, from a millisecond on.
const WORK: Kind = Kind::Histogram(&[
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 210.0, 300.0,
]);
/// Seconds of one command.
const COMMAND: Kind = Kind::Histogram(&[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0]);
/// Seconds before (negative) and after a deadline.
const AROUND: Kind = Kind::Histogram(&[
    -200.0, -120.0, -60.0, -30.0, -15.0, -10.0, -5.0, -2.0, 0.0, 2.0, 5.0, 10.0, 15.0, 30.0,
]);
/// Seconds left.
const LEFT: Kind = Kind::Histogram(&[0.0, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 180.0, 210.0, 300.0]);
/// Bytes of a body.
const BYTES: Kind = Kind::Histogram(&[1e3, 1e4, 1e5, 1e6, 5e6, 2.5e7, 1e8, 5e8]);

const fn metric(name: &'static str, kind: Kind, about: &'static str) -> Metric {
    Metric { name, kind, about }
}

/// All metrics.
pub const CATALOGUE: &[Metric] = &[
    metric("shepherd_build_info", Kind::Gauge, "1, with the program and its version"),
    metric("shepherd_queries_accepted_total", Kind::Counter, "queries that were accepted"),
    metric("shepherd_queries_refused_total", Kind::Counter, "queries that were refused, by error code"),
    metric(
        "shepherd_queries_finished_total",
        Kind::Counter,
        "queries whose response was stored, by TRAPI status",
    ),
    metric("shepherd_stage_duration_seconds", WORK, "time from the start of a step to its end"),
    metric(
        "shepherd_ack_duration_seconds",
        WORK,
        "time until a submission ended, mostly with Retriever's ACK",
    ),
    metric("shepherd_submissions_total", Kind::Counter, "submissions by outcome"),
    metric(
        "shepherd_service_query_duration_seconds",
        WORK,
        "time until a service that answers on the connection had answered, or was given up",
    ),
    metric("shepherd_service_queries_total", Kind::Counter, "questions to such services by outcome"),
    metric("shepherd_callbacks_total", Kind::Counter, "callbacks by outcome"),
    metric(
        "shepherd_callback_lateness_seconds",
        AROUND,
        "when a callback came, after the instant by which Retriever was told to stop; negative: early",
    ),
    metric("shepherd_lookups_closed_total", Kind::Counter, "lookups by why they closed"),
    metric("shepherd_lookup_time_left_seconds", LEFT, "time left when a lookup closed"),
    metric(
        "shepherd_sub_queries_outstanding",
        Kind::Gauge,
        "sub-queries of the lookups that this process holds",
    ),
    metric("shepherd_sub_queries_missing_total", Kind::Counter, "sub-queries without an answer, by reason"),
    metric("shepherd_rehydrations_total", Kind::Counter, "second passes over a message by outcome"),
    metric("shepherd_stream_length", Kind::Gauge, "steps queued or worked on, per operation"),
    metric("shepherd_stream_lag", Kind::Gauge, "steps that no worker has taken yet, per operation"),
    metric("shepherd_stream_pending", Kind::Gauge, "steps that workers hold, per operation"),
    metric("shepherd_stream_live_workers", Kind::Gauge, "workers that have read lately, per operation"),
    metric(
        "shepherd_lease_takeovers_total",
        Kind::Counter,
        "steps taken over from a worker that let them go",
    ),
    metric("shepherd_dead_letters_total", Kind::Counter, "steps given up"),
    metric("shepherd_dead_letters", Kind::Gauge, "dead letters that nobody has dropped or redriven"),
    metric("shepherd_delivery_attempts_total", Kind::Counter, "posts of responses by outcome"),
    metric("shepherd_body_bytes", BYTES, "size of a body, decoded"),
    metric("shepherd_merge_bytes_total", Kind::Counter, "bytes of callbacks merged"),
    metric(
        "shepherd_merge_duration_seconds",
        WORK,
        "time spent on reading and merging the callbacks of a query",
    ),
    metric("shepherd_redis_command_duration_seconds", COMMAND, "time until Redis answered"),
    metric("shepherd_redis_errors_total", Kind::Counter, "commands that failed"),
    metric("shepherd_redis_reconnects_total", Kind::Counter, "commands that found their connection lost"),
    metric("shepherd_redis_memory_used_bytes", Kind::Gauge, "memory that Redis uses"),
    metric("shepherd_redis_memory_max_bytes", Kind::Gauge, "memory that Redis may use; 0: no limit"),
];
