//! Questions to ask: complete TRAPI query bodies as JSON values.

use serde_json::{Map, Value, json};

/// Which chemicals treat `disease`? The creative question, with one inferred edge from `SN` to `ON`.
pub fn treats(disease: &str) -> Value {
    let mut query = one_hop("biolink:ChemicalEntity", "biolink:treats", disease);
    query["message"]["query_graph"]["edges"]["t_edge"]["knowledge_type"] = json!("inferred");
    query["message"]["query_graph"]["nodes"]["ON"]["categories"] = json!(["biolink:Disease"]);
    query
}

/// Which things of `category` stand in relation `predicate` to `object`? A direct lookup, from `SN` to `ON`.
pub fn one_hop(category: &str, predicate: &str, object: &str) -> Value {
    json!({ "message": { "query_graph": {
        "nodes": { "SN": { "categories": [category] }, "ON": { "ids": [object] } },
        "edges": { "t_edge": { "subject": "SN", "object": "ON", "predicates": [predicate] } },
    } } })
}

/// Which chemicals change the activity or abundance of `gene` in `direction` (`increased` or `decreased`)? Inferred.
pub fn affects(gene: &str, direction: &str) -> Value {
    let mut query = one_hop("biolink:ChemicalEntity", "biolink:affects", gene);
    let graph = &mut query["message"]["query_graph"];
    graph["nodes"]["ON"]["categories"] = json!(["biolink:Gene"]);
    graph["edges"]["t_edge"]["knowledge_type"] = json!("inferred");
    graph["edges"]["t_edge"]["qualifier_constraints"] = json!([{ "qualifier_set": [
        { "qualifier_type_id": "biolink:object_aspect_qualifier", "qualifier_value": "activity_or_abundance" },
        { "qualifier_type_id": "biolink:object_direction_qualifier", "qualifier_value": direction },
    ] }]);
    query
}

/// How are `subject` and `object` connected? Nodes `SN` and `ON`, path `p0`.
pub fn pathfinder(subject: &str, object: &str) -> Value {
    json!({ "message": { "query_graph": {
        "nodes": { "SN": { "ids": [subject] }, "ON": { "ids": [object] } },
        "paths": { "p0": { "subject": "SN", "object": "ON", "predicates": ["biolink:related_to"] } },
    } } })
}

/// What is near all of `members`? A question about a set, `SN`, to `ON`.
pub fn set_input(members: &[&str], category: &str) -> Value {
    let mut query = one_hop(category, "biolink:related_to", "uuid:01f9c2f5-4f4e-4a43-9f8e-5c64a1c0a3de");
    let graph = &mut query["message"]["query_graph"];
    graph["nodes"] = json!({
        "SN": { "ids": ["uuid:01f9c2f5-4f4e-4a43-9f8e-5c64a1c0a3de"], "set_interpretation": "MANY", "member_ids": members },
        "ON": { "categories": [category] },
    });
    query
}

/// A chain of lookups from `subject` (`n0`) over one unpinned node for each of `between` to `object`.
pub fn multi_hop(subject: &str, between: &[&str], object: &str) -> Value {
    let last = between.len() + 1;
    let mut nodes = Map::new();
    nodes.insert("n0".to_owned(), json!({ "ids": [subject] }));
    for (position, category) in between.iter().enumerate() {
        nodes.insert(format!("n{}", position + 1), json!({ "categories": [category] }));
    }
    nodes.insert(format!("n{last}"), json!({ "ids": [object] }));
    let edges: Map<String, Value> = (0..last)
        .map(|hop| {
            let edge = json!({
                "subject": format!("n{hop}"),
                "object": format!("n{}", hop + 1),
                "predicates": ["biolink:related_to"],
            });
            (format!("e{hop}"), edge)
        })
        .collect();
    json!({ "message": { "query_graph": { "nodes": nodes, "edges": edges } } })
}

/// `query` with `parameters.timeout` set; any JSON value, so that bad ones can be tried too.
#[must_use]
pub fn with_timeout(mut query: Value, timeout: impl Into<Value>) -> Value {
    query["parameters"]["timeout"] = timeout.into();
    query
}

/// `query` with `callback` set.
#[must_use]
pub fn with_callback(mut query: Value, callback: &str) -> Value {
    query["callback"] = json!(callback);
    query
}
