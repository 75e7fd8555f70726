//! Traces as people have them, and as they should not be.

use import::ftrace::{ClusterIdle, Error, Event, Options, Point, Trace, read};
use std::io::Cursor;

fn options(lenient: bool) -> Options {
    Options {
        file: "trace.txt".to_owned(),
        lenient,
        ..Options::default()
    }
}

fn events(text: impl AsRef<[u8]>, lenient: bool) -> Result<(Trace, Vec<Event>), Error> {
    let mut events = Vec::new();
    let mut take = |some: &[Event]| {
        events.extend_from_slice(some);
        Ok(())
    };
    let trace = read(
        Cursor::new(text.as_ref()),
        &options(lenient),
        Some(&mut take),
    )?;
    assert_eq!(trace.events, events.len() as u64);
    Ok((trace, events))
}

fn good(text: impl AsRef<[u8]>) -> (Trace, Vec<Event>) {
    events(text, false).unwrap_or_else(|error| panic!("{error}"))
}

fn wrong(text: impl AsRef<[u8]>) -> String {
    match events(text, false) {
        Err(Error::Import(error)) => {
            assert!(!error.help.is_empty());
            error.to_string()
        }
        other => panic!("{other:?}"),
    }
}

const GUEST: &[u8] = include_bytes!("../../data/guest.trace");

fn points(events: &[Event]) -> Vec<Point> {
    events.iter().map(|event| event.point).collect()
}

#[test]
fn a_trace_of_our_guest_is_read_to_its_last_event() {
    let (trace, events) = good(GUEST);
    let text = std::str::from_utf8(GUEST).unwrap();
    for (point, kernel) in [
        (Point::IrqEnter, " irq_handler_entry: "),
        (Point::SchedWakeup, " sched_wakeup: "),
        (Point::SchedSwitch, " sched_switch: "),
        (Point::Ipi, " ipi_entry: "),
        (Point::IdleMiss, " cpu_idle_miss: "),
        (
            Point::TickExpire,
            " hrtimer_expire_entry: hrtimer=000000007ba155ba function=tick_sched_timer ",
        ),
    ] {
        let lines = text
            .lines()
            .filter(|line| line.contains(kernel) && !line.starts_with('#'))
            .count();
        let lines = if point == Point::TickExpire {
            text.matches("hrtimer_expire_entry").count()
                - text.matches("function=hrtimer_wakeup now").count()
        } else {
            lines
        };
        assert_eq!(
            events.iter().filter(|event| event.point == point).count(),
            lines,
            "{kernel}"
        );
    }
    assert_eq!(trace.kernel.governor.as_deref(), Some("menu"));
    assert_eq!(trace.kernel.states.len(), 6);
    assert_eq!(trace.kernel.interrupts[&11], "arch_timer");
    assert_eq!(trace.kernel.tasks[&14], "rcu_sched");
    assert_eq!(trace.idle.keys().copied().collect::<Vec<_>>(), [0, 1]);
    assert!(events.is_sorted_by_key(|event| event.time_ns));
}

#[test]
fn every_form_of_a_line_is_understood() {
    let forms = [
        "          <idle>-0       [002] d..1.  1000.000123: cpu_idle: state=1 cpu_id=2",
        "          <idle>-0       [002] d..1  1000.000123: cpu_idle: state=1 cpu_id=2",
        "          <idle>-0     [002] 1000.000123: cpu_idle:             state=1 cpu_id=2",
        "          <idle>-0     (-----) [002] d..1.  1000.000123: cpu_idle: state=1 cpu_id=2",
        "          <idle>-0     (    0) [002] ....  1000.000123: cpu_idle: state=1 cpu_id=2",
        "          <idle>-0       [002]  1000.000123000: cpu_idle: state=1 cpu_id=2",
        "a b: c-[7] [x] 1.2:-77 [002] d..1.  1000.000123: cpu_idle: state=1 cpu_id=2\r",
    ];
    for form in forms {
        let (_, events) = good(format!("# tracer: nop\n#\n{form}\n"));
        let right = Event {
            time_ns: 1_000_000_123_000,
            ticks: 0,
            argument: 1,
            cpu: 2,
            point: Point::IdleEnter,
        };
        assert_eq!(events, [right], "{form}");
    }
}

#[test]
fn the_schedulers_events_are_understood_as_the_kernel_writes_them_and_as_trace_cmd_does() {
    let forms = [
        "sched_switch: prev_comm=a b prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=next_pid=9 x:y next_pid=42 next_prio=120",
        "sched_switch: prev_comm=a b prev_pid=1 prev_prio=120 prev_state=4096 next_comm=next_pid=9 x:y next_pid=42 next_prio=120",
        "sched_switch:         a b:1 [120] S ==> next_pid=9 x:y:42 [120]",
    ];
    for form in forms {
        let (trace, events) = good(format!("x-1 [000] d... 1.000001: {form}\n"));
        let right = Event {
            time_ns: 1_000_001_000,
            ticks: 1,
            argument: 42,
            cpu: 0,
            point: Point::SchedSwitch,
        };
        assert_eq!(events, [right], "{form}");
        assert_eq!(
            (&*trace.kernel.tasks[&1], &*trace.kernel.tasks[&42]),
            ("a b", "next_pid=9 x:y"),
            "{form}"
        );
    }
    for form in [
        "sched_wakeup: comm=sh pid=1642 prio=120 target_cpu=002",
        "sched_wakeup: comm=sh pid=1642 prio=120 success=1 target_cpu=002",
        "sched_wakeup: sh:1642 [120] success=1 CPU:002",
        "sched_wakeup:         sh:1642 [120]<CPU:002>",
    ] {
        let (_, events) = good(format!("x-1 [000] d... 1.000001: {form}\n"));
        let right = Event {
            time_ns: 1_000_001_000,
            ticks: 2,
            argument: 1642,
            cpu: 0,
            point: Point::SchedWakeup,
        };
        assert_eq!(events, [right], "{form}");
    }
}

#[test]
fn a_page_of_systrace_is_read_where_it_holds_the_trace() {
    let line = "<idle>-0 (-----) [001] d..2 5.000001: cpu_idle: state=0 cpu_id=1";
    let page = format!(
        "<!DOCTYPE html>\n<html>\n<script>var x = '[001] 1.000000: cpu_idle: state=7 cpu_id=0';\n</script>\n\
         <script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n{line}\nthe page's own words\n</script>\n</html>\n"
    );
    let (trace, events) = good(page);
    assert_eq!(
        (points(&events), trace.format.as_str()),
        (vec![Point::IdleEnter], "systrace page")
    );
    let old = format!(
        "<html>\n<script>\n  var linuxPerfData = \"\\\n# tracer: nop\\n\\\n{line}\\n\\\n\\n\";\n</script>\n"
    );
    assert_eq!(good(old).1.len(), 1);
}

#[test]
fn lost_events_overwritten_buffers_twins_and_disorder_are_said_and_do_no_harm() {
    let text = "# entries-in-buffer/entries-written: 5/12   #P:8\n\
                x-0 [000] d... 1.000001: cpu_idle: state=1 cpu_id=0\n\
                CPU:0 [LOST 17 EVENTS]\n\
                x-0 [000] d... 3.000001: cpu_idle: state=4294967295 cpu_id=0\n\
                x-0 [000] d... 3.000001: cpu_idle: state=4294967295 cpu_id=0\n\
                x-0 [001] d... 2.000001: cpu_idle: state=2 cpu_id=1\n\
                ##### CPU 3 buffer started ####\n\
                x-0 [001] d... 4.000001: cpu_idle: state=4294967295 cpu_id=1\n";
    let (trace, events) = good(text);
    use Point::{IdleEnter, IdleExit, Lost};
    assert_eq!(
        points(&events),
        [IdleEnter, IdleEnter, Lost, IdleExit, IdleExit]
    );
    assert_eq!(events[2].argument, 17);
    assert!(
        !trace.idle.contains_key(&0),
        "an interval with a gap in it is none"
    );
    assert_eq!(trace.idle[&1][&2].total_ns, 2_000_000_000);
    let doubts = trace.doubts.join("\n");
    for part in [
        "7 of 12 events",
        "1 gaps",
        "17 events were lost",
        "1 events stood twice",
        "1 events came before",
    ] {
        assert!(doubts.contains(part), "no {part} in {doubts}");
    }
}

/// The errors of idlestat 0.8: it cannot read the headers of real kernels, crashes when the trace
/// has more CPUs than the host, needs the host's state names, and misjudges stays that end exactly
/// at a boundary.
#[test]
fn what_idlestat_trips_over() {
    let mut text = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:1024\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n".to_owned();
    for (time, state) in [("2.000000", 3), ("2.000300", u32::MAX)] {
        text += &format!("<idle>-0 [1023] d..1. {time}: cpu_idle: state={state} cpu_id=1023\n");
    }
    let (trace, _) = good(&text);
    let stay = trace.idle[&1023][&3];
    assert_eq!(
        (
            stay.entered,
            stay.total_ns,
            stay.shortest_ns,
            stay.longest_ns
        ),
        (1, 300_000, 300_000, 300_000)
    );
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let line = "<idle>-0 [000] d..1. 1.000001: cpu_idle: state=1 cpu_id=0\n";
    for (text, message) in [
        ("".to_owned(), "trace.txt: no event of a trace was found"),
        ("just words\n".to_owned(), "trace.txt: no event of a trace was found"),
        (format!("{line}<idle>-0 [000] d..1. 1.0\n"), "trace.txt:2: the event has no time in seconds"),
        (format!("{line}swapper 0 [000] power:cpu_idle: state=1 cpu_id=0\n"), "trace.txt:2: the event has no time in seconds"),
        (
            "  <idle>-0       0d..1.   12us : cpu_idle: state=1 cpu_id=0\n".to_owned(),
            "trace.txt:1: the event has no time in seconds",
        ),
        (
            format!("{line}swapper 0 1.000002: timer:tick_stop: success=1 dependency=NONE\n"),
            "trace.txt:2: the event has no CPU: print it too, as `perf script -F comm,tid,cpu,time,event,trace`",
        ),
        (
            "a-1 [000] d..1. 1.000001: foo: x=1\na-1 [000] d..1. 1.000002: bar: x=1\nb-1 [000] d..1. 1.000003: foo: x=1\n".to_owned(),
            "trace.txt: none of the 3 events in it is one that is read: bar 1, foo 2",
        ),
        (
            format!("{line}<idle>-0 [000] d..1. 1.000001: cpu_idle: state=x cpu_id=0\n"),
            "trace.txt:2: `cpu_idle` has no `state` that could be used",
        ),
        (
            format!("{line}<idle>-0 [000] d..1. 1.000001: cpu_idle: state=300 cpu_id=0\n"),
            "trace.txt:2: `cpu_idle` has no `state` that could be used",
        ),
        (
            format!("{line}<idle>-0 [000] d..1. 1.000001: cpu_idle: state=1 cpu_id=99999\n"),
            "trace.txt:2: `cpu_idle` has no `cpu_id` that could be used",
        ),
        (
            format!("{line}<idle>-0 [000] d..1. 123456: cpu_idle: state=1 cpu_id=0\n"),
            "trace.txt:2: the time is no seconds: record with a clock that counts them (trace_clock local, mono or boot)",
        ),
        ("\x1f\u{8b}".to_owned(), "trace.txt: no event of a trace was found"),
        ("abc\0def".to_owned(), "trace.txt: the file is binary and no known trace"),
    ] {
        assert_eq!(wrong(&text), message, "{text}");
    }
    assert_eq!(
        wrong(b"PK\x03\x04\x00"),
        "trace.txt: the file is compressed (zip)"
    );
    let damaged = line.replace("state=1", "state=x");
    let (trace, some) = events(
        format!("{line}{damaged}{line}{}", line.replace("1.0", "2.0")),
        true,
    )
    .unwrap();
    assert_eq!(
        (trace.left_out, trace.warnings.len(), some.len()),
        (1, 1, 2)
    );
    let Err(Error::Import(error)) = events(format!("{damaged}{line}{damaged}"), true) else {
        panic!("half is damaged")
    };
    assert_eq!(
        error.to_string(),
        "trace.txt:1: 2 of 3 events are damaged; here: `cpu_idle` has no `state` that could be used"
    );
}

const TWO: [(u64, Point); 2] = [
    (1_000_000_000_000, Point::IdleEnter),
    (1_004_000_000_000, Point::IdleExit),
];

/// The times and points of a stay of four seconds on CPU 3, in whatever form it is.
fn stay(text: &str) -> Trace {
    let (trace, events) = good(text);
    assert!(events.iter().all(|event| event.cpu == 3), "{text}");
    assert_eq!(
        events
            .iter()
            .map(|event| (event.time_ns, event.point))
            .collect::<Vec<_>>(),
        TWO,
        "{text}"
    );
    trace
}

#[test]
fn what_perf_script_prints_is_read_in_each_of_its_forms() {
    let head = "# ========\n# hostname : board\n# cmdline : /usr/bin/perf record -a -e power:cpu_idle sleep 1\n# ========\n#\n";
    let chain = "\tffff800080f2a1b4 cpuidle_enter_state+0x2c4 ([kernel.kallsyms])\n        ffff800080f2a520 [unknown]\n\n";
    for before in [
        "swapper     0 [003]  1000.000000: ",
        "         swapper     0 [003] 1000.000000000:     ",
        "swapper     0/0     [003]  1000.000000:          1             ",
        "[003]  1000.000000:               ",
        "swapper  1000.000000: ",
        "a b:c     7 [003] d..2  1000.000000: ",
    ] {
        let line = |time: &str, state: u32| {
            format!(
                "{}power:cpu_idle: state={state} cpu_id=3\n",
                before.replace("1000.000000", time)
            )
        };
        let (first, last) = (line("1000.000000", 1), line("1004.000000", u32::MAX));
        assert_eq!(stay(&format!("{first}{last}")).doubts, [""; 0], "{before}");
        stay(&format!("{head}{first}{chain}{last}{chain}"));
    }
    let others = "perf  4355 [003] 1001.000000: sched:sched_process_exec: filename=x pid=1\n\
                  perf  4355 [003] 1002.000000: PERF_RECORD_MMAP2 -1/0: [0x1]\n";
    let text = format!(
        "swapper 0 [003] 1000.000000: power:cpu_idle: state=1 cpu_id=3\n{others}swapper 0 [003] 1004.000000: power:cpu_idle: state=4294967295 cpu_id=3\n"
    );
    let counted = stay(&text).others;
    assert_eq!(
        counted.into_iter().collect::<Vec<_>>(),
        [
            ("(no event)".to_owned(), 1),
            ("sched_process_exec".to_owned(), 1)
        ]
    );
}

#[test]
fn what_other_tracers_write_between_events_is_counted_or_told() {
    let line = |time: &str, state: u32| {
        format!("<idle>-0 [003] d..1. {time}: cpu_idle: state={state} cpu_id=3\n")
    };
    let (first, last) = (line("1000.000000", 1), line("1004.000000", u32::MAX));
    for (foreign, counted, told) in [
        (
            "app-1 [003] .... 1001.000000: <stack trace>\n => do_idle\n => 0xffff\n",
            Some("(no event)"),
            false,
        ),
        (
            "app-1 [003] .... 1001.000000: <user stack trace>\n =>  <00007f0c>\n/lib/x[+0x7]\n",
            Some("(no event)"),
            false,
        ),
        (
            "app-1 [003]   1001.000000: kernel_stack:         <stack trace >\n    => f (ffffffff8121a0db)\n",
            Some("kernel_stack"),
            false,
        ),
        (
            "app-1 [003] .... 1001.000000: user_stack:\n /lib/x[+0x7]\n",
            Some("user_stack"),
            false,
        ),
        (
            "app-1 [003] .... 1001.000000: mutex_unlock <-rb_simple_write\n",
            Some("(no event)"),
            false,
        ),
        (
            "app-1 [003] .... 1001.000000: do_idle: entering idle: now\n",
            Some("do_idle"),
            false,
        ),
        (
            "app-1 [003] .... 1001.000000: bprint: do_idle: a\nb\n",
            Some("bprint"),
            false,
        ),
        (
            "osn/3-1 [003] .... 1001.000000: 1000000 190 99.98100 9 18 0 1007 18 1\n",
            Some("(no event)"),
            false,
        ),
        (
            "<idle>-0 [003] d.h1 1001.000000: #1 context irq timer_latency 932 ns\n",
            Some("(no event)"),
            false,
        ),
        (
            "<...>-17 [003] d... 1001.000000: #1 inner/outer(us): 12/14 ts:1499801089.066141940\n",
            Some("(no event)"),
            false,
        ),
        (" 3)   0.500 us    |  mutex_unlock();\n", None, true),
        (
            " 3)               |  /* cpu_idle: state=1 cpu_id=3 */\n",
            None,
            true,
        ),
        ("----------------\n", None, true),
        ("Any idea?\n", None, true),
    ] {
        let trace = stay(&format!("{first}{foreign}{last}"));
        assert_eq!(
            trace.others.keys().map(String::as_str).collect::<Vec<_>>(),
            counted.into_iter().collect::<Vec<_>>(),
            "{foreign}"
        );
        assert_eq!(
            trace.doubts.len(),
            usize::from(told),
            "{foreign}: {:?}",
            trace.doubts
        );
        let trace = stay(&format!("# tracer: osnoise\n#\n{first}{foreign}{last}"));
        assert!(
            trace.others.keys().all(|name| name != "(no event)"),
            "{foreign}"
        );
    }
}

#[test]
fn a_trace_is_read_out_of_a_mail_and_a_log() {
    let line = |time: &str, state: u32, miss: &str| {
        format!(
            "          <idle>-0       [003] d..1. {time}: cpu_idle: state={state} cpu_id=3{miss}\n"
        )
    };
    let text = format!(
        "{}{}",
        line("1000.000000", 1, ""),
        line("1004.000000", u32::MAX, "")
    );
    for before in [
        "> ",
        ">",
        ">> ",
        "[  812.000123] ",
        "2026-10-02T08:11:01Z ",
        "Oct  2 08:11:01 board kernel: ",
    ] {
        let quoted: String = text
            .lines()
            .map(|line| format!("{before}{line}\r\n"))
            .collect();
        stay(&quoted);
        let mail = format!(
            "Hi, here is what I see:\n\n> It sleeps, [3] times.\n>\n{quoted}{before}\n{before}Any idea?\nThanks\n"
        );
        assert_eq!(stay(&mail).doubts.len(), 1);
    }
    stay(&format!("\u{feff}\u{1b}[1m{}\u{1b}[0m", text.trim_end()));
    stay(&text.replace("       [", "\t["));
    // A mail of 72 columns breaks lines at a blank, with a blank before the end or without.
    for end in ["\n", " \n"] {
        let mail: String = text
            .lines()
            .map(|line| format!("{}\n", line.replace(" cpu_id=", &format!("{end}cpu_id="))))
            .collect();
        stay(&mail);
        stay(
            &mail
                .lines()
                .map(|line| format!("> {line}\n"))
                .collect::<String>(),
        );
    }
    let miss = "          <idle>-0       [003] .N.1.   100.464441: cpu_idle_miss: cpu_id=3 \nstate=2 type=above\n";
    let (trace, _) = good(miss);
    assert_eq!(trace.idle[&3][&2].above, 1);
}

#[test]
fn domain_states_are_read_as_the_kernel_prints_them() {
    for (state, number) in [("0x40000003", 0x4000_0003), ("7", 7)] {
        let (_, events) = good(format!(
            "<idle>-0 [001] d..1. 1.000001: psci_domain_idle_enter: cpu_id=1 state={state} is_s2idle=no\n\
             <idle>-0 [001] d..1. 1.000002: psci_domain_idle_exit: cpu_id=1 state={state} is_s2idle=no\n"
        ));
        assert_eq!(
            points(&events),
            [Point::DomainIdleEnter, Point::DomainIdleExit]
        );
        assert!(
            events
                .iter()
                .all(|event| (event.cpu, event.argument) == (1, number))
        );
    }
}

/// A file that an editor saved, or that was cut anywhere, has no end of its last line. What is
/// beyond doubt in it counts, the rest is left out and said.
#[test]
fn a_last_line_without_an_end_counts_where_it_is_beyond_doubt() {
    let line = "<idle>-0 [012] d..1. 1.000001: cpu_idle: state=1 cpu_id=12\n";
    let timer = "<idle>-0 [012] d..1. 1.000002: hrtimer_start: hrtimer=0000000077 function=hrtimer_wakeup expires=5000000 softexpires=5000000";
    for (last, more) in [
        (
            "<idle>-0 [012] d..1. 1.000002: cpu_idle: state=4294967295 cpu_id=12",
            1,
        ),
        (
            "<idle>-0 [012] d..1. 1.000002: cpu_idle: state=4294967295 cpu_id=1",
            0,
        ),
        ("<idle>-0 [012] d..1. 1.000002: cpu_idle: state=42949", 0),
        ("<idle>-0 [012] d..1. 1.0000", 0),
        (timer, 1),
        (&timer[..timer.len() - 4], 1),
        (&timer[..timer.len() - 22], 0),
        (
            "sh-9 [012] d... 1.000002: sched_wakeup: comm=sh pid=1642 prio=120 target_cpu=002",
            1,
        ),
        ("sh-9 [012] d... 1.000002: sched_wakeup: comm=sh pid=16", 0),
    ] {
        let (trace, events) = good(format!("{line}{last}"));
        assert_eq!(
            (events.len(), trace.left_out),
            (1 + more, 1 - more as u64),
            "{last}"
        );
        assert_eq!(
            trace
                .doubts
                .iter()
                .filter(|doubt| doubt.contains("the last line"))
                .count(),
            1 - more,
            "{last}"
        );
    }
}

/// idlestat writes the topology first; without it all CPUs are one cluster, and what is given wins.
#[test]
fn the_clusters_of_idlestat_are_read_and_those_that_are_given_win() {
    let line = |time: u64, cpu: u16, state: u32| {
        format!("<idle>-0 [{cpu:03}] d..2. 1.{time:06}: cpu_idle: state={state} cpu_id={cpu}\n")
    };
    let changes = [
        (0, 0, 1),
        (1, 1, 2),
        (2, 2, 1),
        (9, 1, u32::MAX),
        (12, 0, u32::MAX),
        (13, 2, u32::MAX),
    ];
    let text: String = changes
        .iter()
        .map(|&(time, cpu, state)| line(time, cpu, state))
        .collect();
    let head = "idlestat version = 0.8\ncpus=3\nclusterA:\n\tcore0\n\t\tcpu0\n\tcore1\n\t\tcpu1\nclusterB:\n\tcore0\n\t\tcpu2\n";
    let of = |text: String, clusters: Vec<Vec<u16>>| {
        let trace = read(
            Cursor::new(text),
            &Options {
                clusters,
                ..options(false)
            },
            None,
        )
        .unwrap();
        let of = |cluster: &ClusterIdle| {
            let [(state, idle)] = cluster.states.iter().collect::<Vec<_>>()[..] else {
                panic!("{cluster:?}")
            };
            (cluster.cpus.clone(), *state, idle.entered, idle.total_ns)
        };
        trace.clusters.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(
        of(format!("{head}{text}"), vec![]),
        [(vec![0, 1], 1, 1, 8_000)]
    );
    assert_eq!(of(text, vec![]), [(vec![0, 1, 2], 1, 1, 7_000)]);
}

/// Seeded damage: whatever the bytes are, the answer is a trace or an error with a cause.
#[test]
fn damage_never_panics() {
    let mut random = fastrand::Rng::with_seed(11);
    for round in 0..300 {
        let mut bytes = GUEST[..random.usize(1_000..20_000)].to_vec();
        for _ in 0..random.usize(1..20) {
            let at = random.usize(..bytes.len());
            match random.u8(..4) {
                0 => bytes[at] = random.u8(..),
                1 => drop(bytes.drain(at..(at + random.usize(..40)).min(bytes.len()))),
                2 => bytes.insert(at, *random.choice(b"[]:.\n =0123456789").unwrap()),
                _ => bytes.truncate(at.max(1)),
            }
            if bytes.is_empty() {
                bytes.push(b'x');
            }
        }
        for lenient in [false, true] {
            if let Err(Error::Import(error)) = events(&bytes, lenient) {
                assert!(
                    !error.message.is_empty() && !error.help.is_empty(),
                    "round {round}"
                );
            }
        }
    }
}

/// Which function RCU is to call is known of each callback; what is not told is 0.
#[test]
fn callbacks_of_rcu_are_told_apart_by_their_functions() {
    let line = |at: u32, what: &str| format!("  w-20 [000] ..... 20.00{at}000: {what}\n");
    let queued =
        |function: &str| format!("rcu_callback: rcu_preempt rhp=00000000deadbeef {function}3");
    let text = [
        line(1, &queued("func=file_free_rcu+0x0/0x50 ")),
        line(2, &queued("func=delayed_put_task_struct+0x0/0x90 ")),
        line(3, &queued("func=file_free_rcu+0x0/0x50 ")),
        line(
            4,
            "rcu_invoke_callback: rcu_preempt rhp=00000000deadbeef func=file_free_rcu+0x0/0x50",
        ),
        line(5, &queued("")),
    ];
    let (trace, events) = good(text.concat());
    let functions: Vec<u64> = events
        .iter()
        .map(|event| u64::from(event.argument))
        .collect();
    assert_eq!(functions, [1, 2, 1, 1, 0]);
    assert_eq!(trace.kernel.functions[&2], "delayed_put_task_struct");
    let counts: Vec<_> = trace.callbacks.into_iter().collect();
    assert_eq!(
        counts,
        [
            ("delayed_put_task_struct".to_owned(), 1),
            ("file_free_rcu".to_owned(), 2)
        ]
    );
}
