//! The rows that a recording's tracks are drawn from.

use crate::common::*;
use minikernel::*;

#[test]
fn stamps_tell_what_each_cpu_did_and_agree_with_the_counts() {
    let settings = Settings {
        record: true,
        ..Settings::default()
    };
    let outcome = run_put(&tc2(300), &settings, &audio(), SECOND);
    assert!(outcome.events.is_sorted_by_key(|event| event.time));
    for (number, cpu) in outcome.cpus.iter().enumerate() {
        let of = |point: points::Point| {
            let own = outcome
                .events
                .iter()
                .filter(move |event| usize::from(event.cpu) == number);
            own.filter(move |event| event.point == point.id())
        };
        assert_eq!(of(events::TASK_SWITCH).count() as u64, cpu.switches);
        assert_eq!(
            of(events::IDLE_ENTER).count() as u64,
            cpu.idle.iter().map(|usage| usage.entered).sum::<u64>()
        );
        assert_eq!(
            of(events::TICK).count() as u64,
            cpu.busy_ticks + cpu.idle_ticks
        );
        for (cause, name) in WakeCause::NAMES.iter().enumerate() {
            let stamped = of(events::IDLE_LEAVE)
                .filter(|event| event.argument as usize == cause)
                .count() as u64;
            assert_eq!(stamped, cpu.wake_ups[cause], "CPU {number}, {name}");
        }
        // From the switch to a task to the next switch it runs, less interrupts and the switches
        // themselves.
        if let Some(task) = number
            .checked_sub(2)
            .and_then(|task| outcome.tasks.get(task))
        {
            let switches: Vec<_> = of(events::TASK_SWITCH).collect();
            let in_lane: u64 = switches
                .windows(2)
                .filter(|pair| pair[0].argument > 0)
                .map(|pair| pair[1].time - pair[0].time)
                .sum();
            assert!(
                in_lane >= task.counts.ran && in_lane < task.counts.ran * 115 / 100,
                "{in_lane} {}",
                task.counts.ran
            );
        }
    }
    let silent = run_put(
        &tc2(300),
        &Settings {
            record: false,
            ..settings
        },
        &audio(),
        SECOND,
    );
    assert!(silent.events.is_empty());
    assert_eq!(
        (silent.integral, silent.cpus),
        (outcome.integral, outcome.cpus),
        "and recording changes nothing"
    );
}
