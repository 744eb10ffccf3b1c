//! The gateway.

use std::process::ExitCode;

fn main() -> ExitCode {
    shepherd_server::run()
}
