//! `linux-boot`: what the kernel saw.

use super::story::Story;
use crate::blocks::{Bar, Blocks, Drawing, Picture, Table, figure, fixed};
use findings::linux::Boot;

impl Story for Boot<'_> {
    fn tell(&self, told: &mut Blocks) {
        let yes = |is| if is { "yes" } else { "no" };
        told.answer(format!(
            "{} ({}) started {} CPUs and took each down and up in {} cycles, with {} failures.",
            self.kernel, self.busybox, self.cpus, self.cycles, self.failures
        ));
        let parts = self.states.iter().map(|state| (state.name, state.all()));
        let bar = Bar::new("all CPUs", parts);
        told.picture(Picture::new(
            "Entries into idle states",
            "",
            "entries",
            Drawing::Bars(vec![bar]),
        ));
        let table = Table::with_rows(&self.states)
            .words("idle state", |state| state.name)
            .numbers("fewest per CPU", |state| fixed(state.ends()[0], 0))
            .numbers("most per CPU", |state| fixed(state.ends()[1], 0))
            .numbers("all CPUs", |state| fixed(state.all(), 0))
            .numbers("rejected", |state| fixed(state.rejected, 0))
            .numbers("mean stay, us", |state| state.mean_us().map(figure));
        told.table(table);
        told.paragraph(format!(
            "Rebooted: {}. Powered off: {}. Trace: {} lines.",
            yes(self.rebooted),
            yes(self.powered_off),
            self.trace_lines
        ));
    }
}
