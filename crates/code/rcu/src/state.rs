//! The whole state, and how it is made.

use crate::callback::Callback;
use crate::cell::SharedWord;
use crate::counters::{Counters, GracePeriodCounters};
use crate::cpu::Cpu;
use crate::group::{Group, stride};
use crate::node::{Node, tree};
use crate::plain::{Plain, PlainList};
use crate::platform::{Platform, Thread};
use crate::settings::{Form, Settings, SettingsError};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Phase of the grace-period thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum GpPhase {
    /// No grace period runs.
    Idle,
    /// The node with this index is to learn that one has started.
    Start(usize),
    /// The CPUs are to report; a look at them is due at this jiffy.
    Wait(u64),
    /// A look at those of the leaf with this index; whether it is the first of this grace period.
    Force(usize, bool),
    /// The node with this index is to learn that the grace period has ended.
    End(usize),
}

/// Read-copy update: lists of callbacks, and the grace periods that they wait for.
///
/// Every call is made by a CPU with its interrupts off, and no other code of RCU runs on that CPU
/// meanwhile.
pub struct Rcu<P: Platform> {
    pub(crate) settings: Settings,
    /// The root first, the leaves last.
    pub(crate) nodes: Vec<Node<P>>,
    pub(crate) first_leaf: usize,
    pub(crate) cpus: Vec<Cpu<P>>,
    pub(crate) groups: Vec<Group<P>>,
    /// The grace-period number.
    pub(crate) sequence: P::Shared<u64>,
    /// When the grace period started, when one was last asked for, when the thread last ran, when a
    /// stall is to be reported; in jiffies.
    pub(crate) started_at: P::Shared<u64>,
    pub(crate) requested_at: P::Shared<u64>,
    pub(crate) active_at: P::Shared<u64>,
    pub(crate) stall_at: P::Shared<u64>,
    /// True if the grace-period thread is to look at the CPUs at once.
    pub(crate) force: P::Shared<bool>,

    // --- By the grace-period thread
    // ----------------------------------------------------------------
    pub(crate) phase: Plain<GpPhase, P>,
    pub(crate) first_look: Plain<bool, P>,
    pub(crate) gp_counters: Plain<GracePeriodCounters, P>,
}

impl<P: Platform> Rcu<P> {
    /// RCU with all CPUs online and no grace period running.
    ///
    /// # Errors
    /// The settings cannot be had; the error says what would be right.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        let (nodes, first_leaf) = tree::<P>(
            settings.cpus,
            settings.leaf_fanout,
            settings.interior_fanout,
        );
        let mut cpus: Vec<Cpu<P>> = (0..settings.cpus)
            .map(|cpu| {
                let leaf = first_leaf + cpu / settings.leaf_fanout;
                Cpu::new(
                    cpu,
                    leaf,
                    1 << (cpu % settings.leaf_fanout),
                    settings.blimit,
                )
            })
            .collect();
        for (index, cpu) in cpus.iter_mut().enumerate() {
            cpu.offloaded = settings.offloaded.contains(&index);
            cpu.enforced_idle = settings.enforced_idle.contains(&index) && !cpu.offloaded;
        }
        let groups = match settings.form {
            Form::Y2013 => Vec::new(),
            Form::Modern => groups(&cpus),
        };
        if settings.form == Form::Y2013 {
            for (index, cpu) in cpus.iter_mut().enumerate().filter(|(_, cpu)| cpu.offloaded) {
                cpu.waiter = Some(Thread::Offload(index));
            }
        }
        for (index, group) in groups.iter().enumerate() {
            cpus[group.leader()].waiter = Some(Thread::OffloadGp(index));
            group.cpus.iter().for_each(|&cpu| cpus[cpu].group = index);
        }
        Ok(Self {
            settings,
            nodes,
            first_leaf,
            cpus,
            groups,
            sequence: P::Shared::new(0),
            started_at: P::Shared::new(0),
            requested_at: P::Shared::new(0),
            active_at: P::Shared::new(0),
            stall_at: P::Shared::new(u64::MAX),
            force: P::Shared::new(false),
            phase: Plain::new(GpPhase::Idle),
            first_look: Plain::new(true),
            gp_counters: Plain::new(GracePeriodCounters::default()),
        })
    }

    /// The settings that this value was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The threads that the kernel is to make, each asleep or runnable. [`Thread::GracePeriod`] is
    /// stepped by [`Rcu::grace_period_thread`], the others by [`Rcu::offload_thread`].
    pub fn threads(&self) -> Vec<Thread> {
        let mut threads = Vec::from([Thread::GracePeriod]);
        let offloaded = self
            .cpus
            .iter()
            .enumerate()
            .filter(|(_, cpu)| cpu.offloaded)
            .map(|(index, _)| index);
        match self.settings.form {
            Form::Y2013 => threads.extend(offloaded.map(Thread::Offload)),
            Form::Modern => {
                threads.extend((0..self.groups.len()).map(Thread::OffloadGp));
                threads.extend(offloaded.map(Thread::OffloadCb));
            }
        }
        threads
    }

    /// Callbacks that were queued on this CPU, or taken over by it, and not invoked yet; 0 for a
    /// CPU that does not exist.
    pub fn callbacks(&self, cpu: usize) -> usize {
        let Some(cpu) = self.cpus.get(cpu) else {
            return 0;
        };
        let lists =
            [&cpu.queue, &cpu.batch, &cpu.bypass].map(|list| list.unwatched().borrow().len());
        cpu.list.unwatched().borrow().len() + lists.iter().sum::<usize>()
    }

    /// The list that holds a callback with this argument: its CPU and which one; `None` where none
    /// does, as while one takes it over from another.
    pub fn list_of(&self, argument: u64) -> Option<(usize, &'static str)> {
        self.cpus.iter().enumerate().find_map(|(number, cpu)| {
            let within = |list: &PlainList<VecDeque<Callback>, P>| {
                list.unwatched()
                    .try_borrow()
                    .is_ok_and(|list| list.iter().any(|of| of.argument == argument))
            };
            let which = match cpu {
                _ if within(&cpu.queue) => "queue, which its thread has not taken",
                _ if within(&cpu.batch) => "batch, which its thread invokes",
                _ if within(&cpu.bypass) => "bypass list",
                _ => cpu
                    .list
                    .unwatched()
                    .try_borrow()
                    .ok()?
                    .segment_of(argument)?,
            };
            Some((number, which))
        })
    }

    /// Of the callbacks in the list of a CPU, those whose grace period has passed; 0 for a CPU that
    /// does not exist.
    pub fn ready_callbacks(&self, cpu: usize) -> usize {
        self.cpus
            .get(cpu)
            .map_or(0, |cpu| cpu.list.unwatched().borrow().done())
    }

    /// The counts of a CPU for RCU; all 0 for a CPU that does not exist.
    pub fn counters(&self, cpu: usize) -> Counters {
        let Some(cpu) = self.cpus.get(cpu) else {
            return Counters::default();
        };
        Counters {
            invoked_thread: cpu.invoked_thread.unwatched().get(),
            quiescent_forced: cpu.forced.unwatched().get(),
            resched: cpu.resched.unwatched().get(),
            ..cpu.counters.get()
        }
    }

    /// The counts of the grace-period thread.
    pub fn grace_period_counters(&self) -> GracePeriodCounters {
        self.gp_counters.unwatched().get()
    }

    /// The CPU that executes the call.
    #[inline]
    pub(crate) fn this(&self, p: &P) -> &Cpu<P> {
        &self.cpus[p.this_cpu()]
    }

    pub(crate) fn wake_grace_period_thread(&self, p: &P) {
        self.this(p)
            .count(|counters| counters.grace_period_wakes += 1);
        p.wake(Thread::GracePeriod);
    }

    pub(crate) fn wake_offload(&self, p: &P, thread: Thread) {
        self.this(p).count(|counters| counters.offload_wakes += 1);
        p.wake(thread);
    }

    pub(crate) fn raise_softirq(&self, p: &P) {
        self.this(p).count(|counters| counters.softirqs_raised += 1);
        p.raise_softirq();
    }
}

/// The offloaded CPUs in groups of neighbours.
fn groups<P: Platform>(cpus: &[Cpu<P>]) -> Vec<Group<P>> {
    let offloaded = |range: core::ops::Range<usize>| {
        range.filter(|&cpu| cpus[cpu].offloaded).collect::<Vec<_>>()
    };
    let stride = stride(cpus.len());
    let starts = (0..cpus.len()).step_by(stride);
    let members = starts.map(|start| offloaded(start..(start + stride).min(cpus.len())));
    members
        .filter(|members| !members.is_empty())
        .enumerate()
        .map(|(index, cpus)| Group::new(index, cpus))
        .collect()
}
