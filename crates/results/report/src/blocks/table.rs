//! Tables of columns and cells.

use super::number::{Number, Tone, whole};
use super::text::Text;
use itertools::Itertools;
use recording::distinct;

/// The colour of a part of a bar.
#[derive(Clone, Debug, PartialEq)]
pub enum Paint {
    /// The colour of what a critical path is spent on.
    Spent(attribution::Spent),
    /// The colour that a page gives to a name.
    Name(String),
}

/// A bar of parts, drawn to the scale of its column.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The parts from the left, each with its length.
    pub parts: Vec<(Paint, f64)>,
    /// The length that fills the column.
    pub longest: f64,
    /// The unit of lengths.
    pub unit: &'static str,
}

/// The content of a table's cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Nothing: there is no such figure.
    #[default]
    Empty,
    /// Words.
    Text(Text),
    /// Words in a colour that means something.
    Toned(Text, Tone),
    /// A number.
    Number(Number),
    /// From a number to another; one of them where both are written alike.
    Range(Number, Number),
    /// A number, and in brackets from which to which, where those are not written like it.
    Spread(Number, Number, Number),
    /// A bar.
    Bars(Bars),
}

impl Cell {
    /// A dash where there is nothing.
    pub fn or_dash(cell: Option<impl Into<Self>>) -> Self {
        cell.map_or_else(|| "-".into(), Into::into)
    }

    /// The cell's words, with no colour and no mark-up; a bar's are its parts with their lengths.
    pub fn plain(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) | Self::Toned(text, _) => text.plain(),
            Self::Number(number) => number.to_string(),
            Self::Range(low, high) => between(low, high),
            Self::Spread(middle, low, high) => {
                let (middle, ends) = (middle.to_string(), between(low, high));
                if middle == ends {
                    middle
                } else {
                    format!("{middle} ({ends})")
                }
            }
            Self::Bars(bars) => bars.words(),
        }
    }

    /// The bar, if it is one.
    pub fn bars(&self) -> Option<&Bars> {
        match self {
            Self::Bars(bars) => Some(bars),
            _ => None,
        }
    }

    /// The colour that means something.
    pub fn tone(&self) -> Tone {
        match self {
            Self::Number(number) => number.tone,
            Self::Toned(_, tone) => *tone,
            _ => Tone::Plain,
        }
    }
}

fn between(low: &Number, high: &Number) -> String {
    let (low, high) = (low.to_string(), high.to_string());
    if low == high {
        low
    } else {
        format!("{low}\u{2013}{high}")
    }
}

impl Paint {
    /// The part's name.
    pub fn title(&self) -> &str {
        match self {
            Self::Spent(spent) => spent.title(),
            Self::Name(name) => name,
        }
    }
}

impl Bars {
    /// The parts with their lengths.
    pub fn words(&self) -> String {
        self.parts
            .iter()
            .map(|(paint, length)| format!("{} {}", paint.title(), super::figure(*length)))
            .join(", ")
    }
}

impl<T: Into<Text>> From<T> for Cell {
    fn from(words: T) -> Self {
        Self::Text(words.into())
    }
}

impl From<Number> for Cell {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::from(count as u64)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Number(whole(count as f64))
    }
}

impl From<Bars> for Cell {
    fn from(bars: Bars) -> Self {
        Self::Bars(bars)
    }
}

impl<C: Into<Self>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Self {
        cell.map_or(Self::Empty, Into::into)
    }
}

/// A column of a table.
#[derive(Clone, Default)]
pub struct Column {
    /// The heading that it shares with its neighbours; may be empty.
    pub group: String,
    /// Its own heading, with the unit of its numbers: "energy, J"; may be empty.
    pub heading: String,
    /// True if its cells are numbers, which stand below each other by their last digits.
    pub is_number: bool,
}

impl Column {
    /// The heading with its group on one line.
    pub fn whole_title(&self) -> String {
        [&self.group, &self.heading]
            .into_iter()
            .filter(|part| !part.is_empty())
            .join(", ")
    }
}

/// A table: columns, and rows with a cell for each.
#[derive(Clone, Default)]
pub struct Table {
    /// The title; may be empty.
    pub title: Text,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// The way to read it; may be empty.
    pub note: Text,
    /// True if the last rows matter most, so that a page without room for all leaves out the first.
    pub last_matter: bool,
    /// The class that the page's style sheet and script know it by; empty for most.
    pub class: &'static str,
}

impl Table {
    /// A table with a row for each item, to which columns are added.
    pub fn with_rows<R>(items: &[R]) -> Columns<'_, R> {
        Columns {
            items,
            table: Self {
                rows: vec![Vec::new(); items.len()],
                ..Self::default()
            },
        }
    }

    /// Without the columns in which no row has anything.
    pub fn without_empty_columns(mut self) -> Self {
        let is_empty = |at: usize| {
            self.rows
                .iter()
                .all(|row| row.get(at).is_none_or(|cell| cell.plain().is_empty()))
        };
        for at in (0..self.columns.len())
            .rev()
            .filter(|&at| is_empty(at))
            .collect_vec()
        {
            self.columns.remove(at);
            self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
        self
    }

    /// With a title.
    pub fn titled(mut self, title: impl Into<Text>) -> Self {
        self.title = title.into();
        self
    }

    /// With a note.
    pub fn noted(mut self, note: impl Into<Text>) -> Self {
        self.note = note.into();
        self
    }

    /// With a class of the page's style sheet.
    pub fn of_class(mut self, class: &'static str) -> Self {
        self.class = class;
        self
    }

    /// As one of which the last rows matter most.
    pub fn ending(mut self) -> Self {
        self.last_matter = true;
        self
    }

    /// The bars in it.
    pub fn bars(&self) -> impl Iterator<Item = &Bars> {
        self.rows.iter().flatten().filter_map(Cell::bars)
    }

    /// The different colours of its bars' parts.
    pub fn paints(&self) -> Vec<&Paint> {
        let parts = self.bars().flat_map(|bars| &bars.parts);
        distinct(parts.map(|(paint, _)| paint))
    }

    /// True if a column has a heading above its own.
    pub fn has_groups(&self) -> bool {
        self.columns.iter().any(|column| !column.group.is_empty())
    }
}

/// A table that is made column by column, from one item a row.
pub struct Columns<'i, R> {
    items: &'i [R],
    table: Table,
}

impl<'i, R> Columns<'i, R> {
    // Not generic in the closure: there are three hundred of them, and one of these per type of row
    // is enough.
    fn add(mut self, column: Column, cell: &dyn Fn(&'i R) -> Cell) -> Self {
        self.table.columns.push(column);
        for (row, item) in self.table.rows.iter_mut().zip(self.items.iter()) {
            row.push(cell(item));
        }
        self
    }

    /// Adds a column of words.
    pub fn words<C: Into<Cell>>(
        self,
        heading: impl Into<String>,
        cell: impl Fn(&'i R) -> C,
    ) -> Self {
        self.add(
            Column {
                heading: heading.into(),
                ..Column::default()
            },
            &|item| cell(item).into(),
        )
    }

    /// Adds a column of numbers, whose heading ends with their unit where they have one.
    pub fn numbers<C: Into<Cell>>(
        self,
        heading: impl Into<String>,
        cell: impl Fn(&'i R) -> C,
    ) -> Self {
        self.grouped("", heading, cell)
    }

    /// Adds a column of numbers that shares a heading with its neighbours.
    pub fn grouped<C: Into<Cell>>(
        self,
        group: impl Into<String>,
        heading: impl Into<String>,
        cell: impl Fn(&'i R) -> C,
    ) -> Self {
        let column = Column {
            group: group.into(),
            heading: heading.into(),
            is_number: true,
        };
        self.add(column, &|item| cell(item).into())
    }

    /// Adds columns if a condition holds.
    pub fn when(self, holds: bool, add: impl FnOnce(Self) -> Self) -> Self {
        if holds { add(self) } else { self }
    }

    /// Adds columns for each of some items.
    pub fn each<T>(
        self,
        items: impl IntoIterator<Item = T>,
        add: impl Fn(Self, T) -> Self,
    ) -> Self {
        items.into_iter().fold(self, add)
    }

    /// The table with a title.
    pub fn titled(self, title: impl Into<Text>) -> Table {
        self.table.titled(title)
    }

    /// The table with a note.
    pub fn noted(self, note: impl Into<Text>) -> Table {
        self.table.noted(note)
    }

    /// The table.
    pub fn done(self) -> Table {
        self.table
    }
}

impl<R> From<Columns<'_, R>> for Table {
    fn from(columns: Columns<'_, R>) -> Self {
        columns.table
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixed;
    use super::*;

    #[test]
    fn a_table_is_made_column_by_column() {
        let rows = [("a", Some(1.5)), ("b", None)];
        let table = Table::with_rows(&rows)
            .words("policy", |row| row.0)
            .numbers("energy, J", |row| row.1.map(|value| fixed(value, 1)))
            .when(false, |table| table.words("never", |_| ""))
            .done();
        assert_eq!(
            table
                .columns
                .iter()
                .map(|column| column.heading.as_str())
                .collect::<Vec<_>>(),
            ["policy", "energy, J"]
        );
        let words: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::plain).collect())
            .collect();
        assert_eq!(words, [["a", "1.5"], ["b", ""]]);
    }

    #[test]
    fn a_range_of_one_value_is_that_value() {
        let range = |low, high| Cell::Range(fixed(low, 1), fixed(high, 1)).plain();
        assert_eq!(
            [range(1.0, 1.04), range(1.0, 2.0)],
            ["1.0", "1.0\u{2013}2.0"]
        );
        let spread = |low, high| Cell::Spread(fixed(1.0, 1), fixed(low, 1), fixed(high, 1)).plain();
        assert_eq!(
            [spread(1.0, 1.0), spread(0.5, 2.0)],
            ["1.0", "1.0 (0.5\u{2013}2.0)"]
        );
    }
}
