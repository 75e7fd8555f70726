//! The story of `count`: how many instructions each passage of an image takes, and in which
//! functions.

use super::functions;
use super::story::Story;
use crate::blocks::{Blocks, Table, code, fixed, percent, text};
use findings::passages::{Passages, Range};

/// Lengths that the table has, those that came most often.
const MOST_LENGTHS: usize = 20;

impl Story for Passages<'_> {
    fn tell(&self, told: &mut Blocks) {
        let Range {
            least,
            median,
            most,
        } = self.instructions;
        let takes = match (self.passages, least == most) {
            (1, _) => format!(" takes {most} instructions in one passage"),
            (count, true) => format!(" takes {most} instructions in each of {count} passages"),
            (count, false) => {
                format!(
                    " takes {} instructions in the median of {count} passages, {least} to {most}",
                    functions::count(median)
                )
            }
        };
        told.answer(text![
            code(self.passage),
            format!("{takes} ({}).", self.image)
        ]);
        if let Some(counts) = &self.by_function {
            told.answer(functions::largest(counts));
        }
        if self.lengths.len() > 1 {
            let shown = &self.lengths[..self.lengths.len().min(MOST_LENGTHS)];
            let mut table = Table::with_rows(shown)
                .numbers("instructions", |length| {
                    fixed(length.instructions as f64, 0)
                })
                .numbers("passages", |length| fixed(length.passages as f64, 0))
                .numbers("share", |length| {
                    percent(length.passages as f64 / self.passages as f64, 1)
                })
                .numbers("first", |length| fixed(f64::from(length.first), 0))
                .done();
            let more = self.lengths.len() - shown.len();
            if more > 0 {
                table = table.noted(format!("{more} more lengths came less often."));
            }
            told.table(table);
        }
        if let Some(counts) = &self.by_function {
            functions::tell(told, counts);
        }
    }
}
