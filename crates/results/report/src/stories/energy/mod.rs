//! `rcu-energy`: the talk's table, with the predictions beside the published figures.
//!
//! | file | what it reads |
//! |---|---|
//! | `values.rs` | the measures, once; all else is reckoned from them |
//! | `facts.rs` | cells, references, claims and doses, as JSON has them |
//! | `cells.rs` | benefits over draws, with the published ones beside |
//! | `owners.rs` | whose the energy is |
//! | `effects.rs` | latencies, and the big cluster's sleep |
//! | `predictors.rs` | the medians beside predictors that know nothing of RCU |
//! | `unfitted.rs` | figures that no fit was made for |

mod cells;
mod effects;
mod facts;
mod owners;
mod predictors;
mod unfitted;
mod values;

use self::facts::{CellFacts, Claim, Decides, Dose, ReferenceFacts, cell_facts, claims, doses, reference_facts};
use super::story::Story;
use crate::blocks::{
    Blocks, Cell, Drawing, IntervalRow, Number, Picture, Table, Text, code, figure, fixed, name, percent, text,
};
use cells::{CONFIGURATIONS, Energy, Interval};
use effects::Effects;
use findings::Run;
use owners::{Shares, shares};
use predictors::{Predictor, best_order, predictors};
use published::EnergyReference;
use recording::facts::FactsError;
use serde::Serialize;
use std::collections::BTreeMap;
use unfitted::Unfitted;
use values::Measured;

/// The talk's table: benchmarks in configurations, each beside its published figure.
#[derive(Serialize)]
pub(super) struct Savings<'r> {
    cells: Vec<CellFacts<'r>>,
    references: Vec<ReferenceFacts<'r>>,
    owners: Vec<Shares<'r>>,
    watts_per_unit: Option<f64>,
    predictors: Vec<Predictor>,
    nearest: Option<&'static str>,
    best_order: Option<&'static str>,
    without_a_fit: Unfitted<'r>,
    claims: Vec<Claim<'r>>,
    effects: Effects<'r>,
    doses: Vec<Dose>,
    draws: u32,
    seed: u64,
    settings: &'r BTreeMap<String, String>,
    recording: &'r str,
    #[serde(skip)]
    reference: Option<&'r EnergyReference>,
    #[serde(skip)]
    mode: &'static str,
    /// The number of predictions of a cell.
    #[serde(skip)]
    count: usize,
}

/// Reads the table.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Savings<'r>, FactsError> {
    let header = &run.recording.header;
    let facts: recording::facts::Energy = header.facts()?;
    let measured = Measured::read(run.recording);
    let energy = Energy::new(run, &measured, &facts.benchmarks);
    let all = predictors(&energy);
    let best_order = best_order(&all).map(|best| best.name);
    Ok(Savings {
        cells: energy.cells.iter().map(|cell| cell_facts(&energy, cell)).collect(),
        references: energy.benches.iter().map(|bench| reference_facts(&energy, bench)).collect(),
        claims: claims(&measured, &energy),
        owners: shares(&measured, &energy),
        watts_per_unit: energy.scale,
        nearest: all.first().map(|best| best.name),
        best_order,
        predictors: all,
        without_a_fit: unfitted::read(&measured, &energy, &facts),
        effects: effects::read(&measured, &energy),
        doses: doses(&measured),
        draws: header.iterations,
        seed: header.seed,
        settings: &header.settings,
        recording: run.folder,
        reference: energy.reference,
        mode: energy.mode,
        count: energy.count,
    })
}

/// A benefit with two decimals.
fn points(value: f64) -> Number {
    fixed(value, 2)
}

impl Story for Savings<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(self.answer());
        told.picture(self.picture());
        if let Some(reference) = self.reference {
            told.note(format!("Published: {}; {}.", reference.source, reference.conditions));
        }
        self.compared(told);
        told.rest();
        self.savings(told);
        owners::tell(&self.owners, told);
        told.table(self.times());
        self.reference_power(told);
        self.without_a_fit.tell(told);
        self.decided(told);
        self.claimed(told);
        self.effects.tell(told);
        self.dosed(told);
    }
}

impl<'r> Savings<'r> {
    fn is_drawn(&self) -> bool {
        self.mode == "draws"
    }

    /// The cells that save something against their reference.
    fn saving(&self) -> impl Iterator<Item = (&CellFacts<'r>, Interval)> {
        self.cells.iter().filter_map(|cell| Some((cell, cell.energy_benefit_percent?)))
    }

    fn over(&self) -> String {
        match self.mode {
            "draws" => format!("{} draws from the ranges of what was not published", self.draws),
            _ => "the seeds at the central point; nothing was drawn".to_owned(),
        }
    }

    /// The savings of each configuration, how many signs are certain, and how many published
    /// figures lie outside.
    fn answer(&self) -> Text {
        let mut words = Text::default();
        let all = self.saving().count();
        let best = self.saving().max_by(|a, b| a.1.median.total_cmp(&b.1.median));
        if let Some((cell, benefit)) = best {
            words.extend(text![
                "The most is saved by ",
                name(cell.configuration),
                " in ",
                name(cell.benchmark),
                format!(": {} % of the energy in the median, over {}. ", points(benefit.median), self.over())
            ]);
        }
        if self.is_drawn() {
            let certain = self.cells.iter().filter(|cell| cell.verdict == Some("certain")).count();
            words.push(format!("The sign is certain in {certain} of {all} cells. "));
        }
        let published: Vec<_> =
            self.saving().filter_map(|(cell, of)| Some((of, cell.published_energy_benefit_percent?))).collect();
        if !published.is_empty() {
            let held = published.iter().filter(|(of, value)| of.holds(*value)).count();
            let exceeding = self.cells.iter().filter(|cell| cell.exceeds_rcu == Some(true)).count();
            let total: f64 = published.iter().map(|(_, value)| value).sum();
            let medians: f64 = published.iter().map(|(of, _)| of.median).sum();
            words.push(format!(
                "{held} of {} published benefits lie within their intervals, and the medians add up to {:.0} % of the published ones; \
                 {exceeding} are more than RCU costs at all.",
                published.len(),
                100.0 * medians / total
            ));
        }
        words
    }

    fn picture(&self) -> Picture {
        let row = |(cell, benefit): (&CellFacts<'_>, Interval)| IntervalRow {
            name: format!("{}, {}", cell.benchmark, cell.configuration),
            series: cell.configuration.to_owned(),
            low: benefit.low,
            middle: benefit.median,
            high: benefit.high,
            published: cell.published_energy_benefit_percent,
        };
        let rows = Drawing::Intervals(self.saving().map(row).collect());
        Picture::new("Energy saved against the reference", "95 % of the predictions", "%", rows)
    }

    fn savings(&self, told: &mut Blocks) {
        let marks = |cell: &CellFacts<'_>| {
            let exceeds = (cell.exceeds_rcu == Some(true)).then_some("exceeds RCU");
            let wrong = cell.wrong_sign.then_some("wrong sign");
            exceeds.into_iter().chain(wrong).collect::<Vec<_>>().join(", ")
        };
        let rows: Vec<_> = self.saving().collect();
        let table = benefits(&rows, |cell| cell.published_energy_benefit_percent)
            .words("sign", |(cell, _)| cell.verdict)
            .numbers("seeds at the centre", "", |(cell, _)| {
                let of = cell.central_energy_benefit_percent?;
                Some(Cell::Range(points(of.low), points(of.high)))
            })
            .numbers("RCU costs", "", |(cell, _)| points(cell.rcu_bound_percent.unwrap_or(0.0)).before("<"))
            .words("", |(cell, _)| marks(cell));
        let certain = if self.is_drawn() { " A sign is certain when they exclude 0." } else { "" };
        let title = format!(
            "Energy saved against the reference, in percent: published, and what 95 % of the predictions lie between, over {}.{certain}",
            self.over()
        );
        let note = "RCU costs: the reference less the same run without callbacks, in percent of the reference; 97.5 % of the predictions \
                    are below. A published benefit above it exceeds what RCU costs at all.";
        told.table(table.done().titled(title).noted(note));
        let beyond: Vec<_> = self.cells.iter().filter(|cell| cell.draws_beyond_bound > 0).collect();
        let count: usize = beyond.iter().map(|cell| cell.draws_beyond_bound).sum();
        let worst = beyond.iter().max_by(|a, b| a.most_points_beyond_bound.total_cmp(&b.most_points_beyond_bound));
        let worst = worst.map_or_else(String::new, |cell| {
            let most = cell.most_points_beyond_bound;
            format!("; by {most:.2} points at most, in {} with {}", cell.benchmark, cell.configuration)
        });
        told.paragraph(format!(
            "In {count} of {} predictions more is saved than RCU costs in that draw and the seeds spread, at the centre or in that \
             draw{worst}.",
            rows.len() * self.count
        ));
        let helps = self.references.iter().filter(|of| of.draws_in_which_rcu_helps > 0).map(|of| {
            let (draws, most) = (of.draws_in_which_rcu_helps, of.most_percent_by_which_rcu_helps);
            format!("{} in {draws}, by {most:.2} % of the reference at most", of.benchmark)
        });
        let helps: Vec<String> = helps.collect();
        if !helps.is_empty() {
            told.paragraph(format!(
                "RCU costs less than nothing in some of the {} runs of a benchmark, so that the bound there is 0: {}.",
                self.count,
                helps.join("; ")
            ));
        }
    }

    fn times(&self) -> Table {
        let rows: Vec<_> = self.cells.iter().filter_map(|cell| Some((cell, cell.time_benefit_percent?))).collect();
        let judged = || rows.iter().filter_map(|(cell, of)| Some((of, cell.published_time_benefit_percent?)));
        let held = judged().filter(|(of, published)| of.holds(*published)).count();
        let table = benefits(&rows, |cell| cell.published_time_benefit_percent)
            .words("", |(cell, of)| {
                cell.published_time_benefit_percent.map_or("", |value| if of.holds(value) { "held" } else { "outside" })
            })
            .done();
        let all = judged().count();
        let words = match all {
            0 => String::new(),
            _ => format!(" {held} of {all} published ones lie within their intervals."),
        };
        table.titled(format!("Time saved against the reference, in percent: published, and what 95 % of the predictions lie between.{words}"))
            .noted("Benchmarks of a fixed length take as long in every configuration: none is saved by construction.")
    }

    fn reference_power(&self, told: &mut Blocks) {
        let scale = self.watts_per_unit.map_or_else(
            || "no unit is known in watts".to_owned(),
            |scale| {
                format!("one unit of the platform's table is {scale:.4e} W, fitted to the benchmark that is marked")
            },
        );
        let error = |of: &ReferenceFacts<'_>| {
            let (power, published) = (of.power_w?, of.published_power_w?);
            Some(fixed(100.0 * (power.median / published - 1.0), 1).signed())
        };
        let is_scale =
            |of: &ReferenceFacts<'_>| self.reference.is_some_and(|reference| reference.scale == of.benchmark);
        let watts = |value: Option<f64>| value.map(|watts| fixed(watts, 3));
        let table = Table::with_rows(&self.references)
            .words("benchmark", |of| name(of.benchmark))
            .numbers("published", "W", |of| watts(of.published_power_w))
            .numbers("2.5 %", "", |of| watts(of.power_w.map(|power| power.low)))
            .numbers("median", "", |of| watts(of.power_w.map(|power| power.median)))
            .numbers("97.5 %", "", |of| watts(of.power_w.map(|power| power.high)))
            .numbers("error", "%", error)
            .numbers("RCU costs", "%", |of| points(of.rcu_bound_percent.median))
            .numbers("RCU owns", "%", |of| points(of.rcu_owned_percent.median))
            .words("", |of| if is_scale(of) { "used in the fit" } else { "" });
        let note = "RCU costs: the median of the reference less the same run without callbacks. RCU owns: what is booked to callbacks, to \
                    ticks kept for them and to RCU's threads. The two differ, for a kept tick changes what others pay as well.";
        told.table(table.done().titled(format!("Power of the reference: {scale}.")).noted(note));
    }

    fn compared(&self, told: &mut Blocks) {
        let Some(nearest) = self.nearest else { return };
        let table = Table::with_rows(&self.predictors)
            .words("predictor", |predictor| predictor.name)
            .numbers("fitted to them", "", |predictor| fixed(predictor.fitted as f64, 0))
            .numbers("rms, points", "", |predictor| points(predictor.rms))
            .numbers("Spearman", "", |predictor| {
                predictor.spearman.map_or_else(|| Cell::from("none"), |of| points(of).into())
            });
        let title = "The medians beside predictors that know nothing of RCU, over all published benefits:";
        let order = self.best_order.unwrap_or("nobody");
        told.table(table.done().titled(title).noted(format!("Nearest: {nearest}. Best order: {order}.")));
    }

    fn decided(&self, told: &mut Blocks) {
        let is_told = |cell: &&CellFacts<'_>| {
            cell.verdict == Some("undecided") || (cell.benchmark == "audio" && cell.configuration == CONFIGURATIONS[0])
        };
        let item = |cell: &CellFacts<'_>| {
            let Decides { unknown, spearman } = cell.decides.as_ref()?;
            let verdict = cell.verdict.unwrap_or_default();
            Some(text![
                format!("{}, {} ({verdict}): ", cell.benchmark, cell.configuration),
                code(*unknown),
                format!(" {}", points(*spearman).signed())
            ])
        };
        let items: Vec<Text> = self.cells.iter().filter(is_told).filter_map(item).collect();
        if !items.is_empty() {
            told.paragraph("What was not published and goes most with the benefit (Spearman):");
            told.list(items);
        }
    }

    fn claimed(&self, told: &mut Blocks) {
        let table = Table::with_rows(&self.claims)
            .words("benchmark", |claim| name(claim.benchmark))
            .numbers("enforced idle saves more than offload", "", |claim| {
                percent(claim.enforced_idle_saves_more_than_offload, 0)
            })
            .numbers("combining adds 1 point at most", "", |claim| {
                percent(claim.both_save_at_most_1_point_more_than_the_better, 0)
            })
            .numbers("offload is faster", "", |claim| percent(claim.offload_is_faster_than_enforced_idle, 0));
        let title = "What the talk says of all benchmarks, and in what share of the predictions it comes out:";
        told.table(table.done().titled(title));
    }

    fn dosed(&self, told: &mut Blocks) {
        let Some(first) = self.doses.first() else { return };
        let heading = |dose: f64| if dose.fract() == 0.0 { format!("{dose:.0}") } else { figure(dose).to_string() };
        let headings = first.points.iter().map(|point| heading(point.callbacks_per_second_and_cpu)).enumerate();
        let table = Table::with_rows(&self.doses)
            .words("benchmark", |dose| name(dose.benchmark))
            .words("configuration", |dose| name(dose.configuration))
            .each(headings, |table, (at, heading)| {
                table.numbers(heading, "", move |dose| dose.points.get(at).map(|of| points(of.energy_benefit_percent)))
            });
        let title = "Energy saved, in percent, at the central point with this many callbacks per second on each CPU, the median over \
                     its seeds:";
        told.table(table.done().titled(title));
    }
}

/// A table that begins with a cell's name, its published benefit and the predicted one.
fn benefits<'i, 'r>(
    rows: &'i [(&'i CellFacts<'r>, Interval)],
    published: impl Fn(&CellFacts<'r>) -> Option<f64>,
) -> crate::blocks::Columns<'i, (&'i CellFacts<'r>, Interval)> {
    Table::with_rows(rows)
        .words("benchmark", |(cell, _)| name(cell.benchmark))
        .words("configuration", |(cell, _)| name(cell.configuration))
        .numbers("published", "", |(cell, _)| published(cell).map(points))
        .numbers("2.5 %", "", |(_, benefit)| points(benefit.low))
        .numbers("median", "", |(_, benefit)| points(benefit.median))
        .numbers("97.5 %", "", |(_, benefit)| points(benefit.high))
}
