//! The timeline: tasks, idle states, ticks and callbacks of each CPU, under each policy.
//!
//! A run is longer than anybody looks at: a second of it is kept, of the first seed. A run of which less is simulated begins in the same way.

use crate::input::Input;
use crate::seed_run::outcome;
use experiment::Error;
use minikernel::placement::Kind;
use minikernel::{Outcome, WakeCause, events};
use recording::{Header, Lane, Recording};
use std::fmt::Write;

/// The case of the events.
pub(crate) const CASE: &str = "timeline";
/// Loads settle before the kept part begins, in nanoseconds.
const WARM_UP_NS: u64 = 1_000_000_000;
/// How much is kept, in nanoseconds.
const KEPT_NS: u64 = 1_000_000_000;

const SWITCH: &str = "task-switch";
const ENTER: &str = "idle-enter";
const LEAVE: &str = "idle-leave";

/// The part that is kept, in nanoseconds from the beginning.
pub(crate) fn kept(input: &Input) -> (u64, u64) {
    let to = (WARM_UP_NS + KEPT_NS).min(input.time_ns);
    (to.saturating_sub(KEPT_NS), to)
}

/// Runs a policy for as long as is needed, and keeps its events.
pub(crate) fn add(recording: &mut Recording, input: &Input, kind: Kind) -> Result<(), Error> {
    let (from, to) = kept(input);
    let outcome = outcome(input, kind, input.seeds.0, true, to)?;
    if recording.header.lanes.is_empty() {
        declare(&mut recording.header, input, &outcome);
    }
    let series = recording.series(kind.name(), CASE, "");
    let switch = recording.point_with_argument(SWITCH, "task");
    let [enter, leave] = [ENTER, LEAVE].map(|name| recording.point_with_argument(name, "idle-state"));
    // By CPU: the task that runs and the idle state that it is in, if any.
    let mut now = vec![(0_u32, None::<u32>); input.hardware.cpus()];
    let mut begun = false;
    let mut begin = |recording: &mut Recording, now: &[(u32, Option<u32>)]| {
        if !std::mem::replace(&mut begun, true) {
            for (cpu, (task, state)) in now.iter().enumerate() {
                recording.event(series, 0, cpu as u16, from, 0, switch, *task);
                if let Some(state) = state {
                    recording.event(series, 0, cpu as u16, from, 0, enter, *state);
                }
            }
        }
    };
    for event in &outcome.events {
        let time = event.time.saturating_sub(outcome.begin) / 1_000;
        if time >= to {
            break;
        }
        let is_kept = time >= from && event.time >= outcome.begin;
        if is_kept {
            begin(recording, &now);
        }
        let state = &mut now[usize::from(event.cpu)];
        let point = events::ALL.iter().chain(rcu::points::ALL).find(|point| point.id() == event.point);
        let Some(point) = point else { continue };
        let mut argument = event.argument;
        if *point == events::TASK_SWITCH {
            state.0 = argument;
        } else if *point == events::IDLE_ENTER {
            state.1 = Some(argument);
        } else if *point == events::IDLE_LEAVE {
            if is_kept && let Some(cause) = WakeCause::ALL.get(argument as usize) {
                let woken = recording.point(&woken_by(*cause));
                recording.event(series, 0, event.cpu, time, 0, woken, 0);
            }
            argument = state.1.take().unwrap_or_default();
        }
        if is_kept {
            let is = if *point == events::IDLE_LEAVE { Some("idle-state") } else { point.argument() };
            let name = match is {
                Some(argument) => recording.point_with_argument(point.name(), argument),
                None => recording.point(point.name()),
            };
            recording.event(series, 0, event.cpu, time, 0, name, argument);
        }
    }
    begin(recording, &now);
    for (cpu, (task, state)) in now.iter().enumerate() {
        if let Some(state) = state {
            recording.event(series, 0, cpu as u16, to, 0, leave, *state);
        }
        if *task != 0 {
            recording.event(series, 0, cpu as u16, to, 0, switch, 0);
        }
    }
    Ok(())
}

fn woken_by(cause: WakeCause) -> String {
    format!("woken-by-{}", cause.name())
}

/// Declares the lanes, and names what runs in them.
fn declare(header: &mut Header, input: &Input, outcome: &Outcome) {
    let mut tasks = String::new();
    for (number, task) in outcome.tasks.iter().enumerate() {
        // A name ends at a blank.
        let _ = writeln!(tasks, "{} {}", number + 1, task.name.replace(char::is_whitespace, "_"));
    }
    let mut states = String::new();
    for number in 0..input.hardware.states() {
        let mut names: Vec<&str> = Vec::new();
        for domain in &input.hardware.domains {
            names.extend(domain.states.get(number).map(|state| state.name.as_str()));
        }
        names.dedup();
        let _ = writeln!(states, "{number} {}", names.join("/").replace(char::is_whitespace, "_"));
    }
    header.texts.insert("tasks".to_owned(), tasks);
    header.texts.insert("idle-states".to_owned(), states);
    let of_tasks = [
        ("task-wake", "a task is woken"),
        ("operating-point", "another operating point"),
        ("callbacks-queued", "callbacks queued"),
        ("callbacks-invoked", "callbacks invoked"),
        ("rcu-grace-period-start", "grace period starts"),
        ("rcu-grace-period-end", "grace period has ended"),
    ];
    let mut of_idle = vec![("tick".to_owned(), "tick".to_owned())];
    for cause in WakeCause::ALL {
        of_idle.push((woken_by(cause), format!("woken by: {}", cause.name().replace('-', " "))));
    }
    let marks = of_tasks.map(|(point, name)| (point.to_owned(), name.to_owned()));
    header.lanes = vec![
        Lane {
            title: "task".to_owned(),
            begin: SWITCH.to_owned(),
            names: Some("tasks".to_owned()),
            nothing: Some(0),
            marks: marks.into(),
            ..Lane::default()
        },
        Lane {
            title: "idle state".to_owned(),
            begin: ENTER.to_owned(),
            end: Some(LEAVE.to_owned()),
            names: Some("idle-states".to_owned()),
            marks: of_idle.into_iter().collect(),
            ..Lane::default()
        },
    ];
}
