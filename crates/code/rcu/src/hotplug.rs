//! CPUs that go off and come back.

use crate::cell::SharedCell;
use crate::platform::Platform;
use crate::settings::Form;
use crate::state::Rcu;
use core::fmt;

/// Why a CPU may not go off.
///
/// ```
/// assert_eq!(rcu::Refusal::Last.to_string(), "the last online CPU may not go off");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The CPU is the last one online that is not offloaded, in the form of 2013.
    LastOrdinary,
    /// The CPU is the last one online.
    Last,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LastOrdinary => {
                "the last online CPU that is not offloaded may not go off: take another off, or offload fewer"
            }
            Self::Last => "the last online CPU may not go off",
        })
    }
}

impl core::error::Error for Refusal {}

impl<P: Platform> Rcu<P> {
    /// This CPU goes off; the last that it calls. Its task was switched away from, so that it has
    /// no reader. Only one CPU goes off or comes up at a time, and some CPU that stays has to call
    /// [`Rcu::migrate_callbacks`] afterwards.
    ///
    /// # Errors
    /// The CPU has to stay; nothing changed.
    pub fn cpu_offline(&self, p: &P) -> Result<(), Refusal> {
        let this = p.this_cpu();
        // Only one CPU goes off or comes up: the kernel's lock orders this.
        let online = |cpu: usize| {
            self.nodes[self.cpus[cpu].leaf].online.load_relaxed(p) & self.cpus[cpu].bit != 0
        };
        let mut others = (0..self.cpus.len())
            .filter(|&cpu| cpu != this && online(cpu))
            .peekable();
        if others.peek().is_none() {
            return Err(Refusal::Last);
        }
        let cpu = &self.cpus[this];
        if self.settings.form == Form::Y2013
            && !cpu.offloaded
            && others.all(|other| self.cpus[other].offloaded)
        {
            return Err(Refusal::LastOrdinary);
        }
        let leaf = &self.nodes[cpu.leaf];
        leaf.lock.acquire(p);
        let was_online = leaf.online.load_relaxed(p);
        leaf.online.store_relaxed(p, was_online & !cpu.bit);
        let mask = leaf.mask.load_relaxed(p);
        cpu.needs_report.set(false);
        if mask & cpu.bit != 0 {
            leaf.mask.store_relaxed(p, mask & !cpu.bit);
            self.report_upwards(p, cpu.leaf);
        } else {
            leaf.lock.release(p);
        }
        self.idle_enter(p);
        Ok(())
    }

    /// This CPU, which stays, takes over the callbacks of `cpu`, which has gone off. Those of an
    /// offloaded CPU stay with its thread.
    pub fn migrate_callbacks(&self, p: &P, cpu: usize) {
        let Some(gone) = self.cpus.get(cpu).filter(|gone| !gone.offloaded) else {
            return;
        };
        let this = self.this(p);
        let (done, rest) = gone.list.borrow_mut(p).take();
        gone.overload_mark.set(p, 0);
        gone.limit.set(p, self.settings.blimit);
        this.count(|counters| counters.adopted += (done.len() + rest.len()) as u64);
        if this.offloaded {
            // Those that were ready wait for another grace period: the thread's list has no place
            // for them.
            for callback in done.into_iter().chain(rest) {
                self.enqueue(p, this, callback, false);
            }
            return;
        }
        {
            let mut list = this.list.borrow_mut(p);
            list.push_done(done);
            rest.into_iter().for_each(|callback| list.push(callback));
        }
        self.accelerate(p, this);
    }

    /// This CPU comes up; the first that it calls. A grace period that already runs does not wait
    /// for it.
    pub fn cpu_online(&self, p: &P) {
        let cpu = self.this(p);
        self.watch(p, cpu);
        let leaf = &self.nodes[cpu.leaf];
        leaf.lock.acquire(p);
        let online = leaf.online.load_relaxed(p);
        leaf.online.store_relaxed(p, online | cpu.bit);
        cpu.sequence.set(leaf.sequence.load_relaxed(p));
        leaf.lock.release(p);
        cpu.needs_report.set(false);
        cpu.quiescent.set(false);
    }
}
