//! Scores against those of the public libraries; `model/make.py` says how they were made.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use answers::operations::{PathFeatures, PathModel};
use serde::Deserialize;
use shepherd_path_model::{Mlp, Model, ModelError, ScoreError};
use testkit::lmdb::file;

/// What single precision may cost.
const ROUNDING: f64 = 1e-6;

#[derive(Deserialize)]
struct Expected {
    embeddings: std::collections::BTreeMap<String, Vec<f32>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    nodes: Vec<String>,
    predicates: Vec<String>,
    /// Null for what is missing.
    graph: [Option<f32>; 11],
    by_graph: f64,
    by_mlp: f64,
    mlp: Vec<f32>,
    by_mlp_and_classifier: f64,
}

impl Case {
    fn features(&self) -> PathFeatures<'_> {
        PathFeatures {
            nodes: self.nodes.iter().map(String::as_str).collect(),
            predicates: self.predicates.clone(),
            graph: self.graph.map(|feature| feature.unwrap_or(f32::NAN)),
        }
    }
}

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model").join(name)
}

fn expected() -> Expected {
    serde_json::from_str(&std::fs::read_to_string(recorded("expected.json")).unwrap()).unwrap()
}

/// A directory with these files.
fn directory(embeddings: bool, mlp: Option<&str>, classifier: Option<&str>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    if embeddings {
        let vectors: Vec<(String, Vec<u8>)> = expected()
            .embeddings
            .into_iter()
            .map(|(key, vector)| (key, vector.into_iter().flat_map(f32::to_le_bytes).collect()))
            .collect();
        let mut entries: Vec<(&str, &[u8])> =
            vectors.iter().map(|(key, vector)| (key.as_str(), vector.as_slice())).collect();
        entries.push(("X:damaged", &[0; 15]));
        file(folder.path(), "embeddings.lmdb", &entries);
    }
    for (from, to) in [(mlp, "mlp.safetensors"), (classifier, "classifier.json")] {
        if let Some(from) = from {
            std::fs::copy(recorded(from), folder.path().join(to)).unwrap();
        }
    }
    folder
}

fn assert_scores(folder: &tempfile::TempDir, wanted: impl Fn(&Case) -> f64) {
    let model = Model::open(folder.path()).unwrap();
    for (number, case) in expected().cases.iter().enumerate() {
        let score = model.score(&case.features()).unwrap();
        assert!((score - wanted(case)).abs() < ROUNDING, "case {number}: {score} for {}", wanted(case));
    }
}

#[test]
fn scores_are_those_of_the_public_libraries() {
    assert_scores(&directory(false, None, Some("graph.json")), |case| case.by_graph);
    assert_scores(&directory(true, Some("score.safetensors"), None), |case| case.by_mlp);
    let both = directory(true, Some("features.safetensors"), Some("features.json"));
    assert_scores(&both, |case| case.by_mlp_and_classifier);
}

#[test]
fn perceptron_gives_the_numbers_of_the_public_library() {
    let mlp = Mlp::open(&recorded("features.safetensors")).unwrap();
    let expected = expected();
    let case = &expected.cases[0];
    let mean = |names: &[String]| {
        let known: Vec<_> = names.iter().filter_map(|name| expected.embeddings.get(name)).collect();
        #[expect(clippy::cast_precision_loss, reason = "a few")]
        let mean = |place: usize| known.iter().map(|vector| vector[place]).sum::<f32>() / known.len() as f32;
        (0..4).map(mean).collect::<Vec<f32>>()
    };
    let graph = case.graph.iter().map(|feature| feature.unwrap_or(f32::NAN));
    let features: Vec<f32> =
        mean(&case.nodes).into_iter().chain(mean(&case.predicates)).chain(graph).collect();
    let outputs = mlp.run(&features);
    assert_eq!(outputs.len(), case.mlp.len());
    assert!(outputs.iter().zip(&case.mlp).all(|(one, other)| (one - other).abs() < 1e-5), "{outputs:?}");
}

#[test]
fn files_that_do_not_fit_together_are_refused() {
    let refused = |folder: tempfile::TempDir| Model::open(folder.path()).unwrap_err().to_string();
    assert!(refused(directory(true, None, None)).contains("neither mlp.safetensors nor classifier.json"));
    assert_eq!(
        refused(directory(true, None, Some("graph.json"))),
        "classifier.json needs 11 numbers and is given 19"
    );
    assert_eq!(
        refused(directory(false, Some("score.safetensors"), None)),
        "mlp.safetensors needs 19 numbers and is given 11"
    );
    assert_eq!(
        refused(directory(true, Some("features.safetensors"), None)),
        "a score needs 1 numbers and is given 3"
    );
    assert_eq!(
        refused(directory(true, Some("score.safetensors"), Some("features.json"))),
        "classifier.json needs 3 numbers and is given 1"
    );
    let missing = Model::open(Path::new("/nowhere/at/all")).unwrap_err();
    assert!(matches!(missing, ModelError::Empty { .. }));
}

#[test]
fn damaged_files_are_refused_with_their_path() {
    for name in ["embeddings.lmdb", "mlp.safetensors", "classifier.json"] {
        let folder = directory(false, None, None);
        let path = folder.path().join(name);
        std::fs::write(&path, "x".repeat(20_000)).unwrap();
        let error = Model::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
    }
}

#[test]
fn damaged_vector_costs_its_path() {
    let model = Model::open(directory(true, Some("score.safetensors"), None).path()).unwrap();
    let case = Case { nodes: vec!["X:damaged".to_owned()], ..expected().cases.remove(0) };
    let error = model.score(&case.features()).unwrap_err();
    assert!(matches!(error, ScoreError::Damaged { key } if key == "X:damaged"));
    let unknown = Case { nodes: vec!["Z:1".to_owned()], predicates: Vec::new(), ..case };
    assert!(model.score(&unknown.features()).unwrap().is_finite(), "nothing is known of it");
}
