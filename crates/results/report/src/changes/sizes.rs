//! Changes of many rows in words: how large they are together, what too few runs leave open, and
//! the bound on what did not change.

use super::names::letter;
use crate::blocks::{figure, fixed};
use crate::words::capital;
use comparison::{BoardCost, Comparison, FEWEST_RUNS, Row, Sessions, Shift, TooFew, Verdict};
use recording::stats;

/// "5.1 % more", "about 10 times slower": a change in percent, of times or of something else.
fn size(percent: f64, is_time: bool) -> String {
    let ratio = 1.0 + percent / 100.0;
    let (more, less) = if is_time {
        ("slower", "faster")
    } else {
        ("more", "less")
    };
    let times = |ratio: f64| {
        fixed(ratio, if ratio < 9.95 { 1 } else { 0 })
            .to_string()
            .replace(".0", "")
    };
    match () {
        () if ratio >= 1.95 && is_time => format!("{} times {more}", times(ratio)),
        () if ratio >= 1.95 => format!("{} times as much", times(ratio)),
        () if ratio > 0.0 && ratio <= 1.0 / 1.95 && is_time => {
            format!("{} times {less}", times(1.0 / ratio))
        }
        () => format!(
            "{} % {}",
            fixed(percent.abs(), 1),
            if percent < 0.0 { less } else { more }
        ),
    }
}

/// "3 runs a side".
pub(super) fn runs_a_side(runs: usize) -> String {
    if runs == 1 {
        "one run a side".to_owned()
    } else {
        format!("{runs} runs a side")
    }
}

/// The most that a row moved in some recordings, in percent, rounded up.
fn bound(comparison: &Comparison, sides: std::ops::Range<usize>) -> String {
    let most = sides
        .map(|side| comparison.most_percent(side))
        .fold(0.0, f64::max);
    let step = if most < 1.0 { 100.0 } else { 10.0 };
    // What binary fractions add is no movement.
    ((most * step - 1e-9).max(0.0).ceil() / step).to_string()
}

/// What is said where nothing changed, with the bound that holds.
pub(super) fn nothing(comparison: &Comparison) -> String {
    let bound = bound(comparison, 1..comparison.sides.len());
    match (
        comparison.count(Verdict::Small) > 0,
        comparison.count(Verdict::Unclear) > 0,
    ) {
        _ if bound == "0" => "Nothing changed: no row moved.".to_owned(),
        (true, _) => format!(
            "No row changed by as much as the threshold: none moved by more than {bound} %."
        ),
        (_, true) => format!(
            "Nothing changed that can be told from chance: no row moved by more than {bound} %."
        ),
        _ => format!("Nothing changed: no row moved by more than {bound} %."),
    }
}

/// The changes in percent of the rows that a common change is of, with their rows.
fn rows_of<'c>(
    comparison: &'c Comparison,
    shift: &'c Shift,
) -> impl Iterator<Item = (&'c Row, f64)> {
    let rows = comparison
        .of_side(shift.side)
        .filter(|(row, _)| row.key.metric == shift.metric);
    rows.filter_map(|(row, change)| Some((row, change.percent?)))
}

/// True if the rows of a common change moved alike: half of them by about as much as their mean.
pub(super) fn is_alike(comparison: &Comparison, shift: &Shift) -> bool {
    let percents: Vec<f64> = rows_of(comparison, shift)
        .map(|(_, percent)| percent)
        .collect();
    // Of a factor and its inverse, percent are not alike.
    let size = |percent: f64| (1.0 + percent / 100.0).max(1e-9).ln();
    stats::median(&percents)
        .is_some_and(|median| (0.5..=2.0).contains(&(size(median) / size(shift.percent))))
}

/// The common change of a measure, in a sentence.
pub(super) fn in_common(comparison: &Comparison, shift: &Shift) -> String {
    let side = letter(shift.side);
    let is_time = comparison
        .rows
        .iter()
        .find(|row| row.key.metric == shift.metric)
        .is_some_and(Row::is_time);
    let [low, high] = [shift.interval.0, shift.interval.1].map(|end| fixed(end, 1).signed());
    let most = rows_of(comparison, shift)
        .max_by(|a, b| (a.1 * shift.percent).total_cmp(&(b.1 * shift.percent)));
    if let Some((row, percent)) = most.filter(|_| !is_alike(comparison, shift)) {
        let others = rows_of(comparison, shift)
            .filter(|(_, percent)| percent * shift.percent < 0.0)
            .count();
        return format!(
            "{} is {} in {side}, in the mean of {} rows ({low} to {high} %; {} and {} runs), which did not move alike: {others} went the other \
             way, and {} is {}.",
            capital(&shift.metric.replace('_', " ")),
            size(shift.percent, is_time),
            shift.rows,
            shift.runs[0],
            shift.runs[1],
            row.key
                .label()
                .replacen(&format!(", {}", row.key.metric), "", 1),
            size(percent, is_time),
        );
    }
    format!(
        "{} is about {} in {side}, in {} of {} rows ({low} to {high} % in common; {} and {} runs).",
        capital(&shift.metric.replace('_', " ")),
        size(shift.percent, is_time),
        shift.moved,
        shift.rows,
        shift.runs[0],
        shift.runs[1],
    )
}

/// The cost of the board that moved most between two sessions, though no firmware decides it.
pub(super) fn state(sessions: &Sessions) -> Option<String> {
    let ratio = |cost: &&BoardCost| (cost.us[1] / cost.us[0]).ln().abs();
    let cost = sessions
        .moved
        .iter()
        .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let others = match sessions.moved.len() - 1 {
        0 => String::new(),
        1 => ", and one more cost moved".to_owned(),
        more => format!(", and {more} more costs moved"),
    };
    let (factor, unit) = if cost.us[0] < 0.1 {
        (1e3, "ns")
    } else {
        (1.0, "us")
    };
    let ([before, after], [base, other]) = (
        cost.us.map(|us| figure(us * factor)),
        [0, sessions.side].map(letter),
    );
    Some(format!(
        "The board was in another state: {} is {before} {unit} in {base} and {after} {unit} in {other}{others}. No release of the \
         firmware decides that, so no cause is told.",
        cost.key
    ))
}

/// The rows that changed by no more than a release that was measured in two sessions.
pub(super) fn in_sessions(comparison: &Comparison, sessions: &Sessions) -> Option<String> {
    let rows = comparison.of_side(sessions.side);
    let (all, open): (Vec<bool>, Vec<bool>) = rows
        .map(|(_, change)| (true, change.verdict == Verdict::Session))
        .unzip();
    let open = open.into_iter().filter(|open| *open).count();
    let [release, platform] = &sessions.measured;
    (open > 0).then(|| {
        format!(
            "{open} of {} rows changed by no more than two sessions of one release did ({release} on {platform}), so they are not \
             judged.",
            all.len(),
        )
    })
}

/// The rows of a side that moved and have too few runs for a verdict: how many of how many, by how
/// much, and how many runs would do. `None` where all rows have enough.
pub(super) fn too_few(comparison: &Comparison, side: usize) -> Option<String> {
    let TooFew {
        runs,
        has_iterations,
        needed,
        rows,
        moved,
        more,
        percent,
        metric,
        is_time,
    } = comparison.too_few(side)?;
    let (name, with) = (letter(side), runs_a_side(runs));
    let next = if has_iterations {
        ": iterations of one run say nothing about the next run"
    } else {
        ""
    };
    let first = if moved == 0 {
        let bound = bound(comparison, side..side + 1);
        format!(
            "No row of {name} moved by more than {bound} %, but with {with} that does not say that nothing changed{next}"
        )
    } else {
        let (up, down) = if is_time {
            ("slower", "faster")
        } else {
            ("more", "less")
        };
        let words = match percent {
            Some(percent) if more == 0 || more == moved => {
                format!("about {}", size(percent, is_time))
            }
            _ => format!("{up} ({more}) or {down} ({})", moved - more),
        };
        let of = metric.map_or_else(String::new, |metric| {
            format!(" ({})", metric.replace('_', " "))
        });
        let is = if moved == 1 { "is" } else { "are" };
        format!(
            "{moved} of {rows} rows{of} {is} {words} in {name}; with {with} that cannot be told from chance{next}"
        )
    };
    let ranks = comparison.runs_for_ranks();
    let needed = match runs < FEWEST_RUNS {
        true if ranks > needed => {
            format!("{needed} runs a side, {ranks} if only ranks are to count")
        }
        true => format!("{needed} runs a side"),
        false => format!("about {needed} runs a side that scatter as these do"),
    };
    Some(format!("{first}. A verdict needs {needed}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use comparison::{Input, Options};
    use findings::Findings;
    use recording::{Header, Recording};

    /// Runs of rows whose wakeups are in microseconds; the sentence of what they have in common.
    fn common(factors: &[f64]) -> (bool, String) {
        let run = |seed: u32, factors: &[f64]| {
            let mut recording = Recording::new(Header::new("psci-latency", "import", "us"));
            let series = recording.series("v", "c", "serial");
            for (cpu, factor) in (0..).zip(factors) {
                let noise = 1.0 + f64::from((seed * 7 + u32::from(cpu) * 5) % 11) / 2000.0;
                recording
                    .measure(series, 0, "wakeup", "us", 100.0 * factor * noise)
                    .cpu = Some(cpu);
            }
            recording
        };
        let base: Vec<Recording> = (0..4)
            .map(|seed| run(seed, &vec![1.0; factors.len()]))
            .collect();
        let today: Vec<Recording> = (9..13).map(|seed| run(seed, factors)).collect();
        let sides = [&base, &today].map(|runs| {
            runs.iter()
                .map(|run| Findings::new(run, "", None))
                .collect::<Vec<_>>()
        });
        let inputs = sides
            .each_ref()
            .map(|side| Input::of_runs("s", side, None).unwrap());
        let comparison = comparison::compare(&inputs, &Options::default()).unwrap();
        let shift = &comparison.shifts[0];
        (is_alike(&comparison, shift), in_common(&comparison, shift))
    }

    #[test]
    fn rows_that_did_not_move_alike_are_not_told_as_one() {
        let (alike, said) = common(&[1.1; 12]);
        assert!(alike && said.contains("12 of 12 rows"), "{said}");
        let mut one = [1.0; 12];
        one[3] = 2.0;
        let (alike, said) = common(&one);
        assert!(!alike && said.contains("2 times slower"), "{said}");
        let mut both = [1.1; 12];
        both[..5].fill(0.9);
        assert!(!common(&both).0);
    }

    #[test]
    fn a_size_is_in_percent_or_in_times() {
        for (percent, is_time, words) in [
            (900.0, true, "10 times slower"),
            (900.0, false, "10 times as much"),
            (-90.0, true, "10 times faster"),
            (-90.0, false, "90.0 % less"),
            (100.0, true, "2 times slower"),
            (150.0, true, "2.5 times slower"),
            (5.06, true, "5.1 % slower"),
            (-5.0, true, "5.0 % faster"),
            (-100.0, true, "100.0 % faster"),
        ] {
            assert_eq!(size(percent, is_time), words, "{percent}");
        }
    }
}
