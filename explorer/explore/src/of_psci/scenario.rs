//! Scenarios: what each CPU asks of the firmware.

use super::ledger::{highest, shown};
use super::passed;
use super::reached::Call::*;
use super::reached::{Call, STATES};
use engine::SplitMix64;
use interleavings::subject::{MOST_ACTIONS, MOST_CPUS, Script};
use serde::{Deserialize, Serialize};
use smc::MIGRATE;
use std::ops::Range;

/// A call that a CPU makes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// CPU_ON of a CPU.
    On(u8),
    /// CPU_OFF.
    Off,
    /// CPU_FREEZE.
    Freeze,
    /// CPU_SUSPEND to these states of the CPU, its cluster and the system: 0 runs, 1 keeps its
    /// contents, 2 loses them (the system: 1 loses them). `last` is the level at which an OS that
    /// coordinates says that this CPU is the last to go down.
    Suspend {
        /// States of the levels 0 to 2.
        states: [u8; 3],
        /// The level; without a meaning where the platform coordinates.
        #[serde(default)]
        last: u8,
    },
    /// AFFINITY_INFO of a CPU.
    Affinity(u8),
    /// AFFINITY_INFO of a CPU's cluster.
    ClusterAffinity(u8),
    /// A call that passes the platform's answer on, by its function id; one at the edge of its
    /// arguments, by its place in [`passed::EDGES`]; or a stamp of the own CPU, from
    /// [`passed::STAMPS`] on.
    Other(u32),
    /// MIGRATE of the Trusted OS to a CPU.
    Migrate(u8),
    /// PSCI_SET_SUSPEND_MODE: 0 the platform coordinates, 1 the OS does.
    Mode(u8),
    /// CPU_DEFAULT_SUSPEND: CPUs with odd numbers wait in a state that keeps their contents, of the
    /// others the cluster may go down.
    DefaultSuspend,
    /// SYSTEM_SUSPEND.
    SystemSuspend,
    /// PSCI_STAT_COUNT of the highest domain of a state, seen from a CPU.
    Count {
        /// The CPU.
        of: u8,
        /// States of the levels 0 to 2.
        states: [u8; 3],
    },
    /// PSCI_STAT_RESIDENCY of the same.
    Residency {
        /// The CPU.
        of: u8,
        /// States of the levels 0 to 2.
        states: [u8; 3],
    },
}

impl Ask {
    pub(crate) fn call(&self) -> Call {
        match self {
            Self::On(_) => On,
            Self::Off => Off,
            Self::Freeze => Freeze,
            Self::Suspend { .. } => Suspend,
            Self::Affinity(_) => Affinity,
            Self::ClusterAffinity(_) => ClusterAffinity,
            Self::Other(_) | Self::Migrate(_) => Other,
            Self::Mode(_) => Mode,
            Self::DefaultSuspend => DefaultSuspend,
            Self::SystemSuspend => SystemSuspend,
            Self::Count { .. } => Count,
            Self::Residency { .. } => Residency,
        }
    }
}

impl std::fmt::Display for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::On(cpu) => write!(f, "CPU_ON of CPU {cpu}"),
            Self::Off => f.write_str("CPU_OFF"),
            Self::Freeze => f.write_str("CPU_FREEZE"),
            Self::Suspend { states, last: 0 } => write!(f, "CPU_SUSPEND to {}", shown(states)),
            Self::Suspend { states, last } => {
                let states = shown(states);
                write!(f, "CPU_SUSPEND to {states} as the last up to level {last}")
            }
            Self::Affinity(cpu) => write!(f, "AFFINITY_INFO of CPU {cpu}"),
            Self::ClusterAffinity(cpu) => write!(f, "AFFINITY_INFO of the cluster of CPU {cpu}"),
            Self::Other(function) => f.write_str(passed::name(*function)),
            Self::Migrate(cpu) => write!(f, "MIGRATE to CPU {cpu}"),
            Self::DefaultSuspend => f.write_str("CPU_DEFAULT_SUSPEND"),
            Self::SystemSuspend => f.write_str("SYSTEM_SUSPEND"),
            Self::Count { of, states } => {
                write!(f, "PSCI_STAT_COUNT of {} for CPU {of}", shown(states))
            }
            Self::Residency { of, states } => {
                write!(f, "PSCI_STAT_RESIDENCY of {} for CPU {of}", shown(states))
            }
            Self::Mode(0) => f.write_str("PSCI_SET_SUSPEND_MODE to platform-coordinated"),
            Self::Mode(_) => f.write_str("PSCI_SET_SUSPEND_MODE to OS-initiated"),
        }
    }
}

/// The calls of each CPU, and the state in which the machine starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// True if the OS coordinates from the start.
    #[serde(default)]
    pub os_initiated: bool,
    /// The calls of each CPU, in order, CPU 0 first. A CPU that is turned off goes on with its next
    /// call when it is turned on again.
    pub cpus: Vec<Vec<Ask>>,
    /// CPUs that are off at the start; the others run.
    #[serde(default)]
    pub off: Vec<u8>,
    /// The CPU on which a Trusted OS resides, which may not go off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident: Option<u8>,
}

impl Script for Scenario {
    fn cpus(&self) -> usize {
        self.cpus.len()
    }

    fn actions(&self, cpu: usize) -> usize {
        self.cpus.get(cpu).map_or(0, Vec::len)
    }

    fn action(&self, cpu: usize, number: usize) -> Option<String> {
        Some(format!("calls {}", self.ask(cpu, number)?))
    }

    fn leave_out(&mut self, cpu: usize, actions: Range<usize>) {
        self.cpus[cpu].drain(actions);
    }

    const PLAINER: &'static [fn(&mut Self)] = &[
        |script| script.os_initiated = false,
        |script| script.resident = None,
        // Where the platform coordinates it has no meaning.
        |script| {
            for ask in script.cpus.iter_mut().flatten() {
                if let Ask::Suspend { last, .. } = ask {
                    *last = 0;
                }
            }
        },
    ];

    fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (cpu, asks) in self.cpus.iter().enumerate() {
            let off = if self.off.contains(&(cpu as u8)) {
                ", which is off at the start,"
            } else {
                ""
            };
            if !asks.is_empty() {
                let calls: Vec<String> = asks.iter().map(ToString::to_string).collect();
                sentences.push(format!("CPU {cpu}{off} calls {}.", calls.join(", then ")));
            }
        }
        if let Some(cpu) = self.resident {
            sentences.push(format!("A Trusted OS resides on CPU {cpu}."));
        }
        let coordinates = if self.os_initiated {
            "The OS coordinates."
        } else {
            "The platform coordinates."
        };
        sentences.push(coordinates.to_owned());
        sentences
    }

    fn check(&self) -> Result<(), String> {
        let count = self.cpus.len();
        if count == 0 || count > MOST_CPUS {
            return Err(format!("a scenario has 1 to {MOST_CPUS} CPUs, not {count}"));
        }
        let known = |what: String, cpu: u8| {
            if usize::from(cpu) < count {
                return Ok(());
            }
            Err(format!(
                "{what} names CPU {cpu}, and there are CPUs 0 to {}",
                count - 1
            ))
        };
        for &cpu in self.off.iter().chain(&self.resident) {
            known("`off` or `resident`".to_owned(), cpu)?;
        }
        for (cpu, asks) in self.cpus.iter().enumerate() {
            if asks.len() > MOST_ACTIONS {
                let count = asks.len();
                return Err(format!(
                    "CPU {cpu} has {count} calls, and at most {MOST_ACTIONS} would be right"
                ));
            }
            for ask in asks {
                if let Ask::On(target)
                | Ask::Affinity(target)
                | Ask::ClusterAffinity(target)
                | Ask::Migrate(target)
                | Ask::Count { of: target, .. }
                | Ask::Residency { of: target, .. } = *ask
                {
                    known(format!("{ask}, a call of CPU {cpu},"), target)?;
                }
                if let Ask::Other(function) = *ask
                    && !passed::is_known(function)
                {
                    return Err(format!(
                        "CPU {cpu} makes call {function:#x}, and `other` has one that asks the platform"
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Scenario {
    /// The call of a number of a CPU, if there is one.
    pub(crate) fn ask(&self, cpu: usize, number: usize) -> Option<Ask> {
        self.cpus.get(cpu)?.get(number).copied()
    }

    /// Draws a scenario for `cpus` CPUs into this one: who takes part, and one to three calls each.
    pub(crate) fn draw(&mut self, random: &mut SplitMix64, cpus: usize) {
        // What is asked for how often. In half of the runs some of it is asked for often, or never.
        let swarms = random.below(2);
        let mut weights = Call::ALL.map(|(_, _, weight, _)| {
            weight * [2, [0, 1, 2, 8][random.below(4) as usize]][swarms as usize]
        });
        self.os_initiated = random.below(3) == 0;
        weights[Suspend as usize] += 1;
        self.off.clear();
        self.cpus.resize_with(cpus, Vec::new);
        // All of them, or a few: the fewer there are, the more often all are down at once. The
        // others are off and stay so.
        let crew = match random.below(8) {
            0 | 1 => 4,
            2 => 3,
            3 => 2,
            _ => cpus,
        };
        for cpu in 1..cpus {
            // CPU 0 has booted; of the others every third is off.
            if cpu >= crew || random.below(3) == 0 {
                self.off.push(cpu as u8);
            }
        }
        self.resident = (random.below(16) == 0).then(|| random.below(cpus as u64) as u8);
        // In some runs all CPUs have an eye on one state.
        let favourite = states(random);
        let asker = Asker {
            weights,
            favourite: (random.below(4) == 0).then_some(favourite),
            crew: crew.min(cpus) as u64,
        };
        for (cpu, asks) in self.cpus.iter_mut().enumerate() {
            asks.clear();
            if cpu >= crew {
                continue;
            }
            // Only the CPU on which the Trusted OS resides can move it.
            let resides = self.resident == Some(cpu as u8);
            for _ in 0..1 + random.below(3) {
                asks.push(if resides && random.below(4) == 0 {
                    Ask::Migrate(random.below(crew.min(cpus) as u64) as u8)
                } else {
                    asker.ask(random)
                });
            }
        }
    }
}

fn states(random: &mut SplitMix64) -> [u8; 3] {
    STATES[random.below(STATES.len() as u64) as usize]
}

/// Draws the calls of a scenario.
struct Asker {
    weights: [u64; Call::ALL.len()],
    /// The states of nearly every suspend.
    favourite: Option<[u8; 3]>,
    /// Number of CPUs that take part.
    crew: u64,
}

impl Asker {
    /// Draws a call.
    fn ask(&self, random: &mut SplitMix64) -> Ask {
        let other = random.below(self.crew) as u8;
        let part = random.below(self.weights.iter().sum());
        let (call, ..) = Call::ALL[crate::pick(&self.weights, part)];
        match call {
            On => Ask::On(other),
            Off => Ask::Off,
            Freeze => Ask::Freeze,
            Affinity => Ask::Affinity(other),
            ClusterAffinity => Ask::ClusterAffinity(other),
            Other => match passed::draw(random) {
                MIGRATE => Ask::Migrate(other),
                call => Ask::Other(call),
            },
            Mode => Ask::Mode(random.below(2) as u8),
            DefaultSuspend => Ask::DefaultSuspend,
            SystemSuspend => Ask::SystemSuspend,
            Count => Ask::Count {
                of: other,
                states: states(random),
            },
            Residency => Ask::Residency {
                of: other,
                states: states(random),
            },
            Suspend => self.suspend(random),
        }
    }

    /// Draws a CPU_SUSPEND.
    fn suspend(&self, random: &mut SplitMix64) -> Ask {
        let states = match (random.below(64), self.favourite) {
            (0, _) => UNSOUND[random.below(UNSOUND.len() as u64) as usize],
            (_, Some(favourite)) => favourite,
            (_, None) => states(random),
        };
        // Where the platform coordinates, the last level has no meaning.
        let last = if random.below(8) == 0 {
            random.below(4) as u8
        } else {
            highest(&states)
        };
        Ask::Suspend { states, last }
    }
}

/// States that there are not: one is unknown, a level is skipped, or loses its contents above one
/// that keeps them.
const UNSOUND: [[u8; 3]; 5] = [[3, 0, 0], [1, 2, 0], [2, 0, 1], [2, 1, 1], [1, 1, 1]];
