//! How much memory the processes take.

use std::collections::BTreeMap;

use crate::cast::CAST;
use crate::stage::Stage;

/// Kilobytes of each process: what is its own, and its share of what it has in common with others.
pub(crate) fn of_all(stage: &Stage) -> BTreeMap<&'static str, u64> {
    CAST.into_iter().map(|(label, _)| (label, of(stage.stack.pid(label).unwrap()))).collect()
}

fn of(pid: u32) -> u64 {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    kilobytes.and_then(|number| number.trim().parse().ok()).unwrap_or_else(|| panic!("{path} has no Pss"))
}
