//! What a trace leaves out makes the figures of a replay wider, and excludes none that the whole trace
//! gives: traces as a kernel writes them, with ticks that stop, timers of both kinds, and interrupts.

use super::{json, written};
use crate::law::holds;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

const TICK_US: u64 = 4_000;

/// Groups of events that a trace may lack.
const GROUPS: [&str; 12] = [
    "hrtimer_",
    "hrtimer_start",
    "hrtimer_cancel",
    "hrtimer_expire_entry",
    "timer_",
    "timer_expire_entry",
    "tick_stop",
    "irq_handler_",
    "ipi_",
    "sched_switch",
    "sched_wakeup",
    "cpu_idle_miss",
];

/// A sleep: state, what wakes the CPU if no timer does (us), the task's timer (us), the wheel's timer
/// (ticks), whether the tick is stopped, the work before the sleep (us), and how it may go on.
#[derive(Clone, Debug)]
struct Plan {
    state: usize,
    device_us: u64,
    timer_us: Option<u64>,
    wheel_ticks: Option<u64>,
    stops_tick: bool,
    work_us: u64,
    is_ipi: bool,
}

const EXITS_US: [u64; 3] = [1, 350, 1200];

fn plan() -> impl Strategy<Value = Plan> + Clone {
    (
        0..3_usize,
        prop_oneof![20..400_u64, 400..9_000_u64, 9_000..60_000_u64],
        prop::option::of(prop_oneof![30..900_u64, 900..30_000_u64]),
        prop::option::weighted(0.3, 1..12_u64),
        any::<bool>(),
        30..900_u64,
        any::<bool>(),
    )
        .prop_map(
            |(state, device_us, timer_us, wheel_ticks, stops_tick, work_us, is_ipi)| Plan {
                state,
                device_us,
                timer_us,
                wheel_ticks,
                stops_tick,
                work_us,
                is_ipi,
            },
        )
}

/// A CPU that lives through plans, and writes what its kernel would trace.
struct Cpu<'g> {
    number: usize,
    at: u64,
    /// When its timers fire: the tick's, the task's, the wheel's.
    tick: Option<u64>,
    timer: Option<u64>,
    wheel: Option<u64>,
    is_stopped: bool,
    gone: &'g [&'g str],
    lines: Vec<(u64, String)>,
}

impl Cpu<'_> {
    fn line(&mut self, what: &str) {
        if !self.gone.iter().any(|group| what.starts_with(group)) {
            let (cpu, at) = (self.number, self.at);
            let (s, us) = (at / 1_000_000, at % 1_000_000);
            self.lines.push((
                at,
                format!("          <idle>-0       [{cpu:03}] d..1. {s}.{us:06}: {what}\n"),
            ));
        }
        self.at += 1;
    }

    fn hrtimer(&mut self, what: &str, is_tick: bool, rest: &str) {
        let (number, function) = if is_tick {
            (1, "tick_sched_timer")
        } else {
            (2, "hrtimer_wakeup")
        };
        let timer = format!("hrtimer=000000000000{number}{:03}", self.number);
        let function = if what == "cancel" {
            String::new()
        } else {
            format!(" function={function}")
        };
        self.line(&format!("hrtimer_{what}: {timer}{function}{rest}"));
    }

    fn start(&mut self, is_tick: bool, at: u64) {
        self.hrtimer(
            "start",
            is_tick,
            &format!(" expires={0} softexpires={0} mode=ABS", at * 1000),
        );
        if is_tick {
            self.tick = Some(at)
        } else {
            self.timer = Some(at)
        }
    }

    fn next_tick(&self) -> u64 {
        (self.at / TICK_US + 1) * TICK_US
    }

    fn jiffies(&self) -> u64 {
        4_294_890_000 + self.at / TICK_US
    }

    /// Handles the timers that are due; `true` if a task is to run.
    fn timers(&mut self) -> bool {
        self.line("irq_handler_entry: irq=11 name=arch_timer");
        let (mut wakes, mut ran_wheel) = (false, false);
        for is_tick in [true, false] {
            let due = if is_tick { self.tick } else { self.timer };
            if due.is_none_or(|due| due > self.at) {
                continue;
            }
            let now = format!(" now={}", self.at * 1000);
            self.hrtimer("expire_entry", is_tick, &now);
            if is_tick {
                self.tick = None;
                ran_wheel = true;
                if !self.is_stopped {
                    let next = self.next_tick();
                    self.start(true, next);
                }
            } else {
                self.timer = None;
                wakes = true;
                self.wakeup();
            }
        }
        self.line("irq_handler_exit: irq=11 ret=handled");
        if ran_wheel && self.wheel.is_some_and(|at| at <= self.at) {
            let (number, jiffies) = (self.number, self.jiffies());
            self.line(&format!("timer_cancel: timer=00000000000070{number:02}"));
            self.line(&format!("timer_expire_entry: timer=00000000000070{number:02} function=process_timeout now={jiffies} baseclk={jiffies}"));
            self.wheel = None;
            self.wakeup();
            wakes = true;
        }
        wakes
    }

    fn wakeup(&mut self) {
        let number = self.number;
        self.line(&format!(
            "sched_wakeup: comm=w pid={} prio=120 target_cpu={number:03}",
            20 + number
        ));
    }

    fn switch(&mut self, is_task: bool) {
        let (cpu, pid) = (self.number, 20 + self.number);
        let task = ("w".to_owned(), pid);
        let idle = (format!("swapper/{cpu}"), 0);
        let (from, to) = if is_task { (idle, task) } else { (task, idle) };
        let state = if is_task { "R" } else { "S" };
        self.line(&format!("sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={state} ==> next_comm={} next_pid={} next_prio=120", from.0, from.1, to.0, to.1));
    }

    fn due(&self) -> u64 {
        self.tick
            .into_iter()
            .chain(self.timer)
            .min()
            .unwrap_or(u64::MAX)
    }

    /// A task works, and ticks come.
    fn work(&mut self, plan: &Plan) {
        let end = self.at + plan.work_us;
        while self.due() < end {
            self.at = self.at.max(self.due());
            self.timers();
        }
        self.at = self.at.max(end);
        if let Some(timer_us) = plan.timer_us {
            if self.timer.is_some() {
                self.hrtimer("cancel", false, "");
            }
            let at = self.at + timer_us;
            self.start(false, at);
        }
        if let Some(ticks) = plan.wheel_ticks.filter(|_| self.wheel.is_none()) {
            let (number, now) = (self.number, self.jiffies());
            self.line(&format!("timer_start: timer=00000000000070{number:02} function=process_timeout expires={} [timeout={ticks}] cpu={number} idx=1 flags=", now + ticks));
            self.wheel = Some((self.at / TICK_US + ticks) * TICK_US);
        }
        self.switch(false);
    }

    /// Sleeps until a task is to run.
    fn sleep(&mut self, plan: &Plan) {
        let device = self.at + plan.device_us;
        loop {
            if plan.stops_tick
                && !self.is_stopped
                && self.wheel.is_none_or(|at| at > self.next_tick())
            {
                self.is_stopped = true;
                self.line("tick_stop: success=1 dependency=NONE");
                self.hrtimer("cancel", true, "");
                self.tick = None;
            }
            if self.is_stopped
                && self.tick != self.wheel
                && let Some(at) = self.wheel
            {
                self.start(true, at.max(self.at));
            }
            let cpu = self.number;
            self.line(&format!("cpu_idle: state={} cpu_id={cpu}", plan.state));
            let from = self.at;
            let end = device.min(self.due()).max(from);
            self.at = end + (EXITS_US[plan.state] * (end % 7) / 7).min(end - from);
            self.line(&format!("cpu_idle: state=4294967295 cpu_id={cpu}"));
            if self.due() <= self.at {
                if self.timers() {
                    break;
                }
            } else if device <= self.at {
                break;
            }
        }
        if device <= self.at {
            self.device(plan.is_ipi);
        }
        if self.is_stopped {
            if self.tick.is_some() {
                self.hrtimer("cancel", true, "");
            }
            let next = self.next_tick();
            self.start(true, next);
            self.is_stopped = false;
        }
        self.switch(true);
    }

    fn device(&mut self, is_ipi: bool) {
        if is_ipi {
            self.line("ipi_entry: (Rescheduling interrupts)");
            self.wakeup();
            self.line("ipi_exit: (Rescheduling interrupts)");
        } else {
            self.line("irq_handler_entry: irq=150 name=eth0");
            self.wakeup();
            self.line("irq_handler_exit: irq=150 ret=handled");
        }
    }
}

fn trace(plans: &[Vec<Plan>], governor: &str, gone: &[&str]) -> String {
    let mut lines = Vec::new();
    for (number, plans) in plans.iter().enumerate() {
        let mut cpu = Cpu {
            number,
            at: 100_000_000 + 13 * number as u64,
            tick: None,
            timer: None,
            wheel: None,
            is_stopped: false,
            gone,
            lines: Vec::new(),
        };
        let next = cpu.next_tick();
        cpu.start(true, next);
        for plan in plans {
            cpu.work(plan);
            cpu.sleep(plan);
        }
        lines.extend(cpu.lines);
    }
    lines.sort_by_key(|(at, _)| *at);
    let states = [
        ("WFI", 1, 1),
        ("cpu-sleep", 350, 750),
        ("cluster-sleep", 1200, 3000),
    ];
    let state = |(at, (name, exit, residency)): (usize, &(&str, u32, u32))| {
        format!("# idle-state: {at} {name} latency {exit} us residency {residency} us\n")
    };
    let states: String = states.iter().enumerate().map(state).collect();
    let lines: String = lines.into_iter().map(|(_, line)| line).collect();
    format!(
        "# kernel-release: 6.12.0\n# idle-governor: {governor}\n{states}# tracer: nop\n#\n{lines}"
    )
}

fn replayed(folder: &Path, text: &str, governors: &str, platform: &str) -> Value {
    let file = written(folder, "bounds.trace", text);
    let recording = folder.join("bounds").to_str().unwrap().to_owned();
    let governors = if governors.is_empty() {
        vec![]
    } else {
        vec!["--governors", governors]
    };
    let arguments = [
        "run",
        "idle-replay",
        &file,
        "--platform",
        platform,
        "--replace",
        "-o",
        &recording,
    ];
    json(&[&arguments, &governors[..]].concat())
}

/// Both ends of a figure.
fn ends(figure: &Value) -> Option<[f64; 2]> {
    let end = |key: &str| figure[key].as_f64();
    let known = figure.as_f64().map(|known| [known; 2]);
    known.or_else(|| Some([end("low")?, end("high")?]))
}

/// The figures of a governor, with their names.
fn figures(governor: &Value) -> Vec<(String, [f64; 2])> {
    let of = |what: &Value, name: String, key: &str| Some((name + key, ends(&what[key])?));
    let mut all = Vec::new();
    for key in ["above", "below", "energy_unit_s", "energy_j"] {
        all.extend(of(governor, String::new(), key));
    }
    for key in ["p50", "p99"] {
        all.extend(of(&governor["delay_us"], "delay ".to_owned(), key));
    }
    for state in governor["states"].as_array().unwrap() {
        for key in ["entered", "residency_us", "above", "below"] {
            all.extend(of(state, format!("{} ", state["name"]), key));
        }
    }
    all
}

const GOVERNORS: &str = "menu@5.10,menu@6.1,menu@6.12.117,menu@6.15,menu@7.1,teo@5.14,teo@6.6,teo@6.12,teo@6.15,teo@7.1,ladder,always-deepest";

#[test]
fn a_trace_that_says_less_bounds_all_that_the_whole_one_gives() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = (
        prop::collection::vec(prop::collection::vec(plan(), 3..14), 1..3),
        prop::sample::subsequence(GROUPS.to_vec(), 1..5),
        prop::sample::select(vec!["menu", "teo", "ladder"]),
        prop::sample::select(vec!["", GOVERNORS]),
        prop::sample::select(vec!["juno-r2", "sc7180"]),
    );
    holds(
        12,
        "run idle-replay, bounds",
        6,
        inputs,
        |(plans, gone, own, governors, platform)| {
            let of = |gone: &[&str]| {
                replayed(
                    folder.path(),
                    &trace(&plans, own, gone),
                    governors,
                    platform,
                )
            };
            let (whole, less) = (of(&[]), of(&gone));
            let rows = |replay: &Value| {
                let of = |key: &str| replay[key].as_array().cloned().unwrap_or_default();
                [of("governors"), of("power_domains")].concat()
            };
            for (whole, less) in rows(&whole).iter().zip(&rows(&less)) {
                prop_assert_eq!(&whole["name"], &less["name"]);
                for ((name, [low, high]), (_, outer)) in
                    figures(whole).into_iter().zip(figures(less))
                {
                    let off = 1e-6 * high.abs();
                    prop_assert!(
                        outer[0] <= low + off && high <= outer[1] + off,
                        "without {gone:?}, {} {name}: {low} to {high} within {outer:?}",
                        whole["name"]
                    );
                }
            }
            Ok(())
        },
    );
}
