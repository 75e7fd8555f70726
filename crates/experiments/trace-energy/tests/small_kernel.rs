//! A trace of the small kernel, whose owners are known, told by its events.

use document::Document;
use import::ftrace::Point;
use minikernel::placement::Kind;
use minikernel::{Costs, Frequency, Hardware, Outcome, Owner as KernelOwner, Settings, events};
use recording::facts::KernelTrace;
use recording::{Event, Header, Recording};
use soc::config::{IdlePlatform, Platform, Sources};
use std::path::{Path, PathBuf};
use trace_energy::machine::Machine;
use trace_energy::meter::Meter;
use trace_energy::owner::Owner;
use trace_energy::told::Told;

fn data(name: &str) -> Document {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data");
    Document::open(&folder.join(name)).unwrap()
}

/// The events of a run as an import has them. Names of kernel threads are of no use here.
fn trace(outcome: &Outcome, hardware: &Hardware) -> Recording {
    let mut rows = Recording::new(Header::new("ftrace", "import", "ns"));
    let series = rows.series("trace", "trace", "");
    let mut stamps: Vec<_> = outcome.events.iter().collect();
    stamps.sort_by_key(|event| event.time);
    for event in stamps {
        let domain = hardware
            .domains
            .iter()
            .find(|of| of.cpus.contains(&event.cpu.into()))
            .unwrap();
        let (point, argument) = if event.point == events::TASK_SWITCH.id() {
            (Point::SchedSwitch, event.argument)
        } else if event.point == events::IDLE_ENTER.id() {
            (Point::IdleEnter, event.argument)
        } else if event.point == events::IDLE_LEAVE.id() {
            (Point::IdleExit, 0)
        } else if event.point == events::OPERATING_POINT.id() {
            let clock = domain.points[event.argument as usize].clock;
            (Point::Frequency, (clock / 1_000) as u32)
        } else {
            continue;
        };
        let name = rows.point(point.name());
        rows.event(series, 0, event.cpu, event.time / 1_000, 0, name, argument);
    }
    let end = (outcome.begin + outcome.time) / 1_000;
    let mark = rows.point(Point::Mark.name());
    rows.event(series, 0, 0, end, 0, mark, 0);
    rows
}

/// Costs of a kernel whose own work takes next to nothing: switches, the scheduler and its timers
/// have no events, and a trace gives what they take to tasks.
fn silent() -> Costs {
    let mut costs = Costs::new(&Costs::read(&data("platforms/kernel/costs.toml")).unwrap());
    for name in Costs::NAMES {
        *costs.named(name).unwrap() = 0;
    }
    costs.system_call = 10;
    costs
}

fn run(seed: u64, kind: Kind) -> (Outcome, Hardware, Machine) {
    let platform = data("platforms/hikey960.toml");
    let release = "hikey960-borrowed";
    let sources = Sources {
        platform: platform.clone(),
        release: data(&format!("platforms/hikey960/releases/{release}.toml")),
        costs: data(&format!("platforms/hikey960/costs/{release}.toml")),
    };
    let idle = IdlePlatform::read(&data("platforms/idle/hikey960.toml")).unwrap();
    let hardware = Hardware::new(&sources.machine().unwrap(), &idle, 300).unwrap();
    let options = workload::Options {
        cpus: hardware.cpus(),
        ..workload::Options::default()
    };
    let tasks = workload::read(&data("workloads/ui-render.json"), &options)
        .unwrap()
        .workload;
    let settings = Settings {
        seed,
        costs: silent(),
        frequency: Frequency::Schedutil {
            rate_limit_ns: 10_000_000,
        },
        record: true,
        ..Settings::default()
    };
    let policy = kind.policy(&hardware.energy_model().unwrap(), seed);
    let outcome = minikernel::run(&hardware, &settings, &tasks, policy, None, 200_000_000).unwrap();
    let machine = Machine::new(&Platform::read(&platform).unwrap(), &idle).unwrap();
    (outcome, hardware, machine)
}

/// Of 100 runs: all energy, that of idle states with their round trips, and that of each task lie
/// within what the trace tells.
#[test]
fn owners_of_the_small_kernel_lie_within_their_ranges() {
    for (seed, kind) in (0..100).zip(
        [Kind::EnergyAware, Kind::Even, Kind::Hmp, Kind::AllBig]
            .into_iter()
            .cycle(),
    ) {
        let (outcome, hardware, machine) = run(seed, kind);
        let rows = trace(&outcome, &hardware);
        let kernel = KernelTrace::default();
        let all: Vec<(Point, Event)> = rows
            .events()
            .iter()
            .filter(|event| event.time >= outcome.begin / 1_000)
            .map(|event| (Point::named(rows.point_text(event.point)).unwrap(), *event))
            .collect();
        let mut told = Told::new(&kernel);
        for (point, event) in &all {
            told.event(&kernel, *point, event);
        }
        let mut meter = Meter::new(&machine, &told);
        for (point, event) in &all {
            meter.event(*point, event);
        }
        meter.finish();
        let sum = |is: &dyn Fn(Owner) -> bool| {
            [0, 1].map(|end| {
                let shares = meter.shares.iter().filter(|share| is(share.owner));
                shares.map(|share| share.of.energy[end]).sum::<u128>() as f64
            })
        };
        let known = |is: &dyn Fn(KernelOwner) -> bool| {
            let owners = outcome.owners.iter().filter(|owner| is(**owner));
            owners.map(|owner| outcome.energy(*owner)).sum::<u128>() as f64 / 1_000.0
        };
        // Times are whole nanoseconds.
        let slack = 1e-5 * known(&|_| true);
        let [low, high] = sum(&|_| true);
        let total = known(&|_| true);
        assert!(
            low - slack <= total && total <= high + slack,
            "{seed}: {low} {total} {high}"
        );
        let [low, high] = sum(&|owner| owner.is_work() == Some(false));
        let idle = known(&|owner| matches!(owner, KernelOwner::Idle(_) | KernelOwner::Transition));
        assert!(
            low - slack <= idle && idle <= high + slack,
            "{seed}, idle: {low} {idle} {high}"
        );
        for (number, task) in outcome.tasks.iter().enumerate() {
            let [low, high] = sum(&|owner| owner == Owner::Task(number as u32 + 1));
            let own = known(&|owner| owner == KernelOwner::Task(number));
            assert!(
                low - slack <= own && own <= high + slack,
                "{seed}, {}: {low} {own} {high}",
                task.name
            );
        }
    }
}
