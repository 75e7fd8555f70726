//! The meaning of the kernel's events, whatever form their fields come in.

use super::collect::Collector;
use super::event::{Event, Point};
use crate::text::parted;
use document::Document;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The meaning of an event, of `data/trace-events.toml`.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    pub point: Point,
    /// The field with the event's CPU; `None` where that is the one that wrote it.
    cpu: Option<String>,
    /// The fields with its argument and its second number.
    argument: Option<String>,
    ticks: Option<String>,
    /// The name of its interrupt, where the fields do not tell it.
    name: Option<String>,
    pub perfetto: Option<Message>,
}

/// The number of an event's message in traces of Perfetto, and those of its fields.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub number: u32,
    pub fields: BTreeMap<String, u32>,
}

/// The events that mean something here, by the kernel's names for them.
pub static KINDS: LazyLock<BTreeMap<String, Kind>> = LazyLock::new(|| {
    let text = include_str!("../../data/trace-events.toml");
    Document::new("trace-events.toml", text)
        .read()
        .expect("a test reads the same text")
});

impl Kind {
    /// The kind of an event, by the kernel's name for it.
    pub fn find(name: &[u8]) -> Option<&'static Self> {
        KINDS.get(std::str::from_utf8(name).ok()?)
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

fn number(fields: &impl Fields, key: &'static str) -> Result<u64, Wrong> {
    fields.number(key).ok_or(Wrong(key))
}

fn address(fields: &impl Fields, key: &'static str) -> Result<u64, Wrong> {
    fields.address(key).ok_or(Wrong(key))
}

/// Hands an event to the collector; `cpu` wrote it.
pub fn take(
    collector: &mut Collector<'_>,
    kind: &'static Kind,
    time_ns: u64,
    cpu: u16,
    fields: &impl Fields,
) -> Result<(), Wrong> {
    let said = |key: &'static Option<String>| {
        let key = key.as_deref();
        key.map_or(Ok(0), |key| number(fields, key))
    };
    let (argument, ticks) = (said(&kind.argument)?, said(&kind.ticks)?);
    let cpu = match kind.cpu.as_deref() {
        Some(key) => cpu_of(number(fields, key)?).ok_or(Wrong(key))?,
        None => cpu,
    };
    let mut event = Event {
        time_ns,
        ticks,
        argument: argument as u32,
        cpu,
        point: kind.point,
    };
    let name = kind.name.as_deref().map(str::as_bytes);
    match kind.point {
        Point::IdleEnter => return idle(collector, time_ns, argument, cpu.into()),
        Point::IdleMiss => event.argument = missed(fields)?,
        Point::RcuCallback | Point::RcuInvokeCallback => {
            let is_queued = kind.point == Point::RcuCallback;
            let function = fields.text("func").map(without_place);
            event.argument = function.map_or(0, |name| collector.function(name, is_queued));
        }
        Point::DomainIdleEnter | Point::DomainIdleExit => {
            event.cpu = fields.number("cpu_id").and_then(cpu_of).unwrap_or(cpu);
            let is_s2idle = fields.text("is_s2idle").map(|text| text == b"yes");
            let is_s2idle = is_s2idle.unwrap_or_else(|| fields.number("s2idle") == Some(1));
            event.ticks = is_s2idle.into();
        }
        Point::TimerStart if !wheel_start(collector, &mut event, fields)? => return Ok(()),
        Point::HrtimerStart
        | Point::HrtimerCancel
        | Point::HrtimerExpire
        | Point::TimerCancel
        | Point::TimerExpire => timer(collector, &mut event, fields)?,
        Point::TickStop => event.argument = success(fields)?,
        Point::IrqEnter | Point::IrqExit => {
            if let Some(name) = name.or_else(|| fields.text("name")) {
                collector.interrupt(event.argument, name);
            }
        }
        Point::Ipi => collector.detail(fields.text("reason").or(name), None),
        Point::IpiRaise => return raise(collector, event, fields),
        Point::SchedSwitch => switched(collector, &event, fields),
        Point::SchedWaking | Point::SchedWakeup => {
            if let Some(comm) = fields.text("comm") {
                collector.task(event.argument, comm);
            }
            collector.detail(None, fields.task());
            event.ticks = fields.number("target_cpu").unwrap_or(cpu.into());
        }
        Point::Suspend => match fields.text("action") {
            Some(b"machine_suspend" | b"timekeeping_freeze") => {
                event.argument = (number(fields, "start")? != 0).into();
            }
            _ => return Ok(()),
        },
        Point::Mark => match fields.text("buf").and_then(mark) {
            Some(name) => event.argument = collector.function(name, false),
            None => return Ok(()),
        },
        _ => {}
    }
    collector.push(event);
    Ok(())
}

/// 1 if the tick was stopped, 0 if it could not be.
fn success(fields: &impl Fields) -> Result<u32, Wrong> {
    match (fields.number("success"), fields.text("success")) {
        (Some(success), _) => Ok((success != 0).into()),
        (None, Some(b"yes")) => Ok(1),
        (None, Some(b"no")) => Ok(0),
        _ => Err(Wrong("success")),
    }
}

/// 1 if an idle state was too shallow, 0 if it was too deep.
fn missed(fields: &impl Fields) -> Result<u32, Wrong> {
    match (fields.text("type"), fields.number("below")) {
        (Some(text), _) if text.starts_with(b"below") => Ok(1),
        (Some(text), _) if text.starts_with(b"above") => Ok(0),
        (_, Some(below)) => Ok((below != 0).into()),
        _ => Err(Wrong("type")),
    }
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

/// Takes what a switch says of its tasks.
fn switched(collector: &mut Collector<'_>, event: &Event, fields: &impl Fields) {
    let priority = fields.number("next_prio");
    if priority.is_some_and(|priority| priority > USUAL_PRIORITY) {
        collector.low.insert(event.argument);
    }
    for (pid, comm) in [
        (event.ticks as u32, "prev_comm"),
        (event.argument, "next_comm"),
    ] {
        if let Some(comm) = fields.text(comm) {
            collector.task(pid, comm);
        }
    }
    collector.waits(
        match (fields.number("prev_state"), fields.text("prev_state")) {
            (Some(bits), _) => Some(bits & UNINTERRUPTIBLE != 0),
            (None, text) => text.map(|text| text.contains(&b'D')),
        },
    );
}

/// Numbers the timer of an event, but for the start of one of the wheel, and tells the tick's.
fn timer(
    collector: &mut Collector<'_>,
    event: &mut Event,
    fields: &impl Fields,
) -> Result<(), Wrong> {
    let function = fields.text("function").map(without_place);
    let is_named = function.is_some_and(is_tick);
    let (key, of_tick) = match event.point {
        Point::HrtimerStart => ("hrtimer", Point::TickStart),
        Point::HrtimerCancel => ("hrtimer", Point::TickCancel),
        Point::HrtimerExpire => ("hrtimer", Point::TickExpire),
        of_wheel => ("timer", of_wheel),
    };
    let address = address(fields, key)?;
    let (timer, was_tick) = if event.point == Point::HrtimerStart {
        (collector.timers.start(address, is_named), is_named)
    } else {
        collector.timers.end(address)
    };
    if matches!(event.point, Point::HrtimerExpire | Point::TimerExpire) {
        collector.detail(function, None);
    }
    event.argument = timer;
    if is_named || was_tick {
        event.point = of_tick;
    }
    Ok(())
}

/// Takes the start of a timer of the wheel; false for one that may be deferred, which wakes nobody
/// and is not kept.
fn wheel_start(
    collector: &mut Collector<'_>,
    event: &mut Event,
    fields: &impl Fields,
) -> Result<bool, Wrong> {
    let (timer, expires) = (address(fields, "timer")?, event.ticks);
    let now = fields
        .number("now")
        .or_else(|| Some(expires.wrapping_sub(fields.number("timeout")?)));
    if let Some(now) = now {
        collector.jiffies(Event {
            ticks: now,
            point: Point::Jiffies,
            ..*event
        });
    }
    let flags = fields.number("flags");
    let deferrable = match flags {
        Some(flags) => flags & DEFERRABLE != 0,
        None => fields
            .text("flags")
            .is_some_and(|flags| flags.split(|&byte| byte == b'|').any(|f| f == b"D")),
    };
    if deferrable {
        collector.other(b"timer_start (deferrable)");
        return Ok(false);
    }
    event.cpu = match (fields.number("cpu"), flags) {
        (Some(cpu), _) => cpu_of(cpu).ok_or(Wrong("cpu"))?,
        (None, Some(flags)) => cpu_of(flags & CPU_OF_FLAGS).ok_or(Wrong("flags"))?,
        (None, None) => event.cpu,
    };
    event.ticks = match (fields.number("bucket_expiry"), now) {
        (Some(bucket), _) => bucket,
        (None, Some(now)) => wheel_expiry(expires, now),
        (None, None) => expires,
    };
    event.argument = collector.timers.start(timer, false);
    Ok(true)
}

/// A call of other CPUs, an event for each that is called.
fn raise(collector: &mut Collector<'_>, event: Event, fields: &impl Fields) -> Result<(), Wrong> {
    let called = fields.number("cpu").map(|cpu| vec![cpu]);
    let Some(called) = called.or_else(|| fields.called()) else {
        collector.other(b"ipi_raise");
        return Ok(());
    };
    let reason = fields
        .text("reason")
        .map_or_else(|| reason_of_call(fields), <[u8]>::to_vec);
    for called in called {
        collector.detail(Some(&reason), fields.task());
        let to = cpu_of(called).ok_or(Wrong("cpu"))?;
        collector.push(Event {
            argument: to.into(),
            ..event
        });
    }
    Ok(())
}

/// A function without the place in it, as in `file_free_rcu+0x0/0x80`.
fn without_place(name: &[u8]) -> &[u8] {
    parted(name, b'+').map_or(name, |(name, _)| name)
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
