//! A knowledge graph that the double of Retriever answers from, so that paths are real and answers are known.
//!
//! [`Knowledge::small`] is a fixed graph of a few hundred nodes with a centre that can be followed by hand;
//! [`Knowledge::generated`] makes graphs of any size for measurements.

mod generated;
mod matching;
mod small;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::answers::stable_hash;

/// A thing of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownNode {
    /// Its CURIE.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its Biolink categories, the narrowest first.
    pub categories: Vec<&'static str>,
    /// How much it says about itself, in percent.
    pub information_content: f64,
}

/// A statement between two nodes, given as positions.
#[derive(Clone, Debug, PartialEq)]
struct Statement {
    subject: usize,
    predicate: &'static str,
    object: usize,
    publications: usize,
}

/// A knowledge graph in memory.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    nodes: Vec<KnownNode>,
    statements: Vec<Statement>,
    positions: HashMap<String, usize>,
    /// The statements that touch each node.
    touching: Vec<Vec<usize>>,
}

impl Knowledge {
    fn add_node(
        &mut self,
        id: &str,
        name: &str,
        categories: &[&'static str],
        information_content: f64,
    ) -> usize {
        if let Some(&known) = self.positions.get(id) {
            return known;
        }
        let position = self.nodes.len();
        let (id, name) = (id.to_owned(), name.to_owned());
        self.positions.insert(id.clone(), position);
        self.nodes.push(KnownNode { id, name, categories: categories.to_vec(), information_content });
        self.touching.push(Vec::new());
        position
    }

    fn add_statement(&mut self, subject: usize, predicate: &'static str, object: usize, publications: usize) {
        let position = self.statements.len();
        self.statements.push(Statement { subject, predicate, object, publications });
        self.touching[subject].push(position);
        if object != subject {
            self.touching[object].push(position);
        }
    }

    /// Its nodes.
    pub fn nodes(&self) -> &[KnownNode] {
        &self.nodes
    }

    /// How many statements there are.
    pub fn statement_count(&self) -> usize {
        self.statements.len()
    }

    /// How many statements touch a node; 0 for one that is not there.
    pub fn degree(&self, id: &str) -> usize {
        self.positions.get(id).map_or(0, |&position| self.touching[position].len())
    }

    /// The ids of the statements between two nodes, in either direction.
    pub fn edge_ids(&self, one: &str, other: &str) -> Vec<String> {
        let (Some(&one), Some(&other)) = (self.positions.get(one), self.positions.get(other)) else {
            return Vec::new();
        };
        let between = self.touching[one].iter().copied().filter(|&position| {
            let statement = &self.statements[position];
            statement.subject == other || statement.object == other
        });
        between.map(|position| self.edge_id(position)).collect()
    }

    fn edge_id(&self, position: usize) -> String {
        let Statement { subject, predicate, object, .. } = &self.statements[position];
        format!(
            "{:016x}",
            stable_hash(&[
                &self.nodes[*subject].id,
                predicate,
                &self.nodes[*object].id,
                &position.to_string()
            ])
        )
    }

    /// Adds what the nodes and edges of a dehydrated knowledge graph lack.
    pub fn rehydrate(&self, graph: &mut Value) {
        for (id, node) in members(graph, "nodes") {
            if let Some(&position) = self.positions.get(id) {
                fill(node, self.node(position, false));
            }
        }
        for (id, edge) in members(graph, "edges") {
            let subject = edge.get("subject").and_then(Value::as_str).and_then(|id| self.positions.get(id));
            let touching = subject.map_or(&[][..], |&subject| &self.touching[subject]);
            let known = touching.iter().copied().find(|&position| self.edge_id(position) == *id);
            if let Some(position) = known {
                fill(edge, self.edge(position, false));
            }
        }
    }

    /// A node as TRAPI has it.
    fn node(&self, position: usize, dehydrated: bool) -> Value {
        let KnownNode { name, categories, information_content, .. } = &self.nodes[position];
        let mut node = json!({ "name": name, "categories": categories, "attributes": [] });
        if !dehydrated {
            node["attributes"] = json!([{
                "attribute_type_id": "biolink:information_content",
                "original_attribute_name": "information_content",
                "value": information_content,
            }]);
        }
        node
    }

    /// An edge as TRAPI has it.
    fn edge(&self, position: usize, dehydrated: bool) -> Value {
        let Statement { subject, predicate, object, publications } = &self.statements[position];
        let (subject, object) = (&self.nodes[*subject].id, &self.nodes[*object].id);
        let mut edge = json!({
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "sources": [{ "resource_id": "infores:made-up", "resource_role": "primary_knowledge_source" }],
            "attributes": [],
        });
        if !dehydrated {
            let first = stable_hash(&[subject, predicate, object]) % 10_000_000;
            let publications: Vec<String> =
                (first..).take(*publications).map(|number| format!("PMID:{number}")).collect();
            edge["attributes"] = json!([
                { "attribute_type_id": "biolink:knowledge_level", "value": "knowledge_assertion" },
                { "attribute_type_id": "biolink:agent_type", "value": "manual_agent" },
                { "attribute_type_id": "biolink:publications", "value": publications },
            ]);
        }
        edge
    }
}

fn members<'v>(graph: &'v mut Value, name: &str) -> impl Iterator<Item = (&'v String, &'v mut Value)> {
    graph.get_mut(name).and_then(Value::as_object_mut).into_iter().flat_map(Map::iter_mut)
}

/// Adds the members of `full` that `object` does not have, or has empty, and its attributes in any case.
fn fill(object: &mut Value, full: Value) {
    let (Value::Object(object), Value::Object(full)) = (object, full) else { return };
    for (key, value) in full {
        let attributes = key == "attributes";
        let own = object.entry(key).or_insert(Value::Null);
        if attributes || own.is_null() || own.as_array().is_some_and(Vec::is_empty) {
            *own = value;
        }
    }
}

#[cfg(test)]
mod tests;
