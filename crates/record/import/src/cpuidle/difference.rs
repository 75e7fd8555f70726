//! The counts between two dumps, and dumps that do not belong together.

use super::state::{Counts, CpuCounts, Dump, State};
use crate::error::ImportError;
use itertools::Itertools;
use recording::place_of;
use std::collections::BTreeMap;

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
    same_states(before, after)?;
    let mut doubts = Vec::new();
    for (cpu, _, first, last) in pairs(before, after) {
        let [was, is] = [first, last].map(|state| match state.disabled {
            true => "disabled",
            false => "enabled",
        });
        if was != is {
            let name = &first.name;
            doubts.push(format!(
                "{name} of CPU {cpu} was {was} before and {is} after: someone changed it in between"
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
    let mut cpus = Vec::new();
    for ((cpu, first), last) in before.cpus.iter().zip(after.cpus.values()) {
        let states = first.iter().zip(last);
        let states = states.map(|(first, last)| last.since(first)).collect_vec();
        let times = states.iter().filter_map(|state| state.time_us);
        let idle_s = times.fold(0, u64::saturating_add) as f64 / 1e6;
        // A state's time is counted when it is left, so a long stay may have begun before.
        if let Some(seconds) = seconds.filter(|seconds| idle_s > seconds * 1.1 + 1.0) {
            doubts.push(format!(
                "CPU {cpu} was idle for {idle_s:.1} s in {seconds:.1} s: are the seconds right?"
            ));
        }
        cpus.push(CpuCounts {
            cpu: Some(*cpu),
            place: places.get(cpu).copied(),
            states,
        });
    }
    Ok(Between {
        cpus,
        clusters,
        doubts,
    })
}

/// The states of both dumps, with their CPUs and their numbers.
fn pairs<'d>(
    before: &'d Dump,
    after: &'d Dump,
) -> impl Iterator<Item = (u16, usize, &'d State, &'d State)> {
    let cpus = before.cpus.iter().zip(after.cpus.values());
    cpus.flat_map(|((cpu, first), last)| {
        let states = first.iter().zip(last).enumerate();
        states.map(|(number, (first, last))| (*cpu, number, first, last))
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
            for cpu in between(&first, &last, None)?.cpus {
                let sum = CpuCounts { cpu: None, ..cpu };
                counts.push((name.clone(), sum));
            }
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

fn same_cpus(before: &Dump, after: &Dump) -> Result<(), ImportError> {
    if before.numbered_by_order != after.numbered_by_order {
        return Err(ImportError::whole(
            &after.file,
            "one of the dumps names its CPUs and the other does not",
            "give both in the same form, so that CPUs can be told apart",
        ));
    }
    for (dump, other) in [(before, after), (after, before)] {
        let has = |cpu: &u16| dump.cpus.contains_key(cpu);
        let missing = other.cpus.keys().filter(|cpu| !has(cpu)).collect_vec();
        let message = match missing[..] {
            [] => continue,
            _ if before.numbered_by_order => {
                let [own, others] = [dump, other].map(|of| of.cpus.len());
                format!("it has {own} CPUs, and {} has {others}", other.file)
            }
            [cpu] => format!("it lacks CPU {cpu}, which {} has", other.file),
            [cpu, ref more @ ..] => format!(
                "it lacks CPU {cpu} and {} more, which {} has",
                more.len(),
                other.file
            ),
        };
        return Err(ImportError::whole(
            &dump.file,
            message,
            "take both dumps with the same CPUs online; if the file is cut off, send it whole",
        ));
    }
    Ok(())
}

fn same_states(before: &Dump, after: &Dump) -> Result<(), ImportError> {
    let help = "both dumps should be of one machine and one start of one kernel";
    for ((cpu, first), last) in before.cpus.iter().zip(after.cpus.values()) {
        let [own, others] = [first, last].map(Vec::len);
        if own != others {
            let at = &last[own.min(others).saturating_sub(1)];
            let message = format!("CPU {cpu} has {own} states before and {others} after");
            return Err(at.wrong(message, help));
        }
    }
    let shown = |state: &State| match state.kind() {
        (name, Some(latency), Some(residency)) => format!("{name} ({latency} and {residency} us)"),
        (name, ..) => name.to_owned(),
    };
    match pairs(before, after).find(|(.., first, last)| first.kind() != last.kind()) {
        None => Ok(()),
        Some((cpu, number, first, last)) => {
            let [first, of_last] = [first, last].map(shown);
            let message =
                format!("state {number} of CPU {cpu} is {first} before and {of_last} after");
            Err(last.wrong(message, help))
        }
    }
}

/// Refuses counters that go back, and says why they do.
fn forwards(before: &Dump, after: &Dump) -> Result<(), ImportError> {
    let all = pairs(before, after).flat_map(|(cpu, number, first, last)| {
        let counters = first.counters().into_iter().zip(last.counters());
        counters.filter_map(move |((name, first), (_, value))| {
            Some((cpu, number, name, first?, value?, last))
        })
    });
    let changed = all.filter(|(.., first, last, _)| first != last);
    let (back, on): (Vec<_>, Vec<_>) = changed.partition(|(.., first, last, _)| last < first);
    let Some((cpu, number, name, first, last, state)) = back.first() else {
        if !on.is_empty() {
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
    let (why, help) = if on.is_empty() {
        all_go_back(before, after)
    } else {
        let why = if before.cpus.len() > 1 && back.iter().all(|(of, ..)| of == cpu) {
            format!("counters of CPU {cpu} alone go back: it was offline, or its lines are damaged")
        } else {
            "some counters go back: the machine was started anew, or there are two".to_owned()
        };
        (why, "counters start at 0 when the machine starts: take both dumps of one machine, without a restart between them".to_owned())
    };
    let what = format!("state{number}/{name} of CPU {cpu} is {first} before and {last} after");
    Err(state.wrong(format!("{why} ({what})"), &help))
}

/// Why all counters of a dump are less than those of the one before, and what would be right.
fn all_go_back(before: &Dump, after: &Dump) -> (String, String) {
    // After a restart little was counted yet.
    let [first, last] = [before, after].map(|dump| {
        let states = dump.cpus.values().flatten();
        states.map(|state| state.entered as f64).sum::<f64>()
    });
    let swap = format!("stopwatt import cpuidle {} {}", after.file, before.file);
    let named = |dump: &Dump, word: &str| {
        let name = dump.file.rsplit('/').next();
        name.is_some_and(|name| name.to_ascii_lowercase().contains(word))
    };
    let how = if last * 2.0 >= first {
        "by less than half"
    } else if named(before, "after") && named(after, "before") {
        "as the files' names say"
    } else {
        let left = 100.0 * last / first;
        return (
            format!("the machine was started anew: {left:.1} % of the entries are left"),
            format!(
                "take both dumps without a restart between them; or, if the first is the later one after a long measurement: {swap}"
            ),
        );
    };
    (
        format!("the dumps are swapped: all counters go back, {how}"),
        swap,
    )
}

/// Clusters of a dump at most: more are cores, by which nobody sums.
const MOST_CLUSTERS: usize = 16;

/// Cluster and place there of each CPU: as the dump says it, or, if CPUs have states of different
/// figures, by those. CPUs of one kind are no clusters, and neither are clusters of one CPU each,
/// which many machines without clusters tell.
fn places(dump: &Dump, told: &BTreeMap<u16, u16>) -> (BTreeMap<u16, (u16, u16)>, String) {
    let said = dump.cpus.keys();
    let said = said.map(|cpu| Some((*cpu, usize::from(*told.get(cpu)?))));
    let said: Option<Vec<(u16, usize)>> = said.collect();
    let count = |clusters: &[(u16, usize)]| clusters.iter().map(|(_, of)| of).unique().count();
    let is_meant = |clusters: &Vec<_>| {
        let count = count(clusters);
        count < clusters.len() && (2..=MOST_CLUSTERS).contains(&count)
    };
    let (clusters, how) = match said.filter(is_meant) {
        Some(clusters) => (
            clusters,
            "Clusters are those of topology/cluster_id in the dump",
        ),
        None => {
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
