//! The lookup worker of sipr: what is near all members of a set.

use std::process::ExitCode;

fn main() -> ExitCode {
    sipr_lookup::run()
}
