//! Edges that a persona infers itself.

use std::borrow::Cow;

use serde_json::json;
use serde_json::value::RawValue;

use crate::Message;
use crate::merge::{ids, shared_list, to_raw};
use crate::message::{Edge, EdgeId, GraphId, List, NodeId, Raw, Rest, Support};

/// What the edges that answer one query edge have in common.
pub(crate) struct Inference {
    infores: String,
    predicate_name: String,
    predicate: Box<RawValue>,
    qualifiers: List<'static>,
    attributes: List<'static>,
    sources: List<'static>,
}

impl Inference {
    /// Edges that the source `infores` infers, with the first of the predicates asked for.
    pub(crate) fn new(
        infores: &str,
        predicates: Option<&[String]>,
        qualifiers: List<'static>,
    ) -> Option<Self> {
        let predicate = predicates.and_then(<[String]>::first);
        let predicate_name = predicate.map_or("biolink:related_to", String::as_str).to_owned();
        Some(Self {
            infores: infores.to_owned(),
            predicate: to_raw(&predicate_name)?,
            predicate_name,
            qualifiers,
            attributes: shared_list(&json!([
                {"attribute_type_id": "biolink:agent_type", "value": "computational_model", "attribute_source": infores},
                {"attribute_type_id": "biolink:knowledge_level", "value": "prediction", "attribute_source": infores},
            ])),
            sources: shared_list(&json!([
                {"resource_id": infores, "resource_role": "primary_knowledge_source", "upstream_resource_ids": []},
            ])),
        })
    }

    /// The edge between two nodes that rests on these graphs; one that is there already rests on them, too.
    pub(crate) fn edge(
        &self,
        message: &mut Message<'_>,
        subject: NodeId,
        object: NodeId,
        graphs: Vec<GraphId>,
    ) -> EdgeId {
        let name = ids::inferred_edge(
            &self.infores,
            message.nodes.name(subject),
            &self.predicate_name,
            message.nodes.name(object),
            self.qualifiers.text().unwrap_or_default(),
        );
        let mut support = Support::default();
        support.unite(Support { graphs, rest: Rest::default() });
        let edge = Edge {
            subject,
            object,
            predicate: Raw::Owned(self.predicate.clone()),
            qualifiers: self.qualifiers.clone(),
            attributes: self.attributes.clone(),
            sources: self.sources.clone(),
            level: None,
            agent: None,
            support: Some(Box::new(support)),
            aggregated: false,
            rest: Rest::default(),
        };
        let id = message.edges.intern(Cow::Owned(name));
        match message.edges.slot(id) {
            Some(Some(known)) => known.unite(edge),
            Some(slot) => *slot = Some(edge),
            None => {}
        }
        id
    }
}
