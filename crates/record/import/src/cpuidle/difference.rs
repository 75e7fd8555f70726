//! The counts between two dumps, and dumps that do not belong together.

use super::state::{Counts, CpuCounts, Dump, State};
use crate::error::ImportError;
use itertools::Itertools;
use recording::place_of;
use std::collections::{BTreeMap, BTreeSet};

/// The counts between two dumps.
#[derive(Debug, Default)]
pub struct Between {
    /// The counts for each CPU, by its number.
    pub cpus: Vec<CpuCounts>,
    /// Source of the clusters, a clause; empty where clusters are not known.
    pub clusters: String,
    /// Oddities that were taken as they are.
    pub doubts: Vec<String>,
}

/// The counts from a dump to a later one; `seconds` lie between them, where that is known.
///
/// # Errors
/// A CPU or a state is in one of them alone; counters go back, because the dumps were swapped or
/// the machine was started anew in between; nothing was counted.
pub fn between(before: &Dump, after: &Dump, seconds: Option<f64>) -> Result<Between, ImportError> {
    same_cpus(before, after)?;
    let mut doubts = Vec::new();
    for ((cpu, first), (_, last)) in before.cpus.iter().zip(&after.cpus) {
        same_states(*cpu, first, last)?;
        for (first, last) in first
            .iter()
            .zip(last)
            .filter(|(first, last)| first.disabled != last.disabled)
        {
            let word = |disabled| if disabled { "disabled" } else { "enabled" };
            doubts.push(format!(
                "{} of CPU {cpu} was {} before and {} after: someone changed it in between",
                first.name,
                word(first.disabled),
                word(last.disabled)
            ));
        }
    }
    forwards(before, after)?;
    let clusters = if after.clusters.is_empty() {
        &before.clusters
    } else {
        &after.clusters
    };
    let (places, clusters) = places(after, clusters);
    let difference = |cpu: u16, first: &[State], last: &[State]| CpuCounts {
        cpu: Some(cpu),
        place: places.get(&cpu).copied(),
        states: first
            .iter()
            .zip(last)
            .map(|(first, last)| minus(first, last))
            .collect(),
    };
    let cpus = before
        .cpus
        .iter()
        .zip(&after.cpus)
        .map(|((cpu, first), (_, last))| difference(*cpu, first, last))
        .collect_vec();
    for cpu in &cpus {
        let idle_us = cpu
            .states
            .iter()
            .filter_map(|state| state.time_us)
            .fold(0_u64, u64::saturating_add);
        let idle_s = idle_us as f64 / 1e6;
        // A state's time is counted when it is left, so a long stay may have begun before.
        if let (Some(number), Some(seconds)) = (
            cpu.cpu,
            seconds.filter(|seconds| idle_s > seconds * 1.1 + 1.0),
        ) {
            doubts.push(format!(
                "CPU {number} was idle for {idle_s:.1} s in {seconds:.1} s: are the seconds right?"
            ));
        }
    }
    Ok(Between {
        cpus,
        clusters,
        doubts,
    })
}

/// The counts of the power domains that slept from a dump to a later one, each by its name.
///
/// # Errors
/// As [`between`]; a domain is in one of them alone.
pub fn domains_between(
    before: &Dump,
    after: &Dump,
) -> Result<Vec<(String, CpuCounts)>, ImportError> {
    let of = |dump: &Dump, states: &[State]| Dump {
        file: dump.file.clone(),
        cpus: BTreeMap::from([(0, states.to_vec())]),
        ..Dump::default()
    };
    let mut counts = Vec::new();
    for (name, last) in &after.domains {
        let Some(first) = before.domains.get(name) else {
            return Err(ImportError::whole(
                &before.file,
                format!("it lacks the power domain {name}, which {} has", after.file),
                "give both dumps of the same domains",
            ));
        };
        let (first, last) = (of(before, first), of(after, last));
        if !first.counts_as(&last) {
            let cpus = between(&first, &last, None)?.cpus.into_iter();
            counts.extend(cpus.map(|cpu| {
                (
                    name.clone(),
                    CpuCounts {
                        cpu: None,
                        place: None,
                        ..cpu
                    },
                )
            }));
        }
    }
    Ok(counts)
}

/// The counts between two dumps, as measurements of a kernel or machine in a case, and in a case of
/// each power domain.
///
/// # Errors
/// As [`between`] and [`domains_between`].
pub fn counts_between(
    before: &Dump,
    after: &Dump,
    (variant, case): (&str, &str),
    seconds: Option<f64>,
) -> Result<(Vec<Counts>, Between), ImportError> {
    let domains = domains_between(before, after)?;
    // A dump may have the tables of power domains alone.
    let between = if after.cpus.is_empty() && !domains.is_empty() {
        Between::default()
    } else {
        between(before, after, seconds)?
    };
    let mut counts: Vec<Counts> = Vec::new();
    let cpus = between.cpus.iter().map(|cpu| (String::new(), cpu.clone()));
    for (name, of) in cpus.chain(domains) {
        let case = match name.as_str() {
            "" => case.to_owned(),
            name => format!("power domain {name}"),
        };
        let variant = variant.to_owned();
        let new = || Counts {
            variant,
            case: case.clone(),
            seconds,
            ..Counts::default()
        };
        let at = place_of(&mut counts, |known| known.case == case, new);
        counts[at].cpus.push(of);
    }
    Ok((counts, between))
}

fn minus(before: &State, after: &State) -> State {
    // They do not go back: that was looked at first.
    let less = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
    State {
        entered: after.entered.saturating_sub(before.entered),
        time_us: less(before.time_us, after.time_us),
        above: less(before.above, after.above),
        below: less(before.below, after.below),
        rejected: less(before.rejected, after.rejected),
        s2idle: less(before.s2idle, after.s2idle),
        ..after.clone()
    }
}

fn same_cpus(before: &Dump, after: &Dump) -> Result<(), ImportError> {
    let (first, last): (BTreeSet<u16>, BTreeSet<u16>) = (
        before.cpus.keys().copied().collect(),
        after.cpus.keys().copied().collect(),
    );
    let missing = |of: &BTreeSet<u16>, other: &BTreeSet<u16>| {
        let missing = other.difference(of).map(u16::to_string).collect_vec();
        match missing.len() {
            0 => None,
            1..=8 => Some(missing.join(", ")),
            count => Some(format!(
                "{} and {} more",
                missing[..8].join(", "),
                count - 8
            )),
        }
    };
    if before.numbered_by_order != after.numbered_by_order {
        return Err(ImportError::whole(
            &after.file,
            "one of the dumps names its CPUs and the other does not",
            "give both in the same form, so that CPUs can be told apart",
        ));
    }
    let (dump, other, cpus) = match (missing(&first, &last), missing(&last, &first)) {
        (Some(cpus), _) => (before, after, cpus),
        (None, Some(cpus)) => (after, before, cpus),
        (None, None) => return Ok(()),
    };
    let message = if before.numbered_by_order {
        format!(
            "it has {} CPUs, and {} has {}",
            dump.cpus.len(),
            other.file,
            other.cpus.len()
        )
    } else {
        format!("it lacks CPU {cpus}, which {} has", other.file)
    };
    Err(ImportError::whole(
        &dump.file,
        message,
        "take both dumps with the same CPUs online; if the file is cut off, send it whole",
    ))
}

fn same_states(cpu: u16, before: &[State], after: &[State]) -> Result<(), ImportError> {
    let help = "both dumps should be of one machine and one start of one kernel";
    if before.len() != after.len() {
        let at = before
            .iter()
            .zip(after)
            .next_back()
            .map_or(&after[0], |(_, last)| last);
        return Err(at.wrong(
            format!(
                "CPU {cpu} has {} states before and {} after",
                before.len(),
                after.len()
            ),
            help,
        ));
    }
    let shown = |state: &State| match state.kind() {
        (name, Some(latency), Some(residency)) => format!("{name} ({latency} and {residency} us)"),
        (name, ..) => name.to_owned(),
    };
    match before
        .iter()
        .zip(after)
        .enumerate()
        .find(|(_, (first, last))| first.kind() != last.kind())
    {
        None => Ok(()),
        Some((number, (first, last))) => Err(last.wrong(
            format!(
                "state {number} of CPU {cpu} is {} before and {} after",
                shown(first),
                shown(last)
            ),
            help,
        )),
    }
}

/// Refuses counters that go back, and says why they do.
fn forwards(before: &Dump, after: &Dump) -> Result<(), ImportError> {
    let all = || {
        before
            .cpus
            .iter()
            .zip(&after.cpus)
            .flat_map(|((cpu, first), (_, last))| {
                first
                    .iter()
                    .zip(last)
                    .enumerate()
                    .flat_map(move |(number, (first, last))| {
                        first
                            .counters()
                            .into_iter()
                            .zip(last.counters())
                            .filter_map(move |((name, first), (_, value))| {
                                Some((*cpu, number, name, first?, value?, last))
                            })
                    })
            })
    };
    let back = all()
        .filter(|(_, _, _, first, last, _)| last < first)
        .collect_vec();
    let on = all()
        .filter(|(_, _, _, first, last, _)| last > first)
        .count();
    let Some((cpu, number, name, first, last, state)) = back.first() else {
        if on > 0 {
            return Ok(());
        }
        return Err(ImportError::whole(
            &after.file,
            format!(
                "nothing was counted since {}: all counters are equal",
                before.file
            ),
            "give the dump after the measurement as the second one; is this the same file twice?",
        ));
    };
    let what = format!("state{number}/{name} of CPU {cpu} is {first} before and {last} after");
    if on > 0 {
        let cpus: BTreeSet<u16> = back.iter().map(|(cpu, ..)| *cpu).collect();
        let why = match cpus.len() {
            1 if before.cpus.len() > 1 => {
                format!(
                    "counters of CPU {cpu} alone go back: it was offline, or its lines are damaged"
                )
            }
            _ => "some counters go back: the machine was started anew, or there are two".to_owned(),
        };
        return Err(state.wrong(format!("{why} ({what})"), "counters start at 0 when the machine starts: take both dumps of one machine, without a restart between them"));
    }
    let (why, help) = all_go_back(before, after);
    Err(state.wrong(format!("{why} ({what})"), &help))
}

/// Why all counters of a dump are less than those of the one before, and what would be right.
fn all_go_back(before: &Dump, after: &Dump) -> (String, String) {
    // After a restart little was counted yet.
    let entered = |dump: &Dump| -> f64 {
        dump.cpus
            .values()
            .flatten()
            .map(|state| state.entered as f64)
            .sum()
    };
    let (first, last) = (entered(before), entered(after));
    let swap = format!("stopwatt import cpuidle {} {}", after.file, before.file);
    let named = |dump: &Dump, word: &str| {
        dump.file
            .rsplit('/')
            .next()
            .is_some_and(|name| name.to_ascii_lowercase().contains(word))
    };
    let are_named_so = named(before, "after") && named(after, "before");
    match (last * 2.0 >= first, are_named_so) {
        (true, _) => (
            "the dumps are swapped: all counters go back, by less than half".to_owned(),
            swap,
        ),
        (false, true) => (
            "the dumps are swapped: all counters go back, as the files' names say".to_owned(),
            swap,
        ),
        (false, false) => (
            format!(
                "the machine was started anew: {:.1} % of the entries are left",
                100.0 * last / first
            ),
            format!(
                "take both dumps without a restart between them; or, if the first is the later one after a long measurement: {swap}"
            ),
        ),
    }
}

/// Clusters of a dump at most: more are cores, by which nobody sums.
const MOST_CLUSTERS: usize = 16;

/// Cluster and place there of each CPU: as the dump says it, or, if CPUs have states of different
/// figures, by those. CPUs of one kind are no clusters, and neither are clusters of one CPU each,
/// which many machines without clusters tell.
fn places(dump: &Dump, told: &BTreeMap<u16, u16>) -> (BTreeMap<u16, (u16, u16)>, String) {
    let said: Option<Vec<(u16, usize)>> = dump
        .cpus
        .keys()
        .map(|cpu| told.get(cpu).map(|cluster| (*cpu, usize::from(*cluster))))
        .collect();
    let count = |clusters: &[(u16, usize)]| {
        clusters
            .iter()
            .map(|(_, of)| *of)
            .collect::<BTreeSet<usize>>()
            .len()
    };
    let (clusters, how) = match said {
        Some(clusters)
            if count(&clusters) < clusters.len()
                && (2..=MOST_CLUSTERS).contains(&count(&clusters)) =>
        {
            (
                clusters,
                "Clusters are those of topology/cluster_id in the dump",
            )
        }
        _ => {
            let mut kinds: Vec<Vec<_>> = Vec::new();
            let mut clusters = Vec::new();
            for (cpu, states) in &dump.cpus {
                let kind = states.iter().map(State::kind).collect_vec();
                let at = place_of(&mut kinds, |known| *known == kind, || kind.clone());
                clusters.push((*cpu, at));
            }
            (
                clusters,
                "CPUs with the same states are taken as a cluster, since the dump does not say which those are",
            )
        }
    };
    if count(&clusters) < 2 {
        return (BTreeMap::new(), String::new());
    }
    let mut counts: BTreeMap<usize, u16> = BTreeMap::new();
    let places = clusters.into_iter().map(|(cpu, cluster)| {
        let core = counts.entry(cluster).or_default();
        *core += 1;
        (cpu, (cluster as u16, *core - 1))
    });
    (places.collect(), how.to_owned())
}
