//! A path question as one lookup of three hops, bounded so that Retriever can answer it.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use trapi::{Invalid, Members, Pathfinder, Problem, QEdge, QNode, QueryGraph};

use super::{DIRECT, SubQuery, dehydrated};

/// Predicates worth following: each with its inverse, so that the direction of a path does not matter.
const PREDICATES: [&str; 23] = [
    "biolink:physically_interacts_with",
    "biolink:genetically_interacts_with",
    "biolink:contributes_to",
    "biolink:contribution_from",
    "biolink:affects",
    "biolink:affected_by",
    "biolink:acts_upstream_of",
    "biolink:has_upstream_actor",
    "biolink:enables",
    "biolink:enabled_by",
    "biolink:produces",
    "biolink:produced_by",
    "biolink:has_participant",
    "biolink:participates_in",
    "biolink:derives_from",
    "biolink:derives_into",
    "biolink:transcribed_to",
    "biolink:transcribed_from",
    "biolink:translates_to",
    "biolink:translation_of",
    "biolink:has_gene_product",
    "biolink:gene_product_of",
    "biolink:genetically_associated_with",
];

/// Nodes that say less than this about themselves (percent) are not passed.
const MIN_INFORMATION_CONTENT: u32 = 69;
/// Nodes with more edges than this are not passed.
const MAX_NODE_DEGREE: u32 = 5000;

/// The three-hop question from the path's subject to its object.
///
/// # Errors
/// When an end of the path is not there or not pinned, or both ends are pinned to the same ids.
pub fn pathfinder(graph: &QueryGraph, path: &Pathfinder) -> Result<SubQuery, Invalid> {
    let subject = end(graph, &path.subject)?;
    let object = end(graph, &path.object)?;
    if subject.ids == object.ids {
        let place = format!("message.query_graph.nodes.{}.ids", path.object);
        return Err(Invalid::new(place, Problem::SameEnds));
    }
    let middle = [own_key(graph, "intermediate_0"), own_key(graph, "intermediate_1")];
    let mut nodes = IndexMap::with_capacity(4);
    nodes.insert(path.subject.clone(), subject);
    for key in &middle {
        nodes.insert(key.clone(), anything());
    }
    nodes.insert(path.object.clone(), object);
    let stops = [&path.subject, &middle[0], &middle[1], &path.object];
    let edges = stops.windows(2).enumerate().filter_map(|(hop, ends)| match ends {
        [subject, object] => Some((format!("e{hop}"), hop_edge(subject, object))),
        _ => None,
    });
    let edges = edges.collect();
    let query_graph = QueryGraph { nodes, edges, ..QueryGraph::default() };
    Ok(SubQuery { label: DIRECT.to_owned(), query_graph })
}

/// The client's parameters with those that keep a path question answerable, as aragorn asks it.
pub fn pathfinder_parameters(client: &Members) -> Members {
    bounded_parameters(
        client,
        &[("min_information_content", MIN_INFORMATION_CONTENT), ("max_node_degree", MAX_NODE_DEGREE)],
    )
}

/// The client's parameters with `bounds` for the nodes that are passed: the client's own bounds count where
/// given, and nodes and edges come without their content until the best paths are known.
pub fn bounded_parameters(client: &Members, bounds: &[(&str, u32)]) -> Members {
    let mut parameters = client.clone();
    let own: Option<IndexMap<String, Box<RawValue>>> =
        client.get("filter_config").and_then(|raw| serde_json::from_str(raw.get()).ok());
    let own = own.unwrap_or_default();
    let mut config = Members::new();
    for &(name, default) in bounds {
        let value = own.get(name).filter(|raw| raw.get() != "null").cloned().or_else(|| to_raw(&default));
        config.extend(value.map(|value| (name.to_owned(), value)));
    }
    parameters.extend(to_raw(&config).map(|value| ("filter_config".to_owned(), value)));
    dehydrated(&parameters)
}

fn to_raw(value: &impl Serialize) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}

fn end(graph: &QueryGraph, key: &str) -> Result<QNode, Invalid> {
    let place = || format!("message.query_graph.nodes.{key}");
    let node = graph.nodes.get(key).ok_or_else(|| Invalid::new(place(), Problem::Missing))?;
    if !node.is_pinned() {
        return Err(Invalid::new(format!("{}.ids", place()), Problem::EndNotPinned));
    }
    Ok(QNode { ids: node.ids.clone(), ..QNode::default() })
}

/// A key like `key` that no node of `graph` has.
pub fn own_key(graph: &QueryGraph, key: &str) -> String {
    let mut key = key.to_owned();
    while graph.nodes.contains_key(&key) {
        key.push('_');
    }
    key
}

fn anything() -> QNode {
    QNode { categories: Some(vec!["biolink:NamedThing".to_owned()]), ..QNode::default() }
}

fn hop_edge(subject: &str, object: &str) -> QEdge {
    QEdge {
        subject: subject.to_owned(),
        object: object.to_owned(),
        predicates: Some(PREDICATES.iter().map(|&predicate| predicate.to_owned()).collect()),
        ..QEdge::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(nodes: &str) -> Result<SubQuery, Invalid> {
        let graph = QueryGraph::parse(&format!(
            r#"{{"nodes":{{{nodes}}},"paths":{{"p":{{"subject":"a","object":"b"}}}}}}"#
        ))
        .unwrap();
        pathfinder(&graph, &Pathfinder { path: "p".into(), subject: "a".into(), object: "b".into() })
    }

    #[test]
    fn a_path_is_asked_from_its_subject_to_its_object() {
        let graph =
            asked(r#""b":{"ids":["X:2"]},"a":{"ids":["X:1"],"categories":["c"]}"#).unwrap().query_graph;
        let keys: Vec<_> = graph.nodes.keys().map(String::as_str).collect();
        assert_eq!(keys, ["a", "intermediate_0", "intermediate_1", "b"]);
        let ends: Vec<_> =
            graph.edges.values().map(|edge| (edge.subject.as_str(), edge.object.as_str())).collect();
        assert_eq!(
            ends,
            [("a", "intermediate_0"), ("intermediate_0", "intermediate_1"), ("intermediate_1", "b")]
        );
        assert!(graph.nodes["a"].categories.is_none());
    }

    #[test]
    fn a_clients_key_is_no_intermediate() {
        let graph = asked(r#""a":{"ids":["X:1"]},"b":{"ids":["X:2"]},"intermediate_0":{}"#).unwrap();
        assert!(graph.query_graph.nodes.contains_key("intermediate_0_"));
    }

    #[test]
    fn ends_are_pinned_to_different_ids() {
        assert!(asked(r#""a":{"ids":["X:1"]},"b":{"ids":["X:1"]}"#).is_err());
        assert!(asked(r#""a":{"ids":["X:1"]},"b":{}"#).is_err());
        assert!(asked(r#""a":{"ids":["X:1"]}"#).is_err());
    }

    #[test]
    fn the_clients_bounds_count() {
        let client: Members = serde_json::from_str(
            r#"{"timeout":5,"filter_config":{"max_node_degree":1e1},"dehydrated":false}"#,
        )
        .unwrap();
        assert_eq!(
            serde_json::to_string(&pathfinder_parameters(&client)).unwrap(),
            r#"{"timeout":5,"filter_config":{"min_information_content":69,"max_node_degree":1e1},"dehydrated":false}"#
        );
        let none: Members = serde_json::from_str(r#"{"filter_config":null}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&pathfinder_parameters(&none)).unwrap(),
            r#"{"filter_config":{"min_information_content":69,"max_node_degree":5000},"dehydrated":true}"#
        );
    }
}
