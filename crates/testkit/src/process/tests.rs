use super::*;

fn spec(dir: &Path, script: &str) -> ProcessSpec {
    ProcessSpec {
        label: "child".to_owned(),
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("GREETING".to_owned(), "hello".to_owned())],
        inherits_env: true,
        log: dir.join("child.log"),
        own_group: false,
    }
}

#[tokio::test]
async fn output_and_exit_status_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let process = Process::spawn(&spec(dir.path(), "echo first; echo $GREETING >&2; exit 3")).unwrap();
    let status = process.wait_within(Duration::from_secs(10)).await.unwrap();
    assert_eq!(status.code(), Some(3));
    assert_eq!(process.log_tail(1), "hello");
    assert!(matches!(process.signal(Signal::TERM), Err(ProcessError::NotRunning { .. })));
}

#[tokio::test]
async fn a_process_deaf_to_sigterm_is_killed_after_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    // The loop keeps the shell itself alive when its sleep is interrupted.
    let script = "trap '' TERM; echo ready; while :; do sleep 60; done";
    let process = Process::spawn(&spec(dir.path(), script)).unwrap();
    let ready = || std::future::ready((process.log_tail(1) == "ready").then_some(()));
    crate::poll::eventually("the trap to be set", Duration::from_secs(10), ready).await.unwrap();
    let status = process.terminate(Duration::from_millis(50)).await.unwrap();
    assert!(!status.success());
    assert!(process.exit_status().is_some());
}

#[tokio::test]
async fn a_paused_process_still_ends_on_terminate() {
    let dir = tempfile::tempdir().unwrap();
    let process = Process::spawn(&spec(dir.path(), "exec sleep 60")).unwrap();
    process.signal(Signal::STOP).unwrap();
    assert!(process.terminate(Duration::from_secs(10)).await.is_ok());
}

#[tokio::test]
async fn dropping_kills_and_reaps() {
    let dir = tempfile::tempdir().unwrap();
    let process = Process::spawn(&spec(dir.path(), "exec sleep 60")).unwrap();
    let pid = process.pid;
    drop(process);
    assert!(rustix::process::test_kill_process(pid).is_err());
}

#[test]
fn a_missing_program_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let spec = ProcessSpec { program: "no-such-program".into(), ..spec(dir.path(), "") };
    let error = Process::spawn(&spec).unwrap_err();
    assert_eq!(error.to_string(), "could not start child (no-such-program)");
}
