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

/// A list, one text, or one text that lists several.
#[expect(clippy::cast_precision_loss, reason = "nobody lists 2^53 publications")]
pub(super) fn count_publications(raw: &RawValue) -> f64 {
    let listed = |text: &str| match (text.matches('|').count(), text.matches(',').count()) {
        (0, commas) => commas + 1,
        (bars, _) => bars + 1,
    };
    if let Some(one) = text(raw) {
        return listed(&one) as f64;
    }
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    match items.as_slice() {
        [one] => text(one).map_or(1, |one| listed(&one)) as f64,
        items => items.len() as f64,
    }
}

/// A number, or a text that is one.
pub(super) fn number(raw: &RawValue) -> Option<f64> {
    let value = match text(raw) {
        Some(text) => text.trim().parse().ok(),
        None => serde_json::from_str(raw.get()).ok(),
    };
    value.filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publications_come_in_many_spellings() {
        let counts = [
            ("[]", 0.0),
            (r#"["PMID:1","PMID:2"]"#, 2.0),
            (r#""PMID:1""#, 1.0),
            (r#"["PMID:1|2|3"]"#, 3.0),
            (r#""PMID:1,2""#, 2.0),
            (r#"["PMID:1|2,3"]"#, 2.0),
            ("[7]", 1.0),
            ("null", 0.0),
            (r#"{"a":1}"#, 0.0),
            ("5", 0.0),
        ];
        for (text, count) in counts {
            assert!((count_publications(serde_json::from_str(text).unwrap()) - count).abs() < 0.5, "{text}");
        }
    }
}
