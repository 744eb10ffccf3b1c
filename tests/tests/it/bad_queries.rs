//! Requests that are refused: the status says how, the body names the field, and nothing else happens.

use serde_json::{Value, json};
use testkit::queries;
use testkit::retriever::Plan;

use crate::scene::{self, ARAGORN, DIABETES, Scene};

const CALLBACK: &str = "http://127.0.0.1:9/callback";

fn good() -> Value {
    queries::with_callback(queries::treats(DIABETES), CALLBACK)
}

/// A good query after `change`.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut query = good();
    change(&mut query);
    query.to_string()
}

/// A good query whose query graph was changed.
fn graph(change: impl FnOnce(&mut Value)) -> String {
    changed(|query| change(&mut query["message"]["query_graph"]))
}

fn edge(graph: &mut Value) -> &mut Value {
    &mut graph["edges"]["t_edge"]
}

/// Why, the body, the status, the field named.
type Case = (&'static str, String, u16, &'static str);

fn callback_cases() -> Vec<Case> {
    let with = |callback: Value| changed(|query| query["callback"] = callback);
    vec![
        ("no callback", queries::treats(DIABETES).to_string(), 422, "callback"),
        ("null callback", with(Value::Null), 422, "callback"),
        ("callback is a number", with(json!(7)), 400, "callback"),
        ("empty callback", with(json!("")), 422, "callback"),
        ("callback without host", with(json!("http://")), 422, "callback"),
        ("ftp callback", with(json!("ftp://127.0.0.1/x")), 422, "callback"),
        ("file callback", with(json!("file:///etc/passwd")), 422, "callback"),
        ("callback with credentials", with(json!("http://me:secret@127.0.0.1/")), 422, "callback"),
        ("callback with a user", with(json!("http://me@127.0.0.1/")), 422, "callback"),
    ]
}

/// A query that works on a message of the client's own, which has that member.
fn brought(name: &str, value: Value) -> String {
    changed(|query| {
        query["workflow"] = json!([{"id": "sort_results_score"}]);
        query["message"]["results"] = json!([]);
        query["message"][name] = value;
    })
}

fn document_cases() -> Vec<Case> {
    let with = |name: &str, value: Value| changed(|query| query[name] = value);
    vec![
        ("nothing", String::new(), 422, ""),
        ("not JSON", "{\"message\": ".to_owned(), 422, ""),
        ("two documents", format!("{0}{0}", good()), 422, ""),
        ("too deep", format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), 422, ""),
        ("a list", "[]".to_owned(), 400, ""),
        ("a string", "\"query\"".to_owned(), 400, ""),
        ("no message", json!({ "callback": CALLBACK }).to_string(), 400, "message"),
        ("null message", with("message", Value::Null), 400, "message"),
        ("message is a list", with("message", json!([])), 400, "message"),
        ("results are no list", brought("results", json!({})), 400, "message.results"),
        ("null result", brought("results", json!([{}, null])), 400, "message.results[1]"),
        (
            "edge is a number",
            brought("knowledge_graph", json!({"edges": {"e": 7}})),
            400,
            "message.knowledge_graph.edges.e",
        ),
        ("no query graph", with("message", json!({})), 400, "message.query_graph"),
        ("null query graph", with("message", json!({ "query_graph": null })), 400, "message.query_graph"),
        ("parameters are a list", with("parameters", json!([])), 400, "parameters"),
        ("unknown log level", with("log_level", json!("LOUD")), 400, "log_level"),
        ("submitter is a number", with("submitter", json!(1)), 400, "submitter"),
        ("workflow is an object", with("workflow", json!({})), 400, "workflow"),
        ("empty workflow", with("workflow", json!([])), 400, "workflow"),
        ("unknown operation first", with("workflow", json!([{ "id": "fill" }])), 400, "workflow[0].id"),
        (
            "unknown operation later",
            with("workflow", json!([{ "id": "lookup" }, { "id": "conquer" }])),
            400,
            "workflow[1].id",
        ),
    ]
}

fn graph_cases() -> Vec<Case> {
    let inferred = json!({ "subject": "SN", "object": "ON", "knowledge_type": "inferred" });
    let second = |edge: Value| graph(|graph| graph["edges"]["e2"] = edge);
    let pathfinder = |change: fn(&mut Value)| {
        let mut query = queries::with_callback(queries::pathfinder("CHEBI:6801", DIABETES), CALLBACK);
        change(&mut query["message"]["query_graph"]);
        query.to_string()
    };
    vec![
        ("no nodes", graph(|graph| graph["nodes"] = json!({})), 400, "message.query_graph.nodes"),
        ("null nodes", graph(|graph| graph["nodes"] = Value::Null), 400, "message.query_graph.nodes"),
        ("no edges", graph(|graph| graph["edges"] = json!({})), 400, "message.query_graph.edges"),
        (
            "an edge without object",
            graph(|graph| edge(graph)["object"] = Value::Null),
            400,
            "message.query_graph.edges.t_edge.object",
        ),
        (
            "an edge to an absent node",
            graph(|graph| edge(graph)["object"] = json!("nowhere")),
            400,
            "message.query_graph.edges.t_edge.object",
        ),
        (
            "an unknown knowledge type",
            graph(|graph| edge(graph)["knowledge_type"] = json!("guessed")),
            400,
            "message.query_graph.edges.t_edge.knowledge_type",
        ),
        (
            "mixed",
            second(json!({ "subject": "SN", "object": "ON" })),
            400,
            "message.query_graph.edges.e2.knowledge_type",
        ),
        ("two inferred", second(inferred), 400, "message.query_graph.edges.e2.knowledge_type"),
        (
            "both pinned",
            graph(|graph| graph["nodes"]["SN"]["ids"] = json!(["CHEBI:6801"])),
            400,
            "message.query_graph.edges.t_edge",
        ),
        (
            "none pinned",
            graph(|graph| graph["nodes"]["ON"]["ids"] = Value::Null),
            400,
            "message.query_graph.edges.t_edge",
        ),
        (
            "paths beside edges",
            pathfinder(|graph| graph["edges"] = json!({ "e": { "subject": "SN", "object": "ON" } })),
            400,
            "message.query_graph.paths",
        ),
        (
            "two paths",
            pathfinder(|graph| graph["paths"]["p1"] = json!({ "subject": "SN", "object": "ON" })),
            400,
            "message.query_graph.paths.p1",
        ),
        (
            "a path to an absent node",
            pathfinder(|graph| graph["paths"]["p0"]["object"] = json!("nowhere")),
            400,
            "message.query_graph.paths.p0.object",
        ),
        (
            "a path without an end",
            pathfinder(|graph| graph["nodes"]["SN"]["ids"] = json!([])),
            400,
            "message.query_graph.nodes.SN.ids",
        ),
    ]
}

async fn small(plan: Plan) -> Scene {
    scene::start(plan, |stack| stack.workers(ARAGORN).env("QUERY_MAX_REQUEST_SIZE", "256Ki")).await
}

/// Nothing of a refused request is left, and the service goes on.
async fn assert_unharmed(scene: &Scene) {
    assert_eq!(scene.keys("query:").await, Vec::<String>::new());
    assert!(scene.retriever.submissions().is_empty());
    scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success();
}

#[tokio::test]
async fn bad_query_is_refused_with_the_field_named() {
    let scene = small(Plan::default()).await;
    for (why, body, status, field) in [callback_cases(), document_cases(), graph_cases()].concat() {
        let reply = scene.post("/aragorn/asyncquery", &[], body).await;
        let told = reply.json();
        assert_eq!(reply.status, status, "{why}: {told}");
        assert_eq!(told["field"].as_str().unwrap_or_default(), field, "{why}: {told}");
        let description = told["description"].as_str().unwrap();
        assert!(!description.is_empty() && description.contains(field), "{why}: {told}");
        assert!(!description.contains("secret"), "{why}: {told}");
    }
    assert_unharmed(&scene).await;
}

#[tokio::test]
async fn sync_query_is_refused_the_same_way_but_needs_no_callback() {
    let scene = small(Plan::default()).await;
    for (why, body, status, field) in [document_cases(), graph_cases()].concat() {
        let reply = scene.post("/aragorn/query", &[], body).await;
        let told = reply.json();
        assert_eq!(reply.status, status, "{why}: {told}");
        assert_eq!(told["field"].as_str().unwrap_or_default(), field, "{why}: {told}");
    }
    assert_unharmed(&scene).await;
    let (status, _) = scene.ask_sync("aragorn", &queries::treats(DIABETES)).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn request_that_is_no_query_is_refused_by_its_headers_size_or_path() {
    let scene = small(Plan::default()).await;
    let query = good().to_string();
    let large = changed(|query| query["padding"] = json!(" ".repeat(256 * 1024)));
    let bomb = zstd::encode_all(large.as_bytes(), 3).unwrap();
    assert!(bomb.len() < 10_000);
    let json = ("content-type", "application/json");
    let cases = [
        (
            "text",
            "/aragorn/asyncquery",
            vec![("content-type", "text/plain")],
            query.clone().into_bytes(),
            415,
        ),
        (
            "form",
            "/aragorn/query",
            vec![("content-type", "multipart/form-data")],
            query.clone().into_bytes(),
            415,
        ),
        (
            "unknown encoding",
            "/aragorn/query",
            vec![json, ("content-encoding", "br")],
            query.clone().into(),
            415,
        ),
        ("too large", "/aragorn/asyncquery", vec![json], large.clone().into(), 413),
        ("too large, sync", "/aragorn/query", vec![json], large.into(), 413),
        ("too large once decoded", "/aragorn/query", vec![json, ("content-encoding", "zstd")], bomb, 413),
        (
            "mislabelled",
            "/aragorn/query",
            vec![json, ("content-encoding", "gzip")],
            query.clone().into(),
            400,
        ),
        ("not UTF-8", "/aragorn/query", vec![json], b"{\"message\": \"\xff\"}".to_vec(), 422),
        ("unknown ARA", "/unicorn/asyncquery", vec![json], query.clone().into(), 404),
        ("unknown ARA, sync", "/unicorn/query", vec![json], query.clone().into(), 404),
        ("ARA in capitals", "/ARAGORN/query", vec![json], query.clone().into(), 404),
        ("unknown path", "/aragorn/question", vec![json], query.clone().into(), 404),
        ("no ARA", "/asyncquery", vec![json], query.into(), 404),
    ];
    for (why, path, headers, body, status) in cases {
        let reply = scene.post(path, &headers, body).await;
        assert_eq!(reply.status, status, "{why}");
        assert!(!reply.json()["description"].as_str().unwrap().is_empty(), "{why}");
    }
    for (path, status) in [
        ("/aragorn/asyncquery", 405),
        ("/aragorn/query", 405),
        ("/aragorn/callback/0000", 405),
        ("/asyncquery_status/", 404),
        ("/", 404),
    ] {
        assert_eq!(scene.get(path).await.status, status, "GET {path}");
    }
    assert_eq!(scene.post("/response/0000", &[], "{}").await.status, 405);
    assert_unharmed(&scene).await;
}

#[tokio::test]
async fn refusal_reaches_a_client_that_is_still_sending() {
    let scene =
        scene::start(Plan::default(), |stack| stack.workers([]).env("QUERY_MAX_REQUEST_SIZE", "1Ki")).await;
    let large = vec![b' '; 8 << 20];
    for (path, headers, status) in [
        ("/aragorn/query", vec![], 413),
        ("/aragorn/query", vec![("content-type", "text/plain")], 415),
        ("/unicorn/query", vec![], 404),
        ("/aragorn/callback/0000", vec![], 404),
        ("/nowhere", vec![], 404),
    ] {
        for _ in 0..5 {
            assert_eq!(scene.post(path, &headers, large.clone()).await.status, status, "{path}");
        }
    }
}

#[tokio::test]
async fn compressed_queries_are_taken() {
    let scene = small(Plan::default()).await;
    let query = queries::treats(DIABETES).to_string();
    let body = zstd::encode_all(query.as_bytes(), 3).unwrap();
    let reply = scene.post("/aragorn/query", &[("content-encoding", "zstd")], body).await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn null_is_absent_where_trapi_allowed_it() {
    let scene = small(Plan::default()).await;
    let mut query = queries::treats(DIABETES);
    for name in ["parameters", "workflow", "submitter", "log_level", "bypass_cache"] {
        query[name] = Value::Null;
    }
    for name in ["results", "knowledge_graph", "auxiliary_graphs"] {
        query["message"][name] = Value::Null;
    }
    let graph = &mut query["message"]["query_graph"];
    graph["paths"] = Value::Null;
    graph["nodes"]["SN"]["ids"] = Value::Null;
    graph["nodes"]["SN"]["constraints"] = Value::Null;
    graph["nodes"]["SN"]["set_interpretation"] = Value::Null;
    graph["nodes"]["ON"]["member_ids"] = Value::Null;
    for name in ["attribute_constraints", "qualifier_constraints"] {
        edge(graph)[name] = Value::Null;
    }
    scene.ask("aragorn", query.clone()).await.assert_success();
    assert_eq!(scene.retriever.submissions().len(), 9);
    let mut lookup = scene::lookup();
    let graph = &mut lookup["message"]["query_graph"];
    edge(graph)["knowledge_type"] = Value::Null;
    edge(graph)["predicates"] = Value::Null;
    graph["nodes"]["SN"]["categories"] = Value::Null;
    scene.ask("aragorn", lookup).await.assert_success();
}

#[tokio::test]
async fn query_with_a_repeated_key_is_refused_at_any_depth() {
    let scene = small(Plan::default()).await;
    let query = queries::treats(DIABETES).to_string();
    for (twice, name) in [
        (query.replacen('{', r#"{"parameters": {}, "parameters": {}, "#, 1), "parameters"),
        (query.replacen('{', r#"{"parameters": {"more": {"a": 1, "a": 2}}, "#, 1), "a"),
        (
            query.replacen(r#""knowledge_type""#, r#""knowledge_type": "lookup", "knowledge_type""#, 1),
            "knowledge_type",
        ),
    ] {
        let reply = scene.post("/aragorn/query", &[], twice).await;
        assert_eq!(reply.status, 400);
        let description = reply.json()["description"].as_str().unwrap().to_owned();
        assert!(description.contains(&format!("`{name}`")), "{description}");
    }
    assert!(scene.retriever.submissions().is_empty());
}
