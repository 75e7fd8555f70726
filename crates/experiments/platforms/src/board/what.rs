//! What is known of a board.

/// A board, as far as its files say.
#[derive(Debug, Default)]
pub struct Board {
    /// Name of the file that says it.
    pub file: String,
    /// Name of the model, or of the file.
    pub title: String,
    /// The CPUs, by rising number.
    pub cpus: Vec<Cpu>,
    /// What no file says, as sentences without their full stop.
    pub assumed: Vec<String>,
    /// True if the numbers of CPUs are Linux's, where the CPU that boots is 0.
    pub is_numbered: bool,
}

/// A CPU.
#[derive(Debug, Default)]
pub struct Cpu {
    /// Its number in Linux.
    pub number: u16,
    /// The place of its description.
    pub source: String,
    /// The affinities of its MPIDR, where a device tree says them.
    pub reg: Option<u64>,
    /// Its cluster: any text that CPUs of one cluster share.
    pub cluster: String,
    /// The kind of core, as `cortex-a53`.
    pub core: String,
    /// Capacity at the highest clock, where the fastest core has 1024.
    pub capacity: Option<u64>,
    /// What its core does per kHz beside others, where a device tree says it.
    pub per_khz: Option<u32>,
    /// Operating points by rising clock.
    pub points: Vec<Point>,
    /// The place of their description.
    pub points_source: String,
    /// Idle states in the file's order.
    pub states: Vec<State>,
    /// Bytes of its L1 data cache, and of its L3.
    pub l1_and_l3: [Option<u32>; 2],
    /// Its L2 cache: a name, which all CPUs on it share, and bytes.
    pub l2: Option<(String, u32)>,
}

/// An operating point: the clock in kHz, capacity where it need not follow the clock, and the power
/// of a core that runs, in microwatts.
pub type Point = (u64, Option<u64>, Option<u64>);

/// An idle state.
#[derive(Debug, Default, PartialEq)]
pub struct State {
    /// Name of the state.
    pub name: String,
    /// The times of entering and leaving, and the residency, in microseconds.
    pub times: [u64; 3],
    /// True if the CPU's timer stops.
    pub stops_timer: bool,
    /// True if the CPUs of a domain go down together.
    pub coupled: bool,
    /// The power domain whose state it is; empty where no file has power domains.
    pub domain: String,
    /// The `power_state` by which PSCI enters it, where a device tree says it.
    pub parameter: Option<u32>,
    /// The place of its description.
    pub source: String,
}

impl Cpu {
    /// Adds an operating point in its place, if there is none of its clock.
    pub fn add(&mut self, point: Point) {
        let at = self.points.partition_point(|known| known.0 < point.0);
        if point.0 > 0 && self.points.get(at).is_none_or(|known| known.0 > point.0) {
            self.points.insert(at, point);
        }
    }

    /// True if both can be in a group.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.cluster, &self.core, self.capacity) == (&other.cluster, &other.core, other.capacity)
            && (&self.points, &self.states, self.l1_and_l3)
                == (&other.points, &other.states, other.l1_and_l3)
    }
}

impl Board {
    /// Gives each CPU of a device tree its capacity, from the work in a second at its highest
    /// clock, as Linux does (`drivers/base/arch_topology.c`).
    pub fn rate(&mut self) {
        self.assumed.retain(|it| !it.contains("capacity"));
        let per_khz: Option<Vec<u32>> = self.cpus.iter().map(|cpu| cpu.per_khz).collect();
        let Some(per_khz) = per_khz else {
            let assumed = "each CPU has capacity 1024, since capacity-dmips-mhz is missing";
            self.assumed.push(assumed.to_owned());
            return;
        };
        let tops: Option<Vec<u64>> = (self.cpus.iter())
            .map(|cpu| Some(cpu.points.last()?.0))
            .collect();
        if tops.is_none() {
            let assumed = "capacities are as capacity-dmips-mhz alone, as if all clocks were alike: they are missing";
            self.assumed.push(assumed.to_owned());
        }
        let speed = |at: usize| {
            u64::from(per_khz[at]).saturating_mul(tops.as_ref().map_or(1, |tops| tops[at]))
        };
        let most = (0..per_khz.len()).map(speed).max().unwrap_or(0).max(1);
        for (at, cpu) in self.cpus.iter_mut().enumerate() {
            cpu.capacity = Some(speed(at).saturating_mul(1024) / most);
        }
    }

    /// The CPUs in groups: those of one cluster that are alike.
    pub fn groups(&self) -> Vec<Vec<&Cpu>> {
        let mut groups: Vec<Vec<&Cpu>> = Vec::new();
        for cpu in &self.cpus {
            match groups.iter_mut().find(|group| group[0].is_like(cpu)) {
                Some(group) => group.push(cpu),
                None => groups.push(vec![cpu]),
            }
        }
        groups
    }
}
