//! Files that are no classifier, or one of another kind.

use serde_json::{Value, json};

use super::*;

fn saved() -> Value {
    let tree = json!({
        "left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_indices": [1, 0, 0],
        "split_conditions": [0.5, -1.0, 2.0], "default_left": [0, 0, 0], "split_type": [0, 0, 0],
    });
    json!({ "learner": {
        "attributes": {},
        "gradient_booster": { "name": "gbtree", "model": {
            "gbtree_model_param": { "num_parallel_tree": "2" }, "trees": [tree, tree, tree, tree],
        } },
        "learner_model_param": { "base_score": "[5E-1]", "num_class": "0", "num_feature": "2", "num_target": "1" },
        "objective": { "name": "binary:logistic" },
    } })
}

fn parsed(change: impl FnOnce(&mut Value)) -> Result<Forest, String> {
    let mut value = saved();
    change(&mut value["learner"]);
    Forest::parse(value.to_string().as_bytes()).map_err(|error| error.to_string())
}

fn close(one: f32, other: f32) -> bool {
    (one - other).abs() < 1e-6
}

#[test]
fn what_is_below_goes_left_and_what_is_missing_where_the_tree_says() {
    let forest = parsed(|learner| learner["learner_model_param"]["base_score"] = json!("0.25")).unwrap();
    let base = (0.25f32 / 0.75).ln();
    for (value, leaves) in [(0.4, -4.0), (0.5, 8.0), (f32::NAN, 8.0), (f32::INFINITY, 8.0)] {
        assert!(close(forest.probability(&[0.0, value]), logistic(base + leaves)), "{value}");
    }
    assert!(close(forest.probability(&[]), logistic(base + 8.0)), "what is not there is missing");
}

#[test]
fn trees_after_the_best_iteration_do_not_count() {
    for (best, trees) in [("0", 2.0), ("1", 4.0), ("99999999999999999", 4.0)] {
        let forest = parsed(|learner| learner["attributes"]["best_iteration"] = json!(best)).unwrap();
        assert!(close(forest.probability(&[0.0, 1.0]), logistic(2.0 * trees)), "{best}");
    }
}

#[test]
fn other_kinds_are_refused_by_name() {
    let refused = |path: &str, value: Value, why: &str| {
        let error = parsed(|learner| *learner.pointer_mut(path).unwrap() = value).unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    refused("/objective/name", json!("multi:softprob"), "objective `multi:softprob`");
    refused("/gradient_booster/name", json!("dart"), "booster `dart`");
    refused("/learner_model_param/num_class", json!("3"), "num_class `3`");
    refused("/learner_model_param/num_feature", json!("-1"), "num_feature `-1`");
    refused("/gradient_booster/model", Value::Null, "booster `gbtree`");
    for score in ["[5E-1,5E-1]", "0", "1", "NaN", ""] {
        refused("/learner_model_param/base_score", json!(score), "base_score");
    }
    assert!(Forest::parse(b"{}").unwrap_err().to_string().contains("XGBoost"));
}

#[test]
fn trees_that_are_none_are_refused() {
    let refused = |list: &str, value: Value, why: &str| {
        let error =
            parsed(|learner| learner["gradient_booster"]["model"]["trees"][2][list] = value).unwrap_err();
        assert!(error.starts_with("tree 2: ") && error.contains(why), "{error}");
    };
    refused("left_children", json!([0, -1, -1]), "two branches");
    refused("left_children", json!([2, -1, -1]), "two branches");
    refused("left_children", json!([3, -1, -1]), "not there");
    refused("right_children", json!([-1, -1, -1]), "not there");
    refused("right_children", json!([-7, -1, -1]), "not there");
    refused("split_indices", json!([2, 0, 0]), "not there");
    refused("split_indices", json!([1]), "different lengths");
    refused("split_type", json!([1, 0, 0]), "a category");
}
