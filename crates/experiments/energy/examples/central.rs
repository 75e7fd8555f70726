//! The central point of the talk's benchmarks, reference only: `cargo run --release -p energy-experiments --example central`.

use energy_experiments::board::Board;
use energy_experiments::configuration::Configuration;
use energy_experiments::point::Point;
use energy_experiments::runs::{OWNERS, run};
use energy_experiments::suite::Suite;
use experiment::{Files, Folder};
use soc::config::Document;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = Folder(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../platforms"));
    let suite = Suite::read(&Document::new("rcu-2013.toml", files.read("energy/rcu-2013.toml")?))?;
    let board = Board::open(&files, "tc2", &["tc2".to_owned(), "tc2-driver".to_owned()])?;
    let point = Point::central(&suite, 0);
    for benchmark in &suite.benchmarks {
        let begin = std::time::Instant::now();
        let ran = run(&suite, &board, benchmark, Configuration::Reference, &point)?;
        let (seconds, energy) = (ran.time as f64 / 1e12, ran.energy as f64 / 1e12);
        print!("{:14} {seconds:7.3} s {:8.1} units, run in {:?}:", benchmark.name, energy / seconds, begin.elapsed());
        for (owner, part) in OWNERS.iter().zip(ran.owners) {
            print!(" {owner} {:.1} %", 100.0 * part as f64 / ran.energy as f64);
        }
        println!(" queued {:?} invoked {:?} ticks {:?} ended {}", ran.queued, ran.invoked, ran.ticks, ran.ended);
    }
    // Draws of cyclictest in which more is saved than RCU costs.
    let benchmark = &suite.benchmarks[0];
    for draw in 0..256 {
        let point = Point::draw(&suite, draw);
        let energy = |configuration, point: &Point<'_>| run(&suite, &board, benchmark, configuration, point);
        let reference = energy(Configuration::Reference, &point)?;
        let idle = energy(Configuration::EnforcedIdle, &point)?;
        let silent = energy(Configuration::Reference, &point.clone().silenced())?;
        let percent = |ran: &energy_experiments::runs::Ran| 100.0 * (1.0 - ran.energy as f64 / reference.energy as f64);
        if percent(&idle) > percent(&silent) + 3.0 {
            println!(
                "draw {draw}: enforced idle {:.2} %, without callbacks {:.2} %, {}",
                percent(&idle),
                percent(&silent),
                point.word("cyclictest.command")
            );
            for ran in [&reference, &idle, &silent] {
                println!("   {:?} ticks {:?}", ran.owners.map(|part| part / 1_000_000_000_000), ran.ticks);
            }
        }
    }
    Ok(())
}
