//! `clock-read`: what a read of the standard library's clock costs on this machine.

use experiment::setting::{Number, Or};
use experiment::{About, Error, Example, Experiment, Request, Sink, World, WorldAbout};
use recording::{Header, Recording};
use std::time::Instant;

/// Reads the clock many times.
pub struct ClockRead;

const ROUNDS: Or<Number<u32>> = Number::new("rounds", 1..=10_000, "Measurements.").or(20);
const READS: Or<Number<u32>> =
    Number::new("reads", 1..=1_000_000, "Reads per measurement.").or(10_000);

static ABOUT: About = About {
    name: "clock-read",
    summary: "What a read of the clock costs on this machine",
    worlds: &[WorldAbout {
        world: World::Host,
        about: "this machine's clock",
        needs: &[],
    }],
    settings: &[&ROUNDS, &READS],
    examples: &[Example {
        arguments: "--rounds 100",
        about: "",
    }],
    ..About::BARE
};

impl Experiment for ClockRead {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let (rounds, reads) = (request.settings.get(ROUNDS), request.settings.get(READS));
        let progress = sink.progress();
        progress.expect(rounds.into(), "rounds");
        let mut header = Header::new(ABOUT.name, request.world.name(), "ns");
        header.iterations = rounds;
        sink.start(header.clone())?;
        let mut rows = Recording::new(header);
        let series = rows.series("std", "clock-read", "");
        for round in 0..rounds {
            progress.check()?;
            let start = Instant::now();
            for _ in 0..reads {
                std::hint::black_box(Instant::now());
            }
            let each = start.elapsed().as_nanos() as f64 / f64::from(reads);
            rows.measure(series, round, "read", "ns", each);
            progress.step();
        }
        sink.append(&rows)
    }
}
