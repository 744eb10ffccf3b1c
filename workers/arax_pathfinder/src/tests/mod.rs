mod knowledge;
mod reading;
mod sqlite;
mod troubles;

use std::sync::Mutex;
use std::time::Duration;

use budget::{Clock, EpochMillis};
use bytes::Bytes;
use lookup::{AskError, WorkError};
use paths::{Blocked, Limits};
use retriever::{SubQueryRequest, SubmissionMetadata, SyncQuery};
use serde_json::{Value, json};
use testkit::RetrieverDouble;
use trapi::{Dialect, Query, QueryGraph, Question};

use crate::graph::Ask;
use crate::hints::Files;
use crate::request::{self, Request};
use crate::{LIMITS, Pathfinder};

const IMATINIB: &str = "CHEBI:45783";
const ASTHMA: &str = "MONDO:0004979";
const HUB: &str = "NCBIGene:7157";

/// A clock that stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> EpochMillis {
        EpochMillis(1_767_225_600_000)
    }
}

/// Asks a double of Retriever as the worker would, and counts.
struct OverHttp {
    service: SyncQuery,
    parameters: trapi::Members,
    /// Bodies of the answers, in bytes.
    answers: Mutex<Vec<usize>>,
}

impl Ask for OverHttp {
    async fn ask(&self, graph: &QueryGraph) -> Result<Bytes, AskError> {
        let request = SubQueryRequest {
            dialect: Dialect::V1,
            query_graph: graph,
            parameters: &self.parameters,
            timeout_seconds: 60.0,
            default_tier: 0,
            submitter: "a test",
            log_level: None,
            bypass_cache: None,
            callback: None,
        };
        let body = request.to_json().unwrap().into();
        let timeout = Duration::from_secs(60);
        let answer = self.service.post(body, &SubmissionMetadata::default(), timeout).await?;
        self.answers.lock().unwrap().push(answer.body.len());
        Ok(answer.body)
    }
}

/// A pathfinder and the Retriever it asks.
struct Scene {
    double: RetrieverDouble,
    pathfinder: Pathfinder,
}

impl Scene {
    fn new(double: RetrieverDouble) -> Self {
        Self::with(double, Files::default(), Blocked::default(), LIMITS)
    }

    fn with(double: RetrieverDouble, files: Files, blocked: Blocked, limits: Limits) -> Self {
        let service = service(&double, 1 << 30);
        Self { double, pathfinder: Pathfinder::new(service, files, blocked, limits) }
    }

    /// The body of the answer to `query`, where it is there before `stop`.
    async fn answer(&self, query: &Query, stop: impl Future<Output = ()>) -> Result<Vec<u8>, WorkError> {
        self.pathfinder.answer(&read(query, self.pathfinder.limits), &self.asker(query), &Still, stop).await
    }

    fn asker(&self, query: &Query) -> OverHttp {
        let parameters = request::parameters(&query.parameters);
        OverHttp { service: self.pathfinder.service.clone(), parameters, answers: Mutex::default() }
    }

    /// The answer to `query`, for which there is time enough.
    async fn found(&self, query: &Query) -> Value {
        serde_json::from_slice(&self.answer(query, std::future::pending()).await.unwrap()).unwrap()
    }
}

fn service(double: &RetrieverDouble, max_answer_bytes: usize) -> SyncQuery {
    testkit::http::install_crypto_provider();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    SyncQuery::new(http, format!("{}/query", double.url()).parse().unwrap(), max_answer_bytes)
}

fn read(query: &Query, limits: Limits) -> Request {
    let Question::Pathfinder(path) = query.query_graph.examine().unwrap() else { panic!("no path") };
    Request::read(query, &path, limits).unwrap()
}

/// How are two nodes connected? With these members of the path and these parameters.
fn query(start: &str, end: &str, path: &Value, parameters: &Value) -> Query {
    let mut query = testkit::queries::pathfinder(start, end);
    let asked = query["message"]["query_graph"]["paths"]["p0"].as_object_mut().unwrap();
    asked.extend(path.as_object().unwrap().clone());
    query["parameters"] = parameters.clone();
    Query::parse(query.to_string().as_bytes()).unwrap()
}

fn plain(start: &str, end: &str) -> Query {
    query(start, end, &json!({}), &json!({}))
}

/// The nodes between the ends on each path, in the order of the answer.
fn between(answer: &Value) -> Vec<String> {
    let spelled = answer["message"]["results"].as_array().unwrap().iter().map(|result| {
        let keys = (0..).map(|place| format!("intermediate_{place}"));
        let ids = keys.map_while(|key| result["node_bindings"][key.as_str()][0]["id"].as_str());
        ids.collect::<Vec<_>>().join(" ")
    });
    spelled.collect()
}

/// The messages of the answer's log at a level.
fn logged(answer: &Value, level: &str) -> Vec<String> {
    let entries = answer["logs"].as_array().unwrap().iter().filter(|entry| entry["level"] == level);
    entries.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
}
