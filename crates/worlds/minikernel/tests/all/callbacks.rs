//! The seam to the code that puts callbacks off, with stand-ins that are as simple as can be: what
//! that code asks for is what happens, it costs what it should, and without callbacks nothing does.

use crate::common::*;
use minikernel::callbacks::*;
use minikernel::placement::StayPut;
use minikernel::*;
use std::cell::Cell;
use std::rc::Rc;

/// Context in which the stand-in invokes callbacks, three jiffies after they were queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Softirq of the CPU that queued them, which keeps its tick.
    Tick,
    /// The same, but a CPU that idles stops its tick and wakes at multiples of 4 jiffies.
    WakeAt,
    /// A thread on CPU 4.
    Thread,
}

struct StandIn {
    how: How,
    /// For each CPU the jiffies in which its callbacks are ready.
    ready_at: Vec<Vec<u64>>,
    in_thread: Vec<u64>,
    idle: Vec<bool>,
    wrong: Rc<Cell<u32>>,
}

impl StandIn {
    fn new(how: How, wrong: &Rc<Cell<u32>>) -> Self {
        let (ready_at, idle) = (vec![Vec::new(); 5], vec![false; 5]);
        Self {
            how,
            ready_at,
            in_thread: Vec::new(),
            idle,
            wrong: Rc::clone(wrong),
        }
    }

    fn expect_awake(&self, place: CpuTime) {
        self.wrong
            .set(self.wrong.get() + u32::from(self.idle[place.cpu]));
    }

    fn is_ready(&self, place: CpuTime) -> bool {
        self.ready_at[place.cpu].iter().any(|&at| at <= place.jiffy)
    }
}

const DELAY: u64 = 3;

impl Callbacks for StandIn {
    fn threads(&self) -> Vec<Thread> {
        vec![Thread {
            name: "invoker".to_owned(),
            cpus: CpuSet::one(4),
        }]
    }

    fn call(&mut self, place: CpuTime, _callback: Callback, requests: &mut Requests) {
        self.expect_awake(place);
        if self.how == How::Thread {
            if self.in_thread.is_empty() {
                requests.wake.push(0);
            }
            self.in_thread.push(place.jiffy + DELAY);
        } else {
            self.ready_at[place.cpu].push(place.jiffy + DELAY);
        }
    }

    fn context_switch(&mut self, place: CpuTime, _requests: &mut Requests) {
        self.expect_awake(place);
    }

    fn tick(&mut self, place: CpuTime, _interrupted: InterruptedCode, requests: &mut Requests) {
        self.expect_awake(place);
        requests.softirq = self.is_ready(place);
    }

    fn softirq(&mut self, place: CpuTime, requests: &mut Requests) -> bool {
        self.expect_awake(place);
        let before = self.ready_at[place.cpu].len();
        self.ready_at[place.cpu].retain(|&at| at > place.jiffy);
        let invoked = before - self.ready_at[place.cpu].len();
        requests
            .invoke
            .extend((0..invoked).map(|_| Callback { by: 0, lazy: false }));
        false
    }

    fn idle_need(&mut self, place: CpuTime, requests: &mut Requests) -> IdleNeed {
        self.expect_awake(place);
        if self.ready_at[place.cpu].is_empty() {
            return IdleNeed::StopTick;
        }
        if self.how == How::Tick {
            return IdleNeed::KeepTick;
        }
        requests.softirq = self.is_ready(place);
        IdleNeed::WakeAt((place.jiffy + 4).next_multiple_of(4))
    }

    fn idle_enter(&mut self, place: CpuTime, _requests: &mut Requests) {
        self.expect_awake(place);
        self.idle[place.cpu] = true;
    }

    fn idle_exit(&mut self, place: CpuTime, _requests: &mut Requests) {
        self.idle[place.cpu] = false;
    }

    fn thread(&mut self, _thread: ThreadNumber, place: CpuTime, requests: &mut Requests) -> Step {
        self.expect_awake(place);
        let before = self.in_thread.len();
        self.in_thread.retain(|&at| at > place.jiffy);
        let invoked = before - self.in_thread.len();
        requests
            .invoke
            .extend((0..invoked).map(|_| Callback { by: 0, lazy: false }));
        Step::Sleep {
            until: self.in_thread.first().copied(),
        }
    }
}

fn with(how: How, settings: &Settings, workload: &Workload, time_ns: u64) -> Outcome {
    let wrong = Rc::new(Cell::new(0));
    let code: Box<dyn Callbacks> = Box::new(StandIn::new(how, &wrong));
    let outcome = run(
        &tc2(300),
        settings,
        workload,
        Box::new(StayPut),
        Some(code),
        time_ns,
    )
    .unwrap();
    assert_eq!(outcome.total(), outcome.integral);
    assert_eq!(
        wrong.get(),
        0,
        "code was called on a CPU that it was told idles"
    );
    outcome
}

/// A task on each of these CPUs that closes a file every so often, at the same times.
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

fn settings() -> Settings {
    Settings {
        hz: 100,
        ..Settings::of_2013()
    }
}

/// A thread that is woken while it takes its first step: by itself, as it looks to the kernel.
#[derive(Default)]
struct WokenInItsStep {
    steps: Rc<Cell<u32>>,
}

impl Callbacks for WokenInItsStep {
    fn threads(&self) -> Vec<Thread> {
        vec![Thread {
            name: "thread".to_owned(),
            cpus: CpuSet::one(4),
        }]
    }
    fn call(&mut self, _place: CpuTime, _callback: Callback, requests: &mut Requests) {
        requests.wake.push(0);
    }
    fn context_switch(&mut self, _place: CpuTime, _requests: &mut Requests) {}
    fn tick(&mut self, _place: CpuTime, _interrupted: InterruptedCode, _requests: &mut Requests) {}
    fn softirq(&mut self, _place: CpuTime, _requests: &mut Requests) -> bool {
        false
    }
    fn idle_need(&mut self, _place: CpuTime, _requests: &mut Requests) -> IdleNeed {
        IdleNeed::StopTick
    }
    fn idle_enter(&mut self, _place: CpuTime, _requests: &mut Requests) {}
    fn idle_exit(&mut self, _place: CpuTime, _requests: &mut Requests) {}
    fn thread(&mut self, _thread: ThreadNumber, place: CpuTime, requests: &mut Requests) -> Step {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() == 1 {
            requests.wake.push(0);
            return Step::Sleep { until: None };
        }
        // Long before that it is woken, and then sleeps for longer: the timer of the first sleep
        // must not end the second.
        if self.steps.get() < 4 {
            Step::Sleep {
                until: Some(place.jiffy + 30),
            }
        } else {
            Step::Sleep { until: None }
        }
    }
}

#[test]
fn no_wake_up_of_a_thread_is_lost_and_none_comes_from_an_earlier_sleep() {
    let code = WokenInItsStep::default();
    let steps = Rc::clone(&code.steps);
    let until = |ms: u64| {
        steps.set(0);
        let code = Box::new(WokenInItsStep {
            steps: Rc::clone(&steps),
        });
        // Closes at 100 and 200 ms; a jiffy is 10 ms.
        let actions = [Action::Sleep(Draw::Fixed(100 * MS)), Action::FileClose];
        let task = TaskSpec::forever(
            "closer",
            [actions, actions, [Action::Suspend(0); 2]].concat(),
        )
        .on(CpuSet::one(2));
        let workload = Workload {
            tasks: vec![task],
            conditions: 1,
            ..Workload::default()
        };
        run(
            &tc2(0),
            &settings(),
            &workload,
            Box::new(StayPut),
            Some(code),
            ms * MS,
        )
        .unwrap();
        steps.get()
    };
    assert_eq!([until(90), until(190), until(290)], [0, 2, 3]);
    // The sleep from 100 ms would have ended at 400 ms, the one from 200 ms does at 500 ms.
    assert_eq!([until(490), until(600)], [3, 4]);
}

#[test]
fn without_callbacks_it_makes_no_difference_which_code_there_is() {
    for settings in [settings(), Settings::default()] {
        let none = run_put(&tc2(300), &settings, &audio(), 2 * SECOND);
        for how in [How::Tick, How::WakeAt, How::Thread] {
            let mut some = with(how, &settings, &audio(), 2 * SECOND);
            let thread = some.tasks.pop().unwrap();
            assert_eq!(
                (thread.is_kernel_thread, thread.counts),
                (true, TaskCounts::default())
            );
            assert_eq!(some, none, "{how:?}");
        }
    }
}

#[test]
fn an_idle_cpu_keeps_its_tick_for_callbacks_and_one_without_does_not() {
    for form in [Form::Y2013, Form::Modern] {
        let settings = Settings { form, ..settings() };
        // A callback every second: three ticks of 10 ms each time.
        let outcome = with(
            How::Tick,
            &settings,
            &closers(&[2], SECOND),
            10 * SECOND - 500 * MS,
        );
        let cpu = &outcome.cpus[2];
        assert_eq!((cpu.queued, cpu.invoked_in_softirq), (9, 9));
        assert_eq!(
            (cpu.ticks_for_rcu, cpu.woken_by(WakeCause::TickForRcu)),
            (9 * DELAY, 9 * DELAY)
        );
        assert!(outcome.energy(Owner::TickForRcu) > 0);
        // Nine softirqs with a callback each, at a microsecond for the one and the other; nobody
        // else runs in the cluster then.
        let each = (2_000_000 * 1024_u128).div_ceil(430) * (1024 + 4905);
        assert_eq!(outcome.energy(Owner::Callbacks), 9 * each);
        let others = outcome
            .cpus
            .iter()
            .enumerate()
            .filter(|&(number, _)| number != 2);
        assert!(others.into_iter().all(|(_, cpu)| cpu.idle_ticks == 0));
    }
}

#[test]
fn a_tick_that_a_timer_comes_before_is_not_what_keeps_a_cpu_up() {
    for form in [Form::Y2013, Form::Modern] {
        let settings = Settings {
            form,
            costs: free(),
            latency_limit_ns: 1_000,
            timer_slack_ns: 0,
            ..settings()
        };
        let mut workload = closers(&[2], SECOND);
        // Every 4 ms, and a tick is 10 ms: of 30 ms that a callback waits, ticks are the next event
        // from 8 to 10 and from 28 to 30 ms.
        let timer = Action::Timer {
            timer: 0,
            period: 4 * MS,
            relative: false,
        };
        workload
            .tasks
            .push(TaskSpec::forever("often", vec![timer]).on(CpuSet::one(2)));
        let outcome = with(How::Tick, &settings, &workload, 3 * SECOND - 500 * MS);
        let cpu = &outcome.cpus[2];
        assert_eq!(
            (cpu.invoked_in_softirq, cpu.ticks_for_rcu),
            (2, 4),
            "{form:?}"
        );
        let owned = outcome.energy(Owner::TickForRcu) as f64 / 1e12;
        assert!(
            (owned / (2.0 * 0.004 * 25.0 / 3.0) - 1.0).abs() < 0.01,
            "{form:?}: {owned}"
        );
    }
}

#[test]
fn idling_between_ticks_that_callbacks_need_belongs_to_those_ticks() {
    // WFI only, so that the tick is all that keeps the cluster up, and free work, so that nothing
    // else is owned by anybody.
    let settings = Settings {
        costs: free(),
        latency_limit_ns: 1_000,
        timer_slack_ns: 0,
        hz: 250,
        ..settings()
    };
    let outcome = with(How::Tick, &settings, &closers(&[2], SECOND), 1_500 * MS);
    // From the close at 1 s to the tick at 1.012 s the little cluster idles at 25 units; all CPUs
    // are in WFI, and CPU 2 is one of three.
    let owned = outcome.energy(Owner::TickForRcu) as f64 / 1e12;
    assert!((owned / (0.012 * 25.0 / 3.0) - 1.0).abs() < 0.01, "{owned}");
    // Where the others sleep deeply, it is the tick alone that keeps the cluster up. The menu of
    // 2013 would take the first of these stays for as long as the ones before, although the tick is
    // near.
    let governor = idle::Kind::menu(6, 1);
    let deep = Settings {
        latency_limit_ns: idle::NO_LIMIT_NS,
        governor,
        ..settings
    };
    let outcome = with(
        How::Tick,
        &Settings { hz: 1000, ..deep },
        &closers(&[2], SECOND),
        1_500 * MS,
    );
    let owned = outcome.energy(Owner::TickForRcu) as f64 / 1e12;
    assert!((owned / (0.003 * 25.0) - 1.0).abs() < 0.05, "{owned}");
}

#[test]
fn wake_ups_that_callbacks_ask_for_come_in_the_same_jiffy_everywhere() {
    let outcome = with(
        How::WakeAt,
        &Settings {
            record: true,
            ..settings()
        },
        &closers(&[0, 2, 3], SECOND),
        10 * SECOND - 500 * MS,
    );
    for cpu in [0, 2, 3] {
        assert_eq!(outcome.cpus[cpu].invoked_in_softirq, 9);
        assert_eq!(outcome.cpus[cpu].ticks_for_rcu, 0);
        // A callback is ready after 3 jiffies; its CPU is awake at a multiple of 4 that is at least
        // 4 away.
        assert_eq!(
            outcome.cpus[cpu].woken_by(WakeCause::RcuTimer),
            9,
            "CPU {cpu}"
        );
    }
    // Each wake-up's interrupt, the tick that its handler is, and the turn of the idle loop after
    // it belong to it.
    let little = 2 * 9 * (5_000_000 * 1024_u128).div_ceil(430) * 1024;
    let big = 9 * 5_000_000 * 6997;
    let owned = outcome.energy(Owner::TickForRcu);
    assert!(
        owned > little + big && owned < 8 * (little + big),
        "{owned}, cores alone {}",
        little + big
    );
    let rcu_timer = WakeCause::RcuTimer as u32;
    let mut times: Vec<_> = outcome
        .events
        .iter()
        .filter(|event| event.point == events::IDLE_LEAVE.id() && event.argument == rcu_timer)
        .map(|event| (event.time - outcome.begin) / 10_000_000_000)
        .collect();
    times.dedup();
    assert!(
        times.len() == 9 && times.iter().all(|jiffy| jiffy % 4 == 0),
        "{times:?}"
    );
}

#[test]
fn callbacks_of_a_thread_are_invoked_where_it_runs_and_cost_wake_ups() {
    let outcome = with(
        How::Thread,
        &settings(),
        &closers(&[0, 2], SECOND),
        10 * SECOND - 500 * MS,
    );
    assert_eq!(
        (
            outcome.cpus[4].invoked_in_threads,
            outcome.cpus[4].invoked_in_softirq
        ),
        (18, 0)
    );
    assert!(
        outcome
            .cpus
            .iter()
            .all(|cpu| cpu.ticks_for_rcu == 0 && cpu.invoked_in_softirq == 0)
    );
    assert!(outcome.cpus[4].woken_by(WakeCause::RcuThread) >= 9);
    assert!(outcome.energy(Owner::RcuThread) > 0 && outcome.energy(Owner::TickForRcu) == 0);
    // 18 callbacks of a microsecond at capacity 1024, on a little core at 430.
    let callbacks = 18 * 1_000_000_u64 * 1024 / 430;
    let owned = outcome.energy(Owner::Callbacks) as f64;
    assert!(
        (owned / (callbacks as f64 * (1024.0 + 4905.0)) - 1.0).abs() < 1e-3,
        "{owned}"
    );
}
