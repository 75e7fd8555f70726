//! The form of Rust files that rustfmt does not see to: the width of comments, and imports in one
//! block, which rustfmt then sorts.

use crate::tools::{entries, read, write};
use std::path::{Path, PathBuf};

/// Columns at which comments wrap.
const COLUMNS: usize = 100;

/// The folders whose Rust files are read.
const FOLDERS: [&str; 5] = ["crates", "firmware", "python", "xtask", "bench"];

/// Finds comments of every Rust file that are too wide, and imports that are not in one block.
///
/// # Errors
/// The lines that are wrong.
pub fn check(root: &Path) -> Result<(), String> {
    let mut wrong = Vec::new();
    for path in files(root)? {
        let text = read(&path)?;
        let shown = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        wrong.extend(
            wide(&text)
                .into_iter()
                .map(|line| format!("{shown}:{line}: the comment is too wide")),
        );
        wrong.extend(
            parted(&text)
                .into_iter()
                .map(|line| format!("{shown}:{line}: imports are parted by a blank line")),
        );
    }
    match wrong.len() {
        0 => Ok(()),
        count => {
            let shown = wrong
                .iter()
                .take(40)
                .cloned()
                .collect::<Vec<_>>()
                .join("\n");
            Err(format!(
                "{shown}\n{count} lines; `cargo xtask wrap` wraps comments of more than {COLUMNS} columns"
            ))
        }
    }
}

/// Wraps the comments of every Rust file that are too wide.
///
/// # Errors
/// A file cannot be read or written.
pub fn wrap(root: &Path) -> Result<(), String> {
    let mut changed = 0;
    for path in files(root)? {
        let text = read(&path)?;
        let wrapped = wrapped(&text);
        if wrapped != text {
            changed += 1;
            write(&path, &wrapped)?;
        }
    }
    println!("{changed} files changed");
    Ok(())
}

/// The Rust files.
fn files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = open.pop() {
        for path in entries(&folder)? {
            if path.is_dir() && !path.ends_with("target") {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The mark of a line that is a comment and nothing else, and the columns before it.
fn mark(line: &str) -> Option<(usize, &'static str)> {
    let indent = line.len() - line.trim_start().len();
    let rest = &line[indent..];
    let mark = ["//!", "///", "//"]
        .into_iter()
        .find(|mark| rest.starts_with(mark))?;
    // Four slashes are a ruler, and no doc comment.
    (!rest.starts_with("////")).then_some((indent, mark))
}

/// The numbers of the lines with imports that a blank line parts from the import before.
fn parted(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let is_end = |line: &str| line.starts_with("use ") && line.ends_with(';') || line == "};";
    let is_parted = |at: &usize| {
        lines[*at].starts_with("use ") && lines[*at - 1].is_empty() && is_end(lines[*at - 2])
    };
    (2..lines.len())
        .filter(is_parted)
        .map(|at| at + 1)
        .collect()
}

/// The numbers of the lines with comments that are too wide.
fn wide(text: &str) -> Vec<usize> {
    let mut wrong = Vec::new();
    let mut in_code = false;
    for (line, number) in text.lines().zip(1..) {
        let here = mark(line);
        in_code &= here.is_some();
        if let Some((indent, mark)) = here {
            let words = line[indent + mark.len()..].trim();
            in_code ^= words.starts_with("```");
            // An address, or a name without a blank, cannot be broken.
            let is_wide =
                line.chars().count() > COLUMNS && words.split_whitespace().nth(1).is_some();
            if is_wide && !in_code && !words.starts_with(['|', '#']) {
                wrong.push(number);
            }
        }
    }
    wrong
}

/// A text with its wide comments wrapped: paragraph by paragraph, items of lists with their later
/// lines further in. Tables, code and headings stay.
fn wrapped(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<String> = Vec::new();
    let (mut at, mut in_code) = (0, false);
    while at < lines.len() {
        let Some((indent, mark)) = mark(lines[at]) else {
            out.push(lines[at].to_owned());
            (at, in_code) = (at + 1, false);
            continue;
        };
        let words = |line: &str| line[indent + mark.len()..].to_owned();
        let first = words(lines[at]);
        in_code ^= first.trim_start().starts_with("```");
        let start = first.trim_start();
        let stays = in_code
            || start.is_empty()
            || start.starts_with(['|', '#'])
            || start.starts_with("```");
        if stays {
            out.push(lines[at].to_owned());
            at += 1;
            continue;
        }
        // The lines of the paragraph: those with the same mark, up to an empty one, an item, a
        // table or code.
        let mut end = at + 1;
        while end < lines.len() && self::mark(lines[end]) == Some((indent, mark)) {
            let next = words(lines[end]);
            let text = next.trim_start();
            let starts = text.is_empty()
                || is_item(text)
                || text.starts_with(['|', '#'])
                || text.starts_with("```");
            if starts || leading(&next) > leading(&first).max(1) + 4 {
                break;
            }
            end += 1;
        }
        let is_wide = lines[at..end]
            .iter()
            .any(|line| line.chars().count() > COLUMNS);
        match is_wide {
            false => out.extend(lines[at..end].iter().map(|line| (*line).to_owned())),
            true => {
                let all: Vec<String> = lines[at..end]
                    .iter()
                    .map(|line| words(line).trim().to_owned())
                    .collect();
                let lead = " ".repeat(leading(&first));
                let more = item_indent(first.trim_start());
                let begin = format!("{}{mark}{lead}", " ".repeat(indent));
                out.extend(filled(&all.join(" "), &begin, &format!("{begin}{more}")));
            }
        }
        at = end;
    }
    let mut text = out.join("\n");
    text.push('\n');
    text
}

fn leading(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The indentation of an item's later lines: the width of its mark.
fn item_indent(text: &str) -> String {
    let width = if is_item(text) {
        text.find(' ').map_or(0, |blank| blank + 1)
    } else {
        0
    };
    " ".repeat(width)
}

fn is_item(text: &str) -> bool {
    let numbered = text.split_once(". ").is_some_and(|(number, _)| {
        !number.is_empty() && number.len() < 3 && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    text.starts_with("- ") || text.starts_with("* ") || numbered
}

/// Words on lines of at most [`COLUMNS`] columns, each with what stands before it. A span of code
/// is not broken.
fn filled(words: &str, first: &str, more: &str) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    let mut is_empty = true;
    for word in unbroken(words) {
        let line = lines.last_mut().expect("there is a first one");
        let gap = usize::from(!is_empty);
        if !is_empty && line.chars().count() + gap + word.chars().count() > COLUMNS {
            lines.push(format!("{more}{word}"));
        } else {
            line.push_str(if is_empty { "" } else { " " });
            line.push_str(&word);
        }
        is_empty = false;
    }
    lines
}

/// The words of a text; blanks between two back-ticks part none.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_open = words
            .last()
            .is_some_and(|last| last.matches('`').count() % 2 == 1);
        match words
            .last_mut()
            .filter(|last| is_open && last.chars().count() < 60)
        {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_comment_is_wrapped_and_code_and_tables_stay() {
        let long = "word ".repeat(30);
        let text = format!(
            "    /// {}\n    /// end.\n    ///\n    /// - {}\n    /// | {} |\nlet a = 1;\n",
            long.trim(),
            long.trim(),
            long
        );
        let wrapped = wrapped(&text);
        assert!(
            wrapped
                .lines()
                .filter(|line| !line.contains('|'))
                .all(|line| line.len() <= COLUMNS),
            "{wrapped}"
        );
        assert!(
            wrapped.contains("    ///   word") && wrapped.contains(&format!("    /// | {long} |")),
            "{wrapped}"
        );
        assert_eq!(
            wrapped.matches("word").count(),
            text.matches("word").count()
        );
        assert!(wrapped.ends_with("let a = 1;\n") && super::wrapped(&wrapped) == wrapped);
    }

    #[test]
    fn wide_comments_are_found_and_code_in_them_is_not() {
        let long = "word ".repeat(30);
        let text =
            format!("/// {long}\n/// ```\n/// {long}\n/// ```\nlet a = 1; // {long}\n// {long}\n");
        assert_eq!(wide(&text), [1, 6]);
    }

    #[test]
    fn imports_that_a_blank_line_parts_are_found() {
        assert_eq!(
            parted("use a::B;\nuse c::{\n    D,\n};\n\nuse e::F;\nfn f() {}\n"),
            [6]
        );
        assert_eq!(parted("use a::B;\n\nfn f() {}\n"), Vec::<usize>::new());
    }
}
