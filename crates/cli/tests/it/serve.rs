//! `shepherd serve`.

use rustix::process::Signal;

use crate::support::{LIMIT, script, shepherd, stand_ins, wait_for_output};

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
    assert_eq!(listed.lines().count(), 9, "{listed}");
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
    // Ready at first, then gone.
    script(
        bin.path(),
        "operations",
        &format!(
            "{} retriever --port \"${{ADMIN_ADDR##*:}}\" & child=$!\n\
         while [ ! -e {}/die ]; do sleep 0.05; done; kill $child; echo 'no more memory'; exit 7",
            crate::support::SHEPHERD,
            bin.path().display(),
        ),
    );
    let dir = bin.path().display().to_string();
    let serve = shepherd(bin.path(), &["serve", "--bin-dir", &dir, "--gateway-port", "0"]);
    wait_for_output(&serve, "Ctrl-C stops everything").await;
    std::fs::write(bin.path().join("die"), "").unwrap();
    assert!(!serve.wait_within(LIMIT).await.unwrap().success());
    let output = serve.log_tail(100);
    assert!(output.contains("operations ended by itself") && output.contains("no more memory"), "{output}");
}
