//! reStructuredText: blocks, with grid tables that are ready to paste.

use crate::blocks::{Block, Cell, Column, Drawing, Picture, Span, Table, Text};
use crate::style::Style;
use std::fmt::Write;

/// Underlines of headings, by their depth.
const UNDERLINES: [char; 3] = ['=', '-', '~'];

/// Blocks after a comment that says what they come from, a fact each; a document does not show it.
pub(crate) fn document(source: &[(&str, String)], blocks: &[Block]) -> String {
    let mut text = String::from("..\n");
    for (what, fact) in source {
        let _ = writeln!(text, "    {what}: {}", fact.replace('\n', " "));
    }
    for block in blocks {
        one(&mut text, block);
    }
    text
}

fn one(text: &mut String, block: &Block) {
    let written = match block {
        Block::Answer(words) | Block::Warning(words) => writeln!(text, "\n{}", inline(words)),
        Block::Heading { depth, words, .. } => {
            let (title, line) = (inline(words), UNDERLINES[(*depth).min(2)]);
            writeln!(
                text,
                "\n{title}\n{}",
                line.to_string().repeat(title.chars().count())
            )
        }
        Block::Paragraph(words) | Block::Note(words) => writeln!(text, "\n{}", inline(words)),
        Block::List(items) => {
            text.push('\n');
            items
                .iter()
                .try_for_each(|item| writeln!(text, "- {}", inline(item)))
        }
        Block::Table(block) => {
            table(text, block);
            Ok(())
        }
        Block::Picture(Picture {
            drawing: Drawing::Timeline { answers, .. },
            ..
        }) => answers
            .iter()
            .try_for_each(|answer| writeln!(text, "\n{answer}")),
        Block::Picture(_) => literal(
            text,
            &crate::terminal::render(std::slice::from_ref(block), Style::PLAIN),
        ),
        Block::Verbatim(lines) => literal(text, lines),
        Block::Folded { .. } => Ok(()),
    };
    // Writing into memory cannot fail.
    written.unwrap_or_default();
}

/// Lines that are shown as they are.
fn literal(text: &mut String, lines: &str) -> std::fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    text.push_str("\n::\n\n");
    lines
        .lines()
        .try_for_each(|line| writeln!(text, "    {line}"))
}

fn table(text: &mut String, block: &Table) {
    let indent = if block.title.is_empty() { "" } else { "    " };
    if block.title.is_empty() {
        text.push('\n');
    } else {
        let _ = writeln!(text, "\n.. table:: {}\n", inline(&block.title));
    }
    let header: Vec<String> = block.columns.iter().map(Column::whole_title).collect();
    let cell = |cell: &Cell| match cell {
        Cell::Text(words) => inline(words),
        cell => cell.plain(),
    };
    let rows: Vec<Vec<String>> = block
        .rows
        .iter()
        .map(|row| row.iter().map(cell).collect())
        .collect();
    text.push_str(&grid(&header, &rows, indent));
    if !block.note.is_empty() {
        let _ = writeln!(text, "\n{}", inline(&block.note));
    }
}

fn inline(words: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Code(code) => format!("``{code}``"),
        Span::Words(words) | Span::Name(words) | Span::Link { words, .. } => words.clone(),
        Span::Cause(cause) => cause.title().to_owned(),
    };
    words.spans().iter().map(span).collect()
}

/// A grid table; every column is as wide as its widest cell. Without a heading it has no header.
fn grid(header: &[String], rows: &[Vec<String>], indent: &str) -> String {
    let width = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            rows.iter()
                .map(|row| width(&row[column]))
                .chain([width(&header[column])])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let rule = |with: char| {
        let parts: Vec<String> = widths
            .iter()
            .map(|&width| with.to_string().repeat(width + 2))
            .collect();
        format!("{indent}+{}+\n", parts.join("+"))
    };
    let line = |cells: &[String]| {
        let parts: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, &column)| {
                let one_line = cell.replace('\n', " ");
                format!(" {one_line}{} ", " ".repeat(column - width(cell)))
            })
            .collect();
        format!("{indent}|{}|\n", parts.join("|"))
    };
    let mut text = rule('-');
    if header.iter().any(|heading| !heading.is_empty()) {
        text.push_str(&(line(header) + &rule('=')));
    }
    for row in rows {
        text.push_str(&line(row));
        text.push_str(&rule('-'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{code, text};

    #[test]
    fn a_grid_is_as_wide_as_its_widest_cell() {
        let rows = vec![vec!["0".to_owned(), "20.6 (-36.10%)".to_owned()]];
        let text = grid(&["Core".to_owned(), "Wakeup".to_owned()], &rows, "");
        let expected = "\
+------+----------------+
| Core | Wakeup         |
+======+================+
| 0    | 20.6 (-36.10%) |
+------+----------------+
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_heading_is_underlined_and_code_is_code() {
        let words = text![code("CPU_OFF"), " on all"];
        assert_eq!(
            document(&[], &[Block::heading(2, words)]),
            "..\n\n``CPU_OFF`` on all\n~~~~~~~~~~~~~~~~~~\n"
        );
    }
}
