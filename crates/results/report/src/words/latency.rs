//! The answer of a case in one sentence: what most of the time of its slowest CPU hangs on.
//!
//! It is read from the critical path and not from what the CPU itself did. A CPU that waits for a
//! lock is told what the holder did meanwhile: a reader who is told of the lock alone mends the
//! lock, and nothing gets faster.

use super::{borrowed, case_title, controller, place, three};
use attribution::{Cause, Iteration, Spending, Spent};
use evidence::{Leaders, Ranked};
use findings::Findings;
use findings::cases::{Group, cpus, whole_metrics};
use findings::latency::CaseFacts;
use recording::distinct;
use recording::metrics::{LATENCY, Metric, POWERDOWN, WAKEUP};
use std::collections::BTreeSet;

/// The answer of a metric of a case.
pub struct Headline {
    /// The answer, a sentence.
    pub text: String,
    /// The same behind a sentence that has the whole.
    pub why: String,
    /// The causes of the slowest CPU's critical path; empty where no events tell.
    pub spending: Spending,
}

/// The anchor of a case's heading.
pub fn anchor(group: &Group<'_>) -> String {
    crate::blocks::anchor(&format!("{} {} {}", group.release, group.case, group.mode))
}

/// A case and its mode.
pub fn title(group: &Group<'_>) -> String {
    format!("{}, {}", case_title(group.case), group.mode)
}

/// A case with its answers, that of what it is about first.
pub struct Case<'f> {
    /// What was found.
    pub facts: &'f CaseFacts<'f>,
    /// Its figures.
    pub group: Group<'f>,
    /// Its headlines, that of what it is about first.
    pub headlines: Vec<Headline>,
}

impl Case<'_> {
    /// The case in words: "juno-v2.11, deepest level, 6 CPUs at once".
    fn name(&self) -> String {
        let CaseFacts { release, mode, .. } = self.facts;
        let level = self.level();
        let mode = match *mode {
            "parallel" => format!(", {} CPUs at once", cpus(&self.group).len()),
            "serial" => ", one CPU at a time".to_owned(),
            "" => String::new(),
            other => format!(", {other}"),
        };
        format!("{release}, {level}{mode}")
    }

    fn level(&self) -> &str {
        match self.facts.case {
            "suspend-deepest" => "deepest level",
            "suspend-level0" => "power level 0",
            "cpu-off" => "CPU_OFF",
            "psci-version" => "PSCI_VERSION",
            other => other,
        }
    }
}

/// The answer of the whole: the longest case, what it hangs on, and how good the predictions are.
pub fn answer(findings: &Findings<'_>, cases: &[Case<'_>]) -> Vec<String> {
    let Some(longest) = Leaders::most(cases, |case| Some([case.facts.longest; 2])) else {
        return Vec::new();
    };
    let first = longest.items[0];
    let release = first.facts.release;
    let also = match &longest.items[1..] {
        [] => String::new(),
        [other] if (other.facts.release, other.facts.mode) == (release, first.facts.mode) => {
            format!(", and as long at {}", other.level())
        }
        more => format!(", as do {} other cases", more.len()),
    };
    let with = borrowed(findings, release);
    let mut told = vec![format!(
        "The slowest {} takes {} us{}{with} ({}){also}.",
        if first.facts.metric == LATENCY.name {
            "call"
        } else {
            "power-down"
        },
        three(first.facts.longest),
        if findings.is_simulated() && with.is_empty() {
            " in the model"
        } else {
            ""
        },
        first.name(),
    )];
    if let Some(headline) = first.headlines.first() {
        // An iteration with events need not be the one with the median.
        let us = headline.spending.total() as f64 * findings.timelines.tick_us().unwrap_or(0.0);
        let is_same = us == 0.0 || (us / first.facts.longest - 1.0).abs() < 0.005;
        let words = if is_same {
            &headline.why
        } else {
            &headline.text
        };
        let with = if with.is_empty() {
            ""
        } else {
            "With those costs, "
        };
        told.push(format!("{with}{words}"));
    }
    // The row of all, or that of most cells.
    if let Some(all) = findings.accuracy().iter().max_by_key(|row| row.model.cells) {
        told.push(format!(
            "{} of {} predicted figures are within 10 % of the published ones.",
            all.model.within_10_percent, all.model.cells
        ));
    } else if let [one, other] = &distinct(cases.iter().map(|case| case.facts.release))[..] {
        let other = if *one == release { other } else { one };
        let same = |case: &&Case<'_>| {
            (case.facts.release, case.facts.case, case.facts.mode)
                == (other, first.facts.case, first.facts.mode)
        };
        if let Some(case) = cases.iter().find(same) {
            let us = three(case.facts.longest);
            told.push(format!(
                "The same takes {us} us{} ({other}).",
                borrowed(findings, other)
            ));
        }
    }
    told
}

/// The headlines of a case, what it is about first: one for each metric that is no part of another.
pub fn headlines(findings: &Findings<'_>, group: &Group<'_>) -> Vec<Headline> {
    let iteration = median_iteration(findings, group);
    let one = |metric: Metric| {
        iteration
            .and_then(|iteration| headline(findings, group, metric, &iteration))
            .or_else(|| {
                let us = longest(findings, group, metric)?.median;
                let taken = format!("The slowest CPU takes {} us {}", three(us), purpose(metric));
                Some(Headline {
                    text: format!("{taken}; without events nothing says why."),
                    why: "Without events nothing says why.".to_owned(),
                    spending: Spending::default(),
                })
            })
    };
    whole_metrics(group).into_iter().filter_map(one).collect()
}

/// The longest of each iteration of a case, by a metric.
fn longest<'f>(
    findings: &'f Findings<'_>,
    group: &Group<'_>,
    metric: Metric,
) -> Option<&'f Ranked<u32, u16>> {
    let series = findings.series([group.release, group.case, group.mode])?;
    findings.timelines.longest(series, metric.name)
}

/// The iteration that stands for a case; `None` where it has no events.
fn median_iteration<'f>(findings: &'f Findings<'_>, group: &Group<'_>) -> Option<Iteration<'f>> {
    let series = findings.series([group.release, group.case, group.mode])?;
    let chosen = findings.timelines.chosen(series)?;
    findings.timelines.iteration(series, chosen.median)
}

/// The headline of a metric from the events of an iteration; `None` if no CPU has the metric there.
pub fn headline(
    findings: &Findings<'_>,
    group: &Group<'_>,
    metric: Metric,
    iteration: &Iteration<'_>,
) -> Option<Headline> {
    let tick_us = findings.timelines.tick_us()?;
    let cpu = iteration.slowest(metric.name)?;
    let spending = Spending::new(&iteration.path(cpu, metric.name));
    // Where CPUs take turns at being the slowest, their names say nothing.
    let is_named = longest(findings, group, metric).is_some_and(|of| of.ever.len() == 1);
    let name = |cpu: u16| {
        let cell = group.cells.iter().find(|cell| cell.recorded.cpu == cpu);
        let named = cell.map_or_else(|| format!("CPU {cpu}"), |cell| place(&cell.recorded));
        is_named.then_some(named)
    };
    let who = name(cpu).map_or_else(
        || "the slowest CPU".to_owned(),
        |name| format!("CPU {name}"),
    );
    let whole = three(spending.total() as f64 * tick_us);
    let (most, what) = spent_most(&spending, cpu, &name)?;
    let what = what.replace("the SCP", controller(findings, group.release));
    let most = match most as f64 / spending.total() as f64 {
        share if share >= 0.995 => None,
        _ => Some(three(most as f64 * tick_us)),
    };
    let taken = format!("{whole} us that {who} takes {}", purpose(metric));
    Some(match most {
        None => Headline {
            text: format!("All {taken} go to {what}."),
            why: format!("All of it goes to {what}."),
            spending,
        },
        Some(most) => Headline {
            text: format!("{most} of the {taken} go to {what}."),
            why: format!("{most} us of it go to {what}."),
            spending,
        },
    })
}

/// The purpose that a CPU takes its time for.
fn purpose(metric: Metric) -> &'static str {
    match metric {
        _ if metric == POWERDOWN => "to power down",
        _ if metric == WAKEUP => "to wake up",
        _ => "for the call",
    }
}

/// The part that takes most of a path, in ticks, and its words behind "go to"; `None` of an empty
/// path.
fn spent_most(
    spending: &Spending,
    cpu: u16,
    name: &impl Fn(u16) -> Option<String>,
) -> Option<(u64, String)> {
    // Two levels of one flush are one part.
    let is_flush = |spent: &Spent| matches!(spent, Spent::Cause(Cause::FlushL1 | Cause::FlushL2));
    let (flushes, others): (Vec<_>, Vec<_>) = spending
        .parts
        .iter()
        .copied()
        .partition(|(spent, _)| is_flush(spent));
    let flushed = flushes.iter().map(|(_, ticks)| ticks).sum::<u64>();
    let flushes = flushes.into_iter().map(|(spent, _)| spent).collect();
    let (most, of) = others
        .into_iter()
        .map(|(spent, ticks)| (ticks, vec![spent]))
        .chain([(flushed, flushes)])
        .max_by_key(|(ticks, of)| (*ticks, std::cmp::Reverse(of.first().copied())))?;
    (most > 0).then(|| (most, clause(spending, &of, cpu, name)))
}

/// The destination of a part, in words that follow "to".
fn clause(
    spending: &Spending,
    of: &[Spent],
    cpu: u16,
    name: &impl Fn(u16) -> Option<String>,
) -> String {
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
    let cpus: BTreeSet<u16> = of
        .iter()
        .filter_map(|spent| spending.cpus.get(spent))
        .flatten()
        .copied()
        .collect();
    let others: Vec<u16> = cpus.iter().copied().filter(|&other| other != cpu).collect();
    let other = |other: u16| name(other).unwrap_or_else(|| "another CPU".to_owned());
    match (cpus.contains(&cpu), others.as_slice()) {
        (_, []) => what.to_owned(),
        (false, [one]) => format!("{what} on {}", other(*one)),
        (true, [one]) => format!("{what} on it and {}", other(*one)),
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

    fn say(path: &[PathPart]) -> String {
        let name = |cpu| Some(format!("1.{cpu}"));
        let (most, what) = spent_most(&Spending::new(path), 3, &name).unwrap();
        format!("{most}: {what}")
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
        assert_eq!(
            say(&path),
            "357: the SCP, which serves three commands in turn"
        );
    }

    #[test]
    fn a_flush_is_one_part_and_told_with_the_cpu_that_did_it() {
        let path = [
            part(Actor::Cpu(1), 40, Some(Cause::FlushL1), None),
            part(Actor::Cpu(1), 50, Some(Cause::FlushL2), None),
            part(Actor::Cpu(3), 60, Some(Cause::Code), None),
        ];
        assert_eq!(say(&path), "90: flushing the L1 and the L2 on 1.1");
    }
}
