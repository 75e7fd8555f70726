//! `stopwatt explore`: starts the program `stopwatt-explore`, which lies beside this one.

use miette::{Report, miette};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The explorer's program.
const PROGRAM: &str = "stopwatt-explore";

/// The path of the program, beside this one.
fn path() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(PROGRAM))
}

/// Becomes the program, with these arguments and with what was told before them; returns why it
/// cannot.
pub fn start(arguments: &[OsString], quiet: bool, verbose: bool) -> Report {
    let path = match path() {
        Ok(path) => path,
        Err(error) => return miette!("this program does not find its own folder: {error}"),
    };
    let error = Command::new(&path)
        .args(quiet.then_some("--quiet"))
        .args(verbose.then_some("--verbose"))
        .args(arguments)
        .exec();
    let (shown, processor) = (path.display(), std::env::consts::ARCH);
    if error.kind() != io::ErrorKind::NotFound {
        return miette!("{shown}: {error}");
    }
    miette!(
        help = format!(
            "in a checkout: cargo build --release -p {PROGRAM}, or cargo install --locked --path explorer/{PROGRAM}\n\
             of a release: cp {PROGRAM}-{processor}-linux {shown}"
        ),
        "`stopwatt explore` is the program {PROGRAM}, and {shown} is not there"
    )
}
