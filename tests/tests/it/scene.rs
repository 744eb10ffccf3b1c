//! The stack of one test, with the Retriever before it and the client behind it.

use bytes::Bytes;
use http::HeaderMap;
use redis::AsyncCommands;
use serde_json::Value;
use std::time::Duration;
use testkit::ars::Delivery;
use testkit::poll::eventually;
use testkit::retriever::{Behaviour, Plan, RetrieverBuilder, Submission};
use testkit::stack::{RetrieverChoice, StackBuilder};
use testkit::{ArsDouble, Knowledge, RetrieverDouble, Stack, queries};

use crate::answer::Answer;
use crate::strict;

/// Longest wait for anything; whatever takes longer has gone wrong.
pub(crate) const LIMIT: Duration = Duration::from_secs(40);
/// What a query to aragorn needs.
pub(crate) const ARAGORN: [&str; 3] = ["aragorn-lookup", "operations", "finish-query"];
/// Type 2 diabetes.
pub(crate) const DIABETES: &str = "MONDO:0005148";

/// The stack of one test and both ends of it.
pub(crate) struct Scene {
    pub(crate) stack: Stack,
    pub(crate) retriever: RetrieverDouble,
    pub(crate) ars: ArsDouble,
    pub(crate) http: reqwest::Client,
}

/// An accepted query.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// Under which its response is delivered.
    pub(crate) key: String,
    pub(crate) id: String,
}

/// An HTTP answer of the gateway.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let parsed = strict::parse(&self.body);
        parsed.unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&self.body)))
    }
}

/// The workers that aragorn needs, the gateway, and a Retriever that follows `plan`.
pub(crate) async fn aragorn(plan: Plan) -> Scene {
    start(plan, |stack| stack.workers(ARAGORN)).await
}

/// A stack as `adapt` wants it, and a Retriever that follows `plan`.
pub(crate) async fn start(plan: Plan, adapt: impl FnOnce(StackBuilder) -> StackBuilder) -> Scene {
    start_with(RetrieverDouble::builder().plan(plan), adapt).await
}

/// A stack as `adapt` wants it, and a Retriever that knows [`Knowledge::small`] and follows `plan`.
pub(crate) async fn knowing(plan: Plan, adapt: impl FnOnce(StackBuilder) -> StackBuilder) -> Scene {
    start_with(RetrieverDouble::builder().plan(plan).knowledge(Knowledge::small()), adapt).await
}

async fn start_with(retriever: RetrieverBuilder, adapt: impl FnOnce(StackBuilder) -> StackBuilder) -> Scene {
    let retriever = retriever.start().await.unwrap();
    let ars = ArsDouble::start().await.unwrap();
    let builder = Stack::builder_beside_this_program().unwrap();
    let builder = builder.retriever(RetrieverChoice::At(retriever.url())).ready_limit(LIMIT);
    // the tests hold for any number of partitions
    let builder = match std::env::var("TEST_PARTITIONS") {
        Ok(count) => builder.env("PARTITIONS", &count),
        Err(_) => builder,
    };
    let builder = adapt(builder);
    let stack = builder.start().await.unwrap_or_else(|error| panic!("{error}"));
    Scene { stack, retriever, ars, http: testkit::http::plain_client().unwrap() }
}

/// A question that is one sub-query.
pub(crate) fn lookup() -> Value {
    queries::one_hop("biolink:SmallMolecule", "biolink:treats", DIABETES)
}

/// Sets these variables for every process.
pub(crate) fn with_env(stack: StackBuilder, variables: &[(&str, &str)]) -> StackBuilder {
    variables.iter().fold(stack, |stack, (name, value)| stack.env(name, value))
}

/// Retriever acknowledges and works on, longer than any test: not even asking for the job brings an answer.
pub(crate) fn silent() -> Behaviour {
    Behaviour::answer().callback_after(Duration::from_secs(3600)).ignoring_timeout()
}

/// A test that fails shows what the processes had to say.
impl Drop for Scene {
    fn drop(&mut self) {
        const LINES: usize = 25;
        if !std::thread::panicking() {
            return;
        }
        for process in self.stack.processes() {
            let log = std::fs::read_to_string(&process.log).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("--- {} ({})", process.label, process.pid);
            eprintln!("{}", lines[lines.len().saturating_sub(LINES)..].join("\n"));
        }
    }
}

impl Scene {
    /// Submits `query` with a callback of its own; it must be accepted.
    pub(crate) async fn submit(&self, ara: &str, query: Value) -> Job {
        let accepted = self.ars.submit_async(&self.stack.gateway_url(), ara, query).await;
        let accepted = accepted.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(accepted.body["status"], "Accepted");
        Job { key: accepted.key, id: accepted.job_id.unwrap() }
    }

    /// Waits for the first delivery for `job`.
    pub(crate) async fn delivery(&self, job: &Job) -> Delivery {
        match self.ars.wait_for(&job.key, LIMIT).await {
            Ok(delivery) => delivery,
            Err(error) => panic!("{error}; its status: {:#}", self.status(&job.id).await),
        }
    }

    /// Waits for the response to `job`.
    pub(crate) async fn answer(&self, job: &Job) -> Answer {
        Answer::check(&self.delivery(job).await.body)
    }

    /// Submits `query` and waits for its response.
    pub(crate) async fn ask(&self, ara: &str, query: Value) -> Answer {
        let job = self.submit(ara, query).await;
        self.answer(&job).await
    }

    /// Posts `query` to `/query` and waits for the HTTP answer.
    pub(crate) async fn ask_sync(&self, ara: &str, query: &Value) -> (u16, Answer) {
        let reply = self.post(&format!("/{ara}/query"), &[], query.to_string()).await;
        (reply.status, Answer::check(&reply.body))
    }

    /// Waits for so many sub-queries at Retriever.
    pub(crate) async fn submissions(&self, count: usize) -> Vec<Submission> {
        self.retriever.wait_for_submissions(count, LIMIT).await.unwrap()
    }

    /// Waits until so many submissions of `job` are recorded as acknowledged.
    pub(crate) async fn accepted(&self, job: &Job, count: u64) {
        let all = |status: &Value| status["progress"]["sub_queries"]["accepted"] == count;
        self.status_when(&job.id, "acknowledgements", all).await;
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        reply(self.http.get(format!("{}{path}", self.stack.gateway_url()))).await
    }

    /// Posts `body` to a path of the gateway as JSON, unless `headers` say something else.
    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Reply {
        self.post_to(&format!("{}{path}", self.stack.gateway_url()), headers, body).await
    }

    /// The same to any URL.
    pub(crate) async fn post_to(&self, url: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Reply {
        let mut request = self.http.post(url).body(body.into());
        if !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        reply(request).await
    }

    pub(crate) async fn status(&self, id: &str) -> Value {
        self.get(&format!("/asyncquery_status/{id}")).await.json()
    }

    /// Waits until the status of `id` passes `look`, and returns it.
    pub(crate) async fn status_when(&self, id: &str, what: &str, look: impl Fn(&Value) -> bool) -> Value {
        let seen = eventually(what, LIMIT, || async {
            let status = self.status(id).await;
            look(&status).then_some(status)
        });
        match seen.await {
            Ok(status) => status,
            Err(error) => panic!("{error}: {:#}", self.status(id).await),
        }
    }

    /// Waits until the query has ended, and returns its status.
    pub(crate) async fn ended(&self, id: &str) -> Value {
        self.status_when(id, "the end of the query", |status| {
            status["status"] == "Completed" || status["status"] == "Failed"
        })
        .await
    }

    /// Waits until `label` has written `text` to its log.
    pub(crate) async fn logged(&self, label: &str, text: &str) {
        let has_it = || async { self.stack.logs(label).unwrap().contains(text).then_some(()) };
        let seen = eventually(text, LIMIT, has_it);
        seen.await.unwrap_or_else(|error| panic!("{error} in\n{}", self.stack.logs(label).unwrap()));
    }

    /// Redis itself, for a look from outside.
    pub(crate) async fn redis(&self) -> redis::aio::MultiplexedConnection {
        let client = redis::Client::open(self.stack.redis_url()).unwrap();
        // the library's own limit is half a second, and machines are busy
        let patient = redis::AsyncConnectionConfig::new()
            .set_connection_timeout(Some(LIMIT))
            .set_response_timeout(Some(LIMIT));
        client.get_multiplexed_async_connection_with_config(&patient).await.unwrap()
    }

    /// The keys in Redis that hold `part`.
    pub(crate) async fn keys(&self, part: &str) -> Vec<String> {
        self.redis().await.keys(format!("*{part}*")).await.unwrap()
    }

    /// How many steps wait for an operation or are worked on by it.
    pub(crate) async fn queued(&self, operation: &str) -> usize {
        let mut redis = self.redis().await;
        let mut count = 0;
        for stream in self.keys(&format!(":stream:{operation}")).await {
            count += redis.xlen::<_, usize>(stream).await.unwrap();
        }
        count
    }

    /// Waits until no step is queued or worked on.
    pub(crate) async fn idle(&self) {
        let redis = self.redis().await;
        let streams: Vec<String> = redis.clone().keys("*:stream:*").await.unwrap();
        let all_empty = || async {
            for stream in &streams {
                if redis.clone().xlen::<_, usize>(stream).await.unwrap() > 0 {
                    return None;
                }
            }
            Some(())
        };
        eventually("empty streams", LIMIT, all_empty).await.unwrap();
    }
}

async fn reply(request: reqwest::RequestBuilder) -> Reply {
    let response = request.timeout(LIMIT).send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Reply { status, headers, body: response.bytes().await.unwrap() }
}
