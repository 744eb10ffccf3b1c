//! Graphs of any size: few nodes with many edges, many with few, as knowledge graphs are.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::Knowledge;

/// Categories and predicates in turn.
const KINDS: [(&str, &str, &[&str]); 4] = [
    ("NCBIGene:", "gene", &["biolink:Gene", "biolink:BiologicalEntity", "biolink:NamedThing"]),
    ("CHEBI:", "compound", &["biolink:SmallMolecule", "biolink:ChemicalEntity", "biolink:NamedThing"]),
    ("MONDO:", "disease", &["biolink:Disease", "biolink:BiologicalEntity", "biolink:NamedThing"]),
    ("GO:", "process", &["biolink:BiologicalProcess", "biolink:BiologicalEntity", "biolink:NamedThing"]),
];
const PREDICATES: [&str; 4] = [
    "biolink:affects",
    "biolink:genetically_associated_with",
    "biolink:physically_interacts_with",
    "biolink:participates_in",
];

impl Knowledge {
    /// A connected graph of `nodes` nodes and about `edges_per_node` times as many edges, the same for the same
    /// `seed`. A new node prefers neighbours that have many already, so that some become hubs.
    pub fn generated(nodes: usize, edges_per_node: usize, seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut graph = Self::default();
        // each end of an edge once: a random entry is a node picked by its degree
        let mut ends: Vec<usize> = Vec::with_capacity(2 * nodes * edges_per_node);
        for nth in 0..nodes {
            let (prefix, noun, categories) = KINDS[nth % KINDS.len()];
            let information_content = rng.random_range(40.0..100.0);
            let id = format!("{prefix}{}", 1_000_000 + nth);
            let node = graph.add_node(&id, &format!("{noun} {nth}"), categories, information_content);
            for _ in 0..edges_per_node.min(nth) {
                let by_degree = !ends.is_empty() && rng.random_bool(0.5);
                let other =
                    if by_degree { ends[rng.random_range(0..ends.len())] } else { rng.random_range(0..nth) };
                if other == node {
                    continue;
                }
                let predicate = PREDICATES[rng.random_range(0..PREDICATES.len())];
                graph.add_statement(node, predicate, other, rng.random_range(0..6));
                ends.extend([node, other]);
            }
        }
        graph
    }
}
