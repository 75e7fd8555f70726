//! A user interface under each policy of placement: latency of its frames, and energy.
//! `cargo run --release -p workload --example ui_render`
//!
//! ```text
//!  workloads/ui-render.json ─▶ workload::read ─▶ minikernel on TC2 ─▶ responses of `render`, energy
//!                                                    ▲
//!                              placement::Kind ──────┘ hmp, hmp-early, even, all-big, switcher, energy-aware
//! ```
//!
//! Two rules of frequency: fixed at the highest operating points, and following the load. Twenty
//! seeds of 20 s each, whose frames are taken together. Another file with a task `render` may be
//! given, and settings of it as `name=value`.

use document::Document;
use minikernel::{Frequency, Hardware, Settings, run};
use placement::Kind;
use soc::config::{IdlePlatform, Sources};
use std::error::Error;
use std::path::Path;

const SEEDS: u64 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let open = |name: &str| Document::open(&root.join("data/platforms").join(name));
    let sources = Sources {
        platform: open("tc2.toml")?,
        release: open("tc2/releases/tc2-borrowed.toml")?,
        costs: open("tc2/costs/tc2-borrowed.toml")?,
    };
    let hardware = Hardware::new(
        &sources.machine()?,
        &IdlePlatform::read(&open("idle/tc2.toml")?)?,
        300,
    )?;
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let path = arguments
        .iter()
        .find(|argument| argument.ends_with(".json"))
        .map(Into::into);
    let path = path.unwrap_or(root.join("data/workloads/ui-render.json"));
    let settings = arguments.iter().filter_map(|set| set.split_once('='));
    let settings = settings.map(|(name, value)| Ok((name.to_owned(), value.parse()?)));
    let settings = settings.collect::<Result<Vec<_>, std::num::ParseIntError>>()?;
    let options = workload::Options {
        settings,
        cpus: hardware.cpus(),
        ..workload::Options::default()
    };
    let file = workload::read(&Document::open(&path)?, &options)?;
    let time_ns = file.duration_ns.unwrap_or(20_000_000_000);
    println!("{:?}", file.settings);
    let frequencies = [
        ("highest points", Frequency::Highest),
        (
            "follows the load",
            Frequency::Schedutil {
                rate_limit_ns: 10_000_000,
            },
        ),
    ];
    for (name, frequency) in frequencies {
        println!(
            "\n{name}\n{:14}{:>9}{:>9}{:>9}{:>9}{:>12}{:>9}{:>9}",
            "", "frames", "p50 ms", "p95 ms", "p99 ms", "energy", "big on", "moves"
        );
        let mut first = None;
        for kind in [
            Kind::AllBig,
            Kind::Hmp,
            Kind::HmpEarly,
            Kind::Even,
            Kind::Switcher,
            Kind::EnergyAware,
        ] {
            let found = measure(&hardware, &frequency, &file.workload, kind, time_ns)?;
            let (p95, energy) = *first.get_or_insert((found.at(95), found.energy));
            println!(
                "{:14}{:9}{:9.2}{:9.2}{:9.2}{:11.1}%{:8.1}%{:9}   p95 {:.2} of all-big's",
                kind.name(),
                found.frames.len(),
                found.at(50),
                found.at(95),
                found.at(99),
                found.energy / energy * 100.0,
                found.big * 100.0,
                found.moves,
                found.at(95) / p95,
            );
        }
    }
    Ok(())
}

/// Frames and energy of all seeds.
#[derive(Default)]
struct Totals {
    /// Latencies in ns, by size.
    frames: Vec<u64>,
    energy: f64,
    big: f64,
    moves: u64,
}

impl Totals {
    /// A percentile in ms.
    fn at(&self, percent: usize) -> f64 {
        let at = (self.frames.len() * percent / 100).min(self.frames.len().saturating_sub(1));
        self.frames.get(at).map_or(0.0, |&ns| ns as f64 / 1e6)
    }
}

fn measure(
    hardware: &Hardware,
    frequency: &Frequency,
    workload: &minikernel::Workload,
    kind: Kind,
    time_ns: u64,
) -> Result<Totals, Box<dyn Error>> {
    let mut found = Totals::default();
    for seed in 1..=SEEDS {
        let settings = Settings {
            seed,
            frequency: *frequency,
            ..Settings::default()
        };
        let policy = kind.policy(&hardware.energy_model()?, seed);
        let outcome = run(hardware, &settings, workload, policy, None, time_ns)?;
        let render = outcome.task("render").ok_or("there is no task `render`")?;
        found.frames.extend(&render.counts.responses);
        found.moves += render.counts.moves;
        found.energy += outcome.integral as f64 / SEEDS as f64;
        found.big += outcome.domains[0].running as f64 / outcome.time as f64 / SEEDS as f64;
    }
    found.frames.sort_unstable();
    Ok(found)
}
