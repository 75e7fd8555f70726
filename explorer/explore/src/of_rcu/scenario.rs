//! The actions of a kernel's CPUs: they read, replace, switch tasks, run threads, idle and go off.

use self::Action::*;
use self::Urgency::*;
use engine::SplitMix64;
use interleavings::subject::{MOST_ACTIONS, MOST_CPUS, Script};
use itertools::Itertools;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};
use std::ops::Range;

interleavings::worded! {
    /// A configuration of RCU.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Mode;
    /// Name of the mode on the command line.
    fn name;

    /// Linux 3.10, nothing offloaded.
    Reference = "reference",
    /// Linux 3.10, all CPUs but CPU 0 offloaded.
    #[serde(rename = "offload-2013")]
    Offload2013 = "offload-2013",
    /// Linux 3.10, idle enforced.
    EnforcedIdle = "enforced-idle",
    /// Linux 3.10, every other CPU offloaded, idle enforced on the rest.
    Both = "both",
    /// Linux 6, all CPUs offloaded.
    OffloadModern = "offload-modern",
    /// Linux 6, every other CPU offloaded, callbacks lazy.
    Lazy = "lazy",
    /// [`Mode::Both`], with CPUs that go off.
    #[serde(rename = "hotplug-2013")]
    Hotplug2013 = "hotplug-2013",
    /// [`Mode::Lazy`], with CPUs that go off.
    HotplugModern = "hotplug-modern",
}

impl Mode {
    /// True if a callback of this urgency may be put off for seconds.
    pub(crate) fn puts_off(self, urgency: Urgency) -> bool {
        match self {
            Self::Reference | Self::Offload2013 | Self::OffloadModern => false,
            Self::EnforcedIdle | Self::Both | Self::Hotplug2013 => urgency == Lazy,
            Self::Lazy | Self::HotplugModern => urgency != Hurry,
        }
    }

    /// True if a callback of this urgency counts as lazy on a CPU.
    pub(crate) fn is_lazy(self, urgency: Urgency, cpu: usize) -> bool {
        match self {
            Self::OffloadModern => false,
            // Every other CPU is offloaded.
            Self::Lazy | Self::HotplugModern => urgency != Hurry && cpu.is_multiple_of(2),
            _ => urgency == Lazy,
        }
    }

    /// True if CPUs go off.
    pub(crate) fn hotplug(self) -> bool {
        matches!(self, Self::Hotplug2013 | Self::HotplugModern)
    }
}

/// When a callback is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Urgency {
    /// Callbacks wait for a grace period of the usual length.
    Plain,
    /// Much later would do.
    Lazy,
    /// Soon.
    Hurry,
}

/// Something that a CPU does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// The running task starts a read section, or one within it, and looks at the object of a
    /// pointer (0 to 2).
    Read(u8),
    /// The running task ends its innermost read section.
    Leave,
    /// The object of a pointer is replaced, and a callback is queued that frees the old one.
    Replace {
        /// The pointer, 0 to 2.
        pointer: u8,
        /// The urgency of the callback.
        #[serde(default = "plain")]
        urgency: Urgency,
        /// The caller had its interrupts off: threads may not be woken.
        #[serde(default)]
        atomic: bool,
    },
    /// Another task runs, if one is free: the first from this number on.
    Switch(u8),
    /// A thread that is ready runs, with interrupts between its steps: the one of this number among
    /// them.
    Thread {
        /// Number of the thread.
        which: u8,
        /// Steps at most.
        steps: u8,
    },
    /// The CPU is idle, unless it is needed.
    Idle(Idle),
    /// The CPU goes off for this number of jiffies, at least 1. CPU 0 stays.
    Off(u8),
    /// The CPU waits for the next jiffy.
    Jiffy,
}

/// The jiffies for which a CPU is idle, and what a device's interrupt does meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Idle {
    /// Jiffies, at least 1.
    pub jiffies: u8,
    /// An interrupt that comes meanwhile reads an object, and looks at it so often.
    #[serde(default)]
    pub looks: u8,
    /// And then replaces it.
    #[serde(default)]
    pub replaces: bool,
    /// The jiffies for which the handler lasts, and reads all the time.
    #[serde(default)]
    pub lasts: u8,
}

impl Action {
    /// The number of kinds of actions, and one for what a CPU does when all are done.
    pub(crate) const KINDS: u16 = 9;

    /// The kind's number.
    pub(crate) fn kind(&self) -> u16 {
        match self {
            Self::Read(_) => 0,
            Self::Leave => 1,
            Self::Replace { .. } => 2,
            Self::Switch(_) => 3,
            Self::Thread { .. } => 4,
            Self::Idle(_) => 5,
            Self::Off(_) => 6,
            Self::Jiffy => 7,
        }
    }
}

fn plain() -> Urgency {
    Plain
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Read(pointer) => write!(f, "reads pointer {pointer}"),
            Self::Leave => f.write_str("ends a read section"),
            Self::Replace {
                pointer,
                urgency,
                atomic,
            } => {
                let how = match urgency {
                    Plain => "",
                    Lazy => ", at leisure",
                    Hurry => ", in a hurry",
                };
                let off = if atomic { ", with interrupts off" } else { "" };
                write!(f, "replaces pointer {pointer}{how}{off}")
            }
            Self::Switch(_) => f.write_str("switches to another task"),
            Self::Thread { steps: 1, .. } => f.write_str("runs a step of a thread"),
            Self::Thread { steps, .. } => write!(f, "runs up to {steps} steps of a thread"),
            Self::Idle(Idle {
                jiffies,
                looks,
                replaces,
                lasts,
            }) => {
                write!(f, "is idle for {jiffies} {}", jiffies_word(jiffies))?;
                if looks > 0 && lasts > 0 {
                    write!(f, ", with a handler of {lasts} {}", jiffies_word(lasts))?;
                }
                match (looks, replaces) {
                    (0, false) => Ok(()),
                    (_, false) => f.write_str(", with an interrupt that reads pointer 0"),
                    (_, true) => {
                        f.write_str(", with an interrupt that reads and replaces pointer 0")
                    }
                }
            }
            Self::Off(jiffies) => write!(f, "is off for {jiffies} {}", jiffies_word(jiffies)),
            Self::Jiffy => f.write_str("waits for the next jiffy"),
        }
    }
}

fn jiffies_word(count: u8) -> &'static str {
    if count == 1 { "jiffy" } else { "jiffies" }
}

/// The actions of each CPU of a kernel, and what of RCU's settings the mode leaves open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelScenario {
    /// CPUs of a leaf of the tree, 1 to 16; the other nodes have two children.
    pub leaf_fanout: u8,
    /// The kernel can be preempted.
    #[serde(default)]
    pub preemptible: bool,
    /// A few callbacks are many already: limits are low.
    #[serde(default)]
    pub crowded: bool,
    /// Ticks find user space running where nobody reads.
    #[serde(default)]
    pub user_ticks: bool,
    /// When all is done the CPUs work on, rather than go idle.
    #[serde(default)]
    pub busy_end: bool,
    /// The core has no LSE: a read-modify-write is a pair of exclusives, whose store may fail.
    #[serde(default)]
    pub exclusives: bool,
    /// A grace period counts as stalled after a second, rather than after 21.
    #[serde(default)]
    pub impatient: bool,
    /// The actions of each CPU, CPU 0 first.
    pub cpus: Vec<Vec<Action>>,
}

/// Fan-out at which all CPUs share one leaf.
const ONE_LEAF: u8 = 16;

/// Pointers to objects.
pub const POINTERS: usize = 3;

/// Read sections within each other, at most.
pub const DEPTH: u32 = 3;

impl Script for KernelScenario {
    fn cpus(&self) -> usize {
        self.cpus.len()
    }

    fn actions(&self, cpu: usize) -> usize {
        self.cpus.get(cpu).map_or(0, Vec::len)
    }

    fn action(&self, cpu: usize, number: usize) -> Option<String> {
        Some(self.action_of(cpu, number)?.to_string())
    }

    fn leave_out(&mut self, cpu: usize, actions: Range<usize>) {
        self.cpus[cpu].drain(actions);
    }

    const PLAINER: &'static [fn(&mut Self)] = &[
        |script| script.leaf_fanout = ONE_LEAF,
        |script| script.preemptible = false,
        |script| script.crowded = false,
        |script| script.user_ticks = false,
        |script| script.busy_end = false,
        |script| script.exclusives = false,
        |script| script.impatient = false,
    ];

    fn sentences(&self) -> Vec<String> {
        let mut sentences = self
            .cpus
            .iter()
            .enumerate()
            .filter(|(_, actions)| !actions.is_empty())
            .map(|(cpu, actions)| format!("CPU {cpu} {}.", actions.iter().join(", then ")))
            .collect_vec();
        let fanout = match self.leaf_fanout {
            1 => "Each CPU has a leaf of its own".to_owned(),
            ONE_LEAF => "All CPUs share a leaf".to_owned(),
            fanout => format!("Up to {fanout} CPUs share a leaf"),
        };
        let preempted = if self.preemptible {
            "the kernel can be preempted"
        } else {
            "it cannot be preempted"
        };
        let mut settings = vec![fanout.as_str(), preempted];
        for (is, what) in [
            (self.crowded, "few callbacks are many"),
            (self.impatient, "a grace period of a second is stalled"),
            (self.exclusives, "the cores have no LSE"),
        ] {
            settings.extend(is.then_some(what));
        }
        sentences.push(format!("{}.", settings.join("; ")));
        sentences
    }

    fn check(&self) -> Result<(), String> {
        let range = |what: String, value: usize, least, most| {
            let is_right = (least..=most).contains(&value);
            is_right
                .then_some(())
                .ok_or_else(|| format!("{what} is {value}, and {least} to {most} would be right"))
        };
        let cpus = self.cpus.len();
        range("the number of CPUs".to_owned(), cpus, 2, MOST_CPUS)?;
        let fanout = self.leaf_fanout.into();
        range("`leaf_fanout`".to_owned(), fanout, 1, 16)?;
        for (cpu, actions) in self.cpus.iter().enumerate() {
            range(
                format!("the number of actions of CPU {cpu}"),
                actions.len(),
                0,
                MOST_ACTIONS,
            )?;
            for (number, action) in actions.iter().enumerate() {
                let (what, value, least, most) = match *action {
                    Read(pointer) | Replace { pointer, .. } => {
                        ("pointer", pointer, 0, POINTERS - 1)
                    }
                    Thread { steps, .. } => ("number of steps", steps, 1, 255),
                    Action::Idle(Idle { jiffies, .. }) | Off(jiffies) => {
                        ("number of jiffies", jiffies, 1, 255)
                    }
                    Leave | Switch(_) | Jiffy => continue,
                };
                let what = format!("the {what} of action {number} of CPU {cpu}");
                range(what, value.into(), least, most)?;
            }
        }
        Ok(())
    }
}

impl KernelScenario {
    /// The action of a number of a CPU, if there is one.
    pub(crate) fn action_of(&self, cpu: usize, number: usize) -> Option<Action> {
        self.cpus.get(cpu)?.get(number).copied()
    }

    /// Draws a scenario for `cpus` CPUs into this one.
    pub(crate) fn draw(&mut self, mode: Mode, random: &mut SplitMix64, cpus: usize) {
        let mut below = |bound: u64| random.below(bound) as u8;
        self.leaf_fanout = [1, 2, ONE_LEAF][usize::from(below(3))];
        self.preemptible = below(2) == 0;
        self.crowded = below(2) == 0;
        self.user_ticks = below(2) == 0;
        self.busy_end = below(2) == 0;
        self.exclusives = below(4) == 0;
        self.impatient = below(4) == 0;
        // A stall that lasts is told again after three times its limit.
        let lasts = if self.impatient && below(8) == 0 {
            128
        } else {
            7
        };
        // In how many of twelve chances an object is replaced. With few, lists run empty, and
        // threads go to sleep.
        let replaces = [2, 5, 12][usize::from(below(3))];
        let jiffies = 1 + below(8);
        // What is done how often. In half of the scenarios some of it is done often, or never.
        let swarms = below(2) == 0;
        let mut weights = [20, 22, replaces.into(), 12, 20, 11, 6];
        for weight in weights.iter_mut().filter(|_| swarms) {
            *weight = *weight * [0, 1, 1, 4][usize::from(below(4))] / 2;
        }
        let sum = weights.iter().sum::<u64>() + 1;
        self.cpus.resize_with(cpus, Vec::new);
        for (cpu, actions) in self.cpus.iter_mut().enumerate() {
            actions.clear();
            for _ in 0..jiffies {
                for _ in 0..2 + below(3) {
                    let action = match crate::pick(&weights, below(sum).into()) {
                        0 => Read(below(POINTERS as u64)),
                        2 => {
                            let replace = Replace {
                                pointer: below(POINTERS as u64),
                                urgency: [Plain, Lazy, Hurry][usize::from(below(3))],
                                atomic: below(4) == 0,
                            };
                            // So that few callbacks are many, there have to be some.
                            if self.crowded && below(6) == 0 {
                                (0..3 + below(6)).for_each(|_| actions.push(replace));
                            }
                            replace
                        }
                        3 => Switch(below(cpus as u64 + 1)),
                        4 => Thread {
                            which: below(8),
                            // What comes between two of its steps may last for jiffies.
                            steps: [1, 2, 1 + below(12)][usize::from(below(3))],
                        },
                        5 => Action::Idle(Idle {
                            // Others then do much that this CPU hears nothing of.
                            jiffies: if below(6) == 0 {
                                8 + below(24)
                            } else {
                                1 + below(6)
                            },
                            looks: if below(2) == 0 { 0 } else { below(20) },
                            replaces: below(12) < replaces,
                            lasts: if below(3) == 0 { below(lasts) } else { 0 },
                        }),
                        6 if mode.hotplug() && cpu > 0 => Off(1 + below(5)),
                        _ => Leave,
                    };
                    actions.push(action);
                }
                actions.push(Jiffy);
            }
        }
    }
}

/// Seconds after which a grace period counts as stalled.
pub fn stall_s(scenario: &KernelScenario) -> u64 {
    if scenario.impatient { 1 } else { 21 }
}
