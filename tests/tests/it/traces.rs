//! One trace from the client's request to the delivery, over all processes.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use testkit::poll::eventually;
use testkit::queries;
use testkit::retriever::Plan;
use testkit::stack::GATEWAY;
use tokio::task::JoinHandle;
use tonic::{Request, Response, Status};

use crate::scene::{self, ARAGORN, DIABETES, LIMIT, Scene};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Takes spans as a collector does, OTLP over gRPC.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let spans = request.into_inner().resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
        self.0.lock().unwrap().extend(spans.flat_map(|scope| scope.spans));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    fn start() -> (Self, SocketAddr) {
        let (this, address, _) = Self::start_mortal();
        (this, address)
    }

    /// One that ends with its task.
    fn start_mortal() -> (Self, SocketAddr, JoinHandle<Result<(), tonic::transport::Error>>) {
        let this = Self::default();
        let port = testkit::ports::unused_many(1).unwrap()[0];
        let address = testkit::ports::loopback(port);
        let server = tonic::transport::Server::builder().add_service(TraceServiceServer::new(this.clone()));
        let serving = tokio::spawn(server.serve(address));
        (this, address, serving)
    }

    /// The names of the spans of `trace`.
    fn names(&self, trace: &str) -> BTreeSet<String> {
        let spans = self.0.lock().unwrap();
        let of_trace = spans.iter().filter(|span| hex(&span.trace_id) == trace);
        of_trace.map(|span| span.name.clone()).collect()
    }

    fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap().clone()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

async fn traced(endpoint: SocketAddr, variables: &[(&str, &str)]) -> Scene {
    let port = endpoint.port().to_string();
    scene::start(Plan::default(), |stack| {
        let stack = stack.workers(ARAGORN).env("JAEGER_HOST", "127.0.0.1").env("JAEGER_PORT", &port);
        scene::with_env(stack, variables)
    })
    .await
}

async fn ask_in_trace(scene: &Scene, traceparent: &str) -> testkit::ars::Delivery {
    let query = queries::with_callback(queries::treats(DIABETES), &scene.ars.callback_url("traced"));
    let headers = [("traceparent", traceparent)];
    let reply = scene.post("/aragorn/asyncquery", &headers, query.to_string()).await;
    assert_eq!(reply.status, 200);
    scene.ars.wait_for("traced", LIMIT).await.unwrap()
}

#[tokio::test]
async fn trace_of_the_client_holds_every_stage_of_its_query() {
    let (collector, endpoint) = Collector::start();
    let scene = traced(endpoint, &[]).await;
    let delivery = ask_in_trace(&scene, TRACEPARENT).await;
    let sent = delivery.header("traceparent").unwrap().to_owned();
    assert!(sent.starts_with(&format!("00-{TRACE}-")), "{sent}");
    let submissions = scene.submissions(9).await;
    assert!(submissions.iter().all(|one| one.traceparent().is_some_and(|text| text.contains(TRACE))));
    // what is left is sent at the end
    for label in [GATEWAY].into_iter().chain(ARAGORN) {
        scene.stack.terminate(label).await.unwrap();
    }
    let expected = [
        "POST /{ara}/asyncquery",
        "send aragorn.lookup",
        "process aragorn.lookup",
        "retriever.submit",
        "callback.keep",
        "process merge",
        "merge",
        "aragorn.omnicorp",
        "aragorn.score",
        "sort_results_score",
        "filter_results_top_n",
        "filter_kgraph_orphans",
        "process finish_query",
        "response.post",
    ];
    let complete = || async {
        let names = collector.names(TRACE);
        expected.iter().all(|name| names.contains(*name)).then_some(())
    };
    let seen = eventually("all spans", LIMIT, complete).await;
    assert!(seen.is_ok(), "{:#?}", collector.names(TRACE));
    let spans = collector.spans();
    let ids: BTreeSet<String> = spans.iter().map(|span| hex(&span.span_id)).collect();
    let of_trace = spans.iter().filter(|span| hex(&span.trace_id) == TRACE);
    for span in of_trace.filter(|span| hex(&span.parent_span_id) != "00f067aa0ba902b7") {
        assert!(ids.contains(&hex(&span.parent_span_id)), "{} hangs in the air", span.name);
    }
    let post = spans.iter().find(|span| span.name == "response.post").unwrap();
    assert!(sent.contains(&hex(&post.span_id)), "the client's own spans follow the post");
    let taken = spans.iter().find(|span| span.name == "process merge").unwrap();
    let value = |key: &str| taken.attributes.iter().any(|attribute| attribute.key == key);
    for key in ["messaging.system", "messaging.operation.type", "messaging.destination.name", "query.id"] {
        assert!(value(key), "{key} of {taken:#?}");
    }
}

#[tokio::test]
async fn nothing_is_recorded_that_is_not_sampled() {
    let (collector, endpoint) = Collector::start();
    let scene = traced(endpoint, &[("OTEL_SAMPLE_RATIO", "0")]).await;
    ask_in_trace(&scene, &TRACEPARENT.replace("-01", "-00")).await;
    scene.ask("aragorn", scene::lookup()).await.assert_success();
    for label in [GATEWAY].into_iter().chain(ARAGORN) {
        scene.stack.terminate(label).await.unwrap();
    }
    assert!(collector.spans().is_empty());
}

/// Asks so many times, one after the other, and tells how long that took.
async fn ask_repeatedly(scene: &Scene, times: u32) -> Duration {
    let started = Instant::now();
    for _ in 0..times {
        scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success();
    }
    started.elapsed()
}

#[tokio::test]
async fn collector_that_dies_or_never_was_delays_nothing() {
    let (collector, endpoint, serving) = Collector::start_mortal();
    let scene = traced(endpoint, &[]).await;
    let with_it = ask_repeatedly(&scene, 10).await;
    eventually("spans", LIMIT, || async { (!collector.spans().is_empty()).then_some(()) }).await.unwrap();
    serving.abort();
    let without_it = ask_repeatedly(&scene, 10).await;
    assert!(without_it < 3 * with_it + Duration::from_secs(3), "{without_it:?} after {with_it:?}");
    scene.stack.terminate("operations").await.unwrap();

    let nobody = testkit::ports::loopback(testkit::ports::unused_many(1).unwrap()[0]);
    let scene = traced(nobody, &[]).await;
    let never = ask_repeatedly(&scene, 10).await;
    assert!(never < 3 * with_it + Duration::from_secs(3), "{never:?} after {with_it:?}");
}

#[tokio::test]
async fn lines_for_programs_are_objects_that_name_query_and_trace() {
    let scene = scene::start(Plan::default(), |stack| stack.workers(ARAGORN).env("LOG_FORMAT", "json")).await;
    ask_in_trace(&scene, TRACEPARENT).await;
    scene.idle().await;
    for label in [GATEWAY].into_iter().chain(ARAGORN) {
        let log = scene.stack.logs(label).unwrap();
        let lines: Vec<serde_json::Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
        let told = lines.iter().find(|line| line["query"].is_string()).unwrap_or_else(|| panic!("{log}"));
        assert!(told["timestamp"].is_string() && told["level"].is_string() && told["message"].is_string());
        let in_trace = lines.iter().any(|line| line["span"]["trace_id"] == TRACE);
        assert!(in_trace, "{label}: {log}");
    }
}
