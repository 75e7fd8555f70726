//! RCU on the kernel: the mechanisms, counted.

use crate::common::*;
use minikernel::placement::StayPut;
use minikernel::*;

/// The four configurations of the talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Reference,
    Offload,
    EnforcedIdle,
    Both,
}

const ALL: [How; 4] = [How::Reference, How::Offload, How::EnforcedIdle, How::Both];

fn rcu_settings(how: How, hz: u32, form: rcu::Form) -> rcu::Settings {
    let mut settings = rcu::Settings::new(5, u64::from(hz), form);
    if matches!(how, How::Offload | How::Both) {
        settings.offloaded = (1..5).collect();
    }
    if matches!(how, How::EnforcedIdle | How::Both) {
        settings.enforced_idle = (0..5).collect();
    }
    settings
}

fn run_rcu(how: How, settings: &Settings, workload: &Workload, time_ns: u64) -> Outcome {
    let form = if settings.form == Form::Y2013 {
        rcu::Form::Y2013
    } else {
        rcu::Form::Modern
    };
    let little = CpuSet::from_cpus(LITTLE);
    let affinities = Affinities {
        grace_periods: little,
        offload: little,
    };
    let code = Rcu::new(
        rcu_settings(how, settings.hz, form),
        affinities,
        settings.record,
    )
    .unwrap();
    let outcome = run(
        &tc2(300),
        settings,
        workload,
        Box::new(StayPut),
        Some(Box::new(code)),
        time_ns,
    )
    .unwrap();
    assert_eq!(outcome.total(), outcome.integral);
    outcome
}

/// Audio, and on each of these CPUs something that closes files, independently of each other.
fn audio_and(cpus: &[usize], per_second: u64) -> Workload {
    let mut workload = audio();
    workload
        .tasks
        .extend(cpus.iter().filter(|_| per_second > 0).map(|&cpu| {
            let mean = SECOND / per_second;
            let actions = vec![Action::Sleep(Draw::Exponential { mean }), Action::FileClose];
            TaskSpec::forever(&format!("closer-{cpu}"), actions).on(CpuSet::one(cpu))
        }));
    workload
}

fn closers(cpus: &[usize], every: u64) -> Workload {
    let actions = vec![
        Action::Timer {
            timer: 0,
            period: every,
            relative: false,
        },
        Action::FileClose,
    ];
    let task = |&cpu: &usize| {
        TaskSpec::forever(&format!("closer-{cpu}"), actions.clone()).on(CpuSet::one(cpu))
    };
    Workload {
        tasks: cpus.iter().map(task).collect(),
        ..Workload::default()
    }
}

fn of_2013() -> Settings {
    Settings {
        hz: 100,
        ..Settings::of_2013()
    }
}

#[test]
fn without_callbacks_all_configurations_are_the_same_bit_for_bit() {
    for settings in [of_2013(), Settings::default()] {
        let none = run_put(&tc2(300), &settings, &audio(), 2 * SECOND);
        let modern = [How::Reference, How::Offload];
        for how in if settings.form == Form::Modern {
            &modern[..]
        } else {
            &ALL[..]
        } {
            let mut some = run_rcu(*how, &settings, &audio(), 2 * SECOND);
            some.tasks.truncate(none.tasks.len());
            assert_eq!(some, none, "{how:?}");
        }
    }
}

#[test]
fn an_idle_cpu_keeps_its_tick_while_it_has_callbacks_and_no_other_does() {
    let outcome = run_rcu(
        How::Reference,
        &of_2013(),
        &closers(&[2], SECOND),
        10 * SECOND - 500 * MS,
    );
    let cpu = &outcome.cpus[2];
    assert_eq!((cpu.queued, cpu.invoked_in_softirq), (9, 9));
    let ticks = cpu.ticks_for_rcu;
    assert!(
        (18..=36).contains(&ticks),
        "about three ticks a callback: {ticks}"
    );
    assert!(
        outcome
            .cpus
            .iter()
            .enumerate()
            .all(|(number, cpu)| number == 2 || cpu.ticks_for_rcu == 0)
    );
}

#[test]
fn offloaded_cpus_invoke_nothing_and_keep_no_tick() {
    for settings in [of_2013(), Settings::default()] {
        let outcome = run_rcu(
            How::Offload,
            &settings,
            &audio_and(&[1, 2, 3, 4], 100),
            3 * SECOND,
        );
        for cpu in &outcome.cpus {
            assert_eq!((cpu.ticks_for_rcu, cpu.invoked_in_softirq), (0, 0));
        }
        let invoked: u64 = outcome.cpus.iter().map(|cpu| cpu.invoked_in_threads).sum();
        let queued: u64 = outcome.cpus.iter().map(|cpu| cpu.queued).sum();
        assert!(queued > 1000 && invoked <= queued && queued - invoked < 60);
        assert_eq!(
            outcome.cpus[0].invoked_in_threads + outcome.cpus[1].invoked_in_threads,
            0,
            "threads are on LITTLE CPUs"
        );
    }
}

#[test]
fn enforced_idle_wakes_at_multiples_of_four_jiffies_at_most() {
    let settings = Settings {
        record: true,
        ..of_2013()
    };
    let outcome = run_rcu(
        How::EnforcedIdle,
        &settings,
        &audio_and(&[0, 1, 4], 50),
        5 * SECOND,
    );
    let rcu_timer = WakeCause::RcuTimer as u32;
    for cpu in [0, 1, 4] {
        let wakes = outcome.events.iter().filter(|event| {
            usize::from(event.cpu) == cpu
                && event.point == events::IDLE_LEAVE.id()
                && event.argument == rcu_timer
        });
        let jiffies: Vec<_> = wakes
            .map(|event| (event.time - outcome.begin) / 10_000_000_000)
            .collect();
        assert!(jiffies.len() > 10, "{}", jiffies.len());
        assert!(jiffies.iter().all(|jiffy| jiffy % 4 == 0), "{jiffies:?}");
        assert!(jiffies.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(
            outcome.cpus[cpu].ticks_for_rcu, 0,
            "it is asked again, and no tick is kept"
        );
    }
}

#[test]
fn callbacks_cost_more_the_more_there_are() {
    let energy = |how, per_second| {
        run_rcu(how, &of_2013(), &audio_and(&BIG, per_second), 5 * SECOND).integral as f64
    };
    for per_second in [0, 10, 100] {
        let all = ALL.map(|how| energy(how, per_second));
        if per_second == 0 {
            assert!(all.iter().all(|&one| one == all[0]));
        } else {
            assert!(all[2] < all[0], "{per_second}: {all:?}");
        }
    }
}

/// Grace periods, looks at who holds them up, and wake-ups of the thread behind them, with that
/// thread on CPU 0 and those for callbacks on CPU 2.
fn grace_periods(settings: Settings, every: u64, offloaded: Vec<usize>) -> [usize; 3] {
    let settings = Settings {
        record: true,
        ..settings
    };
    let form = if settings.form == Form::Y2013 {
        rcu::Form::Y2013
    } else {
        rcu::Form::Modern
    };
    let mut of_rcu = rcu::Settings::new(5, u64::from(settings.hz), form);
    of_rcu.offloaded = offloaded;
    let affinities = Affinities {
        grace_periods: CpuSet::one(0),
        offload: CpuSet::one(2),
    };
    let code = Rcu::new(of_rcu, affinities, true).unwrap();
    let workload = closers(&[1], every);
    let outcome = run(
        &tc2(300),
        &settings,
        &workload,
        Box::new(StayPut),
        Some(Box::new(code)),
        5 * SECOND,
    )
    .unwrap();
    let count = |of: points::Point| {
        outcome
            .events
            .iter()
            .filter(|event| event.point == of.id())
            .count()
    };
    // The first of the kernel threads comes after the one task.
    let is_wake =
        |event: &&soc::Event| event.point == events::TASK_WAKE.id() && event.argument == 1;
    let wakes = outcome.events.iter().filter(is_wake).count();
    [
        count(rcu::points::GRACE_PERIOD_END),
        count(rcu::points::FORCE_QUIESCENT_STATE),
        wakes,
    ]
}

#[test]
fn one_look_ends_a_grace_period_that_idle_cpus_hold_up() {
    // The timer that ends the thread's sleep is a tick, in which its own CPU reports; all others
    // are idle.
    for (settings, offloaded) in [
        (Settings::default(), Vec::new()),
        (Settings::default(), (0..5).collect()),
        (
            Settings {
                hz: 250,
                ..Settings::of_2013()
            },
            (1..5).collect(),
        ),
    ] {
        let form = settings.form;
        let [ended, looks, _] = grace_periods(settings, 20 * MS, offloaded);
        assert!(
            ended > 200 && looks <= ended + ended / 20 + 1,
            "{form:?}: {looks} looks in {ended} grace periods"
        );
    }
}

#[test]
fn a_thread_that_invokes_does_not_ask_for_a_grace_period() {
    // Callbacks come while it invokes. If it numbered them, the next grace period would be asked
    // for before the one that runs ends, and would start without a wake-up.
    let [ended, _, wakes] = grace_periods(Settings::default(), MS + 73_000, (0..5).collect());
    assert!(
        ended > 500 && wakes > ended + ended / 2,
        "{wakes} wake-ups in {ended} grace periods"
    );
}
