//! `cargo xtask stored`: makes the stored recording of a story.

use crate::tools::{cargo, check, read, root, table, write};
use std::path::{Path, PathBuf};

/// Makes a stored recording anew: by the command that is given, or by the one that it names.
///
/// # Errors
/// There is no such recording and no command, or the run fails.
pub fn stored(arguments: &[String]) -> Result<(), String> {
    let Some((name, given)) = arguments.split_first() else {
        return Err("name a recording of crates/results/report/tests/recordings, and for a new one its command: stored batch run \
                    batch --repetitions 2"
            .to_owned());
    };
    let folder = PathBuf::from("crates/results/report/tests/recordings").join(name);
    let command = match given {
        [] => {
            let table = table(&root().join(&folder).join("recording.toml"))?;
            let words = table
                .get("run")
                .and_then(|run| run.get("command")?.as_array())
                .cloned()
                .unwrap_or_default();
            words
                .iter()
                .skip(1)
                .filter_map(|word| word.as_str().map(str::to_owned))
                .collect()
        }
        given => given.to_vec(),
    };
    let mut kept = Vec::new();
    let mut words = command.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "--output" => drop(words.next()),
            "--replace" => {}
            _ => kept.push(word),
        }
    }
    let program = match kept.first().is_some_and(|first| first == "explore") {
        true => {
            kept.remove(0);
            "stopwatt-explore"
        }
        false => "stopwatt",
    };
    let mut run = cargo(&["run", "--release", "--quiet", "--package", program, "--"]);
    check(run.args(kept).arg("--replace").arg("-o").arg(&folder))?;
    forget_machine(&root().join(folder).join("recording.toml"))
}

/// Leaves out of a stored recording's header what tells of the machine that made it, but for the
/// counter.
fn forget_machine(path: &Path) -> Result<(), String> {
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
