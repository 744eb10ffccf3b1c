//! What to try first.

use serde_json::{Value, json};

/// Which chemicals treat type 2 diabetes.
pub(crate) fn example_query() -> Value {
    json!({
        "message": { "query_graph": {
            "nodes": {
                "SN": { "categories": ["biolink:ChemicalEntity"] },
                "ON": { "ids": ["MONDO:0005148"], "categories": ["biolink:Disease"] },
            },
            "edges": { "t_edge": {
                "subject": "SN",
                "object": "ON",
                "predicates": ["biolink:treats"],
                "knowledge_type": "inferred",
            } },
        } },
        "parameters": { "timeout": 60 },
    })
}

/// The same, with the place where the response is wanted.
pub(crate) fn example_async_query() -> Value {
    let mut query = example_query();
    query["callback"] = Value::from("https://ars.example.org/callback");
    query
}

/// Statements that testers may ask for.
pub(crate) fn test_data() -> Value {
    json!({
        "source_type": "aggregator",
        "edges": [
            {
                "subject_category": "biolink:SmallMolecule",
                "predicate": "biolink:treats",
                "object_category": "biolink:Disease",
                "subject_id": "CHEBI:6801",
                "object_id": "MONDO:0005148",
            },
            {
                "subject_category": "biolink:SmallMolecule",
                "predicate": "biolink:affects",
                "object_category": "biolink:Gene",
                "subject_id": "CHEBI:45783",
                "object_id": "NCBIGene:25",
            },
        ],
    })
}
