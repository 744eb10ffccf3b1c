//! Area `sipr`.

use std::collections::BTreeMap;

use serde_json::Value;
use shepherd_answers::set_input;

use crate::{Difference, Vector, differs};

/// How far scores may be apart, relatively.
const TOLERANCE: f64 = 1e-9;

pub(crate) fn sipr(vector: &Vector) -> Difference {
    let input = &vector.input;
    if let Some(response) = input.get("response") {
        return neighbourhood(vector, response);
    }
    if let Some(hop) = input.get("hop") {
        let hop = usize::try_from(hop.as_u64().unwrap()).unwrap();
        let asked = serde_json::to_value(set_input::hop(&strings(&input["ids"]), hop)).unwrap();
        let recorded = &vector.ok()?["message"]["query_graph"];
        return (asked != *recorded).then(|| differs("asked", asked.to_string())).flatten();
    }
    let texts: Vec<String> = input["responses"].as_array().unwrap().iter().map(Value::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let ours = set_input::scores(&texts, &strings(&input["target_nodes"])).unwrap();
    let Some(recorded) = vector.ok() else {
        return differs("peer fails", format!("{} scores", ours.len()));
    };
    let recorded: BTreeMap<String, f64> = serde_json::from_value(recorded["scores"].clone()).unwrap();
    if recorded.len() != ours.len() {
        return differs("scores", format!("{} where {} are recorded", ours.len(), recorded.len()));
    }
    let far = |(id, score): &&(String, f64)| {
        recorded.get(id).is_none_or(|known| (known - score).abs() > TOLERANCE * known.abs())
    };
    let wrong = ours.iter().find(far)?;
    differs("scores", format!("{wrong:?}, recorded is {:?}", recorded.get(&wrong.0)))
}

fn neighbourhood(vector: &Vector, response: &Value) -> Difference {
    let (text, asked) = (response.to_string(), strings(&vector.input["query_nodes"]));
    let kept = set_input::best_neighbours(&[&text], &asked).unwrap();
    let recorded = vector.ok()?;
    if kept != strings(&recorded["kept"]) {
        return differs("kept", format!("{kept:?}"));
    }
    let graph = set_input::neighbourhood(&[&text], &asked).unwrap();
    let ours: Value = serde_json::from_slice(&graph).unwrap();
    for part in ["nodes", "edges"] {
        let keys = |message: &Value| -> Vec<String> {
            let graph = &message["knowledge_graph"][part];
            let mut keys: Vec<String> = graph.as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys
        };
        if keys(&ours) != keys(&recorded["filtered"]["message"]) {
            return differs("filtered", format!("{part}: {:?}", keys(&ours)));
        }
    }
    None
}

fn strings(list: &Value) -> Vec<String> {
    serde_json::from_value(list.clone()).unwrap()
}
