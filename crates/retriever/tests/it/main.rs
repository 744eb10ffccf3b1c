//! How submissions end, over real HTTP against a double of Retriever.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod rehydrate;

use std::time::Duration;

use http::{HeaderValue, StatusCode, header::RETRY_AFTER};
use shepherd_retriever::{
    QueryError, Retriever, SubmissionMetadata, SubmissionOutcome, SyncAnswer, SyncQuery,
};
use testkit::retriever::{Behaviour, Plan};
use testkit::{Babbler, RetrieverDouble};

const SECOND: Duration = Duration::from_secs(1);

fn client(url: &str) -> Retriever {
    testkit::http::install_crypto_provider();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    Retriever::new(http, format!("{url}/asyncquery").parse().unwrap())
}

fn body() -> bytes::Bytes {
    let query = testkit::queries::with_callback(
        testkit::queries::one_hop("biolink:ChemicalEntity", "biolink:treats", "MONDO:0005148"),
        "http://127.0.0.1:9/nobody",
    );
    query.to_string().into()
}

async fn submit(double: &RetrieverDouble, ack_timeout: Duration) -> SubmissionOutcome {
    let metadata = SubmissionMetadata { traceparent: "00-1-2-01".to_owned() };
    client(&double.url()).submit(body(), &metadata, ack_timeout).await
}

async fn double(behaviour: Behaviour) -> RetrieverDouble {
    RetrieverDouble::builder().plan(Plan::always(behaviour.no_callback())).start().await.unwrap()
}

#[tokio::test]
async fn acknowledged_submission_is_accepted_with_its_job_id() {
    for status in [StatusCode::OK, StatusCode::ACCEPTED] {
        let double = double(Behaviour::answer().ack_status(status)).await;
        let outcome = submit(&double, 10 * SECOND).await;
        let submissions = double.submissions();
        assert_eq!(submissions.len(), 1);
        let job_id = submissions[0].job_id.clone();
        assert_eq!(outcome, SubmissionOutcome::Accepted { job_id: Some(job_id) });
        assert_eq!(submissions[0].header("callback-accept-encoding"), Some("zstd"));
        assert_eq!(submissions[0].traceparent(), Some("00-1-2-01"));
    }
}

#[tokio::test]
async fn refused_submission_tells_status_and_the_start_of_the_body() {
    let long = "it broke ".repeat(1000);
    let double = double(Behaviour::answer().refuse(StatusCode::INTERNAL_SERVER_ERROR, long.clone())).await;
    let outcome = submit(&double, 10 * SECOND).await;
    let body_start = long.chars().take(500).collect();
    assert_eq!(outcome, SubmissionOutcome::Rejected { status: 500, body_start });
    assert_eq!(double.submissions().len(), 1, "what was refused is not sent again");
}

#[tokio::test]
async fn redirect_is_a_refusal_and_not_followed() {
    let double = double(Behaviour::answer().refuse(StatusCode::TEMPORARY_REDIRECT, "")).await;
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    testkit::http::install_crypto_provider();
    let url = format!("{}/asyncquery", double.url()).parse().unwrap();
    let retriever = Retriever::new(http.no_proxy().build().unwrap(), url);
    let outcome = retriever.submit(body(), &SubmissionMetadata::default(), 10 * SECOND).await;
    assert_eq!(outcome, SubmissionOutcome::Rejected { status: 307, body_start: String::new() });
}

#[tokio::test]
async fn silence_after_the_request_is_in_flight() {
    let double = double(Behaviour::answer().ack_never()).await;
    let outcome = submit(&double, SECOND / 5).await;
    assert!(
        matches!(&outcome, SubmissionOutcome::InFlight { reason } if reason.contains("no ACK")),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn connection_that_breaks_after_the_request_is_in_flight_and_not_sent_again() {
    let double = double(Behaviour::answer().hang_up()).await;
    let outcome = submit(&double, 10 * SECOND).await;
    assert!(
        matches!(&outcome, SubmissionOutcome::InFlight { reason } if reason.contains("broke")),
        "{outcome:?}"
    );
    assert_eq!(double.submissions().len(), 1);
}

#[tokio::test]
async fn refused_connection_is_tried_again_and_never_reached_when_time_is_up() {
    let mut double = double(Behaviour::answer()).await;
    double.stop().await;
    let outcome = submit(&double, SECOND / 2).await;
    let named = |reason: &str| reason.contains("no connection to Retriever");
    assert!(matches!(&outcome, SubmissionOutcome::NeverReached { reason } if named(reason)), "{outcome:?}");
}

#[tokio::test]
async fn retriever_that_comes_up_inside_the_ack_timeout_is_reached() {
    let mut double = double(Behaviour::answer()).await;
    double.stop().await;
    let url = double.url();
    let submitting = tokio::spawn(async move {
        client(&url).submit(body(), &SubmissionMetadata::default(), 60 * SECOND).await
    });
    double.resume().await.unwrap();
    let outcome = submitting.await.unwrap();
    assert!(matches!(outcome, SubmissionOutcome::Accepted { .. }), "{outcome:?}");
}

#[tokio::test]
async fn busy_retriever_is_asked_again_when_it_says_so() {
    for status in [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE] {
        let busy = Behaviour::answer()
            .refuse(status, "busy")
            .with_header(RETRY_AFTER, HeaderValue::from_static("0"));
        let plan = Plan::always(Behaviour::answer().no_callback()).first_tries(1, busy);
        let double = RetrieverDouble::builder().plan(plan).start().await.unwrap();
        let outcome = submit(&double, 60 * SECOND).await;
        assert!(matches!(outcome, SubmissionOutcome::Accepted { .. }), "{outcome:?}");
        assert_eq!(double.submissions().len(), 2);
    }
}

#[tokio::test]
async fn retriever_that_stays_busy_longer_than_the_ack_timeout_is_never_reached() {
    let busy = Behaviour::answer()
        .refuse(StatusCode::SERVICE_UNAVAILABLE, "busy")
        .with_header(RETRY_AFTER, HeaderValue::from_static("3600"));
    let double = double(busy).await;
    let outcome = submit(&double, 60 * SECOND).await;
    assert!(
        matches!(&outcome, SubmissionOutcome::NeverReached { reason } if reason.contains("503")),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn try_with_no_time_for_an_answer_is_not_made() {
    let busy = Behaviour::answer()
        .refuse(StatusCode::SERVICE_UNAVAILABLE, "busy")
        .with_header(RETRY_AFTER, HeaderValue::from_static("1"));
    let plan = Plan::always(Behaviour::answer().ack_never()).first_tries(1, busy);
    let double = RetrieverDouble::builder().plan(plan).start().await.unwrap();
    let outcome = submit(&double, SECOND + SECOND / 10).await;
    assert!(matches!(&outcome, SubmissionOutcome::NeverReached { .. }), "{outcome:?}");
    assert_eq!(double.submissions().len(), 1);
}

#[tokio::test]
async fn answer_of_a_finished_job_is_recovered_and_that_of_a_running_one_is_pending() {
    use shepherd_retriever::Recovered;
    let double = double(Behaviour::answer().callback_after(SECOND / 5)).await;
    let SubmissionOutcome::Accepted { job_id: Some(job_id) } = submit(&double, 10 * SECOND).await else {
        panic!("not accepted")
    };
    let retriever = client(&double.url());
    let recovered = testkit::poll::eventually("the job to end", 20 * SECOND, || async {
        match retriever.recover(&job_id, 10 << 20, 10 * SECOND).await {
            Recovered::Pending => None,
            other => Some(other),
        }
    });
    match recovered.await.unwrap() {
        Recovered::Response { body, .. } => assert!(body.starts_with(b"{"), "{body:?}"),
        other => panic!("{other:?}"),
    }
    let unknown = retriever.recover("nobody", 10 << 20, 10 * SECOND).await;
    assert!(matches!(&unknown, Recovered::Lost { reason } if reason.contains("404")), "{unknown:?}");
    let small = retriever.recover(&job_id, 10, 10 * SECOND).await;
    assert!(matches!(&small, Recovered::Lost { reason } if reason.contains("larger than 10")), "{small:?}");
}

#[tokio::test]
async fn answers_without_end_are_read_to_a_small_bound() {
    // what sockets hold on their way counts too
    const FEW_BYTES: u64 = 32 << 20;
    use shepherd_retriever::Recovered;
    for (status, expected) in [
        (StatusCode::OK, SubmissionOutcome::Accepted { job_id: None }),
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            SubmissionOutcome::Rejected { status: 500, body_start: "x".repeat(500) },
        ),
    ] {
        let babbler = Babbler::start(status).await.unwrap();
        let retriever = client(&babbler.url());
        let outcome = retriever.submit(body(), &SubmissionMetadata::default(), 20 * SECOND).await;
        assert_eq!(outcome, expected);
        let recovered = retriever.recover("job", 10 << 20, 20 * SECOND).await;
        assert!(matches!(&recovered, Recovered::Lost { .. }), "{recovered:?}");
        assert!(babbler.said() < FEW_BYTES, "{status}: {}", babbler.said());
    }
}

fn sync_query(url: &str, max_answer_bytes: usize) -> SyncQuery {
    testkit::http::install_crypto_provider();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    SyncQuery::new(http, format!("{url}/query").parse().unwrap(), max_answer_bytes)
}

async fn ask(service: &SyncQuery, timeout: Duration) -> Result<SyncAnswer, QueryError> {
    let metadata = SubmissionMetadata { traceparent: "00-1-2-01".to_owned() };
    service.post(body(), &metadata, timeout).await
}

#[tokio::test]
async fn query_is_answered_on_the_connection() {
    let double = RetrieverDouble::start().await.unwrap();
    let answer = ask(&sync_query(&double.url(), 1 << 20), 10 * SECOND).await.unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(answer["message"]["results"].as_array().unwrap().len(), 10);
    assert_eq!(double.sync_queries()[0].traceparent(), Some("00-1-2-01"));
}

#[tokio::test]
async fn query_without_a_usable_answer_says_why() {
    let refused = Behaviour::answer().refuse(StatusCode::BAD_REQUEST, "no such thing");
    let hung_up = Behaviour::answer().hang_up();
    for (behaviour, limit, why) in [
        (refused, 1 << 20, "refused with status 400: no such thing"),
        (hung_up, 1 << 20, "the connection broke"),
        (Behaviour::answer(), 100, "the answer is larger than 100 bytes"),
    ] {
        let double = RetrieverDouble::builder().plan(Plan::always(behaviour)).start().await.unwrap();
        let error = ask(&sync_query(&double.url(), limit), 10 * SECOND).await.unwrap_err();
        assert!(error.to_string().starts_with(why), "{error}");
        assert_eq!(double.sync_queries().len(), 1, "what has arrived is not sent again");
    }
}

#[tokio::test]
async fn query_ends_with_its_timeout_whether_the_service_is_silent_or_away() {
    let silent = RetrieverDouble::builder().plan(Plan::always(Behaviour::answer().ack_never()));
    let mut double = silent.start().await.unwrap();
    let service = sync_query(&double.url(), 1 << 20);
    assert_eq!(ask(&service, SECOND / 5).await, Err(QueryError::TimedOut(SECOND / 5)));
    double.stop().await;
    let away = ask(&service, SECOND / 5).await;
    assert!(matches!(away, Err(QueryError::NotReached { .. })), "{away:?}");
}

#[tokio::test]
async fn query_is_sent_again_where_the_service_was_too_busy() {
    let busy = Behaviour::answer().refuse(StatusCode::SERVICE_UNAVAILABLE, "later");
    let double = RetrieverDouble::builder().plan(Plan::default().nth(0, busy)).start().await.unwrap();
    ask(&sync_query(&double.url(), 1 << 20), 10 * SECOND).await.unwrap();
    assert_eq!(double.sync_queries().len(), 2);
}
