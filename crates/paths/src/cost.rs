//! What a path costs: the less, the better it is.
//!
//! Costs are sums of whole numbers, so that a path costs the same however it is put together.
//!
//! - A **hop** of `n` edges costs `1 / (1 + ln n)`: more statements that two nodes belong together are worth more,
//!   each less than the one before.
//! - A **node** between the ends costs the mean of its degree's share, `ln(1 + degree) / ln(1 + max_degree)`, and of
//!   its mean normalised Google distance to both ends, at most 1 each. An unknown degree is half of what may be; an
//!   unknown distance is 1, since the files that tell them hold only what is named together.
//! - The **score** of a path of cost `c` is `1 / (1 + c)`: within 0 and 1, and better where the cost is less.

use std::iter::Sum;
use std::ops::Add;

/// A cost in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cost(u64);

const SCALE: f64 = 1e6;
const UNKNOWN_DEGREE: f64 = 0.5;

impl Cost {
    /// The cost of a hop that `edges` join.
    pub(crate) fn of_hop(edges: usize) -> Self {
        Self::new(1.0 / (1.0 + float(edges.max(1) as u64).ln()))
    }

    /// The cost of a node between the ends, whose mean distance to them is `distance`.
    pub(crate) fn of_node(degree: Option<u64>, max_degree: u64, distance: f64) -> Self {
        let share =
            degree.map_or(UNKNOWN_DEGREE, |degree| float(degree).ln_1p() / float(max_degree.max(1)).ln_1p());
        Self::new(f64::midpoint(share.min(1.0), distance))
    }

    /// The score of a path of this cost: within 0 and 1, the more the better.
    pub(crate) fn score(self) -> f64 {
        1.0 / (1.0 + float(self.0) / SCALE)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and a million")]
    fn new(cost: f64) -> Self {
        Self((cost.clamp(0.0, 1.0) * SCALE).round() as u64)
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Self::add)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and costs are far below 2^52")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_edges_fewer_neighbours_and_less_distance_are_cheaper() {
        assert_eq!(Cost::of_hop(1), Cost(1_000_000));
        assert!(Cost::of_hop(2) < Cost::of_hop(1) && Cost::of_hop(100) > Cost::default());
        let node = |degree, distance| Cost::of_node(degree, 10_000, distance);
        assert!(node(Some(10), 0.5) < node(Some(100), 0.5));
        assert!(node(Some(10), 0.2) < node(Some(10), 0.5));
        assert!(node(Some(0), 1.0) < node(None, 1.0) && node(None, 1.0) < node(Some(10_000), 1.0));
    }

    #[test]
    fn whatever_is_known_about_a_node_it_costs_between_0_and_1() {
        for degree in [None, Some(0), Some(u64::MAX)] {
            for (max_degree, distance) in [(0, 0.0), (1, 1.0), (u64::MAX, f64::NAN)] {
                assert!(Cost::of_node(degree, max_degree, distance) <= Cost(1_000_000));
            }
        }
    }

    #[test]
    fn the_score_falls_as_the_cost_rises() {
        let scores = [0, 1, 2, 999_999, 1_000_000, 7_000_000].map(|cost| Cost(cost).score());
        assert!(scores.windows(2).all(|pair| pair[0] > pair[1]), "{scores:?}");
        assert!(scores.iter().all(|score| *score > 0.0 && *score <= 1.0));
    }
}
