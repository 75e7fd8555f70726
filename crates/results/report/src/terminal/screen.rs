//! The first screen of a story: its answer, one picture, the caveat that could turn the answer, and
//! where the rest is, in this order.

use super::grid::paragraph;
use super::layout::render;
use super::paint::{BOLD, DIM, painted};
use crate::blocks::{Bar, Block, Cell, Drawing, Picture, Table};
use crate::style::Style;
use crate::words::sentences;
use itertools::Itertools;
use recording::total_order;
use std::cmp::Reverse;

/// Lines of a first screen at most: a command adds the place of the recording and one more, such as
/// the place of the report, which makes twenty.
const LINES: usize = 18;

/// Sentences of the answer at most.
const SENTENCES: usize = 3;

/// The first screen of a story.
pub fn screen(blocks: &[Block], style: Style) -> String {
    let is_answer = |block: &&Block| matches!(block, Block::Answer(_));
    let mut answers = blocks
        .iter()
        .skip_while(|block| !is_answer(block))
        .map_while(|block| match block {
            Block::Answer(words) => Some(painted(words, style)),
            _ => None,
        });
    let answer = answers.join(" ");
    let sentences = sentences(&answer);
    let mut text = String::new();
    paragraph(
        &mut text,
        &sentences[..sentences.len().min(SENTENCES)].join(" "),
        ("", ""),
        BOLD,
        style,
    );
    // Lines to paste stand right behind the answer.
    let first = blocks
        .iter()
        .position(|block| is_answer(&block))
        .unwrap_or(0);
    let behind = first + blocks[first..].iter().take_while(is_answer).count();
    let paste = Some(behind).filter(|&at| matches!(blocks.get(at), Some(Block::Verbatim(_))));
    paste
        .into_iter()
        .for_each(|at| text.push_str(&render(&blocks[at..=at], style)));
    // A table of a part that has a heading is looked up.
    let is_plain = |block: &&Block| !matches!(block, Block::Heading { depth: 2, .. });
    let table = || {
        blocks
            .iter()
            .take_while(is_plain)
            .position(|block| matches!(block, Block::Table(_)))
    };
    let picture = blocks.iter().position(is_drawn);
    let drawn = [picture, table()].into_iter().flatten().min();
    let caveat = blocks
        .iter()
        .position(|block| matches!(block, Block::Warning(_)));
    let is_shown =
        |at: usize| [drawn, caveat, paste].contains(&Some(at)) || is_answer(&&blocks[at]);
    let others = (0..blocks.len())
        .filter(|&at| !is_shown(at))
        .map(|at| &blocks[at])
        .collect_vec();
    let more = more(&others, style);
    let caveat = caveat.map_or_else(String::new, |at| render(&blocks[at..=at], style));
    let room = LINES.saturating_sub(
        [&text, &caveat, &more]
            .map(|text| text.lines().count())
            .iter()
            .sum(),
    );
    let picture = drawn.map(|at| match &blocks[at] {
        Block::Table(table) if is_drawn(&blocks[at]) => Block::Picture(picture_of(table)),
        block => block.clone(),
    });
    let (picture, is_cut) =
        picture.map_or_else(Default::default, |picture| within(&picture, room, style));
    let is_all = others.is_empty() && !is_cut && sentences.len() <= SENTENCES;
    text + &picture + &caveat + if is_all { "" } else { &more }
}

/// Whether a block is a picture in a terminal: a timeline has no room there.
fn is_drawn(block: &Block) -> bool {
    match block {
        Block::Picture(picture) => !matches!(picture.drawing, Drawing::Timeline { .. }),
        Block::Table(table) => table.bars().next().is_some(),
        _ => false,
    }
}

/// A table whose rows have bars as a picture, the longest bar first.
fn picture_of(table: &Table) -> Picture {
    let names = table
        .columns
        .iter()
        .take_while(|column| !column.is_number)
        .count();
    let name = |row: &[Cell]| row[..names].iter().map(Cell::plain).join(" ");
    let bar = |row: &Vec<Cell>| {
        let parts = row.iter().find_map(Cell::bars)?.parts.iter();
        let parts = parts.map(|(paint, length)| (paint.title(), *length));
        Some(Bar::new(name(row), parts))
    };
    let unit = table.bars().next().map_or("", |bars| bars.unit);
    let mut rows = table.rows.iter().filter_map(bar).collect_vec();
    rows.sort_by_key(|of| Reverse(total_order(of.total())));
    let of = table
        .columns
        .last()
        .map_or_else(String::new, |column| crate::words::capital(&column.heading));
    Picture::new(of, "", unit, Drawing::Bars(rows))
}

/// A picture or table on as many lines as there is room, without the note on how it is read: with
/// its first rows, and nothing where none has room; and whether it has more.
fn within(block: &Block, room: usize, style: Style) -> (String, bool) {
    let all = keep(&mut block.clone(), usize::MAX);
    for kept in (1..=all.min(room)).rev() {
        let mut block = block.clone();
        keep(&mut block, kept);
        let mut text = render(&[block], style);
        if kept < all {
            paragraph(
                &mut text,
                &format!("and {} more", all - kept),
                ("  ", "  "),
                DIM,
                style,
            );
        }
        if text.lines().count() <= room {
            return (text, kept < all);
        }
    }
    (String::new(), true)
}

/// Keeps the first rows of a picture or a table, and takes its note off; returns the number that it
/// had. A picture that has no rows counts as one.
fn keep(block: &mut Block, most: usize) -> usize {
    fn rows<T>(rows: &mut Vec<T>, most: usize) -> usize {
        let all = rows.len();
        rows.truncate(most);
        all
    }
    // Of a map, rows over its whole height.
    fn spread<T>(rows: &mut Vec<T>, most: usize) -> usize {
        let (all, mut at) = (rows.len(), 0);
        rows.retain(|_| {
            at += 1;
            most >= all || (at - 1) * most / all != at * most / all
        });
        all
    }
    match block {
        Block::Table(table) => {
            table.note = "".into();
            rows(&mut table.rows, most)
        }
        Block::Picture(picture) => {
            picture.note = "".into();
            match &mut picture.drawing {
                Drawing::Bars(bars) => rows(bars, most),
                Drawing::Curves { curves, .. } => rows(curves, most),
                Drawing::Intervals(intervals) => rows(intervals, most),
                Drawing::Samples(samples) => rows(samples, most),
                Drawing::Lanes(lanes) => rows(&mut lanes.rows, most),
                Drawing::HeatMap { maps, .. } => {
                    maps.truncate(1);
                    maps.iter_mut()
                        .map(|map| spread(&mut map.fields, most).max(spread(&mut map.ys, most)))
                        .sum()
                }
                Drawing::Flames(flames) => rows(flames, most),
                Drawing::Dots { .. } | Drawing::Timeline { .. } => 1,
            }
        }
        _ => 0,
    }
}

/// The line that says what else there is, and how to see it.
fn more(others: &[&Block], style: Style) -> String {
    let count = |is: fn(&Block) -> bool| others.iter().filter(|block| is(block)).count();
    let tables = count(|block| matches!(block, Block::Table(_)));
    let lines = others
        .iter()
        .map(|block| {
            if let Block::Table(table) = block {
                table.rows.len()
            } else {
                0
            }
        })
        .sum();
    let plural =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let kinds = [
        (count(|block| matches!(block, Block::Warning(_))), "warning"),
        (tables, "table"),
        (count(|block| matches!(block, Block::Picture(_))), "picture"),
        (count(|block| matches!(block, Block::Verbatim(_))), "trace"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| match what {
        "table" => format!("{} ({})", plural(count, what), plural(lines, "row")),
        _ => plural(count, what),
    })
    .collect_vec();
    let which = if kinds.is_empty() {
        String::new()
    } else {
        format!(": {}", kinds.join(", "))
    };
    let mut text = String::new();
    paragraph(
        &mut text,
        &format!("More with --all or --report page.html{which}."),
        ("", "  "),
        DIM,
        style,
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Blocks;

    fn bars(count: usize) -> Picture {
        let rows = (0..count)
            .map(|at| Bar {
                name: format!("row {at}"),
                parts: vec![("part".to_owned(), 1.0)],
            })
            .collect();
        Picture::new("Bars", "", "us", Drawing::Bars(rows))
    }

    #[test]
    fn a_screen_has_the_answer_the_picture_the_caveat_and_where_the_rest_is() {
        for (width, rows) in [(80, 3), (80, 50), (120, 50), (40, 12)] {
            let mut told = Blocks::default();
            told.answer("It takes 12 us. It took 11 us. Two more. A fourth is left out.");
            told.verbatim("#define AHEAD 12");
            told.warning("One order alone was tried.");
            told.warning("Something else.");
            told.picture(bars(rows));
            let style = Style {
                colour: false,
                width,
            };
            let screen = screen(told.all(), style);
            let at = |part: &str| {
                screen
                    .find(part)
                    .unwrap_or_else(|| panic!("no {part} in\n{screen}"))
            };
            assert!(
                at("It takes 12 us.") < at("#define")
                    && at("#define") < at("row 0")
                    && at("row 0") < at("One order"),
                "{screen}"
            );
            assert!(
                at("One order") < at("More with --all") && screen.contains("1 warning"),
                "{screen}"
            );
            assert!(
                screen.lines().count() <= LINES && !screen.contains("left out"),
                "{screen}"
            );
        }
    }

    #[test]
    fn nothing_is_said_of_a_rest_where_there_is_none() {
        let mut told = Blocks::default();
        told.answer("It takes 12 us.");
        told.picture(bars(2));
        assert!(!screen(told.all(), Style::PLAIN).contains("--all"));
    }
}
