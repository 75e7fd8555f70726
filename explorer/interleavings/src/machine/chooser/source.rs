//! The source of answers to the choices of one run, whichever it is.

use super::dpor::Dpor;
use super::random::RandomChoices;
use super::replayed::ReplayedChoices;
use crate::machine::choice::Kind;
use crate::machine::ready::Ready;
use crate::operation::OperationIndex;

/// No process: all that could happen was tried before.
pub const NOBODY: usize = usize::MAX;

/// The source of answers to the choices of one run.
pub enum Chooser {
    RandomChoices(Box<RandomChoices>),
    Dpor(Box<Dpor>),
    ReplayedChoices(ReplayedChoices),
}

impl Chooser {
    /// One that deviates in nothing.
    pub fn none() -> Self {
        Self::ReplayedChoices(ReplayedChoices::new(&[], 0))
    }

    /// The value that a load returns although it is stored only afterwards, if it is one of those
    /// that were `stored` in other runs; `newest` is what it could return now.
    #[inline(always)]
    pub fn late(
        &mut self,
        process: usize,
        operation: OperationIndex,
        cell: u16,
        newest: u64,
        stored: &[u64],
    ) -> Option<u64> {
        match self {
            Self::RandomChoices(drawn) => drawn.late(newest, stored),
            Self::Dpor(dpor) => dpor.late(cell, newest),
            Self::ReplayedChoices(replayed) => replayed.find(process, operation, Kind::LoadLate),
        }
    }

    #[inline(always)]
    pub(crate) fn preempt(
        &mut self,
        running: usize,
        operation: OperationIndex,
        did: u64,
        ready: Ready,
    ) -> usize {
        match self {
            Self::Dpor(dpor) => dpor.who(Some(running), ready).unwrap_or(NOBODY),
            Self::RandomChoices(drawn) => drawn.preempt(running, ready, did),
            Self::ReplayedChoices(replayed) => {
                match replayed.find(running, operation, Kind::Preempt) {
                    // In a schedule that was shortened the one that goes on may be unable to.
                    Some(process) if ready.can_go(process as usize) => process as usize,
                    _ => running,
                }
            }
        }
    }

    pub fn next(
        &mut self,
        blocked: usize,
        operation: OperationIndex,
        ready: Ready,
    ) -> Option<usize> {
        match self {
            Self::RandomChoices(drawn) => drawn.next(ready),
            Self::Dpor(_) if ready.awake | ready.asleep == 0 => None,
            Self::Dpor(dpor) => Some(dpor.who(None, ready).unwrap_or(NOBODY)),
            Self::ReplayedChoices(replayed) => {
                match replayed.find(blocked, operation, Kind::Next) {
                    Some(process) if ready.can_go(process as usize) => Some(process as usize),
                    _ => ready.first(),
                }
            }
        }
    }

    #[inline(always)]
    pub fn answer(
        &mut self,
        process: usize,
        operation: OperationIndex,
        kind: Kind,
        options: u32,
    ) -> u32 {
        match self {
            Self::RandomChoices(drawn) => drawn.answer(kind, options),
            Self::Dpor(dpor) => dpor.answer(kind, options),
            Self::ReplayedChoices(replayed) => match replayed.find(process, operation, kind) {
                Some(value) => (value as u32).min(options.saturating_sub(1)),
                None => 0,
            },
        }
    }
}
