//! `shepherd demo`, as far as stand-ins can show it; the real thing is shown by running it.

use crate::support::{LIMIT, shepherd, stand_ins};

#[tokio::test]
async fn a_query_that_is_refused_fails_the_demo_and_ends_every_process() {
    let bin = stand_ins();
    let (dir, pid_file) = (bin.path().display().to_string(), bin.path().join("pids"));
    let pids = pid_file.display().to_string();
    let demo = shepherd(bin.path(), &["demo", "--bin-dir", &dir, "--pid-file", &pids]);
    assert!(!demo.wait_within(LIMIT).await.unwrap().success());
    let said = demo.log_tail(100);
    // The stand-in for the gateway knows no personas.
    for text in ["Started in", "which chemicals treat type 2 diabetes", "not accepted", "answered 404"] {
        assert!(said.contains(text), "{text:?} is missing in\n{said}");
    }
    assert!(!pid_file.exists());
}

#[tokio::test]
async fn a_stack_that_was_not_built_is_said_to_be_so() {
    let empty = tempfile::tempdir().unwrap();
    let demo = shepherd(empty.path(), &["demo", "--bin-dir", &empty.path().display().to_string()]);
    assert!(!demo.wait_within(LIMIT).await.unwrap().success());
    assert!(demo.log_tail(5).contains("cargo build --workspace --bins"), "{}", demo.log_tail(5));
}
