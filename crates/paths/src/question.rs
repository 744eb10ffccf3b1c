//! What is asked, and how far the search may go.

use std::num::NonZeroUsize;

use foldhash::HashSet;

use crate::wanted::Wanted;

/// Paths from any start to any end.
#[derive(Clone, Debug)]
pub struct Question {
    pub(crate) starts: Vec<String>,
    pub(crate) ends: Vec<String>,
    pub(crate) wanted: Wanted,
}

/// More categories are asked for than [`Question::MAX_CATEGORIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at most {max} different intermediate categories can be asked for", max = Question::MAX_CATEGORIES)]
pub struct TooManyCategories;

impl Question {
    /// How many different categories `alternatives` may name.
    pub const MAX_CATEGORIES: usize = u64::BITS as usize;

    /// Paths from any of `starts` to any other node of `ends`. What they must pass is one of `alternatives`, all of
    /// whose categories must be met by some node between the ends, itself or as a descendant in the Biolink Model.
    /// Without alternatives, or with an empty one, anything goes.
    ///
    /// # Errors
    /// [`TooManyCategories`].
    pub fn new(
        starts: impl IntoIterator<Item = String>,
        ends: impl IntoIterator<Item = String>,
        alternatives: &[Vec<String>],
    ) -> Result<Self, TooManyCategories> {
        let wanted = Wanted::new(alternatives)?;
        Ok(Self { starts: once_each(starts), ends: once_each(ends), wanted })
    }

    /// Whether a node is an end of the question, so that no path passes it.
    pub(crate) fn is_pinned(&self, id: &str) -> bool {
        self.starts.iter().chain(&self.ends).any(|pin| pin == id)
    }

    /// All ends, each once.
    pub(crate) fn pins(&self) -> Vec<String> {
        once_each(self.starts.iter().chain(&self.ends).cloned())
    }
}

fn once_each(ids: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut ids: Vec<String> = ids.into_iter().collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Nodes that say nothing on a path, such as general concepts.
#[derive(Clone, Debug, Default)]
pub struct Blocked {
    curies: HashSet<String>,
    names: HashSet<String>,
}

impl Blocked {
    /// Blocks nodes by identifier, and by name whatever its case.
    pub fn new(curies: impl IntoIterator<Item = String>, names: impl IntoIterator<Item = String>) -> Self {
        let names = names.into_iter().map(|name| name.to_lowercase());
        Self { curies: curies.into_iter().collect(), names: names.collect() }
    }

    pub(crate) fn blocks(&self, id: &str, name: Option<&str>) -> bool {
        self.curies.contains(id)
            || !self.names.is_empty() && name.is_some_and(|name| self.names.contains(&name.to_lowercase()))
    }
}

/// How far the search may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many paths are returned.
    pub max_paths: usize,
    /// How many neighbours of each node are followed.
    pub top_k: usize,
    /// Nodes with more neighbours are not passed.
    pub max_degree: u64,
    /// How many edges of one hop are returned, those with the smallest identifiers; more count for nothing.
    pub max_edges_per_hop: usize,
    /// How many nodes are asked about, the ends included. Where it is hit, which
    /// [`Found::not_asked`](crate::Found::not_asked) tells, a larger K may lose paths; K nodes for each end never
    /// hit it where it is no smaller than `K + 1` for each.
    pub max_asked: usize,
    /// How many nodes one question to [`Neighbours`](crate::Neighbours) names.
    pub ids_per_batch: NonZeroUsize,
    /// How many such questions are open at once.
    pub batches_in_flight: NonZeroUsize,
}
