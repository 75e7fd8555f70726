//! Cores that share a bus.
//!
//! ```text
//!   core 0 ──request──┐
//!   core 1 ──request──┼──▶ queue ──▶ bus: one transfer at a time ──wake──▶ the core that asked
//!   core 2 ──request──┘
//! ```
//!
//! Each core computes, asks the bus for a transfer and waits until it is done. Every core and the
//! bus is a process; time passes in [`Scheduler::advance`] and [`Scheduler::wait`] alone. The chart
//! shows how the slower the bus, the more the cores wait for it.
//!
//! Run it with `cargo run -p stopwatt-engine --example shared_bus`.

use engine::{PS_PER_US, Runner, Scheduler, Time};
use std::cell::RefCell;
use std::collections::VecDeque;

const CORES: usize = 3;
const BUS: usize = CORES;
const ROUNDS: u64 = 4;
/// Computing time of each core between two transfers, in us.
const COMPUTE: [Time; CORES] = [5, 7, 11];
/// Simulated time of one character of the chart, in us.
const STEP: Time = 1;

/// The activity of a core from one time to another.
struct Activity {
    core: usize,
    symbol: char,
    from: Time,
    to: Time,
}

fn simulate(transfer: Time) -> (Vec<Activity>, Time) {
    let activities = RefCell::new(Vec::new());
    let queue = RefCell::new(VecDeque::new());
    let scheduler = Scheduler::new(CORES + 1);
    let note = |core, symbol, from| {
        activities.borrow_mut().push(Activity {
            core,
            symbol,
            from,
            to: scheduler.now(),
        })
    };
    let main = |process: usize, _entry: u32| {
        if process == BUS {
            loop {
                let next = queue.borrow_mut().pop_front();
                let Some(core) = next else {
                    scheduler.wait(None);
                    continue;
                };
                let begin = scheduler.now();
                scheduler.advance(transfer * PS_PER_US);
                note(core, '#', begin);
                scheduler.wake(core);
            }
        }
        for _ in 0..ROUNDS {
            let begin = scheduler.now();
            scheduler.advance(COMPUTE[process] * PS_PER_US);
            note(process, '=', begin);
            queue.borrow_mut().push_back(process);
            scheduler.wake(BUS);
            scheduler.wait(None);
        }
    };
    // The bus waits for ever once the cores are done; that is no deadlock.
    scheduler.set_daemon(BUS, true);
    let mut runner = Runner::new(&scheduler, &main);
    (0..=BUS).for_each(|process| runner.start(process, 0));
    runner
        .run()
        .expect("the cores wait for the bus alone, and it serves them all");
    drop(runner);
    (activities.into_inner(), scheduler.now())
}

fn main() {
    println!("= computes   # has the bus   . waits for it   (one character is {STEP} us)");
    for transfer in [2, 5, 9] {
        let (activities, end) = simulate(transfer);
        println!(
            "\na transfer takes {transfer} us: all done after {} us",
            end / PS_PER_US
        );
        for core in 0..CORES {
            let own = || activities.iter().filter(|activity| activity.core == core);
            let last = own().map(|activity| activity.to).max().unwrap_or(0);
            let at = |time: Time| {
                own()
                    .find(|a| (a.from..a.to).contains(&time))
                    .map_or('.', |a| a.symbol)
            };
            let line: String = (0..last / (STEP * PS_PER_US))
                .map(|step| at(step * STEP * PS_PER_US))
                .collect();
            let waits = line.chars().filter(|&symbol| symbol == '.').count() as Time * STEP;
            println!("  core {core} {line:110} waits {waits:2} us");
        }
    }
}
