//! A search over a graph of 100,000 nodes in memory: `cargo bench -p shepherd-paths`.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use criterion::{Criterion, criterion_group, criterion_main};
use futures_util::FutureExt;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use shepherd_paths::{Answer, Blocked, Edge, Found, Limits, Neighbours, NoHints, Node, Question, search};

const NODES: usize = 100_000;
const EDGES_PER_NODE: usize = 5;

/// A graph in memory.
struct Graph {
    /// Subject and object of each edge.
    edges: Vec<[usize; 2]>,
    /// The edges at each node.
    at: Vec<Vec<usize>>,
    asked: AtomicUsize,
}

impl Graph {
    /// New nodes prefer neighbours that have many already, so that some become hubs.
    fn generated() -> Self {
        let mut rng = StdRng::seed_from_u64(7);
        let mut graph = Self { edges: Vec::new(), at: vec![Vec::new(); NODES], asked: AtomicUsize::new(0) };
        for node in 1..NODES {
            for _ in 0..EDGES_PER_NODE.min(node) {
                let other = if graph.edges.is_empty() || rng.random_bool(0.5) {
                    rng.random_range(0..node)
                } else {
                    graph.edges[rng.random_range(0..graph.edges.len())][rng.random_range(0..2)]
                };
                graph.at[node].push(graph.edges.len());
                graph.at[other].push(graph.edges.len());
                graph.edges.push([node, other]);
            }
        }
        graph
    }
}

fn id(node: usize) -> String {
    format!("N:{node:06}")
}

impl Neighbours for Graph {
    type Content = ();
    type Error = ();

    async fn neighbours(&self, nodes: &[String]) -> Result<Answer<()>, ()> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut answer = Answer::default();
        let mut told = Vec::new();
        for number in nodes.iter().filter_map(|node| node.strip_prefix("N:")?.parse::<usize>().ok()) {
            for &edge in &self.at[number] {
                let [subject, object] = self.edges[edge];
                told.extend([subject, object]);
                let (subject, object) = (id(subject), id(object));
                answer.edges.push(Edge { id: format!("e{edge}"), subject, object, content: () });
            }
        }
        told.sort_unstable();
        told.dedup();
        let node = |number| Node { id: id(number), name: None, categories: Vec::new(), content: () };
        answer.nodes = told.into_iter().map(node).collect();
        Ok(answer)
    }
}

fn find(graph: &Graph, start: usize, end: usize, top_k: usize) -> Found<(), ()> {
    let limits = Limits {
        max_paths: 500,
        top_k,
        max_degree: 10_000,
        max_edges_per_hop: 100,
        max_asked: 2000,
        ids_per_batch: 10.try_into().expect("is not 0"),
        batches_in_flight: 4.try_into().expect("is not 0"),
    };
    let question = Question::new([id(start)], [id(end)], &[]).expect("no category is asked for");
    let blocked = Blocked::default();
    let search = search(&question, &blocked, &limits, graph, &NoHints, std::future::pending());
    search.now_or_never().expect("a graph in memory keeps nobody waiting")
}

fn searches(criterion: &mut Criterion) {
    let graph = Graph::generated();
    for (name, start, end) in [("usual", 2_000, 3_000), ("hubs", 0, 1)] {
        for top_k in [75, 150] {
            graph.asked.store(0, Ordering::Relaxed);
            let found = find(&graph, start, end, top_k);
            println!(
                "{name} nodes of {} and {} edges, K {top_k}: {} paths, {} questions",
                graph.at[start].len(),
                graph.at[end].len(),
                found.paths.len(),
                graph.asked.load(Ordering::Relaxed),
            );
            let name = format!("search/{name}/{top_k}");
            criterion
                .bench_function(&name, |bench| bench.iter(|| black_box(find(&graph, start, end, top_k))));
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = searches
}
criterion_main!(benches);
