//! The lookup worker of bte: questions are expanded by templates.

use std::process::ExitCode;

fn main() -> ExitCode {
    bte_lookup::run()
}
