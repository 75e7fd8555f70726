//! Intervals of a trace of our guest: Debian's 6.1 with two CPUs, idle states and the governor
//! menu, in time that counts instructions.

use recording::Header;
use sleeps::{Reason, Sleep, SleepLength, Summary, Waker, sleeps};
use std::io::Cursor;

const GUEST: &str = include_str!("../../import/data/guest.trace");

fn intervals(text: &str) -> (Summary, Vec<Sleep>) {
    let folder = tempfile::tempdir().unwrap();
    let options = import::ftrace::Options::default();
    let header = Header::new("ftrace", "import", "ns");
    let recording = folder.path().join("recording");
    import::ftrace::record(Cursor::new(text), &options, "guest", header, &recording).unwrap();
    let mut all = Vec::new();
    let summary = sleeps(&recording, |sleep| all.push(sleep)).unwrap();
    assert_eq!(
        summary.known + summary.bounded + summary.all_unknown() - unfinished(&summary),
        all.len() as u64
    );
    (summary, all)
}

fn unfinished(summary: &Summary) -> u64 {
    summary
        .unknown
        .get(&Reason::Unfinished)
        .copied()
        .unwrap_or(0)
}

fn without(words: &[&str]) -> String {
    GUEST
        .lines()
        .filter(|line| !words.iter().any(|word| line.contains(word)))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn nearly_all_sleep_lengths_are_known_and_timers_come_when_they_should() {
    let (summary, all) = intervals(GUEST);
    // Before the first timer's expiry nothing is known of the clocks.
    assert!(all.len() > 70, "{}", all.len());
    assert!(
        summary.known as f64 >= 0.9 * all.len() as f64,
        "{summary:?}"
    );
    let mut late_ns: Vec<i64> = all
        .iter()
        .filter_map(|sleep| match (sleep.length, sleep.waker) {
            (SleepLength::Known { timer_ns, .. }, Waker::Timer) => Some(
                sleep
                    .interval_ns()
                    .cast_signed()
                    .saturating_sub_unsigned(timer_ns),
            ),
            (
                SleepLength::Known {
                    tick_ns: Some(tick_ns),
                    ..
                },
                Waker::Tick,
            ) => Some(
                sleep
                    .interval_ns()
                    .cast_signed()
                    .saturating_sub_unsigned(tick_ns),
            ),
            _ => None,
        })
        .collect();
    late_ns.sort_unstable();
    assert!(
        late_ns.len() > 15 && late_ns[late_ns.len() / 2].abs() <= 5_000,
        "{late_ns:?}"
    );
    // Timers that were armed before the trace began are known by their coming: none comes before
    // its time.
    assert!(late_ns[0] > -1_000, "{late_ns:?}");
    for waker in [Waker::Timer, Waker::Tick, Waker::Ipi] {
        assert!(
            all.iter().any(|sleep| sleep.waker == waker),
            "nothing was woken by {waker:?}"
        );
    }
    assert!(
        all.iter().all(|sleep| sleep.tick_stopped.is_some()
            || !matches!(sleep.length, SleepLength::Known { .. }))
    );
}

#[test]
fn without_the_timers_events_nothing_is_called_known_and_the_bounds_hold() {
    let (_, known) = intervals(GUEST);
    let (summary, all) = intervals(&without(&[
        "hrtimer_",
        "timer_start",
        "timer_cancel",
        "timer_expire",
        "tick_stop",
    ]));
    assert_eq!((summary.known, all.len()), (0, known.len()));
    let (mut held, mut late) = (0, 0);
    for (sleep, true_one) in all.iter().zip(&known) {
        assert_eq!(
            (sleep.cpu, sleep.enter_ns, sleep.exit_ns),
            (true_one.cpu, true_one.enter_ns, true_one.exit_ns)
        );
        if let (SleepLength::Bounded { at_least_ns, .. }, SleepLength::Known { timer_ns, .. }) =
            (sleep.length, true_one.length)
        {
            if timer_ns >= at_least_ns {
                held += 1;
                continue;
            }
            // The emulator runs one CPU at a time: a timer is late where the other CPU ran when it
            // was due.
            let due_ns = sleep.enter_ns + timer_ns;
            let idle = |other: &&Sleep| {
                other.cpu != sleep.cpu && other.enter_ns <= due_ns && other.exit_ns >= sleep.exit_ns
            };
            assert!(
                !all.iter().any(|other| idle(&other)),
                "{sleep:?}: the bound does not hold {timer_ns}"
            );
            late += 1;
        }
    }
    assert!(
        held > 60 && late * 10 < held,
        "{held} bounds hold, {late} timers were late"
    );
    // Of interrupts nothing: then only the end of the interval is seen.
    let (summary, _) = intervals(&without(&[
        "timer",
        "tick_stop",
        "irq_handler",
        "ipi_entry",
    ]));
    assert!(
        summary.known == 0 && summary.unknown[&Reason::NoWaker] > 0,
        "{summary:?}"
    );
}

#[test]
fn lost_events_make_what_follows_unknown_until_timers_are_seen_again() {
    let lines: Vec<&str> = GUEST.lines().collect();
    let middle = lines.len() / 4;
    let text = lines[..middle].join("\n")
        + "\nCPU:0 [LOST 5 EVENTS]\nCPU:1 [LOST 5 EVENTS]\n"
        + &lines[middle..].join("\n")
        + "\n";
    let (summary, all) = intervals(&text);
    assert!(summary.unknown[&Reason::LostEvents] > 0, "{summary:?}");
    let is_lost = |sleep: &&Sleep| {
        sleep.length
            == SleepLength::Unknown {
                reason: Reason::LostEvents,
                at_least_ns: 0,
            }
    };
    let first_lost = all.iter().find(is_lost).unwrap();
    let known_again = |sleep: &&Sleep| {
        sleep.enter_ns > first_lost.enter_ns && matches!(sleep.length, SleepLength::Known { .. })
    };
    assert!(all.iter().filter(known_again).count() > 20, "{all:?}");
}

/// Without a driver for idle states the interrupt comes before the kernel says that the CPU is
/// awake.
#[test]
fn the_interrupt_ends_an_interval_that_it_comes_into() {
    let line = |us: u64, event: &str| format!("<idle>-0 [000] d... 1.{us:06}: {event}\n");
    let text = [
        line(
            0,
            "hrtimer_start: hrtimer=00000001 function=tick_sched_timer expires=4000000 softexpires=4000000",
        ),
        line(
            10,
            "hrtimer_start: hrtimer=00000002 function=hrtimer_wakeup expires=2000000 softexpires=2000000",
        ),
        line(20, "cpu_idle: state=1 cpu_id=0"),
        line(1000, "irq_handler_entry: irq=11 name=arch_timer"),
        line(
            1002,
            "hrtimer_expire_entry: hrtimer=00000002 function=hrtimer_wakeup now=2000000",
        ),
        line(1005, "irq_handler_exit: irq=11 ret=handled"),
        line(1010, "cpu_idle: state=4294967295 cpu_id=0"),
        line(
            1020,
            "hrtimer_start: hrtimer=00000002 function=hrtimer_wakeup expires=3000000 softexpires=3000000",
        ),
        line(1030, "cpu_idle: state=1 cpu_id=0"),
        line(1500, "irq_handler_entry: irq=7 name=eth0"),
        line(1501, "irq_handler_exit: irq=7 ret=handled"),
        line(1510, "cpu_idle: state=4294967295 cpu_id=0"),
        line(
            1600,
            "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=9 next_prio=120",
        ),
    ];
    let (_, all) = intervals(&text.concat());
    assert_eq!(
        (all[0].exit_ns, all[0].waker),
        (1_001_000_000, Waker::Timer)
    );
    assert_eq!(
        (all[1].exit_ns, all[1].waker),
        (1_001_500_000, Waker::Interrupt(7))
    );
    // 3 ms of CLOCK_MONOTONIC are 1.002002 s of the trace's clock.
    assert_eq!(
        all[1].length,
        SleepLength::Known {
            timer_ns: 972_000,
            tick_ns: Some(1_972_000)
        }
    );
}
