//! `shepherd serve`.

use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use testkit::stack::{GATEWAY, REDIS, RETRIEVER, WORKERS};

use crate::support::{LIMIT, shepherd, stand_ins, wait_for_output};

#[tokio::test]
async fn the_stack_stays_up_until_sigterm_and_leaves_nothing_behind() {
    let bin = stand_ins();
    let dir = bin.path().display().to_string();
    let pid_file = bin.path().join("pids");
    let (pids, logs) = (pid_file.display().to_string(), bin.path().join("logs"));
    let args = ["serve", "--bin-dir", &dir, "--gateway-port", "0", "--pid-file", &pids, "--log-dir"];
    let serve = shepherd(bin.path(), &[&args[..], &[&logs.display().to_string()]].concat());
    wait_for_output(&serve, "Ctrl-C stops everything").await;
    let listed = std::fs::read_to_string(&pid_file).unwrap();
    assert_eq!(listed.lines().count(), WORKERS.len() + [REDIS, RETRIEVER, GATEWAY].len(), "{listed}");
    assert!(logs.join("redis.log").exists() && logs.join("finish-query.log").exists());
    serve.signal(Signal::TERM).unwrap();
    assert!(serve.wait_within(LIMIT).await.unwrap().success());
    assert!(!pid_file.exists());
    for line in listed.lines() {
        let pid = line.rsplit(' ').next().unwrap().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        assert!(rustix::process::test_kill_process(pid).is_err(), "{line} is still there");
    }
}

#[tokio::test]
async fn a_dead_child_ends_the_stack_with_its_log() {
    let bin = stand_ins();
    let (dir, pid_file) = (bin.path().display().to_string(), bin.path().join("pids"));
    let pids = pid_file.display().to_string();
    let serve =
        shepherd(bin.path(), &["serve", "--bin-dir", &dir, "--gateway-port", "0", "--pid-file", &pids]);
    wait_for_output(&serve, "Ctrl-C stops everything").await;
    kill_process(pid_of(&pid_file, "operations"), Signal::KILL).unwrap();
    assert!(!serve.wait_within(LIMIT).await.unwrap().success());
    let output = serve.log_tail(100);
    assert!(
        output.contains("operations ended by itself") && output.contains("stand-in for operations"),
        "{output}"
    );
    assert!(!pid_file.exists());
}

fn pid_of(pid_file: &Path, label: &str) -> Pid {
    let listed = std::fs::read_to_string(pid_file).unwrap();
    let pid = listed.lines().find_map(|line| line.strip_prefix(&format!("{label} "))).unwrap();
    Pid::from_raw(pid.parse().unwrap()).unwrap()
}
