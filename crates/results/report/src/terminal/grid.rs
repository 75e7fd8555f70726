//! Tables and paragraphs in a terminal of any width.

use crate::Style;
use crate::words::wrap;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width, presets,
};
use itertools::Itertools;
use std::fmt::Write;

/// An empty table.
pub fn table(style: Style) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_BORDERS_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(columns(style));
    if style.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

/// A cell whose last digit stands at the right.
pub fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// The table as wide as the terminal at most: where that is narrow, broken between words, and with
/// fewer blanks; where that does not do, in several tables below each other, each with the first
/// column. A word or number is never broken: a column that is too wide of itself stays so.
pub fn fitted(mut table: Table, style: Style) -> String {
    let columns = u32::from(columns(style));
    let mut widest = widths(&mut table, longest_word);
    // A word that is longer than the terminal is wide, as only a damaged recording has one, is
    // broken all the same.
    widest
        .iter_mut()
        .for_each(|width| *width = (*width).min(columns as u16));
    let narrowest = |columns: &[usize]| needed(&picked(&widest, columns), 0);
    let all = (0..widest.len()).collect_vec();
    if narrowest(&all) <= columns {
        return within(table, &widest, style).to_string();
    }
    let headings = headings(&mut table);
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for group in groups(&headings) {
        let fits = |part: &Vec<usize>| narrowest(&[part.as_slice(), &group].concat()) <= columns;
        match parts.last_mut().filter(|part| fits(part)) {
            Some(part) => part.extend(&group),
            // What belongs together is torn only where it has no room by itself.
            None if fits(&vec![0]) => parts.push([&[0], group.as_slice()].concat()),
            None => {
                for &column in &group {
                    match parts
                        .last_mut()
                        .filter(|part| narrowest(&[part.as_slice(), &[column]].concat()) <= columns)
                    {
                        Some(part) => part.push(column),
                        None => parts.push(vec![0, column]),
                    }
                }
            }
        }
    }
    parts
        .iter()
        .map(|part| within(only(&table, part, style), &picked(&widest, part), style).to_string())
        .join("\n")
}

/// The columns after the first, in groups of those whose headings have the same first of several
/// lines.
fn groups(headings: &[String]) -> Vec<Vec<usize>> {
    let group = |at: usize| {
        headings
            .get(at)
            .and_then(|heading| Some(&heading[..heading.find('\n')?]))
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in 1..headings.len() {
        match groups
            .last_mut()
            .filter(|last| group(at).is_some() && group(last[0]) == group(at))
        {
            Some(last) => last.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

fn picked<T: Copy>(all: &[T], columns: &[usize]) -> Vec<T> {
    columns.iter().map(|&at| all[at]).collect()
}

/// Some columns of a table, as a table.
fn only(table: &Table, columns: &[usize], style: Style) -> Table {
    let cells = |row: &Row| -> Vec<Cell> {
        let all = row.cell_iter().collect_vec();
        columns
            .iter()
            .map(|&at| {
                all.get(at)
                    .map_or_else(|| Cell::new(""), |&cell| cell.clone())
            })
            .collect()
    };
    let mut part = self::table(style);
    if let Some(header) = table.header() {
        part.set_header(cells(header));
    }
    for row in table.row_iter() {
        part.add_row(cells(row));
    }
    part
}

fn headings(table: &mut Table) -> Vec<String> {
    let mut headings: Vec<String> = table
        .header()
        .map(|row| row.cell_iter().map(Cell::content).collect())
        .unwrap_or_default();
    headings.resize(table.column_count(), String::new());
    headings
}

/// The number of characters of a text's longest word.
pub fn longest_word(text: &str) -> usize {
    let words = text.split_whitespace();
    words.map(|word| word.chars().count()).max().unwrap_or(0)
}

/// The number of characters of a text's longest line.
fn longest_line(text: &str) -> usize {
    let lines = text.lines().map(|line| line.chars().count());
    lines.max().unwrap_or(0)
}

/// Wider than any terminal.
const MOST_WIDTH: usize = 400;

/// The width of each column by a measure of its cells; a heading may be broken between words.
fn widths(table: &mut Table, of_cell: fn(&str) -> usize) -> Vec<u16> {
    let headings = headings(table);
    let width = |(at, heading): (usize, &String)| {
        let cells = table.column_cells_iter(at).flatten();
        let cells = cells.map(|cell| of_cell(&cell.content()));
        cells
            .fold(longest_word(heading), usize::max)
            .min(MOST_WIDTH) as u16
    };
    headings.iter().enumerate().map(width).collect()
}

/// The width that columns of these widths need, with the lines between them.
fn needed(widths: &[u16], padding: u16) -> u32 {
    let columns = widths.iter().map(|&of| u32::from(of + padding) + 1);
    1 + columns.sum::<u32>()
}

/// The table with lines broken between words where they must be, and with fewer blanks where that
/// saves it.
fn within(mut table: Table, widest: &[u16], style: Style) -> Table {
    /// Blanks beside a cell's text.
    const PADDING: u16 = 2;
    let room = u32::from(columns(style));
    let whole = widths(&mut table, longest_line);
    let padding = if needed(widest, PADDING) > room
        || (needed(&whole, PADDING) > room && needed(&whole, 0) <= room)
    {
        0
    } else {
        PADDING
    };
    for (column, widest) in table.column_iter_mut().zip(widest) {
        column.set_padding((padding / 2, padding / 2));
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(
            widest + padding,
        )));
    }
    table
}

/// A text on lines as wide as the terminal at most, in a colour (its code); `first` stands before
/// the first line, `more` before the others.
pub fn paragraph(
    text: &mut String,
    words: &str,
    (first, more): (&str, &str),
    colour: &str,
    style: Style,
) {
    let room = usize::from(columns(style)) - more.len();
    for (index, line) in wrap(words, room).into_iter().enumerate() {
        let _ = writeln!(
            text,
            "{}{}",
            if index == 0 { first } else { more },
            style.paint(colour, &line)
        );
    }
}

/// The columns that are used of a terminal: neither a narrow nor a very wide one is followed to its
/// ends.
pub fn columns(style: Style) -> u16 {
    style.width.clamp(40, 140) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(width: usize) -> String {
        let style = Style {
            colour: false,
            width,
        };
        let mut table = table(style);
        table.set_header(["release", "a long heading of many words", "time"]);
        table.add_row(vec![
            Cell::new("juno-v2.12"),
            right("12345.67 (1 to 2)".to_owned()),
            right("1.5".to_owned()),
        ]);
        fitted(table, style)
    }

    #[test]
    fn a_narrow_terminal_costs_blanks_and_lines_but_no_word_is_broken() {
        for width in [100, 44, 40, 10] {
            let drawn = drawn(width);
            for word in ["juno-v2.12", "12345.67", "heading", "time"] {
                assert!(
                    drawn.contains(word),
                    "{width}: {word} is broken in\n{drawn}"
                );
            }
            let widest = drawn
                .lines()
                .map(|line| line.chars().count())
                .max()
                .unwrap_or(0);
            assert!(
                widest <= width.max(40),
                "{width}: {widest} columns\n{drawn}"
            );
        }
        assert_eq!(drawn(100).lines().count(), 5);
    }

    #[test]
    fn a_table_that_has_no_room_is_drawn_in_parts_that_have_the_first_column() {
        let style = Style {
            colour: false,
            width: 44,
        };
        let mut wide = table(style);
        let groups = ["down", "wake", "flush"].iter();
        let kinds =
            |group| ["published", "simulated", "error"].map(|kind| format!("{group}\n{kind}"));
        wide.set_header(std::iter::once("CPU".to_owned()).chain(groups.flat_map(kinds)));
        for cpu in ["0.0", "0.1"] {
            wide.add_row(
                std::iter::once(cpu.to_owned()).chain((0..9).map(|at| format!("{cpu}-{at}"))),
            );
        }
        let drawn = fitted(wide, style);
        assert!(
            drawn.lines().all(|line| line.chars().count() <= 44),
            "{drawn}"
        );
        assert_eq!(
            drawn.matches("CPU").count(),
            3,
            "a part for each group, with the CPUs\n{drawn}"
        );
        for figure in (0..9).map(|at| format!("0.1-{at}")) {
            assert_eq!(drawn.matches(&figure).count(), 1, "{figure} in\n{drawn}");
        }
    }

    #[test]
    fn a_name_without_end_is_drawn() {
        let mut long = table(Style::PLAIN);
        long.set_header(["name", "of"]);
        long.add_row(["x".repeat(33_000), "y".repeat(33_000)]);
        assert!(fitted(long, Style::PLAIN).lines().count() > 100);
    }
}
