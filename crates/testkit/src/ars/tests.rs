use super::*;
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(10);

async fn deliver(ars: &ArsDouble, key: &str, body: &Value) -> u16 {
    ars.post(&ars.callback_url(key), body, LIMIT).await.unwrap().status
}

fn with_results() -> Value {
    json!({ "message": { "results": [{}] } })
}

#[tokio::test]
async fn the_first_delivery_is_kept_and_later_ones_are_told_so() {
    let ars = ArsDouble::start().await.unwrap();
    assert_eq!(deliver(&ars, "full", &with_results()).await, 201);
    assert_eq!(deliver(&ars, "full", &with_results()).await, 409);
    let empty = json!({ "message": { "results": [] } });
    assert_eq!(deliver(&ars, "empty", &empty).await, 201);
    assert_eq!(deliver(&ars, "empty", &with_results()).await, 200);
    assert_eq!(deliver(&ars, "odd", &json!([])).await, 422);
    assert_eq!(ars.received("full").len(), 2);
    assert_eq!(ars.kept("empty").unwrap().json().unwrap(), empty);
    assert!(ars.kept("odd").is_none());
    assert_eq!(ars.wait_for_nth("full", 2, LIMIT).await.unwrap().nth, 2);
}

#[tokio::test]
async fn the_first_deliveries_can_be_refused() {
    let ars = ArsDouble::start_with(0, Policy::refuse_first(2, Reply::status(503))).await.unwrap();
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(deliver(&ars, "x", &with_results()).await);
    }
    assert_eq!(statuses, [503, 503, 201]);
}

#[tokio::test]
async fn it_can_be_slow_or_hang() {
    let ars = ArsDouble::start().await.unwrap();
    ars.set_policy(Policy::always(Reply::as_ars().after(Duration::from_millis(100))));
    let asked = Instant::now();
    assert_eq!(deliver(&ars, "slow", &with_results()).await, 201);
    assert!(asked.elapsed() >= Duration::from_millis(100));
    ars.set_policy(Policy::always(Reply::hang()));
    let hung = ars.post(&ars.callback_url("hung"), &with_results(), Duration::from_millis(100)).await;
    assert!(matches!(hung, Err(SubmitError::Send { source, .. }) if source.is_timeout()));
    assert_eq!(ars.received("hung").len(), 1);
}

#[tokio::test]
async fn a_query_that_is_not_accepted_is_an_error_with_the_answer() {
    let ars = ArsDouble::start().await.unwrap();
    // The double itself is no Shepherd: it has no such route.
    let base = format!("http://{}", ars.addr());
    let refused = ars.submit_async(&base, "aragorn", crate::queries::treats("MONDO:0005148")).await;
    assert!(matches!(refused, Err(SubmitError::Refused { status: 404, .. })));
}

#[tokio::test]
async fn callback_urls_can_name_another_host() {
    let named = |host: &'static str| async move {
        let ars = ArsDouble::listen(ports::loopback(0), Some(host), Policy::default()).await.unwrap();
        (ars.callback_url("k"), ars.addr().port())
    };
    let (url, port) = named("host.docker.internal").await;
    assert_eq!(url, format!("http://host.docker.internal:{port}/callback/k"));
    assert_eq!(named("localhost:99").await.0, "http://localhost:99/callback/k");
}
