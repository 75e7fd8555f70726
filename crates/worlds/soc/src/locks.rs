//! Do the locks of the PSCI library exclude, whoever goes next? Tried with random schedules on the simulated machine.

use crate::Soc;
use crate::chooser::{Explore, RandomWithinWindow};
use crate::config::{Document, Machine, Sources};
use engine::Runner;
use psci::CpuIndex;
use psci::lock::{BakeryWord, Lock, PLATFORM_LOCK, Ticket};
use std::cell::Cell;
use std::path::Path;

fn machine() -> Machine {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../platforms");
    let open = |name: &str| Document::open(&root.join(name)).unwrap();
    let mut sources = Sources {
        platform: open("juno-r1.toml"),
        release: open("juno-r1/releases/juno-v2.12.toml"),
        costs: open("juno-r1/costs/juno-v2.12.toml"),
    };
    sources.set("topology.clusters", "1x3").unwrap();
    sources.machine().unwrap()
}

/// Three CPUs take a lock three times each, with their caches on as told. Returns how often one found another inside.
fn intrusions(machine: &Machine, lock: &Lock<'_, Soc>, caches_on: [bool; 3], explore: Explore) -> u32 {
    let soc = Soc::new(machine, 0);
    soc.cpus.iter().zip(caches_on).for_each(|(cpu, on)| cpu.caches_on.set(on));
    let (inside, intrusions) = (Cell::new(0), Cell::new(0));
    let main = |cpu: usize, _| {
        for _ in 0..3 {
            lock.acquire(&soc, CpuIndex(cpu as u16));
            intrusions.set(intrusions.get() + inside.get());
            inside.set(inside.get() + 1);
            (0..4).for_each(|_| soc.advance(1000));
            inside.set(inside.get() - 1);
            lock.release(&soc, CpuIndex(cpu as u16));
        }
    };
    let mut runner = Runner::with_chooser(&soc.scheduler, &main, RandomWithinWindow::new(explore));
    (0..3).for_each(|cpu| runner.start(cpu, 0));
    runner.run().unwrap();
    intrusions.get()
}

#[test]
fn a_bakery_excludes_under_random_schedules() {
    let machine = machine();
    for caches_on in [[false; 3], [true, false, true]] {
        for seed in 0..300 {
            let words: Vec<BakeryWord<Soc>> = (0..3).map(|_| BakeryWord::new()).collect();
            let lock = Lock::bakery(PLATFORM_LOCK, &words, CpuIndex(0));
            let explore = if seed % 2 == 0 { Explore::Uniform(seed) } else { Explore::PassingOver(seed) };
            assert_eq!(intrusions(&machine, &lock, caches_on, explore), 0, "{explore:?}, caches {caches_on:?}");
        }
    }
}

#[test]
fn a_ticket_lock_excludes_under_random_schedules() {
    let machine = machine();
    for seed in 0..300 {
        let ticket = Ticket::new();
        let lock = Lock::ticket(PLATFORM_LOCK, &ticket);
        assert_eq!(intrusions(&machine, &lock, [true; 3], Explore::Uniform(seed)), 0, "seed {seed}");
    }
}
