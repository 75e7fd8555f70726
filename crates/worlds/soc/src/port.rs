//! The port that all flushing cores share.

use crate::Soc;
use crate::points;

const MILLION: u64 = 1_000_000;

impl Soc {
    /// Flushes for a time that is `alone` ps when nobody else does.
    ///
    /// A line holds the port for a part of its time (`flush_port_share`); with n cores flushing,
    /// each line waits for those of the n - 1 others. The slowdown is worked out anew whenever a
    /// core starts or ends.
    pub(crate) fn flush(&self, alone: u64) {
        let cpu = self.current_cpu_index();
        self.flushing.borrow_mut().push(cpu);
        self.wake_other_flushers(cpu);
        let mut left = alone;
        let mut most = 0;
        while left > 0 {
            let cores = self.flushing.borrow().len() as u64;
            most = most.max(cores);
            let slowdown = MILLION + self.machine.costs.flush_port_share * (cores - 1);
            let begin = self.now();
            let duration =
                (u128::from(left) * u128::from(slowdown)).div_ceil(u128::from(MILLION)) as u64;
            self.scheduler.wait(Some(begin.saturating_add(duration)));
            let elapsed = self.now() - begin;
            let done = (u128::from(elapsed) * u128::from(MILLION) / u128::from(slowdown)) as u64;
            left = if elapsed >= duration {
                0
            } else {
                left.saturating_sub(done)
            };
        }
        self.stamp(points::FLUSHING_CORES, most as u32);
        self.flushing.borrow_mut().retain(|&other| other != cpu);
        self.wake_other_flushers(cpu);
    }

    fn wake_other_flushers(&self, cpu: usize) {
        for &other in self.flushing.borrow().iter().filter(|&&other| other != cpu) {
            self.scheduler.wake(other);
        }
    }
}
