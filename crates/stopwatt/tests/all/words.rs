//! What is said of figures stands in `report::words`: no other file of what reads recordings has a
//! comparative or a superlative in a string, but for the headings, legends and limits named here.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words that compare.
const COMPARING: &[&str] = &[
    "more",
    "less",
    "fewer",
    "longer",
    "shorter",
    "faster",
    "slower",
    "larger",
    "smaller",
    "greater",
    "higher",
    "lower",
    "cheaper",
    "better",
    "worse",
    "deeper",
    "shallower",
    "nearer",
    "longest",
    "shortest",
    "fastest",
    "slowest",
    "largest",
    "smallest",
    "greatest",
    "highest",
    "lowest",
    "best",
    "worst",
    "deepest",
    "nearest",
    "commonest",
    "least",
    "most",
    "fewest",
    "saves",
    "saved",
];

/// Parts of strings that state a limit and compare nothing.
const LIMITS: &[&str] = &[
    "at least",
    "at most",
    "more than 0",
    "less than 10^9",
    "0 or more",
    "no more",
    "and 0 more",
    "0 more ",
    "0 branches more",
];

/// Strings that may compare, by a part of them, with what they are.
const KNOWN: &[(&str, &str)] = &[
    (
        "The largest changes, {} of {}",
        "title of a picture that is sorted",
    ),
    ("differ by more than a tick", "rule of the comparison"),
    ("Critical path of the slowest CPU", "which path it is"),
    ("changed by more than 2 %", "rule of a count"),
    ("no larger than between two sessions", "name of a verdict"),
    ("than a page may be", "what a page leaves out"),
    ("worst iteration", "which iteration is drawn"),
    (
        "those on the critical path and the slowest",
        "what a page leaves out",
    ),
    ("the slowest CPUs are shown", "what a page leaves out"),
    ("The slowest CPU's ", "which lane it is"),
    (", the worst no. ", "which iteration is drawn"),
    ("The least is {} {unit}", "legend of a map"),
    ("least {value}", "legend of a curve"),
    ("lower end", "heading"),
    (
        "the smallest and the largest, where they differ",
        "legend of a table",
    ),
    ("(smallest to largest)", "legend of a table"),
    ("least.", "legend of a shaded range"),
    ("above: stays shorter", "definition"),
    ("% of the fastest core", "unit of a load"),
    ("saves, %", "heading"),
    ("What is saved against the same kernel", "definition"),
    ("least per task at", "heading"),
    ("0 is the least, 1024 the most", "definition"),
    ("the least and the most of the predictions", "definition"),
    ("saved against the reference", "heading"),
    ("the most of the predictions", "definition"),
    ("none is saved by construction", "definition"),
    ("RCU costs: ", "definition"),
    ("goes most with the benefit", "heading"),
    (
        "enforced idle saves more than offload",
        "a claim of the talk, as a heading",
    ),
    ("offload is faster", "a claim of the talk, as a heading"),
    ("at the highest operating points", "condition of a figure"),
    ("without the longest of 100", "definition"),
    ("that change most.", "which rows a picture has"),
    ("less energy, %", "heading"),
    ("commonest state alone", "heading"),
    (
        "longer by the trace than by the kernel's clock",
        "correction of a figure",
    ),
    ("median, worst", "heading"),
    ("The slowest CPU of each iteration, whichever", "definition"),
    ("fewest per CPU", "heading"),
    ("most per CPU", "heading"),
    ("Lower and further left is better", "legend of a picture"),
    ("lowest seed to the highest", "definition"),
    ("The tasks with most of it", "what a table leaves out"),
    ("best strides", "heading"),
    ("the longest tried", "heading"),
    ("beside the best", "heading"),
    ("the best takes less by", "heading"),
    ("the others as in the best", "legend of a picture"),
    ("the best of the four", "definition"),
    ("most, us", "heading"),
    ("and the most.", "definition"),
    ("is the worst over the CPUs", "definition"),
    ("least mean", "heading"),
    ("greatest mean", "heading"),
    ("the longest hung on", "heading"),
    ("What the longest hung on", "which order it is of"),
    ("More with --all", "what a screen leaves out"),
    ("Saved on each sleep by", "heading of a figure"),
    ("changed less", "what a table leaves out"),
    (
        "threshold, least, better (lower, higher",
        "keys of a policy",
    ),
    ("wakeup, deepest", "name of a group of cells"),
    ("nothing is saved", "name of a predictor"),
    ("best constant", "name of a predictor"),
    ("best of single", "name of a predictor"),
    (
        "The fit lies on an edge",
        "limit of a model, from its description",
    ),
];

/// The strings of a source, but for those of attributes.
fn strings(tokens: TokenStream, found: &mut Vec<String>) {
    let mut is_attribute = false;
    for token in tokens {
        match &token {
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                found.extend(text.starts_with(['"', 'r']).then_some(text));
            }
            TokenTree::Group(group) if !is_attribute => strings(group.stream(), found),
            _ => {}
        }
        is_attribute = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#')
            || is_attribute && matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '!');
    }
}

fn compares(text: &str) -> bool {
    // What stands in braces is a name of the code.
    let words = text.split('{').enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once('}').map_or("", |of| of.1),
    });
    let words = words.collect::<Vec<_>>().join("0");
    let rest = LIMITS
        .iter()
        .fold(words, |text, limit| text.replace(limit, " "));
    rest.contains(' ')
        && rest
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| COMPARING.contains(&word.to_ascii_lowercase().as_str()))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("report/src/words") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn only_the_module_of_words_compares() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
    let mut files = Vec::new();
    for part in ["report/src", "findings/src", "comparison/src"] {
        sources(&root.join(part), &mut files);
    }
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("\n#[cfg(test)]\n").next().unwrap_or_default();
        let mut found = Vec::new();
        strings(text.parse().expect("the file compiles"), &mut found);
        for text in found.into_iter().filter(|text| compares(text)) {
            let known = KNOWN.iter().filter(|(part, _)| text.contains(part));
            let known: Vec<_> = known.map(|(part, _)| *part).collect();
            if known.is_empty() {
                wrong.push(format!(
                    "{}: {text}",
                    file.strip_prefix(&root).unwrap().display()
                ));
            }
            used.extend(known);
        }
    }
    assert!(
        wrong.is_empty(),
        "say it in report::words:\n{}",
        wrong.join("\n")
    );
    let idle: Vec<_> = KNOWN
        .iter()
        .filter(|(part, _)| !used.contains(part))
        .collect();
    assert!(idle.is_empty(), "no string has this any more: {idle:?}");
}

#[test]
fn a_comparison_is_found_and_a_limit_is_none() {
    assert!(compares("\"A takes less time\"") && compares("\"the Longest\""));
    for limit in [
        "\"at least two recordings\"",
        "\"{value} must be 0 or more\"",
        "\"best\"",
    ] {
        assert!(!compares(limit), "{limit}");
    }
}
