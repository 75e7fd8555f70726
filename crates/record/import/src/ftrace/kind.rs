//! The meaning of the kernel's events, whatever form their fields come in.

use super::collect::Collector;
use super::event::{Event, Point};

/// The events that mean something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    CpuIdle,
    CpuIdleMiss,
    Callback(Point),
    DomainIdle(Point),
    HrtimerStart,
    HrtimerCancel,
    HrtimerExpire,
    TimerStart,
    TimerCancel,
    TimerExpire,
    TickStop,
    Irq(Point),
    LocalTimer(Point),
    /// The reason is that of the vector, or a field.
    Ipi(&'static str),
    IpiRaise,
    SchedSwitch,
    SchedWakeup(Point),
    Frequency,
    Softirq(Point),
    Hotplug,
    Suspend,
    Mark,
    /// An event whose fields are not looked at.
    Plain(Point),
}

impl Kind {
    /// The kind of an event, by the kernel's name for it.
    pub fn find(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"cpu_idle" => Self::CpuIdle,
            b"cpu_idle_miss" => Self::CpuIdleMiss,
            b"idle_refused" => Self::Plain(Point::IdleRefused),
            b"psci_domain_idle_enter" => Self::DomainIdle(Point::DomainIdleEnter),
            b"psci_domain_idle_exit" => Self::DomainIdle(Point::DomainIdleExit),
            b"hrtimer_start" => Self::HrtimerStart,
            b"hrtimer_cancel" => Self::HrtimerCancel,
            b"hrtimer_expire_entry" => Self::HrtimerExpire,
            b"timer_start" => Self::TimerStart,
            b"timer_cancel" => Self::TimerCancel,
            b"timer_expire_entry" => Self::TimerExpire,
            b"tick_stop" => Self::TickStop,
            b"irq_handler_entry" => Self::Irq(Point::IrqEnter),
            b"irq_handler_exit" => Self::Irq(Point::IrqExit),
            b"local_timer_entry" => Self::LocalTimer(Point::IrqEnter),
            b"local_timer_exit" => Self::LocalTimer(Point::IrqExit),
            b"ipi_entry" => Self::Ipi(""),
            b"reschedule_entry" => Self::Ipi("reschedule"),
            b"call_function_entry" => Self::Ipi("call_function"),
            b"call_function_single_entry" => Self::Ipi("call_function_single"),
            b"irq_work_entry" => Self::Ipi("irq_work"),
            b"ipi_raise" | b"ipi_send_cpu" | b"ipi_send_cpumask" => Self::IpiRaise,
            b"sched_switch" => Self::SchedSwitch,
            b"sched_waking" => Self::SchedWakeup(Point::SchedWaking),
            b"sched_wakeup" | b"sched_wakeup_new" => Self::SchedWakeup(Point::SchedWakeup),
            b"cpu_frequency" => Self::Frequency,
            b"softirq_entry" => Self::Softirq(Point::SoftirqEnter),
            b"softirq_exit" => Self::Softirq(Point::SoftirqExit),
            b"cpuhp_enter" => Self::Hotplug,
            b"suspend_resume" => Self::Suspend,
            b"print" | b"tracing_mark_write" => Self::Mark,
            b"rcu_grace_period" => Self::Plain(Point::RcuGracePeriod),
            b"rcu_quiescent_state_report" => Self::Plain(Point::RcuQuiescentState),
            b"rcu_fqs" => Self::Plain(Point::RcuForceQuiescentState),
            b"rcu_callback" => Self::Callback(Point::RcuCallback),
            b"rcu_kvfree_callback" | b"rcu_kfree_callback" => Self::Plain(Point::RcuKvfreeCallback),
            b"rcu_invoke_callback" => Self::Callback(Point::RcuInvokeCallback),
            b"rcu_batch_start" => Self::Plain(Point::RcuBatchStart),
            b"rcu_batch_end" => Self::Plain(Point::RcuBatchEnd),
            b"rcu_nocb_wake" => Self::Plain(Point::RcuNocbWake),
            b"rcu_utilization" => Self::Plain(Point::RcuUtilization),
            _ => return None,
        })
    }
}

/// The fields of an event, by name.
pub trait Fields {
    /// A number.
    fn number(&self, key: &str) -> Option<u64>;
    /// An address: a number that texts write in base 16.
    fn address(&self, key: &str) -> Option<u64>;
    /// A text; for a function's address the function's name.
    fn text(&self, key: &str) -> Option<&[u8]>;
    /// The CPUs that an event calls, where the format tells.
    fn called(&self) -> Option<Vec<u64>> {
        None
    }
    /// The task that ran and its name, which may be empty; `None` where the format does not tell.
    fn task(&self) -> Option<(u32, &[u8])> {
        None
    }
}

/// The field that is missing or wrong in an event.
#[derive(Debug, PartialEq)]
pub struct Wrong(pub &'static str);

/// The state that the kernel writes for "no longer idle".
const NOT_IDLE: u64 = u32::MAX as u64;
/// A deferrable timer: it does not wake an idle CPU.
const DEFERRABLE: u64 = 0x0008_0000;
/// The priority of a task with a nice value of 0; a higher number is a lower priority.
const USUAL_PRIORITY: u64 = 120;
/// The part of a wheel timer's flags that holds its CPU.
const CPU_OF_FLAGS: u64 = 0x0003_ffff;

/// A line of a trace: when and where it was written, and what it holds.
struct Line<'f, F> {
    time_ns: u64,
    cpu: u16,
    fields: &'f F,
}

impl<F: Fields> Line<'_, F> {
    fn number(&self, key: &'static str) -> Result<u64, Wrong> {
        self.fields.number(key).ok_or(Wrong(key))
    }

    fn address(&self, key: &'static str) -> Result<u64, Wrong> {
        self.fields.address(key).ok_or(Wrong(key))
    }

    fn event(&self, point: Point, argument: u64, ticks: u64) -> Event {
        Event {
            time_ns: self.time_ns,
            ticks,
            argument: argument as u32,
            cpu: self.cpu,
            point,
        }
    }
}

/// Hands an event to the collector.
pub fn take(
    collector: &mut Collector<'_>,
    kind: Kind,
    time_ns: u64,
    cpu: u16,
    fields: &impl Fields,
) -> Result<(), Wrong> {
    let at = &Line {
        time_ns,
        cpu,
        fields,
    };
    let event = match kind {
        Kind::CpuIdle => {
            return idle(
                collector,
                at.time_ns,
                at.number("state")?,
                at.number("cpu_id")?,
            );
        }
        Kind::CpuIdleMiss => idle_missed(at)?,
        Kind::Callback(point) => {
            let function = at.fields.text("func").map(without_place);
            let number = function.map(|name| collector.function(name, point == Point::RcuCallback));
            at.event(point, number.unwrap_or(0).into(), 0)
        }
        Kind::DomainIdle(point) => domain_idle(point, at)?,
        Kind::Frequency | Kind::Hotplug | Kind::Softirq(_) | Kind::Suspend | Kind::Mark => {
            match of_energy(collector, kind, at)? {
                Some(event) => event,
                None => return Ok(()),
            }
        }
        Kind::HrtimerStart
        | Kind::HrtimerCancel
        | Kind::HrtimerExpire
        | Kind::TimerCancel
        | Kind::TimerExpire => timer(collector, kind, at)?,
        Kind::TimerStart => match wheel_start(collector, at)? {
            Some(event) => event,
            None => return Ok(()),
        },
        Kind::TickStop => at.event(Point::TickStop, success(at)?, 0),
        Kind::Irq(point) => {
            let irq = at.number("irq")?;
            if let Some(name) = at.fields.text("name") {
                collector.interrupt(irq as u32, name);
            }
            at.event(point, irq, 0)
        }
        Kind::LocalTimer(point) => {
            let vector = at.number("vector")?;
            collector.interrupt(vector as u32, b"local_timer");
            at.event(point, vector, 0)
        }
        Kind::Ipi(vector) => {
            collector.detail(at.fields.text("reason").or(Some(vector.as_bytes())), None);
            at.event(Point::Ipi, 0, 0)
        }
        Kind::IpiRaise => return raise(collector, at),
        Kind::SchedSwitch => switched(collector, at)?,
        Kind::SchedWakeup(point) => {
            let pid = at.number("pid")?;
            if let Some(comm) = at.fields.text("comm") {
                collector.task(pid as u32, comm);
            }
            collector.detail(None, at.fields.task());
            let target = at.fields.number("target_cpu").unwrap_or(at.cpu.into());
            at.event(point, pid, target)
        }
        Kind::Plain(point) => at.event(point, 0, 0),
    };
    collector.push(event);
    Ok(())
}

/// 1 if the tick was stopped, 0 if it could not be.
fn success(at: &Line<'_, impl Fields>) -> Result<u64, Wrong> {
    match (at.fields.number("success"), at.fields.text("success")) {
        (Some(success), _) => Ok(u64::from(success != 0)),
        (None, Some(b"yes")) => Ok(1),
        (None, Some(b"no")) => Ok(0),
        _ => Err(Wrong("success")),
    }
}

/// The event of a clock, a softirq, a suspend or a mark; `None` for one that says nothing here.
fn of_energy(
    collector: &mut Collector<'_>,
    kind: Kind,
    at: &Line<'_, impl Fields>,
) -> Result<Option<Event>, Wrong> {
    Ok(match kind {
        Kind::Frequency => Some(of_cpu(at, "cpu_id", Point::Frequency, "state")?),
        Kind::Hotplug => Some(of_cpu(at, "cpu", Point::Hotplug, "target")?),
        Kind::Softirq(point) => Some(at.event(point, at.number("vec")?, 0)),
        Kind::Mark => at.fields.text("buf").and_then(mark).map(|name| {
            let number = collector.function(name, false);
            at.event(Point::Mark, number.into(), 0)
        }),
        _ => match at.fields.text("action") {
            Some(b"machine_suspend" | b"timekeeping_freeze") => {
                let begins = at.number("start")? != 0;
                Some(at.event(Point::Suspend, begins.into(), 0))
            }
            _ => None,
        },
    })
}

/// An event of the CPU that a field names.
fn of_cpu(
    at: &Line<'_, impl Fields>,
    cpu: &'static str,
    point: Point,
    value: &'static str,
) -> Result<Event, Wrong> {
    let cpu = cpu_of(at.number(cpu)?).ok_or(Wrong(cpu))?;
    Ok(Event {
        cpu,
        ..at.event(point, at.number(value)?, 0)
    })
}

/// The name of what a mark begins: of `B|PID|NAME`, `S|PID|NAME|COOKIE` and `I|PID|NAME`, as Android
/// writes them, or the mark itself; `None` for what ends something or counts.
fn mark(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii();
    let mut parts = text.split(|byte| *byte == b'|');
    match (parts.next()?, parts.next()) {
        (b"B" | b"S" | b"I", Some(_)) => parts.next(),
        (b"E" | b"F" | b"C" | b"G" | b"H" | b"N", Some(_)) | (b"E", None) => None,
        // Guests of ours tell other things in marks.
        _ if text.starts_with(b"stopwatt: ") => None,
        _ => Some(text),
    }
}

/// The event of an idle state that was missed.
fn idle_missed(at: &Line<'_, impl Fields>) -> Result<Event, Wrong> {
    let cpu = cpu_of(at.number("cpu_id")?).ok_or(Wrong("cpu_id"))?;
    let below = match (at.fields.text("type"), at.fields.number("below")) {
        (Some(text), _) if text.starts_with(b"below") => 1,
        (Some(text), _) if text.starts_with(b"above") => 0,
        (_, Some(below)) => u64::from(below != 0),
        _ => return Err(Wrong("type")),
    };
    Ok(Event {
        cpu,
        ..at.event(Point::IdleMiss, below, at.number("state")?)
    })
}

/// The event of a power domain's state, which is the parameter that the firmware gets.
fn domain_idle(point: Point, at: &Line<'_, impl Fields>) -> Result<Event, Wrong> {
    let fields = at.fields;
    let cpu = fields.number("cpu_id").and_then(cpu_of).unwrap_or(at.cpu);
    let is_s2idle = fields
        .text("is_s2idle")
        .map_or(fields.number("s2idle") == Some(1), |text| text == b"yes");
    Ok(Event {
        cpu,
        ..at.event(point, at.number("state")?, is_s2idle.into())
    })
}

/// The event of a switch, whose tasks are named.
fn switched(collector: &mut Collector<'_>, at: &Line<'_, impl Fields>) -> Result<Event, Wrong> {
    let (previous, next) = (at.number("prev_pid")?, at.number("next_pid")?);
    if at
        .fields
        .number("next_prio")
        .is_some_and(|priority| priority > USUAL_PRIORITY)
    {
        collector.low.insert(next as u32);
    }
    for (pid, comm) in [(previous, "prev_comm"), (next, "next_comm")] {
        if let Some(comm) = at.fields.text(comm) {
            collector.task(pid as u32, comm);
        }
    }
    collector.waits(
        match (at.fields.number("prev_state"), at.fields.text("prev_state")) {
            (Some(bits), _) => Some(bits & UNINTERRUPTIBLE != 0),
            (None, text) => text.map(|text| text.contains(&b'D')),
        },
    );
    Ok(at.event(Point::SchedSwitch, next, previous))
}

/// The event of a timer, but for the start of one of the wheel.
fn timer(
    collector: &mut Collector<'_>,
    kind: Kind,
    at: &Line<'_, impl Fields>,
) -> Result<Event, Wrong> {
    Ok(match kind {
        Kind::HrtimerStart => {
            let timer = at.address("hrtimer")?;
            let tick = at.fields.text("function").is_some_and(is_tick);
            let timer = collector.timers.start(timer, tick);
            let point = if tick {
                Point::TickStart
            } else {
                Point::HrtimerStart
            };
            at.event(point, timer.into(), at.number("expires")?)
        }
        Kind::HrtimerCancel => {
            let (timer, tick) = collector.timers.end(at.address("hrtimer")?);
            let point = if tick {
                Point::TickCancel
            } else {
                Point::HrtimerCancel
            };
            at.event(point, timer.into(), 0)
        }
        Kind::HrtimerExpire => {
            let (timer, tick) = collector.timers.end(at.address("hrtimer")?);
            let function = at.fields.text("function").map(without_place);
            let tick = tick || function.is_some_and(is_tick);
            collector.detail(function, None);
            let point = if tick {
                Point::TickExpire
            } else {
                Point::HrtimerExpire
            };
            at.event(point, timer.into(), at.number("now")?)
        }
        Kind::TimerCancel => at.event(
            Point::TimerCancel,
            collector.timers.end(at.address("timer")?).0.into(),
            0,
        ),
        Kind::TimerExpire => {
            let timer = collector.timers.end(at.address("timer")?).0;
            collector.detail(at.fields.text("function").map(without_place), None);
            at.event(Point::TimerExpire, timer.into(), at.number("now")?)
        }
        _ => return Err(Wrong("type")),
    })
}

/// The start of a timer of the wheel; one that may be deferred wakes nobody, and is not kept.
fn wheel_start(
    collector: &mut Collector<'_>,
    at: &Line<'_, impl Fields>,
) -> Result<Option<Event>, Wrong> {
    let (timer, expires) = (at.address("timer")?, at.number("expires")?);
    let now = at
        .fields
        .number("now")
        .or_else(|| Some(expires.wrapping_sub(at.fields.number("timeout")?)));
    if let Some(now) = now {
        collector.jiffies(at.event(Point::Jiffies, 0, now));
    }
    let flags = at.fields.number("flags");
    let deferrable = match flags {
        Some(flags) => flags & DEFERRABLE != 0,
        None => at
            .fields
            .text("flags")
            .is_some_and(|flags| flags.split(|&byte| byte == b'|').any(|f| f == b"D")),
    };
    if deferrable {
        collector.other(b"timer_start (deferrable)");
        return Ok(None);
    }
    let of = match (at.fields.number("cpu"), flags) {
        (Some(cpu), _) => cpu_of(cpu).ok_or(Wrong("cpu"))?,
        (None, Some(flags)) => cpu_of(flags & CPU_OF_FLAGS).ok_or(Wrong("flags"))?,
        (None, None) => at.cpu,
    };
    let fires = match (at.fields.number("bucket_expiry"), now) {
        (Some(bucket), _) => bucket,
        (None, Some(now)) => wheel_expiry(expires, now),
        (None, None) => expires,
    };
    let started = collector.timers.start(timer, false);
    Ok(Some(Event {
        cpu: of,
        ..at.event(Point::TimerStart, started.into(), fires)
    }))
}

/// A call of other CPUs, an event for each that is called.
fn raise(collector: &mut Collector<'_>, at: &Line<'_, impl Fields>) -> Result<(), Wrong> {
    let Some(called) = at
        .fields
        .number("cpu")
        .map(|cpu| vec![cpu])
        .or_else(|| at.fields.called())
    else {
        collector.other(b"ipi_raise");
        return Ok(());
    };
    let reason = at
        .fields
        .text("reason")
        .map_or_else(|| reason_of_call(at.fields), <[u8]>::to_vec);
    for called in called {
        collector.detail(Some(&reason), at.fields.task());
        let to = cpu_of(called).ok_or(Wrong("cpu"))?;
        collector.push(at.event(Point::IpiRaise, to.into(), 0));
    }
    Ok(())
}

/// A function without the place in it, as in `file_free_rcu+0x0/0x80`.
fn without_place(name: &[u8]) -> &[u8] {
    name.split(|&byte| byte == b'+').next().unwrap_or(name)
}

/// What another CPU is called for: `FUNCTION from CALLSITE`; no function is called where the
/// scheduler is only to look.
fn reason_of_call(fields: &impl Fields) -> Vec<u8> {
    let name = |key| {
        fields
            .text(key)
            .map(without_place)
            .filter(|name| !name.starts_with(b"0") && *name != b"(nil)")
    };
    let site = name("callsite").map(|site| [b" from ", site].concat());
    [
        name("callback").unwrap_or_default(),
        &site.unwrap_or_default(),
    ]
    .concat()
    .trim_ascii_start()
    .to_vec()
}

/// The bit of a task's state for a wait that nothing interrupts, as for input or output.
const UNINTERRUPTIBLE: u64 = 2;

/// An event of `cpu_idle`.
pub fn idle(
    collector: &mut Collector<'_>,
    time_ns: u64,
    state: u64,
    cpu: u64,
) -> Result<(), Wrong> {
    let cpu = cpu_of(cpu).ok_or(Wrong("cpu_id"))?;
    // Binary traces of some writers hold the state in 64 bits, sign and all.
    let (point, argument) = match state {
        NOT_IDLE | u64::MAX => (Point::IdleExit, 0),
        state => (
            Point::IdleEnter,
            u8::try_from(state).map_err(|_| Wrong("state"))?.into(),
        ),
    };
    collector.push(Event {
        time_ns,
        ticks: 0,
        argument,
        cpu,
        point,
    });
    Ok(())
}

/// Most CPUs that a trace may have: Linux ends at 8192.
pub const MOST_CPUS: u64 = 8192;
/// The highest number of a CPU that a trace may have.
const LAST_CPU: u16 = MOST_CPUS as u16 - 1;

/// The CPUs of a list as the kernel writes it: `0-3,6`, or with blanks between them.
///
/// # Errors
/// The part of it that is no CPU and no range, or that makes it longer than there are CPUs.
pub fn cpu_list(text: &str) -> Result<Vec<u16>, String> {
    let mut cpus = Vec::new();
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| {
            text.trim()
                .parse::<u16>()
                .ok()
                .filter(|cpu| *cpu <= LAST_CPU)
        };
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last && (cpus.len() as u64) < MOST_CPUS => {
                cpus.extend(first..=last)
            }
            _ => {
                return Err(format!(
                    "`{}` is no CPU and no range of CPUs, as 3 or 0-3",
                    part.trim()
                ));
            }
        }
    }
    if cpus.is_empty() {
        Err("no CPU is named, as 3 or 0-3".to_owned())
    } else {
        Ok(cpus)
    }
}

pub fn cpu_of(number: u64) -> Option<u16> {
    (number < MOST_CPUS).then_some(number as u16)
}

/// True if a timer's function is the scheduler's tick, under its old or its new name (from Linux
/// 6.9 on).
fn is_tick(function: &[u8]) -> bool {
    function.starts_with(b"tick_sched_timer") || function.starts_with(b"tick_nohz_handler")
}

/// The jiffy in which the timer wheel of Linux 4.8 and later fires a timer: the farther away, the
/// coarser.
///
/// Levels have 64 buckets; each level's are eight times as wide as those of the level below.
fn wheel_expiry(expires: u64, now: u64) -> u64 {
    const LEVELS: u32 = 9;
    let away = expires.wrapping_sub(now);
    if away >= 1 << 40 {
        // In the past: it fires with the next tick.
        return now + 1;
    }
    let level = (0..LEVELS - 1)
        .find(|level| away < 63 << (3 * level))
        .unwrap_or(LEVELS - 1);
    ((expires >> (3 * level)) + 1) << (3 * level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_timers_of_the_wheel_fire_late() {
        assert_eq!(
            wheel_expiry(1_000, 990),
            1_001,
            "within the first level: the next jiffy"
        );
        assert_eq!(wheel_expiry(1_062, 1_000), 1_063);
        assert_eq!(
            wheel_expiry(1_064, 1_000),
            1_072,
            "the second level counts in eights"
        );
        assert_eq!(wheel_expiry(990, 1_000), 1_001, "in the past");
    }
}
