//! Names of the library's words and locks, for those who read a schedule.

use crate::memory::NOBODY;

/// The words of a CPU's record that a domain's has not, in the order in which the library makes them.
const OF_CPU: [&str; 18] = [
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
];

/// Those of a domain's record that a CPU's has not.
const OF_DOMAIN: [&str; 2] = ["lock", "state"];

/// The words of statistics, with which both end.
const STATISTICS: [&str; 9] = [
    "start of its stay",
    "residency in state 1",
    "count of state 1",
    "residency in state 2",
    "count of state 2",
    "residency in state 3",
    "count of state 3",
    "residency in state 4",
    "count of state 4",
];

/// How many words a CPU's record has, and a domain's.
pub(crate) const WORDS_OF_CPU: usize = OF_CPU.len() + STATISTICS.len();
pub(crate) const WORDS_OF_DOMAIN: usize = OF_DOMAIN.len() + STATISTICS.len();

/// The word at a place of a record that starts with `own`.
fn word(own: &[&'static str], at: usize) -> &'static str {
    own.get(at).copied().unwrap_or_else(|| STATISTICS[at - own.len()])
}

/// Who gives words their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// The PSCI library, on a machine with so many CPUs.
    Psci(usize),
    /// The RCU library: so many CPUs and groups of offloaded ones, and so many words in all.
    Rcu { cpus: u16, groups: u16, words: u16 },
    /// Nobody: they have numbers, in the order in which they were made.
    Numbers,
}

impl Names {
    /// The name of a word.
    pub(crate) fn cell(self, cell: u16) -> String {
        match self {
            Self::Psci(cpus) => of_psci(cpus, cell),
            Self::Rcu { cpus, groups, words } => of_rcu(cpus, groups, words, cell),
            Self::Numbers => format!("word {cell}"),
        }
    }
}

fn of_psci(cpus: usize, cell: u16) -> String {
    let mut at = usize::from(cell);
    let of_cpus = cpus * WORDS_OF_CPU;
    if at < of_cpus {
        return format!("CPU {}'s {}", at / WORDS_OF_CPU, word(&OF_CPU, at % WORDS_OF_CPU));
    }
    at -= of_cpus;
    let domains = cpus.div_ceil(crate::board::CPUS_PER_CLUSTER) + 1;
    if at < domains * WORDS_OF_DOMAIN {
        return format!("the {} of {}", word(&OF_DOMAIN, at % WORDS_OF_DOMAIN), domain(at / WORDS_OF_DOMAIN));
    }
    at -= domains * WORDS_OF_DOMAIN;
    if at < 2 * cpus {
        let (level, cpu) = (at / cpus, at % cpus);
        let of = if level == 0 {
            format!("cluster {}", cpu / crate::board::CPUS_PER_CLUSTER)
        } else {
            "the system".to_owned()
        };
        return format!("CPU {cpu}'s bakery word of {of}");
    }
    match at - 2 * cpus {
        0 => "the suspend mode".to_owned(),
        1 => "the mark that a CPU has suspended".to_owned(),
        other => format!("word {other}"),
    }
}

/// The words of RCU, in the order in which it makes them: those of the tree's nodes, of CPUs, of groups and of the whole; then the pointers.
fn of_rcu(cpus: u16, groups: u16, words: u16, cell: u16) -> String {
    let of_cpus = cpus * OF_RCU_CPU.len() as u16;
    let of_groups = groups * OF_GROUP.len() as u16;
    let rest = (OF_RCU.len() + crate::of_rcu::scenario::POINTERS) as u16;
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
        OF_RCU.get(at).map_or_else(|| format!("pointer {}", at - OF_RCU.len()), |name| (*name).to_owned())
    }
}

const OF_NODE: [&str; 5] = ["lock", "mask", "online mask", "grace-period number", "grace period asked for"];

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

/// Domain 0 is the system; the clusters follow.
pub(crate) fn domain(domain: usize) -> String {
    match domain.checked_sub(1) {
        None => "the system".to_owned(),
        Some(cluster) => format!("cluster {cluster}"),
    }
}

/// The name of a lock by its id.
pub(crate) fn lock(id: u32) -> String {
    match id.checked_sub(psci::lock::CPU_LOCK) {
        Some(cpu) => format!("CPU {cpu}'s own lock"),
        None => format!("the lock of {}", domain(id as usize)),
    }
}

/// Who stored something.
pub(crate) fn writer(writer: u8) -> String {
    if writer == NOBODY { "nobody".to_owned() } else { format!("CPU {writer}") }
}

/// The words that count a domain's stays, by state.
pub(crate) fn counts_of_domain(cpus: usize, domain: usize) -> impl Iterator<Item = u16> {
    let first = cpus * WORDS_OF_CPU + domain * WORDS_OF_DOMAIN;
    (0..4).map(move |state| (first + 4 + 2 * state) as u16)
}
