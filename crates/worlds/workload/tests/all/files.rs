//! The meaning of files of rt-app, and what is refused.

use document::{Document, Error};
use minikernel::{Action, CpuSet, Draw, Phase, Policy, Start};
use workload::{File, Options};

fn read(text: &str, options: &Options) -> Result<File, Error> {
    workload::read(&Document::new("w.json", text), options)
}

fn tasks(tasks: &str) -> String {
    format!("{{ \"tasks\": {{ {tasks} }} }}")
}

fn file(text: &str) -> File {
    read(text, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn wrong(text: &str) -> Error {
    read(text, &Options::default()).expect_err(text)
}

/// The message and the help in one.
fn said(error: &Error) -> String {
    format!("{error}; {}", error.help_text().unwrap_or_default())
}

fn run(us: u64) -> Action {
    Action::Run {
        time: Draw::Fixed(us * 1_000),
        capacity: 1024,
    }
}

#[test]
fn every_event_is_read_in_its_order() {
    let text = tasks(
        r#""t": { "run0": 1, "runtime": 2, "sleep": 3, "sleep": 4, "lock": "m", "wait": {"ref": "c", "mutex": "m"}, "unlock": "m",
           "signal": "c", "broad": "d", "sync": {"ref": "d", "mutex": "n"}, "barrier": "b", "suspend", "suspend1": "t", "resume": "u",
           "sem_post": "s", "sem_wait": "s", "yield": "", "fork": "u",
           "timer": {"ref": "unique", "period": 5}, "timer7": {"ref": "x", "period": 6, "mode": "absolute"},
           "timer": {"ref": "unique", "period": 7, "mode": "relative"},
           "stopwatt_run": {"low": 8, "high": 9}, "stopwatt_sleep": {"mean": 10}, "stopwatt_close": 2, "stopwatt_process": 1, "stopwatt_exit", },
           "u": { "run": 1 }"#,
    );
    let shared = |timer, us: u64, relative| Action::SharedTimer {
        timer,
        period: us * 1_000,
        relative,
    };
    let timer = |timer, us: u64, relative| Action::Timer {
        timer,
        period: us * 1_000,
        relative,
    };
    let ns = |us: u64| Draw::Fixed(us * 1_000);
    let expected = [
        run(1),
        Action::RunTime(ns(2)),
        Action::Sleep(ns(3)),
        Action::Sleep(ns(4)),
        Action::Lock(0),
        Action::Wait {
            condition: 0,
            mutex: 0,
        },
        Action::Unlock(0),
        Action::Signal(0),
        Action::Broadcast(1),
        Action::Lock(1),
        Action::Sync {
            condition: 1,
            mutex: 1,
        },
        Action::Unlock(1),
        Action::Barrier(0),
        Action::Suspend(2),
        Action::Suspend(2),
        Action::Resume(3),
        Action::SemPost(0),
        Action::SemWait(0),
        Action::Yield,
        Action::Fork(1),
        timer(0, 5, true),
        shared(0, 6, false),
        timer(0, 7, true),
        Action::Run {
            time: Draw::Uniform {
                low: 8_000,
                high: 9_000,
            },
            capacity: 1024,
        },
        Action::Sleep(Draw::Exponential { mean: 10_000 }),
        Action::FileClose,
        Action::FileClose,
        Action::ProcessLife,
        Action::Exit,
    ];
    // The barrier's task is not the one that is forked.
    let workload = file(&text).workload;
    assert_eq!(workload.tasks[0].phases, [Phase::once(expected.to_vec())]);
    assert_eq!(
        (
            workload.mutexes,
            workload.conditions,
            workload.semaphores,
            workload.barriers
        ),
        (vec!["m".to_owned(), "n".to_owned()], 4, vec![0], vec![1])
    );
}

#[test]
fn properties_and_phases_are_read() {
    let text = r#"{
        "resources": { "m": { "type": "mutex" } },
        "global": { "duration": 7, "default_policy": "SCHED_FIFO", "logdir": "./", "calibration": "CPU0" },
        "tasks": {
            "a": { "instance": 2, "delay": 30, "loop": 4, "policy": "SCHED_OTHER", "priority": -3, "cpus": [1, 3], "util_min": 0,
                   "phases": { "p": { "run": 1 }, "q": { "loop": 3, "cpus": [2], "sleep": 1, "priority": -3 }, "r": { "loop": -1, "run": 2 } } },
            "b": { "run": 1 },
            "c": { "instance": 0, "priority": 55, "run": 1 }
        } }"#;
    let file = file(text);
    assert_eq!(
        (file.duration_ns, &file.no_effect[..]),
        (
            Some(7_000_000_000),
            &["logdir".to_owned(), "calibration".to_owned()][..]
        )
    );
    let [first, second, b, c] = &file.workload.tasks[..] else {
        panic!("{file:?}")
    };
    assert_eq!(
        (&first.name[..], &second.name[..], &b.name[..]),
        ("a-0", "a-1", "b")
    );
    assert_eq!(
        (first.start, first.loops, first.policy),
        (Start::At(30_000), Some(4), Policy::Fair { nice: -3 })
    );
    assert_eq!(
        (first.cpus, b.cpus),
        (CpuSet::from_cpus([1, 3]), CpuSet::ALL)
    );
    let of: Vec<_> = first
        .phases
        .iter()
        .map(|phase| (phase.loops, phase.cpus))
        .collect();
    // The third has the task's CPUs again, and not those of the second.
    let own = Some(CpuSet::from_cpus([1, 3]));
    assert_eq!(
        of,
        [(Some(1), own), (Some(3), Some(CpuSet::one(2))), (None, own)]
    );
    assert_eq!(
        (b.loops, b.policy, b.start),
        (None, Policy::RealTime { priority: 10 }, Start::At(0))
    );
    assert_eq!(
        (c.start, c.policy),
        (Start::ByFork, Policy::RealTime { priority: 55 })
    );
}

#[test]
fn the_run_ends_with_all_tasks_if_all_end_or_with_those_that_say_so() {
    let mains = |text: &str| {
        file(&tasks(text))
            .workload
            .tasks
            .iter()
            .map(|task| task.main)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        mains(r#""a": {"loop": 1, "run": 1}, "b": {"loop": 2, "run": 1}"#),
        [true, true]
    );
    assert_eq!(
        mains(r#""a": {"loop": 1, "run": 1}, "b": {"run": 1}"#),
        [false, false]
    );
    assert_eq!(
        mains(r#""a": {"loop": 1, "run": 1, "stopwatt_main": 1}, "b": {"run": 1}"#),
        [true, false]
    );
    assert_eq!(
        mains(r#""a": {"loop": 1, "run": 1}, "b": {"instance": 0, "run": 1}"#),
        [true, false]
    );
}

#[test]
fn settings_stand_for_numbers_and_can_be_changed() {
    let text = r#"{ "tasks": { "a": { "instance": "$n", "stopwatt_pin": "$pin", "cpus": ["$cpu"],
            "timer": { "ref": "unique", "period": "$period", "stopwatt_step": 500 }, "run": 3 } },
        "global": { "stopwatt_capacity": "$capacity", "stopwatt_settings": { "n": 3, "pin": 1, "cpu": 1, "period": 1000, "capacity": 430 } } }"#;
    let periods = |file: &File| {
        let of = |task: &minikernel::TaskSpec| match task.phases[0].actions[0] {
            Action::Timer { period, .. } => (period, task.cpus),
            other => panic!("{other:?}"),
        };
        file.workload.tasks.iter().map(of).collect::<Vec<_>>()
    };
    let own = file(text);
    assert_eq!(own.capacity, 430);
    assert_eq!(
        periods(&own),
        [
            (1_000_000, CpuSet::one(0)),
            (1_500_000, CpuSet::one(1)),
            (2_000_000, CpuSet::one(2))
        ]
    );
    let settings = [("n", 2), ("pin", 0), ("period", 10)]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec();
    let changed = read(
        text,
        &Options {
            settings,
            capacity: Some(7),
            ..Options::default()
        },
    )
    .unwrap();
    assert_eq!(
        periods(&changed),
        [(10_000, CpuSet::one(1)), (510_000, CpuSet::one(1))]
    );
    assert_eq!((changed.capacity, changed.settings["n"]), (7, 2));
    let options = Options {
        settings: vec![("m".to_owned(), 1)],
        ..Options::default()
    };
    let error = read(text, &options).unwrap_err();
    assert!(
        said(&error).contains("no setting `m`; did you mean n? there are: capacity, cpu, n"),
        "{}",
        said(&error)
    );
    let round = read(
        text,
        &Options {
            cpus: 2,
            ..Options::default()
        },
    )
    .unwrap();
    assert_eq!(periods(&round)[2].1, CpuSet::one(0), "pinning goes round");
}

#[test]
fn a_barrier_counts_those_that_name_it() {
    let text = tasks(
        r#""a": {"instance": 3, "barrier": "x", "run": 1}, "b": {"barrier": "x", "barrier": "y"}"#,
    );
    assert_eq!(file(&text).workload.barriers, [4, 1]);
}

#[test]
fn bytes_are_work_if_it_is_said_how_many_are_written_in_a_microsecond() {
    let text = tasks(r#""a": {"mem": 4000, "memrun": 2000, "iorun": 100}"#);
    let options = Options {
        memory_bytes_per_us: Some(2_000),
        device_bytes_per_us: Some(10),
        ..Options::default()
    };
    let actions = read(&text, &options).unwrap().workload.tasks[0].phases[0]
        .actions
        .clone();
    assert_eq!(actions, [run(2), run(1), run(10)]);
    assert!(
        wrong(&text)
            .to_string()
            .contains("`mem` writes to memory, and it is not said how fast")
    );
}

#[test]
fn what_is_not_supported_is_refused_by_name_with_place_cause_and_what_would_be_right() {
    let global = |global: &str| {
        format!("{{ \"global\": {{ {global} }}, \"tasks\": {{ \"a\": {{ \"run\": 1 }} }} }}")
    };
    let cases = [
        (
            r#"{ "task": {} }"#.to_owned(),
            "w.json:1: the file has no `task`; did you mean tasks? there are: tasks, resources, global",
        ),
        (
            r#"{ "global": {} }"#.to_owned(),
            "w.json:1: there is no `tasks`; write",
        ),
        ("{}".to_owned(), "there is no `tasks`"),
        (tasks(""), "1: there is no task; write"),
        (
            "[]".to_owned(),
            "1: the file is an object, and not an array",
        ),
        (
            tasks(r#""a": {}"#),
            "1: task `a` does nothing; give it events",
        ),
        (
            tasks(r#""a": {"phases": {"p": {}}}"#),
            "there is no event in any phase",
        ),
        (
            tasks(r#""a": {"phases": {"p": {"run": 1}}, "run": 1}"#),
            "`run` stands beside `phases`",
        ),
        (
            tasks(r#""a": {"phases": {"p": {"run": 1, "delay": 1}}}"#),
            "`delay` is a property of a task, and not of a phase",
        ),
        (
            tasks(r#""a": {"slep": 1}"#),
            "1: `slep` is not an event, nor a property of a task or phase; did you mean sleep? events are run, runtime",
        ),
        (
            tasks(r#""a": {"run": -1}"#),
            "1: `run` in microseconds is not -1; it is an integer from 0 to 3600000000",
        ),
        (
            tasks(r#""a": {"run": 1.5}"#),
            "`run` in microseconds is not `1.5`",
        ),
        (
            tasks(r#""a": {"run": "$x"}"#),
            "there is no setting `x`; declare it in `global`",
        ),
        (
            tasks(r#""a": {"loop": 1, "run": 1, "loop": 2}"#),
            "`loop` stands here a second time; only events may repeat",
        ),
        (tasks(r#""a": {"loop": -2, "run": 1}"#), "`loop` is not -2"),
        (
            tasks(r#""a": {"policy": "SCHED_RR", "run": 1}"#),
            "SCHED_RR is not simulated; `SCHED_FIFO` runs",
        ),
        (
            tasks(r#""a": {"policy": "SCHED_DEADLINE", "run": 1}"#),
            "SCHED_DEADLINE is not simulated; write `\"policy\": \"SCHED_FIFO\"`",
        ),
        (
            tasks(r#""a": {"policy": "x", "run": 1}"#),
            "`x` is no policy; there are",
        ),
        (
            tasks(r#""a": {"priority": 20, "run": 1}"#),
            "the priority of SCHED_OTHER is not 20; it is an integer from -20 to 19",
        ),
        (
            tasks(r#""a": {"policy": "SCHED_FIFO", "priority": 0, "run": 1}"#),
            "the priority of SCHED_FIFO is not 0",
        ),
        (
            tasks(r#""a": {"util_min": 5, "run": 1}"#),
            "`util_min` clamps utilisation, which is not simulated; leave it out, or write 0",
        ),
        (tasks(r#""a": {"util_max": 5, "run": 1}"#), "or write 1024"),
        (
            tasks(r#""a": {"taskgroup": "x", "run": 1}"#),
            "the task group `x` does not begin at the root; write `/x`",
        ),
        (
            tasks(r#""a": {"taskgroup": "/x", "policy": "SCHED_FIFO", "run": 1}"#),
            "a task group of a task that is not SCHED_OTHER; leave",
        ),
        (
            tasks(r#""a": {"dl-reclaim": true, "run": 1}"#),
            "a `priority` that is higher the shorter the task's period is",
        ),
        (
            tasks(r#""a": {"dl-runtime": 5, "run": 1}"#),
            "`dl-runtime` is refused: deadline scheduling is not simulated",
        ),
        (
            tasks(r#""a": {"membind_nodes": [1], "run": 1}"#),
            "`membind_nodes` is refused: there is one memory",
        ),
        (
            tasks(r#""a": {"cpus": [], "run": 1}"#),
            "`cpus` is empty, so that the task may run nowhere",
        ),
        (
            tasks(r#""a": {"cpus": [64], "run": 1}"#),
            "a CPU is not 64; it is an integer from 0 to 63",
        ),
        (
            tasks(r#""a": {"cpus": 1, "run": 1}"#),
            "`cpus` is not `1`; it is an array",
        ),
        (
            tasks(r#""a": {"instance": 2000, "run": 1}"#),
            "the number of instances is not 2000",
        ),
        (
            tasks(r#""a": {"phases": {"p": {"run": 1, "priority": 3}}}"#),
            "a policy or priority that changes with the phase",
        ),
        (
            tasks(r#""a": {"fork": "b", "run": 1}"#),
            "there is no task `b`; did you mean a? there are: a",
        ),
        (
            tasks(r#""a": {"fork": "b"}, "b": {"suspend"}, "b": {"suspend"}"#),
            "there is more than one task `b`",
        ),
        (
            tasks(r#""a": {"suspend": 5}"#),
            "a task is suspended on a name, and not on `5`; write a name",
        ),
        (
            tasks(r#""a": {"wait": {"ref": "c"}}"#),
            "`wait` lacks `ref` or `mutex`",
        ),
        (
            tasks(r#""a": {"timer": {"ref": "unique"}}"#),
            "`timer` lacks `ref` or `period`",
        ),
        (
            tasks(r#""a": {"timer": {"ref": "unique", "period": 0}}"#),
            "a period in microseconds is not 0; it is an integer from 1",
        ),
        (
            tasks(r#""a": {"timer": {"ref": "unique", "period": 1, "mode": "x"}}"#),
            "a timer has no mode `x`; modes are",
        ),
        (
            tasks(r#""a": {"timer": {"ref": "unique", "periods": 1}}"#),
            "`timer` has no `periods`; did you mean period? there are: ref, period",
        ),
        (
            tasks(r#""a": {"exec": 1000, "period": 10000}"#),
            "`exec` is of rt-app's grammar of 2013",
        ),
        (
            tasks(r#""a": {"fork": "b"}, "b": {"barrier": "x"}"#),
            "a barrier in a task that is forked",
        ),
        (
            tasks(r#""a": {"lock": ""}"#),
            "`lock` is not empty; it is a name",
        ),
        (
            tasks(r#""a": {"stopwatt_run": {"low": 2, "high": 1}}"#),
            "`high` is less than `low`",
        ),
        (
            tasks(r#""a": {"stopwatt_run": {"low": 2}}"#),
            "is neither `low` and `high` nor `mean`",
        ),
        (
            tasks(r#""a": {"stopwatt_close": 0}"#),
            "`stopwatt_close` is not 0",
        ),
        (
            global(r#""pi_enabled": true"#),
            "priority inheritance of mutexes is not simulated; set",
        ),
        (
            global(r#""duration": 99999"#),
            "`duration` in seconds is not 99999; it is an integer from -1 to 36000",
        ),
        (
            global(r#""durations": 1"#),
            "`global` has no `durations`; did you mean duration? there are: duration",
        ),
        (
            global(r#""stopwatt_settings": {"a": "b"}"#),
            "a setting is not the string `b`",
        ),
        (
            global(r#""logdir": "x", "logdir": "y""#),
            "`logdir` stands here a second time",
        ),
    ];
    for (text, expected) in cases {
        let error = wrong(&text);
        assert!(
            said(&error).contains(expected),
            "{text}\n  {}\n  {expected}",
            said(&error)
        );
        assert!(
            error.help_text().is_some() && error.to_string().starts_with("w.json:"),
            "{error}"
        );
    }
    let place = wrong("{ \"tasks\": {\n  \"a\": {\n    \"run\": 1,\n    \"slep\": 2 } } }");
    assert_eq!(place.line(), Some(4));
}

#[test]
fn limits_hold() {
    let many = (0..5)
        .map(|number| format!("\"t{number}\": {{\"instance\": 1024, \"run\": 1}}"))
        .collect::<Vec<_>>()
        .join(",");
    assert!(
        wrong(&tasks(&many))
            .to_string()
            .contains("with `t4` there are more than 4096 tasks")
    );
    let events = "\"run\": 1,".repeat(2_000);
    assert!(
        wrong(&tasks(&format!("\"t\": {{\"instance\": 1000, {events} }}")))
            .to_string()
            .contains("more than 1000000 events")
    );
    let timers: String = (0..257)
        .map(|number| format!("\"timer\": {{\"ref\": \"unique{number}\", \"period\": 1}},"))
        .collect();
    assert!(
        wrong(&tasks(&format!("\"t\": {{ {timers} }}")))
            .to_string()
            .contains("more than 256 timers")
    );
}

#[test]
fn a_task_is_suspended_on_a_name_and_a_resume_that_nobody_waits_for_is_told_of() {
    let text = tasks(
        r#""display": {"suspend": "frame", "run": 1, "resume": "nobody", "resume": "nobody"}, "sound": {"instance": 2, "suspend"},
           "app": {"resume": "frame", "resume": "sound", "resume": "queue", "run": 1}, "worker": {"lock": "m", "wait": {"ref": "queue", "mutex": "m"}}"#,
    );
    let file = file(&text);
    let of = |task: usize| file.workload.tasks[task].phases[0].actions.clone();
    assert_eq!(of(0)[0], Action::Suspend(0));
    assert_eq!(
        (of(1), of(2)),
        (vec![Action::Suspend(2)], vec![Action::Suspend(2)]),
        "both instances"
    );
    assert_eq!(
        of(3)[..3],
        [Action::Resume(0), Action::Resume(2), Action::Resume(3)]
    );
    let lost = "Task display resumes nobody, on which no task is ever suspended: as in rt-app, the signal is lost.";
    assert_eq!(
        file.warnings,
        [lost],
        "once, and a resume wakes who waits, too"
    );
}

#[test]
fn sync_takes_the_mutex_unless_the_task_holds_it() {
    let sync = r#""sync": {"ref": "c", "mutex": "m"}"#;
    let text = tasks(&format!(
        r#""a": {{"lock": "m", {sync}, "unlock": "m", {sync}}}"#
    ));
    let (lock, unlock, sync) = (
        Action::Lock(0),
        Action::Unlock(0),
        Action::Sync {
            condition: 0,
            mutex: 0,
        },
    );
    assert_eq!(
        file(&text).workload.tasks[0].phases[0].actions,
        [lock, sync, unlock, lock, sync, unlock]
    );
}

#[test]
fn task_groups_lie_in_one_another_and_last_until_the_next() {
    let text = tasks(
        r#""a": {"taskgroup": "/x/y", "phases": {"p": {"run": 1}, "q": {"run": 1, "taskgroup": "/z"}, "r": {"run": 1}, "s": {"run": 1, "taskgroup": "/"}}},
           "b": {"taskgroup": "/x", "run": 1}, "c": {"taskgroup": "", "run": 1}"#,
    );
    let workload = file(&text).workload;
    let groups: Vec<_> = workload
        .groups
        .iter()
        .map(|group| (group.name.as_str(), group.parent))
        .collect();
    assert_eq!(groups, [("/x", 0), ("/x/y", 1), ("/z", 0)]);
    let of = |task: usize| {
        workload.tasks[task]
            .phases
            .iter()
            .map(|phase| phase.group)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (of(0), of(1), of(2)),
        (
            vec![Some(2), Some(3), None, Some(0)],
            vec![Some(1)],
            vec![None]
        )
    );
}
