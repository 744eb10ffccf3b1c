//! Boosted trees.

mod saved;
mod tree;

use std::path::Path;

use crate::error::{ModelError, Unusable, read};
use crate::logistic;
use saved::Saved;
use tree::Tree;

/// A classifier of `binary:logistic`, as `XGBoost` 2.0 to 3.2 save it to JSON (`save_model`).
///
/// Of a model that was trained with early stopping the trees up to the best iteration count, as for
/// `XGBClassifier.predict_proba`. Categorical features are not supported.
#[derive(Debug)]
pub struct Forest {
    features: usize,
    /// What all trees are added to.
    base: f32,
    trees: Vec<Tree>,
}

impl Forest {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ModelError`] says why it is of no use.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        Self::parse(&read(path)?).map_err(|reason| reason.at(path))
    }

    fn parse(bytes: &[u8]) -> Result<Self, Unusable> {
        let saved: Saved = serde_json::from_slice(bytes)?;
        saved.check()?;
        let features = saved.features()?;
        let trees = saved.trees()?.iter().enumerate();
        let read = |(number, tree)| {
            Tree::read(tree, features).map_err(|problem| Unusable::Tree { tree: number, problem })
        };
        Ok(Self { features, base: saved.base()?, trees: trees.map(read).collect::<Result<_, _>>()? })
    }

    /// How many numbers it takes.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The probability that so many numbers as it takes are of the class; NaN stands for one that is missing.
    pub fn probability(&self, features: &[f32]) -> f32 {
        logistic(self.trees.iter().fold(self.base, |sum, tree| sum + tree.leaf(features)))
    }
}

#[cfg(test)]
mod tests;
