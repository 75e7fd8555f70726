//! The integration tests of this crate: one program, which is linked once.

mod boards;
mod wrong;

use platforms::Board;
use soc::config::{IdlePlatform, Platform};
use std::collections::BTreeMap;
use std::path::Path;

/// The blob of a tree in the syntax of sources, with a line for each node, each property and each
/// end, and all numbers in hexadecimal.
fn blob(text: &str) -> Vec<u8> {
    let mut labels: BTreeMap<&str, u32> = BTreeMap::new();
    for (line, phandle) in text
        .lines()
        .filter(|line| line.trim().ends_with('{'))
        .zip(1..)
    {
        labels.extend(
            line.trim()
                .split_once(':')
                .map(|(label, _)| (label, phandle)),
        );
    }
    let (mut structure, mut strings) = (Vec::new(), Vec::new());
    let word = |structure: &mut Vec<u8>, word: u32| structure.extend(word.to_be_bytes());
    let pad = |structure: &mut Vec<u8>| structure.resize(structure.len().next_multiple_of(4), 0);
    let mut property = |structure: &mut Vec<u8>, name: &str, value: &[u8]| {
        word(structure, 3);
        word(structure, value.len() as u32);
        word(structure, strings.len() as u32);
        strings.extend(name.bytes().chain([0]));
        structure.extend(value);
        pad(structure);
    };
    for line in text
        .lines()
        .map(|line| line.trim().trim_end_matches(';'))
        .filter(|line| !line.is_empty())
    {
        if let Some(name) = line.strip_suffix('{') {
            let (label, name) = name
                .split_once(':')
                .map_or((None, name), |(label, name)| (Some(label), name));
            word(&mut structure, 1);
            structure.extend(name.trim().trim_start_matches('/').bytes().chain([0]));
            pad(&mut structure);
            if let Some(label) = label {
                property(&mut structure, "phandle", &labels[label].to_be_bytes());
            }
        } else if line == "}" {
            word(&mut structure, 2);
        } else {
            let (name, value) = line.split_once(" = ").unwrap_or((line, ""));
            let mut bytes = Vec::new();
            match value.strip_prefix('<') {
                Some(cells) => cells
                    .trim_end_matches('>')
                    .split_whitespace()
                    .for_each(|cell| match cell.strip_prefix('&') {
                        Some(label) => bytes.extend(labels[label].to_be_bytes()),
                        None => bytes.extend(
                            cell.parse::<u32>()
                                .unwrap_or_else(|_| u32::from_str_radix(&cell[2..], 16).unwrap())
                                .to_be_bytes(),
                        ),
                    }),
                None if value.is_empty() => {}
                None if value.starts_with('[') => bytes.push(7),
                None => bytes.extend(value.trim_matches('"').bytes().chain([0])),
            }
            property(&mut structure, name, &bytes);
        }
    }
    word(&mut structure, 9);
    let mut blob = Vec::new();
    let at = |offset: usize| 56 + offset as u32;
    let size = at(structure.len() + strings.len());
    let lengths = [strings.len() as u32, structure.len() as u32];
    let header = [
        0xd00d_feed,
        size,
        56,
        at(structure.len()),
        40,
        17,
        16,
        0,
        lengths[0],
        lengths[1],
        0,
        0,
        0,
        0,
    ];
    header.iter().for_each(|number| word(&mut blob, *number));
    [blob, structure, strings].concat()
}

/// The board of a tree, or why it is none.
fn board(text: &str) -> Result<Board, String> {
    opened("board.dtb", &blob(text))
}

fn opened(name: &str, bytes: &[u8]) -> Result<Board, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    Board::open(&path).map_err(|error| told(&error))
}

fn told(error: &document::Error) -> String {
    format!("{error}; {}", error.help_text().unwrap_or_default())
}

/// The platform of a board, as the commands read it.
fn platform(board: &Board) -> (IdlePlatform, Platform, String) {
    let text = board.platform_file("board").unwrap();
    let document = document::Document::new("board.toml", text.as_str());
    (
        IdlePlatform::read(&document).unwrap(),
        Platform::read(&document).unwrap(),
        text,
    )
}

/// Names and times of a domain's states, in microseconds.
fn states(platform: &IdlePlatform, domain: usize) -> Vec<(&str, u64, u64, u64, bool)> {
    let domain = &platform.domains[domain];
    let both = domain.states.iter().zip(domain.table.all());
    let times = both.map(|(cost, seen)| {
        (
            &*cost.name,
            cost.entry_ns,
            cost.exit_ns,
            seen.target_residency_ns,
            cost.coupled,
        )
    });
    times
        .map(|(name, entry, exit, residency, coupled)| {
            (
                name,
                entry / 1_000,
                exit / 1_000,
                residency / 1_000,
                coupled,
            )
        })
        .collect()
}

/// Writes files below a folder.
fn written(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
    }
}
