//! Callbacks' payloads, decoded.

use runtime::Causes;
use state::{CallbackRecord, CallbackStatus, Payload};

/// Less than this is decoded faster than a thread is started.
const WORTH_A_THREAD_BYTES: u64 = 1 << 20;

/// A callback's body, ready to be read.
pub(crate) struct Decoded {
    pub(crate) index: u32,
    pub(crate) label: String,
    pub(crate) query_graph: String,
    pub(crate) text: String,
}

/// Decodes the payloads, on as many threads as there are processors. One that cannot be decoded is an
/// unusable callback, and costs nobody else.
pub(crate) fn decode_all(
    callbacks: Vec<(CallbackRecord, Option<Payload>)>,
) -> (Vec<CallbackRecord>, Vec<Decoded>) {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let numbered: Vec<_> = (0u32..).zip(callbacks).collect();
    let share = numbered.len().div_ceil(threads).max(1);
    let bytes: u64 =
        numbered.iter().filter_map(|(_, (_, payload))| Some(payload.as_ref()?.decoded_bytes)).sum();
    let mut records = Vec::with_capacity(numbered.len());
    let mut bodies = Vec::with_capacity(numbered.len());
    let mut take = |decoded: Vec<(CallbackRecord, Option<Decoded>)>| {
        for (record, body) in decoded {
            records.push(record);
            bodies.extend(body);
        }
    };
    if bytes < WORTH_A_THREAD_BYTES || threads == 1 {
        take(numbered.into_iter().map(decode).collect());
        return (records, bodies);
    }
    let mut numbered = numbered.into_iter();
    let shares: Vec<Vec<_>> = std::iter::from_fn(|| {
        let share: Vec<_> = numbered.by_ref().take(share).collect();
        (!share.is_empty()).then_some(share)
    })
    .collect();
    std::thread::scope(|scope| {
        let running: Vec<_> = shares
            .into_iter()
            .map(|share| scope.spawn(move || share.into_iter().map(decode).collect::<Vec<_>>()))
            .collect();
        for thread in running {
            match thread.join() {
                Ok(decoded) => take(decoded),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    (records, bodies)
}

fn decode(
    (index, (mut record, payload)): (u32, (CallbackRecord, Option<Payload>)),
) -> (CallbackRecord, Option<Decoded>) {
    let Some(payload) = payload else { return (record, None) };
    let text = payload
        .decode()
        .map_err(|error| Causes(&error).to_string())
        .and_then(|bytes| String::from_utf8(bytes.into_owned()).map_err(|error| error.to_string()));
    drop(payload);
    match text {
        Ok(text) => {
            let (label, query_graph) = (record.label.clone(), record.query_graph.clone());
            (record, Some(Decoded { index, label, query_graph, text }))
        }
        Err(reason) => {
            record.status = CallbackStatus::Failed;
            record.reason = Some(reason);
            (record, None)
        }
    }
}
