//! JSON lists that are kept as they came until two copies must be united.

use std::sync::Arc;

use foldhash::HashSet;
use serde_json::value::RawValue;

use super::object::Raw;
use crate::canonical::canonical;

/// A list of JSON values, e.g. the attributes of an edge.
#[derive(Clone, Debug, Default)]
pub(crate) enum List<'a> {
    /// Not there, null, or no list at all.
    #[default]
    Absent,
    /// As it came.
    Raw(&'a RawValue),
    /// Made here, the same for many.
    Shared(Arc<RawValue>),
    /// Put together here.
    Items(Vec<Raw<'a>>),
}

impl<'a> List<'a> {
    pub(crate) fn from_raw(raw: &'a RawValue) -> Self {
        if raw.get().starts_with('[') { Self::Raw(raw) } else { Self::Absent }
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Raw(raw) => is_empty_text(raw),
            Self::Shared(raw) => is_empty_text(raw),
            Self::Items(items) => items.is_empty(),
        }
    }

    /// Whether it is there and empty.
    pub(crate) fn is_list_and_empty(&self) -> bool {
        !matches!(self, Self::Absent) && self.is_empty()
    }

    /// The text, where it is in one piece.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Raw(raw) => Some(raw.get()),
            Self::Shared(raw) => Some(raw.get()),
            Self::Absent | Self::Items(_) => None,
        }
    }

    /// The items; none where the text holds something that cannot be read.
    pub(crate) fn items(&self) -> Vec<&RawValue> {
        match self {
            Self::Absent => Vec::new(),
            Self::Raw(raw) => split(raw),
            Self::Shared(raw) => split(raw),
            Self::Items(items) => items.iter().map(AsRef::as_ref).collect(),
        }
    }

    /// Whether both have the same items, in whatever order and spelling.
    pub(crate) fn has_same_items(&self, other: &Self) -> bool {
        if self.text().is_some_and(|text| Some(text) == other.text()) {
            return true;
        }
        let set = |list: &Self| list.items().into_iter().map(canonical).collect::<HashSet<String>>();
        set(self) == set(other)
    }

    pub(crate) fn into_items(self) -> Vec<Raw<'a>> {
        match self {
            Self::Absent => Vec::new(),
            Self::Raw(raw) => split(raw).into_iter().map(Raw::Borrowed).collect(),
            Self::Shared(raw) => split(&raw).into_iter().map(|item| Raw::Owned(item.to_owned())).collect(),
            Self::Items(items) => items,
        }
    }

    /// Adds items at the end.
    pub(crate) fn extend(&mut self, new: impl IntoIterator<Item = Raw<'a>>) {
        let mut items = std::mem::take(self).into_items();
        items.extend(new);
        *self = Self::Items(items);
    }

    /// Takes out the items that are unwanted.
    pub(crate) fn drop_if(&mut self, unwanted: impl Fn(&RawValue) -> bool) {
        if self.items().into_iter().any(&unwanted) {
            let mut items = std::mem::take(self).into_items();
            items.retain(|item| !unwanted(item));
            *self = Self::Items(items);
        }
    }

    /// Adds the items of another copy that are not here yet; key order and white space do not count.
    pub(crate) fn unite(&mut self, other: Self) {
        self.unite_if(other, |_, _| true);
    }

    /// Adds those items of another copy that are not here yet and that, beside this list, are wanted.
    pub(crate) fn unite_if(&mut self, other: Self, wanted: impl Fn(&Self, &RawValue) -> bool) {
        if other.is_empty() || self.text().is_some_and(|text| Some(text) == other.text()) {
            return;
        }
        if self.is_empty() {
            *self = other;
            return;
        }
        let mut known: HashSet<String> = self.items().into_iter().map(canonical).collect();
        let new: Vec<Raw<'a>> = other
            .into_items()
            .into_iter()
            .filter(|item| wanted(self, item) && known.insert(canonical(item)))
            .collect();
        if !new.is_empty() {
            self.extend(new);
        }
    }
}

fn is_empty_text(raw: &RawValue) -> bool {
    let text = raw.get();
    text == "[]" || text.strip_prefix('[').is_some_and(|text| text.trim_ascii_start() == "]")
}

fn split(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> List<'_> {
        List::from_raw(serde_json::from_str(text).unwrap())
    }

    fn united(a: &str, b: &str) -> String {
        let mut united = list(a);
        united.unite(list(b));
        united.items().into_iter().map(RawValue::get).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn what_both_copies_have_is_there_once() {
        assert_eq!(united(r#"[{"a":1,"b":2}]"#, r#"[{"b":2, "a":1},{"c":3}]"#), r#"{"a":1,"b":2},{"c":3}"#);
        assert_eq!(united("[1]", "[1]"), "1");
        assert_eq!(united("null", "[1e-300]"), "1e-300");
        assert_eq!(united("[ 1 ]", "[ ]"), "1");
    }

    #[test]
    fn numbers_that_differ_only_in_late_digits_stay_apart() {
        assert_eq!(
            united("[12345678901234567890]", "[12345678901234567891]"),
            "12345678901234567890,12345678901234567891"
        );
    }
}
