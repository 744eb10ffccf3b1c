//! The lookup worker of arax: it passes questions on to the ARAX service.

use std::process::ExitCode;

fn main() -> ExitCode {
    arax_lookup::run()
}
