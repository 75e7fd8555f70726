//! Other software of the normal world than the measured procedures: a kernel. What it may ask of
//! the machine stands here.

use crate::Soc;
use crate::cpu::Waiting;
use crate::interrupt_source::Interrupts;
use crate::meter::{DomainPower, Meter, OwnerId};
use crate::normal_world::SimWorld;
use crate::run::{RunError, run_firmware};
use engine::Time;
use psci_cases::NormalWorld;
use std::cell::RefMut;
use std::ops::Range;

/// Software of the normal world.
pub trait System {
    /// The code of `cpu` from its first instruction in the normal world on. The run is over when
    /// all CPUs have returned or wait for an interrupt that never comes.
    fn run(&self, soc: &Soc, cpu: usize);
}

/// Runs a system on a machine that is cold: the lead CPU of the release starts in the firmware,
/// which enters the system; the others are off until a CPU_ON.
///
/// # Errors
/// The firmware refuses the power tree of the platform file.
pub fn run_system(soc: &Soc, system: &dyn System) -> Result<(), RunError> {
    let world = |_leads: bool| system.run(soc, soc.current_cpu_index());
    // Whoever is left waits for an interrupt that never comes.
    run_firmware(soc, &world).map(drop)
}

impl Soc {
    /// The present time in ps.
    #[inline]
    pub fn now(&self) -> Time {
        self.scheduler.now()
    }

    /// Number of CPUs.
    pub fn cpu_count(&self) -> usize {
        self.cpus.len()
    }

    /// The CPU that starts first.
    pub fn lead(&self) -> usize {
        self.machine.release.lead
    }

    /// This CPU computes, or waits in WFI, until an interrupt is pending or `until` comes. May
    /// return for no reason ([`Soc::nudge`]).
    #[inline]
    pub fn wait_for_interrupt(&self, until: Option<Time>) {
        let cpu = self.current_cpu();
        if !cpu.pending_interrupts.get().any() {
            cpu.waiting.set(Waiting::Interrupt);
            self.scheduler.wait(until);
            cpu.waiting.set(Waiting::Nothing);
        }
    }

    /// Ends the present or the next [`Soc::wait_for_interrupt`] of a CPU.
    pub fn nudge(&self, cpu: usize) {
        self.scheduler.wake(cpu);
    }

    /// The interrupts that are pending on a CPU.
    #[inline]
    pub fn pending_interrupts(&self, cpu: usize) -> Interrupts {
        self.cpus[cpu].pending_interrupts.get()
    }

    /// Takes the interrupts that are pending on a CPU.
    #[inline]
    pub fn take_interrupts(&self, cpu: usize) -> Interrupts {
        self.cpus[cpu].pending_interrupts.take()
    }

    /// CPU_ON for a CPU that is off. The value is PSCI's return code.
    pub fn start_cpu(&self, cpu: usize) -> i64 {
        SimWorld { soc: self }.cpu_on(cpu)
    }

    /// Has the normal world coordinate idle states, by PSCI_SET_SUSPEND_MODE of this CPU. The value
    /// is PSCI's return code.
    pub fn coordinate_by_os(&self) -> i64 {
        self.os_initiated.set(true);
        SimWorld { soc: self }.smc(psci::id::PSCI_SET_SUSPEND_MODE, [1, 0, 0])[0] as i64
    }

    /// The `power_state` of an idle state of the platform file; `None` if there is none of that
    /// name.
    pub fn power_state(&self, name: &str) -> Option<u32> {
        self.idle_state(|state| state.name == name)
            .map(crate::platform::power_state)
    }

    /// CPU_SUSPEND of this CPU, through the firmware. The value is PSCI's return code.
    pub fn suspend(&self, power_state: u32) -> i64 {
        SimWorld { soc: self }.suspend(power_state)
    }

    /// Starts to measure energy, in a span of ps; see [`Meter::new`].
    pub fn measure_energy(
        &self,
        domains: Vec<DomainPower>,
        owners: usize,
        moving: OwnerId,
        span: Range<Time>,
    ) {
        *self.meter.borrow_mut() = Meter::new(domains, owners, moving, span);
    }

    /// The meter. Must not be held across an operation.
    #[inline]
    pub fn meter(&self) -> RefMut<'_, Meter> {
        self.meter.borrow_mut()
    }

    /// True if stamps are kept; they are unless this says otherwise.
    pub fn keep_stamps(&self, keep: bool) {
        self.records.set(if keep { u32::MAX } else { 0 });
    }

    /// The stamps that were kept so far, in order of time.
    pub fn take_stamps(&self) -> Vec<crate::Event> {
        self.events.take()
    }
}
