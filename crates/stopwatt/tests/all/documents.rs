//! Documents that speak of the code agree with it.

use crate::common::{root, stopwatt};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every Rust file of this repository but those of benches.
fn sources() -> Vec<String> {
    let mut open = ["crates", "explorer", "xtask", "firmware"]
        .map(|folder| root().join(folder))
        .to_vec();
    let mut texts = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() && !path.ends_with("target") {
            open.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            texts.push(fs::read_to_string(&path).unwrap());
        }
    }
    texts
}

/// The words of a type's name in lower case: `CallbackLane` has `callback` and `lane`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match letter.is_uppercase() || words.is_empty() {
            true => words.push(letter.to_lowercase().collect()),
            false => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

/// The words of all names of types and modules.
fn names_in_code() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in sources() {
        for line in text.lines() {
            let mut parts = line
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .skip_while(|part| !["struct", "enum", "trait", "type", "mod"].contains(part));
            if let (Some(_), Some(name)) = (parts.next(), parts.next()) {
                let name = name.replace('_', " ");
                found.extend(name.split(' ').flat_map(words));
            }
        }
    }
    found
}

#[test]
fn each_term_of_the_glossary_is_a_word_of_the_command_line_or_of_a_type() {
    let glossary = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let rows = glossary
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let terms: Vec<&str> = rows.collect();
    assert!(terms.len() > 30, "{terms:?}");
    let mut help = String::new();
    let list = stopwatt(&["list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let experiments = list["experiments"].as_array().unwrap();
    let runs = experiments
        .iter()
        .map(|about| vec!["run", about["name"].as_str().unwrap(), "--help"]);
    let others = [
        "compare",
        "report",
        "sweep",
        "what-if",
        "calibrate",
        "import",
    ]
    .map(|name| vec![name, "--help"]);
    for arguments in runs
        .chain(others)
        .chain([vec!["import", "rt-instr", "--help"], vec!["--help"]])
    {
        help.push_str(&String::from_utf8_lossy(&stopwatt(&arguments).stdout).to_lowercase());
    }
    let help: BTreeSet<&str> = help
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .collect();
    let names = names_in_code();
    let is_known = |word: &str| {
        let (plural, option) = (format!("{word}s"), format!("--{word}"));
        let is_type = names.contains(word) || names.contains(&plural);
        is_type
            || [word, &plural, &option]
                .iter()
                .any(|word| help.contains(word))
    };
    let unknown: Vec<&&str> = terms
        .iter()
        .filter(|term| !term.split(' ').all(is_known))
        .collect();
    assert!(
        unknown.is_empty(),
        "neither `--help` nor a type's name has {unknown:?}"
    );
}

/// A block of Rust, and the file that the text before it names last.
fn blocks(page: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for (at, _) in page.match_indices("```rust\n") {
        let file = page[..at]
            .rsplit('`')
            .find(|part| part.ends_with(".rs"))
            .unwrap_or_default()
            .to_owned();
        let block = page[at..]
            .lines()
            .skip(1)
            .take_while(|line| !line.starts_with("```"));
        found.push((file, block.map(|line| line.trim().to_owned()).collect()));
    }
    found
}

#[test]
fn the_code_in_architecture_stands_in_the_files_that_it_names() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let blocks = blocks(&page);
    assert!(!blocks.is_empty());
    for (file, lines) in blocks {
        let text = fs::read_to_string(root().join(&file))
            .unwrap_or_else(|error| panic!("`{file}`: {error}"));
        let there: BTreeSet<&str> = text.lines().map(str::trim).collect();
        for line in lines
            .iter()
            .filter(|line| !line.is_empty() && *line != "// ...")
        {
            assert!(
                there.contains(line.as_str()),
                "{file} has no line `{line}`, which ARCHITECTURE.md shows"
            );
        }
    }
}

/// The documents, decisions aside.
fn pages() -> Vec<PathBuf> {
    let named = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root().join(name));
    let of_docs = fs::read_dir(root().join("docs")).unwrap();
    let is_page = |page: &PathBuf| page.extension().is_some_and(|ending| ending == "md");
    let of_docs = of_docs.map(|entry| entry.unwrap().path()).filter(is_page);
    named.into_iter().chain(of_docs).collect()
}

/// The folders of the packages, by name.
fn packages() -> BTreeMap<String, PathBuf> {
    let metadata = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let folder = |package: &serde_json::Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let name = package["name"].as_str().unwrap().to_owned();
        (name, manifest.parent().unwrap().to_owned())
    };
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(folder)
        .collect()
}

#[test]
fn every_package_test_and_example_that_a_document_runs_is_there() {
    let (packages, mut seen) = (packages(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap().replace('`', " \u{0} ");
        let mut words = text.split_whitespace().filter(|word| *word != "\\");
        let mut named = Vec::new();
        while let Some(word) = words.next() {
            let folder = match word {
                "cargo" | "\u{0}" => {
                    named.clear();
                    continue;
                }
                "-p" => {
                    let name = words.next().unwrap();
                    let package = packages.get(name);
                    let is_known = package.is_some() || name.len() < 3;
                    assert!(is_known, "{}: -p {name}", page.display());
                    named.extend(package);
                    continue;
                }
                "--test" => "tests",
                "--example" => "examples",
                "--bench" => "benches",
                _ => continue,
            };
            let Some(name) = words.next().filter(|_| !named.is_empty()) else {
                continue;
            };
            let is_there = named.iter().any(|package| {
                let of = package.join(folder);
                of.join(format!("{name}.rs")).exists() || of.join(name).exists()
            });
            assert!(is_there, "{}: {word} {name}", page.display());
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}

/// The decimal figures of a text.
fn figures(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter(|word| {
            word.split_once('.')
                .is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
        })
        .collect()
}

/// Runs that take minutes or an emulator: `cargo xtask judge site` has what pages show of them.
const LONG: [&str; 3] = ["--full", "psci-calls", "linux-boot"];

#[test]
fn the_figures_of_a_table_are_those_that_the_run_named_above_it_prints() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let blocks: Vec<&str> = text.split("\n\n").collect();
        for pair in blocks.windows(2).filter(|pair| pair[1].starts_with("| ")) {
            let above = pair[0].replace('\n', " ");
            let run = above
                .split('`')
                .rfind(|span| span.starts_with("stopwatt run "));
            let wanted = figures(pair[1]);
            let is_long = |run: &&str| LONG.iter().any(|long| run.contains(long));
            let Some(run) = run.filter(|run| !is_long(run) && !wanted.is_empty()) else {
                continue;
            };
            let mut arguments: Vec<&str> = run.split(' ').skip(1).collect();
            arguments.retain(|word| *word != "--all");
            let at = folder.path().join("run");
            arguments.extend(["--all", "--replace", "-o", at.to_str().unwrap()]);
            let output = stopwatt(&arguments);
            assert!(output.status.success(), "{}: {run}", page.display());
            let printed = String::from_utf8(output.stdout).unwrap();
            let missing: Vec<_> = wanted.difference(&figures(&printed)).cloned().collect();
            assert!(
                missing.is_empty(),
                "{}: {run} prints no {missing:?}",
                page.display()
            );
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen}");
}

#[test]
fn every_file_that_a_document_names_by_its_path_is_there() {
    let starts = [
        "crates/",
        "explorer/",
        "docs/",
        "xtask/",
        "firmware/",
        "bench/",
        "python/",
    ];
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for path in text
            .split('`')
            .filter(|part| starts.iter().any(|start| part.starts_with(start)))
        {
            let is_path = path
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            let is_pattern = path.contains("NAME") || path.contains("RELEASE");
            assert!(
                !is_path || is_pattern || Path::new(&root()).join(path).exists(),
                "{}: {path}",
                page.display()
            );
        }
    }
}
