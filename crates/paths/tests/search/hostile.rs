//! Answers that nobody asked for.

use std::future::pending;

use foldhash::HashMap;
use proptest::prelude::*;
use shepherd_paths::{Answer, Edge, Hints, Limits, Neighbours, NoHints, Node};

use crate::brute::Asked;
use crate::{ask, between, run, shown};

/// Answers every question alike.
#[derive(Clone, Debug)]
struct Always(Answer<String>);

impl Neighbours for Always {
    type Content = String;
    type Error = ();

    async fn neighbours(&self, _: &[String]) -> Result<Answer<String>, ()> {
        Ok(self.0.clone())
    }
}

fn node(id: &str) -> Node<String> {
    Node { id: id.to_owned(), name: None, categories: Vec::new(), content: String::new() }
}

fn edge(id: impl Into<String>, subject: &str, object: &str) -> Edge<String> {
    let (subject, object) = (subject.to_owned(), object.to_owned());
    Edge { id: id.into(), subject, object, content: String::new() }
}

fn found(answer: Answer<String>) -> Vec<String> {
    shown(&run(ask(&Always(answer), &NoHints, &between("S", "T"), pending())))
}

#[test]
fn edges_to_nodes_of_which_nothing_is_told_lead_nowhere() {
    let edges = vec![edge("1", "S", "a"), edge("2", "a", "T"), edge("3", "S", "b"), edge("4", "b", "T")];
    assert_eq!(found(Answer { nodes: vec![node("b")], edges }), ["S-b-T"]);
}

#[test]
fn ends_need_not_be_told() {
    assert_eq!(found(Answer { nodes: Vec::new(), edges: vec![edge("1", "S", "T")] }), ["S-T"]);
}

#[test]
fn one_identifier_for_different_edges_confuses_nobody() {
    let edges = vec![edge("1", "S", "a"), edge("1", "a", "T"), edge("1", "S", "a"), edge("1", "S", "T")];
    assert_eq!(found(Answer { nodes: vec![node("a"), node("a")], edges }), ["S-T", "S-a-T"]);
}

#[test]
fn huge_answers_are_cut_to_what_is_kept() {
    let names: Vec<String> = (0..20_000).map(|number| format!("n{number:05}")).collect();
    let mut edges: Vec<_> = names.iter().map(|name| edge(name, "S", name)).collect();
    edges.extend(names.iter().map(|name| edge(format!("T{name}"), name, "T")));
    edges.extend((0..20_000).map(|number| edge(format!("p{number:05}"), "S", "n00001")));
    let answer = Answer { nodes: names.iter().map(|name| node(name)).collect(), edges };
    let asked = between("S", "T");
    let asked = Asked { limits: Limits { top_k: 3, max_edges_per_hop: 5, ..asked.limits }, ..asked };
    let found = run(ask(&Always(answer), &NoHints, &asked, pending()));
    assert_eq!(shown(&found), ["S-n00001-T", "S-n00000-T", "S-n00002-T"]);
    assert_eq!(found.edges.len(), 5 + 1 + 2 + 2);
}

/// Hints that are no numbers to reckon with.
struct Mad(Vec<f64>);

impl Hints for Mad {
    async fn distances(&self, _: &str) -> HashMap<String, f64> {
        self.0.iter().enumerate().map(|(number, &distance)| (format!("n{number}"), distance)).collect()
    }

    async fn degrees(&self, nodes: &[String]) -> HashMap<String, u64> {
        nodes.iter().map(|node| (node.clone(), u64::MAX)).collect()
    }
}

#[test]
fn mad_hints_do_no_harm() {
    let edges = vec![edge("1", "S", "n0"), edge("2", "n0", "T"), edge("3", "S", "T")];
    let answer = Answer { nodes: vec![node("n0"), node("n1")], edges };
    let asked = between("S", "T");
    let hints = Mad(vec![f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -0.0]);
    let asked = Asked { limits: Limits { max_degree: u64::MAX, ..asked.limits }, ..asked };
    let found = run(ask(&Always(answer), &hints, &asked, pending()));
    assert_eq!(shown(&found), ["S-T", "S-n0-T"]);
    assert!(found.paths.iter().all(|path| path.score > 0.0 && path.score <= 1.0));
}

proptest! {
    #[test]
    fn whatever_comes_does_not_panic(
        edges in prop::collection::vec(("[a-dST]?", "[a-dST]?", "[a-dST]?"), 0..40),
        nodes in prop::collection::vec("[a-dST]?", 0..10),
    ) {
        let edges = edges.iter().map(|(id, subject, object)| edge(id, subject, object)).collect();
        found(Answer { nodes: nodes.iter().map(|id| node(id)).collect(), edges });
    }
}
