//! The owners of energy and time: at each moment a CPU has one.

use recording::facts::KernelTrace;

/// An owner, in a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A task, by its process number.
    Task(u32),
    /// The handler of an interrupt.
    Interrupt(u32),
    /// A softirq.
    Softirq(u32),
    /// A callback of RCU, by the number of its function, and where it ran, if the trace tells that.
    Callback(u32, &'static str),
    /// The idle loop, while the CPU is in no idle state.
    IdleLoop,
    /// An idle state of a CPU; `None` where the trace does not say which.
    Idle(Option<u8>),
    /// A state of the whole domain; `None` where it is not known.
    Cluster(Option<u8>),
    /// A CPU that hotplug has taken off.
    Offline,
    /// The machine while it is suspended.
    Suspended,
    /// A CPU of which the trace says nothing yet, or nothing any more.
    Untold(&'static str),
}

/// Softirqs by number: `include/linux/interrupt.h`.
const SOFTIRQS: [&str; 10] = [
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
];

impl Owner {
    /// The name of an owner, in a domain whose states have these names.
    pub fn name(self, kernel: &KernelTrace, domain: &str, states: &[String]) -> String {
        let state = |state: Option<u8>| {
            let known = state.and_then(|state| states.get(usize::from(state)));
            known.map_or("a state that is not told".to_owned(), String::clone)
        };
        match self {
            Self::Task(pid) => match kernel.tasks.get(&pid) {
                Some(name) => name.clone(),
                None => format!("task {pid}"),
            },
            Self::Interrupt(number) => match kernel.interrupts.get(&number) {
                Some(name) => format!("interrupt {number} ({name})"),
                None => format!("interrupt {number}"),
            },
            Self::Softirq(number) => match SOFTIRQS.get(number as usize) {
                Some(name) => format!("softirq {name}"),
                None => format!("softirq {number}"),
            },
            Self::Callback(function, place) => {
                let name = kernel.functions.get(&function);
                format!("RCU {}{place}", name.map_or("callback", String::as_str))
            }
            Self::IdleLoop => "idle loop".to_owned(),
            Self::Idle(of) => format!("{domain} CPU in {}", state(of)),
            Self::Cluster(of) => format!("{domain} cluster, all in {}", state(of)),
            Self::Offline => "CPUs that are offline".to_owned(),
            Self::Suspended => "suspended".to_owned(),
            Self::Untold(why) => format!("not told: {why}"),
        }
    }

    /// True for work, false for an idle state; `None` for what the trace does not tell.
    pub const fn is_work(self) -> Option<bool> {
        match self {
            Self::Untold(_) => None,
            Self::Idle(_) | Self::Cluster(_) | Self::Offline | Self::Suspended => Some(false),
            _ => Some(true),
        }
    }
}
