//! A trace of Perfetto against the text of the same trace. `data/make_perfetto.py` made it with the
//! descriptors that Perfetto publishes.

use import::ftrace::{Error, Event, Options, Point, Trace, read};
use std::io::Cursor;

const GUEST: &str = include_str!("../../data/guest.trace");
const PERFETTO: &[u8] = include_bytes!("../data/guest.perfetto");

fn events(bytes: &[u8], lenient: bool) -> Result<(Trace, Vec<Event>), Error> {
    let mut events = Vec::new();
    let mut take = |some: &[Event]| {
        events.extend_from_slice(some);
        Ok(())
    };
    let options = Options {
        file: "trace.perfetto".to_owned(),
        lenient,
        ..Options::default()
    };
    let trace = read(Cursor::new(bytes), &options, Some(&mut take))?;
    Ok((trace, events))
}

/// The events of each CPU in order, without what Perfetto does not keep: timers are numbered by the
/// order of all CPUs' events, and a compact switch does not name the task before.
fn comparable(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    for event in &mut events {
        if event.point.argument() == "timer" {
            event.argument = 0;
        }
        if event.point == Point::SchedSwitch {
            event.ticks = 0;
        }
    }
    events.sort_by_key(|event| {
        (
            event.cpu,
            event.time_ns,
            event.point,
            event.ticks,
            event.argument,
        )
    });
    events
}

#[test]
fn the_trace_says_what_the_text_says() {
    let (_, text) = events(GUEST.as_bytes(), false).unwrap();
    let (trace, events) = events(PERFETTO, false).unwrap_or_else(|error| panic!("{error}"));
    assert!(events.is_sorted_by_key(|event| event.time_ns));
    let (found, right) = (comparable(&events), comparable(&text));
    let different = found
        .iter()
        .zip(&right)
        .find(|(found, right)| found != right);
    assert_eq!((different, found.len()), (None, right.len()));
    assert_eq!(trace.kernel.interrupts[&11], "arch_timer");
    assert_eq!(trace.kernel.tasks[&14], "rcu_sched");
    assert!(
        events.iter().any(|event| event.point == Point::TickExpire),
        "the kernel's symbols name the tick"
    );
}

#[test]
fn the_kernel_that_was_traced_is_named() {
    // A packet with `system_info.utsname.release`.
    let mut bytes = PERFETTO.to_vec();
    bytes.extend(b"\x0a\x0d\xea\x02\x0a\x0a\x08\x1a\x066.6.50");
    let (trace, _) = events(&bytes, false).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(trace.kernel.release.as_deref(), Some("6.6.50"));
}

#[test]
fn what_is_wrong_is_named_with_its_byte() {
    let wrong = |bytes: &[u8]| match events(bytes, false) {
        Err(error) => error.to_string(),
        Ok(_) => "taken".to_owned(),
    };
    let said = wrong(&PERFETTO[..PERFETTO.len() - 7]);
    assert!(said.contains("the file ends where a packet of"), "{said}");
    assert!(events(&PERFETTO[..PERFETTO.len() - 7], true).is_ok());
    let mut bytes = PERFETTO.to_vec();
    bytes.push(0x12);
    assert_eq!(
        wrong(&bytes),
        format!(
            "trace.perfetto: at byte {}: a packet must begin here with 0x0a, not 0x12",
            PERFETTO.len()
        )
    );
}

/// Seeded damage: whatever the bytes are, the answer is a trace or an error with a cause.
#[test]
fn damage_never_panics() {
    let mut random = fastrand::Rng::with_seed(13);
    for round in 0..1000 {
        let mut bytes = PERFETTO.to_vec();
        for _ in 0..random.usize(1..8) {
            let at = random.usize(1..bytes.len());
            match random.u8(..4) {
                0 => bytes[at] = random.u8(..),
                1 => drop(bytes.drain(at..(at + random.usize(..9)).min(bytes.len()))),
                2 => bytes.truncate(at.max(20)),
                _ => bytes[at] ^= 1 << random.u8(..8),
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
