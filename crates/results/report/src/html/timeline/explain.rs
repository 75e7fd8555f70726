//! A timeline in words: why the slowest CPU took so long, and what its end hung on.

use super::picture::{Names, cpu_name};
use crate::blocks::figure as number;
use crate::model::headline::purpose;
use crate::words::listed;
use attribution::{Activity, Actor, Cause, Iteration, LaneSpan, PathPart};
use recording::metrics;
use std::collections::BTreeMap;

/// The answer about a metric of a CPU.
pub(super) struct Answer {
    /// The question, short: "Why does CPU 3 (1.3) take 375.3 us?"
    pub(super) question: String,
    /// The CPU's own time in it; its figures add up to the metric.
    pub(super) own: String,
    /// The path that its end hung on, followed back; empty where that is its own time only.
    pub(super) path: String,
}

/// More CPUs than this are counted instead of named.
const MOST_NAMED: usize = 8;

/// `CPU 3 (1.3)`.
pub(super) fn full_name(names: &Names, cpu: u16) -> String {
    match names.get(&cpu) {
        Some((cluster, core)) => format!("CPU {cpu} ({cluster}.{core})"),
        None => format!("CPU {cpu}"),
    }
}

/// Explains the metric of a CPU in an iteration; `None` if the iteration does not have it.
pub(super) fn answer(
    iteration: &Iteration<'_>,
    names: &Names,
    cpu: u16,
    metric: &str,
    tick_us: f64,
    path: &[PathPart],
) -> Option<Answer> {
    let (from, to) = iteration.window(cpu, metric)?;
    let split = iteration.split(cpu, metric)?;
    let us = |ticks: u64| format!("{} us", number(ticks as f64 * tick_us));
    let name = full_name(names, cpu);
    let what = metrics::by_name(metric).map_or("for the call", |metric| purpose(*metric));
    let ticks = |cause: Cause| split.causes.get(&cause).copied().unwrap_or(0);
    let mut parts: Vec<(u64, String)> = Vec::new();

    let lane = iteration.lane(cpu);
    let within = lane
        .iter()
        .filter(|span| span.from >= from && span.to <= to);
    let within: Vec<&LaneSpan> = within.collect();
    parts.extend(lock_waits(iteration, names, &within, &us));
    let [channel, scp] = [Cause::ScpChannelWait, Cause::ScpWait].map(ticks);
    parts.extend(channel_wait(names, &within, channel, &us));
    parts.extend(scp_wait(names, &within, scp, to - from, &us));
    let (l1, l2) = (ticks(Cause::FlushL1), ticks(Cause::FlushL2));
    if l2 > 0 {
        parts.push((
            l1 + l2,
            format!(
                "flushed L1 and L2 for {} (L2 alone {}), as the last of its cluster to go down",
                us(l1 + l2),
                us(l2)
            ),
        ));
    } else if l1 > 0 {
        parts.push((l1, format!("flushed the L1 for {}", us(l1))));
    }
    let told = [
        Cause::LockWait,
        Cause::ScpChannelWait,
        Cause::ScpWait,
        Cause::FlushL1,
        Cause::FlushL2,
    ];
    for cause in Cause::ALL.into_iter().filter(|cause| !told.contains(cause)) {
        let sum = ticks(cause);
        let words = || format!("{} {}", cause.row().sentence, us(sum));
        parts.extend((sum > 0).then(|| (sum, words())));
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.0));
    let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    let own = match texts.split_last() {
        None => String::new(),
        Some((only, [])) => format!("It {only}."),
        Some((last, first)) => format!("It {}; and {last}.", first.join("; ")),
    };
    Some(Answer {
        question: format!("Why does {name} take {} {what}?", us(to - from)),
        own,
        path: path_in_words(path, names, cpu, &us),
    })
}

/// A part of a time: its ticks, and what was done in it.
type Part = (u64, String);

/// The waits for locks; a lock is told with its holders, in the order in which they had it.
fn lock_waits(
    iteration: &Iteration<'_>,
    names: &Names,
    within: &[&LaneSpan],
    us: &dyn Fn(u64) -> String,
) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut locks: BTreeMap<u32, Vec<(u16, u64)>> = BTreeMap::new();
    for span in within {
        if let (Activity::Cause(Cause::LockWait), Some(lock), Some(holder)) =
            (span.activity, span.on, span.holder)
        {
            add(locks.entry(lock).or_default(), holder, span.to - span.from);
        }
    }
    for (lock, holders) in &locks {
        let sum = holders.iter().map(|(_, ticks)| ticks).sum();
        let whose = whose_lock(iteration, names, *lock);
        parts.push((
            sum,
            format!(
                "waited {} for {whose}, held {}",
                us(sum),
                by(holders, names, us)
            ),
        ));
    }
    parts
}

/// The ticks for which each holder was waited for, by a cause.
fn waited_for(within: &[&LaneSpan], cause: Cause) -> Vec<(u16, u64)> {
    let mut shares = Vec::new();
    for span in within {
        if let (Some(holder), true) = (span.holder, span.activity == Activity::Cause(cause)) {
            add(&mut shares, holder, span.to - span.from);
        }
    }
    shares
}

/// The wait for the channel to the SCP.
fn channel_wait(
    names: &Names,
    within: &[&LaneSpan],
    sum: u64,
    us: &dyn Fn(u64) -> String,
) -> Option<Part> {
    let queue = waited_for(within, Cause::ScpChannelWait);
    let held = by(&queue, names, us);
    (sum > 0).then(|| {
        let waited = us(sum);
        (
            sum,
            format!("waited {waited} for the channel to the SCP, held {held}"),
        )
    })
}

/// The wait for the SCP, of a time of `whole` ticks.
fn scp_wait(
    names: &Names,
    within: &[&LaneSpan],
    sum: u64,
    whole: u64,
    us: &dyn Fn(u64) -> String,
) -> Option<Part> {
    if sum == 0 {
        return None;
    }
    let mut served = waited_for(within, Cause::ScpWait);
    // What is not worth telling is in the sum all the same.
    served.retain(|&(_, ticks)| ticks * 100 >= whole);
    let whom = match served.is_empty() {
        true => String::new(),
        false if served.len() > MOST_NAMED => {
            let sum = served.iter().map(|&(_, ticks)| ticks).sum();
            format!(
                ", of it {} while it served {} others",
                us(sum),
                served.len()
            )
        }
        false => format!(
            ", of it {}",
            listed(
                &served
                    .iter()
                    .map(|&(holder, ticks)| format!(
                        "{} while it served {}",
                        us(ticks),
                        cpu_name(names, holder)
                    ))
                    .collect::<Vec<_>>(),
            )
        ),
    };
    Some((sum, format!("waited {} for the SCP{whom}", us(sum))))
}

/// Adds to the share of a holder that came last, or starts a new one.
fn add(shares: &mut Vec<(u16, u64)>, holder: u16, ticks: u64) {
    match shares.iter_mut().find(|(other, _)| *other == holder) {
        Some((_, sum)) => *sum += ticks,
        None => shares.push((holder, ticks)),
    }
}

fn by(holders: &[(u16, u64)], names: &Names, us: &dyn Fn(u64) -> String) -> String {
    match holders {
        [(holder, _)] => format!("by {}", cpu_name(names, *holder)),
        [(first, _), .., (last, _)] if holders.len() > MOST_NAMED => {
            let ticks = || holders.iter().map(|&(_, ticks)| ticks);
            format!(
                "in turn by {} CPUs, first {} and last {}, {} to {} each",
                holders.len(),
                cpu_name(names, *first),
                cpu_name(names, *last),
                us(ticks().min().unwrap_or(0)),
                us(ticks().max().unwrap_or(0))
            )
        }
        _ => {
            let each: Vec<_> = holders
                .iter()
                .map(|&(holder, ticks)| format!("{} ({})", cpu_name(names, holder), us(ticks)))
                .collect();
            format!("in turn by {}", listed(&each))
        }
    }
}

/// A lock that only CPUs of one cluster ever had is that cluster's.
fn whose_lock(iteration: &Iteration<'_>, names: &Names, lock: u32) -> String {
    let mut clusters: Vec<_> = iteration
        .holders(lock)
        .iter()
        .filter_map(|cpu| names.get(cpu))
        .map(|(cluster, _)| *cluster)
        .collect();
    clusters.dedup();
    match (clusters.as_slice(), iteration.holders(lock).len()) {
        ([_], holders) if holders > 1 => format!("its cluster's lock (lock {lock})"),
        ([], _) | (_, 1) => format!("lock {lock}"),
        _ => format!("the lock that all clusters share (lock {lock})"),
    }
}

/// The parts of a critical path on other CPUs, in words.
fn path_in_words(path: &[PathPart], names: &Names, cpu: u16, us: &dyn Fn(u64) -> String) -> String {
    let all: u64 = path.iter().map(|part| part.to - part.from).sum();
    let mut scp = 0;
    let mut taking = 0;
    let mut served: Vec<u16> = Vec::new();
    let mut others: Vec<(u16, u64)> = Vec::new();
    let mut own = 0;
    for part in path {
        let ticks = part.to - part.from;
        match (part.place, part.serves) {
            (Actor::Scp(_), Some(whom)) => {
                scp += ticks;
                taking += if part.taken { 0 } else { ticks };
                if !served.contains(&whom) && ticks * 100 >= all {
                    served.push(whom);
                }
            }
            (Actor::Scp(_), None) => scp += ticks,
            (Actor::Cpu(other), _) if other == cpu => own += ticks,
            (Actor::Cpu(other), _) => add(&mut others, other, ticks),
        }
    }
    if scp == 0 && others.is_empty() {
        return String::new();
    }
    let mut parts = Vec::new();
    if scp > 0 {
        let whom = match served.len() > MOST_NAMED {
            true => format!("{} CPUs", served.len()),
            false => listed(
                &served
                    .iter()
                    .map(|&cpu| cpu_name(names, cpu))
                    .collect::<Vec<_>>(),
            ),
        };
        let before = match taking {
            0 => String::new(),
            _ => format!(", of it {} before it took them", us(taking)),
        };
        parts.push(format!(
            "{} in the SCP, with the commands of {whom}{before}",
            us(scp)
        ));
    }
    others.sort_by_key(|&(_, ticks)| std::cmp::Reverse(ticks));
    let rest: u64 = others.iter().skip(3).map(|(_, ticks)| ticks).sum();
    let mut each: Vec<_> = others
        .iter()
        .take(3)
        .map(|&(other, ticks)| format!("{} on {}", us(ticks), cpu_name(names, other)))
        .collect();
    if rest > 0 {
        each.push(format!("{} on {} others", us(rest), others.len() - 3));
    }
    parts.extend(each);
    parts.push(format!("{} on {} itself", us(own), cpu_name(names, cpu)));
    format!(
        "Followed back from its last instruction, its critical path took {}.",
        listed(&parts)
    )
}
