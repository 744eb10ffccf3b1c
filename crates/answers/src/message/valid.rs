//! What goes out is valid TRAPI, whatever came in: one bad entry costs itself, not the response.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Message;

static TYPE: LazyLock<Finder<'static>> = LazyLock::new(|| memmem::Finder::new("\"attribute_type_id\":\""));
static VALUE: LazyLock<Finder<'static>> = LazyLock::new(|| memmem::Finder::new("\"value\":"));
static NEXT: LazyLock<Finder<'static>> = LazyLock::new(|| memmem::Finder::new("},{"));
static NULL: LazyLock<Finder<'static>> = LazyLock::new(|| memmem::Finder::new("null"));

impl Message<'_> {
    /// Takes out names that are no texts, categories that are none, and attributes and qualifiers that lack what
    /// TRAPI requires of them: a reader would refuse the whole response for one of these.
    pub fn keep_valid(&mut self) {
        for (_, node) in self.nodes.iter_mut() {
            node.name = node.name.filter(|name| is_text(name));
            node.categories.drop_if(|item| !is_text(item));
            if !node.attributes.text().is_some_and(looks_valid) {
                node.attributes.drop_if(|item| !is_attribute(item));
            }
        }
        for (_, edge) in self.edges.iter_mut() {
            edge.qualifiers.drop_if(|item| !is_qualifier(item));
            if !edge.attributes.text().is_some_and(looks_valid) {
                edge.attributes.drop_if(|item| !is_attribute(item));
            }
        }
    }
}

/// Whether a list is of objects that all have a type and a value, as nearly all are: searches cost a fraction of
/// reading them. What it cannot tell is read.
fn looks_valid(list: &str) -> bool {
    let bytes = list.as_bytes();
    let objects = memchr::memchr_iter(b'{', bytes).count();
    let count = |finder: &Finder<'_>| finder.find_iter(bytes).count();
    list.starts_with("[{")
        && list.ends_with("}]")
        && count(&TYPE) == objects
        && count(&VALUE) == objects
        && count(&NEXT) + 1 == objects
        && NULL.find(bytes).is_none()
}

fn is_text(raw: &RawValue) -> bool {
    raw.get().starts_with('"')
}

fn is_attribute(raw: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Attribute<'a> {
        #[serde(borrow)]
        attribute_type_id: Cow<'a, str>,
        #[serde(borrow)]
        value: &'a RawValue,
    }
    let read = serde_json::from_str::<Attribute<'_>>(raw.get());
    read.is_ok_and(|attribute| !attribute.attribute_type_id.is_empty() && attribute.value.get() != "null")
}

fn is_qualifier(raw: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Qualifier<'a> {
        #[serde(borrow)]
        qualifier_type_id: Cow<'a, str>,
        #[serde(borrow)]
        qualifier_value: Cow<'a, str>,
    }
    let read = serde_json::from_str::<Qualifier<'_>>(raw.get());
    read.is_ok_and(|one| !one.qualifier_type_id.is_empty() && !one.qualifier_value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_readers_refuse_are_left_out_and_all_else_stays_as_it_came() {
        let good = r#"{"attribute_type_id":"t","value": 1e-300,"attributes":[{"attribute_type_id":"u","value":[]}]}"#;
        let text = format!(
            r#"{{"message":{{"knowledge_graph":{{"nodes":{{"A":{{"name":7,"categories":["biolink:Gene",null,5],"attributes":[null,5,{{"value":1}},{{"attribute_type_id":"t","value":null}},{good}]}},"B":{{"name":"b","categories":["c"],"attributes":[{good}]}}}},"edges":{{"e":{{"subject":"A","object":"B","predicate":"p","qualifiers":[{{"qualifier_type_id":"q"}},{{"qualifier_type_id":"q","qualifier_value":"v"}}],"attributes":["x",{good}],"sources":[]}}}}}}}}}}"#
        );
        let mut message = super::super::parse(&text).unwrap();
        message.keep_valid();
        let mut out = Vec::new();
        message.write(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(
            out.contains(&format!(r#""A":{{"categories":["biolink:Gene"],"attributes":[{good}]}}"#)),
            "{out}"
        );
        assert!(
            out.contains(&format!(r#""B":{{"name":"b","categories":["c"],"attributes":[{good}]}}"#)),
            "{out}"
        );
        assert!(out.contains(r#""qualifiers":[{"qualifier_type_id":"q","qualifier_value":"v"}]"#), "{out}");
        assert!(out.contains(good) && !out.contains(r#""x""#), "{out}");
    }

    #[test]
    fn only_lists_of_whole_attributes_look_valid() {
        assert!(looks_valid(r#"[{"attribute_type_id":"t","value":1},{"value":2,"attribute_type_id":"u"}]"#));
        for doubtful in [
            "[]",
            r#"[{"attribute_type_id":"t","value":1},5]"#,
            r#"[5,{"attribute_type_id":"t","value":1}]"#,
            r#"[{"attribute_type_id":"t","value":null}]"#,
            r#"[{"attribute_type_id":"t"},{"attribute_type_id":"t","value":1}]"#,
            r#"[{"attribute_type_id":7,"value":1}]"#,
        ] {
            assert!(!looks_valid(doubtful), "{doubtful}");
        }
    }
}
