//! The rate of the simulation's operations beside that of nexosim's events: each CPU is busy for a
//! drawn time, records a stamp, and is busy again. Nearly every operation gives way to another CPU,
//! which is the dearest thing that a simulation does.
//!
//! ```text
//! cargo run --release --manifest-path bench/operations/Cargo.toml
//! cargo run --release --manifest-path bench/operations/Cargo.toml -- --beside OTHER
//! ```
//!
//! The two take turns, several times, and what is printed is the median of the ratios: machines
//! differ, and a machine differs from one minute to the next. Both must leave the same stamps. With
//! `--beside`, the other program is this one as another checkout built it, and only the engines
//! take turns.

use document::Document;
use nexosim::model::{Context, Model, schedulable};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use soc::config::{Machine, Sources};
use soc::{Boot, Soc, System};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Operations of a run in all, however many CPUs make them.
const OPERATIONS: u64 = 3_000_000;
/// The number of times that the two take turns.
const ROUNDS: usize = 7;

/// A stamp: when, in ns, and on which CPU.
type Stamp = (u64, u16);

/// The time that operation `number` of a CPU takes, in ns: 1 to 1000, as drawn.
fn duration(cpu: u16, number: u64) -> u64 {
    let mut z = (number << 16 | u64::from(cpu))
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z >> 32) % 1000 + 1
}

fn machine(cpus: u16) -> Machine {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/platforms");
    let open =
        |name: &str| Document::open(&root.join(name)).expect("the platform files are in the tree");
    let mut sources = Sources {
        platform: open("juno-r1.toml"),
        release: open("juno-r1/releases/juno-v2.12.toml"),
        costs: open("juno-r1/costs/juno-v2.12.toml"),
    };
    let shape = if cpus == 6 {
        "1x6".to_owned()
    } else {
        format!("{}x4", cpus / 4)
    };
    sources.set("topology.clusters", &shape).expect("a shape");
    sources
        .set("counter.frequency", "1 GHz")
        .expect("a frequency");
    sources.machine().expect("a sound machine")
}

/// The work of each CPU on the simulated machine.
struct Busy {
    operations: u64,
}

impl System for Busy {
    fn run(&self, soc: &Soc, cpu: usize) {
        for number in 0..self.operations {
            soc.work(duration(cpu as u16, number) * 1000);
            soc.record_stamp(cpu, soc::points::POWER_ON, 0);
        }
    }
}

fn ours(cpus: u16) -> (Vec<Stamp>, Duration) {
    let soc = Soc::new(&machine(cpus), 1);
    let busy = Busy {
        operations: OPERATIONS / u64::from(cpus),
    };
    let begin = Instant::now();
    soc::run_system(&soc, &busy, Boot::Bare).expect("the machine is sound");
    let stamps = soc.take_stamps();
    let took = begin.elapsed();
    (
        stamps
            .into_iter()
            .map(|stamp| (stamp.ticks, stamp.cpu))
            .collect(),
        took,
    )
}

/// The same as a model of nexosim: an event that schedules the next.
#[derive(serde::Serialize, serde::Deserialize)]
struct Cpu {
    cpu: u16,
    number: u64,
    operations: u64,
    #[serde(skip)]
    stamps: Arc<Mutex<Vec<Stamp>>>,
}

#[Model]
impl Cpu {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        self.schedule(cx);
    }

    #[nexosim(schedulable)]
    async fn step(&mut self, _: (), cx: &Context<Self>) {
        let now = cx.time();
        let nanoseconds = now.as_secs() as u64 * 1_000_000_000 + u64::from(now.subsec_nanos());
        self.stamps
            .lock()
            .expect("one thread")
            .push((nanoseconds, self.cpu));
        self.schedule(cx);
    }

    fn schedule(&mut self, cx: &Context<Self>) {
        if self.number < self.operations {
            let after = Duration::from_nanos(duration(self.cpu, self.number));
            self.number += 1;
            cx.schedule_event(after, schedulable!(Self::step), ())
                .expect("it lies ahead");
        }
    }
}

fn theirs(cpus: u16) -> (Vec<Stamp>, Duration) {
    let stamps: Arc<Mutex<Vec<Stamp>>> = Arc::default();
    let operations = OPERATIONS / u64::from(cpus);
    let mut bench = SimInit::with_num_threads(1);
    for cpu in 0..cpus {
        bench = bench.add_model(
            Cpu {
                cpu,
                number: 0,
                operations,
                stamps: stamps.clone(),
            },
            Mailbox::new(),
            "cpu",
        );
    }
    let mut simulation = bench
        .init(MonotonicTime::EPOCH)
        .expect("the bench is sound");
    let begin = Instant::now();
    simulation.run().expect("every event is handled");
    let took = begin.elapsed();
    drop(simulation);
    let stamps = std::mem::take(&mut *stamps.lock().expect("one thread"));
    (stamps, took)
}

fn rate(took: Duration) -> f64 {
    OPERATIONS as f64 / took.as_secs_f64() / 1e6
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The rate that another build of this program prints for its engine.
fn rate_of(program: &str, cpus: u16) -> f64 {
    let output = Command::new(program)
        .args(["--rate", &cpus.to_string()])
        .output()
        .expect("the other program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim()
        .parse()
        .unwrap_or_else(|_| panic!("{program} printed no rate but {text:?}"))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["--rate", cpus] => println!("{}", rate(ours(cpus.parse().expect("a number of CPUs")).1)),
        ["--beside", other] => compare("the other build", |cpus| rate_of(other, cpus)),
        [] => {
            for cpus in [6, 256] {
                let (mut ours, mut theirs) = (ours(cpus).0, theirs(cpus).0);
                // Stamps of one time may stand in either order.
                ours.sort_unstable();
                theirs.sort_unstable();
                assert!(
                    ours == theirs,
                    "with {cpus} CPUs the two did not do the same"
                );
            }
            compare("nexosim", |cpus| rate(theirs(cpus).1));
        }
        _ => {
            eprintln!("usage: operations-bench [--beside PROGRAM | --rate CPUS]");
            std::process::exit(2);
        }
    }
}

/// Takes turns, and prints the medians.
fn compare(name: &str, other: impl Fn(u16) -> f64) {
    let this = std::env::current_exe().expect("this program has a path");
    for cpus in [6, 256] {
        let pairs: Vec<(f64, f64)> = (0..ROUNDS)
            .map(|_| (rate_of(&this.display().to_string(), cpus), other(cpus)))
            .collect();
        let ratios = pairs.iter().map(|(ours, theirs)| ours / theirs).collect();
        let (ours, theirs): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        println!(
            "{cpus} CPUs: engine and soc {:.1} M operations a second, {name} {:.1} M: {:.2} times its rate ({ROUNDS} pairs)",
            median(ours),
            median(theirs),
            median(ratios)
        );
    }
}
