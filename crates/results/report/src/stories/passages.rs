//! The story of `count`: how many instructions each passage of an image takes, and in which
//! functions.

use super::functions;
use super::story::Story;
use crate::blocks::{Blocks, Table, fixed, percent};
use crate::words::counts as words;
use findings::passages::Passages;

/// Lengths that the table has, those that came most often.
const MOST_LENGTHS: usize = 20;

impl Story for Passages<'_> {
    fn tell(&self, told: &mut Blocks) {
        let by_function = self.by_function.as_ref().and_then(words::by_function);
        told.answer(words::passage(self));
        told.answers(by_function);
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
