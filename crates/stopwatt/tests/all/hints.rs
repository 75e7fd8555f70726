//! What the program advises to type is taken by the program. Commands in messages and documents are
//! looked at where the command line is made; here are those that a result prints.

use crate::common::{root, stopwatt};
use std::collections::BTreeSet;
use std::fs;

/// The commands that a text in Markdown has as code.
fn hints(text: &str) -> BTreeSet<String> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|part| part.starts_with("stopwatt "))
        .map(str::to_owned)
        .collect()
}

fn markdown(folder: &str) -> String {
    let output = stopwatt(&["report", folder, "--format", "markdown"]);
    assert!(
        output.status.success(),
        "{folder}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The arguments of a command without its name.
fn arguments(command: &str) -> Vec<&str> {
    command
        .split_whitespace()
        .skip(1)
        .map(|word| word.trim_matches('"'))
        .collect()
}

#[test]
fn what_the_result_of_any_experiment_advises_is_a_command() {
    let stored = root().join("crates/results/report/tests/recordings");
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(stored).unwrap() {
        let folder = entry.unwrap().path();
        // The command that made it is told as it was then.
        let header = fs::read_to_string(folder.join("recording.toml")).unwrap();
        let made = header
            .lines()
            .find_map(|line| line.strip_prefix("command = "))
            .unwrap_or_default();
        let made: Vec<&str> = made.split('"').skip(1).step_by(2).skip(1).collect();
        let of_it = hints(&markdown(folder.to_str().unwrap()));
        all.extend(
            of_it
                .into_iter()
                .filter(|command| arguments(command) != made),
        );
    }
    // The explorer's tests try its commands.
    all.retain(|command| !command.starts_with("stopwatt explore "));
    assert!(!all.is_empty());
    for command in all {
        // Help comes only if everything before it is right.
        let output = stopwatt(&[&arguments(&command)[..], &["--help"]].concat());
        assert!(
            output.status.success(),
            "`{command}`: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
