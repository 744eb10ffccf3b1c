//! A result: which nodes of the knowledge graph answer the query graph, and by which edges.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use foldhash::HashMap;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::list::List;
use super::object::{Entries, Fields, Raw, Rest, Text, is_null, readable};
use super::table::{EdgeId, GraphId, KeyId, NodeId, once_each};

/// Bindings of one kind by query graph key, in order.
pub(crate) type Bindings<'a, I> = Vec<(KeyId, Vec<Binding<'a, I>>)>;

/// A result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer<'a> {
    pub(crate) node_bindings: Bindings<'a, NodeId>,
    pub(crate) analyses: Vec<Analysis<'a>>,
    pub(crate) rest: Rest<'a>,
}

/// One way in which a result was reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysis<'a> {
    pub(crate) resource_id: Option<Raw<'a>>,
    pub(crate) edge_bindings: Bindings<'a, EdgeId>,
    pub(crate) path_bindings: Bindings<'a, GraphId>,
    pub(crate) support_graphs: Vec<GraphId>,
    pub(crate) score: Option<Score<'a>>,
    pub(crate) attributes: List<'a>,
    pub(crate) rest: Rest<'a>,
}

/// A score, with the spelling that came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score<'a> {
    pub(crate) value: f64,
    pub(crate) spelling: Option<&'a RawValue>,
}

/// A thing bound to a key of the query graph.
#[derive(Clone, Debug)]
pub(crate) struct Binding<'a, I> {
    pub(crate) id: I,
    /// Only where there are any.
    pub(crate) attributes: Option<&'a RawValue>,
    pub(crate) rest: Rest<'a>,
}

impl Analysis<'_> {
    /// Takes over what another analysis of the same result knows; the better score stays.
    pub(crate) fn unite(&mut self, other: Self) {
        unite_bindings(&mut self.edge_bindings, other.edge_bindings);
        unite_bindings(&mut self.path_bindings, other.path_bindings);
        self.support_graphs.extend(other.support_graphs);
        once_each(&mut self.support_graphs);
        self.score = Score::better(self.score, other.score);
        self.attributes.unite(other.attributes);
        self.resource_id = self.resource_id.take().or(other.resource_id);
        self.rest.fill_from(other.rest);
    }
}

/// Adds bindings to those of the same keys, equal ones included.
pub(crate) fn unite_bindings<'a, I>(known: &mut Bindings<'a, I>, other: Bindings<'a, I>) {
    let places: HashMap<KeyId, usize> = known.iter().map(|(key, _)| *key).zip(0..).collect();
    for (key, list) in other {
        match places.get(&key).and_then(|&place| known.get_mut(place)) {
            Some((_, known)) => known.extend(list),
            None => known.push((key, list)),
        }
    }
}

impl<I> Binding<'_, I> {
    pub(crate) fn plain(id: I) -> Self {
        Self { id, attributes: None, rest: Rest::default() }
    }
}

impl<'a> Score<'a> {
    /// A number that we worked out; none where it is no number.
    pub(crate) fn new(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self { value, spelling: None })
    }

    /// The better of two scores.
    pub(crate) fn better(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) if one.value < other.value => Some(other),
            (one, other) => one.or(other),
        }
    }

    /// A number that came; none for null and all that is no number.
    pub(crate) fn from_raw(raw: &'a RawValue) -> Option<Self> {
        let value: f64 = serde_json::from_str(raw.get()).ok()?;
        value.is_finite().then_some(Self { value, spelling: Some(raw) })
    }
}

/// A result as it is read, before its names are numbers.
#[derive(Debug, Default)]
pub(crate) struct AnswerText<'a> {
    pub(crate) node_bindings: Entries<'a, BindingTexts<'a>>,
    pub(crate) analyses: Vec<AnalysisText<'a>>,
    pub(crate) rest: Rest<'a>,
}

impl<'de> Fields<'de> for AnswerText<'de> {
    const WHAT: &'static str = "a result";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "node_bindings" => self.node_bindings = map.next_value()?,
            "analyses" => self.analyses = map.next_value::<Option<_>>()?.unwrap_or_default(),
            _ => self.rest.insert(name, map.next_value()?),
        }
        Ok(())
    }
}

readable!(AnswerText);

/// An analysis as it is read.
#[derive(Debug, Default)]
pub(crate) struct AnalysisText<'a> {
    pub(crate) resource_id: Option<&'a RawValue>,
    pub(crate) edge_bindings: Entries<'a, BindingTexts<'a>>,
    pub(crate) path_bindings: Entries<'a, BindingTexts<'a>>,
    pub(crate) support_graphs: Vec<Text<'a>>,
    pub(crate) score: Option<Score<'a>>,
    pub(crate) attributes: List<'a>,
    pub(crate) rest: Rest<'a>,
}

impl<'de> Fields<'de> for AnalysisText<'de> {
    const WHAT: &'static str = "an analysis";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "resource_id" => self.resource_id = map.next_value()?,
            "edge_bindings" => self.edge_bindings = map.next_value()?,
            "path_bindings" => self.path_bindings = map.next_value()?,
            "support_graphs" => self.support_graphs = map.next_value::<Option<_>>()?.unwrap_or_default(),
            "score" => self.score = Score::from_raw(map.next_value()?),
            "attributes" => self.attributes = List::from_raw(map.next_value()?),
            _ => self.rest.insert(name, map.next_value()?),
        }
        Ok(())
    }
}

readable!(AnalysisText);

/// A binding as it is read.
#[derive(Debug, Default)]
pub(crate) struct BindingText<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) attributes: Option<&'a RawValue>,
    pub(crate) rest: Rest<'a>,
}

impl<'de> Fields<'de> for BindingText<'de> {
    const WHAT: &'static str = "a binding";

    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        match name.as_ref() {
            "id" => self.id = map.next_value::<Option<Text<'de>>>()?.map(|text| text.0),
            "attributes" => {
                let raw: &'de RawValue = map.next_value()?;
                self.attributes = (!List::from_raw(raw).is_empty()).then_some(raw);
            }
            _ => {
                let value: &'de RawValue = map.next_value()?;
                if !is_null(value) {
                    self.rest.insert(name, value);
                }
            }
        }
        Ok(())
    }
}

readable!(BindingText);

/// The bindings of one key: a list of objects in TRAPI 1.x, an object with a list of ids in 2.0.
#[derive(Debug, Default)]
pub(crate) struct BindingTexts<'a>(pub(crate) Vec<BindingText<'a>>);

impl<'de> Deserialize<'de> for BindingTexts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BindingsVisitor<'a>(PhantomData<&'a ()>);
        impl<'de> Visitor<'de> for BindingsVisitor<'de> {
            type Value = BindingTexts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of bindings, or an object with `ids`")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(BindingTexts::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                // Nearly always one.
                let mut bindings = Vec::with_capacity(1);
                while let Some(binding) = list.next_element::<Option<BindingText<'de>>>()? {
                    bindings.extend(binding);
                }
                Ok(BindingTexts(bindings))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut bindings = Vec::new();
                while let Some(Text(name)) = map.next_key()? {
                    if name == "ids" {
                        let ids: Option<Vec<Text<'de>>> = map.next_value()?;
                        let ids = ids.unwrap_or_default().into_iter();
                        bindings =
                            ids.map(|id| BindingText { id: Some(id.0), ..BindingText::default() }).collect();
                    } else {
                        map.next_value::<serde::de::IgnoredAny>()?;
                    }
                }
                Ok(BindingTexts(bindings))
            }
        }
        deserializer.deserialize_any(BindingsVisitor(PhantomData))
    }
}
