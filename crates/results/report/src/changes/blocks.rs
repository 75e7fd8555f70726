//! A comparison in blocks: what it comes to, the largest changes, then every table of rows with why
//! they changed.

use super::PublishedChanges;
use super::functions;
use super::idle;
use crate::blocks::{
    Block, Blocks, Cell, Drawing, IntervalRow, Number, Picture, Sample, Span, Table, Text, Tone,
    code, figure, fixed,
};
use crate::told::Told;
use crate::words::capital;
use crate::words::changed_counts;
use crate::words::changes::{answer, bound};
use crate::words::names::{letter, table_name};
use comparison::{
    Basis, CauseChange, Change, Comparison, Condition, PartChange, Row, TableName, TablePaths,
    Verdict,
};
use itertools::Itertools;

/// What is told of a comparison; with `all`, of rows that did not change as well.
pub fn comparison(
    comparison: &Comparison,
    published: Option<&PublishedChanges>,
    all: bool,
) -> Told {
    let base = comparison.sides.first();
    Told {
        title: title_of(comparison),
        lead: format!("{} is the base.", base.map_or("", |side| &side.name)),
        blocks: blocks(comparison, published, all),
    }
}

/// "B against A", by the names of the recordings.
fn title_of(comparison: &Comparison) -> String {
    match comparison
        .sides
        .iter()
        .map(|side| side.name.as_str())
        .collect_vec()
        .as_slice()
    {
        [alone] => (*alone).to_owned(),
        [base, others @ ..] => format!("{} against {base}", others.join(", ")),
        [] => "Nothing compared".to_owned(),
    }
}

/// Sentences of the answer at most; what else there is to say comes behind them.
const MOST_SENTENCES: usize = 3;

/// The blocks of a comparison.
fn blocks(comparison: &Comparison, published: Option<&PublishedChanges>, all: bool) -> Blocks {
    let mut told = Blocks::default();
    if !comparison.bounds.is_empty() {
        told.answer(
            comparison
                .bounds
                .iter()
                .map(|of| bound(comparison, of))
                .join(" "),
        );
    } else if comparison.idle.is_empty() {
        let sentences = answer(comparison);
        let (first, rest) = sentences.split_at(sentences.len().min(MOST_SENTENCES));
        told.answer(first.join(" "));
        told.answer(format!("{}.", capital(&summary(comparison))));
        if let Some(of) = &comparison.on_board {
            told.warning(changed_counts::on_board(of));
        }
        if !rest.is_empty() {
            told.paragraph(rest.join(" "));
        }
        told.picture(largest(comparison));
    } else {
        idle::tell(&mut told, comparison)
    }
    shifts(&mut told, comparison);
    for sentence in changed_counts::functions(comparison) {
        told.paragraph(sentence);
    }
    functions::tell(&mut told, comparison);
    told.list(sides(comparison));
    let mut warnings = comparison.warnings.iter();
    if let Some(first) = warnings.next() {
        told.warning(format!("warning: {first}"));
    }
    let warnings = warnings.take(100);
    told.list(warnings.map(|warning| format!("warning: {warning}")));
    told.heading(if all { "Rows" } else { "Rows that changed" });
    for rows in comparison.rows.chunk_by(|a, b| table_of(a) == table_of(b)) {
        table(&mut told, comparison, rows, all);
    }
    functions::tell_calls(&mut told, comparison);
    told.extend(inputs(comparison));
    told.heading("How it was compared");
    told.list(method(comparison));
    told.extend(missing(comparison).into_iter().map(Block::Note));
    if let Some(published) = published {
        printed(&mut told, published);
    }
    told
}

fn table_of(row: &Row) -> (TableName, &str) {
    (row.key.table(), &row.key.metric)
}

/// The facts of each recording, a line each.
fn sides(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, side) in comparison.sides.iter().enumerate() {
        let mut facts = vec![side.variants.join(", "), format!("{} world", side.world)];
        if side.runs > 1 {
            facts.insert(0, format!("{} runs", side.runs));
        }
        facts.extend(side.platform.iter().cloned());
        if side.repeatable {
            facts.push(format!("repeatable, seed {}", side.seed));
        }
        if index == 0 {
            facts.push("the base".to_owned());
        }
        lines.push(format!(
            "{}  {}: {}",
            letter(index),
            side.name,
            facts.join("; ")
        ));
    }
    lines
}

/// The common changes of measures, where runs tell them.
fn shifts(told: &mut Blocks, comparison: &Comparison) {
    let table = Table::with_rows(&comparison.shifts)
        .words("measure", |shift| &shift.metric)
        .when(comparison.sides.len() > 2, |table| {
            table.words("", |shift| letter(shift.side))
        })
        .numbers("rows", |shift| shift.rows)
        .numbers("in common", |shift| {
            interval(
                fixed(shift.percent, 1).signed().after(" %"),
                shift.interval,
                shift.p,
            )
        })
        .words("", |shift| verdict(shift.verdict));
    told.table(table.titled("What the rows of each measure have in common, run against run"));
}

/// The changes that can be told from chance, and those beyond the threshold that too few runs stand
/// behind, with their rows and sides: the most important verdict first, and then the largest share
/// of its measure's total.
fn by_size(comparison: &Comparison) -> Vec<(&Row, usize, &Change)> {
    let mut all = comparison
        .rows
        .iter()
        .flat_map(|row| {
            (1..)
                .zip(&row.changes)
                .filter_map(move |(side, change)| Some((row, side, change.as_ref()?)))
        })
        .filter(|(_, _, change)| {
            rank(change.verdict).is_some() && (!change.is_open() || !change.below)
        })
        .collect_vec();
    all.sort_by_cached_key(|(_, _, change)| {
        // The bits of numbers from 0 are in their order.
        let size = std::cmp::Reverse(change.size().to_bits());
        (rank(change.verdict), size)
    });
    all
}

/// The order in which verdicts matter; `None` for those that say nothing.
fn rank(verdict: Verdict) -> Option<usize> {
    [
        Verdict::Worse,
        Verdict::Better,
        Verdict::Changed,
        Verdict::Large,
        Verdict::Unjudged(Condition::Session),
        Verdict::Unjudged(Condition::Machine),
        Verdict::Unjudged(Condition::Given),
        Verdict::TooFew,
        Verdict::Small,
    ]
    .iter()
    .position(|other| *other == verdict)
}

/// Rows of the picture of the largest changes.
const MOST_CHANGES: usize = 12;

/// The largest changes, each with its interval and the cause that most of it goes to.
fn largest(comparison: &Comparison) -> Option<Picture> {
    let several = comparison.sides.len() > 2;
    let row = |(row, side, change): &(&Row, usize, &Change)| {
        let percent = change.percent?;
        let (low, high) = match change.basis {
            Basis::Runs { interval, .. } => interval.into(),
            _ => (percent.min(0.0), percent.max(0.0)),
        };
        let which = if several {
            format!("{} ", letter(*side))
        } else {
            String::new()
        };
        let cause = change.main_cause().map(|cause| cause.title());
        let label = format!("{which}{}", row.key.label());
        let name = match cause {
            Some(cause) => format!("{label}: {cause}"),
            None => label,
        };
        let series = cause.unwrap_or("no cause is told");
        Some(IntervalRow::new(name, [low, percent, high]).of(series))
    };
    let rows = by_size(comparison)
        .iter()
        .filter_map(row)
        .take(MOST_CHANGES)
        .collect_vec();
    let title = format!(
        "The largest changes, {} of {}",
        rows.len(),
        by_size(comparison).len()
    );
    (!rows.is_empty()).then(|| {
        Picture::new(
            title,
            "change against the base",
            "%",
            Drawing::Intervals(rows),
        )
    })
}

/// The way in which the comparison was made, a sentence or so each.
fn method(comparison: &Comparison) -> Vec<String> {
    let has = |is: fn(&Basis) -> bool| comparison.changes().any(|(_, change)| is(&change.basis));
    let mut lines = Vec::new();
    for sessions in &comparison.sessions {
        lines.push(format!(
            "sessions: the costs of {} and {} were fitted to two sessions of a board, {} and {}; a change up to what a release measured twice \
             shows is not judged ({}; with {} % that the fits leave)",
            letter(0),
            letter(sessions.side),
            sessions.names[0],
            sessions.names[1],
            sessions.floors.iter().map(|(name, percent)| {
            format!("{} {} %", name.join(" ").trim_start(), fixed(*percent, 1))
        }).join(", "),
            fixed(sessions.granted, 1),
        ));
    }
    let remedies = comparison.conditions.iter().filter_map(|of| {
        let table = of
            .table
            .as_ref()
            .map_or_else(String::new, |[_, case, mode]| format!(" of {case} {mode}"));
        let [base, other] = &of.values;
        let then = of
            .remedy
            .as_ref()
            .map_or_else(String::new, |remedy| format!("; {remedy}"));
        (base != other || !then.is_empty()).then(|| {
            format!(
                "{}{table}: {base} in {}, {other} in {}{then}",
                of.condition.name(),
                letter(0),
                letter(of.side)
            )
        })
    });
    lines.extend(remedies);
    if has(|basis| *basis == Basis::Exact) {
        lines.push(
            "exact: a world that repeats itself; two values that differ by more than a tick of the counter are different"
                .to_owned(),
        );
    }
    if has(|basis| matches!(basis, Basis::Runs { .. })) {
        lines.push(format!(
            "runs: Student's t of logarithms at {} for the whole, by Holm's method half over rows and half over what the rows of a measure have in common; \
             a row scatters at least as its measure's other rows; in brackets the interval; ~: no change that can be told from chance",
            comparison.alpha,
        ));
    }
    if has(|basis| *basis == Basis::TooFew) {
        lines.push(format!(
            "too few runs: iterations of one run say nothing about the next run; a verdict needs {} runs a side",
            comparison::FEWEST_RUNS
        ));
    }
    lines.push(format!(
        "threshold: {} % unless the policy says otherwise",
        comparison.threshold
    ));
    lines
}

fn inputs(comparison: &Comparison) -> Vec<Block> {
    if comparison.differences.is_empty() {
        return Vec::new();
    }
    let shown = &comparison.differences[..comparison.differences.len().min(500)];
    let table = Table::with_rows(shown).words("input", |input| code(input.key.as_str()));
    let table = table.each(0..comparison.sides.len(), |table, side| {
        let table = table.numbers(letter(side), move |input| {
            Cell::or_dash(input.values[side].as_ref())
        });
        table.when(side > 0, |table| {
            table.numbers(format!("{}/A", letter(side)), move |input| {
                input.percent[side - 1].map(|percent| fixed(percent, 1).signed().after(" %"))
            })
        })
    });
    vec![
        Block::heading(1, "Inputs that differ"),
        Block::Table(table.done()),
    ]
}

fn is_shown(row: &Row, all: bool) -> bool {
    all || row
        .changes
        .iter()
        .flatten()
        .any(|change| change.verdict != Verdict::Same)
}

/// Rows of a picture of samples at most, each with a line for each recording.
const MOST_SAMPLES: usize = 24;

/// The rows of a table that changed, why, and how their values scatter.
fn table(told: &mut Blocks, comparison: &Comparison, rows: &[Row], all: bool) {
    let shown = rows.iter().filter(|row| is_shown(row, all)).collect_vec();
    let (Some(head), title) = (shown.first(), title(&rows[0])) else {
        return;
    };
    told.subheading(title.as_str());
    let median = |row: &Row, side: usize| {
        let value = row.cells[side].map(|cell| figure(cell.value));
        Cell::or_dash(value)
    };
    let mut table = Table::with_rows(&shown)
        .words("row", |row| row.key.row())
        .numbers("n", |row| counts(row))
        .numbers("A", |row| median(row, 0))
        .each(1..comparison.sides.len(), |table, side| {
            table
                .numbers(letter(side), move |row| median(row, side))
                .numbers(format!("{}/A", letter(side)), move |row| {
                    Cell::or_dash(change(row, side).map(size))
                })
                .words("", move |row| {
                    change(row, side).map(|change| verdict(change.verdict))
                })
        })
        .words("why (us, in the median)", |row| why(comparison, row))
        .done();
    if shown.len() < rows.len() {
        table = table.noted(format!(
            "{} of {} rows did not change.",
            rows.len() - shown.len(),
            rows.len()
        ));
    }
    told.table(table);
    for line in paths(comparison, head) {
        told.paragraph(line);
    }
    if let Some(picture) = scatter(&shown, head, &title) {
        told.extend([Block::Folded {
            summary: "How the values scatter".into(),
            blocks: vec![Block::Picture(picture)],
        }]);
    }
}

/// How the values of rows scatter; `None` where each has one.
fn scatter(shown: &[&Row], head: &Row, title: &str) -> Option<Picture> {
    let samples = shown
        .iter()
        .take(MOST_SAMPLES)
        .flat_map(|row| {
            row.values
                .iter()
                .enumerate()
                .filter(|(_, values)| !values.is_empty())
                .map(|(side, values)| Sample {
                    name: format!("{} {}", letter(side), row.key.row()),
                    series: letter(side),
                    values: values.clone(),
                })
        })
        .collect_vec();
    if samples.iter().all(|sample| sample.values.len() <= 1) {
        return None;
    }
    let title = format!("How the values of {title} scatter");
    let picture = Picture::new(
        title,
        head.key.metric.replace('_', " "),
        &head.unit,
        Drawing::Samples(samples),
    );
    let first = if shown.len() > MOST_SAMPLES {
        format!(" The first {MOST_SAMPLES} of {} rows.", shown.len())
    } else {
        String::new()
    };
    Some(picture.noted(format!(
        "A box holds half of the values, the line in it is their median.{first}"
    )))
}

/// The change of a row in a recording.
fn change(row: &Row, side: usize) -> Option<&Change> {
    row.changes[side - 1].as_ref()
}

fn counts(row: &Row) -> String {
    let counts = row
        .cells
        .iter()
        .map(|cell| cell.map_or_else(|| "-".to_owned(), |cell| cell.n.to_string()))
        .collect_vec();
    if counts.iter().all(|count| *count == counts[0]) {
        counts[0].clone()
    } else {
        counts.join("/")
    }
}

/// The title of a table of rows.
fn title(head: &Row) -> String {
    format!("{}: {} ({})", table_name(head), head.key.metric, head.unit)
}

/// A change in percent, with its interval.
fn size(change: &Change) -> String {
    let percent = change.percent.map_or_else(
        || fixed(change.absolute, 3).signed(),
        |percent| fixed(percent, 1).signed().after(" %"),
    );
    match change.basis {
        Basis::Runs {
            interval: ends, p, ..
        } => interval(percent, ends, p),
        _ => percent.to_string(),
    }
}

/// A change with its interval and its p-value.
fn interval(change: Number, [low, high]: [f64; 2], p: f64) -> String {
    let p = if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    };
    format!("{change} [{low:+.1}, {high:+.1}] p {p}")
}

/// A verdict as tables have it.
fn verdict(verdict: Verdict) -> Cell {
    let (words, tone) = match verdict {
        Verdict::Same => ("=", Tone::Faint),
        Verdict::Unclear => ("~", Tone::Faint),
        Verdict::TooFew => ("too few runs", Tone::Faint),
        Verdict::Large => ("large, unproven", Tone::Middling),
        Verdict::Unjudged(condition) => (condition.name(), Tone::Faint),
        Verdict::Small => ("below threshold", Tone::Faint),
        Verdict::Changed => ("changed", Tone::Middling),
        Verdict::Better => ("better", Tone::Good),
        Verdict::Worse => ("worse", Tone::Bad),
    };
    Cell::Toned(words.into(), tone)
}

/// A cause that changed by less of the base than this is left out.
const WORTH_TELLING: f64 = 0.002;

/// The least change in microseconds that is told of what took so long in the base.
fn least_told(base: f64) -> f64 {
    (base.abs() * WORTH_TELLING).max(0.005)
}

/// The causes of a change that matter, the largest first.
fn worth_telling(row: &Row, change: &Change) -> Vec<CauseChange> {
    let base = row.cells[0].map_or(0.0, |cell| cell.value);
    let mut causes = PartChange::sorted(change.causes.clone());
    causes.retain(|cause| cause.absolute().abs() >= least_told(base));
    causes
}

/// A change of a part with what it was and what it is: "+1.20 (3.40 to 4.60)".
fn from_to(change: f64, base: f64, other: f64) -> String {
    format!(
        " {} ({} to {})",
        fixed(change, 2).signed(),
        figure(base),
        figure(other)
    )
}

/// The causes of a row's changes.
fn why(comparison: &Comparison, row: &Row) -> Text {
    let mut words = Text::default();
    for (side, change) in (1..).zip(&row.changes) {
        let Some(change) = change
            .as_ref()
            .filter(|change| change.verdict != Verdict::Same)
        else {
            continue;
        };
        for (number, cause) in worth_telling(row, change).iter().enumerate() {
            if !words.is_empty() {
                words.push(if number == 0 { "; " } else { ", " });
            }
            if number == 0 && comparison.sides.len() > 2 {
                words.push(format!("{}: ", letter(side)));
            }
            words.push(Span::Cause(cause.part));
            words.push(from_to(cause.absolute(), cause.base, cause.other));
        }
    }
    words
}

/// The parts that became longer or shorter on the critical path of the slowest CPU of a row's
/// table, a sentence for each recording.
fn paths(comparison: &Comparison, head: &Row) -> Vec<String> {
    let Some(TablePaths { paths, .. }) = comparison
        .paths
        .iter()
        .find(|paths| (&paths.table, &*paths.metric) == (&head.key.table(), &head.key.metric))
    else {
        return Vec::new();
    };
    let Some((Some(base), others)) = paths.split_first() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for (side, other) in (1..).zip(others) {
        let Some(other) = other else { continue };
        let (from, to) = (base.total(), other.total());
        let parts = base
            .changes(other)
            .iter()
            .filter(|change| change.absolute().abs() >= least_told(from))
            .map(|of| {
                format!(
                    "{}{}",
                    of.part.title(),
                    from_to(of.absolute(), of.base, of.other)
                )
            })
            .collect_vec();
        if parts.is_empty() {
            continue;
        }
        let who = if base.who == other.who {
            base.who.to_string()
        } else {
            format!("{} in A, {} in {}", base.who, other.who, letter(side))
        };
        let which = if comparison.sides.len() > 2 {
            format!(" {}", letter(side))
        } else {
            String::new()
        };
        let whole = format!(
            "{} us ({} to {})",
            fixed(to - from, 2).signed(),
            figure(from),
            figure(to)
        );
        lines.push(format!(
            "Critical path of the slowest CPU ({who}){which} {whole}: {}.",
            parts.join(", ")
        ));
    }
    lines
}

/// What each side lacks, the first rows by name.
fn missing(comparison: &Comparison) -> Vec<Text> {
    let of_side = |(index, side): (usize, &comparison::Side)| {
        let labels = comparison
            .missing
            .iter()
            .filter(|lack| lack.side == index)
            .map(|lack| lack.key.label())
            .collect_vec();
        let (named, more) = labels.split_at(labels.len().min(MOST_MISSING));
        let more = match more.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let text = format!(
            "not in {} ({}): {}{more}",
            letter(index),
            side.name,
            named.join("; ")
        );
        (!labels.is_empty()).then(|| Text::from(text))
    };
    comparison
        .sides
        .iter()
        .enumerate()
        .filter_map(of_side)
        .collect()
}

/// Missing rows of a side that are named at most.
const MOST_MISSING: usize = 20;

fn printed(told: &mut Blocks, published: &PublishedChanges) {
    told.heading(format!(
        "Published changes of {} that the published tables of {} do not give",
        published.other, published.base
    ));
    let percent = |value: Option<f64>| value.map(|value| fixed(value, 1).signed().after(" %"));
    let printed = |value: f64| -> Number { fixed(value, 2).signed().after(" %") };
    let table = Table::with_rows(&published.not_remade)
        .words("row", |change| &change.label)
        .numbers("printed", |change| printed(change.printed))
        .numbers("so before, us", |change| figure(change.before_us))
        .numbers("by label", |change| percent(change.by_label))
        .numbers("by role", |change| percent(change.by_role));
    told.table(table);
    told.note(format!(
        "{} changes are printed, {} follow from the tables; {} figures changed by more than 2 % with nothing printed",
        published.printed,
        published.remade,
        published.silent
    ));
}

/// The whole in a line.
fn summary(comparison: &Comparison) -> String {
    let parts = [
        (Verdict::Worse, "worse"),
        (Verdict::Better, "better"),
        (Verdict::Changed, "changed"),
        (Verdict::Small, "changed below the threshold"),
        (Verdict::Unclear, "unclear (~)"),
        (Verdict::Large, "large and unproven"),
        (Verdict::TooFew, "with too few runs"),
        (
            Verdict::Unjudged(Condition::Order),
            "decided by the order of CPUs",
        ),
        (
            Verdict::Unjudged(Condition::Timer),
            "decided by the owner of the timer",
        ),
        (Verdict::Unjudged(Condition::Machine), "of another machine"),
        (Verdict::Unjudged(Condition::Given), "of another condition"),
        (
            Verdict::Unjudged(Condition::Session),
            "no larger than between two sessions",
        ),
        (Verdict::Same, "unchanged"),
    ]
    .map(|(verdict, words)| (comparison.count(verdict), words))
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, words)| format!("{count} {words}"))
    .join(", ");
    let total = comparison.changes().count();
    let verdict = comparison.outcome().name().replace('-', " ");
    let missing = match comparison.missing.len() {
        0 => String::new(),
        missing => format!(", and {missing} missing"),
    };
    format!("{verdict}: {parts} of {total} comparisons of a row{missing}")
}
