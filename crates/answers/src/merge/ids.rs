//! Ids of what is made here, derived from what it stands for: merging again gives the same ids.

use uuid::Uuid;

/// Namespace of our ids. Part of every id: never change it.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f1b_7c52_90d4_4b8e_a3f7_2d5c_8e10_b964);

/// The id of a set of edges, whatever their order.
pub(crate) fn edge_set(edges: &mut [&str]) -> String {
    edges.sort_unstable();
    let mut name = Name::new("edge set");
    for edge in edges {
        name.push(edge);
    }
    name.id()
}

/// The id of an edge that a persona infers.
pub(crate) fn inferred_edge(
    source: &str,
    subject: &str,
    predicate: &str,
    object: &str,
    qualifiers: &str,
) -> String {
    let mut name = Name::new("inferred edge");
    for part in [source, subject, predicate, object, qualifiers] {
        name.push(part);
    }
    name.id()
}

/// The id of an edge that came under the id of an edge that states something else.
pub(super) fn other_edge(id: &str, statement: [&str; 3], qualifiers: &mut [String]) -> String {
    qualifiers.sort_unstable();
    let mut name = Name::new("other edge");
    name.push(id);
    for part in statement.into_iter().chain(qualifiers.iter().map(String::as_str)) {
        name.push(part);
    }
    name.id()
}

/// The id of the edge between two nodes that publications name together.
pub(crate) fn literature_edge(subject: &str, object: &str) -> String {
    let mut name = Name::new("literature edge");
    name.push(subject);
    name.push(object);
    name.id()
}

/// Parts with their lengths, so that no two lists of parts look alike.
struct Name(Vec<u8>);

impl Name {
    fn new(kind: &str) -> Self {
        let mut name = Self(Vec::with_capacity(256));
        name.push(kind);
        name
    }

    fn push(&mut self, part: &str) {
        self.0.extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.0.extend_from_slice(part.as_bytes());
    }

    fn id(self) -> String {
        Uuid::new_v5(&NAMESPACE, &self.0).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_edges_does_not_matter_and_their_bounds_do() {
        assert_eq!(edge_set(&mut ["a", "b"]), edge_set(&mut ["b", "a"]));
        assert_ne!(edge_set(&mut ["ab", "c"]), edge_set(&mut ["a", "bc"]));
    }

    #[test]
    fn ids_stay_what_they_were() {
        assert_eq!(edge_set(&mut ["e1", "e2"]), "43df9578-93ed-5451-9e4b-51507c987012");
    }
}
