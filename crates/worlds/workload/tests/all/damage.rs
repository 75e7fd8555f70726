//! Damaged files: an answer or an error with its place, never a panic.

use document::Document;
use fastrand::Rng;
use std::fs;
use std::path::Path;
use workload::{Options, read};

fn workloads() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/workloads");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let json = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut all: Vec<_> = json
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect();
    all.sort();
    all
}

#[test]
fn damaged_files_are_read_or_refused() {
    const WORDS: [&str; 14] = [
        "\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "-1",
        "99999999999999999999",
        "\n",
        "/*",
        "\"$x\"",
        "\"run\"",
        "\u{7f}",
    ];
    let mut random = Rng::with_seed(12);
    let (mut read_well, mut refused) = (0, 0);
    for (name, good) in workloads() {
        for _ in 0..1_000 {
            let mut text: Vec<char> = good.chars().collect();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(0..=text.len());
                let end = (at + random.usize(0..6)).min(text.len());
                let word = random.choice(WORDS).unwrap_or_default();
                match random.u8(0..4) {
                    0 => drop(text.drain(at..end)),
                    1 => drop(text.splice(at..end, word.chars()).collect::<Vec<_>>()),
                    2 => drop(text.splice(at..at, word.chars()).collect::<Vec<_>>()),
                    _ => drop(
                        text.splice(end..end, text[at..end].to_vec())
                            .collect::<Vec<_>>(),
                    ),
                }
            }
            let text: String = text.into_iter().collect();
            match read(
                &Document::new(name.as_str(), text.as_str()),
                &Options::default(),
            ) {
                Ok(file) => {
                    assert!(!file.workload.tasks.is_empty());
                    read_well += 1;
                }
                Err(error) => {
                    let lines = text.lines().count().max(1) + 1;
                    assert!(
                        error.line().is_some_and(|line| (1..=lines).contains(&line)),
                        "{error}"
                    );
                    let help = error.help_text().unwrap_or_default();
                    assert!(
                        !help.is_empty() && !error.to_string().chars().any(char::is_control),
                        "{error}"
                    );
                    refused += 1;
                }
            }
        }
    }
    assert!(
        read_well > 500 && refused > 2_000,
        "{read_well} read, {refused} refused: too one-sided to tell"
    );
}
