//! What Retriever may post to a callback, and what it is told.
//!
//! The double stays silent here: the tests post to the callback URLs themselves.

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::StatusCode;
use serde_json::{Value, json};
use std::io::Write;
use testkit::answers::{self, AnswerSpec};
use testkit::queries;
use testkit::retriever::{Behaviour, Encoding, Payload, Plan, Submission};

use crate::scene::{self, ARAGORN, DIABETES, Job, LIMIT, Scene, silent};

const ZSTD: (&str, &str) = ("content-encoding", "zstd");

/// A good callback for `submission` with so many results.
pub(crate) fn body(submission: &Submission, results: usize) -> Vec<u8> {
    let spec = AnswerSpec { results, ..AnswerSpec::default() };
    let message = answers::message(submission.query_graph(), &spec).unwrap();
    json!({ "message": message, "status": "Success", "logs": [] }).to_string().into_bytes()
}

/// A lookup that waits for its one callback.
async fn waiting(scene: &Scene, query: Value) -> (Job, Submission) {
    let before = scene.retriever.submissions().len();
    let job = scene.submit("aragorn", query).await;
    let submissions = scene.submissions(before + 1).await;
    (job, submissions[before].clone())
}

async fn post(
    scene: &Scene,
    submission: &Submission,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> u16 {
    scene.post_to(submission.callback().unwrap(), headers, body).await.status
}

#[tokio::test]
async fn id_that_nobody_gave_out_is_unknown() {
    let scene = scene::aragorn(Plan::always(silent())).await;
    let (_, submission) = waiting(&scene, scene::lookup()).await;
    let good = submission.callback().unwrap().rsplit('/').next().unwrap().to_owned();
    let unknown = "0000".to_owned() + &"1".repeat(32);
    let other_partition = "ffff".to_owned() + &good[4..];
    let long = "0".repeat(5000);
    let ids = [
        &unknown,
        &other_partition,
        &good.to_uppercase(),
        &good[1..],
        "x",
        "%00",
        "..%2f",
        "a%0d%0ab",
        &long,
    ];
    for id in ids {
        let reply = scene.post(&format!("/aragorn/callback/{id}"), &[], body(&submission, 1)).await;
        assert_eq!(reply.status, 404, "{id}");
        assert_eq!(reply.json()["code"], "no_such_callback", "{id}");
    }
    assert_eq!(scene.post(&format!("/unicorn/callback/{good}"), &[], "{}").await.status, 404);
    assert_eq!(
        post(&scene, &submission, &[], body(&submission, 1)).await,
        200,
        "the real one is still awaited"
    );
}

#[tokio::test]
async fn callback_after_the_close_is_told_how_late_it_is_and_counted() {
    let scene = scene::aragorn(Plan::always(silent())).await;
    let (job, submission) = waiting(&scene, queries::with_timeout(scene::lookup(), 2)).await;
    let answer = scene.answer(&job).await;
    assert_eq!((answer.status(), answer.results().len()), ("KPsNotAvailable", 0));
    for _ in 0..2 {
        let reply = scene.post_to(submission.callback().unwrap(), &[], body(&submission, 1)).await;
        assert_eq!((reply.status, reply.json()["code"].as_str()), (410, Some("lookup_closed")));
        let description = reply.json()["description"].as_str().unwrap().to_owned();
        assert!(
            description.starts_with("the lookup closed ") && description.ends_with(" ms ago"),
            "{description}"
        );
    }
    let status = scene.ended(&job.id).await;
    assert_eq!(status["progress"]["sub_queries"]["late"], 1, "the same one twice");
    assert_eq!(status["progress"]["sub_queries"]["returned"], 0);
}

#[tokio::test]
async fn repeated_callback_is_taken_and_changes_nothing() {
    let scene = scene::aragorn(Plan::always(silent())).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let submissions = scene.submissions(9).await;
    let direct = submissions.iter().find(|submission| submission.mentions("biolink:treats")).unwrap();
    assert_eq!(post(&scene, direct, &[], body(direct, 3)).await, 200);
    assert_eq!(post(&scene, direct, &[], body(direct, 10)).await, 200, "another body");
    assert_eq!(post(&scene, direct, &[], "garbage").await, 422, "a body that is none is told so");
    for other in submissions.iter().filter(|submission| submission.order != direct.order) {
        assert_eq!(post(&scene, other, &[], body(other, 0)).await, 200);
    }
    let answer = scene.answer(&job).await;
    answer.assert_success();
    assert_eq!(answer.results().len(), 3, "those of the first callback");
    assert_eq!(post(&scene, direct, &[], body(direct, 10)).await, 200, "after the close, too");
    let status = scene.ended(&job.id).await;
    assert_eq!(status["progress"]["sub_queries"]["returned"], 9);
    assert_eq!(status["progress"]["sub_queries"]["late"], 0);
}

/// Why, the headers, the body, the status.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], Vec<u8>, u16);

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn unusable_callback_is_refused_and_nobody_waits_for_it() {
    let scene = scene::start(Plan::always(silent()), |stack| {
        stack.workers(ARAGORN).env("CALLBACK_MAX_REQUEST_SIZE", "64Ki")
    })
    .await;
    let (job, submission) = waiting(&scene, scene::lookup()).await;
    let good = body(&submission, 5);
    assert_eq!(post(&scene, &submission, &[], good.clone()).await, 200);
    scene.answer(&job).await.assert_success();
    let half = good.len() / 2;
    let large = json!({ "message": {}, "padding": " ".repeat(70_000) }).to_string().into_bytes();
    let packed = zstd::encode_all(&good[..], 3).unwrap();
    let cases: [Case<'_>; 18] = [
        ("nothing", &[], Vec::new(), 422),
        ("truncated JSON", &[], good[..half].to_vec(), 422),
        ("garbage", &[], b"<html>502 Bad Gateway</html>".to_vec(), 422),
        ("not UTF-8", &[], b"{\"message\": {\"a\": \"\xff\"}}".to_vec(), 422),
        ("too deep", &[], format!("{{\"message\": {{\"a\": {}", "[".repeat(20_000)).into(), 422),
        ("a list", &[], b"[]".to_vec(), 422),
        ("a list with a message", &[], b" [{\"results\": []}]".to_vec(), 422),
        ("null", &[], b"null".to_vec(), 422),
        ("no message", &[], b"{\"status\": \"Success\"}".to_vec(), 422),
        ("null message", &[], b"{\"message\": null}".to_vec(), 422),
        ("message is a list", &[], b"{\"message\": []}".to_vec(), 422),
        ("mislabelled zstd", &[ZSTD], good.clone(), 400),
        ("truncated zstd", &[ZSTD], packed[..packed.len() / 2].to_vec(), 400),
        ("mislabelled gzip", &[("content-encoding", "gzip")], good.clone(), 400),
        ("unknown encoding", &[("content-encoding", "br")], good, 415),
        ("too large", &[], large.clone(), 413),
        ("too large once decoded", &[ZSTD], zstd::encode_all(&large[..], 3).unwrap(), 413),
        ("too large once unzipped", &[("content-encoding", "gzip")], gzip(&large), 413),
    ];
    for (why, headers, body, status) in cases {
        let (job, submission) = waiting(&scene, scene::lookup()).await;
        let reply = scene.post_to(submission.callback().unwrap(), headers, body).await;
        assert_eq!(reply.status, status, "{why}");
        let described = reply.json()["description"].as_str().unwrap().to_owned();
        // the lookup has 210 s: an answer inside the test's limit means that nobody waited
        let answer = scene.answer(&job).await;
        assert_eq!(answer.status(), "KPsNotAvailable", "{why}");
        answer.assert_logged("WARNING", &described);
        let sub_queries = &scene.ended(&job.id).await["progress"]["sub_queries"];
        assert_eq!((&sub_queries["failed"], &sub_queries["outstanding"]), (&json!(1), &json!(0)), "{why}");
    }
}

#[tokio::test]
async fn callback_that_breaks_off_is_still_awaited() {
    let plan = Plan::always(Behaviour::answer().breaking_off());
    let scene = scene::aragorn(plan).await;
    let (job, submission) = waiting(&scene, scene::lookup()).await;
    let callbacks = scene.retriever.wait_for_callbacks(1, LIMIT).await.unwrap();
    assert_ne!(callbacks[0].status(), Some(200));
    let status = scene.status(&job.id).await;
    assert_eq!(status["progress"]["sub_queries"]["outstanding"], 1);
    assert_eq!(
        post(&scene, &submission, &[ZSTD], zstd::encode_all(&body(&submission, 2)[..], 3).unwrap()).await,
        200
    );
    let answer = scene.answer(&job).await;
    answer.assert_success();
    assert_eq!(answer.results().len(), 2);
}

#[tokio::test]
async fn callback_with_a_repeated_key_is_refused_at_any_depth_and_nobody_waits_for_it() {
    let scene = scene::aragorn(Plan::always(silent())).await;
    for (member, twice) in [
        (r#""status":"#, r#""status":"Failed","status":"#),
        (r#""results":"#, r#""results":null,"results":"#),
        (r#""node_bindings":"#, r#""node_bindings":{},"node_bindings":"#),
        (r#""resource_role":"#, r#""resource_role":"x","resource_role":"#),
        (r#""attribute_type_id":"#, r#""attribute_type_id":"x","attribute_type_id":"#),
    ] {
        let (job, submission) = waiting(&scene, scene::lookup()).await;
        let body = String::from_utf8(body(&submission, 3)).unwrap();
        assert!(body.contains(member), "{member}");
        assert_eq!(post(&scene, &submission, &[], body.replacen(member, twice, 1)).await, 422, "{member}");
        let answer = scene.answer(&job).await;
        assert_eq!(answer.status(), "KPsNotAvailable", "{member}");
    }
}

#[tokio::test]
async fn callback_of_a_refused_submission_is_not_awaited() {
    let plan = Plan::always(silent()).nth(0, Behaviour::answer().refuse(StatusCode::BAD_REQUEST, "no"));
    let scene = scene::aragorn(plan).await;
    let job = scene.submit("aragorn", queries::treats(DIABETES)).await;
    let submissions = scene.submissions(9).await;
    scene
        .status_when(&job.id, "the refusal", |status| status["progress"]["sub_queries"]["removed"] == 1)
        .await;
    let reply = scene.post_to(submissions[0].callback().unwrap(), &[], body(&submissions[0], 1)).await;
    assert_eq!((reply.status, reply.json()["code"].as_str()), (410, Some("not_awaited")));
    let sub_queries = &scene.status(&job.id).await["progress"]["sub_queries"];
    assert_eq!((&sub_queries["returned"], &sub_queries["late"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn unusable_sub_answers_do_not_spoil_the_others() {
    let plan = Plan::default()
        .nth(1, Behaviour::answer().payload(Payload::Truncated))
        .nth(2, Behaviour::answer().payload(Payload::Garbage))
        .nth(3, Behaviour::answer().encoding(Encoding::MislabelledZstd));
    let scene = scene::aragorn(plan).await;
    let answer = scene.ask("aragorn", queries::treats(DIABETES)).await;
    assert_eq!(answer.status(), "Success");
    assert!(!answer.results().is_empty());
    assert!(answer.description().contains("3 of 9 sub-queries are missing"), "{}", answer.description());
    answer.assert_logged("WARNING", "3 of 9 sub-queries are missing: 3 had an unusable answer");
    let statuses: Vec<_> = scene
        .retriever
        .wait_for_callbacks(9, LIMIT)
        .await
        .unwrap()
        .iter()
        .map(|c| c.status().unwrap())
        .collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 6, "{statuses:?}");
}
