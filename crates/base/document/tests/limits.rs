//! Damaged and hostile documents: read or refused with their name, and never a panic.

use document::Document;
use fastrand::Rng;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether it is read matters")]
struct Row {
    name: String,
    count: u32,
    share: Option<f64>,
}

const TOML: &str = "name = \"a\"\n[one]\nkey = [1, 2]\n[[two]]\nx = { y = \"z\" }\n";
const JSON: &str = "{ \"tasks\": { \"a\": { \"run\": [1, 2.5, true], \"alone\" } }, /* end */ }";
const CSV: &str = "name,count,share\na,1,0.5\n\"b,c\",2,\n";

fn readers(document: &Document) -> [Result<(), document::Error>; 3] {
    let toml = document.read::<BTreeMap<String, toml::Value>>().map(drop);
    assert_eq!(toml.is_ok(), document.table().is_ok());
    [
        toml,
        document.json().map(drop),
        document.rows::<Row>().map(drop),
    ]
}

#[test]
fn damaged_documents_are_read_or_refused_with_their_name() {
    const WORDS: [&str; 12] = [
        "\"", "{", "}", "[", "]", ",", "=", "-1", "\n", "\u{1b}", "é", "\u{9b}",
    ];
    let mut random = Rng::with_seed(5);
    let mut read_well = [0; 3];
    for round in 0..3_000 {
        let mut text: Vec<char> = [TOML, JSON, CSV][round % 3].chars().collect();
        for _ in 0..random.usize(0..3) {
            let at = random.usize(0..=text.len());
            let end = (at + random.usize(0..4)).min(text.len());
            let word = random.choice(WORDS).unwrap_or_default();
            text.splice(at..end, word.chars());
        }
        let text: String = text.into_iter().collect();
        for (reader, result) in readers(&Document::new("d", text.as_str()))
            .into_iter()
            .enumerate()
        {
            match result {
                Ok(()) => read_well[reader] += 1,
                Err(error) => {
                    let said = error.to_string();
                    assert!(
                        said.starts_with("d:") && !said.chars().any(char::is_control),
                        "{said:?}"
                    );
                    assert!(
                        error.line().is_none_or(
                            |line| (1..=text.lines().count().max(1) + 1).contains(&line)
                        )
                    );
                    let shown = format!("{:?}", miette::Report::new(error));
                    assert!(!shown.contains(['\u{1b}', '\u{9b}']), "{shown:?}");
                }
            }
        }
    }
    assert!(
        read_well.iter().all(|count| (300..3_000).contains(count)),
        "{read_well:?}: too one-sided to tell"
    );
}

#[test]
fn what_is_too_deep_is_refused() {
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    for text in [
        format!("a = {}", deep("[", "]")),
        format!("a = {}", deep("{ a = ", " }")),
        format!("[{}]", vec!["a"; 100_000].join(".")),
    ] {
        let document = Document::new("d", text);
        assert!(document.table().is_err() && document.read::<toml::Table>().is_err());
    }
    assert!(
        Document::new("d", deep("[", "]"))
            .json()
            .unwrap_err()
            .to_string()
            .contains("more than 32")
    );
    assert!(Document::new("d", deep("{\"a\": ", "}")).json().is_err());
}

#[test]
fn what_is_too_long_is_refused() {
    let long = Document::new("d", " ".repeat(disk::MOST_TEXT as usize + 1));
    for result in readers(&long) {
        assert_eq!(
            result.unwrap_err().to_string(),
            "d: it has more than 64 MiB"
        );
    }
}

#[test]
fn rows_know_their_places() {
    let text = "name,count,share\n\na , 1,0.5\n\"b\nc\",2,\nd,x,\n";
    let error = Document::new("d.csv", text).rows::<Row>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "d.csv:6: field 2: invalid digit found in string"
    );
    assert_eq!(error.help_text(), Some("the columns are name,count,share"));
    let document = Document::new("d.csv", text.replace('x', "3"));
    let rows = document.rows::<Row>().unwrap();
    let lines: Vec<&str> = rows
        .iter()
        .map(|row| &document.text()[row.span()])
        .collect();
    assert_eq!(lines, ["a , 1,0.5", "\"b\nc\",2,", "d,3,"]);
    let said = |text: &str| {
        Document::new("d.csv", text)
            .rows::<Row>()
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        said("name,count,share\na,1\n"),
        "d.csv:2: 2 cells where the header has 3"
    );
    assert_eq!(said(""), "d.csv: there is no header line");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = Document::open(&folder.path().join("none.toml"))
        .unwrap_err()
        .to_string();
    assert!(
        said.starts_with("cannot read ") && said.contains("none.toml"),
        "{said}"
    );
    assert!(
        Document::open(folder.path())
            .unwrap_err()
            .to_string()
            .contains("it is a folder")
    );
}
