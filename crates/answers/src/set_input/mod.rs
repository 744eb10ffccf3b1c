//! Questions about a set: what is near all of its members together?
//!
//! The neighbourhood of the members is looked up, two hops wide, and each node in it is scored by personalised
//! PageRank. Between the hops and at the end only the best nodes are followed, so that what is asked stays small.

mod neighbourhood;
mod page_rank;
mod respond;

use indexmap::IndexMap;
use trapi::{QEdge, QNode, QueryGraph};

pub use neighbourhood::{best_neighbours, neighbourhood, scores};
pub use page_rank::page_rank;
pub use respond::{RespondError, respond};

/// How many hops from the members are looked up.
pub const HOPS: usize = 2;
/// How many ids are asked for at once.
pub const MAX_IDS: usize = 100;

/// What the second hop leads to: things that say something about those before them.
const SECOND_HOP: [&str; 6] = [
    "biolink:ChemicalEntity",
    "biolink:Disease",
    "biolink:BiologicalProcessOrActivity",
    "biolink:Gene",
    "biolink:Protein",
    "biolink:OrganismalEntity",
];

/// The question for the neighbours of `ids` at a hop, counted from 0.
pub fn hop(ids: &[String], hop: usize) -> QueryGraph {
    let categories: &[&str] = if hop == 1 { &SECOND_HOP } else { &["biolink:NamedThing"] };
    let categories = Some(categories.iter().map(|&category| category.to_owned()).collect());
    let asked = QNode { ids: Some(ids.to_vec()), ..QNode::default() };
    let open = QNode { categories, ..QNode::default() };
    let edge = QEdge {
        subject: "n0".to_owned(),
        object: "n1".to_owned(),
        predicates: Some(vec!["biolink:related_to".to_owned()]),
        ..QEdge::default()
    };
    QueryGraph {
        nodes: IndexMap::from([("n0".to_owned(), asked), ("n1".to_owned(), open)]),
        edges: IndexMap::from([("e0".to_owned(), edge)]),
        ..QueryGraph::default()
    }
}
