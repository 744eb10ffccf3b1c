//! Operations in one process or in several: the answers are the same.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::queries;
use testkit::retriever::Plan;
use testkit::stack::{StackBuilder, WORKERS};

use crate::scene::{self, ARAGORN, DIABETES, Scene};

/// Operations take turns between two processes.
fn split(stack: StackBuilder) -> StackBuilder {
    stack
        .workers(WORKERS.iter().copied())
        .another_worker("other-operations", "operations")
        .env_for("operations", "OPERATIONS", "merge,aragorn.score,score_paths,filter_results_top_n")
        .env_for(
            "other-operations",
            "OPERATIONS",
            "aragorn.omnicorp,sort_results_score,filter_analyses_top_n,filter_kgraph_orphans,rehydrate",
        )
}

/// The response to `query` as text, without its logs, which tell times.
async fn text(scene: &Scene, ara: &str, query: &Value) -> String {
    let reply = scene.post(&format!("/{ara}/query"), &[], query.to_string()).await;
    assert_eq!(reply.status, 200);
    crate::answer::Answer::check(&reply.body).assert_success();
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    let (before, rest) = text.split_once(r#","logs":["#).unwrap();
    let (_, after) = rest.split_once(r#"],"workflow":"#).unwrap();
    format!("{before}{after}")
}

#[tokio::test]
async fn operations_in_two_processes_give_the_same_bytes() {
    let together = scene::start(Plan::default(), |stack| stack.workers(WORKERS.iter().copied())).await;
    let apart = scene::start(Plan::default(), split).await;
    let mut in_v2 = queries::treats(DIABETES);
    in_v2["parameters"] = json!({ "log_level": "INFO" });
    for (ara, query) in [
        ("aragorn", queries::treats(DIABETES)),
        ("aragorn", in_v2),
        ("aragorn", scene::lookup()),
        ("aragorn", queries::pathfinder("CHEBI:6801", DIABETES)),
        ("bte", queries::affects("NCBIGene:5468", "increased")),
    ] {
        assert_eq!(text(&together, ara, &query).await, text(&apart, ara, &query).await, "{ara}: {query}");
    }
    apart.logged("operations", "handed the message").await;
    apart.logged("other-operations", "handed the message").await;
    apart.idle().await;
    assert!(apart.keys(":message").await.is_empty(), "nothing stays behind");
}

#[tokio::test]
async fn what_one_process_logs_is_told_by_the_last() {
    let scene = scene::start(Plan::default(), split).await;
    let answer = scene.ask("aragorn", scene::lookup()).await;
    answer.assert_success();
    answer.assert_logged("INFO", "no literature is configured");
}

#[tokio::test]
async fn operation_that_nobody_runs_is_made_up_for_in_time() {
    let scene = scene::start(Plan::default(), |stack| {
        let stack = stack.workers(ARAGORN).env_for("operations", "OPERATIONS", "merge");
        stack.env("QUERY_TIMEOUT_SEC", "10").env("FINISH_RESERVE_SEC", "6")
    })
    .await;
    let started = Instant::now();
    let answer = scene.ask("aragorn", queries::with_timeout(queries::treats(DIABETES), 4)).await;
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    answer.assert_success();
    assert!(answer.results()[0]["analyses"][0]["score"].is_number());
}

#[tokio::test]
async fn workflow_without_a_lookup_works_on_the_clients_own_message() {
    let scene = scene::aragorn(Plan::default()).await;
    let found = scene.ask("aragorn", scene::lookup()).await;
    let submitted = scene.retriever.submissions().len();
    let workflow = json!([
        { "id": "sort_results_score", "parameters": { "ascending_or_descending": "ascending" } },
        { "id": "filter_results_top_n", "parameters": { "max_results": 2 } },
        { "id": "filter_kgraph_orphans" },
    ]);
    let query = json!({ "message": found.0["message"], "workflow": workflow });
    let answer = scene.ask("aragorn", query).await;
    answer.assert_success();
    assert_eq!(answer.0["workflow"], workflow);
    let worst: Vec<&Value> =
        found.results().iter().rev().take(2).map(|result| &result["node_bindings"]).collect();
    let kept: Vec<&Value> = answer.results().iter().map(|result| &result["node_bindings"]).collect();
    assert_eq!(kept.len(), 2);
    assert!(kept.iter().all(|bindings| worst.contains(bindings)), "{kept:?}");
    assert_eq!(scene.retriever.submissions().len(), submitted, "nobody was asked");

    let query =
        json!({ "message": { "query_graph": found.0["message"]["query_graph"] }, "workflow": workflow });
    let reply = scene.post("/aragorn/query", &[], query.to_string()).await;
    assert_eq!(reply.status, 400, "there is nothing to sort");
}

/// An operation that fails for good takes only itself away: what the merge before it made is answered.
#[tokio::test]
async fn operation_given_up_in_the_middle_leaves_what_came_before_it() {
    let files = tempfile::tempdir().unwrap();
    let damaged = testkit::lmdb::file(files.path(), "curies.lmdb", &[(DIABETES, b"no count")]);
    let shared = testkit::lmdb::file(files.path(), "shared_counts.lmdb", &[("1_2", &[3])]);
    let scene = scene::start(Plan::default(), |stack| {
        split(stack)
            .env("OMNICORP_CURIES_LMDB_PATH", &damaged.display().to_string())
            .env("OMNICORP_SHARED_COUNTS_LMDB_PATH", &shared.display().to_string())
    })
    .await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let answer = scene.answer(&job).await;
    assert_eq!(answer.status(), "Failed");
    assert!(!answer.results().is_empty(), "what was merged is told");
    assert_eq!(scene.ended(&job.id).await["status"], "Failed");
    scene.logged("other-operations", "gave up aragorn.omnicorp").await;
    scene.idle().await;
    assert_eq!(scene.ars.received(&job.key).len(), 1);
}

/// The scores of a path query's analyses.
fn scores(answer: &crate::answer::Answer) -> Vec<f64> {
    answer.assert_success();
    let analyses = answer.results().iter().flat_map(|result| result["analyses"].as_array().unwrap());
    analyses.map(|analysis| analysis["score"].as_f64().unwrap()).collect()
}

#[tokio::test]
async fn paths_are_judged_by_a_model_where_there_is_one() {
    let query = queries::pathfinder("CHEBI:6801", DIABETES);
    let by_graph = scene::start(Plan::default(), |stack| stack.workers(WORKERS.iter().copied())).await;
    let graph = scores(&by_graph.ask("aragorn", query.clone()).await);
    let folder = tempfile::tempdir().unwrap();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/path_model/tests/model/graph.json");
    std::fs::copy(model, folder.path().join("classifier.json")).unwrap();
    let by_model = scene::start(Plan::default(), |stack| {
        stack
            .workers(WORKERS.iter().copied())
            .env("PATHFINDER_EMBEDDINGS_DIR", &folder.path().display().to_string())
    })
    .await;
    let model = scores(&by_model.ask("aragorn", query).await);
    assert_eq!(model.len(), graph.len());
    assert!(model.iter().all(|score| *score > 0.0 && *score < 1.0), "{model:?}");
    assert_ne!(model, graph);
}
