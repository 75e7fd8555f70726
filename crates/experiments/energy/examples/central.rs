//! The central point of the talk's benchmarks, reference only, and draws in which more is saved
//! than RCU costs: `cargo run --release -p energy-experiments --example central`.

use document::Document;
use energy_experiments::board::Board;
use energy_experiments::configuration::Configuration;
use energy_experiments::point::Point;
use energy_experiments::runs::{OWNERS, RunResult, run};
use energy_experiments::suite::Suite;
use experiment::{Files, Folder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files =
        Folder(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms"));
    let suite = Suite::read(&Document::new(
        "rcu-2013.toml",
        files.read("energy/rcu-2013.toml")?,
    ))?;
    let board = Board::open(&files, "tc2", &["tc2".to_owned(), "tc2-driver".to_owned()])?;
    let point = Point::central(&suite, 0);
    for benchmark in &suite.benchmarks {
        let begin = std::time::Instant::now();
        let ran = run(&board, benchmark, Configuration::Reference, &point)?;
        let (seconds, energy) = (ran.time as f64 / 1e12, ran.energy as f64 / 1e12);
        print!(
            "{:14} {seconds:7.3} s {:8.1} units, run in {:?}:",
            benchmark.name,
            energy / seconds,
            begin.elapsed()
        );
        for (owner, part) in OWNERS.iter().zip(ran.owners) {
            print!(" {owner} {:.1} %", 100.0 * part as f64 / ran.energy as f64);
        }
        println!(
            " queued {:?} invoked {:?} ticks {:?} ended {}",
            ran.queued, ran.invoked, ran.ticks, ran.ended
        );
    }
    // Draws in which more is saved than RCU costs.
    for benchmark in suite
        .benchmarks
        .iter()
        .filter(|benchmark| ["cyclictest", "audio"].contains(&benchmark.name.as_str()))
    {
        for draw in 0..256 {
            let point = Point::draw(&suite, draw);
            let energy =
                |configuration, point: &Point<'_>| run(&board, benchmark, configuration, point);
            let reference = energy(Configuration::Reference, &point)?;
            let idle = energy(Configuration::EnforcedIdle, &point)?;
            let silent = energy(Configuration::Reference, &point.clone().silenced())?;
            let percent =
                |ran: &RunResult| 100.0 * (1.0 - ran.energy as f64 / reference.energy as f64);
            if percent(&idle) > percent(&silent) + 3.0 {
                let [idle_saves, silent_saves] = [&idle, &silent].map(percent);
                let (name, hz) = (&benchmark.name, point.number("hz"));
                println!(
                    "{name}, draw {draw}, {hz} Hz: enforced idle saves {idle_saves:.2} %, no callbacks {silent_saves:.2} %"
                );
                for (what, ran) in [
                    ("reference", &reference),
                    ("enforced idle", &idle),
                    ("no callbacks", &silent),
                ] {
                    let share = |owner: usize| 100.0 * ran.owners[owner] as f64 / ran.energy as f64;
                    println!(
                        "   {what}: WFI {:.1} %, deep idle {:.1} %, ticks {:?}",
                        share(8),
                        share(9),
                        ran.ticks
                    );
                }
            }
        }
    }
    Ok(())
}
