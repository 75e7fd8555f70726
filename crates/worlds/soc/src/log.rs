//! Stamps become events.

use crate::Soc;
use crate::event::Event;
use ::points::{Point, Sink};

impl Sink for Soc {
    fn now(&self) -> u64 {
        self.ticks()
    }

    fn capture(&self, point: Point, argument: u32, ticks: u64) {
        self.note_lock(point, argument);
        self.record(self.current_cpu_index(), point, argument, ticks);
    }
}

impl Soc {
    /// Records a stamp of a CPU that need not be the running process.
    pub(crate) fn record(&self, cpu: usize, point: Point, argument: u32, ticks: u64) {
        if self.iteration.get() < self.records.get() {
            self.events.borrow_mut().push(Event {
                time: self.now(),
                ticks,
                argument,
                iteration: self.iteration.get(),
                point: point.id(),
                cpu: cpu as u16,
            });
        }
    }

    pub(crate) fn stamp(&self, point: Point, argument: u32) {
        ::points::detail(self, point, argument);
    }

    /// Stamps a point of a CPU, which need not be the one that runs.
    pub fn stamp_for(&self, cpu: usize, point: Point, argument: u32) {
        self.record(cpu, point, argument, self.ticks());
    }
}
