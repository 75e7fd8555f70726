//! The machine: CPUs and one process more, without any notion of time. What they are about is the
//! subject's.

use super::choice::Deviation;
use super::cpu::Cpu;
use super::parts::{Choices, LateLoads, Record, Settings, Turns};
use super::watchdog::Heart;
use crate::limits::CPUS_PER_CLUSTER;
use crate::memory::Memory;
use crate::operation::OperationIndex;
use engine::Scheduler;
use std::cell::{Ref, RefCell, RefMut};
use std::sync::Arc;

/// A machine. One value stands for all of it; an operation acts on the process that runs.
pub struct Machine {
    pub(super) scheduler: Scheduler,
    pub(super) memory: RefCell<Memory>,
    pub(super) cpus: Vec<Cpu>,
    pub(super) choices: Choices,
    pub(super) turns: Turns,
    pub(super) settings: Settings,
    pub(super) record: Record,
    pub(super) late: LateLoads,
    pub(crate) heart: Arc<Heart>,
}

impl Machine {
    /// A cold machine whose CPUs lie in clusters of two, with words that hold `values` and that
    /// many of them in a cache line.
    pub fn new(cpus: usize, values: &[u64], cells_per_line: usize) -> Self {
        let clusters: Vec<u8> = (0..cpus)
            .map(|cpu| (cpu / CPUS_PER_CLUSTER) as u8)
            .collect();
        Self {
            scheduler: Scheduler::new(cpus + 1),
            memory: RefCell::new(Memory::new(values, cells_per_line, &clusters)),
            cpus: (0..cpus).map(|_| Cpu::new()).collect(),
            choices: Choices::new(),
            turns: Turns::new(cpus + 1),
            settings: Settings::default(),
            record: Record::default(),
            late: LateLoads::new(cpus + 1),
            heart: Heart::own(),
        }
    }

    /// The process that is no CPU.
    #[inline(always)]
    pub fn last_process(&self) -> usize {
        self.cpus.len()
    }

    /// The process that runs.
    #[inline(always)]
    pub fn process(&self) -> usize {
        self.scheduler.current()
    }

    /// The CPU that runs.
    #[inline(always)]
    pub fn cpu(&self) -> &Cpu {
        &self.cpus[self.scheduler.current()]
    }

    /// The present operation of a process.
    #[inline(always)]
    pub fn operation_of(&self, process: usize) -> OperationIndex {
        self.turns.operations[process].get()
    }

    /// The engine under the machine.
    #[inline(always)]
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The memory that the CPUs share.
    #[inline(always)]
    pub fn memory(&self) -> Ref<'_, Memory> {
        self.memory.borrow()
    }

    /// The memory that the CPUs share, to change.
    #[inline(always)]
    pub fn memory_mut(&self) -> RefMut<'_, Memory> {
        self.memory.borrow_mut()
    }

    /// The CPUs.
    #[inline(always)]
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The number of operations that all processes have made in this run.
    #[inline(always)]
    pub fn step_count(&self) -> u32 {
        self.turns.steps.get()
    }

    /// True if nobody makes another operation: the run has ended or failed.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.turns.over.get()
    }

    /// True if the run was cut, since it came to where another run had been.
    pub fn is_pruned(&self) -> bool {
        self.turns.pruned.get()
    }

    /// The choices of this run that differ from the default.
    pub fn schedule(&self) -> Ref<'_, Vec<Deviation>> {
        self.choices.schedule.borrow()
    }

    /// The settings that the machine keeps from run to run.
    #[inline(always)]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
