//! A node of the knowledge graph.

use std::borrow::Cow;

use serde::de::MapAccess;
use serde_json::value::RawValue;
use trapi::biolink::is_a;

use super::list::List;
use super::object::{Fields, Rest, is_null, readable};
use super::write::NAMED_THING;

/// A node: its name and lists as they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node<'a> {
    pub(crate) name: Option<&'a RawValue>,
    pub(crate) categories: List<'a>,
    pub(crate) attributes: List<'a>,
    pub(crate) rest: Rest<'a>,
}

impl<'de> Fields<'de> for Node<'de> {
    const WHAT: &'static str = "a node";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        let value: &'de RawValue = map.next_value()?;
        match name.as_ref() {
            "name" => self.name = (!is_null(value)).then_some(value),
            "categories" => self.categories = List::from_raw(value),
            "attributes" => self.attributes = List::from_raw(value),
            _ => self.rest.insert(name, value),
        }
        Ok(())
    }
}

readable!(Node);

impl Node<'_> {
    /// Takes over what another copy of the node knows: the first name that says something stays.
    pub(crate) fn unite(&mut self, other: Self) {
        if self.name.is_none_or(|name| name.get() == r#""""#) {
            self.name = other.name.or(self.name);
        }
        self.categories.unite(other.categories);
        self.attributes.unite(other.attributes);
        self.rest.fill_from(other.rest);
    }

    /// Takes over what a fuller copy knows. Where this one only says that it is a thing, which is what is written for
    /// a node without categories, the copy's categories count.
    pub(crate) fn fill(&mut self, fuller: Self) {
        if !fuller.categories.is_empty() && self.categories.text() == Some(NAMED_THING) {
            self.categories = List::Absent;
        }
        self.unite(fuller);
    }

    /// Whether the node is of a category, or of one that descends from it.
    pub(crate) fn is_a(&self, category: &str) -> bool {
        self.categories
            .items()
            .into_iter()
            .any(|item| serde_json::from_str::<String>(item.get()).is_ok_and(|item| is_a(&item, category)))
    }
}
