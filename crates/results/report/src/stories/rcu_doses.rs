//! `rcu-doses`: what closing files costs idle CPUs, in a guest and in the small kernel.

use super::story::Story;
use crate::blocks::{Blocks, Cell, Curve, Drawing, Figure, Picture, Table, figure, whole};
use findings::rcu_doses::{Dose, Doses, ExtraWakeups, GUEST, MODES, SMALL, WakeupSavings, mean};
use recording::metrics::{self, Metric};

/// A curve for each mode and kernel.
fn picture(doses: &Doses<'_>, metric: Metric) -> Picture {
    let curve = |mode: &'static str, who: &str, value: fn(&Dose) -> f64| {
        let of_mode = doses
            .doses(metric)
            .iter()
            .filter(|dose| dose.configuration == mode);
        let points = of_mode.map(|dose| {
            (
                dose.closes_per_s as f64,
                Figure {
                    value: value(dose),
                    published: None,
                },
            )
        });
        Curve {
            name: format!("{mode}, {who}"),
            points: points.collect(),
            best: None,
        }
    };
    let there = |mode: &&str| {
        doses
            .doses(metric)
            .iter()
            .any(|dose| dose.configuration == *mode)
    };
    let curves = MODES.into_iter().filter(there).flat_map(|mode| {
        [
            curve(mode, GUEST, |dose| mean(&dose.guest)),
            curve(mode, SMALL, |dose| dose.small_kernel_and_background),
        ]
    });
    let drawing = Drawing::Curves {
        x: "closes per second".to_owned(),
        curves: curves.collect(),
    };
    Picture::new(
        "Wake-ups of idle CPUs against closes",
        "wake-ups",
        "1/s",
        drawing,
    )
}

impl Story for Doses<'_> {
    fn tell(&self, told: &mut Blocks) {
        let waking = self.doses(metrics::WAKE_UP_RATE);
        let (near, all) = self.near(metrics::WAKE_UP_RATE);
        told.answer(format!(
            "The small kernel wakes idle CPUs as often as the guest does, within 25 % or the guest's own spread, at {near} of {all} rates \
             of closes."
        ));
        told.picture(picture(self, metrics::WAKE_UP_RATE));
        let shown = [
            (metrics::WAKE_UP_RATE, "wake-ups/s"),
            (metrics::IDLE_TICK_RATE, "ticks/s"),
            (metrics::SOFTIRQ_CALLBACK_RATE, "softirq/s"),
            (metrics::THREAD_CALLBACK_RATE, "threads/s"),
        ];
        let rows: Vec<usize> = (0..waking.len()).collect();
        let range = |dose: &Dose| {
            let [least, most] = dose.ends().map(figure);
            Cell::Range(least, most)
        };
        let table = Table::with_rows(&rows)
            .numbers("closes/s", "", |&row| {
                whole(waking[row].closes_per_s as f64)
            })
            .words("CPUs", |&row| waking[row].configuration)
            .each(shown, |table, (metric, heading)| {
                let of = self.doses(metric);
                table
                    .numbers(heading, "", move |&row| of.get(row).map(range))
                    .numbers("small", "", move |&row| {
                        of.get(row).map(|dose| figure(dose.small_kernel))
                    })
            });
        told.table(table.done());
        for (metric, _) in shown.into_iter().take(2) {
            for mode in MODES {
                let of_mode: Vec<&Dose> = self
                    .doses(metric)
                    .iter()
                    .filter(|dose| dose.configuration == mode)
                    .collect();
                if of_mode.is_empty() {
                    continue;
                }
                let near = of_mode.iter().filter(|dose| dose.near).count();
                told.paragraph(format!(
                    "{}, {mode}: within 25 % of the guest, or within its spread, at {near} of {} doses, when what the guest does at 0 \
                     closes is added. At 0 that is no prediction.",
                    metrics::heading(metric.name).to_lowercase(),
                    of_mode.len()
                ));
            }
        }
        for WakeupSavings {
            closes_per_s,
            guest_percent,
            small_kernel_percent,
        } in &self.lazy
        {
            told.paragraph(format!(
                "{closes_per_s} closes/s: lazy callbacks save {guest_percent:.0} % of the wake-ups in the guest, {small_kernel_percent:.0} % \
                 in the small kernel with what the guest does at 0."
            ));
        }
        for ExtraWakeups {
            closes_per_s,
            guest,
            small_kernel,
        } in &self.wakes_more
        {
            told.paragraph(match guest {
                None => format!("{closes_per_s} closes/s: the guest's own runs do not agree which CPUs wake more."),
                Some(guest) if guest == small_kernel => format!("{closes_per_s} closes/s: {guest} CPUs wake more, in both."),
                Some(guest) => format!(
                    "{closes_per_s} closes/s: {guest} CPUs wake more in the guest, {small_kernel} ones in the small kernel."
                ),
            });
        }
    }
}
