//! The fake machine as the library sees it.

use super::board::Board;
use super::machine::{Fake, PoweredDown, TICKS_PER_US, locked};
use super::memory::Cell;
use ::points::{Point, Sink};
use psci::CpuIndex;
use psci::Endianness;
use psci::Error;
use psci::Platform;
use psci::PowerStateFormat;
use psci::Scalar;
use psci::SuspendRequest;
use psci::TrustedOs;
use psci::{CompositeState, HwState, Level, LocalState};
use psci::{MessageOrder, OptionalCalls, SuspendModeChange};
use psci::{PowerDown, PowerUp};
use std::boxed::Box;
use std::format;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering::SeqCst;

/// The calls of the Arm architecture service that the fake firmware has, one of them in its 64-bit
/// form alone.
const ARCH_CALLS: [u32; 2] = [
    psci::id::SMCCC_ARCH_WORKAROUND_1,
    psci::id::SMCCC_ARCH_SOC_ID | psci::id::SMC64,
];

impl<B: Board> Sink for Fake<B> {
    fn now(&self) -> u64 {
        self.now.fetch_add(10, SeqCst)
    }

    fn capture(&self, point: Point, argument: u32, _ticks: u64) {
        self.note(format!("{} {argument:#x}", point.name()));
    }
}

impl<B: Board> Platform for Fake<B> {
    type Shared<T: Scalar> = Cell<T>;

    fn this_cpu(&self) -> CpuIndex {
        self.cpu()
    }

    fn cpu_by_mpidr(&self, mpidr: u64) -> Option<CpuIndex> {
        self.board
            .topology()
            .cpus
            .iter()
            .position(|cpu| cpu.mpidr == mpidr)
            .map(|cpu| CpuIndex(cpu as u16))
    }

    fn counter_frequency(&self) -> u64 {
        TICKS_PER_US * 1_000_000
    }

    fn coherent_power_down(&self) -> bool {
        self.options.coherent
    }

    fn message_order(&self) -> MessageOrder {
        self.options.order
    }

    fn is_power_down(&self, level: Level, state: LocalState) -> bool {
        self.board.is_power_down(level, state)
    }

    fn decode_power_state(&self, raw: u32) -> Result<SuspendRequest, Error> {
        self.board
            .decode_power_state(self.cpu(), self.options.format, raw)
    }

    fn off_state(&self) -> CompositeState {
        self.board.off_state()
    }

    fn power_state_format(&self) -> PowerStateFormat {
        self.options.format
    }

    fn is_valid_entry_point(&self, address: u64) -> bool {
        self.board.is_valid_entry_point(address)
    }

    fn power_down_allowed(&self, _: &CompositeState, _: PowerDown) -> bool {
        !self.veto.load(SeqCst)
    }

    fn system_suspend_state(&self) -> Option<CompositeState> {
        self.board
            .system_suspend_state()
            .filter(|_| self.options.system_suspend)
    }

    fn default_suspend_state(&self) -> Option<CompositeState> {
        self.board
            .default_suspend_state()
            .filter(|_| self.options.default_suspend)
    }

    fn optional_calls(&self) -> OptionalCalls {
        self.options.optional
    }

    fn suspend_mode_change(&self) -> SuspendModeChange {
        self.options.suspend_mode_change
    }

    fn caller_endianness(&self) -> Option<Endianness> {
        *locked(&self.endianness)
    }

    fn smccc_arch_feature(&self, function: u32) -> i32 {
        if ARCH_CALLS.contains(&function) {
            0
        } else {
            -1
        }
    }

    fn smccc_arch_call(&self, function: u32, args: [u64; 3]) -> Option<[u64; 4]> {
        ARCH_CALLS.contains(&function).then_some([0, args[0], 0, 0])
    }

    fn trusted_os(&self) -> TrustedOs {
        self.options.trusted_os
    }

    fn node_hw_state(&self, _: CpuIndex, _: Level) -> Result<HwState, Error> {
        Ok(HwState::Standby)
    }

    fn mem_protect(&self, enable: bool) -> Result<bool, Error> {
        self.note(format!("mem_protect {enable}"));
        Ok(true)
    }

    fn mem_protect_check_range(&self, base: u64, length: u64) -> bool {
        // Panics where the library lets a range through that wraps.
        assert!(base + (length - 1) >= base);
        base == 0x8000_0000
    }

    fn system_reset2(&self, _: u32, _: u64) -> Error {
        Error::InternalFailure
    }

    fn hibernate(&self) -> Error {
        Error::InternalFailure
    }

    fn migrate(&self, _: CpuIndex) -> Result<(), Error> {
        Ok(())
    }

    fn barrier(&self) {
        self.maintaining[self.cpu().get()].store(false, SeqCst);
    }

    fn wait_for_event(&self) {
        self.run_prepared(&self.at_wait);
        std::thread::yield_now();
    }

    fn send_event(&self) {
        self.check_barrier();
    }

    fn save_context(&self) {
        assert!(self.cache_is_on());
        self.switch(&self.saved, "context", true);
    }

    fn restore_context(&self) {
        assert!(self.cache_is_on());
        self.switch(&self.saved, "context", false);
    }

    fn interrupt_pending(&self) -> bool {
        self.interrupt[self.cpu().get()].load(SeqCst)
    }

    fn interrupts_off(&self) {
        self.switch(&self.interrupts, "interrupts", false);
    }

    fn interrupts_on(&self) {
        self.switch(&self.interrupts, "interrupts", true);
    }

    fn interrupts_init(&self) {
        self.interrupts[self.cpu().get()].store(false, SeqCst);
        self.note("interrupts init");
        self.interrupts_on();
    }

    fn flush_caches(&self, level: Level) {
        self.switch(&self.caches, "caches", false);
        self.note(format!("flushed {level}"));
    }

    fn caches_on(&self) {
        self.switch(&self.caches, "caches", true);
    }

    fn warm_reset(&self) {
        self.caches[self.cpu().get()].store(self.options.coherent, SeqCst);
        self.note("reset");
    }

    fn power_down(&self, state: &CompositeState, why: PowerDown) {
        self.check_barrier();
        self.note(format!(
            "power_down {:?} {why:?}",
            state.levels.map(|s| s.0)
        ));
        self.run_prepared(&self.at_message);
    }

    fn wait_for_power_down(&self) {
        self.check_barrier();
        self.note("wfi");
        self.run_prepared(&self.at_wfi);
        if !self.refuse.load(SeqCst) {
            resume_unwind(Box::new(PoweredDown));
        }
    }

    fn power_down_abandoned(&self, state: &CompositeState) {
        assert_eq!(self.cache_is_on(), self.options.coherent);
        self.saved[self.cpu().get()].store(false, SeqCst); // the registers are still there
        self.note(format!("abandoned {:?}", state.levels.map(|s| s.0)));
    }

    fn standby(&self, state: &CompositeState) {
        self.now.fetch_add(1000 * TICKS_PER_US, SeqCst);
        self.note(format!("standby {:?}", state.levels.map(|s| s.0)));
        self.run_prepared(&self.in_standby);
    }

    fn power_on(&self, target: CpuIndex) -> Result<(), Error> {
        self.check_barrier();
        self.note(format!("power_on {}", target.0));
        self.run_prepared(&self.at_power_on);
        locked(&self.power_on_error).map_or(Ok(()), Err)
    }

    fn powered_up(&self, state: &CompositeState, why: PowerUp) {
        assert_eq!(self.cache_is_on(), self.options.coherent);
        self.note(format!(
            "powered_up {:?} {why:?}",
            state.levels.map(|s| s.0)
        ));
    }
}
