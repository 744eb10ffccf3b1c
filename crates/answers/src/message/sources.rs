//! The sources of an edge, one entry per resource and role.

use std::borrow::Cow;
use std::sync::LazyLock;

use indexmap::IndexMap;
use memchr::memmem;
use serde_json::value::RawValue;

use super::list::List;
use super::object::Raw;
use crate::canonical::canonical;

static RESOURCE: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new("\"resource_id\":\""));
static ROLE: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new("\"resource_role\":\""));

type Members<'m> = IndexMap<Cow<'m, str>, &'m RawValue>;

/// Adds the sources of another copy of the edge. Two entries for one resource in one role become one: a
/// second primary source, say, would be taken for a contradiction.
pub(crate) fn unite<'a>(known: &mut List<'a>, other: List<'a>) {
    if other.is_empty() || known.text().is_some_and(|text| Some(text) == other.text()) {
        return;
    }
    if known.is_empty() {
        *known = other;
        return;
    }
    let mut entries: IndexMap<String, Raw<'a>> = IndexMap::new();
    for item in std::mem::take(known).into_items().into_iter().chain(other.into_items()) {
        match entries.entry(place(&item)) {
            indexmap::map::Entry::Vacant(slot) => {
                slot.insert(item);
            }
            indexmap::map::Entry::Occupied(mut slot) => {
                if let Some(both) = both(slot.get(), &item) {
                    slot.insert(both);
                }
            }
        }
    }
    known.extend(entries.into_values());
}

/// Takes out entries without a resource or a role, which readers refuse.
pub(crate) fn keep_usable(sources: &mut List<'_>) {
    if sources.text().is_some_and(looks_usable) || sources.is_empty() {
        return;
    }
    let is_usable = |entry: &RawValue| {
        let members = members(entry);
        ["resource_id", "resource_role"].into_iter().all(|name| {
            members.get(name).is_some_and(|raw| raw.get().len() > 2 && raw.get().starts_with('"'))
        })
    };
    if sources.items().into_iter().all(is_usable) {
        return;
    }
    let mut entries = std::mem::take(sources).into_items();
    entries.retain(|entry| is_usable(entry));
    *sources = List::Items(entries);
}

/// Whether every object in a text has a resource and a role with a text, as nearly all have: a search costs a
/// fraction of reading them.
fn looks_usable(text: &str) -> bool {
    let objects = memchr::memchr_iter(b'{', text.as_bytes()).count();
    let has = |finder: &memmem::Finder<'_>| finder.find_iter(text.as_bytes()).count() == objects;
    has(&RESOURCE) && has(&ROLE)
}

/// What makes two entries one; entries without it are one if they say the same.
fn place(entry: &RawValue) -> String {
    let members = members(entry);
    let text = |name: &str| members.get(name).map(|raw| raw.get()).filter(|text| text.starts_with('"'));
    match (text("resource_id"), text("resource_role")) {
        (Some(resource), Some(role)) => format!("{resource} {role}"),
        _ => canonical(entry),
    }
}

fn members(entry: &RawValue) -> Members<'_> {
    serde_json::from_str(entry.get()).unwrap_or_default()
}

/// Both entries as one: lists united, what is missing taken over; none where that adds nothing.
fn both<'a>(one: &RawValue, other: &RawValue) -> Option<Raw<'a>> {
    if one.get() == other.get() {
        return None;
    }
    let mut united: IndexMap<Cow<'_, str>, Box<RawValue>> =
        members(one).into_iter().map(|(name, raw)| (name, raw.to_owned())).collect();
    for (name, raw) in members(other) {
        let known = united.get(&name).map(|known| known.get().to_owned());
        match known.as_deref() {
            None | Some("null") => {
                united.insert(name, raw.to_owned());
            }
            Some(text) => {
                let mut list =
                    serde_json::from_str::<&RawValue>(text).map(List::from_raw).unwrap_or_default();
                list.unite(List::from_raw(raw));
                let items = list.items();
                if !items.is_empty()
                    && let Ok(items) = serde_json::value::to_raw_value(&items)
                {
                    united.insert(name, items);
                }
            }
        }
    }
    serde_json::value::to_raw_value(&united).ok().map(Raw::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn united(one: &str, other: &str) -> String {
        let list = |text| List::from_raw(serde_json::from_str(text).unwrap());
        let mut known = list(one);
        unite(&mut known, list(other));
        known.items().into_iter().map(RawValue::get).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn one_resource_in_one_role_is_one_entry() {
        assert_eq!(
            united(
                r#"[{"resource_id":"a","resource_role":"p","upstream_resource_ids":["x"]}]"#,
                r#"[{"resource_id":"a","resource_role":"p","upstream_resource_ids":["x","y"],"n":1},{"resource_id":"a","resource_role":"q"}]"#
            ),
            r#"{"resource_id":"a","resource_role":"p","upstream_resource_ids":["x","y"],"n":1},{"resource_id":"a","resource_role":"q"}"#
        );
    }

    #[test]
    fn entries_without_a_resource_or_a_role_are_taken_out() {
        let kept = |text: &str| {
            let mut sources = List::from_raw(serde_json::from_str(text).unwrap());
            keep_usable(&mut sources);
            sources.items().into_iter().map(RawValue::get).collect::<Vec<_>>().join(",")
        };
        let good = r#"{"resource_id":"a","resource_role":"p"}"#;
        let spaced = r#"{ "resource_id": "a", "resource_role": "p", "x": {} }"#;
        assert_eq!(kept(&format!("[{good},{spaced}]")), format!("{good},{spaced}"));
        let bad = r#"{"resource_id":"a"},{"resource_id":"","resource_role":"p"},{"resource_id":7,"resource_role":"p"},null,1"#;
        assert_eq!(kept(&format!("[{good},{bad}]")), good);
        assert_eq!(kept("[{}]"), "");
    }

    #[test]
    fn odd_entries_stay_unless_they_are_there_already() {
        assert_eq!(united(r#"[1,{"a":2}]"#, r#"[{"a": 2},"x"]"#), r#"1,{"a":2},"x""#);
    }
}
