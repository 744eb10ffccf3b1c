//! An auxiliary graph: a set of edges with a name.

use std::borrow::Cow;

use serde::de::MapAccess;

use super::list::List;
use super::object::{Fields, Rest, Text, readable};
use super::table::{EdgeId, once_each};

/// An auxiliary graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuxGraph<'a> {
    pub(crate) edges: Vec<EdgeId>,
    pub(crate) attributes: List<'a>,
    pub(crate) rest: Rest<'a>,
}

impl AuxGraph<'_> {
    /// Takes over the edges and attributes of another copy.
    pub(crate) fn unite(&mut self, other: Self) {
        if self.edges != other.edges {
            self.edges.extend(other.edges);
            once_each(&mut self.edges);
        }
        self.attributes.unite(other.attributes);
        self.rest.fill_from(other.rest);
    }
}

/// An auxiliary graph as it is read, before its edges are numbers.
#[derive(Debug, Default)]
pub(crate) struct AuxGraphText<'a> {
    pub(crate) edges: Vec<Text<'a>>,
    pub(crate) attributes: List<'a>,
    pub(crate) rest: Rest<'a>,
}

impl<'de> Fields<'de> for AuxGraphText<'de> {
    const WHAT: &'static str = "an auxiliary graph";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "edges" => self.edges = map.next_value::<Option<_>>()?.unwrap_or_default(),
            "attributes" => self.attributes = List::from_raw(map.next_value()?),
            _ => self.rest.insert(name, map.next_value()?),
        }
        Ok(())
    }
}

readable!(AuxGraphText);
