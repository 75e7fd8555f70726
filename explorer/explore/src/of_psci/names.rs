//! Names of the library's words and locks.

use interleavings::subject::{CPUS_PER_CLUSTER, Names};

/// The waits for the power controller, and its own, in the order of their numbers.
const WAITS: [&str; 2] = [
    "waits to be powered down or turned on",
    "waits for a command",
];

/// The words of a CPU's record that a domain's has not, in the order in which the library makes
/// them.
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

/// Words of a domain's record that a CPU's record lacks.
const OF_DOMAIN: [&str; 2] = ["lock", "state"];

/// The words of statistics, with which both end.
const STATISTICS: [&str; 9] = [
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

/// The number of words that a CPU's record has, and a domain's.
pub const WORDS_OF_CPU: usize = OF_CPU.len() + STATISTICS.len();
pub const WORDS_OF_DOMAIN: usize = OF_DOMAIN.len() + STATISTICS.len();

/// The word at a place of a record that starts with `own`.
fn word(own: &[&'static str], at: usize) -> &'static str {
    own.get(at)
        .copied()
        .unwrap_or_else(|| STATISTICS[at - own.len()])
}

/// The names on a machine with that many CPUs, and with the variables of a port.
pub fn names(cpus: usize, variables: &[String]) -> Names {
    let own = variables
        .iter()
        .flat_map(|name| (0..cpus).map(move |cpu| format!("{name}[{cpu}]")));
    Names {
        own: own.collect(),
        lock,
        waits: &WAITS,
        ..Names::new([cpus as u16, 0, 0], word_of)
    }
}

/// The name of a word.
fn word_of(names: &Names, cell: u16) -> String {
    let cpus = usize::from(names.counts[0]);
    let mut at = usize::from(cell);
    let of_cpus = cpus * WORDS_OF_CPU;
    if at < of_cpus {
        return format!(
            "CPU {}'s {}",
            at / WORDS_OF_CPU,
            word(&OF_CPU, at % WORDS_OF_CPU)
        );
    }
    at -= of_cpus;
    let domains = cpus.div_ceil(CPUS_PER_CLUSTER) + 1;
    if at < domains * WORDS_OF_DOMAIN {
        return format!(
            "the {} of {}",
            word(&OF_DOMAIN, at % WORDS_OF_DOMAIN),
            domain(at / WORDS_OF_DOMAIN)
        );
    }
    at -= domains * WORDS_OF_DOMAIN;
    if at < 2 * cpus {
        let (level, cpu) = (at / cpus, at % cpus);
        let of = if level == 0 {
            format!("cluster {}", cpu / CPUS_PER_CLUSTER)
        } else {
            "the system".to_owned()
        };
        return format!("CPU {cpu}'s bakery word of {of}");
    }
    match at - 2 * cpus {
        0 => "the suspend mode".to_owned(),
        1 => "the mark that a CPU has suspended".to_owned(),
        other => names.own(other - 2, cell),
    }
}

/// The number of words that the library has; those of a port follow.
pub fn words_of_library(cpus: usize) -> usize {
    cpus * WORDS_OF_CPU + (cpus.div_ceil(CPUS_PER_CLUSTER) + 1) * WORDS_OF_DOMAIN + 2 * cpus + 2
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
pub fn statistics(cpus: usize, owner: Owner, state: u8) -> [u16; 2] {
    let first = match owner {
        Owner::Cpu(cpu) => cpu * WORDS_OF_CPU + OF_CPU.len(),
        Owner::Domain(domain) => cpus * WORDS_OF_CPU + domain * WORDS_OF_DOMAIN + OF_DOMAIN.len(),
    };
    let time = first + 2 * super::layout::slot(state) + 1;
    [time as u16, time as u16 + 1]
}

/// The kinds of words: those of a CPU's record, of a domain's, of bakeries, of the whole, and of a
/// port.
pub const KINDS: usize = WORDS_OF_CPU + WORDS_OF_DOMAIN + 4;

/// The kind of a word.
pub fn kind_of(cpus: usize, cell: u16) -> u16 {
    let at = usize::from(cell);
    let of_cpus = cpus * WORDS_OF_CPU;
    let of_domains = (cpus.div_ceil(CPUS_PER_CLUSTER) + 1) * WORDS_OF_DOMAIN;
    let kind = if at < of_cpus {
        at % WORDS_OF_CPU
    } else if at < of_cpus + of_domains {
        WORDS_OF_CPU + (at - of_cpus) % WORDS_OF_DOMAIN
    } else {
        let rest = at - of_cpus - of_domains;
        WORDS_OF_CPU + WORDS_OF_DOMAIN + (rest + 1).saturating_sub(2 * cpus)
    };
    kind.min(KINDS - 1) as u16
}

/// The name of a kind of word.
pub fn name_of_kind(kind: u16) -> String {
    let at = usize::from(kind);
    match at.checked_sub(WORDS_OF_CPU) {
        None => format!("a CPU's {}", word(&OF_CPU, at)),
        Some(at) if at < WORDS_OF_DOMAIN => format!("a domain's {}", word(&OF_DOMAIN, at)),
        Some(at) => {
            let others = [
                "a bakery word",
                "the suspend mode",
                "the mark that a CPU has suspended",
                "a variable of the hooks",
            ];
            others[at - WORDS_OF_DOMAIN].to_owned()
        }
    }
}
