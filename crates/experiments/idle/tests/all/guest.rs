//! Governors beside a real kernel: Debian's Linux on our EL3 image, traced under a workload with
//! each of its two governors. Needs the emulator.
//!
//! Time in the guest counts instructions, so that the traces do not depend on how busy this machine
//! is.

use crate::replay::agreed;
use idle::Kind;
use idle_experiments::trace::TracedIntervals;
use qemu::linux::{self, Linux};
use qemu::{Build, Images, Machine};
use sleeps::{SleepLength, Waker};
use std::path::{Path, PathBuf};

const GOVERNORS: [(&str, Kind); 2] = [("menu", Kind::menu(6, 1)), ("ladder", Kind::Ladder)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Boots the guest and traces it with each governor; the traces stay in the folder of the tests, to
/// be looked at.
fn traces(images: &Images, linux: &Linux, cpus: usize) -> Vec<PathBuf> {
    let machine = Machine {
        virtualization: true,
        icount: Some(0),
        ..Machine::new(cpus)
    };
    let governors = GOVERNORS.map(|(name, _)| name.to_owned()).to_vec();
    let trace = Some(linux::Tracing {
        workload: linux::Workload::Mixed,
        governors,
        seconds: 1,
    });
    let options = linux::Options {
        cycles: 0,
        stay: 1,
        os_initiated: false,
        exception_level: None,
        trace,
    };
    let report = linux::run(images, linux, &machine, &options, |_| ())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.complaints(&machine), Vec::<String>::new());
    assert_eq!(report.traces.len(), GOVERNORS.len());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let paths = GOVERNORS.map(|(name, _)| folder.join(format!("guest-{cpus}-{name}.trace")));
    for (path, trace) in paths.iter().zip(&report.traces) {
        std::fs::write(path, trace.join("\n") + "\n").unwrap();
    }
    paths.to_vec()
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// All traces are looked at before anything fails: a boot takes long.
fn expect(wrong: &mut Vec<String>, holds: bool, otherwise: String) {
    if !holds {
        wrong.push(otherwise);
    }
}

/// Most sleep lengths are known, and timers come when the events of timers say.
fn lengths_are_known(traced: &TracedIntervals, what: &str, wrong: &mut Vec<String>) {
    let all: Vec<_> = traced.all().collect();
    let known = all
        .iter()
        .filter(|sleep| matches!(sleep.length, SleepLength::Known { .. }))
        .count();
    let mut late_ns: Vec<i64> = all
        .iter()
        .filter_map(|sleep| {
            let due_ns = match (sleep.length, sleep.waker) {
                (SleepLength::Known { timer_ns, .. }, Waker::Timer) => timer_ns,
                (SleepLength::Known { tick_ns, .. }, Waker::Tick) => tick_ns?,
                _ => return None,
            };
            Some(
                sleep
                    .interval_ns()
                    .cast_signed()
                    .saturating_sub_unsigned(due_ns),
            )
        })
        .collect();
    late_ns.sort_unstable();
    let median = late_ns[late_ns.len() / 2];
    println!(
        "{what}: {known} of {} sleep lengths known; {} timers late by {median} ns (median)",
        all.len(),
        late_ns.len()
    );
    expect(
        wrong,
        share(known, all.len()) >= 0.99,
        format!("{what}: {known} of {} are known", all.len()),
    );
    expect(
        wrong,
        median.abs() <= 5_000,
        format!("{what}: timers late by {median} ns"),
    );
}

/// The time that a CPU may run on after the stamp of its entry: the firmware cleans the caches on
/// the way down.
const ENTERING_NS: u64 = 400_000;

/// True if another CPU may have run at some time between the two.
fn another_ran(traced: &TracedIntervals, cpu: u16, from_ns: u64, to_ns: u64) -> bool {
    (0..)
        .zip(&traced.cpus)
        .filter(|(other, _)| *other != cpu)
        .any(|(_, sleeps)| {
            let before = sleeps.partition_point(|sleep| sleep.enter_ns + ENTERING_NS <= from_ns);
            before
                .checked_sub(1)
                .is_none_or(|at| sleeps[at].exit_ns < to_ns)
        })
}

/// Without the events of timers nothing is called known, and every bound holds the length that the
/// events tell.
///
/// The emulator runs one CPU at a time, so that a timer's interrupt may find its CPU waiting for
/// another's turn to end: a timer that was late because of that says nothing, and is counted.
fn bounds_hold_without_timers(
    path: &Path,
    traced: &TracedIntervals,
    what: &str,
    wrong: &mut Vec<String>,
) {
    let text = std::fs::read_to_string(path).unwrap();
    let timers = [
        "hrtimer_",
        "timer_start",
        "timer_cancel",
        "timer_expire",
        "tick_stop",
    ];
    let without: String = text
        .lines()
        .filter(|line| !timers.iter().any(|word| line.contains(word)))
        .map(|line| format!("{line}\n"))
        .collect();
    let path = path.with_extension("no-timers.trace");
    std::fs::write(&path, without).unwrap();
    let bounded = TracedIntervals::open(&path).unwrap();
    assert_eq!(bounded.summary.known, 0, "{what}");
    let (mut held, mut late, mut beyond) = (0, 0, Vec::new());
    for (bound, truth) in bounded.all().zip(traced.all()) {
        assert_eq!(
            (bound.cpu, bound.enter_ns, bound.exit_ns),
            (truth.cpu, truth.enter_ns, truth.exit_ns),
            "{what}"
        );
        let (SleepLength::Bounded { at_least_ns, .. }, SleepLength::Known { timer_ns, .. }) =
            (bound.length, truth.length)
        else {
            continue;
        };
        match at_least_ns
            .checked_sub(timer_ns)
            .filter(|&beyond| beyond > 0)
        {
            None => held += 1,
            Some(ns) if another_ran(traced, bound.cpu, truth.exit_ns - ns, truth.exit_ns) => {
                late += 1
            }
            Some(ns) => beyond.push((ns, bound.state, bound.waker, at_least_ns)),
        }
    }
    beyond.sort_unstable();
    println!(
        "{what}: {held} bounds hold, {late} timers were late as another CPU ran, {} bounds do not hold: {beyond:?}",
        beyond.len()
    );
    expect(
        wrong,
        late * 4 <= held,
        format!("{what}: {late} timers late, {held} bounds hold"),
    );
    // A CPU may run in the firmware while the trace calls it idle; whom it keeps waiting then,
    // nothing shows.
    expect(
        wrong,
        beyond.len() * 1000 <= held,
        format!("{what}: {} bounds do not hold", beyond.len()),
    );
}

#[test]
fn governors_choose_as_the_kernel_does_and_our_accounting_is_the_kernels() {
    let platform = root().join("data/platforms/idle/qemu-virt.toml");
    let platform =
        platforms::idle_states(&experiment::Folder(root()), &platform.display().to_string())
            .unwrap();
    let mut wrong = Vec::new();
    let machines = [8, 5, 2];
    let images =
        Images::find(Some(&root()), Build::Instrumented).unwrap_or_else(|error| panic!("{error}"));
    let linux =
        linux::fetch(None, &root().join("target/linux")).unwrap_or_else(|error| panic!("{error}"));
    // Guests count instructions for time, so that they may run side by side.
    let (images, linux) = (&images, &linux);
    let traces = std::thread::scope(|scope| {
        let guests = machines.map(|cpus| scope.spawn(move || traces(images, linux, cpus)));
        guests.map(|guest| {
            guest
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    for (cpus, traces) in machines.into_iter().zip(traces) {
        for (path, (name, kind)) in traces.iter().zip(GOVERNORS) {
            let what = format!("{name}, {cpus} CPUs");
            let traced = TracedIntervals::open(path).unwrap();
            let agreement = agreed(&platform, &traced, kind);
            let [same, balanced, commonest] = [
                agreement.same(),
                agreement.balanced(),
                agreement.commonest(),
            ]
            .map(Option::unwrap);
            let compared = traced.counters.compare(
                &platform,
                &traced.cpus,
                &traced.refused,
                traced.tracing_ns().unwrap_or(0),
            );
            println!(
                "{what}: {} intervals, same {:.1} %, balanced {:.1} %, commonest {:.1} %, tracing {:?} ns\n  kernel {:?}\n  trace  {:?}",
                agreement.all(),
                100.0 * same,
                100.0 * balanced,
                100.0 * commonest,
                traced.tracing_ns(),
                compared.kernel,
                compared.trace,
            );
            let wrong = &mut wrong;
            // Stays between which the marks were written may be in one account and not in the
            // other.
            let (kernel, trace) = (compared.kernel, compared.trace);
            for (of, kernel, trace) in [
                ("stays", kernel.entered, trace.entered),
                ("above", kernel.above, trace.above),
                ("below", kernel.below, trace.below),
                ("rejected", kernel.rejected, trace.rejected),
            ] {
                let differ = kernel.abs_diff(trace) * 100 <= compared.kernel.entered;
                expect(
                    wrong,
                    differ,
                    format!("{what}: {of} {kernel} by the kernel, {trace} by the trace"),
                );
            }
            lengths_are_known(&traced, &what, wrong);
            expect(
                wrong,
                commonest <= 0.6,
                format!("{what}: the commonest state has {commonest} of the choices"),
            );
            expect(wrong, same >= 0.9, format!("{what}: {same} the same"));
            expect(
                wrong,
                balanced >= 0.8,
                format!("{what}: {balanced} in the mean over states"),
            );
            bounds_hold_without_timers(path, &traced, &what, wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
