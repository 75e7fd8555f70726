//! The same code as real firmware, on QEMU: its recordings.

use crate::functions;
use itertools::Itertools;
use psci_cases::{CASES, Mode, STAMPS};
use qemu::{Machine, Symbols, linux, payload};
use recording::facts::Functions;
use recording::metrics;
use recording::{Event, Header, Platform, Recording};

/// Name of the platform in recordings.
pub const PLATFORM: &str = "qemu-virt";

/// A recording of the procedures: the stamps as events, in counter ticks; where CPUs act one by
/// one, spans as measures, in instructions. Where they act together, a span holds instructions of
/// other CPUs as well, and is not measured.
pub fn latency(machine: &Machine, report: &payload::Report, iterations: u32) -> Recording {
    let mut recording = Recording::new(header("psci-latency", machine));
    recording.header.iterations = iterations;
    let points: [_; STAMPS] = std::array::from_fn(|id| recording.point(soc::point_name(id as u16)));
    let mut taken = report.stamps.iter().collect_vec();
    taken.sort_by_key(|taken| {
        let case = CASES
            .iter()
            .position(|case| case.name == taken.case && case.mode.name() == taken.mode);
        (case, taken.iteration, taken.cluster, taken.core)
    });
    for taken in taken {
        let series = recording.series("stopwatt", &taken.case, &taken.mode);
        let cpu = taken.cluster * CLUSTER + taken.core;
        let mut events = taken
            .stamps
            .iter()
            .zip(points)
            .filter(|(ticks, _)| **ticks > 0)
            .collect_vec();
        events.sort_by_key(|(ticks, _)| **ticks);
        for (&ticks, point) in events {
            let (time, iteration) = (machine.instructions(ticks) as u64, taken.iteration);
            recording.push(Event {
                time,
                ticks,
                iteration,
                argument: 0,
                series,
                cpu,
                point,
            });
        }
        if taken.mode != Mode::Serial.name() {
            continue;
        }
        for metric in metrics::intervals_of(&taken.case) {
            let Some((from, to)) = metric.bounds(|point| soc::stamp_at(&taken.stamps, point))
            else {
                continue;
            };
            let measure = recording.measure(
                series,
                taken.iteration,
                metric.name,
                "instructions",
                machine.instructions(to - from),
            );
            measure.cpu = Some(cpu);
            measure.cluster = Some(taken.cluster);
            measure.core = Some(taken.core);
        }
    }
    recording
}

/// CPUs of a cluster of the machine.
const CLUSTER: u16 = 16;

/// A build of firmware, with what the payload reported on it.
pub struct Build<'b> {
    /// Name of the build among the builds.
    pub name: &'b str,
    /// The report.
    pub report: payload::Report,
    /// Functions of the build, where calls were counted by them.
    pub symbols: Option<Symbols>,
}

/// Instructions of each kind of call, of both builds of the firmware: `plain` and `instrumented`.
pub fn calls(machine: &Machine, builds: &[Build<'_>]) -> Recording {
    let mut recording = Recording::new(header("psci-calls", machine));
    push_calls(&mut recording, machine, builds);
    recording
}

/// The same of firmware that is not ours, and beside it of `ours`, the build without stamps. What
/// it does not know, or answers otherwise than the payload counts on, is told in notes.
pub fn calls_of_own(
    machine: &Machine,
    own: &qemu::OtherFirmware,
    mut report: payload::Report,
    symbols: Option<Symbols>,
    ours: Result<payload::Report, experiment::Error>,
) -> Recording {
    let mut recording = Recording::new(header("psci-calls", machine));
    let image = own
        .image
        .file_name()
        .map_or(String::new(), |name| name.to_string_lossy().into_owned());
    recording
        .header
        .versions
        .insert("firmware".to_owned(), image);
    let (mut known, mut unknown, mut otherwise) = (Vec::new(), Vec::new(), Vec::new());
    let mut passages = report.passages.into_iter();
    report.passages = Vec::new();
    for calls in &report.calls {
        let passage = passages.next();
        let mut know = || {
            known.push(calls.clone());
            report.passages.extend(passage.clone());
        };
        match expected(&calls.name) {
            Some(code) if code == calls.returned => know(),
            None if calls.returned >= 0 => know(),
            _ if calls.returned == NOT_SUPPORTED => unknown.push(calls.name.clone()),
            _ => otherwise.push(format!("{} ({})", calls.name, calls.returned)),
        }
    }
    report.calls = known;
    let mut builds = vec![Build {
        name: "firmware",
        report,
        symbols,
    }];
    let mut missing = Vec::new();
    match ours {
        Ok(report) => builds.push(Build {
            name: "stopwatt",
            report,
            symbols: None,
        }),
        Err(error) => missing.push(error.to_string()),
    }
    push_calls(&mut recording, machine, &builds);
    let mut note = |what: &str, names: &[String]| {
        if !names.is_empty() {
            recording
                .header
                .notes
                .push(format!("{what}: {}.", names.join("; ")));
        }
    };
    note("Stopwatt's firmware does not stand beside it", &missing);
    note("The firmware does not know", &unknown);
    note(
        "The firmware answers otherwise than expected, so these are not counted",
        &otherwise,
    );
    recording
}

const NOT_SUPPORTED: i64 = -1;

/// The value that a call of the payload returns; `None` for one that only has to be no error.
fn expected(call: &str) -> Option<i64> {
    match call {
        "SMCCC_VERSION" | "PSCI_VERSION" | "PSCI_FEATURES" => None,
        "CPU_ON, already on" => Some(-4),
        "CPU_SUSPEND, invalid state" => Some(-2),
        "unknown function" => Some(NOT_SUPPORTED),
        _ => Some(0),
    }
}

/// The instructions of each call: counted one by one where that was possible, and otherwise by the
/// machine's clock.
fn push_calls(recording: &mut Recording, machine: &Machine, builds: &[Build<'_>]) {
    let mut facts = Functions::default();
    for Build { name, report, .. } in builds {
        let series = recording.series(name, "psci-calls", "serial");
        for (index, calls) in report.calls.iter().enumerate() {
            let value = match report.passages.get(index) {
                Some(passages) => passages.instructions() as f64 / calls.count as f64,
                None => {
                    let (value, uncertain) = by_clock(machine, calls);
                    if uncertain > 0.0 {
                        facts
                            .by_clock
                            .insert(calls.name.clone(), uncertain.ceil() as u64);
                    }
                    value
                }
            };
            recording.add(series, 0, metrics::CALL, &calls.name, value);
        }
        recording.header.complaints.extend(
            report
                .gap
                .as_ref()
                .map(|gap| format!("Build {name}: {gap}")),
        );
    }
    push_functions(recording, machine, builds, &mut facts);
    if facts != Functions::default() {
        recording.header.set_facts(&facts);
    }
}

/// Counts by function, where they were asked for; a complaint where they do not add up to what the
/// machine's clock says.
fn push_functions(
    recording: &mut Recording,
    machine: &Machine,
    builds: &[Build<'_>],
    facts: &mut Functions,
) {
    for Build {
        name,
        report,
        symbols,
    } in builds
    {
        let Some(symbols) = symbols else { continue };
        for (calls, passages) in report.calls.iter().zip(&report.passages) {
            let of = (*name, calls.name.as_str(), calls.count);
            let passage = functions::passage(
                std::slice::from_ref(passages),
                symbols,
                functions::CALLER,
                of,
            );
            // The clock counts the instructions of all CPUs.
            let counted = passage.each(passage.instructions() + passage.of_others);
            let (clock, uncertain) = by_clock(machine, calls);
            let ticks = 2.0 * machine.instructions(1);
            let uncertain = match (passages.count == calls.count, passage.of_others) {
                // The clock is read around each, and the reading takes instructions, too.
                (true, _) => ticks,
                (false, 0) => uncertain + 1e-9,
                // Other CPUs are now here and now there, so that no whole number is meant.
                (false, _) => 2.0 * ticks / calls.count as f64,
            };
            if (counted - clock).abs() > uncertain {
                recording.header.complaints.push(format!(
                    "{}, build {name}: {counted} instructions counted one by one, but {clock} by the machine's clock; one of the two is wrong",
                    calls.name
                ));
            }
            facts.passages.push(passage);
        }
    }
    if !facts.passages.is_empty() {
        facts.not_counted = functions::NOT_COUNTED.map(str::to_owned).to_vec();
    }
}

/// Instructions of one call by the machine's clock, which counts those of all CPUs, and by how many
/// they may be off. The counter shows only whole ticks at either end: where no more than one whole
/// number is within that of the mean, it is the one. A call that turns a CPU on is read for itself,
/// so that its mean is no surer than a reading, which takes some instructions, too.
fn by_clock(machine: &Machine, calls: &payload::Calls) -> (f64, f64) {
    let mean = machine.instructions(calls.ticks) / calls.count as f64;
    let ticks = 2.0 * machine.instructions(1);
    if matches!(
        calls.name.as_str(),
        "CPU_ON" | "CPU_ON until the CPU is in the normal world"
    ) {
        return (mean, ticks);
    }
    let uncertain = ticks / calls.count as f64;
    if uncertain < 0.5 && (mean - mean.round()).abs() <= uncertain {
        return (mean.round(), 0.0);
    }
    (mean, uncertain)
}

/// The counts that Linux saw.
pub fn linux_boot(
    machine: &Machine,
    system: &linux::Linux,
    options: &linux::Options,
    report: &linux::Report,
) -> Recording {
    let mut recording = Recording::new(header("linux-boot", machine));
    if !report.events.1.is_empty() {
        recording.header.notes.push(format!(
            "This kernel has no event {}.",
            report.events.1.join(", ")
        ));
    }
    recording.header.complaints = report.complaints(machine);
    let programs = system.program_versions.iter();
    let programs = programs.map(|program| program.split_once(' ').unwrap_or((program, "")));
    let versions = programs.chain([
        ("kernel", system.kernel_version.as_str()),
        ("busybox", &system.busybox_version),
    ]);
    let versions = versions.map(|(name, version)| (name.to_owned(), version.to_owned()));
    recording.header.versions.extend(versions);
    let mode = if options.os_initiated {
        "os-initiated"
    } else {
        "platform-coordinated"
    };
    let series = recording.series(&report.release, "linux-boot", mode);
    let lines: usize = report.traces.iter().map(Vec::len).sum();
    for (metric, value) in [
        (metrics::CPUS_UP, report.cpus as f64),
        (metrics::HOTPLUG_CYCLES, f64::from(report.hotplug.0)),
        (metrics::HOTPLUG_FAILURES, f64::from(report.hotplug.1)),
        (metrics::REBOOTED, f64::from(report.rebooted())),
        (metrics::POWERED_OFF, f64::from(report.powered_off)),
        (metrics::TRACE_LINES, lines as f64),
    ] {
        recording.add(series, 0, metric, "", value);
    }
    for usage in &report.usage {
        for (metric, count) in [
            (metrics::IDLE_ENTERED, usage.entered),
            (metrics::IDLE_TIME, usage.microseconds),
            (metrics::IDLE_REJECTED, usage.rejected),
        ] {
            let measure = recording.add(series, 0, metric, &usage.state, count as f64);
            measure.cpu = Some(usage.cpu);
        }
    }
    for usage in &report.domains {
        let state = format!("{} {}", usage.domain, usage.state);
        let entered = usage.entered as f64;
        recording.add(series, 0, metrics::DOMAIN_ENTERED, &state, entered);
    }
    recording
}

fn header(experiment: &str, machine: &Machine) -> Header {
    let mut header = Header::new(
        experiment,
        "qemu",
        if machine.icount.is_some() {
            "instructions"
        } else {
            "ns"
        },
    );
    header.time.counter_hz = Some(Machine::COUNTER_HZ);
    // With the machine's time in instructions, two runs of the same images are equal.
    header.repeatable = Some(machine.icount.is_some());
    let mut figures = toml::Table::new();
    let mut set = |key: &str, value: toml::Value| figures.insert(key.to_owned(), value);
    set("model", machine.cpu.as_str().into());
    set("cpus", (machine.cpus as i64).into());
    set("gic", i64::from(machine.gic.version()).into());
    set("virtualization", machine.virtualization.into());
    if let Some(shift) = machine.icount {
        set("icount_shift", i64::from(shift).into());
    }
    header.platform = Some(Platform {
        name: PLATFORM.to_owned(),
        text: String::new(),
        figures,
    });
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(name: &str, ticks: u64, count: u64, returned: i64) -> payload::Calls {
        payload::Calls {
            name: name.to_owned(),
            ticks,
            count,
            returned,
        }
    }

    #[test]
    fn counts_are_exact_where_the_counter_allows_it() {
        let machine = Machine {
            icount: Some(0),
            ..Machine::new(1)
        };
        let of = |name: &str, ticks, count| by_clock(&machine, &calls(name, ticks, count, 0));
        let exact = [7813, 7812, 7840].map(|ticks| of("PSCI_VERSION", ticks, 1000));
        assert_eq!(exact, [(125.0, 0.0), (125.0, 0.0), (125.44, 0.032)]);
        assert_eq!(
            of("PSCI_VERSION", 79, 10),
            (126.4, 3.2),
            "ten calls do not tell"
        );
        assert_eq!(
            of("CPU_ON", 1400, 100),
            (224.0, 32.0),
            "each is read for itself"
        );
    }

    #[test]
    fn what_own_firmware_does_not_know_is_told() {
        let machine = Machine {
            icount: Some(0),
            ..Machine::new(1)
        };
        let own = qemu::OtherFirmware {
            image: "a/flash.bin".into(),
            at: None,
            placement: qemu::Placement::Packed,
        };
        let report = payload::Report {
            calls: vec![
                calls("PSCI_VERSION", 625, 100, 0x1_0001),
                calls("unknown function", 625, 100, -1),
                calls("PMF get timestamp", 625, 100, -1),
                calls("standby level 0, interrupt pending", 625, 100, -2),
            ],
            ..payload::Report::default()
        };
        let ours = payload::Report {
            calls: vec![calls("PSCI_VERSION", 625, 100, 0x1_0003)],
            ..payload::Report::default()
        };
        let recording = calls_of_own(&machine, &own, report.clone(), None, Ok(ours));
        assert_eq!(recording.measures().len(), 3);
        let absent = Err(experiment::Error::failed("there is no source tree"));
        let recording = calls_of_own(&machine, &own, report, None, absent);
        assert_eq!(recording.measures().len(), 2);
        let notes = recording.header.notes.join("\n");
        assert!(notes.contains("beside it: there is no source tree."));
        assert!(
            notes.contains("does not know: PMF get timestamp."),
            "{notes}"
        );
        assert!(
            notes.contains("not counted: standby level 0, interrupt pending (-2)."),
            "{notes}"
        );
        assert_eq!(recording.header.versions["firmware"], "flash.bin");
    }
}
