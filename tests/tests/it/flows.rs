//! The main flows: what is asked is answered, once, and well-formed.

use serde_json::{Value, json};
use std::path::PathBuf;
use testkit::queries;
use testkit::retriever::{Behaviour, Encoding, Plan};
use testkit::stack::StackBuilder;

use crate::callbacks;
use crate::scene::{self, ARAGORN, DIABETES, Job, Scene, silent};

/// The question that inference answers with this many sub-queries: the direct one and one per rule.
async fn assert_fans_out(scene: &Scene, ara: &str, query: Value, sub_queries: usize) {
    let job = scene.submit(ara, query).await;
    let answer = scene.answer(&job).await;
    answer.assert_success();
    let submissions = scene.retriever.submissions();
    assert_eq!(submissions.len(), sub_queries);
    let status = scene.ended(&job.id).await;
    assert_eq!(status["progress"]["sub_queries"]["sent"], sub_queries);
    assert_eq!(status["progress"]["sub_queries"]["returned"], sub_queries);
    let inferred = |edge: &Value| edge["knowledge_type"] == "inferred";
    for submission in submissions {
        let edges = submission.query_graph()["edges"].as_object().unwrap();
        assert!(!edges.values().any(inferred), "Retriever infers nothing: {edges:?}");
    }
}

/// A rule file in the directory of the workspace's packs or, with `shared`, of the platform's.
fn rules_dir(shared: bool) -> PathBuf {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let root = here.parent().unwrap();
    if shared { root.join("../shared/data/rules") } else { root.join("rules") }
}

fn read(path: PathBuf) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

async fn assert_delivered_once(scene: &Scene, job: &Job) {
    scene.ended(&job.id).await;
    scene.idle().await;
    assert_eq!(scene.ars.received(&job.key).len(), 1);
}

#[tokio::test]
async fn lookup_is_delivered_once_with_its_trace_context_and_key() {
    let scene = scene::aragorn(Plan::default()).await;
    let query = scene::lookup();
    let job = scene.submit("aragorn", query.clone()).await;
    let answer = scene.answer(&job).await;
    answer.assert_success();
    assert_eq!(answer.0["message"]["query_graph"], query["message"]["query_graph"]);
    let workflow: Vec<_> = answer.0["workflow"].as_array().unwrap().iter().map(|step| &step["id"]).collect();
    assert_eq!(
        workflow,
        ["lookup", "score", "sort_results_score", "filter_results_top_n", "filter_kgraph_orphans"]
    );

    let [submission] = &scene.retriever.submissions()[..] else { panic!("one sub-query") };
    let [delivery] = &scene.ars.received(&job.key)[..] else { panic!("one delivery") };
    assert_eq!(delivery.header("traceparent"), submission.traceparent());
    assert!(delivery.header("traceparent").is_some());
    assert_eq!(delivery.header("idempotency-key"), Some(job.id.as_str()));
    assert_eq!(delivery.header("content-type"), Some("application/json"));
    assert_eq!(delivery.header("content-encoding"), None);
    let length: usize = delivery.header("content-length").unwrap().parse().unwrap();
    assert_eq!(length, delivery.body.len());
    assert_delivered_once(&scene, &job).await;
}

#[tokio::test]
async fn sync_query_is_answered_on_its_connection() {
    let scene = scene::aragorn(Plan::default()).await;
    let lookup = scene::lookup();
    for query in [lookup, queries::treats(DIABETES)] {
        let (status, answer) = scene.ask_sync("aragorn", &query).await;
        assert_eq!(status, 200);
        answer.assert_success();
    }
    scene.idle().await;
    assert!(scene.ars.deliveries().is_empty(), "nothing is posted anywhere");
}

#[tokio::test]
async fn creative_query_fans_out_by_the_rules_of_the_repository() {
    let rules = read(rules_dir(false).join("aragorn/rules.json"));
    let rules = rules[r#"{"predicate": "biolink:treats"}"#].as_array().unwrap().len();
    assert!(rules >= 6);
    let scene = scene::aragorn(Plan::default()).await;
    assert_fans_out(&scene, "aragorn", queries::treats(DIABETES), rules + 1).await;
}

#[tokio::test]
async fn creative_query_fans_out_to_19_by_the_rules_of_the_platform() {
    let rules = rules_dir(true);
    if !rules.join("aragorn").is_dir() {
        println!("SKIPPED: the platform's rules are not beside this workspace");
        return;
    }
    let scene = scene::start(Plan::default(), |stack| stack.workers(ARAGORN).rules_dir(rules)).await;
    assert_fans_out(&scene, "aragorn", queries::treats(DIABETES), 19).await;
}

#[tokio::test]
async fn creative_query_to_bte_fans_out_by_its_templates() {
    let groups = read(rules_dir(false).join("bte/template_groups.json"));
    let group = |name| groups.as_array().unwrap().iter().find(|group| group["name"] == name).unwrap();
    let templates = |name| group(name)["templates"].as_array().unwrap().len();
    let bte = |stack: StackBuilder| stack.workers(["bte-lookup", "operations", "finish-query"]);
    let scene = scene::start(Plan::default(), bte).await;
    let sub_queries = templates("chemical treats disease") + 1;
    assert_fans_out(&scene, "bte", queries::treats(DIABETES), sub_queries).await;
    let more = templates("chemical increases gene") + 1;
    scene.ask("bte", queries::affects("NCBIGene:5468", "increased")).await.assert_success();
    assert_eq!(scene.retriever.submissions().len(), sub_queries + more);
}

#[tokio::test]
async fn example_answers_itself() {
    let example = |stack: StackBuilder| stack.workers(["example-lookup", "operations", "finish-query"]);
    let scene = scene::start(Plan::default(), example).await;
    let answer = scene.ask("example", queries::treats(DIABETES)).await;
    answer.assert_success();
    assert!(scene.retriever.submissions().is_empty());
    let (status, _) = scene.ask_sync("example", &queries::treats(DIABETES)).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn pathfinder_is_answered_with_paths() {
    let workers = ["aragorn-pathfinder", "operations", "finish-query"];
    let scene = scene::start(Plan::default(), |stack| stack.workers(workers)).await;
    let answer = scene.ask("aragorn", queries::pathfinder("CHEBI:6801", DIABETES)).await;
    answer.assert_success();
    let [submission] = &scene.retriever.submissions()[..] else { panic!("one sub-query") };
    assert_eq!(submission.query_graph()["edges"].as_object().unwrap().len(), 3);
    assert_eq!(submission.query_graph().get("paths"), None);
    for result in answer.results() {
        assert_eq!(result["node_bindings"].as_object().unwrap().len(), 2, "the ends only");
        for analysis in result["analyses"].as_array().unwrap() {
            assert_eq!(analysis["path_bindings"]["p0"].as_array().unwrap().len(), 1);
        }
        let score = |analysis: &Value| analysis["score"].as_f64().unwrap();
        let scores: Vec<f64> = result["analyses"].as_array().unwrap().iter().map(score).collect();
        assert!(scores.iter().all(|score| *score > 0.0 && *score < 1.0), "{scores:?}");
        assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
    }
}

#[tokio::test]
async fn lookup_of_several_hops_is_one_sub_query() {
    let scene = scene::aragorn(Plan::default()).await;
    let query = queries::multi_hop("CHEBI:6801", &["biolink:Gene", "biolink:BiologicalProcess"], DIABETES);
    let answer = scene.ask("aragorn", query.clone()).await;
    answer.assert_success();
    assert_eq!(scene.retriever.submissions().len(), 1);
    let nodes = query["message"]["query_graph"]["nodes"].as_object().unwrap();
    for result in answer.results() {
        let bound = result["node_bindings"].as_object().unwrap();
        assert!(nodes.keys().all(|key| bound.contains_key(key)), "every query node is bound: {bound:?}");
    }
}

#[tokio::test]
async fn answer_is_the_same_however_callbacks_are_encoded() {
    let scene = scene::aragorn(Plan::default()).await;
    let mut messages = Vec::new();
    for (encoding, wire) in [
        (Encoding::Negotiated, Some("zstd")),
        (Encoding::Zstd, Some("zstd")),
        (Encoding::Gzip, Some("gzip")),
        (Encoding::Identity, None),
    ] {
        scene.retriever.set_plan(Plan::always(Behaviour::answer().encoding(encoding)));
        let before = scene.retriever.callbacks().len();
        let answer = scene.ask("aragorn", queries::treats(DIABETES)).await;
        answer.assert_success();
        let callbacks = scene.retriever.wait_for_callbacks(before + 9, scene::LIMIT).await.unwrap();
        for callback in &callbacks[before..] {
            assert_eq!((callback.encoding, callback.status()), (wire, Some(200)));
        }
        messages.push(answer.0["message"].clone());
    }
    assert!(messages.iter().all(|message| *message == messages[0]));
}

#[tokio::test]
async fn answer_is_the_same_in_whatever_order_callbacks_come() {
    let scene = scene::aragorn(Plan::default()).await;
    let mut messages = Vec::new();
    for reversed in [false, true] {
        let submitted = scene.retriever.submissions().len();
        scene.retriever.set_plan(Plan::always(silent()));
        let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
        let mut submissions = scene.submissions(submitted + 9).await.split_off(submitted);
        submissions.sort_by_key(|submission| submission.query_graph().to_string());
        if reversed {
            submissions.reverse();
        }
        for submission in &submissions {
            let reply =
                scene.post_to(submission.callback().unwrap(), &[], callbacks::body(submission, 20)).await;
            assert_eq!(reply.status, 200);
        }
        messages.push(scene.answer(&job).await.0["message"].to_string());
    }
    assert_eq!(messages[0], messages[1], "to the last byte");
}

#[tokio::test]
async fn partitions_share_the_queries_and_every_one_is_answered() {
    let scene = scene::start(Plan::default(), |stack| stack.workers(ARAGORN).env("PARTITIONS", "3")).await;
    let mut jobs = Vec::new();
    for _ in 0..24 {
        let query = scene::lookup();
        jobs.push(scene.submit("aragorn", query).await);
    }
    for job in &jobs {
        scene.answer(job).await.assert_success();
        assert_delivered_once(&scene, job).await;
    }
    for partition in ["{p0}", "{p1}", "{p2}"] {
        assert!(!scene.keys(&format!("{partition}:query:")).await.is_empty(), "nothing in {partition}");
    }
}

#[tokio::test]
async fn clients_workflow_is_run_and_told() {
    let scene = scene::aragorn(Plan::always(Behaviour::answer().results(10))).await;
    let mut query = queries::treats(DIABETES);
    let workflow = json!([
        { "id": "lookup" },
        { "id": "sort_results_score", "parameters": { "ascending_or_descending": "ascending" } },
        { "id": "filter_results_top_n", "parameters": { "max_results": 3 } },
    ]);
    query["workflow"] = workflow.clone();
    let answer = scene.ask("aragorn", query).await;
    assert_eq!(answer.results().len(), 3);
    assert_eq!(answer.0["workflow"], workflow);
}

#[tokio::test]
async fn literature_passes_through_where_it_is_not_configured() {
    let scene = scene::aragorn(Plan::default()).await;
    scene.ask("aragorn", scene::lookup()).await.assert_logged("INFO", "no literature is configured");
}

#[tokio::test]
async fn recorded_literature_counts_the_publications_of_nodes() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let files = here.parent().unwrap().join("../shared/vectors/omnicorp/lmdb");
    if !files.is_dir() {
        println!("SKIPPED: the recorded files are not beside this workspace");
        return;
    }
    let file = |name: &str| files.join(name).display().to_string();
    let scene = scene::start(Plan::default(), |stack| {
        let stack = stack.workers(ARAGORN).env("OMNICORP_CURIES_LMDB_PATH", &file("curies.lmdb"));
        stack.env("OMNICORP_SHARED_COUNTS_LMDB_PATH", &file("shared_counts.lmdb"))
    })
    .await;
    let answer = scene.ask("aragorn", scene::lookup()).await;
    answer.assert_success();
    let attributes =
        answer.0["message"]["knowledge_graph"]["nodes"][DIABETES]["attributes"].as_array().unwrap();
    assert!(attributes.iter().any(|attribute| attribute["value"] == 240_000), "{attributes:?}");
}
