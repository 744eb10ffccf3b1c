//! The second pass of a query for paths: its answer gets its content, and whatever goes wrong with that costs
//! nothing else.

use http::StatusCode;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::queries;
use testkit::retriever::{Plan, Rehydration};
use testkit::stack::StackBuilder;

use crate::answer::Answer;
use crate::scene::{self, DIABETES, LIMIT, Scene};

const WORKERS: [&str; 3] = ["aragorn-pathfinder", "operations", "finish-query"];
const SECOND: Duration = Duration::from_secs(1);

fn paths() -> Value {
    queries::pathfinder("CHEBI:6801", DIABETES)
}

async fn start() -> Scene {
    scene::start(Plan::default(), |stack| stack.workers(WORKERS)).await
}

fn graph<'a>(answer: &'a Answer, part: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    answer.0["message"]["knowledge_graph"][part].as_object().unwrap().into_iter()
}

/// Whether a thing has attributes beside those that are made up where there are none.
fn has_content(thing: &Value) -> bool {
    let attributes = thing["attributes"].as_array().into_iter().flatten();
    attributes.into_iter().any(|attribute| attribute["value"] != "not_provided")
}

#[track_caller]
fn assert_full(answer: &Answer) {
    answer.assert_success();
    for part in ["nodes", "edges"] {
        for (id, thing) in graph(answer, part) {
            assert!(has_content(thing), "{id}: {thing:#}");
        }
    }
    for (id, edge) in graph(answer, "edges") {
        let ours = |source: &&Value| source["resource_id"] == "infores:shepherd-aragorn";
        assert_eq!(edge["sources"].as_array().unwrap().iter().filter(ours).count(), 1, "{id}");
        let kinds = |kind: &str| edge["attributes"].to_string().matches(kind).count();
        assert_eq!((kinds("biolink:knowledge_level"), kinds("biolink:agent_type")), (1, 1), "{id}");
    }
}

/// The answer without its content and its logs.
fn skeleton(answer: &Answer) -> Value {
    let mut skeleton = answer.0.clone();
    let message = &mut skeleton["message"];
    for part in ["nodes", "edges"] {
        for thing in message["knowledge_graph"][part].as_object_mut().unwrap().values_mut() {
            thing.as_object_mut().unwrap().shift_remove("attributes");
        }
    }
    skeleton.as_object_mut().unwrap().shift_remove("logs");
    skeleton
}

#[tokio::test]
async fn paths_are_found_without_content_and_answered_with_it() {
    let scene = start().await;
    let answer = scene.ask("aragorn", paths()).await;
    assert_full(&answer);
    assert_eq!(scene.retriever.submissions()[0].query["parameters"]["dehydrated"], true);
    let [sent] = &scene.retriever.rehydrations()[..] else { panic!("one second pass") };
    assert_eq!(sent.query["parameters"]["rehydrate"], true);
    assert!(sent.timeout().is_some_and(|timeout| timeout > 200.0 && timeout < 300.0), "{sent:?}");
    assert!(sent.traceparent().is_some());
    let message = sent.query["message"].as_object().unwrap();
    let parts: Vec<&str> = message.keys().map(String::as_str).collect();
    assert_eq!(parts, ["query_graph", "knowledge_graph", "results", "auxiliary_graphs"]);
    assert_eq!(message["query_graph"]["nodes"], paths()["message"]["query_graph"]["nodes"]);
    assert_eq!(message["query_graph"]["paths"]["p0"]["object"], "ON");
    for (id, edge) in message["knowledge_graph"]["edges"].as_object().unwrap() {
        assert!(!has_content(edge), "{id} had content before");
    }
}

#[tokio::test]
async fn answer_is_the_same_compressed_and_in_2_0() {
    let scene = start().await;
    let plain = scene.ask("aragorn", paths()).await;
    scene.retriever.set_rehydration(Rehydration::Compressed);
    let compressed = scene.ask("aragorn", paths()).await;
    assert_eq!(plain.0["message"], compressed.0["message"]);
    let in_v2 =
        scene::start(Plan::default(), |stack| stack.workers(WORKERS).env("RETRIEVER_TRAPI_VERSION", "2.0"))
            .await;
    let answer = in_v2.ask("aragorn", paths()).await;
    assert_full(&answer);
    let [sent] = &in_v2.retriever.rehydrations()[..] else { panic!("one second pass") };
    let result = &sent.query["message"]["results"][0];
    assert!(result["node_bindings"]["SN"]["ids"].is_array(), "{result}");
}

#[tokio::test]
async fn no_second_pass_where_nothing_lacks_or_nothing_is_wanted() {
    let scene = start().await;
    let mut query = paths();
    query["parameters"]["dehydrated"] = json!(false);
    assert_full(&scene.ask("aragorn", query.clone()).await);
    query["parameters"]["dehydrated"] = json!(true);
    let answer = scene.ask("aragorn", query).await;
    answer.assert_success();
    answer.assert_logged("INFO", "stay without their content");
    scene.retriever.set_plan(Plan::always(testkit::retriever::Behaviour::answer().results(0)));
    assert!(scene.ask("aragorn", paths()).await.results().is_empty());
    assert!(scene.retriever.rehydrations().is_empty());
}

#[tokio::test]
async fn client_may_put_the_second_pass_where_it_wants() {
    let scene = scene::start(Plan::default(), |stack| stack.workers(scene::ARAGORN)).await;
    let mut query = scene::lookup();
    query["parameters"]["dehydrated"] = json!(true);
    query["workflow"] = json!([
        { "id": "lookup" },
        { "id": "filter_results_top_n", "parameters": { "max_results": 3 } },
        { "id": "filter_kgraph_orphans" },
        { "id": "rehydrate" },
        { "id": "aragorn.score" },
    ]);
    let answer = scene.ask("aragorn", query.clone()).await;
    assert_full(&answer);
    assert_eq!(answer.results().len(), 3);
    assert!(answer.results()[0]["analyses"][0]["score"].is_number(), "what follows is run");
    let message = &answer.0["message"];
    let own = json!({ "message": message, "workflow": [{ "id": "rehydrate" }, { "id": "rehydrate" }] });
    let again = scene.ask("aragorn", own).await;
    assert_eq!(&again.0["message"], message, "filling twice changes nothing");
    assert_eq!(scene.retriever.rehydrations().len(), 3);
}

fn drop_half(answer: &mut Value) {
    let graph = &mut answer["message"]["knowledge_graph"];
    graph["nodes"] = json!({});
    graph["edges"].as_object_mut().unwrap().values_mut().step_by(2).for_each(|edge| *edge = Value::Null);
    answer["message"]["results"] = json!([]);
    answer["message"].as_object_mut().unwrap().shift_remove("auxiliary_graphs");
}

fn tell_other_things(answer: &mut Value) {
    let graph = &mut answer["message"]["knowledge_graph"];
    for edge in graph["edges"].as_object_mut().unwrap().values_mut() {
        edge["predicate"] = json!("biolink:treats");
    }
    graph["nodes"]["X:new"] = json!({ "categories": ["biolink:Gene"] });
    graph["edges"]["new"] = json!({ "subject": "X:new", "predicate": "biolink:p", "object": "X:new" });
    answer["message"]["results"][0]["analyses"] = json!([]);
    answer["message"]["auxiliary_graphs"]["new"] = json!({ "edges": ["new"] });
}

/// Whatever comes back, no result, node, edge or auxiliary graph is lost or added, and the status is that of the lookup.
#[tokio::test]
async fn second_pass_that_fails_costs_nothing_but_itself() {
    const LIMIT_BYTES: usize = 4 << 20;
    let scene = scene::start(Plan::default(), |stack| {
        stack.workers(WORKERS).env("CALLBACK_MAX_REQUEST_SIZE", &LIMIT_BYTES.to_string())
    })
    .await;
    let full = scene.ask("aragorn", paths()).await;
    assert_full(&full);
    let deep = format!("{{\"message\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let bomb = zstd::encode_all(&vec![b' '; LIMIT_BYTES + 1][..], 1).unwrap();
    for (rehydration, why) in [
        (Rehydration::Refuse(StatusCode::INTERNAL_SERVER_ERROR), "refused with status 500"),
        (Rehydration::Refuse(StatusCode::NOT_FOUND), "refused with status 404"),
        (Rehydration::Redirect(scene.retriever.url()), "refused with status 307"),
        (Rehydration::HangUp, "connection broke"),
        (Rehydration::Bytes("<html>".into()), "no JSON object"),
        (Rehydration::Bytes("{}".into()), "message: is missing"),
        (Rehydration::Bytes(r#"{"message":{"knowledge_graph":[]}}"#.into()), "cannot be read"),
        (Rehydration::Bytes(deep.into()), "nested"),
        (Rehydration::Bytes(vec![b' '; LIMIT_BYTES + 1].into()), "larger than"),
        (Rehydration::Zstd(bomb.into()), "larger than"),
        (Rehydration::Zstd("{}".into()), "not valid zstd"),
        (Rehydration::Change(drop_half), "have their content"),
        (Rehydration::Change(tell_other_things), "have their content"),
    ] {
        scene.retriever.set_rehydration(rehydration.clone());
        let answer = scene.ask("aragorn", paths()).await;
        assert_eq!(answer.status(), "Success", "{rehydration:?}");
        assert_eq!(skeleton(&answer), skeleton(&full), "{rehydration:?}");
        let [warning] = answer.logs("WARNING", "")[..] else {
            panic!("{rehydration:?}: {:#}", answer.0["logs"])
        };
        assert!(warning.contains(why), "{rehydration:?}: {warning}");
        assert!(answer.logs("ERROR", "").is_empty());
    }
}

/// Twenty seconds, of which the second pass may have all but ten.
fn short(stack: StackBuilder) -> StackBuilder {
    stack.workers(WORKERS).env("QUERY_TIMEOUT_SEC", "20").env("FINISH_RESERVE_SEC", "15")
}

#[tokio::test]
async fn retriever_that_hangs_is_waited_for_inside_the_querys_time() {
    let scene = scene::start(Plan::default(), short).await;
    scene.retriever.set_rehydration(Rehydration::Hang);
    let started = Instant::now();
    let answer = scene.ask("aragorn", queries::with_timeout(paths(), 5)).await;
    let took = started.elapsed();
    assert!(took < 20 * SECOND, "{took:?}");
    assert_eq!(answer.status(), "Success");
    assert!(!answer.results().is_empty());
    answer.assert_logged("WARNING", "no answer within");
    assert!(answer.logs("WARNING", "").len() == 1, "no watchdog had to step in: {:#}", answer.0["logs"]);
}

/// Less than a second is left from the start, as the reserve takes nearly all of a query's time.
#[tokio::test]
async fn too_little_time_is_not_tried() {
    let scene = scene::start(Plan::default(), |stack| {
        stack.workers(WORKERS).env("QUERY_TIMEOUT_SEC", "2.8").env("FINISH_RESERVE_SEC", "2.75")
    })
    .await;
    let query = json!({
        "message": {
            "query_graph": scene::lookup()["message"]["query_graph"],
            "knowledge_graph": {
                "nodes": { "CHEBI:6801": {}, DIABETES: {} },
                "edges": { "e": { "subject": "CHEBI:6801", "predicate": "biolink:treats", "object": DIABETES } },
            },
            "results": [{
                "node_bindings": { "SN": [{ "id": "CHEBI:6801" }], "ON": [{ "id": DIABETES }] },
                "analyses": [{ "resource_id": "infores:x", "edge_bindings": { "t_edge": [{ "id": "e" }] } }],
            }],
        },
        "workflow": [{ "id": "rehydrate" }],
    });
    let answer = scene.ask("aragorn", queries::with_timeout(query, 1)).await;
    assert_eq!((answer.status(), answer.results().len()), ("Success", 1));
    answer.assert_logged("WARNING", "too little time is left");
    assert!(scene.retriever.rehydrations().is_empty());
}

/// Operations in two processes; the second pass is in one of its own.
fn split(stack: StackBuilder) -> StackBuilder {
    stack
        .workers(WORKERS)
        .another_worker("filler", "operations")
        .env_for(
            "operations",
            "OPERATIONS",
            "merge,score_paths,sort_results_score,filter_analyses_top_n,filter_kgraph_orphans",
        )
        .env_for("filler", "OPERATIONS", "rehydrate")
}

#[tokio::test]
async fn second_pass_in_a_process_of_its_own_gives_the_same_answer() {
    let together = start().await;
    let apart = scene::start(Plan::default(), split).await;
    let answer = apart.ask("aragorn", paths()).await;
    assert_full(&answer);
    assert_eq!(answer.0["message"], together.ask("aragorn", paths()).await.0["message"]);
    apart.retriever.set_rehydration(Rehydration::Refuse(StatusCode::BAD_GATEWAY));
    let answer = apart.ask("aragorn", paths()).await;
    assert_eq!(answer.status(), "Success");
    answer.assert_logged("WARNING", "refused with status 502");
    apart.idle().await;
    assert!(apart.keys(":message").await.is_empty(), "nothing stays behind");
}

/// One worker dies while Retriever hangs; the other one asks again and gets what the first had waited for.
#[tokio::test]
async fn killed_worker_is_taken_over_in_the_middle_of_a_second_pass() {
    let scene = scene::start(Plan::default(), |stack| {
        stack.workers(WORKERS).another_worker("other-operations", "operations").env("LEASE_SEC", "1")
    })
    .await;
    let full = scene.ask("aragorn", paths()).await;
    scene.retriever.set_rehydration(Rehydration::Hang);
    scene.stack.terminate("other-operations").await.unwrap();
    let job = scene.submit("aragorn", paths()).await;
    scene.retriever.wait_for_rehydrations(2, LIMIT).await.unwrap();
    scene.stack.restart("other-operations").await.unwrap();
    scene.stack.kill("operations").await.unwrap();
    scene.retriever.set_rehydration(Rehydration::Fill);
    let answer = scene.answer(&job).await;
    assert_full(&answer);
    assert_eq!(answer.0["message"], full.0["message"]);
    scene.idle().await;
    assert_eq!(scene.ars.received(&job.key).len(), 1);
}

/// A worker that is told to stop does not wait for Retriever: another one goes on at once.
#[tokio::test]
async fn stopping_worker_hands_a_second_pass_back() {
    let scene = scene::start(Plan::default(), |stack| {
        stack.workers(WORKERS).another_worker("other-operations", "operations").env("LEASE_SEC", "30")
    })
    .await;
    scene.retriever.set_rehydration(Rehydration::Hang);
    scene.stack.terminate("other-operations").await.unwrap();
    let job = scene.submit("aragorn", paths()).await;
    scene.retriever.wait_for_rehydrations(1, LIMIT).await.unwrap();
    scene.stack.restart("other-operations").await.unwrap();
    scene.retriever.set_rehydration(Rehydration::Fill);
    let started = Instant::now();
    scene.stack.terminate("operations").await.unwrap();
    assert_full(&scene.answer(&job).await);
    assert!(started.elapsed() < 20 * SECOND, "sooner than a lease ends: {:?}", started.elapsed());
}

/// A second pass whose process dies again and again is given up, and only it.
#[tokio::test]
async fn second_pass_that_is_given_up_leaves_the_answer_as_it_is() {
    let scene = scene::start(Plan::default(), |stack| {
        split(stack).env("LEASE_SEC", "1").env("MAX_TASK_DELIVERIES", "1")
    })
    .await;
    scene.retriever.set_rehydration(Rehydration::Hang);
    let job = scene.submit("aragorn", paths()).await;
    scene.retriever.wait_for_rehydrations(1, LIMIT).await.unwrap();
    scene.stack.kill("filler").await.unwrap();
    scene.stack.restart("filler").await.unwrap();
    let answer = scene.answer(&job).await;
    assert_eq!(answer.status(), "Success");
    assert!(!answer.results().is_empty());
    answer.assert_logged("WARNING", "it was given up");
    assert_eq!(scene.retriever.rehydrations().len(), 1);
}

#[tokio::test]
async fn client_that_names_its_timeout_is_not_kept_waiting_for_content() {
    let scene = start().await;
    scene.retriever.set_rehydration(Rehydration::Hang);
    // with the default budgets the query itself has 300 s, which no test waits for
    let (status, answer) = scene.ask_sync("aragorn", &queries::with_timeout(paths(), 3)).await;
    assert_eq!((status, answer.status()), (200, "Success"));
    answer.assert_logged("WARNING", "no answer within");
}
