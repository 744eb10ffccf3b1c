//! An edge of the knowledge graph.
//!
//! The support graphs of an edge are taken out of its attributes, so that they can be followed, united and
//! pruned as numbers, and are put back when it is written.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::list::List;
use super::object::{Fields, Raw, Rest, Text, readable};
use super::sources;
use super::table::{GraphId, NodeId, once_each};
use super::write::NOT_PROVIDED;
use crate::canonical::canonical;

pub(crate) const SUPPORT_GRAPHS: &str = "biolink:support_graphs";

/// Types of the attributes of which an edge has one each; in TRAPI 2.0 they are members of the edge.
pub(super) const KNOWLEDGE_LEVEL: &str = "biolink:knowledge_level";
pub(super) const AGENT_TYPE: &str = "biolink:agent_type";

/// Finds the attributes in which it may stand.
static MARK: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("support_graphs"));

/// An edge between two nodes.
#[derive(Clone, Debug)]
pub(crate) struct Edge<'a> {
    pub(crate) subject: NodeId,
    pub(crate) object: NodeId,
    pub(crate) predicate: Raw<'a>,
    pub(crate) qualifiers: List<'a>,
    /// All but the support graphs.
    pub(crate) attributes: List<'a>,
    pub(crate) sources: List<'a>,
    /// Knowledge level, where it came as a member of its own, as in TRAPI 2.0.
    pub(crate) level: Option<&'a RawValue>,
    /// Agent type, likewise.
    pub(crate) agent: Option<&'a RawValue>,
    pub(crate) support: Option<Box<Support<'a>>>,
    /// Whether this service is written as its last aggregator.
    pub(crate) aggregated: bool,
    pub(crate) rest: Rest<'a>,
}

/// The attribute that names an edge's support graphs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Support<'a> {
    pub(crate) graphs: Vec<GraphId>,
    /// The attribute's other members.
    pub(crate) rest: Rest<'a>,
}

impl Edge<'_> {
    pub(crate) fn support_graphs(&self) -> &[GraphId] {
        self.support.as_ref().map_or(&[], |support| &support.graphs)
    }

    /// Whether an edge under the same id states something else: it is no copy of this one.
    pub(crate) fn disagrees(&self, other: &Edge<'_>) -> bool {
        let same =
            |one: &RawValue, other: &RawValue| one.get() == other.get() || canonical(one) == canonical(other);
        self.subject != other.subject
            || self.object != other.object
            || !same(&self.predicate, &other.predicate)
            || !(self.qualifiers.is_empty()
                || other.qualifiers.is_empty()
                || self.qualifiers.has_same_items(&other.qualifiers))
    }

    /// Takes over what another copy of the edge knows. What the copies disagree on stays as it is here.
    pub(crate) fn unite(&mut self, other: Self) {
        if self.qualifiers.is_empty() {
            self.qualifiers = other.qualifiers;
        }
        self.attributes.unite_if(other.attributes, |known, item| {
            let single = [KNOWLEDGE_LEVEL, AGENT_TYPE].into_iter().find(|kind| names(item, kind));
            single.is_none_or(|kind| !known.items().into_iter().any(|item| names(item, kind)))
        });
        sources::unite(&mut self.sources, other.sources);
        self.level = self.level.or(other.level);
        self.agent = self.agent.or(other.agent);
        if let Some(support) = other.support {
            self.support.get_or_insert_default().unite(*support);
        }
        self.rest.fill_from(other.rest);
    }
}

impl Edge<'_> {
    /// Takes over what a fuller copy knows. Where this one only says that level or agent were not provided, which
    /// is what is written for an edge without content, the copy's word counts.
    pub(crate) fn fill(&mut self, mut fuller: Self) {
        for (kind, own, told) in
            [(KNOWLEDGE_LEVEL, self.level, &mut fuller.level), (AGENT_TYPE, self.agent, &mut fuller.agent)]
        {
            let is_of_kind = |item: &RawValue| names(item, kind);
            let says_more = |item: &RawValue| is_of_kind(item) && !says_nothing(item);
            if told.is_some_and(|raw| raw.get() != NOT_PROVIDED)
                || fuller.attributes.items().into_iter().any(says_more)
            {
                self.attributes.drop_if(|item| is_of_kind(item) && says_nothing(item));
            }
            // said already, the other dialect's way
            let mut said = [&self.attributes, &fuller.attributes].into_iter().flat_map(List::items);
            if own.is_some() || said.any(is_of_kind) {
                *told = None;
            }
        }
        self.unite(fuller);
    }
}

impl Support<'_> {
    pub(crate) fn unite(&mut self, other: Self) {
        self.graphs.extend(other.graphs);
        once_each(&mut self.graphs);
        self.rest.fill_from(other.rest);
    }
}

/// An edge as it is read, before its names are numbers.
#[derive(Debug, Default)]
pub(crate) struct EdgeText<'a> {
    pub(crate) subject: Option<Cow<'a, str>>,
    pub(crate) object: Option<Cow<'a, str>>,
    pub(crate) predicate: Option<&'a RawValue>,
    pub(crate) qualifiers: List<'a>,
    pub(crate) attributes: List<'a>,
    pub(crate) sources: List<'a>,
    pub(crate) level: Option<&'a RawValue>,
    pub(crate) agent: Option<&'a RawValue>,
    pub(crate) rest: Rest<'a>,
}

impl<'de> Fields<'de> for EdgeText<'de> {
    const WHAT: &'static str = "an edge";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "subject" => self.subject = map.next_value::<Option<Text<'de>>>()?.map(|text| text.0),
            "object" => self.object = map.next_value::<Option<Text<'de>>>()?.map(|text| text.0),
            "predicate" => self.predicate = map.next_value()?,
            "qualifiers" => self.qualifiers = List::from_raw(map.next_value()?),
            "attributes" => self.attributes = List::from_raw(map.next_value()?),
            "sources" => self.sources = List::from_raw(map.next_value()?),
            "knowledge_level" => self.level = map.next_value()?,
            "agent_type" => self.agent = map.next_value()?,
            _ => self.rest.insert(name, map.next_value()?),
        }
        Ok(())
    }
}

readable!(EdgeText);

/// A support graph attribute as it is read.
#[derive(Debug, Default)]
pub(crate) struct SupportText<'a> {
    is_support: bool,
    pub(crate) graphs: Vec<Cow<'a, str>>,
    pub(crate) rest: Rest<'a>,
}

impl<'de> Fields<'de> for SupportText<'de> {
    const WHAT: &'static str = "an attribute";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "attribute_type_id" => {
                let text: Option<Text<'de>> = map.next_value()?;
                self.is_support = text.is_some_and(|text| text.0 == SUPPORT_GRAPHS);
            }
            "value" => self.graphs = texts(map.next_value()?),
            _ => self.rest.insert(name, map.next_value()?),
        }
        Ok(())
    }
}

readable!(SupportText);

/// Whether the value of an attribute is `not_provided`.
fn says_nothing(attribute: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct Value<'a> {
        #[serde(borrow)]
        value: Cow<'a, str>,
    }
    let found = serde_json::from_str::<Value<'_>>(attribute.get());
    found.is_ok_and(|found| NOT_PROVIDED.trim_matches('"') == found.value)
}

/// Whether an attribute is of that type.
fn names(attribute: &RawValue, kind: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind<'a> {
        #[serde(borrow)]
        attribute_type_id: Cow<'a, str>,
    }
    attribute.get().contains(kind)
        && serde_json::from_str::<Kind<'_>>(attribute.get())
            .is_ok_and(|found| found.attribute_type_id == kind)
}

/// A list of texts, or a single one.
fn texts(raw: &RawValue) -> Vec<Cow<'_, str>> {
    let list: Result<Vec<Text<'_>>, _> = serde_json::from_str(raw.get());
    let list = list.or_else(|_| serde_json::from_str(raw.get()).map(|text| vec![text]));
    list.unwrap_or_default().into_iter().map(|text| text.0).collect()
}

/// Takes the support graph attributes out of a list of attributes.
pub(crate) fn take_support<'a>(attributes: &mut List<'a>) -> Option<SupportText<'a>> {
    let List::Raw(raw) = *attributes else { return None };
    // Nearly all edges have none: a search costs a hundredth of reading the attributes.
    MARK.find(raw.get().as_bytes())?;
    let items: Vec<&'a RawValue> = serde_json::from_str(raw.get()).ok()?;
    let mut found: Option<SupportText<'a>> = None;
    let mut others = Vec::with_capacity(items.len());
    for item in items {
        match serde_json::from_str::<SupportText<'a>>(item.get()) {
            Ok(support) if support.is_support => match &mut found {
                Some(found) => {
                    found.graphs.extend(support.graphs);
                    found.rest.fill_from(support.rest);
                }
                None => found = Some(support),
            },
            _ => others.push(Raw::Borrowed(item)),
        }
    }
    if found.is_some() {
        *attributes = List::Items(others);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn support_graphs_are_taken_out_of_the_attributes() {
        let text = r#"[{"attribute_type_id":"a","value":["biolink:support_graphs"]},{"attribute_type_id":"biolink:support_graphs","value":["g1","g2"],"x":1},{"attribute_type_id":"biolink:support_graphs","value":"g3"}]"#;
        let mut attributes = List::from_raw(serde_json::from_str(text).unwrap());
        let support = take_support(&mut attributes).unwrap();
        assert_eq!(support.graphs, ["g1", "g2", "g3"]);
        assert_eq!(support.rest.get("x").unwrap().get(), "1");
        let left: Vec<_> = attributes.items().into_iter().map(RawValue::get).collect();
        assert_eq!(left, [r#"{"attribute_type_id":"a","value":["biolink:support_graphs"]}"#]);
    }

    #[test]
    fn odd_attributes_stay_as_they_are() {
        for text in
            [r#"["biolink:support_graphs"]"#, r#"[null,{"attribute_type_id":null,"x":"support_graphs"}]"#]
        {
            let mut attributes = List::from_raw(serde_json::from_str(text).unwrap());
            assert!(take_support(&mut attributes).is_none());
            assert_eq!(attributes.text(), Some(text));
        }
    }
}
