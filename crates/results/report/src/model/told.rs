//! What an experiment's own tables say: the same words and figures that its run prints, for every kind of report.
//!
//! A story is written once, as text for a terminal of some width. Where a report has tables of its own kind, the story is told with
//! [`PAGE`]: its lines are not broken, and its tables are handed on as cells, which [`blocks`] finds again.

use crate::style::{PAGE, Style};
use serde_json::Value;

/// An experiment's story of a recording.
pub(crate) struct Told<'a> {
    /// The story, laid out.
    text: Box<dyn Fn(Style) -> String + 'a>,
    /// The same for machines.
    json: Box<dyn Fn() -> Value + 'a>,
}

impl<'a> Told<'a> {
    pub(crate) fn new(text: impl Fn(Style) -> String + 'a, json: impl Fn() -> Value + 'a) -> Self {
        Self { text: Box::new(text), json: Box::new(json) }
    }

    /// The story in a terminal.
    pub(crate) fn text(&self, style: Style) -> String {
        (self.text)(style)
    }

    /// The story as JSON.
    pub(crate) fn json(&self) -> Value {
        (self.json)()
    }

    /// The story in parts.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        blocks(&self.text(PAGE))
    }
}

/// A part of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Words.
    Paragraph(String),
    /// Lines that belong together, each a sentence or less.
    List(Vec<String>),
    /// Lines whose blanks are part of them.
    Preformatted(Vec<String>),
    /// A table.
    Table {
        /// The columns' names.
        header: Vec<String>,
        /// The rows; each has as many cells as there are columns.
        rows: Vec<Vec<String>>,
        /// For each column whether it holds figures.
        figures: Vec<bool>,
    },
}

/// Begins a table whose cells are handed on.
const BEGIN: char = '\u{e000}';
/// Ends a row.
const ROW: char = '\u{e001}';
/// Ends a cell.
const CELL: char = '\u{e002}';
/// Ends a table.
const END: char = '\u{e003}';

/// A table as its cells, for [`blocks`]; the first row is the header.
pub(crate) fn as_cells(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = String::from(BEGIN);
    for row in rows {
        for cell in row {
            // What would end a cell can come from a recording; it is no part of any name of ours.
            text.extend(cell.chars().filter(|c| !(BEGIN..=END).contains(c)).map(|c| if c == '\n' { ' ' } else { c }));
            text.push(CELL);
        }
        text.push(ROW);
    }
    text.push(END);
    text
}

/// The parts of a story that was told with [`PAGE`].
fn blocks(text: &str) -> Vec<Block> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some((words, after)) = rest.split_once(BEGIN) {
        let (cells, after) = after.split_once(END).unwrap_or((after, ""));
        all.extend(of_words(words));
        all.extend(of_cells(cells));
        rest = after;
    }
    all.extend(of_words(rest));
    all
}

fn of_words(words: &str) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    // An empty line ends what came before it.
    let mut new = true;
    for line in words.lines() {
        if line.trim().is_empty() {
            new = true;
            continue;
        }
        let has_columns = line.trim().contains("   ");
        let is_item = line.starts_with(' ');
        match all.last_mut().filter(|_| !new) {
            Some(Block::Preformatted(lines)) if has_columns => lines.push(line.to_owned()),
            Some(Block::List(lines)) if is_item && !has_columns => lines.push(line.trim().to_owned()),
            _ if has_columns => all.push(Block::Preformatted(vec![line.to_owned()])),
            _ if is_item => all.push(Block::List(vec![line.trim().to_owned()])),
            _ => all.push(Block::Paragraph(line.trim().to_owned())),
        }
        new = false;
    }
    all
}

fn of_cells(cells: &str) -> Option<Block> {
    let of_row = |row: &str| row.split_terminator(CELL).map(str::to_owned).collect::<Vec<String>>();
    let mut rows = cells.split_terminator(ROW).map(of_row);
    let header = rows.next()?;
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.iter_mut().for_each(|row| row.resize(header.len(), String::new()));
    let figures = (0..header.len()).map(|at| holds_figures(rows.iter().map(|row| row[at].as_str()))).collect();
    Some(Block::Table { header, rows, figures })
}

/// Whether all cells that hold anything begin with a digit, be it after a sign.
fn holds_figures<'c>(cells: impl Iterator<Item = &'c str>) -> bool {
    let mut filled = cells.filter(|cell| !cell.trim().is_empty()).peekable();
    let is_figure = |cell: &str| {
        let cell = cell.trim().trim_start_matches(['+', '-', '<', '>', '~']);
        cell.starts_with(|c: char| c.is_ascii_digit())
    };
    filled.peek().is_some() && filled.all(is_figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_falls_into_words_lists_and_tables() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let table = as_cells([row(&["case", "saved\nper cent"]), row(&["audio", "-0.5"]), row(&["cyclic"])]);
        let text = format!("Saved:\n{table}\nA note.\n\nFound:\n  one, two\n  three\n  name      12\n");
        assert_eq!(
            blocks(&text),
            [
                Block::Paragraph("Saved:".to_owned()),
                Block::Table {
                    header: row(&["case", "saved per cent"]),
                    rows: vec![row(&["audio", "-0.5"]), row(&["cyclic", ""])],
                    figures: vec![false, true],
                },
                Block::Paragraph("A note.".to_owned()),
                Block::Paragraph("Found:".to_owned()),
                Block::List(row(&["one, two", "three"])),
                Block::Preformatted(row(&["  name      12"])),
            ]
        );
    }

    #[test]
    fn what_a_recording_names_cannot_end_a_table() {
        let text = as_cells([vec!["a".to_owned()], vec![format!("b{END}{CELL}{ROW}c")]]);
        let Block::Table { rows, .. } = &blocks(&text)[0] else { panic!("{text}") };
        assert_eq!(rows, &[["bc"]]);
        assert!(blocks(&format!("{BEGIN}{BEGIN}{CELL}")).len() <= 2, "half a table is none or an empty one");
    }
}
