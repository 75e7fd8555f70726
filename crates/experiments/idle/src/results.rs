//! The rows of a replay.

use crate::energy::Energies;
use crate::lanes;
use crate::oracle::Oracle;
use crate::platform::{POINTS, Platform};
use crate::replay::{Agreement, GovernorReplay};
use crate::trace::TracedIntervals;
use crate::trial::{Given, Row, Who};
use itertools::Itertools;
use recording::{Header, Picture, Recording, Series, facts, metrics};

const CASE: &str = "idle-replay";
/// The name of the cheapest that there could be.
const ORACLE: &str = "oracle";
/// The case of the kernel's own counts.
const COUNTERS: &str = "counters";

/// The recording of a replay.
pub fn recording(
    header: Header,
    given: &Given,
    rows: &[Row],
    s2idle: Option<(u64, String)>,
) -> Recording {
    let Given {
        platform, traced, ..
    } = given;
    let mut recording = Recording::new(header);
    let limits = rows
        .iter()
        .filter_map(|row| {
            let limit = row.trial.limit.as_ref()?;
            Some(facts::Limited {
                name: row.name(),
                of: row.trial.who.name(),
                latency_us: limit.latency_us,
                left: limit.left(platform),
            })
        })
        .collect();
    let changed = rows.iter().filter_map(|row| row.changed.as_ref());
    let replay = facts::Replay {
        changed: changed.map(|(changed, _)| changed.clone()).collect(),
        own: given.own.map(|kind| kind.to_string()),
        limits,
        s2idle,
        ..Default::default()
    };
    describe(&mut recording.header, given, replay);
    intervals(&mut recording, traced);
    for row in rows {
        add_row(&mut recording, platform, row);
        if matches!(row.trial.who, Who::File(_)) && row.trial.limit.is_none() {
            choices(&mut recording, traced, row);
        }
    }
    if traced.has_states_of(platform.state_names()) && !traced.counters.is_empty() {
        counters(&mut recording, platform, traced);
    }
    of_oracle(&mut recording, platform, &given.oracle);
    lanes::add(&mut recording, given, rows);
    recording
}

/// Adds what came of a governor, under one limit or without.
fn add_row(recording: &mut Recording, platform: &Platform, row: &Row) {
    for ((unsaid, replayed), energy) in row.replays.iter().zip(&row.energies) {
        let mode = if row.replays.len() > 1 {
            unsaid.name()
        } else {
            String::new()
        };
        let series = recording.series(&row.name(), CASE, &mode);
        states(recording, series, &row.state_names, &replayed.states);
        missed(recording, series, replayed.states.iter());
        domains(recording, platform, &row.name(), &mode, replayed, 0);
        delays(recording, series, replayed.delays.quantiles_us());
        if platform.power.is_some() {
            energies(recording, series, energy);
        }
    }
    for (end, mode) in facts::Replay::ENDS.into_iter().enumerate() {
        let Some(envelope) = &row.envelope else { break };
        let series = recording.series(&row.name(), CASE, mode);
        states(recording, series, &row.state_names, &envelope.states[end]);
        missed(recording, series, [&envelope.all[end]].into_iter());
        for (_, replayed) in &row.replays {
            domains(recording, platform, &row.name(), mode, replayed, end);
        }
        delays(recording, series, envelope.delays[end].quantiles_us());
        if platform.power.is_some() {
            energies(recording, series, &envelope.energies[end]);
        }
    }
    if let Some(agreement) = &row.agreement {
        compared(recording, row, agreement);
    }
}

/// Adds each choice of a governor's file, at the first end of what the trace does not say.
fn choices(recording: &mut Recording, traced: &TracedIntervals, row: &Row) {
    let series = recording.series(&row.name(), facts::Replay::CHOICES, "");
    let points = row.state_names.iter().map(|state| recording.point(state));
    let points = points.collect_vec();
    let chosen = row.replays.iter().take(1).flat_map(|(_, of)| &of.chosen);
    for (cpu, (sleeps, chosen)) in (0..).zip(traced.cpus.iter().zip(chosen)) {
        for (sleep, &state) in sleeps.iter().zip(chosen) {
            let point = points[usize::from(state)];
            recording.event(series, 0, cpu, sleep.enter_ns, 0, point, state.into());
        }
    }
}

fn pictures() -> Vec<Picture> {
    let title = "Idle energy, from the lowest cost of a round trip (0) to the highest (1)";
    vec![
        metrics::IDLE_TIME.bars("Time in each idle state", Some(CASE)),
        metrics::IDLE_ENERGY.curves(title, Some(CASE), "round_trip", None),
    ]
}

fn describe(header: &mut Header, given: &Given, replay: facts::Replay) {
    let platform = &given.platform;
    let power = platform.power.as_ref().map(platforms::power_facts);
    let powers_assumed = platform
        .power
        .as_ref()
        .is_some_and(|power| !power.is_sourced());
    header.set_facts(&facts::Replay {
        title: platform.title.clone(),
        power,
        powers_assumed,
        ..replay
    });
    let (name, text) = (platform.name.clone(), platform.text.clone());
    header.platform = Some(recording::Platform {
        name,
        text,
        figures: toml::Table::new(),
    });
    for (at, parts) in POINTS.iter().enumerate() {
        let place =
            toml::Table::from_iter([("round_trip".to_owned(), (*parts as f64 / 1024.0).into())]);
        header.coordinates.insert(point_name(at), place);
    }
    header.pictures = pictures();
    notes(header, given);
}

fn notes(header: &mut Header, given: &Given) {
    let Given {
        platform,
        traced,
        oracle,
        ..
    } = given;
    header.notes.push(
        "The replay is open loop: what woke a CPU stays where it was; a deeper state delays the work by its exit latency, and nothing else moves."
            .to_owned(),
    );
    match &platform.power {
        None => header.notes.push(format!(
            "{} has no powers, so nothing is said about energy.",
            platform.name
        )),
        Some(power) => {
            header.notes.push(format!("Power: {}.", power.source));
            header.notes.extend(
                power
                    .assumed
                    .iter()
                    .map(|assumed| format!("Assumed: {assumed}.")),
            );
            header.notes.push(
                "Energy is that of idle CPUs and of domains all of whose CPUs are idle; its two ends are those of what entering and leaving a state costs, by the sources of the platform's file."
                    .to_owned(),
            );
        }
    }
    if oracle.is_bound {
        header.notes.push(
            "States of a domain need all of its CPUs, so the energy of oracle is a lower bound: the cheapest state of each core and the cheapest of each domain, even where they exclude each other."
                .to_owned(),
        );
    }
    let traced_cpus = (0..)
        .zip(&traced.cpus)
        .filter(|(_, sleeps)| !sleeps.is_empty());
    if traced_cpus
        .clone()
        .any(|(cpu, _)| platform.place(cpu).1 > 0)
    {
        header.notes.push(format!(
            "The trace has {} CPUs and {} has {}: the others are laid out as on a second one.",
            traced_cpus.count(),
            platform.name,
            platform.cpus()
        ));
    }
    header.notes.extend(of_recorded(platform, traced));
    header.notes.extend(of_unsaid(traced));
    header.notes.extend(traced.notes.iter().cloned());
}

/// A note about the tick events that the trace lacks; `None` if it has them.
fn of_unsaid(traced: &TracedIntervals) -> Option<String> {
    let unsaid = traced
        .all()
        .filter(|sleep| sleep.tick_stopped.is_none())
        .count();
    (unsaid > 0).then(|| {
        format!(
            "In {unsaid} of {} intervals the trace does not say whether the tick ran: either is taken for possible in each of them; the events timer and \
             sched_switch tell.",
            traced.all().count()
        )
    })
}

/// The notes that a reader needs about the traced kernel's own choices.
fn of_recorded(platform: &Platform, traced: &TracedIntervals) -> Option<String> {
    let states = platform.domains[0].states.len();
    if !traced.has_states_of(platform.state_names()) {
        let mut entered = vec![0_u64; traced.states.len().max(1)];
        for sleep in traced.all() {
            let last = entered.len() - 1;
            entered[usize::from(sleep.state).min(last)] += 1;
        }
        let counts = traced
            .states
            .iter()
            .zip(entered)
            .map(|(name, count)| format!("{name} {count}"))
            .collect_vec();
        return Some(format!(
            "The traced kernel had other states than {}, so its own choices are no row of the table; it entered {}.",
            platform.name,
            counts.join(", ")
        ));
    }
    let deeper = traced
        .all()
        .filter(|sleep| usize::from(sleep.state) >= states)
        .count();
    if deeper > 0 {
        return Some(format!(
            "The traced kernel entered states that {} does not have, in {deeper} intervals: they count as its deepest.",
            platform.name
        ));
    }
    traced.states.is_empty().then(|| {
        format!(
            "The trace does not name its idle states: their numbers are taken for those of {}.",
            platform.name
        )
    })
}

fn intervals(recording: &mut Recording, traced: &TracedIntervals) {
    let series = recording.series("trace", CASE, "");
    let summary = &traced.summary;
    let mut add = |subject: &str, role: &str, count: u64| {
        recording.add_part(
            series,
            0,
            metrics::IDLE_INTERVALS,
            [subject, role],
            count as f64,
        );
    };
    add("known", "", summary.known);
    add("bounded", "", summary.bounded);
    add("unknown", "", summary.all_unknown());
    for (reason, count) in &summary.unknown {
        add(reason.name(), "reason", *count);
    }
}

fn states(recording: &mut Recording, series: Series, names: &[String], states: &[idle::Usage]) {
    for (name, usage) in names.iter().zip(states) {
        for (metric, value) in counted(usage) {
            recording.add(series, 0, metric, name, value);
        }
    }
}

/// The counts of a state.
fn counted(usage: &idle::Usage) -> [(metrics::Metric, f64); 4] {
    [
        (metrics::IDLE_ENTERED, usage.entered as f64),
        (metrics::IDLE_ABOVE, usage.above as f64),
        (metrics::IDLE_BELOW, usage.below as f64),
        (metrics::IDLE_TIME, usage.time_ns as f64 / 1000.0),
    ]
}

/// Adds the states and times of the power domains: the least, or the most.
fn domains(
    recording: &mut Recording,
    platform: &Platform,
    name: &str,
    mode: &str,
    replayed: &GovernorReplay,
    end: usize,
) {
    for (domain, found) in platform.power_domains.iter().zip(&replayed.domains) {
        let series = recording.series(name, facts::Replay::POWER_DOMAINS, mode);
        let mut add = |state: &str, metric: metrics::Metric, value: f64| {
            recording.add_part(series, 0, metric, [state, &domain.name], value);
        };
        add("", metrics::IDLE_TIME, found.together_ns as f64 / 1000.0);
        let states = found.states.iter().zip(&found.more);
        for (state, (usage, more)) in domain.state_names.iter().zip(states) {
            for ((metric, value), (_, more)) in counted(usage).into_iter().zip(counted(more)) {
                add(state, metric, value + end as f64 * more);
            }
        }
    }
}

/// The stays that were too deep and too shallow, over all states.
fn missed<'u>(
    recording: &mut Recording,
    series: Series,
    states: impl Iterator<Item = &'u idle::Usage> + Clone,
) {
    for (metric, of) in [
        (
            metrics::IDLE_ABOVE,
            (|usage| usage.above) as fn(&idle::Usage) -> u64,
        ),
        (metrics::IDLE_BELOW, |usage| usage.below),
    ] {
        let value = states.clone().map(of).sum::<u64>() as f64;
        recording.add(series, 0, metric, facts::Replay::ALL_STATES, value);
    }
}

fn delays(recording: &mut Recording, series: Series, [p50, p99]: [u64; 2]) {
    for (name, value) in [("p50", p50), ("p99", p99)] {
        recording.add(series, 0, metrics::IDLE_DELAY, name, value as f64);
    }
}

/// The name of a point of the range of what a round trip costs.
fn point_name(point: usize) -> String {
    format!("round trip {:.4}", POINTS[point] as f64 / 1024.0)
}

/// Units times seconds.
fn unit_s(energy: u128) -> f64 {
    energy as f64 / 1e9
}

fn energies(recording: &mut Recording, series: Series, energy: &Energies) {
    for (point, energy) in energy.iter().enumerate() {
        recording.add(
            series,
            0,
            metrics::IDLE_ENERGY,
            &point_name(point),
            unit_s(*energy),
        );
    }
}

/// The oracle's choices at both ends of what a round trip costs: each is a run that someone who
/// knows the trace could have made.
fn of_oracle(recording: &mut Recording, platform: &Platform, oracle: &Oracle) {
    let names = platform.state_names().map(str::to_owned).collect_vec();
    let dearest = oracle.states.len() - 1;
    for (mode, point) in [
        ("cheapest round trips", 0),
        ("dearest round trips", dearest),
    ] {
        let series = recording.series(ORACLE, CASE, mode);
        states(recording, series, &names, &oracle.states[point]);
        missed(recording, series, oracle.states[point].iter());
        delays(recording, series, oracle.delay_us[point]);
        if platform.power.is_some() {
            energies(recording, series, &oracle.energy);
        }
    }
}

fn compared(recording: &mut Recording, row: &Row, agreement: &Agreement) {
    let series = recording.series(&row.name(), CASE, "");
    for (name, share) in [
        ("same", agreement.same()),
        ("balanced", agreement.balanced()),
        ("commonest", agreement.commonest()),
        ("compared", Some(agreement.all() as f64)),
    ] {
        let Some(share) = share else { continue };
        recording.add(series, 0, metrics::IDLE_AGREEMENT, name, share);
    }
}

/// The traced kernel's own counts beside the trace and our accounting: cases `counters`, modes
/// `kernel` and `trace`; and how much longer a stay is by the trace.
fn counters(recording: &mut Recording, platform: &Platform, traced: &TracedIntervals) {
    let tracing_ns = traced.tracing_ns();
    let compared = traced.counters.compare(
        platform,
        &traced.cpus,
        &traced.refused,
        tracing_ns.unwrap_or(0),
    );
    for (mode, usage) in [("kernel", compared.kernel), ("trace", compared.trace)] {
        let series = recording.series("recorded", COUNTERS, mode);
        let rejected = (metrics::IDLE_REJECTED, usage.rejected as f64);
        for (metric, value) in counted(&usage).into_iter().chain([rejected]) {
            recording.add(series, 0, metric, "", value);
        }
    }
    if let Some(tracing_ns) = tracing_ns {
        let series = recording.series("recorded", COUNTERS, "");
        recording.add(series, 0, metrics::TRACING, "", tracing_ns as f64);
    }
}
