//! What the search promises, against brute force and on graphs with known answers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "small counts and costs"
)]

mod brute;
mod cases;
mod hostile;
mod made;
mod properties;
mod stopping;

use std::collections::BTreeSet;
use std::future::pending;

use shepherd_paths::{Blocked, Found, Hints, Neighbours, Question, search};

use brute::Asked;
use made::{Failed, Served, wide};

/// Searches the graph to its end.
pub(crate) fn find(served: &Served, asked: &Asked) -> Found<String, Failed> {
    run(ask(served, served, asked, pending()))
}

/// Searches until `stop`.
pub(crate) async fn ask<P: Neighbours, H: Hints>(
    neighbours: &P,
    hints: &H,
    asked: &Asked,
    stop: impl Future<Output = ()>,
) -> Found<P::Content, P::Error> {
    let question = Question::new(asked.starts.clone(), asked.ends.clone(), &asked.alternatives).unwrap();
    let blocked = Blocked::new(asked.blocked.iter().cloned(), []);
    search(&question, &blocked, &asked.limits, neighbours, hints, stop).await
}

/// Paths from `start` to `end` without anything else.
pub(crate) fn between(start: &str, end: &str) -> Asked {
    Asked {
        starts: vec![start.to_owned()],
        ends: vec![end.to_owned()],
        alternatives: Vec::new(),
        blocked: BTreeSet::new(),
        limits: wide(),
    }
}

/// The nodes of each path, spelled `A-B-C`.
pub(crate) fn shown<C, E>(found: &Found<C, E>) -> Vec<String> {
    let spelled = found.paths.iter().map(|path| {
        let ids: Vec<&str> = path.nodes.iter().map(|&place| found.nodes[place].id.as_str()).collect();
        ids.join("-")
    });
    spelled.collect()
}

/// Runs a future that waits for nothing but paused time.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(future)
}
