//! The answer of a comparison, in a few sentences: what a side lacks, what was not alike, what
//! changed and why, and how sure that is.

use super::names::name;
use super::{capital, listed};
use crate::blocks::{figure, fixed, one_or_range};
use comparison::{
    Basis, Better, BoardCost, Bounded, CauseChange, Change, Comparison, Condition, CriticalPath,
    FEWEST_RUNS, Lack, Row, Sessions, Shift, TablePaths, Verdict, spaced,
};
use itertools::Itertools;
use recording::metrics::EVENTS;
use recording::{grouped, stats, total_order};
use std::collections::BTreeSet;

/// Sentences of changes at most; what is left is counted in one more.
const MOST_CHANGES: usize = 2;

/// From run to run nothing drifts by more percent than this without being seen.
const LARGEST_DRIFT: f64 = 5.0;

/// A change with its row and the recording that it is in.
type ChangedRow<'c> = (&'c Row, usize, &'c Change);

fn changed_rows(comparison: &Comparison, side: usize) -> impl Iterator<Item = ChangedRow<'_>> {
    let of_side = comparison.of_side(side);
    of_side.map(move |(row, change)| (row, side, change))
}

/// All sentences, the one that matters most first.
pub fn answer(comparison: &Comparison) -> Vec<String> {
    let sides = 1..comparison.sides.len();
    let mut told = missing(comparison);
    told.extend(comparison.stand_ins.iter().map(|of| {
        let (base, other) = (&of.base, &of.other);
        format!(
            "{other} of {} is compared with {base}.",
            name(comparison, of.side)
        )
    }));
    told.extend(comparison.choices.iter().flat_map(super::idle::changed));
    told.extend(given_again(comparison));
    told.extend(conditions(comparison));
    told.extend(odd_runs(comparison));
    let (unknown, in_sessions): (Vec<_>, Vec<_>) = comparison
        .sessions
        .iter()
        .filter_map(|of| Some((of.floors.is_empty(), in_sessions(comparison, of)?)))
        .partition(|(is_unknown, _)| *is_unknown);
    told.extend(unknown.into_iter().map(|(_, said)| said));
    let mut found = changes(comparison);
    found.extend(sides.clone().filter_map(|side| too_few(comparison, side)));
    found.extend(in_sessions.into_iter().map(|(_, said)| said));
    if found.is_empty() && comparison.changes().any(|(_, change)| !change.is_open()) {
        found.push(nothing(comparison));
    }
    // A regression is among the first sentences, whatever else there is to tell.
    let before = if comparison.has_regression() {
        2
    } else {
        told.len()
    };
    let rest = told.split_off(before.min(told.len()));
    told.extend(found);
    told.extend(rest);
    told.extend(comparison.sessions.iter().filter_map(state));
    told.extend(sides.filter_map(|side| drift(comparison, side)));
    told
}

/// Whether a bound holds in a recording, in a sentence with the row that decides it.
pub fn bound(comparison: &Comparison, of: &Bounded) -> String {
    let (name, text) = (name(comparison, of.side), &of.bound);
    if of.rows.is_empty() {
        return format!("Whether `{text}` holds cannot be told: {name} has no such row.");
    }
    let mut such = of.rows.iter().filter(|row| row.holds == of.holds);
    let rows = format!(
        "in {} of {} rows of {name}",
        such.clone().count(),
        of.rows.len()
    );
    let is = such.next().map_or_else(String::new, |row| {
        match row.interval.map(|of| one_or_range(of.map(figure))) {
            Some(range) => format!(": {} has {range} {}", row.row, of.unit),
            None => format!(": {} lacks a part or a run", row.row),
        }
    });
    match of.holds {
        Some(true) => format!("`{text}` holds {rows}{is}."),
        Some(false) => format!("`{text}` does not hold {rows}{is}."),
        None => format!("Whether `{text}` holds cannot be told {rows}{is}."),
    }
}

/// What a side lacks and another has, a sentence for each side.
pub fn missing(comparison: &Comparison) -> Vec<String> {
    let of_side = |side: usize| {
        let lacks = comparison
            .missing
            .iter()
            .filter(|of| of.side == side)
            .collect_vec();
        let first = lacks.first()?;
        let (label, name) = (first.key.label(), name(comparison, side));
        let more = match lacks.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more rows are missing there"),
        };
        Some(match &first.lack {
            Lack::Row => format!("{} has no row {label}{more}.", capital(&name)),
            Lack::Runs(has, of) => format!("{label} is in {has} of {of} runs of {name}{more}."),
            Lack::Unit(own, base) => {
                format!(
                    "{label} is in {own} in {name}, and {own} cannot be compared with {base}{more}."
                )
            }
        })
    };
    (0..comparison.sides.len()).filter_map(of_side).collect()
}

/// Recordings that were given more than once.
fn given_again(comparison: &Comparison) -> Vec<String> {
    (0..comparison.sides.len())
        .filter(|side| comparison.sides[*side].given_again > 0)
        .map(|side| {
            let count = comparison.sides[side].given_again;
            let of = if count == 1 {
                "A recording"
            } else {
                "Recordings"
            };
            format!(
                "{of} of {} were given again: the same measurement counts once.",
                name(comparison, side)
            )
        })
        .collect()
}

/// The conditions that differ, with the rows that are not judged for them.
fn conditions(comparison: &Comparison) -> Vec<String> {
    let groups = grouped(
        comparison
            .conditions
            .iter()
            .map(|of| ((of.condition, of.side), of)),
    );
    let sentence = |((condition, side), of): &((Condition, usize), Vec<&comparison::Differing>)| {
        let rows = comparison
            .of_side(*side)
            .filter(|(row, change)| {
                change.verdict == Verdict::Unjudged(*condition)
                    && of.iter().any(|of| of.decides(&row.key))
            })
            .count();
        let tables = of
            .iter()
            .filter_map(|of| of.table.as_ref())
            .map(|[_, case, mode]| format!(" of {case} {mode}"))
            .collect_vec();
        let which = match tables.as_slice() {
            [one] => one.clone(),
            [] => String::new(),
            more => format!(" of {} tables", more.len()),
        };
        let (name, [base, other]) = (name(comparison, *side), &of[0].values);
        let what = match condition {
            Condition::Machine => {
                format!("{name} was measured on another machine ({other}, not {base})")
            }
            Condition::Given => format!("{name} was measured with {other}, not {base}"),
            Condition::Order if of[0].values.contains(&"chance".to_owned()) => {
                "Chance had the order of the CPUs".to_owned()
            }
            Condition::Order => format!("The CPUs came in another order in {name}"),
            Condition::Timer => format!("The timer that wakes the CPUs is another CPU's in {name}"),
            Condition::Session => return None,
        };
        let is = if rows == 1 { "row is" } else { "rows are" };
        (rows > 0).then(|| {
            format!(
                "{}, so {rows} {is} not judged{}.",
                capital(&what),
                which.replacen(" of", ":", 1)
            )
        })
    };
    groups.iter().filter_map(sentence).collect()
}

/// Runs that are unlike the others of their side.
fn odd_runs(comparison: &Comparison) -> Vec<String> {
    let odd = comparison.odd_runs.iter();
    odd.map(|odd| {
        format!(
            "Run {} of {} is {} than the other runs there, in the median of {} rows.",
            odd.run,
            name(comparison, odd.side),
            times_or_percent((odd.factor - 1.0) * 100.0, ["larger", "smaller"]),
            odd.rows
        )
    })
    .collect()
}

/// The changes that matter: of what measure, in how many rows, by how much and why; what became
/// worse first, and then what changed most.
fn changes(comparison: &Comparison) -> Vec<String> {
    let rows = (1..comparison.sides.len()).flat_map(|side| {
        let of_side = comparison
            .of_side(side)
            .filter(|(_, change)| change.verdict.is_change());
        // What became more and what became less is not told in one breath.
        of_side.map(move |(row, change)| {
            let group = (side, &row.key.metric, change.verdict, change.absolute > 0.0);
            (group, (row, side, change))
        })
    });
    let mut groups = grouped(rows).into_iter().map(|it| it.1).collect_vec();
    let mut told = wholes(comparison, &mut groups);
    let weight = |group: &[ChangedRow<'_>]| {
        group
            .iter()
            .map(|(_, _, change)| change.size())
            .sum::<f64>()
    };
    groups.sort_by(|a, b| {
        let is_worse = |group: &[ChangedRow<'_>]| group[0].2.verdict == Verdict::Worse;
        is_worse(b)
            .cmp(&is_worse(a))
            .then(weight(b).total_cmp(&weight(a)))
    });
    let has_whole = !told.is_empty();
    let is_alone = |shift: &&Shift| {
        shift.verdict.is_change()
            && !has_whole
            && !groups.iter().any(|group| {
                (group[0].1, &group[0].0.key.metric) == (shift.side, &shift.metric)
                    && group[0].2.absolute * shift.percent > 0.0
            })
    };
    let shifts = comparison.shifts.iter().filter(is_alone);
    told.extend(shifts.map(|shift| in_common(comparison, shift)));
    let few = groups.len().min(MOST_CHANGES);
    let mut path = longest_path(comparison);
    for group in &groups[..few] {
        told.push(sentence(comparison, group));
        let path = path.take_if(|(metric, _)| *metric == group[0].0.key.metric);
        told.extend(path.map(|(_, path)| path));
    }
    let others = groups[few..]
        .iter()
        .map(|group| {
            let (row, side, change) = group[0];
            let (way, name) = (way(row, change.absolute), name(comparison, side));
            format!(
                "{} is {way} in {} rows of {name}",
                metric_of(row),
                group.len()
            )
        })
        .collect_vec();
    told.extend((!others.is_empty()).then(|| format!("Also {}.", listed(&others))));
    told
}

/// Tells the wholes that have rows of their own, and takes them from the groups with their parts,
/// which weigh what they are of the whole: a part is told only where the whole is not.
fn wholes(comparison: &Comparison, groups: &mut Vec<Vec<ChangedRow<'_>>>) -> Vec<String> {
    let mut told = Vec::new();
    for side in 1..comparison.sides.len() {
        for (whole, change) in comparison.of_side(side) {
            let Some(parts) = parts_of(comparison, whole, side) else {
                continue;
            };
            let least = cell(whole, 0) * comparison.threshold / 100.0;
            let is_told = change.verdict.is_change();
            told.extend(is_told.then(|| whole_sentence(comparison, (whole, side, change), &parts)));
            for group in groups.iter_mut() {
                group.retain(|(row, of, change)| {
                    let is_part = *of == side && parts.iter().any(|part| part.0.key == row.key);
                    let is_whole = *of == side && row.key == whole.key;
                    !is_whole && (!is_part || (!is_told && change.absolute.abs() >= least))
                });
            }
        }
    }
    groups.retain(|group| !group.is_empty());
    told
}

/// The rows that add up to a row, where there are such.
fn parts_of<'c>(
    comparison: &'c Comparison,
    whole: &Row,
    side: usize,
) -> Option<Vec<(&'c Row, &'c Change)>> {
    let parts = comparison
        .of_side(side)
        .filter(|(row, _)| {
            (row.key.table(), &row.key.metric) == (whole.key.table(), &whole.key.metric)
                && row.key != whole.key
        })
        .filter(|_| whole.key.row().is_empty())
        .collect_vec();
    let sum: f64 = parts.iter().map(|(row, _)| cell(row, 0)).sum();
    (parts.len() > 1 && (sum / cell(whole, 0) - 1.0).abs() < 0.01).then_some(parts)
}

/// "Clocks-per-packet is 13.6 % more in new (100.7 to 114.4 ticks), most of it in ip4-receive."
fn whole_sentence(
    comparison: &Comparison,
    (whole, side, change): ChangedRow<'_>,
    parts: &[(&Row, &Change)],
) -> String {
    let most = parts
        .iter()
        .filter(|of| of.1.absolute * change.absolute > 0.0)
        .max_by_key(|of| total_order(of.1.absolute.abs()))
        .map_or_else(String::new, |&(row, of)| {
            let (part, why) = (row.key.row(), counted(comparison, (row, side, of)));
            format!(", most in {part} ({}){why}", from_to(row, side))
        });
    format!(
        "{} is {} in {} ({}){most}.",
        capital(&metric_of(whole)),
        range(&[(whole, side, change)]),
        name(comparison, side),
        from_to(whole, side),
    )
}

/// Most clocks that an event takes, from the one that takes most: a miss costs no more than an
/// access to what lies below. The first that can explain half of a change is told.
const EVENT_CLOCKS: [(&str, f64); 5] = [
    ("L3", 400.0),
    ("LLC", 400.0),
    ("TLB", 100.0),
    ("L2", 100.0),
    ("L1", 30.0),
];

/// What was counted in a node that changed, where events were: more instructions, or more misses of
/// a cache.
fn counted(comparison: &Comparison, (node, side, change): ChangedRow<'_>) -> String {
    let rows = comparison.of_side(side).map(|(row, _)| row);
    let events = rows.filter(|row| {
        (row.key.table(), row.key.metric.as_str(), &row.key.subject)
            == (node.key.table(), EVENTS.name, &node.key.subject)
    });
    let events = events.collect_vec();
    let grown = |row: &Row| (cell(row, side) / cell(row, 0)).ln();
    let is_work =
        |row: &&&Row| row.key.role == "instructions" && 2.0 * grown(row) / grown(node) >= 1.0;
    let is_miss = |(kind, clocks): &(&str, f64)| {
        let mut of_kind = events.iter().filter(|row| row.key.role.contains(kind));
        of_kind.find(|row| {
            let by = cell(row, side) - cell(row, 0);
            2.0 * by * clocks / change.absolute >= 1.0 && grown(row).abs() >= 0.1
        })
    };
    let found = events.iter().find(is_work);
    match found.or_else(|| EVENT_CLOCKS.iter().find_map(is_miss)) {
        Some(row) => {
            let [from, to] = [0, side].map(|side| figure(cell(row, side)));
            format!(", where {} went from {from} to {to} a packet", row.key.role)
        }
        None if events.is_empty() => String::new(),
        None => ", which nothing explains that was counted there".to_owned(),
    }
}

/// The value of a row in a recording.
fn cell(row: &Row, side: usize) -> f64 {
    row.cells[side].map_or(f64::NAN, |cell| cell.value)
}

fn metric_of(row: &Row) -> String {
    row.key.metric.replace('_', " ")
}

/// The word for a change of a row.
fn way(row: &Row, change: f64) -> &'static str {
    words_of(row)[usize::from(change < 0.0)]
}

/// The words for more and for less of what a row is of.
fn words_of(row: &Row) -> [&'static str; 2] {
    if row.is_time() {
        ["slower", "faster"]
    } else {
        ["more", "less"]
    }
}

/// A ratio from which a change is told in times and not in percent.
const TIMES: f64 = 1.95;

/// "5.1 % more", "10 times slower": a change in percent; halves and doubles are times.
fn times_or_percent(percent: f64, [more, less]: [&str; 2]) -> String {
    let ratio = 1.0 + percent / 100.0;
    let word = if percent < 0.0 { less } else { more };
    let times = |ratio: f64| {
        fixed(ratio, if ratio < 9.95 { 1 } else { 0 })
            .to_string()
            .replace(".0", "")
    };
    match ratio {
        TIMES.. if more == "more" => format!("{} times as much", times(ratio)),
        TIMES.. => format!("{} times {word}", times(ratio)),
        0.0.. if ratio > 0.0 && ratio <= 1.0 / TIMES && less != "less" => {
            format!("{} times {word}", times(1.0 / ratio))
        }
        _ => format!("{} % {word}", digits(percent)),
    }
}

/// The size of a change in percent, with one decimal below a hundred.
fn digits(percent: f64) -> String {
    fixed(percent.abs(), usize::from(percent.abs() < 99.95)).to_string()
}

/// "20.0 to 34.0 % more": the sizes of changes of one sign, which the group has.
fn range(group: &[ChangedRow<'_>]) -> String {
    let words = words_of(group[0].0);
    let sizes = group
        .iter()
        .filter_map(|(_, _, change)| change.percent)
        .collect_vec();
    let size = |percent: &f64| (percent / 100.0).max(-1.0).ln_1p().abs();
    let ends = sizes.iter().copied();
    let ends = ends.minmax_by_key(|percent| total_order(size(percent)));
    let (least, most) = ends.into_option().unwrap_or((f64::NAN, f64::NAN));
    let (low, high) = (
        times_or_percent(least, words),
        times_or_percent(most, words),
    );
    match low.split_once(' ') {
        // In a base of 0 there is no part of it.
        _ if sizes.is_empty() => {
            format!(
                "{} {}",
                figure(group[0].2.absolute.abs()),
                way(group[0].0, group[0].2.absolute)
            )
        }
        _ if low == high => high,
        Some((figure, unit)) if high.split_once(' ').is_some_and(|it| it.1 == unit) => {
            format!("{figure} to {high}")
        }
        _ => format!("{low} to {high}"),
    }
}

/// "Powerdown is 3.0 to 10.1 % faster in v2.12 in 42 of 48 rows, mostly SCP wait; most in ..."
fn sentence(comparison: &Comparison, group: &[ChangedRow<'_>]) -> String {
    let (head, side, first) = group[0];
    let name = name(comparison, side);
    let cause = main_cause(group).map_or_else(String::new, |cause| format!(", mostly {cause}"));
    let judged = match (head.better, first.verdict) {
        (Better::Lower, _) | (_, Verdict::Changed) => "",
        (_, Verdict::Worse) => ", which is worse",
        _ => ", which is better",
    };
    let all = comparison
        .of_side(side)
        .filter(|(row, _)| row.key.metric == head.key.metric)
        .count();
    let (metric, size) = (capital(&metric_of(head)), range(group));
    match group {
        [(row, ..)] if all == 1 => {
            format!(
                "{metric} of {} is {size} in {name} ({}){judged}{cause}.",
                name_of(row),
                from_to(row, side)
            )
        }
        _ => {
            let most = group
                .iter()
                .max_by_key(|of| total_order(of.2.size()))
                .map_or_else(String::new, |(row, ..)| {
                    format!(
                        "; {} {} ({})",
                        if group.len() == 1 { "it is" } else { "most in" },
                        name_of(row),
                        from_to(row, side)
                    )
                });
            format!(
                "{metric} is {size} in {name} in {} of {all} rows{judged}{cause}{most}.",
                group.len()
            )
        }
    }
}

/// The row's case and place, without its measure.
fn name_of(row: &Row) -> String {
    row.key
        .label()
        .replacen(&format!(", {}", row.key.metric), "", 1)
}

/// "10.00 to 11.00 us": a row in the base and in a recording.
fn from_to(row: &Row, side: usize) -> String {
    let [base, other] = [0, side].map(|side| figure(cell(row, side)));
    format!("{base} to {other} {}", row.unit)
}

/// The cause to which more than half of the changes goes, over all rows of the group.
fn main_cause(group: &[ChangedRow<'_>]) -> Option<&'static str> {
    let whole: f64 = group.iter().map(|(_, _, change)| change.absolute).sum();
    let causes = || group.iter().flat_map(|(_, _, change)| &change.causes);
    let all: BTreeSet<_> = causes().map(|cause| cause.part).collect();
    let part = |wanted| -> f64 {
        causes()
            .filter(|cause| cause.part == wanted)
            .map(CauseChange::absolute)
            .sum()
    };
    let (cause, most) = all
        .into_iter()
        .map(|cause| (cause, part(cause) / whole))
        .max_by_key(|of| total_order(of.1))?;
    (most > 0.5).then(|| cause.title())
}

/// The critical path of a slowest CPU that changed most, in a sentence behind its measure; of
/// tables that are judged.
fn longest_path(comparison: &Comparison) -> Option<(&str, String)> {
    let is_judged = |paths: &&TablePaths| {
        let mut verdicts = comparison
            .of_side(1)
            .filter(|(row, _)| (&row.key.table(), &row.key.metric) == (&paths.table, &paths.metric))
            .map(|(_, change)| change.verdict)
            .peekable();
        verdicts.peek().is_some()
            && verdicts.all(|verdict| !matches!(verdict, Verdict::Unjudged(_)))
    };
    let change = |paths: &TablePaths| {
        Some(paths.paths.get(1)?.as_ref()?.total() - paths.paths[0].as_ref()?.total())
    };
    let (paths, by) = comparison
        .paths
        .iter()
        .filter(is_judged)
        .filter_map(|paths| Some((paths, change(paths)?)))
        .max_by_key(|of| total_order(of.1.abs()))?;
    let [Some(base), Some(other)] = &paths.paths[..] else {
        return None;
    };
    let CriticalPath { who, .. } = base;
    let part = base.changes(other).into_iter().next()?;
    // The part that changed most may have gone the other way.
    if part.absolute().signum() != by.signum() || by == 0.0 {
        return None;
    }
    let who = if *who == other.who {
        who.to_string()
    } else {
        format!("{who} and {}", other.who)
    };
    let way = if by < 0.0 { "less" } else { "more" };
    let said = format!(
        "The slowest CPU of {} ({who}) takes {} us {way}, {} us of it {}.",
        spaced(&paths.table),
        figure(by.abs()),
        figure(part.absolute().abs()),
        part.part.title(),
    );
    Some((&paths.metric, said))
}

/// The common change of a measure, in a sentence.
pub fn in_common(comparison: &Comparison, shift: &Shift) -> String {
    let words = comparison
        .rows
        .iter()
        .find(|row| row.key.metric == shift.metric)
        .map_or(["more", "less"], words_of);
    let [low, high] = shift.interval.map(|end| fixed(end, 1).signed());
    format!(
        "{} is {} in {} in what its {} rows have in common ({low} to {high} %).",
        capital(&shift.metric.replace('_', " ")),
        times_or_percent(shift.percent, words),
        name(comparison, shift.side),
        shift.rows,
    )
}

/// What is said where nothing changed, with the bound that holds.
fn nothing(comparison: &Comparison) -> String {
    let judged = || {
        (1..comparison.sides.len()).flat_map(|side| {
            changed_rows(comparison, side).filter(|(_, _, change)| !change.is_open())
        })
    };
    let most = judged()
        .max_by_key(|of| total_order(of.2.size()))
        .filter(|(_, _, change)| change.size() > 1e-12);
    let seen = judged().filter_map(|(_, _, change)| match change.basis {
        // Runs that are all alike tell nothing of what would be seen.
        Basis::Runs { seen_from, .. } => Some(seen_from).filter(|seen| *seen > 1e-3),
        _ => None,
    });
    let seen = stats::median(&seen.collect_vec());
    let rows = judged().count();
    match (most, seen) {
        (None, _) if rows == 1 => "Nothing changed: the row is the same.".to_owned(),
        (None, _) => format!("Nothing changed: all {rows} rows are the same."),
        (Some((row, _, change)), None) => format!(
            "No row changed by as much as the threshold: {} moved most, by {} %.",
            row.key.label(),
            digits(change.percent.unwrap_or(0.0)).replace("0.0", "less than 0.1")
        ),
        (Some(most), Some(seen)) => {
            let (row, _, change) = most;
            let interval = match change.basis {
                Basis::Runs {
                    interval: [low, high],
                    ..
                } => {
                    format!(
                        " ({} to {} %)",
                        fixed(low, 1).signed(),
                        fixed(high, 1).signed()
                    )
                }
                _ => String::new(),
            };
            format!(
                "Nothing changed in {rows} rows that can be told from chance; {} % in a row would be seen in 80 of 100. {} moved most: {}{interval}.",
                digits(seen),
                capital(&row.key.label()),
                range(&[most]),
            )
        }
    }
}

/// The cost of the board that moved most between two sessions, though no firmware decides it.
fn state(sessions: &Sessions) -> Option<String> {
    let ratio = |cost: &&BoardCost| (cost.us[1] / cost.us[0]).ln().abs();
    let cost = sessions
        .moved
        .iter()
        .max_by_key(|of| total_order(ratio(of)))?;
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
    let [before, after] = cost.us.map(|us| figure(us * factor));
    Some(format!(
        "The board was in another state: {} went from {before} to {after} {unit}{others}, which no release decides.",
        cost.key
    ))
}

/// What may be the board's: how far the rows went, and how far two sessions of one release did.
fn in_sessions(comparison: &Comparison, sessions: &Sessions) -> Option<String> {
    let open = changed_rows(comparison, sessions.side)
        .filter(|(_, _, change)| change.verdict == Verdict::Unjudged(Condition::Session));
    let open = grouped(open.map(|of| {
        let key = &of.0.key;
        ((&key.metric, &key.case, &key.mode), of)
    }));
    let [release, platform] = &sessions.measured;
    let name = name(comparison, sessions.side);
    let bad = match sessions.bad_fits.as_slice() {
        [] => String::new(),
        bad => format!(" The fit of {} misses its own figures.", listed(bad)),
    };
    let floor = |metric: &str, mode: &str| {
        sessions
            .floors
            .iter()
            .filter(|([of, floor], _)| mode.starts_with(of) && floor == metric)
            .max_by_key(|([of, _], _)| of.len())
            .map(|(_, percent)| *percent)
    };
    // A table whose rows all went one way, and far beside what two sessions differ by, says most.
    let weight =
        |((metric, _, mode), rows): &((&String, &String, &String), Vec<ChangedRow<'_>>)| {
            let by: f64 = rows.iter().map(|of| of.2.absolute).sum();
            let all: f64 = rows.iter().map(|of| of.2.absolute.abs()).sum();
            let least = rows
                .iter()
                .map(|of| of.2.size())
                .fold(f64::INFINITY, f64::min);
            let floor = floor(metric, mode).unwrap_or(100.0).max(f64::MIN_POSITIVE);
            if by.abs() >= all * (1.0 - 1e-9) {
                least / floor
            } else {
                0.0
            }
        };
    let largest = open.iter().max_by_key(|of| total_order(weight(of)));
    let Some(((metric, case, mode), rows)) = largest else {
        return sessions.floors.is_empty().then(|| {
            format!("How far two sessions of {platform} differ is not known, and the costs of {name} are of another.{bad}")
        });
    };
    let doubt = match floor(metric, mode) {
        Some(floor) => format!(
            "two measurements of one release differ by up to {} % ({release})",
            digits(floor)
        ),
        None => format!("how far two sessions of {platform} differ is not known"),
    };
    let rest = open.iter().map(|(_, rows)| rows.len()).sum::<usize>() - rows.len();
    let also = if rest > 0 {
        format!(", as in {rest} more rows")
    } else {
        String::new()
    };
    Some(format!(
        "{} of {} is {} in {name}{also}, but {doubt}, so it may be the board.{bad}",
        capital(&metric.replace('_', " ")),
        [case.as_str(), mode].join(" ").trim_end(),
        range(rows),
    ))
}

/// The rows of a side that have too few runs for a verdict: by how much they moved, and what would
/// decide it.
fn too_few(comparison: &Comparison, side: usize) -> Option<String> {
    let is_few = |change: &Change| matches!(change.verdict, Verdict::TooFew | Verdict::Large);
    let few = changed_rows(comparison, side)
        .filter(|(_, _, change)| is_few(change))
        .collect_vec();
    // A whole speaks for its parts.
    let parts = few
        .iter()
        .filter_map(|(row, ..)| parts_of(comparison, row, side))
        .flatten()
        .map(|(row, _)| row)
        .collect_vec();
    let is_part = |row: &Row| parts.iter().any(|part| part.key == row.key);
    let few = few
        .into_iter()
        .filter(|(row, ..)| !is_part(row))
        .collect_vec();
    let runs = comparison.sides[side].runs.min(comparison.sides[0].runs);
    let with = if runs == 1 {
        "one run a side".to_owned()
    } else {
        format!("{runs} runs a side")
    };
    few.first()?;
    let moved = few
        .iter()
        .copied()
        .filter(|(_, _, change)| !change.below)
        .collect_vec();
    let size = by_how_much(comparison, side, &few, &moved);
    let large = if moved
        .iter()
        .any(|(_, _, change)| change.verdict == Verdict::Large)
    {
        "large and unproven"
    } else {
        "which cannot be told from chance"
    };
    Some(format!(
        "{size}, {large} with {with}. {FEWEST_RUNS} runs a side would tell: `stopwatt compare A1 A2 A3 --with B1 B2 B3`."
    ))
}

/// By how much rows moved that have too few runs: the whole with the part that did most of it, where
/// there is one.
fn by_how_much(
    comparison: &Comparison,
    side: usize,
    few: &[ChangedRow<'_>],
    moved: &[ChangedRow<'_>],
) -> String {
    let (up, down): (Vec<_>, Vec<_>) = moved
        .iter()
        .copied()
        .partition(|(_, _, change)| change.absolute > 0.0);
    let name = name(comparison, side);
    let of = format!("of {} rows", comparison.of_side(side).count());
    let is = if moved.len() == 1 { "is" } else { "are" };
    let whole = moved
        .iter()
        .find_map(|of| Some((*of, parts_of(comparison, of.0, side)?)));
    match (whole, up.as_slice(), down.as_slice()) {
        (Some((first, parts)), ..) => {
            let said = whole_sentence(comparison, first, &parts);
            let more = match moved.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more {of} moved"),
            };
            said.trim_end_matches('.').to_owned() + &more
        }
        (None, [], []) => {
            let most = few
                .iter()
                .map(|(_, _, change)| change.percent.unwrap_or(0.0).abs())
                .fold(0.0, f64::max);
            format!("No row of {name} moved by more than {} %", digits(most))
        }
        (None, [], one) | (None, one, []) => {
            format!("{} {of} {is} {} in {name}", moved.len(), range(one))
        }
        (None, up, down) => format!(
            "{} {of} are {} in {name} and {} {}",
            up.len(),
            range(up),
            down.len(),
            range(down)
        ),
    }
}

/// The drift from run to run that would do the same as the largest change of runs, which only runs
/// in turn rule out.
fn drift(comparison: &Comparison, side: usize) -> Option<String> {
    let is_drawn = [0, side]
        .iter()
        .all(|side| comparison.sides[*side].repeatable);
    let told = comparison.of_side(side).filter(|(_, change)| {
        !is_drawn && matches!(change.basis, Basis::Runs { .. }) && change.verdict.is_change()
    });
    let runs = |row: &Row| (row.values[0].len() + row.values[side].len()) as f64 / 2.0;
    let least = told
        .map(|(row, change)| ((change.size() / runs(row)).exp_m1() * 100.0).abs())
        .reduce(f64::min)
        .filter(|drift| *drift < LARGEST_DRIFT)?;
    Some(format!(
        "If all runs of {} came after the others, a drift of {} % a run would do the same; runs in turn rule that out.",
        name(comparison, side),
        figure(least),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use comparison::{Input, Options};
    use findings::Findings;
    use recording::{Header, Recording};

    /// Rows of a run: case, metric, CPU, microseconds.
    type Rows = [(&'static str, &'static str, u16, f64)];

    fn run(world: &str, rows: &Rows) -> Recording {
        let mut recording = Recording::new(Header::new("e", world, "ps"));
        for &(case, metric, cpu, value) in rows {
            let series = recording.series("v", case, "serial");
            recording.measure(series, 0, metric, "us", value).cpu = Some(cpu);
        }
        recording
    }

    fn told(sides: [(&str, &[Recording]); 2]) -> Vec<String> {
        let findings = sides.map(|(_, runs)| {
            let findings = runs.iter().map(|run| Findings::new(run, "", None));
            findings.collect::<Vec<_>>()
        });
        let named = findings.iter().zip(sides);
        let inputs = named.map(|(runs, (name, _))| Input {
            name: name.to_owned(),
            runs,
            ..Input::default()
        });
        let inputs: Vec<Input<'_>> = inputs.collect();
        answer(&comparison::compare(&inputs, &Options::default()).unwrap())
    }

    fn exact(a: &Rows, b: &Rows) -> Vec<String> {
        told([("old/x", &[run("sim", a)]), ("new/x", &[run("sim", b)])])
    }

    #[test]
    fn each_measure_that_changed_has_a_sentence_and_what_became_worse_is_first() {
        let base = [
            ("c", "down", 0, 100.0),
            ("c", "down", 1, 100.0),
            ("d", "down", 0, 50.0),
            ("c", "wake", 0, 10.0),
        ];
        assert_eq!(
            exact(&base, &base),
            ["Nothing changed: all 4 rows are the same."]
        );
        let mut other = base;
        other[3].3 = 10.05;
        assert_eq!(
            exact(&base, &other),
            [
                "No row changed by as much as the threshold: c serial, wake, CPU 0 moved most, by 0.5 %."
            ]
        );
        other[3].3 = 11.0;
        (other[0].3, other[1].3) = (90.0, 80.0);
        assert_eq!(
            exact(&base, &other),
            [
                "Wake of c serial, CPU 0 is 10.0 % slower in new/x (10.00 to 11.00 us).",
                "Down is 10.0 to 20.0 % faster in new/x in 2 of 3 rows; most in c serial, CPU 1 (100.0 to 80.00 us).",
            ]
        );
        (other[0].3, other[1].3) = (1000.0, 80.0);
        assert!(
            exact(&base, &other)
                .concat()
                .contains("Down is 10 times slower in new/x in 1 of 3 rows"),
            "{:?}",
            exact(&base, &other)
        );
        assert!(
            exact(&base, &other[..3])[0].starts_with("New/x has no row c serial, wake, CPU 0.")
        );
    }

    /// Runs that scatter by a few parts in a thousand, the second row `by` times as long.
    fn runs(seed: u32, by: f64) -> Vec<Recording> {
        let of = |run: u32| {
            let noise = |row: u32| 1.0 + f64::from((seed + run * 7 + row * 5) % 11) / 2000.0;
            let rows = [
                ("c", "down", 0, 100.0 * noise(1)),
                ("c", "down", 1, 200.0 * by * noise(2)),
            ];
            run_of("import", &rows)
        };
        (0..4).map(of).collect()
    }

    fn run_of(world: &str, rows: &[(&'static str, &'static str, u16, f64)]) -> Recording {
        run(world, rows)
    }

    #[test]
    fn an_effect_is_of_the_rows_that_changed_and_no_change_has_its_power() {
        let (old, half, same) = (runs(0, 1.0), runs(3, 0.5), runs(5, 1.0));
        let said = told([("old", &old), ("new", &half)]);
        assert!(
            said[0]
                .starts_with("Down is 2 times faster in new in 1 of 2 rows; it is c serial, CPU 1"),
            "{said:?}"
        );
        let said = told([("old", &old), ("new", &same)]).join(" ");
        assert!(
            said.starts_with("Nothing changed in 2 rows that can be told from chance; 0.")
                && said.contains("in a row would be seen in 80 of 100"),
            "{said}"
        );
        let said = told([("old", &old[..1]), ("new", &half[..1])]).join(" ");
        assert!(
            said.contains("large and unproven with one run a side") && said.contains("--with"),
            "{said}"
        );
    }

    #[test]
    fn a_size_is_in_percent_or_in_times() {
        for (percent, words, said) in [
            (900.0, ["slower", "faster"], "10 times slower"),
            (900.0, ["more", "less"], "10 times as much"),
            (-90.0, ["slower", "faster"], "10 times faster"),
            (-90.0, ["more", "less"], "90.0 % less"),
            (150.0, ["slower", "faster"], "2.5 times slower"),
            (5.06, ["slower", "faster"], "5.1 % slower"),
        ] {
            assert_eq!(times_or_percent(percent, words), said, "{percent}");
        }
    }
}
