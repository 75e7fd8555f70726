//! The owners of a trace's energy, on generated events.

use document::Document;
use import::ftrace::Point;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use recording::facts::KernelTrace;
use recording::{Event, Header, Recording};
use soc::config::{IdlePlatform, Platform};
use std::path::Path;
use trace_energy::machine::Machine;
use trace_energy::meter::{Meter, Share};
use trace_energy::owner::Owner;
use trace_energy::told::Told;

fn hikey960() -> Machine {
    hikey960_with("")
}

/// The board, with more in the file of its idle states.
fn hikey960_with(more: &str) -> Machine {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
    let open = |name: &str| Document::open(&data.join(name)).unwrap();
    let platform = Platform::read(&open("hikey960.toml")).unwrap();
    let idle = open("idle/hikey960.toml");
    let idle = Document::new("idle", format!("{}{more}", idle.text()));
    Machine::new(&platform, &IdlePlatform::read(&idle).unwrap()).unwrap()
}

/// Events of points with arguments, on CPUs, each some nanoseconds behind the one before.
type Made = (Point, u16, u32, u32, u64);

/// The shares of some events, and all energy.
fn shares(machine: &Machine, made: &[Made]) -> (Vec<Share>, [u128; 2]) {
    let kernel = KernelTrace::default();
    let mut rows = Recording::new(Header::new("ftrace", "import", "ns"));
    let series = rows.series("trace", "trace", "");
    let mut time = 1_000_000_000;
    for &(point, cpu, argument, ticks, after) in made {
        time += after;
        let name = rows.point(point.name());
        rows.event(series, 0, cpu, time, ticks.into(), name, argument);
    }
    let events: Vec<(Point, Event)> = rows
        .events()
        .iter()
        .map(|event| (Point::named(rows.point_text(event.point)).unwrap(), *event))
        .collect();
    let mut told = Told::new(&kernel);
    for (point, event) in &events {
        told.event(&kernel, *point, event);
    }
    let mut meter = Meter::new(machine, &told);
    for (point, event) in &events {
        meter.event(*point, event);
    }
    meter.finish();
    (meter.shares.clone(), meter.total.energy)
}

fn made() -> impl Strategy<Value = Vec<Made>> {
    let points = prop::sample::select(vec![
        Point::IdleEnter,
        Point::IdleExit,
        Point::IdleEnter,
        Point::IdleExit,
        Point::SchedSwitch,
        Point::SchedSwitch,
        Point::IrqEnter,
        Point::IrqExit,
        Point::SoftirqEnter,
        Point::SoftirqExit,
        Point::Frequency,
        Point::RcuInvokeCallback,
        Point::RcuBatchEnd,
        Point::Hotplug,
        Point::Suspend,
        Point::Lost,
        Point::Ipi,
        Point::TimerExpire,
    ]);
    let event = (points, 0..9_u16, 0..4_u32, 0..3_u32, 0..5_000_000_u64).prop_map(
        |(point, cpu, argument, ticks, after)| match point {
            Point::Frequency => (point, cpu, 1_000_000 + argument * 200_000, ticks, after),
            _ => (point, cpu, argument, ticks, after),
        },
    );
    prop::collection::vec(event, 2..120).prop_map(plausible)
}

/// What a kernel does: a CPU goes from its task to the idle loop before it sleeps, and a CPU that
/// sleeps wakes up before anything else happens on it.
fn plausible(made: Vec<Made>) -> Vec<Made> {
    let mut asleep = [false; 9];
    let mut all = Vec::new();
    for (point, cpu, argument, ticks, after) in made {
        let is_asleep = &mut asleep[usize::from(cpu)];
        let mut push = |point, argument| all.push((point, cpu, argument, ticks, after / 3));
        match point {
            Point::IdleEnter if *is_asleep => {}
            Point::IdleEnter => {
                *is_asleep = true;
                push(Point::SchedSwitch, 0);
                push(point, argument);
            }
            Point::IdleExit if !*is_asleep => {}
            Point::Frequency | Point::Hotplug | Point::Suspend | Point::Lost => {
                push(point, argument)
            }
            _ => {
                if std::mem::take(is_asleep) {
                    push(Point::IdleExit, 0);
                }
                push(point, argument);
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(60),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_owners_energies_add_up_to_the_integral(made in made()) {
        let (shares, total) = shares(&hikey960(), &made);
        for (end, total) in total.into_iter().enumerate() {
            prop_assert_eq!(shares.iter().map(|share| share.of.energy[end]).sum::<u128>(), total);
        }
        for share in &shares {
            prop_assert!(share.of.energy[0] <= share.of.energy[1]);
        }
    }

    /// Every CPU has an owner all the time.
    #[test]
    fn the_owners_times_add_up_to_that_of_all_cpus(made in made()) {
        let all: u64 = made.iter().skip(1).map(|of| of.4).sum();
        let (shares, _) = shares(&hikey960(), &made);
        prop_assert_eq!(shares.iter().map(|share| share.of.ns).sum::<u64>(), 8 * all);
    }

    /// Law 12: what is told by less lies around what is told by more.
    #[test]
    fn less_is_wider(made in made(), without in 0..3_usize) {
        let gone: &[Point] = [
            &[Point::Frequency][..],
            &[Point::SchedSwitch],
            &[Point::IdleEnter, Point::IdleExit],
        ][without];
        // Both traces have the same span. A Lost says nothing of what is left out, and nothing runs
        // on a machine that is suspended.
        let mark = |after| (Point::Ipi, 0, 0, 0, after);
        let whole: Vec<Made> = [mark(0)].into_iter().chain(made.into_iter().filter(|of| !matches!(of.0, Point::Lost | Point::Suspend))).chain([mark(1)]).collect();
        let less: Vec<Made> = whole
            .iter()
            .map(|of| if gone.contains(&of.0) { (Point::Ipi, of.1, 0, 0, of.4) } else { *of })
            .collect();
        let machine = hikey960();
        let ([low, high], [least, most]) = (shares(&machine, &whole).1, shares(&machine, &less).1);
        prop_assert!(least <= low && high <= most, "{least} <= {low}, {high} <= {most}");
    }
}

/// Two tasks on a CPU whose clock is known: their energies are powers times times.
#[test]
fn a_task_owns_its_time_at_its_clock() {
    let machine = hikey960();
    let ms = 1_000_000;
    let (shares, _) = shares(
        &machine,
        &[
            (Point::Frequency, 0, 1_844_000, 0, 0),
            (Point::SchedSwitch, 0, 101, 0, 0),
            (Point::SchedSwitch, 0, 102, 101, 8 * ms),
            (Point::SchedSwitch, 0, 0, 102, 2 * ms),
            (Point::IdleEnter, 0, 0, 0, 0),
            (Point::IdleExit, 0, 0, 0, ms),
        ],
    );
    let of = |pid: u32| {
        shares
            .iter()
            .find(|share| share.owner == Owner::Task(pid))
            .unwrap()
            .of
    };
    // 24 544 units of the core, and 6 416 of the cluster, which it alone keeps up.
    assert_eq!(of(101).energy, [(24_544 + 6_416) * 8 * u128::from(ms); 2]);
    assert_eq!(
        (of(102).ns, of(102).energy),
        (2 * ms, [(24_544 + 6_416) * 2 * u128::from(ms); 2])
    );
}

/// A little core takes what it takes beside the other cluster's clock, and what it takes beside the
/// lowest while that cluster sleeps: the rule of Wattson's two-dimensional curves.
#[test]
fn a_core_takes_what_it_takes_beside_another_clock() {
    let rows = [(903, 5_000), (2_362, 7_000)].map(|(mhz, power)| {
        format!(
            "\n[[beside]]\ndomain = \"little\"\nclock = \"533 MHz\"\nother = \"big\"\nother_clock = \"{mhz} MHz\"\ncore_power = {power}\n"
        )
    });
    let machine = hikey960_with(&rows.concat());
    let ms = 1_000_000;
    let mut made = vec![
        (Point::Frequency, 0, 533_000, 0, 0),
        (Point::Frequency, 4, 2_362_000, 0, 0),
    ];
    made.extend((1..8).map(|cpu| (Point::IdleEnter, cpu, 1, 0, 0)));
    made.extend([
        (Point::SchedSwitch, 0, 101, 0, 0),
        (Point::IdleExit, 4, 0, 0, 10 * ms),
        (Point::IdleEnter, 4, 1, 0, 3 * ms),
        (Point::SchedSwitch, 0, 0, 101, 2 * ms),
    ]);
    let (shares, _) = shares(&machine, &made);
    let task = shares.iter().find(|share| share.owner == Owner::Task(101));
    let shared = machine.domains[0].running(Some(533_000)).shared[0];
    let core = 5_000 * 12 + 7_000 * 3;
    let energy = u128::from(ms * (core + 15 * shared));
    assert_eq!(task.unwrap().of.energy, [energy; 2]);
}
