//! `aragorn.omnicorp`: how often the nodes of an answer are named together in the literature.
//!
//! Every pair of nodes that an analysis rests on and that some publication names together becomes an edge
//! in a support graph of that analysis. Where the counts come from is the caller's business.

use std::borrow::Cow;
use std::collections::BTreeSet;

use foldhash::HashMap;
use serde_json::json;
use trapi::{LogLevel, QueryGraph};

use crate::merge::{ids, shared_list, to_raw};
use crate::message::{Analysis, Answer, AuxGraph, Edge, EdgeId, GraphId, KeyId, List, NodeId, Raw, Rest};
use crate::{Message, Note};

/// More pairs than this are not looked up: it would take longer than anybody waits.
const MAX_PAIRS: usize = 1_000_000;
/// What the names of our support graphs begin with.
const GRAPH_NAME: &str = "OMNICORP_support_graph";
const NODE_COUNT: &str = "omnicorp_article_count";

/// Counts of publications.
pub trait Literature {
    /// Why a count cannot be had.
    type Error;

    /// What is known about a node.
    ///
    /// # Errors
    /// When it cannot be looked up.
    fn node(&self, curie: &str) -> Result<Option<Named>, Self::Error>;

    /// How many publications name both of two nodes, given by their indexes, the smaller first.
    ///
    /// # Errors
    /// When it cannot be looked up.
    fn shared(&self, smaller: u64, larger: u64) -> Result<Option<u64>, Self::Error>;
}

/// A node that publications name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// How many publications do.
    pub publications: u64,
    /// Its number in the table of pairs.
    pub index: u64,
}

/// Adds publication counts to nodes and literature support to analyses. Nothing is changed where a lookup
/// fails.
///
/// # Errors
/// Those of the lookups.
pub fn aragorn_omnicorp<L: Literature>(
    message: &mut Message<'_>,
    literature: &L,
) -> Result<Vec<Note>, L::Error> {
    let mut named: HashMap<NodeId, Named> = HashMap::default();
    for (id, name, _) in message.nodes.iter() {
        named.extend(literature.node(name)?.map(|known| (id, known)));
    }
    let pairs = Pairs::of(message, &named);
    let mut notes = Vec::new();
    let mut found: Vec<(NodeId, NodeId, u64)> = Vec::new();
    if pairs.too_many {
        notes.push(Note {
            level: LogLevel::Warning,
            code: "LiteratureSkipped",
            message: format!("more than {MAX_PAIRS} pairs of nodes: literature was not looked up"),
        });
    } else {
        for &(one, other) in pairs.places.keys() {
            let (Some(first), Some(second)) = (named.get(&one), named.get(&other)) else { continue };
            let (smaller, larger) = (first.index.min(second.index), first.index.max(second.index));
            let count = literature.shared(smaller, larger)?.unwrap_or_default();
            if count > 0 {
                found.push((one, other, count));
            }
        }
    }
    count_nodes(message, &named);
    // The order of a hash map is arbitrary; that of the answers is not.
    found.sort_unstable_by_key(|(one, other, _)| pairs.places.get(&(*one, *other)).copied());
    let edges: HashMap<(NodeId, NodeId), EdgeId> = found
        .into_iter()
        .map(|(one, other, count)| ((one, other), add_edge(message, one, other, count)))
        .collect();
    attach(message, &pairs, &edges);
    Ok(notes)
}

/// The pairs of nodes that analyses rest on, each in the order of their names.
struct Pairs {
    /// Pairs of each analysis, in the order of results and analyses.
    of_analyses: Vec<Vec<(NodeId, NodeId)>>,
    /// When each pair was first met.
    places: HashMap<(NodeId, NodeId), usize>,
    too_many: bool,
}

impl Pairs {
    fn of(message: &Message<'_>, named: &HashMap<NodeId, Named>) -> Self {
        let sets = set_keys(&message.query_graph, message);
        let mut pairs = Self { of_analyses: Vec::new(), places: HashMap::default(), too_many: false };
        for answer in &message.results {
            for analysis in &answer.analyses {
                let Some(list) = analysis_pairs(message, answer, analysis, &sets, named) else {
                    pairs.too_many = true;
                    return pairs;
                };
                for pair in &list {
                    let next = pairs.places.len();
                    pairs.places.entry(*pair).or_insert(next);
                }
                pairs.of_analyses.push(list);
                if pairs.places.len() > MAX_PAIRS {
                    pairs.too_many = true;
                    return pairs;
                }
            }
        }
        pairs
    }
}

/// Keys whose nodes are meant as one set.
fn set_keys(graph: &QueryGraph, message: &Message<'_>) -> Vec<KeyId> {
    let is_set = |text: &str| !matches!(text, r#""BATCH""# | "null" | r#""""#);
    let sets = graph
        .nodes
        .iter()
        .filter(|(_, node)| node.extra.get("set_interpretation").is_some_and(|raw| is_set(raw.get())));
    sets.filter_map(|(key, _)| message.keys.find(key)).collect()
}

/// All pairs of single nodes, of single nodes with those of sets, and of nodes of different sets; none where
/// there are too many.
fn analysis_pairs(
    message: &Message<'_>,
    answer: &Answer<'_>,
    analysis: &Analysis<'_>,
    set_keys: &[KeyId],
    named: &HashMap<NodeId, Named>,
) -> Option<Vec<(NodeId, NodeId)>> {
    let by_name = |nodes: &mut dyn Iterator<Item = NodeId>| -> Vec<NodeId> {
        let known: BTreeSet<(&str, NodeId)> = nodes
            .filter(|node| named.contains_key(node))
            .map(|node| (message.nodes.name(node), node))
            .collect();
        known.into_iter().map(|(_, node)| node).collect()
    };
    let (in_sets, single): (Vec<_>, Vec<_>) =
        answer.node_bindings.iter().partition(|(key, _)| set_keys.contains(key));
    let bound = single.into_iter().flat_map(|(_, list)| list).map(|binding| binding.id);
    let single = by_name(&mut bound.chain(support_nodes(message, analysis)));
    let sets: Vec<Vec<NodeId>> =
        in_sets.into_iter().map(|(_, list)| by_name(&mut list.iter().map(|binding| binding.id))).collect();

    let nodes = single.len() + sets.iter().map(Vec::len).sum::<usize>();
    if nodes.saturating_mul(nodes) / 2 > MAX_PAIRS {
        return None;
    }
    let mut pairs = Vec::new();
    let mut pair = |one: NodeId, other: NodeId| {
        if one != other {
            let in_order = message.nodes.name(one) < message.nodes.name(other);
            pairs.push(if in_order { (one, other) } else { (other, one) });
        }
    };
    for (place, &one) in single.iter().enumerate() {
        single.iter().skip(place + 1).for_each(|&other| pair(one, other));
        sets.iter().flatten().for_each(|&other| pair(one, other));
    }
    for (place, set) in sets.iter().enumerate() {
        for other in sets.iter().skip(place + 1) {
            for &one in set {
                for &other in other {
                    pair(one, other);
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    Some(pairs)
}

/// The nodes of the support graphs of bound edges.
fn support_nodes<'m>(
    message: &'m Message<'_>,
    analysis: &'m Analysis<'_>,
) -> impl Iterator<Item = NodeId> + 'm {
    let bound = analysis.edge_bindings.iter().flat_map(|(_, list)| list);
    let graphs = bound.filter_map(|binding| message.edges.get(binding.id)).flat_map(Edge::support_graphs);
    let edges = graphs.filter_map(|&graph| message.graphs.get(graph)).flat_map(|graph| &graph.edges);
    edges.filter_map(|&edge| message.edges.get(edge)).flat_map(|edge| [edge.subject, edge.object])
}

/// Says of every node how many publications name it, unless it says so already.
fn count_nodes(message: &mut Message<'_>, named: &HashMap<NodeId, Named>) {
    for (id, node) in message.nodes.iter_mut() {
        if node.attributes.items().iter().any(|raw| raw.get().contains(NODE_COUNT)) {
            continue;
        }
        let count = named.get(&id).map_or(0, |named| named.publications);
        let attribute = json!({
            "original_attribute_name": NODE_COUNT,
            "attribute_type_id": "biolink:has_count",
            "value": count,
            "value_type_id": "EDAM:data_0006",
        });
        node.attributes.extend(to_raw(&attribute).map(Raw::Owned));
    }
}

fn add_edge(message: &mut Message<'_>, subject: NodeId, object: NodeId, count: u64) -> EdgeId {
    let name = ids::literature_edge(message.nodes.name(subject), message.nodes.name(object));
    let attributes = json!([
        {"original_attribute_name": "num_publications", "attribute_type_id": "biolink:has_count", "value_type_id": "EDAM:data_0006", "value": count},
        {"attribute_type_id": "biolink:agent_type", "value": "data_analysis_pipeline"},
        {"attribute_type_id": "biolink:knowledge_level", "value": "statistical_association"},
    ]);
    let sources = json!([{"resource_id": "infores:omnicorp", "resource_role": "primary_knowledge_source"}]);
    let id = message.edges.intern(Cow::Owned(name));
    let predicate = to_raw(&"biolink:occurs_together_in_literature_with");
    if let (Some(slot @ None), Some(predicate)) = (message.edges.slot(id), predicate) {
        *slot = Some(Edge {
            subject,
            object,
            predicate: Raw::Owned(predicate),
            qualifiers: List::Absent,
            attributes: shared_list(&attributes),
            sources: shared_list(&sources),
            level: None,
            agent: None,
            support: None,
            aggregated: false,
            rest: Rest::default(),
        });
    }
    id
}

/// Puts the edges of each analysis into its literature support graph.
fn attach(message: &mut Message<'_>, pairs: &Pairs, edges: &HashMap<(NodeId, NodeId), EdgeId>) {
    let Message { results, graphs, .. } = message;
    let mut number = 0usize;
    let analyses = results.iter_mut().flat_map(|answer| &mut answer.analyses);
    for (analysis, pairs) in analyses.zip(&pairs.of_analyses) {
        let found: Vec<EdgeId> = pairs.iter().filter_map(|pair| edges.get(pair).copied()).collect();
        if found.is_empty() {
            continue;
        }
        let known = analysis.support_graphs.iter().find(|&&graph| graphs.name(graph).starts_with(GRAPH_NAME));
        let id: GraphId = match known {
            Some(&known) => known,
            None => loop {
                let name = format!("{GRAPH_NAME}_{number}");
                number += 1;
                if graphs.find(&name).is_none() {
                    let id = graphs.intern(Cow::Owned(name));
                    analysis.support_graphs.push(id);
                    break id;
                }
            },
        };
        let found = AuxGraph { edges: found, ..AuxGraph::default() };
        match graphs.slot(id) {
            Some(Some(graph)) => graph.unite(found),
            Some(slot) => *slot = Some(found),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::message::parse;

    /// Every node is named; any two share a publication.
    struct All;

    impl Literature for All {
        type Error = Infallible;

        fn node(&self, curie: &str) -> Result<Option<Named>, Infallible> {
            let index = curie.bytes().map(u64::from).sum();
            Ok((curie != "X").then_some(Named { publications: 7, index }))
        }

        fn shared(&self, smaller: u64, larger: u64) -> Result<Option<u64>, Infallible> {
            assert!(smaller < larger);
            Ok(Some(larger))
        }
    }

    const TEXT: &str = r#"{"message":{"query_graph":{"nodes":{"n":{},"m":{}}},"knowledge_graph":{"nodes":{"A":{},"B":{},"X":{}},"edges":{"e":{"subject":"A","object":"X","predicate":"p"}}},"results":[{"node_bindings":{"n":[{"id":"B"}],"m":[{"id":"A"},{"id":"X"}]},"analyses":[{"edge_bindings":{"e":[{"id":"e"},{"id":"gone"}]}}]}],"auxiliary_graphs":{"OMNICORP_support_graph_0":{"edges":["e"]}}}}"#;

    #[test]
    fn nodes_named_together_are_joined_once() {
        let mut message = parse(TEXT).unwrap();
        let Ok(notes) = aragorn_omnicorp(&mut message, &All);
        assert!(notes.is_empty());
        let mut once = Vec::new();
        message.write(&mut once).unwrap();
        let once = String::from_utf8(once).unwrap();
        assert!(once.contains(r#""support_graphs":["OMNICORP_support_graph_1"]"#), "{once}");
        assert_eq!(message.edge_count(), 2);
        let Ok(_) = aragorn_omnicorp(&mut message, &All);
        let mut twice = Vec::new();
        message.write(&mut twice).unwrap();
        assert_eq!(String::from_utf8(twice).unwrap(), once);
    }
}
