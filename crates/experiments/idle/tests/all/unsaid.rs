//! What a trace does not say is an end of the interval: no interval excludes what the kernel did.

use document::Document;
use idle::Kind;
use idle_experiments::energy::{Segments, energy};
use idle_experiments::envelope::Envelope;
use idle_experiments::platform::Platform;
use idle_experiments::replay::{Chooser, Ideal, Unsaid, replay};
use idle_experiments::trace::TracedIntervals;
use sleeps::{Sleep, SleepLength};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const TICK_NS: u64 = 4_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn guest_platform() -> Platform {
    Platform::read(&Document::open(&root().join("data/platforms/idle/qemu-virt.toml")).unwrap())
        .unwrap()
}

/// A server's states: POLL, C1 and C2.
fn server() -> Platform {
    let mut text =
        "name = \"server\"\ntitle = \"\"\n[[domain]]\nname = \"d\"\ncpus = [0, 1, 2, 3]\nsource = \"\"\n".to_owned();
    for (name, exit, residency, polling) in [
        ("POLL", 0, 0, true),
        ("C1", 1, 1, false),
        ("C2", 41, 123, false),
    ] {
        let _ = write!(
            text,
            "[[domain.state]]\nname = \"{name}\"\nentry_us = 0\nexit_us = {exit}\nresidency_us = {residency}\npolling = {polling}\nsource = \"\"\n"
        );
    }
    Platform::read(&Document::new("server", text)).unwrap()
}

fn opened(name: &str, text: &str) -> TracedIntervals {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    TracedIntervals::open(&path).unwrap()
}

/// The least and the greatest number of entries into each state, over what the trace does not say.
fn entries(
    platform: &Platform,
    traced: &TracedIntervals,
    kind: Kind,
    own: bool,
) -> Vec<(u64, u64)> {
    let chooser = Chooser::Governor(kind);
    let one = || {
        replay(
            platform,
            traced,
            chooser,
            Unsaid::TIMER,
            TICK_NS,
            &mut Ideal,
        )
        .states
    };
    let segments = Segments::new(platform, traced);
    let [least, most] = Envelope::new(platform, traced, &segments, kind, own, TICK_NS)
        .map_or_else(|| [one(), one()], |envelope| envelope.states);
    least
        .iter()
        .zip(&most)
        .map(|(least, most)| (least.entered, most.entered))
        .collect()
}

fn recorded(platform: &Platform, traced: &TracedIntervals) -> Vec<u64> {
    let replayed = replay(
        platform,
        traced,
        Chooser::Recorded,
        Unsaid::TIMER,
        TICK_NS,
        &mut Ideal,
    );
    replayed.states.iter().map(|usage| usage.entered).collect()
}

#[test]
fn no_interval_of_a_stored_trace_excludes_what_its_kernel_did() {
    let platform = guest_platform();
    let data = root().join("crates/record/import");
    let text = std::fs::read_to_string(data.join("data/guest.trace")).unwrap();
    let mut traces: Vec<(String, TracedIntervals)> =
        ["tests/data/guest-v7.dat", "tests/data/guest.perfetto"]
            .map(|name| {
                (
                    name.to_owned(),
                    TracedIntervals::open(&data.join(name)).unwrap(),
                )
            })
            .into();
    let timers = ["hrtimer_", "timer_start", "timer_cancel", "timer_expire"];
    let groups: [&[&str]; 5] = [
        &[],
        &timers,
        &["tick_stop"],
        &[": sched_"],
        &["irq_", "ipi_"],
    ];
    for first in groups {
        for second in groups {
            let left_out: Vec<&str> = first.iter().chain(second).copied().collect();
            let is_kept = |line: &&str| !left_out.iter().any(|word| line.contains(word));
            let rest: String = text
                .lines()
                .filter(is_kept)
                .map(|line| format!("{line}\n"))
                .collect();
            let name = format!("without-{}.trace", left_out.join("-").replace('_', ""));
            traces.push((name.clone(), opened(&name, &rest)));
        }
    }
    let all: String = text
        .lines()
        .filter(|line| line.starts_with('#') || line.contains(": cpu_idle"))
        .map(|line| format!("{line}\n"))
        .collect();
    traces.push(("idle alone".to_owned(), opened("idle-alone.trace", &all)));
    let kind = Kind::find("menu@6.1").unwrap();
    let mut wrong = String::new();
    for (name, traced) in &traces {
        let (ends, recorded) = (
            entries(&platform, traced, kind, true),
            recorded(&platform, traced),
        );
        let holds = ends
            .iter()
            .zip(&recorded)
            .all(|((low, high), count)| low <= count && count <= high);
        if !holds {
            let _ = writeln!(wrong, "{name}: recorded {recorded:?}, replayed {ends:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Stays of 12 us in C2 that interrupts end, as a trace of `cpu_idle` and `irq` shows them.
fn short_stays(first: &str) -> String {
    let mut text = format!("# tracer: nop\n#\n{first}");
    let mut event = |at_ns: u64, what: &str| {
        let (s, us) = (at_ns / 1_000_000_000, at_ns / 1_000 % 1_000_000);
        let _ = writeln!(
            text,
            "          <idle>-0       [003] d..1. {s}.{us:06}: {what}"
        );
    };
    for number in 0..2_000 {
        let at = 100_000_000_000 + number * 36_000;
        event(at, "cpu_idle: state=2 cpu_id=3");
        event(
            at + 10_000 + number * 7 % 5 * 1_000,
            "cpu_idle: state=4294967295 cpu_id=3",
        );
        event(at + 15_000, "irq_handler_entry: irq=150 name=eth0-rx-3");
        event(at + 16_000, "irq_handler_exit: irq=150 ret=handled");
    }
    text
}

#[test]
fn a_tick_of_which_a_trace_says_nothing_may_have_run_or_stood_still() {
    let (platform, menu) = (server(), Kind::find("menu@6.6.50").unwrap());
    let unknown = opened("no-timer.trace", &short_stays(""));
    let [_, _, (low, high)] = entries(&platform, &unknown, menu, false)[..] else {
        panic!("three states")
    };
    assert!(low <= 1 && high >= 1_999, "C2 in {low} to {high} of 2000");
    // With the tick known to stand still, and the next timer far, there is nothing to guess.
    let said = "          <idle>-0       [003] d..1. 99.999970: hrtimer_start: hrtimer=00000000bb function=hrtimer_wakeup expires=99999980000 \
                softexpires=99999980000 mode=ABS\n          <idle>-0       [003] d..1. 99.999980: hrtimer_expire_entry: hrtimer=00000000bb \
                function=hrtimer_wakeup now=99999980000\n          <idle>-0       [003] d..1. 99.999990: tick_stop: success=1 dependency=NONE\n          <idle>-0       [003] d..1. \
                99.999995: hrtimer_start: hrtimer=00000000aa function=tick_nohz_handler expires=160000000000 softexpires=160000000000 mode=ABS\n";
    let known = opened("tick-stopped.trace", &short_stays(said));
    let [_, _, (low, _)] = entries(&platform, &known, menu, false)[..] else {
        panic!("three states")
    };
    assert!(low >= 1_999, "C2 in {low} of 2000");
    // A task that ran started the tick again, even where no timer is traced.
    let switched: String = short_stays("")
        .lines()
        .map(|line| match line.contains("irq_handler_exit") {
            true => {
                let switch = |from: u32, to: u32| {
                    format!("sched_switch: prev_comm=a prev_pid={from} prev_prio=120 prev_state=R ==> next_comm=b next_pid={to} next_prio=120")
                };
                let at = line.split("irq_handler_exit").next().unwrap();
                format!("{line}\n{at}{}\n{at}{}\n", switch(0, 20), switch(20, 0))
            }
            false => format!("{line}\n"),
        })
        .collect();
    let running = opened("task-ran.trace", &switched);
    let ticks = running
        .all()
        .filter(|sleep| sleep.tick_stopped == Some(false))
        .count();
    assert_eq!(ticks, 1_999, "only before the first stay nothing is known");
}

/// Half of the time a task runs, and sleeps take 3.2 ms: teo of 6.3 to 6.10 goes shallower.
#[test]
fn utilisation_comes_from_the_trace() {
    let mut text = "# tracer: nop\n#\n".to_owned();
    let mut event = |at_us: u64, what: &str| {
        let _ = writeln!(
            text,
            "          <idle>-0       [000] d..1. {}.{:06}: {what}",
            at_us / 1_000_000,
            at_us % 1_000_000
        );
    };
    for number in 0..600 {
        let at = 100_000_000 + number * 6_400;
        event(at, "cpu_idle: state=1 cpu_id=0");
        event(at + 3_200, "cpu_idle: state=4294967295 cpu_id=0");
        event(at + 3_200, "irq_handler_entry: irq=50 name=eth0");
        event(at + 3_201, "irq_handler_exit: irq=50 ret=handled");
        event(
            at + 3_202,
            "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid=20 next_prio=120",
        );
        event(
            at + 6_399,
            "sched_switch: prev_comm=w prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120",
        );
    }
    let busy = opened("half-busy.trace", &text);
    assert!(busy.all().skip(1).all(|sleep| sleep.utilised == Some(true)));
    let task_free = opened(
        "hardly-busy.trace",
        &text
            .replace("next_pid=20", "next_pid=0")
            .replace("prev_pid=20", "prev_pid=0"),
    );
    assert!(
        task_free
            .all()
            .last()
            .is_some_and(|sleep| sleep.utilised == Some(false))
    );
    let idle = TracedIntervals::from_sleeps(busy.all().map(|sleep| Sleep {
        utilised: Some(false),
        ..*sleep
    }));
    let platform = guest_platform();
    let of = |release: &str, traced: &TracedIntervals| {
        entries(
            &platform,
            traced,
            Kind::find(&format!("teo@{release}")).unwrap(),
            false,
        )
    };
    for (release, has_rule) in [
        ("6.1", false),
        ("6.3", true),
        ("6.6", true),
        ("6.10", true),
        ("6.11", false),
    ] {
        assert_eq!(
            of(release, &busy) != of(release, &idle),
            has_rule,
            "teo@{release}: {:?}",
            of(release, &busy)
        );
    }
}

/// A number from 0 on, and below another.
fn draw(seed: &mut u64, below: u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below.max(1)
}

/// A trace that says all, and what a trace that says less admits.
fn completed(traced: &TracedIntervals, seed: &mut u64) -> TracedIntervals {
    // Some are all alike, and some are as they come.
    let [timers, ticks, got] = [3; 3].map(|styles| draw(seed, styles));
    let either = |seed: &mut u64, style: u64| match style {
        0 => false,
        1 => true,
        _ => draw(seed, 2) == 0,
    };
    let mut one = |sleep: &Sleep| {
        let [least_ns, most_ns] = sleep.length.ends_ns();
        let finite_ns = most_ns.min(1_000_000_000).max(least_ns);
        let timer_ns = match draw(seed, 8) {
            _ if timers == 0 => least_ns,
            _ if timers == 1 => most_ns,
            0 => most_ns,
            // The kernel's quotients of microseconds have 32 bits.
            2 if most_ns == u64::MAX => (1_000 << 32) + draw(seed, TICK_NS),
            1 => sleep.interval_ns().clamp(least_ns, most_ns),
            // About where choices change.
            3 | 4 => (500_000 * (1 + draw(seed, 16)) - 1 + draw(seed, 3)).clamp(least_ns, most_ns),
            _ => {
                let part = 10_u64.pow(draw(seed, 6) as u32);
                least_ns + draw(seed, (finite_ns - least_ns) / part)
            }
        };
        let tick_stopped = sleep.tick_stopped.unwrap_or_else(|| either(seed, ticks));
        let tick_ns = sleep.length.tick_ns();
        let tick_ns = tick_ns.or_else(|| (!tick_stopped).then(|| draw(seed, TICK_NS)));
        Sleep {
            length: SleepLength::Known { timer_ns, tick_ns },
            tick_stopped: Some(tick_stopped),
            got_tick: Some(sleep.got_tick.unwrap_or_else(|| either(seed, got))),
            utilised: Some(sleep.utilised.unwrap_or_else(|| either(seed, got))),
            ..*sleep
        }
    };
    let mut all = TracedIntervals::from_sleeps(traced.all().map(&mut one));
    all.has_no_waiters = true;
    all
}

/// The bounds hold each history that the trace allows, and are little wider than all of them.
#[test]
fn ends_hold_what_may_have_been_and_little_more() {
    let text =
        std::fs::read_to_string(root().join("crates/record/import/data/guest.trace")).unwrap();
    let file = root().join("data/platforms/idle/juno-r2.toml");
    let platform = Platform::read(&Document::open(&file).unwrap()).unwrap();
    let groups: [&[&str]; 6] = [
        &[],
        &["tick_stop"],
        &["hrtimer_", "timer_"],
        &["timer_start", "timer_cancel", "timer_expire_entry"],
        &["irq_", "ipi_", "sched_"],
        &["hrtimer_", "timer_", "irq_", "ipi_", "sched_"],
    ];
    let (mut seed, mut widths) = (1, String::new());
    for gone in groups {
        let is_kept = |line: &&str| {
            !gone
                .iter()
                .any(|group| line.contains(&format!(": {group}")))
        };
        let rest: String = text
            .lines()
            .filter(is_kept)
            .map(|line| format!("{line}\n"))
            .collect();
        let traced = opened("completed.trace", &rest);
        let segments = Segments::new(&platform, &traced);
        for name in [
            "menu@6.1",
            "menu@6.12.117",
            "menu@7.1",
            "teo@6.1",
            "teo@6.6",
            "teo@6.12",
            "teo@7.1",
        ] {
            let kind = Kind::find(name).unwrap();
            let start = std::time::Instant::now();
            let Some(ends) = Envelope::new(&platform, &traced, &segments, kind, false, TICK_NS)
            else {
                continue;
            };
            let took = start.elapsed();
            let mut hull = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
            for _ in 0..300 {
                let completed = completed(&traced, &mut seed);
                let chooser = Chooser::Governor(kind);
                let unsaid = Unsaid {
                    is_busy: !traced.has_no_waiters && draw(&mut seed, 2) == 0,
                    ..Unsaid::TIMER
                };
                let found = replay(&platform, &completed, chooser, unsaid, TICK_NS, &mut Ideal);
                let cost = energy(&platform, &segments, &found)[10] as f64;
                let sum =
                    |of: fn(&idle::Usage) -> u64| found.states.iter().map(of).sum::<u64>() as f64;
                let figures = [cost, sum(|usage| usage.above), sum(|usage| usage.below)];
                for (hull, figure) in hull.iter_mut().zip(figures) {
                    *hull = [hull[0].min(figure), hull[1].max(figure)];
                }
            }
            let [least, most] = [0, 1].map(|end| {
                let all = &ends.all[end];
                [
                    ends.energies[end][10] as f64,
                    all.above as f64,
                    all.below as f64,
                ]
            });
            for (at, [low, high]) in hull.into_iter().enumerate() {
                assert!(
                    least[at] <= low && high <= most[at],
                    "{name} without {gone:?}: {low} to {high} within {} to {}",
                    least[at],
                    most[at]
                );
            }
            let width = |at: usize| (most[at] - least[at], hull[at][1] - hull[at][0]);
            assert!(
                width(0).0 <= 2.0 * width(0).1,
                "{name} without {gone:?}: {:?}",
                width(0)
            );
            let _ = writeln!(
                widths,
                "{name} without {gone:?}: energy {:?}, above {:?}, below {:?}, {took:?}",
                width(0).0 / width(0).1,
                width(1),
                width(2)
            );
        }
    }
    println!("{widths}");
}

/// The least and the most of each figure: energies, entries, times and misses.
fn figures(platform: &Platform, traced: &TracedIntervals, kind: Kind) -> [Vec<u128>; 2] {
    let flat = |energies: &[u128], states: &[idle::Usage]| {
        let counts = states
            .iter()
            .flat_map(|of| [of.entered, of.time_ns, of.above, of.below]);
        let counts = counts.map(u128::from);
        energies.iter().copied().chain(counts).collect::<Vec<_>>()
    };
    let segments = Segments::new(platform, traced);
    if let Some(ends) = Envelope::new(platform, traced, &segments, kind, false, TICK_NS) {
        return [0, 1].map(|end| {
            let all = idle::Usage {
                entered: 0,
                time_ns: 0,
                ..ends.all[end]
            };
            flat(
                &ends.energies[end],
                &[ends.states[end].clone(), vec![all]].concat(),
            )
        });
    }
    let chooser = Chooser::Governor(kind);
    let found = replay(
        platform,
        traced,
        chooser,
        Unsaid::TIMER,
        TICK_NS,
        &mut Ideal,
    );
    let mut all = idle::Usage::default();
    for of in &found.states {
        (all.above, all.below) = (all.above + of.above, all.below + of.below);
    }
    let energies = energy(platform, &segments, &found);
    [0, 1].map(|_| flat(&energies, &[found.states.clone(), vec![all]].concat()))
}

/// The bounds from a trace lie within those from the same trace without some of its events: parts of
/// a trace, each without each set of four groups of events.
#[test]
fn less_said_is_wider() {
    let text =
        std::fs::read_to_string(root().join("crates/record/import/data/guest.trace")).unwrap();
    let file = root().join("data/platforms/idle/juno-r2.toml");
    let platform = Platform::read(&Document::open(&file).unwrap()).unwrap();
    let groups: [&[&str]; 4] = [
        &["tick_stop"],
        &["hrtimer_"],
        &["timer_"],
        &["irq_", "ipi_", "sched_"],
    ];
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let traces = std::env::var("TRACES").map_or(1, |count| count.parse().unwrap());
    let (mut seed, mut wrong, mut all) = (1, Vec::new(), 0);
    for number in 0..traces {
        let first = draw(&mut seed, lines.len() as u64 * 23 / 24) as usize;
        let part = &lines[first..first + lines.len() / 24];
        let of = |gone: u32| {
            let gone = groups
                .iter()
                .enumerate()
                .filter(|(at, _)| gone & 1 << at != 0);
            let gone: Vec<&str> = gone.flat_map(|(_, group)| *group).copied().collect();
            let is_kept =
                |line: &&&str| !gone.iter().any(|word| line.contains(&format!(": {word}")));
            let kept = part.iter().filter(is_kept).map(|line| format!("{line}\n"));
            opened(
                "less.trace",
                &format!("# tracer: nop\n#\n{}", kept.collect::<String>()),
            )
        };
        for name in ["menu@6.1", "menu@7.1", "teo@7.1"] {
            let kind = Kind::find(name).unwrap();
            let [least, most] = figures(&platform, &of(0), kind);
            for gone in 0..1 << groups.len() {
                let [low, high] = figures(&platform, &of(gone), kind);
                all += 1;
                let holds = |at: usize| low[at] <= least[at] && most[at] <= high[at];
                if let Some(at) = (0..low.len()).find(|at| !holds(*at)) {
                    wrong.push(format!("part {number}, {name}, without {gone:#b}, figure {at}: {} to {} in {} to {}", least[at], most[at], low[at], high[at]));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {all}\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
