//! Events: what a task does.

use crate::names::Objects;
use crate::options::Options;
use crate::values::{HOUR_US, Source};
use document::json::{Item, Key, Span, Value};
use document::{Error, Result, nearest, quoted};
use minikernel::{Action, Draw};

/// All events.
const EVENTS: [&str; 25] = [
    "run",
    "runtime",
    "sleep",
    "timer",
    "lock",
    "unlock",
    "wait",
    "signal",
    "broad",
    "sync",
    "barrier",
    "suspend",
    "resume",
    "sem_post",
    "sem_wait",
    "yield",
    "fork",
    "mem",
    "memrun",
    "iorun",
    "stopwatt_run",
    "stopwatt_sleep",
    "stopwatt_close",
    "stopwatt_process",
    "stopwatt_exit",
];

/// Keys of a task in rt-app's files until 2013.
const OF_2013: [&str; 7] = [
    "exec",
    "period",
    "deadline",
    "lock_order",
    "resources",
    "use",
    "jitter",
];

/// The most files closed, or processes, in one event.
const MOST: i64 = 1_000;

/// A thread whose events are read.
pub struct Thread<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) options: &'a Options,
    /// The capacity that `run` is calibrated for.
    pub(crate) capacity: u32,
    pub(crate) objects: &'a mut Objects,
    pub(crate) name: &'a str,
    /// Which of the task's instances it is.
    pub(crate) instance: usize,
    /// Names of its timers so far.
    pub(crate) timers: Vec<String>,
    /// Mutexes that it holds at this place of its events.
    pub(crate) held: Vec<usize>,
    /// Position at which the event names a barrier.
    pub(crate) barrier: Option<Span>,
}

/// The event of a key, which may end in a number.
pub fn event(key: &str) -> Option<&'static str> {
    let known = |name: &str| EVENTS.into_iter().find(|&event| event == name);
    let digits = key.trim_end_matches(|last: char| last.is_ascii_digit());
    known(key)
        .or_else(|| known(digits))
        .or_else(|| known(digits.trim_end_matches(['_', '-'])))
}

/// Says what events there are.
pub fn no_event(source: &Source, key: &Key, others: &[&str]) -> Error {
    if OF_2013.contains(&key.name.as_str()) {
        let what = format!(
            "{} is of rt-app's grammar of 2013, which describes tasks by exec, period and deadline",
            quoted(&key.name)
        );
        let help = "write its events in order, as today's rt-app has them: `\"run\": 500, \"timer\": { \"ref\": \"unique\", \"period\": 6000 }`";
        return source.error(key.at, what, help);
    }
    let what = format!(
        "{} is not an event, nor a property of a task or phase",
        quoted(&key.name)
    );
    let near = nearest(&key.name, EVENTS.into_iter().chain(others.iter().copied()));
    let near = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    let (events, others) = (EVENTS.join(", "), others.join(", "));
    source.error(
        key.at,
        what,
        format!("{near}events are {events}; properties are {others}"),
    )
}

impl Thread<'_> {
    /// The actions of the kernel that an event stands for.
    pub fn actions(&mut self, event: &str, item: &Item, to: &mut Vec<Action>) -> Result {
        let what = format!("`{event}`");
        let (source, capacity) = (self.source, self.capacity);
        let fixed = || source.us(item, &what).map(Draw::Fixed);
        let action = match event {
            "run" => Action::Run {
                time: fixed()?,
                capacity,
            },
            "runtime" => Action::RunTime(fixed()?),
            "sleep" => Action::Sleep(fixed()?),
            "stopwatt_run" => Action::Run {
                time: self.draw(item, &what)?,
                capacity,
            },
            "stopwatt_sleep" => Action::Sleep(self.draw(item, &what)?),
            "timer" => self.timer(item)?,
            "wait" | "sync" => self.wait(event, item, to)?,
            "suspend" | "resume" => self.suspend(event, item)?,
            "yield" => Action::Yield,
            "mem" | "memrun" => self.bytes(
                item,
                &what,
                self.options.memory_bytes_per_us,
                "memory",
                "--memory-bytes-per-us",
            )?,
            "iorun" => self.bytes(
                item,
                &what,
                self.options.device_bytes_per_us,
                "a device",
                "--device-bytes-per-us",
            )?,
            "stopwatt_close" | "stopwatt_process" => {
                let count = self.source.integer(item, &what, 1..=MOST)?;
                let action = if event == "stopwatt_close" {
                    Action::FileClose
                } else {
                    Action::ProcessLife
                };
                to.extend((1..count).map(|_| action));
                action
            }
            "stopwatt_exit" => Action::Exit,
            _ => self.on_object(event, item)?,
        };
        to.push(action);
        Ok(())
    }

    /// The action on the object that an event names.
    fn on_object(&mut self, event: &str, item: &Item) -> Result<Action> {
        let (source, at) = (self.source, item.at);
        let name = source.string(item, &format!("`{event}`"))?;
        let objects = &mut *self.objects;
        Ok(match event {
            "lock" => {
                let mutex = objects.mutexes.number(source, at, name)?;
                self.held.push(mutex);
                Action::Lock(mutex)
            }
            "unlock" => {
                let mutex = objects.mutexes.number(source, at, name)?;
                self.held.retain(|other| *other != mutex);
                Action::Unlock(mutex)
            }
            "signal" => Action::Signal(objects.conditions.number(source, at, name)?),
            "broad" => Action::Broadcast(objects.conditions.number(source, at, name)?),
            "barrier" => {
                self.barrier = Some(at);
                Action::Barrier(objects.barrier(source, at, name)?)
            }
            "sem_post" => Action::SemPost(objects.semaphores.number(source, at, name)?),
            "sem_wait" => Action::SemWait(objects.semaphores.number(source, at, name)?),
            "fork" => {
                let task = objects.task(source, at, name)?.first;
                objects.forked.push(task);
                Action::Fork(task)
            }
            other => unreachable!("`{other}` is no event"),
        })
    }

    /// Waits for a condition, or wakes one that waits and then waits.
    fn wait(&mut self, event: &str, item: &Item, to: &mut Vec<Action>) -> Result<Action> {
        let (condition, mutex) = self.condition(item, &format!("`{event}`"))?;
        self.objects.awaited.insert(condition);
        Ok(if event == "wait" {
            Action::Wait { condition, mutex }
        } else if self.held.contains(&mutex) {
            Action::Sync { condition, mutex }
        } else {
            // rt-app's tutorial has it take the mutex before, and give it back afterwards;
            // its examples do that themselves.
            to.extend([Action::Lock(mutex), Action::Sync { condition, mutex }]);
            Action::Unlock(mutex)
        })
    }

    /// Suspends a task, or resumes those that were suspended.
    fn suspend(&mut self, event: &str, item: &Item) -> Result<Action> {
        // Both act on what they name, which need not be a task; without a name, on what the task is
        // called.
        let (condition, name) = self.condition_or_own(item)?;
        if event == "suspend" {
            self.objects.awaited.insert(condition);
            return Ok(Action::Suspend(condition));
        }
        let by = self.name.to_owned();
        self.objects.resumed.push((condition, name, by));
        Ok(Action::Resume(condition))
    }

    /// The condition that an event names, and its name: the task's own where it names none.
    fn condition_or_own(&mut self, item: &Item) -> Result<(usize, String)> {
        let name = match &item.value {
            Value::Missing | Value::Null => self.name,
            Value::String(text) if text.is_empty() => self.name,
            Value::String(text) => text.as_str(),
            other => {
                return self.source.wrong(
                    item.at,
                    format!("a task is suspended on a name, and not on {}", other.kind()),
                    "write a name in double quotes, or leave it empty",
                );
            }
        };
        Ok((
            self.objects.conditions.number(self.source, item.at, name)?,
            name.to_owned(),
        ))
    }

    fn condition(&mut self, item: &Item, what: &str) -> Result<(usize, usize)> {
        let [condition, mutex] = self.source.fields(item, what, ["ref", "mutex"])?;
        let (Some(condition), Some(mutex)) = (condition, mutex) else {
            return self.source.wrong(
                item.at,
                format!("{what} lacks `ref` or `mutex`"),
                "write `{ \"ref\": \"condition\", \"mutex\": \"mutex\" }`",
            );
        };
        let name = self.source.string(condition, "the condition `ref`")?;
        let number = self
            .objects
            .conditions
            .number(self.source, condition.at, name)?;
        let name = self.source.string(mutex, "the mutex")?;
        Ok((
            number,
            self.objects.mutexes.number(self.source, mutex.at, name)?,
        ))
    }

    fn timer(&mut self, item: &Item) -> Result<Action> {
        let source = self.source;
        let [name, period, mode, step] =
            source.fields(item, "`timer`", ["ref", "period", "mode", "stopwatt_step"])?;
        let (Some(name_at), Some(period)) = (name, period) else {
            let help = "write `{ \"ref\": \"unique\", \"period\": 1000 }`";
            return source.wrong(item.at, "`timer` lacks `ref` or `period`", help);
        };
        let name = source.string(name_at, "the timer's `ref`")?;
        let mut us = source.integer(period, "a period in microseconds", 1..=HOUR_US)?;
        if let Some(step) = step {
            us += source.integer(step, "`stopwatt_step` in microseconds", 0..=HOUR_US)?
                * self.instance as i64;
            if us > HOUR_US {
                return source.wrong(
                    step.at,
                    format!("the period of instance {} is {us} us", self.instance),
                    "a period is an hour at most",
                );
            }
        }
        let relative = match mode
            .map(|mode| source.string(mode, "the timer's `mode`"))
            .transpose()?
        {
            None | Some("relative") => true,
            Some("absolute") => false,
            Some(other) => {
                return source.wrong(
                    item.at,
                    format!("a timer has no mode {}", quoted(other)),
                    "modes are `relative` (the default) and `absolute`",
                );
            }
        };
        let period = us as u64 * 1_000;
        if !name.starts_with("unique") {
            let timer = self.objects.timers.number(source, name_at.at, name)?;
            return Ok(Action::SharedTimer {
                timer,
                period,
                relative,
            });
        }
        let timer = self
            .timers
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                self.timers.push(name.to_owned());
                self.timers.len() - 1
            });
        if timer > usize::from(u8::MAX) {
            return source.wrong(
                name_at.at,
                "a thread has more than 256 timers",
                "let it use fewer",
            );
        }
        Ok(Action::Timer {
            timer,
            period,
            relative,
        })
    }

    /// A length that is drawn.
    fn draw(&self, item: &Item, what: &str) -> Result<Draw> {
        let source = self.source;
        match source.fields(item, what, ["low", "high", "mean"])? {
            [Some(low), Some(high_at), None] => {
                let (low, high) = (source.us(low, "`low`")?, source.us(high_at, "`high`")?);
                if low > high {
                    return source.wrong(
                        high_at.at,
                        "`high` is less than `low`",
                        "the longest comes last",
                    );
                }
                Ok(Draw::Uniform { low, high })
            }
            [None, None, Some(mean)] => Ok(Draw::Exponential {
                mean: source.us(mean, "`mean`")?,
            }),
            _ => {
                let help = "write `{ \"low\": 1000, \"high\": 2000 }` or `{ \"mean\": 1000 }`";
                source.wrong(
                    item.at,
                    format!("{what} is neither `low` and `high` nor `mean`"),
                    help,
                )
            }
        }
    }

    /// Bytes that are written, as work.
    fn bytes(
        &self,
        item: &Item,
        what: &str,
        per_us: Option<u64>,
        of: &str,
        option: &str,
    ) -> Result<Action> {
        let bytes = self
            .source
            .integer(item, &format!("{what} in bytes"), 0..=1 << 40)? as u64;
        let Some(per_us) = per_us.filter(|&rate| rate > 0) else {
            return self.source.wrong(item.at, format!("{what} writes to {of}, and it is not said how fast"), format!(
                "say how many bytes a microsecond takes, which is MB/s, on the core that `run` is calibrated on ({option}), or use `run`"
            ));
        };
        let ns = (u128::from(bytes) * 1_000 / u128::from(per_us)) as u64;
        if ns > HOUR_US as u64 * 1_000 {
            return self.source.wrong(
                item.at,
                format!("{what} of {bytes} bytes takes more than an hour"),
                "write less",
            );
        }
        Ok(Action::Run {
            time: Draw::Fixed(ns),
            capacity: self.capacity,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_end_in_numbers() {
        assert_eq!(
            [
                event("run"),
                event("run12"),
                event("timer_3"),
                event("sem_post-0")
            ]
            .map(Option::unwrap),
            ["run", "run", "timer", "sem_post"]
        );
        assert_eq!(
            [event("runtime7"), event("memrun1")],
            [Some("runtime"), Some("memrun")]
        );
        assert_eq!(
            [
                event("runs"),
                event("ru"),
                event(""),
                event("12"),
                event("run1x")
            ],
            [None; 5]
        );
    }
}
