//! Areas `examine_query`, `expand_aragorn`, `bte` and `pathfinder`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};
use shepherd_answers::expand::{self, AragornRules, BteTemplates, SubQuery};
use shepherd_answers::message::parse as parse_response;
use trapi::{Dialect, Inferred, Query, QueryGraph, Question};

use crate::canonical::hash;
use crate::{Difference, Vector, differs, entries, rules, text};

fn parse(message: &Value) -> Result<(Query, Question), trapi::Invalid> {
    let query = Query::parse(message.to_string().as_bytes())?;
    let question = query.query_graph.examine()?;
    Ok((query, question))
}

/// The question of a creative query; also where a client forgot to say that it is one.
fn inferred(message: &Value) -> Result<(Query, Inferred), String> {
    match parse(message).map_err(|invalid| invalid.to_string())? {
        (query, Question::Inferred(question)) => Ok((query, question)),
        (_, question) => Err(format!("{question:?}")),
    }
}

/// The message that goes to Retriever, as the peer wraps it.
fn wrapped(sub_query: &SubQuery, input: &Value, rule: bool, workflow: bool) -> Value {
    let mut message = Map::new();
    message.insert("message".into(), json!({"query_graph": sub_query.query_graph}));
    for name in ["parameters", "submitter"] {
        message.insert(name.into(), input[name].clone());
    }
    if let (true, Some(level)) = (rule, input.get("log_level")) {
        message.insert("log_level".into(), level.clone());
    }
    if workflow {
        message.insert("workflow".into(), json!([{"id": "lookup"}]));
    }
    Value::Object(message)
}

pub(crate) fn aragorn(vector: &Vector, folder: &Path) -> Difference {
    static RULES: OnceLock<AragornRules> = OnceLock::new();
    let rules = RULES.get_or_init(|| {
        let file = rules(folder).join("aragorn/rules_with_types_cleaned_finalized.json");
        AragornRules::parse("rules.json", &text(&file).unwrap()).unwrap()
    });
    let input = &vector.input["message"];
    let hashes = inferred(input).map(|(query, question)| {
        let queries = rules.expand(&query.query_graph, &question);
        let hashes = queries.iter().enumerate();
        hashes
            .map(|(place, sub_query)| hash(&wrapped(sub_query, input, place > 0, false)))
            .collect::<Vec<_>>()
    });
    match (hashes, vector.ok()) {
        (Err(_), None) => None,
        (Err(error), Some(_)) => differs("refused", error),
        (Ok(hashes), None) => differs("peer fails", format!("{} messages", hashes.len())),
        (Ok(hashes), Some(output)) => {
            let recorded: Vec<&str> = output["sha256"].as_array()?.iter().filter_map(Value::as_str).collect();
            if hashes.len() != recorded.len() {
                differs("count", format!("{} messages", hashes.len()))
            } else if hashes.first().map(String::as_str) != recorded.first().copied() {
                differs("direct", "the direct query differs")
            } else if hashes != recorded {
                differs("rules", "rules are filled in otherwise")
            } else {
                None
            }
        }
    }
}

fn templates(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![rules(folder).join("bte/templates")];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if let Some(text) = text(&path) {
                found.insert(path.file_name().unwrap().to_string_lossy().into_owned(), text);
            }
        }
    }
    found
}

pub(crate) fn bte(vector: &Vector, folder: &Path) -> Difference {
    static TEMPLATES: OnceLock<BteTemplates> = OnceLock::new();
    let known = TEMPLATES.get_or_init(|| {
        let groups = text(&rules(folder).join("bte/template_groups.json")).unwrap();
        BteTemplates::parse("template_groups.json", &groups, &templates(folder)).unwrap()
    });
    let input = &vector.input["message"];
    let made = inferred(input).map(|(query, question)| known.expand(&query.query_graph, &question));
    match (made, vector.ok()) {
        (Err(_), None) => None,
        (Err(error), Some(_)) => differs("refused", error),
        (Ok(made), None) => differs("peer fails", format!("{} messages", made.len())),
        (Ok(made), Some(output)) => {
            let (direct, filled) = made.split_first()?;
            let expected: Vec<_> = output["filled"]
                .as_array()?
                .iter()
                .map(|filled| (filled["template"].as_str().unwrap().to_owned(), filled["sha256"].clone()))
                .collect();
            let filled: Vec<_> = filled
                .iter()
                .map(|sub_query| {
                    (sub_query.label.clone(), json!(hash(&wrapped(sub_query, input, true, true))))
                })
                .collect();
            let names =
                |list: &[(String, Value)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
            if json!(hash(&wrapped(direct, input, false, false))) != output["direct"]["sha256"] {
                differs("direct", "the direct query differs")
            } else if names(&filled) != names(&expected) {
                differs("templates", format!("{:?}", names(&filled)))
            } else if filled != expected {
                differs("rules", "templates are filled in otherwise")
            } else {
                None
            }
        }
    }
}

pub(crate) fn pathfinder(vector: &Vector) -> Difference {
    let input = &vector.input["message"];
    if vector.input.get("metadata").is_some() {
        return second_pass(vector, input);
    }
    let made = parse(input).map_err(|invalid| invalid.to_string()).and_then(|(query, question)| {
        let Question::Pathfinder(path) = question else { return Err(format!("{question:?}")) };
        let sub_query =
            expand::pathfinder(&query.query_graph, &path).map_err(|invalid| invalid.to_string())?;
        Ok((sub_query, expand::pathfinder_parameters(&query.parameters)))
    });
    match (made, vector.ok()) {
        (Err(_), None) => None,
        (Err(error), Some(_)) => differs("refused", error),
        (Ok(_), None) => differs("peer fails", "a message"),
        (Ok((sub_query, parameters)), Some(output)) => {
            let sent = &output["sent"][0]["json"];
            let mut expected = sent["parameters"].clone();
            // The time is set by whoever sends the message.
            expected.as_object_mut()?.shift_remove("timeout");
            let mut parameters = json!(parameters);
            parameters.as_object_mut()?.shift_remove("timeout");
            if parameters == expected && json!(sub_query.query_graph) == sent["message"]["query_graph"] {
                None
            } else {
                differs("asks", format!("{} with {parameters}", json!(sub_query.query_graph)))
            }
        }
    }
}

/// The second visit sends the message to be filled: nothing is expanded.
fn second_pass(vector: &Vector, input: &Value) -> Difference {
    let text = input.to_string();
    let mut message = parse_response(&text).unwrap();
    let mut sent = Vec::new();
    message.write_in(Dialect::V1, &mut sent).unwrap();
    let mut sent: Value = serde_json::from_slice(&sent).unwrap();
    // A message is whole here: parts without anything in them are there and empty.
    let parts = sent.as_object_mut()?;
    parts.retain(|_, part| !is_empty(part));
    let output = vector.ok()?;
    let mut expected = output["sent"][0]["json"]["message"].clone();
    expected["query_graph"] = json!(QueryGraph::parse(&expected["query_graph"].to_string()).unwrap());
    if json!(parts) != expected {
        return differs("sent", sent.to_string());
    }
    let answer = vector.input["answer"].to_string();
    message.fill(&answer).unwrap();
    let mut filled = Vec::new();
    message.write_in(Dialect::V1, &mut filled).unwrap();
    let filled: Value = serde_json::from_slice(&filled).unwrap();
    if json!({ "message": filled }) == output["saved"]["r"] {
        None
    } else {
        differs("second pass", filled.to_string())
    }
}

fn is_empty(part: &Value) -> bool {
    match part {
        Value::Object(members) => members.values().all(is_empty),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// The kind of question, by the recorded implementation that stands at the entry.
pub(crate) fn examine(vector: &Vector) -> Difference {
    let found = match parse(&vector.input["message"]) {
        Ok((_, Question::Lookup)) => "lookup".to_owned(),
        Ok((_, Question::Inferred(question))) => {
            format!("inferred from {} to {}", question.pinned, question.answer)
        }
        Ok((_, Question::Pathfinder(_))) => "pathfinder".to_owned(),
        Err(_) => "error".to_owned(),
    };
    let recorded = match vector.output["shared"].get("ok") {
        None => "error".to_owned(),
        Some(kind) if kind["pathfinder"] == true => "pathfinder".to_owned(),
        Some(kind) if kind["infer"] == true => format!(
            "inferred from {} to {}",
            kind["question_node"].as_str().unwrap_or_default(),
            kind["answer_node"].as_str().unwrap_or_default()
        ),
        Some(_) => "lookup".to_owned(),
    };
    let part = if found == "error" { "refused" } else { "kind" };
    if found == recorded { None } else { differs(part, format!("{found} where the peer says {recorded}")) }
}
