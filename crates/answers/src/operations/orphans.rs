//! `filter_kgraph_orphans`: only what the results reach stays.

use crate::message::{Answer, EdgeId, GraphId, Marks, Message, NodeId};

/// Removes nodes, edges and auxiliary graphs that no result reaches, by bindings, support graphs of edges
/// or analyses, at any depth; cycles end, and a name that leads nowhere hides nothing else.
pub fn filter_kgraph_orphans(message: &mut Message<'_>) {
    let mut reached = Reached::new(message);
    for answer in &message.results {
        reached.enter(answer);
        reached.follow(message);
    }
    message.nodes.keep(&reached.nodes);
    message.edges.keep(&reached.edges);
    message.graphs.keep(&reached.graphs);
}

/// What was reached, and what of it is still to be followed.
struct Reached {
    nodes: Marks<NodeId>,
    edges: Marks<EdgeId>,
    graphs: Marks<GraphId>,
    open_edges: Vec<EdgeId>,
    open_graphs: Vec<GraphId>,
}

impl Reached {
    fn new(message: &Message<'_>) -> Self {
        Self {
            nodes: Marks::new(message.nodes.mentioned()),
            edges: Marks::new(message.edges.mentioned()),
            graphs: Marks::new(message.graphs.mentioned()),
            open_edges: Vec::new(),
            open_graphs: Vec::new(),
        }
    }

    fn enter(&mut self, answer: &Answer<'_>) {
        for binding in answer.node_bindings.iter().flat_map(|(_, list)| list) {
            self.nodes.set(binding.id);
        }
        for analysis in &answer.analyses {
            for binding in analysis.edge_bindings.iter().flat_map(|(_, list)| list) {
                self.reach_edge(binding.id);
            }
            for binding in analysis.path_bindings.iter().flat_map(|(_, list)| list) {
                self.reach_graph(binding.id);
            }
            for &graph in &analysis.support_graphs {
                self.reach_graph(graph);
            }
        }
    }

    fn reach_edge(&mut self, edge: EdgeId) {
        if self.edges.set(edge) {
            self.open_edges.push(edge);
        }
    }

    fn reach_graph(&mut self, graph: GraphId) {
        if self.graphs.set(graph) {
            self.open_graphs.push(graph);
        }
    }

    /// Follows what is open, with no recursion: support graphs may nest as deeply as they like.
    fn follow(&mut self, message: &Message<'_>) {
        loop {
            if let Some(edge) = self.open_edges.pop() {
                let Some(edge) = message.edges.get(edge) else { continue };
                self.nodes.set(edge.subject);
                self.nodes.set(edge.object);
                for &graph in edge.support_graphs() {
                    self.reach_graph(graph);
                }
            } else if let Some(graph) = self.open_graphs.pop() {
                for &edge in message.graphs.get(graph).iter().flat_map(|graph| &graph.edges) {
                    self.reach_edge(edge);
                }
            } else {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::message::parse;

    fn filtered(graph: &str, results: &str, aux: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
        let text = format!(
            r#"{{"message":{{"knowledge_graph":{graph},"results":{results},"auxiliary_graphs":{aux}}}}}"#
        );
        let mut message = parse(&text).unwrap();
        filter_kgraph_orphans(&mut message);
        (
            message.nodes.iter().map(|(_, name, _)| name.to_owned()).collect(),
            message.edges.iter().map(|(_, name, _)| name.to_owned()).collect(),
            message.graphs.iter().map(|(_, name, _)| name.to_owned()).collect(),
        )
    }

    const GRAPH: &str = r#"{"nodes":{"A":{},"B":{},"C":{},"D":{}},"edges":{
        "e1":{"subject":"A","object":"B","predicate":"p","attributes":[{"attribute_type_id":"biolink:support_graphs","value":["gone","g1"]}]},
        "e2":{"subject":"B","object":"C","predicate":"p","attributes":[{"attribute_type_id":"biolink:support_graphs","value":["g1"]}]},
        "e3":{"subject":"C","object":"D","predicate":"p"}}}"#;

    #[test]
    fn support_is_followed_past_missing_names_and_around_cycles() {
        let results = r#"[{"node_bindings":{"n":[{"id":"A"}]},"analyses":[{"edge_bindings":{"e":[{"id":"lost"},{"id":"e1"}]}}]}]"#;
        let (nodes, edges, graphs) =
            filtered(GRAPH, results, r#"{"g1":{"edges":["lost","e2","e1"]},"g2":{"edges":["e3"]}}"#);
        assert_eq!(
            (nodes.join(""), edges.join(","), graphs.join(",")),
            ("ABC".into(), "e1,e2".into(), "g1".into())
        );
    }

    #[test]
    fn analyses_and_paths_reach_graphs() {
        let results = r#"[{"node_bindings":{},"analyses":[{"path_bindings":{"p":[{"id":"g2"}]},"support_graphs":["g1"]}]}]"#;
        let (nodes, edges, graphs) = filtered(
            GRAPH,
            results,
            r#"{"g1":{"edges":["e2"]},"g2":{"edges":["e3"]},"g3":{"edges":["e1"]}}"#,
        );
        assert_eq!(
            (nodes.join(""), edges.join(","), graphs.join(",")),
            ("BCD".into(), "e2,e3".into(), "g1,g2".into())
        );
    }

    #[test]
    fn null_and_missing_are_empty() {
        let empty = (Vec::new(), Vec::new(), Vec::new());
        assert_eq!(filtered("null", "null", "null"), empty);
        assert_eq!(filtered(GRAPH, "[]", "{}"), empty);
    }

    #[test]
    fn deep_support_does_not_overflow() {
        let depth = 100_000;
        let mut edges = String::new();
        let mut aux = String::new();
        for level in 0..depth {
            let comma = if level == 0 { "" } else { "," };
            write!(
                edges,
                r#"{comma}"e{level}":{{"subject":"A","object":"B","predicate":"p","attributes":[{{"attribute_type_id":"biolink:support_graphs","value":["g{level}"]}}]}}"#
            )
            .unwrap();
            write!(aux, r#"{comma}"g{level}":{{"edges":["e{}"]}}"#, level + 1).unwrap();
        }
        let graph = format!(r#"{{"nodes":{{}},"edges":{{{edges}}}}}"#);
        let results = r#"[{"node_bindings":{},"analyses":[{"edge_bindings":{"e":[{"id":"e0"}]}}]}]"#;
        assert_eq!(filtered(&graph, results, &format!("{{{aux}}}")).1.len(), depth);
    }
}
