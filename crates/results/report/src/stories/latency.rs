//! Latencies of PSCI calls: each case's CPUs beside published figures, what they hung on, and how
//! good the predictions are.

use super::story::Story;
use crate::blocks::{
    Bars, Block, Blocks, Cell, Drawing, Paint, Picture, Span, Table, Text, Tone, figure, fixed,
};
use crate::words::latency::{self as words, Case, headlines};
use crate::words::{GUESS, INTERVALS, case_title, controller, guess, held, place};
use attribution::Spending;
use findings::Findings;
use findings::accuracy::Accuracy;
use findings::cases::{cell_of, cpus, groups, metrics_of, used_causes, whole_metrics};
use findings::compared::{ComparedCell, Spread, spread};
use findings::latency::Latency;
use itertools::Itertools;
use recording::{metrics, total_order};

impl Story for Latency<'_> {
    fn tell(&self, told: &mut Blocks) {
        let findings = self.findings;
        let cases = groups(findings.compared())
            .into_iter()
            .filter_map(|group| {
                Some(Case {
                    facts: self.cases.iter().find(|of| {
                        (of.release, of.case, of.mode) == (group.release, group.case, group.mode)
                    })?,
                    headlines: headlines(findings, &group),
                    group,
                })
            })
            .collect_vec();
        told.answers(words::answer(findings, &cases));
        told.heading("Overview");
        told.table(overview(findings, &cases));
        let accuracy = findings.accuracy();
        if !accuracy.is_empty() {
            told.heading("Accuracy");
            told.table(accuracies(accuracy));
        }
        if accuracy.iter().any(|row| row.guess.is_some()) {
            told.note(format!("{}.", crate::words::capital(GUESS)));
        }
        if accuracy.iter().any(|row| row.intervals.is_some()) {
            told.note(format!("{INTERVALS}."));
        }
        let mut release = "";
        for case in &cases {
            if std::mem::replace(&mut release, case.facts.release) != case.facts.release {
                told.heading(release);
            }
            told.extend(case.blocks(findings));
        }
        if !findings.spreads().is_empty() {
            told.heading("In free order");
            let note = "The same cases with the order at the SCP left to chance";
            told.table(spreads(findings.spreads(), note));
        }
    }
}

/// The rows of the accuracy table.
fn accuracies(rows: &[Accuracy]) -> Table {
    Table::with_rows(rows)
        .when(
            rows.iter().any(|row| row.release != rows[0].release),
            |table| table.words("release", |row| &row.release),
        )
        .words("predicted cells", |row| {
            row.what.replace(" and cache flush", ", flush")
        })
        .numbers("median", |row| {
            fixed(row.model.median_error_percent, 1).after(" %")
        })
        .words("in 10 %", |row| {
            format!("{} of {}", row.model.within_10_percent, row.model.cells)
        })
        .numbers("worst", |row| {
            fixed(row.model.worst_error_percent, 1).after(" %")
        })
        .words("guess: median, worst", guess)
        .words("hold; width", held)
        .done()
}

/// Powerdowns by the place of the CPU, where CPUs take turns.
fn spreads(spreads: &[Spread], note: &str) -> Table {
    let ranks = |spread: &Spread| {
        let shown = spread.powerdown_by_rank.iter().take(16);
        let mut each = shown
            .map(|of| Cell::Spread(figure(of.median), figure(of.min), figure(of.max)).plain())
            .collect_vec();
        let more = spread.powerdown_by_rank.len().saturating_sub(each.len());
        each.extend((more > 0).then(|| format!("and {more} more")));
        each.join(", ")
    };
    Table::with_rows(spreads)
        .words("release", |spread| &spread.release)
        .words("case", |spread| case_title(&spread.case))
        .numbers("runs", |spread| spread.seeds)
        .numbers("orders", |spread| spread.orders)
        .numbers("one CPU by", |spread| figure(spread.interchanged_us))
        .words("1st, 2nd, ...", ranks)
        .noted(format!(
            "{note}: powerdown of the n-th CPU to finish, in us, median (smallest to largest), and the most by which one CPU's differs."
        ))
}

/// The slowest CPU of each case, and a bar of what it hung on.
fn overview(findings: &Findings<'_>, cases: &[Case<'_>]) -> Table {
    let tick_us = findings.timelines.tick_us().unwrap_or(0.0);
    let longest = cases
        .iter()
        .filter_map(|case| Some(case.spending()?.total()))
        .max()
        .unwrap_or(0) as f64
        * tick_us;
    let cells = || cases.iter().flat_map(|case| &case.group.cells);
    let has_published = cells().any(|cell| cell.published.is_some());
    let several = cases
        .iter()
        .any(|case| case.facts.release != cases[0].facts.release);
    let table = Table::with_rows(cases)
        .when(several, |table| {
            table.words("release", |case| case.facts.release)
        })
        .words("case", |case| {
            // Without a blank, so that a table keeps it on one line.
            let words = format!("{}/{}", case.facts.case, case.facts.mode);
            let to = words::anchor(&case.group);
            Text::from(Span::Link { words, to })
        })
        .words("slowest", |case| {
            if case.facts.always_one {
                case.facts.cpus.join(", ")
            } else {
                "in turn".to_owned()
            }
        })
        .numbers(format!("{}, us", word(findings)), |case| {
            figure(case.facts.longest)
        })
        .when(has_published, |table| {
            table
                .numbers("published, us", |case| published(case.published()))
                .numbers("error", |case| {
                    let of = case.published()?;
                    let us = of.published.as_ref()?.value_us;
                    error((case.facts.longest / us - 1.0) * 100.0, of.used_in_fit())
                })
        })
        .words("critical path", |case| {
            let spending = case.spending()?;
            Some(hung_on(findings, case.facts.release, spending, longest))
        });
    let note = "The slowest CPU of each iteration, whichever it is; the median over the iterations. A bar is its critical path: \
                time spent waiting for another CPU is shown as what that CPU was doing.";
    let fit = if has_published && findings.is_simulated() {
        FITTED
    } else {
        ""
    };
    table.noted(format!("{note}{fit}")).of_class("overview")
}

/// The meaning of a star.
const FITTED: &str = " * used in the fit, all others are predictions.";

/// The word for figures of a recording.
fn word(findings: &Findings<'_>) -> &'static str {
    if findings.is_simulated() {
        "simulated"
    } else {
        "recorded"
    }
}

/// The title of a cause, with what a release's board has in the SCP's place.
fn on_board(findings: &Findings<'_>, release: &str, title: &str) -> String {
    let controller = controller(findings, release);
    title
        .replace("the SCP", controller)
        .replace("SCP", controller.trim_start_matches("the "))
}

/// A critical path as a bar.
fn hung_on(findings: &Findings<'_>, release: &str, spending: &Spending, longest: f64) -> Bars {
    let tick_us = findings.timelines.tick_us().unwrap_or(0.0);
    Bars {
        parts: spending
            .parts
            .iter()
            .map(|&(spent, ticks)| {
                let title = on_board(findings, release, spent.title());
                let paint = if title == spent.title() {
                    Paint::Spent(spent)
                } else {
                    Paint::Name(title)
                };
                (paint, ticks as f64 * tick_us)
            })
            .collect(),
        longest,
        unit: "us",
    }
}

fn published(cell: Option<&ComparedCell>) -> Cell {
    let published = cell.and_then(|cell| cell.published.as_ref());
    Cell::or_dash(published.map(|of| figure(of.value_us)))
}

/// An error in percent, with a star where a fit used the cell.
fn error(percent: f64, used_in_fit: bool) -> Option<Cell> {
    let tone = match percent.abs() {
        _ if used_in_fit => Tone::Faint,
        small if small <= 3.0 => Tone::Good,
        middle if middle <= 10.0 => Tone::Middling,
        _ => Tone::Bad,
    };
    let mark = if used_in_fit { " %*" } else { " %" };
    Some(fixed(percent, 1).signed().after(mark).tone(tone).into())
}

/// Of more CPUs than these a table has the last.
const MOST_CPUS: usize = 64;

impl Case<'_> {
    fn spending(&self) -> Option<&Spending> {
        self.headlines
            .first()
            .map(|headline| &headline.spending)
            .filter(|spending| spending.total() > 0)
    }

    /// The cell with the longest published figure of what the case is about.
    fn published(&self) -> Option<&ComparedCell> {
        let us = |cell: &ComparedCell| cell.published.as_ref().map_or(0.0, |of| of.value_us);
        self.group
            .cells
            .iter()
            .filter(|cell| cell.recorded.metric == self.facts.metric && us(cell) > 0.0)
            .max_by_key(|of| total_order(us(of)))
            .copied()
    }

    fn blocks(&self, findings: &Findings<'_>) -> Vec<Block> {
        let group = &self.group;
        let timeline = Drawing::Timeline {
            release: group.release.to_owned(),
            case: group.case.to_owned(),
            mode: group.mode.to_owned(),
            answers: self
                .headlines
                .iter()
                .map(|headline| headline.text.clone())
                .collect(),
        };
        let mut blocks = vec![
            Block::Heading {
                depth: 2,
                words: Text::from(words::title(group)),
                anchor: words::anchor(group),
            },
            Block::Picture(Picture::new(words::title(group), "", "us", timeline)),
        ];
        if group.cells.iter().any(|cell| cell.recorded.order_varies) {
            // CPUs take turns, so that a CPU's own figures are of different places.
            let series = findings.series([group.release, group.case, group.mode]);
            let by_place = series.and_then(|series| spread(findings.recording, series));
            let note = "CPUs went down in different orders";
            blocks.extend(by_place.map(|of| Block::Table(spreads(&[of], note))));
            return blocks;
        }
        blocks.push(Block::Table(self.figures(findings)));
        let causes = whole_metrics(group)
            .into_iter()
            .filter_map(|metric| self.causes(findings, metric.name));
        blocks.extend(causes.map(Block::Table));
        blocks
    }

    /// The figures of each CPU.
    fn figures(&self, findings: &Findings<'_>) -> Table {
        let group = &self.group;
        let has_published = group.cells.iter().any(|cell| cell.published.is_some());
        let mut rows = cpus(group);
        rows.sort_by_key(|cell| {
            let of = &cell.recorded;
            (of.rank, of.cluster, of.core)
        });
        let left_out = rows.len().saturating_sub(MOST_CPUS);
        rows.drain(..left_out);
        let word = &word(findings)[..3];
        let table = Table::with_rows(&rows)
            .words("CPU", |row| place(&row.recorded))
            .words("role", |row| {
                // The CPU's name has its cluster already.
                row.role()
                    .replace(&format!(" of cluster {}", row.recorded.cluster), "")
            })
            .each(metrics_of(group), |table, metric| {
                let name = metric.short_title;
                let of = move |row: &&ComparedCell| cell_of(group, row.recorded.cpu, metric.name);
                let value = move |row: &&ComparedCell| Some(figure(of(row)?.recorded.value));
                let error = move |row: &&ComparedCell| {
                    let cell = of(row)?;
                    error(cell.error_percent()?, cell.used_in_fit())
                };
                if has_published {
                    table
                        .grouped(name, "publ.", move |row| published(of(row)))
                        .grouped(name, format!("{word}."), value)
                        .grouped(name, "error", error)
                } else {
                    table.grouped(name, format!("{word}."), value)
                }
            });
        let of = match left_out {
            0 => String::new(),
            more => format!("; the last {MOST_CPUS} of {} CPUs", more + MOST_CPUS),
        };
        table.noted(format!("us{of}.")).of_class("figures").ending()
    }

    /// The causes of each CPU in microseconds.
    fn causes(&self, findings: &Findings<'_>, metric: &str) -> Option<Table> {
        let group = &self.group;
        let cells = cpus(group)
            .into_iter()
            .filter_map(|cpu| cell_of(group, cpu.recorded.cpu, metric))
            .collect_vec();
        let causes = used_causes(cells.iter().copied());
        if causes.is_empty() {
            return None;
        }
        let table = Table::with_rows(&cells)
            .words("CPU", |cell| place(&cell.recorded))
            .each(causes, |table, cause| {
                let title = on_board(findings, self.facts.release, cause.title());
                table.numbers(title, move |cell| {
                    cell.recorded.microseconds_of(cause).map(figure)
                })
            })
            .numbers("sum", |cell| figure(cell.recorded.value));
        let title = format!("The {} of each CPU by cause, us", metrics::heading(metric));
        Some(table.titled(title).ending())
    }
}
