//! Names of the library's words.

use super::kernel::WAITS;
use super::scenario::POINTERS;
use interleavings::subject::Names;

/// The process that is no CPU.
pub const CLOCK: &str = "the clock";

/// The names with that many CPUs and groups of offloaded ones, and words in all.
pub fn names(cpus: u16, groups: u16, words: u16) -> Names {
    Names {
        plain: plain_of,
        waits: &WAITS,
        ..Names::new([cpus, groups, words], word_of)
    }
}

/// The words of RCU, in the order in which it makes them: those of the tree's nodes, of CPUs, of
/// groups and of the whole; then the pointers.
fn word_of(names: &Names, cell: u16) -> String {
    let [cpus, groups, words] = names.counts;
    let of_cpus = cpus * OF_RCU_CPU.len() as u16;
    let of_groups = groups * OF_GROUP.len() as u16;
    let rest = (OF_RCU.len() + POINTERS) as u16;
    let of_nodes = words - of_cpus - of_groups - rest;
    let within = |first: u16, names: &[&'static str]| {
        let at = usize::from(cell - first);
        (at / names.len(), names[at % names.len()])
    };
    if cell < of_nodes {
        let (node, name) = within(0, &OF_NODE);
        format!("node {node}'s {name}")
    } else if cell < of_nodes + of_cpus {
        let (cpu, name) = within(of_nodes, &OF_RCU_CPU);
        format!("CPU {cpu}'s {name}")
    } else if cell < of_nodes + of_cpus + of_groups {
        let (group, name) = within(of_nodes + of_cpus, &OF_GROUP);
        format!("group {group}'s {name}")
    } else {
        let at = usize::from(cell - of_nodes - of_cpus - of_groups);
        OF_RCU.get(at).map_or_else(
            || format!("pointer {}", at - OF_RCU.len()),
            |name| (*name).to_owned(),
        )
    }
}

/// The plain data of RCU, in the order in which it makes it: that of nodes, of CPUs, of groups and
/// of the whole; then the objects.
fn plain_of([cpus, groups, words]: [u16; 3], plain: u32) -> String {
    let nodes = u32::from(words - cpus * OF_RCU_CPU.len() as u16 - groups * OF_GROUP.len() as u16)
        .saturating_sub((OF_RCU.len() + POINTERS) as u32)
        / OF_NODE.len() as u32;
    let mut at = plain;
    for (count, of, names) in [
        (nodes, "node", &["list of preempted readers"][..]),
        (u32::from(cpus), "CPU", &PLAIN_OF_CPU),
        (u32::from(groups), "group", &PLAIN_OF_GROUP),
        (1, "", &PLAIN_OF_RCU),
    ] {
        let (each, all) = (names.len() as u32, count * names.len() as u32);
        if at < all {
            let name = names[(at % each) as usize];
            return if of.is_empty() {
                name.to_owned()
            } else {
                format!("{of} {}'s {name}", at / each)
            };
        }
        at -= all;
    }
    format!("object {at}")
}

/// The number of kinds of words.
pub const KINDS: usize = OF_NODE.len() + OF_RCU_CPU.len() + OF_GROUP.len() + OF_RCU.len() + 1;

/// The kind of a word.
pub fn kind_of([cpus, groups, words]: [u16; 3], cell: u16) -> u16 {
    let of_cpus = cpus * OF_RCU_CPU.len() as u16;
    let of_groups = groups * OF_GROUP.len() as u16;
    let rest = (OF_RCU.len() + POINTERS) as u16;
    let of_nodes = words - of_cpus - of_groups - rest;
    let kinds = [OF_NODE.len(), OF_RCU_CPU.len(), OF_GROUP.len()].map(|count| count as u16);
    if cell < of_nodes {
        cell % kinds[0]
    } else if cell < of_nodes + of_cpus {
        kinds[0] + (cell - of_nodes) % kinds[1]
    } else if cell < of_nodes + of_cpus + of_groups {
        kinds[0] + kinds[1] + (cell - of_nodes - of_cpus) % kinds[2]
    } else {
        let at = cell - of_nodes - of_cpus - of_groups;
        kinds[0] + kinds[1] + kinds[2] + at.min(OF_RCU.len() as u16)
    }
}

/// The name of a kind of word.
pub fn name_of_kind(kind: u16) -> String {
    let (nodes, cpus, groups) = (OF_NODE.len(), OF_RCU_CPU.len(), OF_GROUP.len());
    let at = usize::from(kind);
    if at < nodes {
        format!("a node's {}", OF_NODE[at])
    } else if at < nodes + cpus {
        format!("a CPU's {}", OF_RCU_CPU[at - nodes])
    } else if at < nodes + cpus + groups {
        format!("a group's {}", OF_GROUP[at - nodes - cpus])
    } else {
        OF_RCU
            .get(at - nodes - cpus - groups)
            .map_or_else(|| "a pointer".to_owned(), |name| (*name).to_owned())
    }
}

const OF_NODE: [&str; 5] = [
    "lock",
    "mask",
    "online mask",
    "grace-period number",
    "grace period asked for",
];

const OF_RCU_CPU: [&str; 8] = [
    "idle counter",
    "offload lock",
    "mark that its thread sleeps",
    "grace period waited for",
    "bypass lock",
    "length of the bypass list",
    "lazy callbacks of the bypass list",
    "start of the bypass list",
];

const OF_GROUP: [&str; 3] = ["lock", "mark that its thread sleeps", "wake-up put off"];

const OF_RCU: [&str; 6] = [
    "the grace-period number",
    "the start of the grace period",
    "the last request for a grace period",
    "the last step of the grace-period thread",
    "the jiffy of the stall report",
    "the mark to look at all CPUs",
];

const PLAIN_OF_CPU: [&str; 13] = [
    "list of callbacks",
    "limit of a batch",
    "mark of a long list",
    "queue for its thread",
    "batch of its thread",
    "size of its thread's batch",
    "count of callbacks that its thread invoked",
    "grace period that its batch waits for",
    "bypass list",
    "snapshot of its idle counter",
    "jiffy of the last interrupt to switch",
    "count of interrupts to switch",
    "count of reports for it while idle",
];

const PLAIN_OF_GROUP: [&str; 4] = [
    "phase",
    "earliest grace period waited for",
    "mark of callbacks in bypass lists",
    "mark of lazy callbacks",
];

const PLAIN_OF_RCU: [&str; 3] = [
    "the phase of the grace-period thread",
    "the mark of the first look",
    "the counters of the grace-period thread",
];
