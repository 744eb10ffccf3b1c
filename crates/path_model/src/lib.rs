//! Trained judges of paths from files, for `score_paths`.
//!
//! A directory (`PATHFINDER_EMBEDDINGS_DIR`) holds what there is of
//!
//! - `embeddings.lmdb`, an LMDB file or a directory with one: from a node's identifier or a predicate to a vector, its
//!   numbers in single precision, little-endian; all vectors are of one length;
//! - `mlp.safetensors`: a multilayer perceptron, see [`Mlp`];
//! - `classifier.json`: boosted trees as `XGBoost` saves them, see [`Forest`];
//!
//! and at least one of the latter two. The features of a path are
//!
//! ```text
//! [mean vector of its nodes | mean vector of its predicates | its place in the graph (PathFeatures::graph)]
//! ```
//!
//! the first two only where there are embeddings; nodes and predicates without a vector are left out of the mean, and
//! where none has one, all of it is missing. The perceptron turns features into others, with 0 for what is missing.
//! The classifier's probability for what it is given, with NaN for what is missing, is the score; without a
//! classifier, the perceptron has a single output, whose logistic function is the score.

mod embeddings;
mod error;
mod forest;
mod mlp;

use std::path::Path;

use answers::operations::{GRAPH_FEATURES, PathFeatures, PathModel};

use embeddings::Embeddings;
pub use error::{ModelError, ScoreError};
pub use forest::Forest;
pub use mlp::Mlp;

const EMBEDDINGS: &str = "embeddings.lmdb";
const MLP: &str = "mlp.safetensors";
const CLASSIFIER: &str = "classifier.json";

/// A judge of paths.
#[derive(Debug)]
pub struct Model {
    embeddings: Option<Embeddings>,
    judge: Judge,
}

#[derive(Debug)]
enum Judge {
    Mlp(Mlp),
    Classifier(Forest),
    Both(Mlp, Forest),
}

impl Model {
    /// Reads the files of a directory, and checks that they fit together.
    ///
    /// # Errors
    /// [`ModelError`] says which file cannot be used, or that there is none.
    pub fn open(directory: &Path) -> Result<Self, ModelError> {
        let file = |name: &str| Some(directory.join(name)).filter(|path| path.exists());
        let embeddings = file(EMBEDDINGS).map(|path| Embeddings::open(&path)).transpose()?;
        let mlp = file(MLP).map(|path| Mlp::open(&path)).transpose()?;
        let classifier = file(CLASSIFIER).map(|path| Forest::open(&path)).transpose()?;
        let features = GRAPH_FEATURES + embeddings.as_ref().map_or(0, |embeddings| 2 * embeddings.length());
        let fits = |what: &'static str, wanted: usize, given: usize| {
            if wanted == given { Ok(()) } else { Err(ModelError::Mismatch { what, wanted, given }) }
        };
        if let Some(mlp) = &mlp {
            fits(MLP, mlp.inputs(), features)?;
        }
        let judge = match (mlp, classifier) {
            (None, None) => return Err(ModelError::Empty { directory: directory.to_owned() }),
            (Some(mlp), None) => {
                fits("a score", 1, mlp.outputs())?;
                Judge::Mlp(mlp)
            }
            (None, Some(classifier)) => {
                fits(CLASSIFIER, classifier.features(), features)?;
                Judge::Classifier(classifier)
            }
            (Some(mlp), Some(classifier)) => {
                fits(CLASSIFIER, classifier.features(), mlp.outputs())?;
                Judge::Both(mlp, classifier)
            }
        };
        Ok(Self { embeddings, judge })
    }

    fn features(&self, path: &PathFeatures<'_>) -> Result<Vec<f32>, ScoreError> {
        let mut features = Vec::new();
        if let Some(embeddings) = &self.embeddings {
            features.extend(embeddings.mean(path.nodes.iter().copied())?);
            features.extend(embeddings.mean(path.predicates.iter().map(String::as_str))?);
        }
        features.extend(path.graph);
        Ok(features)
    }
}

impl PathModel for Model {
    type Error = ScoreError;

    fn score(&self, path: &PathFeatures<'_>) -> Result<f64, ScoreError> {
        let features = self.features(path)?;
        let score = match &self.judge {
            Judge::Mlp(mlp) => mlp.run(&features).first().map_or(f32::NAN, |&output| logistic(output)),
            Judge::Classifier(classifier) => classifier.probability(&features),
            Judge::Both(mlp, classifier) => classifier.probability(&mlp.run(&features)),
        };
        Ok(f64::from(score))
    }
}

/// From any number to one between 0 and 1.
fn logistic(value: f32) -> f32 {
    1.0 / (1.0 + (-value).exp())
}
