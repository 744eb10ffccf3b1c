//! Compares both crates with recorded behaviour: one JSON file per vector, input and output.
//!
//! The folder is the one that `VECTORS_DIR` names, else `shared/vectors` beside the repository; without
//! either there is nothing to compare and the test says so. Where a vector differs, an exception may
//! explain it: exceptions go by area and quirk and are described in `DECISIONS.md`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod canonical;
mod exceptions;
mod expansion;
mod literature;
mod merging;
mod operating;
mod ranking;
mod sets;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One recorded call.
struct Vector {
    area: String,
    name: String,
    input: Value,
    output: Value,
}

impl Vector {
    /// What came back, or nothing where it failed.
    fn ok(&self) -> Option<&Value> {
        self.output.get("ok")
    }
}

/// A difference: the part that differs, by which exceptions know it, and how.
struct Differs {
    part: &'static str,
    how: String,
}

/// What a comparison says: nothing, or what differs.
type Difference = Option<Differs>;

#[expect(clippy::unnecessary_wraps, reason = "every use returns it as the whole comparison")]
fn differs(part: &'static str, how: impl Into<String>) -> Difference {
    Some(Differs { part, how: how.into() })
}

fn check(vector: &Vector, folder: &Path) -> Option<Difference> {
    Some(match vector.area.as_str() {
        "examine_query" => expansion::examine(vector),
        "expand_aragorn" => expansion::aragorn(vector, folder),
        "bte" => expansion::bte(vector, folder),
        "pathfinder" => expansion::pathfinder(vector),
        "merge" => merging::merge(vector),
        "callback_body" => merging::callback_body(vector),
        "filter_kgraph_orphans" => operating::orphans(vector),
        "sort_results_score" => operating::sort(vector),
        "filter_results_top_n" => operating::top_results(vector),
        "filter_analyses_top_n" => operating::top_analyses(vector),
        "aragorn_score" => ranking::aragorn(vector),
        "arax_rank" => ranking::arax(vector),
        "omnicorp" => literature::omnicorp(vector, folder),
        "sipr" => sets::sipr(vector),
        "score_weights" => ranking::weights(vector),
        _ => return None,
    })
}

#[derive(Default)]
struct Tally {
    compared: usize,
    agree: usize,
    excepted: Vec<String>,
    differ: Vec<String>,
    not_ours: usize,
}

#[test]
fn recorded_behaviour_is_kept_or_decided_otherwise() {
    let Some(folder) = folder() else {
        println!("no vectors found: nothing compared");
        return;
    };
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for vector in load(&folder) {
        let tally = tallies.entry(vector.area.clone()).or_default();
        let Some(difference) = check(&vector, &folder) else {
            tally.not_ours += 1;
            continue;
        };
        tally.compared += 1;
        match difference {
            None => tally.agree += 1,
            Some(Differs { part, how }) => match exceptions::explain(&vector, part) {
                Some(quirk) => tally.excepted.push(format!("{} [{quirk}]", vector.name)),
                None => tally.differ.push(format!("{}: {part}: {how}", vector.name)),
            },
        }
    }
    let mut failed = 0;
    for (area, tally) in &tallies {
        println!(
            "{area}: {} compared, {} agree, {} decided otherwise, {} differ, {} not of these crates",
            tally.compared,
            tally.agree,
            tally.excepted.len(),
            tally.differ.len(),
            tally.not_ours
        );
        for name in tally.excepted.iter().chain(&tally.differ) {
            println!("    {name}");
        }
        failed += tally.differ.len();
    }
    assert_eq!(failed, 0, "vectors differ without an exception");
}

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("VECTORS_DIR").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    [named, Some(beside)].into_iter().flatten().find(|path| path.is_dir())
}

/// The rules that the vectors were recorded with.
fn rules(folder: &Path) -> PathBuf {
    folder.join("../data/rules")
}

fn load(folder: &Path) -> Vec<Vector> {
    let mut vectors = Vec::new();
    let mut areas: Vec<PathBuf> = entries(folder).into_iter().filter(|path| path.is_dir()).collect();
    areas.sort();
    for area in areas {
        for file in entries(&area) {
            if let Some(text) = text(&file) {
                let mut value: Value = serde_json::from_str(&text).unwrap();
                vectors.push(Vector {
                    area: area.file_name().unwrap().to_string_lossy().into_owned(),
                    name: value["name"].as_str().unwrap_or_default().to_owned(),
                    input: value["input"].take(),
                    output: value["output"].take(),
                });
            }
        }
    }
    vectors
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The text of a JSON file, packed or not.
fn text(file: &Path) -> Option<String> {
    match file.extension()?.to_str()? {
        "json" => Some(fs::read_to_string(file).unwrap()),
        "gz" => {
            let mut text = String::new();
            flate2::read::GzDecoder::new(fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
            Some(text)
        }
        _ => None,
    }
}
