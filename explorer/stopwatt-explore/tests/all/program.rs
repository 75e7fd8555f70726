//! The program: its help, its completions, its pages, and what it advises to type.

use crate::common::{PROGRAM, error_of, root, stopwatt, stopwatt_in};
use std::fs;
use std::process::Command;

fn printed(arguments: &[&str]) -> String {
    let output = stopwatt(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        error_of(&output)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn it_says_its_version_and_completes_itself() {
    assert!(printed(&["--version"]).starts_with("stopwatt-explore 0.1.0 ("));
    assert!(printed(&["psci", "--help"]).contains("Usage: stopwatt explore psci"));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = printed(&["completions", shell]);
        assert!(
            text.contains("litmus") && text.contains("stopwatt-explore"),
            "{shell}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().to_str().unwrap();
    assert!(printed(&["man"]).contains(".TH stopwatt-explore 1"));
    printed(&["man", "--output", pages]);
    assert!(folder.path().join("stopwatt-explore-psci.1").is_file());
}

#[test]
fn no_line_of_the_list_of_faults_is_wider_than_the_terminal() {
    for columns in [60, 80] {
        let output = Command::new(PROGRAM)
            .arg("faults")
            .envs([("NO_COLOR", "1"), ("COLUMNS", &columns.to_string())])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().count() > 100);
        for line in text.lines() {
            assert!(
                line.chars().count() <= columns || !line.contains(' '),
                "{columns}: {line}"
            );
        }
    }
}

#[test]
fn an_exploration_leaves_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = ["psci", "--schedules", "20", "--report", "nothing.html"];
    let found = [
        "psci",
        "--fault",
        "rejected-cpu-on",
        "-o",
        "f",
        "--report",
        "found.html",
    ];
    let again = ["replay", "f", "--report", "again.html"];
    for (arguments, status, page) in [
        (&nothing[..], 0, "nothing.html"),
        (&found, 1, "found.html"),
        (&again, 1, "again.html"),
    ] {
        let output = stopwatt_in(folder.path(), arguments);
        assert_eq!(
            output.status.code(),
            Some(status),
            "{arguments:?}: {}",
            error_of(&output)
        );
        let page = fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(page.contains("<html"), "{arguments:?}");
    }
}

#[test]
fn relative_paths_are_below_the_working_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |path: &str| folder.path().join(path);
    for name in ["in", "out"] {
        fs::create_dir(inside(name)).unwrap();
    }
    fs::write(inside("in/scenario.toml"), "cpus = [[\"off\"], []]\n").unwrap();
    let test = root().join("explorer/litmus/tests/wider/ALU.litmus");
    fs::copy(test, inside("in/ALU.litmus")).unwrap();
    for arguments in [
        "psci --schedules 5 --scenario in/scenario.toml -o out/explored --report out/explored.html",
        "litmus in/ALU.litmus",
        "man -o out/man",
    ] {
        let output = stopwatt_in(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
        assert!(
            output.status.success(),
            "{arguments}: {}",
            error_of(&output)
        );
    }
    for path in ["out/explored", "out/explored.html", "out/man"] {
        assert!(inside(path).exists(), "{path}");
    }
}

/// The commands of the explorer in a text, as the arguments of the program: those in backticks and
/// those on a line of their own. A word in capitals, and what is behind dots, stands for something.
fn commands(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let spans = text.split('`').map(|span| span.replace('\n', " "));
    let lines = text
        .lines()
        .map(|line| line.trim_start_matches(['$', ' ']).to_owned());
    let given = spans.chain(lines).filter_map(|command| {
        let rest = command.strip_prefix("stopwatt explore ")?.to_owned();
        let end = rest
            .find(['|', '>', '#', ';', '&', '…', '{', '}', '"'])
            .unwrap_or(rest.len());
        // What stands two blanks away is said about it.
        let end = rest[..end].find("  ").unwrap_or(end);
        let words = rest[..end].split_whitespace().map(str::to_owned);
        Some(
            words
                .take_while(|word| !word.ends_with("..."))
                .collect::<Vec<_>>(),
        )
    });
    let is_open = |word: &String| word.len() > 1 && *word == word.to_uppercase();
    given
        .filter(|words| !words.is_empty() && !words.iter().any(is_open))
        .collect()
}

#[test]
fn every_command_in_a_message_or_a_document_is_one() {
    let mut open = ["explorer", "docs", "README.md", "crates/results/report/src"]
        .map(|path| root().join(path))
        .to_vec();
    let mut checked = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() && !["tests", "adr"].iter().any(|name| path.ends_with(name)) {
            open.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path
            .extension()
            .is_some_and(|end| end == "rs" || end == "md")
        {
            for words in commands(&fs::read_to_string(&path).unwrap()) {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                // Help comes only if everything before it is right.
                let output = stopwatt(&[&words[..], &["--help"]].concat());
                assert!(
                    output.status.success(),
                    "{}: {words:?}: {}",
                    path.display(),
                    error_of(&output)
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "{checked}");
}

#[test]
fn what_an_exploration_advises_runs() {
    let folder = tempfile::tempdir().unwrap();
    let found = stopwatt_in(
        folder.path(),
        &[
            "psci",
            "--fault",
            "rejected-cpu-on",
            "-o",
            "f",
            "--report",
            "f.md",
        ],
    );
    assert_eq!(found.status.code(), Some(1), "{}", error_of(&found));
    let told = fs::read_to_string(folder.path().join("f.md")).unwrap();
    let all = commands(&told);
    assert!(!all.is_empty(), "{told}");
    for words in all {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = stopwatt_in(folder.path(), &words);
        // 1 is an answer: the schedule breaks the library again.
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{words:?}: {}",
            error_of(&output)
        );
    }
}
