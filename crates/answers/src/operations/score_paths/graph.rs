//! The score of a path by its place in the graph, for want of a trained model.

use super::facts::NodeFacts;
use super::path::in_order;

/// What one source says of a hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopSource {
    /// How many publications its edges name.
    pub(super) publications: f64,
}

/// How far one source that names no publications is trusted.
const TRUST: f64 = 0.5;
/// How much further at most, if it names many.
const TRUST_IN_PUBLICATIONS: f64 = 0.25;
/// With so many it is half of that.
const HALF_PUBLICATIONS: f64 = 5.0;
/// How much a node counts that says nothing about its information content.
const UNKNOWN_INFORMATION: f64 = 0.5;
/// How strongly nodes with many neighbours are damped.
const DAMPING: f64 = 0.4;

/// The score, between 0 and 1, both excluded.
///
/// ```text
/// trust of a source  t = 0.5 + 0.25 · p / (p + 5)        p: publications of its edges in this hop
/// hop                h = 1 − Π (1 − t)                   over the independent sources of the hop
/// node between       n = (1 + i) / 2 · (2 / max(d, 2))^0.4
///                                                        i: information content, 0 to 1; d: its neighbours
/// path               Π h · Π n                           over all hops and all nodes between the ends
/// ```
///
/// A path holds if each of its hops does, so their trusts are multiplied, and a longer path is worth less. A hop
/// holds unless all who say so err; publications make one source better, yet never better than two are. A node between is
/// worth the more the more specific it is. One that is joined to everything says little about any two of its
/// neighbours: it is damped by a power of its degree, as degree-weighted path counts are (Himmelstein and Baranzini,
/// PLOS Computational Biology 2015, whose exponent of 0.4 this is); the two neighbours that any node between has are
/// no penalty.
pub(super) fn score(hops: &[Vec<HopSource>], between: &[NodeFacts]) -> f64 {
    let factors = hops.iter().map(|hop| holds(hop)).chain(between.iter().copied().map(says));
    let product: f64 = in_order(factors).product();
    // a very long path is not worth nothing, nor is any certain
    product.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON)
}

fn holds(sources: &[HopSource]) -> f64 {
    let doubts = sources.iter().map(|HopSource { publications }| {
        1.0 - TRUST - TRUST_IN_PUBLICATIONS * publications / (publications + HALF_PUBLICATIONS)
    });
    1.0 - in_order(doubts).product::<f64>()
}

fn says(node: NodeFacts) -> f64 {
    let information = node.information.unwrap_or(UNKNOWN_INFORMATION);
    f64::midpoint(1.0, information) * (2.0 / f64::from(node.neighbours.max(2))).powf(DAMPING)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Hops = Vec<Vec<HopSource>>;
    type Change<'c> = &'c dyn Fn(&mut Hops, &mut Vec<NodeFacts>);

    /// What rounding may cost.
    const ROUNDING: f64 = 1e-12;

    fn hops() -> impl Strategy<Value = Hops> {
        let source = (0.0..1000.0).prop_map(|publications| HopSource { publications });
        proptest::collection::vec(proptest::collection::vec(source, 1..5), 1..6)
    }

    fn nodes() -> impl Strategy<Value = Vec<NodeFacts>> {
        let node = (0u32..100_000, proptest::option::of(0.0..=1.0))
            .prop_map(|(neighbours, information)| NodeFacts { neighbours, information });
        proptest::collection::vec(node, 1..6)
    }

    proptest! {
        #[test]
        fn score_follows_the_evidence(hops in hops(), nodes in nodes(), more in 0.0..1000.0, far in 0u32..100_000) {
            let before = score(&hops, &nodes);
            prop_assert!(before > 0.0 && before < 1.0);
            let changed = |change: Change<'_>| {
                let (mut hops, mut nodes) = (hops.clone(), nodes.clone());
                change(&mut hops, &mut nodes);
                score(&hops, &nodes)
            };
            let published = changed(&|hops, _| hops[0][0].publications += more);
            prop_assert!(published >= before - ROUNDING);
            let confirmed = changed(&|hops, _| hops[0].push(HopSource { publications: 0.0 }));
            prop_assert!(confirmed >= before - ROUNDING);
            let one = changed(&|hops, _| hops[0] = vec![HopSource { publications: more }]);
            let two = changed(&|hops, _| hops[0] = vec![HopSource { publications: 0.0 }; 2]);
            prop_assert!(two >= one - ROUNDING);
            let longer = changed(&|hops, _| hops.push(vec![HopSource { publications: more }]));
            prop_assert!(longer <= before);
            let passed = changed(&|_, nodes| nodes.push(NodeFacts { neighbours: far, information: Some(1.0) }));
            prop_assert!(passed <= before);
            let hub = changed(&|_, nodes| nodes[0].neighbours += far);
            prop_assert!(hub <= before + ROUNDING);
            let specific = changed(&|_, nodes| nodes[0].information = Some(1.0));
            prop_assert!(specific >= before - ROUNDING);
            let turned = changed(&|hops, nodes| {
                hops.reverse();
                nodes.reverse();
            });
            prop_assert!(turned.total_cmp(&before).is_eq(), "order does not matter");
        }
    }

    #[test]
    fn numbers_are_those_of_the_formula() {
        let bare = vec![HopSource { publications: 0.0 }];
        let two = vec![HopSource { publications: 5.0 }, HopSource { publications: 0.0 }];
        let node = NodeFacts { neighbours: 2, information: None };
        let hub = NodeFacts { neighbours: 64, information: Some(1.0) };
        let close = |score: f64, expected: f64| (score - expected).abs() < ROUNDING;
        assert!(close(score(std::slice::from_ref(&bare), &[]), 0.5));
        assert!(close(score(&[bare.clone(), two], &[node]), 0.5 * 0.8125 * 0.75));
        assert!(close(score(&[bare.clone(), bare.clone()], &[hub]), 0.25 * 0.25));
        let endless = vec![bare; 5000];
        assert!(score(&endless, &[]) > 0.0);
    }
}
