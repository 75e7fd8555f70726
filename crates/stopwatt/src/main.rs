//! The `stopwatt` command; what it does is in the library beside it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    stopwatt::command_line(std::env::args_os()).into()
}
