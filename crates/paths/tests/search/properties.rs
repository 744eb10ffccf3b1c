//! On small random graphs, with parallel edges, self-loops and hubs.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::subsequence;
use shepherd_paths::Limits;

use crate::brute::{Asked, Brute};
use crate::made::{Made, Served, wide};
use crate::{find, shown};

const NODES: usize = 9;
const CATEGORIES: [&str; 4] =
    ["biolink:Gene", "biolink:Protein", "biolink:Disease", "biolink:BiologicalEntity"];

fn id(number: usize) -> String {
    format!("N:{number}")
}

fn ids() -> Vec<String> {
    (0..NODES).map(id).collect()
}

prop_compose! {
    fn graph()(
        edges in prop::collection::vec((0..NODES, 0..NODES), 0..40),
        categories in prop::collection::vec(prop::sample::select(CATEGORIES.to_vec()), NODES),
        degrees in prop::collection::btree_map(prop::sample::select(ids()), 0..12_u64, 0..5),
        distances in prop::collection::btree_map(
            (prop::sample::select(ids()), prop::sample::select(ids())), 0.0..1.5, 0..12),
    ) -> Made {
        let nodes = categories.iter().enumerate()
            .map(|(number, category)| (id(number), (format!("name {number}"), vec![(*category).to_owned()])));
        let edges = edges.into_iter().enumerate()
            .map(|(number, (subject, object))| (format!("e{number:02}"), id(subject), id(object)));
        Made { nodes: nodes.collect(), edges: edges.collect(), degrees, distances }
    }
}

prop_compose! {
    fn asked()(
        starts in subsequence(ids(), 1..=2),
        ends in subsequence(ids(), 1..=2),
        alternatives in prop::collection::vec(
            subsequence(CATEGORIES.map(str::to_owned).to_vec(), 0..=2), 0..=2),
        blocked in subsequence(ids(), 0..=2),
        top_k in 1..=NODES,
        max_degree in 1..12_u64,
        max_edges_per_hop in 1..=3_usize,
        max_paths in prop_oneof![1..6_usize, Just(10_000)],
    ) -> Asked {
        let limits = Limits { top_k, max_degree, max_edges_per_hop, max_paths, ..wide() };
        Asked { starts, ends, alternatives, blocked: blocked.into_iter().collect(), limits }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn the_answer_is_that_of_brute_force(graph in graph(), asked in asked()) {
        let found = find(&graph.clone().into(), &asked);
        let expected = Brute::new(&graph, &asked).paths();
        let paths: Vec<String> = expected.iter().map(|(_, path)| path.join("-")).collect();
        prop_assert_eq!(shown(&found), paths);
        for (path, (cost, _)) in found.paths.iter().zip(&expected) {
            prop_assert!((path.score - 1.0 / (1.0 + *cost as f64 / 1e6)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_larger_k_loses_no_path(graph in graph(), asked in asked()) {
        let with = |top_k| {
            let limits = Limits { top_k, max_paths: 100_000, ..asked.limits };
            let found = find(&graph.clone().into(), &Asked { limits, ..asked.clone() });
            shown(&found).into_iter().zip(found.paths.into_iter().map(|path| path.score)).collect::<Vec<_>>()
        };
        let (fewer, more) = (with(asked.limits.top_k), with(asked.limits.top_k + 1));
        for path in &fewer {
            prop_assert!(more.contains(path), "{path:?}");
        }
        if let Some((_, best)) = fewer.first() {
            prop_assert!(more[0].1 >= *best);
        }
    }

    #[test]
    fn the_order_of_answers_does_not_matter(
        graph in graph(),
        asked in asked(),
        seconds in prop::collection::vec(0..20_u64, NODES),
    ) {
        let delays: BTreeMap<String, u64> = ids().into_iter().zip(seconds).collect();
        let at_once = Served { graph, ..Served::default() };
        let late = Served { delays, ..at_once.clone() };
        let limits = Limits {
            ids_per_batch: 1.try_into().unwrap(), batches_in_flight: 9.try_into().unwrap(), ..asked.limits
        };
        let asked = Asked { limits, ..asked };
        let (one, other) = (find(&at_once, &asked), find(&late, &asked));
        prop_assert_eq!(shown(&one), shown(&other));
        prop_assert_eq!(&one.paths, &other.paths);
        let contents = |found: shepherd_paths::Found<String, _>| -> Vec<Option<String>> {
            let nodes = found.nodes.into_iter().map(|node| node.content);
            nodes.chain(found.edges.into_iter().map(|edge| Some(edge.content))).collect()
        };
        prop_assert_eq!(contents(one), contents(other));
    }

    #[test]
    fn every_path_is_simple_connects_the_ends_and_names_its_edges(graph in graph(), asked in asked()) {
        let found = find(&graph.clone().into(), &asked);
        prop_assert!(found.paths.len() <= asked.limits.max_paths);
        prop_assert!(found.paths.windows(2).all(|pair| pair[0].score >= pair[1].score));
        for path in &found.paths {
            let ids: Vec<&String> = path.nodes.iter().map(|&place| &found.nodes[place].id).collect();
            prop_assert!((2..=5).contains(&ids.len()) && path.hops.len() + 1 == ids.len());
            prop_assert!(asked.starts.contains(ids[0]) && asked.ends.contains(ids[ids.len() - 1]));
            prop_assert!(ids.iter().enumerate().all(|(place, id)| !ids[..place].contains(id)));
            prop_assert!(ids[1..ids.len() - 1].iter().all(|id| !asked.blocked.contains(*id)));
            prop_assert!(path.score > 0.0 && path.score <= 1.0);
            for (hop, pair) in path.hops.iter().zip(ids.windows(2)) {
                prop_assert!((1..=asked.limits.max_edges_per_hop).contains(&hop.len()));
                for edge in hop.iter().map(|&place| &found.edges[place]) {
                    let ends = [&edge.subject, &edge.object];
                    prop_assert!(ends == [pair[0], pair[1]] || ends == [pair[1], pair[0]]);
                }
            }
        }
    }
}
