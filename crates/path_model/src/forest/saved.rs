//! The parts of `XGBoost`'s JSON that a prediction needs.
//!
//! Parameters are texts there. From 3.1 on the base score is a list in brackets; in all versions it is a probability
//! for `binary:logistic`.

use serde::Deserialize;

use crate::error::Unusable;

#[derive(Deserialize)]
pub(super) struct Saved {
    learner: Learner,
}

#[derive(Deserialize)]
struct Learner {
    #[serde(default)]
    attributes: Attributes,
    gradient_booster: Booster,
    #[serde(rename = "learner_model_param")]
    parameters: Parameters,
    objective: Named,
}

#[derive(Default, Deserialize)]
struct Attributes {
    /// The last iteration that made the model better.
    best_iteration: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Parameters {
    base_score: String,
    num_class: String,
    num_feature: String,
    num_target: String,
}

#[derive(Deserialize)]
struct Booster {
    name: String,
    /// Of another form where the booster is none of trees.
    model: Option<Trees>,
}

#[derive(Deserialize)]
struct Trees {
    gbtree_model_param: TreeParameters,
    trees: Vec<SavedTree>,
}

#[derive(Deserialize)]
struct TreeParameters {
    num_parallel_tree: String,
}

/// A tree: one list per property of its nodes.
#[derive(Deserialize)]
pub(super) struct SavedTree {
    pub(super) left_children: Vec<i64>,
    pub(super) right_children: Vec<i64>,
    pub(super) split_indices: Vec<usize>,
    /// The value of a leaf, or below what the feature goes to the left.
    pub(super) split_conditions: Vec<f32>,
    /// 1 where a missing feature goes to the left.
    pub(super) default_left: Vec<u8>,
    /// 0 for a number, 1 for a category.
    #[serde(default)]
    pub(super) split_type: Vec<u8>,
}

impl Saved {
    /// Whether it is of the one kind that is understood.
    pub(super) fn check(&self) -> Result<(), Unusable> {
        let Learner { gradient_booster, parameters, objective, .. } = &self.learner;
        for (what, found, supported, also) in [
            ("booster", &gradient_booster.name, "gbtree", "gbtree"),
            ("objective", &objective.name, "binary:logistic", "binary:logistic"),
            ("num_class", &parameters.num_class, "0", "1"),
            ("num_target", &parameters.num_target, "1", "0"),
        ] {
            if found != supported && found != also {
                return Err(Unusable::Unsupported { what, found: found.clone(), supported });
            }
        }
        Ok(())
    }

    pub(super) fn features(&self) -> Result<usize, Unusable> {
        let text = &self.learner.parameters.num_feature;
        text.parse().map_err(|_| unsupported("num_feature", text, "a whole number"))
    }

    /// The base score as what its logistic function is.
    pub(super) fn base(&self) -> Result<f32, Unusable> {
        let text = &self.learner.parameters.base_score;
        let number = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let score: Option<f32> = number.parse().ok().filter(|score| *score > 0.0 && *score < 1.0);
        let score = score.ok_or_else(|| unsupported("base_score", text, "one number between 0 and 1"))?;
        Ok((score / (1.0 - score)).ln())
    }

    /// The trees that count.
    pub(super) fn trees(&self) -> Result<&[SavedTree], Unusable> {
        let Learner { attributes, gradient_booster, .. } = &self.learner;
        let Some(model) = &gradient_booster.model else {
            return Err(unsupported("booster", &gradient_booster.name, "gbtree"));
        };
        let Some(best) = &attributes.best_iteration else { return Ok(&model.trees) };
        let parallel = &model.gbtree_model_param.num_parallel_tree;
        let best: usize = best.parse().map_err(|_| unsupported("best_iteration", best, "a whole number"))?;
        let parallel: usize =
            parallel.parse().map_err(|_| unsupported("num_parallel_tree", parallel, "a whole number"))?;
        let count = best.saturating_add(1).saturating_mul(parallel).min(model.trees.len());
        Ok(model.trees.get(..count).unwrap_or(&model.trees))
    }
}

fn unsupported(what: &'static str, found: &str, supported: &'static str) -> Unusable {
    Unusable::Unsupported { what, found: found.to_owned(), supported }
}
