//! The timeline of a run of the small kernel: tasks and idle states of each CPU, and for the whole
//! machine its callbacks and grace periods.
//!
//! A run is longer than anybody looks at, so a part of it is kept. Several runs of one recording
//! share the lanes and the names of tasks.
#![forbid(unsafe_code)]

use itertools::Itertools;
use minikernel::{Hardware, Outcome, WakeCause, events};
use recording::{Header, Lane, Recording, Series, place_of};
use std::ops::Range;

const SWITCH: &str = "task-switch";
const ENTER: &str = "idle-enter";
const LEAVE: &str = "idle-leave";
const WAITING: &str = "callbacks-waiting";
const NONE_WAIT: &str = "callbacks-none-wait";
const GRACE: &str = "grace-period-runs";
const NO_GRACE: &str = "grace-period-over";

/// The one argument of each of the machine's lanes.
const CALLBACKS_WAIT: u32 = 1;
const GRACE_PERIOD: u32 = 2;

/// The timelines of a recording's runs.
#[derive(Default)]
pub struct Timelines {
    /// Names of tasks; the number of a task is its place and 1 more, for 0 is the idle loop.
    tasks: Vec<String>,
}

/// The activities at a time: those that go on when the kept part begins, and those that still go on
/// when it ends.
struct Now {
    /// Task that each CPU runs, and the idle state that it is in, if any.
    cpus: Vec<(u32, Option<u32>)>,
    /// Callbacks that were queued and not yet invoked.
    waiting: u64,
    /// True if a grace period runs.
    grace: bool,
}

impl Timelines {
    /// Keeps a part of a run, in nanoseconds from its beginning; times of the recording are in
    /// nanoseconds, too. The run must have kept its stamps (`Settings::record`), and for grace
    /// periods those of RCU.
    pub fn add(
        &mut self,
        recording: &mut Recording,
        series: Series,
        hardware: &Hardware,
        outcome: &Outcome,
        kept: Range<u64>,
    ) {
        if recording.header.lanes.is_empty() {
            declare(&mut recording.header, hardware);
        }
        let tasks = outcome
            .tasks
            .iter()
            .map(|task| self.number(&task.name))
            .collect_vec();
        let mut log = Log { recording, series };
        let mut now = Now {
            cpus: vec![(0, None); hardware.cpus()],
            waiting: 0,
            grace: false,
        };
        let mut begun = false;
        // Lanes of the whole machine need the order of time over all CPUs.
        let mut stamps = outcome.events.iter().collect_vec();
        stamps.sort_by_key(|event| event.time);
        for event in stamps {
            let time = event.time.saturating_sub(outcome.begin) / 1_000;
            if time >= kept.end {
                break;
            }
            let is_kept = time >= kept.start && event.time >= outcome.begin;
            if is_kept && !std::mem::replace(&mut begun, true) {
                log.all(&now, kept.start, true);
            }
            log.stamp(&mut now, is_kept.then_some(time), event, &tasks);
        }
        if !begun {
            log.all(&now, kept.start, true);
        }
        log.all(&now, kept.end, false);
    }

    /// The number of a task on its lane.
    fn number(&mut self, name: &str) -> u32 {
        let new = || name.to_owned();
        place_of(&mut self.tasks, |other| other == name, new) as u32 + 1
    }

    /// Writes down how the tasks on the lanes are called, when all runs were added.
    pub fn name_tasks(&self, header: &mut Header) {
        if let Some(lane) = header.lanes.iter_mut().find(|lane| lane.begin == SWITCH) {
            lane.names = (1..).zip(self.tasks.iter().cloned()).collect();
        }
    }
}

/// Receiver of a run's events.
struct Log<'r> {
    recording: &'r mut Recording,
    series: Series,
}

impl Log<'_> {
    fn put(&mut self, cpu: u16, time: u64, point: &str, argument: Option<&str>, value: u32) {
        let point = self.recording.point_with(point, argument);
        self.recording
            .event(self.series, 0, cpu, time, 0, point, value);
    }

    /// The activities at one end of the kept part: its begin, or its end.
    fn all(&mut self, now: &Now, time: u64, begins: bool) {
        let [idle, callbacks, grace] = if begins {
            [ENTER, WAITING, GRACE]
        } else {
            [LEAVE, NONE_WAIT, NO_GRACE]
        };
        for (cpu, &(task, state)) in (0..).zip(&now.cpus) {
            if begins || task != 0 {
                let task = if begins { task } else { 0 };
                self.put(cpu, time, SWITCH, Some("task"), task);
            }
            if let Some(state) = state {
                self.put(cpu, time, idle, Some("idle-state"), state);
            }
        }
        if now.waiting > 0 {
            self.put(0, time, callbacks, None, CALLBACKS_WAIT);
        }
        if now.grace {
            self.put(0, time, grace, None, GRACE_PERIOD);
        }
    }

    /// A stamp of the kernel's or of RCU's; it is written where `kept` says when it was.
    fn stamp(&mut self, now: &mut Now, kept: Option<u64>, event: &soc::Event, tasks: &[u32]) {
        let point = events::ALL
            .iter()
            .chain(rcu::points::ALL)
            .find(|point| point.id() == event.point);
        let Some(point) = point else { return };
        let mut argument = event.argument;
        let mut is = point.argument();
        let mut of_machine = None;
        let state = &mut now.cpus[usize::from(event.cpu)];
        if *point == events::TASK_SWITCH || *point == events::TASK_WAKE {
            // The kernel counts tasks from 1 where it switches to them, for 0 is the idle loop, and
            // from 0 where it wakes them.
            let first = u32::from(*point == events::TASK_SWITCH);
            let task = argument
                .checked_sub(first)
                .and_then(|task| tasks.get(task as usize));
            argument = task.copied().unwrap_or(0);
            if first == 1 {
                state.0 = argument;
            }
        } else if *point == events::IDLE_ENTER {
            state.1 = Some(argument);
        } else if *point == events::IDLE_LEAVE {
            if let (Some(time), Some(cause)) = (kept, WakeCause::NAMES.get(argument as usize)) {
                self.put(event.cpu, time, &woken_by(cause), None, 0);
            }
            (is, argument) = (Some("idle-state"), state.1.take().unwrap_or_default());
        } else if *point == events::CALLBACKS_QUEUED || *point == events::CALLBACKS_INVOKED {
            let before = now.waiting;
            let count = u64::from(argument);
            let queued = *point == events::CALLBACKS_QUEUED;
            now.waiting = if queued {
                before + count
            } else {
                before.saturating_sub(count)
            };
            of_machine = match (before, now.waiting) {
                (0, 1..) => Some((WAITING, CALLBACKS_WAIT)),
                (1.., 0) => Some((NONE_WAIT, CALLBACKS_WAIT)),
                _ => None,
            };
        } else if *point == rcu::points::GRACE_PERIOD_START {
            now.grace = true;
            of_machine = Some((GRACE, GRACE_PERIOD));
        } else if *point == rcu::points::GRACE_PERIOD_END {
            now.grace = false;
            of_machine = Some((NO_GRACE, GRACE_PERIOD));
        }
        if let Some(time) = kept {
            self.put(event.cpu, time, point.name(), is, argument);
            if let Some((point, value)) = of_machine {
                self.put(event.cpu, time, point, None, value);
            }
        }
    }
}

fn woken_by(cause: &str) -> String {
    format!("woken-by-{cause}")
}

/// Declares the lanes, and names idle states.
fn declare(header: &mut Header, hardware: &Hardware) {
    let state = |number: usize| {
        let mut names = Vec::new();
        for domain in &hardware.domains {
            names.extend(domain.states.get(number).map(|state| state.name.as_str()));
        }
        names.dedup();
        (number as u32, names.join("/"))
    };
    let states = (0..hardware.states()).map(state).collect();
    let rcu = [
        (CALLBACKS_WAIT, "callbacks-wait"),
        (GRACE_PERIOD, "grace-period"),
    ]
    .map(|(number, name)| (number, name.to_owned()));
    let of_tasks = [
        ("task-wake", "a task is woken"),
        ("operating-point", "another operating point"),
        ("callbacks-queued", "callbacks queued"),
        ("callbacks-invoked", "callbacks invoked"),
        ("rcu-grace-period-start", "grace period starts"),
        ("rcu-grace-period-end", "grace period has ended"),
    ];
    let mut of_idle = vec![("tick".to_owned(), "tick".to_owned())];
    for cause in WakeCause::NAMES {
        of_idle.push((
            woken_by(cause),
            format!("woken by: {}", cause.replace('-', " ")),
        ));
    }
    let marks = of_tasks.map(|(point, name)| (point.to_owned(), name.to_owned()));
    let machine = |title: &str, begin: &str, end: &str| Lane {
        title: title.to_owned(),
        begin: begin.to_owned(),
        end: Some(end.to_owned()),
        names: rcu.clone().into(),
        machine: true,
        ..Lane::default()
    };
    header.lanes = vec![
        Lane {
            title: "task".to_owned(),
            begin: SWITCH.to_owned(),
            nothing: Some(0),
            marks: marks.into(),
            ..Lane::default()
        },
        Lane {
            title: "idle state".to_owned(),
            begin: ENTER.to_owned(),
            end: Some(LEAVE.to_owned()),
            names: states,
            marks: of_idle.into_iter().collect(),
            ..Lane::default()
        },
        machine("callbacks", WAITING, NONE_WAIT),
        machine("grace periods", GRACE, NO_GRACE),
    ];
}
