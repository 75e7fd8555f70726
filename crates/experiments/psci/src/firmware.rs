//! The same code as real firmware, on QEMU: its recordings.

use psci_cases::{CASES, Mode, STAMPS};
use qemu::{Machine, linux, payload};
use recording::metrics;
use recording::{Event, Header, Platform, Recording};

/// Name of the platform in recordings.
pub const PLATFORM: &str = "qemu-virt";

/// A recording of the procedures: the stamps as events, in counter ticks; where CPUs act one by one, spans as measures, in
/// instructions. Where they act together, a span holds instructions of other CPUs as well, and is not measured.
pub fn latency(machine: &Machine, report: &payload::Report, iterations: u32) -> Recording {
    let mut recording = Recording::new(header("psci-latency", machine));
    recording.header.iterations = iterations;
    let points: [_; STAMPS] = std::array::from_fn(|id| recording.point(soc::point_name(id as u16)));
    let mut taken: Vec<_> = report.stamps.iter().collect();
    taken.sort_by_key(|taken| {
        let case = CASES.iter().position(|case| case.name == taken.case && case.mode.name() == taken.mode);
        (case, taken.iteration, taken.cluster, taken.core)
    });
    for taken in taken {
        let series = recording.series("stopwatt", &taken.case, &taken.mode);
        let cpu = taken.cluster * CLUSTER + taken.core;
        let mut events: Vec<_> = taken.stamps.iter().zip(points).filter(|(ticks, _)| **ticks > 0).collect();
        events.sort_by_key(|(ticks, _)| **ticks);
        for (&ticks, point) in events {
            let (time, iteration) = (machine.instructions(ticks) as u64, taken.iteration);
            recording.push(Event { time, ticks, iteration, argument: 0, series, cpu, point });
        }
        if taken.mode != Mode::Serial.name() {
            continue;
        }
        for metric in metrics::intervals_of(&taken.case) {
            let Some((from, to)) = metric.bounds(|point| soc::stamp_at(&taken.stamps, point)) else { continue };
            let value = machine.instructions(to - from);
            let measure = recording.measure(series, taken.iteration, metric.name, "instructions", value);
            measure.cpu = Some(cpu);
            measure.cluster = Some(taken.cluster);
            measure.core = Some(taken.core);
        }
    }
    recording
}

/// CPUs of a cluster of the machine.
const CLUSTER: u16 = 16;

/// Instructions of each kind of call, of both builds of the firmware: `plain` and `instrumented`.
pub fn calls(machine: &Machine, builds: &[(&str, &payload::Report)]) -> Recording {
    let mut recording = Recording::new(header("psci-calls", machine));
    for (build, report) in builds {
        let series = recording.series(build, "psci-calls", "serial");
        for calls in &report.calls {
            let subject = recording.name(&calls.name);
            let value = machine.instructions(calls.ticks) / calls.count as f64;
            recording.measure(series, 0, "call", "instructions", value).subject = Some(subject);
        }
    }
    recording
}

/// What Linux saw.
pub fn linux_boot(
    machine: &Machine,
    system: &linux::Linux,
    options: &linux::Options,
    report: &linux::Report,
) -> Recording {
    let mut recording = Recording::new(header("linux-boot", machine));
    recording.header.versions.insert("kernel".to_owned(), system.kernel_version.clone());
    if !report.events.1.is_empty() {
        recording.header.notes.push(format!("This kernel has no event {}.", report.events.1.join(", ")));
    }
    recording.header.complaints = report.complaints(machine);
    recording.header.versions.insert("busybox".to_owned(), system.busybox_version.clone());
    let mode = if options.os_initiated { "os-initiated" } else { "platform-coordinated" };
    let series = recording.series(&report.release, "linux-boot", mode);
    recording.measure(series, 0, "cpus_up", "1", report.cpus as f64);
    recording.measure(series, 0, "hotplug_cycles", "1", f64::from(report.hotplug.0));
    recording.measure(series, 0, "hotplug_failures", "1", f64::from(report.hotplug.1));
    recording.measure(series, 0, "rebooted", "1", f64::from(u8::from(report.rebooted)));
    recording.measure(series, 0, "powered_off", "1", f64::from(u8::from(report.powered_off)));
    recording.measure(series, 0, "trace_lines", "1", report.traces.iter().map(Vec::len).sum::<usize>() as f64);
    for usage in &report.usage {
        let values = [
            ("idle_entered", "1", usage.entered as f64),
            ("idle_time", "us", usage.microseconds as f64),
            ("idle_rejected", "1", usage.rejected as f64),
        ];
        for (metric, unit, value) in values {
            let subject = recording.name(&usage.state);
            let measure = recording.measure(series, 0, metric, unit, value);
            measure.cpu = Some(usage.cpu);
            measure.subject = Some(subject);
        }
    }
    for usage in &report.domains {
        let subject = recording.name(&format!("{} {}", usage.domain, usage.state));
        recording.measure(series, 0, "domain_entered", "1", usage.entered as f64).subject = Some(subject);
    }
    recording
}

fn header(experiment: &str, machine: &Machine) -> Header {
    let mut header = Header::new(experiment, "qemu", if machine.icount.is_some() { "instructions" } else { "ns" });
    header.time.counter_hz = Some(Machine::COUNTER_HZ);
    // With the machine's time in instructions, two runs of the same images are equal.
    header.repeatable = Some(machine.icount.is_some());
    header.versions.insert("stopwatt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let figures = toml::Table::new();
    header.platform = Some(Platform { name: PLATFORM.to_owned(), text: String::new(), figures });
    if let Some(platform) = &mut header.platform {
        let mut set = |key: &str, value: toml::Value| platform.figures.insert(key.to_owned(), value);
        set("model", machine.cpu.as_str().into());
        set("cpus", (machine.cpus as i64).into());
        set("gic", i64::from(machine.gic.version()).into());
        set("virtualization", machine.virtualization.into());
        if let Some(shift) = machine.icount {
            set("icount_shift", i64::from(shift).into());
        }
    }
    header
}
