//! The board: clusters of CPUs below a system domain, with states that keep and states that lose
//! contents at every level.
//!
//! States: a CPU's and a cluster's 1 keeps its contents, 2 loses them; the system's 1 loses them.
//! `power_state` has a nibble of its StateID for the state of each of the levels 0 to 2, then one
//! for the level at which the caller is the last.
//!
//! Where the library has an answer of its own for a port that gives none, the board's is another:
//! a question that is not asked then shows.

use interleavings::subject::CPUS_PER_CLUSTER;

/// The CPUs, and how many of them a cluster has; the last one may have fewer.
#[derive(Clone, Copy, Default)]
pub struct Shape {
    pub cpus: usize,
    pub each: usize,
}

impl Shape {
    /// So many CPUs, `each` in a cluster; 0 for as many as the explorer has.
    pub fn new(cpus: usize, each: u32) -> Self {
        Self {
            cpus,
            each: if each == 0 {
                CPUS_PER_CLUSTER
            } else {
                each as usize
            },
        }
    }

    pub fn clusters(self) -> usize {
        self.cpus.div_ceil(self.each)
    }

    pub fn cluster(self, cpu: usize) -> usize {
        cpu / self.each
    }

    /// The domain of a CPU at a level above it: 0 is the system, the clusters follow.
    pub fn domain(self, cpu: usize, level: usize) -> usize {
        if level == 2 { 0 } else { 1 + self.cluster(cpu) }
    }

    /// The affinity fields of a CPU: Aff1 is its cluster.
    pub fn mpidr(self, cpu: usize) -> u64 {
        (self.cluster(cpu) * 256 + cpu % self.each) as u64
    }

    /// The MPIDR of a CPU for calls that ignore all but its affinity fields: bit 31 is set.
    pub fn argument(self, cpu: usize) -> u64 {
        self.mpidr(cpu) | 1 << 31
    }
}

/// What a port says of its board, as its table ends; 0 for what the explorer has.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// CPUs of a cluster.
    pub cluster: u32,
    /// Its number of the state of each level that runs, of those that keep contents, and of those that lose them.
    pub numbers: [[u8; 3]; 3],
}

impl Own {
    /// The port's number of a state.
    pub fn number(self, level: u8, state: u8) -> u8 {
        match self.numbers[level as usize][state as usize] {
            0 => state,
            own => own,
        }
    }

    /// The state that the port has this number for.
    pub fn state(self, level: u8, number: u8) -> u8 {
        self.numbers[level as usize]
            .iter()
            .position(|&own| own == number)
            .map_or(number, |state| state as u8)
    }
}

/// True if a state loses the contents of its domain.
pub fn loses(level: u8, state: u8) -> bool {
    state >= if level == 2 { 1 } else { 2 }
}

/// True if the CPU sleeps, and there are such states.
pub fn are_known(states: &[u8; 3]) -> bool {
    matches!(states[0], 1 | 2) && states[1] <= 2 && states[2] <= 1
}

/// The state that CPU_OFF asks for.
pub const OFF: [u8; 3] = [2, 2, 1];

/// The state of CPU_DEFAULT_SUSPEND: of every other CPU one that keeps its contents, of the others
/// one in which the cluster may go down.
pub fn default_suspend(cpu: usize) -> [u8; 3] {
    if cpu % 2 == 1 { [1, 0, 0] } else { [2, 2, 0] }
}

/// The state of a domain whose CPUs ask for `requests`: the one that all of them ask for.
pub fn coordinate(mut requests: impl Iterator<Item = u8>) -> u8 {
    requests
        .next()
        .filter(|&first| first != 0 && requests.all(|other| other == first))
        .unwrap_or(0)
}

/// The statistics that count a state: the deepest come first.
pub fn slot(state: u8) -> usize {
    2 - state.clamp(1, 2) as usize
}

/// The `power_state` of a suspend, in the extended format.
pub fn power_state(states: [u8; 3], last: u8) -> u32 {
    let [cpu, cluster, system] = states.map(u32::from);
    let id = cpu | cluster << 4 | system << 8 | u32::from(last) << 12;
    id | u32::from(loses(0, states[0])) << 30
}

/// States of the levels and the level at which the caller is the last, of a `power_state`; `None`
/// if there is no such state.
pub fn decode(raw: u32) -> Option<([u8; 3], u8)> {
    let nibble = |n: u32| (raw >> (4 * n) & 0xf) as u8;
    let states = [nibble(0), nibble(1), nibble(2)];
    let last = nibble(3);
    are_known(&states).then_some((states, last))
}

/// The bit of an address that no entry point may have.
pub const WRONG_ADDRESS: u64 = 1;

/// Entry point of a call of a scenario: each call has an address of its own.
pub fn entry_of(cpu: usize, number: usize) -> (u64, u64) {
    let place = (cpu as u64) << 8 | number as u64;
    (0x8000_0000 | place << 4, 0xc0_0000 | place)
}
