//! Areas `filter_kgraph_orphans`, `sort_results_score` and the limits.

use serde_json::{Value, json};
use shepherd_answers::Message;
use shepherd_answers::message::parse;
use shepherd_answers::operations::{
    Limit, Order, filter_analyses_top_n, filter_kgraph_orphans, filter_results_top_n, sort_results_score,
};
use trapi::{Operation, Query};

use crate::canonical::canonical;
use crate::{Difference, Vector, differs};

/// A message as we write it, so that two of them can be compared.
fn written(message: &Message<'_>) -> Value {
    let mut out = Vec::new();
    message.write(&mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn operation(value: &Value) -> Operation {
    let body = json!({"message": {"query_graph": {}}, "workflow": [value]});
    Query::parse(body.to_string().as_bytes()).unwrap().workflow.unwrap().remove(0)
}

fn compare(vector: &Vector, operate: impl FnOnce(&mut Message<'_>)) -> Difference {
    let input = vector.input["message"].to_string();
    let mut message = match (parse(&input), vector.ok()) {
        (Ok(message), _) => message,
        (Err(_), None) => return None,
        (Err(error), Some(_)) => return differs("refused", error.to_string()),
    };
    operate(&mut message);
    let Some(output) = vector.ok() else { return differs("peer fails", "a message") };
    let output = output.to_string();
    let expected = parse(&output).unwrap();
    let (ours, theirs) = (written(&message), written(&expected));
    ["results", "knowledge_graph", "auxiliary_graphs"]
        .into_iter()
        .find(|part| canonical(&ours[part]) != canonical(&theirs[part]))
        .and_then(|part| differs(part, "another content"))
}

pub(crate) fn orphans(vector: &Vector) -> Difference {
    compare(vector, filter_kgraph_orphans)
}

pub(crate) fn sort(vector: &Vector) -> Difference {
    let order = Order::of(&operation(&vector.input["operation"]), &mut Vec::new());
    compare(vector, |message| sort_results_score(message, order))
}

pub(crate) fn top_results(vector: &Vector) -> Difference {
    let limit = Limit::of(&operation(&vector.input["operation"]), "max_results", &mut Vec::new());
    compare(vector, |message| filter_results_top_n(message, limit))
}

pub(crate) fn top_analyses(vector: &Vector) -> Difference {
    let limit = Limit::of(&operation(&vector.input["operation"]), "max_analyses", &mut Vec::new());
    compare(vector, |message| filter_analyses_top_n(message, limit))
}
