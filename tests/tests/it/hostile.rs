//! Bodies that are meant to do harm: each is refused, at once, and takes no memory to speak of.

use std::io::Write;
use std::time::{Duration, Instant};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use testkit::queries;
use testkit::retriever::{Plan, Submission};
use testkit::stack::GATEWAY;

use crate::memory::Memory;
use crate::scene::{self, ARAGORN, DIABETES, Scene, silent};

const SECOND: Duration = Duration::from_secs(1);
const MEGABYTE: usize = 1 << 20;
/// Whatever a client sends is answered in this time: a thousandth of it would do on a quick machine.
const FAST: Duration = Duration::from_secs(10);
/// More than the limits below and what a burst of requests takes, less than any of the bodies.
const FLAT_MB: u64 = 48;

/// A gateway with small limits, and a callback that is awaited.
async fn armed() -> (Scene, Submission) {
    let limits = [("QUERY_MAX_REQUEST_SIZE", "1Mi"), ("CALLBACK_MAX_REQUEST_SIZE", "4Mi")];
    let plan = Plan::always(silent());
    let scene = scene::start(plan, |stack| scene::with_env(stack.workers(ARAGORN), &limits)).await;
    scene.submit("aragorn", scene::lookup()).await;
    let submission = scene.submissions(1).await.remove(0);
    (scene, submission)
}

async fn assert_unharmed(scene: &Scene) {
    scene.retriever.set_plan(Plan::default());
    scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success();
}

/// A gigabyte of spaces, or nearly, and a quarter of one in one piece.
fn bombs() -> [(&'static str, Vec<u8>); 3] {
    let spaces = vec![b' '; MEGABYTE];
    let frame = zstd::encode_all(&spaces[..], 1).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&spaces).unwrap();
    let member = encoder.finish().unwrap();
    let one_frame = zstd::encode_all(&vec![b' '; 256 * MEGABYTE][..], 1).unwrap();
    [("zstd", frame.repeat(1024)), ("gzip", member.repeat(900)), ("zstd", one_frame)]
}

#[tokio::test]
async fn decompression_bombs_are_refused_at_the_limit() {
    let (scene, submission) = armed().await;
    let memory = Memory::of(&scene.stack, GATEWAY);
    let callback = submission.callback().unwrap().to_owned();
    let query = format!("{}/aragorn/query", scene.stack.gateway_url());
    for (encoding, bomb) in bombs() {
        assert!(bomb.len() < MEGABYTE, "{encoding}: it must pass the limit on the wire");
        for url in [&query, &callback] {
            let sent = Instant::now();
            let reply = scene.post_to(url, &[("content-encoding", encoding)], bomb.clone()).await;
            // one that was told unusable is told so again
            assert!([413, 410].contains(&reply.status), "{encoding}: {}", reply.status);
            assert!(sent.elapsed() < FAST, "{encoding}: {:?}", sent.elapsed());
        }
    }
    memory.assert_grown_by_at_most(FLAT_MB);
    assert_unharmed(&scene).await;
}

/// Why, and a text that is put in place of a value in a good query or callback.
const VALUES: [(&str, &str); 12] = [
    ("not a number", "NaN"),
    ("infinite", "Infinity"),
    ("negatively infinite", "-Infinity"),
    ("hexadecimal", "0x10"),
    ("leading zero", "007"),
    ("half a character", r#""\ud800""#),
    ("the other half", r#"{"a": "\udc00"}"#),
    ("half a character in a name", r#"{"\ud83d": 1}"#),
    ("a control character", "\"a\u{1}b\""),
    ("a member twice", r#"{"a": 1, "\u0061": 2}"#),
    ("a comment", "1 /* one */"),
    ("a trailing comma", "[1,]"),
];

#[tokio::test]
async fn values_that_are_no_json_are_refused_wherever_they_are() {
    let (scene, submission) = armed().await;
    let callback = submission.callback().unwrap().to_owned();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let values = VALUES.iter().copied().chain([("10,000 lists", deep.as_str())]);
    for (why, value) in values {
        let query = queries::treats(DIABETES).to_string();
        let query = query.replacen('{', &format!(r#"{{"nobody_reads_this": {value}, "#), 1);
        let reply = scene.post("/aragorn/query", &[], query).await;
        assert!([400, 422].contains(&reply.status), "{why}: {}", reply.status);
        let body = format!(r#"{{"message": {{"knowledge_graph": {{"nobody": {value}}}}}}}"#);
        let reply = scene.post_to(&callback, &[], body).await;
        assert!([422, 410].contains(&reply.status), "{why}: {}", reply.status);
    }
    for (why, body) in [
        ("a mark at its start", [&b"\xef\xbb\xbf"[..], b"{\"message\": {}}"].concat()),
        ("two bytes each", "{\"message\": {}}".encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("nothing but zeros", vec![0; 1000]),
    ] {
        assert_eq!(scene.post("/aragorn/query", &[], body).await.status, 422, "{why}");
    }
    assert_unharmed(&scene).await;
}

/// A gigabyte of spaces, made as it is read.
fn gigabyte() -> reqwest::Body {
    let chunk = Bytes::from(vec![b' '; MEGABYTE]);
    reqwest::Body::wrap_stream(stream::iter((0..1024).map(move |_| Ok::<_, std::io::Error>(chunk.clone()))))
}

#[tokio::test]
async fn bodies_of_a_gigabyte_are_refused_before_they_are_read() {
    let (scene, submission) = armed().await;
    let memory = Memory::of(&scene.stack, GATEWAY);
    let gateway = scene.stack.gateway_url();
    let stranger = format!("{gateway}/aragorn/callback/0000{}", "1".repeat(32));
    for (url, status) in [
        (format!("{gateway}/aragorn/query"), 413),
        (format!("{gateway}/aragorn/asyncquery"), 413),
        (format!("{gateway}/unicorn/asyncquery"), 404),
        (format!("{gateway}/nowhere"), 404),
        (stranger, 404),
        (submission.callback().unwrap().to_owned(), 413),
    ] {
        for announced in [true, false] {
            let sent = Instant::now();
            let mut request = scene.http.post(&url).body(gigabyte()).timeout(2 * FAST);
            if announced {
                request = request.header("content-length", 1024 * MEGABYTE);
            }
            // a client that goes on sending may see its connection closed instead
            if let Ok(reply) = request.header("content-type", "application/json").send().await {
                assert!([status, 410].contains(&reply.status().as_u16()), "{url}: {}", reply.status());
            }
            assert!(sent.elapsed() < FAST, "{url}: {:?}", sent.elapsed());
        }
    }
    memory.assert_grown_by_at_most(FLAT_MB);
    assert_unharmed(&scene).await;
}

#[tokio::test]
async fn held_connections_do_not_hold_their_bodies() {
    const CONNECTIONS: usize = 40;
    let scene = scene::start(Plan::always(silent()), |stack| stack.workers(ARAGORN)).await;
    let memory = Memory::of(&scene.stack, GATEWAY);
    let padding = " ".repeat(4 * MEGABYTE);
    let query = scene::lookup().to_string().replacen('{', &format!(r#"{{"padding": "{padding}", "#), 1);
    let query = Bytes::from(query);
    let url = format!("{}/aragorn/query", scene.stack.gateway_url());
    let mut held = tokio::task::JoinSet::new();
    for count in 1..=CONNECTIONS {
        held.spawn(scene.http.post(&url).body(query.clone()).send());
        scene.submissions(count).await;
    }
    memory.assert_grown_by_at_most(80);
    assert_eq!(held.len(), CONNECTIONS);
}

#[tokio::test]
async fn bodies_that_trickle_keep_their_places_for_seconds_only() {
    let limits = [("MAX_BODIES", "4")];
    let scene = scene::start(Plan::default(), |stack| scene::with_env(stack.workers(ARAGORN), &limits)).await;
    let url = format!("{}/aragorn/query", scene.stack.gateway_url());
    let trickle = || {
        let bytes = stream::unfold((), |()| async {
            tokio::time::sleep(SECOND / 4).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b" ")), ()))
        });
        scene.http.post(&url).body(reqwest::Body::wrap_stream(bytes)).timeout(6 * FAST).send()
    };
    let slow = futures_util::future::join_all((0..4).map(|_| trickle()));
    let others = async {
        // while they have all places, others wait for a moment and may be sent away with a hint; then those are cut off
        let taken = || async {
            let reply = scene.post("/aragorn/query", &[], queries::treats(DIABETES).to_string()).await;
            assert!(reply.status == 200 || reply.headers.contains_key("retry-after"), "{}", reply.status);
            (reply.status == 200).then_some(())
        };
        testkit::poll::eventually("an answer", scene::LIMIT, taken).await.unwrap();
    };
    let (slow, ()) = tokio::join!(slow, others);
    for reply in slow {
        // cut off in the middle of sending, a client may see no more than that
        assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status() == 408));
    }
}
