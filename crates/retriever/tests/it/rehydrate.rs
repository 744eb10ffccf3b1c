//! How second passes end, over real HTTP against a double of Retriever.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use shepherd_retriever::{QueryError, RehydrationRequest, SubmissionMetadata, SyncAnswer, SyncQuery};
use testkit::retriever::Rehydration;
use testkit::{Babbler, RetrieverDouble};
use trapi::Members;

const SECOND: Duration = Duration::from_secs(1);
const LIMIT_BYTES: usize = 1 << 20;

fn rehydrator(url: &str) -> SyncQuery {
    let http = testkit::http::plain_client().unwrap();
    SyncQuery::new(http, format!("{url}/rehydrate").parse().unwrap(), LIMIT_BYTES)
}

async fn fill(url: &str, timeout: Duration) -> Result<SyncAnswer, QueryError> {
    let message = json!({ "knowledge_graph": { "nodes": { "CHEBI:6801": {} }, "edges": {} } }).to_string();
    let parameters: Members = serde_json::from_str(r#"{"timeout":9,"x":1e0}"#).unwrap();
    let request = RehydrationRequest {
        message: message.as_bytes(),
        parameters: &parameters,
        timeout_seconds: timeout.as_secs_f64(),
    };
    let metadata = SubmissionMetadata { traceparent: "00-1-2-01".to_owned() };
    rehydrator(url).post(request.to_json().unwrap(), &metadata, timeout).await
}

async fn double(rehydration: Rehydration) -> RetrieverDouble {
    let double = RetrieverDouble::start().await.unwrap();
    double.set_rehydration(rehydration);
    double
}

#[tokio::test]
async fn message_comes_back_filled() {
    for (rehydration, expected) in [(Rehydration::Fill, ""), (Rehydration::Compressed, "zstd")] {
        let double = double(rehydration).await;
        let SyncAnswer { body, encoding } = fill(&double.url(), 20 * SECOND).await.unwrap();
        assert_eq!(encoding, expected);
        if encoding.is_empty() {
            let value: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(value["message"]["knowledge_graph"]["nodes"]["CHEBI:6801"]["name"], "metformin");
        }
        let [request] = &double.rehydrations()[..] else { panic!("one request") };
        assert_eq!(request.query["parameters"].to_string(), r#"{"timeout":20,"x":1.0,"rehydrate":true}"#);
        assert_eq!(request.traceparent(), Some("00-1-2-01"));
    }
}

#[tokio::test]
async fn failures_are_told_apart() {
    let ended = async |rehydration, timeout| {
        let double = double(rehydration).await;
        let error = fill(&double.url(), timeout).await.unwrap_err();
        assert_eq!(double.rehydrations().len(), 1, "what arrived is not sent again: {error}");
        error
    };
    for status in [StatusCode::BAD_REQUEST, StatusCode::INTERNAL_SERVER_ERROR, StatusCode::ACCEPTED] {
        let error = ended(Rehydration::Refuse(status), 20 * SECOND).await;
        assert_eq!(error, QueryError::Refused { status: status.as_u16(), body_start: String::new() });
    }
    let error = ended(Rehydration::Redirect("http://127.0.0.1:9/".to_owned()), 20 * SECOND).await;
    assert!(matches!(error, QueryError::Refused { status: 307, .. }), "{error}");
    let error = ended(Rehydration::Hang, SECOND).await;
    assert_eq!(error, QueryError::TimedOut(SECOND));
    let error = ended(Rehydration::HangUp, 20 * SECOND).await;
    assert!(matches!(error, QueryError::Broken { .. }), "{error}");
    let large = Rehydration::Bytes(vec![b' '; LIMIT_BYTES + 1].into());
    assert_eq!(ended(large, 20 * SECOND).await, QueryError::TooLarge { limit: LIMIT_BYTES });
}

#[tokio::test]
async fn answer_without_end_is_read_to_the_limit() {
    // what sockets hold on their way counts too
    const FEW_BYTES: u64 = 32 << 20;
    let babbler = Babbler::start(StatusCode::OK).await.unwrap();
    let error = fill(&babbler.url(), 20 * SECOND).await.unwrap_err();
    assert_eq!(error, QueryError::TooLarge { limit: LIMIT_BYTES });
    assert!(babbler.said() < FEW_BYTES, "{}", babbler.said());
}

#[tokio::test]
async fn retriever_that_comes_up_inside_the_time_is_reached_and_one_that_does_not_is_not() {
    let mut double = double(Rehydration::Fill).await;
    double.stop().await;
    let url = double.url();
    let error = fill(&url, SECOND / 2).await.unwrap_err();
    assert!(matches!(error, QueryError::NotReached { .. }), "{error}");
    let filling = tokio::spawn(async move { fill(&url, 60 * SECOND).await });
    double.resume().await.unwrap();
    filling.await.unwrap().unwrap();
    double.set_rehydration(Rehydration::Refuse(StatusCode::SERVICE_UNAVAILABLE));
    let error = fill(&double.url(), SECOND).await.unwrap_err();
    assert!(matches!(&error, QueryError::NotReached { reason } if reason.contains("503")), "{error}");
    assert!(double.rehydrations().len() > 2, "asked again");
}
