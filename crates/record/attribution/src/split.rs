//! A span of one CPU, split into causes.

use crate::lanes::{Activity, LaneSpan};
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
    Plain(Activity),
    Lock(u32),
    Scp(u32),
}

impl Split {
    /// Splits the span between two events of a CPU, given by their places among its steps.
    pub(crate) fn of(timeline: &Timeline, cpu: u16, from: usize, to: usize) -> Self {
        let mut split = Self::default();
        for span in spans(timeline, cpu, from, to, Activity::Cause(Cause::Code)) {
            let Activity::Cause(cause) = span.activity else { continue };
            let ticks = span.to - span.from;
            *split.causes.entry(cause).or_default() += ticks;
            let (Some(on), Some(holder)) = (span.on, span.holder) else { continue };
            match split.waits.iter_mut().find(|wait| (wait.cause, wait.on, wait.holder) == (cause, on, holder)) {
                Some(wait) => wait.ticks += ticks,
                None => split.waits.push(Wait { cause, on, holder, ticks }),
            }
        }
        split.waits.sort_by_key(|wait| std::cmp::Reverse(wait.ticks));
        split
    }
}

/// What a CPU did between two of its events, in order and without holes; neighbours that do the same are one span.
///
/// `before` is what it does until an event says otherwise.
pub(crate) fn spans(timeline: &Timeline, cpu: u16, from: usize, to: usize, before: Activity) -> Vec<LaneSpan> {
    let steps = &timeline.steps[&cpu];
    let mut spans = Vec::new();
    let mut doing = Doing::Plain(before);
    // Spans from here on may be made one; a call never shares a span with the one before it.
    let mut first = 0;
    for (step, next) in steps[from..=to].iter().zip(&steps[from + 1..=to]) {
        doing = after(step, doing);
        if matches!(step.mark, Mark::EnterPsci | Mark::ExitPsci | Mark::ExitLowPower) {
            first = spans.len();
        }
        cut(&mut spans, first, timeline, cpu, doing, step.ticks, next.ticks);
    }
    spans
}

/// Cuts the time between two neighbouring events by who held what the CPU waited for.
fn cut(spans: &mut Vec<LaneSpan>, first: usize, timeline: &Timeline, cpu: u16, doing: Doing, from: u64, to: u64) {
    let (cause, on, holders, rest) = match doing {
        Doing::Plain(activity) => return push(spans, first, LaneSpan { from, to, activity, on: None, holder: None }),
        // What is left of an acquire when nobody else holds the lock is the acquire's own work.
        Doing::Lock(id) => {
            let cause = if id >= FIRST_CHANNEL_LOCK { Cause::ScpChannelWait } else { Cause::LockWait };
            (cause, id, timeline.locks.get(&id), (Cause::Code, None))
        }
        Doing::Scp(channel) => {
            (Cause::ScpWait, channel, timeline.served.get(&channel), (Cause::ScpWait, Some(channel)))
        }
    };
    let (rest, rest_on) = rest;
    let mut push = |span| push(spans, first, span);
    let rest = |from, to| LaneSpan { from, to, activity: Activity::Cause(rest), on: rest_on, holder: None };
    let mut at = from;
    for &Held { cpu: holder, from: held_from, to: held_to } in holders.map_or(&[][..], Vec::as_slice) {
        // Holders follow each other, so their shares do not overlap.
        let (begin, end) = (held_from.max(at), held_to.min(to));
        if holder == cpu || begin >= end {
            continue;
        }
        push(rest(at, begin));
        push(LaneSpan { from: begin, to: end, activity: Activity::Cause(cause), on: Some(on), holder: Some(holder) });
        at = end;
    }
    push(rest(at, to));
}

fn push(spans: &mut Vec<LaneSpan>, first: usize, span: LaneSpan) {
    if span.from >= span.to {
        return;
    }
    match spans[first..].last_mut() {
        Some(last)
            if (last.activity, last.on, last.holder, last.to) == (span.activity, span.on, span.holder, span.from) =>
        {
            last.to = span.to;
        }
        _ => spans.push(span),
    }
}

/// What a CPU does after an event.
fn after(step: &Step, before: Doing) -> Doing {
    let cause = |cause| Doing::Plain(Activity::Cause(cause));
    match step.mark {
        Mark::LockWait => Doing::Lock(step.argument),
        Mark::ScpWait => Doing::Scp(step.argument),
        Mark::OrderWait => cause(Cause::DeclaredOrder),
        Mark::EnterFlush => cause(Cause::FlushL1),
        Mark::FlushL2 => cause(Cause::FlushL2),
        Mark::Interconnect => cause(Cause::Interconnect),
        Mark::ExitLowPower => cause(Cause::Reset),
        Mark::LockAcquired
        | Mark::ScpWaitEnd
        | Mark::OrderWaitEnd
        | Mark::ExitFlush
        | Mark::InterconnectEnd
        | Mark::ResetDone
        | Mark::EnterPsci => cause(Cause::Code),
        Mark::ExitPsci => Doing::Plain(Activity::NormalWorld),
        Mark::EnterLowPower => Doing::Plain(Activity::LowPower),
        // These say what happened to others, or change nothing.
        Mark::LockReleased | Mark::ScpTakes | Mark::ScpDone => before,
    }
}
