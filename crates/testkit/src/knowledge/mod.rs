//! A knowledge graph that the double of Retriever answers from, so that paths are real and answers are known.
//!
//! [`Knowledge::small`] is a fixed graph of a few hundred nodes with a centre that can be followed by hand;
//! [`Knowledge::generated`] makes graphs of any size for measurements.

mod generated;
mod matching;
mod small;

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::answers::{fill, members_mut, stable_hash};

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
        for (id, node) in members_mut(graph, "nodes") {
            if let Some(&position) = self.positions.get(id) {
                fill(node, self.node(position));
            }
        }
        for (id, edge) in members_mut(graph, "edges") {
            let subject = edge.get("subject").and_then(Value::as_str).and_then(|id| self.positions.get(id));
            let touching = subject.map_or(&[][..], |&subject| &self.touching[subject]);
            let known = touching.iter().copied().find(|&position| self.edge_id(position) == *id);
            if let Some(position) = known {
                fill(edge, self.edge(position));
            }
        }
    }

    /// A node as TRAPI has it.
    fn node(&self, position: usize) -> Value {
        let KnownNode { name, categories, information_content, .. } = &self.nodes[position];
        json!({
            "name": name,
            "categories": categories,
            "attributes": [{
                "attribute_type_id": "biolink:information_content",
                "original_attribute_name": "information_content",
                "value": information_content,
            }],
        })
    }

    /// An edge as TRAPI has it.
    fn edge(&self, position: usize) -> Value {
        let Statement { subject, predicate, object, publications } = &self.statements[position];
        let (subject, object) = (&self.nodes[*subject].id, &self.nodes[*object].id);
        let first = stable_hash(&[subject, predicate, object]) % 10_000_000;
        let publications: Vec<String> =
            (first..).take(*publications).map(|number| format!("PMID:{number}")).collect();
        json!({
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "sources": [{ "resource_id": "infores:made-up", "resource_role": "primary_knowledge_source" }],
            "attributes": [
                { "attribute_type_id": "biolink:knowledge_level", "value": "knowledge_assertion" },
                { "attribute_type_id": "biolink:agent_type", "value": "manual_agent" },
                { "attribute_type_id": "biolink:publications", "value": publications },
            ],
        })
    }
}

#[cfg(test)]
mod tests;
