//! `cargo xtask stored`: makes the stored recording of a story.

use crate::tools::{Result, cargo, check, read, root, write};
use std::path::{Path, PathBuf};

/// Makes the stored recording that is named first, by the command that follows.
///
/// # Errors
/// There is no command, or the run fails.
pub fn stored(arguments: &[String]) -> Result {
    let [name, command @ ..] = arguments else {
        return Err(
            "name a recording and its command: stored batch run batch --repetitions 2".to_owned(),
        );
    };
    let folder = PathBuf::from("crates/results/report/tests/recordings").join(name);
    let (program, command) = match command {
        [first, command @ ..] if first == "explore" => ("stopwatt-explore", command),
        command => ("stopwatt", command),
    };
    let mut run = cargo(&format!("run --release --quiet --package {program} --"));
    check(run.args(command).arg("--replace").arg("-o").arg(&folder))?;
    forget_machine(&root().join(folder).join("recording.toml"))
}

/// Leaves out of a stored recording's header what tells of the machine that made it, but for the
/// counter.
fn forget_machine(path: &Path) -> Result {
    let text = read(path)?;
    let (before, run) = text
        .split_once("\n[run]\n")
        .ok_or_else(|| format!("{}: no [run]", path.display()))?;
    let kept = run.lines().filter(|line| {
        ["when ", "command ", "counter "]
            .iter()
            .any(|key| line.starts_with(key))
    });
    let kept: String = kept
        .map(|line| match line.split_once("/stopwatt\"") {
            Some((_, arguments)) => format!("command = [\"stopwatt\"{arguments}\n"),
            None => format!("{line}\n"),
        })
        .collect();
    write(path, &format!("{before}\n[run]\n{kept}"))
}
