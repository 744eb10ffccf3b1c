//! Where we decided otherwise than the recorded peer: by area, part and quirk. `DECISIONS.md` has a row
//! for each quirk.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::Vector;

struct Exception {
    areas: &'static [&'static str],
    /// Parts that may differ; empty for all.
    parts: &'static [&'static str],
    quirk: &'static str,
    /// Whether a vector shows the quirk.
    shows: fn(&Vector) -> bool,
}

const EXPANSION: &[&str] = &["examine_query", "expand_aragorn", "bte", "pathfinder"];
const LIMITS: &[&str] = &["sort_results_score", "filter_results_top_n", "filter_analyses_top_n"];
const MESSAGES: &[&str] =
    &["sort_results_score", "filter_results_top_n", "filter_analyses_top_n", "filter_kgraph_orphans"];

const EXCEPTIONS: &[Exception] = &[
    Exception {
        areas: EXPANSION,
        parts: &["refused", "kind"],
        quirk: "empty ids pin nothing",
        shows: |vector| nodes(vector).any(|node| node["ids"] == Value::Array(Vec::new())),
    },
    Exception {
        areas: EXPANSION,
        parts: &["kind"],
        quirk: "ends are those of the edge",
        shows: |vector| nodes(vector).count() > 2,
    },
    Exception {
        areas: &["examine_query", "bte"],
        parts: &["refused"],
        quirk: "nothing asked",
        shows: |vector| query_graph(vector)["edges"].as_object().is_none_or(serde_json::Map::is_empty),
    },
    Exception {
        areas: EXPANSION,
        parts: &["refused"],
        quirk: "one end is pinned",
        shows: |vector| {
            let pinned = nodes(vector).filter(|node| is_pinned(node)).count();
            vector.area == "bte" && pinned != 1
        },
    },
    Exception {
        areas: EXPANSION,
        parts: &["direct"],
        quirk: "null is absent",
        shows: |vector| has_null(query_graph(vector)),
    },
    Exception {
        areas: EXPANSION,
        parts: &["peer fails"],
        quirk: "null is absent",
        shows: |vector| has_null(query_graph(vector)) && failed_with(vector, "null"),
    },
    Exception {
        areas: EXPANSION,
        parts: &["peer fails"],
        quirk: "what is missing is not needed",
        shows: |vector| {
            let needed = ["submitter", "parameters", "predicates", "categories"];
            needed.into_iter().any(|what| failed_with(vector, what))
        },
    },
    Exception {
        areas: EXPANSION,
        parts: &["peer fails"],
        quirk: "texts are filled in as texts",
        shows: |vector| failed_with(vector, "template_not_json"),
    },
    Exception {
        areas: &["expand_aragorn", "bte"],
        parts: &["peer fails", "rules"],
        quirk: "a rule's own nodes stay its own",
        shows: |vector| {
            let keys = query_graph(vector)["nodes"].as_object().into_iter().flatten();
            failed_with(vector, "collision") || keys.into_iter().any(|(key, _)| is_rule_variable(key))
        },
    },
    Exception {
        areas: EXPANSION,
        parts: &["rules", "asks"],
        quirk: "all ids are asked for",
        shows: |vector| nodes(vector).any(|node| count(&node["ids"]) > 1),
    },
    Exception {
        areas: &["bte"],
        parts: &["templates"],
        quirk: "qualifiers with and without prefix",
        shows: |vector| query_graph(vector).to_string().contains("\"biolink:object_"),
    },
    Exception {
        areas: &["bte"],
        parts: &["templates"],
        quirk: "a direction only as asked",
        shows: |vector| {
            let graph = query_graph(vector).to_string();
            graph.contains("\"biolink:affects\"") && !graph.contains("object_direction_qualifier")
        },
    },
    Exception {
        areas: &["bte"],
        parts: &["templates"],
        quirk: "any category fits",
        shows: |vector| nodes(vector).any(|node| count(&node["categories"]) > 1),
    },
    Exception {
        areas: &["pathfinder"],
        parts: &["asks"],
        quirk: "a path runs from its subject",
        shows: |vector| {
            let graph = query_graph(vector);
            let first = graph["nodes"].as_object().and_then(|nodes| nodes.keys().next());
            let path = graph["paths"].as_object().and_then(|paths| paths.values().next());
            path.is_some_and(|path| path["subject"].as_str() != first.map(String::as_str))
        },
    },
    Exception {
        areas: &["pathfinder"],
        parts: &["refused"],
        quirk: "a path runs from its subject",
        shows: |vector| {
            let graph = query_graph(vector);
            let paths = graph["paths"].as_object().into_iter().flatten();
            let mut ends = paths.flat_map(|(_, path)| [&path["subject"], &path["object"]]);
            ends.any(|end| graph["nodes"].get(end.as_str().unwrap_or_default()).is_none())
        },
    },
    Exception {
        areas: &["pathfinder"],
        parts: &["peer fails"],
        quirk: "other nodes do not matter to a path",
        shows: |vector| nodes(vector).count() > 2,
    },
    Exception {
        areas: &["pathfinder"],
        parts: &["second pass"],
        quirk: "the second pass replaces nothing",
        shows: |vector| vector.input.get("answer").is_some(),
    },
    Exception {
        areas: &["sipr"],
        parts: &["peer fails"],
        quirk: "targets that nobody knows score nothing",
        shows: |vector| failed_with(vector, "no_target_in_graph"),
    },
    Exception {
        areas: &["merge"],
        parts: &[],
        quirk: "no callback is lost for a flaw",
        shows: |vector| {
            let folds = vector.output["folds"].as_array().into_iter().flatten();
            folds.into_iter().any(|fold| fold.get("error").is_some())
        },
    },
    Exception {
        areas: &["merge"],
        parts: &["results", "node_bindings", "inferred", "support_sets", "graphs", "nodes", "lookup_edges"],
        quirk: "nothing dangles",
        shows: names_what_nobody_delivered,
    },
    Exception {
        areas: &["merge"],
        parts: &["results", "inferred", "support_sets", "node_bindings"],
        quirk: "the pinned node is no centre",
        shows: |vector| {
            callbacks(vector).any(|callback| {
                let graph = &callback["message"]["query_graph"];
                count(&callback["message"]["results"]) > 10
                    && graph["edges"].as_object().is_some_and(|edges| edges.len() > 2)
            })
        },
    },
    Exception {
        areas: &["merge"],
        parts: &["results", "node_bindings", "inferred", "support_sets", "nodes", "edges"],
        quirk: "what is bound to nothing",
        shows: |vector| {
            let results = callbacks(vector).filter_map(|callback| callback["message"]["results"].as_array());
            results.flatten().any(|result| members(&result["node_bindings"]).any(|list| count(list) == 0))
        },
    },
    Exception {
        areas: &["merge"],
        parts: &["inferred", "lookup_edges", "support_sets"],
        quirk: "a lookup stays a lookup",
        shows: |vector| !vector.input["query"].to_string().contains("\"inferred\""),
    },
    Exception {
        areas: &["merge"],
        parts: &["analyses", "paths", "results", "lookup_edges", "node_bindings"],
        quirk: "all callbacks count",
        shows: |vector| {
            callbacks(vector).count() > 1 && !vector.input["query"].to_string().contains("\"inferred\"")
        },
    },
    Exception {
        areas: &["merge"],
        parts: &["inferred"],
        quirk: "an inferred edge ends at the bound node",
        shows: |vector| {
            let nodes = vector.input["query"]["message"]["query_graph"]["nodes"].as_object();
            nodes.into_iter().flatten().any(|(_, node)| count(&node["ids"]) > 1)
        },
    },
    Exception {
        areas: &["merge"],
        parts: &["results", "node_bindings", "inferred", "lookup_edges", "support_sets", "analyses"],
        quirk: "each id of a batch has its own answers",
        shows: |vector| {
            let nodes = vector.input["query"]["message"]["query_graph"]["nodes"].as_object();
            nodes.into_iter().flatten().any(|(_, node)| count(&node["ids"]) > 1)
        },
    },
    Exception {
        areas: &["merge"],
        parts: &["edges", "nodes", "lookup_edges", "inferred", "support_sets", "paths", "graphs"],
        quirk: "an edge of another statement is no copy",
        shows: states_two_things_under_one_id,
    },
    Exception {
        areas: &["merge"],
        parts: &["results", "node_bindings", "lookup_edges", "analyses", "nodes", "edges"],
        quirk: "what the client pinned twice is no repetition",
        shows: |vector| {
            let nodes = vector.input["query"]["message"]["query_graph"]["nodes"].as_object();
            let ids = nodes
                .into_iter()
                .flatten()
                .flat_map(|(_, node)| node["ids"].as_array().into_iter().flatten());
            let mut known = HashSet::new();
            ids.into_iter().any(|id| !known.insert(id.to_string()))
        },
    },
    Exception {
        areas: &["filter_kgraph_orphans"],
        parts: &["knowledge_graph", "auxiliary_graphs"],
        quirk: "a missing name hides nothing",
        shows: names_what_is_missing,
    },
    Exception { areas: MESSAGES, parts: &["peer fails"], quirk: "no operation fails", shows: |_| true },
    Exception {
        areas: LIMITS,
        parts: &["results"],
        quirk: "parameters count",
        shows: |vector| vector.input["operation"].get("parameters").is_some(),
    },
    Exception {
        areas: LIMITS,
        parts: &["results", "peer fails"],
        quirk: "an unusable option is the default",
        shows: |vector| {
            ["max_results", "max_analyses", "ascending_or_descending"].into_iter().any(|name| {
                vector.input["operation"].get(name).is_some_and(|value| {
                    value.as_u64().is_none() && value != "ascending" && value != "descending"
                })
            })
        },
    },
    Exception {
        areas: &["aragorn_score", "arax_rank"],
        parts: &["more scores"],
        quirk: "one flaw costs one result",
        shows: |vector| {
            let places = [&vector.output, &vector.output["ok"]];
            places.into_iter().any(|place| place.get("aborted").is_some_and(|aborted| !aborted.is_null()))
        },
    },
    Exception {
        areas: &["omnicorp"],
        parts: &["edges", "support"],
        quirk: "one flaw costs one result",
        shows: |vector| names_what_is_missing(vector) || query_graph(vector).to_string().contains("\"MANY\""),
    },
    Exception {
        areas: &["omnicorp"],
        parts: &["edges", "support", "nodes"],
        quirk: "counting twice counts once",
        shows: |vector| vector.input.to_string().contains("omnicorp_article_count"),
    },
    Exception {
        areas: &["arax_rank"],
        parts: &["more scores"],
        quirk: "null is absent",
        shows: |vector| vector.input["message"]["message"]["knowledge_graph"].is_null(),
    },
    Exception { areas: &["aragorn_score"], parts: &["mark"], quirk: "no mark for no score", shows: |_| true },
    Exception {
        areas: &["aragorn_score"],
        parts: &["scores"],
        quirk: "an edge within one key does nothing",
        shows: has_edge_within_a_key,
    },
];

#[test]
fn every_exception_is_a_decision() {
    let decisions = include_str!("../../DECISIONS.md");
    for exception in EXCEPTIONS {
        assert!(decisions.contains(&format!("| {} |", exception.quirk)), "{}", exception.quirk);
    }
}

/// The quirk that explains a difference, if one does.
pub(crate) fn explain(vector: &Vector, part: &str) -> Option<&'static str> {
    EXCEPTIONS
        .iter()
        .find(|exception| {
            exception.areas.contains(&vector.area.as_str())
                && (exception.parts.is_empty() || exception.parts.contains(&part))
                && (exception.shows)(vector)
        })
        .map(|exception| exception.quirk)
}

fn query_graph(vector: &Vector) -> &Value {
    &vector.input["message"]["message"]["query_graph"]
}

fn nodes(vector: &Vector) -> impl Iterator<Item = &Value> {
    query_graph(vector)["nodes"].as_object().into_iter().flat_map(|nodes| nodes.values())
}

fn is_pinned(node: &Value) -> bool {
    count(&node["ids"]) > 0
}

/// A key that the recorded rules (`e`, `f`, ...) or templates (`nA`, `nB`, ...) use for nodes of their own.
fn is_rule_variable(key: &str) -> bool {
    matches!(key.as_bytes(), [b'a'..=b'z'] | [b'n', b'A'..=b'Z'])
}

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

fn failed_with(vector: &Vector, kind: &str) -> bool {
    vector.output["error"]["kind"].as_str().is_some_and(|known| known.contains(kind))
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

fn callbacks(vector: &Vector) -> impl Iterator<Item = &Value> {
    vector.input["callbacks"].as_array().into_iter().flatten().map(|callback| &callback["response"])
}

fn has_edge_within_a_key(vector: &Vector) -> bool {
    let message = &vector.input["message"]["message"];
    let results = message["results"].as_array().into_iter().flatten();
    let mut keys = results.flat_map(|result| members(&result["node_bindings"]));
    keys.any(|list| {
        let ids: HashSet<&str> =
            list.as_array().into_iter().flatten().filter_map(|binding| binding["id"].as_str()).collect();
        let has = |end: &Value| end.as_str().is_some_and(|id| ids.contains(id));
        members(&message["knowledge_graph"]["edges"])
            .any(|edge| has(&edge["subject"]) && has(&edge["object"]))
    })
}

fn states_two_things_under_one_id(vector: &Vector) -> bool {
    let mut known: HashMap<&str, [&Value; 4]> = HashMap::new();
    let edges =
        callbacks(vector).filter_map(|callback| callback["message"]["knowledge_graph"]["edges"].as_object());
    edges.flatten().any(|(id, edge)| {
        let statement = ["subject", "predicate", "object", "qualifiers"].map(|name| &edge[name]);
        known.insert(id, statement).is_some_and(|other| other != statement)
    })
}

fn names_what_nobody_delivered(vector: &Vector) -> bool {
    let known: HashSet<&str> =
        callbacks(vector).flat_map(|callback| delivered(&callback["message"])).collect();
    callbacks(vector).any(|callback| named(&callback["message"]).any(|name| !known.contains(name)))
}

fn names_what_is_missing(vector: &Vector) -> bool {
    let message = &vector.input["message"]["message"];
    let known: HashSet<&str> = delivered(message).collect();
    named(message).any(|name| !known.contains(name))
}

/// Names of all nodes, edges and auxiliary graphs of a message.
fn delivered(message: &Value) -> impl Iterator<Item = &str> {
    let graph = &message["knowledge_graph"];
    let parts = [&graph["nodes"], &graph["edges"], &message["auxiliary_graphs"]];
    parts.into_iter().filter_map(Value::as_object).flat_map(|part| part.keys().map(String::as_str))
}

/// Names that bindings, auxiliary graphs and support graph attributes mention.
fn named(message: &Value) -> impl Iterator<Item = &str> {
    let results = message["results"].as_array().into_iter().flatten();
    let bound = results.flat_map(|result| {
        let analyses = result["analyses"].as_array().into_iter().flatten();
        let edges = analyses.flat_map(|analysis| members(&analysis["edge_bindings"]));
        members(&result["node_bindings"]).chain(edges).filter_map(Value::as_array).flatten()
    });
    let bound = bound.filter_map(|binding| binding["id"].as_str());
    let aux = members(&message["auxiliary_graphs"])
        .flat_map(|graph| graph["edges"].as_array().into_iter().flatten());
    let attributes = members(&message["knowledge_graph"]["edges"])
        .flat_map(|edge| edge["attributes"].as_array().into_iter().flatten());
    let support = attributes
        .filter(|attribute| attribute["attribute_type_id"] == "biolink:support_graphs")
        .flat_map(|attribute| attribute["value"].as_array().into_iter().flatten());
    bound.chain(aux.chain(support).filter_map(Value::as_str))
}

fn members(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_object().into_iter().flat_map(|members| members.values())
}
