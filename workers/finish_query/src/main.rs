//! Delivers responses to the clients' callbacks.

use std::process::ExitCode;

fn main() -> ExitCode {
    finish_query::run()
}
