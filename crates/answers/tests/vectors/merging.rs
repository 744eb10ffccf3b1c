//! Areas `merge` and `callback_body`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use shepherd_answers::expand::{self, DIRECT};
use shepherd_answers::merge::{Callback, merge as merge_callbacks};
use trapi::{Query, QueryGraph, Question};

use crate::canonical::canonical;
use crate::{Difference, Vector, differs};

struct Case {
    label: String,
    sent: QueryGraph,
    body: String,
}

/// A callback, with the graph that was sent for it: nearly always the one it brings back.
fn case(callback: &Value, query: &Query) -> Case {
    let direct = expand::lookup(&query.query_graph).query_graph;
    let brought = callback["response"]["message"]["query_graph"].to_string();
    let brought = QueryGraph::parse(&brought).unwrap_or_default();
    let label = callback["label"].as_str().unwrap();
    let is_direct = label.starts_with("lookup")
        || canonical(&json!(direct)) == canonical(&json!(expand::lookup(&brought).query_graph));
    Case {
        label: if is_direct { DIRECT } else { label }.to_owned(),
        sent: if is_direct { direct } else { brought },
        body: callback["response"].to_string(),
    }
}

fn merged(target: &str, query: &Query, question: &Question, cases: &[&Case]) -> String {
    let callbacks: Vec<Callback<'_>> = cases
        .iter()
        .zip(0..)
        .map(|(case, index)| Callback { index, label: &case.label, sent: &case.sent, body: &case.body })
        .collect();
    let merged = merge_callbacks(target, &query.query_graph, question, &callbacks);
    let mut out = Vec::new();
    merged.message.write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn merge(vector: &Vector) -> Difference {
    let target = vector.input["target"].as_str()?;
    let query = match Query::parse(vector.input["query"].to_string().as_bytes()) {
        Ok(query) => query,
        // Refused at the entry: nothing is ever merged.
        Err(_) if all_failed(vector) => return None,
        Err(invalid) => return differs("refused", invalid.to_string()),
    };
    let question = match query.query_graph.examine() {
        Ok(question) => question,
        Err(_) if all_failed(vector) => return None,
        Err(invalid) => return differs("refused", invalid.to_string()),
    };
    let cases: Vec<Case> =
        vector.input["callbacks"].as_array()?.iter().map(|callback| case(callback, &query)).collect();
    let inputs: BTreeSet<String> =
        vector.input["callbacks"].as_array()?.iter().flat_map(graph_names).collect();
    let in_order: Vec<&Case> = cases.iter().collect();
    let text = merged(target, &query, &question, &in_order);
    for order in orders(cases.len()) {
        let cases: Vec<&Case> = order.into_iter().map(|place| &cases[place]).collect();
        if merged(target, &query, &question, &cases) != text {
            return differs("order", "the order of arrival matters");
        }
    }
    let twice: Vec<&Case> = cases.iter().chain(&cases).collect();
    if merged(target, &query, &question, &twice) != text {
        return differs("twice", "callbacks that come twice matter");
    }
    let ours = digest(&serde_json::from_str(&text).unwrap(), target, &inputs);
    let recorded = std::iter::once(&vector.output["digest"])
        .chain(vector.output.get("other_digests").and_then(Value::as_array).into_iter().flatten());
    let mut first = None;
    for recorded in recorded {
        let difference = compare(&ours, &normal(recorded))?;
        first.get_or_insert(difference);
    }
    first
}

fn all_failed(vector: &Vector) -> bool {
    vector.output["folds"]
        .as_array()
        .is_some_and(|folds| folds.iter().all(|fold| fold.get("error").is_some()))
}

fn graph_names(callback: &Value) -> Vec<String> {
    let graphs = callback["response"]["message"]["auxiliary_graphs"].as_object();
    graphs.into_iter().flat_map(|graphs| graphs.keys().cloned()).collect()
}

/// All orders of up to four callbacks, some of more.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count > 4 {
        let turned = (1..count).map(|by| (0..count).map(|place| (place + by) % count).collect());
        return turned.chain([(0..count).rev().collect()]).collect();
    }
    let mut orders = vec![Vec::new()];
    for _ in 0..count {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..count)
                    .filter(|place| !order.contains(place))
                    .map(|place| [order.as_slice(), &[place]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    orders
}

/// What two merged messages have in common whatever their ids, with inferred edges as one per ends.
#[derive(Debug, PartialEq)]
struct Digest {
    results: BTreeMap<String, BTreeMap<&'static str, String>>,
    nodes: BTreeSet<String>,
    edges: BTreeSet<String>,
    graphs: BTreeMap<String, BTreeSet<String>>,
}

fn compare(ours: &Digest, recorded: &Digest) -> Difference {
    if ours.results.keys().ne(recorded.results.keys()) {
        let keys = |digest: &Digest| digest.results.keys().cloned().collect::<BTreeSet<_>>();
        let (ours, recorded) = (keys(ours), keys(recorded));
        return differs("results", more_and_fewer(&ours, &recorded));
    }
    for (key, result) in &ours.results {
        for (part, value) in result {
            let other = recorded.results[key].get(part);
            if other != Some(value) {
                return differs(part, format!("of {key}: {value} where the peer has {other:?}"));
            }
        }
    }
    let sets = [("nodes", &ours.nodes, &recorded.nodes), ("edges", &ours.edges, &recorded.edges)];
    for (what, ours, recorded) in sets {
        if ours != recorded {
            return differs(what, more_and_fewer(ours, recorded));
        }
    }
    if ours.graphs == recorded.graphs { None } else { differs("graphs", "auxiliary graphs differ") }
}

fn more_and_fewer(ours: &BTreeSet<String>, recorded: &BTreeSet<String>) -> String {
    let more: Vec<_> = ours.difference(recorded).collect();
    let fewer: Vec<_> = recorded.difference(ours).collect();
    format!("more {more:?}, fewer {fewer:?}")
}

fn texts(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| item.as_str().map_or_else(|| canonical(item), str::to_owned))
        .collect()
}

fn set(items: impl IntoIterator<Item = String>) -> String {
    format!("{:?}", items.into_iter().collect::<BTreeSet<_>>())
}

/// A recorded digest.
fn normal(recorded: &Value) -> Digest {
    let results = recorded["results"].as_array().into_iter().flatten().map(|result| {
        let per_key = |name: &str| {
            let entries = result[name].as_object().into_iter().flatten();
            set(entries
                .filter(|(_, list)| !texts(list).is_empty())
                .map(|(key, list)| format!("{key}: {}", set(texts(list)))))
        };
        let inferred = result["inferred"].as_array().into_iter().flatten().map(inferred_text);
        let paths = result["paths"].as_array().into_iter().flatten();
        let parts = BTreeMap::from([
            ("node_bindings", per_key("node_bindings")),
            ("analyses", result["analyses"].to_string()),
            ("lookup_edges", per_key("lookup_edges")),
            ("inferred", set(inferred)),
            (
                "support_sets",
                set(result["support_sets"].as_array().into_iter().flatten().map(|edges| set(texts(edges)))),
            ),
            (
                "paths",
                set(paths.map(|path| {
                    format!("{} {} {}", path["path"], set(texts(&path["edges"])), path["score"])
                })),
            ),
        ]);
        (set(texts(&result["key"])), parts)
    });
    Digest {
        results: results.collect(),
        nodes: texts(&recorded["kg_nodes"]).into_iter().collect(),
        edges: texts(&recorded["kg_edges"]).into_iter().collect(),
        graphs: recorded["aux_graphs"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, edges)| (name.clone(), texts(edges).into_iter().collect()))
            .collect(),
    }
}

fn inferred_text(edge: &Value) -> String {
    let qualifiers =
        edge.get("qualifiers").filter(|list| !list.is_null()).cloned().unwrap_or_else(|| json!([]));
    format!("{} {} {} {}", edge["subject"], edge["predicate"], edge["object"], set(texts(&qualifiers)))
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(|binding| Some(binding["id"].as_str()?.to_owned()))
        .collect()
}

/// The digest of a message of ours.
fn digest(message: &Value, target: &str, inputs: &BTreeSet<String>) -> Digest {
    let edges = message["knowledge_graph"]["edges"].as_object().unwrap();
    let graphs = message["auxiliary_graphs"].as_object().unwrap();
    let source = format!("infores:shepherd-{target}");
    let is_inferred = |edge: &Value| {
        edge["sources"].as_array().into_iter().flatten().any(|known| {
            known["resource_role"] == "primary_knowledge_source" && known["resource_id"] == source.as_str()
        })
    };
    let open: Vec<&String> = message["query_graph"]["nodes"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, node)| node.get("ids").is_none())
        .map(|(key, _)| key)
        .collect();
    let edges_of = |graph: &str| set(texts(&graphs[graph]["edges"]));
    let results = message["results"].as_array().unwrap().iter().map(|result| {
        let bindings = result["node_bindings"].as_object().unwrap();
        let key = match open.as_slice() {
            [key] => ids(&bindings[*key]),
            _ => bindings
                .iter()
                .flat_map(|(key, list)| ids(list).into_iter().map(move |id| format!("{key}={id}")))
                .collect(),
        };
        let mut looked_up: BTreeMap<&String, BTreeSet<String>> = BTreeMap::new();
        let (mut inferred, mut support, mut paths) = (Vec::new(), Vec::new(), Vec::new());
        for analysis in result["analyses"].as_array().unwrap() {
            for (key, list) in analysis["edge_bindings"].as_object().into_iter().flatten() {
                for id in ids(list) {
                    let edge = &edges[&id];
                    if is_inferred(edge) {
                        inferred.push(inferred_text(edge));
                        let graphs = edge["attributes"].as_array().unwrap().iter();
                        let graphs = graphs
                            .filter(|attribute| attribute["attribute_type_id"] == "biolink:support_graphs");
                        support.extend(
                            graphs
                                .flat_map(|attribute| texts(&attribute["value"]))
                                .map(|graph| edges_of(&graph)),
                        );
                    } else {
                        looked_up.entry(key).or_default().insert(id);
                    }
                }
            }
            for (key, list) in analysis["path_bindings"].as_object().into_iter().flatten() {
                for graph in ids(list) {
                    paths.push(format!(
                        "{} {} {}",
                        json!(key),
                        edges_of(&graph),
                        analysis.get("score").unwrap_or(&Value::Null)
                    ));
                }
            }
        }
        let parts = BTreeMap::from([
            (
                "node_bindings",
                set(bindings
                    .iter()
                    .filter(|(_, list)| !texts(list).is_empty())
                    .map(|(key, list)| format!("{key}: {}", set(texts(list))))),
            ),
            ("analyses", result["analyses"].as_array().unwrap().len().to_string()),
            ("lookup_edges", set(looked_up.into_iter().map(|(key, edges)| format!("{key}: {}", set(edges))))),
            ("inferred", set(inferred)),
            ("support_sets", set(support)),
            ("paths", set(paths)),
        ]);
        (set(key), parts)
    });
    Digest {
        results: results.collect(),
        nodes: message["knowledge_graph"]["nodes"].as_object().unwrap().keys().cloned().collect(),
        edges: edges.iter().filter(|(_, edge)| !is_inferred(edge)).map(|(name, _)| name.clone()).collect(),
        graphs: graphs
            .iter()
            .filter(|(name, _)| inputs.contains(*name))
            .map(|(name, graph)| (name.clone(), texts(&graph["edges"]).into_iter().collect()))
            .collect(),
    }
}

/// What the entry does to a body: the merge takes it as it came, so only what it makes of it counts.
pub(crate) fn callback_body(vector: &Vector) -> Difference {
    let body = vector.input["body"].to_string();
    let readable = shepherd_answers::message::parse(&body).is_ok();
    if readable == vector.ok().is_some() { None } else { differs("readable", readable.to_string()) }
}
