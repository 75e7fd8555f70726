//! `trace.dat` of both versions, of machines of all kinds, against the text of the same trace.

use crate::support;
use crate::support::{Machine, trace_dat, trace_dat_with};
use import::ftrace::{Error, Event, Options, Point, Trace, read};
use std::io::Cursor;

const GUEST: &str = include_str!("../../data/guest.trace");

fn events(bytes: &[u8], lenient: bool) -> Result<(Trace, Vec<Event>), Error> {
    let mut events = Vec::new();
    let mut take = |some: &[Event]| {
        events.extend_from_slice(some);
        Ok(())
    };
    let options = Options {
        file: "trace.dat".to_owned(),
        lenient,
        ..Options::default()
    };
    let trace = read(Cursor::new(bytes), &options, Some(&mut take))?;
    Ok((trace, events))
}

fn machines() -> Vec<Machine> {
    let mut all = Vec::new();
    for big in [false, true] {
        for long in [4, 8] {
            for (version, compressed) in [(6, false), (7, false), (7, true)] {
                all.push(Machine {
                    big,
                    long,
                    version,
                    compressed,
                });
            }
        }
    }
    all
}

/// The events of each CPU in order. Timers are numbered in the order of all CPUs' events, which
/// differs where times are equal.
fn comparable(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    for event in &mut events {
        if event.point.argument() == "timer" {
            event.argument = 0;
        }
        // A machine of 32 bits has jiffies of 32 bits, and so have these traces.
        if matches!(
            event.point,
            Point::TimerStart | Point::TimerExpire | Point::Jiffies
        ) {
            event.ticks &= 0xffff_ffff;
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
fn the_file_says_what_the_text_says() {
    let (_, text) = events(GUEST.as_bytes(), false).unwrap();
    for machine in machines() {
        let (trace, events) = events(&trace_dat(GUEST, machine), false)
            .unwrap_or_else(|error| panic!("{machine:?}: {error}"));
        let (found, right) = (comparable(&events), comparable(&text));
        let different = found
            .iter()
            .zip(&right)
            .find(|(found, right)| found != right);
        assert_eq!((different, found.len()), (None, right.len()), "{machine:?}");
        assert_eq!(trace.clock.as_deref(), Some("local"));
        assert_eq!(trace.kernel.release.as_deref(), Some("6.6.50-v8+"));
        assert_eq!(trace.kernel.interrupts[&11], "arch_timer");
        assert_eq!(trace.kernel.tasks[&14], "rcu_sched");
        assert!(events.iter().any(|event| event.point == Point::TickExpire));
    }
}

#[test]
fn instances_beside_the_top_buffer_are_named_and_not_read() {
    let machine = Machine {
        big: false,
        long: 8,
        version: 7,
        compressed: false,
    };
    let (alone, _) = events(&trace_dat(GUEST, machine), false).unwrap();
    let (trace, _) = events(&trace_dat_with(GUEST, machine, &["idle", "net"]), false).unwrap();
    assert_eq!(trace.events, alone.events);
    let doubt = "the file has instances beside its top buffer, which are not read: idle, net";
    assert_eq!(
        trace.doubts,
        [&[doubt.to_owned()], &alone.doubts[..]].concat()
    );
}

#[test]
fn lost_events_are_marked_on_their_page() {
    for (big, long) in [(false, 8), (false, 4), (true, 8)] {
        let mut bytes = trace_dat(
            GUEST,
            Machine {
                big,
                long,
                version: 6,
                compressed: false,
            },
        );
        // The second page of the first CPU: its count of used bytes gets the mark, and the number
        // stands behind the last event.
        let first = bytes
            .windows(10)
            .position(|window| window == b"flyrecord\0")
            .unwrap()
            + 10;
        let number = |bytes: &[u8]| {
            let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
            if big {
                bytes.iter().fold(0, fold)
            } else {
                bytes.iter().rev().fold(0, fold)
            }
        };
        let page = number(&bytes[first..first + 8]) as usize + support::PAGE;
        let used = number(&bytes[page + 8..page + 8 + long]);
        let mut set = |at: usize, value: u64| {
            let little = &value.to_le_bytes()[..long];
            let value: Vec<u8> = if big {
                little.iter().rev().copied().collect()
            } else {
                little.to_vec()
            };
            bytes[at..at + long].copy_from_slice(&value);
        };
        set(page + 8, used | 0xc000_0000);
        set(page + 8 + long + used as usize, 12_345);
        let (trace, events) = events(&bytes, false).unwrap();
        let lost: Vec<_> = events
            .iter()
            .filter(|event| event.point == Point::Lost)
            .map(|event| event.argument)
            .collect();
        assert_eq!(lost, [12_345], "{big} {long}");
        assert!(
            trace
                .doubts
                .iter()
                .any(|doubt| doubt.starts_with("12345 events were lost")),
            "{:?}",
            trace.doubts
        );
    }
}

#[test]
fn a_file_that_trace_cmd_wrote_is_read() {
    let (_, text) = events(GUEST.as_bytes(), false).unwrap();
    // `trace-cmd convert` of version 3.1.6 made it of a file of version 6, with zstd.
    let (trace, events) = events(include_bytes!("../data/guest-v7.dat"), false).unwrap();
    assert_eq!(trace.format, "trace.dat version 7");
    let right = comparable(&text);
    let right: Vec<_> = right
        .iter()
        .filter(|event| event.time_ns <= trace.span_ns.unwrap().1)
        .copied()
        .collect();
    assert_eq!(comparable(&events), right);
}

/// The files that `support` writes are understood by trace-cmd, and we understand those that it
/// makes of them.
#[test]
fn trace_cmd_understands_what_the_tests_write() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new("trace-cmd")
            .current_dir(folder.path())
            .args(arguments)
            .output();
        let output = output.expect(
            "this needs trace-cmd (Debian: apt-get install trace-cmd, or: cargo xtask test tests)",
        );
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    // Debian's trace-cmd knows no compression but zstd, and that is what it writes.
    for machine in machines().into_iter().filter(|machine| !machine.compressed) {
        std::fs::write(folder.path().join("in.dat"), trace_dat(GUEST, machine)).unwrap();
        let right = comparable(&events(GUEST.as_bytes(), false).unwrap().1);
        let report = run(&["report", "-t", "-i", "in.dat"]);
        let lines = String::from_utf8_lossy(&report)
            .lines()
            .filter(|line| line.contains(" cpu_idle: "))
            .count();
        assert_eq!(
            lines,
            right
                .iter()
                .filter(|event| matches!(event.point, Point::IdleEnter | Point::IdleExit))
                .count(),
            "{machine:?}"
        );
        if machine.big {
            // trace-cmd 3.1.6 cannot read what it makes of these itself.
            continue;
        }
        run(&["convert", "-i", "in.dat", "-o", "out.dat"]);
        let made = std::fs::read(folder.path().join("out.dat")).unwrap();
        assert_eq!(
            comparable(&events(&made, false).unwrap().1),
            right,
            "{machine:?}"
        );
        assert!(
            made.windows(5).any(|window| window == b"zstd\0"),
            "{machine:?}"
        );
    }
}

#[test]
fn what_is_wrong_is_named_with_its_byte() {
    let machine = Machine {
        big: false,
        long: 8,
        version: 6,
        compressed: false,
    };
    let good = trace_dat(GUEST, machine);
    let wrong = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        match events(&bytes, false) {
            Err(error) => error.to_string(),
            Ok(_) => "taken".to_owned(),
        }
    };
    for (change, message) in [
        (
            &(|bytes: &mut Vec<u8>| bytes[10] = b'8') as &dyn Fn(&mut Vec<u8>),
            "trace.dat: at byte 10: the file has version `8`",
        ),
        (
            &|bytes| bytes[12] = 7,
            "trace.dat: at byte 13: the byte order is 7; it must be 0 (little) or 1 (big)",
        ),
        (
            &|bytes| bytes[13] = 7,
            "trace.dat: at byte 14: a long has 7 bytes; it must have 4 or 8",
        ),
        (
            &|bytes| bytes.truncate(30),
            "trace.dat: at byte 30: the file ends where 8 bytes should follow",
        ),
        (
            &|bytes| bytes.truncate(bytes.len() - 100),
            "the file ends where 4096 bytes should follow, 3996 are there",
        ),
        (
            &|bytes| bytes[18] = b'X',
            "trace.dat: at byte 30: `header_page` is missing",
        ),
    ] {
        let said = wrong(change);
        assert!(said.ends_with(message), "{said}, not {message}");
    }
    // Leniently, what is there of a file that was cut short is taken.
    let (trace, some) = events(&good[..good.len() - 100], true).unwrap();
    assert!(trace.left_out == 1 && !some.is_empty());
}

/// Seeded damage: whatever the bytes are, the answer is a trace or an error with a cause, and no
/// memory is asked for that the file does not need.
#[test]
fn damage_never_panics() {
    let mut random = fastrand::Rng::with_seed(12);
    let text: String = GUEST
        .lines()
        .take(200)
        .map(|line| format!("{line}\n"))
        .collect();
    let goods: Vec<_> = machines()
        .into_iter()
        .map(|machine| trace_dat(&text, machine))
        .collect();
    for round in 0..1500 {
        let mut bytes = random.choice(&goods).unwrap().clone();
        for _ in 0..random.usize(1..8) {
            // The first part and the pages' heads are where numbers steer.
            let until = if random.bool() {
                bytes.len()
            } else {
                bytes.len().min(600)
            };
            let at = random.usize(..until);
            match random.u8(..5) {
                0 => bytes[at] = random.u8(..),
                1 => bytes[at] = *random.choice(&[0, 1, 0x7f, 0x80, 0xff]).unwrap(),
                2 => drop(bytes.drain(at..(at + random.usize(..9)).min(bytes.len()))),
                3 => bytes.truncate(at.max(11)),
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
