//! A final response, and what must be true of every one.

use serde_json::Value;
use std::collections::HashSet;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::strict;

/// A response that has passed [`Answer::check`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer(pub(crate) Value);

impl Answer {
    /// Parses a response and checks what holds for all of them, whatever the question: no repeated keys, nothing bound
    /// that is not there, logs oldest first.
    #[track_caller]
    pub(crate) fn check(body: &[u8]) -> Self {
        let parsed = strict::parse(body);
        let answer =
            Self(parsed.unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(body))));
        answer.check_references();
        answer.check_logs();
        let workflow = answer.0["workflow"].as_array().expect("a workflow");
        assert!(!workflow.is_empty() && workflow.iter().all(|operation| operation["id"].is_string()));
        assert!(answer.0["schema_version"].is_string() && answer.0["biolink_version"].is_string());
        answer
    }

    pub(crate) fn status(&self) -> &str {
        self.0["status"].as_str().expect("a status")
    }

    pub(crate) fn description(&self) -> &str {
        self.0["description"].as_str().expect("a description")
    }

    pub(crate) fn results(&self) -> &[Value] {
        match &self.0["message"]["results"] {
            // 2.0 leaves out what is empty
            Value::Null if self.is_v2() => &[],
            results => results.as_array().expect("a list of results"),
        }
    }

    /// Whether it is TRAPI 2.0.
    pub(crate) fn is_v2(&self) -> bool {
        self.0["schema_version"].as_str().expect("a version").starts_with("2.")
    }

    /// The log entries of this level that hold `text`.
    pub(crate) fn logs(&self, level: &str, text: &str) -> Vec<&str> {
        let entries = self.0["logs"].as_array().expect("a list of logs");
        let of_level = entries.iter().filter(|entry| entry["level"] == level);
        of_level
            .filter_map(|entry| entry["message"].as_str())
            .filter(|message| message.contains(text))
            .collect()
    }

    #[track_caller]
    pub(crate) fn assert_success(&self) {
        assert_eq!(self.status(), "Success", "{}", self.0["description"]);
        assert!(!self.results().is_empty(), "no results: {}", self.0["description"]);
        assert_eq!(self.logs("WARNING", ""), Vec::<&str>::new());
        assert_eq!(self.logs("ERROR", ""), Vec::<&str>::new());
    }

    /// A log entry of this level with this text must be there.
    #[track_caller]
    pub(crate) fn assert_logged(&self, level: &str, text: &str) {
        assert!(!self.logs(level, text).is_empty(), "no {level} with `{text}` in {:#}", self.0["logs"]);
    }

    #[track_caller]
    fn check_references<'a>(&'a self) {
        let message = &self.0["message"];
        let keys = |object: &'a Value| match object {
            Value::Null if self.is_v2() => HashSet::new(),
            object => keys(object),
        };
        let nodes = keys(&message["knowledge_graph"]["nodes"]);
        let edges = keys(&message["knowledge_graph"]["edges"]);
        let graphs = keys(&message["auxiliary_graphs"]);
        for edge in members(&message["knowledge_graph"]["edges"]) {
            assert_in(&nodes, &edge["subject"], "an edge's subject");
            assert_in(&nodes, &edge["object"], "an edge's object");
            for attribute in edge["attributes"].as_array().into_iter().flatten() {
                if attribute["attribute_type_id"] == "biolink:support_graphs" {
                    assert_all_in(
                        &graphs,
                        attribute["value"].as_array().into_iter().flatten(),
                        "a support graph",
                    );
                }
            }
        }
        for graph in members(&message["auxiliary_graphs"]) {
            assert_all_in(&edges, graph["edges"].as_array().unwrap(), "an auxiliary graph's edge");
        }
        for result in self.results() {
            assert_all_in(&nodes, bound(&result["node_bindings"]), "a bound node");
            for analysis in result["analyses"].as_array().unwrap() {
                assert_all_in(&edges, bound(&analysis["edge_bindings"]), "a bound edge");
                assert_all_in(&graphs, bound(&analysis["path_bindings"]), "a bound path");
                let support = analysis["support_graphs"].as_array().into_iter().flatten();
                assert_all_in(&graphs, support, "an analysis' support graph");
            }
        }
    }

    #[track_caller]
    fn check_logs(&self) {
        let entries = self.0["logs"].as_array().expect("a list of logs");
        assert!(!entries.is_empty(), "no logs");
        let time =
            |entry: &Value| OffsetDateTime::parse(entry["timestamp"].as_str().unwrap(), &Rfc3339).unwrap();
        assert!(entries.is_sorted_by_key(time), "the logs are not oldest first: {entries:#?}");
    }
}

fn keys(object: &Value) -> HashSet<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn members(object: &Value) -> impl Iterator<Item = &Value> {
    object.as_object().into_iter().flat_map(|members| members.values())
}

/// The ids in bindings: an object from query keys to lists of objects with an id or, in 2.0, to one object with all
/// ids; none when there is no such object.
fn bound(bindings: &Value) -> impl Iterator<Item = &Value> {
    members(bindings).flat_map(|binding| match binding {
        Value::Array(list) => list.iter().map(|binding| &binding["id"]).collect::<Vec<_>>(),
        one => one["ids"].as_array().unwrap().iter().collect(),
    })
}

#[track_caller]
fn assert_in(ids: &HashSet<&str>, id: &Value, what: &str) {
    assert!(id.as_str().is_some_and(|id| ids.contains(id)), "{what} is not there: {id}");
}

#[track_caller]
fn assert_all_in<'a>(ids: &HashSet<&str>, wanted: impl IntoIterator<Item = &'a Value>, what: &str) {
    for id in wanted {
        assert_in(ids, id, what);
    }
}
