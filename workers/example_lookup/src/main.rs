//! The lookup worker of example: a stub that answers itself.

use std::process::ExitCode;

fn main() -> ExitCode {
    example_lookup::run()
}
