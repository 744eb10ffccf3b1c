//! Area `omnicorp`, with the recorded databases' content in plain sight.

use std::convert::Infallible;
use std::path::Path;

use serde_json::Value;
use shepherd_answers::message::parse;
use shepherd_answers::operations::{Literature, Named, aragorn_omnicorp};

use crate::canonical::canonical;
use crate::{Difference, Vector, differs, text};

struct Content(Value);

impl Literature for Content {
    type Error = Infallible;

    fn node(&self, curie: &str) -> Result<Option<Named>, Infallible> {
        let known = &self.0["curies"][curie];
        let named = known["pmc"].as_u64().zip(known["index"].as_u64());
        Ok(named.map(|(publications, index)| Named { publications, index }))
    }

    fn shared(&self, smaller: u64, larger: u64) -> Result<Option<u64>, Infallible> {
        Ok(self.0["shared_counts"][format!("{smaller}_{larger}")]["count"].as_u64())
    }
}

pub(crate) fn omnicorp(vector: &Vector, folder: &Path) -> Difference {
    let output = vector.ok()?;
    let content = folder.join("omnicorp").join(vector.input["lmdb"].as_str()?).join("content.json");
    let literature = Content(serde_json::from_str(&text(&content)?).unwrap());
    let input = vector.input["message"].to_string();
    let mut message = match parse(&input) {
        Ok(message) => message,
        Err(error) => return differs("refused", error.to_string()),
    };
    let Ok(_) = aragorn_omnicorp(&mut message, &literature);
    let mut out = Vec::new();
    message.write(&mut out).unwrap();
    let ours = digest(&serde_json::from_slice(&out).unwrap());
    let recorded = digest(&output["message"]);
    for (ours, recorded) in ours.into_iter().zip(recorded) {
        if ours.1 != recorded.1 {
            return differs(ours.0, format!("{} for {}", ours.1, recorded.1));
        }
    }
    None
}

/// Node attributes, literature edges, and the literature edges that support each analysis: all without
/// made names.
fn digest(message: &Value) -> [(&'static str, String); 3] {
    let graph = &message["knowledge_graph"];
    let members = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let nodes: Vec<String> = members(&graph["nodes"])
        .into_iter()
        .map(|(name, node)| format!("{name}: {}", canonical(&node["attributes"])))
        .collect();
    let edges = members(&graph["edges"]);
    let statement = |name: &str| {
        let edge = &edges[name];
        format!("{} {} {}", edge["subject"], edge["object"], edge["attributes"][0]["value"])
    };
    let is_literature = |edge: &Value| edge["predicate"] == "biolink:occurs_together_in_literature_with";
    let mut literature: Vec<String> =
        edges.iter().filter(|(_, edge)| is_literature(edge)).map(|(name, _)| statement(name)).collect();
    literature.sort();
    let results = message["results"].as_array().into_iter().flatten();
    let analyses = results.flat_map(|result| result["analyses"].as_array().into_iter().flatten());
    let support: Vec<Vec<String>> = analyses
        .map(|analysis| {
            let graphs =
                analysis["support_graphs"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let names = graphs.filter_map(|graph| message["auxiliary_graphs"][graph]["edges"].as_array());
            let names = names.flatten().filter_map(Value::as_str).filter(|name| edges.contains_key(*name));
            let mut support: Vec<String> =
                names.filter(|name| is_literature(&edges[*name])).map(statement).collect();
            support.sort();
            support
        })
        .collect();
    [
        ("nodes", format!("{nodes:?}")),
        ("edges", format!("{literature:?}")),
        ("support", format!("{support:?}")),
    ]
}
