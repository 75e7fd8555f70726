//! A span of one CPU, split into causes.

use crate::timeline::{Held, Mark, Step, Timeline};
use std::collections::BTreeMap;

/// What a CPU was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Executing firmware: everything that no other cause claims.
    Code,
    /// Waiting for a power domain's lock while another CPU held it.
    LockWait,
    /// Flushing the L1 data cache.
    FlushL1,
    /// Flushing the L2 cache.
    FlushL2,
    /// Waiting for the SCP channel's lock while another CPU held it.
    ScpChannelWait,
    /// Waiting for the SCP itself: for its slot or its response.
    ScpWait,
    /// Opening or closing a cluster's port of the interconnect.
    Interconnect,
    /// From reset to code that runs.
    Reset,
    /// Kept back so that CPUs reach the SCP in the order that the case declares.
    DeclaredOrder,
}

impl Cause {
    /// All causes, in the order in which tables show them.
    pub const ALL: [Self; 9] = [
        Self::Code,
        Self::Reset,
        Self::LockWait,
        Self::FlushL1,
        Self::FlushL2,
        Self::Interconnect,
        Self::ScpChannelWait,
        Self::ScpWait,
        Self::DeclaredOrder,
    ];

    /// The cause's name in output for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::LockWait => "lock-wait",
            Self::FlushL1 => "cache-flush-l1",
            Self::FlushL2 => "cache-flush-l2",
            Self::ScpChannelWait => "scp-channel-wait",
            Self::ScpWait => "scp-wait",
            Self::Interconnect => "interconnect",
            Self::Reset => "reset",
            Self::DeclaredOrder => "declared-order",
        }
    }
}

/// A wait for another CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What kind of wait: [`Cause::LockWait`], [`Cause::ScpChannelWait`] or [`Cause::ScpWait`].
    pub cause: Cause,
    /// Id of the lock, or number of the SCP channel.
    pub on: u32,
    /// The CPU that held the lock, or whose command the SCP had in hand.
    pub holder: u16,
    /// How long, in ticks.
    pub ticks: u64,
}

/// A span and its causes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Ticks by cause; they add up to the span.
    pub causes: BTreeMap<Cause, u64>,
    /// Who was waited for, longest first.
    pub waits: Vec<Wait>,
}

/// Locks from this id on are the platform's: the channels to its power controller.
const FIRST_CHANNEL_LOCK: u32 = 0x8000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Plain(Cause),
    Lock(u32),
    Scp(u32),
}

impl Split {
    /// Splits the span between two events of a CPU, given by their places among its steps.
    pub(crate) fn of(timeline: &Timeline, cpu: u16, from: usize, to: usize) -> Self {
        let steps = &timeline.steps[&cpu];
        let mut split = Self::default();
        let mut doing = Doing::Plain(Cause::Code);
        for (step, next) in steps[from..=to].iter().zip(&steps[from + 1..=to]) {
            doing = after(step, doing);
            split.add(timeline, cpu, doing, step.ticks, next.ticks);
        }
        split.causes.retain(|_, ticks| *ticks > 0);
        split.waits.sort_by_key(|wait| std::cmp::Reverse(wait.ticks));
        split
    }

    fn add(&mut self, timeline: &Timeline, cpu: u16, doing: Doing, from: u64, to: u64) {
        let none = Vec::new();
        let (cause, on, holders, rest) = match doing {
            Doing::Plain(cause) => {
                *self.causes.entry(cause).or_default() += to - from;
                return;
            }
            // What is left of an acquire when nobody else holds the lock is the acquire's own work.
            Doing::Lock(id) => {
                let cause = if id >= FIRST_CHANNEL_LOCK { Cause::ScpChannelWait } else { Cause::LockWait };
                (cause, id, timeline.locks.get(&id).unwrap_or(&none), Cause::Code)
            }
            Doing::Scp(channel) => {
                (Cause::ScpWait, channel, timeline.served.get(&channel).unwrap_or(&none), Cause::ScpWait)
            }
        };
        let mut by_others = 0;
        for Held { cpu: holder, from: held_from, to: held_to } in holders.iter().copied() {
            let ticks = held_to.min(to).saturating_sub(held_from.max(from));
            if holder == cpu || ticks == 0 {
                continue;
            }
            by_others += ticks;
            match self.waits.iter_mut().find(|wait| (wait.cause, wait.on, wait.holder) == (cause, on, holder)) {
                Some(wait) => wait.ticks += ticks,
                None => self.waits.push(Wait { cause, on, holder, ticks }),
            }
        }
        // Holders follow each other, so their shares do not overlap.
        let by_others = by_others.min(to - from);
        *self.causes.entry(cause).or_default() += by_others;
        *self.causes.entry(rest).or_default() += to - from - by_others;
    }
}

/// What a CPU does after an event.
fn after(step: &Step, before: Doing) -> Doing {
    match step.mark {
        Mark::LockWait => Doing::Lock(step.argument),
        Mark::ScpWait => Doing::Scp(step.argument),
        Mark::OrderWait => Doing::Plain(Cause::DeclaredOrder),
        Mark::EnterFlush => Doing::Plain(Cause::FlushL1),
        Mark::FlushL2 => Doing::Plain(Cause::FlushL2),
        Mark::Interconnect => Doing::Plain(Cause::Interconnect),
        Mark::ExitLowPower => Doing::Plain(Cause::Reset),
        Mark::LockAcquired
        | Mark::ScpWaitEnd
        | Mark::OrderWaitEnd
        | Mark::ExitFlush
        | Mark::InterconnectEnd
        | Mark::ResetDone
        | Mark::EnterPsci => Doing::Plain(Cause::Code),
        // These say what happened to others, or change nothing.
        Mark::LockReleased | Mark::ScpTakes | Mark::ScpDone | Mark::ExitPsci | Mark::EnterLowPower => before,
    }
}
