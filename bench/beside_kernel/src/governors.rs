//! Governors of CPUs and of power domains.
//!
//! The sources have a folder for each release, named after it, with menu.c, teo.c and gov.h from
//! `drivers/cpuidle/governors`, and the governor of domains. Both are told the same random steps;
//! ours is told the outcome of the kernel's choice, so that one difference does not make others.

use crate::Result;
use crate::kernel::{Kernel, shim};
use document::Document;
use idle::{
    DomainGovernor, DomainKind, DomainSituation, DomainState, Family, Kind, NEVER_NS, Release,
};
use idle_experiments::kernel_file::{KernelFile, Source};
use idle_experiments::platform::{LatencyLimit, Platform};
use idle_experiments::replay::{Chooser, Ideal, Unsaid, replay};
use idle_experiments::trace::TracedIntervals;
use sleeps::{Sleep, SleepLength as Length, Waker};
use std::fs;
use std::path::{Path, PathBuf};

/// Steps on one machine, after which there is another.
const STEPS_OF_MACHINE: u64 = 400;
/// Agreement that is asked for.
const LEAST: f64 = 0.999;
/// Ticks of kernels, in Hz; a kernel is compiled for each.
const TICKS_HZ: [u64; 3] = [100, 250, 1000];

/// Compares by steps.
pub fn run(sources: &Path, steps: u64) -> Result<bool> {
    let mut releases: Vec<(Release, PathBuf)> = Vec::new();
    for entry in fs::read_dir(sources)? {
        let path = entry?.path();
        releases.extend(
            path.file_name()
                .and_then(|name| Release::parse(name.to_str()?))
                .map(|release| (release, path)),
        );
    }
    releases.sort();
    let mut is_good = true;
    println!(
        "{:22} {:>8} {:>10} {:>10}",
        "governor", "steps", "same", "same tick"
    );
    for (release, folder) in &releases {
        for family in [Family::Menu, Family::Teo] {
            let source = folder.join(format!("{}.c", family.name()));
            if *release < family.oldest() || !source.is_file() {
                continue;
            }
            let kind = Kind::Dated(family, *release);
            let same = compare(&source, kind, steps)?;
            let share = |count: u64| count as f64 / steps as f64;
            is_good &= share(same.states) >= LEAST && share(same.choices) >= LEAST;
            println!(
                "{:22} {steps:>8} {:>9.3}% {:>9.3}%",
                kind.to_string(),
                100.0 * share(same.states),
                100.0 * share(same.choices)
            );
        }
        if let Some(source) = ["governor.c", "domain_governor.c"]
            .map(|name| folder.join(name))
            .iter()
            .find(|source| source.is_file())
        {
            let kind = DomainKind::Genpd(*release);
            let same = compare_domains(source, kind, *release < Release::new(5, 18), steps)? as f64
                / steps as f64;
            is_good &= same >= LEAST;
            println!("{:22} {steps:>8} {:>9.3}%", kind.to_string(), 100.0 * same);
        }
    }
    Ok(is_good)
}

/// Steps in which a domain enters the same state as with the kernel's code. Its timing data lie in
/// place in old releases.
fn compare_domains(source: &Path, kind: DomainKind, in_place: bool, steps: u64) -> Result<u64> {
    let mut random = fastrand::Rng::with_seed(1);
    let define = if in_place {
        "-DIN_PLACE"
    } else {
        "-DBEHIND_A_POINTER"
    };
    let mut kernel = compiled(source, define)?;
    let (mut same, mut states, mut governor) = (0, Vec::new(), DomainGovernor::new(kind));
    for step in 0..steps {
        if step % STEPS_OF_MACHINE == 0 {
            governor = DomainGovernor::new(kind);
            let mut state = DomainState::default();
            let deeper = |_| {
                state.off_ns += log_uniform(&mut random, 500, 5_000_000);
                state.on_ns += log_uniform(&mut random, 500, 5_000_000);
                state.residency_ns += log_uniform(&mut random, 500, 50_000_000);
                state
            };
            states = (0..1 + step / STEPS_OF_MACHINE % 4).map(deeper).collect();
            let each = states
                .iter()
                .map(|state| format!(" {} {} {}", state.off_ns, state.on_ns, state.residency_ns));
            kernel.tell(format_args!(
                "N {}{}",
                states.len(),
                each.collect::<String>()
            ))?;
        }
        let now = random.i64(0..1_000_000_000);
        let limit = |random: &mut fastrand::Rng| match random.u32(0..4) {
            0 => log_uniform(random, 1, 20_000) as i64,
            _ => i64::from(i32::MAX),
        };
        let (system, ipi_pending) = (limit(&mut random), random.u32(0..10) == 0);
        let cpus: Vec<(i64, i64)> = (0..random.u32(1..=8))
            .map(|_| {
                (
                    now - 1000 + log_uniform(&mut random, 500, 1_000_000_000) as i64,
                    limit(&mut random),
                )
            })
            .collect();
        let each = cpus
            .iter()
            .map(|(event, limit)| format!(" {event} {limit}"))
            .collect::<String>();
        let theirs = kernel.ask(format_args!(
            "S {now} {system} {} {}{each}",
            u8::from(ipi_pending),
            cpus.len()
        ))?;
        let least = |of: fn(&(i64, i64)) -> i64| cpus.iter().map(of).min().unwrap_or(0);
        let latency_limit_ns = system.min(least(|cpu| cpu.1)).unsigned_abs() * 1000;
        let situation = DomainSituation {
            idle_ns: least(|cpu| cpu.0) - now,
            latency_limit_ns,
            ipi_pending,
        };
        same += u64::from(governor.select(&states, &situation) == theirs.parse().ok());
    }
    Ok(same)
}

/// Steps in which both chose the same.
#[derive(Default)]
struct Same {
    states: u64,
    /// The same state, and the same for the tick.
    choices: u64,
}

/// Replays random intervals with the kernel's file and with ours, as `idle-replay` does.
fn compare(source: &Path, kind: Kind, steps: u64) -> Result<Same> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut same = Same::default();
    let source = Source::find(&source.to_string_lossy()).ok_or("no file of C")?;
    for hz in TICKS_HZ {
        let tick_ns = 1_000_000_000 / hz;
        let file = KernelFile::compile(&source, tick_ns)?;
        let of_tick = steps / TICKS_HZ.len() as u64
            + u64::from(hz == TICKS_HZ[0]) * (steps % TICKS_HZ.len() as u64);
        let mut made = 0;
        while made < of_tick {
            let platform = platform(&mut random)?;
            let count = STEPS_OF_MACHINE.min(of_tick - made);
            let traced = traced(&mut random, platform.state_names().count(), tick_ns, count);
            let unsaid = Unsaid {
                is_busy: random.bool(),
                is_taught: random.u8(0..4) == 0,
                ..Unsaid::TIMER
            };
            let asked = file.ask(&platform, &traced, unsaid, tick_ns)?;
            let [theirs, ours] = [Chooser::Asked(&asked), Chooser::Governor(kind)]
                .map(|of| replay(&platform, &traced, of, unsaid, tick_ns, &mut Ideal));
            let events = theirs.events[0].iter().zip(&ours.events[0]);
            let chosen = theirs.chosen[0].iter().zip(&ours.chosen[0]);
            for ((theirs, ours), (event, own_event)) in chosen.zip(events) {
                same.states += u64::from(theirs == ours);
                same.choices += u64::from(theirs == ours && event == own_event);
            }
            made += count;
        }
    }
    Ok(same)
}

/// States of some machine: with polling or without, two to six, some of them disabled, now and then
/// under a limit of latency; and a power domain, for which replays keep when the timer is due.
fn platform(random: &mut fastrand::Rng) -> Result<Platform> {
    let mut text =
        "name = \"random\"\ntitle = \"\"\n[[domain]]\nname = \"d\"\ncpus = [0]\nsource = \"\"\n"
            .to_owned();
    let mut state = |entry_us: u64, exit_us: u64, residency_us: u64, polling: bool| {
        text += &format!(
            "[[domain.state]]\nname = \"{}\"\nentry_us = {entry_us}\nexit_us = {exit_us}\nresidency_us = {residency_us}\npolling = {polling}\nsource = \"\"\n",
            text.len()
        );
    };
    let mut disabled = Vec::new();
    if random.bool() {
        state(0, 0, 0, true);
    }
    let mut residency_us = 0;
    for number in 0..random.u64(2..=5) {
        residency_us += 1 + log_uniform(random, 1, if number == 0 { 30 } else { 20_000 });
        state(
            0,
            log_uniform(random, 1, 1 + residency_us),
            residency_us,
            false,
        );
    }
    text += "[[power_domain]]\nname = \"p\"\ncpus = [0]\nsource = \"\"\n[[power_domain.state]]\nname = \"off\"\nentry_us = 1\nexit_us = 1\nresidency_us = 1\nsource = \"\"\n";
    let mut platform = Platform::read(&Document::new("random", text))?;
    disabled.extend(
        platform
            .state_names()
            .filter(|_| random.u32(0..12) == 0)
            .map(str::to_owned),
    );
    // One state must be left.
    let _ = platforms::disable(&mut platform, &disabled);
    platform.latency_limit = (random.u32(0..4) == 0).then(|| LatencyLimit {
        cpus: Vec::new(),
        ns: log_uniform(random, 1_000, 30_000_000),
    });
    Ok(platform)
}

/// Intervals of a CPU whose timers and interrupts come in some pattern for a while, with what its
/// kernel chose and learnt.
fn traced(random: &mut fastrand::Rng, states: usize, tick_ns: u64, count: u64) -> TracedIntervals {
    let (mut timer_ns, mut interrupt_ns, mut jitter, mut now_ns) = (0, 0, 0, 0);
    let mut refused = Vec::new();
    let mut one = |number: u64| {
        if number % 20 == 0 {
            timer_ns = log_uniform(random, 1_000, 1_000_000_000);
            interrupt_ns = log_uniform(random, 1_000, 100_000_000);
            jitter = [0, 1, 10, 100, 190][random.usize(0..5)];
        }
        let mut around = |ns: u64| {
            let spread = ns / 100 * jitter;
            ns - spread / 2 + if spread > 0 { random.u64(0..spread) } else { 0 }
        };
        let (timer_ns, interrupt_ns) = (around(timer_ns), around(interrupt_ns));
        let timer_ns = match random.u32(0..20) {
            0 => NEVER_NS,
            1 => log_uniform(random, 100, 10_000_000_000),
            _ => timer_ns,
        };
        let tick_stopped = random.u32(0..3) == 0;
        let to_tick_ns = random.u64(0..=tick_ns);
        let until_ns = if random.bool() {
            timer_ns
        } else {
            timer_ns.min(to_tick_ns)
        };
        let enter_ns = now_ns;
        now_ns += 1 + until_ns.min(interrupt_ns) + random.u64(0..2_000);
        if random.u32(0..30) == 0 {
            refused.push(number as usize);
        }
        Sleep {
            cpu: 0,
            state: random.usize(0..states) as u8,
            enter_ns,
            exit_ns: now_ns,
            length: Length::Known {
                timer_ns,
                tick_ns: (!tick_stopped).then_some(to_tick_ns),
            },
            tick_stopped: Some(tick_stopped),
            got_tick: Some(random.u32(0..4) == 0),
            sleeps_without_tick: None,
            timer_armed_ns: None,
            utilised: Some(random.bool()),
            waker: Waker::Unknown,
        }
    };
    let sleeps: Vec<Sleep> = (0..count).map(&mut one).collect();
    let mut traced = TracedIntervals::from_sleeps(sleeps);
    traced.refused = vec![refused];
    traced
}

fn log_uniform(random: &mut fastrand::Rng, from: u64, to: u64) -> u64 {
    let (from, to) = ((from as f64).ln(), (to as f64).ln());
    (from + random.f64() * (to - from)).exp() as u64
}

/// The kernel's governor of power domains, compiled with a driver: each header that it includes is
/// the shim's.
fn compiled(source: &Path, define: &str) -> Result<Kernel> {
    let shim = shim("governors");
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let build = source.with_file_name(format!("build-{stem}{define}"));
    for line in fs::read_to_string(source)?.lines() {
        let include = line.strip_prefix("#include <");
        if let Some((header, _)) = include.and_then(|rest| rest.split_once('>')) {
            let path = build.join(header);
            fs::create_dir_all(path.parent().unwrap_or(&build))?;
            fs::write(path, "#include \"genpd.h\"\n")?;
        }
    }
    let driver = shim.join("genpd.c");
    Kernel::compiled(
        &shim,
        &build,
        [define.as_ref(), source.as_os_str(), driver.as_os_str()],
    )
}
