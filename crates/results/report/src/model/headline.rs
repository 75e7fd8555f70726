//! The answer of a case in one sentence: what most of the time of its slowest CPU hangs on.
//!
//! It is read from the critical path and not from what the CPU itself did. A CPU that waits for a
//! lock is told what the holder did meanwhile: a reader who is told of the lock alone mends the
//! lock, and nothing gets faster.

use super::figures::{Group, slowest, whole_metrics};
use crate::words::{listed, place};
use attribution::{Cause, Iteration, Spending, Spent};
use findings::Findings;
use findings::compared::ComparedCell;
use recording::Series;
use recording::metrics::{Metric, POWERDOWN, WAKEUP};
use std::collections::{BTreeMap, BTreeSet};

/// The causes that several paths are spent on, the most first.
pub(crate) fn spent_on<'s>(all: impl Iterator<Item = &'s Spending>) -> Vec<Spent> {
    let mut sums: BTreeMap<Spent, u64> = BTreeMap::new();
    for &(spent, ticks) in all.flat_map(|spending| &spending.parts) {
        *sums.entry(spent).or_default() += ticks;
    }
    let mut sums: Vec<(Spent, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|&(spent, ticks)| (std::cmp::Reverse(ticks), spent));
    sums.into_iter().map(|(spent, _)| spent).collect()
}

/// The critical path of each CPU's metric in the iteration that stands for a case; empty without
/// events.
pub(crate) fn spendings(
    findings: &Findings<'_>,
    group: &Group<'_>,
    metric: &str,
    cpus: &[u16],
) -> BTreeMap<u16, Spending> {
    let Some(iteration) = median_iteration(findings, group) else {
        return BTreeMap::new();
    };
    let paths = iteration.paths(cpus, metric);
    paths
        .iter()
        .map(|(&cpu, path)| (cpu, Spending::new(path)))
        .filter(|(_, spending)| spending.total() > 0)
        .collect()
}

/// The answer of a metric of a case.
#[derive(Clone, Debug)]
pub(crate) struct Headline {
    /// The answer, a sentence.
    pub(crate) text: String,
    /// The slowest CPU.
    pub(crate) cpu: u16,
    /// The causes of the slowest CPU's critical path; empty where no events tell.
    pub(crate) spending: Spending,
}

/// The headlines of a case, what it is about first: one for each metric that is no part of another.
pub(crate) fn headlines(findings: &Findings<'_>, group: &Group<'_>) -> Vec<Headline> {
    let iteration = median_iteration(findings, group);
    let one = |metric: Metric| {
        let told = iteration.and_then(|iteration| headline(findings, group, metric, &iteration));
        told.or_else(|| untold(group, metric))
    };
    whole_metrics(group).into_iter().filter_map(one).collect()
}

/// The series of a case.
pub(crate) fn series_of(findings: &Findings<'_>, group: &Group<'_>) -> Option<Series> {
    let key = (group.release, group.case, group.mode);
    findings
        .recording
        .all_series()
        .find(|&series| findings.recording.series_texts(series) == key)
}

/// The iteration that stands for a case; `None` where it has no events.
pub(crate) fn median_iteration<'f>(
    findings: &'f Findings<'_>,
    group: &Group<'_>,
) -> Option<Iteration<'f>> {
    let series = series_of(findings, group)?;
    findings
        .timelines
        .iteration(series, findings.timelines.chosen(series)?.median)
}

/// The headline of a metric from the events of an iteration; `None` if no CPU has the metric there.
pub(crate) fn headline(
    findings: &Findings<'_>,
    group: &Group<'_>,
    metric: Metric,
    iteration: &Iteration<'_>,
) -> Option<Headline> {
    let tick_us = findings.timelines.tick_us()?;
    let cpu = iteration.slowest(metric.name)?;
    let spending = Spending::new(&iteration.path(cpu, metric.name));
    let name = |cpu: u16| {
        let cell = group.cells.iter().find(|cell| cell.recorded.cpu == cpu);
        cell.map_or_else(|| format!("CPU {cpu}"), |cell| place(&cell.recorded))
    };
    let text = sentence(&spending, cpu, metric, tick_us, &name)?;
    Some(Headline {
        text,
        cpu,
        spending,
    })
}

/// The words that can be said without events.
fn untold(group: &Group<'_>, metric: Metric) -> Option<Headline> {
    let cell: &ComparedCell = slowest(group, metric.name)?;
    let (name, us) = (
        place(&cell.recorded),
        figure(cell.recorded.value, cell.recorded.value),
    );
    let text = format!(
        "CPU {name} takes longest {}: {us} us; without events nothing says why.",
        purpose(metric)
    );
    Some(Headline {
        text,
        cpu: cell.recorded.cpu,
        spending: Spending::default(),
    })
}

/// The purpose that a CPU takes its time for.
pub(crate) fn purpose(metric: Metric) -> &'static str {
    match metric {
        _ if metric == POWERDOWN => "to power down",
        _ if metric == WAKEUP => "to wake up",
        _ => "for the call",
    }
}

/// Shares below this part of the whole are left to the details once the first is told.
const WORTH_A_CLAUSE: f64 = 0.15;

fn sentence(
    spending: &Spending,
    cpu: u16,
    metric: Metric,
    tick_us: f64,
    name: &impl Fn(u16) -> String,
) -> Option<String> {
    let total = spending.total() as f64 * tick_us;
    let mut clauses: Vec<(f64, String)> = Vec::new();
    let flushes = [Spent::Cause(Cause::FlushL1), Spent::Cause(Cause::FlushL2)];
    for &(spent, ticks) in &spending.parts {
        let mut ticks = ticks;
        let mut of = vec![spent];
        if flushes.contains(&spent) {
            // Two levels of one flush: told once, with the first of them.
            let other = if spent == flushes[0] {
                flushes[1]
            } else {
                flushes[0]
            };
            match spending.parts.iter().find(|(known, _)| *known == other) {
                Some(&(_, more)) if more > ticks || (more == ticks && other < spent) => continue,
                Some(&(_, more)) => {
                    ticks += more;
                    of.push(other);
                }
                None => {}
            }
        }
        clauses.push((ticks as f64 * tick_us, clause(spending, &of, cpu, name)));
    }
    clauses.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (first, what) = clauses.first()?;
    if total <= 0.0 {
        return None;
    }
    let whole = figure(total, total);
    let taken = format!("that CPU {} takes {}", name(cpu), purpose(metric));
    if first / total >= 0.995 {
        return Some(format!("All {whole} us {taken} go to {what}."));
    }
    let mut text = format!(
        "{} of the {whole} us {taken} go to {what}",
        figure(*first, total)
    );
    let more: Vec<String> = clauses
        .iter()
        .skip(1)
        .take(2)
        .filter(|(us, _)| us / total >= WORTH_A_CLAUSE)
        .map(|(us, what)| format!("{} to {what}", figure(*us, total)))
        .collect();
    if !more.is_empty() {
        text.push_str(&format!("; {}", listed(&more)));
    }
    text.push('.');
    Some(text)
}

/// The destination of a part, in words that follow "to".
fn clause(spending: &Spending, of: &[Spent], cpu: u16, name: &impl Fn(u16) -> String) -> String {
    let what = match of[0] {
        Spent::Scp => {
            return match spending.commands {
                0 => "the wait for the SCP".to_owned(),
                1 => "the SCP, which serves one command".to_owned(),
                more => format!("the SCP, which serves {} commands in turn", counted(more)),
            };
        }
        Spent::Outside => "what is outside of the firmware",
        Spent::Cause(Cause::FlushL1 | Cause::FlushL2) if of.len() > 1 => {
            "flushing the L1 and the L2"
        }
        Spent::Cause(cause) => cause.row().activity,
    };
    let none = BTreeSet::new();
    let cpus: BTreeSet<u16> = of
        .iter()
        .flat_map(|spent| spending.cpus.get(spent).unwrap_or(&none))
        .copied()
        .collect();
    let others: Vec<u16> = cpus.iter().copied().filter(|&other| other != cpu).collect();
    match (cpus.contains(&cpu), others.as_slice()) {
        (_, []) => what.to_owned(),
        (false, [other]) => format!("{what} on {}", name(*other)),
        (true, [other]) => format!("{what} on it and {}", name(*other)),
        _ => format!("{what} on {} CPUs", counted(cpus.len())),
    }
}

/// A small number as a word.
fn counted(number: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    WORDS
        .get(number)
        .map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// Microseconds with as many decimals as the whole asks for.
fn figure(us: f64, whole: f64) -> String {
    match whole {
        large if large >= 100.0 => format!("{us:.0}"),
        middle if middle >= 10.0 => format!("{us:.1}"),
        _ => format!("{us:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attribution::{Activity, Actor, PathPart};

    fn part(place: Actor, ticks: u64, cause: Option<Cause>, serves: Option<u16>) -> PathPart {
        let activity = cause.map(Activity::Cause);
        PathPart {
            place,
            from: 1000,
            to: 1000 + ticks,
            activity,
            serves,
            taken: serves.is_some(),
        }
    }

    fn say(path: &[PathPart], metric: Metric) -> String {
        sentence(&Spending::new(path), 3, metric, 1.0, &|cpu| {
            format!("1.{cpu}")
        })
        .unwrap()
    }

    #[test]
    fn the_answer_is_what_the_path_is_spent_on_and_not_what_the_cpu_itself_did() {
        let scp = |ticks, cpu| part(Actor::Scp(0), ticks, None, Some(cpu));
        let path = [
            part(Actor::Cpu(1), 12, Some(Cause::Code), None),
            PathPart {
                taken: false,
                ..scp(20, 1)
            },
            scp(80, 1),
            scp(100, 2),
            scp(155, 3),
            // Too short to be worth a word.
            scp(2, 4),
            part(Actor::Cpu(3), 6, Some(Cause::Code), None),
        ];
        let told = say(&path, POWERDOWN);
        assert_eq!(
            told,
            "357 of the 375 us that CPU 1.3 takes to power down go to the SCP, which serves three commands in turn."
        );
    }

    #[test]
    fn a_flush_is_told_once_and_with_the_cpu_that_did_it() {
        let path = [
            part(Actor::Cpu(1), 40, Some(Cause::FlushL1), None),
            part(Actor::Cpu(1), 50, Some(Cause::FlushL2), None),
            part(Actor::Cpu(3), 110, Some(Cause::Code), None),
        ];
        assert_eq!(
            say(&path, POWERDOWN),
            "110 of the 200 us that CPU 1.3 takes to power down go to the firmware's code; 90 to flushing the L1 and the L2 on 1.1."
        );
    }

    #[test]
    fn a_wakeup_and_a_call_are_called_so() {
        let path = [
            part(Actor::Cpu(3), 8, Some(Cause::Reset), None),
            part(Actor::Cpu(3), 12, Some(Cause::Code), None),
        ];
        assert_eq!(
            say(&path, WAKEUP),
            "12.0 of the 20.0 us that CPU 1.3 takes to wake up go to the firmware's code; 8.0 to the reset."
        );
        assert_eq!(
            say(&path[1..], recording::metrics::LATENCY),
            "All 12.0 us that CPU 1.3 takes for the call go to the firmware's code."
        );
    }
}
