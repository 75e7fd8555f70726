//! Blocks, of which a story is made; every format lays them out in its own way.
//!
//! A block is data. It knows no width, no colour and no mark-up; a format reads it and nothing
//! else.
//!
//! | file | what it holds |
//! |---|---|
//! | `text.rs` | words, in which code, names and causes are told apart |
//! | `number.rs` | numbers with their precision, and how they are written |
//! | `table.rs` | tables of columns and cells |
//! | `flame.rs` | a quantity by who called whom |
//! | `lanes.rs` | the declared lanes of a recording over a part of its time |
//! | `picture.rs` | pictures before they are drawn |

mod flame;
pub mod lanes;
mod number;
mod picture;
mod table;
mod text;

pub use flame::Flame;
pub use flame::Node;
pub use number::{
    Number, Tone, figure, fixed, grouped, one_or_range, percent, quantity, scientific, whole,
};
pub use picture::{Axis, Bar, Curve, Dot, Drawing, Figure, HeatMap, IntervalRow, Picture, Sample};
pub use picture::{axis_words, between, ends, is_logarithmic, on_axis};
pub use table::{Bars, Cell, Column, Columns, Paint, Table};
pub use text::{Span, Text, code};

use itertools::Itertools;

/// A part of a story.
#[derive(Clone)]
pub enum Block {
    /// The answer of the story, or of a part of it: one to three sentences with figures.
    Answer(Text),
    /// The heading of a part, with an anchor that links lead to.
    Heading {
        /// Depth below the title: 1 for a part, 2 for a part of a part.
        depth: usize,
        /// The words.
        words: Text,
        /// The place that links lead to: letters, digits and hyphens.
        anchor: String,
    },
    /// A sentence or more.
    Paragraph(Text),
    /// Sentences that belong together.
    List(Vec<Text>),
    /// A warning that must not be overlooked.
    Warning(Text),
    /// The way to read what stands before, or where it is from.
    Note(Text),
    /// Figures.
    Table(Table),
    /// A picture.
    Picture(Picture),
    /// The output of another program, or a packet's trace: lines whose blanks are part of them.
    Verbatim(String),
    /// Figures to be looked up, which a page folds away and a terminal leaves out.
    Folded {
        /// The words that unfold them.
        summary: Text,
        /// The figures.
        blocks: Vec<Block>,
    },
}

impl Block {
    /// A heading whose words are its anchor.
    pub fn heading(depth: usize, words: impl Into<Text>) -> Self {
        let words = words.into();
        let anchor = anchor(&words.plain());
        Self::Heading {
            depth,
            words,
            anchor,
        }
    }
}

/// The place that links to some words lead to: letters, digits and hyphens.
pub fn anchor(words: &str) -> String {
    words
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect()
}

/// The blocks of a story: first what answers, then the rest.
#[derive(Default)]
pub struct Blocks {
    all: Vec<Block>,
}

impl Blocks {
    /// Adds the answer: sentences that end with a full stop.
    pub fn answer(&mut self, words: impl Into<Text>) {
        self.all.push(Block::Answer(words.into()));
    }

    /// Adds answers, in order.
    pub fn answers(&mut self, words: impl IntoIterator<Item = String>) {
        words.into_iter().for_each(|words| self.answer(words));
    }

    /// Adds the heading of a part.
    pub fn heading(&mut self, words: impl Into<Text>) {
        self.all.push(Block::heading(1, words));
    }

    /// Adds the heading of a section of a part.
    pub fn subheading(&mut self, words: impl Into<Text>) {
        self.all.push(Block::heading(2, words));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, words: impl Into<Text>) {
        self.all.push(Block::Paragraph(words.into()));
    }

    /// Adds a list; nothing where there is no item.
    pub fn list(&mut self, items: impl IntoIterator<Item: Into<Text>>) {
        let items = items.into_iter().map(Into::into).collect_vec();
        if !items.is_empty() {
            self.all.push(Block::List(items));
        }
    }

    /// Adds a list below the words that say what it is of; nothing where there is no item.
    pub fn list_of(&mut self, words: &str, items: impl IntoIterator<Item: Into<Text>>) {
        let mut items = items.into_iter().peekable();
        if items.peek().is_some() {
            self.paragraph(words);
            self.list(items);
        }
    }

    /// Adds what could turn the answer: a terminal shows the first of them at once.
    pub fn warning(&mut self, words: impl Into<Text>) {
        self.all.push(Block::Warning(words.into()));
    }

    /// Adds a note.
    pub fn note(&mut self, words: impl Into<Text>) {
        self.all.push(Block::Note(words.into()));
    }

    /// Adds a table without the columns in which no row has anything; nothing where it has no row.
    pub fn table(&mut self, table: impl Into<Table>) {
        let table = table.into();
        if !table.rows.is_empty() {
            self.all.push(Block::Table(table.without_empty_columns()));
        }
    }

    /// Adds a picture.
    pub fn picture(&mut self, picture: impl Into<Option<Picture>>) {
        self.all.extend(picture.into().map(Block::Picture));
    }

    /// Adds text of another program.
    pub fn verbatim(&mut self, lines: impl Into<String>) {
        self.all.push(Block::Verbatim(lines.into()));
    }

    /// Puts a block behind the answer.
    pub fn put_behind_answer(&mut self, block: Block) {
        let at = self
            .all
            .iter()
            .position(|block| !matches!(block, Block::Answer(_)))
            .unwrap_or(self.all.len());
        self.all.insert(at, block);
    }

    /// All blocks.
    pub fn all(&self) -> &[Block] {
        &self.all
    }

    /// Adds blocks.
    pub fn extend(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.all.extend(blocks);
    }

    /// The pictures, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.all.iter().filter_map(|block| match block {
            Block::Picture(picture) => Some(picture),
            _ => None,
        })
    }
}
