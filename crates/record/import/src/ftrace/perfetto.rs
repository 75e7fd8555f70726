//! Traces of Perfetto, which Android's tools write: a stream of packets, of which some hold a
//! bundle of a CPU's ftrace events.
//!
//! Field numbers are those of the published descriptors (`perfetto_trace.proto`). Perfetto empties
//! the CPUs' buffers in turn, again and again: of two rounds the events of the earlier are over
//! before those of the round after the later begin, so that two rounds are held and put in order.

use super::collect::Collector;
use super::event::{Event, Point};
use super::input::{Options, RECORD_AGAIN, Remainder, read_fully, unreadable};
use super::kind::{self, Fields, KINDS, Kind, Message, Wrong};
use crate::error::ImportError;
use crate::text;
use prost::encoding::{WireType, decode_key, decode_varint};
use std::collections::HashMap;
use std::io::Read;

/// More than any packet holds: Perfetto's own limit is far below.
const LONGEST_PACKET: u64 = 64 << 20;
/// Events that are held at a time: some ten times what a phone makes between two rounds.
const MOST_HELD: usize = 1 << 20;
/// Kernel symbols and task names; more are none.
const MOST_NAMES: usize = 1 << 20;

/// Fields of `TracePacket`.
mod packet {
    pub const FTRACE_EVENTS: u32 = 1;
    pub const INTERNED_DATA: u32 = 12;
    pub const SYSTEM_INFO: u32 = 45;
    pub const COMPRESSED_PACKETS: u32 = 50;
}

/// The field of `FtraceEvent` for events that Perfetto has no message for.
const GENERIC: u32 = 327;

/// Reads a whole file.
pub fn read(
    mut input: impl Read,
    options: &Options,
    collector: &mut Collector<'_>,
    left: &mut Remainder,
) -> Result<(), ImportError> {
    left.trace.format = "Perfetto trace".to_owned();
    left.trace.clock = Some("boot".to_owned());
    let mut trace = Reader {
        options,
        collector,
        left,
        held: Vec::new(),
        round: Round::default(),
        symbols: HashMap::new(),
    };
    let mut at = 0_u64;
    while let Some(length) = begin_of_packet(&mut input, &mut at, options)? {
        let begin = at;
        if length > LONGEST_PACKET {
            let what = format!("a packet of {length} bytes is longer than any can be");
            return Err(error(options, at, what));
        }
        // The file may be shorter than it says: memory grows with what is there.
        let mut bytes = Vec::new();
        (&mut input)
            .take(length)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(options, &error))?;
        at += length;
        if (bytes.len() as u64) < length {
            let what = format!(
                "the file ends where a packet of {length} bytes should follow, {} are there",
                bytes.len()
            );
            trace.left.wrong(options, error(options, begin, what))?;
            break;
        }
        if let Err(Damage(what)) = trace.packet(&bytes, true) {
            trace.left.wrong(options, error(options, begin, what))?;
        }
        if trace.collector.has_failed() {
            return Ok(());
        }
    }
    trace.hand_on(u64::MAX)
}

fn error(options: &Options, at: u64, what: impl std::fmt::Display) -> ImportError {
    ImportError::whole(&options.file, format!("at byte {at}: {what}"), RECORD_AGAIN)
}

/// The damage of a message.
struct Damage(&'static str);

impl From<prost::DecodeError> for Damage {
    fn from(_: prost::DecodeError) -> Self {
        Self("a packet's fields are damaged")
    }
}

/// The length of the next packet; `None` at the end of the file.
fn begin_of_packet(
    input: &mut impl Read,
    at: &mut u64,
    options: &Options,
) -> Result<Option<u64>, ImportError> {
    let mut byte = || -> Result<Option<u8>, ImportError> {
        let mut byte = [0];
        let read = read_fully(input, &mut byte).map_err(|error| unreadable(options, &error))?;
        *at += read as u64;
        Ok((read == 1).then_some(byte[0]))
    };
    match byte()? {
        None => return Ok(None),
        // Field 1 of `Trace`, with a length.
        Some(0x0a) => {}
        Some(other) => {
            let what = format!("a packet must begin here with 0x0a, not {other:#04x}");
            return Err(error(options, *at - 1, what));
        }
    }
    let mut length = 0;
    for shift in (0..35).step_by(7) {
        let Some(byte) = byte()? else { break };
        length |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(Some(length));
        }
    }
    Err(error(options, *at, "the length of a packet has no end"))
}

/// A field of a message.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Takes the next field off a message; `None` at its end.
fn field<'a>(message: &mut &'a [u8]) -> Result<Option<(u32, Value<'a>)>, Damage> {
    if message.is_empty() {
        return Ok(None);
    }
    let (number, wire) = decode_key(message)?;
    let length = match wire {
        WireType::Varint => {
            let value = Value::Number(decode_varint(message)?);
            return Ok(Some((number, value)));
        }
        WireType::SixtyFourBit => 8,
        WireType::ThirtyTwoBit => 4,
        WireType::LengthDelimited => decode_varint(message)?,
        WireType::StartGroup | WireType::EndGroup => {
            return Err(Damage("a packet has a group, which Perfetto never writes"));
        }
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let bytes = message
        .split_off(..length)
        .ok_or(Damage("a field is longer than its packet"))?;
    let value = match wire {
        WireType::LengthDelimited => Value::Bytes(bytes),
        _ => Value::Number(text::number(bytes, false)),
    };
    Ok(Some((number, value)))
}

/// The first field of a number in a message that was found to be whole.
fn find<'a>(mut message: &'a [u8], wanted: u32) -> Option<Value<'a>> {
    while let Ok(Some((number, value))) = field(&mut message) {
        if number == wanted {
            return Some(value);
        }
    }
    None
}

/// An event that is held until those before it are there.
struct PendingEvent {
    time_ns: u64,
    cpu: u16,
    what: What,
}

enum What {
    /// A field of `FtraceEvent`: its number, the event's name and kind, and the message.
    Message(u32, &'static str, &'static Kind, Box<[u8]>),
    Ready(Event),
    Lost,
}

/// Progress of the rounds through the CPUs.
#[derive(Default)]
struct Round {
    last_cpu: u16,
    /// Time of the last event of the round before, and of this one.
    before_ns: u64,
    this_ns: u64,
}

struct Reader<'r, 'c, 'o> {
    options: &'o Options,
    collector: &'r mut Collector<'c>,
    left: &'r mut Remainder,
    held: Vec<PendingEvent>,
    round: Round,
    /// Names of the kernel's functions by the numbers that events have for them.
    symbols: HashMap<u64, Vec<u8>>,
}

impl Reader<'_, '_, '_> {
    fn packet(&mut self, mut packet: &[u8], may_be_compressed: bool) -> Result<(), Damage> {
        while let Some((number, value)) = field(&mut packet)? {
            match (number, value) {
                (packet::FTRACE_EVENTS, Value::Bytes(bundle)) => self.bundle(bundle)?,
                (packet::INTERNED_DATA, Value::Bytes(interned)) => self.interned(interned)?,
                (packet::SYSTEM_INFO, Value::Bytes(info)) => self.system(info),
                (packet::COMPRESSED_PACKETS, Value::Bytes(packed)) => {
                    if !may_be_compressed {
                        return Err(Damage("a compressed packet holds a compressed packet"));
                    }
                    let mut unpacked = Vec::new();
                    flate2::read::ZlibDecoder::new(packed)
                        .take(LONGEST_PACKET + 1)
                        .read_to_end(&mut unpacked)
                        .map_err(|_| Damage("a compressed packet cannot be unpacked"))?;
                    if unpacked.len() as u64 > LONGEST_PACKET {
                        return Err(Damage("a compressed packet is longer than any can be"));
                    }
                    let mut packets = unpacked.as_slice();
                    while let Some((number, value)) = field(&mut packets)? {
                        if let (1, Value::Bytes(packet)) = (number, value) {
                            self.packet(packet, false)?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The kernel's release: `utsname.release` of a `SystemInfo`.
    fn system(&mut self, info: &[u8]) {
        if let Some(Value::Bytes(names)) = find(info, 1)
            && let Some(Value::Bytes(release)) = find(names, 3)
        {
            self.left.release(&String::from_utf8_lossy(release));
        }
    }

    fn interned(&mut self, mut interned: &[u8]) -> Result<(), Damage> {
        const KERNEL_SYMBOLS: u32 = 26;
        while let Some((number, value)) = field(&mut interned)? {
            if let (KERNEL_SYMBOLS, Value::Bytes(symbol)) = (number, value)
                && let (Some(Value::Number(iid)), Some(Value::Bytes(name))) =
                    (find(symbol, 1), find(symbol, 2))
                && self.symbols.len() < MOST_NAMES
            {
                self.symbols.insert(iid, name.to_vec());
            }
        }
        Ok(())
    }

    /// The events of a CPU that were read at once.
    fn bundle(&mut self, bundle: &[u8]) -> Result<(), Damage> {
        const CPU: u32 = 1;
        const EVENT: u32 = 2;
        const LOST_EVENTS: u32 = 3;
        const COMPACT_SCHED: u32 = 4;
        let cpu = match find(bundle, CPU) {
            Some(Value::Number(cpu)) => {
                kind::cpu_of(cpu).ok_or(Damage("a CPU's number is greater than Linux's can be"))?
            }
            _ => 0,
        };
        // A trace of one CPU has no rounds.
        if cpu < self.round.last_cpu || self.held.len() >= MOST_HELD {
            self.next_round()
                .map_err(|_| Damage("an event has a field that cannot be used"))?;
        }
        self.round.last_cpu = cpu;
        let first = self.held.len();
        let mut lost = false;
        let mut fields = bundle;
        while let Some((number, value)) = field(&mut fields)? {
            match (number, value) {
                (EVENT, Value::Bytes(event)) => self.event(cpu, event)?,
                (LOST_EVENTS, Value::Number(flag)) => lost = flag != 0,
                (COMPACT_SCHED, Value::Bytes(compact)) => self.compact(cpu, compact)?,
                _ => {}
            }
        }
        let what = What::Lost;
        if lost && let Some(time_ns) = self.held[first..].iter().map(|held| held.time_ns).min() {
            self.held.insert(first, PendingEvent { time_ns, cpu, what });
        }
        let last = self.held[first..].iter().map(|held| held.time_ns).max();
        self.round.this_ns = self.round.this_ns.max(last.unwrap_or(0));
        Ok(())
    }

    fn event(&mut self, cpu: u16, mut event: &[u8]) -> Result<(), Damage> {
        const TIMESTAMP: u32 = 1;
        let (mut time_ns, mut what) = (None, None);
        while let Some((number, value)) = field(&mut event)? {
            match value {
                Value::Number(time) if number == TIMESTAMP => time_ns = Some(time),
                Value::Bytes(message) => what = Some((number, message)),
                Value::Number(_) => {}
            }
        }
        let Some((number, message)) = what else {
            return Ok(());
        };
        let Some((name, kind)) = known(number, message) else {
            match generic_name(number, message) {
                Some(name) => self.collector.other(name),
                None => {
                    let name = format!("FtraceEvent field {number}");
                    self.collector.other(name.as_bytes());
                }
            }
            return Ok(());
        };
        // All fields are looked at once, so that later nothing can fail.
        let mut fields = message;
        while field(&mut fields)?.is_some() {}
        let time_ns = time_ns.ok_or(Damage("an event has no time"))?;
        self.held.push(PendingEvent {
            time_ns,
            cpu,
            what: What::Message(number, name, kind, message.into()),
        });
        Ok(())
    }

    /// Switches and wake-ups as columns: each time is the distance from the one before.
    fn compact(&mut self, cpu: u16, compact: &[u8]) -> Result<(), Damage> {
        let mut names = Vec::new();
        let mut columns: [Vec<u64>; 12] = Default::default();
        let mut fields = compact;
        while let Some((number, value)) = field(&mut fields)? {
            match (number, value) {
                (5, Value::Bytes(name)) => names.push(name),
                (number @ 1..12, Value::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        columns[number as usize].push(decode_varint(&mut packed)?);
                    }
                }
                (number @ 1..12, Value::Number(value)) => columns[number as usize].push(value),
                _ => {}
            }
        }
        let [
            _,
            times,
            _,
            pids,
            _,
            _,
            numbers,
            waking_times,
            waking_pids,
            targets,
            _,
            waking_numbers,
        ] = &columns;
        let before = std::iter::once(&0).chain(pids).copied().collect();
        let rows = [
            (Point::SchedSwitch, [times, pids, numbers, &before]),
            (
                Point::SchedWakeup,
                [waking_times, waking_pids, waking_numbers, targets],
            ),
        ];
        for (point, [times, pids, numbers, ticks]) in rows {
            let is_even = [pids, numbers].map(Vec::len) == [times.len(); 2];
            if !is_even || ticks.len() < times.len() {
                return Err(Damage(
                    "the columns of compact scheduling events differ in length",
                ));
            }
            let mut time_ns = 0_u64;
            for (((delta, pid), number), ticks) in times.iter().zip(pids).zip(numbers).zip(ticks) {
                let number = usize::try_from(*number).unwrap_or(usize::MAX);
                let name = names.get(number).ok_or(Damage(
                    "a compact scheduling event has a name that is not there",
                ))?;
                self.collector.task(*pid as u32, name);
                time_ns = time_ns.wrapping_add(*delta);
                if point == Point::SchedSwitch {
                    self.collector.waits(None);
                }
                let what = What::Ready(Event {
                    time_ns,
                    ticks: *ticks,
                    argument: *pid as u32,
                    cpu,
                    point,
                });
                self.held.push(PendingEvent { time_ns, cpu, what });
            }
        }
        Ok(())
    }

    /// A round through the CPUs is over: what the round before it saw is complete.
    fn next_round(&mut self) -> Result<(), ImportError> {
        let before_ns = self.round.before_ns;
        self.round.before_ns = std::mem::take(&mut self.round.this_ns);
        self.hand_on(before_ns)
    }

    /// Hands on the events up to a time.
    fn hand_on(&mut self, until_ns: u64) -> Result<(), ImportError> {
        self.held.sort_by_key(|held| held.time_ns);
        let count = self.held.partition_point(|held| held.time_ns <= until_ns);
        let ready: Vec<PendingEvent> = self.held.drain(..count).collect();
        for PendingEvent { time_ns, cpu, what } in ready {
            match what {
                What::Ready(event) => self.collector.push(event),
                What::Lost => self.collector.lost(cpu, None),
                What::Message(number, name, kind, message) => {
                    let record = Record {
                        numbers: kind.perfetto.as_ref().filter(|_| number != GENERIC),
                        message: &message,
                        symbols: &self.symbols,
                    };
                    let taken = kind::take(self.collector, kind, time_ns, cpu, &record);
                    if let Err(Wrong(field)) = taken {
                        let what = format!(
                            "`{name}` of CPU {cpu} at {time_ns} ns has no `{field}` that could be used"
                        );
                        let error = ImportError::whole(&self.options.file, what, RECORD_AGAIN);
                        self.left.wrong(self.options, error)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The name of an event that Perfetto has no message for.
fn generic_name(number: u32, message: &[u8]) -> Option<&[u8]> {
    match find(message, 1) {
        Some(Value::Bytes(name)) if number == GENERIC => Some(name),
        _ => None,
    }
}

/// The kernel's name of an event and its kind, if it is one that is read.
fn known(number: u32, message: &[u8]) -> Option<(&'static str, &'static Kind)> {
    let is_meant = |kind: &Kind| kind.perfetto.as_ref().is_some_and(|of| of.number == number);
    let (name, kind) = match generic_name(number, message) {
        Some(name) => KINDS.get_key_value(std::str::from_utf8(name).ok()?)?,
        None => KINDS.iter().find(|(_, kind)| is_meant(kind))?,
    };
    Some((name, kind))
}

/// An event's message.
struct Record<'a> {
    /// Names of the fields with their numbers; `None` for a generic event, which names them itself.
    numbers: Option<&'static Message>,
    message: &'a [u8],
    symbols: &'a HashMap<u64, Vec<u8>>,
}

impl<'a> Record<'a> {
    fn value(&self, key: &str) -> Option<Value<'a>> {
        let Some(numbers) = self.numbers else {
            // `GenericFtraceEvent.Field`: a name, and a text or a number.
            let mut message = self.message;
            while let Ok(Some((number, value))) = field(&mut message) {
                if let (2, Value::Bytes(inside)) = (number, value)
                    && matches!(find(inside, 1), Some(Value::Bytes(name)) if name == key.as_bytes())
                {
                    return [3, 4, 5]
                        .into_iter()
                        .find_map(|number| find(inside, number));
                }
            }
            return None;
        };
        find(self.message, *numbers.fields.get(key)?)
    }
}

impl Fields for Record<'_> {
    fn number(&self, key: &str) -> Option<u64> {
        match self.value(key) {
            Some(Value::Number(number)) => Some(number),
            Some(Value::Bytes(_)) => None,
            // A field that is zero may be left out; the flags of a timer are looked for where there
            // are none.
            None => {
                let is_left_out = self.numbers?.fields.contains_key(key)
                    && !matches!(key, "flags" | "bucket_expiry");
                is_left_out.then_some(0)
            }
        }
    }

    fn address(&self, key: &str) -> Option<u64> {
        self.number(key)
    }

    fn text(&self, key: &str) -> Option<&[u8]> {
        match self.value(key)? {
            Value::Number(number) if ["function", "func"].contains(&key) => {
                self.symbols.get(&number).map(Vec::as_slice)
            }
            Value::Number(_) => None,
            Value::Bytes(text) => Some(text),
        }
    }
}
