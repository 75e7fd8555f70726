//! The choice of who runs: wake-ups, preemption, the next task, and moves.

use crate::counts::WakeCause;
use crate::cpu::IPI_RESCHEDULE;
use crate::events;
use crate::kernel::Kernel;
use crate::owners::Owner;
use crate::program::Life;
use crate::runqueue::WEIGHT;
use crate::task::{Policy, TaskId};
use engine::Time;
use placement::Doing;
use soc::{Soc, Source};

/// Within this time each runnable fair task runs once. This and the next two are Linux's values of
/// 2009 to 2023 (6, 0.75 and 1 ms) on 4 to 7 CPUs: times 1 + log2 of the number of CPUs, which is 3.
const LATENCY_NS: u64 = 18_000_000;
/// No fair task runs for less.
const GRANULARITY_NS: u64 = 2_250_000;
/// The lead that a running fair task must have over one that wakes for it to be put off.
const WAKE_UP_NS: u64 = 3_000_000;

impl Kernel {
    /// Wakes a task that is blocked; `by` is the CPU that does it, and `cause` what counts as the
    /// cause if that wakes another CPU.
    pub fn wake(&mut self, soc: &Soc, by: usize, task: TaskId, cause: WakeCause) {
        if !matches!(self.tasks[task].life, Life::Blocked | Life::Unborn) {
            return;
        }
        self.owe(by, Owner::Kernel, self.settings.costs.wake_up);
        let previous = self.tasks[task].cpu;
        let starts = self.tasks[task].life == Life::Unborn;
        let wanted = self
            .ask(|placement, view| {
                if starts {
                    placement.start(view, task, previous)
                } else {
                    placement.wake(view, task, previous)
                }
            })
            .unwrap_or(previous);
        let target = self.allowed_cpu(task, wanted);
        self.note_doing(task, target, Doing::Nothing, Doing::Waiting);
        let sleeper = &mut self.tasks[task];
        if starts {
            sleeper.begin = self.now;
        }
        sleeper.sleep += 1;
        sleeper.wants = None;
        sleeper.counts.wake_ups += 1;
        sleeper.life = Life::Waiting;
        self.move_accounts(task, target);
        self.stamp(soc, target, events::TASK_WAKE, task as u64);
        // Who slept long is not to make up for all of it.
        self.refresh(target);
        let running = self.cpus[target]
            .current
            .map(|running| self.tasks[running].vruntime);
        self.cpus[target].queue.raise_floor(running);
        let floor = self.cpus[target]
            .queue
            .floor
            .saturating_sub(LATENCY_NS * 1_000 / 2);
        let sleeper = &mut self.tasks[task];
        sleeper.vruntime = sleeper.vruntime.max(floor);
        self.enqueue(target, task, false);
        if self.preempts(task, target) {
            self.ask_reschedule(soc, by, target, cause);
        }
    }

    /// The CPU that was wanted for a task, or the first that it may run on.
    pub fn allowed_cpu(&self, task: TaskId, wanted: usize) -> usize {
        let cpus = self.tasks[task].cpus;
        if wanted < self.cpus.len() && cpus.has(wanted) {
            return wanted;
        }
        cpus.iter(self.cpus.len()).next().unwrap_or(0)
    }

    /// Virtual run times count from the floor of the CPU's queue.
    fn move_accounts(&mut self, task: TaskId, to: usize) {
        let from = self.tasks[task].cpu;
        if from == to {
            return;
        }
        let (old, new) = (self.cpus[from].queue.floor, self.cpus[to].queue.floor);
        let moved = &mut self.tasks[task];
        moved.vruntime = (new + moved.vruntime).saturating_sub(old);
        moved.cpu = to;
        moved.counts.moves += 1;
        if self.cpus[from].domain != self.cpus[to].domain {
            moved.left += soc::Work::done(1024, self.settings.costs.migration * 1_000);
        }
    }

    /// True if a task that waits for a CPU should run in place of the one that does.
    fn preempts(&self, task: TaskId, cpu: usize) -> bool {
        let Some(running) = self.cpus[cpu].current else {
            return true;
        };
        let weight = self.weight(task);
        let (task, running) = (&self.tasks[task], &self.tasks[running]);
        match (task.spec.policy, running.spec.policy) {
            (Policy::RealTime { priority }, Policy::RealTime { priority: other }) => {
                priority > other
            }
            (Policy::RealTime { .. }, Policy::Fair { .. }) => true,
            (Policy::Fair { .. }, Policy::RealTime { .. }) => false,
            (Policy::Fair { .. }, Policy::Fair { .. }) => {
                let granularity = WAKE_UP_NS * 1_000 * WEIGHT / weight.max(1);
                running.vruntime > task.vruntime.saturating_add(granularity)
            }
        }
    }

    /// Has a CPU pass through its scheduler soon.
    pub fn ask_reschedule(&mut self, soc: &Soc, by: usize, target: usize, cause: WakeCause) {
        self.cpus[target].reschedule = true;
        if by != target {
            self.send(soc, by, target, IPI_RESCHEDULE, cause);
        }
    }

    /// Sends an interrupt to another CPU.
    pub fn send(&mut self, soc: &Soc, by: usize, target: usize, kind: u8, cause: WakeCause) {
        self.owe(by, Owner::Kernel, self.settings.costs.ipi);
        self.cpus[target].ipi_cause.get_or_insert(cause);
        soc.raise(target, Source::Ipi(kind));
    }

    /// The scheduler: puts the running task off, unless it is its turn again, and takes the next.
    pub fn schedule(&mut self, soc: &Soc, cpu: usize) {
        self.cpus[cpu].reschedule = false;
        self.note_context_switch(soc, cpu);
        let previous = self.cpus[cpu].current.take();
        let own = previous
            .filter(|&task| self.tasks[task].life == Life::Running)
            .map(|task| self.tasks[task].vruntime);
        self.cpus[cpu].queue.raise_floor(own);
        if let Some(task) = previous.filter(|&task| self.tasks[task].life == Life::Running) {
            self.note_doing(task, cpu, Doing::Running, Doing::Waiting);
            self.tasks[task].life = Life::Waiting;
            match self.cpus[cpu]
                .push
                .take()
                .filter(|&to| to != cpu && self.tasks[task].cpus.has(to))
            {
                Some(to) => self.put(soc, cpu, task, to),
                None => self.enqueue(cpu, task, true),
            }
        } else if let Some(task) = previous {
            self.note_doing(task, cpu, Doing::Running, Doing::Nothing);
        }
        self.cpus[cpu].push = None;
        if self.cpus[cpu].queue.is_empty() {
            self.pull(soc, cpu);
        }
        let next = self.cpus[cpu].queue.take();
        self.cpus[cpu].current = next;
        if let Some(task) = next {
            self.note_doing(task, cpu, Doing::Waiting, Doing::Running);
            self.tasks[task].life = Life::Running;
            self.cpus[cpu].turn_paid = false;
            if self.cpus[cpu].tick.is_none() {
                self.restart_tick(cpu);
            }
        }
        if next != previous {
            self.cpus[cpu].counts.switches += 1;
            self.owe(cpu, Owner::Kernel, self.settings.costs.context_switch);
            if let Some(task) = next {
                self.tasks[task].slice = 0;
                self.tasks[task].counts.switches += 1;
            }
            self.note_switch(soc, cpu);
        }
        self.look_at_frequency(soc, self.cpus[cpu].domain);
    }

    /// Adds a task to those that wait for a CPU; `first` puts a real-time task before those of its
    /// priority.
    fn enqueue(&mut self, cpu: usize, task: TaskId, first: bool) {
        let added = &self.tasks[task];
        let queue = &mut self.cpus[cpu].queue;
        queue.add(task, added.spec.policy, added.vruntime, first);
    }

    /// Puts a task that waits on another CPU.
    pub fn put(&mut self, soc: &Soc, by: usize, task: TaskId, to: usize) {
        self.move_accounts(task, to);
        self.enqueue(to, task, false);
        if self.preempts(task, to) {
            self.ask_reschedule(soc, by, to, WakeCause::Task);
        }
    }

    /// A CPU without work takes a task from another.
    fn pull(&mut self, soc: &Soc, cpu: usize) {
        let Some(Some(task)) = self.ask(|placement, view| placement.pull(view, cpu)) else {
            return;
        };
        let from = self.tasks[task].cpu;
        if from == cpu || !self.tasks[task].cpus.has(cpu) {
            return;
        }
        if self.cpus[from].queue.remove(task) {
            self.move_accounts(task, cpu);
            self.enqueue(cpu, task, false);
        } else if self.cpus[from].current == Some(task) {
            self.cpus[from].push = Some(cpu);
            self.ask_reschedule(soc, cpu, from, WakeCause::Task);
        }
    }

    /// The scheduler's part of a busy CPU's tick: whether the running task has had its share, and
    /// whether it belongs elsewhere.
    pub fn scheduler_tick(&mut self, soc: &Soc, cpu: usize) {
        let Some(task) = self.cpus[cpu].current else {
            return;
        };
        self.note_doing(task, cpu, Doing::Running, Doing::Running);
        let (running, queue) = (&self.tasks[task], &self.cpus[cpu].queue);
        if running.is_fair() {
            let waiting = queue.least();
            let sharers = queue.len() as u64 + 1;
            let share = (LATENCY_NS / sharers).max(GRANULARITY_NS) * 1_000;
            let had_its_share =
                running.slice >= share && waiting.is_some_and(|least| least < running.vruntime);
            if queue.real_time().is_some() || had_its_share {
                self.cpus[cpu].reschedule = true;
            }
        }
        if let Some(Some(wanted)) = self.ask(|placement, view| placement.tick(view, cpu))
            && wanted.to < self.cpus.len()
            && self.tasks[wanted.task].cpus.has(wanted.to)
        {
            if self.cpus[cpu].current == Some(wanted.task) {
                self.cpus[cpu].push = Some(wanted.to);
                self.cpus[cpu].reschedule = true;
            } else if self.cpus[cpu].queue.remove(wanted.task) {
                self.put(soc, cpu, wanted.task, wanted.to);
            }
        }
        self.look_at_frequency(soc, self.cpus[cpu].domain);
    }

    /// The tick goes on at the next jiffy.
    pub fn restart_tick(&mut self, cpu: usize) {
        self.cpus[cpu].tick = Some(self.jiffy_time(self.jiffy() + 1));
        self.cpus[cpu].tick_for_callbacks = false;
    }

    /// Weight of the fair tasks that are ready on a CPU.
    pub fn ready_weight(&self, cpu: usize) -> u32 {
        let ready = self.cpus[cpu].queue.tasks().chain(self.cpus[cpu].current);
        // Real-time tasks have none.
        ready.map(|task| self.weight(task) as u32).sum()
    }

    pub fn note_doing(&mut self, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        let is_ready = after != Doing::Nothing;
        if is_ready == (before == Doing::Nothing) {
            self.group_changes(self.tasks[task].group, self.tasks[task].weight, is_ready);
        }
        self.ask(|placement, view| placement.note(view, task, cpu, before, after));
    }

    /// The time at which a task that computes is done, or its CPU's timer fires.
    pub fn until(&self, cpu: usize, task: TaskId) -> Time {
        self.now
            .saturating_add(self.tasks[task].time(self.cpus[cpu].capacity))
            .min(self.next_event(cpu))
    }
}
