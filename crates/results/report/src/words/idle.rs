//! Idle states: what governors would have done, what limits cost, what a kernel counted and who
//! woke it, and what a read of a clock costs.

use super::{listed, within};
use crate::blocks::{Cell, Number, figure, fixed, grouped, whole};
use evidence::{Leaders, share_less};
use findings::cpuidle::{self, KernelCounts, Residency, Test};
use findings::idle_clock::{Clock, Clocks};
use findings::idle_replay::{Bounds, Governor, Intervals, RECORDED, Replay, State};
use itertools::Itertools;
use recording::facts::{Changed, WakeRow, WakeUps};
use recording::total_order;
use std::cmp::Reverse;

/// Both ends, or one figure where they are the same.
pub fn between(between: Bounds, number: fn(f64) -> Number) -> Cell {
    Cell::Range(number(between.low), number(between.high))
}

/// A figure with one digit behind the point.
pub fn tenths(value: f64) -> Number {
    fixed(value, 1)
}

fn plain(of: Option<Bounds>, number: fn(f64) -> Number) -> String {
    of.map_or_else(String::new, |of| between(of, number).plain())
}

/// What the trace bears, and nothing beyond it.
pub fn replay(replay: &Replay<'_>) -> String {
    let verdict = &replay.verdict;
    let asked = replay.s2idle.as_ref();
    let asked =
        asked.map(|(us, states)| format!("Within {us} us s2idle of Linux 7.2 enters {states}."));
    let mut said = asked.into_iter().chain(outside(replay)).collect_vec();
    said.extend(replay.changed.iter().flat_map(changed));
    if !replay.limits.is_empty() {
        said.push(limit(replay));
    }
    if !replay.limits.is_empty() || !replay.changed.is_empty() {
        said.truncate(3);
        return said.join(" ");
    }
    let Some(best) = verdict.best.and_then(|best| replay.governor(best)) else {
        return "No governor was replayed.".to_owned();
    };
    let is_first = said.is_empty() && verdict.alike.len() < 2;
    if verdict.alike.len() > 1 {
        let Intervals {
            known,
            bounded,
            unknown,
        } = replay.intervals;
        let (alike, all) = (listed(&verdict.alike), known + bounded + unknown);
        said.push(format!(
            "{alike} enter the same states in all {all} sleeps."
        ));
    }
    let other = verdict.reference.and_then(|other| replay.governor(other));
    said.extend(other.map(
        |other| match verdict.less.filter(|_| replay.powers_sourced) {
            Some(less) => of_energy(replay, best, other, less),
            None => of_misses(replay, best, other),
        },
    ));
    if other.is_none() || is_first && best.above_percent.is_some() {
        said.push(format!(
            "{} is too deep in {} % of its sleeps and too shallow in {} %.",
            best.name,
            plain(best.above_percent, tenths),
            plain(best.below_percent, tenths)
        ));
    }
    said.extend(deepest(replay, best.name));
    said.truncate(3);
    said.join(" ")
}

/// That the kernel did what the replay does not.
fn outside(replay: &Replay<'_>) -> Option<String> {
    let first = replay.verdict.outside.first()?;
    Some(format!(
        "The traced kernel entered {} {} times, its governor {} in this replay {} times: the trace lacks something, so no saving is \
         claimed.",
        first.state,
        whole(first.recorded),
        replay.own_governor?,
        between(first.replayed, whole).plain()
    ))
}

/// The sleeps in which a governor's file chooses otherwise than another governor, and their cost.
pub fn changed(of: &Changed) -> Vec<String> {
    let Changed {
        name, of: other, ..
    } = of;
    let [least, most] = of.different;
    let all = of.sleeps;
    let at = match of.is_open {
        true => "At the ends of what the trace does not say, ",
        false => "",
    };
    if most == 0 {
        return vec![format!(
            "{at}{name} chooses the same states as {other} in all {all} sleeps."
        )];
    }
    let range = Bounds {
        low: least as f64,
        high: most as f64,
    };
    let each = of.states.iter().take(2);
    let mut each = each
        .map(|(theirs, own, count)| format!("{own} in place of {theirs} in {count}"))
        .collect_vec();
    let rest = of.states.len() - each.len();
    each.extend((rest > 0).then(|| format!("{rest} other changes")));
    let mut said = vec![format!(
        "{at}{name} chooses another state than {other} in {} of {all} sleeps: {}.",
        between(range, whole).plain(),
        listed(each)
    )];
    said.extend(of.less.map(|less| {
        let share = share_less(less);
        if less[0] > 0.0 || less[1] < 0.0 {
            format!("{at}{name} takes {share} energy than {other} on this trace.")
        } else {
            format!("Whether {name} takes less energy than {other} on this trace cannot be told: {share}.")
        }
    }));
    said
}

/// The energy of a governor in the unit of all, as a cell.
pub fn energy(replay: &Replay<'_>, of: &Governor<'_>) -> Option<Cell> {
    let (energy, unit) = replay.energy(of)?;
    let number = if unit.starts_with('%') {
        tenths
    } else {
        figure
    };
    Some(between(energy, number))
}

/// Which of two takes less energy, if that can be told.
fn of_energy(
    replay: &Replay<'_>,
    best: &Governor<'_>,
    other: &Governor<'_>,
    less: Bounds,
) -> String {
    let unit = replay.energy(best).map_or_else(String::new, |of| of.1);
    let taken = |of| energy(replay, of).unwrap_or_default().plain();
    let share = share_less([less.low, less.high]);
    let takes = if other.name == RECORDED {
        "would have taken"
    } else {
        "takes"
    };
    let (name, than) = (best.name, other.name);
    let powers = replay
        .platform
        .map_or_else(String::new, |of| format!(" with {of}'s powers"));
    match replay.verdict.saving {
        Some(_) => format!(
            "{name} {takes} {share} energy than {than} on this trace{powers}. They take {} and {} {}.",
            taken(best),
            taken(other),
            unit.replace(
                "oracle's",
                "what a governor takes that knows each sleep's length (oracle)"
            )
        ),
        None => format!(
            "Whether {name} takes less energy than {than} on this trace{powers} cannot be told: {share}."
        ),
    }
}

/// The input that would decide what the answer cannot tell.
pub fn undecided(replay: &Replay<'_>) -> Option<String> {
    let verdict = &replay.verdict;
    let of = &replay.intervals;
    if !replay.changed.is_empty() {
        let is_open = of.bounded + of.unknown > 0;
        return is_open.then(|| {
            "For a governor's file, what the trace does not say is taken at its ends: between them it may choose otherwise. Ranges of other governors hold all between.".to_owned()
        });
    }
    let (one, other, is_told) = match replay.limits.first() {
        Some(limit) => {
            let less = limit.less.filter(|less| less.low <= 0.0 && less.high > 0.0);
            (limit.name, limit.of, limit.is_same || less.is_none())
        }
        None => (verdict.best?, verdict.reference?, verdict.is_certain),
    };
    let hangs_on_costs = replay.powers_sourced
        && !replay
            .governor(one)?
            .hangs_on_trace(replay.governor(other)?);
    match of.bounded + of.unknown {
        _ if is_told || !verdict.outside.is_empty() => None,
        _ if hangs_on_costs => Some(
            "A source for what each round trip costs (`[[domain.state.round_trip]]` of the platform's file) may tell."
                .to_owned(),
        ),
        0 => None,
        some => Some(format!(
            "The trace does not tell the length of {some} of {} sleeps; `trace-cmd record -e power -e irq -e timer` may tell it.",
            some + of.known
        )),
    }
}

/// Which of two is wrong less often, if that can be told; where powers have no source, or nothing
/// is said about energy.
fn of_misses(replay: &Replay<'_>, best: &Governor<'_>, other: &Governor<'_>) -> String {
    let [own, others] = [best, other].map(|of| plain(of.wrong_percent, tenths));
    let (name, than) = (best.name, other.name);
    let is_same = best.wrong_percent == other.wrong_percent;
    let is_known = best.wrong_percent.is_some_and(|of| of.low == of.high);
    let said = match replay.verdict.is_certain {
        _ if is_same && is_known => {
            format!("{name} and {than} are wrong in {own} % of their sleeps on this trace.")
        }
        true => {
            format!("{name} is wrong in {own} % of its sleeps on this trace, {than} in {others} %.")
        }
        false => format!(
            "Which is wrong less often on this trace cannot be told: {name} ({own} % of its sleeps) or {than} ({others} %)."
        ),
    };
    if !replay.powers_sourced && best.energy_unit_s.is_some() {
        format!("{said} The platform's powers have no source, so energy stands last in the table.")
    } else {
        said
    }
}

/// The cost of the tightest limit.
fn limit(replay: &Replay<'_>) -> String {
    let rows = replay.limits.first().and_then(|limit| {
        let [under, without] = [limit.name, limit.of].map(|name| replay.governor(name));
        Some((limit, under?, without?))
    });
    let Some((limit, under, without)) = rows else {
        return "No governor was replayed under the limit.".to_owned();
    };
    let alone = if limit.left.len() == 1 { " alone" } else { "" };
    let may = format!("{} may enter {}{alone}", limit.name, listed(&limit.left));
    if limit.is_same {
        return format!(
            "{may}, and enters the states that it enters without the limit on this trace."
        );
    }
    let waits = match [under, without].map(|of| plain(of.delay_us.p99, whole)) {
        [limited, free] if limited == free => format!("{limited} us, as without the limit"),
        [limited, free] => format!("{limited} us, in place of {free}"),
    };
    let state = without.states.last().map_or("", |state| state.name);
    let [own, others] = [under, without].map(|of| plain(time_percent(of, state), tenths));
    let spends = if own == others {
        of_domains(replay, [under.name, without.name])
    } else {
        Some(format!(
            "It spends {own} % of the idle time in {state}, in place of {others} %."
        ))
    };
    let spends = spends.map_or_else(String::new, |spends| format!(" {spends}"));
    let energy = limit.less.map_or_else(String::new, |less| {
        let share = share_less([less.low, less.high]);
        if (less.low > 0.0) == (less.high > 0.0) {
            format!(" It takes {share} energy than without the limit.")
        } else {
            format!(" Whether it takes more energy cannot be told: {share}.")
        }
    });
    format!("{may}; 99 of 100 wake-ups wait at most {waits}.{spends}{energy}")
}

/// States of the power domains below a governor, each with the name of its domain.
fn domain_states<'r>(
    replay: &'r Replay<'_>,
    governor: &str,
) -> impl Iterator<Item = (&'r str, &'r State<'r>)> {
    let domains = replay.power_domains.iter();
    let domains = domains.filter(move |domain| domain.governor == governor);
    domains.flat_map(|domain| domain.states.iter().map(|state| (domain.name, state)))
}

/// The state of a power domain whose time differs most between two governors.
fn of_domains(replay: &Replay<'_>, governors: [&str; 2]) -> Option<String> {
    let [own, others] = governors.map(|governor| domain_states(replay, governor));
    let us = |of: &State<'_>| of.residency_us.map_or(0.0, |us| us.low + us.high);
    let differing = own.zip(others).map(|(own, other)| (own, other.1));
    let ((domain, own), other) =
        differing.max_by_key(|((_, own), other)| total_order((us(own) - us(other)).abs()))?;
    let [own_ms, others_ms] = [own, other].map(|of| {
        let ms = of.residency_us.map(|us| us.times(1e-3));
        plain(ms, figure)
    });
    Some(format!(
        "Power domain {domain} spends {own_ms} ms in {}, in place of {others_ms} ms.",
        own.name
    ))
}

/// How often each power domain enters its deepest state.
fn deepest(replay: &Replay<'_>, governor: &str) -> Option<String> {
    let domains = replay.power_domains.iter();
    let domains = domains.filter(|domain| domain.governor == governor);
    let enters = domains.filter_map(|domain| {
        let state = domain.states.last()?;
        let (name, times) = (domain.name, plain(Some(state.entered?), whole));
        Some(format!(
            "power domain {name} enters {} {times} times",
            state.name
        ))
    });
    let enters = enters.collect_vec();
    (!enters.is_empty()).then(|| format!("With {governor} {}.", listed(enters)))
}

/// The share of the idle time that a governor spends in a state, in percent.
pub fn time_percent(of: &Governor<'_>, state: &str) -> Option<Bounds> {
    let all: f64 = of
        .states
        .iter()
        .filter_map(|state| state.residency_us)
        .map(Bounds::middle)
        .sum();
    let mut states = of.states.iter();
    let time = states.find(|known| known.name == state)?.residency_us?;
    (all > 0.0).then(|| time.times(100.0 / all))
}

/// The time that a read takes, and the choices that another clock changes.
pub fn clocks(clocks: &Clocks<'_>) -> String {
    [reads(clocks), choices(clocks)]
        .into_iter()
        .flatten()
        .join(" ")
}

fn reads(clocks: &Clocks<'_>) -> Option<String> {
    type Read<'c> = (&'c Clock<'c>, [f64; 3]);
    let alone = clocks
        .clocks
        .iter()
        .filter(|of| of.threads == Some(1))
        .filter_map(|clock| Some((clock, clock.times.quartiles()?)))
        .collect_vec();
    let ends = |(_, [low, _, high]): &&Read<'_>| Some([*low, *high]);
    let taken = |of: &Leaders<&Read<'_>>| {
        let (clock, times) = of.items[0];
        let [low, usual, high] = times.map(figure);
        format!("{usual} ns ({low} to {high}) of {}", clock.name)
    };
    let fast = Leaders::least(&alone, ends)?;
    let also = match Leaders::most(&alone, ends)? {
        slow if fast.behind > 0 => format!(", and {}", taken(&slow)),
        _ => String::new(),
    };
    Some(format!("A read takes {}{also}.", taken(&fast)))
}

fn choices(clocks: &Clocks<'_>) -> Option<String> {
    let most = Leaders::most(&clocks.changes, |of| Some([of.changed_choices; 2]))?;
    let (first, of) = (most.items[0], clocks.changes.len());
    let percent = figure(100.0 * first.changed_choices);
    Some(match most.alone() {
        Some(_) => format!(
            "With {} {} chooses another state in {percent} % of its sleeps, more than in any other of {of} replays.",
            first.with, first.governor
        ),
        None if first.changed_choices == 0.0 => {
            format!("No choice changes with another clock, in {of} replays with published reads.")
        }
        None if most.is_all() => {
            let within = within(clocks.changes.iter().map(|of| of.changed_choices), "");
            format!(
                "{percent} % of the choices change with another clock, the same{within} in all {of} replays."
            )
        }
        None => format!(
            "At most {percent} % of the choices change with another clock, in {of} replays."
        ),
    })
}

/// The kernel and the test; the test alone where it is the usual one.
pub fn title(test: &Test<'_>) -> String {
    match test.case {
        "cpuidle" | "trace" => test.kernel.to_owned(),
        "since the start" => format!("{} since its start", test.kernel),
        case => format!("{case}, {}", test.kernel),
    }
}

/// What a kernel counted in its test, or in its tests; what firmware refused stands first.
pub fn counts(counted: &KernelCounts<'_>) -> String {
    let tests = &counted.tests;
    let of_test = |test| refusals(test, tests.len() > 1);
    let mut said = tests.iter().flat_map(of_test).collect_vec();
    match &tests[..] {
        [] => {}
        [one] => {
            said.push(entries(one));
            said.extend(counted.wake_ups.as_ref().map(woke));
            let most = most_in(one).filter(|_| counted.residencies.is_empty());
            let most = most.map(|most| most + &covered(counted, one));
            said.extend(most.map(|most| format!("{most}.")));
        }
        several => said.push(misses(several)),
    }
    let kernels = recording::grouped(counted.residencies.iter().map(|row| (row.kernel, row)));
    for (kernel, rows) in &kernels {
        let on = if kernels.len() > 1 {
            format!("On {kernel}, t")
        } else {
            "T".to_owned()
        };
        said.push(format!("{on}{}.", &residencies(rows)[1..]));
    }
    said.join(" ")
}

/// The exit latency of the last state of which it was measured.
pub fn exit_latency(counted: &KernelCounts<'_>) -> Option<String> {
    let of = counted.exit_latencies.last()?;
    let first = counted.tests.first()?.states.first()?.state;
    let ([low, us, high], state) = (of.us.map(figure), &of.state);
    Some(format!(
        "Leaving {state} takes {us} us (95 %: {low} to {high} us) beyond {first}, the kernel's path included; sysfs declares {} us.",
        of.declared_us?
    ))
}

/// States of which many entries were refused: at least 1 %.
fn refusals(test: &Test<'_>, several: bool) -> Option<String> {
    let of_state = |state: &cpuidle::State<'_>| {
        let refused = state.rejected.filter(|count| *count > 0.0)?;
        let all = refused + state.entered;
        let [count, of] = [refused, all].map(|count| grouped(count as u64));
        match 100.0 * refused / all {
            100.0 => Some(format!("all {count} entries into {}", state.state)),
            percent if percent >= 1.0 => Some(format!(
                "{count} of {of} entries into {} ({percent:.1} %)",
                state.state
            )),
            _ => None,
        }
    };
    let many = test.states.iter().filter_map(of_state).collect_vec();
    let many = Some(listed(&many)).filter(|_| !many.is_empty())?;
    Some(match test.case.strip_prefix("power domain ") {
        Some(name) => format!("Of power domain {name}, {many} were rejected."),
        None if several => format!("On {}, firmware rejected {many}.", title(test)),
        None => format!("Firmware rejected {many}."),
    })
}

/// The states in which the kernel and the hardware were for most of the time: a sentence that begins
/// with "the".
fn residencies(rows: &[&Residency<'_>]) -> String {
    let kinds = recording::grouped(rows.iter().map(|row| {
        let kind = row.place.split(' ').next().unwrap_or_default();
        ((row.metric, kind), row)
    }));
    let clause = |((metric, kind), rows): ((&str, &str), Vec<&&Residency<'_>>)| {
        let has_all = rows.iter().any(|row| row.cpu.is_none());
        let rows = rows.into_iter().filter(|row| row.cpu.is_none() == has_all);
        let states = recording::grouped(rows.map(|row| (row.state, row.value))).into_iter();
        let means =
            states.map(|(state, of)| (state, of.len(), of.iter().sum::<f64>() / of.len() as f64));
        let (state, count, mean) = means.max_by(|one, other| one.2.total_cmp(&other.2))?;
        let said = match metric {
            "idle_requested" => format!("the kernel asked for {state} for {mean:.2} % of the time"),
            "idle_hardware" => format!("the hardware was in {state} for {mean:.2} % of the time"),
            "idle_hardware_entered" => format!(
                "the hardware entered {state} {} times",
                grouped(mean as u64)
            ),
            "idle_hardware_time" => {
                format!("the hardware was in {state} for {} s", fixed(mean / 1e6, 3))
            }
            "idle_hardware_ticks" => format!(
                "the hardware was in {state} for {} ticks of the TSC",
                grouped(mean as u64)
            ),
            _ => return None,
        };
        let kind = if kind.is_empty() { "CPU" } else { kind };
        let of = if count > 1 {
            format!(" (mean of {count} {kind}s)")
        } else {
            String::new()
        };
        Some(said + &of)
    };
    // What the kernel asked for comes first.
    let kinds = kinds
        .into_iter()
        .sorted_by_key(|((metric, kind), _)| (Reverse(*metric), *kind));
    kinds.filter_map(clause).join("; ")
}

fn entries(test: &Test<'_>) -> String {
    let seconds = test
        .seconds
        .map(|seconds| format!(" in {} s", figure(seconds)));
    let who = match test.cpus {
        0 if test.case.starts_with("power domain ") => "it".to_owned(),
        0 => "all CPUs together".to_owned(),
        1 => "1 CPU".to_owned(),
        count => format!("{count} CPUs"),
    };
    let misses = test
        .misses_percent
        .zip(test.above_percent.zip(test.below_percent));
    let misses = misses.map(|(misses, (above, below))| {
        format!("; {misses:.2} % of the entries missed ({above:.2} % too deep, {below:.2} % too shallow)")
    });
    let rejected = test
        .sum
        .rejected
        .filter(|count| *count > 0.0 && refusals(test, false).is_none());
    let rejected =
        rejected.map(|count| format!(", and the hardware refused {} more", grouped(count as u64)));
    format!(
        "On {}, {who} entered idle states {} times{}{}{}.",
        title(test),
        grouped(test.entered as u64),
        seconds.unwrap_or_default(),
        rejected.unwrap_or_default(),
        misses.unwrap_or_default()
    )
}

/// The state that had most of the idle time, where there is one.
fn most_in(test: &Test<'_>) -> Option<String> {
    let most = Leaders::most(&test.states, |state| Some([state.share_percent?; 2]))?;
    let mut clusters = test.states.iter().map(|state| state.cluster);
    let state = most
        .items
        .iter()
        .exactly_one()
        .ok()
        .filter(|_| clusters.all_equal())?;
    let what = match test.sum.time_us {
        Some(_) => "idle time was",
        None => "entries were",
    };
    Some(format!(
        "{:.2} % of the {what} in {}",
        state.share_percent?, state.state
    ))
}

/// How much of the time was idle, where a trace does not cover all of it.
fn covered(counted: &KernelCounts<'_>, test: &Test<'_>) -> String {
    let covered_s = counted.covered_s(test).filter(|_| !counted.away.is_empty());
    let told = covered_s.zip(test.sum.time_us).map(|(covered_s, us)| {
        let away = recording::distinct(counted.away.iter().map(|of| of.why.as_str()));
        format!(
            ", which was {:.2} % of the {} s of all CPUs that the trace covers; in the rest they were {}",
            us / 1e4 / covered_s,
            figure(covered_s),
            listed(&away)
        )
    });
    told.unwrap_or_default()
}

/// Measurements whose entries are told one by one; tables have all.
const MOST_TOLD: usize = 4;

/// The entries of each test, and the state that had most of its idle time.
fn each(tests: &[Test<'_>]) -> String {
    let of = |test: &Test<'_>| {
        let most = most_in(test).map_or_else(String::new, |most| format!(" ({most})"));
        format!(
            "{} times on {}{most}",
            grouped(test.entered as u64),
            title(test)
        )
    };
    format!("Idle states were entered {}", listed(tests.iter().map(of)))
}

/// The tests with the fewest and the most misses, as far as figures tell them apart.
fn misses(tests: &[Test<'_>]) -> String {
    let misses = |test: &&Test<'_>| test.misses_percent.map(|percent| [percent; 2]);
    let percent = |of: &Leaders<&Test<'_>>| figure(of.items[0].misses_percent.unwrap_or(0.0));
    let of = |of: &Leaders<&Test<'_>>| {
        format!(
            "{}, {} %",
            listed(of.items.iter().map(|test| title(test))),
            percent(of)
        )
    };
    let all = match tests.len() {
        ..=MOST_TOLD => each(tests),
        several => format!("{several} measurements counted entries into idle states"),
    };
    match Leaders::least(tests, misses).zip(Leaders::most(tests, misses)) {
        Some((least, most)) if least.behind > 0 => format!(
            "{all}. The fewest entries are wrong in {}, and the most in {}.",
            of(&least),
            of(&most)
        ),
        Some((least, _)) => {
            format!(
                "{all}. {} % of the entries were wrong, the same{} in all of them.",
                percent(&least),
                within(
                    least.items.iter().filter_map(|test| test.misses_percent),
                    ""
                )
            )
        }
        None => format!("{all}."),
    }
}

/// True if the cause of wake-ups is known.
pub fn is_known(row: &&WakeRow) -> bool {
    !row.cause.starts_with("unknown")
}

/// The commonest causes of wake-ups.
fn woke(wake_ups: &WakeUps) -> String {
    let sum = |rows: &mut dyn Iterator<Item = &WakeRow>| rows.map(|row| row.count).sum::<u64>();
    let known = || wake_ups.causes.iter().filter(is_known);
    let (of_known, all) = (sum(&mut known()), sum(&mut wake_ups.causes.iter()));
    let share = |count: u64| format!("{} %", fixed(100.0 * count as f64 / all.max(1) as f64, 1));
    let most = known()
        .take(3)
        .map(|row| format!("{} ({})", row.cause, share(row.count)));
    let told = match of_known {
        0 => "What woke them is not known, for the trace shows no cause".to_owned(),
        _ => format!(
            "Most woke by {}; of {} the cause is not known",
            listed(most),
            share(all - of_known)
        ),
    };
    let called = wake_ups.called_before.map(|count| {
        format!(
            "; at {} entries a call from another CPU was on its way",
            grouped(count)
        )
    });
    format!("{told}{}.", called.unwrap_or_default())
}

/// The result of a shift in the place of a division of a time.
pub fn shift(clocks: &Clocks<'_>) -> String {
    let percent = 100.0 * clocks.shift_bias;
    format!("A shift by 10 bits counts {percent} % less than a division by 1000.")
}
