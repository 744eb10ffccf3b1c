//! The two dialects of TRAPI, from the client to Retriever and back.

use serde_json::{Value, json};
use testkit::queries;
use testkit::retriever::{Behaviour, Payload, Plan};

use crate::answer::Answer;
use crate::scene::{self, ARAGORN, DIABETES, Scene, with_env};

/// What 2.0 calls the qualifiers of [`queries::affects`].
fn increases_in_v2() -> Value {
    let mut query = queries::affects("NCBIGene:5468", "increased");
    let edge = query["message"]["query_graph"]["edges"]["t_edge"].as_object_mut().unwrap();
    edge.remove("qualifier_constraints");
    edge.insert(
        "constraints".to_owned(),
        json!({ "qualifiers": [{
            "biolink:object_aspect_qualifier": "activity_or_abundance",
            "biolink:object_direction_qualifier": "increased",
        }] }),
    );
    query["parameters"] = json!({ "log_level": "DEBUG", "bypass_cache": true, "timeout": 60 });
    query
}

async fn with_settings(variables: &[(&str, &str)], plan: Plan) -> Scene {
    scene::start(plan, |stack| with_env(stack.workers(ARAGORN), variables)).await
}

#[track_caller]
fn assert_v2(answer: &Answer) {
    assert_eq!(answer.0["schema_version"], "2.0.0");
    let result = &answer.results()[0];
    assert!(result["node_bindings"]["SN"]["ids"].is_array(), "{result:#}");
    let edges = answer.0["message"]["knowledge_graph"]["edges"].as_object().unwrap();
    assert!(edges.values().all(|edge| edge["knowledge_level"].is_string() && edge["agent_type"].is_string()));
    assert!(!answer.0.to_string().contains(":null"));
}

#[tokio::test]
async fn query_in_2_0_is_asked_in_1_6_and_answered_in_2_0() {
    let scene = with_settings(&[], Plan::default()).await;
    let query = increases_in_v2();
    let answer = scene.ask("aragorn", query.clone()).await;
    answer.assert_success();
    assert_v2(&answer);
    assert_eq!(answer.0["parameters"], query["parameters"]);
    assert_eq!(answer.0["message"]["query_graph"], query["message"]["query_graph"]);
    assert!(!answer.logs("DEBUG", "").is_empty());
    for submission in scene.retriever.submissions() {
        assert_eq!(submission.query["log_level"], "DEBUG");
        assert_eq!(submission.query["bypass_cache"], true);
        assert_eq!(submission.query["parameters"].get("log_level"), None);
        assert_eq!(submission.query["parameters"].get("bypass_cache"), None);
        assert!(!submission.mentions(r#""constraints""#), "{}", submission.query_graph());
    }
}

#[tokio::test]
async fn query_in_1_6_is_asked_in_2_0_and_answered_in_1_6() {
    let scene = with_settings(&[("RETRIEVER_TRAPI_VERSION", "2.0")], Plan::default()).await;
    let mut query = queries::affects("NCBIGene:5468", "increased");
    query["log_level"] = json!("DEBUG");
    query["bypass_cache"] = json!(true);
    query["parameters"] = json!({ "tiers": [1] });
    let answer = scene.ask("aragorn", query.clone()).await;
    answer.assert_success();
    assert_eq!(answer.0["schema_version"], "1.6.0");
    assert_eq!(answer.0["parameters"], query["parameters"]);
    assert_eq!(answer.0["message"]["query_graph"], query["message"]["query_graph"]);
    assert!(answer.results()[0]["node_bindings"]["SN"][0]["id"].is_string());
    for submission in scene.retriever.submissions() {
        assert_eq!(submission.query["parameters"]["log_level"], "DEBUG");
        assert_eq!(submission.query["parameters"]["bypass_cache"], true);
        assert_eq!(submission.query.get("log_level"), None);
        assert_eq!(submission.query.get("bypass_cache"), None);
        assert!(!submission.mentions("qualifier_constraints"), "{}", submission.query_graph());
    }
    let direct =
        |edge: &Value| edge["constraints"]["qualifiers"][0]["biolink:object_direction_qualifier"].clone();
    let directions = scene.retriever.submissions().into_iter().filter_map(|submission| {
        let edge = submission.query_graph()["edges"].get("t_edge").cloned();
        edge.map(|edge| direct(&edge))
    });
    assert!(directions.into_iter().any(|direction| direction == "increased"));
}

#[tokio::test]
async fn what_could_be_either_is_what_the_settings_say() {
    let scene = with_settings(&[("TRAPI_VERSION", "2.0")], Plan::default()).await;
    let answer = scene.ask("aragorn", queries::treats(DIABETES)).await;
    answer.assert_success();
    assert_v2(&answer);
    let mut query = queries::treats(DIABETES);
    query["log_level"] = json!("INFO");
    let answer = scene.ask("aragorn", query).await;
    assert_eq!(answer.0["schema_version"], "1.6.0", "the request says more than the settings");
}

#[tokio::test]
async fn answer_of_retriever_in_2_0_is_recognised() {
    let body = json!({
        "message": {
            "knowledge_graph": {
                "nodes": {
                    "CHEBI:6801": { "name": "metformin", "categories": ["biolink:SmallMolecule"] },
                    DIABETES: { "name": "type 2 diabetes", "categories": ["biolink:Disease"] },
                },
                "edges": { "k": {
                    "subject": "CHEBI:6801",
                    "predicate": "biolink:treats",
                    "object": DIABETES,
                    "knowledge_level": "knowledge_assertion",
                    "agent_type": "manual_agent",
                    "sources": [{ "resource_id": "infores:ctd", "resource_role": "primary_knowledge_source" }],
                } },
            },
            "results": [{
                "node_bindings": { "SN": { "ids": ["CHEBI:6801"] }, "ON": { "ids": [DIABETES] } },
                "analyses": [{
                    "resource_id": "infores:retriever",
                    "edge_bindings": { "t_edge": { "ids": ["k"] } },
                }],
            }],
        },
        "status": "Success",
    });
    let payload = Payload::Bytes(body.to_string().into());
    let scene = with_settings(&[], Plan::always(Behaviour::answer().payload(payload))).await;
    let answer = scene.ask("aragorn", scene::lookup()).await;
    answer.assert_success();
    assert_eq!(answer.0["schema_version"], "1.6.0");
    let edges = answer.0["message"]["knowledge_graph"]["edges"].as_object().unwrap();
    let attributes = edges.values().next().unwrap()["attributes"].as_array().unwrap();
    let level =
        attributes.iter().find(|attribute| attribute["attribute_type_id"] == "biolink:knowledge_level");
    assert_eq!(level.unwrap()["value"], "knowledge_assertion");
}
