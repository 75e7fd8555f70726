//! Six CPUs of a simulated Juno suspend to the deepest state at the same time.
//!
//! ```text
//!   platforms/juno-r1.toml ─────────┐                      ┌─▶ events: every stamp, with its time
//!   releases/juno-v2.12.toml ───────┼─▶ Machine ─▶ run() ──┤
//!   costs/juno-v2.12.toml ──────────┘      ▲               └─▶ measured: what the procedure read over PMF
//!                                     Conditions: which case, which seed
//! ```
//!
//! The chart shows why the last CPU takes so much longer than the first: they queue for their
//! cluster's lock, flush one after another, and queue for the SCP.
//!
//! Run it with `cargo run -p soc --example parallel_suspend`.

use document::Document;
use psci_cases::{CASES, Mode};
use soc::config::Sources;
use soc::{Conditions, point_name, run};
use std::error::Error;
use std::path::Path;

/// Width of the chart in characters.
const WIDTH: u64 = 100;

/// The symbol of what a CPU does after a stamp; `None` if the stamp does not change it.
fn activity(point: &str) -> Option<char> {
    Some(match point {
        "enter-psci" | "lock-acquired" | "exit-cflush" | "scp-wait-end" => '-',
        "lock-wait" => 'l',
        "enter-cflush" => 'F',
        "scp-wait" => 's',
        "enter-hw-low-pwr" => 'w',
        "power-off" => ' ',
        _ => return None,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let platforms = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
    let open = |name: &str| Document::open(&platforms.join(name));
    let sources = Sources {
        platform: open("juno-r1.toml")?,
        release: open("juno-r1/releases/juno-v2.12.toml")?,
        costs: open("juno-r1/costs/juno-v2.12.toml")?,
    };
    let machine = sources.machine()?;
    let case = CASES
        .into_iter()
        .find(|case| case.name == "suspend-deepest" && case.mode == Mode::Parallel);
    let case = case.ok_or("there is no such case")?;
    let outcome = run(
        &machine,
        &Conditions {
            case,
            iterations: 1,
            seed: 1,
            order: Default::default(),
            events: u32::MAX,
            spread: false,
        },
    )?;

    // From the first CPU_SUSPEND to the moment when the last CPU has no power.
    let suspends = |event: &&soc::Event| {
        point_name(event.point) == "enter-psci" && smc_name(event.argument) == Some("CPU_SUSPEND")
    };
    let begin = outcome
        .events
        .iter()
        .find(suspends)
        .ok_or("nobody suspends")?
        .time;
    let off = |event: &&soc::Event| point_name(event.point) == "power-off" && event.time > begin;
    let cpus = &machine.platform.topology.cpus;
    let end = outcome
        .events
        .iter()
        .filter(off)
        .take(cpus.len())
        .map(|event| event.time)
        .max()
        .unwrap_or(begin + 1);

    println!(
        "- in PSCI   l waits for a lock, the cluster's or that of the SCP's channel   F flushes caches   s waits for the SCP   w waits in WFI\n"
    );
    for (number, cpu) in cpus.iter().enumerate() {
        let mut line = vec![' '; WIDTH as usize];
        let own = outcome.events.iter().filter(|event| {
            usize::from(event.cpu) == number && (begin..=end).contains(&event.time)
        });
        for (event, symbol) in
            own.filter_map(|event| Some((event, activity(point_name(event.point))?)))
        {
            let place = ((event.time - begin) * WIDTH / (end - begin)).min(WIDTH) as usize;
            line[place..].fill(symbol);
        }
        let stamps = outcome
            .measured
            .iter()
            .find(|measured| measured.cpu == number)
            .ok_or("a CPU has no stamps")?
            .stamps;
        let us = |from: usize, to: usize| {
            (stamps[to] - stamps[from]) * 1_000_000 / machine.platform.counter_frequency
        };
        println!(
            "CPU {number} {:10} {}  powerdown {:4} us, flush {:3} us, wakeup {:3} us",
            cpu.core_type,
            line.into_iter().collect::<String>(),
            us(0, 2),
            us(4, 5),
            us(3, 1),
        );
    }
    println!(
        "\nthe chart spans {} us; {} events in all",
        (end - begin) / 1_000_000,
        outcome.events.len()
    );
    Ok(())
}

fn smc_name(function: u32) -> Option<&'static str> {
    psci::id::name(function)
}
