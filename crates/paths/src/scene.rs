//! What stays the same throughout a search.

use foldhash::{HashMap, HashSet};

use crate::ports::Hints;
use crate::question::{Blocked, Limits, Question};

/// A distance that is not known, and the largest that counts.
const FAR: f64 = 1.0;

/// What every answer is judged by.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) question: &'a Question,
    pub(crate) blocked: &'a Blocked,
    pub(crate) limits: &'a Limits,
    pub(crate) distances: Distances,
    /// The nodes that the answers about the ends keep; none until these are known.
    pub(crate) near_ends: HashSet<String>,
}

/// Distances to the nearest start and to the nearest end.
#[derive(Debug)]
pub(crate) struct Distances {
    to_starts: HashMap<String, f64>,
    to_ends: HashMap<String, f64>,
}

impl Distances {
    pub(crate) async fn of(question: &Question, hints: &impl Hints) -> Self {
        Self {
            to_starts: to_nearest(&question.starts, hints).await,
            to_ends: to_nearest(&question.ends, hints).await,
        }
    }

    /// The mean of a node's distances to both sides, within 0 and 1.
    pub(crate) fn to_both_sides(&self, id: &str) -> f64 {
        let to = |side: &HashMap<String, f64>| side.get(id).copied().unwrap_or(FAR);
        f64::midpoint(to(&self.to_starts), to(&self.to_ends))
    }
}

async fn to_nearest(pins: &[String], hints: &impl Hints) -> HashMap<String, f64> {
    let mut nearest: HashMap<String, f64> = HashMap::default();
    for pin in pins {
        for (id, distance) in hints.distances(pin).await {
            if (0.0..FAR).contains(&distance) {
                let known = nearest.entry(id).or_insert(distance);
                *known = known.min(distance);
            }
        }
    }
    nearest
}
