//! The lookup worker of aragorn: questions are expanded by mined rules.

use std::process::ExitCode;

fn main() -> ExitCode {
    aragorn_lookup::run()
}
