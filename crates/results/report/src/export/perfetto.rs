//! A trace for Perfetto (ui.perfetto.dev): every event, the spans that they bound, and who waited
//! for whom.
//!
//! A process per case and release, and in it a track per CPU and a track per channel of the SCP. On
//! a CPU's track lie the calls, in them their causes, beside them the times in low power; every
//! event of the recording is an instant on it. A flow leads from a wait to the event with which the
//! holder ended it. Lanes that the recording declares are tracks of their own. Format:
//! <https://perfetto.dev/docs/reference/trace-packet-proto>, field numbers from there; a test
//! decodes a trace with the descriptors that Perfetto publishes.

use crate::blocks::lanes::argument_name;
use attribution::{Activity, CpuLane, Iteration, cpu_lanes};
use findings::Findings;
use itertools::Itertools;
use prost::Message;
use recording::facts::TraceEnergy;
use recording::{Event, PointName, Recording, Series};
use std::collections::{BTreeMap, HashMap};

/// `TrackEvent.Type`.
const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const INSTANT: i32 = 3;
const COUNTER: i32 = 4;
/// `TrackDescriptor.ChildTracksOrdering.EXPLICIT`.
const EXPLICIT: i32 = 3;
/// The one sequence of packets; any number but 0.
const SEQUENCE: u32 = 1;

#[derive(Message)]
struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Message)]
struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, tag = "9")]
    r#type: i32,
    #[prost(uint64, tag = "11")]
    track_uuid: u64,
    #[prost(string, repeated, tag = "22")]
    categories: Vec<String>,
    #[prost(string, tag = "23")]
    name: String,
    #[prost(double, optional, tag = "44")]
    double_counter_value: Option<f64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    terminating_flow_ids: Vec<u64>,
}

#[derive(Message)]
struct DebugAnnotation {
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    string_value: Option<String>,
    #[prost(string, tag = "10")]
    name: String,
}

#[derive(Message)]
struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(uint64, tag = "5")]
    parent_uuid: u64,
    #[prost(message, optional, tag = "8")]
    counter: Option<CounterDescriptor>,
    #[prost(int32, tag = "11")]
    child_ordering: i32,
    #[prost(int32, optional, tag = "12")]
    sibling_order_rank: Option<i32>,
}

#[derive(Message)]
struct CounterDescriptor {}

#[derive(Message)]
struct ProcessDescriptor {
    #[prost(int32, tag = "1")]
    pid: i32,
    #[prost(string, optional, tag = "6")]
    process_name: Option<String>,
}

/// Writes packets.
struct Writer {
    bytes: Vec<u8>,
}

impl TrackEvent {
    /// A slice's begin or an instant, which have a category and a name.
    fn named(kind: i32, (category, name): (&'static str, &str)) -> Self {
        Self {
            r#type: kind,
            categories: vec![category.to_owned()],
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// The end of the slice that began last on a track.
    fn end() -> Self {
        Self {
            r#type: SLICE_END,
            ..Self::default()
        }
    }

    fn with_number(mut self, name: &'static str, number: u32) -> Self {
        self.debug_annotations.push(DebugAnnotation {
            name: name.to_owned(),
            uint_value: Some(number.into()),
            ..DebugAnnotation::default()
        });
        self
    }

    fn with_text(mut self, name: &'static str, text: String) -> Self {
        self.debug_annotations.push(DebugAnnotation {
            name: name.to_owned(),
            string_value: Some(text),
            ..DebugAnnotation::default()
        });
        self
    }
}

impl Writer {
    fn packet(&mut self, mut packet: TracePacket) {
        packet.trusted_packet_sequence_id = SEQUENCE;
        // Trace.packet is field 1, length-delimited.
        self.bytes.push(0x0a);
        // Writing into a Vec cannot run out of room.
        let _ = packet.encode_length_delimited(&mut self.bytes);
    }

    fn describe(&mut self, track: TrackDescriptor) {
        self.packet(TracePacket {
            track_descriptor: Some(track),
            ..TracePacket::default()
        });
    }

    fn track(&mut self, uuid: u64, name: &str, parent_uuid: u64, rank: usize) {
        self.describe(TrackDescriptor {
            uuid,
            name: Some(name.to_owned()),
            parent_uuid,
            sibling_order_rank: Some(rank as i32),
            ..TrackDescriptor::default()
        });
    }

    fn process(&mut self, uuid: u64, pid: i32, name: &str) {
        self.describe(TrackDescriptor {
            uuid,
            process: Some(ProcessDescriptor {
                pid,
                process_name: Some(name.to_owned()),
            }),
            child_ordering: EXPLICIT,
            ..TrackDescriptor::default()
        });
    }

    fn event(&mut self, at: u64, track_uuid: u64, event: TrackEvent) {
        self.packet(TracePacket {
            timestamp: Some(at),
            track_event: Some(TrackEvent {
                track_uuid,
                ..event
            }),
            ..TracePacket::default()
        });
    }
}

/// Nanoseconds of the counter's ticks, or of the recording's time where the counter's frequency is
/// not known.
#[derive(Clone, Copy)]
struct Clock {
    counter_hz: Option<u64>,
    /// Units of the recording's time in a nanosecond, where it counts time and no counter does.
    per_ns: u64,
}

impl Clock {
    fn new(findings: &Findings<'_>) -> Self {
        let time = &findings.recording.header.time;
        let counter_hz = time.counter_hz.filter(|hz| *hz > 0);
        let is_fine = counter_hz.is_none() && time.unit == "ps";
        Self {
            counter_hz,
            per_ns: if is_fine { 1000 } else { 1 },
        }
    }

    fn ticks(self, ticks: u64) -> u64 {
        let ns = |hz| (u128::from(ticks) * 1_000_000_000 / u128::from(hz)) as u64;
        self.counter_hz.map_or(ticks, ns)
    }

    fn time(self, time: u64) -> u64 {
        time / self.per_ns
    }

    /// Spans and events must agree, and spans are cut from the counter's ticks.
    fn event(self, event: &Event) -> u64 {
        match self.counter_hz {
            Some(_) => self.ticks(event.ticks),
            None => self.time(event.time),
        }
    }
}

/// The trace's bytes.
pub fn perfetto(findings: &Findings<'_>) -> Vec<u8> {
    let recording = findings.recording;
    let mut writer = Writer {
        bytes: Vec::with_capacity(recording.events().len() * 48 + 4096),
    };
    let measures = recording.measures().iter();
    let names: BTreeMap<u16, String> = measures
        .filter_map(|measure| Some((measure.cpu?, (measure.cluster?, measure.core?))))
        .map(|(cpu, (cluster, core))| (cpu, format!("{cluster}.{core} (CPU {cpu})")))
        .collect();
    let name = |cpu: u16| names.get(&cpu).cloned();
    let cpu_name = |cpu: u16| name(cpu).unwrap_or_else(|| format!("CPU {cpu}"));
    let lanes = cpu_lanes(recording);
    let by_series = by_series(recording);
    let releases = [
        recording.find_point("lock-released"),
        recording.find_point("scp-done"),
    ];
    let mut next_flow = 1;
    for (number, (&series, iterations)) in by_series.iter().enumerate() {
        let (variant, case, mode) = recording.series_texts(series);
        let mut title = vec![variant, case, mode];
        title.retain(|text| !text.is_empty());
        let process = (number as u64 + 1) << 32;
        writer.process(process, number as i32 + 1, &title.join(" "));
        let mut tracks = Tracks {
            process,
            clock: Clock::new(findings),
            ends: HashMap::new(),
            items: Vec::new(),
        };
        let cpus = iterations.values().flat_map(|cpus| cpus.keys().copied());
        let cpus = cpus.sorted_by_key(|cpu| (names.get(cpu), *cpu));
        let cpus = cpus.dedup().collect_vec();
        for (rank, &cpu) in cpus.iter().enumerate() {
            writer.track(tracks.cpu(cpu), &cpu_name(cpu), process, rank);
        }
        let of_series = lanes
            .iter()
            .filter(|lane| lane.series == series)
            .collect_vec();
        tracks.declared(&mut writer, &of_series, cpus.len());
        let mut channels = Vec::new();
        for (&number, events) in iterations {
            let iteration = findings.timelines.iteration(series, number);
            let of_cpus = events.values().flatten();
            let ends = of_cpus
                .filter(|event| releases.contains(&Some(event.point)))
                .map(|event| ((event.cpu, event.ticks, event.argument), Vec::new()))
                .collect();
            let mut flows = Flows {
                next: next_flow,
                ends,
                begins: HashMap::new(),
            };
            if let Some(iteration) = &iteration {
                flows.find(iteration, &cpus);
                tracks.services(&mut writer, iteration, &mut channels, cpus.len(), &cpu_name);
            }
            for (&cpu, events) in events {
                if let Some(iteration) = &iteration {
                    tracks.calls(iteration, (number, cpu), &flows, &cpu_name);
                }
                tracks.instants(recording, events, releases, &mut flows);
                tracks.write(&mut writer, cpu);
            }
            next_flow = flows.next;
        }
    }
    powers(&mut writer, recording);
    writer.bytes
}

/// The power of each owner of a trace, as a counter, in the energy's unit per second.
fn powers(writer: &mut Writer, recording: &Recording) {
    let Ok(energy) = recording.header.facts::<TraceEnergy>() else {
        return;
    };
    let begin_ns = recording.events().first().map_or(0, |event| event.time);
    let process = u64::MAX >> 1;
    writer.process(process, i32::MAX, "power by owner");
    for (track, owner) in (process + 1..).zip(&energy.owners) {
        writer.describe(TrackDescriptor {
            uuid: track,
            name: Some(owner.name.clone()),
            parent_uuid: process,
            counter: Some(CounterDescriptor {}),
            ..TrackDescriptor::default()
        });
        let parts = owner.power_over_time.len() as f64;
        for (at, power) in owner.power_over_time.iter().enumerate() {
            let after_ns = 1e9 * energy.seconds * at as f64 / parts;
            let event = TrackEvent {
                r#type: COUNTER,
                double_counter_value: Some(*power),
                ..TrackEvent::default()
            };
            writer.event(begin_ns + after_ns as u64, track, event);
        }
    }
}

/// The events of each CPU, by iteration.
type Iterations<'r> = BTreeMap<u32, BTreeMap<u16, Vec<&'r Event>>>;

fn by_series(recording: &Recording) -> BTreeMap<Series, Iterations<'_>> {
    let mut by_series = BTreeMap::<Series, Iterations<'_>>::new();
    for events in recording
        .events()
        .chunk_by(|a, b| (a.series, a.iteration) == (b.series, b.iteration))
    {
        let cpus = by_series
            .entry(events[0].series)
            .or_default()
            .entry(events[0].iteration)
            .or_default();
        for event in events {
            cpus.entry(event.cpu).or_default().push(event);
        }
    }
    by_series
}

/// The place where the tracks of a process are, and how far each is written.
struct Tracks {
    process: u64,
    clock: Clock,
    /// End of the last slice of a track, in nanoseconds: the next must not begin before.
    ends: HashMap<u64, u64>,
    /// What begins, ends or happens on a CPU's track in an iteration: when, and in which order those
    /// of one time stand, so that slices nest.
    items: Vec<(u64, u8, TrackEvent)>,
}

impl Tracks {
    /// The turns of the SCP's channels; a channel gets its track with its first turn.
    fn services(
        &mut self,
        writer: &mut Writer,
        iteration: &Iteration<'_>,
        channels: &mut Vec<u32>,
        cpus: usize,
        cpu_name: &dyn Fn(u16) -> String,
    ) {
        for service in iteration.services() {
            if !channels.contains(&service.channel) {
                channels.push(service.channel);
                let rank = cpus + channels.len();
                let name = format!("SCP, channel {}", service.channel);
                writer.track(self.scp(service.channel), &name, self.process, rank);
            }
            let cpu = cpu_name(service.cpu);
            let track = self.scp(service.channel);
            for (from, to, what) in [
                (service.turned, service.from, "takes"),
                (service.from, service.to, "serves"),
            ] {
                self.slice(writer, track, (from, to), &format!("{what} {cpu}"));
            }
        }
    }

    fn cpu(&self, cpu: u16) -> u64 {
        self.process + 1 + u64::from(cpu)
    }

    fn scp(&self, channel: u32) -> u64 {
        self.process + 0x10_0000 + u64::from(channel)
    }

    /// The lanes that the recording declares, each a track.
    fn declared(&mut self, writer: &mut Writer, lanes: &[&CpuLane<'_>], first_rank: usize) {
        for (number, lane) in lanes.iter().enumerate() {
            let track = self.process + 0x20_0000 + number as u64;
            let name = format!("{}, {}", lane.owner(), lane.lane.title);
            writer.track(track, &name, self.process, first_rank + number);
            let mut marks = lane.marks.iter().peekable();
            let mut mark_until = |writer: &mut Writer, until: u64| {
                while let Some(mark) = marks.next_if(|mark| mark.at <= until) {
                    let instant = TrackEvent::named(INSTANT, ("mark", mark.name))
                        .with_number("argument", mark.argument);
                    writer.event(self.clock.time(mark.at), track, instant);
                }
            };
            for stretch in lane
                .stretches
                .iter()
                .filter(|stretch| stretch.from < stretch.to)
            {
                mark_until(writer, stretch.from);
                let name = argument_name(lane.lane, stretch.what);
                let (from, to) = (self.clock.time(stretch.from), self.clock.time(stretch.to));
                let begin = TrackEvent::named(SLICE_BEGIN, ("stretch", &name));
                writer.event(from, track, begin);
                mark_until(writer, stretch.to);
                writer.event(to, track, TrackEvent::end());
            }
            mark_until(writer, u64::MAX);
        }
    }

    fn slice(&mut self, writer: &mut Writer, track: u64, (from, to): (u64, u64), name: &str) {
        let end = self.ends.entry(track).or_insert(0);
        let (from, to) = (self.clock.ticks(from).max(*end), self.clock.ticks(to));
        if from < to {
            *end = to;
            let begin = TrackEvent::named(SLICE_BEGIN, ("scp", name));
            writer.event(from, track, begin);
            writer.event(to, track, TrackEvent::end());
        }
    }

    /// Begins a slice on the CPU's track and ends it; `ranks` are those of its begin and its end.
    fn nested(&mut self, (from, to): (u64, u64), ranks: (u8, u8), begin: TrackEvent) {
        let [from, to] = [from, to].map(|ticks| self.clock.ticks(ticks));
        let both = [(from, ranks.0, begin), (to, ranks.1, TrackEvent::end())];
        self.items.extend(both);
    }

    /// A CPU's calls in an iteration, and what its time in them goes to.
    fn calls(
        &mut self,
        iteration: &Iteration<'_>,
        (number, cpu): (u32, u16),
        flows: &Flows,
        cpu_name: &dyn Fn(u16) -> String,
    ) {
        let calls = iteration.calls(cpu);
        for call in calls.iter().filter(|call| call.from < call.to) {
            let begin = TrackEvent::named(SLICE_BEGIN, ("call", call.name()));
            let begin = begin.with_number("iteration", number);
            self.nested((call.from, call.to), (3, 1), begin);
        }
        for span in iteration.lane(cpu) {
            let at = calls.partition_point(|call| call.to < span.to);
            let names = match span.activity {
                // A call that the iteration cuts off has no slice; its spans would stand alone.
                Activity::Cause(cause) => calls
                    .get(at)
                    .filter(|call| call.from <= span.from && span.to <= call.to)
                    .map(|_| ("cause", cause.title())),
                Activity::LowPower => Some(("power", "low power")),
                Activity::NormalWorld => None,
            };
            let Some(names) = names else { continue };
            let flow = flows.begins.get(&(cpu, span.from, span.to)).copied();
            let mut begin = TrackEvent::named(SLICE_BEGIN, names);
            begin.flow_ids.extend(flow);
            if let Some(on) = span.on {
                begin = begin.with_number("on", on);
            }
            if let Some(holder) = span.holder {
                begin = begin.with_text("waits for", cpu_name(holder));
            }
            self.nested((span.from, span.to), (4, 0), begin);
        }
    }

    /// A CPU's events, with the waits that they end.
    fn instants(
        &mut self,
        recording: &Recording,
        events: &[&Event],
        releases: [Option<PointName>; 2],
        flows: &mut Flows,
    ) {
        for event in events {
            let names = ("point", recording.point_text(event.point));
            let mut instant = TrackEvent::named(INSTANT, names);
            if releases.contains(&Some(event.point)) {
                let wait = (event.cpu, event.ticks, event.argument);
                instant.terminating_flow_ids = flows.ends.remove(&wait).unwrap_or_default();
            }
            if event.argument != 0 {
                instant = instant.with_number("argument", event.argument);
            }
            self.items.push((self.clock.event(event), 2, instant));
        }
    }

    /// Writes all that stands on a CPU's track in an iteration.
    fn write(&mut self, writer: &mut Writer, cpu: u16) {
        // Stable: instants of one time stay in the order of the recording.
        self.items.sort_by_key(|&(at, rank, _)| (at, rank));
        let track = self.cpu(cpu);
        for (at, _, event) in self.items.drain(..) {
            writer.event(at, track, event);
        }
    }
}

/// The waits of CPUs for each other in an iteration, as numbered flows.
struct Flows {
    next: u64,
    /// A wait, by CPU, begin and end.
    begins: HashMap<(u16, u64, u64), u64>,
    /// The events with which CPUs let go, by CPU, ticks and argument, and the flows that they end.
    ends: HashMap<(u16, u64, u32), Vec<u64>>,
}

impl Flows {
    fn find(&mut self, iteration: &Iteration<'_>, cpus: &[u16]) {
        for &cpu in cpus {
            for span in iteration.lane(cpu) {
                let (Some(holder), Some(on)) = (span.holder, span.on) else {
                    continue;
                };
                // A wait for a slot of the SCP can end while the command before is still in hand:
                // nobody let go.
                let Some(end) = self.ends.get_mut(&(holder, span.to, on)) else {
                    continue;
                };
                end.push(self.next);
                self.begins.insert((cpu, span.from, span.to), self.next);
                self.next += 1;
            }
        }
    }
}
