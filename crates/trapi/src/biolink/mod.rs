//! The categories of the Biolink Model and which of them are kinds of which.
//!
//! The table is made from a release of the model (`generate.py`): its version is in its first line.

use std::sync::LazyLock;

use foldhash::HashMap;

/// The category of everything.
pub const NAMED_THING: &str = "biolink:NamedThing";

const PREFIX: &str = "biolink:";

/// The parents and mixins of each category, all without their prefix.
static PARENTS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let lines = include_str!("categories.txt").lines().filter(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        Some((words.next()?, words.collect()))
    });
    rows.collect()
});

/// Whether a node of `category` is of the category `wanted` too: they are the same, or `wanted` is an ancestor
/// or a mixin of it. Both are spelled with their prefix, as in `biolink:Gene`.
pub fn is_a(category: &str, wanted: &str) -> bool {
    category == wanted
        || category
            .strip_prefix(PREFIX)
            .zip(wanted.strip_prefix(PREFIX))
            .is_some_and(|(category, wanted)| descends(category, wanted))
}

/// The table has no cycle, and a name that it does not have has no parents.
fn descends(category: &str, wanted: &str) -> bool {
    let parents = PARENTS.get(category).into_iter().flatten();
    parents.into_iter().any(|&parent| parent == wanted || descends(parent, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_what_its_parents_and_mixins_are() {
        for (category, wanted) in [
            ("biolink:Gene", "biolink:Gene"),
            ("biolink:Gene", "biolink:BiologicalEntity"),
            ("biolink:Protein", "biolink:GeneOrGeneProduct"),
            ("biolink:SmallMolecule", "biolink:ChemicalEntity"),
            ("biolink:Disease", "biolink:NamedThing"),
            ("biolink:OfMyOwn", "biolink:OfMyOwn"),
        ] {
            assert!(is_a(category, wanted), "{category} is a {wanted}");
        }
        for (category, wanted) in [
            ("biolink:BiologicalEntity", "biolink:Gene"),
            ("biolink:Gene", "biolink:Disease"),
            ("biolink:OfMyOwn", "biolink:NamedThing"),
            ("Gene", "BiologicalEntity"),
        ] {
            assert!(!is_a(category, wanted), "{category} is no {wanted}");
        }
    }

    #[test]
    fn the_table_is_whole_and_ends() {
        fn depth(category: &str, passed: usize) -> usize {
            assert!(passed < PARENTS.len(), "{category} descends from itself");
            let parents = PARENTS[category].iter();
            parents.map(|parent| 1 + depth(parent, passed + 1)).max().unwrap_or_default()
        }
        let deepest = PARENTS.keys().map(|category| depth(category, 0)).max().unwrap();
        assert_eq!((PARENTS.len(), deepest), (173, 5));
    }
}
