//! Names of the library's words.

use super::scenario::POINTERS;
use crate::words::{Things, find, words};
use interleavings::subject::Names;

/// The waits of CPUs, for the next jiffy and for work.
const WAITS: [&str; 2] = ["has done its work of this jiffy", "is idle or off"];

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
fn words_of(counts: [u16; 3]) -> [Things; 4] {
    let [cpus, groups, words] = counts.map(usize::from);
    let of_nodes = words
        .saturating_sub(cpus * OF_RCU_CPU.len() + groups * OF_GROUP.len())
        .saturating_sub(OF_RCU.len() + POINTERS);
    [
        (of_nodes / OF_NODE.len(), "node", &OF_NODE),
        (cpus, "CPU", &OF_RCU_CPU),
        (groups, "group", &OF_GROUP),
        (1, "", &OF_RCU),
    ]
}

fn word_of(names: &Names, cell: u16) -> String {
    words(&words_of(names.counts), cell.into(), |at| {
        format!("pointer {at}")
    })
}

/// The plain data of RCU, in the order in which it makes it: that of nodes, of CPUs, of groups and
/// of the whole; then the objects.
fn plain_of(counts: [u16; 3], plain: u32) -> String {
    let [nodes, cpus, groups, _] = words_of(counts).map(|(count, ..)| count);
    let things: [Things; 4] = [
        (nodes, "node", &["list of preempted readers"]),
        (cpus, "CPU", &PLAIN_OF_CPU),
        (groups, "group", &PLAIN_OF_GROUP),
        (1, "", &PLAIN_OF_RCU),
    ];
    words(&things, plain as usize, |at| format!("object {at}"))
}

/// The number of kinds of words.
pub const KINDS: usize = OF_NODE.len() + OF_RCU_CPU.len() + OF_GROUP.len() + OF_RCU.len() + 1;

/// The kind of a word.
pub fn kind_of(counts: [u16; 3], cell: u16) -> u16 {
    let found = find(&words_of(counts), cell.into());
    found.map_or(KINDS - 1, |found| found.kind) as u16
}

const OF_NODE: [&str; 5] = [
    "lock",
    "mask",
    "online mask",
    "grace-period number",
    "grace period asked for",
];

pub const OF_RCU_CPU: [&str; 8] = [
    "idle counter",
    "offload lock",
    "mark that its thread sleeps",
    "grace period waited for",
    "bypass lock",
    "length of the bypass list",
    "lazy callbacks of the bypass list",
    "start of the bypass list",
];

pub const OF_GROUP: [&str; 3] = ["lock", "mark that its thread sleeps", "wake-up put off"];

pub const OF_RCU: [&str; 6] = [
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
