//! The pathfinder of aragorn: two pinned nodes are joined by up to three hops.

use std::process::ExitCode;

fn main() -> ExitCode {
    aragorn_pathfinder::run()
}
