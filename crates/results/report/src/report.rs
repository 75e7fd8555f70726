//! A report of a recording: its story, then what every recording has, in any format.

use crate::blocks::lanes::Lanes;
use crate::blocks::{Block, Blocks, Drawing, Picture, Table};
use crate::export::{self, Format, perfetto};
use crate::markup::{csv, markdown};
use crate::model::measures::{measure_row_table, measure_tables};
use crate::model::pictures::pictures;
use crate::stories::StoryContent;
use crate::{Style, stories, terminal};
use findings::Findings;
use itertools::Itertools;
use published::Published;
use recording::Recording;
use serde_json::Value;
use std::sync::OnceLock;

/// A recording with all that is read from it.
pub struct Report<'a> {
    findings: Findings<'a>,
    told: OnceLock<StoryContent>,
}

/// The stretches of a timeline that a page shows at most, and its rows.
const MOST_LANES: (usize, usize) = (400, 96);

impl<'a> Report<'a> {
    /// Reads a recording that lies in `folder`, with the published figures of its platform beside
    /// it.
    pub fn new(recording: &'a Recording, folder: &'a str, published: &'a Published) -> Self {
        Self {
            findings: Findings::new(recording, folder, Some(published)),
            told: OnceLock::new(),
        }
    }

    fn told(&self) -> &StoryContent {
        self.told.get_or_init(|| stories::tell(&self.findings))
    }

    /// The whole report. Only [`Format::Text`] looks at the style, and at whether `all` is to be
    /// shown or the answers alone.
    pub fn render(&self, format: Format, style: Style, all: bool) -> Vec<u8> {
        let findings = &self.findings;
        let source = || findings.source();
        match format {
            Format::Text => self.text(style, all).into_bytes(),
            Format::Markdown => {
                markdown::document(self.experiment(), &source(), &self.blocks()).into()
            }
            Format::Csv => csv::csv(&self.rows()).into_bytes(),
            Format::Json => format!("{:#}\n", self.json()).into_bytes(),
            Format::Html => crate::html::html(findings, &self.blocks()).into_bytes(),
            Format::Perfetto => perfetto::perfetto(findings),
            Format::Folded => stories::folded_stacks(findings.recording).into_bytes(),
        }
    }

    /// The text that a run prints for people: its answers, and the rest if `all` is to be shown.
    pub fn run_text(&self, style: Style, all: bool) -> String {
        self.story_text(style, all) + &format!("Recording: {}\n", self.findings.folder)
    }

    /// The same of a run that leaves no recording.
    pub fn story_text(&self, style: Style, all: bool) -> String {
        terminal::story(&self.told().blocks, all, style)
    }

    /// The value that a run prints for machines.
    pub fn run_json(&self) -> Value {
        stories::facts(&self.findings)
    }

    /// The story's JSON, and what every recording has.
    fn json(&self) -> Value {
        export::json::with_recording(self.run_json(), &self.findings)
    }

    fn experiment(&self) -> &str {
        &self.findings.recording.header.experiment
    }

    fn text(&self, style: Style, all: bool) -> String {
        if !all {
            return self.run_text(style, false);
        }
        let facts = self
            .findings
            .source()
            .into_iter()
            .map(|(what, fact)| Block::Note(format!("{what}: {fact}").into()));
        let told = self
            .told()
            .blocks
            .all()
            .iter()
            .cloned()
            .chain(self.declared())
            .chain(facts)
            .collect_vec();
        terminal::render(&told, style)
    }

    /// The rows of the recording as one table: cells of PSCI latencies, else measures.
    fn rows(&self) -> Table {
        if self.findings.compared().is_empty() {
            measure_row_table(self.findings.measures())
        } else {
            crate::model::cells::cells(&self.findings)
        }
    }

    /// The blocks of a report: the story, and what every recording has.
    fn blocks(&self) -> Vec<Block> {
        let findings = &self.findings;
        let mut all = self.told().blocks.all().to_vec();
        all.extend(self.declared());
        if !findings.measures().is_empty() && !self.told().is_plain {
            let summary = "All other measures of the recording".into();
            let blocks = measure_tables(findings.measures())
                .into_iter()
                .map(Block::Table)
                .collect();
            all.push(Block::heading(1, "Measures"));
            all.push(Block::Folded { summary, blocks });
        }
        all
    }

    /// The pictures and lanes that the recording declares, but for those of the story.
    fn declared(&self) -> Vec<Block> {
        let told = self.told().blocks.pictures().collect_vec();
        let is_told = |picture: &Picture| {
            told.iter()
                .any(|told| told.drawing == picture.drawing || told.title == picture.title)
        };
        let mut all = Vec::new();
        let lanes = Lanes::from_recording(self.findings.recording, MOST_LANES.0, MOST_LANES.1);
        let has_lanes = told
            .iter()
            .any(|told| matches!(told.drawing, Drawing::Lanes(_)));
        let several = lanes.len() > 1;
        for (number, lanes) in lanes.into_iter().enumerate().filter(|_| !has_lanes) {
            if number == 0 {
                all.push(Block::heading(1, "Timeline"));
            }
            if several {
                all.push(Block::heading(2, lanes.case.clone()));
            }
            let by_variant = lanes.by_variant();
            all.push(Block::Picture(lanes.into()));
            if let Some(lanes) = by_variant {
                let blocks = vec![Block::Picture(lanes.into())];
                all.push(Block::Folded {
                    summary: "The same lanes, those of a policy together".into(),
                    blocks,
                });
            }
        }
        let pictures = pictures(&self.findings)
            .into_iter()
            .filter(|picture| !is_told(picture))
            .collect_vec();
        if !pictures.is_empty() {
            all.push(Block::heading(1, "Pictures"));
            all.extend(pictures.into_iter().map(Block::Picture));
        }
        all
    }
}

/// A table for a terminal; columns after the first `left` are numbers.
pub fn table_text(
    headings: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    left: usize,
    style: Style,
) -> String {
    let rows = rows.into_iter().collect_vec();
    let headings = headings.iter().enumerate();
    let table = Table::with_rows(&rows).each(headings, |table, (at, heading)| {
        if at < left {
            table.words(*heading, |row| &row[at])
        } else {
            table.numbers(*heading, |row| &row[at])
        }
    });
    let mut blocks = Blocks::default();
    blocks.table(table);
    terminal::render(blocks.all(), style)
}
