//! `stopwatt explore`: starts the program `stopwatt-explore`, which lies beside this one.

use crate::completion::ASKED;
use miette::{Report, miette};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The explorer's program.
const PROGRAM: &str = "stopwatt-explore";

/// The variable in which a shell says which word it completes.
const COMPLETED: &str = "_CLAP_COMPLETE_INDEX";

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

/// Becomes the program if a shell asks to complete the arguments of `stopwatt explore`.
pub fn complete(arguments: &[OsString]) {
    let (Some([dashes, _, explore, words @ ..]), Some(_)) =
        (arguments.get(1..), std::env::var_os(ASKED))
    else {
        return;
    };
    if dashes != "--" || explore != "explore" || words.is_empty() {
        return;
    }
    let Ok(path) = path() else { return };
    let mut command = Command::new(path);
    command.args(["--", PROGRAM]).args(words);
    let index = std::env::var(COMPLETED).ok();
    if let Some(index) = index.and_then(|index| index.parse::<usize>().ok()) {
        command.env(COMPLETED, index.saturating_sub(1).to_string());
    }
    // Where it is not there, nothing is known of its arguments.
    let _ = command.exec();
}
