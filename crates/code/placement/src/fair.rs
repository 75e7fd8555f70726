//! Utilisation as Linux keeps it since 5.1: of each task, and of CPUs as the sum of the tasks that
//! were there last, with what a task is expected to use when it wakes up.
//!
//! On a slow CPU the time of load tracking goes slower, by its capacity, so that work counts the
//! same wherever it is done. When the CPU idles that time catches up, unless the CPU had no idle
//! time to lose. A task's estimate is what it had used when it last blocked: it rises at once, and
//! falls by a quarter of the difference. A CPU's use is the greater of its tasks' utilisation and
//! of the estimates of those that are there to run.

use crate::accounts::slot;
use crate::pelt::{LONGEST_SUM, PERIOD, Pelt};
use crate::task::TaskId;
use crate::view::{Doing, View};
use alloc::vec::Vec;

/// Changes below 1 % of 1024 do not change an estimate.
const MARGIN: i64 = 1024 / 100;
/// An estimate falls by this part of the difference.
const WEIGHT: i64 = 4;

/// The time of load tracking on a CPU, in ps.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// Until when it is known, in the kernel's time.
    wall: u64,
    /// The time of load tracking then.
    tracked: u64,
    /// The time that it never caught up.
    lost: u64,
    is_busy: bool,
    /// True if it has idled since it was busy last.
    has_idled: bool,
}

/// A task's expected use.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    /// The moving average.
    average: u32,
    /// The utilisation that it had when it last blocked.
    last: u32,
}

impl Estimate {
    fn get(self) -> u32 {
        self.average.max(self.last)
    }

    /// The task has blocked with this utilisation, on a CPU of this capacity.
    fn blocks(&mut self, used: u32, capacity: u32) {
        if self.average < used {
            (self.average, self.last) = (used, used);
            return;
        }
        let is_near = |difference: i64| difference.abs() < MARGIN;
        let fall = i64::from(used) - i64::from(self.average);
        if is_near(fall) {
            if !is_near(i64::from(self.last) - i64::from(used)) {
                self.last = used;
            }
            return;
        }
        // Without idle time nothing says what it would have used.
        if used > capacity {
            return;
        }
        self.last = used;
        // A shift to the right, which goes down and not towards 0.
        self.average = ((i64::from(self.average) * WEIGHT + fall).div_euclid(WEIGHT)) as u32;
    }
}

#[derive(Clone, Copy, Debug)]
struct Account {
    /// Load tracking, in the time of the CPU's own clock.
    pelt: Pelt,
    doing: Doing,
    cpu: usize,
    estimate: Estimate,
    /// The estimate that counts on its CPU, while it is there to run.
    counted: u32,
}

/// A CPU's clock, tasks and estimates.
#[derive(Clone, Debug, Default)]
struct Cpu {
    clock: Clock,
    /// The tasks that were last here and are not forgotten.
    homes: Vec<TaskId>,
    /// The sum of the estimates of those that run or wait here.
    estimated: u32,
}

/// The utilisation of all tasks and CPUs.
#[derive(Clone, Default)]
pub struct FairLoads {
    tasks: Vec<Option<Account>>,
    cpus: Vec<Cpu>,
}

impl FairLoads {
    /// A new task on a CPU: half of what the CPU has to spare, or what its tasks use for their
    /// load if that is less, as in Linux. One that has an account keeps it.
    pub fn begin(&mut self, view: &dyn View, task: TaskId, cpu: usize) {
        if self.account(task).is_some() {
            return;
        }
        self.advance(view, cpu);
        let used = self.utilisation(view, cpu);
        let spare = view.top_capacity(cpu).saturating_sub(used) / 2;
        let load: u64 = self.cpus[cpu]
            .homes
            .iter()
            .map(|&other| self.tracked(view, other).load(1024))
            .sum();
        let first = if used == 0 {
            spare
        } else {
            ((u64::from(used) * 1024 / (load + 1)) as u32).min(spare)
        };
        let pelt = Pelt::full(self.cpus[cpu].clock.tracked, first);
        let account = Account {
            pelt,
            doing: Doing::Nothing,
            cpu,
            estimate: Estimate::default(),
            counted: 0,
        };
        self.place(task, account);
    }

    /// The reasons that [`crate::Placement::note`] gives.
    pub fn note(&mut self, view: &dyn View, task: TaskId, cpu: usize, before: Doing, after: Doing) {
        self.advance(view, cpu);
        let here = self.cpus[cpu].clock.tracked;
        let mut account = match self.account(task) {
            Some(mut account) if account.cpu != cpu => {
                // It leaves with what it has used, and goes on by the clock of the CPU where it is
                // now.
                let there = account.cpu;
                self.advance(view, there);
                account
                    .pelt
                    .update(self.cpus[there].clock.tracked, account.doing, 1024);
                account.pelt.rebase(here);
                self.cpus[there].estimated =
                    self.cpus[there].estimated.saturating_sub(account.counted);
                self.cpus[cpu].estimated += account.counted;
                account
            }
            Some(account) => account,
            None => Account {
                pelt: Pelt::new(here),
                doing: before,
                cpu,
                estimate: Estimate::default(),
                counted: 0,
            },
        };
        account.pelt.update(here, before, 1024);
        let (was_there, is_there) = (account.doing != Doing::Nothing, after != Doing::Nothing);
        if !was_there && is_there {
            account.counted = account.estimate.get();
            self.cpus[cpu].estimated += account.counted;
        } else if was_there && !is_there {
            self.cpus[cpu].estimated = self.cpus[cpu].estimated.saturating_sub(account.counted);
            account.counted = 0;
            account
                .estimate
                .blocks(account.pelt.utilisation(), view.top_capacity(cpu));
        }
        if before == Doing::Running || after == Doing::Running {
            let clock = &mut self.cpus[cpu].clock;
            clock.is_busy = after == Doing::Running;
            clock.has_idled &= !clock.is_busy;
        }
        account.doing = after;
        self.place(task, Account { cpu, ..account });
    }

    /// The utilisation of a task at present, 0 to 1024 of the fastest CPU.
    pub fn task(&self, view: &dyn View, task: TaskId) -> u32 {
        self.tracked(view, task).utilisation()
    }

    /// The use that is expected of a task; 0 for one that has not blocked yet.
    pub fn estimate(&self, task: TaskId) -> u32 {
        self.account(task)
            .map_or(0, |account| account.estimate.get())
    }

    /// The utilisation of a CPU's tasks at present, those that are blocked included.
    pub fn utilisation(&self, view: &dyn View, cpu: usize) -> u32 {
        self.cpus
            .get(cpu)
            .into_iter()
            .flat_map(|cpu| &cpu.homes)
            .map(|&task| self.tracked(view, task).utilisation())
            .fold(0, u32::saturating_add)
    }

    /// The sum of the estimates of the tasks that run on a CPU or wait for it.
    pub fn estimated(&self, cpu: usize) -> u32 {
        self.cpus.get(cpu).map_or(0, |cpu| cpu.estimated)
    }

    /// The use of a CPU: utilisation or estimates, whichever is more, and no more than its
    /// capacity.
    pub fn used(&self, view: &dyn View, cpu: usize) -> u32 {
        self.utilisation(view, cpu)
            .max(self.estimated(cpu))
            .min(view.top_capacity(cpu))
    }

    fn account(&self, task: TaskId) -> Option<Account> {
        self.tasks.get(task).copied().flatten()
    }

    /// The load of a task brought up to now, by the clock of its CPU. One that is not known has
    /// none.
    fn tracked(&self, view: &dyn View, task: TaskId) -> Pelt {
        let Some(Account {
            mut pelt,
            doing,
            cpu,
            ..
        }) = self.account(task)
        else {
            return Pelt::new(0);
        };
        pelt.update(self.clock_at(view, cpu).tracked, doing, 1024);
        pelt
    }

    /// A CPU's clock brought up to now.
    fn clock_at(&self, view: &dyn View, cpu: usize) -> Clock {
        let Some(mut clock) = self.cpus.get(cpu).map(|cpu| cpu.clock) else {
            return Clock::default();
        };
        let elapsed = view.now().saturating_sub(clock.wall);
        if elapsed == 0 {
            return clock;
        }
        if clock.is_busy {
            clock.tracked += (u128::from(elapsed) * u128::from(view.capacity(cpu)) / 1024) as u64;
        } else {
            if !clock.has_idled && self.is_saturated(cpu) {
                clock.lost = clock.wall.saturating_sub(clock.tracked);
            }
            clock.has_idled = true;
            clock.tracked = clock.tracked.max(view.now().saturating_sub(clock.lost));
        }
        clock.wall = view.now();
        clock
    }

    fn advance(&mut self, view: &dyn View, cpu: usize) {
        slot(&mut self.cpus, cpu);
        self.cpus[cpu].clock = self.clock_at(view, cpu);
    }

    /// True if a CPU has had no idle time of late that a faster one would have had.
    fn is_saturated(&self, cpu: usize) -> bool {
        let sum: u64 = self.cpus[cpu]
            .homes
            .iter()
            .filter_map(|&task| self.account(task))
            .map(|account| account.pelt.used)
            .sum();
        sum >= (u64::from(LONGEST_SUM - PERIOD) << 10) - u64::from(LONGEST_SUM)
    }

    fn place(&mut self, task: TaskId, account: Account) {
        if let Some(before) = slot(&mut self.tasks, task).replace(account)
            && before.cpu != account.cpu
        {
            self.cpus[before.cpu].homes.retain(|&other| other != task);
        }
        if !self.cpus[account.cpu].homes.contains(&task) {
            self.forget(account.cpu);
            self.cpus[account.cpu].homes.push(task);
        }
    }

    /// Drops from a CPU the tasks of which nothing is left. Their estimates stay.
    fn forget(&mut self, cpu: usize) {
        let (tasks, tracked) = (&self.tasks, self.cpus[cpu].clock.tracked);
        self.cpus[cpu].homes.retain(|&task| {
            tasks[task].is_none_or(|account| {
                let mut pelt = account.pelt;
                pelt.update(tracked, account.doing, 1024);
                account.doing != Doing::Nothing || !pelt.is_forgotten()
            })
        });
    }
}
