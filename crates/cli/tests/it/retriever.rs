//! `shepherd retriever`.

use rustix::process::Signal;
use std::time::Duration;
use testkit::{ArsDouble, queries};

use crate::support::{LIMIT, shepherd, wait_for_output};

#[tokio::test]
async fn the_double_answers_as_asked_and_stops_on_sigint() {
    let dir = tempfile::tempdir().unwrap();
    let port = testkit::ports::unused().unwrap().to_string();
    let double =
        shepherd(dir.path(), &["retriever", "--port", &port, "--results", "3", "--callback-delay-ms", "50"]);
    wait_for_output(&double, "Retriever double on").await;
    let ars = ArsDouble::start().await.unwrap();
    let query = queries::with_callback(queries::treats("MONDO:0005148"), &ars.callback_url("k"));
    let url = format!("http://127.0.0.1:{port}/asyncquery");
    let asked = std::time::Instant::now();
    assert_eq!(ars.post(&url, &query, LIMIT).await.unwrap().status, 200);
    let answer = ars.wait_for("k", LIMIT).await.unwrap();
    assert!(asked.elapsed() >= Duration::from_millis(50));
    assert_eq!(answer.json().unwrap()["message"]["results"].as_array().unwrap().len(), 3);
    double.signal(Signal::INT).unwrap();
    assert!(double.wait_within(LIMIT).await.unwrap().success());
    assert!(double.log_tail(10).contains("1 sub-queries"), "{}", double.log_tail(10));
}
