//! What a client asks, as the search understands it.

use answers::expand;
use lookup::ExpansionError;
use paths::Limits;
use serde_json::value::RawValue;
use trapi::{Members, Pathfinder, Query, QueryGraph};

/// Nodes with more neighbours are not passed, unless the client names another bound.
pub(crate) const MAX_DEGREE: u32 = 10_000;
/// How many ids of one end are searched from: each takes as many questions again.
const MAX_IDS: usize = 5;

/// The predicate that all others are kinds of.
const RELATED_TO: &str = "biolink:related_to";

/// A path question.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) question: paths::Question,
    pub(crate) limits: Limits,
    /// The keys of the path and its ends.
    pub(crate) path: Pathfinder,
    pub(crate) query_graph: QueryGraph,
    /// What the client should know about how it was understood.
    pub(crate) warnings: Vec<String>,
}

impl Request {
    /// Reads the path question of `query`; `limits` hold where the client names none.
    pub(crate) fn read(query: &Query, path: &Pathfinder, limits: Limits) -> Result<Self, ExpansionError> {
        let graph = &query.query_graph;
        let mut warnings = Vec::new();
        let mut ids = |key: &str| {
            let ids = graph.nodes.get(key).and_then(|node| node.ids.as_deref()).unwrap_or_default();
            if ids.len() > MAX_IDS {
                warnings.push(format!(
                    "Only the first {MAX_IDS} of {} ids of node {key} are searched",
                    ids.len()
                ));
            }
            ids.iter().take(MAX_IDS).cloned()
        };
        let (starts, ends) = (ids(&path.subject), ids(&path.object));
        let asked = graph.paths.get(&path.path);
        let mut predicates = asked.and_then(|asked| asked.predicates.as_deref()).into_iter().flatten();
        if predicates.any(|predicate| predicate != RELATED_TO) {
            warnings.push(format!("The predicates of path {} do not restrict the search", path.path));
        }
        let constraints = asked.and_then(|asked| asked.constraints.as_deref()).unwrap_or_default();
        let alternatives: Vec<Vec<String>> =
            constraints.iter().map(|constraint| constraint.wanted().cloned().collect()).collect();
        let question = paths::Question::new(starts, ends, &alternatives)
            .map_err(|error| ExpansionError::Invalid(error.to_string()))?;
        let max_degree = max_degree(&query.parameters).unwrap_or(limits.max_degree);
        Ok(Self {
            question,
            limits: Limits { max_degree, ..limits },
            path: path.clone(),
            query_graph: graph.clone(),
            warnings,
        })
    }
}

/// The parameters of each question to Retriever: nodes and edges come without their content, and not for the
/// subclasses of the nodes that were asked about, unless the client wants otherwise.
pub(crate) fn parameters(client: &Members) -> Members {
    let mut parameters = expand::bounded_parameters(client, &[("max_node_degree", MAX_DEGREE)]);
    if parameters.get("subclass").is_none_or(|raw| raw.get() == "null") {
        parameters.insert("subclass".to_owned(), RawValue::FALSE.to_owned());
    }
    parameters
}

/// The bound that the client names.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bound that saturates")]
fn max_degree(parameters: &Members) -> Option<u64> {
    let config: Members = serde_json::from_str(parameters.get("filter_config")?.get()).ok()?;
    let bound: f64 = serde_json::from_str(config.get("max_node_degree")?.get()).ok()?;
    (bound >= 0.0).then_some(bound as u64)
}
