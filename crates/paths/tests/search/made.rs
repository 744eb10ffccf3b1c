//! Graphs in memory, served as a remote graph would be.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use foldhash::HashMap;
use shepherd_paths::{Answer, Edge, Hints, Limits, Neighbours, Node};

/// A whole graph, and what is known about its nodes beforehand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    /// Names and categories by identifier.
    pub(crate) nodes: BTreeMap<String, (String, Vec<String>)>,
    /// Identifier, subject, object.
    pub(crate) edges: Vec<(String, String, String)>,
    pub(crate) degrees: BTreeMap<String, u64>,
    pub(crate) distances: BTreeMap<(String, String), f64>,
}

impl Made {
    /// A graph of these edges, spelled `A-B`, whose nodes are all genes.
    pub(crate) fn of(edges: &str) -> Self {
        let mut made = Self::default();
        for (edge, number) in edges.split_whitespace().zip(0..) {
            let (subject, object) = edge.split_once('-').unwrap();
            made.edges.push((format!("e{number}"), subject.to_owned(), object.to_owned()));
            for id in [subject, object] {
                made.node(id, "biolink:Gene");
            }
        }
        made
    }

    pub(crate) fn node(&mut self, id: &str, category: &str) {
        self.nodes.insert(id.to_owned(), (format!("name of {id}"), vec![category.to_owned()]));
    }

    /// The neighbours of each node.
    pub(crate) fn neighbours(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (_, subject, object) in self.edges.iter().filter(|(_, subject, object)| subject != object) {
            all.entry(subject).or_default().insert(object);
            all.entry(object).or_default().insert(subject);
        }
        all
    }
}

/// How the graph is served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Served {
    pub(crate) graph: Made,
    /// Seconds until a question is answered, by the first node it names; at once where there are none.
    pub(crate) delays: BTreeMap<String, u64>,
    /// Questions that name one of these fail.
    pub(crate) failing: BTreeSet<String>,
}

impl From<Made> for Served {
    fn from(graph: Made) -> Self {
        Self { graph, ..Self::default() }
    }
}

/// Names the node that a question failed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed(pub(crate) String);

impl Neighbours for Served {
    /// The identifier, and the question that it was told to.
    type Content = String;
    type Error = Failed;

    async fn neighbours(&self, nodes: &[String]) -> Result<Answer<String>, Failed> {
        if let Some(&delay) = nodes.first().and_then(|first| self.delays.get(first)) {
            tokio::time::sleep(Duration::from_secs(delay)).await;
        }
        if let Some(failing) = nodes.iter().find(|node| self.failing.contains(*node)) {
            return Err(Failed(failing.clone()));
        }
        let mut answer = Answer::default();
        let content = |id: &String| format!("{id} told to {}", nodes.join(" "));
        let mut told: BTreeSet<&String> = BTreeSet::new();
        for (id, subject, object) in &self.graph.edges {
            if nodes.contains(subject) || nodes.contains(object) {
                told.extend([subject, object]);
                let (id, subject, object) = (id.clone(), subject.clone(), object.clone());
                answer.edges.push(Edge { content: content(&id), id, subject, object });
            }
        }
        for (id, (name, categories)) in self.graph.nodes.iter().filter(|(id, _)| told.contains(id)) {
            let (name, categories) = (Some(name.clone()), categories.clone());
            answer.nodes.push(Node { id: id.clone(), name, categories, content: content(id) });
        }
        Ok(answer)
    }
}

impl Hints for Served {
    async fn distances(&self, node: &str) -> HashMap<String, f64> {
        let known = self.graph.distances.iter().filter(|((from, _), _)| from == node);
        known.map(|((_, to), distance)| (to.clone(), *distance)).collect()
    }

    async fn degrees(&self, nodes: &[String]) -> HashMap<String, u64> {
        let known = nodes.iter().filter_map(|id| Some((id.clone(), *self.graph.degrees.get(id)?)));
        known.collect()
    }
}

/// Limits that no small graph comes near.
pub(crate) fn wide() -> Limits {
    Limits {
        max_paths: 10_000,
        top_k: 1000,
        max_degree: 1000,
        max_edges_per_hop: 100,
        max_asked: 1000,
        ids_per_batch: 3.try_into().unwrap(),
        batches_in_flight: 2.try_into().unwrap(),
    }
}
