//! `clock-read`: what a read of a clock costs.

use super::story::Story;
use crate::blocks::{Blocks, Table, figure};
use findings::clock_read::ClockRead;

impl Story for ClockRead<'_> {
    fn tell(&self, told: &mut Blocks) {
        let [low, median, high] = self.quartiles_ns.map(figure);
        told.answer(format!(
            "A read of the clock takes {median} ns ({low} to {high})."
        ));
        let table = Table::with_rows(&self.rounds_ns).numbers("a read, ns", |ns| figure(*ns));
        told.table(table.done());
    }
}
