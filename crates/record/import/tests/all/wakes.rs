//! Who woke the CPUs, on traces as kernels print them.

use crate::support::{Machine, trace_dat};
use import::ftrace::{Options, Trace, read};
use recording::facts::{WakeRow, WakeUps};
use std::io::Cursor;

fn trace(text: &str) -> Trace {
    let options = Options {
        file: "trace.txt".to_owned(),
        ..Options::default()
    };
    read(Cursor::new(text), &options, None).unwrap_or_else(|error| panic!("{error}"))
}

fn wake_ups(text: &str) -> WakeUps {
    trace(text).kernel.wake_ups.unwrap()
}

/// Lines of CPU 1, each with its microsecond: CPU 1 sleeps in state 1 from 100 to 500, then comes
/// what is given, then it sleeps again at 900.
fn slept(events: &[(u64, &str)]) -> String {
    let mut all = vec![
        (
            100,
            "<idle>-0 [001] d..1.".to_owned(),
            "cpu_idle: state=1 cpu_id=1".to_owned(),
        ),
        (
            500,
            "<idle>-0 [001] d..1.".to_owned(),
            "cpu_idle: state=4294967295 cpu_id=1".to_owned(),
        ),
        (
            900,
            "<idle>-0 [001] d..1.".to_owned(),
            "cpu_idle: state=1 cpu_id=1".to_owned(),
        ),
    ];
    for (at, event) in events {
        // What another CPU does has the task and the CPU before it.
        match event.split_once(" | ") {
            Some((task, event)) => all.push((*at, format!("{task} d..1."), (*event).to_owned())),
            None => all.push((*at, "<idle>-0 [001] d.h1.".to_owned(), (*event).to_owned())),
        }
    }
    all.sort_by_key(|(at, ..)| *at);
    all.iter()
        .map(|(at, task, event)| format!("  {task} 1.{at:06}: {event}\n"))
        .collect()
}

/// The one cause of such a trace: its name, its way, and both delays in microseconds.
fn cause(events: &[(u64, &str)]) -> (String, Option<String>, Option<u64>, Option<u64>) {
    let wake_ups = wake_ups(&slept(events));
    let [row] = &wake_ups.causes[..] else {
        panic!("{:?}", wake_ups.causes)
    };
    let us = |delay: Option<[u64; 2]>| delay.map(|[median_ns, _]| median_ns / 1_000);
    (
        row.cause.clone(),
        row.way.clone(),
        us(row.to_exit_ns),
        us(row.to_run_ns),
    )
}

const SWITCH: &str = "sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=worker next_pid=42 next_prio=120";

#[test]
fn an_interrupt_is_named_and_what_its_handler_turns_out_to_do_says_more() {
    let irq = (501, "irq_handler_entry: irq=45 name=eth0");
    let handled = (509, "irq_handler_exit: irq=45 ret=handled");
    assert_eq!(
        cause(&[irq, handled]),
        ("interrupt 45 eth0".to_owned(), None, None, Some(1))
    );
    let timer =
        "hrtimer_expire_entry: hrtimer=00000000c713ad4c function=hrtimer_wakeup now=1000480000";
    let start = (
        90,
        "hrtimer_start: hrtimer=00000000c713ad4c function=hrtimer_wakeup expires=1000470000 softexpires=0 mode=0x0",
    );
    let right = (
        "timer hrtimer_wakeup".to_owned(),
        Some("interrupt 45 eth0".to_owned()),
        None,
        Some(1),
    );
    assert_eq!(cause(&[irq, (502, timer), handled]), right);
    // The timer was due 10 us before its handler looked at the clock.
    assert_eq!(
        cause(&[start, irq, (505, timer), handled]),
        (right.0.clone(), right.1.clone(), Some(5), Some(1))
    );
    // On x86 the timer has a vector.
    let x86 = [
        (501, "local_timer_entry: vector=236"),
        (502, timer),
        (503, "local_timer_exit: vector=236"),
    ];
    assert_eq!(cause(&x86).1.as_deref(), Some("interrupt 236 local_timer"));
    // Where idle states stop the CPU's own timer, another CPU's calls it.
    let broadcast = [
        (501, "ipi_entry: (Timer broadcast interrupts)"),
        (502, timer),
    ];
    let right_way = Some("IPI Timer broadcast interrupts".to_owned());
    assert_eq!(
        cause(&broadcast),
        (right.0.clone(), right_way, None, Some(1))
    );
    assert_eq!(
        cause(&[(502, timer)]),
        (right.0.clone(), None, None, Some(2)),
        "interrupts were not traced"
    );
}

#[test]
fn nested_and_later_interrupts_say_nothing_of_the_cause() {
    let timer =
        "hrtimer_expire_entry: hrtimer=00000000c713ad4c function=hrtimer_wakeup now=1000480000";
    let nested = [
        (501, "irq_handler_entry: irq=45 name=eth0"),
        (502, "irq_handler_entry: irq=11 name=arch_timer"),
        (503, timer),
        (504, "irq_handler_exit: irq=11 ret=handled"),
        (505, "irq_handler_exit: irq=45 ret=handled"),
    ];
    assert_eq!(cause(&nested).0, "interrupt 45 eth0");
    let later = [
        (501, "irq_handler_entry: irq=45 name=eth0"),
        (502, "irq_handler_exit: irq=45 ret=handled"),
        (503, "irq_handler_entry: irq=11 name=arch_timer"),
        (504, timer),
    ];
    assert_eq!(cause(&later).0, "interrupt 45 eth0");
    let shared = [
        (501, "irq_handler_entry: irq=16 name=ehci_hcd:usb1"),
        (503, "irq_handler_entry: irq=16 name=i801_smbus"),
    ];
    assert_eq!(cause(&shared).0, "interrupt 16 ehci_hcd:usb1,i801_smbus");
}

/// A stopped tick's timer stands for the timer wheel, whose timers fire in the softirq behind it.
#[test]
fn a_stopped_tick_gives_way_to_the_wheels_timer() {
    let tick = [
        (501, "irq_handler_entry: irq=11 name=arch_timer"),
        (
            502,
            "hrtimer_expire_entry: hrtimer=0000000077 function=tick_nohz_handler now=1000480000",
        ),
        (503, "irq_handler_exit: irq=11 ret=handled"),
        (
            504,
            "timer_expire_entry: timer=0000000088 function=process_timeout now=4295 baseclk=4295",
        ),
    ];
    assert_eq!(cause(&tick).0, "timer tick_nohz_handler");
    let stopped = [&[(95, "tick_stop: success=1 dependency=NONE")], &tick[..]].concat();
    assert_eq!(cause(&stopped).0, "timer process_timeout");
}

#[test]
fn a_call_has_its_sender_where_the_trace_has_it() {
    let raise = (
        480,
        "stress-77 [002] | ipi_raise: target_mask=00000000,00000002 (Rescheduling interrupts)",
    );
    let arrival = [
        (501, "ipi_entry: (Rescheduling interrupts)"),
        (502, "ipi_exit: (Rescheduling interrupts)"),
    ];
    let of = |events: &[(u64, &str)]| {
        let wake_ups = wake_ups(&slept(events));
        let row = wake_ups
            .callers
            .first()
            .cloned()
            .unwrap_or_else(|| wake_ups.causes[0].clone());
        (row.cause, row.by, row.by_cpu)
    };
    let some = |cause: &str, by: Option<&str>, cpu| (cause.to_owned(), by.map(str::to_owned), cpu);
    assert_eq!(
        of(&[raise, arrival[0], arrival[1]]),
        some("IPI Rescheduling interrupts", Some("stress"), Some(2))
    );
    assert_eq!(
        cause(&[raise, arrival[0]]).2,
        Some(20),
        "from the call to the end of idle"
    );
    assert_eq!(
        of(&arrival),
        some("IPI Rescheduling interrupts", None, None)
    );
    // Another CPU is called.
    let other = (
        480,
        "stress-77 [002] | ipi_raise: target_mask=00000000,00000001 (Rescheduling interrupts)",
    );
    assert_eq!(
        of(&[other, arrival[0]]),
        some("IPI Rescheduling interrupts", None, None)
    );
    // From Linux 6.4 on, and on arm64 both.
    let send = (
        479,
        "stress-77 (77) [002] | ipi_send_cpu: cpu=1 callsite=ttwu_queue_wakelist+0x1/0x2 callback=sched_ttwu_pending+0x0/0x1",
    );
    let call = (
        480,
        "stress-77 [002] | ipi_raise: target_mask=2 (Function call interrupts)",
    );
    let answered = (501, "ipi_entry: (Function call interrupts)");
    let right = some(
        "IPI Function call interrupts, sched_ttwu_pending from ttwu_queue_wakelist",
        Some("stress"),
        Some(2),
    );
    assert_eq!(of(&[send, answered]), right);
    assert_eq!(of(&[send, call, answered]), right);
    // x86 has a vector for each kind.
    let mask = (
        480,
        "stress-77 [002] | ipi_send_cpumask: cpumask=00000000,00000003 callsite=resched_curr+0x1/0x2 callback=0x0",
    );
    let vector = (501, "reschedule_entry: vector=253");
    assert_eq!(
        of(&[mask, vector]),
        some("IPI reschedule, from resched_curr", Some("stress"), Some(2))
    );
    let single = (501, "call_function_single_entry: vector=251");
    assert_eq!(
        of(&[mask, send, single]).0,
        "IPI call_function_single, sched_ttwu_pending from ttwu_queue_wakelist"
    );
    // Arrivals that were not traced are not needed.
    assert_eq!(
        of(&[send]),
        some(
            "IPI sched_ttwu_pending from ttwu_queue_wakelist",
            Some("stress"),
            Some(2)
        )
    );
}

#[test]
fn a_call_before_an_entry_is_counted_where_it_arrives_after_it() {
    let raise = "stress-77 [002] | ipi_raise: target_mask=00000002 (Rescheduling interrupts)";
    let arrival = (501, "ipi_entry: (Rescheduling interrupts)");
    assert_eq!(
        wake_ups(&slept(&[(99, raise), arrival])).called_before,
        Some(1)
    );
    assert_eq!(
        wake_ups(&slept(&[(101, raise), arrival])).called_before,
        Some(0)
    );
    assert_eq!(
        wake_ups(&slept(&[(99, raise)])).called_before,
        None,
        "whether it arrived is not known"
    );
    assert_eq!(wake_ups(&slept(&[arrival])).called_before, None);
}

#[test]
fn the_task_that_ran_first_and_who_made_it_ready_are_told() {
    let waking = (
        470,
        "writer-7 [003] | sched_waking: comm=worker pid=42 prio=120 target_cpu=001",
    );
    let of = |events: &[(u64, &str)]| {
        let wake_ups = wake_ups(&slept(events));
        let WakeRow {
            cause,
            by,
            by_cpu,
            first,
            ..
        } = wake_ups.callers[0].clone();
        (cause, by, by_cpu, first.unwrap_or_default())
    };
    let task = (
        "task made ready by another CPU".to_owned(),
        Some("writer".to_owned()),
        Some(3),
        "worker".to_owned(),
    );
    assert_eq!(of(&[waking, (510, SWITCH)]), task);
    assert_eq!(cause(&[waking, (510, SWITCH)]).2, Some(30));
    // The CPU itself says that the task is ready, when it was called.
    let ready = (
        505,
        "sched_wakeup: comm=worker pid=42 prio=120 target_cpu=001",
    );
    let arrival = (501, "ipi_entry: (Rescheduling interrupts)");
    let called = (
        "IPI Rescheduling interrupts".to_owned(),
        Some("writer".to_owned()),
        Some(3),
        "worker".to_owned(),
    );
    assert_eq!(of(&[waking, arrival, ready, (510, SWITCH)]), called);
    assert_eq!(
        of(&[arrival, ready, (510, SWITCH)]).1,
        None,
        "nobody traced who woke it"
    );
    let unseen = (
        "unknown: nothing seen before a task ran".to_owned(),
        None,
        None,
        "worker".to_owned(),
    );
    assert_eq!(of(&[(510, SWITCH)]), unseen);
}

#[test]
fn nothing_is_told_as_such_and_so_is_what_was_not_traced() {
    let wake_ups = wake_ups(&slept(&[]));
    assert_eq!(wake_ups.causes.len(), 1);
    assert_eq!(
        (&*wake_ups.causes[0].cause, wake_ups.causes[0].count),
        ("unknown: nothing seen, and back to sleep", 1)
    );
    assert_eq!(wake_ups.unseen.len(), 6);
    let text = slept(&[(501, "irq_handler_entry: irq=45 name=eth0"), (510, SWITCH)]);
    let unseen = self::wake_ups(&text).unseen.join("\n");
    assert!(
        !unseen.contains("irq_handler_entry")
            && !unseen.contains("sched_switch")
            && unseen.contains("ipi_raise")
    );
    // The last state of a trace is left, and nothing is known of what comes then.
    let cut: String = text
        .lines()
        .take(2)
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(
        self::wake_ups(&cut).causes[0]
            .cause
            .starts_with("unknown: nothing seen before the trace ended")
    );
    // perf has the same events under its own names.
    let perf = "swapper 0 [001] 1.000100: power:cpu_idle: state=1 cpu_id=1\n\
                swapper 0 [001] 1.000500: power:cpu_idle: state=4294967295 cpu_id=1\n\
                swapper 0 [001] 1.000501: irq:irq_handler_entry: irq=45 name=eth0\n";
    assert_eq!(self::wake_ups(perf).causes[0].cause, "interrupt 45 eth0");
}

/// Whatever the trace is, each stay that has an end has one wake-up.
#[test]
fn all_stays_are_counted() {
    let trace = trace(import::ftrace::SAMPLE);
    let entered = |cpu: u16| trace.idle[&cpu].values().map(|of| of.entered).sum::<u64>();
    let wake_ups = trace.kernel.wake_ups.as_ref().unwrap();
    let counted = |cpu| {
        wake_ups
            .cpus
            .iter()
            .filter(|row| row.cpu == Some(cpu))
            .map(|row| row.count)
            .sum::<u64>()
    };
    assert_eq!([counted(0), counted(1)], [entered(0), entered(1)]);
    assert_eq!(
        wake_ups.causes.iter().map(|row| row.count).sum::<u64>(),
        entered(0) + entered(1)
    );
}

/// Functions are addresses in `trace.dat` and numbers of symbols in Perfetto's traces.
#[test]
fn every_format_names_the_same_timers() {
    let timers = |bytes: &[u8]| {
        let options = Options {
            file: "trace".to_owned(),
            ..Options::default()
        };
        let trace =
            read(Cursor::new(bytes), &options, None).unwrap_or_else(|error| panic!("{error}"));
        let causes = trace.kernel.wake_ups.unwrap().causes;
        let rows = causes
            .into_iter()
            .filter(|row| row.cause.starts_with("timer"));
        rows.map(|row| (row.cause, row.way, row.count))
            .collect::<Vec<_>>()
    };
    let text = timers(import::ftrace::SAMPLE.as_bytes());
    assert_eq!(text.len(), 2, "{text:?}");
    for version in [6, 7] {
        let machine = Machine {
            big: version == 6,
            long: 8,
            version,
            compressed: false,
        };
        assert_eq!(timers(&trace_dat(import::ftrace::SAMPLE, machine)), text);
    }
    assert_eq!(timers(include_bytes!("../data/guest.perfetto")), text);
}

/// Stays of the cluster itself beside those in which all CPUs were idle.
#[test]
fn clusters_sleep_when_the_last_cpu_asks_for_their_state() {
    let line =
        |at: u64, cpu: u16, event: &str| format!("<idle>-0 [{cpu:03}] d..1. 1.{at:06}: {event}\n");
    let stay = |cpu: u16, from: u64, to: u64, state: &str, s2idle: &str| {
        let psci = |what: &str| {
            format!("psci_domain_idle_{what}: cpu_id={cpu} state={state} is_s2idle={s2idle}")
        };
        [(from, cpu, psci("enter")), (to, cpu, psci("exit"))]
    };
    let idle = |cpu: u16, from: u64, to: u64| {
        let cpu_idle = |state: u32| format!("cpu_idle: state={state} cpu_id={cpu}");
        [(from, cpu, cpu_idle(1)), (to, cpu, cpu_idle(u32::MAX))]
    };
    let read = |mut events: Vec<(u64, u16, String)>| {
        events.sort_by_key(|(at, ..)| *at);
        let text: String = events
            .iter()
            .map(|(at, cpu, event)| line(*at, *cpu, event))
            .collect();
        let row = |row: &recording::facts::DomainSleep| {
            (row.what.clone(), row.entered, row.total_ns / 1_000)
        };
        trace(&text)
            .kernel
            .domains
            .iter()
            .map(row)
            .collect::<Vec<_>>()
    };
    // CPU 1 is the last to sleep and CPU 0 the first to wake: the cluster sleeps in between.
    let mut events = [idle(0, 100, 700), idle(1, 200, 800)].concat();
    events.extend(stay(0, 110, 690, "0x40000003", "no"));
    events.extend(stay(1, 210, 790, "0x41000044", "no"));
    events.extend(idle(0, 850, 900));
    events.extend(stay(0, 860, 890, "0x40000003", "no"));
    let right = [
        ("all CPUs idle".to_owned(), None, 500),
        ("the cluster in 0x41000044".to_owned(), Some(1), 480),
        ("all CPUs idle, but not the cluster".to_owned(), None, 20),
    ];
    assert_eq!(read(events.clone()), right);
    // A CPU that waits for an interrupt keeps the cluster up, and the other's state is its own.
    events.retain(|(_, cpu, event)| *cpu == 1 || event.starts_with("cpu_idle"));
    assert_eq!(read(events), []);
    // A suspend to idle has no events of cpu_idle.
    let mut suspended = [idle(0, 100, 150), idle(1, 100, 160)].concat();
    suspended.extend(stay(0, 210, 790, "0x40000003", "yes"));
    suspended.extend(stay(1, 300, 780, "0x41000044", "yes"));
    let state = (
        "the cluster in 0x41000044 in a suspend to idle".to_owned(),
        Some(1),
        480,
    );
    assert_eq!(read(suspended)[1], state);
}

/// What a trace does not cover is neither running nor idle: a suspend to idle, whose CPUs are in no
/// event of `cpu_idle`, a CPU that is offline, and one of which nobody knows.
#[test]
fn a_cpu_that_is_offline_or_suspended_or_silent_is_away() {
    let away = |lines: &[(f64, u16, &str)]| {
        let text: String = lines
            .iter()
            .map(|(at, cpu, event)| format!("<idle>-0 [{cpu:03}] d..1. {at:.6}: {event}\n"))
            .collect();
        let trace = trace(&text);
        let away = trace.kernel.away.iter().map(|of| {
            let ends = of.ns.map(|ns| ns / 1_000_000);
            (of.cpu, of.why.clone(), ends)
        });
        (away.collect::<Vec<_>>(), trace.doubts, trace.clusters)
    };
    let of = |cpu: u16, why: &str, ends| (cpu, why.to_owned(), ends);
    let [enter, exit] = [
        "cpu_idle: state=1 cpu_id=0",
        "cpu_idle: state=4294967295 cpu_id=0",
    ];
    let slept = [(1.0, 0, enter), (1.014, 0, exit)];
    let mut suspended = slept.to_vec();
    suspended.extend([
        (1.02, 0, "suspend_resume: machine_suspend[1] begin"),
        (11.0, 0, "suspend_resume: machine_suspend[1] end"),
        (11.1, 0, enter),
        (15.0, 0, exit),
    ]);
    let (found, doubts, _) = away(&suspended);
    assert_eq!(found, [of(0, "suspended", [1020, 11_000])]);
    assert!(
        doubts
            .iter()
            .any(|doubt| doubt.starts_with("CPU 0 was suspended for 9.980 s"))
    );
    // Without the events of the suspend nobody knows what the CPU did.
    suspended.retain(|(.., event)| event.starts_with("cpu_idle"));
    assert_eq!(
        away(&suspended).0,
        [of(0, "without events", [1014, 11_100])]
    );
    // The CPU is taken down, and comes back; its cluster sleeps without it.
    let [enter_1, exit_1] = [
        "cpu_idle: state=1 cpu_id=1",
        "cpu_idle: state=4294967295 cpu_id=1",
    ];
    let mut offline = vec![(0.9, 1, enter_1), (0.95, 1, exit_1)];
    offline.extend([
        (
            0.96,
            1,
            "cpuhp_enter: cpu: 0001 target:   0 step: 233 (sched_cpu_deactivate)",
        ),
        (
            0.97,
            0,
            "cpuhp_enter: cpu: 0001 target:   0 step:  86 (takedown_cpu)",
        ),
    ]);
    offline.extend(slept);
    offline.extend([
        (
            1.5,
            0,
            "cpuhp_enter: cpu: 0001 target: 238 step:  85 (bringup_cpu)",
        ),
        (1.6, 1, enter_1),
        (1.7, 1, exit_1),
    ]);
    let (found, _, clusters) = away(&offline);
    assert_eq!(
        found,
        [of(1, "offline", [960, 970]), of(1, "offline", [970, 1500])]
    );
    assert_eq!(clusters[0].states[&1].total_ns, 14_000_000);
    // Nothing brings it back.
    offline.truncate(6);
    assert_eq!(away(&offline).0[1], of(1, "offline", [970, 1014]));
}
