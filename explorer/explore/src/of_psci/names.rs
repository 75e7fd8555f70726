//! Names of the library's words and locks.

use super::layout::Shape;
use crate::words::{Named, Things, find, words};
use interleavings::subject::Names;

/// The waits for the power controller, and its own, in the order of their numbers.
const WAITS: [&str; 2] = [
    "waits to be powered down or turned on",
    "waits for a command",
];

/// The words of a CPU's record, in the order in which the library makes them. Those of statistics are
/// last.
const OF_CPU: [&str; 18 + STATISTICS] = [
    "own lock",
    "affinity state",
    "wake record",
    "entry point of CPU_ON",
    "argument of CPU_ON",
    "byte order of CPU_ON",
    "resume address",
    "argument of the resume",
    "byte order of the resume",
    "request at level 1",
    "request at level 2",
    "request at level 3",
    "stamp 0",
    "stamp 1",
    "stamp 2",
    "stamp 3",
    "stamp 4",
    "stamp 5",
    "start of its stay",
    "residency in state 2",
    "count of state 2",
    "residency in state 1",
    "count of state 1",
    "residency in state 3",
    "count of state 3",
    "residency in state 4",
    "count of state 4",
];

/// The words of a domain's record.
const OF_DOMAIN: [&str; 2 + STATISTICS] = [
    "lock",
    "state",
    "start of its stay",
    "residency in state 2",
    "count of state 2",
    "residency in state 1",
    "count of state 1",
    "residency in state 3",
    "count of state 3",
    "residency in state 4",
    "count of state 4",
];

/// The number of words of statistics.
const STATISTICS: usize = 9;

/// The words of the whole.
const OF_ALL: [&str; 2] = ["the suspend mode", "the mark that a CPU has suspended"];

/// The words of the library on a machine with that many CPUs; those of a port follow.
fn things(shape: Shape) -> [Things; 4] {
    let cpus = shape.cpus;
    [
        (cpus, "CPU", &OF_CPU),
        (shape.clusters() + 1, "domain", &OF_DOMAIN),
        (2 * cpus, "bakery", &["word"]),
        (1, "", &OF_ALL),
    ]
}

/// The names on a machine of that shape, and with the variables of a port.
pub fn names(shape: Shape, variables: &[String]) -> Names {
    let cpus = shape.cpus;
    let own = variables
        .iter()
        .flat_map(|name| (0..cpus).map(move |cpu| format!("{name}[{cpu}]")));
    Names {
        own: own.collect(),
        lock,
        waits: &WAITS,
        ..Names::new([cpus as u16, shape.each as u16, 0], word_of)
    }
}

/// The name of a word.
fn word_of(names: &Names, cell: u16) -> String {
    let [cpus, each, _] = names.counts.map(usize::from);
    let shape = Shape { cpus, each };
    let things = things(shape);
    match find(&things, cell.into()) {
        Ok(Named {
            of: "domain",
            which,
            name,
            ..
        }) => format!("the {name} of {}", domain(which)),
        Ok(Named {
            of: "bakery",
            which,
            ..
        }) => {
            let (level, cpu) = (which / cpus, which % cpus);
            let of = [1 + shape.cluster(cpu), 0][level];
            format!("CPU {cpu}'s bakery word of {}", domain(of))
        }
        _ => words(&things, cell.into(), |other| names.own(other, cell)),
    }
}

/// The number of words that the library has; those of a port follow.
pub fn words_of_library(shape: Shape) -> usize {
    things(shape)
        .iter()
        .map(|(count, _, names)| count * names.len())
        .sum()
}

/// Domain 0 is the system; the clusters follow.
pub fn domain(domain: usize) -> String {
    match domain.checked_sub(1) {
        None => "the system".to_owned(),
        Some(cluster) => format!("cluster {cluster}"),
    }
}

/// The name of a lock by its id.
pub fn lock(id: u32) -> String {
    match id.checked_sub(psci_faults::lock::CPU_LOCK) {
        Some(cpu) => format!("CPU {cpu}'s own lock"),
        None => format!("the lock of {}", domain(id as usize)),
    }
}

/// The CPU or the domain that statistics are of.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    Cpu(usize),
    Domain(usize),
}

/// The words of the statistics of a CPU or a domain in a state from 1 on: time and count.
pub fn statistics(shape: Shape, owner: Owner, state: u8) -> [u16; 2] {
    let first = match owner {
        Owner::Cpu(cpu) => (cpu + 1) * OF_CPU.len(),
        Owner::Domain(domain) => shape.cpus * OF_CPU.len() + (domain + 1) * OF_DOMAIN.len(),
    } - STATISTICS;
    let time = first + 2 * super::layout::slot(state) + 1;
    [time as u16, time as u16 + 1]
}

/// The kinds of words: those of a CPU's record, of a domain's, of bakeries, of the whole, and of a
/// port.
pub const KINDS: usize = OF_CPU.len() + OF_DOMAIN.len() + 1 + OF_ALL.len() + 1;

/// The kind of a word.
pub fn kind_of(shape: Shape, cell: u16) -> u16 {
    find(&things(shape), cell.into()).map_or(KINDS - 1, |found| found.kind) as u16
}
