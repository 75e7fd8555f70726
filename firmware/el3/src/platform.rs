//! QEMU's `virt` machine, as the PSCI library sees it.

use crate::gic::{Gic, Interface};
use crate::memory::{Word, barrier, coherency, data_cache_off, data_cache_on, enable_mmu_uncached};
use crate::power;
use crate::registers::{self, interrupt_signalled, read, set_up_el3, set_up_normal_world};
use ::points::{Point, Sink};
use arm_sysregs::el0::accessors::read_cntfrq_el0;
use boot::options::{Options, StampReaders};
use boot::protection::PARTS;
use boot::states;
use core::arch::asm;
use core::cell::Cell;
use core::ops::Range;
use machine::{MAX_CPUS, index_of, say};
use psci::*;

/// The state that a CPU keeps for itself, in a line of its own.
#[repr(align(64))]
struct InterfaceCell(Cell<Interface>);

/// The machine.
pub struct Virt {
    /// Number of CPUs.
    cpus: usize,
    format: PowerStateFormat,
    stamp_readers: StampReaders,
    /// Memory in which the normal world may be entered.
    memory: Range<u64>,
    /// The memory that MEM_PROTECT overwrites.
    protected: [Range<u64>; PARTS],
    gic: Gic,
    own: [InterfaceCell; MAX_CPUS],
}

// SAFETY: a CPU touches only its own `own`; the rest is never written after it was made.
unsafe impl Sync for Virt {}

impl Virt {
    /// A machine of `cpus` CPUs.
    pub fn new(
        cpus: usize,
        options: &Options<'_>,
        memory: Range<u64>,
        protected: [Range<u64>; PARTS],
        gic: Gic,
    ) -> Self {
        Self {
            cpus,
            format: options.power_state,
            stamp_readers: options.stamps,
            memory,
            protected,
            gic,
            own: [const { InterfaceCell(Cell::new(Interface::OFF)) }; MAX_CPUS],
        }
    }

    fn own(&self) -> Option<&InterfaceCell> {
        self.own.get(self.this_cpu().get())
    }

    /// Takes 300 us.
    #[cfg(feature = "late")]
    fn be_late(&self) {
        let end = self.now() + 300 * self.counter_frequency() / 1_000_000;
        while self.now() < end {}
    }
}

impl Sink for Virt {
    #[inline(always)]
    fn now(&self) -> u64 {
        let ticks;
        // SAFETY: reading the counter has no effect.
        unsafe {
            asm!("isb", "mrs {}, cntpct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags))
        }
        ticks
    }

    /// The library keeps the published stamps in its own records, and nobody else reads here.
    #[inline(always)]
    fn capture(&self, _: Point, _: u32, _: u64) {}
}

impl Platform for Virt {
    type Shared<T: Scalar> = Word;

    #[inline(always)]
    fn this_cpu(&self) -> CpuIndex {
        CpuIndex(read!("tpidr_el3") as u16)
    }

    #[inline(always)]
    fn cpu_by_mpidr(&self, mpidr: u64) -> Option<CpuIndex> {
        index_of(mpidr)
            .filter(|&cpu| cpu < self.cpus)
            .map(|cpu| CpuIndex(cpu as u16))
    }

    fn counter_frequency(&self) -> u64 {
        read_cntfrq_el0().bits()
    }

    #[inline(always)]
    fn is_power_down(&self, _: Level, state: LocalState) -> bool {
        state == states::OFF
    }

    #[inline]
    fn decode_power_state(&self, power_state: u32) -> Result<SuspendRequest, Error> {
        states::decode(self.format, power_state)
    }

    fn off_state(&self) -> CompositeState {
        CompositeState {
            levels: [states::OFF, states::OFF, states::OFF, LocalState::RUN],
        }
    }

    #[inline(always)]
    fn power_state_format(&self) -> PowerStateFormat {
        self.format
    }

    #[inline(always)]
    fn is_valid_entry_point(&self, address: u64) -> bool {
        self.memory.contains(&address) && address.is_multiple_of(4)
    }

    fn system_suspend_state(&self) -> Option<CompositeState> {
        Some(self.off_state())
    }

    fn default_suspend_state(&self) -> Option<CompositeState> {
        Some(CompositeState {
            levels: [
                states::OFF,
                LocalState::RUN,
                LocalState::RUN,
                LocalState::RUN,
            ],
        })
    }

    #[inline(always)]
    fn caller_endianness(&self) -> Option<Endianness> {
        Some(registers::endianness())
    }

    fn smccc_arch_feature(&self, function: u32) -> i32 {
        let core = registers::core();
        match function {
            id::SMCCC_ARCH_WORKAROUND_2 => core.workaround_2(),
            id::SMCCC_ARCH_WORKAROUND_1 if cfg!(feature = "predictor") => core.workaround_1(),
            id::SMCCC_ARCH_WORKAROUND_3 if cfg!(feature = "predictor") => core.workaround_3(),
            _ => -1,
        }
    }

    fn may_read_stamps(&self) -> bool {
        self.stamp_readers == StampReaders::All || registers::is_called_from_el2()
    }

    /// The vector has done what the call is for by the time that it comes here.
    fn smccc_arch_call(&self, function: u32, _: [u64; 3]) -> Option<[u64; 4]> {
        let known = matches!(
            function,
            id::SMCCC_ARCH_WORKAROUND_1 | id::SMCCC_ARCH_WORKAROUND_3
        );
        (known && self.smccc_arch_feature(function) >= 0).then_some([0; 4])
    }

    #[inline(always)]
    fn optional_calls(&self) -> OptionalCalls {
        OptionalCalls {
            cpu_freeze: true,
            node_hw_state: true,
            os_initiated: true,
            system_reset2: true,
            system_off2: true,
            mem_protect: true,
            mem_protect_check_range: true,
        }
    }

    #[inline(always)]
    fn barrier(&self) {
        barrier();
    }

    #[inline(always)]
    fn wait_for_event(&self) {
        // SAFETY: only waits.
        unsafe { asm!("wfe", options(nostack, preserves_flags)) }
    }

    #[inline(always)]
    fn send_event(&self) {
        // SAFETY: only wakes.
        unsafe { asm!("dsb sy", "sev", options(nostack, preserves_flags)) }
    }

    /// Nothing: PSCI promises the normal world no more than what [`set_up_normal_world`] sets, and
    /// it saves the rest itself.
    fn save_context(&self) {}

    fn restore_context(&self) {
        set_up_normal_world();
    }

    #[inline(always)]
    fn interrupt_pending(&self) -> bool {
        interrupt_signalled()
    }

    fn interrupts_off(&self) {
        let was = self.gic.interface_off(self.this_cpu().get());
        if let Some(own) = self.own() {
            own.0.set(was);
        }
    }

    fn interrupts_on(&self) {
        if let Some(own) = self.own() {
            self.gic.interface_on(self.this_cpu().get(), own.0.get());
        }
    }

    fn interrupts_init(&self) {
        self.gic.init_cpu(self.this_cpu().get());
        set_up_normal_world();
    }

    fn flush_caches(&self, level: Level) {
        data_cache_off(level);
        coherency(false);
    }

    fn caches_on(&self) {
        coherency(true);
        data_cache_on();
    }

    fn warm_reset(&self) {
        // SAFETY: the first CPU completed the table before any other ran.
        unsafe { enable_mmu_uncached() }
        set_up_el3();
    }

    fn power_down(&self, state: &CompositeState, why: PowerDown) {
        power::prepare(self.this_cpu().get(), state, why == PowerDown::Suspend);
    }

    fn wait_for_power_down(&self) {
        power::wait(self.gic, self.this_cpu().get())
    }

    fn power_down_abandoned(&self, _: &CompositeState) {}

    #[inline(always)]
    fn standby(&self, state: &CompositeState) {
        power::stand_by(self.this_cpu().get(), state);
        #[cfg(feature = "late")]
        self.be_late();
    }

    fn power_on(&self, target: CpuIndex) -> Result<(), Error> {
        self.gic.send_power_on(target.get());
        Ok(())
    }

    fn powered_up(&self, state: &CompositeState, _: PowerUp) {
        power::up(self.this_cpu().get(), state);
        #[cfg(feature = "late")]
        self.be_late();
    }

    fn node_hw_state(&self, cpu: CpuIndex, level: Level) -> Result<HwState, Error> {
        power::state_of(cpu.get(), level).ok_or(Error::InvalidParameters)
    }

    fn mem_protect(&self, enable: bool) -> Result<bool, Error> {
        Ok(power::protect_memory(enable))
    }

    fn mem_protect_check_range(&self, base: u64, length: u64) -> bool {
        self.protected
            .iter()
            .any(|part| part.contains(&base) && length <= part.end - base)
    }

    fn system_off(&self) {
        power::off();
        stop();
    }

    /// What the normal world wants to have again it has saved by now.
    fn hibernate(&self) -> Error {
        power::off();
        stop();
    }

    fn system_reset(&self) {
        power::reset(false);
        stop();
    }

    /// The architecture's warm reset is the only one. It keeps memory, but for the images.
    fn system_reset2(&self, reset_type: u32, _: u64) -> Error {
        if reset_type != 0 {
            return Error::InvalidParameters;
        }
        power::reset(true);
        stop();
    }
}

/// The end of this CPU.
pub fn stop() -> ! {
    loop {
        power::wait_for_interrupt();
    }
}

/// Says why the image cannot go on, and powers the machine off.
pub fn give_up(why: &dyn core::fmt::Display) -> ! {
    say!("stopwatt: {why}");
    power::off();
    stop()
}
