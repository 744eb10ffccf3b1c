//! The same by trying everything: the definitions of the crate, word for word, on the whole graph.

use std::collections::{BTreeMap, BTreeSet};

use shepherd_paths::Limits;
use trapi::biolink;

use crate::made::Made;

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) starts: Vec<String>,
    pub(crate) ends: Vec<String>,
    pub(crate) alternatives: Vec<Vec<String>>,
    pub(crate) blocked: BTreeSet<String>,
    pub(crate) limits: Limits,
}

/// A graph and what is asked about it.
pub(crate) struct Brute<'a> {
    graph: &'a Made,
    asked: &'a Asked,
    neighbours: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// What the answer about each node keeps.
    kept: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Brute<'a> {
    pub(crate) fn new(graph: &'a Made, asked: &'a Asked) -> Self {
        let neighbours = graph.neighbours();
        let mut brute = Self { graph, asked, neighbours, kept: BTreeMap::new() };
        let pins = || asked.starts.iter().chain(&asked.ends).map(String::as_str);
        let near: BTreeSet<&str> = pins()
            .flat_map(|pin| brute.keeps(pin, &BTreeSet::new()))
            .filter(|node| !brute.is_pinned(node))
            .collect();
        let keep = |&node: &&'a str| {
            let beside = if brute.is_pinned(node) { &BTreeSet::new() } else { &near };
            (node, brute.keeps(node, beside))
        };
        brute.kept = brute.neighbours.keys().map(keep).collect();
        brute
    }

    /// All paths with their costs, the best first.
    pub(crate) fn paths(&self) -> Vec<(u64, Vec<String>)> {
        let mut all = Vec::new();
        for start in &self.asked.starts {
            self.go_on(&mut vec![start], &mut all);
        }
        all.sort();
        all.dedup();
        all.truncate(self.asked.limits.max_paths);
        all
    }

    fn go_on(&self, path: &mut Vec<&'a str>, all: &mut Vec<(u64, Vec<String>)>) {
        let last = *path.last().unwrap();
        if path.len() > 1 && self.asked.ends.iter().any(|end| end == last) && self.counts(path) {
            let named = path.iter().map(|&node| node.to_owned()).collect();
            all.push((self.cost(path), named));
        }
        if path.len() == 5 || path.len() > 1 && self.is_pinned(last) {
            return;
        }
        for &next in self.neighbours.get(last).into_iter().flatten() {
            if !path.contains(&next) {
                path.push(next);
                self.go_on(path, all);
                path.pop();
            }
        }
    }

    fn counts(&self, path: &[&str]) -> bool {
        let between = &path[1..path.len() - 1];
        self.can_be_cut(path)
            && between.iter().enumerate().all(|(place, node)| self.may_stand(node, place, between.len()))
            && self.meets(between)
    }

    /// Whether the path falls into two halves whose hops are kept.
    fn can_be_cut(&self, path: &[&str]) -> bool {
        let keeps = |from: &str, to: &str| self.kept.get(from).is_some_and(|kept| kept.contains(to));
        (0..path.len()).any(|cut| {
            let (first, second) = (&path[..=cut], &path[cut..]);
            first.len() <= 3
                && second.len() <= 3
                && first.windows(2).all(|hop| keeps(hop[0], hop[1]))
                && second.windows(2).all(|hop| keeps(hop[1], hop[0]))
        })
    }

    fn may_stand(&self, node: &str, place: usize, between: usize) -> bool {
        let degree = self.degree(node, place, between);
        !self.is_pinned(node)
            && !self.asked.blocked.contains(node)
            && degree.is_none_or(|degree| degree <= self.asked.limits.max_degree)
    }

    /// What is known about a node at its place: in the middle of four hops only what is known beforehand.
    fn degree(&self, node: &str, place: usize, between: usize) -> Option<u64> {
        let shown = (between < 3 || place != 1).then(|| self.neighbours[node].len() as u64);
        self.graph.degrees.get(node).copied().or(shown)
    }

    fn meets(&self, between: &[&str]) -> bool {
        let is_met = |wanted: &String| {
            let of = |node: &&str| self.graph.nodes[*node].1.iter().any(|own| biolink::is_a(own, wanted));
            between.iter().any(of)
        };
        let alternatives = &self.asked.alternatives;
        alternatives.is_empty() || alternatives.iter().any(|wanted| wanted.iter().all(is_met))
    }

    /// The neighbours that the answer about a node keeps, those in `beside` however many there are.
    fn keeps(&self, from: &str, beside: &BTreeSet<&str>) -> BTreeSet<&'a str> {
        let limits = &self.asked.limits;
        let Some(neighbours) = self.neighbours.get(from) else { return BTreeSet::new() };
        let degree = self.graph.degrees.get(from).copied().unwrap_or(neighbours.len() as u64);
        if !self.is_pinned(from) && degree > limits.max_degree {
            return BTreeSet::new();
        }
        let (pins, others): (Vec<&str>, Vec<&str>) = neighbours.iter().partition(|node| self.is_pinned(node));
        let passable = others.into_iter().filter(|node| {
            let known = self.graph.degrees.get(*node);
            !self.asked.blocked.contains(*node) && known.is_none_or(|&degree| degree <= limits.max_degree)
        });
        let mut ordered: Vec<(u64, &str)> = passable
            .map(|node| {
                let known = self.graph.degrees.get(node).copied();
                (self.cost_of_hop(from, node) + self.cost_of_node(node, known), node)
            })
            .collect();
        ordered.sort_unstable();
        let kept = ordered
            .iter()
            .enumerate()
            .filter(|(place, (_, node))| *place < limits.top_k || beside.contains(node));
        kept.map(|(_, (_, node))| *node).chain(pins).collect()
    }

    fn cost(&self, path: &[&str]) -> u64 {
        let hops: u64 = path.windows(2).map(|hop| self.cost_of_hop(hop[0], hop[1])).sum();
        let between = &path[1..path.len() - 1];
        let nodes = between.iter().enumerate();
        hops + nodes
            .map(|(place, node)| self.cost_of_node(node, self.degree(node, place, between.len())))
            .sum::<u64>()
    }

    fn cost_of_hop(&self, one: &str, other: &str) -> u64 {
        let joins = |(_, subject, object): &&(String, String, String)| {
            (subject == one && object == other) || (subject == other && object == one)
        };
        let edges = self.graph.edges.iter().filter(joins).count().min(self.asked.limits.max_edges_per_hop);
        millionths(1.0 / (1.0 + (edges as f64).ln()))
    }

    fn cost_of_node(&self, node: &str, degree: Option<u64>) -> u64 {
        let most = (self.asked.limits.max_degree as f64).ln_1p();
        let share = degree.map_or(0.5, |degree| ((degree as f64).ln_1p() / most).min(1.0));
        let nearest = |pins: &[String]| {
            let known = pins
                .iter()
                .filter_map(|pin| self.graph.distances.get(&(pin.clone(), node.to_owned())).copied());
            known.fold(1.0, f64::min)
        };
        let distance = f64::midpoint(nearest(&self.asked.starts), nearest(&self.asked.ends));
        millionths(f64::midpoint(share, distance))
    }

    fn is_pinned(&self, node: &str) -> bool {
        self.asked.starts.iter().chain(&self.asked.ends).any(|pin| pin == node)
    }
}

fn millionths(cost: f64) -> u64 {
    (cost * 1e6).round() as u64
}
