//! The supervisor.

use testkit::RetrieverDouble;
use testkit::Stack;
use testkit::stack::{GATEWAY, REDIS, RETRIEVER, RetrieverChoice, StackBuilder, StackError, WORKERS};

use crate::support::{LIMIT, SHEPHERD, script, stand_ins};

fn own_retriever() -> RetrieverChoice {
    RetrieverChoice::Process { program: SHEPHERD.into(), args: vec!["retriever".into()], port: 0 }
}

fn small(dir: &std::path::Path) -> StackBuilder {
    Stack::builder(dir).workers(["operations"])
}

#[tokio::test]
async fn every_process_runs_and_is_listed_until_the_stack_ends() {
    let bin = stand_ins();
    let pid_file = bin.path().join("stack.pid");
    let stack =
        Stack::builder(bin.path()).retriever(own_retriever()).pid_file(&pid_file).start().await.unwrap();
    let labels: Vec<String> = stack.processes().into_iter().map(|process| process.label).collect();
    let mut expected = vec![REDIS, RETRIEVER, GATEWAY];
    expected.extend(WORKERS);
    assert_eq!(labels, expected);
    let listed = std::fs::read_to_string(&pid_file).unwrap();
    for label in expected {
        assert!(listed.contains(&format!("{label} {}\n", stack.pid(label).unwrap())), "{label}");
    }
    stack.shutdown().await.unwrap();
    assert!(!pid_file.exists());
}

#[tokio::test]
async fn processes_find_each_other_through_their_environment() {
    let bin = stand_ins();
    let retriever = RetrieverDouble::start().await.unwrap();
    let stack = small(bin.path())
        .retriever(RetrieverChoice::At(retriever.url()))
        .rules_dir("/some/rules")
        .env("LOOKUP_TIMEOUT", "3")
        .env_for("operations", "OPERATIONS", "sort_results_score")
        .start()
        .await
        .unwrap();
    let env = stack.logs("operations").unwrap();
    let redis_port = stack.redis_url().trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    for line in [
        "REDIS_HOST=127.0.0.1".to_owned(),
        format!("REDIS_PORT={redis_port}"),
        format!("CALLBACK_HOST={}", stack.gateway_url()),
        format!("KG_RETRIEVAL_URL={}/asyncquery", retriever.url()),
        format!("KG_REHYDRATE_URL={}/rehydrate", retriever.url()),
        "RULES_DIR=/some/rules".to_owned(),
        "LOOKUP_TIMEOUT=3".to_owned(),
        "OPERATIONS=sort_results_score".to_owned(),
    ] {
        assert!(env.lines().any(|have| have == line), "{line} is missing in\n{env}");
    }
    assert!(!env.contains("BIND_ADDR") && !env.contains("CARGO_MANIFEST_DIR"), "{env}");
    assert!(stack.logs(GATEWAY).unwrap().contains("BIND_ADDR=127.0.0.1:"));
}

#[tokio::test]
async fn killed_frozen_and_restarted_processes_are_told_apart() {
    let bin = stand_ins();
    let stack = small(bin.path()).start().await.unwrap();
    let first = stack.pid("operations").unwrap();
    stack.kill("operations").await.unwrap();
    assert!(matches!(stack.stop("operations"), Err(StackError::Process(_))), "it is gone");
    stack.restart("operations").await.unwrap();
    assert_ne!(stack.pid("operations").unwrap(), first);
    stack.stop("operations").unwrap();
    stack.cont("operations").unwrap();
    stack.wait_ready("operations").await.unwrap();
    stack.kill(REDIS).await.unwrap();
    stack.restart(REDIS).await.unwrap();
    // None of this was a death: they were asked for.
    let died = tokio::time::timeout(std::time::Duration::from_millis(100), stack.death()).await;
    assert!(died.is_err());
    assert!(matches!(stack.pid("nobody"), Err(StackError::UnknownLabel(label)) if label == "nobody"));
}

#[tokio::test]
async fn a_death_nobody_asked_for_is_reported_with_the_log() {
    let bin = stand_ins();
    let stack = small(bin.path()).start().await.unwrap();
    let pid = i32::try_from(stack.pid("operations").unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let death = tokio::time::timeout(LIMIT, stack.death()).await.unwrap();
    assert_eq!(death.label, "operations");
    assert!(death.to_string().contains("stand-in for operations"), "{death}");
}

#[tokio::test]
async fn a_program_that_fails_at_start_fails_the_stack_with_its_words() {
    let bin = stand_ins();
    script(bin.path(), "operations", "echo 'LOOKUP_TIMEOUT: not a number' >&2; exit 1");
    let error = small(bin.path()).start().await.unwrap_err();
    assert!(error.to_string().contains("LOOKUP_TIMEOUT: not a number"), "{error}");
}

#[tokio::test]
async fn a_program_that_was_not_built_is_named() {
    let bin = stand_ins();
    let error = Stack::builder(bin.path()).workers(["finish_query"]).start().await.unwrap_err();
    assert!(matches!(error, StackError::MissingBinary { name, .. } if name == "finish_query"));
}

#[tokio::test]
async fn ports_are_as_asked() {
    let bin = stand_ins();
    let ports = testkit::ports::unused_many(2).unwrap();
    let stack = small(bin.path()).gateway_port(ports[0]).redis_port(ports[1]).start().await.unwrap();
    assert_eq!(stack.gateway_url(), format!("http://127.0.0.1:{}", ports[0]));
    assert_eq!(stack.redis_url(), format!("redis://127.0.0.1:{}/", ports[1]));
}
