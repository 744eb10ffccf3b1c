//! Answers to a query graph: every way in which its nodes can be bound so that each of its edges is a statement.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{Knowledge, Statement};
use crate::answers::{QNode, Question, QuestionError};

/// No answer has more results.
const MAX_RESULTS: usize = 5000;
/// The search gives up after so many steps.
const MAX_STEPS: usize = 2_000_000;

/// Predicates that say the same in both directions.
const SYMMETRIC: [&str; 4] = [
    "biolink:related_to",
    "biolink:physically_interacts_with",
    "biolink:genetically_interacts_with",
    "biolink:genetically_associated_with",
];
/// Predicates and their inverses.
const INVERSES: [(&str, &str); 3] = [
    ("biolink:affects", "biolink:affected_by"),
    ("biolink:participates_in", "biolink:has_participant"),
    ("biolink:treats", "biolink:treated_by"),
];

/// What a query's parameters leave out.
struct Bounds {
    max_node_degree: usize,
    min_information_content: f64,
}

impl Bounds {
    fn of(parameters: &Value) -> Self {
        let bound =
            |name: &str| parameters.pointer(&format!("/filter_config/{name}")).and_then(Value::as_f64);
        let degree = bound("max_node_degree").filter(|degree| *degree >= 0.0);
        Self {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count from a test"
            )]
            max_node_degree: degree.map_or(usize::MAX, |degree| degree as usize),
            min_information_content: bound("min_information_content").unwrap_or(0.0),
        }
    }
}

impl Knowledge {
    /// The message that answers `query_graph`; `parameters` are those of the query, of which `filter_config` counts.
    ///
    /// # Errors
    /// [`QuestionError`] when the graph is none.
    pub fn message(&self, query_graph: &Value, parameters: &Value) -> Result<Value, QuestionError> {
        let question = Question::parse(query_graph)?;
        let bounds = Bounds::of(parameters);
        let mut search = Search {
            knowledge: self,
            question: &question,
            bounds: &bounds,
            nodes: vec![None; question.nodes.len()],
            edges: vec![None; question.edges.len()],
            found: Vec::new(),
            steps: 0,
        };
        search.go_on();
        let found = search.found;
        Ok(self.told(query_graph, &question, &found))
    }

    fn told(&self, query_graph: &Value, question: &Question, found: &[Match]) -> Value {
        let (mut nodes, mut edges) = (Map::new(), Map::new());
        // parallel statements are one result
        let mut results: Vec<(&[usize], Vec<Vec<usize>>)> = Vec::new();
        let mut positions: HashMap<&[usize], usize> = HashMap::new();
        for Match { nodes: bound, edges: statements } in found {
            let position = *positions.entry(bound).or_insert_with(|| {
                results.push((bound, vec![Vec::new(); statements.len()]));
                results.len() - 1
            });
            for (list, &statement) in results[position].1.iter_mut().zip(statements) {
                if !list.contains(&statement) {
                    list.push(statement);
                }
            }
        }
        let results: Vec<Value> = results
            .into_iter()
            .map(|(bound, statements)| {
                let mut node_bindings = Map::new();
                for (qnode, &position) in question.nodes.iter().zip(bound) {
                    let id = &self.nodes[position].id;
                    nodes.entry(id.clone()).or_insert_with(|| self.node(position));
                    node_bindings.insert(qnode.key.clone(), json!([{ "id": id, "attributes": [] }]));
                }
                let mut edge_bindings = Map::new();
                for (qedge, statements) in question.edges.iter().zip(statements) {
                    let ids: Vec<String> =
                        statements.iter().map(|&statement| self.edge_id(statement)).collect();
                    for (id, &statement) in ids.iter().zip(&statements) {
                        edges.entry(id.clone()).or_insert_with(|| self.edge(statement));
                    }
                    let bindings: Vec<Value> =
                        ids.iter().map(|id| json!({ "id": id, "attributes": [] })).collect();
                    edge_bindings.insert(qedge.key.clone(), Value::Array(bindings));
                }
                json!({
                    "node_bindings": node_bindings,
                    "analyses": [{ "resource_id": "infores:retriever", "edge_bindings": edge_bindings }],
                })
            })
            .collect();
        json!({
            "query_graph": query_graph,
            "knowledge_graph": { "nodes": nodes, "edges": edges },
            "results": results,
            "auxiliary_graphs": {},
        })
    }
}

/// One way to bind everything.
struct Match {
    nodes: Vec<usize>,
    edges: Vec<usize>,
}

struct Search<'a> {
    knowledge: &'a Knowledge,
    question: &'a Question,
    bounds: &'a Bounds,
    nodes: Vec<Option<usize>>,
    edges: Vec<Option<usize>>,
    found: Vec<Match>,
    steps: usize,
}

impl Search<'_> {
    /// Binds the next edge in every way there is: one with a bound end, else one with a pinned one.
    fn go_on(&mut self) {
        self.steps += 1;
        if self.found.len() >= MAX_RESULTS || self.steps > MAX_STEPS {
            return;
        }
        let open = || (0..self.edges.len()).filter(|&edge| self.edges[edge].is_none());
        let ends = |edge: usize| [self.question.edges[edge].subject, self.question.edges[edge].object];
        let bound = |edge: &usize| ends(*edge).iter().any(|&node| self.nodes[node].is_some());
        let pinned = |edge: &usize| ends(*edge).iter().any(|&node| !self.question.nodes[node].ids.is_empty());
        let Some(edge) = open().find(bound).or_else(|| open().find(pinned)) else {
            if open().next().is_none() {
                self.keep();
            }
            return;
        };
        for statement in self.candidates(edge) {
            let Statement { subject, object, .. } = self.knowledge.statements[statement];
            for (from, to) in [(subject, object), (object, subject)] {
                if self.allows(edge, statement, (from, to) == (subject, object)) {
                    self.bind(edge, statement, from, to);
                }
                if subject == object {
                    break;
                }
            }
        }
    }

    /// The statements at a bound end of an edge, or at the ids of a pinned one.
    fn candidates(&self, edge: usize) -> Vec<usize> {
        let qedge = &self.question.edges[edge];
        let ends = [qedge.subject, qedge.object];
        let starts: Vec<usize> = match ends.iter().find_map(|&node| self.nodes[node]) {
            Some(bound) => vec![bound],
            None => {
                let pinned = ends.iter().find(|&&node| !self.question.nodes[node].ids.is_empty());
                let ids = pinned.into_iter().flat_map(|&node| &self.question.nodes[node].ids);
                ids.filter_map(|id| self.knowledge.positions.get(id).copied()).collect()
            }
        };
        let mut candidates: Vec<usize> =
            starts.into_iter().flat_map(|start| self.knowledge.touching[start].iter().copied()).collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// Whether a statement says what an edge asks for, read forwards or backwards.
    fn allows(&self, edge: usize, statement: usize, forwards: bool) -> bool {
        let said = self.knowledge.statements[statement].predicate;
        let read = if forwards || SYMMETRIC.contains(&said) {
            Some(said)
        } else {
            let inverse = INVERSES.iter().find_map(|&(one, other)| match said {
                said if said == one => Some(other),
                said if said == other => Some(one),
                _ => None,
            });
            inverse.or(Some("biolink:related_to"))
        };
        let asked = &self.question.edges[edge].predicates;
        asked.is_empty()
            || asked.iter().any(|asked| asked == "biolink:related_to" || Some(asked.as_str()) == read)
    }

    fn bind(&mut self, edge: usize, statement: usize, from: usize, to: usize) {
        let qedge = &self.question.edges[edge];
        let ends = [(qedge.subject, from), (qedge.object, to)];
        let before = [self.nodes[qedge.subject], self.nodes[qedge.object]];
        if ends.iter().all(|&(node, position)| self.fits(node, position)) {
            for (node, position) in ends {
                self.nodes[node] = Some(position);
            }
            self.edges[edge] = Some(statement);
            self.go_on();
            self.edges[edge] = None;
            for ((node, _), before) in ends.into_iter().zip(before) {
                self.nodes[node] = before;
            }
        }
    }

    /// Whether a node may be bound to what is at `position`.
    fn fits(&self, node: usize, position: usize) -> bool {
        if let Some(bound) = self.nodes[node] {
            return bound == position;
        }
        let known = &self.knowledge.nodes[position];
        let qnode: &QNode = &self.question.nodes[node];
        if !qnode.ids.is_empty() {
            return qnode.ids.contains(&known.id);
        }
        (qnode.categories.is_empty()
            || qnode.categories.iter().any(|asked| known.categories.contains(&asked.as_str())))
            && self.knowledge.touching[position].len() <= self.bounds.max_node_degree
            && known.information_content >= self.bounds.min_information_content
    }

    fn keep(&mut self) {
        let nodes: Option<Vec<usize>> = self.nodes.iter().copied().collect();
        let edges: Option<Vec<usize>> = self.edges.iter().copied().collect();
        if let (Some(nodes), Some(edges)) = (nodes, edges) {
            self.found.push(Match { nodes, edges });
        }
    }
}
