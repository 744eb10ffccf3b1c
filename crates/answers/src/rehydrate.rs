//! The second pass over a message whose nodes and edges came without their content: what is taken from the answer.

use std::io::{self, Write};

use trapi::Dialect;

use crate::Message;
use crate::json::Json;
use crate::message::{BodyText, Edge, Index, Marks, Node, NodeId, Unreadable, keep_usable};

/// What the second pass brought for what was looked up: edges that were inferred from others, and nodes that only
/// such edges lead to, nobody else can know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Nodes that are in the answer.
    pub nodes: usize,
    /// Of so many.
    pub of_nodes: usize,
    /// Edges that are in the answer.
    pub edges: usize,
    /// Of so many.
    pub of_edges: usize,
    /// Edges of ours under whose id the answer states something else; they stay as they were.
    pub other_statements: usize,
}

impl Message<'_> {
    /// Writes the message as a JSON object in that dialect. Only in 1.x nothing is lost by reading it again.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_in(&self, dialect: Dialect, out: &mut impl Write) -> io::Result<()> {
        match dialect {
            Dialect::V1 => self.write_to(&mut Json::new(out)),
            Dialect::V2 => self.write_v2(&mut Json::new(out)),
        }
    }
}

impl<'a> Message<'a> {
    /// Takes over what `answer`, a TRAPI response of either dialect, knows of this message's nodes and edges. Nothing
    /// else of it counts: no node, edge, result or graph is added, and none is lost. A message that was read has us
    /// among its edges' sources, so that the answer to it brings us no second time.
    ///
    /// # Errors
    /// When the text is no TRAPI response; the message is then as it was.
    pub fn fill(&mut self, answer: &'a str) -> Result<Filled, Unreadable> {
        let body: BodyText<'a> = serde_json::from_str(answer)?;
        let other = body.message.ok_or(Unreadable::NoMessage)?.into_message();
        let mut looked_up = Marks::new(self.nodes.mentioned());
        let mut filled = Filled::default();
        for (_, _, edge) in self.edges.iter().filter(|(_, _, edge)| edge.support.is_none()) {
            filled.of_edges += 1;
            filled.of_nodes += [edge.subject, edge.object]
                .map(|node| looked_up.set(node))
                .iter()
                .filter(|new| **new)
                .count();
        }
        let nodes: Vec<(Option<NodeId>, Option<Node<'a>>)> =
            other.nodes.into_entries().map(|(name, node)| (self.nodes.find(&name), node)).collect();
        for (name, edge) in other.edges.into_entries() {
            let Some(edge) = edge else { continue };
            let ours = |id: NodeId| nodes.get(id.position()).and_then(|(ours, _)| *ours);
            let ends = ours(edge.subject).zip(ours(edge.object));
            self.fill_edge(&name, edge, ends, &mut filled);
        }
        for (id, node) in nodes {
            let (Some(id), Some(node)) = (id, node) else { continue };
            if let Some(Some(known)) = self.nodes.slot(id) {
                known.fill(node);
                filled.nodes += usize::from(looked_up.has(id));
            }
        }
        Ok(filled)
    }

    /// Takes over a copy of an edge between these nodes of ours; none where we have not both.
    fn fill_edge(&mut self, name: &str, edge: Edge<'a>, ends: Option<(NodeId, NodeId)>, filled: &mut Filled) {
        let known = self.edges.find(name).and_then(|id| self.edges.slot(id)?.as_mut());
        let Some(known) = known else { return };
        // the graphs that support it stay behind: those that we have came with the edge
        let copy = ends.map(|(subject, object)| Edge { subject, object, support: None, ..edge });
        match copy {
            Some(mut copy) if !known.disagrees(&copy) => {
                keep_usable(&mut copy.sources);
                filled.edges += usize::from(known.support.is_none());
                known.fill(copy);
            }
            _ => filled.other_statements += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::parse;

    const OURS: &str = r#"{"message":{"query_graph":{"nodes":{}},"knowledge_graph":{"nodes":{"A":{"categories":["biolink:NamedThing"],"attributes":[]},"B":{"name":"b","categories":["biolink:Gene"],"attributes":[]}},"edges":{"e":{"subject":"A","predicate":"biolink:p","object":"B","attributes":[{"attribute_type_id":"biolink:knowledge_level","value":"not_provided"},{"attribute_type_id":"biolink:agent_type","value":"not_provided"}],"sources":[{"resource_id":"infores:x","resource_role":"primary_knowledge_source"},{"resource_id":"infores:shepherd-aragorn","resource_role":"aggregator_knowledge_source"}]}}},"results":[],"auxiliary_graphs":{"g":{"edges":["e"],"attributes":[]}}}}"#;

    fn filled(nodes: &str, edges: &str) -> (Filled, String) {
        let answer = format!(
            r#"{{"message":{{"knowledge_graph":{{"nodes":{{{nodes}}},"edges":{{{edges}}}}},"results":[{{}}],"auxiliary_graphs":{{"h":{{"edges":["f"]}}}}}}}}"#
        );
        let mut message = parse(OURS).unwrap();
        let filled = message.fill(&answer).unwrap();
        (filled, written(&message))
    }

    fn written(message: &Message<'_>) -> String {
        let mut out = b"{\"message\":".to_vec();
        message.write(&mut out).unwrap();
        out.push(b'}');
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn content_is_taken_over_and_nothing_else() {
        let edge = r#""subject":"A","predicate":"biolink:p","object":"B""#;
        let (filled, text) = filled(
            r#""A":{"name":"a","categories":["biolink:Drug"],"attributes":[{"attribute_type_id":"t","value":1}]},"C":{}"#,
            &format!(
                r#""e":{{{edge},"qualifiers":[{{"qualifier_type_id":"q","qualifier_value":"v"}}],"attributes":[{{"attribute_type_id":"biolink:support_graphs","value":["h"]}},{{"attribute_type_id":"biolink:knowledge_level","value":"prediction"}},{{"attribute_type_id":"p","value":["PMID:1"]}}],"sources":[{{"resource_id":"infores:shepherd-aragorn","resource_role":"aggregator_knowledge_source"}},{{"resource_id":"infores:y","resource_role":"aggregator_knowledge_source"}},{{"resource_id":"infores:z"}}]}},"f":{{{edge}}}"#
            ),
        );
        assert_eq!(filled, Filled { nodes: 1, of_nodes: 2, edges: 1, of_edges: 1, other_statements: 0 });
        assert_eq!(
            text,
            r#"{"message":{"query_graph":{"nodes":{}},"knowledge_graph":{"nodes":{"A":{"name":"a","categories":["biolink:Drug"],"attributes":[{"attribute_type_id":"t","value":1}]},"B":{"name":"b","categories":["biolink:Gene"],"attributes":[]}},"edges":{"e":{"subject":"A","predicate":"biolink:p","object":"B","qualifiers":[{"qualifier_type_id":"q","qualifier_value":"v"}],"attributes":[{"attribute_type_id":"biolink:agent_type","value":"not_provided"},{"attribute_type_id":"biolink:knowledge_level","value":"prediction"},{"attribute_type_id":"p","value":["PMID:1"]}],"sources":[{"resource_id":"infores:x","resource_role":"primary_knowledge_source"},{"resource_id":"infores:shepherd-aragorn","resource_role":"aggregator_knowledge_source"},{"resource_id":"infores:y","resource_role":"aggregator_knowledge_source"}]}}},"results":[],"auxiliary_graphs":{"g":{"edges":["e"],"attributes":[]}}}}"#
        );
    }

    #[test]
    fn what_was_inferred_here_is_not_missed() {
        let text = OURS
            .replace(r#""edges":{"e""#, r#""edges":{"made":{"subject":"A","predicate":"biolink:p","object":"S","attributes":[{"attribute_type_id":"biolink:support_graphs","value":["g"]}]},"e""#)
            .replace(r#""nodes":{"A""#, r#""nodes":{"S":{"is_set":true},"A""#);
        let mut message = parse(&text).unwrap();
        let edge = r#""e":{"subject":"A","predicate":"biolink:p","object":"B"}"#;
        let answer = format!(
            r#"{{"message":{{"knowledge_graph":{{"nodes":{{"A":{{}},"B":{{}}}},"edges":{{{edge}}}}}}}}}"#
        );
        let filled = message.fill(&answer).unwrap();
        assert_eq!(filled, Filled { nodes: 2, of_nodes: 2, edges: 1, of_edges: 1, other_statements: 0 });
    }

    #[test]
    fn what_comes_in_2_0_is_said_once() {
        let edge = r#""e":{"subject":"A","predicate":"biolink:p","object":"B","knowledge_level":"prediction","agent_type":"manual_agent"}"#;
        let (_, text) = filled("\"A\":{},\"B\":{}", edge);
        for (kind, value) in [("knowledge_level", "prediction"), ("agent_type", "manual_agent")] {
            assert_eq!(text.matches(kind).count(), 1, "{text}");
            assert!(text.contains(&format!(r#"{{"attribute_type_id":"biolink:{kind}","value":"{value}"}}"#)));
        }
        let other = edge.replace("prediction", "observation");
        let answer = format!(r#"{{"message":{{"knowledge_graph":{{"nodes":{{}},"edges":{{{other}}}}}}}}}"#);
        let mut again = parse(&text).unwrap();
        again.fill(&answer).unwrap();
        assert_eq!(written(&again), text, "the first word counts");
    }

    #[test]
    fn edge_that_states_something_else_is_no_copy() {
        for ends in [r#""subject":"B","object":"A""#, r#""subject":"A","object":"C""#] {
            let (filled, text) = filled("", &format!(r#""e":{{{ends},"predicate":"biolink:p","x":1}}"#));
            assert_eq!(filled, Filled { nodes: 0, of_nodes: 2, edges: 0, of_edges: 1, other_statements: 1 });
            assert_eq!(text, OURS);
        }
        let (filled, _) = filled("", r#""e":{"subject":"A","object":"B","predicate":"biolink:q"},"z":null"#);
        assert_eq!(filled.other_statements, 1);
    }

    #[test]
    fn what_is_no_response_changes_nothing() {
        for answer in ["", "[]", "{}", r#"{"message":null}"#, r#"{"message":{"knowledge_graph":7}}"#] {
            let mut message = parse(OURS).unwrap();
            assert!(message.fill(answer).is_err(), "{answer}");
            assert_eq!(written(&message), OURS);
        }
    }
}
