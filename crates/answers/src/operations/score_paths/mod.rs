//! `score_paths`: how much a path between two nodes is worth, by a trained model where there is one, else by its
//! place in the graph.

mod facts;
mod graph;
mod path;

use foldhash::HashSet;
use trapi::LogLevel;

use crate::message::{Analysis, NodeId, Score};
use crate::{Message, Note};
use facts::Facts;
use path::Flaw;

/// How many numbers tell a path's place in the graph; see [`PathFeatures::graph`].
pub const GRAPH_FEATURES: usize = 11;

/// What a model gets to know of a path.
#[derive(Clone, Debug)]
pub struct PathFeatures<'a> {
    /// The identifiers of its nodes, ends included, each once, in order.
    pub nodes: Vec<&'a str>,
    /// The predicates of its edges, each once, in order.
    pub predicates: Vec<String>,
    /// In this order, with NaN for what is not known:
    ///
    /// 0. hops: pairs of nodes that edges of the path join
    /// 1. edges
    /// 2. nodes between the ends
    /// 3. independent sources of the hop that has the fewest
    /// 4. independent sources per hop, mean
    /// 5. ln(1 + publications of all edges)
    /// 6. information content of the node between the ends that has the least, in percent; NaN where none says
    /// 7. their mean information content, in percent
    /// 8. ln(neighbours in the whole message) of the node between the ends that has the most; NaN without one
    /// 9. their mean ln(neighbours)
    /// 10. the score by the graph alone
    pub graph: [f32; GRAPH_FEATURES],
}

/// A trained judge of paths.
pub trait PathModel {
    /// Why it cannot say.
    type Error: std::error::Error;

    /// How much a path is worth, from 0 to 1.
    ///
    /// # Errors
    /// When it cannot say; that path is then left as it is.
    fn score(&self, path: &PathFeatures<'_>) -> Result<f64, Self::Error>;
}

/// Scores every analysis that binds paths; all others stay as they are, and so does one with a flaw.
pub fn score_paths<M: PathModel>(message: &mut Message<'_>, model: Option<&M>) -> Vec<Note> {
    let mut results = std::mem::take(&mut message.results);
    let is_path = |analysis: &Analysis<'_>| !analysis.path_bindings.is_empty();
    if !results.iter().flat_map(|result| &result.analyses).any(is_path) {
        message.results = results;
        return Vec::new();
    }
    let facts = Facts::of(message);
    let mut unscored = Unscored::default();
    for result in &mut results {
        let bound = result.node_bindings.iter().flat_map(|(_, list)| list);
        let ends: HashSet<NodeId> = bound.map(|binding| binding.id).collect();
        for analysis in result.analyses.iter_mut().filter(|analysis| is_path(analysis)) {
            match score(message, &facts, analysis, &ends, model) {
                Ok(score) => analysis.score = Some(score),
                Err(reason) => unscored.add(reason),
            }
        }
    }
    message.results = results;
    unscored.note().into_iter().collect()
}

fn score<'a, M: PathModel>(
    message: &Message<'_>,
    facts: &Facts,
    analysis: &Analysis<'_>,
    ends: &HashSet<NodeId>,
    model: Option<&M>,
) -> Result<Score<'a>, String> {
    let path = path::read(message, facts, analysis, ends).map_err(|flaw: Flaw| flaw.to_string())?;
    let value = match model {
        None => path.graph_score(),
        Some(model) => {
            let features = path.features(message);
            model.score(&features).map_err(|error| error.to_string())?
        }
    };
    Score::new(value).ok_or_else(|| Flaw::NoNumber.to_string())
}

/// How many paths have no score, and why the first of them has none.
#[derive(Default)]
struct Unscored {
    count: usize,
    first: String,
}

impl Unscored {
    fn add(&mut self, reason: String) {
        if self.count == 0 {
            self.first = reason;
        }
        self.count += 1;
    }

    fn note(self) -> Option<Note> {
        let Self { count, first } = self;
        (count > 0).then(|| Note {
            level: LogLevel::Warning,
            code: "PathsNotScored",
            message: format!("score_paths: {count} paths are not scored; the first, because {first}"),
        })
    }
}

#[cfg(test)]
mod tests;
