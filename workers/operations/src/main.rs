//! Merges what a lookup gathered, ranks, limits and cleans it, and stores the response.

use std::process::ExitCode;

fn main() -> ExitCode {
    operations::run()
}
