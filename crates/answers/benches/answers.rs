//! How fast callbacks become an answer: reading, merging, scoring and writing 19 callbacks of 1,000
//! results each, as a large inferred query brings them.
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fmt::Write;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use shepherd_answers::expand::DIRECT;
use shepherd_answers::merge::{Callback, Merged, merge};
use shepherd_answers::message::parse;
use shepherd_answers::operations::{
    Limit, Order, PathFeatures, PathModel, Profile, aragorn_score, filter_kgraph_orphans,
    filter_results_top_n, score_paths, sort_results_score,
};
use trapi::QueryGraph;

const RULES: usize = 18;
const RESULTS: usize = 1000;

struct Sent {
    label: String,
    graph: QueryGraph,
    body: String,
}

fn client_graph() -> QueryGraph {
    QueryGraph::parse(
        r#"{"nodes":{"SN":{"categories":["biolink:ChemicalEntity"]},"ON":{"ids":["MONDO:0005148"]}},"edges":{"t":{"subject":"SN","object":"ON","predicates":["biolink:treats"],"knowledge_type":"inferred"}}}"#,
    )
    .unwrap()
}

fn rule_graph() -> QueryGraph {
    QueryGraph::parse(
        r#"{"nodes":{"SN":{"categories":["biolink:ChemicalEntity"]},"ON":{"ids":["MONDO:0005148"]},"g":{}},"edges":{"e0":{"subject":"g","object":"SN","predicates":["biolink:affects"]},"e1":{"subject":"SN","object":"ON","predicates":["biolink:related_to"]},"e2":{"subject":"g","object":"ON","predicates":["biolink:genetic_association"]}}}"#,
    )
    .unwrap()
}

/// Nodes, edges and results as text, put together one by one.
#[derive(Default)]
struct Body {
    nodes: String,
    edges: String,
    results: String,
}

impl Body {
    fn node(&mut self, id: &str) {
        write!(
            self.nodes,
            r#""{id}":{{"name":"name of {id}","categories":["biolink:SmallMolecule","biolink:ChemicalEntity","biolink:NamedThing"],"attributes":[{{"attribute_type_id":"biolink:xref","value_type_id":"linkml:Uriorcurie","original_attribute_name":"equivalent_identifiers","value_url":null,"attribute_source":"infores:sri-node-normalizer","description":null,"value":["{id}","UMLS:C0000001","MESH:D0000001"]}}],"is_set":false}},"#
        )
        .unwrap();
    }

    fn edge(&mut self, id: &str, subject: &str, predicate: &str, object: &str, publications: usize) {
        write!(
            self.edges,
            r#""{id}":{{"subject":"{subject}","predicate":"biolink:{predicate}","object":"{object}","qualifiers":null,"attributes":[{{"attribute_type_id":"biolink:knowledge_level","value":"knowledge_assertion","value_type_id":null,"original_attribute_name":"knowledge_level","attribute_source":"infores:ctd","description":null}},{{"attribute_type_id":"biolink:agent_type","value":"manual_agent","value_type_id":null,"original_attribute_name":"agent_type","attribute_source":"infores:ctd","description":null}},{{"attribute_type_id":"biolink:publications","value_type_id":"linkml:Uriorcurie","original_attribute_name":"publications","attribute_source":"infores:retriever","description":null,"value":["PMID:0"#
        )
        .unwrap();
        for number in 1..=publications {
            write!(self.edges, r#"","PMID:{}"#, 10_000_000 + number * 7).unwrap();
        }
        self.edges.push_str(
            r#""]},{"attribute_type_id":"biolink:supporting_text","value":"The association remained significant after adjustment for age, sex, body mass index and population stratification in both the discovery and the replication cohort.","value_type_id":null,"original_attribute_name":"sentence","attribute_source":"infores:semmeddb","description":null}],"sources":[{"resource_id":"infores:ctd","resource_role":"primary_knowledge_source","upstream_resource_ids":[]},{"resource_id":"infores:retriever","resource_role":"aggregator_knowledge_source","upstream_resource_ids":["infores:ctd"]}]},"#,
        );
    }

    fn finish(mut self) -> String {
        for part in [&mut self.nodes, &mut self.edges, &mut self.results] {
            part.pop();
        }
        format!(
            r#"{{"message":{{"knowledge_graph":{{"nodes":{{{}}},"edges":{{{}}}}},"results":[{}],"auxiliary_graphs":{{}}}},"logs":[]}}"#,
            self.nodes, self.edges, self.results
        )
    }
}

/// Half of the answers are the same in all callbacks.
fn callback(which: usize) -> Sent {
    let mut body = Body::default();
    body.node("MONDO:0005148");
    for result in 0..RESULTS {
        let answer =
            if result % 2 == 0 { format!("CHEBI:{result}") } else { format!("CHEBI:{which}0{result}") };
        let gene = format!("NCBIGene:{which}{}", result / 3);
        body.node(&answer);
        if result % 3 == 0 {
            body.node(&gene);
            body.edge(&format!("{gene}-d"), &gene, "genetic_association", "MONDO:0005148", result % 12);
        }
        body.edge(&format!("{which}-{answer}-d"), &answer, "related_to", "MONDO:0005148", result % 7);
        if which == 0 {
            write!(
                body.results,
                r#"{{"node_bindings":{{"SN":[{{"id":"{answer}","attributes":[]}}],"ON":[{{"id":"MONDO:0005148","attributes":[]}}]}},"analyses":[{{"resource_id":"infores:retriever","edge_bindings":{{"t":[{{"id":"{which}-{answer}-d","attributes":[]}}]}}}}]}},"#
            )
            .unwrap();
        } else {
            body.edge(&format!("{which}-{answer}-g"), &gene, "affects", &answer, result % 5);
            write!(
                body.results,
                r#"{{"node_bindings":{{"SN":[{{"id":"{answer}","attributes":[]}}],"ON":[{{"id":"MONDO:0005148","attributes":[]}}],"g":[{{"id":"{gene}","attributes":[]}}]}},"analyses":[{{"resource_id":"infores:retriever","edge_bindings":{{"e0":[{{"id":"{which}-{answer}-g","attributes":[]}}],"e1":[{{"id":"{which}-{answer}-d","attributes":[]}}],"e2":[{{"id":"{gene}-d","attributes":[]}}]}}}}]}},"#
            )
            .unwrap();
        }
    }
    let direct = which == 0;
    Sent {
        label: if direct { DIRECT.to_owned() } else { format!("rule {which}") },
        graph: if direct { client_graph() } else { rule_graph() },
        body: body.finish(),
    }
}

fn merged<'a>(graph: &QueryGraph, sent: &'a [Sent]) -> Merged<'a> {
    let callbacks: Vec<Callback<'a>> = sent
        .iter()
        .zip(0..)
        .map(|(sent, index)| Callback { index, label: &sent.label, sent: &sent.graph, body: &sent.body })
        .collect();
    merge("aragorn", graph, &graph.examine().unwrap(), &callbacks)
}

fn answers(criterion: &mut Criterion) {
    let graph = client_graph();
    let sent: Vec<Sent> = (0..=RULES).map(callback).collect();
    let size: usize = sent.iter().map(|sent| sent.body.len()).sum();
    let mut group = criterion.benchmark_group("19 callbacks");
    group.sample_size(10).throughput(Throughput::Bytes(size as u64));

    group.bench_function("parse", |bencher| {
        bencher.iter(|| sent.iter().map(|sent| parse(&sent.body).unwrap().edge_count()).sum::<usize>());
    });
    group.bench_function("merge", |bencher| bencher.iter(|| merged(&graph, &sent).message.result_count()));
    group.bench_function("score", |bencher| {
        bencher.iter_batched_ref(
            || merged(&graph, &sent).message,
            |message| aragorn_score(message, Profile::Blended).len(),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("sort, limit and orphans", |bencher| {
        bencher.iter_batched_ref(
            || merged(&graph, &sent).message,
            |message| {
                sort_results_score(message, Order::Descending);
                filter_results_top_n(message, Limit::Of(500));
                filter_kgraph_orphans(message);
            },
            BatchSize::PerIteration,
        );
    });
    let message = merged(&graph, &sent).message;
    group.bench_function("write", |bencher| {
        let mut out = Vec::with_capacity(size);
        bencher.iter(|| {
            out.clear();
            message.write(&mut out).unwrap();
            out.len()
        });
    });
    group.finish();
}

/// Ten thousand paths of three hops between two nodes, each its own graph, with a node in common with many others.
fn paths() -> String {
    let mut body = Body::default();
    let (mut graphs, mut analyses) = (String::new(), String::new());
    body.node("CHEBI:6801");
    body.node("MONDO:0005148");
    for path in 0..10_000 {
        let (near, far) = (format!("NCBIGene:{}", path / 100), format!("GO:{}", path % 100));
        if path % 100 == 0 {
            body.node(&near);
            body.edge(&format!("n{near}"), "CHEBI:6801", "affects", &near, path % 7);
        }
        if path < 100 {
            body.node(&far);
            body.edge(&format!("f{far}"), &far, "related_to", "MONDO:0005148", path % 7);
        }
        body.edge(&format!("e{path}"), &near, "participates_in", &far, path % 5);
        write!(graphs, r#""p{path}":{{"edges":["n{near}","e{path}","f{far}"]}},"#).unwrap();
        write!(analyses, r#"{{"path_bindings":{{"p":[{{"id":"p{path}"}}]}}}},"#).unwrap();
    }
    for list in [&mut graphs, &mut analyses] {
        list.pop();
    }
    write!(
        body.results,
        r#"{{"node_bindings":{{"SN":[{{"id":"CHEBI:6801"}}],"ON":[{{"id":"MONDO:0005148"}}]}},"analyses":[{analyses}]}},"#
    )
    .unwrap();
    body.finish().replace(r#""auxiliary_graphs":{}"#, &format!(r#""auxiliary_graphs":{{{graphs}}}"#))
}

/// No model: what a model takes is its own.
struct NoModel;

impl PathModel for NoModel {
    type Error = std::fmt::Error;

    fn score(&self, _: &PathFeatures<'_>) -> Result<f64, Self::Error> {
        Err(std::fmt::Error)
    }
}

fn path_scores(criterion: &mut Criterion) {
    let text = paths();
    let mut group = criterion.benchmark_group("10,000 paths");
    group.sample_size(10);
    group.bench_function("score by the graph", |bencher| {
        bencher.iter_batched_ref(
            || parse(&text).unwrap(),
            |message| score_paths::<NoModel>(message, None).len(),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, answers, path_scores);
criterion_main!(benches);
