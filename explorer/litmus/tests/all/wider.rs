//! Tests whose final states are those of herd7 7.58: of what is more than whole words, with
//! `wider/herd7.expected`, and of cycles of edges, with `cycles.expected`.

use litmus::{answer, expected, parse};
use std::path::Path;

#[test]
fn bytes_pairs_arrays_and_selects_end_as_herd7_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wider");
    let all =
        expected::read(&std::fs::read_to_string(folder.join("herd7.expected")).unwrap()).unwrap();
    let mut answered = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "litmus")
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let test = parse(&text).unwrap_or_else(|error| panic!("{error} of {path:?}"));
        let answer = answer(&test).unwrap_or_else(|error| panic!("{error} of {path:?}"));
        let difference = all[&test.name].difference(&test, &answer);
        wrong.extend(
            difference
                .map(|difference| format!("{}: {difference}\n{}", test.name, answer.text(&test))),
        );
        answered += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(answered, all.len());
}

/// Cycles of two to four threads, as in "Fences in weak memory models" (Alglave, Maranget, Sarkar,
/// Sewell, 2010): accesses in program order, with barriers and dependencies, of which the last part
/// has read-modify-writes, and bytes and halfwords.
#[test]
fn cycles_end_as_herd7_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let all = expected::read(&text("cycles.expected")).unwrap();
    for cycle in text("cycles.txt").split_inclusive("\n\n") {
        let test = parse(cycle).unwrap_or_else(|error| panic!("{error}:\n{cycle}"));
        let answer = answer(&test).unwrap_or_else(|error| panic!("{error}:\n{cycle}"));
        assert_eq!(all[&test.name].difference(&test, &answer), None, "{cycle}");
    }
}
