//! Who takes part: every program there is, those that others depend on twice.

/// Label and program of each process beside Redis.
pub(crate) const CAST: [(&str, &str); 11] = [
    (GATEWAYS[0], "shepherd-server"),
    (GATEWAYS[1], "shepherd-server"),
    ("aragorn-lookup", "aragorn-lookup"),
    ("other-lookup", "aragorn-lookup"),
    ("bte-lookup", "bte-lookup"),
    ("example-lookup", "example-lookup"),
    ("aragorn-pathfinder", "aragorn-pathfinder"),
    ("operations", "operations"),
    ("other-operations", "operations"),
    ("finish-query", "finish-query"),
    ("other-finish", "finish-query"),
];

/// The gateways.
pub(crate) const GATEWAYS: [&str; 2] = ["shepherd-server", "other-gateway"];

/// The programs, each once.
pub(crate) fn programs() -> Vec<&'static str> {
    let mut programs: Vec<_> = CAST.iter().map(|(_, program)| *program).collect();
    programs.dedup();
    programs
}

/// The processes of `program`.
pub(crate) fn of(program: &str) -> impl Iterator<Item = &'static str> {
    CAST.iter().filter(move |(_, name)| *name == program).map(|(label, _)| *label)
}
