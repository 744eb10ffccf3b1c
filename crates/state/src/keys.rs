//! How keys, streams and channels are called.

use crate::ids::{CallbackId, QueryId};

/// The consumer group of every stream.
pub(crate) const GROUP: &str = "workers";

fn tagged(partition: u16, rest: &str) -> String {
    format!("shepherd:{{p{partition}}}:{rest}")
}

pub(crate) fn query(id: QueryId) -> String {
    tagged(id.partition(), &format!("query:{id}"))
}

pub(crate) fn body(id: QueryId) -> String {
    tagged(id.partition(), &format!("query:{id}:body"))
}

pub(crate) fn callbacks(id: QueryId) -> String {
    tagged(id.partition(), &format!("query:{id}:callbacks"))
}

pub(crate) fn logs(id: QueryId) -> String {
    tagged(id.partition(), &format!("query:{id}:logs"))
}

/// The message between two operations.
pub(crate) fn message(id: QueryId) -> String {
    tagged(id.partition(), &format!("query:{id}:message"))
}

pub(crate) fn response(id: QueryId) -> String {
    tagged(id.partition(), &format!("query:{id}:response"))
}

pub(crate) fn callback(id: CallbackId) -> String {
    tagged(id.partition(), &format!("callback:{id}"))
}

pub(crate) fn payload(id: CallbackId) -> String {
    tagged(id.partition(), &format!("callback:{id}:payload"))
}

/// A place for chunks that are too many for one command; renamed to `key` by the script that keeps them.
pub(crate) fn staged(key: &str, token: u64) -> String {
    format!("{key}:staged:{token:016x}")
}

pub(crate) fn stream(partition: u16, operation: &str) -> String {
    tagged(partition, &format!("stream:{operation}"))
}

/// The workers that read the stream of an operation, by when they are given up for dead.
pub(crate) fn workers(partition: u16, operation: &str) -> String {
    tagged(partition, &format!("workers:{operation}"))
}

/// The queries of a partition that have no response yet, by their deadlines.
pub(crate) fn open(partition: u16) -> String {
    tagged(partition, "open")
}

/// Steps that were given up.
pub(crate) fn dead_letters(partition: u16) -> String {
    tagged(partition, "dead-letters")
}

/// Tells which query has nothing outstanding any more, or was cancelled.
pub(crate) fn returned_channel(partition: u16) -> String {
    tagged(partition, "returned")
}

/// Tells which query has ended.
pub(crate) fn finished_channel(partition: u16) -> String {
    tagged(partition, "finished")
}

/// What the key of a query's record starts with; the id follows.
pub(crate) fn query_prefix(partition: u16) -> String {
    tagged(partition, "query:")
}
