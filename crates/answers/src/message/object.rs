//! Reading JSON objects without copying: texts borrow from the body, unknown members stay raw slices.
//!
//! A repeated member overwrites the one before, as in most JSON readers, so nothing is written twice.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An owned or borrowed piece of JSON.
pub(crate) type Raw<'a> = Cow<'a, RawValue>;

/// A text that borrows from the body unless it holds escapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// An object read member by member.
pub(crate) trait Fields<'de>: Default {
    /// What it is, for error messages.
    const WHAT: &'static str;

    /// Reads the value of one member.
    fn field<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error>;
}

/// Reads an object; to be called from `Deserialize` implementations.
pub(crate) fn read<'de, T: Fields<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct FieldsVisitor<T>(PhantomData<T>);
    impl<'de, T: Fields<'de>> Visitor<'de> for FieldsVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{} (an object)", T::WHAT)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let mut object = T::default();
            while let Some(Text(name)) = map.next_key()? {
                object.field(name, &mut map)?;
            }
            Ok(object)
        }
    }
    deserializer.deserialize_map(FieldsVisitor(PhantomData))
}

/// Makes a [`Fields`] type readable.
macro_rules! readable {
    ($type:ident) => {
        impl<'de> serde::Deserialize<'de> for $type<'de> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::message::object::read(deserializer)
            }
        }
    };
}
pub(crate) use readable;

/// The entries of an object in order; null is empty.
#[derive(Debug)]
pub(crate) struct Entries<'a, T>(pub(crate) Vec<(Cow<'a, str>, T)>);

impl<T> Default for Entries<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<'de, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Entries<'de, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or null")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Entries::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(Text(name)) = map.next_key()? {
                    entries.push((name, map.next_value()?));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_any(EntriesVisitor(PhantomData))
    }
}

/// Members that nobody here needs; nothing is allocated where there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rest<'a>(Option<Box<IndexMap<Cow<'a, str>, &'a RawValue, RandomState>>>);

impl<'a> Rest<'a> {
    pub(crate) fn insert(&mut self, name: Cow<'a, str>, value: &'a RawValue) {
        self.0.get_or_insert_default().insert(name, value);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.as_ref()?.get(name).copied()
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<&'a RawValue> {
        self.0.as_mut()?.shift_remove(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().flat_map(|map| map.iter()).map(|(name, value)| (name.as_ref(), *value))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|map| map.is_empty())
    }

    /// Takes over what is not here yet.
    pub(crate) fn fill_from(&mut self, other: Self) {
        for (name, value) in other.0.into_iter().flat_map(|map| *map) {
            self.0.get_or_insert_default().entry(name).or_insert(value);
        }
    }
}

/// Whether a raw value says nothing: null.
pub(crate) fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}
