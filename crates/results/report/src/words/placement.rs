//! Placement of tasks: what was left undone or late, which policy is fast, and which takes least
//! energy.

use super::{listed, within};
use crate::blocks::{Cell, Number, figure, fixed};
use evidence::{ALIKE, Leaders};
use findings::Interval;
use findings::placement::{Placement, Policy, Top, YARDSTICK};
use itertools::Itertools;
use recording::total_order;

/// An interval in a unit.
pub fn ends(interval: Interval, number: impl Fn(f64) -> Number) -> Cell {
    Cell::Range(number(interval.low), number(interval.high))
}

/// What was left undone or late; which policy is fast; and which takes least energy.
pub fn answer(placement: &Placement<'_>) -> String {
    [
        undone(placement),
        late(placement),
        latency(placement),
        thrifty(placement),
        least_energy(placement),
    ]
    .into_iter()
    .flatten()
    .take(3)
    .join(" ")
}

/// The energy of some policies in brackets, with a blank before; nothing where it is not known.
fn energy(placement: &Placement<'_>, policies: &[&str]) -> String {
    let (unit, scale) = placement.unit();
    // From the least of all that are named to the most.
    let over = |of: fn(&Policy<'_>) -> Option<Interval>| {
        policies
            .iter()
            .filter_map(|policy| of(placement.find(policy)?))
            .reduce(|one, other| Interval {
                low: one.low.min(other.low),
                high: one.high.max(other.high),
                ..one
            })
    };
    // Without watts the yardstick's share is the energy.
    let is_known = unit == "J" || !placement.has_yardstick();
    let is_reference = matches!(policies, [one] if unit == format!("% of {one}'s"));
    let energy = over(|policy| policy.energy_unit_s).filter(|_| is_known && !is_reference);
    let energy =
        energy.map(|energy| format!("{} {unit}", ends(energy.times(scale), figure).plain()));
    let share = over(|policy| policy.energy_of_all_big).filter(|_| policies != [YARDSTICK]);
    let share = share.map(|share| {
        let percent = ends(share.times(100.0), |share| fixed(share, 1));
        format!("{} % of all-big's", percent.plain())
    });
    let work = over(|policy| {
        let [low, median, high] = [policy.work_share; 3];
        Some(Interval { low, median, high })
    });
    let work = work.filter(|_| is_partial(placement));
    let work = work.map(|share| {
        let percent = ends(share.times(100.0), |share| fixed(share, 1));
        format!("for {} % of the work", percent.plain())
    });
    let both = energy.into_iter().chain(share).chain(work).join(", ");
    if both.is_empty() {
        both
    } else {
        format!(" ({both})")
    }
}

/// True if tasks that wait between pieces of work did fewer of them under some policy.
fn is_partial(placement: &Placement<'_>) -> bool {
    let mut done = placement.policies.iter().filter(|policy| policy.is_done);
    done.any(|policy| policy.work_share < 1.0 - ALIKE)
}

/// The policies under which a task did less than under another.
fn undone(placement: &Placement<'_>) -> Option<String> {
    let undone = || placement.policies.iter().filter(|policy| !policy.is_done);
    let worst = undone().max_by_key(|of| total_order(of.unfinished_share))?;
    Some(format!(
        "Under {} {} % of the work of {} is left undone: no energy is ranked of {}.",
        worst.name,
        figure(100.0 * worst.unfinished_share),
        worst.unfinished?,
        listed(undone().map(|policy| policy.name))
    ))
}

/// Where no policy is in time: a task is late in a twentieth of its periods or more under each, or
/// more is asked of its CPUs than they can do.
fn late(placement: &Placement<'_>) -> Option<String> {
    let share = |policy: &&Policy<'_>| policy.latest().map_or(0.0, |(_, share)| share);
    let (load, all) = (placement.facts.load_percent, placement.policies.len());
    let late = placement
        .policies
        .iter()
        .filter(|policy| share(policy) >= 0.05)
        .collect_vec();
    // Where one policy is in time, the latencies tell the others.
    if late.len() < all && load <= 100.0 {
        return None;
    }
    let worst = Leaders::most(late, |policy| Some([share(policy); 2]))?;
    let (task, late) = worst.items[0].latest()?;
    let under = match worst.items.len() {
        1 => worst.items[0].name.to_owned(),
        some if some == all => format!("all {all} policies"),
        some => format!("{some} policies"),
    };
    let asked = if load > 100.0 {
        format!(": {} % of its CPUs' time is asked for", fixed(load, 0))
    } else {
        String::new()
    };
    Some(format!(
        "{task} is late in {} % of its periods under {under}{asked}.",
        figure(100.0 * late)
    ))
}

/// The policies with the lowest latency.
fn latency(placement: &Placement<'_>) -> Option<String> {
    let (lowest, all) = (&placement.wins.latency, placement.policies.len());
    let first = lowest
        .first()
        .copied()
        .or(Some(placement.policies.first()?.name));
    let ms = figure(placement.find(first?)?.p95(placement.task)?);
    let with = match lowest.len() {
        0 if all > 1 => format!(" under all {all} policies"),
        0 => String::new(),
        _ => format!(" with {}, the lowest", listed(lowest)),
    };
    Some(format!(
        "The modelled p95 of {} is {ms} ms{with}.",
        placement.task?
    ))
}

/// The policies with least energy of those that are nearly as fast; where latency is alike these
/// are those of all.
fn thrifty(placement: &Placement<'_>) -> Option<String> {
    let near = &placement.wins.energy_at_latency_within_10_percent;
    let least = least(placement, near, "the least energy");
    let is_told = !near.is_empty() && *near != placement.wins.energy;
    is_told.then(|| format!("Of those within 10 % of it, {least}"))
}

/// That some policies take something, with their energy.
fn least(placement: &Placement<'_>, policies: &[&str], what: &str) -> String {
    let take = if policies.len() > 1 { "take" } else { "takes" };
    format!(
        "{} {take} {what}{}.",
        listed(policies),
        energy(placement, policies)
    )
}

/// The policies that take least energy of all that did all work.
fn least_energy(placement: &Placement<'_>) -> Option<String> {
    let done = placement
        .policies
        .iter()
        .filter(|policy| policy.is_done)
        .collect_vec();
    let names = done.iter().map(|policy| policy.name).collect_vec();
    let energy = |policies: &[&str]| energy(placement, policies);
    Some(match (&placement.wins.energy[..], &names[..]) {
        ([], []) => return None,
        ([], [one]) => format!("Energy of {one}{}.", energy(&names)),
        ([], all)
            if done.iter().all(|policy| {
                let mut pairs = policy.integrals.iter().zip(&done[0].integrals);
                pairs.all(|(own, first)| (own / first - 1.0).abs() < ALIKE)
            }) =>
        {
            let sums = done.iter().map(|policy| policy.integrals.iter().sum());
            format!("{} take the same energy{}.", listed(all), within(sums, ""))
        }
        ([], all) => format!(
            "Which policy takes the least energy{} cannot be told with {} seeds; `--seeds {}` may tell.",
            energy(all),
            placement.seeds,
            (4 * placement.seeds).max(20)
        ),
        (policies, _) if is_partial(placement) => {
            least(placement, policies, "the least energy for the work done")
        }
        (policies, _) => least(placement, policies, "the least energy of all"),
    })
}

/// The price of speed.
pub fn top(top: &Top<'_>) -> String {
    format!(
        "At their top points {} is {:.2} times as fast as {}, and its core takes {:.2} times the energy for the same work \
         ({:.2} times with the cluster).",
        top.fast,
        top.times_as_fast,
        top.slow,
        top.times_the_energy,
        top.times_the_energy_with_cluster
    )
}
