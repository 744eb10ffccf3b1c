//! Attributes and sources as rankers read them: leniently, one at a time.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use crate::message::List;
use crate::message::object::{Fields, Text, readable};

/// An attribute; texts that are none are empty.
#[derive(Default)]
pub(super) struct AttributeText<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) value: Option<&'a RawValue>,
}

impl<'de> Fields<'de> for AttributeText<'de> {
    const WHAT: &'static str = "an attribute";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "attribute_type_id" => self.kind = text(map.next_value()?).unwrap_or_default(),
            "original_attribute_name" => self.name = text(map.next_value()?).unwrap_or_default(),
            "value" => self.value = Some(map.next_value()?),
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

readable!(AttributeText);

impl AttributeText<'_> {
    /// The original name where there is one, else the type.
    pub(super) fn any_name(&self) -> &str {
        if self.name.is_empty() { &self.kind } else { &self.name }
    }
}

/// The attributes that can be read.
pub(super) fn attributes<'m>(list: &'m List<'_>) -> impl Iterator<Item = AttributeText<'m>> {
    // Nearly always all can be read, in one go.
    let all: Option<Vec<AttributeText<'m>>> = list.text().and_then(|text| serde_json::from_str(text).ok());
    let one_by_one =
        || list.items().into_iter().filter_map(|raw| serde_json::from_str(raw.get()).ok()).collect();
    all.unwrap_or_else(one_by_one).into_iter()
}

#[derive(Default)]
struct SourceText<'a> {
    is_primary: bool,
    resource: Option<Cow<'a, str>>,
}

impl<'de> Fields<'de> for SourceText<'de> {
    const WHAT: &'static str = "a source";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "resource_role" => {
                let role: &'de RawValue = map.next_value()?;
                self.is_primary = role.get() == r#""primary_knowledge_source""#;
            }
            "resource_id" => self.resource = text(map.next_value()?),
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

readable!(SourceText);

/// The first primary source, or where there is none and any will do, the first of all.
pub(super) fn primary_source<'m>(sources: &'m List<'_>, any: bool) -> Option<Cow<'m, str>> {
    let mut first = None;
    for raw in sources.items() {
        let Ok(source) = serde_json::from_str::<SourceText<'_>>(raw.get()) else { continue };
        if source.is_primary {
            return source.resource;
        }
        first = first.or(source.resource);
    }
    first.filter(|_| any)
}

pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}
