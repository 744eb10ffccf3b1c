//! The files that hints come from.

use std::path::Path;

use paths::Hints;
use rusqlite::Connection;
use tempfile::TempDir;
use testkit::RetrieverDouble;
use testkit::knowledge::Knowledge;

use super::{ASTHMA, HUB, IMATINIB, Scene, between, plain};
use crate::files::{self, FilesError};
use crate::{LIMITS, hints};

const VERSION: &str = "tier0-20260621";

fn distances(directory: &Path, version: &str, rows: &[(&str, &str)]) {
    let file = Connection::open(directory.join(format!("curie_ngd_v1.0_{version}.sqlite"))).unwrap();
    file.execute("CREATE TABLE curie_ngd (curie TEXT PRIMARY KEY, ngd TEXT, pmid_length INTEGER)", [])
        .unwrap();
    for row in rows {
        file.execute("INSERT INTO curie_ngd VALUES (?1, ?2, 0)", *row).unwrap();
    }
}

fn degrees(directory: &Path, version: &str, rows: &[(&str, &str)]) {
    let name = format!("tier0-info-for-overlay_v1.0_{version}.sqlite");
    let file = Connection::open(directory.join(name)).unwrap();
    file.execute("CREATE TABLE neighbors (id TEXT PRIMARY KEY, neighbor_counts TEXT)", []).unwrap();
    for row in rows {
        file.execute("INSERT INTO neighbors VALUES (?1, ?2)", *row).unwrap();
    }
}

fn directory() -> TempDir {
    let directory = tempfile::Builder::new().prefix("a % b?").tempdir().unwrap();
    let literal = "[['B', 0.25], ('C', 1), ['D', inf], ['E', nan]]";
    let rows = [("A", r#"[["B", 0.5], ["C", NaN]]"#), ("json", r#"[["B", 0.5], ["C", null]]"#)];
    distances(directory.path(), VERSION, &[rows[0], rows[1], ("python", literal), ("damaged", "[[")]);
    let counts = r#"{"biolink:NamedThing": 12, "biolink:Gene": 3}"#;
    degrees(directory.path(), VERSION, &[("A", counts), ("B", "{}"), ("C", "oops")]);
    directory
}

fn error(directory: &Path, version: Option<&str>) -> String {
    runtime::Causes(&files::open(directory, version).unwrap_err()).to_string()
}

#[tokio::test]
async fn files_tell_distances_and_degrees_and_damage_costs_only_the_hint() {
    let directory = directory();
    let (files, _) = files::open(directory.path(), None).unwrap();
    let told = async |node| {
        let mut all: Vec<(String, f64)> = files.distances(node).await.into_iter().collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    assert_eq!(told("A").await, [("B".to_owned(), 0.5)]);
    assert_eq!(told("json").await, [("B".to_owned(), 0.5)]);
    assert_eq!(told("python").await, [("B".to_owned(), 0.25), ("C".to_owned(), 1.0)]);
    assert_eq!(told("damaged").await, []);
    assert_eq!(told("unknown").await, []);
    let degrees = files.degrees(&["A", "B", "C", "unknown"].map(str::to_owned)).await;
    assert_eq!(degrees.into_iter().collect::<Vec<_>>(), [("A".to_owned(), 12)]);
    assert!(hints::Files::default().degrees(&["A".to_owned()]).await.is_empty());
}

#[tokio::test]
async fn a_file_that_is_damaged_later_costs_only_the_hints() {
    let directory = directory();
    let (files, _) = files::open(directory.path(), None).unwrap();
    for file in directory.path().read_dir().unwrap() {
        std::fs::write(file.unwrap().path(), "x".repeat(5000)).unwrap();
    }
    assert!(files.distances("A").await.is_empty());
    assert!(files.degrees(&["A".to_owned()]).await.is_empty());
}

#[tokio::test]
async fn of_several_versions_the_one_that_is_named_counts_else_the_last() {
    let directory = directory();
    distances(directory.path(), "tier0-20260101", &[("A", r#"[["B", 0.75]]"#)]);
    degrees(directory.path(), "tier0-20260101", &[]);
    let distance = async |version| {
        let (files, _) = files::open(directory.path(), version).unwrap();
        files.distances("A").await["B"]
    };
    assert_eq!(distance(None).await.to_string(), "0.5");
    assert_eq!(distance(Some("tier0-20260101")).await.to_string(), "0.75");
    let missing = error(directory.path(), Some("tier0-2027"));
    assert!(missing.starts_with("there is no file like curie_ngd*_tier0-2027.sqlite in "), "{missing}");
}

#[test]
fn what_cannot_be_used_is_told() {
    let directory = directory();
    let path = directory.path();
    std::fs::write(path.join("general_concepts.json"), r#"{"curies": []}"#).unwrap();
    let text = error(path, None);
    assert!(
        text.contains("general_concepts.json is no list of blocked nodes") && text.contains("synonyms"),
        "{text}"
    );
    std::fs::write(path.join(format!("curie_ngd_v1.0_{VERSION}.sqlite")), "no database at all").unwrap();
    assert!(error(path, None).contains("is no SQLite file"), "{}", error(path, None));
    let unreadable = files::open(&path.join("nowhere"), None).unwrap_err();
    assert!(matches!(unreadable, FilesError::Unreadable { .. }), "{unreadable}");
}

#[tokio::test]
async fn hints_and_blocked_nodes_change_the_paths() {
    let directory = tempfile::tempdir().unwrap();
    distances(directory.path(), VERSION, &[(IMATINIB, r#"[["NCBIGene:7157", 0.1]]"#)]);
    degrees(directory.path(), VERSION, &[(HUB, r#"{"biolink:NamedThing": 1}"#)]);
    let concepts = r#"{"curies": ["GO:0048008"], "synonyms": ["Abl1"]}"#;
    std::fs::write(directory.path().join("general_concepts.json"), concepts).unwrap();
    let (files, blocked) = files::open(directory.path(), Some(VERSION)).unwrap();
    let double = RetrieverDouble::builder().knowledge(Knowledge::small()).start().await.unwrap();
    let scene = Scene::with(double, files, blocked, LIMITS);
    let answer = scene.found(&plain(IMATINIB, ASTHMA)).await;
    assert_eq!(between(&answer), [HUB, "NCBIGene:3815"]);
}
