//! A recording that lies in a commit of the repository at hand.

use miette::{IntoDiagnostic, Result, WrapErr, bail};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Takes a folder out of a commit, into a folder for temporary files that goes with what is
/// returned.
///
/// # Errors
/// There is no git, no such commit, or no such folder in it.
pub fn take_out(commit: &str, folder: &Path) -> Result<TempDir> {
    let named = format!("{commit}:{}", folder.display());
    let to = tempfile::Builder::new()
        .prefix("stopwatt-commit-")
        .tempdir()
        .into_diagnostic()?;
    let mut git = Command::new("git");
    git.args(["archive", "--format=tar", "--end-of-options", &named])
        .stdin(Stdio::null());
    let output = git
        .output()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot start git, to read `{named}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            help = "name COMMIT:FOLDER, with the folder as the repository has it; `git fetch origin COMMIT` gets a \
                    commit that a shallow checkout lacks",
            "there is no folder `{named}`, and git has none: {}",
            said.trim()
        );
    }
    tar::Archive::new(&output.stdout[..])
        .unpack(to.path())
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot unpack `{named}`"))?;
    Ok(to)
}
