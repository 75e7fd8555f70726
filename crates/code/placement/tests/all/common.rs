//! A machine of the tests' own: tasks are put where a test wants them, and time goes on when it
//! says so.
#![allow(dead_code, reason = "each test file uses some of it")]

use placement::{CpuSet, Doing, Model, Move, Placement, Policy, TaskId, View};

pub const MS: u64 = 1_000_000_000;
/// Two fast CPUs and three slow ones, as on TC2.
pub const FAST: [usize; 2] = [0, 1];
pub const SLOW: [usize; 3] = [2, 3, 4];

#[derive(Clone, Debug)]
pub struct Task {
    pub policy: Policy,
    pub allowed: CpuSet,
    pub is_kernel_thread: bool,
    /// CPU on which the task is, or was last.
    pub cpu: usize,
    pub doing: Doing,
    pub has_started: bool,
}

#[derive(Clone, Debug)]
pub struct Machine {
    pub now: u64,
    pub tops: Vec<u32>,
    pub tasks: Vec<Task>,
}

impl Machine {
    pub fn tc2() -> Self {
        Self {
            now: 1_000 * MS,
            tops: vec![1024, 1024, 430, 430, 430],
            tasks: Vec::new(),
        }
    }

    pub fn model() -> Model {
        let big = [(600_000_000, 512, 2312), (1_200_000_000, 1024, 6997)];
        let little = [(500_000_000, 215, 334), (1_000_000_000, 430, 1024)];
        Model::new(&[(&FAST, &big), (&SLOW, &little)]).unwrap()
    }

    /// A fair task that has not started.
    pub fn task(&mut self, nice: i8) -> TaskId {
        let policy = Policy::Fair { nice };
        let (allowed, doing) = (CpuSet::ALL, Doing::Nothing);
        self.tasks.push(Task {
            policy,
            allowed,
            is_kernel_thread: false,
            cpu: 0,
            doing,
            has_started: false,
        });
        self.tasks.len() - 1
    }

    /// A task does something else from now on.
    pub fn set(&mut self, policy: &mut dyn Placement, task: TaskId, doing: Doing) {
        let (cpu, before) = (self.tasks[task].cpu, self.tasks[task].doing);
        policy.note(self, task, cpu, before, doing);
        self.tasks[task].doing = doing;
    }

    /// Runs a task on a CPU for a time, with ticks that are told but not asked; it ends blocked
    /// there.
    pub fn ran(&mut self, policy: &mut dyn Placement, task: TaskId, cpu: usize, ms: u64) {
        self.runs(policy, task, cpu, ms);
        self.set(policy, task, Doing::Nothing);
    }

    /// The same, and it still runs at the end.
    pub fn runs(&mut self, policy: &mut dyn Placement, task: TaskId, cpu: usize, ms: u64) {
        self.tasks[task].cpu = cpu;
        self.set(policy, task, Doing::Running);
        for _ in 0..ms {
            self.now += MS;
            self.set(policy, task, Doing::Running);
        }
    }

    /// Lets time go by.
    pub fn pass(&mut self, ms: u64) {
        self.now += ms * MS;
    }

    /// Wakes a task, which then runs where the policy says if nobody does there, and otherwise
    /// waits.
    pub fn wake(&mut self, policy: &mut dyn Placement, task: TaskId) -> usize {
        let previous = self.tasks[task].cpu;
        let to = match self.tasks[task].has_started {
            true => policy.wake(self, task, previous),
            false => policy.start(self, task, previous),
        };
        self.tasks[task].has_started = true;
        self.tasks[task].cpu = to;
        self.set(policy, task, Doing::Waiting);
        self.go_on(policy, to);
        to
    }

    /// Somebody who waits for a CPU runs, if nobody does.
    pub fn go_on(&mut self, policy: &mut dyn Placement, cpu: usize) {
        if self.running(cpu).is_none()
            && let Some(next) = self.waiting_tasks(cpu).first().copied()
        {
            self.set(policy, next, Doing::Running);
        }
    }

    /// Does what the policy wants in a CPU's tick.
    pub fn tick(&mut self, policy: &mut dyn Placement, cpu: usize) -> Option<Move> {
        if let Some(task) = self.running(cpu) {
            self.set(policy, task, Doing::Running);
        }
        let wanted = policy.tick(self, cpu);
        if let Some(Move { task, to }) = wanted {
            self.moves(policy, task, to);
        }
        wanted
    }

    /// Does what the policy wants when a CPU has nothing to do.
    pub fn pull(&mut self, policy: &mut dyn Placement, cpu: usize) -> Option<TaskId> {
        let wanted = policy.pull(self, cpu);
        if let Some(task) = wanted {
            self.moves(policy, task, cpu);
        }
        wanted
    }

    fn moves(&mut self, policy: &mut dyn Placement, task: TaskId, to: usize) {
        let from = self.tasks[task].cpu;
        self.set(policy, task, Doing::Waiting);
        self.tasks[task].cpu = to;
        self.go_on(policy, to);
        self.go_on(policy, from);
    }
}

impl View for Machine {
    fn now(&self) -> u64 {
        self.now
    }
    fn cpus(&self) -> usize {
        self.tops.len()
    }
    fn capacity(&self, cpu: usize) -> u32 {
        self.tops[cpu]
    }
    fn top_capacity(&self, cpu: usize) -> u32 {
        self.tops[cpu]
    }
    fn running(&self, cpu: usize) -> Option<TaskId> {
        (0..self.tasks.len())
            .find(|&task| self.tasks[task].cpu == cpu && self.tasks[task].doing == Doing::Running)
    }
    fn waiting(&self, cpu: usize) -> usize {
        self.waiting_tasks(cpu).len()
    }
    fn waiting_tasks(&self, cpu: usize) -> Vec<TaskId> {
        let waits = |&task: &TaskId| {
            self.tasks[task].cpu == cpu && self.tasks[task].doing == Doing::Waiting
        };
        (0..self.tasks.len()).filter(waits).collect()
    }
    fn allowed(&self, task: TaskId) -> CpuSet {
        self.tasks[task].allowed
    }
    fn policy(&self, task: TaskId) -> Policy {
        self.tasks[task].policy
    }
    fn is_kernel_thread(&self, task: TaskId) -> bool {
        self.tasks[task].is_kernel_thread
    }
}
