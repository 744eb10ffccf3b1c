//! What is asked, and what Retriever does about it; both from the seed and a number alone.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use std::time::Duration;
use testkit::queries;
use testkit::retriever::{Behaviour, Payload, Submission};

/// The first questions are answered at once: they warm the processes up.
pub(crate) const WARM_UP: usize = 40;

/// Every question is about a disease of its own, so that its sub-queries are known by it.
const DISEASES: usize = 7_000_000;

/// One question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) number: usize,
    pub(crate) ara: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lookup,
    Inferred,
    Path,
}

impl Question {
    /// Most are one sub-query; some are many.
    pub(crate) fn of(seed: u64, number: usize) -> Self {
        let mut rng = rng(seed, number as u64);
        let (ara, kind) = match rng.random_range(0..100) {
            0..58 => ("aragorn", Kind::Lookup),
            58..78 => ("bte", Kind::Lookup),
            78..86 => ("aragorn", Kind::Inferred),
            86..90 => ("bte", Kind::Inferred),
            90..95 => ("aragorn", Kind::Path),
            _ => ("example", Kind::Lookup),
        };
        Self { number, ara, kind }
    }

    pub(crate) fn query(self) -> Value {
        let disease = format!("MONDO:{}", DISEASES + self.number);
        match self.kind {
            Kind::Lookup => queries::one_hop("biolink:ChemicalEntity", "biolink:treats", &disease),
            Kind::Inferred => queries::treats(&disease),
            Kind::Path => queries::pathfinder(&disease, "CHEBI:6801"),
        }
    }

    /// Under which its answer is delivered.
    pub(crate) fn key(self) -> String {
        format!("q{}", self.number)
    }
}

/// The number of the question that a sub-query belongs to.
pub(crate) fn number(submission: &Submission) -> Option<usize> {
    const MARK: &str = "MONDO:7";
    let graph = submission.query_graph().to_string();
    let digits = &graph[graph.find(MARK)? + MARK.len()..];
    digits.get(..6)?.parse().ok()
}

/// Answers late and out of order; some twice, some never, some too late, some broken.
pub(crate) fn behaviour(seed: u64, submission: &Submission) -> Behaviour {
    let answer = Behaviour::answer().results(3).traced();
    if number(submission).is_none_or(|number| number < WARM_UP) {
        return answer;
    }
    let mut rng = rng(seed, hash(&submission.query_graph().to_string()) ^ submission.attempt as u64);
    let work = Duration::from_millis(rng.random_range(8000..25_000));
    let answer = answer.callback_after(work);
    match rng.random_range(0..100) {
        0..8 => answer.callbacks(2),
        8..11 => answer.callbacks(3),
        11..19 => answer.no_callback(),
        19..23 => answer.ignoring_timeout().callback_after(work + Duration::from_secs(12)),
        23..26 => answer.hang_up(),
        26..29 => answer.ack_never(),
        29..32 => answer.breaking_off(),
        32..34 => answer.payload(Payload::Truncated),
        34..50 => answer.ack_after(Duration::from_millis(rng.random_range(0..3000))).counted_from_arrival(),
        _ => answer,
    }
}

fn rng(seed: u64, number: u64) -> StdRng {
    StdRng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number)
}

/// The same in every run.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
