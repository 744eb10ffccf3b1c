//! The dialects of TRAPI that are spoken: 1.5/1.6 and 2.0.
//!
//! Inside there is one form, close to 1.6; what only 2.0 can say is kept beside it. Conversion happens where
//! a message comes in (every reader takes both) and where it goes out (see [`QueryGraph::in_dialect`]).

use std::fmt;
use std::str::FromStr;

use indexmap::IndexMap;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{Members, PathConstraint, QEdge, QNode, QPath, QueryGraph};

mod constraints;

/// A dialect of TRAPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// TRAPI 1.5 and 1.6.
    #[default]
    V1,
    /// TRAPI 2.0.
    V2,
}

/// A text that names no TRAPI version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a TRAPI version such as 1.6 or 2.0")]
pub struct UnknownVersion;

impl FromStr for Dialect {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        match text.trim().trim_start_matches('v').split('.').next() {
            Some("1") => Ok(Self::V1),
            Some("2") => Ok(Self::V2),
            _ => Err(UnknownVersion),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "1.6",
            Self::V2 => "2.0",
        })
    }
}

/// Which dialects a message shows by what it uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signs {
    pub(crate) v1: bool,
    pub(crate) v2: bool,
}

impl Signs {
    /// The dialect, unless the signs are missing or contradict each other.
    pub(crate) fn dialect(self) -> Option<Dialect> {
        match (self.v1, self.v2) {
            (true, false) => Some(Dialect::V1),
            (false, true) => Some(Dialect::V2),
            _ => None,
        }
    }
}

/// A query graph to be written in a dialect.
#[derive(Clone, Copy, Debug)]
pub struct InDialect<'a> {
    graph: &'a QueryGraph,
    dialect: Dialect,
}

impl QueryGraph {
    /// The graph as that dialect spells it.
    pub fn in_dialect(&self, dialect: Dialect) -> InDialect<'_> {
        InDialect { graph: self, dialect }
    }
}

impl Serialize for InDialect<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { graph, dialect } = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("nodes", &Named(&graph.nodes, node_members, dialect))?;
        if !graph.edges.is_empty() {
            map.serialize_entry("edges", &Named(&graph.edges, edge_members, dialect))?;
        }
        if !graph.paths.is_empty() {
            map.serialize_entry("paths", &Named(&graph.paths, path_members, dialect))?;
        }
        graph.extra.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// Things by key, each turned into members when it is written.
struct Named<'a, T>(&'a IndexMap<String, T>, fn(&T, Dialect) -> Members, Dialect);

impl<T> Serialize for Named<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(things, members, dialect) = self;
        serializer.collect_map(things.iter().map(|(key, thing)| (key, members(thing, *dialect))))
    }
}

/// Members as they are, without what 2.0 does not allow: nulls and empty lists.
fn members(thing: &impl Serialize, dialect: Dialect) -> Members {
    let text = serde_json::to_string(thing).unwrap_or_default();
    let mut members: Members = serde_json::from_str(&text).unwrap_or_default();
    if dialect == Dialect::V2 {
        members.retain(|_, value| !matches!(value.get(), "null" | "[]"));
    }
    members
}

fn put(members: &mut Members, name: &str, value: &impl Serialize) {
    if let Ok(value) = serde_json::value::to_raw_value(value) {
        members.insert(name.to_owned(), value);
    }
}

fn node_members(node: &QNode, dialect: Dialect) -> Members {
    let mut members = members(node, dialect);
    // 1.x has no such word; its default comes closest.
    let set = members.get("set_interpretation").map(|raw| raw.get());
    if dialect == Dialect::V1 && set == Some(r#""COLLATE""#) {
        members.shift_remove("set_interpretation");
    }
    if dialect == Dialect::V1 {
        constraints::name_each(&mut members, "constraints");
    }
    members
}

fn edge_members(edge: &QEdge, dialect: Dialect) -> Members {
    let mut members = members(edge, dialect);
    let more = members.shift_remove("constraints");
    let more: Members = more.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    match dialect {
        Dialect::V1 => {
            constraints::spread(&mut members, more);
            constraints::name_each(&mut members, "attribute_constraints");
        }
        Dialect::V2 => constraints::gather(&mut members, edge.qualifier_constraints.as_deref(), more),
    }
    members
}

fn path_members(path: &QPath, dialect: Dialect) -> Members {
    let mut members = members(path, dialect);
    if dialect == Dialect::V2
        && let Some(constraints) = path.constraints.as_deref().filter(|list| !list.is_empty())
    {
        let renamed: Vec<Members> = constraints.iter().map(required_categories).collect();
        put(&mut members, "constraints", &renamed);
    }
    members
}

fn required_categories(constraint: &PathConstraint) -> Members {
    let mut members = members(constraint, Dialect::V2);
    if let Some(categories) = members.shift_remove("intermediate_categories") {
        members.insert("required_intermediate_categories".to_owned(), categories);
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn in_dialect(text: &str, dialect: Dialect) -> String {
        serde_json::to_string(&QueryGraph::parse(text).unwrap().in_dialect(dialect)).unwrap()
    }

    const V2: &str = r#"{"nodes":{"a":{"ids":["X:1"]},"b":{"set_interpretation":"COLLATE"}},"edges":{"e":{"subject":"a","object":"b","constraints":{"knowledge_level":{"behavior":"ALLOW","values":["prediction"]},"attributes":[{"id":"z","value":1e-300}],"qualifiers":[{"biolink:q":"v","biolink:r":"w"}]}}}}"#;

    #[test]
    fn what_came_in_2_0_goes_out_in_2_0() {
        assert_eq!(in_dialect(V2, Dialect::V2), V2);
        let path = r#"{"nodes":{"a":{"ids":["X:1"]},"b":{"ids":["X:2"]}},"paths":{"p":{"subject":"a","object":"b","constraints":[{"required_intermediate_categories":["biolink:Gene"]}]}}}"#;
        assert_eq!(in_dialect(path, Dialect::V2), path);
        assert!(in_dialect(path, Dialect::V1).contains(r#"[{"intermediate_categories":["biolink:Gene"]}]"#));
    }

    #[test]
    fn constraints_of_2_0_are_spread_in_1_6() {
        assert_eq!(
            in_dialect(V2, Dialect::V1),
            r#"{"nodes":{"a":{"ids":["X:1"]},"b":{}},"edges":{"e":{"subject":"a","object":"b","qualifier_constraints":[{"qualifier_set":[{"qualifier_type_id":"biolink:q","qualifier_value":"v"},{"qualifier_type_id":"biolink:r","qualifier_value":"w"}]}],"attribute_constraints":[{"id":"z","value":1e-300,"name":"z"},{"id":"biolink:knowledge_level","name":"knowledge level","operator":"==","value":["prediction"],"not":false}]}}}"#
        );
    }

    #[test]
    fn what_came_in_1_6_goes_out_in_1_6_and_without_nulls_in_2_0() {
        let text = r#"{"nodes":{"a":{"ids":["X:1"],"is_set":false},"b":{"constraints":[],"x":null}},"edges":{"e":{"subject":"a","object":"b","qualifier_constraints":[{"qualifier_set":[{"qualifier_type_id":"q","qualifier_value":"v"}]}],"attribute_constraints":[]}},"y":1.50}"#;
        assert_eq!(in_dialect(text, Dialect::V1), text);
        assert_eq!(
            in_dialect(text, Dialect::V2),
            r#"{"nodes":{"a":{"ids":["X:1"],"is_set":false},"b":{}},"edges":{"e":{"subject":"a","object":"b","constraints":{"qualifiers":[{"q":"v"}]}}},"y":1.50}"#
        );
    }

    #[test]
    fn versions_name_dialects() {
        assert_eq!("1.5.0".parse(), Ok(Dialect::V1));
        assert_eq!("v2.0.0-beta".parse(), Ok(Dialect::V2));
        assert_eq!("two".parse::<Dialect>(), Err(UnknownVersion));
    }
}
