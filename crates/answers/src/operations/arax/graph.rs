//! Measures of a small weighted graph: flow, paths and size.

use std::collections::VecDeque;

use super::confidence::combine;

/// The query graph's nodes and directed edges, by position.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub(super) nodes: usize,
    /// From, to; several edges may join the same nodes.
    pub(super) edges: Vec<(usize, usize)>,
}

/// What is the same for all results: the pairs of nodes that are furthest apart.
pub(super) struct Furthest {
    length: usize,
    pairs: Vec<(usize, usize)>,
}

/// Weights from each node to each other.
type Matrix = Vec<Vec<f64>>;

fn matrix(size: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
    (0..size).map(|row| (0..size).map(|column| entry(row, column)).collect()).collect()
}

impl Shape {
    pub(super) fn furthest(&self) -> Furthest {
        let mut length = 0;
        let mut pairs = Vec::new();
        for from in 0..self.nodes {
            for (to, distance) in self.distances(from).into_iter().enumerate() {
                let Some(distance) = distance else { continue };
                if distance > length {
                    length = distance;
                    pairs.clear();
                }
                if distance == length {
                    pairs.push((from, to));
                }
            }
        }
        Furthest { length, pairs }
    }

    fn distances(&self, from: usize) -> Vec<Option<usize>> {
        let mut distances = vec![None; self.nodes];
        let mut open = VecDeque::from([(from, 0)]);
        while let Some((node, distance)) = open.pop_front() {
            if let Some(slot @ None) = distances.get_mut(node) {
                *slot = Some(distance);
                let next = self.edges.iter().filter(|(from, _)| *from == node);
                open.extend(next.map(|(_, to)| (*to, distance + 1)));
            }
        }
        distances
    }

    /// Maximum flow, longest path and size of the graph with these weights, one per edge.
    pub(super) fn measure(&self, furthest: &Furthest, weights: &[f64]) -> [f64; 3] {
        let mut weighted = matrix(self.nodes, |_, _| 0.0);
        for (&(from, to), weight) in self.edges.iter().zip(weights) {
            if let Some(entry) = weighted.get_mut(from).and_then(|row| row.get_mut(to)) {
                *entry += weight;
            }
        }
        let size = weighted.iter().flatten().map(|weight| weight * weight).sum::<f64>().sqrt();
        if self.nodes <= 1 {
            return [1.0, 1.0, size];
        }
        let ends = furthest.pairs.iter().filter(|(from, to)| from != to);
        let flows = ends.map(|&(from, to)| flow(weighted.clone(), from, to)).collect();
        let paths = power(&weighted, furthest.length);
        let ways: f64 =
            std::iter::successors(Some(1.0), |step| Some(step + 1.0)).take(furthest.length).product();
        let paths = furthest.pairs.iter().map(|&(from, to)| at(&paths, from, to) / ways).collect();
        [combine(0.0, flows), combine(0.0, paths), size]
    }
}

fn at(matrix: &Matrix, row: usize, column: usize) -> f64 {
    matrix.get(row).and_then(|row| row.get(column)).copied().unwrap_or_default()
}

/// By squaring, in the order that numerical libraries use, so that equal graphs tie there and here.
fn power(base: &Matrix, exponent: usize) -> Matrix {
    let size = base.len();
    let product = |one: &Matrix, other: &Matrix| {
        matrix(size, |row, column| {
            (0..size).map(|middle| at(one, row, middle) * at(other, middle, column)).sum()
        })
    };
    let mut result: Option<Matrix> = None;
    let mut square = base.clone();
    let mut left = exponent;
    while left > 0 {
        if left % 2 == 1 {
            result = Some(result.map_or_else(|| square.clone(), |result| product(&result, &square)));
        }
        left /= 2;
        if left > 0 {
            square = product(&square, &square);
        }
    }
    result.unwrap_or_else(|| matrix(size, |row, column| if row == column { 1.0 } else { 0.0 }))
}

/// Maximum flow by shortest augmenting paths.
fn flow(mut left: Matrix, source: usize, sink: usize) -> f64 {
    let mut total = 0.0;
    while let Some(path) = augmenting_path(&left, source, sink) {
        let steps = path.iter().zip(path.iter().skip(1));
        let capacity = steps.map(|(from, to)| at(&left, *from, *to)).fold(f64::INFINITY, f64::min);
        for (from, to) in path.iter().zip(path.iter().skip(1)) {
            for (one, other, change) in [(*from, *to, -capacity), (*to, *from, capacity)] {
                if let Some(entry) = left.get_mut(one).and_then(|row| row.get_mut(other)) {
                    *entry += change;
                }
            }
        }
        total += capacity;
    }
    total
}

fn augmenting_path(left: &Matrix, source: usize, sink: usize) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; left.len()];
    let mut open = VecDeque::from([source]);
    while let Some(node) = open.pop_front() {
        if node == sink {
            let mut path = vec![sink];
            let mut node = sink;
            while node != source {
                node = before.get(node).copied().flatten()?;
                path.push(node);
            }
            path.reverse();
            return Some(path);
        }
        for (next, capacity) in left.get(node).into_iter().flatten().enumerate() {
            if let Some(slot @ None) = before.get_mut(next)
                && *capacity > 0.0
                && next != source
            {
                *slot = Some(node);
                open.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(ours: [f64; 3], wanted: [f64; 3]) {
        for (ours, wanted) in ours.into_iter().zip(wanted) {
            assert!((ours - wanted).abs() < 1e-12, "{ours} {wanted}");
        }
    }

    #[test]
    fn a_chain() {
        let chain = Shape { nodes: 3, edges: vec![(0, 1), (1, 2)] };
        close(chain.measure(&chain.furthest(), &[0.99, 0.93]), [0.93, 0.46035, 1.358_307_770_720_612_6]);
    }

    #[test]
    fn no_edges_and_one_node() {
        let two = Shape { nodes: 2, edges: Vec::new() };
        close(two.measure(&two.furthest(), &[]), [0.0, 1.0, 0.0]);
        let one = Shape { nodes: 1, edges: Vec::new() };
        close(one.measure(&one.furthest(), &[]), [1.0, 1.0, 0.0]);
    }

    #[test]
    fn flow_takes_all_ways() {
        let diamond =
            vec![vec![0.0, 3.0, 2.0, 0.0], vec![0.0, 0.0, 5.0, 2.0], vec![0.0, 0.0, 0.0, 3.0], vec![0.0; 4]];
        assert!((flow(diamond, 0, 3) - 5.0).abs() < 1e-12);
    }
}
