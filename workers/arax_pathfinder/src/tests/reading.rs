//! How a client's question is understood.

use lookup::ExpansionError;
use serde_json::json;
use trapi::{Query, Question};

use super::{ASTHMA, IMATINIB, plain, query, read};
use crate::LIMITS;
use crate::request::{self, Request};

#[test]
fn the_clients_parameters_count() {
    let written = |parameters| {
        let query = query(IMATINIB, ASTHMA, &json!({}), &parameters);
        serde_json::to_value(request::parameters(&query.parameters)).unwrap()
    };
    assert_eq!(
        written(json!({"timeout": 7, "tiers": [1]})),
        json!({"timeout": 7, "tiers": [1], "filter_config": {"max_node_degree": 10_000}, "dehydrated": true, "subclass": false})
    );
    let own = json!({"subclass": true, "dehydrated": false, "filter_config": {"max_node_degree": 7}});
    assert_eq!(written(own.clone()), own);
}

#[test]
fn the_clients_bound_is_the_searchs_too() {
    let limit = |bound: serde_json::Value| {
        let config = json!({"filter_config": {"max_node_degree": bound}});
        read(&query(IMATINIB, ASTHMA, &json!({}), &config), LIMITS).limits.max_degree
    };
    assert_eq!(limit(json!(5.0)), 5);
    assert_eq!(limit(json!(1e300)), u64::MAX);
    for unusable in [json!(-1), json!("5"), json!(null), json!([])] {
        assert_eq!(limit(unusable), 10_000);
    }
    assert_eq!(read(&plain(IMATINIB, ASTHMA), LIMITS).limits.max_degree, 10_000);
}

#[test]
fn what_does_not_count_is_told() {
    let many: Vec<String> = (0..6).map(|number| format!("X:{number}")).collect();
    let graph = json!({"message": {"query_graph": {
        "nodes": {"a": {"ids": many}, "b": {"ids": ["Y:1"]}},
        "paths": {"p": {"subject": "a", "object": "b", "predicates": ["biolink:affects"]}},
    }}});
    let query = Query::parse(graph.to_string().as_bytes()).unwrap();
    assert_eq!(
        read(&query, LIMITS).warnings,
        [
            "Only the first 5 of 6 ids of node a are searched",
            "The predicates of path p do not restrict the search",
        ]
    );
    assert_eq!(read(&plain(IMATINIB, ASTHMA), LIMITS).warnings, [""; 0]);
}

#[test]
fn more_categories_than_can_be_searched_for_are_refused() {
    let many: Vec<String> = (0..65).map(|number| format!("biolink:C{number}")).collect();
    let constraints = json!({"constraints": [{"intermediate_categories": many}]});
    let query = query(IMATINIB, ASTHMA, &constraints, &json!({}));
    let Question::Pathfinder(path) = query.query_graph.examine().unwrap() else { panic!("no path") };
    let refused = Request::read(&query, &path, LIMITS).unwrap_err();
    assert!(matches!(refused, ExpansionError::Invalid(_)), "{refused}");
}
