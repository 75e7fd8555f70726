//! The effect of each mechanism on an idle CPU, counted exactly.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::machine::{Kernel, Load};
use rcu::{Form, IdleNeed, InterruptedCode, Settings, Thread, Urgency};

const HZ: u64 = 100;

fn settings(form: Form) -> Settings {
    Settings::new(4, HZ, form)
}

#[test]
fn reference_an_idle_cpu_with_callbacks_keeps_its_tick_and_one_without_does_not() {
    for form in [Form::Y2013, Form::Modern] {
        let kernel = Kernel::new(settings(form));
        kernel.jiffies(10);
        assert!(
            (1..4).all(|cpu| kernel.wakeups(cpu).is_empty()),
            "{form:?}: nobody has callbacks yet"
        );
        kernel.call(1, 7, Urgency::Plain);
        assert_eq!(kernel.need(1), IdleNeed::KeepTick);
        kernel.jiffies(20);
        // Notice, grace period, invoke: about three ticks, one after the other, and then none.
        let wakeups = kernel.wakeups(1);
        assert_eq!(
            wakeups,
            (11..11 + wakeups.len() as u64).collect::<Vec<_>>(),
            "{form:?}"
        );
        assert!((2..=4).contains(&wakeups.len()), "{form:?}: {wakeups:?}");
        assert_eq!(kernel.need(1), IdleNeed::StopTick);
        let invoked = kernel.machine.invoked.borrow();
        assert_eq!(
            invoked
                .iter()
                .map(|invoked| (invoked.cpu, invoked.callback.argument))
                .collect::<Vec<_>>(),
            [(1, 7)]
        );
        assert_eq!(kernel.rcu.counters(1).invoked_softirq, 1);
        assert!(kernel.wakeups(2).is_empty() && kernel.wakeups(3).is_empty());
    }
}

#[test]
fn an_offloaded_cpu_invokes_nothing_and_keeps_no_tick() {
    for form in [Form::Y2013, Form::Modern] {
        let kernel = Kernel::new(Settings {
            offloaded: vec![1, 2],
            ..settings(form)
        });
        for round in 0..50 {
            for cpu in 1..4 {
                kernel.call(cpu, round, Urgency::Plain);
            }
            kernel.jiffies(2);
        }
        kernel.jiffies(20);
        assert_eq!(kernel.invoked(), 150, "{form:?}");
        for cpu in [1, 2] {
            let counters = kernel.rcu.counters(cpu);
            assert_eq!(
                (
                    counters.queued,
                    counters.invoked_softirq,
                    counters.invoked_thread
                ),
                (50, 0, 50),
                "{form:?}"
            );
            assert!(kernel.wakeups(cpu).is_empty(), "{form:?}: CPU {cpu}");
        }
        assert!(
            kernel
                .machine
                .invoked
                .borrow()
                .iter()
                .all(|invoked| invoked.cpu == if invoked.callback.function == 3 { 3 } else { 0 })
        );
        let counters = kernel.rcu.counters(3);
        assert_eq!(
            (counters.invoked_softirq, counters.invoked_thread),
            (50, 0),
            "{form:?}"
        );
        assert!(
            kernel.wakeups(3).len() > 50,
            "{form:?}: the ordinary CPU keeps its tick"
        );
    }
}

#[test]
fn an_offload_thread_of_2013_is_woken_when_its_list_was_empty() {
    let kernel = Kernel::new(Settings {
        offloaded: vec![1],
        ..settings(Form::Y2013)
    });
    (0..5).for_each(|argument| kernel.call(1, argument, Urgency::Plain));
    assert_eq!(
        kernel.rcu.counters(1).offload_wakes,
        1,
        "five callbacks, one wake-up"
    );
    kernel.run_threads();
    kernel.call(1, 5, Urgency::Plain);
    assert_eq!(
        kernel.rcu.counters(1).offload_wakes,
        2,
        "the thread has taken the list"
    );
    kernel.jiffies(20);
    assert_eq!(
        (kernel.invoked(), kernel.rcu.counters(0).offload_wakes),
        (6, 2),
        "and once per grace period"
    );
}

#[test]
fn enforced_idle_wakes_all_cpus_in_the_same_jiffy_and_at_most_every_fourth() {
    let kernel = Kernel::new(Settings {
        enforced_idle: vec![1, 2, 3],
        ..settings(Form::Y2013)
    });
    let mut wakeups = [vec![], vec![], vec![]];
    for jiffy in 0..400u64 {
        let cpu = 1 + (jiffy % 3) as usize;
        if jiffy % 5 < 3 {
            kernel.call(cpu, jiffy, Urgency::Plain);
            assert_ne!(kernel.need(cpu), IdleNeed::KeepTick, "jiffy {jiffy}");
        }
        kernel.jiffy();
    }
    kernel.jiffies(20);
    assert_eq!(kernel.invoked(), 240);
    for cpu in 1..4 {
        wakeups[cpu - 1] = kernel.wakeups(cpu);
        assert!(wakeups[cpu - 1].len() > 5);
        assert!(
            wakeups[cpu - 1].iter().all(|jiffy| jiffy % 4 == 0),
            "CPU {cpu}: {:?}",
            wakeups[cpu - 1]
        );
        assert!(wakeups[cpu - 1].is_sorted_by(|earlier, later| earlier < later));
        assert_eq!(kernel.need(cpu), IdleNeed::StopTick);
    }
    let alone = Kernel::new(Settings {
        enforced_idle: vec![1, 2, 3],
        ..settings(Form::Y2013)
    });
    for cpu in 1..4 {
        alone.call(cpu, 0, Urgency::Plain);
        alone.jiffy();
    }
    alone.jiffies(20);
    assert_eq!(
        [1, 2, 3].map(|cpu| alone.wakeups(cpu)),
        [vec![4], vec![8], vec![8]],
        "queued in jiffies 0, 1 and 2"
    );
}

#[test]
fn enforced_idle_wakes_once_in_six_seconds_if_all_is_lazy_and_soon_once_something_is_not() {
    let kernel = Kernel::new(Settings {
        enforced_idle: vec![1],
        ..settings(Form::Y2013)
    });
    kernel.jiffies(30);
    kernel.call(1, 0, Urgency::Lazy);
    assert_eq!(
        kernel.need(1),
        IdleNeed::WakeAt(700),
        "6.3 s, rounded to a whole second"
    );
    for _ in 0..60 {
        kernel.jiffies(HZ);
        if !matches!(kernel.need(1), IdleNeed::WakeAt(_)) {
            kernel.call(1, 0, Urgency::Lazy);
        }
    }
    let wakeups = kernel.wakeups(1);
    assert!(
        wakeups.len() > 7 && wakeups.iter().all(|jiffy| jiffy % HZ == 0),
        "{wakeups:?}"
    );
    assert!(
        wakeups.windows(2).all(|pair| pair[1] - pair[0] >= 6 * HZ),
        "{wakeups:?}"
    );

    let kernel = Kernel::new(Settings {
        enforced_idle: vec![1],
        ..settings(Form::Y2013)
    });
    kernel.starved.borrow_mut().insert(Thread::GracePeriod);
    kernel.jiffies(30);
    kernel.call(1, 0, Urgency::Lazy);
    kernel.jiffies(3);
    kernel.call(1, 1, Urgency::Plain);
    assert_eq!(
        kernel.need(1),
        IdleNeed::WakeAt(40),
        "the long wait is over: the next multiple of four after 33 + 3"
    );
}

#[test]
fn enforced_idle_invokes_what_is_ready_before_the_cpu_goes_idle() {
    let kernel = Kernel::new(Settings {
        enforced_idle: vec![1],
        ..settings(Form::Y2013)
    });
    kernel.set_load(1, Load::Busy(InterruptedCode::User));
    kernel.call(1, 0, Urgency::Plain);
    while kernel.rcu.grace_period_counters().grace_periods == 0 {
        kernel.jiffy();
    }
    assert_eq!(
        (kernel.invoked(), kernel.rcu.callbacks(1)),
        (0, 1),
        "the CPU has not noticed yet"
    );
    kernel.set_load(1, Load::Idle);
    assert_eq!(
        (kernel.invoked(), kernel.need(1), kernel.rcu.callbacks(1)),
        (1, IdleNeed::StopTick, 0)
    );
}

#[test]
fn who_finds_a_grace_period_asked_for_does_not_ask_again() {
    let kernel = Kernel::new(Settings {
        leaf_fanout: 1,
        interior_fanout: 2,
        ..settings(Form::Modern)
    });
    (1..4).for_each(|cpu| kernel.call(cpu, 0, Urgency::Plain));
    kernel.jiffy();
    assert_eq!(
        (0..4)
            .map(|cpu| kernel.rcu.counters(cpu).grace_period_wakes)
            .sum::<u64>(),
        1
    );
}

#[test]
fn both_enforces_idle_only_on_the_cpus_that_are_not_offloaded() {
    let kernel = Kernel::new(Settings {
        offloaded: vec![1, 2],
        enforced_idle: vec![0, 1, 2, 3],
        ..settings(Form::Y2013)
    });
    (1..4).for_each(|cpu| kernel.call(cpu, 0, Urgency::Plain));
    assert_eq!(
        [1, 2, 3].map(|cpu| kernel.need(cpu)),
        [IdleNeed::StopTick, IdleNeed::StopTick, IdleNeed::WakeAt(4)]
    );
    kernel.jiffies(20);
    assert_eq!([1, 2, 3].map(|cpu| kernel.wakeups(cpu).len()), [0, 0, 1]);
    assert_eq!(kernel.invoked(), 3);
}

#[test]
fn lazy_callbacks_wait_ten_seconds_unless_one_hurries() {
    let settings = || Settings {
        offloaded: vec![0, 1, 2, 3],
        lazy: true,
        ..settings(Form::Modern)
    };
    let kernel = Kernel::new(settings());
    kernel.call(1, 0, Urgency::Plain);
    kernel.jiffies(10 * HZ - 1);
    assert_eq!(
        (
            kernel.invoked(),
            kernel.rcu.grace_period_counters().grace_periods
        ),
        (0, 0)
    );
    kernel.jiffies(10);
    assert_eq!(kernel.invoked(), 1);

    let kernel = Kernel::new(settings());
    kernel.call(1, 0, Urgency::Plain);
    kernel.call(1, 1, Urgency::Hurry);
    kernel.jiffies(10);
    assert_eq!(
        kernel.invoked(),
        2,
        "the one that hurries takes the lazy one along"
    );
    let counters = kernel.rcu.counters(1);
    assert_eq!(
        (
            counters.queued_lazy,
            counters.queued_bypass,
            counters.deferred_wakes
        ),
        (1, 1, 1)
    );

    // A round of the thread on behalf of a neighbour finds the lazy one too young, and starts its
    // time anew.
    let kernel = Kernel::new(settings());
    kernel.call(1, 0, Urgency::Plain);
    kernel.jiffies(5 * HZ);
    kernel.call(0, 1, Urgency::Hurry);
    kernel.jiffies(10);
    assert_eq!(kernel.invoked(), 1);
    kernel.jiffies(10 * HZ);
    assert_eq!(kernel.invoked(), 2);
}

#[test]
fn many_callbacks_in_one_jiffy_go_to_the_bypass_list_and_from_there_in_the_next() {
    let kernel = Kernel::new(Settings {
        offloaded: vec![1],
        ..settings(Form::Modern)
    });
    // 16 * 1000 / HZ in a jiffy go directly; the first jiffy starts with the count of one.
    (0..400).for_each(|argument| kernel.call(1, argument, Urgency::Plain));
    let in_bypass = || kernel.rcu.counters(1).queued_bypass;
    assert_eq!(in_bypass(), 400 - 16_000 / HZ + 1);
    // A jiffy forgives no more than one may queue in it: the next callback flushes the list, and
    // the one after starts it again.
    kernel.jiffy();
    (400..402).for_each(|argument| kernel.call(1, argument, Urgency::Plain));
    assert_eq!(in_bypass(), 400 - 16_000 / HZ + 2);
    kernel.jiffies(20);
    assert_eq!(kernel.invoked(), 402);
    let order: Vec<u64> = kernel
        .machine
        .invoked
        .borrow()
        .iter()
        .map(|invoked| invoked.callback.argument)
        .collect();
    assert!(order.is_sorted(), "the bypass list keeps the order");
}

#[test]
fn a_caller_that_may_not_wake_has_it_done_a_jiffy_later() {
    let kernel = Kernel::new(Settings {
        offloaded: vec![1],
        ..settings(Form::Modern)
    });
    kernel.set_load(1, Load::Busy(InterruptedCode::User));
    kernel.machine.interrupts_off.set(true);
    kernel.call(1, 0, Urgency::Plain);
    let counters = kernel.rcu.counters(1);
    assert_eq!((counters.offload_wakes, counters.deferred_wakes), (0, 1));
    kernel.jiffies(10);
    assert_eq!(kernel.invoked(), 1);
    assert_eq!(
        kernel.rcu.counters(1).offload_wakes,
        1,
        "the tick made up for it"
    );
}

#[test]
fn a_stronger_reason_moves_the_timer_forward_and_a_weaker_one_does_not_move_it_back() {
    let settings = Settings {
        offloaded: vec![1],
        lazy: true,
        ..settings(Form::Modern)
    };
    let kernel = Kernel::new(settings.clone());
    kernel.set_load(1, Load::Busy(InterruptedCode::User));
    kernel.jiffies(5);
    let timer = || kernel.machine.timers.borrow().values().copied().next();
    kernel.call(1, 0, Urgency::Plain);
    assert_eq!(timer(), Some(5 + 10 * HZ));
    kernel.machine.interrupts_off.set(true);
    kernel.call(1, 1, Urgency::Hurry);
    assert_eq!(timer(), Some(6));
    kernel.call(1, 2, Urgency::Plain);
    assert_eq!(timer(), Some(6));

    // Past the limit of direct callbacks, one that hurries goes to the bypass list, behind the lazy
    // one, and wakes all the same.
    let kernel = Kernel::new(Settings {
        direct_per_jiffy: 0,
        ..settings
    });
    kernel.call(1, 0, Urgency::Plain);
    kernel.call(1, 1, Urgency::Hurry);
    assert_eq!(kernel.rcu.counters(1).queued_bypass, 2);
    kernel.jiffies(10);
    assert_eq!(kernel.invoked(), 2);
}

#[test]
fn a_softirq_invokes_ten_callbacks_and_all_of_them_once_there_are_too_many() {
    let batches = |kernel: &Kernel| -> Vec<u32> {
        let stamps = kernel.machine.stamps.borrow();
        stamps
            .iter()
            .filter(|(point, _)| *point == rcu::points::BATCH_END)
            .map(|&(_, count)| count)
            .collect()
    };
    let kernel = Kernel::new(settings(Form::Y2013));
    (0..35).for_each(|argument| kernel.call(1, argument, Urgency::Plain));
    kernel.jiffies(20);
    assert_eq!(batches(&kernel), [10, 10, 10, 5]);

    let kernel = Kernel::new(settings(Form::Y2013));
    kernel.set_load(1, Load::Busy(InterruptedCode::User));
    kernel.call(1, 0, Urgency::Plain);
    kernel.jiffy();
    (0..20_500).for_each(|argument| kernel.call(1, argument, Urgency::Plain));
    kernel.jiffies(20);
    assert_eq!(kernel.invoked(), 20_501);
    assert!(
        batches(&kernel).iter().any(|&count| count > 10_000),
        "{:?}",
        &batches(&kernel)[..8]
    );
}

#[test]
fn without_callbacks_every_configuration_does_the_same_to_the_last_access() {
    let modern = |offloaded, lazy| Settings {
        offloaded,
        lazy,
        ..settings(Form::Modern)
    };
    let old = |offloaded, enforced_idle| Settings {
        offloaded,
        enforced_idle,
        ..settings(Form::Y2013)
    };
    let all = || vec![0, 1, 2, 3];
    let configurations = [
        old(vec![], vec![]),
        old(vec![1, 2, 3], vec![]),
        old(vec![], all()),
        old(vec![1], all()),
        modern(vec![], false),
        modern(all(), false),
        modern(all(), true),
    ];
    let accesses = configurations.map(|settings| {
        let kernel = Kernel::new(settings);
        for round in 0..200 {
            let cpu = 1 + round % 3;
            kernel.set_load(cpu, Load::Busy(InterruptedCode::User));
            kernel.jiffies(3);
            kernel.on(cpu, |p| kernel.rcu.context_switch(p, kernel.reader(cpu)));
            kernel.set_load(cpu, Load::Idle);
            kernel.interrupt(cpu, |_| {});
            kernel.jiffies(2);
        }
        let counters = [0, 1, 2, 3].map(|cpu| kernel.rcu.counters(cpu));
        assert!(
            counters
                .iter()
                .all(|counters| *counters == rcu::Counters::default()),
            "{counters:?}"
        );
        assert!((1..4).all(|cpu| kernel.wakeups(cpu).is_empty()));
        kernel.machine.accesses.get()
    });
    assert!(
        accesses[0] > 1000 && accesses.iter().all(|&count| count == accesses[0]),
        "{accesses:?}"
    );
}

#[test]
fn the_points_tell_the_life_of_a_callback() {
    use rcu::points::{
        BATCH_END, BATCH_START, CALL, FORCE_QUIESCENT_STATE, GRACE_PERIOD_END, GRACE_PERIOD_START,
        OFFLOAD_WAKE,
    };
    let stamps = |settings| {
        let kernel = Kernel::new(settings);
        kernel.call(1, 0, Urgency::Plain);
        kernel.call(1, 1, Urgency::Plain);
        kernel.jiffies(20);
        kernel.machine.stamps.take()
    };
    let grace_period = [
        (GRACE_PERIOD_START, 1),
        (FORCE_QUIESCENT_STATE, 1),
        (GRACE_PERIOD_END, 1),
    ];
    let batch = [(BATCH_START, 2), (BATCH_END, 2)];
    // The argument of a call is its function, here the CPU that queued it.
    let calls = [(CALL, 1), (CALL, 1)];
    assert_eq!(
        stamps(settings(Form::Y2013)),
        [&calls[..], &grace_period, &batch].concat()
    );
    let offloaded = stamps(Settings {
        offloaded: vec![1],
        ..settings(Form::Y2013)
    });
    let woken = [(CALL, 1), (OFFLOAD_WAKE, 1), (CALL, 1)];
    assert_eq!(offloaded, [&woken[..], &grace_period, &batch].concat());
}
