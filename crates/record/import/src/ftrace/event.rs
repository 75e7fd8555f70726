//! An event of a trace that a recording keeps.

use serde::Deserialize;

/// A row in the making: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Nanoseconds of the trace's clock.
    pub time_ns: u64,
    /// The event's second number, where its point says that it has one.
    pub ticks: u64,
    /// The number that belongs to the point: see [`Point::argument`].
    pub argument: u32,
    /// The CPU, by the trace's number.
    pub cpu: u16,
    /// The point.
    pub point: Point,
}

macro_rules! points {
    ($($point:ident $name:literal $argument:literal $about:literal,)*) => {
        /// The point.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
        #[repr(u8)]
        pub enum Point {
            $(
                #[doc = $about]
                #[serde(rename = $name)]
                $point,
            )*
        }

        impl Point {
            /// All points, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$point),*];

            /// The point of that name in a recording.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|point| point.name() == name)
            }

            /// The point's name in a recording.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$point => $name,)* }
            }

            /// The meaning of the argument of the point's events; empty where it means nothing.
            pub const fn argument(self) -> &'static str {
                match self { $(Self::$point => $argument,)* }
            }
        }
    };
}

points! {
    IdleEnter "idle-enter" "idle-state" "The CPU enters an idle state.",
    IdleExit "idle-exit" "" "The CPU leaves its idle state.",
    IdleMiss "idle-miss" "idle-miss" "The state was too deep (0, above) or too shallow (1, below); its second number is the idle-state.",
    IdleRefused "idle-refused" "" "The hardware had refused the state that the CPU was to enter last.",
    DomainIdleEnter "domain-idle-enter" "domain-state" "The CPU asks for a state of its power domain.",
    DomainIdleExit "domain-idle-exit" "domain-state" "The CPU is back from a state of its power domain.",
    HrtimerStart "hrtimer-start" "timer" "A timer of high resolution is armed; its second number is the expiry in ns of CLOCK_MONOTONIC.",
    HrtimerCancel "hrtimer-cancel" "timer" "A timer of high resolution is taken out of its queue.",
    HrtimerExpire "hrtimer-expire" "timer" "A timer of high resolution fires; its second number is the ns of CLOCK_MONOTONIC.",
    TickStart "tick-start" "timer" "The tick's own timer is armed; its second number is the expiry in ns of CLOCK_MONOTONIC.",
    TickCancel "tick-cancel" "timer" "The tick's own timer is taken out of its queue.",
    TickExpire "tick-expire" "timer" "The tick fires; its second number is the ns of CLOCK_MONOTONIC.",
    TimerStart "timer-start" "timer" "A timer of the wheel is armed, on this CPU; its second number is the expiry in jiffies.",
    TimerCancel "timer-cancel" "timer" "A timer of the wheel is taken out.",
    TimerExpire "timer-expire" "timer" "A timer of the wheel fires; its second number is the jiffies.",
    Jiffies "jiffies" "" "What the count of ticks stood at; its second number is the jiffies.",
    TickStop "tick-stop" "success" "The tick is stopped (1), or could not be (0).",
    IrqEnter "irq-enter" "interrupt" "An interrupt's handler begins.",
    IrqExit "irq-exit" "interrupt" "An interrupt's handler ends.",
    Ipi "ipi" "" "An interrupt from another CPU.",
    IpiRaise "ipi-raise" "CPU" "A CPU, mostly another one, is to be interrupted.",
    SchedSwitch "sched-switch" "task" "The CPU runs another task; its second number is the task before.",
    SchedWaking "sched-waking" "task" "A task is made ready, on the CPU that makes it so; its second number is the CPU that the task was on.",
    SchedWakeup "sched-wakeup" "task" "A task becomes ready; its second number is the CPU that the task is to run on.",
    Lost "lost-events" "events" "Events of this CPU were lost before this one; 0 where nobody counted them.",
    RcuGracePeriod "rcu-grace-period" "" "A step of an RCU grace period.",
    RcuQuiescentState "rcu-quiescent-state-report" "" "A quiescent state is reported.",
    RcuForceQuiescentState "rcu-fqs" "" "A quiescent state is found from another CPU.",
    RcuCallback "rcu-callback" "function" "A callback is queued.",
    RcuKvfreeCallback "rcu-kvfree-callback" "" "A piece of memory is queued to be freed.",
    RcuInvokeCallback "rcu-invoke-callback" "function" "A callback is invoked.",
    RcuBatchStart "rcu-batch-start" "" "Callbacks begin to be invoked.",
    RcuBatchEnd "rcu-batch-end" "" "No more callbacks are invoked for now.",
    RcuNocbWake "rcu-nocb-wake" "" "A thread for offloaded callbacks is woken, or not.",
    RcuUtilization "rcu-utilization" "" "RCU begins or ends work of its own.",
    Frequency "cpu-frequency" "kHz" "The CPU's clock changes.",
    SoftirqEnter "softirq-enter" "vector" "A softirq begins.",
    SoftirqExit "softirq-exit" "vector" "A softirq ends.",
    Hotplug "cpu-hotplug" "state" "The CPU begins a step on its way to a state of hotplug; 0 is offline.",
    Suspend "suspend" "begins" "The machine goes to sleep (1), or is awake again (0).",
    Mark "mark" "function" "A program wrote a mark.",
}
