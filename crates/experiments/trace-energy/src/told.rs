//! What a whole trace tells, seen before its energy is counted.

use crate::owner::Owner;
use import::ftrace::Point;
use recording::Event;
use recording::facts::KernelTrace;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a trace tells.
#[derive(Default)]
pub struct Told {
    /// Time of the first event and of the last, in nanoseconds.
    pub span_ns: Option<[u64; 2]>,
    /// The CPUs that have events.
    pub cpus: BTreeMap<u16, Beginning>,
    /// Marks and wake-ups of tasks by name: the work that was done.
    pub work: BTreeMap<String, u64>,
    /// A bit for each point that the trace has.
    seen: u64,
    /// Threads of RCU, and those that help it.
    pub rcu: BTreeSet<u32>,
    /// Those of RCU that invoke offloaded callbacks.
    pub offloaded: BTreeSet<u32>,
    /// Tasks that ran with a lower priority than usual.
    pub low: BTreeSet<u32>,
    /// Interrupts that are a timer's.
    pub timers: BTreeSet<u32>,
}

/// What is known of a CPU beforehand.
#[derive(Default)]
pub struct Beginning {
    /// What the CPU did when the trace began.
    pub owner: Option<Owner>,
    /// Events of the CPU, by their number, behind which others were lost.
    pub gaps: VecDeque<u64>,
    events: u64,
    is_open: bool,
}

impl Told {
    /// What is known of a kernel before its events.
    pub fn new(kernel: &KernelTrace) -> Self {
        let named = |starts: &[&str]| {
            let tasks = kernel.tasks.iter();
            let tasks =
                tasks.filter(|(_, name)| starts.iter().any(|start| name.starts_with(start)));
            tasks.map(|(pid, _)| *pid).collect()
        };
        let interrupts = kernel.interrupts.iter();
        Self {
            rcu: named(&["rcu", "ksoftirqd"]),
            offloaded: named(&["rcuo"]),
            low: kernel.low_priority.clone(),
            timers: interrupts
                .filter(|(_, name)| name.contains("timer"))
                .map(|(number, _)| *number)
                .collect(),
            ..Self::default()
        }
    }

    /// Takes an event in.
    pub fn event(&mut self, kernel: &KernelTrace, point: Point, event: &Event) {
        self.seen |= 1 << point as u64;
        let [first, last] = self.span_ns.unwrap_or([event.time; 2]);
        self.span_ns = Some([first.min(event.time), last.max(event.time)]);
        let work = match point {
            Point::Mark => kernel.functions.get(&event.argument),
            Point::SchedWakeup => kernel.tasks.get(&event.argument),
            _ => None,
        };
        if let Some(name) = work {
            match self.work.get_mut(name) {
                Some(count) => *count += 1,
                None => drop(self.work.insert(name.clone(), 1)),
            }
        }
        let cpu = self.cpus.entry(event.cpu).or_insert_with(|| Beginning {
            is_open: true,
            ..Beginning::default()
        });
        if point == Point::Lost {
            cpu.gaps.push_back(cpu.events);
        }
        cpu.events += 1;
        let owner = match point {
            Point::SchedSwitch => Some(Owner::Task(event.ticks as u32)),
            Point::IdleExit => Some(Owner::Idle(None)),
            Point::IdleEnter | Point::Lost => None,
            _ => return,
        };
        if std::mem::take(&mut cpu.is_open) {
            cpu.owner = owner;
        }
    }

    /// True if the trace has one of some points.
    pub fn has(&self, points: &[Point]) -> bool {
        points
            .iter()
            .any(|point| self.seen & 1 << *point as u64 != 0)
    }

    /// True if the trace has events of idle states.
    pub fn has_idle(&self) -> bool {
        self.has(&[Point::IdleEnter, Point::IdleExit])
    }
}
