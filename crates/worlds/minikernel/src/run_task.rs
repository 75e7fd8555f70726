//! The actions of a running task: it computes, and between that it takes actions, each a system
//! call.

use crate::callbacks::Callback;
use crate::counts::WakeCause;
use crate::cpu::{Alarm, IPI_TIMER, WheelAlarm};
use crate::kernel::Kernel;
use crate::program::{Life, Task};
use crate::settings::Form;
use crate::task::{Action, TaskId};
use engine::{SplitMix64, Time};
use soc::Soc;
use soc::meter::Activity;
use std::rc::Rc;

/// Callbacks of a small program's life: 14 kinds that there were in 2013, and 7 of the maple tree.
const LIFE_2013: u16 = 14;
const LIFE_MODERN: u16 = 21;

/// The most copies of tasks at once.
const MOST_COPIES: usize = 4_096;

impl Kernel {
    /// Lets the current task go on: the time until which it computes, or `None` after an action.
    pub fn run(&mut self, soc: &Soc, cpu: usize, task: TaskId) -> Option<Time> {
        let running = &mut self.tasks[task];
        if let Some(expected) = running.expected.take() {
            running
                .counts
                .latencies
                .push(self.now.saturating_sub(expected) / 1_000);
        }
        if !running.computes()
            && let Some((owner, work)) = running.then.take()
        {
            (running.owner, running.left) = (owner, work);
        }
        if running.computes() {
            let owner = running.owner;
            soc.meter().set(self.now, cpu, Activity::Running, owner);
            self.cpus[cpu].computing = Some(self.now);
            return Some(self.until(cpu, task));
        }
        if let Some(thread) = running.thread {
            self.run_thread(soc, cpu, task, thread);
            return None;
        }
        let (owner, group) = (running.owner, running.group);
        let next = running.next_action();
        if running.group != group {
            self.change_group(task, group);
        }
        match next {
            Some(action) => self.act(soc, cpu, task, action),
            None => self.end_task(soc, cpu, task),
        }
        if !matches!(self.tasks[task].life, Life::Running if self.tasks[task].computes()) {
            self.owe_to(cpu, owner, self.settings.costs.system_call.max(10));
        }
        None
    }

    /// Lets a task sleep until its next period, if it is not late.
    fn await_period(&mut self, soc: &Soc, cpu: usize, task: TaskId, next: Time) {
        if next > self.now {
            self.sleep_until(soc, cpu, task, next);
        }
    }

    /// Does an action that lets time pass.
    fn pause(&mut self, soc: &Soc, cpu: usize, task: TaskId, action: Action) {
        let this = &mut self.tasks[task];
        match action {
            Action::Sleep(time) => {
                let until = self
                    .now
                    .saturating_add(time.next(&mut this.random).saturating_mul(1_000));
                self.sleep_until(soc, cpu, task, until);
            }
            Action::Timer {
                timer,
                period,
                relative,
            } => {
                let next =
                    this.next_own_period(timer, period.saturating_mul(1_000), relative, self.now);
                self.await_period(soc, cpu, task, next);
            }
            Action::SharedTimer {
                timer,
                period,
                relative,
            } => {
                let base = self.objects.timers[timer].unwrap_or(this.begin);
                let next = this.next_period(base, period.saturating_mul(1_000), relative, self.now);
                self.objects.timers[timer] = Some(next);
                self.await_period(soc, cpu, task, next);
            }
            _ => {}
        }
    }

    fn act(&mut self, soc: &Soc, cpu: usize, task: TaskId, action: Action) {
        let this = &mut self.tasks[task];
        match action {
            Action::Run { .. } | Action::RunTime(_) => this.add_work(action),
            Action::Sleep(_) | Action::Timer { .. } | Action::SharedTimer { .. } => {
                self.pause(soc, cpu, task, action)
            }
            Action::Lock(mutex) => {
                if !self.lock(task, mutex) {
                    self.block(cpu, task);
                }
            }
            Action::Unlock(mutex) => self.unlock(soc, cpu, task, mutex),
            Action::Wait { condition, mutex } => self.wait(soc, cpu, task, condition, mutex),
            Action::Signal(condition) => self.signal(soc, cpu, condition, 1),
            Action::Broadcast(condition) | Action::Resume(condition) => {
                self.signal(soc, cpu, condition, usize::MAX)
            }
            Action::Sync { condition, mutex } => {
                self.signal(soc, cpu, condition, 1);
                self.wait(soc, cpu, task, condition, mutex);
            }
            Action::Barrier(barrier) => match self.objects.barriers[barrier].arrive(task) {
                Some(others) => others
                    .into_iter()
                    .for_each(|other| self.wake(soc, cpu, other, WakeCause::Task)),
                None => self.block(cpu, task),
            },
            Action::Suspend(condition) => {
                self.objects.conditions[condition].push_back((task, None));
                self.block(cpu, task);
            }
            Action::SemPost(semaphore) => self.post(soc, cpu, semaphore),
            Action::SemWait(semaphore) => {
                if !self.objects.semaphores[semaphore].wait(task) {
                    self.block(cpu, task);
                }
            }
            Action::Yield => self.yield_now(cpu, task),
            Action::Fork(other) => {
                let random = SplitMix64::new(this.random.next());
                self.fork(soc, cpu, other, random);
            }
            Action::Callbacks { count, lazy } => self.queue_callbacks(soc, cpu, task, count, lazy),
            Action::FileClose => self.queue_callbacks(soc, cpu, task, 1, false),
            Action::ProcessLife => {
                let count = match self.settings.form {
                    Form::Y2013 => LIFE_2013,
                    Form::Modern => LIFE_MODERN,
                };
                self.queue_callbacks(soc, cpu, task, count, false);
            }
            Action::Exit => self.end_task(soc, cpu, task),
        }
    }

    /// Puts a task behind all others: as if it had run as much as the last of them.
    fn yield_now(&mut self, cpu: usize, task: TaskId) {
        let most = self.cpus[cpu]
            .queue
            .tasks()
            .map(|other| self.tasks[other].vruntime)
            .max();
        let this = &mut self.tasks[task];
        this.vruntime = this.vruntime.max(most.map_or(0, |most| most + 1));
        self.cpus[cpu].reschedule = true;
    }

    fn queue_callbacks(&mut self, soc: &Soc, cpu: usize, task: TaskId, count: u16, lazy: bool) {
        let by = self.tasks[task].origin as u32;
        for _ in 0..count {
            self.call(soc, cpu, Callback { by, lazy });
        }
    }

    pub fn block(&mut self, cpu: usize, task: TaskId) {
        self.tasks[task].life = Life::Blocked;
        self.cpus[cpu].reschedule = true;
    }

    fn sleep_until(&mut self, soc: &Soc, cpu: usize, task: TaskId, until: Time) {
        self.block(cpu, task);
        let slack = if self.tasks[task].is_fair() {
            self.settings.timer_slack_ns * 1_000
        } else {
            0
        };
        let what = Alarm::Wake {
            task,
            sleep: self.tasks[task].sleep,
            expected: until,
        };
        // Timers of tasks that may run on one CPU only stay there.
        let pinned = self.tasks[task].cpus.iter(self.cpus.len()).nth(1).is_none();
        let home = self
            .settings
            .timers_to
            .filter(|&home| !pinned && home < self.cpus.len())
            .unwrap_or(cpu);
        let hard = until.saturating_add(slack);
        let earlier = hard < self.next_event(home);
        self.cpus[home].precise.set(until, hard, what);
        if home != cpu && earlier {
            // That CPU's timer is set for later.
            self.send(soc, cpu, home, IPI_TIMER, WakeCause::RemoteTimer);
        }
    }

    pub fn sleep_jiffies(&mut self, cpu: usize, task: TaskId, until: u64) {
        let now = self.jiffy();
        self.block(cpu, task);
        let what = WheelAlarm::Wake {
            task,
            sleep: self.tasks[task].sleep,
        };
        self.cpus[cpu].wheel.set(now, until, what);
    }

    pub fn post(&mut self, soc: &Soc, cpu: usize, semaphore: usize) {
        if let Some(next) = self.objects.semaphores[semaphore].post() {
            self.wake(soc, cpu, next, WakeCause::Task);
        }
    }

    /// Takes a mutex for a task, or has the task wait for it; whether it was taken. Who waits for
    /// itself in a circle, or for one that has ended, is told of.
    fn lock(&mut self, task: TaskId, mutex: usize) -> bool {
        if self.objects.mutexes[mutex].lock(task) {
            return true;
        }
        self.tasks[task].wants = Some(mutex);
        self.look_for_deadlock(task);
        false
    }

    /// Follows who waits for whom from a task that waits for a mutex. Each deadlock is told of
    /// once: when the last of its tasks begins to wait, or when the one that holds the mutex ends.
    fn look_for_deadlock(&mut self, first: TaskId) {
        let mut links = Vec::new();
        let mut task = first;
        while let Some(mutex) = self.tasks[task].wants {
            let mutex = &self.objects.mutexes[mutex];
            let Some(holder) = mutex.holder else { return };
            let name = |task: TaskId| self.tasks[task].spec.name.as_str();
            let ended = if self.tasks[holder].life == Life::Ended {
                " and has ended"
            } else {
                ""
            };
            links.push(format!(
                "{} waits for the mutex {}, which {} holds{ended}",
                name(task),
                mutex.name,
                if holder == task {
                    "it itself"
                } else {
                    name(holder)
                }
            ));
            if holder == first || !ended.is_empty() {
                let at = self.now - self.begin;
                self.deadlocks.push((at, links.join("; ")));
                return;
            }
            task = holder;
            // A circle that was told of before, to which this task has come.
            if links.len() > self.tasks.len() {
                return;
            }
        }
    }

    fn unlock(&mut self, soc: &Soc, cpu: usize, task: TaskId, mutex: usize) {
        if let Some(next) = self.objects.mutexes[mutex].unlock(task) {
            self.wake(soc, cpu, next, WakeCause::Task);
        }
    }

    fn wait(&mut self, soc: &Soc, cpu: usize, task: TaskId, condition: usize, mutex: usize) {
        self.unlock(soc, cpu, task, mutex);
        self.objects.conditions[condition].push_back((task, Some(mutex)));
        self.block(cpu, task);
    }

    fn signal(&mut self, soc: &Soc, cpu: usize, condition: usize, most: usize) {
        for _ in 0..most {
            let Some((task, mutex)) = self.objects.conditions[condition].pop_front() else {
                return;
            };
            // It goes on when it has the mutex again.
            if mutex.is_none_or(|mutex| self.lock(task, mutex)) {
                self.wake(soc, cpu, task, WakeCause::Task);
            }
        }
    }

    /// Starts a copy of a task, with a stream that its parent's own stream began.
    fn fork(&mut self, soc: &Soc, cpu: usize, of: TaskId, random: SplitMix64) {
        let number = self.tasks.len();
        if self.copies == MOST_COPIES {
            let name = &self.specs[of].name;
            self.wrong = Some(format!(
                "task {name}: more than {MOST_COPIES} copies of tasks at once; let fewer be forked"
            ));
            return self.finish(soc);
        }
        self.copies += 1;
        let owner = self.owners.id(crate::owners::Owner::Task(of));
        let mut copy = Task::new(Rc::clone(&self.specs[of]), of, owner, random);
        copy.cpu = cpu;
        copy.vruntime = self.cpus[cpu].queue.floor;
        self.tasks.push(copy);
        self.wake(soc, cpu, number, WakeCause::Task);
    }

    fn end_task(&mut self, soc: &Soc, cpu: usize, task: TaskId) {
        let this = &mut self.tasks[task];
        this.life = Life::Ended;
        this.counts.ended = Some(self.now - self.begin);
        let wait_for_it: Vec<TaskId> = self
            .objects
            .mutexes
            .iter()
            .filter(|mutex| mutex.holder == Some(task))
            .filter_map(|mutex| mutex.waiters.front().copied())
            .collect();
        wait_for_it
            .into_iter()
            .for_each(|waiter| self.look_for_deadlock(waiter));
        let this = &mut self.tasks[task];
        let is_copy = this.origin != task;
        let was_main = this.spec.main && !is_copy;
        self.copies -= usize::from(is_copy);
        self.cpus[cpu].reschedule = true;
        if was_main {
            self.mains -= 1;
            if self.mains == 0 {
                self.finish(soc);
            }
        }
    }
}
