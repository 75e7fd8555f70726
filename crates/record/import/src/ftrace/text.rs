//! The text that the kernel's `trace` file, `trace-cmd report`, `perf script` and systrace pages
//! hold.
//!
//! A line is `TASK-PID (TGID) [CPU] FLAGS TIME: EVENT: FIELDS`; the task's name may hold anything,
//! the group and the flags may lack, and the time has six digits behind the point or nine. perf
//! writes `SUBSYSTEM:EVENT` and may put a period before it. Lines of the tracers of functions,
//! stacks and latencies stand between events, and have a task, a CPU and a time at most.

use super::collect::Collector;
use super::event::Point;
use super::input::{Options, Remainder, unreadable};
use super::kind::{self, Fields, Kind, Wrong};
use crate::error::{ImportError, printable, printable_bytes};
use crate::text::{Line, Lines, Whole, contains, has_no_room, parted};
use memchr::{memchr, memchr_iter, memmem};
use std::io::Read;

const RIGHT: &str = "a line is TASK-PID [CPU] FLAGS SECONDS.MICROSECONDS: EVENT: FIELDS, as in `<idle>-0 [002] d..1. 1000.000123: \
                     cpu_idle: state=1 cpu_id=2`";

/// Reads a whole text. The input is no type of the caller's, so that the code is compiled for speed
/// here and not where it is called.
pub fn read(
    input: &mut dyn Read,
    options: &Options,
    collector: &mut Collector<'_>,
    left: &mut Remainder,
) -> Result<(), ImportError> {
    let is_rest = |line: &[u8], next: &[u8]| {
        let is_event = matches!(next.first(), Some(b' ' | b'\t' | b'<' | b'#'))
            || names_a_cpu(next)
            || find_time(next).is_some();
        names_a_cpu(line) && !is_event && memchr(b'=', next).is_some() && has_no_room(line, next)
    };
    let mut lines = Lines::new(input, Some(is_rest));
    let mut page = Page::No;
    let mut has_begun = false;
    // The payload of some events holds line ends of its own.
    let mut may_go_on = false;
    while let Some(line) = lines.next().map_err(|error| unreadable(options, &error))? {
        if collector.has_failed() {
            return Ok(());
        }
        if line.number == 1 && is_html(line.bytes) {
            page = Page::Outside;
            left.trace.format = "systrace page".to_owned();
        }
        let line = match page {
            Page::No => line,
            Page::Outside | Page::Inside => match of_page(line, &mut page) {
                Some(line) => line,
                None => continue,
            },
        };
        if matches!(line.whole, Whole::Yes | Whole::Unended)
            && let Some(event) = parse(line.bytes).or_else(|| parse_unusual(line.bytes))
        {
            let event = if line.whole == Whole::Unended {
                event.without_doubt()
            } else {
                event
            };
            if !has_begun && collector.clusters.is_untold() {
                left.clusters
                    .iter()
                    .for_each(|cpus| collector.clusters.tell(cpus));
            }
            has_begun = true;
            may_go_on = false;
            if let Some(usage) = event.idle_usage() {
                left.idle_usage(event.time_ns, usage);
            }
            if let Err(Wrong(field)) = take(collector, &event, left, &mut may_go_on) {
                if line.whole == Whole::Unended {
                    left.last_line();
                    continue;
                }
                let name = String::from_utf8_lossy(event.name);
                left.wrong(
                    options,
                    error(
                        options,
                        &line,
                        format!("`{name}` has no `{field}` that could be used"),
                    ),
                )?;
            }
        } else if !is_note(line.bytes, collector, left) {
            beside(
                &line,
                options,
                left,
                (has_begun, page == Page::Inside || may_go_on),
            )?;
        }
    }
    Ok(())
}

/// The line, if it is one of the trace that a page holds.
fn of_page<'l>(line: Line<'l>, page: &mut Page) -> Option<Line<'l>> {
    match page {
        // Scripts of a page hold what looks like nothing of ours; what is between the marks is a
        // trace.
        Page::Outside => {
            if contains(line.bytes, b"trace-data") || contains(line.bytes, b"linuxPerfData") {
                *page = Page::Inside;
            }
            return None;
        }
        Page::No | Page::Inside => {}
    }
    if contains(line.bytes, b"</script>") {
        *page = Page::Outside;
        return None;
    }
    // Old pages hold the trace as one long text in a script: each line ends in a mark for that.
    Some(Line {
        bytes: line.bytes.strip_suffix(b"\\n\\").unwrap_or(line.bytes),
        ..line
    })
}

/// Passes over a line that is no event, or fails if it is a damaged one. What stands before the
/// first event, and what is the rest of one, is not told.
fn beside(
    line: &Line<'_>,
    options: &Options,
    left: &mut Remainder,
    (has_begun, is_untold): (bool, bool),
) -> Result<(), ImportError> {
    let message = match line.whole {
        Whole::Part | Whole::LastPart => return Ok(()),
        Whole::TooLong if has_begun && !is_untold => Some("the line is longer than any of a trace"),
        Whole::TooLong => None,
        Whole::Unended if has_begun => {
            left.last_line();
            return Ok(());
        }
        _ if is_untold => None,
        Whole::Unended | Whole::Yes => damage(line.bytes),
    };
    match message {
        Some(message) => left.wrong(options, error(options, line, message)),
        None if !has_begun => {
            left.topology(&String::from_utf8_lossy(line.bytes.trim_ascii()));
            Ok(())
        }
        None if is_untold => Ok(()),
        None => {
            let text = || printable_bytes(line.bytes.trim_ascii());
            let (count, ..) = left.foreign.get_or_insert_with(|| (0, line.number, text()));
            *count += 1;
            Ok(())
        }
    }
}

/// The error of a line that is an event which lost a part; `None` if it is none.
fn damage(line: &[u8]) -> Option<&'static str> {
    if parse_counter(line) {
        return Some(
            "the time is no seconds: record with a clock that counts them (trace_clock local, mono or boot)",
        );
    }
    // The tracer of function graphs writes events as comments, without a time.
    let has_known =
        known_event(line).is_some() && memchr(b'=', line).is_some() && !contains(line, b"/*");
    if has_known && find_time(line).is_some() {
        return Some(
            "the event has no CPU: print it too, as `perf script -F comm,tid,cpu,time,event,trace`",
        );
    }
    let mut words = line.split(u8::is_ascii_whitespace);
    let is_event = cpu_of_task(line)
        || (has_known && (names_a_cpu(line) || words.any(|word| word.ends_with(b"us"))));
    is_event.then_some("the event has no time in seconds")
}

/// True if a page of HTML holds the trace, and whether a line stands in that part of it.
#[derive(PartialEq)]
enum Page {
    No,
    Outside,
    Inside,
}

/// What stands before and behind each number in brackets of a line, as the CPU stands in an event:
/// `[002]`.
fn around_cpus(line: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    memchr_iter(b'[', line).filter_map(|at| {
        let (_, length) = digits(&line[at + 1..])?;
        Some((&line[..at], line[at + 1 + length..].strip_prefix(b"]")?))
    })
}

fn names_a_cpu(line: &[u8]) -> bool {
    around_cpus(line).next().is_some()
}

fn error(options: &Options, line: &Line<'_>, message: impl Into<String>) -> ImportError {
    ImportError::new(
        &options.file,
        line.number,
        &String::from_utf8_lossy(line.bytes),
        message,
        RIGHT,
    )
}

fn is_html(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let starts = |with: &[u8]| {
        line.get(..with.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    starts(b"<!doctype html") || starts(b"<html")
}

/// A line's parts.
struct LineParts<'a> {
    /// Name and number of the task that ran.
    task: &'a [u8],
    time_ns: u64,
    cpu: u16,
    name: &'a [u8],
    fields: &'a [u8],
}

impl LineParts<'_> {
    /// The part of a last line without an end that is beyond doubt. Its last word may lack digits,
    /// unless it is the CPU that stands before the time as well, or has as many digits as the
    /// kernel gives a CPU.
    fn without_doubt(self) -> Self {
        let start = memchr::memrchr(b' ', self.fields).map_or(0, |at| at + 1);
        let (before, word) = self.fields.split_at(start);
        let is_whole = match parted(word, b'=') {
            Some((b"cpu_id", cpu)) => whole_number(cpu) == Some(self.cpu.into()),
            Some((b"target_cpu", cpu)) => cpu.len() == 3,
            Some(_) => false,
            None => self.kind().is_none() || word.is_empty(),
        };
        if is_whole {
            self
        } else {
            Self {
                fields: before.trim_ascii(),
                ..self
            }
        }
    }

    fn kind(&self) -> Option<&'static Kind> {
        Kind::find(self.name)
    }

    /// A mark that one of our guests wrote.
    #[inline]
    fn of_guest(&self) -> Option<&str> {
        let rest = (self.name == b"tracing_mark_write")
            .then(|| self.fields.strip_prefix(b"stopwatt: "))??;
        std::str::from_utf8(rest).ok()
    }

    /// The kernel's own counts of idle states in a mark of `linux-boot`.
    #[inline]
    fn idle_usage(&self) -> Option<&str> {
        let rest = self.of_guest()?.strip_prefix("idle-usage ")?;
        Some(rest).filter(|rest| {
            rest.bytes()
                .all(|byte| byte == b' ' || byte.is_ascii_digit())
        })
    }
}

/// Takes a line apart; `None` if it is none of an event.
#[inline]
fn parse(line: &[u8]) -> Option<LineParts<'_>> {
    let mut from = 0;
    while let Some(at) = memchr(b'[', &line[from..]) {
        from += at + 1;
        // A task's name may hold brackets; the CPU's are followed by a time.
        if let Some((cpu, time_ns, rest)) = cpu_and_time(&line[from..])
            && let Some((name, fields)) = event_of(rest)
        {
            return Some(LineParts {
                task: &line[..from - 1],
                time_ns,
                cpu,
                name,
                fields: fields.trim_ascii(),
            });
        }
    }
    None
}

/// The events of idle states name their CPU in their fields as well, so that it need not stand
/// before the time. The name is empty where a tracer wrote something else behind CPU and time.
#[cold]
fn parse_unusual(line: &[u8]) -> Option<LineParts<'_>> {
    if let Some((cpu, time_ns, rest)) =
        memchr_iter(b'[', line).find_map(|at| cpu_and_time(&line[at + 1..]))
    {
        return Some(LineParts {
            task: b"",
            time_ns,
            cpu,
            name: b"",
            fields: rest.trim_ascii(),
        });
    }
    let (time_ns, rest) = find_time(line)?;
    let (name, fields) = event_of(rest)?;
    let point = Kind::find(name)?.point;
    let cpu = Text {
        point,
        fields,
        task: b"",
    }
    .number("cpu_id")
    .and_then(kind::cpu_of)?;
    Some(LineParts {
        task: b"",
        time_ns,
        cpu,
        name,
        fields: fields.trim_ascii(),
    })
}

/// `002] d..1.  1000.000123:`, and what follows.
#[inline]
fn cpu_and_time(bytes: &[u8]) -> Option<(u16, u64, &[u8])> {
    let (cpu, length) = digits(bytes)?;
    let mut rest = behind(&bytes[length..], b"]")?;
    let cpu = kind::cpu_of(cpu)?;
    rest = rest.trim_ascii_start();
    // Flags hold digits too, but a point only where nothing is set.
    let (time_ns, rest) = match time(rest) {
        Some(found) => found,
        None => {
            let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
            time(rest[end..].trim_ascii_start())?
        }
    };
    Some((cpu, time_ns, rest))
}

/// The first word of a line that is a time in seconds, in nanoseconds, and what follows.
fn find_time(line: &[u8]) -> Option<(u64, &[u8])> {
    let mut words = line
        .iter()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_digit())
        .filter(|(at, _)| {
            at.checked_sub(1)
                .is_none_or(|before| line[before].is_ascii_whitespace())
        });
    words.find_map(|(at, _)| time(&line[at..]))
}

/// The event's name and its fields, of what follows a time.
#[inline]
fn event_of(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    // By far the commonest line of a trace of idle CPUs.
    if let Some(fields) = behind(rest, b" cpu_idle: ") {
        return Some((b"cpu_idle", fields));
    }
    let rest = rest.trim_ascii_start();
    let (name, fields) = parted(rest, b':')?;
    if is_name(name) && matches!(fields.first(), None | Some(b' ')) {
        Some((name, fields))
    } else {
        event_of_perf(name, fields)
    }
}

/// The same where a subsystem stands before the event, and how often it came before that.
#[cold]
fn event_of_perf<'l>(name: &'l [u8], fields: &'l [u8]) -> Option<(&'l [u8], &'l [u8])> {
    let name = match digits(name) {
        Some((_, length)) if !is_name(name) => name[length..].trim_ascii_start(),
        _ => name,
    };
    match parted(fields, b':') {
        Some((name, rest)) if fields.first() != Some(&b' ') && is_name(name) => Some((name, rest)),
        _ => is_name(name).then_some((name, fields)),
    }
}

#[inline]
fn is_name(name: &[u8]) -> bool {
    !name.is_empty()
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// The first word of a line that names an event which is read: `cpu_idle:` or `power:cpu_idle:`.
fn known_event(line: &[u8]) -> Option<&'static Kind> {
    line.split(u8::is_ascii_whitespace)
        .filter_map(|word| word.strip_suffix(b":"))
        .filter_map(|word| word.rsplit(|byte| *byte == b':').next())
        .find_map(Kind::find)
}

/// True if a line begins as an event does: `TASK-PID [CPU]`.
fn cpu_of_task(line: &[u8]) -> bool {
    around_cpus(line).any(|(task, _)| {
        let task = task.trim_ascii_end();
        let number = task.iter().rev().take_while(|byte| byte.is_ascii_digit());
        let number = number.count();
        task.ends_with(b")") || (number > 0 && task[..task.len() - number].ends_with(b"-"))
    })
}

/// `1000.000123:` in nanoseconds, and what follows.
#[inline]
fn time(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (seconds, length) = digits(bytes)?;
    let rest = behind(&bytes[length..], b".")?;
    if let Some((us, rest)) = rest.split_first_chunk::<6>()
        && us.iter().all(u8::is_ascii_digit)
        && let Some(rest) = behind(rest, b":")
    {
        let us = us
            .iter()
            .fold(0, |us, digit| 10 * us + u64::from(digit - b'0'));
        return Some((nanoseconds(seconds, 1_000 * us)?, rest));
    }
    let (fraction, length) = digits(rest)?;
    let scale = match length {
        6 => 1_000,
        9 => 1,
        1..9 => 10_u64.pow(9 - length as u32),
        _ => return None,
    };
    let rest = rest[length..].strip_prefix(b":")?;
    Some((nanoseconds(seconds, fraction * scale)?, rest))
}

/// Seconds and nanoseconds as nanoseconds, if they are as many as can be counted.
#[inline]
fn nanoseconds(seconds: u64, ns: u64) -> Option<u64> {
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// The bytes behind a prefix, compared as one number where it is short.
#[inline]
fn behind<'b, const LENGTH: usize>(bytes: &'b [u8], prefix: &[u8; LENGTH]) -> Option<&'b [u8]> {
    let (start, rest) = bytes.split_first_chunk::<LENGTH>()?;
    (start == prefix).then_some(rest)
}

/// A word that is a number in base 10 and nothing else.
#[inline]
fn whole_number(word: &[u8]) -> Option<u64> {
    digits(word)
        .filter(|(_, length)| *length == word.len())
        .map(|(number, _)| number)
}

/// A number in base 10 and how many digits it has.
#[inline]
fn digits(bytes: &[u8]) -> Option<(u64, usize)> {
    // Nineteen digits fit whatever they are.
    let (mut value, mut length) = (0_u64, 0);
    for byte in &bytes[..bytes.len().min(19)] {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (length > 0).then_some((value, length));
        }
        value = 10 * value + u64::from(digit);
        length += 1;
    }
    for digit in bytes[length..]
        .iter()
        .map_while(|byte| (*byte as char).to_digit(10))
    {
        value = value.checked_mul(10)?.checked_add(digit.into())?;
        length += 1;
    }
    (length > 0).then_some((value, length))
}

#[inline]
fn take(
    collector: &mut Collector<'_>,
    event: &LineParts<'_>,
    left: &Remainder,
    may_go_on: &mut bool,
) -> Result<(), Wrong> {
    // By far the commonest event of a trace of idle CPUs.
    if event.name == b"cpu_idle"
        && let Some((state, cpu)) = idle_fields(event.fields)
    {
        return kind::idle(collector, event.time_ns, state, cpu);
    }
    let Some(kind) = event.kind() else {
        match event.name {
            b"" => match left.tracer.as_deref() {
                None | Some("nop") => collector.other(b"(no event)"),
                Some(tracer) => collector.other(format!("(tracer {tracer})").as_bytes()),
            },
            name => collector.other(name),
        }
        *may_go_on = matches!(event.name, b"bprint" | b"kernel_stack" | b"user_stack")
            || event.fields.ends_with(b"stack trace>");
        return Ok(());
    };
    *may_go_on = kind.point == Point::Mark;
    kind::take(
        collector,
        kind,
        event.time_ns,
        event.cpu,
        &Text {
            point: kind.point,
            fields: event.fields,
            task: event.task,
        },
    )
}

/// `state=1 cpu_id=2` and nothing else.
#[inline]
fn idle_fields(fields: &[u8]) -> Option<(u64, u64)> {
    let rest = behind(fields, b"state=")?;
    let (state, length) = digits(rest)?;
    let rest = behind(&rest[length..], b" cpu_id=")?;
    Some((state, whole_number(rest)?))
}

/// Fields as `key=value`, and as `trace-cmd report` writes those of the scheduler.
struct Text<'a> {
    point: Point,
    fields: &'a [u8],
    task: &'a [u8],
}

impl<'a> Text<'a> {
    /// The rest of the line behind `key=`.
    fn behind(&self, key: &str) -> Option<&'a [u8]> {
        let key = key.as_bytes();
        let sign = if self.point == Point::Hotplug {
            b':'
        } else {
            b'='
        };
        // Task names come first and may hold what looks like a field, so the last one counts.
        let mut until = self.fields.len();
        while let Some(at) = memchr::memrchr(sign, &self.fields[..until]) {
            let before = self.fields[..at].strip_suffix(key);
            if before
                .is_some_and(|before| matches!(before.last(), None | Some(b' ' | b'[' | b'\t')))
            {
                return Some(&self.fields[at + 1..]);
            }
            until = at;
        }
        None
    }

    fn word(&self, key: &str) -> Option<&'a [u8]> {
        let rest = self.behind(key)?.trim_ascii_start();
        let end = rest
            .iter()
            .position(|byte| matches!(byte, b' ' | b'\t' | b']'));
        Some(&rest[..end.unwrap_or(rest.len())])
    }

    /// A task's name runs up to the next field.
    fn comm(&self, key: &str, next: &str) -> Option<&'a [u8]> {
        let at = memmem::find(self.fields, format!("{key}=").as_bytes())?;
        let rest = &self.fields[at + key.len() + 1..];
        Some(&rest[..memmem::find(rest, format!(" {next}=").as_bytes())?])
    }

    /// `NAME:PID [PRIORITY]`, of which `trace-cmd report` writes one for a wakeup and two, with an
    /// arrow between, for a switch.
    fn short(&self, key: &str) -> Option<(&'a [u8], u64)> {
        if self.fields.starts_with(b"prev_comm=") || self.fields.starts_with(b"comm=") {
            return None;
        }
        let arrow = || memmem::rfind(self.fields, b" ==> ");
        let part = match (self.point, key) {
            (Point::SchedSwitch, "prev_pid" | "prev_comm") => &self.fields[..arrow()?],
            (Point::SchedSwitch, "next_pid" | "next_comm") => &self.fields[arrow()? + 5..],
            (Point::SchedWaking | Point::SchedWakeup, "pid" | "comm") => self.fields,
            _ => return None,
        };
        let mut until = part.len();
        while let Some(at) = memmem::rfind(&part[..until], b" [") {
            let before = &part[..at];
            if let Some(colon) = memchr::memrchr(b':', before)
                && let Some(pid) = whole_number(&before[colon + 1..])
            {
                return Some((before[..colon].trim_ascii(), pid));
            }
            until = at;
        }
        None
    }
}

impl Fields for Text<'_> {
    fn number(&self, key: &str) -> Option<u64> {
        if let Some((_, pid)) = self.short(key) {
            return Some(pid);
        }
        if (self.point, key) == (Point::Suspend, "start") {
            return Some(self.fields.ends_with(b"begin").into());
        }
        if let Some(word) = self.word(key) {
            if let Some(negative) = word.strip_prefix(b"-") {
                return whole_number(negative).map(u64::wrapping_neg);
            }
            if word.starts_with(b"0x") {
                return self.address(key);
            }
            return whole_number(word);
        }
        if key == "target_cpu" {
            let at = memmem::rfind(self.fields, b"CPU:")?;
            return digits(&self.fields[at + 4..]).map(|found| found.0);
        }
        None
    }

    fn address(&self, key: &str) -> Option<u64> {
        let word = self.word(key)?;
        let word = word.strip_prefix(b"0x").unwrap_or(word);
        u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
    }

    fn text(&self, key: &str) -> Option<&[u8]> {
        if let Some(task) = self.short(key) {
            return Some(task.0);
        }
        match key {
            "prev_comm" => self.comm(key, "prev_pid"),
            "next_comm" => self.comm(key, "next_pid"),
            "comm" => self.comm(key, "pid"),
            "buf" => Some(self.fields),
            // `timekeeping_freeze[1] begin`
            "action" => self.fields.split(|byte| *byte == b'[').next(),
            // `target_mask=00000002 (Function call interrupts)`
            "reason" => {
                let at = memchr(b'(', self.fields)
                    .filter(|at| *at == 0 || self.fields[at - 1] == b' ')?;
                self.fields[at + 1..].strip_suffix(b")")
            }
            _ => self.word(key),
        }
    }

    /// Bits in base 16, with commas: `00000000,00000002`.
    fn called(&self) -> Option<Vec<u64>> {
        let digits = self
            .word("target_mask")
            .or_else(|| self.word("cpumask"))?
            .iter()
            .rev()
            .filter(|byte| **byte != b',')
            .map(|byte| char::from(*byte).to_digit(16));
        let digits: Vec<u32> = digits.collect::<Option<_>>()?;
        Some(
            (0..4 * digits.len() as u64)
                .filter(|cpu| digits[*cpu as usize / 4] & 1 << (cpu % 4) != 0)
                .collect(),
        )
    }

    /// `NAME-PID` and perhaps `(GROUP)`; perf has a blank between.
    fn task(&self) -> Option<(u32, &[u8])> {
        let task = self.task.trim_ascii();
        let group = memchr::memrchr(b'(', task).filter(|_| task.ends_with(b")"));
        let task = task[..group.unwrap_or(task.len())].trim_ascii_end();
        let at = task.iter().rposition(|byte| !byte.is_ascii_digit())?;
        let pid = whole_number(&task[at + 1..])?;
        let is_pid = matches!(task[at], b'-' | b' ' | b'\t' | b'/');
        // In `-F pid,tid` the process stands between.
        let comm = if task[at] == b'/' {
            &b""[..]
        } else {
            task[..at].trim_ascii()
        };
        Some((u32::try_from(pid).ok().filter(|_| is_pid)?, comm))
    }
}

/// True if a line is one of those that stand beside events: comments, notices of lost events,
/// stacks, what `trace-cmd` says first.
fn is_note(line: &[u8], collector: &mut Collector<'_>, left: &mut Remainder) -> bool {
    let text = line.trim_ascii();
    // perf writes a stack as addresses, each with its function.
    let is_frame = || {
        let word = text
            .split(u8::is_ascii_whitespace)
            .next()
            .unwrap_or_default();
        line.first().is_some_and(u8::is_ascii_whitespace)
            && word.len() >= 4
            && word.iter().all(u8::is_ascii_hexdigit)
    };
    if text.is_empty() || text.starts_with(b"=>") || is_frame() {
        return true;
    }
    if let Some(comment) = text.strip_prefix(b"#") {
        // `# entries-in-buffer/entries-written: 100/250   #P:8`
        if let Some(at) = memmem::find(comment, b"entries-written:") {
            let rest = comment[at + 16..].trim_ascii_start();
            if let Some((kept, length)) = digits(rest)
                && let Some((written, _)) = rest[length..].strip_prefix(b"/").and_then(digits)
                && written > kept
            {
                left.trace.doubts.push(format!(
                    "the kernel's buffer was overwritten: {} of {written} events, the oldest, are not in the file",
                    written - kept
                ));
            }
        }
        let comment = String::from_utf8_lossy(comment);
        if let Some((key, rest)) = comment.split_once(": ") {
            match key {
                " tracer" => left.tracer = Some(printable(rest)),
                " idle-state" => left.idle_state(rest),
                // The second is perf's.
                " kernel-release" | " os release " => left.release(rest),
                " idle-governor" => left.governor(rest),
                _ => {}
            }
        }
        return true;
    }
    if let Some(clock) = text.strip_prefix(b"trace clock:") {
        left.trace.clock = Some(String::from_utf8_lossy(clock.trim_ascii()).into_owned());
        return true;
    }
    // `CPU:3 [LOST 123 EVENTS]`, `CPU:3 [EVENTS DROPPED]`
    if let Some(rest) = text.strip_prefix(b"CPU:")
        && let Some((cpu, length)) = digits(rest)
        && let Some(cpu) = kind::cpu_of(cpu)
    {
        let rest = &rest[length..];
        if contains(rest, b"LOST") || contains(rest, b"DROPPED") {
            let count = rest
                .iter()
                .position(u8::is_ascii_digit)
                .and_then(|at| digits(&rest[at..]));
            collector.lost(cpu, count.map(|count| count.0));
            return true;
        }
    }
    // `cpus=8`, `version = 6`, `CPU 3 is empty`
    let notes: [&[u8]; 4] = [b"cpus=", b"version =", b"CPU ", b"trace-cmd "];
    notes.iter().any(|note| text.starts_with(note))
}

/// True if a line is an event whose clock counts something else than time:
/// `[002] d..1. 123456: cpu_idle: …`.
fn parse_counter(line: &[u8]) -> bool {
    around_cpus(line).next().is_some_and(|(_, rest)| {
        let words = rest.split(|byte| *byte == b' ');
        let mut words = words.filter(|word| !word.is_empty()).take(2);
        words.any(|word| word.strip_suffix(b":").and_then(whole_number).is_some())
    })
}
