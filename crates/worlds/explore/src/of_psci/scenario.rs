//! Scenarios: what each CPU asks of the firmware.

use document::Document;
use engine::SplitMix64;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use stopwatt_explore::subject::{MOST_ACTIONS, MOST_CPUS, Script};

/// A call that a CPU makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// CPU_ON of a CPU.
    On(u8),
    /// CPU_OFF.
    Off,
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
    /// PSCI_SET_SUSPEND_MODE: 0 the platform coordinates, 1 the OS does.
    Mode(u8),
}

impl std::fmt::Display for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::On(cpu) => write!(f, "CPU_ON of CPU {cpu}"),
            Self::Off => f.write_str("CPU_OFF"),
            Self::Suspend { states: [cpu, cluster, system], last: 0 } => {
                write!(f, "CPU_SUSPEND to {cpu}.{cluster}.{system}")
            }
            Self::Suspend { states: [cpu, cluster, system], last } => {
                write!(f, "CPU_SUSPEND to {cpu}.{cluster}.{system} as the last up to level {last}")
            }
            Self::Affinity(cpu) => write!(f, "AFFINITY_INFO of CPU {cpu}"),
            Self::Mode(0) => f.write_str("PSCI_SET_SUSPEND_MODE to platform-coordinated"),
            Self::Mode(_) => f.write_str("PSCI_SET_SUSPEND_MODE to OS-initiated"),
        }
    }
}

/// The calls of each CPU, and the state in which the machine starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// Why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// Too few or too many CPUs.
    #[error("a scenario has 1 to {MOST_CPUS} CPUs, not {0}")]
    Cpus(usize),
    /// A CPU has too many calls.
    #[error("CPU {0} has {1} calls, and at most {MOST_ACTIONS} would be right")]
    Calls(usize, usize),
    /// A CPU is named that is not there.
    #[error("{what} names CPU {cpu}, and there are CPUs 0 to {last}")]
    NoSuchCpu {
        /// The place.
        what: String,
        /// The CPU.
        cpu: u8,
        /// The last that there is.
        last: usize,
    },
}

impl Script for Scenario {
    fn cpus(&self) -> usize {
        self.cpus.len()
    }

    fn actions(&self, cpu: usize) -> usize {
        self.cpus.get(cpu).map_or(0, Vec::len)
    }

    fn action(&self, cpu: usize, number: usize) -> Option<String> {
        Some(format!("calls {}", self.cpus.get(cpu)?.get(number)?))
    }

    fn leave_out(&mut self, cpu: usize, actions: Range<usize>) {
        self.cpus[cpu].drain(actions);
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (cpu, asks) in self.cpus.iter().enumerate() {
            let off = if self.off.contains(&(cpu as u8)) { ", which is off at the start," } else { "" };
            if !asks.is_empty() {
                let calls: Vec<String> = asks.iter().map(ToString::to_string).collect();
                sentences.push(format!("CPU {cpu}{off} calls {}.", calls.join(", then ")));
            }
        }
        let coordinates = if self.os_initiated { "The OS coordinates." } else { "The platform coordinates." };
        sentences.push(coordinates.to_owned());
        sentences
    }
}

impl Scenario {
    /// Reads a scenario from TOML.
    ///
    /// # Errors
    /// What is wrong, with its line.
    pub fn read(document: &Document) -> Result<Self, document::Error> {
        const HELP: &str = "stopwatt explore psci --help shows one";
        let scenario: Self = document.read().map_err(|error| error.with_help(HELP))?;
        scenario.check().map_err(|wrong| document.wrong_as_a_whole(wrong.to_string(), HELP))?;
        Ok(scenario)
    }

    /// Checks that the CPUs which it names are there.
    ///
    /// # Errors
    /// The error.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let count = self.cpus.len();
        if count == 0 || count > MOST_CPUS {
            return Err(ScenarioError::Cpus(count));
        }
        let known = |what: String, cpu: u8| match usize::from(cpu) < count {
            true => Ok(()),
            false => Err(ScenarioError::NoSuchCpu { what, cpu, last: count - 1 }),
        };
        for &cpu in &self.off {
            known("`off`".to_owned(), cpu)?;
        }
        for (cpu, asks) in self.cpus.iter().enumerate() {
            if asks.len() > MOST_ACTIONS {
                return Err(ScenarioError::Calls(cpu, asks.len()));
            }
            for ask in asks {
                if let Ask::On(target) | Ask::Affinity(target) = *ask {
                    known(format!("{ask}, a call of CPU {cpu},"), target)?;
                }
            }
        }
        Ok(())
    }

    /// Draws a scenario for `cpus` CPUs into this one: one to three calls a CPU, of those that act
    /// on others most.
    pub fn draw(&mut self, random: &mut SplitMix64, cpus: usize) {
        self.os_initiated = random.below(3) == 0;
        self.off.clear();
        self.cpus.resize_with(cpus, Vec::new);
        for cpu in 1..cpus {
            // CPU 0 has booted; of the others every third is off.
            if random.below(3) == 0 {
                self.off.push(cpu as u8);
            }
        }
        let os_initiated = self.os_initiated;
        for asks in &mut self.cpus {
            asks.clear();
            for _ in 0..1 + random.below(3) {
                let other = random.below(cpus as u64) as u8;
                asks.push(match random.below(12) {
                    0..3 => Ask::On(other),
                    3..5 => Ask::Off,
                    5..7 => Ask::Affinity(other),
                    7 if random.below(4) == 0 => Ask::Mode(random.below(2) as u8),
                    _ => {
                        let states = match random.below(6) {
                            0 => [1, 0, 0],
                            1 => [2, 0, 0],
                            2 => [1, 1, 0],
                            3 => [2, 1, 0],
                            4 => [2, 2, 0],
                            _ => [2, 2, 1],
                        };
                        let highest = states.iter().rposition(|&state| state != 0).unwrap_or(0) as u8;
                        Ask::Suspend { states, last: if os_initiated { highest } else { 0 } }
                    }
                });
            }
        }
    }
}
