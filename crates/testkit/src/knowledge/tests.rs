use serde_json::{Value, json};

use super::Knowledge;

const IMATINIB: &str = "CHEBI:45783";
const ASTHMA: &str = "MONDO:0004979";

fn chain(hops: usize) -> Value {
    let between = vec!["biolink:NamedThing"; hops - 1];
    let query = crate::queries::multi_hop(IMATINIB, &between, ASTHMA);
    query["message"]["query_graph"].clone()
}

/// The nodes of each result, in the order of the chain.
fn paths(hops: usize, parameters: &Value) -> Vec<String> {
    let message = Knowledge::small().message(&chain(hops), parameters).unwrap();
    let result = |result: &Value| {
        let id = |node: usize| {
            result.pointer(&format!("/node_bindings/n{node}/0/id")).and_then(Value::as_str).unwrap()
        };
        (0..=hops).map(id).collect::<Vec<_>>().join(" ")
    };
    message["results"].as_array().unwrap().iter().map(result).collect()
}

#[test]
fn the_small_graph_has_the_paths_that_its_description_names() {
    let none = json!({});
    let two = paths(2, &none);
    assert_eq!(two.len(), 2, "{two:?}");
    assert!(two.iter().any(|path| path.contains("NCBIGene:3815")));
    let past_the_hub = json!({ "filter_config": { "max_node_degree": 100 } });
    assert_eq!(paths(2, &past_the_hub), [format!("{IMATINIB} NCBIGene:3815 {ASTHMA}")]);
    let simple = |path: &String| path.matches(IMATINIB).count() == 1 && path.matches(ASTHMA).count() == 1;
    let three: Vec<String> = paths(3, &past_the_hub).into_iter().filter(simple).collect();
    assert_eq!(three, [format!("{IMATINIB} NCBIGene:25 NCBIGene:7124 {ASTHMA}")]);
    let four: Vec<String> = paths(4, &past_the_hub).into_iter().filter(simple).collect();
    let over_the_pathway = format!("{IMATINIB} NCBIGene:5159 GO:0048008 NCBIGene:5156 {ASTHMA}");
    assert!(four.contains(&over_the_pathway), "{four:?}");
    let graph = Knowledge::small();
    assert_eq!(graph.nodes().len(), 300);
    assert!(graph.degree("NCBIGene:7157") > 200);
}

#[test]
fn dehydrated_answers_lack_attributes_until_they_are_rehydrated() {
    let graph = Knowledge::small();
    let full = graph.message(&chain(2), &json!({})).unwrap();
    let mut message = full.clone();
    crate::answers::dehydrate(&mut message["knowledge_graph"]);
    assert_ne!(message["knowledge_graph"], full["knowledge_graph"]);
    graph.rehydrate(&mut message["knowledge_graph"]);
    assert_eq!(message["knowledge_graph"], full["knowledge_graph"]);
}

#[test]
fn neighbours_of_several_nodes_are_found_in_both_directions() {
    let graph = Knowledge::small();
    let asked = json!({
        "nodes": { "n0": { "ids": ["NCBIGene:25", "NCBIGene:3815"] }, "n1": {} },
        "edges": { "e0": { "subject": "n0", "object": "n1", "predicates": ["biolink:related_to"] } },
    });
    let message = graph.message(&asked, &json!({})).unwrap();
    assert_eq!(message["results"].as_array().unwrap().len(), 4);
    assert_eq!(message["knowledge_graph"]["edges"].as_object().unwrap().len(), 4);
}

#[test]
fn generated_graphs_are_the_same_for_the_same_seed() {
    let (one, other) = (Knowledge::generated(500, 4, 7), Knowledge::generated(500, 4, 7));
    assert_eq!(one.statements, other.statements);
    assert_eq!(one.nodes().len(), 500);
    assert!(one.statement_count() > 1500);
}
