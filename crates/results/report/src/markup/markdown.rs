//! Markdown: blocks as GitHub and most others read them.

use crate::blocks::{Block, Cell, Drawing, Picture, Span, Table, Text};
use crate::style::Style;
use std::fmt::Write;

/// Blocks with a title and what they come from, a fact each.
pub fn document(title: &str, source: &[(&str, String)], blocks: &[Block]) -> String {
    let mut text = format!("# {title}\n\n");
    for (what, fact) in source {
        let _ = writeln!(
            text,
            "- {what}: {}",
            if *what == "command" {
                format!("`{fact}`")
            } else {
                escape(fact)
            }
        );
    }
    text + &render(blocks)
}

/// Blocks, one below the other.
pub fn render(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        one(&mut text, block);
    }
    text
}

fn one(text: &mut String, block: &Block) {
    let _ = match block {
        Block::Answer(words) | Block::Warning(words) => writeln!(text, "\n**{}**", inline(words)),
        Block::Heading { depth, words, .. } => {
            writeln!(text, "\n{} {}", "#".repeat(depth + 1), inline(words))
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
            .try_for_each(|answer| writeln!(text, "\n**{}**", escape(answer))),
        // A picture of characters, indented by four, is shown as it is.
        Block::Picture(_) => indented(
            text,
            &crate::terminal::render(std::slice::from_ref(block), Style::PLAIN),
        ),
        Block::Verbatim(lines) => indented(text, lines),
        Block::Folded { .. } => Ok(()),
    };
}

fn indented(text: &mut String, lines: &str) -> std::fmt::Result {
    if !lines.is_empty() {
        text.push('\n');
    }
    lines
        .lines()
        .try_for_each(|line| writeln!(text, "    {line}"))
}

fn table(text: &mut String, block: &Table) {
    if !block.title.is_empty() {
        let _ = writeln!(text, "\n{}", inline(&block.title));
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push('\n');
    text.push_str(&line(
        block
            .columns
            .iter()
            .map(|column| escape(&column.whole_title()))
            .collect(),
    ));
    let rules = block
        .columns
        .iter()
        .map(|column| if column.is_number { "--:|" } else { "---|" });
    let _ = writeln!(text, "|{}", rules.collect::<String>());
    for row in &block.rows {
        text.push_str(&line(
            row.iter()
                .map(|cell| match cell {
                    Cell::Text(words) => inline(words),
                    cell => escape(&cell.plain()),
                })
                .collect(),
        ));
    }
    if !block.note.is_empty() {
        let _ = writeln!(text, "\n{}", inline(&block.note));
    }
}

fn inline(words: &Text) -> String {
    let span = |span: &Span| match span {
        // A code span ends at the first back-tick.
        Span::Code(code) => format!("`{}`", code.replace(['`', '\n', '\r'], " ")),
        Span::Words(words) | Span::Link { words, .. } => escape(words),
        Span::Cause(cause) => escape(cause.title()),
    };
    words.spans().iter().map(span).collect()
}

/// The text with each character escaped that would end a cell or start a style.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '*' | '_' | '`' | '<' | '\\' => escaped.extend(['\\', character]),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::figure;

    #[test]
    fn code_is_code_and_a_name_cannot_end_a_cell() {
        let rows = [("a|b", 1.0)];
        let block = Table::with_rows(&rows)
            .words("x", |row| row.0)
            .numbers("y, us", |row| figure(row.1))
            .done();
        let blocks = [Block::Answer("See `--all`.".into()), Block::Table(block)];
        assert_eq!(
            render(&blocks),
            "\n**See `--all`.**\n\n| x | y, us |\n|---|--:|\n| a\\|b | 1.00 |\n"
        );
    }
}
