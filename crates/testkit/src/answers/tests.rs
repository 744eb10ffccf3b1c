use super::*;
use crate::queries;

fn ids_at(message: &Value, key: &str) -> Vec<String> {
    let results = message["results"].as_array().unwrap();
    results.iter().map(|r| r["node_bindings"][key][0]["id"].as_str().unwrap().to_owned()).collect()
}

fn graph(query: &Value) -> &Value {
    &query["message"]["query_graph"]
}

fn spec(results: usize) -> AnswerSpec {
    AnswerSpec { results, ..AnswerSpec::default() }
}

#[test]
fn the_same_graph_gets_the_same_bytes() {
    let query = queries::treats("MONDO:0005148");
    let make = || message(graph(&query), &spec(20)).unwrap().to_string();
    assert_eq!(make(), make());
}

#[test]
fn traced_answer_has_one_more_result_that_nothing_else_gives() {
    let query = queries::treats("MONDO:0005148");
    let traced = AnswerSpec { trace: Some("TRACE:7".to_owned()), ..spec(3) };
    let ids = ids_at(&message(graph(&query), &traced).unwrap(), "SN");
    assert_eq!((ids.len(), ids.last().map(String::as_str)), (4, Some("TRACE:7")));
}

#[test]
fn diabetes_is_treated_with_drugs_that_have_names() {
    let message = message(graph(&queries::treats("MONDO:0005148")), &spec(20)).unwrap();
    assert_eq!(message["knowledge_graph"]["nodes"]["CHEBI:6801"]["name"], "metformin");
    assert_eq!(message["knowledge_graph"]["nodes"]["MONDO:0005148"]["name"], "type 2 diabetes mellitus");
    assert_eq!(ids_at(&message, "SN").len(), 20);
}

#[test]
fn answers_of_different_sub_queries_overlap_but_differ() {
    let by = |predicate: &str| {
        let query = queries::one_hop("biolink:ChemicalEntity", predicate, "MONDO:0005148");
        ids_at(&message(graph(&query), &spec(20)).unwrap(), "SN").into_iter().collect::<HashSet<_>>()
    };
    let (one, other) = (by("biolink:treats"), by("biolink:affects"));
    assert_eq!((one.len(), other.len()), (20, 20), "no answer is given twice");
    let shared = one.intersection(&other).count();
    assert!((4..16).contains(&shared), "{shared} shared");
}

#[test]
fn with_full_overlap_all_sub_queries_agree() {
    let all = AnswerSpec { results: 5, overlap: 1.0, ..AnswerSpec::default() };
    let by = |predicate: &str| {
        let query = queries::one_hop("biolink:ChemicalEntity", predicate, "MONDO:0005148");
        ids_at(&message(graph(&query), &all).unwrap(), "SN")
    };
    assert_eq!(by("biolink:treats"), by("biolink:affects"));
}

#[test]
fn everything_bound_is_in_the_knowledge_graph() {
    let hops = queries::multi_hop("CHEBI:6801", &["biolink:Gene", "biolink:Gene"], "MONDO:0005148");
    let message = message(graph(&hops), &spec(30)).unwrap();
    let kg = &message["knowledge_graph"];
    for result in message["results"].as_array().unwrap() {
        let bound: Vec<&str> = result["node_bindings"]
            .as_object()
            .unwrap()
            .values()
            .map(|b| b[0]["id"].as_str().unwrap())
            .collect();
        assert_eq!(bound.iter().collect::<HashSet<_>>().len(), bound.len(), "no node is bound twice");
        assert!(bound.iter().all(|id| kg["nodes"].get(id).is_some()));
        let edges = result["analyses"][0]["edge_bindings"].as_object().unwrap();
        assert_eq!(edges.len(), 3);
        for binding in edges.values().flat_map(|list| list.as_array().unwrap()) {
            assert!(kg["edges"].get(binding["id"].as_str().unwrap()).is_some());
        }
    }
}

#[test]
fn predicates_categories_and_qualifiers_are_as_asked() {
    let query = queries::affects("NCBIGene:3569", "decreased");
    let message = message(graph(&query), &spec(3)).unwrap();
    for edge in message["knowledge_graph"]["edges"].as_object().unwrap().values() {
        assert_eq!(edge["predicate"], "biolink:affects");
        assert_eq!(edge["qualifiers"][0]["qualifier_type_id"], "biolink:object_aspect_qualifier");
        assert_eq!(edge["sources"][0]["resource_role"], "primary_knowledge_source");
    }
    let node = &message["knowledge_graph"]["nodes"][&ids_at(&message, "SN")[0]];
    assert!(node["categories"].as_array().unwrap().contains(&json!("biolink:ChemicalEntity")));
}

#[test]
fn a_graph_with_every_node_pinned_has_one_result() {
    let query = queries::multi_hop("CHEBI:6801", &[], "MONDO:0005148");
    assert_eq!(message(graph(&query), &spec(5)).unwrap()["results"].as_array().unwrap().len(), 1);
    assert_eq!(message(graph(&query), &spec(0)).unwrap()["results"].as_array().unwrap().len(), 0);
}

#[test]
fn a_graph_that_cannot_be_answered_is_refused_by_name() {
    let dangling = json!({ "nodes": { "a": {} }, "edges": { "e": { "subject": "a", "object": "b" } } });
    assert_eq!(
        message(&dangling, &spec(1)).unwrap_err().to_string(),
        "query_graph.edges.e.object does not name a node"
    );
    assert_eq!(message(&json!({}), &spec(1)).unwrap_err(), QuestionError::Missing("nodes"));
    let paths = queries::pathfinder("CHEBI:6801", "MONDO:0005148");
    assert_eq!(message(graph(&paths), &spec(1)).unwrap_err(), QuestionError::Missing("edges"));
}

#[test]
fn rehydration_fills_what_is_missing_and_keeps_the_rest() {
    let mut kg = json!({
        "nodes": { "CHEBI:6801": { "name": "kept" } },
        "edges": { "e": { "subject": "CHEBI:6801", "predicate": "biolink:treats", "object": "MONDO:0005148" } },
    });
    rehydrate(&mut kg, &AnswerSpec::default());
    assert_eq!(kg["nodes"]["CHEBI:6801"]["name"], "kept");
    assert!(kg["nodes"]["CHEBI:6801"]["categories"].is_array());
    assert_eq!(kg["edges"]["e"]["sources"].as_array().unwrap().len(), 2);
}

#[test]
fn what_was_taken_out_is_filled_in_again() {
    let question = queries::multi_hop("CHEBI:6801", &["biolink:Gene"], "MONDO:0005148");
    let full = message(graph(&question), &spec(20)).unwrap();
    let mut kg = full["knowledge_graph"].clone();
    dehydrate(&mut kg);
    assert!(!kg.to_string().contains("attributes"));
    rehydrate(&mut kg, &AnswerSpec::default());
    assert_eq!(kg["edges"], full["knowledge_graph"]["edges"]);
}
