//! Governors of CPUs and of power domains.
//!
//! The sources have a folder for each release, named after it, with menu.c, teo.c and gov.h from
//! `drivers/cpuidle/governors`, and the governor of domains. Both are told the same random steps;
//! ours is told the outcome of the kernel's choice, so that one difference does not make others.

use crate::Result;
use crate::kernel::{Kernel, shim};
use idle::{
    Choice, DomainGovernor, DomainKind, DomainSituation, DomainState, Family, Governor, Kind,
    KnownSituation, NEVER_NS, NO_LIMIT_NS, Outcome, Release, SleepLength, State, States,
};
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
    let mut kernel = compiled(source, "genpd", define)?;
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

fn compare(source: &Path, kind: Kind, steps: u64) -> Result<Same> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut same = Same::default();
    for hz in TICKS_HZ {
        let mut kernel = compiled(source, "driver", &format!("-DHZ={hz}"))?;
        let of_tick = steps / TICKS_HZ.len() as u64
            + u64::from(hz == TICKS_HZ[0]) * (steps % TICKS_HZ.len() as u64);
        let mut made = 0;
        while made < of_tick {
            let states = states(&mut random);
            let mut machine = Machine::new(1_000_000_000 / hz, states);
            let mut governor = Governor::new(kind, &states, machine.tick_ns);
            start(&mut kernel, &states)?;
            for _ in 0..STEPS_OF_MACHINE.min(of_tick - made) {
                let mut situation = machine.situation(&mut random);
                let theirs = select(&mut kernel, &situation)?;
                let ours = governor.select(&states, &mut situation);
                let is_state = ours.state == theirs.state;
                let is_tick = machine.stopped || ours.stop_tick == theirs.stop_tick;
                same.states += u64::from(is_state);
                same.choices += u64::from(is_state && is_tick);
                let outcome = machine.outcome(&mut random, theirs, &situation);
                governor.reflect(&states, &outcome);
                reflect(&mut kernel, &outcome)?;
                made += 1;
            }
        }
    }
    Ok(same)
}

/// States of some machine: with polling or without, two to six, some of them disabled.
fn states(random: &mut fastrand::Rng) -> States {
    let mut states = Vec::new();
    if random.bool() {
        states.push(State::polling());
    }
    let (mut residency_ns, mut latency_ns) = (0, 0);
    for number in 0..random.usize(2..=5) {
        residency_ns += log_uniform(random, 500, if number == 0 { 30_000 } else { 20_000_000 });
        latency_ns += log_uniform(random, 500, 1_000 + residency_ns);
        states.push(State::new(latency_ns, residency_ns));
    }
    for state in &mut states {
        state.disabled = random.u32(0..12) == 0;
    }
    States::new(&states).expect("residencies grow")
}

fn log_uniform(random: &mut fastrand::Rng, from: u64, to: u64) -> u64 {
    let (from, to) = ((from as f64).ln(), (to as f64).ln());
    (from + random.f64() * (to - from)).exp() as u64
}

/// A CPU whose timers and interrupts come in some pattern for a while.
struct Machine {
    tick_ns: u64,
    states: States,
    stopped: bool,
    /// The usual time to the next timer and to the next interrupt; jitter in percent.
    timer_ns: u64,
    interrupt_ns: u64,
    jitter: u64,
    left: u32,
}

impl Machine {
    fn new(tick_ns: u64, states: States) -> Self {
        Self {
            tick_ns,
            states,
            stopped: false,
            timer_ns: 0,
            interrupt_ns: 0,
            jitter: 0,
            left: 0,
        }
    }

    fn around(&self, random: &mut fastrand::Rng, ns: u64) -> u64 {
        let spread = ns / 100 * self.jitter;
        ns - spread / 2 + if spread > 0 { random.u64(0..spread) } else { 0 }
    }

    fn situation(&mut self, random: &mut fastrand::Rng) -> KnownSituation {
        if self.left == 0 {
            self.left = random.u32(1..40);
            self.timer_ns = log_uniform(random, 1_000, 1_000_000_000);
            self.interrupt_ns = log_uniform(random, 1_000, 100_000_000);
            self.jitter = [0, 1, 10, 100, 190][random.usize(0..5)];
        }
        self.left -= 1;
        let timer_ns = match random.u32(0..20) {
            0 => NEVER_NS,
            1 => log_uniform(random, 100, 10_000_000_000),
            _ => self.around(random, self.timer_ns),
        };
        // With the tick stopped, the next event is the next timer.
        let event_ns = if self.stopped {
            timer_ns
        } else {
            timer_ns.min(random.u64(0..=self.tick_ns))
        };
        KnownSituation {
            latency_limit_ns: match random.u32(0..20) {
                0 => 0,
                1 => log_uniform(random, 1_000, 30_000_000),
                2 => {
                    self.states
                        .get(random.usize(0..self.states.len()))
                        .exit_latency_ns
                }
                _ => NO_LIMIT_NS,
            },
            io_waiters: if random.u32(0..5) == 0 {
                random.u32(1..4)
            } else {
                0
            },
            tick_stopped: self.stopped,
            utilised: random.bool(),
            ..KnownSituation::new(SleepLength { timer_ns, event_ns })
        }
    }

    fn outcome(
        &mut self,
        random: &mut fastrand::Rng,
        choice: Choice,
        situation: &KnownSituation,
    ) -> Outcome {
        let stops = self.stopped || choice.stop_tick;
        // The tick is restarted when something is to run, and stays stopped through other wake-ups.
        self.stopped = stops && random.u32(0..3) > 0;
        if random.u32(0..30) == 0 {
            return Outcome::refused();
        }
        let state = self.states.get(choice.state);
        let (timer_ns, event_ns) = (
            situation.sleep_length.timer_ns,
            situation.sleep_length.event_ns,
        );
        let interrupt_ns = self.around(random, self.interrupt_ns);
        let until_ns = if stops { timer_ns } else { event_ns };
        let stay_ns = until_ns.min(interrupt_ns) + random.u64(0..=state.exit_latency_ns);
        let got_tick = !stops && event_ns < timer_ns && event_ns <= interrupt_ns;
        let polled_to_limit = state.polling && random.u32(0..4) == 0;
        Outcome {
            got_tick,
            polled_to_limit,
            since_choice_ns: stay_ns + random.u64(0..2_000),
            ..Outcome::stay(choice.state, stay_ns)
        }
    }
}

/// The kernel's governor, compiled with a driver: each header that it includes is the shim's.
fn compiled(source: &Path, driver: &str, define: &str) -> Result<Kernel> {
    // The driver and its headers are those of `idle-replay`.
    let product =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/experiments/idle/kernel");
    let folder = match driver {
        "genpd" => shim("governors"),
        _ => product.clone(),
    };
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let build = source.with_file_name(format!("build-{stem}{define}"));
    let headers = if driver == "genpd" { driver } else { "shim" };
    for line in fs::read_to_string(source)?.lines() {
        let include = line.strip_prefix("#include <");
        if let Some((header, _)) = include.and_then(|rest| rest.split_once('>')) {
            let path = build.join(header);
            fs::create_dir_all(path.parent().unwrap_or(&build))?;
            fs::write(path, format!("#include \"{headers}.h\"\n"))?;
        }
    }
    let driver = folder.join(format!("{driver}.c"));
    Kernel::compiled(
        &[folder, product],
        &build,
        [define.as_ref(), source.as_os_str(), driver.as_os_str()],
    )
}

fn start(kernel: &mut Kernel, states: &States) -> Result<()> {
    let each = states.all().iter().map(|state| {
        let State {
            exit_latency_ns,
            target_residency_ns,
            polling,
            disabled,
            ..
        } = state;
        format!(
            " {exit_latency_ns} {target_residency_ns} {} {}",
            u8::from(*polling),
            u8::from(*disabled)
        )
    });
    kernel.tell(format_args!(
        "N {}{}",
        states.len(),
        each.collect::<String>()
    ))
}

fn select(kernel: &mut Kernel, situation: &KnownSituation) -> Result<Choice> {
    let SleepLength { timer_ns, event_ns } = situation.sleep_length;
    let (stopped, limit_ns) = (u8::from(situation.tick_stopped), situation.latency_limit_ns);
    let (waiters, utilised) = (situation.io_waiters, u8::from(situation.utilised));
    let answer = kernel.ask(format_args!(
        "S {timer_ns} {event_ns} {stopped} {limit_ns} {waiters} {utilised}"
    ))?;
    let (state, stop_tick) = answer
        .split_once(' ')
        .ok_or("no choice of a state and the tick")?;
    Ok(Choice {
        state: state.parse()?,
        stop_tick: stop_tick == "1",
    })
}

fn reflect(kernel: &mut Kernel, outcome: &Outcome) -> Result<()> {
    let entered = outcome
        .entered
        .map_or_else(|| "-1".to_owned(), |state| state.to_string());
    let (got_tick, polled) = (
        u8::from(outcome.got_tick),
        u8::from(outcome.polled_to_limit),
    );
    kernel.tell(format_args!(
        "R {entered} {} {} {got_tick} {polled}",
        outcome.residency_ns, outcome.since_choice_ns
    ))
}
