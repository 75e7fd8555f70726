//! CPUs that go off while the machine runs, and come back.

use crate::common::*;
use minikernel::placement::StayPut;
use minikernel::*;

/// Takes CPU 1 off after 100 ms, and brings it up again after 300 ms more, over and over.
fn operator() -> TaskSpec {
    let rest = |ms: u64| Action::Sleep(Draw::Fixed(ms * MS));
    TaskSpec::forever(
        "operator",
        vec![rest(100), Action::TakeOff(1), rest(300), Action::BringUp(1)],
    )
    .on(CpuSet::one(0))
}

/// Something on CPU 1 that closes files, and on CPU 3.
fn closers() -> [TaskSpec; 2] {
    [1, 3].map(|cpu| {
        let actions = vec![
            Action::Sleep(Draw::Exponential { mean: 3 * MS }),
            Action::FileClose,
        ];
        TaskSpec::forever(&format!("closer-{cpu}"), actions).on(CpuSet::one(cpu))
    })
}

fn rcu(form: Form, hz: u32, offloaded: Vec<usize>) -> Box<Rcu> {
    let form = if form == Form::Y2013 {
        rcu::Form::Y2013
    } else {
        rcu::Form::Modern
    };
    let settings = rcu::Settings {
        offloaded,
        ..rcu::Settings::new(5, u64::from(hz), form)
    };
    let little = CpuSet::from_cpus(LITTLE);
    Box::new(
        Rcu::new(
            settings,
            Affinities {
                grace_periods: little,
                offload: little,
            },
            false,
        )
        .unwrap(),
    )
}

fn run_tasks(
    settings: &Settings,
    tasks: Vec<TaskSpec>,
    code: Box<Rcu>,
    time_ns: u64,
) -> Result<Outcome, minikernel::Error> {
    let workload = Workload {
        tasks,
        ..Workload::default()
    };
    run(
        &tc2(300),
        settings,
        &workload,
        Box::new(StayPut),
        Some(code),
        time_ns,
    )
}

#[test]
fn nothing_is_lost_when_a_cpu_goes_off_and_comes_back() {
    for form in [Form::Y2013, Form::Modern] {
        for idle_path in [IdlePath::Direct, IdlePath::Firmware] {
            for offloaded in [Vec::new(), vec![1, 2, 3, 4]] {
                let what = format!("{form:?} {idle_path:?} {offloaded:?}");
                let settings = Settings {
                    form,
                    idle_path,
                    ..Settings::default()
                };
                let [first, second] = closers();
                let code = rcu(form, settings.hz, offloaded);
                let outcome =
                    run_tasks(&settings, vec![operator(), first, second], code, 4 * SECOND)
                        .unwrap();
                assert_eq!(outcome.total(), outcome.integral, "{what}");
                assert_eq!(
                    outcome.task("operator").map(|task| task.counts.loops),
                    Some(9),
                    "{what}"
                );
                let moved = &outcome.task("closer-1").unwrap().counts;
                assert!(moved.moves >= 18 && moved.loops > 1000, "{what}: {moved:?}");
                let queued: u64 = outcome.cpus.iter().map(|cpu| cpu.queued).sum();
                let invoked: u64 = outcome
                    .cpus
                    .iter()
                    .map(|cpu| cpu.invoked_in_softirq + cpu.invoked_in_threads)
                    .sum();
                assert_eq!(invoked + outcome.callbacks_left, queued, "{what}");
                assert!(
                    queued > 2000 && outcome.callbacks_left < 40,
                    "{what}: {queued} {}",
                    outcome.callbacks_left
                );
                assert!(outcome.stalls.is_empty(), "{what}: {:?}", outcome.stalls);
                // It is there for a quarter of the time, and queues then only.
                let share = outcome.cpus[1].queued as f64 / moved.loops as f64;
                assert!((0.2..0.35).contains(&share), "{what}: {share}");
            }
        }
    }
}

#[test]
fn callbacks_of_a_cpu_that_goes_off_are_adopted() {
    let close = vec![Action::Sleep(Draw::Fixed(MS)), Action::FileClose];
    let closer = TaskSpec {
        loops: Some(49),
        ..TaskSpec::forever("closer", close)
    }
    .on(CpuSet::one(1));
    let once = vec![Action::Sleep(Draw::Fixed(51 * MS)), Action::TakeOff(1)];
    let operator = TaskSpec {
        loops: Some(1),
        ..TaskSpec::forever("operator", once)
    }
    .on(CpuSet::one(0));
    let settings = Settings::default();
    let code = rcu(settings.form, settings.hz, Vec::new());
    let outcome = run_tasks(&settings, vec![operator, closer], code, SECOND).unwrap();
    let gone = &outcome.cpus[1];
    assert!(
        gone.invoked_in_softirq < gone.queued,
        "all of them were invoked before it went off"
    );
    assert_eq!(outcome.callbacks_left, 0);
}

#[test]
fn timers_and_interrupts_of_a_cpu_that_goes_off_move() {
    let tick = vec![Action::Timer {
        timer: 0,
        period: 10 * MS,
        relative: false,
    }];
    let periodic = TaskSpec::forever("periodic", tick).on(CpuSet::one(1));
    let serves = vec![Action::SemWait(0)];
    let served = TaskSpec::forever("served", serves).on(CpuSet::one(2));
    let device = DeviceSpec {
        name: "disk".to_owned(),
        gap: Draw::Fixed(10 * MS),
        cpu: 1,
        handler_ns: 1000,
        posts: Some(0),
    };
    for idle_path in [IdlePath::Direct, IdlePath::Firmware] {
        let settings = Settings {
            idle_path,
            ..Settings::default()
        };
        let workload = Workload {
            tasks: vec![operator(), periodic.clone(), served.clone()],
            devices: vec![device.clone()],
            semaphores: vec![0],
            ..Workload::default()
        };
        let outcome = run(
            &tc2(300),
            &settings,
            &workload,
            Box::new(StayPut),
            None,
            2 * SECOND,
        )
        .unwrap();
        let loops = |name: &str| outcome.task(name).unwrap().counts.loops;
        assert!(
            (197..=200).contains(&loops("periodic")),
            "{idle_path:?}: {}",
            loops("periodic")
        );
        assert!(
            (195..=200).contains(&loops("served")),
            "{idle_path:?}: {}",
            loops("served")
        );
    }
}

#[test]
fn a_cpu_that_is_off_needs_no_more_than_an_idle_one_and_its_cluster_may_sleep() {
    let busy = TaskSpec::forever(
        "busy",
        vec![Action::Run {
            time: Draw::Fixed(MS),
            capacity: 430,
        }],
    )
    .on(CpuSet::one(2));
    let off = |cpu| TaskSpec {
        loops: Some(1),
        ..TaskSpec::forever("operator", vec![Action::TakeOff(cpu)]).on(CpuSet::one(2))
    };
    let settings = Settings::default();
    let energy = |tasks| {
        let code = rcu(settings.form, settings.hz, Vec::new());
        run_tasks(&settings, tasks, code, SECOND).unwrap().integral
    };
    let (with, without) = (
        energy(vec![busy.clone(), off(0), off(1)]),
        energy(vec![busy]),
    );
    assert!(with <= without + without / 100, "{with} and {without}");
}

#[test]
fn a_cpu_that_has_to_stay_is_an_error() {
    let all = |cpus: &[usize]| {
        let actions = cpus.iter().map(|&cpu| Action::TakeOff(cpu)).collect();
        TaskSpec {
            loops: Some(1),
            ..TaskSpec::forever("operator", actions)
        }
    };
    let refused = |settings: &Settings, offloaded, cpus: &[usize]| {
        let code = rcu(settings.form, settings.hz, offloaded);
        run_tasks(settings, vec![all(cpus)], code, SECOND)
            .unwrap_err()
            .to_string()
    };
    assert!(
        refused(&Settings::default(), Vec::new(), &[1, 2, 3, 4, 0])
            .contains("CPU 0 cannot go off: it is the last")
    );
    let error = refused(&Settings::of_2013(), vec![1, 2, 3, 4], &[0]);
    assert!(
        error.contains("CPU 0") && error.contains("not offloaded"),
        "{error}"
    );
    assert!(refused(&Settings::default(), Vec::new(), &[9]).contains("CPUs are 0 to 4"));
}
