//! Which lines of a log belong to the same run of a test.
//!
//! A log does not number its runs. Each CPU has one line in each, so a run ends where a CPU comes
//! again. Counting the lines of each CPU alone would shift all later runs of a CPU of which one
//! line was lost, and put its figures beside those of other runs.

use crate::Options;
use crate::error::ImportError;
use crate::figures::Figure;
use crate::names::LINUX;
use itertools::Itertools;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The rules that tell that a run is over, from the strictest on. The CPUs come in the same order in
/// each run, so one that comes before the last has a line of the next run; and lines of another test
/// stand between. Which hold depends on how the log was written.
const RULES: [(bool, bool); 3] = [(true, true), (false, true), (false, false)];

/// A line of a test: its CPU, whether another test's line came before, and where it stands in the
/// file.
struct Line {
    place: (u16, u16),
    after_another: bool,
    number: u64,
}

/// Numbers the runs of each test from 0. Returns what is doubtful: CPUs that lack a line in a run,
/// by the line where the run begins.
pub fn number(figures: &mut [Figure], options: &Options) -> Vec<ImportError> {
    let mut lines: BTreeMap<_, Vec<Line>> = BTreeMap::new();
    let mut last = None;
    for figure in figures.iter() {
        let Some(place) = figure.place else { continue };
        let key = (figure.series(), figure.run);
        let of_test = lines.entry(key.clone()).or_default();
        // A line has a figure for each metric.
        if of_test
            .last()
            .is_none_or(|line| line.number != figure.line || line.place != place)
        {
            let after_another = last.as_ref().is_some_and(|last| *last != key);
            of_test.push(Line {
                place,
                after_another,
                number: figure.line,
            });
        }
        last = Some(key);
    }
    let mut doubts = Vec::new();
    let mut runs = HashMap::new();
    for (((_, case, mode), _), lines) in &lines {
        let numbers = runs_of(lines);
        runs.extend(
            lines
                .iter()
                .zip(&numbers)
                .map(|(line, &run)| ((line.number, line.place), run)),
        );
        // Under Linux each CPU sleeps when it likes, so a run need not have a line of every CPU.
        let of_tests = (mode != LINUX).then(|| missing(lines, &numbers));
        doubts.extend(of_tests.into_iter().flatten().map(|(line, message)| {
            ImportError::new(
                &options.file,
                line,
                "",
                format!("{case} {mode}: {message}"),
                "figures of that run stay beside each other; send the log again, or leave it so",
            )
        }));
    }
    for figure in figures {
        if let Some(run) = figure
            .place
            .and_then(|place| runs.get(&(figure.line, place)))
        {
            figure.iteration = *run;
        }
    }
    doubts
}

/// The run of each line, by the strictest rules that do not tear runs apart; by each CPU's own
/// count where all do.
fn runs_of(lines: &[Line]) -> Vec<u32> {
    let mut counts = HashMap::new();
    let counted = lines
        .iter()
        .map(|line| {
            let count = counts.entry(line.place).or_default();
            *count += 1;
            *count - 1
        })
        .collect_vec();
    let most = counts.values().max().copied().unwrap_or(0);
    // There are as many runs as the CPU with the most lines has, or hardly more, where every CPU
    // lost a line. With few runs that cannot be told from a log in another order.
    let more = if most < FEWEST_RUNS {
        0
    } else {
        (most / 10).max(1)
    };
    RULES
        .into_iter()
        .map(|rules| split(lines, rules))
        .find(|numbers| numbers.last().is_none_or(|last| *last < most + more))
        .unwrap_or(counted)
}

fn split(lines: &[Line], (has_order, has_gap): (bool, bool)) -> Vec<u32> {
    let mut order: HashMap<(u16, u16), usize> = HashMap::new();
    let mut seen = HashSet::new();
    let (mut run, mut last) = (0, 0);
    let mut numbers = Vec::with_capacity(lines.len());
    for line in lines {
        let next = order.len();
        let at = *order.entry(line.place).or_insert(next);
        let ends = seen.contains(&line.place)
            || !seen.is_empty() && (has_gap && line.after_another || has_order && at < last);
        if ends {
            run += 1;
            seen.clear();
        }
        seen.insert(line.place);
        last = at;
        numbers.push(run);
    }
    numbers
}

/// Fewer runs than this are taken to be as many as a CPU has lines.
const FEWEST_RUNS: u32 = 4;

/// Most doubts of a test that are named one by one.
const MOST_NAMED: usize = 5;

/// Runs that lack a line of a CPU that others have, each with the line where it begins.
fn missing(lines: &[Line], numbers: &[u32]) -> impl Iterator<Item = (u64, String)> {
    let places: std::collections::BTreeSet<(u16, u16)> =
        lines.iter().map(|line| line.place).collect();
    let mut of_run = BTreeMap::new();
    for (line, &run) in lines.iter().zip(numbers) {
        of_run
            .entry(run)
            .or_insert((line.number, HashSet::new()))
            .1
            .insert(line.place);
    }
    let total = of_run.len();
    let mut found: Vec<(u64, String)> = Vec::new();
    let mut more = 0;
    for (run, (first, there)) in of_run {
        let lost = places
            .iter()
            .filter(|place| !there.contains(place))
            .map(|p| format!("{}.{}", p.0, p.1))
            .collect_vec();
        match (lost.is_empty(), found.len() < MOST_NAMED) {
            (true, _) => {}
            (false, true) => found.push((
                first,
                format!(
                    "run {} of {total} has no line of CPU {}",
                    run + 1,
                    lost.join(", ")
                ),
            )),
            (false, false) => more += 1,
        }
    }
    if let Some((_, last)) = found.last_mut().filter(|_| more > 0) {
        *last += &format!("; nor have {more} runs after it all their lines");
    }
    found.into_iter()
}
