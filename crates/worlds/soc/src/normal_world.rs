//! The normal world of the simulated machine.

use crate::Soc;
use crate::entry::Entry;
use crate::event::ProcedureStamps;
use crate::interrupt_source::Source;
use engine::{PS_PER_US, Time};
use psci::{Call, id};
use psci_cases::{Depth, NormalWorld, Stamps, Word};

/// Entry point of the normal world; nothing is there but the procedure.
const ENTRY_POINT: u64 = 0x8000_0000;

pub struct SimWorld<'a> {
    pub(crate) soc: &'a Soc,
}

impl SimWorld<'_> {
    /// The delay with which this CPU goes on after an event, as drawn.
    fn start_skew(&self) -> Time {
        let skew = self
            .soc
            .random
            .borrow_mut()
            .below(self.soc.machine.platform.assumed.start_skew);
        skew + self.soc.spread(|assumed| assumed.start_spread)
    }
}

impl NormalWorld for SimWorld<'_> {
    fn this_cpu(&self) -> usize {
        self.soc.current_cpu_index()
    }

    fn cpu_count(&self) -> usize {
        self.soc.cpus.len()
    }

    fn mpidr(&self, cpu: usize) -> u64 {
        self.soc.machine.platform.topology.cpus[cpu].mpidr()
    }

    fn power_state(&self, depth: Depth) -> u32 {
        let name = match depth {
            Depth::Level0 => "level0",
            Depth::Deepest => "deepest",
        };
        self.soc.power_state(name).unwrap_or_default()
    }

    fn smc(&self, function: u32, args: [u64; 3]) -> [u64; 4] {
        let cpu = self.soc.current_cpu();
        cpu.call.set(Some(Call {
            function,
            args,
            entered: self.soc.ticks(),
        }));
        self.soc.scheduler.call(Entry::Smc as u32);
        cpu.result.take().unwrap_or_default()
    }

    fn suspend(&self, power_state: u32) -> i64 {
        self.smc(
            id::CPU_SUSPEND | id::SMC64,
            [u64::from(power_state), ENTRY_POINT, 0],
        )[0] as i64
    }

    fn cpu_on(&self, cpu: usize) -> i64 {
        self.smc(
            id::CPU_ON | id::SMC64,
            [self.mpidr(cpu), ENTRY_POINT, self.soc.lead() as u64],
        )[0] as i64
    }

    fn load(&self, word: Word) -> u64 {
        self.soc.advance(self.soc.cached_access());
        self.soc.words[word as usize].get()
    }

    fn store(&self, word: Word, value: u64) {
        self.soc.advance(self.soc.cached_access());
        self.soc.words[word as usize].set(value);
    }

    fn fetch_add(&self, word: Word, value: u64) -> u64 {
        if word == Word::TimerClaims {
            self.soc.claim_timer_in_order();
        }
        self.soc.advance(self.soc.cached_access());
        let word = &self.soc.words[word as usize];
        word.replace(word.get() + value)
    }

    fn wait_event(&self) {
        psci::Platform::wait_for_event(self.soc);
        self.soc.advance(self.start_skew());
    }

    fn wait_until(&self, word: Word, least: u64) {
        let look = self.soc.cached_access();
        self.soc.advance(look);
        while self.soc.words[word as usize].get() < least {
            if self.soc.has_many_cpus() {
                self.soc.sleep_until(word, least)
            } else {
                psci::Platform::wait_for_event(self.soc)
            }
            self.soc.advance(self.start_skew() + look);
        }
    }

    fn send_event(&self) {
        psci::Platform::send_event(self.soc);
    }

    fn relax(&self, moments: u32) {
        // A CPU whose procedure failed never comes to where others poll for it: who polls stops, so
        // that the run ends.
        while self.soc.has_failed() {
            self.soc.scheduler.wait(None);
        }
        self.soc
            .advance(self.soc.machine.platform.assumed.normal_poll * u64::from(moments));
    }

    fn say_what_comes(&self) {
        let message = self.soc.machine.platform.assumed.console_message;
        if message > 0 {
            // The console's lock is free when those who came before have printed.
            let from = self.soc.console_free.get().max(self.soc.now());
            self.soc.console_free.set(from + message);
            self.soc.advance(from + message - self.soc.now());
        }
    }

    fn start_timer(&self, microseconds: u64) {
        let deadline = self.soc.now()
            + microseconds * PS_PER_US
            + self.soc.spread(|assumed| assumed.timer_spread);
        self.soc.advance(self.soc.memory_access());
        self.soc
            .program_timer(self.soc.current_cpu_index(), deadline);
    }

    fn woken_at(&self, place: usize) -> usize {
        self.soc.order.woken_at(place)
    }

    fn interrupt(&self, cpu: usize) {
        self.soc.advance(self.soc.memory_access());
        match self.soc.spread(|assumed| assumed.interrupt_spread) {
            0 => self.soc.raise(cpu, Source::Software),
            // No kernel runs beside a procedure, so that each CPU has a line of the always-on timer
            // to itself.
            late => self
                .soc
                .program_alarm(cpu, self.soc.now() + late, cpu, Source::Software),
        }
    }

    fn take_interrupt(&self) -> bool {
        self.soc
            .advance(self.soc.machine.platform.assumed.interrupt_entry);
        self.soc
            .current_cpu()
            .pending_interrupts
            .take()
            .has(Source::SharedTimer)
    }

    fn publish(&self, stamps: Stamps) {
        self.soc.measured.borrow_mut().push(ProcedureStamps {
            iteration: self.soc.iteration.get(),
            cpu: self.soc.current_cpu_index(),
            stamps,
        });
    }
}
