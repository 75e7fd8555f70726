//! `rcu-energy`: the talk's table, with the predictions beside the published figures.

use super::story::Story;
use crate::blocks::{
    Blocks, Cell, Drawing, IntervalRow, Number, Picture, Table, figure, fixed, percent, scientific,
};
use crate::words::energy as words;
use findings::Interval;
use findings::energy::{
    CONFIGURATIONS, Cell as CellFacts, DecidingUnknown, Effects, REFERENCE, Reference, Savings,
    Steadiness, UnfittedFigures,
};
use itertools::Itertools;

/// A benefit with two decimals.
fn points(value: f64) -> Number {
    fixed(value, 2)
}

impl Story for Savings<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(words::rcu(self));
        told.picture(picture(self));
        if let Some(reference) = self.reference {
            told.note(format!(
                "Published: {}; {}.",
                reference.source, reference.conditions
            ));
        }
        compared(self, told);
        savings(self, told);
        tell_owners(self, told);
        told.table(times(self));
        reference_power(self, told);
        self.without_a_fit.tell(told);
        decided(self, told);
        claimed(self, told);
        self.effects.tell(told);
    }
}

fn over(savings: &Savings<'_>) -> String {
    match savings.mode {
        "draws" => format!("{} draws of what was not published", savings.draws),
        _ => "the seeds at the central point; nothing was drawn".to_owned(),
    }
}

/// What intervals are, and the headings of their ends.
fn interval_words(savings: &Savings<'_>) -> (&'static str, [&'static str; 2]) {
    if savings.is_drawn() {
        (
            "what 95 % of the predictions lie between",
            ["2.5 %", "97.5 %"],
        )
    } else {
        (
            "the least and the most of the predictions",
            ["least", "most"],
        )
    }
}

fn picture(savings: &Savings<'_>) -> Picture {
    let rows = Drawing::Intervals(
        savings
            .saving()
            .map(|(cell, benefit)| IntervalRow {
                published: cell.published_energy_benefit_percent,
                ..IntervalRow::new(
                    format!("{}, {}", cell.benchmark, cell.configuration),
                    benefit.all(),
                )
                .of(cell.configuration)
            })
            .collect(),
    );
    Picture::new(
        "Energy saved against the reference",
        interval_words(savings).0,
        "%",
        rows,
    )
}

fn savings(savings: &Savings<'_>, told: &mut Blocks) {
    let marks = |cell: &CellFacts<'_>| {
        let exceeds = (cell.exceeds_rcu == Some(true)).then_some("exceeds RCU");
        let wrong = cell.wrong_sign.then_some("wrong sign");
        exceeds.into_iter().chain(wrong).join(", ")
    };
    let rows = savings.saving().collect_vec();
    let table = benefits(savings, &rows, |cell| cell.published_energy_benefit_percent)
        .words("sign", |(cell, _)| cell.verdict)
        .numbers("seeds at the centre", |(cell, _)| {
            let of = cell.central_energy_benefit_percent?;
            Some(Cell::Range(points(of.low), points(of.high)))
        })
        .numbers("RCU costs", |(cell, _)| {
            points(cell.rcu_bound_percent.unwrap_or(0.0)).before("<")
        })
        .words("", |(cell, _)| marks(cell));
    let certain = if savings.is_drawn() {
        " A sign is certain when they exclude 0."
    } else {
        ""
    };
    let title = format!(
        "Energy saved against the reference, in percent: published, and {}, over {}.{certain}",
        interval_words(savings).0,
        over(savings)
    );
    let below = if savings.is_drawn() {
        "97.5 % of the predictions are below. A published benefit above it exceeds what RCU costs at all."
    } else {
        "the most of the predictions."
    };
    let note = format!(
        "RCU costs: the reference less the same run without callbacks, in percent of the reference; {below}"
    );
    told.table(table.titled(title).noted(note));
}

fn times(savings: &Savings<'_>) -> Table {
    let rows = savings
        .cells
        .iter()
        .filter_map(|cell| Some((cell, cell.time_benefit_percent?)))
        .collect_vec();
    let judged = || {
        rows.iter()
            .filter_map(|(cell, of)| Some((of, cell.published_time_benefit_percent?)))
    };
    let held = judged()
        .filter(|(of, published)| of.holds(*published))
        .count();
    let table = benefits(savings, &rows, |cell| cell.published_time_benefit_percent).words(
        "",
        |(cell, of)| {
            cell.published_time_benefit_percent
                .map_or("", |value| if of.holds(value) { "held" } else { "outside" })
        },
    );
    let all = judged().count();
    let words = match all {
        0 => String::new(),
        _ => format!(" {held} of {all} published ones lie within their intervals."),
    };
    table
        .titled(format!(
            "Time saved against the reference, in percent: published, and {}.{words}",
            interval_words(savings).0
        ))
        .noted("Benchmarks of a fixed length take as long in every configuration: none is saved by construction.")
}

fn reference_power(savings: &Savings<'_>, told: &mut Blocks) {
    let scale = savings.watts_per_unit.map_or_else(
        || "no unit is known in watts".to_owned(),
        |scale| format!("one unit of the platform's table is {scale:.4e} W, fitted to the benchmark that is marked"),
    );
    let error = |of: &Reference<'_>| of.error_percent().map(|error| fixed(error, 1).signed());
    let is_scale = |of: &Reference<'_>| {
        savings
            .reference
            .is_some_and(|reference| reference.scale == of.benchmark)
    };
    let (_, [low, high]) = interval_words(savings);
    let watts = |value: Option<f64>| value.map(|watts| fixed(watts, 3));
    let table = Table::with_rows(&savings.references)
        .words("benchmark", |of| of.benchmark)
        .numbers("published, W", |of| watts(of.published_power_w))
        .numbers(low, |of| watts(of.power_w.map(|power| power.low)))
        .numbers("median", |of| watts(of.power_w.map(|power| power.median)))
        .numbers(high, |of| watts(of.power_w.map(|power| power.high)))
        .numbers("error, %", error)
        .numbers("RCU costs, %", |of| points(of.rcu_bound_percent.median))
        .numbers("RCU owns, %", |of| points(of.rcu_owned_percent.median))
        .words("", |of| if is_scale(of) { "used in the fit" } else { "" });
    let note = "RCU costs: the median of the reference less the same run without callbacks. RCU owns: what is booked to callbacks, to \
                ticks kept for them and to RCU's threads. The two differ, for a kept tick changes what others pay as well.";
    told.table(
        table
            .titled(format!("Power of the reference: {scale}."))
            .noted(note),
    );
}

fn decided(savings: &Savings<'_>, told: &mut Blocks) {
    let items = savings
        .cells
        .iter()
        .filter(|cell| {
            cell.verdict == Some("undecided")
                || (cell.benchmark == "audio" && cell.configuration == CONFIGURATIONS[0])
        })
        .filter_map(|cell| {
            let DecidingUnknown { unknown, spearman } = cell.decides.as_ref()?;
            let verdict = cell.verdict.unwrap_or_default();
            Some(format!(
                "{}, {} ({verdict}): `{unknown}` {}",
                cell.benchmark,
                cell.configuration,
                points(*spearman).signed()
            ))
        });
    told.list_of(
        "What was not published and goes most with the benefit (Spearman):",
        items,
    );
}

/// A table that begins with a cell's name, its published benefit and the predicted one.
fn benefits<'i, 'r>(
    savings: &Savings<'_>,
    rows: &'i [(&'i CellFacts<'r>, Interval)],
    published: impl Fn(&CellFacts<'r>) -> Option<f64>,
) -> crate::blocks::Columns<'i, (&'i CellFacts<'r>, Interval)> {
    let (_, [low, high]) = interval_words(savings);
    Table::with_rows(rows)
        .words("benchmark", |(cell, _)| cell.benchmark)
        .words("configuration", |(cell, _)| cell.configuration)
        .numbers("published", |(cell, _)| published(cell).map(points))
        .numbers(low, |(_, benefit)| points(benefit.low))
        .numbers("median", |(_, benefit)| points(benefit.median))
        .numbers(high, |(_, benefit)| points(benefit.high))
}

/// Tells the owners' shares in the reference.
fn tell_owners(savings: &Savings<'_>, told: &mut Blocks) {
    let reference = savings
        .owners
        .iter()
        .filter(|shares| shares.configuration == REFERENCE)
        .collect_vec();
    let Some(first) = reference.first() else {
        return;
    };
    let owners = first.percent.names();
    let table = Table::with_rows(&owners)
        .words("owner", |owner| *owner)
        .each(&reference, |table, shares| {
            table.numbers(shares.benchmark, |owner| {
                shares.percent.get(owner).map(|share| fixed(*share, 2))
            })
        });
    let title = "Whose energy it is in the reference, in percent, means over the predictions:";
    told.table(table.titled(title).noted(format!(
        "In no prediction and no configuration is the owners' sum further than {} of it from the integral.",
        scientific(savings.owners_off_by(), 0)
    )));
}

impl Story for Effects<'_> {
    /// Tells the tables of latencies and of the big cluster's sleep.
    fn tell(&self, told: &mut Blocks) {
        if let Some(Steadiness { below, above }) = self.offload_p999_against_reference {
            let table = Table::with_rows(&self.latency_us.rows)
                .words("configuration", |row| row.configuration)
                .numbers("p50", |row| figure(row.p50))
                .numbers("p99", |row| figure(row.p99))
                .numbers("p99.9", |row| figure(row.p999));
            let title = format!(
                "How late {}'s threads run after their timers, in us, medians over the predictions:",
                self.latency_us.benchmark
            );
            told.table(table.titled(title).noted(words::jitter(below, above)));
        }
        let Some(first) = self.big_cluster_down.first() else {
            return;
        };
        let table = Table::with_rows(&self.big_cluster_down)
            .words("benchmark", |of| of.benchmark)
            .each(first.share.names(), |table, configuration| {
                table.numbers(configuration, |of| {
                    of.share.get(configuration).map(|share| percent(*share, 1))
                })
            });
        let title =
            "Share of the time in which the big cluster is down, medians over the predictions:";
        told.table(table.titled(title));
    }
}

fn compared(savings: &Savings<'_>, told: &mut Blocks) {
    let table = Table::with_rows(&savings.predictors)
        .words("predictor", |predictor| predictor.name)
        .numbers("fitted to them", |predictor| predictor.fitted)
        .numbers("rms, points", |predictor| points(predictor.rms))
        .numbers("Spearman", |predictor| {
            predictor
                .spearman
                .map_or_else(|| Cell::from("none"), |of| points(of).into())
        });
    let title =
        "The medians beside predictors that know nothing of RCU, over all published benefits:";
    told.table(table.titled(title).noted(words::predictors(savings)));
}

fn claimed(savings: &Savings<'_>, told: &mut Blocks) {
    let table = Table::with_rows(&savings.claims)
        .words("benchmark", |claim| claim.benchmark)
        .numbers("enforced idle saves more than offload", |claim| {
            percent(claim.enforced_idle_saves_more_than_offload, 0)
        })
        .numbers("combining adds 1 point at most", |claim| {
            percent(claim.both_save_at_most_1_point_more_than_the_better, 0)
        })
        .numbers("offload is faster", |claim| {
            percent(claim.offload_is_faster_than_enforced_idle, 0)
        });
    let title =
        "What the talk says of all benchmarks, and in what share of the predictions it comes out:";
    told.table(table.titled(title));
}

impl Story for UnfittedFigures<'_> {
    /// Tells the figures as a list.
    fn tell(&self, told: &mut Blocks) {
        let mut items = Vec::new();
        if let Some(of) = &self.andebench2_reference {
            items.push(format!(
                "andebench2's reference power: {:.3} W, published {:.3} W, {:+.1} %",
                of.power_w, of.published_power_w, of.error_percent
            ));
        }
        if let Some(of) = &self.sysbench_reference {
            let mut rows = of.by_threads.iter().map(|row| {
                format!(
                    "{} threads {:.3} to {:.3} W",
                    row.threads, row.power_w.low, row.power_w.high
                )
            });
            let covers = if of.covers_published {
                "covers"
            } else {
                "does not cover"
            };
            items.push(format!(
                "sysbench's reference power: {}; that {covers} the published {:.3} W",
                rows.join(", "),
                of.published_power_w
            ));
        }
        if let Some(ratio) = self.callback_core_energy_big_to_little {
            let said = self
                .talk_says
                .map_or_else(String::new, |said| format!("; the talk says {said}"));
            items.push(format!(
                "core energy of a callback, big to LITTLE at the highest operating points: {ratio:.2}, and {:.2} times as long on \
                 LITTLE{said}",
                self.callback_time_little_to_big.unwrap_or(0.0)
            ));
        }
        told.list_of("Predicted without a fit:", items);
    }
}
