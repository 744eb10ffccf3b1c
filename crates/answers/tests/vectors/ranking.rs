//! Areas `aragorn_score`, `score_weights` and `arax_rank`.

use serde_json::{Value, json};
use shepherd_answers::Message;
use shepherd_answers::message::parse;
use shepherd_answers::operations::{Profile, Property, aragorn_score, arax_rank};

use crate::{Difference, Vector, differs};

/// How far scores may be apart, relatively.
const TOLERANCE: f64 = 1e-9;

/// Member by which results are known again after they were sorted.
const PLACE: &str = "place in the input";

/// Scores by result in the order of the input; checks that the best result comes first.
fn scores(message: &Value, rank: impl FnOnce(&mut Message<'_>)) -> Result<Vec<Vec<Option<f64>>>, String> {
    let mut input = message.clone();
    let results = input["message"]["results"].as_array_mut().into_iter().flatten();
    for (place, result) in results.enumerate() {
        result[PLACE] = json!(place);
    }
    let text = input.to_string();
    let mut message = parse(&text).map_err(|error| error.to_string())?;
    rank(&mut message);
    let mut out = Vec::new();
    message.write(&mut out).unwrap();
    let written: Value = serde_json::from_slice(&out).unwrap();
    let results = written["results"].as_array().unwrap();
    let mut scores = vec![Vec::new(); results.len()];
    let mut last = f64::INFINITY;
    for result in results {
        let list: Vec<Option<f64>> = result["analyses"]
            .as_array()
            .unwrap()
            .iter()
            .map(|analysis| analysis["score"].as_f64())
            .collect();
        let best = list.iter().flatten().copied().reduce(f64::max).unwrap_or(0.0);
        if best > last {
            return Err("a better result comes later".to_owned());
        }
        last = best;
        let place = usize::try_from(result[PLACE].as_u64().unwrap()).unwrap();
        scores[place] = list;
    }
    for list in &mut scores {
        // Analyses were sorted too.
        list.sort_by(|one, other| one.partial_cmp(other).unwrap());
    }
    Ok(scores)
}

fn compare(ours: &[Vec<Option<f64>>], recorded: &Value) -> Difference {
    let recorded: Vec<Vec<Option<f64>>> = recorded
        .as_array()?
        .iter()
        .map(|list| {
            let mut list: Vec<Option<f64>> =
                list.as_array().into_iter().flatten().map(Value::as_f64).collect();
            list.sort_by(|one, other| one.partial_cmp(other).unwrap());
            list
        })
        .collect();
    for (place, (ours, recorded)) in ours.iter().zip(&recorded).enumerate() {
        for (ours, recorded) in ours.iter().zip(recorded) {
            match (ours, recorded) {
                (Some(ours), Some(recorded)) if (ours - recorded).abs() <= TOLERANCE * recorded.abs() => {}
                (None, None) => {}
                (None, Some(recorded)) if *recorded < 0.0 => return differs("mark", "no score for -1"),
                (Some(_), None) => return differs("more scores", format!("result {place}: {ours:?}")),
                _ => return differs("scores", format!("result {place}: {ours:?} for {recorded:?}")),
            }
        }
    }
    None
}

pub(crate) fn aragorn(vector: &Vector) -> Difference {
    let message = &vector.input["message"];
    let output = vector.ok()?;
    let ours = match scores(message, |message| drop(aragorn_score(message, Profile::Blended))) {
        Ok(ours) => ours,
        Err(error) => return differs("refused", error),
    };
    if output["returned"] == false {
        return None;
    }
    let recorded =
        output.get("scores_precise").filter(|precise| !has_null(precise)).unwrap_or(&output["scores"]);
    let blended = compare(&ours, recorded);
    let profiles = vector.output["profiles"].as_object().into_iter().flatten();
    let others = profiles.filter_map(|(name, profile)| {
        let ours =
            scores(message, |message| drop(aragorn_score(message, Profile::named(name).unwrap()))).unwrap();
        compare(&ours, &profile["ok"]["scores"])
    });
    blended.into_iter().chain(others).next()
}

fn has_null(scores: &Value) -> bool {
    scores
        .as_array()
        .into_iter()
        .flatten()
        .any(|list| list.as_array().into_iter().flatten().any(Value::is_null))
}

pub(crate) fn weights(vector: &Vector) -> Difference {
    let calls = vector.input["calls"].as_array()?;
    for (call, recorded) in calls.iter().zip(vector.output.as_array()?) {
        let profile = Profile::named(call["profile"].as_str()?)?;
        let source = call["source"].as_str()?;
        let property = Property::named(call["property"].as_str().unwrap_or_default());
        let ours = match call["function"].as_str()? {
            "get_source_sigmoid" => profile.curve(source, property, call["value"].as_f64()?),
            "get_source_weight" => profile.trust(source, property),
            _ => profile.base(source),
        };
        // What overflows there is the end of the curve here.
        if let Some(recorded) = recorded["ok"].as_f64()
            && (ours - recorded).abs() > TOLERANCE * recorded.abs()
        {
            return differs("weights", format!("{ours} for {call}"));
        }
    }
    None
}

pub(crate) fn arax(vector: &Vector) -> Difference {
    match scores(&vector.input["message"], |message| drop(arax_rank(message))) {
        Ok(ours) => compare(&ours, &vector.ok()?["scores"]),
        Err(error) => differs("refused", error),
    }
}
