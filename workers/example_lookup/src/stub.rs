//! The made-up answer.

use serde_json::{Map, Value, json};
use trapi::{QEdge, QueryGraph};

const PRIMARY_SOURCE: &str = "infores:shepherd-example";

/// One result that binds every node and edge of `graph`, as the body of a callback.
pub(crate) fn answer(graph: &QueryGraph) -> Vec<u8> {
    let mut nodes = Map::new();
    let mut node_bindings = Map::new();
    for (key, node) in &graph.nodes {
        let ids = node.ids.as_deref().filter(|ids| !ids.is_empty());
        let id = ids.and_then(<[String]>::first).cloned().unwrap_or_else(|| format!("EXAMPLE:{key}"));
        let categories = node.categories.as_deref().filter(|categories| !categories.is_empty());
        let categories = categories.map_or_else(|| json!(["biolink:NamedThing"]), |some| json!(some));
        let name = format!("example node {key}");
        nodes.insert(id.clone(), json!({"name": name, "categories": categories, "attributes": []}));
        node_bindings.insert(key.clone(), json!([{"id": id, "attributes": []}]));
    }
    let bound = |key: &str| node_bindings.get(key).and_then(|bindings| bindings.pointer("/0/id")).cloned();
    let mut edges = Map::new();
    let mut edge_bindings = Map::new();
    for (key, edge) in &graph.edges {
        let (Some(subject), Some(object)) = (bound(&edge.subject), bound(&edge.object)) else { continue };
        let id = format!("example-{key}");
        edges.insert(id.clone(), made_up(&subject, edge, &object));
        edge_bindings.insert(key.clone(), json!([{"id": id, "attributes": []}]));
    }
    let result = json!({
        "node_bindings": node_bindings,
        "analyses": [{"resource_id": PRIMARY_SOURCE, "edge_bindings": edge_bindings, "score": 1.0}],
    });
    let message = json!({
        "query_graph": graph,
        "knowledge_graph": {"nodes": nodes, "edges": edges},
        "results": [result],
        "auxiliary_graphs": {},
    });
    json!({"message": message, "status": "Success", "logs": []}).to_string().into_bytes()
}

fn made_up(subject: &Value, edge: &QEdge, object: &Value) -> Value {
    let predicate = edge.predicates.as_deref().and_then(<[String]>::first);
    let predicate = predicate.map_or("biolink:related_to", String::as_str);
    json!({
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "sources": [{"resource_id": PRIMARY_SOURCE, "resource_role": "primary_knowledge_source"}],
        "attributes": [
            {"attribute_type_id": "biolink:knowledge_level", "value": "not_provided"},
            {"attribute_type_id": "biolink:agent_type", "value": "not_provided"},
        ],
    })
}
