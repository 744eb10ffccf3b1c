//! What a client constrains and the sub-queries of rules do not carry: they ask for other edges than the
//! client's, so only the direct sub-query is bound by it.

use trapi::{Members, QNode, QualifierConstraint, Query, Question};

/// Qualifiers that choose the rules and stand in them.
const OF_RULES: [&str; 2] = ["object_aspect_qualifier", "object_direction_qualifier"];

/// What the sub-queries beside the direct one do not carry, for the query's log; none where they carry all.
pub(crate) fn not_carried(query: &Query, question: &Question) -> Option<String> {
    let Question::Inferred(inferred) = question else { return None };
    let graph = &query.query_graph;
    let edge = graph.edges.get(&inferred.edge)?;
    let mut left: Vec<String> = Vec::new();
    if says_something(&edge.extra, "attribute_constraints") || says_something(&edge.extra, "constraints") {
        left.push(format!("the attribute constraints of edge `{}`", inferred.edge));
    }
    let mut sets = edge.qualifier_constraints.iter().flatten();
    if sets.next().is_some_and(goes_beyond_rules) || sets.next().is_some() {
        left.push(format!("some qualifier constraints of edge `{}`", inferred.edge));
    }
    let is_constrained = |node: &QNode| says_something(&node.extra, "constraints");
    for key in [&inferred.pinned, &inferred.answer] {
        if graph.nodes.get(key).is_some_and(is_constrained) {
            left.push(format!("the constraints of node `{key}`"));
        }
    }
    (!left.is_empty()).then(|| {
        format!("Only the direct sub-query carries {}; what rules find may not meet them", left.join(", "))
    })
}

fn goes_beyond_rules(constraint: &QualifierConstraint) -> bool {
    constraint.qualifier_set.iter().any(|qualifier| {
        let name = qualifier.qualifier_type_id.as_str();
        !OF_RULES.contains(&name.strip_prefix("biolink:").unwrap_or(name))
    })
}

fn says_something(members: &Members, name: &str) -> bool {
    members.get(name).is_some_and(|raw| !matches!(raw.get(), "null" | "[]" | "{}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(answer: &str, edge: &str) -> Option<String> {
        let body = format!(
            r#"{{"message":{{"query_graph":{{"nodes":{{"a":{{{answer}}},"b":{{"ids":["X:1"]}}}},"edges":{{"e":{{"subject":"a","object":"b","knowledge_type":"inferred"{edge}}}}}}}}}}}"#
        );
        let query = Query::parse(body.as_bytes()).unwrap();
        not_carried(&query, &query.query_graph.examine().unwrap())
    }

    #[test]
    fn constraints_that_rules_do_not_carry_are_told() {
        assert_eq!(told("", ""), None);
        assert_eq!(told(r#""constraints":[]"#, r#","attribute_constraints":[],"constraints":{}"#), None);
        let rules = r#"{"qualifier_set":[{"qualifier_type_id":"biolink:object_aspect_qualifier","qualifier_value":"activity"}]}"#;
        assert_eq!(told("", &format!(r#","qualifier_constraints":[{rules}]"#)), None);
        let other = rules.replace("object_aspect", "subject_form");
        for sets in [&other, &format!("{rules},{rules}")] {
            let told = told("", &format!(r#","qualifier_constraints":[{sets}]"#)).unwrap();
            assert!(told.contains("carries some qualifier constraints of edge `e`;"), "{told}");
        }
        let told = told(
            r#""constraints":[{"id":"x"}]"#,
            r#","constraints":{"knowledge_level":{"behavior":"ALLOW","values":["prediction"]}}"#,
        );
        let told = told.unwrap();
        assert!(
            told.contains("carries the attribute constraints of edge `e`, the constraints of node `a`;"),
            "{told}"
        );
    }
}
