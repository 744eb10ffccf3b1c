//! The query graph: what a query asks for, with everything unknown kept.

use std::str::FromStr;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::dialect::Signs;
use crate::json::{Kind, Object, Path, document, string};
use crate::{Invalid, Members, biolink};

/// A TRAPI query graph. Absent and null members stay absent when written.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QueryGraph {
    /// Query nodes by key, in the order that came.
    pub nodes: IndexMap<String, QNode>,
    /// Query edges by key; empty in a path query.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub edges: IndexMap<String, QEdge>,
    /// Query paths by key; empty in all other queries.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub paths: IndexMap<String, QPath>,
    /// Other members.
    #[serde(flatten)]
    pub extra: Members,
}

/// A query node.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QNode {
    /// CURIEs, any of which may be bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// Biolink categories, any of which may be bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<String>>,
    /// Other members: set interpretation, member ids, constraints.
    #[serde(flatten)]
    pub extra: Members,
}

/// A query edge.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QEdge {
    /// Key of the subject node.
    pub subject: String,
    /// Key of the object node.
    pub object: String,
    /// Biolink predicates, any of which may be bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicates: Option<Vec<String>>,
    /// `lookup` or `inferred`; absent means lookup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge_type: Option<String>,
    /// Sets of qualifiers, any of which an edge may satisfy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qualifier_constraints: Option<Vec<QualifierConstraint>>,
    /// Other members: attribute constraints.
    #[serde(flatten)]
    pub extra: Members,
}

/// One set of qualifiers, all of which an edge must have.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QualifierConstraint {
    /// The qualifiers.
    pub qualifier_set: Vec<Qualifier>,
    /// Other members.
    #[serde(flatten)]
    pub extra: Members,
}

/// A qualifier of an edge, e.g. `biolink:object_aspect_qualifier` = `activity`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Qualifier {
    /// What is qualified.
    pub qualifier_type_id: String,
    /// How.
    pub qualifier_value: String,
    /// Other members.
    #[serde(flatten)]
    pub extra: Members,
}

/// A query path: any way from one pinned node to another.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QPath {
    /// Key of the node where it starts.
    pub subject: String,
    /// Key of the node where it ends.
    pub object: String,
    /// Biolink predicates of its edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicates: Option<Vec<String>>,
    /// What it must pass: one of these. Written as null where there are none, since some readers of 1.6
    /// require the member and others refuse an empty list.
    #[serde(serialize_with = "list_or_null")]
    pub constraints: Option<Vec<PathConstraint>>,
    /// Other members.
    #[serde(flatten)]
    pub extra: Members,
}

#[expect(clippy::ref_option, reason = "the form that the derived code calls")]
fn list_or_null<S: Serializer>(list: &Option<Vec<PathConstraint>>, serializer: S) -> Result<S::Ok, S::Error> {
    list.as_ref().filter(|list| !list.is_empty()).serialize(serializer)
}

/// What a path must pass.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PathConstraint {
    /// Categories, each of which some node between the ends must have; spelled
    /// `required_intermediate_categories` in TRAPI 2.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intermediate_categories: Option<Vec<String>>,
    /// Other members.
    #[serde(flatten)]
    pub extra: Members,
}

impl PathConstraint {
    /// The categories that say something: all but `biolink:NamedThing`, which everything is.
    pub fn wanted(&self) -> impl Iterator<Item = &String> {
        self.intermediate_categories.iter().flatten().filter(|category| *category != biolink::NAMED_THING)
    }
}

impl QNode {
    /// Whether ids are given; an empty list pins nothing.
    pub fn is_pinned(&self) -> bool {
        self.ids.as_ref().is_some_and(|ids| !ids.is_empty())
    }

    /// Whether several ids are given, each of which is a question of its own: TRAPI's BATCH, which is meant
    /// where no set interpretation is given, too.
    pub fn is_batch(&self) -> bool {
        let mut ids = self.ids.iter().flatten();
        let first = ids.next();
        let set = self.extra.get("set_interpretation").map(|raw| raw.get());
        ids.any(|id| Some(id) != first) && matches!(set, None | Some("null" | "\"BATCH\""))
    }

    fn read(raw: &RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        let mut object = Object::read(raw, path)?;
        Ok(Self {
            ids: object.take_strings("ids", path)?,
            categories: object.take_strings("categories", path)?,
            extra: object.rest(),
        })
    }
}

impl QEdge {
    /// Whether the edge asks for inferred knowledge.
    pub fn is_inferred(&self) -> bool {
        self.knowledge_type.as_deref() == Some("inferred")
    }

    fn read(raw: &RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        let mut object = Object::read(raw, path)?;
        let constraints = object.take_if("constraints", Kind::Object);
        let mut edge = Self {
            subject: object.require_string("subject", path)?,
            object: object.require_string("object", path)?,
            predicates: object.take_strings("predicates", path)?,
            knowledge_type: object.take_string("knowledge_type", path)?,
            qualifier_constraints: object.take_list(
                "qualifier_constraints",
                path,
                QualifierConstraint::read,
            )?,
            extra: object.rest(),
        };
        if let Some(raw) = constraints {
            edge.take_constraints(raw, &Path::Key(path, "constraints"))?;
        }
        Ok(edge)
    }

    /// Takes TRAPI 2.0's constraints apart; what 1.6 has no member for stays in `constraints`.
    fn take_constraints(&mut self, raw: &RawValue, path: &Path<'_>) -> Result<(), Invalid> {
        let mut object = Object::read(raw, path)?;
        if let Some(sets) = object.take_list("qualifiers", path, QualifierConstraint::read_set)? {
            self.qualifier_constraints.get_or_insert_default().extend(sets);
        }
        if let Some(attributes) = object.take("attributes") {
            self.extra.entry("attribute_constraints".to_owned()).or_insert(attributes.to_owned());
        }
        let rest = object.rest();
        if !rest.is_empty()
            && let Ok(rest) = serde_json::value::to_raw_value(&rest)
        {
            self.extra.insert("constraints".to_owned(), rest);
        }
        Ok(())
    }
}

impl QualifierConstraint {
    /// TRAPI 2.0's form: an object from types to values.
    fn read_set(raw: &RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        let qualifier_set = Object::read(raw, path)?.entries(path, string)?;
        let qualifier_set = qualifier_set.into_iter().map(|(qualifier_type_id, qualifier_value)| Qualifier {
            qualifier_type_id,
            qualifier_value,
            extra: Members::new(),
        });
        Ok(Self { qualifier_set: qualifier_set.collect(), extra: Members::new() })
    }

    fn read(raw: &RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        let mut object = Object::read(raw, path)?;
        Ok(Self {
            qualifier_set: object.take_list("qualifier_set", path, Qualifier::read)?.unwrap_or_default(),
            extra: object.rest(),
        })
    }
}

impl Qualifier {
    fn read(raw: &RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        let mut object = Object::read(raw, path)?;
        Ok(Self {
            qualifier_type_id: object.require_string("qualifier_type_id", path)?,
            qualifier_value: object.require_string("qualifier_value", path)?,
            extra: object.rest(),
        })
    }
}

impl QPath {
    fn read(raw: &RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        let mut object = Object::read(raw, path)?;
        Ok(Self {
            subject: object.require_string("subject", path)?,
            object: object.require_string("object", path)?,
            predicates: object.take_strings("predicates", path)?,
            constraints: object.take_list("constraints", path, PathConstraint::read)?,
            extra: object.rest(),
        })
    }
}

impl PathConstraint {
    fn read(raw: &RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        let mut object = Object::read(raw, path)?;
        let categories = object.take_strings("intermediate_categories", path)?;
        let required = object.take_strings("required_intermediate_categories", path)?;
        Ok(Self { intermediate_categories: categories.or(required), extra: object.rest() })
    }
}

impl QueryGraph {
    /// Reads a query graph by itself; paths in errors begin at `message.query_graph`.
    ///
    /// # Errors
    /// When the text is no JSON object or a known member has another type than TRAPI's.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let message = Path::Key(&Path::Root, "message");
        let path = Path::Key(&message, "query_graph");
        Self::read(document(text, &path)?, &path)
    }

    pub(crate) fn read(raw: &RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        let mut object = Object::read(raw, path)?;
        Ok(Self {
            nodes: object.take_named("nodes", path, QNode::read)?,
            edges: object.take_named("edges", path, QEdge::read)?,
            paths: object.take_named("paths", path, QPath::read)?,
            extra: object.rest(),
        })
    }
}

/// Which dialects the text of a query graph shows.
pub(crate) fn signs(raw: &RawValue) -> Signs {
    let text = raw.get();
    let names = |name: &str| text.contains(name);
    Signs {
        v1: names(r#""qualifier_constraints""#)
            || names(r#""attribute_constraints""#)
            || names(r#""intermediate_categories""#),
        v2: names(r#""COLLATE""#)
            || names(r#""required_intermediate_categories""#)
            || edges_have_constraint_objects(raw),
    }
}

fn edges_have_constraint_objects(raw: &RawValue) -> bool {
    let path = Path::Root;
    let edges = Object::read(raw, &path).and_then(|mut graph| {
        graph.take_named("edges", &path, |raw, path| {
            Ok(Object::read(raw, path)?.take_if("constraints", Kind::Object).is_some())
        })
    });
    edges.is_ok_and(|edges| edges.into_values().any(|has| has))
}

impl FromStr for QueryGraph {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::parse(text)
    }
}

impl<'de> Deserialize<'de> for QueryGraph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_survives_as_it_was_spelled() {
        let text = r#"{"nodes":{"a":{"ids":["X:1"],"is_set":false,"x":1e-300}},"edges":{"e":{"subject":"a","object":"a","attribute_constraints":[{"value":12345678901234567890}]}},"y":[null]}"#;
        assert_eq!(serde_json::to_string(&QueryGraph::parse(text).unwrap()).unwrap(), text);
    }

    #[test]
    fn null_is_absent_and_empty_is_kept() {
        let text = r#"{"nodes":{"a":{"ids":null,"categories":[]}},"edges":{"e":{"subject":"a","object":"a","knowledge_type":null,"qualifier_constraints":[]}},"paths":null}"#;
        let graph = QueryGraph::parse(text).unwrap();
        assert_eq!(
            serde_json::to_string(&graph).unwrap(),
            r#"{"nodes":{"a":{"categories":[]}},"edges":{"e":{"subject":"a","object":"a","qualifier_constraints":[]}}}"#
        );
    }

    #[test]
    fn an_error_names_the_place() {
        let at = |text: &str| QueryGraph::parse(text).unwrap_err().to_string();
        assert_eq!(at("[]"), "message.query_graph: must be an object, not a list");
        assert_eq!(
            at(r#"{"nodes":{"a":7}}"#),
            "message.query_graph.nodes.a: must be an object, not a number"
        );
        assert_eq!(
            at(r#"{"edges":{"e0":{"object":"a"}}}"#),
            "message.query_graph.edges.e0.subject: is missing"
        );
        assert_eq!(
            at(r#"{"nodes":{"a":{"ids":["X:1",{}]}}}"#),
            "message.query_graph.nodes.a.ids[1]: must be a string, not an object"
        );
        assert_eq!(
            at(
                r#"{"edges":{"e":{"subject":"a","object":"b","qualifier_constraints":[{"qualifier_set":[{"qualifier_type_id":"q"}]}]}}}"#
            ),
            "message.query_graph.edges.e.qualifier_constraints[0].qualifier_set[0].qualifier_value: is missing"
        );
        assert_eq!(
            at(r#"{"nodes":{"a":{"ids":["\ud800"]}}}"#),
            "message.query_graph.nodes.a.ids[0]: holds text that is not Unicode"
        );
    }
}
