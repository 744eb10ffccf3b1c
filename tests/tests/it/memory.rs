//! How much memory a process takes.

use testkit::Stack;

/// The memory of one process from a point in time on.
pub(crate) struct Memory {
    pid: u32,
    before: u64,
}

impl Memory {
    /// Of `label`, from now on.
    pub(crate) fn of(stack: &Stack, label: &str) -> Self {
        let pid = stack.pid(label).unwrap();
        // forgets the highest point so far
        std::fs::write(format!("/proc/{pid}/clear_refs"), "5").unwrap();
        Self { pid, before: kilobytes(pid, "VmRSS:") }
    }

    /// It has never been larger by more than this.
    #[track_caller]
    pub(crate) fn assert_grown_by_at_most(&self, megabytes: u64) {
        let grown = kilobytes(self.pid, "VmHWM:").saturating_sub(self.before) / 1024;
        assert!(grown <= megabytes, "it grew by {grown} MB");
    }
}

fn kilobytes(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
