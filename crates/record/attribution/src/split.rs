//! A span of one CPU, split into causes.

use crate::activity::{Activity, LaneSpan};
use crate::causes::{Cause, WaitFor};
use crate::timeline::{HeldSpan, Mark, Step, Timeline};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A wait for another CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The kind of wait: a cause that has a [`Cause::wait`].
    pub cause: Cause,
    /// Id of the lock, or number of the SCP channel.
    pub on: u32,
    /// The CPU that held the lock, or whose command the SCP had in hand.
    pub holder: u16,
    /// The length, in ticks.
    pub ticks: u64,
}

/// A span and its causes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Split {
    /// Ticks by cause; they add up to the span.
    pub causes: BTreeMap<Cause, u64>,
    /// The CPUs that were waited for, longest first.
    pub waits: Vec<Wait>,
}

#[derive(Clone, Copy)]
enum Doing {
    Plain(Activity),
    /// Waiting for what has this id.
    Waiting(Cause, WaitFor, u32),
}

impl Split {
    /// Splits the span between two events of a CPU, given by their places among its steps.
    pub(crate) fn new(timeline: &Timeline, cpu: u16, from: usize, to: usize) -> Self {
        let mut split = Self::default();
        // Where a wait stands among the others: a CPU may wait for each of a thousand.
        let mut places = BTreeMap::new();
        for span in spans(timeline, cpu, from, to, Activity::Cause(Cause::Code)) {
            let Activity::Cause(cause) = span.activity else {
                continue;
            };
            let ticks = span.to - span.from;
            *split.causes.entry(cause).or_default() += ticks;
            let (Some(on), Some(holder)) = (span.on, span.holder) else {
                continue;
            };
            let place = *places
                .entry((cause, on, holder))
                .or_insert(split.waits.len());
            match split.waits.get_mut(place) {
                Some(wait) => wait.ticks += ticks,
                None => split.waits.push(Wait {
                    cause,
                    on,
                    holder,
                    ticks,
                }),
            }
        }
        split
            .waits
            .sort_by_key(|wait| std::cmp::Reverse(wait.ticks));
        split
    }
}

/// The activity of a CPU between two of its events, in order and without holes; neighbours that do
/// the same are one span.
///
/// `before` is what it does until an event says otherwise.
pub fn spans(
    timeline: &Timeline,
    cpu: u16,
    from: usize,
    to: usize,
    before: Activity,
) -> Vec<LaneSpan> {
    let steps = &timeline.steps[&cpu];
    let mut spans = Vec::new();
    let mut doing = Doing::Plain(before);
    // What is left of a call, or of the way back from a reset, when no cause claims it.
    let mut rest = Cause::Code;
    // Spans from here on may be made one; a call never shares a span with the one before it.
    let mut first = 0;
    for (step, next) in steps[from..=to].iter().zip(&steps[from + 1..=to]) {
        rest = match step.mark {
            Mark::EXIT_LOW_POWER => Cause::WakeupPath,
            Mark::ENTER_PSCI => Cause::Code,
            _ => rest,
        };
        doing = after(step, doing, rest);
        if matches!(
            step.mark,
            Mark::ENTER_PSCI | Mark::EXIT_PSCI | Mark::EXIT_LOW_POWER
        ) {
            first = spans.len();
        }
        cut(
            &mut spans,
            first,
            timeline,
            cpu,
            (doing, rest),
            step.ticks,
            next.ticks,
        );
    }
    spans
}

/// Cuts the time between two neighbouring events by who held what the CPU waited for.
fn cut(
    spans: &mut Vec<LaneSpan>,
    first: usize,
    timeline: &Timeline,
    cpu: u16,
    (doing, rest): (Doing, Cause),
    from: u64,
    to: u64,
) {
    let (cause, on, holders, rest, rest_on) = match doing {
        Doing::Plain(activity) => {
            return push(
                spans,
                first,
                LaneSpan {
                    from,
                    to,
                    activity,
                    on: None,
                    holder: None,
                },
            );
        }
        // What is left of an acquire when nobody else holds the lock is the acquire's own work.
        Doing::Waiting(cause, WaitFor::Lock, id) => {
            (cause, id, timeline.locks.get(&id), rest, None)
        }
        Doing::Waiting(cause, WaitFor::Scp, channel) => (
            cause,
            channel,
            timeline.served.get(&channel),
            cause,
            Some(channel),
        ),
    };
    let mut push = |span| push(spans, first, span);
    let rest = |from, to| LaneSpan {
        from,
        to,
        activity: Activity::Cause(rest),
        on: rest_on,
        holder: None,
    };
    let mut at = from;
    for &HeldSpan {
        cpu: holder,
        from: held_from,
        to: held_to,
    } in holders.map_or(&[][..], |holders| holders.between(from, to))
    {
        // Holders follow each other, so their shares do not overlap.
        let (begin, end) = (held_from.max(at), held_to.min(to));
        if holder == cpu || begin >= end {
            continue;
        }
        push(rest(at, begin));
        push(LaneSpan {
            from: begin,
            to: end,
            activity: Activity::Cause(cause),
            on: Some(on),
            holder: Some(holder),
        });
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
            if (last.activity, last.on, last.holder, last.to)
                == (span.activity, span.on, span.holder, span.from) =>
        {
            last.to = span.to;
        }
        _ => spans.push(span),
    }
}

/// The activity of a CPU after an event.
fn after(step: &Step, before: Doing, rest: Cause) -> Doing {
    match step.mark {
        Mark::EXIT_PSCI => return Doing::Plain(Activity::NormalWorld),
        Mark::ENTER_LOW_POWER => return Doing::Plain(Activity::LowPower),
        Mark::ENTER_PSCI | Mark::EXIT_LOW_POWER => return Doing::Plain(Activity::Cause(rest)),
        _ => {}
    }
    let begun = BOUNDS.iter().find(|bounds| {
        let (least, most) = bounds.arguments;
        bounds.begin == step.mark && (least..=most).contains(&step.argument)
    });
    match begun {
        Some(&Bounds { cause, .. }) => match cause.wait() {
            Some(wait) => Doing::Waiting(cause, wait, step.argument),
            None => Doing::Plain(Activity::Cause(cause)),
        },
        None if BOUNDS.iter().any(|bounds| bounds.end == step.mark) => {
            Doing::Plain(Activity::Cause(rest))
        }
        // It says what happened to others, or changes nothing.
        None => before,
    }
}

/// The marks of a cause that events show.
struct Bounds {
    cause: Cause,
    begin: Mark,
    /// The least and the greatest argument of the mark that begins it.
    arguments: (u32, u32),
    end: Mark,
}

static BOUNDS: LazyLock<Vec<Bounds>> = LazyLock::new(|| {
    let bounds = |cause: Cause| {
        let recognition = cause.row().recognition?;
        Some(Bounds {
            cause,
            begin: Mark::of_point(recognition.begin)?,
            arguments: recognition.arguments,
            end: Mark::of_point(recognition.end)?,
        })
    };
    Cause::ALL.into_iter().filter_map(bounds).collect()
});
