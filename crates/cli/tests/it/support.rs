//! Stand-ins for the programs of the stack.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use testkit::process::{Process, ProcessSpec};
use testkit::stack::{GATEWAY, WORKERS};

/// The binary under test.
pub(crate) const SHEPHERD: &str = env!("CARGO_BIN_EXE_shepherd");
/// No wait in these tests is longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// A directory with a stand-in for every program; each answers `/readyz` where the real one would.
pub(crate) fn stand_ins() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in WORKERS.iter().copied().chain([GATEWAY]) {
        let serve = format!("exec {SHEPHERD} retriever --port \"${{addr##*:}}\"");
        script(
            dir.path(),
            name,
            &format!("addr=${{BIND_ADDR:-$ADMIN_ADDR}}\nenv | sort\necho stand-in for {name}\n{serve}"),
        );
    }
    dir
}

/// Writes an executable shell script.
pub(crate) fn script(dir: &Path, name: &str, body: &str) {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Starts `shepherd` with these arguments; its output goes to `shepherd.log` in `dir`.
pub(crate) fn shepherd(dir: &Path, args: &[&str]) -> Process {
    let spec = ProcessSpec {
        label: "shepherd".to_owned(),
        program: PathBuf::from(SHEPHERD),
        args: args.iter().map(Into::into).collect(),
        env: Vec::new(),
        inherits_env: true,
        log: dir.join("shepherd.log"),
        own_group: false,
    };
    Process::spawn(&spec).unwrap()
}

/// Waits until the output of `process` holds `text`, and returns all of it.
pub(crate) async fn wait_for_output(process: &Process, text: &str) -> String {
    let look = || async {
        let all = process.log_tail(1_000);
        (all.contains(text) || process.exit_status().is_some()).then_some(all)
    };
    let all = testkit::poll::eventually(text, LIMIT, look).await.unwrap();
    assert!(all.contains(text), "ended without {text:?}:\n{all}");
    all
}
