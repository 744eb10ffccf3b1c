//! The paths as a TRAPI response: one result per path, as the merge takes them.

use answers::expand::own_key;
use foldhash::HashMap;
use indexmap::IndexMap;
use paths::{Edge, Found, FoundPath};
use serde::Serialize;
use serde_json::value::RawValue;
use trapi::{LogEntry, QueryGraph};

use crate::request::Request;

const RESOURCE: &str = "infores:shepherd-arax";

#[derive(Serialize)]
struct Body<'a> {
    message: Message<'a>,
    status: &'static str,
    logs: &'a [LogEntry],
}

#[derive(Serialize)]
struct Message<'a> {
    query_graph: &'a QueryGraph,
    knowledge_graph: KnowledgeGraph<'a>,
    results: Vec<Answer<'a>>,
    auxiliary_graphs: IndexMap<String, ()>,
}

#[derive(Serialize)]
struct KnowledgeGraph<'a> {
    nodes: IndexMap<&'a str, &'a RawValue>,
    edges: IndexMap<&'a str, &'a RawValue>,
}

#[derive(Serialize)]
struct Answer<'a> {
    node_bindings: IndexMap<&'a str, [Binding<'a>; 1]>,
    analyses: [Analysis<'a>; 1],
}

#[derive(Serialize)]
struct Analysis<'a> {
    resource_id: &'static str,
    edge_bindings: IndexMap<String, Vec<Binding<'a>>>,
    score: f64,
}

#[derive(Serialize)]
struct Binding<'a> {
    id: &'a str,
    attributes: [(); 0],
}

impl<'a> Binding<'a> {
    fn of(id: &'a str) -> Self {
        Self { id, attributes: [] }
    }
}

/// The body of the response.
///
/// # Errors
/// None that is known: all keys are texts.
pub(crate) fn body<E>(
    request: &Request,
    found: &Found<Box<RawValue>, E>,
    logs: &[LogEntry],
) -> serde_json::Result<Vec<u8>> {
    let own = Own::of(found);
    let between: Vec<String> =
        (0..).map(|place| own_key(&request.query_graph, &format!("intermediate_{place}"))).take(3).collect();
    let results = found.paths.iter().filter_map(|path| answer(request, found, path, &between, &own));
    let results = results.collect();
    let nodes = found.nodes.iter().filter_map(|node| Some((node.id.as_str(), &**node.content.as_ref()?)));
    let edges = found.edges.iter().enumerate().filter(|(place, edge)| own.has(*place, edge));
    let edges = edges.map(|(_, edge)| (edge.id.as_str(), &*edge.content));
    let knowledge_graph = KnowledgeGraph { nodes: nodes.collect(), edges: edges.collect() };
    let message = Message {
        query_graph: &request.query_graph,
        knowledge_graph,
        results,
        auxiliary_graphs: IndexMap::new(),
    };
    serde_json::to_vec(&Body { message, status: "Success", logs })
}

/// Which edge has an identifier that several claim: the first, which is on the best path.
struct Own<'a>(HashMap<&'a str, usize>);

impl<'a> Own<'a> {
    fn of<C, E>(found: &'a Found<C, E>) -> Self {
        let mut own = HashMap::default();
        for (place, edge) in found.edges.iter().enumerate() {
            own.entry(edge.id.as_str()).or_insert(place);
        }
        Self(own)
    }

    fn has<C>(&self, place: usize, edge: &Edge<C>) -> bool {
        self.0.get(edge.id.as_str()) == Some(&place)
    }
}

/// One path as a result; none where a hop has no edge left that is its own.
fn answer<'a, E>(
    request: &'a Request,
    found: &'a Found<Box<RawValue>, E>,
    path: &FoundPath,
    between: &'a [String],
    own: &Own<'_>,
) -> Option<Answer<'a>> {
    let (first, last) = (request.path.subject.as_str(), request.path.object.as_str());
    let inner = between.iter().take(path.nodes.len().checked_sub(2)?).map(String::as_str);
    let keys = std::iter::once(first).chain(inner).chain([last]);
    let ids = path.nodes.iter().filter_map(|&place| Some(Binding::of(&found.nodes.get(place)?.id)));
    let node_bindings = keys.zip(ids.map(|binding| [binding])).collect();
    let mut edge_bindings = IndexMap::with_capacity(path.hops.len());
    for (hop, places) in path.hops.iter().enumerate() {
        let edges = places.iter().filter_map(|&place| Some((place, found.edges.get(place)?)));
        let edges = edges.filter(|(place, edge)| own.has(*place, edge));
        let bindings: Vec<Binding<'_>> = edges.map(|(_, edge)| Binding::of(&edge.id)).collect();
        if bindings.is_empty() {
            return None;
        }
        edge_bindings.insert(format!("hop_{hop}"), bindings);
    }
    let analysis = Analysis { resource_id: RESOURCE, edge_bindings, score: path.score };
    Some(Answer { node_bindings, analyses: [analysis] })
}
