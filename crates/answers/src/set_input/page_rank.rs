//! Personalised PageRank: how often a walk that keeps returning to the targets is at each node.

/// The share of steps that follow an edge; the others return to a target.
const FOLLOW: f64 = 0.85;
/// The iteration ends when scores change by less than this per node, summed.
const TOLERANCE: f64 = 1e-6;
/// Far more than are needed: 0.85^100 is below the tolerance of any graph.
const MAX_ROUNDS: usize = 100;

/// PageRank with α = 0.85 of a directed graph of `nodes` nodes, personalised to `targets`; to all nodes alike where there
/// are none. Parallel edges count once; what stands at a node without an outgoing edge returns to the targets.
///
/// The scores sum to 1. This is the power iteration of Page, Brin, Motwani and Winograd (The PageRank citation
/// ranking, 1999) as NetworkX does it: it starts at equal shares and ends when the summed change is below
/// 1e-6 times the number of nodes, so that scores agree with the Python service's to its last digits.
pub fn page_rank(nodes: usize, edges: &[(usize, usize)], targets: &[usize]) -> Vec<f64> {
    if nodes == 0 {
        return Vec::new();
    }
    let mut edges: Vec<(usize, usize)> =
        edges.iter().copied().filter(|&(from, to)| from < nodes && to < nodes).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut outgoing = vec![0_u32; nodes];
    for &(from, _) in &edges {
        outgoing[from] += 1;
    }
    let home = home(nodes, targets);
    let mut scores = vec![share(nodes); nodes];
    for _ in 0..MAX_ROUNDS {
        let next = step(&scores, &edges, &outgoing, &home);
        let change: f64 = scores.iter().zip(&next).map(|(before, after)| (after - before).abs()).sum();
        scores = next;
        if change < TOLERANCE / share(nodes) {
            break;
        }
    }
    scores
}

/// Where a walk returns to: the targets alike, or everywhere where there are none.
fn home(nodes: usize, targets: &[usize]) -> Vec<f64> {
    let mut home = vec![0.0; nodes];
    for &target in targets.iter().filter(|&&target| target < nodes) {
        home[target] = 1.0;
    }
    let sum: f64 = home.iter().sum();
    if sum == 0.0 {
        return vec![share(nodes); nodes];
    }
    home.iter().map(|weight| weight / sum).collect()
}

fn step(scores: &[f64], edges: &[(usize, usize)], outgoing: &[u32], home: &[f64]) -> Vec<f64> {
    let stranded: f64 =
        scores.iter().zip(outgoing).filter(|(_, count)| **count == 0).map(|(score, _)| score).sum();
    let mut followed = vec![0.0; scores.len()];
    for &(from, to) in edges {
        followed[to] += scores[from] / f64::from(outgoing[from]);
    }
    let back = FOLLOW * stranded + (1.0 - FOLLOW);
    followed.iter().zip(home).map(|(followed, home)| FOLLOW * followed + back * home).collect()
}

/// One node's share of 1.
fn share(nodes: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count of nodes, far below 2^52")]
    let nodes = nodes as f64;
    1.0 / nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_without_edges_stays_at_home() {
        assert_eq!(page_rank(3, &[], &[1]), [0.0, 1.0, 0.0]);
        assert!(page_rank(0, &[], &[]).is_empty());
    }

    #[test]
    fn chain_and_its_shortcut_score_as_known() {
        // recorded from NetworkX 3.4.2
        let scores = page_rank(4, &[(0, 1), (1, 2), (2, 3), (0, 2), (0, 2)], &[0]);
        let known = [0.347_275_747, 0.147_591_714, 0.273_044_368, 0.232_088_170];
        assert!(scores.iter().zip(known).all(|(ours, known)| (ours - known).abs() < 1e-8), "{scores:?}");
    }

    #[test]
    fn scores_sum_to_one_and_what_is_out_of_range_is_left_out() {
        let scores = page_rank(5, &[(0, 1), (1, 0), (4, 4), (9, 1)], &[0, 7]);
        assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(scores[0] > scores[1] && (scores[2] - scores[3]).abs() < 1e-15);
    }
}
