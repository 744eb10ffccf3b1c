//! Reading a TRAPI response for the eye: who are the answers, how good, how well supported.

use bytes::Bytes;
use serde_json::Value;
use std::collections::HashSet;

use crate::error::CliError;
use crate::table::Table;

/// A response and its size on the wire.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Value,
    bytes: usize,
}

/// One line of the table.
#[derive(Debug, PartialEq)]
struct Row {
    name: String,
    id: String,
    score: Option<f64>,
    support: String,
}

impl Answer {
    pub(crate) fn parse(body: &Bytes) -> Result<Self, CliError> {
        let parsed = serde_json::from_slice(body);
        let response = parsed.map_err(|source| CliError::BadAnswer { bytes: body.len(), source })?;
        Ok(Self { response, bytes: body.len() })
    }

    /// The TRAPI status; a response without one counts as a success, as TRAPI has it.
    pub(crate) fn status(&self) -> &str {
        self.response["status"].as_str().unwrap_or("Success")
    }

    pub(crate) fn description(&self) -> &str {
        self.response["description"].as_str().unwrap_or_default()
    }

    fn results(&self) -> &[Value] {
        self.response["message"]["results"].as_array().map_or(&[], Vec::as_slice)
    }

    fn member_count(&self, pointer: &str) -> usize {
        let members = self.response.pointer(pointer).and_then(Value::as_object);
        members.map_or(0, serde_json::Map::len)
    }

    /// Results, graph sizes and bytes in one line.
    pub(crate) fn sizes(&self) -> String {
        format!(
            "{}; knowledge graph of {} and {}; {}; {}",
            counted(self.results().len(), "result"),
            counted(self.member_count("/message/knowledge_graph/nodes"), "node"),
            counted(self.member_count("/message/knowledge_graph/edges"), "edge"),
            counted(self.member_count("/message/auxiliary_graphs"), "auxiliary graph"),
            human_bytes(self.bytes),
        )
    }

    /// The best answers, in the order of the response.
    pub(crate) fn table(&self, top: usize) -> Table {
        let mut table = Table::new(&["rank", "name", "id", "score", "support"]);
        for (rank, row) in self.rows(top).into_iter().enumerate() {
            let score = row.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.4}"));
            table.row(vec![(rank + 1).to_string(), row.name, row.id, score, row.support]);
        }
        table
    }

    fn rows(&self, top: usize) -> Vec<Row> {
        let graph = &self.response["message"]["query_graph"];
        if graph.get("paths").is_some() {
            let analyses = self.results().iter().flat_map(|result| list(&result["analyses"]));
            return analyses.take(top).map(|analysis| self.path_row(analysis)).collect();
        }
        let open = open_nodes(graph);
        self.results().iter().take(top).map(|result| self.result_row(result, &open)).collect()
    }

    /// A result by what it binds to the nodes that the query left open.
    fn result_row(&self, result: &Value, open: &[&str]) -> Row {
        let bound = |key: &&str| result["node_bindings"][*key][0]["id"].as_str();
        let ids: Vec<&str> = open.iter().filter_map(bound).collect();
        let names: Vec<&str> = ids.iter().map(|id| self.name(id)).collect();
        let analyses = list(&result["analyses"]);
        let scores = analyses.iter().filter_map(|analysis| analysis["score"].as_f64());
        Row {
            name: names.join(" – "),
            id: ids.join(" "),
            score: scores.reduce(f64::max),
            support: self.support(analyses),
        }
    }

    /// One path of a pathfinder answer, by the nodes it passes.
    fn path_row(&self, analysis: &Value) -> Row {
        let bindings = analysis["path_bindings"].as_object();
        let id = bindings.and_then(|all| all.values().next()).and_then(|binding| binding[0]["id"].as_str());
        let id = id.unwrap_or_default();
        let edges = list(&self.response["message"]["auxiliary_graphs"][id]["edges"]);
        let ends = edges.iter().filter_map(Value::as_str).filter_map(|edge| {
            let edge = &self.response["message"]["knowledge_graph"]["edges"][edge];
            Some((edge["subject"].as_str()?, edge["object"].as_str()?))
        });
        let passed = walk(&ends.collect::<Vec<_>>(), self.path_start());
        let names: Vec<&str> = passed.into_iter().map(|id| self.name(id)).collect();
        Row {
            name: names.join(" – "),
            id: id.to_owned(),
            score: analysis["score"].as_f64(),
            support: counted(edges.len(), "edge"),
        }
    }

    /// The identifier at which the paths asked for begin.
    fn path_start(&self) -> Option<&str> {
        let graph = &self.response["message"]["query_graph"];
        let path = graph["paths"].as_object()?.values().next()?;
        graph["nodes"][path["subject"].as_str()?]["ids"][0].as_str()
    }

    /// How many paths stand behind the edges bound, or how many edges where nothing was inferred.
    fn support(&self, analyses: &[Value]) -> String {
        let bindings = analyses.iter().filter_map(|analysis| analysis["edge_bindings"].as_object());
        let edges = bindings.flat_map(|all| all.values()).flat_map(list);
        let edges: Vec<&str> = edges.filter_map(|binding| binding["id"].as_str()).collect();
        let paths: HashSet<&str> = edges.iter().flat_map(|edge| self.support_graphs(edge)).collect();
        if paths.is_empty() { counted(edges.len(), "edge") } else { counted(paths.len(), "path") }
    }

    fn support_graphs(&self, edge: &str) -> impl Iterator<Item = &str> {
        let attributes = list(&self.response["message"]["knowledge_graph"]["edges"][edge]["attributes"]);
        let supports = |attribute: &&Value| attribute["attribute_type_id"] == "biolink:support_graphs";
        let graphs = attributes.iter().filter(supports).flat_map(|attribute| list(&attribute["value"]));
        graphs.filter_map(Value::as_str)
    }

    fn name<'a>(&'a self, id: &'a str) -> &'a str {
        let node = &self.response["message"]["knowledge_graph"]["nodes"][id];
        node["name"].as_str().unwrap_or(id)
    }
}

/// The nodes of a path in the order in which they are passed, whatever the order and direction of its edges.
fn walk<'a>(edges: &[(&'a str, &'a str)], start: Option<&'a str>) -> Vec<&'a str> {
    let mut left: Vec<(&str, &str)> = edges.to_vec();
    let Some(first) = start.or_else(|| left.first().map(|&(subject, _)| subject)) else { return Vec::new() };
    let mut passed = vec![first];
    let mut here = first;
    while let Some(next) = left.iter().position(|&(one, other)| one == here || other == here) {
        let (one, other) = left.swap_remove(next);
        let there = if one == here { other } else { one };
        // A parallel edge leads back to where we have been.
        if !passed.contains(&there) {
            passed.push(there);
            here = there;
        }
    }
    passed
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn open_nodes(graph: &Value) -> Vec<&str> {
    let nodes = graph["nodes"].as_object();
    let open = nodes.into_iter().flatten().filter(|(_, node)| list(&node["ids"]).is_empty());
    open.map(|(key, _)| key.as_str()).collect()
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn human_bytes(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(response: Value) -> Answer {
        Answer { response, bytes: 1_234 }
    }

    #[test]
    fn an_inferred_answer_shows_its_paths() {
        let support = json!([{ "attribute_type_id": "biolink:support_graphs", "value": ["a", "b"] }]);
        let answer = answer(json!({ "message": {
            "query_graph": { "nodes": { "SN": {}, "ON": { "ids": ["MONDO:1"] } } },
            "knowledge_graph": {
                "nodes": { "CHEBI:1": { "name": "one" } },
                "edges": { "e": { "attributes": support } },
            },
            "results": [{
                "node_bindings": { "SN": [{ "id": "CHEBI:1" }], "ON": [{ "id": "MONDO:1" }] },
                "analyses": [{ "score": 0.5, "edge_bindings": { "t": [{ "id": "e" }] } }],
            }],
        } }));
        let expected = Row {
            name: "one".to_owned(),
            id: "CHEBI:1".to_owned(),
            score: Some(0.5),
            support: "2 paths".to_owned(),
        };
        assert_eq!(answer.rows(5), vec![expected]);
        assert_eq!(
            answer.sizes(),
            "1 result; knowledge graph of 1 node and 1 edge; 0 auxiliary graphs; 1.2 kB"
        );
    }

    #[test]
    fn a_path_answer_shows_the_nodes_on_the_way() {
        let answer = answer(json!({ "message": {
            "query_graph": {
                "nodes": { "SN": { "ids": ["A"] } },
                "paths": { "p0": { "subject": "SN", "object": "ON" } },
            },
            "auxiliary_graphs": { "g": { "edges": ["e2", "e1", "e3"] } },
            "knowledge_graph": {
                "nodes": { "A": { "name": "a" }, "B": { "name": "b" } },
                "edges": {
                    "e1": { "subject": "A", "object": "B" },
                    "e2": { "subject": "B", "object": "C" },
                    "e3": { "subject": "B", "object": "A" },
                },
            },
            "results": [{ "analyses": [{ "score": 1.0, "path_bindings": { "p0": [{ "id": "g" }] } }] }],
        } }));
        let row = answer.rows(5).remove(0);
        assert_eq!((row.name.as_str(), row.support.as_str()), ("a – b – C", "3 edges"));
    }

    #[test]
    fn an_odd_response_is_shown_as_far_as_it_goes() {
        let answer = answer(json!([]));
        assert_eq!((answer.status(), answer.rows(5).len()), ("Success", 0));
    }
}
