//! A whole experiment: what a read of the standard library's clock costs on this machine.
//!
//! ```text
//!   About ──► command line, help, list        Request ──► run ──► recording ──► tables, page, JSON
//! ```
//! `cargo run -p experiment --example clock_read` runs it. To have it as `stopwatt run clock-read`,
//! it would go into a crate of its own in `crates/experiments/`, and into the list in
//! `crates/stopwatt/src/experiments.rs`.

use experiment::setting::{Number, Or};
use experiment::{About, Conditions, Error, Experiment, Folder, Observer, Request};
use experiment::{Settings, World};
use recording::{Header, Recording, stats};
use std::time::Instant;

/// Reads the clock many times.
pub struct ClockRead;

const ROUNDS: Or<Number<u32>> = Number::new("rounds", 1..=10_000, "Measurements.").or(20);
const READS: Or<Number<u32>> =
    Number::new("reads", 1..=1_000_000, "Reads per measurement.").or(10_000);

static ABOUT: About = About {
    name: "clock-read",
    summary: "What a read of the clock costs on this machine",
    worlds: &[(World::Host, "this machine's clock")],
    settings: &[&ROUNDS, &READS],
    examples: &[("--rounds 100", "")],
    ..About::BARE
};

impl Experiment for ClockRead {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording, Error> {
        let (rounds, reads) = (request.settings.get(ROUNDS), request.settings.get(READS));
        observer.progress.expect(rounds.into(), "rounds");
        let mut header = Header::new(ABOUT.name, request.world.name(), "ns");
        header.iterations = rounds;
        let mut rows = Recording::new(header);
        let series = rows.series("std", "clock-read", "");
        for round in 0..rounds {
            observer.progress.check()?;
            let start = Instant::now();
            for _ in 0..reads {
                std::hint::black_box(Instant::now());
            }
            let each = start.elapsed().as_nanos() as f64 / f64::from(reads);
            rows.measure(series, round, "read", "ns", each);
            observer.progress.step();
        }
        Ok(rows)
    }
}

/// Runs it with what a command line would say, and returns the median.
pub fn median(given: &[(&str, &str)]) -> Result<f64, Error> {
    let given = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let request = Request {
        world: World::Host,
        settings: Settings::new(&ABOUT, World::Host, given)?,
        platforms: &Folder("platforms".into()),
        conditions: Conditions::default(),
        source_tree: None,
        kept: None,
    };
    let recording = ClockRead.run(&request, &Observer::new(Default::default()))?;
    let series = recording
        .all_series()
        .next()
        .expect("the run has one series");
    Ok(stats::median(&recording.values(series, "read")).expect("there is a round at least"))
}

#[allow(dead_code, reason = "the test takes the rest")]
fn main() -> Result<(), Error> {
    println!("{:.1} ns per read", median(&[("rounds", "50")])?);
    Ok(())
}
