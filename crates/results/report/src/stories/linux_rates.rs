//! `linux-rates`: which callbacks programs queue, on a real kernel.

use super::story::Story;
use crate::blocks::{
    Bar, Blocks, Drawing, Figure, Picture, Table, code, figure, fixed, name, text,
};
use findings::Leaders;
use findings::linux_rates::{Function, Program, Programs, SHOWN};

impl Story for Programs<'_> {
    fn tell(&self, told: &mut Blocks) {
        let most = Leaders::most(&self.programs, |program| Some([program.callbacks_per_s; 2]));
        if let Some((of, first)) = most
            .as_ref()
            .and_then(|of| Some((of, of.items[0].functions.first()?)))
        {
            let (most, queues) = (
                of.items[0],
                if of.alone().is_some() {
                    " queues most: "
                } else {
                    " queues "
                },
            );
            told.answer(text![
                name(most.program),
                format!(
                    "{queues}{} callbacks per second, {} of each ",
                    figure(most.callbacks_per_s),
                    figure(most.callbacks_per_unit)
                ),
                most.unit,
                "; more of them come from ",
                code(first.function),
                " than from any other function."
            ]);
        }
        let bar = |program: &Program<'_>| {
            let part = |of: &Function<'_>| {
                let value = of.callbacks / program.time_s.max(1e-9);
                (
                    of.function.to_owned(),
                    Figure {
                        value,
                        published: None,
                    },
                )
            };
            Bar {
                name: program.program.to_owned(),
                parts: program.functions.iter().take(SHOWN).map(part).collect(),
            }
        };
        let bars = Drawing::Bars(self.programs.iter().map(bar).collect());
        told.picture(Picture::new(
            "Callbacks per second, by their commonest functions",
            "callbacks",
            "1/s",
            bars,
        ));
        let table = Table::with_rows(&self.programs)
            .words("program", |of| name(of.program))
            .numbers("s", "", |of| fixed(of.time_s, 2))
            .numbers("switches", "", |of| fixed(of.context_switches, 0))
            .numbers("forks", "", |of| fixed(of.forks, 0))
            .numbers("call- backs", "", |of| fixed(of.callbacks, 0))
            .numbers("without maple tree", "", |of| {
                fixed(of.callbacks_without_maple_tree, 0)
            })
            .numbers("per s", "", |of| figure(of.callbacks_per_s))
            .numbers("per s in between", "", |of| {
                of.callbacks_per_s_in_between.map(figure)
            })
            .words("per", |of| of.unit)
            .numbers("", "", |of| fixed(of.callbacks_per_unit, 3))
            .numbers("grace periods", "", |of| fixed(of.grace_periods, 0));
        told.table(
            table
                .done()
                .noted("In between: without the first and the last 50 ms."),
        );
        let functions = |of: &Program<'_>| {
            let most = of
                .functions
                .iter()
                .take(SHOWN)
                .map(|of| format!("{} {:.0}", of.function, of.callbacks));
            let others = of.others(SHOWN);
            let others = (others > 0.0).then(|| format!("others {others:.0}"));
            most.chain(others).collect::<Vec<_>>().join(", ")
        };
        let table = Table::with_rows(&self.programs)
            .words("program", |of| name(of.program))
            .words("queues most", functions);
        told.table(table.done());
    }
}
