//! Requests that are wrong as HTTP, byte by byte: each is refused or its connection closed, and none is taken
//! for two.

use std::time::{Duration, Instant};

use testkit::queries;
use testkit::retriever::Plan;
use testkit::stack::GATEWAY;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::memory::Memory;
use crate::scene::{self, ARAGORN, DIABETES, LIMIT, Scene};

const SECOND: Duration = Duration::from_secs(1);

async fn connect(scene: &Scene) -> TcpStream {
    let url = scene.stack.gateway_url();
    TcpStream::connect(url.trim_start_matches("http://")).await.unwrap()
}

/// Sends bytes and reads until the gateway closes the connection; a reset closes it too.
async fn exchange(scene: &Scene, bytes: &[u8]) -> String {
    let mut stream = connect(scene).await;
    // it may have been closed in the middle of it
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let closed = tokio::time::timeout(LIMIT, read).await;
    assert!(closed.is_ok(), "still open after {:?}", String::from_utf8_lossy(&answer));
    String::from_utf8_lossy(&answer).into_owned()
}

/// The statuses of all answers.
fn statuses(answer: &str) -> Vec<&str> {
    let mut words = answer.split("HTTP/1.");
    words.next();
    words.filter_map(|rest| rest.get(2..5)).collect()
}

#[track_caller]
fn assert_refused_or_closed(why: &str, answer: &str) {
    match statuses(answer)[..] {
        [] => {}
        [status] => assert!(status.starts_with('4'), "{why}: {answer}"),
        _ => panic!("{why}: several answers: {answer}"),
    }
}

async fn small() -> Scene {
    scene::start(Plan::default(), |stack| stack.workers(ARAGORN)).await
}

#[tokio::test]
async fn what_is_no_request_is_refused_or_its_connection_closed() {
    let scene = small().await;
    let long = "x".repeat(300_000);
    let head = "POST /aragorn/query HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
    let many = "x: 1\r\n".repeat(500);
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    let cases = [
        ("garbage", "\x16\x03\x01\x02\0\x01\0\x01\u{fc}\x03\x03".to_owned()),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        ("HTTP/0.9", "GET /livez\r\n\r\n".to_owned()),
        ("HTTP/1.0 with no length", "POST /aragorn/query HTTP/1.0\r\n\r\n{}".to_owned()),
        ("HTTP/9", "GET /livez HTTP/9.9\r\n\r\n".to_owned()),
        ("a control character in the path", "GET /response/a\x07b HTTP/1.1\r\nHost: a\r\n\r\n".to_owned()),
        ("a long path", format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n")),
        ("a long header", format!("GET /livez HTTP/1.1\r\nHost: a\r\nx: {long}\r\n\r\n")),
        ("many headers", format!("GET /livez HTTP/1.1\r\nHost: a\r\n{many}\r\n")),
        ("a nameless header", format!("{head}: x\r\n\r\n")),
        ("a folded header", format!("{head}x: a\r\n b\r\n\r\n")),
        ("a negative length", format!("{head}Content-Length: -1\r\n\r\n")),
        ("a signed length", format!("{head}Content-Length: +2\r\n\r\n{{}}")),
        ("an endless length", format!("{head}Content-Length: 99999999999999999999999\r\n\r\n")),
        ("a length in words", format!("{head}Content-Length: two\r\n\r\n{{}}")),
        ("a chunk of bad size", format!("{chunked}zz\r\n{{}}\r\n0\r\n\r\n")),
        ("a chunk of negative size", format!("{chunked}-2\r\n{{}}\r\n0\r\n\r\n")),
        ("a chunk of no size", format!("{chunked}\r\n{{}}\r\n0\r\n\r\n")),
        ("a chunk of endless size", format!("{chunked}fffffffffffffffffff\r\n{{}}\r\n")),
        ("a chunk longer than its size", format!("{chunked}1\r\n{{}}\r\n0\r\n\r\n")),
        ("an unknown transfer coding", format!("{head}Transfer-Encoding: gzip\r\n\r\n{{}}")),
        ("an expectation", format!("{head}Expect: miracles\r\nContent-Length: 2\r\n\r\n{{}}")),
    ];
    let memory = Memory::of(&scene.stack, GATEWAY);
    for (why, request) in cases {
        let sent = Instant::now();
        assert_refused_or_closed(why, &exchange(&scene, request.as_bytes()).await);
        assert!(sent.elapsed() < 20 * SECOND, "{why}: {:?}", sent.elapsed());
    }
    memory.assert_grown_by_at_most(16);
    let old = exchange(&scene, b"GET /livez HTTP/1.0\r\n\r\n").await;
    assert_eq!(statuses(&old), ["200"], "HTTP/1.0 is HTTP");
    scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success();
}

#[tokio::test]
async fn request_whose_end_is_a_matter_of_opinion_is_not_taken_for_two() {
    let scene = small().await;
    let head = "POST /aragorn/query HTTP/1.1\r\nHost: a\r\n";
    let hidden = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
    let length = format!("Content-Length: {}\r\n", 5 + hidden.len());
    for (why, headers) in [
        ("length, then chunks", format!("{length}Transfer-Encoding: chunked\r\n")),
        ("chunks, then length", format!("Transfer-Encoding: chunked\r\n{length}")),
        ("two lengths", format!("{length}Content-Length: 5\r\n")),
        ("two lengths in one", format!("Content-Length: 5, {}\r\n", 5 + hidden.len())),
        ("chunks twice", "Transfer-Encoding: chunked, chunked\r\n".to_owned()),
        (
            "chunks, then no coding",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n".to_owned(),
        ),
        ("a coding that is nearly chunks", format!("Transfer-Encoding: xchunked\r\n{length}")),
        ("a space before the colon", format!("Transfer-Encoding : chunked\r\n{length}")),
        ("a bare line feed", format!("x: y\nTransfer-Encoding: chunked\r\n{length}")),
    ] {
        // what one reader takes for the body, another one takes for an empty body and a request
        let answer = exchange(&scene, format!("{head}{headers}\r\n0\r\n\r\n{hidden}").as_bytes()).await;
        assert_refused_or_closed(why, &answer);
        assert!(!answer.contains("alive"), "{why}: {answer}");
    }
    let good = queries::treats(DIABETES).to_string();
    let chunked =
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{good}\r\n0\r\n\r\n{hidden}", good.len());
    let answer = exchange(&scene, chunked.as_bytes()).await;
    assert_eq!(statuses(&answer), ["200"], "one that is whole is answered, and then the connection ends");
}

#[tokio::test]
async fn ids_with_anything_in_them_are_unknown_and_not_repeated_in_the_answer() {
    let scene = small().await;
    let long = "0".repeat(5000);
    for id in [
        "x",
        "%00",
        "%0d%0aSet-Cookie:a=b",
        "..%2f..%2fetc",
        "%ff%fe",
        "%F0%9F%98%80",
        "*",
        "'",
        "{p0}",
        &long,
    ] {
        for path in ["response", "asyncquery_status", "aragorn/response", "aragorn/asyncquery_status"] {
            let reply = scene.get(&format!("/{path}/{id}")).await;
            assert!([400, 404].contains(&reply.status), "{path}/{id}: {}", reply.status);
            assert!(reply.headers.get("set-cookie").is_none(), "{path}/{id}");
            assert!(reply.body.len() < 1000, "{path}/{id}");
        }
    }
}

#[tokio::test]
async fn headers_that_trickle_are_cut_off_and_keep_nobody_else_from_being_served() {
    const CONNECTIONS: usize = 100;
    let scene = small().await;
    let memory = Memory::of(&scene.stack, GATEWAY);
    let started = Instant::now();
    let slow = (0..CONNECTIONS).map(|_| async {
        let mut stream = connect(&scene).await;
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: a\r\n").await.unwrap();
        let mut answer = [0; 1024];
        loop {
            tokio::select! {
                read = stream.read(&mut answer) => {
                    // closed, or told so before
                    match read { Ok(0) | Err(_) => return, Ok(_) => {} }
                }
                () = tokio::time::sleep(SECOND) => {
                    if stream.write_all(b"x: y\r\n").await.is_err() {
                        return;
                    }
                }
            }
        }
    });
    let slow = futures_util::future::join_all(slow);
    let served = async { scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success() };
    let (_, ()) = tokio::join!(slow, served);
    assert!(started.elapsed() < 30 * SECOND, "{:?}", started.elapsed());
    memory.assert_grown_by_at_most(16);
}
