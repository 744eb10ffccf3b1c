//! Edges: an id, evidence and provenance that depend on nothing but what the edge says.

use serde_json::{Value, json};

use super::question::stable_hash;

/// Where a statement comes from, and what kind of statement that makes it.
struct Source {
    infores: &'static str,
    knowledge_level: &'static str,
    agent_type: &'static str,
}

const SOURCES: [Source; 5] = [
    Source {
        infores: "infores:drugcentral",
        knowledge_level: "knowledge_assertion",
        agent_type: "manual_agent",
    },
    Source { infores: "infores:ctd", knowledge_level: "knowledge_assertion", agent_type: "manual_agent" },
    Source {
        infores: "infores:text-mining-provider-targeted",
        knowledge_level: "not_provided",
        agent_type: "text_mining_agent",
    },
    Source {
        infores: "infores:icees-kg",
        knowledge_level: "statistical_association",
        agent_type: "data_analysis_pipeline",
    },
    Source { infores: "infores:semmeddb", knowledge_level: "not_provided", agent_type: "text_mining_agent" },
];

/// The edges that say so: one, or for every third pair a second one from another source.
pub(super) fn parallel(
    subject: &str,
    predicate: &str,
    object: &str,
    qualifiers: &[Value],
) -> Vec<(String, Value)> {
    let count = if stable_hash(&[subject, predicate, object]).is_multiple_of(3) { 2 } else { 1 };
    (0..count).map(|nth| edge(subject, predicate, object, qualifiers, nth)).collect()
}

/// The content of the edge with this id, or of the first one that says so where the id is no edge's of ours.
pub(super) fn of_id(id: &str, [subject, predicate, object]: [String; 3], qualifiers: &[Value]) -> Value {
    let nth = |nth| edge(&subject, &predicate, &object, qualifiers, nth);
    let all = (0..SOURCES.len() as u64).map(nth);
    let known = all.into_iter().find(|(known, _)| known == id);
    known.unwrap_or_else(|| nth(0)).1
}

/// The id and the content of the `nth` edge that says so.
pub(super) fn edge(
    subject: &str,
    predicate: &str,
    object: &str,
    qualifiers: &[Value],
    nth: u64,
) -> (String, Value) {
    let said: String = qualifiers.iter().map(Value::to_string).collect();
    let hash = stable_hash(&[subject, predicate, object, &said]);
    let source = &SOURCES[usize::try_from((hash + nth) % SOURCES.len() as u64).unwrap_or(0)];
    let id = format!("{:016x}", stable_hash(&[subject, predicate, object, &said, source.infores]));
    let mut edge = json!({
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "sources": [
            { "resource_id": source.infores, "resource_role": "primary_knowledge_source" },
            {
                "resource_id": "infores:retriever",
                "resource_role": "aggregator_knowledge_source",
                "upstream_resource_ids": [source.infores],
            },
        ],
        "attributes": attributes(source, hash + nth),
    });
    if !qualifiers.is_empty() {
        edge["qualifiers"] = Value::Array(qualifiers.to_vec());
    }
    (id, edge)
}

fn attributes(source: &Source, hash: u64) -> Value {
    let publications: Vec<String> =
        (0..=hash % 7).map(|nth| format!("PMID:{}", 10_000_000 + (hash >> 8) % 20_000_000 + nth)).collect();
    json!([
        {
            "attribute_type_id": "biolink:knowledge_level",
            "value": source.knowledge_level,
            "attribute_source": source.infores,
        },
        {
            "attribute_type_id": "biolink:agent_type",
            "value": source.agent_type,
            "attribute_source": source.infores,
        },
        {
            "attribute_type_id": "biolink:publications",
            "value": publications,
            "value_type_id": "linkml:Uriorcurie",
            "attribute_source": "infores:retriever",
        },
    ])
}
