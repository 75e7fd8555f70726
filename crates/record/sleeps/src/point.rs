//! The points of a trace's recording that say something about idle intervals.

macro_rules! points {
    ($($point:ident $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Point {
            $($point,)*
            /// Any other.
            Other,
        }

        impl Point {
            /// The point of a name.
            pub fn named(name: &str) -> Self {
                match name {
                    $($name => Self::$point,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

points! {
    IdleEnter "idle-enter",
    IdleExit "idle-exit",
    IdleRefused "idle-refused",
    HrtimerStart "hrtimer-start",
    HrtimerCancel "hrtimer-cancel",
    HrtimerExpire "hrtimer-expire",
    TickStart "tick-start",
    TickCancel "tick-cancel",
    TickExpire "tick-expire",
    TimerStart "timer-start",
    TimerCancel "timer-cancel",
    TimerExpire "timer-expire",
    Jiffies "jiffies",
    TickStop "tick-stop",
    IrqEnter "irq-enter",
    IrqExit "irq-exit",
    Ipi "ipi",
    SchedSwitch "sched-switch",
    SchedWakeup "sched-wakeup",
    Lost "lost-events",
}
