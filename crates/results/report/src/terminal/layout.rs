//! Blocks as lines: paragraphs, tables with bars, and what belongs to them.

use super::grid::{columns, fitted, longest_word, paragraph, right, table};
use super::paint::{BOLD, DIM, WARNING, painted};
use super::pictures;
use crate::blocks::{Bars, Block, Cell, Paint, Table, Tone};
use crate::style::Style;
use comfy_table::Color;
use std::fmt::Write;

/// Blocks, one below the other.
pub fn render(blocks: &[Block], style: Style) -> String {
    let mut text = String::new();
    for block in blocks {
        one(&mut text, block, style);
    }
    text
}

fn one(text: &mut String, block: &Block, style: Style) {
    match block {
        Block::Answer(words) => paragraph(text, &painted(words, style), ("", ""), BOLD, style),
        Block::Heading { words, .. } => {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", style.bold(&words.plain()));
        }
        Block::Paragraph(words) => paragraph(text, &painted(words, style), ("", "  "), "", style),
        Block::List(items) => {
            for item in items {
                paragraph(text, &painted(item, style), ("  ", "    "), "", style);
            }
        }
        Block::Warning(words) => {
            paragraph(text, &painted(words, style), ("", "  "), WARNING, style)
        }
        Block::Note(words) => paragraph(text, &painted(words, style), ("", "  "), DIM, style),
        Block::Table(table) => text.push_str(&grid(table, style)),
        Block::Picture(picture) => pictures::draw(text, picture, style),
        Block::Verbatim(lines) => {
            text.push_str(lines);
            if !lines.ends_with('\n') {
                text.push('\n');
            }
        }
        // Figures to be looked up: a page has room to fold them away, and CSV has them all.
        Block::Folded { .. } => {}
    }
}

/// A table with its title and its note.
fn grid(block: &Table, style: Style) -> String {
    let mut text = String::new();
    if !block.title.is_empty() {
        paragraph(
            &mut text,
            &painted(&block.title, style),
            ("", "  "),
            BOLD,
            style,
        );
    }
    let mut drawn = table(style);
    let has_groups = block.has_groups();
    let heading = |column: &crate::blocks::Column| match (has_groups, column.group.as_str()) {
        (true, group) => format!("{group}\n{}", column.heading),
        (false, _) => column.heading.clone(),
    };
    if block
        .columns
        .iter()
        .any(|column| !heading(column).trim().is_empty())
    {
        drawn.set_header(block.columns.iter().map(heading));
    }
    let names = block.paints();
    let width = bar_width(block, style);
    for row in &block.rows {
        let cells = row.iter().zip(&block.columns);
        drawn.add_row(cells.map(|(cell, column)| match cell {
            Cell::Bars(bars) => comfy_table::Cell::new(bar(bars, &names, width, style)),
            cell if column.is_number => toned(right(cell.plain()), cell, style),
            Cell::Text(words) => comfy_table::Cell::new(painted(words, style)),
            cell => toned(comfy_table::Cell::new(cell.plain()), cell, style),
        }));
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    legend(&mut text, block, &names, style);
    if !block.note.is_empty() {
        paragraph(
            &mut text,
            &painted(&block.note, style),
            ("", "  "),
            DIM,
            style,
        );
    }
    text
}

fn toned(drawn: comfy_table::Cell, cell: &Cell, style: Style) -> comfy_table::Cell {
    let colour = match cell.tone() {
        Tone::Plain => return drawn,
        Tone::Faint => Color::DarkGrey,
        Tone::Good => Color::Green,
        Tone::Middling => Color::Yellow,
        Tone::Bad => Color::Red,
    };
    if style.colour {
        drawn.fg(colour)
    } else {
        drawn
    }
}

/// The letter of a part: a cause's own, or a number's.
fn letter(paint: &Paint, names: &[&Paint]) -> char {
    use attribution::Spent;
    match paint {
        Paint::Spent(Spent::Cause(cause)) => cause.row().letter,
        Paint::Spent(Spent::Scp) => '#',
        Paint::Spent(Spent::Outside) => '.',
        Paint::Name(_) => {
            pictures::letter(names.iter().position(|name| *name == paint).unwrap_or(0))
        }
    }
}

fn colour(paint: &Paint) -> &'static str {
    match paint {
        Paint::Spent(attribution::Spent::Cause(cause)) => crate::drawn::drawn(*cause).terminal,
        Paint::Spent(_) | Paint::Name(_) => "",
    }
}

/// The columns that bars have: those that other columns leave, within limits.
fn bar_width(block: &Table, style: Style) -> usize {
    let widest = |at: usize| {
        let cells = block.rows.iter().map(|row| match &row[at] {
            Cell::Bars(_) => 0,
            cell => cell.plain().chars().count(),
        });
        let heading = &block.columns[at].heading;
        cells.max().unwrap_or(0).min(32).max(longest_word(heading))
    };
    let used: usize = (0..block.columns.len()).map(|at| widest(at) + 3).sum();
    usize::from(columns(style))
        .saturating_sub(used + 1)
        .clamp(10, 48)
}

/// A bar; every part that is longer than half a column has one.
fn bar(bars: &Bars, names: &[&Paint], width: usize, style: Style) -> String {
    let (mut text, mut drawn, mut reached) = (String::new(), 0, 0.0);
    for (paint, length) in &bars.parts {
        reached += length;
        let share = reached / bars.longest.max(f64::MIN_POSITIVE);
        // Parts and the whole need not agree in a recording of somebody else.
        let end = ((share * width as f64).round() as usize).min(width);
        let part: String =
            std::iter::repeat_n(letter(paint, names), end.saturating_sub(drawn)).collect();
        if !part.is_empty() {
            text.push_str(&style.paint(colour(paint), &part));
        }
        drawn = drawn.max(end);
    }
    text
}

/// The meaning of the letters of a table's bars.
fn legend(text: &mut String, block: &Table, names: &[&Paint], style: Style) {
    let Some(bars) = block.bars().next() else {
        return;
    };
    let name = |paint: &&Paint| {
        let letter = style.paint(colour(paint), &letter(paint, names).to_string());
        format!("{letter} {}", paint.title())
    };
    let names: Vec<String> = names.iter().map(name).collect();
    let scale = format!(
        "bars from 0 to {} {}",
        crate::blocks::figure(bars.longest),
        bars.unit
    );
    paragraph(
        text,
        &format!("{}; {scale}", names.join(", ")),
        ("", "  "),
        DIM,
        style,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use attribution::Cause;

    #[test]
    fn a_bar_is_as_long_as_its_parts_and_each_part_has_its_letter() {
        let bars = |parts| Bars {
            parts,
            longest: 4.0,
            unit: "us",
        };
        let rows = [
            (
                "0.0",
                bars(vec![
                    (Paint::Spent(attribution::Spent::Cause(Cause::Code)), 1.0),
                    (Paint::Name("rx".to_owned()), 3.0),
                ]),
            ),
            ("0.1", bars(vec![(Paint::Name("rx".to_owned()), 1.0)])),
        ];
        let table = Table::with_rows(&rows)
            .words("CPU", |row| row.0)
            .words("why", |row| row.1.clone())
            .done();
        let text = grid(&table, Style::PLAIN);
        let count =
            |line: usize, letter: char| text.lines().nth(line).unwrap().matches(letter).count();
        let code = Cause::Code.row().letter;
        assert_eq!(count(3, 'b'), 3 * count(3, code), "{text}");
        assert_eq!(count(4, 'b'), count(3, code), "{text}");
        assert!(text.contains("b rx; bars from 0 to 4.00 us"), "{text}");
    }

    #[test]
    fn code_and_names_have_no_marks_in_a_terminal() {
        let block = Block::Paragraph("p95 of render: `--all`".into());
        assert_eq!(render(&[block], Style::PLAIN), "p95 of render: --all\n");
    }
}
