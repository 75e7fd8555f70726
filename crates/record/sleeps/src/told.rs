//! What a trace tells, by the kinds of events that were recorded in it.

use crate::clock::Offset;
use import::ftrace::Point;
use recording::Event;
use std::collections::HashMap;

/// What a whole trace tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// When each timer of high resolution is armed, taken out and fires.
    pub(crate) timers: bool,
    /// The same of timers of the wheel.
    pub(crate) wheel: bool,
    /// When the tick stops.
    pub(crate) tick: bool,
    /// When timers fire.
    pub(crate) expiries: bool,
    /// When the tick stops, and when its timer is armed.
    pub(crate) stops: bool,
    /// What runs.
    pub(crate) tasks: bool,
    /// Where the handlers of interrupts begin and end.
    pub(crate) interrupts: bool,
}

/// What was seen of a trace.
#[derive(Default)]
pub struct Telling {
    /// A bit for each point.
    seen: u64,
    /// Timers of high resolution that are armed, and when they are to fire.
    armed: HashMap<u32, u64>,
    offset: Offset,
    /// A timer was armed that nothing had taken out.
    was_armed: bool,
    /// When the tick of each CPU was to come last.
    ticks: HashMap<u16, u64>,
    /// The least and the most from a tick to the next.
    periods_ns: Option<[u64; 2]>,
    last_ns: u64,
}

/// A timer that is later than this was taken out, in nanoseconds.
const LATE_NS: u64 = 20_000_000;

impl Telling {
    /// Takes an event in.
    pub fn event(&mut self, point: Point, event: &Event) {
        self.seen |= 1 << point as u32;
        self.last_ns = self.last_ns.max(event.time);
        match point {
            Point::HrtimerStart | Point::TickStart => {
                self.was_armed |= self.armed.insert(event.argument, event.ticks).is_some();
            }
            Point::HrtimerCancel | Point::TickCancel => _ = self.armed.remove(&event.argument),
            Point::HrtimerExpire | Point::TickExpire => {
                self.armed.remove(&event.argument);
                self.offset.learn(event.time, event.ticks);
            }
            _ => {}
        }
        if point == Point::TickStart
            && let Some(last) = self.ticks.insert(event.cpu, event.ticks)
        {
            let period = event.ticks.saturating_sub(last);
            let [least, most] = self.periods_ns.unwrap_or([period; 2]);
            self.periods_ns = Some([least.min(period), most.max(period)]);
        }
    }

    /// What the trace tells.
    pub fn told(&self) -> Told {
        let has = |points: &[Point]| {
            points
                .iter()
                .any(|point| self.seen & 1 << *point as u32 != 0)
        };
        let is_late = |at: &u64| {
            let due_ns = self.offset.to_trace(*at);
            due_ns.is_some_and(|due_ns| due_ns + LATE_NS < self.last_ns)
        };
        let is_left_out = self.was_armed || self.armed.values().any(is_late);
        let expiries = has(&[Point::HrtimerExpire, Point::TickExpire]);
        let timers = expiries
            && has(&[Point::HrtimerStart, Point::TickStart])
            && (!is_left_out || has(&[Point::HrtimerCancel, Point::TickCancel]));
        // A tick that never stops comes again and again.
        let is_steady = self.periods_ns.is_none_or(|[least, most]| most < 2 * least)
            && !has(&[Point::TickCancel]);
        let all = |points: &[Point]| points.iter().all(|point| has(&[*point]));
        Told {
            timers,
            expiries,
            stops: all(&[Point::TickStop, Point::TickStart]),
            wheel: all(&[Point::TimerStart, Point::TimerCancel, Point::TimerExpire]),
            tick: timers && (is_steady || has(&[Point::TickStop])),
            tasks: has(&[Point::SchedSwitch]),
            interrupts: all(&[Point::IrqEnter, Point::IrqExit, Point::Ipi]),
        }
    }
}
