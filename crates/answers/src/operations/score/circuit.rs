//! Resistances of a circuit.
//!
//! Points that are not asked about are taken out one by one, each star of wires replaced by the mesh that
//! conducts the same. This only ever adds, multiplies and divides positive numbers, so that no digits are
//! lost, however far conductances are apart.

use std::collections::{BTreeMap, BTreeSet};

/// Work after which a circuit is given up, in wires made: minutes, where real ones take microseconds.
const MAX_WORK: usize = 20_000_000;

/// Points joined by wires. Wires are kept in order, so that sums come out the same every time.
#[derive(Clone, Debug, Default)]
pub(super) struct Circuit {
    wires: Vec<BTreeMap<usize, f64>>,
    work: usize,
}

impl Circuit {
    pub(super) fn new(points: usize) -> Self {
        Self { wires: vec![BTreeMap::new(); points], work: 0 }
    }

    /// A further point.
    pub(super) fn add_point(&mut self) -> usize {
        self.wires.push(BTreeMap::new());
        self.wires.len() - 1
    }

    /// Adds a wire beside those that are there; a wire from a point to itself does nothing.
    pub(super) fn connect(&mut self, one: usize, other: usize, conductance: f64) {
        if one != other && conductance > 0.0 {
            for (from, to) in [(one, other), (other, one)] {
                if let Some(wires) = self.wires.get_mut(from) {
                    *wires.entry(to).or_default() += conductance;
                }
            }
        }
    }

    /// The sum of the resistances between pairs of points, infinite where a pair is not connected; none
    /// where it would take too long.
    pub(super) fn resistance(mut self, pairs: &[(usize, usize)]) -> Option<f64> {
        let asked: BTreeSet<usize> = pairs.iter().flat_map(|&(one, other)| [one, other]).collect();
        self.reduce_to(&asked)?;
        let mut sum = 0.0;
        for &(one, other) in pairs {
            let mut rest = self.clone();
            rest.reduce_to(&BTreeSet::from([one, other]))?;
            self.work = rest.work;
            sum += match rest.wires.get(one).and_then(|wires| wires.get(&other)) {
                Some(conductance) => 1.0 / conductance,
                None => f64::INFINITY,
            };
        }
        Some(sum)
    }

    /// Takes all other points out, those with the fewest wires first.
    fn reduce_to(&mut self, asked: &BTreeSet<usize>) -> Option<()> {
        let mut queue = Queue::default();
        for point in (0..self.wires.len()).filter(|point| !asked.contains(point)) {
            queue.add(point, self.degree(point));
        }
        while let Some(point) = queue.pop() {
            let star = self.take(point);
            self.work = self.work.saturating_add(1 + star.len() * star.len());
            if self.work > MAX_WORK {
                return None;
            }
            self.mesh(&star);
            for (end, _) in star {
                queue.update(end, self.degree(end));
            }
        }
        Some(())
    }

    /// Takes a point out and gives back its wires.
    fn take(&mut self, point: usize) -> Vec<(usize, f64)> {
        let star: Vec<(usize, f64)> =
            self.wires.get_mut(point).map(std::mem::take).unwrap_or_default().into_iter().collect();
        for (end, _) in &star {
            if let Some(wires) = self.wires.get_mut(*end) {
                wires.remove(&point);
            }
        }
        star
    }

    /// Joins the ends of a star that was taken out as the star did.
    fn mesh(&mut self, star: &[(usize, f64)]) {
        let total: f64 = star.iter().map(|(_, conductance)| conductance).sum();
        for (place, &(one, to_one)) in star.iter().enumerate() {
            for &(other, to_other) in star.iter().skip(place + 1) {
                self.connect(one, other, to_one * (to_other / total));
            }
        }
    }

    fn degree(&self, point: usize) -> usize {
        self.wires.get(point).map_or(0, BTreeMap::len)
    }
}

/// Points by their number of wires.
#[derive(Default)]
struct Queue {
    order: BTreeSet<(usize, usize)>,
    degrees: BTreeMap<usize, usize>,
}

impl Queue {
    fn add(&mut self, point: usize, degree: usize) {
        self.order.insert((degree, point));
        self.degrees.insert(point, degree);
    }

    fn pop(&mut self) -> Option<usize> {
        let (_, point) = self.order.pop_first()?;
        self.degrees.remove(&point);
        Some(point)
    }

    /// Nothing happens to points that are not in the queue.
    fn update(&mut self, point: usize, degree: usize) {
        if let Some(&known) = self.degrees.get(&point)
            && known != degree
        {
            self.order.remove(&(known, point));
            self.add(point, degree);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circuit(points: usize, wires: &[(usize, usize, f64)]) -> Circuit {
        let mut circuit = Circuit::new(points);
        for &(one, other, conductance) in wires {
            circuit.connect(one, other, conductance);
        }
        circuit
    }

    fn close(one: f64, other: f64) {
        assert!((one / other - 1.0).abs() < 1e-14, "{one} {other}");
    }

    #[test]
    fn wires_in_a_row_and_side_by_side() {
        let row = circuit(3, &[(0, 1, 2.0), (1, 2, 4.0)]);
        close(row.resistance(&[(0, 2)]).unwrap(), 0.75);
        let beside = circuit(2, &[(0, 1, 2.0), (1, 0, 6.0), (0, 0, 9.0)]);
        close(beside.resistance(&[(0, 1)]).unwrap(), 0.125);
    }

    #[test]
    fn a_bridge_with_a_detector() {
        // All wires alike and the bridge balanced: one ohm from end to end.
        let bridge = circuit(4, &[(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0), (1, 2, 1e12)]);
        close(bridge.resistance(&[(0, 3)]).unwrap(), 1.0);
        let triangle = circuit(3, &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]);
        close(triangle.resistance(&[(0, 1), (1, 2), (0, 2)]).unwrap(), 2.0);
    }

    #[test]
    fn conductances_far_apart_lose_no_digits() {
        let far = circuit(4, &[(0, 1, 1e15), (1, 2, 1e-3), (2, 3, 1e15), (0, 3, 1e-9)]);
        close(1.0 / far.resistance(&[(0, 3)]).unwrap(), 1e-3 + 1e-9);
    }

    #[test]
    fn what_is_not_connected_resists_for_ever() {
        assert_eq!(circuit(3, &[(0, 1, 1.0)]).resistance(&[(0, 2)]), Some(f64::INFINITY));
        assert_eq!(circuit(2, &[(0, 1, 0.0)]).resistance(&[(0, 1)]), Some(f64::INFINITY));
    }

    #[test]
    fn a_tangle_is_given_up() {
        let mut tangle = Circuit::new(500);
        for one in 0..500 {
            for other in 0..one {
                tangle.connect(one, other, 1.0);
            }
        }
        assert_eq!(tangle.resistance(&[(0, 1)]), None);
    }
}
