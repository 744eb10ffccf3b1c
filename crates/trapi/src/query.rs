//! A client's request.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::dialect::Signs;
use crate::json::{Kind, Object, Path, document, kind};
use crate::{Dialect, Invalid, LogLevel, Members, Problem, QueryGraph, is_unicode};

/// Members of a message that TRAPI 1.x lets be null.
const NULLABLE: [&str; 3] = ["knowledge_graph", "results", "auxiliary_graphs"];

/// A client's request, parsed and checked for shape; [`QueryGraph::examine`] says what it asks.
#[derive(Clone, Debug)]
pub struct Query {
    /// What is asked.
    pub query_graph: QueryGraph,
    /// Other members of `message`, as they came.
    pub message: Members,
    /// `parameters`; empty when absent or null.
    pub parameters: Members,
    /// The client's own workflow.
    pub workflow: Option<Vec<Operation>>,
    /// Who asks.
    pub submitter: Option<String>,
    /// How much log is wanted: top level (TRAPI 1.x), else `parameters.log_level` (2.0).
    pub log_level: Option<LogLevel>,
    /// Where the answer goes; only checked to be a string.
    pub callback: Option<String>,
    /// The dialect that the request shows by what it uses; none where it could be either.
    pub dialect: Option<Dialect>,
    /// All other top-level members.
    pub extra: Members,
}

/// One step of a workflow.
#[derive(Clone, Debug, Serialize)]
pub struct Operation {
    /// Its name, e.g. `sort_results_score`.
    pub id: String,
    /// Its options; empty when absent or null.
    #[serde(skip_serializing_if = "Members::is_empty")]
    pub parameters: Members,
    /// Other members.
    #[serde(flatten)]
    pub extra: Members,
}

impl Query {
    /// Reads a request body.
    ///
    /// # Errors
    /// When the body is no JSON, nested deeper than [`crate::MAX_DEPTH`], or lacks or misspells what every
    /// TRAPI query has. The error names the JSON path.
    pub fn parse(body: &[u8]) -> Result<Self, Invalid> {
        let root = Path::Root;
        let text = std::str::from_utf8(body).map_err(|_| root.error(Problem::NotUtf8))?;
        let mut object = Object::read(document(text, &root)?, &root)?;
        let mut signs = Signs { v1: object.has("log_level") || object.has("bypass_cache"), v2: false };
        let (query_graph, message) = read_message(&mut object, &root, &mut signs)?;
        let parameters = object.take_members("parameters", &root)?;
        signs.v2 |= parameters.contains_key("log_level") || parameters.contains_key("bypass_cache");
        let log_level = match object.take("log_level") {
            Some(raw) => Some(read_level(raw, &Path::Key(&root, "log_level"))?),
            None => level_of(&parameters)?,
        };
        // the query graph and its parameters first, then what the request says of itself, then its results
        let dialect = signs.dialect().or_else(|| stated(&object)).or_else(|| of_results(&message));
        let query = Self {
            query_graph,
            message,
            parameters,
            workflow: object.take_list("workflow", &root, Operation::read)?,
            submitter: object.take_string("submitter", &root)?,
            log_level,
            callback: object.take_string("callback", &root)?,
            dialect,
            extra: object.rest(),
        };
        // last, as the fields above are refused by their names
        if is_unicode(text) { Ok(query) } else { Err(root.error(Problem::NotUnicode)) }
    }

    /// Whether fresh knowledge is asked for: top level (TRAPI 1.x), else `parameters.bypass_cache` (2.0).
    pub fn bypass_cache(&self) -> bool {
        let raw = self.extra.get("bypass_cache").or_else(|| self.parameters.get("bypass_cache"));
        raw.is_some_and(|raw| raw.get() == "true")
    }
}

fn read_message(
    object: &mut Object<'_>,
    root: &Path<'_>,
    signs: &mut Signs,
) -> Result<(QueryGraph, Members), Invalid> {
    let path = Path::Key(root, "message");
    let raw = object.take("message").ok_or_else(|| path.error(Problem::Missing))?;
    let mut message = Object::read(raw, &path)?;
    let graph_path = Path::Key(&path, "query_graph");
    let raw = message.take("query_graph").ok_or_else(|| graph_path.error(Problem::Missing))?;
    let graph = QueryGraph::read(raw, &graph_path)?;
    let shown = crate::graph::signs(raw);
    *signs = Signs { v1: signs.v1 || shown.v1, v2: signs.v2 || shown.v2 };
    let mut rest = message.rest();
    rest.retain(|name, raw| !(raw.get() == "null" && NULLABLE.contains(&name.as_str())));
    Ok((graph, rest))
}

/// The dialect of the request's `schema_version`.
fn stated(object: &Object<'_>) -> Option<Dialect> {
    let version: String = serde_json::from_str(object.get("schema_version")?.get()).ok()?;
    version.parse().ok()
}

/// The dialect that the client's own results are spelled in: the first node binding tells.
fn of_results(message: &Members) -> Option<Dialect> {
    #[derive(Deserialize)]
    struct Bindings<'a> {
        #[serde(borrow)]
        node_bindings: IndexMap<String, &'a RawValue>,
    }
    let results: Vec<&RawValue> = serde_json::from_str(message.get("results")?.get()).ok()?;
    results.into_iter().find_map(|result| {
        let bindings: Bindings<'_> = serde_json::from_str(result.get()).ok()?;
        bindings.node_bindings.values().find_map(|raw| match kind(raw) {
            Kind::List => Some(Dialect::V1),
            Kind::Object => Some(Dialect::V2),
            _ => None,
        })
    })
}

fn level_of(parameters: &Members) -> Result<Option<LogLevel>, Invalid> {
    let Some(raw) = parameters.get("log_level").filter(|raw| raw.get() != "null") else { return Ok(None) };
    read_level(raw, &Path::Key(&Path::Key(&Path::Root, "parameters"), "log_level")).map(Some)
}

fn read_level(raw: &RawValue, path: &Path<'_>) -> Result<LogLevel, Invalid> {
    crate::json::string(raw, path)?
        .parse()
        .map_err(|_| path.error(Problem::NotOneOf("one of ERROR, WARNING, INFO, DEBUG")))
}

impl Operation {
    /// An operation without options.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), parameters: Members::new(), extra: Members::new() }
    }

    fn read(raw: &RawValue, path: &Path<'_>) -> Result<Self, Invalid> {
        let mut object = Object::read(raw, path)?;
        Ok(Self {
            id: object.require_string("id", path)?,
            parameters: object.take_members("parameters", path)?,
            extra: object.rest(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(body: &str) -> String {
        Query::parse(body.as_bytes()).unwrap_err().to_string()
    }

    const GRAPH: &str =
        r#"{"nodes":{"a":{"ids":["X:1"]},"b":{}},"edges":{"e":{"subject":"a","object":"b"}}}"#;

    fn with(rest: &str) -> String {
        format!(r#"{{"message":{{"query_graph":{GRAPH}}},{rest}}}"#)
    }

    #[test]
    fn every_member_finds_its_place() {
        let query = Query::parse(
            with(r#""parameters":{"timeout":60,"tiers":[0]},"workflow":[{"id":"lookup","parameters":null,"runner_parameters":{"a":1}}],"submitter":"me","log_level":"DEBUG","callback":"http://x/","bypass_cache":true"#)
                .as_bytes(),
        )
        .unwrap();
        assert_eq!(query.parameters["timeout"].get(), "60");
        assert_eq!(query.log_level, Some(LogLevel::Debug));
        assert_eq!(query.submitter.as_deref(), Some("me"));
        assert_eq!(query.callback.as_deref(), Some("http://x/"));
        assert_eq!(query.extra["bypass_cache"].get(), "true");
        assert_eq!(
            serde_json::to_string(&query.workflow).unwrap(),
            r#"[{"id":"lookup","runner_parameters":{"a":1}}]"#
        );
    }

    #[test]
    fn null_is_absent() {
        let query = Query::parse(
            with(r#""parameters":null,"workflow":null,"submitter":null,"log_level":null,"callback":null"#)
                .as_bytes(),
        )
        .unwrap();
        assert!(query.parameters.is_empty() && query.workflow.is_none() && query.submitter.is_none());
        assert!(query.log_level.is_none() && query.callback.is_none() && query.extra.is_empty());
        let body =
            format!(r#"{{"message":{{"query_graph":{GRAPH},"results":null,"knowledge_graph":null}}}}"#);
        assert!(Query::parse(body.as_bytes()).unwrap().message.is_empty());
    }

    #[test]
    fn log_level_of_the_parameters_counts_when_there_is_no_other() {
        let level = |rest: &str| Query::parse(with(rest).as_bytes()).unwrap().log_level;
        assert_eq!(level(r#""parameters":{"log_level":"INFO"}"#), Some(LogLevel::Info));
        assert_eq!(level(r#""log_level":"ERROR","parameters":{"log_level":"INFO"}"#), Some(LogLevel::Error));
    }

    #[test]
    fn the_dialect_is_told_from_what_is_used() {
        let dialect = |rest: &str| Query::parse(with(rest).as_bytes()).unwrap().dialect;
        assert_eq!(dialect(r#""submitter":"me""#), None);
        assert_eq!(dialect(r#""bypass_cache":false"#), Some(Dialect::V1));
        assert_eq!(dialect(r#""parameters":{"log_level":"INFO"}"#), Some(Dialect::V2));
        assert_eq!(dialect(r#""log_level":"INFO","parameters":{"log_level":"INFO"}"#), None);
        let body = r#"{"message":{"query_graph":{"nodes":{"a":{}},"edges":{"e":{"subject":"a","object":"a","constraints":{}}}}},"parameters":{"bypass_cache":true}}"#;
        let query = Query::parse(body.as_bytes()).unwrap();
        assert_eq!(query.dialect, Some(Dialect::V2));
        assert!(query.bypass_cache());
    }

    #[test]
    fn the_dialect_is_told_from_the_version_or_the_results_where_the_question_shows_none() {
        let dialect = |results: &str, rest: &str| {
            let body = format!(r#"{{"message":{{"query_graph":{GRAPH},"results":{results}}}{rest}}}"#);
            Query::parse(body.as_bytes()).unwrap().dialect
        };
        let (old, new) = (
            r#"[{"node_bindings":{}},{"node_bindings":{"a":[]}}]"#,
            r#"[7,{"node_bindings":{"a":{"ids":["X:1"]}}}]"#,
        );
        assert_eq!(dialect(old, ""), Some(Dialect::V1));
        assert_eq!(dialect(new, ""), Some(Dialect::V2));
        assert_eq!(dialect("[]", ""), None);
        assert_eq!(dialect("{}", ""), None);
        assert_eq!(dialect(old, r#","schema_version":"2.0.0""#), Some(Dialect::V2));
        assert_eq!(dialect(new, r#","schema_version":7"#), Some(Dialect::V2));
        assert_eq!(
            dialect("[]", r#","schema_version":"1.6.0","parameters":{"log_level":"INFO"}"#),
            Some(Dialect::V2)
        );
    }

    #[test]
    fn repeated_members_are_refused_and_named() {
        let body = r#"{"message":{"query_graph":{"nodes":{}}},"submitter":"a","submitter":"b"}"#;
        assert_eq!(error(body), "request body: has a member twice: `submitter`");
    }

    #[test]
    fn an_error_names_the_field() {
        assert_eq!(error("{"), "request body: is not valid JSON (line 1, column 1)");
        assert_eq!(error("[]"), "request body: must be an object, not a list");
        assert_eq!(error("{}"), "message: is missing");
        assert_eq!(error(r#"{"message":null}"#), "message: is missing");
        assert_eq!(error(r#"{"message":{"query_graph":null}}"#), "message.query_graph: is missing");
        assert_eq!(error(&with(r#""parameters":[]"#)), "parameters: must be an object, not a list");
        assert_eq!(error(&with(r#""workflow":{}"#)), "workflow: must be a list, not an object");
        assert_eq!(error(&with(r#""workflow":["lookup"]"#)), "workflow[0]: must be an object, not a string");
        assert_eq!(error(&with(r#""workflow":[{"id":"lookup"},{}]"#)), "workflow[1].id: is missing");
        assert_eq!(error(&with(r#""callback":7"#)), "callback: must be a string, not a number");
        assert_eq!(
            error(&with(r#""log_level":"LOUD""#)),
            "log_level: must be one of ERROR, WARNING, INFO, DEBUG"
        );
        assert_eq!(
            error(&with(r#""parameters":{"log_level":true}"#)),
            "parameters.log_level: must be a string, not a boolean"
        );
        assert_eq!(Query::parse(b"\xff{}").unwrap_err().problem, Problem::NotUtf8);
    }

    #[test]
    fn deep_nesting_is_refused_wherever_it_is() {
        let deep = with(&format!(r#""x":{}{}"#, "[".repeat(200), "]".repeat(200)));
        assert_eq!(error(&deep), "request body: is nested deeper than 128 levels");
        let unclosed = "[".repeat(10_000_000);
        assert_eq!(error(&unclosed), "request body: is nested deeper than 128 levels");
    }
}
