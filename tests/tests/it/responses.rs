//! Final responses of every kind, in both dialects, written to files for the validators of others.
//!
//! `tests/validators/validate.sh` runs those over them; here it only matters that each is what its name says.

use http::StatusCode;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use testkit::queries;
use testkit::retriever::{Behaviour, Plan};
use testkit::stack::{StackBuilder, WORKERS};

use crate::scene::{self, DIABETES, Scene};

const GENE: &str = "NCBIGene:5468";

/// One question, what Retriever does about it, and how the query ends.
struct Case {
    name: &'static str,
    ara: &'static str,
    query: Value,
    behaviour: Behaviour,
    status: &'static str,
    http_status: u16,
}

impl Case {
    fn of(name: &'static str, ara: &'static str, query: Value) -> Self {
        Self { name, ara, query, behaviour: Behaviour::answer(), status: "Success", http_status: 200 }
    }

    fn when(self, behaviour: Behaviour, status: &'static str, http_status: u16) -> Self {
        Self { behaviour, status, http_status, ..self }
    }
}

fn cases() -> Vec<Case> {
    let two_genes = ["biolink:Gene", "biolink:BiologicalProcess"];
    vec![
        Case::of("lookup", "aragorn", scene::lookup()),
        Case::of("creative", "aragorn", queries::treats(DIABETES)),
        Case::of("creative-qualified", "aragorn", queries::affects(GENE, "decreased")),
        Case::of("creative-bte", "bte", queries::affects(GENE, "increased")),
        Case::of("multi-hop", "bte", queries::multi_hop("CHEBI:6801", &two_genes, DIABETES)),
        Case::of("pathfinder", "aragorn", queries::pathfinder("CHEBI:6801", DIABETES)),
        Case::of("pathfinder-dehydrated", "aragorn", dehydrated(queries::pathfinder("CHEBI:6801", DIABETES))),
        Case::of("arax", "arax", scene::lookup()),
        Case::of("creative-arax", "arax", queries::treats(DIABETES)),
        Case::of("example", "example", queries::treats(DIABETES)),
        Case::of("empty", "aragorn", scene::lookup()).when(Behaviour::answer().results(0), "Success", 200),
        Case::of("not-traversable", "aragorn", queries::treats(DIABETES)).when(
            Behaviour::answer().status("QueryNotTraversable", "no such edge"),
            "QueryNotTraversable",
            200,
        ),
        Case::of("failed", "aragorn", queries::treats(DIABETES)).when(
            Behaviour::answer().refuse(StatusCode::BAD_REQUEST, "no"),
            "KPsNotAvailable",
            502,
        ),
    ]
}

/// Paths whose nodes and edges stay without their content.
fn dehydrated(mut query: Value) -> Value {
    query["parameters"] = json!({ "dehydrated": true });
    query
}

/// Questions that only a graph that hangs together can answer.
fn known_cases() -> Vec<Case> {
    let ends = ("CHEBI:45783", "MONDO:0004979");
    let members = ["NCBIGene:3815", "NCBIGene:25", "NCBIGene:5159"];
    vec![
        Case::of("pathfinder-known", "aragorn", queries::pathfinder(ends.0, ends.1)),
        Case::of("pathfinder-arax", "arax", queries::pathfinder(ends.0, ends.1)),
        Case::of("set-input", "sipr", queries::set_input(&members, "biolink:NamedThing")),
    ]
}

async fn write_all(dialect: &str, adapt: impl Fn(&mut Value)) {
    let all = |stack: StackBuilder| stack.workers(WORKERS.iter().copied());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("responses").join(dialect);
    std::fs::create_dir_all(&folder).unwrap();
    let scene = scene::start(Plan::default(), all).await;
    for case in cases() {
        write_one(&scene, &folder, case, dialect, &adapt).await;
    }
    let scene = scene::knowing(Plan::default(), all).await;
    for case in known_cases() {
        write_one(&scene, &folder, case, dialect, &adapt).await;
    }
}

async fn write_one(scene: &Scene, folder: &Path, case: Case, dialect: &str, adapt: &impl Fn(&mut Value)) {
    let Case { name, ara, mut query, behaviour, status, http_status } = case;
    scene.retriever.set_plan(Plan::always(behaviour));
    adapt(&mut query);
    let reply = scene.post(&format!("/{ara}/query"), &[], query.to_string()).await;
    assert_eq!(reply.status, http_status, "{name} in {dialect}");
    let answer = crate::answer::Answer::check(&reply.body);
    assert_eq!(answer.status(), status, "{name} in {dialect}");
    assert_eq!(answer.is_v2(), dialect == "2.0", "{name}");
    let file: PathBuf = folder.join(format!("{name}.json"));
    std::fs::write(file, &reply.body).unwrap();
}

#[tokio::test]
async fn every_kind_of_response_in_1_6() {
    write_all("1.6", |query| query["log_level"] = json!("DEBUG")).await;
}

#[tokio::test]
async fn every_kind_of_response_in_2_0() {
    write_all("2.0", |query| {
        query["parameters"]["log_level"] = json!("DEBUG");
        let edges = query["message"]["query_graph"].get_mut("edges").and_then(Value::as_object_mut);
        for edge in edges.into_iter().flat_map(|edges| edges.values_mut()) {
            let edge = edge.as_object_mut().unwrap();
            if let Some(constraints) = edge.remove("qualifier_constraints") {
                let set = constraints[0]["qualifier_set"].as_array().unwrap().iter();
                let pair = |one: &Value| {
                    (one["qualifier_type_id"].as_str().unwrap().to_owned(), one["qualifier_value"].clone())
                };
                let set: serde_json::Map<String, Value> = set.map(pair).collect();
                edge.insert("constraints".to_owned(), json!({ "qualifiers": [set] }));
            }
        }
    })
    .await;
}
