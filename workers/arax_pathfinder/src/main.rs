//! The pathfinder of arax: two pinned nodes are joined by up to four hops.

use std::process::ExitCode;

fn main() -> ExitCode {
    arax_pathfinder::run()
}
