//! What a query edge is constrained by: a list of attributes and one of qualifiers in 1.x, one object in 2.0.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::put;
use crate::{Members, QualifierConstraint};

/// 2.0's members for constraints on knowledge level, agent type and sources, each with whether it looks at
/// the primary source only, and the attribute that 1.x constrains in its place.
const AS_ATTRIBUTES: [(&str, bool, &str, &str); 4] = [
    ("knowledge_level", false, "biolink:knowledge_level", "knowledge level"),
    ("agent_type", false, "biolink:agent_type", "agent type"),
    ("sources", false, "biolink:knowledge_source", "knowledge source"),
    ("sources", true, "biolink:primary_knowledge_source", "primary knowledge source"),
];

/// 1.x requires a name of every constraint, 2.0 has none: the id stands for it.
pub(super) fn name_each(members: &mut Members, member: &str) {
    let Some(all) = members.get(member).map(|raw| list(raw)) else { return };
    let named = all.iter().map(|raw| with_name(raw));
    if named.clone().any(|named| named.is_some()) {
        let all: Vec<Box<RawValue>> =
            named.zip(&all).map(|(named, raw)| named.unwrap_or_else(|| raw.clone())).collect();
        put(members, member, &all);
    }
}

/// The constraint with its id for a name; none where it has a name, or no id.
fn with_name(raw: &RawValue) -> Option<Box<RawValue>> {
    let mut constraint: Members = serde_json::from_str(raw.get()).ok()?;
    if constraint.get("name").is_some_and(|name| name.get() != "null") {
        return None;
    }
    let id = constraint.get("id")?.clone();
    constraint.insert("name".to_owned(), id);
    serde_json::value::to_raw_value(&constraint).ok()
}

/// 1.x: constraints that only 2.0 has members for become attribute constraints.
pub(super) fn spread(members: &mut Members, more: Members) {
    let mut left = Members::new();
    let mut attributes: Vec<Box<RawValue>> = Vec::new();
    for (name, raw) in more {
        let constraint: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
        let primary = name == "sources" && constraint.get("primary_only") == Some(&Value::Bool(true));
        let mut known = AS_ATTRIBUTES.into_iter();
        let Some((_, _, id, title)) = known.find(|(member, only, ..)| (*member, *only) == (&*name, primary))
        else {
            left.insert(name, raw);
            continue;
        };
        let denied = constraint.get("behavior") == Some(&Value::from("DENY"));
        let value = constraint.get("values");
        let attribute = json!({"id": id, "name": title, "operator": "==", "value": value, "not": denied});
        attributes.extend(serde_json::value::to_raw_value(&attribute).ok());
    }
    if !attributes.is_empty() {
        let mut all = members.get("attribute_constraints").map(|raw| list(raw)).unwrap_or_default();
        all.append(&mut attributes);
        put(members, "attribute_constraints", &all);
    }
    if !left.is_empty() {
        put(members, "constraints", &left);
    }
}

fn list(raw: &RawValue) -> Vec<Box<RawValue>> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// 2.0: all constraints of an edge are members of one object.
pub(super) fn gather(
    members: &mut Members,
    qualifiers: Option<&[QualifierConstraint]>,
    mut constraints: Members,
) {
    members.shift_remove("qualifier_constraints");
    if let Some(attributes) = members.shift_remove("attribute_constraints") {
        gather_attributes(&mut constraints, attributes);
    }
    let sets: Vec<Map<String, Value>> = qualifiers
        .unwrap_or_default()
        .iter()
        .map(|constraint| {
            let set = constraint.qualifier_set.iter();
            set.map(|qualifier| {
                (qualifier.qualifier_type_id.clone(), qualifier.qualifier_value.clone().into())
            })
            .collect()
        })
        .filter(|set: &Map<String, Value>| !set.is_empty())
        .collect();
    if !sets.is_empty() {
        put(&mut constraints, "qualifiers", &sets);
    }
    if !constraints.is_empty() {
        put(members, "constraints", &constraints);
    }
}

/// 2.0's edges have no attributes for what [`AS_ATTRIBUTES`] names, so a constraint on one of them would
/// never be met. Constraints must all hold and an object has one member of a name: the first is converted.
fn gather_attributes(constraints: &mut Members, attributes: Box<RawValue>) {
    let all = list(&attributes);
    let mut left = Vec::with_capacity(all.len());
    for raw in &all {
        match as_member(raw) {
            Some((member, constraint)) if !constraints.contains_key(member) => {
                put(constraints, member, &constraint);
            }
            _ => left.push(raw),
        }
    }
    if left.len() == all.len() {
        constraints.insert("attributes".to_owned(), attributes);
    } else if !left.is_empty() {
        put(constraints, "attributes", &left);
    }
}

/// An attribute constraint as the member of 2.0 that means the same, if there is one.
fn as_member(raw: &RawValue) -> Option<(&'static str, Value)> {
    let constraint: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
    let text = |name: &str| constraint.get(name).and_then(Value::as_str);
    if !matches!(text("operator"), Some("==" | "===")) {
        return None;
    }
    let id = text("id")?;
    let (member, primary, ..) = AS_ATTRIBUTES.into_iter().find(|(_, _, known, _)| *known == id)?;
    let values = match constraint.get("value")? {
        Value::String(one) => vec![Value::from(one.as_str())],
        Value::Array(some) if !some.is_empty() && some.iter().all(Value::is_string) => some.clone(),
        _ => return None,
    };
    let denied = constraint.get("not") == Some(&Value::Bool(true));
    let mut member_value = json!({"behavior": if denied { "DENY" } else { "ALLOW" }, "values": values});
    if primary {
        member_value["primary_only"] = Value::Bool(true);
    }
    Some((member, member_value))
}

#[cfg(test)]
mod tests {
    use super::super::tests::in_dialect;
    use crate::Dialect;

    #[test]
    fn the_id_stands_for_a_name_that_1_x_requires() {
        let text = r#"{"nodes":{"a":{"ids":["X:1"],"constraints":[{"id":"z","operator":">","value":1e-300},{"name":"n","id":"y"},7]},"b":{}},"edges":{"e":{"subject":"a","object":"b","constraints":{"attributes":[{"id":"z","operator":"<","value":1}]}}}}"#;
        assert_eq!(
            in_dialect(text, Dialect::V1),
            r#"{"nodes":{"a":{"ids":["X:1"],"constraints":[{"id":"z","operator":">","value":1e-300,"name":"z"},{"name":"n","id":"y"},7]},"b":{}},"edges":{"e":{"subject":"a","object":"b","attribute_constraints":[{"id":"z","operator":"<","value":1,"name":"z"}]}}}"#
        );
        assert_eq!(in_dialect(text, Dialect::V2), text);
    }

    #[test]
    fn constraints_on_what_2_0_keeps_apart_are_its_members() {
        let constraint = |id: &str, operator: &str, value: &str, not: bool| {
            format!(r#"{{"id":"{id}","name":"n","operator":"{operator}","value":{value},"not":{not}}}"#)
        };
        let level = constraint("biolink:knowledge_level", "==", r#""prediction""#, true);
        let source = constraint("biolink:primary_knowledge_source", "===", r#"["infores:a"]"#, false);
        let second = constraint("biolink:knowledge_source", "==", r#""infores:b""#, false);
        let other = constraint("biolink:agent_type", ">", "1.50", false);
        let text = format!(
            r#"{{"nodes":{{"a":{{"ids":["X:1"]}},"b":{{}}}},"edges":{{"e":{{"subject":"a","object":"b","attribute_constraints":[{level},{source},{second},{other}]}}}}}}"#
        );
        let written = in_dialect(&text, Dialect::V2);
        let members = r#""knowledge_level":{"behavior":"DENY","values":["prediction"]},"sources":{"behavior":"ALLOW","values":["infores:a"],"primary_only":true}"#;
        let expected = format!(r#""constraints":{{{members},"attributes":[{second},{other}]}}"#);
        assert!(written.contains(&expected), "{written}");
        assert!(
            in_dialect(&written, Dialect::V1)
                .contains(r#""name":"knowledge level","operator":"==","value":["prediction"],"not":true"#)
        );
    }
}
