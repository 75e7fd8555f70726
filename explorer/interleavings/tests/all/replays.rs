//! Schedules of failures, run again: in a test of their own, and by STOPWATT_REPLAY.

use interleavings::sync::Arc;
use interleavings::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use interleavings::{Config, explore, model, replay, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What became of the code under test since its failure was recorded.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Now {
    Faulty,
    /// The orders are right.
    Ordered,
    /// An operation came before the others.
    Changed,
    /// There are fewer words.
    Smaller,
}

/// A flag that hands data over.
fn message(now: Now) -> impl Fn() + 'static {
    move || {
        let words = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
        let other = words.clone();
        let _more = (now != Now::Smaller).then(|| AtomicU32::new(0));
        let writer = thread::spawn(move || {
            if now == Now::Changed {
                other.1.load(Relaxed);
                other.0.load(Relaxed);
            }
            other.0.store(1, Relaxed);
            let faulty = matches!(now, Now::Faulty | Now::Changed);
            let order = if faulty { Relaxed } else { Release };
            other.1.store(true, order);
        });
        if now == Now::Changed {
            words.0.load(Relaxed);
            words.0.load(Relaxed);
        }
        if words.1.load(Acquire) && now != Now::Changed {
            assert_eq!(words.0.load(Relaxed), 1, "the data is late");
        }
        writer.join().unwrap();
    }
}

fn said(result: std::thread::Result<()>) -> String {
    match result {
        Ok(()) => "passed".to_owned(),
        Err(payload) => *payload.downcast::<String>().unwrap(),
    }
}

/// The schedule of the failure of a test, and its story.
fn recorded(folder: &Path, test: impl Fn() + Send + 'static) -> (String, String) {
    let config = Config {
        folder: Some(folder.to_owned()),
        ..Config::default()
    };
    let story = said(catch_unwind(AssertUnwindSafe(|| {
        explore(&config, test);
    })));
    let path = story.split("STOPWATT_REPLAY=").nth(1).unwrap().trim();
    (std::fs::read_to_string(path).unwrap(), story)
}

/// A folder of a test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replays-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn replayed(schedule: &str, test: impl Fn() + Send + 'static) -> String {
    said(catch_unwind(AssertUnwindSafe(|| replay(schedule, test))))
}

#[test]
fn a_schedule_as_a_test_fails_until_the_failure_is_gone() {
    let (schedule, story) = recorded(&folder("own"), message(Now::Faulty));
    let test = "test = \"replays::a_schedule_as_a_test_fails_until_the_failure_is_gone\"";
    assert!(
        schedule.contains(test) && schedule.contains("threads = 4\nwords = 3\n"),
        "{schedule}"
    );
    let again = replayed(&schedule, message(Now::Faulty));
    assert!(
        story.starts_with(&again) && again.contains("the data is late"),
        "{again}"
    );
    assert_eq!(replayed(&schedule, message(Now::Ordered)), "passed");
    for now in [Now::Changed, Now::Smaller] {
        let stale = replayed(&schedule, message(now));
        assert!(
            stale.contains("the schedule is stale") && stale.contains("record it anew"),
            "{stale}"
        );
    }
    // A fix that takes an operation out: nobody knows whether it is one.
    let (schedule, _) = recorded(&folder("fixed"), lost(false));
    assert!(replayed(&schedule, lost(false)).contains("an increment was lost"));
    assert!(replayed(&schedule, lost(true)).contains("is stale"));
}

/// Two threads that add.
fn lost(fixed: bool) -> impl Fn() + 'static {
    move || {
        let count = Arc::new(AtomicU32::new(0));
        let other = count.clone();
        let add = move |count: &AtomicU32| {
            if fixed {
                count.fetch_add(1, Relaxed);
            } else {
                count.store(count.load(Relaxed) + 1, Relaxed);
            }
        };
        let adds = thread::spawn(move || add(&other));
        add(&count);
        adds.join().unwrap();
        assert_eq!(count.load(Relaxed), 2, "an increment was lost");
    }
}

#[test]
fn a_schedule_that_does_not_fit_is_refused_with_what_differs() {
    let (schedule, _) = recorded(&folder("refused"), message(Now::Faulty));
    let refused = |from: &str, to: &str| {
        assert!(schedule.contains(from), "{schedule}");
        replayed(&schedule.replacen(from, to, 1), message(Now::Faulty))
    };
    for (from, to, says) in [
        (
            "format = 2",
            "format = 1",
            "has format 1, and this version of the package reads format 2",
        ),
        ("format = 2\n", "", "missing field `format`"),
        ("threads = 4", "threads = 0", "a test has 1 to 16 threads"),
        ("threads = 4", "threads = four", "line 3"),
        ("\nat = ", "\nwhere = ", "unknown field `where`"),
        (
            "[[deviation]]",
            "[deviation]",
            "is no schedule of format 2; record it anew",
        ),
    ] {
        let text = refused(from, to);
        assert!(text.contains(says), "{from} {to}: {text}");
    }
    // A text that was cut off is refused.
    for length in 0..schedule.trim_end().len() {
        let text = replayed(&schedule[..length], message(Now::Ordered));
        assert!(text.contains("record it anew"), "{length}: {text}");
    }
    // A test with threads of its own keeps them, whatever the default is.
    let config = Config {
        threads: 2,
        folder: Some(folder("two")),
        ..Config::default()
    };
    let story = said(catch_unwind(AssertUnwindSafe(|| {
        explore(&config, message(Now::Faulty));
    })));
    let path = story.split("STOPWATT_REPLAY=").nth(1).unwrap().trim();
    let two = std::fs::read_to_string(path).unwrap();
    assert!(replayed(&two, message(Now::Faulty)).contains("the data is late"));
}

/// Explores a victim, which the next tests run in a process of their own: elsewhere it does nothing.
fn victim(test: fn(Now)) {
    if let Ok(now) = std::env::var("VICTIM") {
        test(match &now[..] {
            "ordered" => Now::Ordered,
            "changed" => Now::Changed,
            _ => Now::Faulty,
        });
    }
}

#[test]
fn victim_message() {
    victim(|now| model(message(now)));
}

#[test]
fn victim_lost() {
    victim(|_| model(lost(false)));
}

#[test]
fn victim_right() {
    victim(|_| model(message(Now::Ordered)));
}

/// Runs victims in a process of their own: what it says, and the names of those that fail.
fn run(
    folder: &Path,
    variables: &[(&str, &str)],
    threads: &str,
    victims: &str,
) -> (String, Vec<String>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([victims, "--nocapture", "--test-threads", threads])
        .env_remove("STOPWATT_REPLAY")
        .env("RUST_BACKTRACE", "0")
        .env("VICTIM", "faulty")
        .env("STOPWATT_SCHEDULES", folder);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    let listed = out.rsplit("failures:").next().unwrap_or_default();
    let failed = listed
        .lines()
        .filter_map(|line| line.trim().strip_prefix("replays::victim_"))
        .map(str::to_owned)
        .collect();
    (out + &error, failed)
}

#[test]
fn a_replay_is_of_one_test_and_the_others_are_explored_as_usual() {
    let folder = folder("one");
    for threads in ["1", "3"] {
        let (_, failed) = run(&folder, &[], threads, "victim");
        assert_eq!(failed, ["lost", "message"]);
        let of = |name: &str| {
            let all = std::fs::read_dir(&folder)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let is = |path: &PathBuf| {
                path.to_string_lossy()
                    .ends_with(&format!("victim_{name}.schedule"))
            };
            all.into_iter()
                .find(is)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        };
        let schedule = of("message");
        for again in ["1", "3"] {
            let replay = ("STOPWATT_REPLAY", &schedule[..]);
            let (said, failed) = run(&folder, &[replay], again, "victim");
            // The test of the schedule fails with its story; the others are what they were.
            assert_eq!(failed, ["lost", "message"], "{said}");
            assert!(
                said.contains("the data is late")
                    && said.contains("victim_right is explored as without it"),
                "{said}"
            );
            let (said, failed) = run(
                &folder,
                &[replay, ("VICTIM", "ordered")],
                again,
                "victim_message",
            );
            assert_eq!(failed, [""; 0], "{said}");
            assert!(
                said.contains("is gone: its deviation")
                    && said.contains("Nothing was found. LSE: all"),
                "{said}"
            );
            let (said, failed) = run(
                &folder,
                &[replay, ("VICTIM", "changed")],
                again,
                "victim_message",
            );
            assert_eq!(failed, ["message"], "{said}");
            assert!(
                said.contains("is stale, and says nothing") && !said.contains("Nothing was found"),
                "{said}"
            );
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
    let missing = ("STOPWATT_REPLAY", "no/such.schedule");
    let (said, failed) = run(&folder, &[missing], "1", "victim_right");
    assert_eq!(failed, ["right"], "{said}");
    assert!(said.contains("cannot read no/such.schedule: "), "{said}");
}

#[test]
fn seed_and_runs_come_from_the_environment_and_are_told() {
    let folder = folder("environment");
    let drawn = [("STOPWATT_SEED", "7"), ("STOPWATT_RUNS", "50")];
    let told = "STOPWATT_SEED=7 and STOPWATT_RUNS=50";
    for victim in ["victim_right", "victim_message"] {
        let (said, _) = run(&folder, &drawn, "1", victim);
        assert!(said.contains(told), "{said}");
    }
    for (name, value) in [
        ("SEED", "x"),
        ("SEED", "-1"),
        ("RUNS", "0"),
        ("RUNS", "1e6"),
        ("RUNS", ""),
    ] {
        let variable = format!("STOPWATT_{name}");
        let (said, failed) = run(&folder, &[(&variable, value)], "1", "victim_right");
        assert_eq!(failed, ["right"]);
        assert!(
            said.contains(&format!("{variable}={value} is no whole number from ")),
            "{said}"
        );
    }
}
