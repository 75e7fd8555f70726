//! Latencies of PSCI calls: each case's CPUs beside published figures, what they hung on, and how
//! good the predictions are.

use super::story::Story;
use crate::blocks::{
    Bars, Block, Blocks, Cell, Drawing, IntervalRow, Paint, Picture, Span, Table, Text, Tone, code,
    figure, fixed, text, whole,
};
use crate::model::figures::{
    CauseTable, FigureTable, Group, cell_of, cpus, groups, principal_metric, slowest, whole_metrics,
};
use crate::model::headline::{Headline, headlines, spendings, spent_on};
use crate::words::{GUESS, INTERVALS, ORDER_VARIES, case_title, guess, held, place};
use attribution::{Cause, Spending, Spent};
use evidence::Leaders;
use findings::Findings;
use findings::accuracy::{ALL, Accuracy, SUSPENDS};
use findings::compared::{ComparedCell, Mode, Range, Spread};
use findings::latency::{Latency, ends};
use recording::{distinct, grouped, metrics};

impl Story for Latency<'_> {
    fn tell(&self, told: &mut Blocks) {
        let findings = self.findings;
        let groups = groups(findings.compared());
        let cases: Vec<Case<'_>> = groups
            .into_iter()
            .map(|group| Case::new(findings, group))
            .collect();
        answer(told, findings, &cases);
        told.extend([Block::heading(1, "Overview")]);
        told.table(overview(findings, &cases));
        if !findings.accuracy().is_empty() {
            told.extend([Block::heading(1, "Accuracy")]);
            let pooled: Vec<Accuracy> = findings
                .accuracy()
                .iter()
                .filter(|row| row.release == ALL && row.what != SUSPENDS)
                .cloned()
                .collect();
            let is_one = pooled.is_empty();
            told.table(accuracies(if is_one {
                findings.accuracy()
            } else {
                &pooled
            }));
            if !is_one {
                told.extend([Block::heading(2, "By release")]);
                told.table(accuracies(findings.accuracy()));
            }
        }
        if findings.accuracy().iter().any(|row| row.guess.is_some()) {
            told.note(format!("{}.", crate::words::capital(GUESS)));
        }
        if findings
            .accuracy()
            .iter()
            .any(|row| row.intervals.is_some())
        {
            told.note(format!("{INTERVALS}."));
        }
        let mut release = "";
        for case in &cases {
            if std::mem::replace(&mut release, case.group.release) != case.group.release {
                told.heading(release);
            }
            told.extend(case.blocks(findings));
        }
        if !findings.spreads().is_empty() {
            told.heading("In free order");
            told.table(spreads(findings.spreads()));
        }
    }
}

/// A case with its answers, that of what it is about first.
struct Case<'f> {
    group: Group<'f>,
    headlines: Vec<Headline>,
}

/// The answer of the whole: what the longest case hangs on, and how good the predictions are.
fn answer(told: &mut Blocks, findings: &Findings<'_>, cases: &[Case<'_>]) {
    let Some(longest) = Leaders::most(cases, |case| Some([case.longest(); 2])) else {
        return;
    };
    let case = longest.items[0];
    let Some(headline) = case.headlines.first() else {
        return;
    };
    let group = &case.group;
    let alike = match longest.items.len() {
        1 => String::new(),
        more => format!("{more} cases take longest alike. Among them, "),
    };
    let title = |of: &Case<'_>| format!("{}, {}", case_title(of.group.case), of.group.mode);
    let same = |of: &&Case<'_>| (of.group.case, of.group.mode) == (group.case, group.mode);
    let us = |of: &Case<'_>| format!("{} us with {}", figure(of.longest()), of.group.release);
    // In another release another case may take as long, or longer.
    let rival = |of: &Case<'_>| {
        let of_release = cases
            .iter()
            .filter(|other| other.group.release == of.group.release);
        let most = Leaders::most(of_release, |case| Some([case.longest(); 2]))?;
        most.items
            .into_iter()
            .find(|other| !same(other) && of.group.release != group.release)
    };
    let (first, others): (Vec<_>, Vec<_>) = cases
        .iter()
        .filter(same)
        .partition(|of| rival(of).is_none());
    let first: Vec<String> = first.into_iter().map(us).collect();
    let mut words = format!(
        "{alike}{}, takes longest: {}",
        title(case),
        first.join(", ")
    );
    for (of, rival) in others.iter().filter_map(|of| Some((of, rival(of)?))) {
        words += &format!(
            "; it takes {}, where {} takes {} us",
            us(of),
            title(rival),
            figure(rival.longest())
        );
    }
    let several = cases.iter().filter(same).count() > 1;
    let which = if several {
        format!("{}: ", group.release)
    } else {
        String::new()
    };
    words += &format!(". {which}{}", headline.text);
    words += &accuracy_words(findings);
    told.answer(words);
}

/// How good the predictions are: a sentence with a blank before it, or nothing.
fn accuracy_words(findings: &Findings<'_>) -> String {
    // The row of all, or that of most cells.
    if let Some(all) = findings.accuracy().iter().max_by_key(|row| row.model.cells) {
        let model = all.model;
        let mut words = format!(
            " {} of {} predicted cells{} are within 10 % of the published ones; the median error is {:.1} %",
            model.within_10_percent,
            model.cells,
            if findings.accuracy().len() > 1 && all.release != ALL {
                format!(" ({} in parallel, {})", all.release, all.what)
            } else {
                " of the parallel tables".to_owned()
            },
            model.median_error_percent
        );
        words.push_str(&all.guess.map_or_else(
            || ".".to_owned(),
            |guess| format!(", a guess's {:.1} %.", guess.median_error_percent),
        ));
        return words;
    }
    String::new()
}

/// The rows of the accuracy table.
pub(crate) fn accuracies(rows: &[Accuracy]) -> Table {
    Table::with_rows(rows)
        .when(
            rows.iter().any(|row| row.release != rows[0].release),
            |table| table.words("release", |row| row.release.as_str()),
        )
        .words("predicted cells", |row| {
            row.what.replace(" and cache flush", ", flush")
        })
        .numbers("median", "", |row| {
            fixed(row.model.median_error_percent, 1).after(" %")
        })
        .words("in 10 %", |row| {
            format!("{} of {}", row.model.within_10_percent, row.model.cells)
        })
        .numbers("worst", "", |row| {
            fixed(row.model.worst_error_percent, 1).after(" %")
        })
        .words("guess: median, worst", guess)
        .words("hold; width", held)
        .done()
}

/// The scatter of free-running seeds.
fn spreads(spreads: &[Spread]) -> Table {
    let ranks = |spread: &Spread| {
        let shown = spread.powerdown_by_rank.iter().take(16);
        let words =
            |of: &Range| Cell::Spread(figure(of.median), figure(of.min), figure(of.max)).plain();
        let mut each: Vec<String> = shown.map(words).collect();
        let more = spread.powerdown_by_rank.len().saturating_sub(each.len());
        each.extend((more > 0).then(|| format!("and {more} more")));
        each.join(", ")
    };
    Table::with_rows(spreads)
        .words("release", |spread| spread.release.as_str())
        .words("case", |spread| case_title(&spread.case))
        .numbers("seeds", "", |spread| whole(spread.seeds as f64))
        .numbers("orders", "", |spread| whole(spread.orders as f64))
        .words("1st, 2nd, ...", ranks)
        .done()
        .noted(
            "The same cases with the order at the SCP left to chance: powerdown of the n-th CPU to finish, in us, \
             median (smallest to largest).",
        )
}

/// The slowest CPU of each case, and a bar of what it hung on.
fn overview(findings: &Findings<'_>, cases: &[Case<'_>]) -> Table {
    let tick_us = findings.timelines.tick_us().unwrap_or(0.0);
    let longest = cases
        .iter()
        .map(|case| case.spending().map_or(0, Spending::total))
        .max()
        .unwrap_or(0) as f64;
    let has_published = cases
        .iter()
        .flat_map(|case| &case.group.cells)
        .any(|cell| cell.published.is_some());
    let several = cases
        .iter()
        .any(|case| case.group.release != cases[0].group.release);
    let word = if findings.is_simulated() {
        "simulated"
    } else {
        "recorded"
    };
    let bars = |case: &Case<'_>| {
        let spending = case.spending()?;
        let order: Vec<Spent> = spending.parts.iter().map(|(spent, _)| *spent).collect();
        Some(hung_on(spending, &order, tick_us, longest * tick_us))
    };
    let table = Table::with_rows(cases)
        .when(several, |table| {
            table.words("release", |case| case.group.release)
        })
        .words("case", |case| {
            Text::from(Span::Link {
                words: short(&case.group),
                to: case.group.anchor(),
            })
        })
        .words("slowest", |case| {
            case.slowest().map(|cell| place(&cell.recorded))
        })
        .numbers(word, "us", |case| {
            case.slowest().map(|cell| figure(cell.recorded.value))
        })
        .when(has_published, |table| {
            table
                .numbers("published", "us", |case| published(case.slowest()))
                .numbers("error", "", |case| error(case.slowest()))
        })
        .when(longest > 0.0, |table| table.words("critical path", bars));
    let note = "The slowest CPU of each case, in the median. A bar is its critical path: time spent waiting for another CPU is shown as \
                what that CPU was doing.";
    let fit = if has_published && findings.is_simulated() {
        " * used in the fit, all others are predictions."
    } else {
        ""
    };
    table
        .done()
        .of_class("overview")
        .noted(format!("{note}{fit}"))
}

/// A case in as few columns as it takes: its name on the command line, and its mode.
fn short(group: &Group<'_>) -> String {
    // Without a blank, so that a table keeps it on one line.
    format!("{}/{}", group.case, group.mode)
}

/// A note with the documents that the published figures of a release are from.
fn with_documents(findings: &Findings<'_>, release: &str, note: &str) -> String {
    let published = findings
        .published()
        .into_iter()
        .filter(|(of, _)| *of == release);
    let documents = distinct(published.map(|(_, source)| source));
    let mut words = note.to_owned();
    if !documents.is_empty() {
        words.push_str(&format!(" Published figures: {}.", documents.join("; ")));
        if findings.is_simulated() {
            words.push_str(" * used in the fit, all others are predictions.");
        }
    }
    words.trim_start().to_owned()
}

/// A critical path as a bar, its parts in a given order.
fn hung_on(spending: &Spending, order: &[Spent], tick_us: f64, longest: f64) -> Bars {
    let part = |wanted: &Spent| {
        let (spent, ticks) = spending.parts.iter().find(|(spent, _)| spent == wanted)?;
        Some((Paint::Spent(*spent), *ticks as f64 * tick_us))
    };
    Bars {
        parts: order.iter().filter_map(part).collect(),
        longest,
        unit: "us",
    }
}

fn published(cell: Option<&ComparedCell>) -> Cell {
    match cell.and_then(|cell| cell.published.as_ref()) {
        Some(published) => figure(published.value_us).into(),
        None => "-".into(),
    }
}

/// The error in percent, with a star where a fit used the cell.
fn error(cell: Option<&ComparedCell>) -> Cell {
    let Some((cell, error)) = cell.and_then(|cell| Some((cell, cell.error_percent()?))) else {
        return "-".into();
    };
    let tone = match error.abs() {
        _ if cell.used_in_fit() => Tone::Faint,
        small if small <= 3.0 => Tone::Good,
        middle if middle <= 10.0 => Tone::Middling,
        _ => Tone::Bad,
    };
    let mark = if cell.used_in_fit() { " %*" } else { " %" };
    fixed(error, 1).signed().after(mark).tone(tone).into()
}

/// Of more CPUs than these a table has a row for each role, and bars for the CPUs that went last.
const MOST_CPUS: usize = 64;
/// The number of these CPUs that have bars.
const LAST_CPUS: usize = 8;
/// Of more waits than these the first are told.
const MOST_WAITS: usize = 8;

impl<'f> Case<'f> {
    fn new(findings: &Findings<'_>, group: Group<'f>) -> Self {
        let headlines = headlines(findings, &group);
        Self { group, headlines }
    }

    fn spending(&self) -> Option<&Spending> {
        self.headlines
            .first()
            .map(|headline| &headline.spending)
            .filter(|spending| spending.total() > 0)
    }

    /// The CPU that the headline names, unless another one's median is longer: of several that take
    /// as long, both name the same.
    fn slowest(&self) -> Option<&'f ComparedCell> {
        let metric = principal_metric(&self.group).name;
        let slowest = slowest(&self.group, metric)?;
        let named = self
            .headlines
            .first()
            .and_then(|headline| cell_of(&self.group, headline.cpu, metric));
        named
            .filter(|cell| cell.recorded.value >= 0.995 * slowest.recorded.value)
            .or(Some(slowest))
    }

    fn longest(&self) -> f64 {
        self.slowest().map_or(0.0, |cell| cell.recorded.value)
    }

    fn blocks(&self, findings: &Findings<'_>) -> Vec<Block> {
        let group = &self.group;
        let words = Text::from(group.title());
        let (release, case, mode) = (
            group.release.to_owned(),
            group.case.to_owned(),
            group.mode.to_owned(),
        );
        let answers = self
            .headlines
            .iter()
            .map(|headline| headline.text.clone())
            .collect();
        let timeline = Drawing::Timeline {
            release,
            case,
            mode,
            answers,
        };
        let mut blocks = vec![
            Block::Heading {
                depth: 2,
                words,
                anchor: group.anchor(),
            },
            Block::Picture(Picture::new(group.title(), "", "us", timeline)),
            Block::Table(self.figures(findings)),
        ];
        blocks.extend(self.timer_unknown(findings));
        let why = [metrics::POWERDOWN.name, metrics::WAKEUP.name];
        blocks.extend(
            why.iter()
                .filter_map(|metric| self.why(metric))
                .map(Block::Table),
        );
        let causes = whole_metrics(group);
        let causes: Vec<Block> = causes
            .iter()
            .filter_map(|metric| self.causes(metric.name))
            .map(Block::Table)
            .collect();
        if !causes.is_empty() {
            let summary = text!["The CPUs' causes in numbers"];
            blocks.push(Block::Folded {
                summary,
                blocks: causes,
            });
        }
        blocks
    }

    /// The figures of each CPU, or of each role where there are many CPUs.
    fn figures(&self, findings: &Findings<'_>) -> Table {
        let figures = FigureTable::new(&self.group);
        let word = if findings.is_simulated() {
            "sim."
        } else {
            "rec."
        };
        let metrics = figures.metrics.clone();
        let shortened = metrics::intervals()
            .filter(|metric| metrics::heading(metric.name) != metric.short_title);
        let words = shortened
            .map(|metric| format!("{}: {}", metric.short_title, metrics::heading(metric.name)));
        let units = format!("us; {}.", words.collect::<Vec<_>>().join(", "));
        if figures.rows.len() > MOST_CPUS {
            return roles(&figures, word);
        }
        let mut rows = figures.rows;
        rows.sort_by_key(|row| {
            (
                row.cpu.recorded.rank,
                row.cpu.recorded.cluster,
                row.cpu.recorded.core,
            )
        });
        let has_published = figures.has_published;
        let cpus: Vec<u16> = rows.iter().map(|row| row.cpu.recorded.cpu).collect();
        let metric = principal_metric(&self.group).name;
        let spendings = spendings(findings, &self.group, metric, &cpus);
        let order = spent_on(spendings.values());
        let tick_us = findings.timelines.tick_us().unwrap_or(0.0);
        let longest = spendings.values().map(Spending::total).max().unwrap_or(0) as f64 * tick_us;
        let bars = |row: &crate::model::figures::FigureRow<'_>| {
            let spending = spendings.get(&row.cpu.recorded.cpu)?;
            Some(hung_on(spending, &order, tick_us, longest))
        };
        let table = Table::with_rows(&rows)
            .words("CPU", |row| row.name.as_str())
            .words("role", |row| row.role.as_str());
        let table = table.each(metrics.into_iter().enumerate(), |table, (at, metric)| {
            let name = metric.short_title;
            let value = move |row: &crate::model::figures::FigureRow<'_>| {
                row.figures[at].map(|cell| figure(cell.recorded.value))
            };
            match has_published {
                true => table
                    .grouped(name, "publ.", "", move |row| published(row.figures[at]))
                    .grouped(name, word, "", value)
                    .grouped(name, "error", "", move |row| {
                        row.figures[at].map(|cell| error(Some(cell)))
                    }),
                false => table.grouped(name, word, "", value),
            }
        });
        let heading = format!("what the {} hung on", metrics::heading(metric));
        let table = table
            .when(longest > 0.0, |table| table.words(heading, bars))
            .done();
        let mut note = with_documents(findings, self.group.release, &units);
        if figures.order_varies {
            note.push_str(&format!(" {ORDER_VARIES}."));
        }
        table.of_class("figures").ending().noted(note)
    }

    /// The wakeups for whoever may own the timer, as a table and as a picture; nothing where that
    /// decides nothing.
    fn timer_unknown(&self, findings: &Findings<'_>) -> Vec<Block> {
        let of = |cell: &&&ComparedCell| {
            cell.recorded.metric == metrics::WAKEUP.name && !cell.modes.is_empty()
        };
        let mut cells: Vec<&ComparedCell> = self.group.cells.iter().filter(of).copied().collect();
        if cells.is_empty() || cells.len() > MOST_CPUS {
            return Vec::new();
        }
        cells.sort_by_key(|cell| (cell.recorded.cluster, cell.recorded.core));
        let owners =
            |mode: &Mode| format!("{} ({:.0} %)", mode.timers.join("/"), 100.0 * mode.weight);
        let us = |mode: &Mode| {
            Cell::Spread(
                figure(mode.figure),
                figure(mode.interval.0),
                figure(mode.interval.1),
            )
        };
        let table = Table::with_rows(&cells)
            .words("CPU", |cell| place(&cell.recorded))
            .numbers("publ.", "", |cell| published(Some(cell)))
            .each([("likeliest", 0), ("next", 1)], |table, (name, at)| {
                let table = table.grouped(name, "us", "", move |cell| cell.modes.get(at).map(us));
                table.grouped(name, "timer of", "", move |cell| {
                    cell.modes.get(at).map(|mode| Cell::from(owners(mode)))
                })
            })
            .done();
        let sessions = self.timer_sessions(findings);
        let row = |cell: &&ComparedCell, mode: &Mode| IntervalRow {
            name: format!("{}, timer of {}", place(&cell.recorded), owners(mode)),
            series: mode.timers.first().cloned().unwrap_or_default(),
            low: mode.interval.0,
            middle: mode.figure,
            high: mode.interval.1,
            published: cell.published.as_ref().map(|published| published.value_us),
        };
        let rows = cells
            .iter()
            .flat_map(|cell| cell.modes.iter().map(move |mode| row(cell, mode)))
            .collect();
        let title = "Wakeups, if it is not known whose timer fires";
        let picture = Picture::new(
            title,
            "wakeup, 90 % for each owner",
            "us",
            Drawing::Intervals(rows),
        );
        let note = format!(
            "us; in brackets 90 % of the draws, and how likely it is that CPU's timer. It was that of: {sessions}."
        );
        vec![
            Block::Table(table.titled(title).noted(note)),
            Block::Picture(picture),
        ]
    }

    /// The CPUs that owned the timer in other sessions, in words.
    fn timer_sessions(&self, findings: &Findings<'_>) -> String {
        let mut known = findings.recording.header.timer_owners.iter();
        let known = known
            .find(|known| (&*known.release, &*known.case) == (self.group.release, self.group.case));
        let none = "no other session with this SCP protocol, so all count alike and the first at the SCP stands first";
        known.map_or_else(
            || none.to_owned(),
            |known| {
                let of = known
                    .sessions
                    .iter()
                    .map(|(cpu, sessions)| format!("{cpu} in {}", sessions.join(", ")));
                format!(
                    "{}; each CPU counts once more",
                    of.collect::<Vec<_>>().join("; ")
                )
            },
        )
    }

    /// A bar for each CPU of what it did itself, with whom it waited for; `None` where no events
    /// tell.
    fn why(&self, metric: &str) -> Option<Table> {
        let group = &self.group;
        let cpus = cpus(group).len();
        let most = if cpus > MOST_CPUS { LAST_CPUS } else { cpus };
        let CauseTable { causes, rows } = CauseTable::new(group, metric, most)?;
        let longest = rows
            .iter()
            .map(|row| row.cell.recorded.value)
            .fold(0.0, f64::max);
        if longest <= 0.0 {
            return None;
        }
        let bars = |row: &crate::model::figures::CauseTableRow<'_>| {
            let parts = causes
                .iter()
                .zip(&row.parts)
                .filter_map(|(cause, us)| Some((Paint::Cause(*cause), (*us)?)));
            Bars {
                parts: parts.collect(),
                longest,
                unit: "us",
            }
        };
        let parts = |row: &crate::model::figures::CauseTableRow<'_>| {
            let parts = causes.iter().zip(&row.parts);
            // A letter and its figure stay on one line.
            let part = |(cause, us): (&Cause, &Option<f64>)| {
                Some(format!("{}\u{a0}{}", cause.row().letter, figure((*us)?)))
            };
            parts.filter_map(part).collect::<Vec<_>>().join(" ")
        };
        let of = if most < cpus {
            format!(", the last {most} of {cpus} CPUs")
        } else {
            String::new()
        };
        let table = Table::with_rows(&rows)
            .words("CPU", |row| row.name.as_str())
            .words(format!("why, {metric}{of}"), bars)
            .words("us", parts)
            .words("waits", |row| self.waits(row.cell));
        Some(table.done().ending())
    }

    /// The waits of a CPU that are worth telling, and for whom it waited.
    fn waits(&self, cell: &ComparedCell) -> String {
        let recorded = &cell.recorded;
        let us = |ticks: u64| ticks as f64 * recorded.tick_us;
        let waits = recorded
            .split
            .waits
            .iter()
            .filter(|wait| us(wait.ticks) >= 0.02 * recorded.value.max(50.0));
        let mut waits: Vec<String> = waits
            .map(|wait| {
                let (before, after) = wait.cause.row().waited;
                format!(
                    "{} {before}{}{after}",
                    figure(us(wait.ticks)),
                    self.cpu_name(wait.holder)
                )
            })
            .collect();
        if waits.len() > MOST_WAITS {
            let more = waits.len() - MOST_WAITS + 1;
            waits.truncate(MOST_WAITS - 1);
            waits.push(format!("and {more} more"));
        }
        waits.join(", ")
    }

    /// A CPU by its name in the tables.
    fn cpu_name(&self, cpu: u16) -> String {
        let found = self
            .group
            .cells
            .iter()
            .find(|cell| cell.recorded.cpu == cpu);
        found.map_or_else(|| format!("CPU {cpu}"), |cell| place(&cell.recorded))
    }

    /// The causes of each CPU in microseconds.
    fn causes(&self, metric: &str) -> Option<Table> {
        let CauseTable { causes, rows } = CauseTable::new(&self.group, metric, usize::MAX)?;
        let table = Table::with_rows(&rows)
            .words("CPU", |row| row.name.as_str())
            .each(causes.into_iter().enumerate(), |table, (at, cause)| {
                table.numbers(cause.title(), "", move |row| row.parts[at].map(figure))
            })
            .numbers("sum", "", |row| figure(row.cell.recorded.value))
            .words("waited for", |row| self.waits(row.cell));
        let title = format!("The {} of each CPU by cause, us", metrics::heading(metric));
        Some(table.done().titled(title).ending())
    }
}

/// A row for each role: the median of its CPUs, from the least to the most.
fn roles(figures: &FigureTable<'_>, word: &str) -> Table {
    let roles = grouped(figures.rows.iter().map(|row| (row.role.as_str(), row)));
    let spread = |rows: &[&crate::model::figures::FigureRow<'_>], column: usize| {
        let [least, median, most] = ends(rows.iter().filter_map(|row| row.figures[column]))?;
        Some(Cell::Spread(figure(median), figure(least), figure(most)))
    };
    Table::with_rows(&roles)
        .words("role", |(role, _)| *role)
        .numbers("CPUs", "", |(_, rows)| whole(rows.len() as f64))
        .each(figures.metrics.iter().enumerate(), |table, (at, metric)| {
            table.grouped(metric.short_title, word, "", move |(_, rows)| {
                spread(rows, at)
            })
        })
        .done()
        .noted(text![
            format!(
                "us; medians of {} CPUs, from the least to the most; ",
                figures.rows.len()
            ),
            code("--format csv"),
            " has a row for each CPU."
        ])
}
