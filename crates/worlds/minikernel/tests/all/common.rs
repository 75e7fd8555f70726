//! TC2, and workloads for it.
#![allow(dead_code, reason = "each test file uses some of it")]

use document::Document;
use minikernel::placement::{Placement, StayPut};
use minikernel::*;
use soc::config::{IdlePlatform, Sources};
use std::path::Path;

pub const BIG: [usize; 2] = [0, 1];
pub const LITTLE: [usize; 3] = [2, 3, 4];
pub const SECOND: u64 = 1_000_000_000;
pub const MS: u64 = 1_000_000;
pub const US: u64 = 1_000;

/// TC2 with round trips at a part of their range.
pub fn tc2(part: u64) -> Hardware {
    hardware("tc2", "tc2-borrowed", "tc2", part).unwrap()
}

/// A platform with idle states of a name.
pub fn hardware(platform: &str, release: &str, idle: &str, part: u64) -> Result<Hardware, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
    let open = |name: String| Document::open(&root.join(name)).unwrap();
    let sources = Sources {
        platform: open(format!("{platform}.toml")),
        release: open(format!("{platform}/releases/{release}.toml")),
        costs: open(format!("{platform}/costs/{release}.toml")),
    };
    let idle = IdlePlatform::read(&open(format!("idle/{idle}.toml"))).unwrap();
    Hardware::new(&sources.machine().unwrap(), &idle, part)
}

/// A tick of 6 ms, and a worker that computes after every fifth: what playing music looks like.
pub fn audio() -> Workload {
    let work = |us: u64| Action::Run {
        time: Draw::Uniform {
            low: us * 900,
            high: us * 1100,
        },
        capacity: 430,
    };
    let tick = Action::Timer {
        timer: 0,
        period: 6 * MS,
        relative: false,
    };
    let mut actions = Vec::new();
    for _ in 0..4 {
        actions.extend([tick, work(100)]);
    }
    actions.extend([tick, work(300), Action::Resume(0)]);
    let worker = vec![
        Action::Suspend(0),
        work(5_000),
        work(300),
        work(1_150),
        work(300),
    ];
    Workload {
        tasks: vec![
            TaskSpec::forever("tick", actions).on(CpuSet::one(2)),
            TaskSpec::forever("worker", worker).on(CpuSet::one(3)),
        ],
        conditions: 1,
        ..Workload::default()
    }
}

/// Runs a workload whose tasks stay where they are.
pub fn run_put(
    hardware: &Hardware,
    settings: &Settings,
    workload: &Workload,
    time_ns: u64,
) -> Outcome {
    let outcome = run(
        hardware,
        settings,
        workload,
        Box::new(StayPut),
        None,
        time_ns,
    )
    .unwrap();
    assert_eq!(
        outcome.total(),
        outcome.integral,
        "the owners' sum is the integral"
    );
    outcome
}

/// Runs a workload under a policy.
pub fn run_with(
    hardware: &Hardware,
    settings: &Settings,
    workload: &Workload,
    placement: impl Placement + 'static,
    time_ns: u64,
) -> Outcome {
    let outcome = run(
        hardware,
        settings,
        workload,
        Box::new(placement),
        None,
        time_ns,
    )
    .unwrap();
    assert_eq!(
        outcome.total(),
        outcome.integral,
        "the owners' sum is the integral"
    );
    outcome
}

pub fn free() -> Costs {
    Costs {
        context_switch: 0,
        interrupt: 0,
        timer: 0,
        tick: 0,
        wake_up: 0,
        system_call: 0,
        idle_turn: 0,
        ipi: 0,
        queue_callback: 0,
        callback_softirq: 0,
        callback: 0,
        rcu_thread: 0,
        migration: 0,
    }
}
