//! Tables and paragraphs in a terminal of any width.

use crate::Style;
use crate::model::told::as_cells;
use crate::words::wrap;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width, presets};
use std::fmt::Write;

/// Colour of most text.
pub(crate) const PLAIN: &str = "";
/// Colour of what matters less.
pub(crate) const DIM: &str = "2";
/// SGR code of what must not be overlooked.
pub(crate) const BOLD: &str = "1";

/// An empty table.
pub(crate) fn table(style: Style) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(columns(style));
    if style.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

/// A cell for a figure.
pub(crate) fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// The table as wide as the terminal at most: where that is narrow, broken between words, and with fewer blanks. A word or number is never
/// broken; rather is the table too wide.
pub(crate) fn fitted(mut table: Table, style: Style) -> String {
    /// Blanks beside a cell's text.
    const PADDING: u16 = 2;
    if style == Style::PAGE {
        return cells(&table);
    }
    let columns = columns(style);
    let headings: Vec<String> =
        table.header().map(|row| row.cell_iter().map(Cell::content).collect()).unwrap_or_default();
    // A word that is longer than the terminal is wide, as only a damaged recording has one, is broken all the same.
    let longest_word = |text: &str| {
        let longest = text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
        longest.min(usize::from(columns)) as u16
    };
    let widest: Vec<u16> = (0..table.column_count())
        .map(|at| {
            let cells = table.column_cells_iter(at).flatten().map(|cell| longest_word(&cell.content()));
            cells.chain(headings.get(at).map(|heading| longest_word(heading))).max().unwrap_or(0)
        })
        .collect();
    // Blanks go where lines broken at every word would still be too long.
    let narrowest: u32 = 1 + widest.iter().map(|&word| u32::from(word) + u32::from(PADDING) + 1).sum::<u32>();
    let padding = if narrowest > u32::from(columns) { 0 } else { PADDING };
    for (column, widest) in table.column_iter_mut().zip(widest) {
        column.set_padding((padding / 2, padding / 2));
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(widest + padding)));
    }
    table.to_string()
}

/// A text on lines as wide as the terminal at most, in a colour (its code); `first` stands before the first line, `more` before the others.
pub(crate) fn paragraph(text: &mut String, words: &str, (first, more): (&str, &str), colour: &str, style: Style) {
    let room = if style == Style::PAGE { usize::MAX } else { usize::from(columns(style)) - more.len() };
    for (index, line) in wrap(words, room).into_iter().enumerate() {
        let _ = writeln!(text, "{}{}", if index == 0 { first } else { more }, style.paint(colour, &line));
    }
}

fn columns(style: Style) -> u16 {
    style.width.clamp(40, 140) as u16
}

/// The header and the rows of a table.
fn cells(table: &Table) -> String {
    let texts = |row: &Row| row.cell_iter().map(Cell::content).collect::<Vec<String>>();
    as_cells(table.header().into_iter().chain(table.row_iter()).map(texts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(width: usize) -> String {
        let style = Style { colour: false, width };
        let mut table = table(style);
        table.set_header(["release", "a long heading of many words", "time"]);
        table.add_row(vec![Cell::new("juno-v2.12"), right("12345.67 (1 to 2)".to_owned()), right("1.5".to_owned())]);
        fitted(table, style)
    }

    #[test]
    fn a_narrow_terminal_costs_blanks_and_lines_but_no_word_is_broken() {
        for width in [100, 44, 40, 10] {
            let drawn = drawn(width);
            for word in ["juno-v2.12", "12345.67", "heading", "time"] {
                assert!(drawn.contains(word), "{width}: {word} is broken in\n{drawn}");
            }
            let widest = drawn.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= width.max(40), "{width}: {widest} columns\n{drawn}");
        }
        assert_eq!(drawn(100).lines().count(), 5);
    }

    #[test]
    fn a_name_without_end_is_drawn() {
        let mut long = table(Style::PLAIN);
        long.set_header(["name", "of"]);
        long.add_row(["x".repeat(33_000), "y".repeat(33_000)]);
        assert!(fitted(long, Style::PLAIN).lines().count() > 100);
    }
}
