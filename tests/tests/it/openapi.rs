//! What the gateway tells of itself, and of what Retriever knows.

use serde_json::Value;
use testkit::queries;
use testkit::retriever::Plan;

use crate::scene::{self, DIABETES, Scene};

async fn gateway() -> Scene {
    scene::start(Plan::default(), |stack| stack.workers([])).await
}

/// Every `$ref` in `value`.
fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_document_describes_its_paths_and_resolves() {
    let scene = gateway().await;
    for path in ["/openapi.json", "/aragorn/openapi.json", "/bte/openapi.json", "/example/openapi.json"] {
        let reply = scene.get(path).await;
        assert_eq!(reply.status, 200, "{path}");
        let document = reply.json();
        assert_eq!(document["openapi"], "3.1.0");
        assert_eq!(document["servers"][0]["url"], scene.stack.gateway_url());
        let trapi = &document["info"]["x-trapi"];
        assert_eq!((&trapi["version"], &trapi["asyncquery"]), (&"1.6.0".into(), &true.into()));
        assert_eq!(document["info"]["x-translator"]["component"], "ARA");
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{path}: {reference} leads nowhere");
        }
    }
    let test_data = scene.get("/test_data.json").await.json();
    assert!(!test_data["edges"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn page_for_people_comes_with_its_scripts() {
    let scene = gateway().await;
    let page = scene.get("/docs/").await;
    assert_eq!(page.status, 200);
    let html = String::from_utf8(page.body.to_vec()).unwrap();
    let sources = html.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let sources: Vec<&str> = sources.collect();
    assert!(!sources.is_empty(), "{html}");
    for source in sources {
        assert!(!source.contains("//"), "{source} is somewhere else");
        let path = format!("/docs/{}", source.trim_start_matches("./"));
        assert_eq!(scene.get(&path).await.status, 200, "{path}");
    }
    let script = scene.get("/docs/swagger-initializer.js").await;
    let script = String::from_utf8(script.body.to_vec()).unwrap();
    assert!(script.contains("/aragorn/openapi.json"), "{script}");
}

#[tokio::test]
async fn meta_knowledge_graph_is_retrievers_and_asked_for_once() {
    let mut scene = gateway().await;
    for path in ["/meta_knowledge_graph", "/aragorn/meta_knowledge_graph", "/bte/meta_knowledge_graph"] {
        let reply = scene.get(path).await;
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.json()["edges"][0]["predicate"], "biolink:treats");
    }
    assert_eq!(scene.retriever.meta_requests(), 1);
    assert_eq!(scene.get("/nobody/meta_knowledge_graph").await.status, 404);
    scene.retriever.stop().await;
    assert_eq!(scene.get("/meta_knowledge_graph").await.status, 200, "what is kept is still good");
}

#[tokio::test]
async fn retriever_without_an_answer_costs_only_the_meta_knowledge_graph() {
    let mut scene = gateway().await;
    scene.retriever.stop().await;
    let reply = scene.get("/meta_knowledge_graph").await;
    assert_eq!((reply.status, reply.json()["code"].as_str()), (502, Some("no_retriever")));
    assert_eq!(scene.get("/readyz").await.status, 200);
    let query = queries::with_callback(queries::treats(DIABETES), &scene.ars.callback_url("k"));
    assert_eq!(scene.post("/aragorn/asyncquery", &[], query.to_string()).await.status, 200);
}
