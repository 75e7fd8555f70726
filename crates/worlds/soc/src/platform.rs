//! The machine as the PSCI library sees it.

use crate::Soc;
use crate::config::IdleState;
use crate::cpu::{CpuState, Waiting};
use crate::mailbox::Command;
use crate::memory::Word;
use crate::points;
use crate::soc::{Sleeper, WordSleeper};
use psci::{
    CompositeState, CpuIndex, Error, Level, LocalState, LockKind, MessageOrder, OptionalCalls,
    Platform, PowerDown, PowerUp, Scalar, SuspendRequest,
};
use psci_cases::Word as NormalWord;

/// Local states from here on lose their contents.
const FIRST_POWER_DOWN: u8 = 2;

/// The `power_state` of an idle state, original format (PSCI DEN0022, 5.4.2.1), with a nibble for
/// each level in the StateID, as section 6.5 recommends.
pub fn power_state(state: &IdleState) -> u32 {
    let id = (0..)
        .zip(state.state)
        .fold(0, |id, (level, local)| id | u32::from(local) << (4 * level));
    let powers_down = state.state.iter().any(|&local| local >= FIRST_POWER_DOWN);
    let highest = state
        .state
        .iter()
        .rposition(|&local| local != 0)
        .unwrap_or(0) as u32;
    id | u32::from(powers_down) << 16 | highest << 24
}

fn composite(state: &IdleState) -> CompositeState {
    CompositeState {
        levels: state.state.map(LocalState),
    }
}

impl Soc {
    /// The first idle state of the platform file that is one of these.
    pub(crate) fn idle_state(
        &self,
        mut is_it: impl FnMut(&IdleState) -> bool,
    ) -> Option<&IdleState> {
        let states = &self.machine.platform.idle_states;
        states.iter().find(|state| is_it(state))
    }

    /// True if this CPU flushes its L2 though the cluster stays up: the release may choose by what
    /// the call asks for.
    fn flushes_l2_anyway(&self) -> bool {
        self.current_cpu()
            .asked
            .get()
            .is_some_and(|(level, why)| self.machine.release.l2_flush.contain(why, level))
    }

    /// An event ends the WFE of a CPU.
    fn end_wfe(&self, index: usize) {
        let cpu = &self.cpus[index];
        cpu.events_taken.set(self.events_sent.get());
        cpu.waiting.set(Waiting::Nothing);
        self.scheduler.wake(index);
    }

    /// Waits in WFE, as [`Platform::wait_for_event`], but sleeps through all events before which
    /// `word` is less than `least`: where there are many CPUs, each of which sends events, most of
    /// what happens would be CPUs that wake up, look, and sleep again.
    pub(crate) fn sleep_until(&self, word: NormalWord, least: u64) {
        self.count_call();
        let cpu = self.current_cpu_index();
        self.sleepers[word as usize]
            .borrow_mut()
            .push(Sleeper { cpu, least });
        self.wait_in_wfe();
    }

    fn wait_in_wfe(&self) {
        self.current_cpu().waiting.set(Waiting::Event);
        self.scheduler
            .wait_and_advance(self.machine.platform.assumed.event_wake);
    }

    /// Waits in WFE until the bits of `mask` in the word at the address `word` are those of `value`
    /// and an event comes, and sleeps through all events before: of those who queue for a lock each
    /// release wakes one.
    pub(crate) fn sleep_until_stored(&self, word: usize, mask: u64, value: u64) {
        self.count_call();
        let cpu = self.current_cpu_index();
        self.word_sleepers.borrow_mut().push(WordSleeper {
            cpu,
            word,
            mask,
            value,
            stored: false,
        });
        self.wait_in_wfe();
    }

    /// A word of the library's now holds `value`.
    #[inline(always)]
    pub(crate) fn note_stored(&self, word: usize, value: u64) {
        if !self.has_many_cpus() {
            return;
        }
        for sleeper in self
            .word_sleepers
            .borrow_mut()
            .iter_mut()
            .filter(|sleeper| sleeper.word == word)
        {
            sleeper.stored = value & sleeper.mask == sleeper.value;
        }
    }

    fn wake_sleepers(&self) {
        self.word_sleepers.borrow_mut().retain(|sleeper| {
            if sleeper.stored {
                self.end_wfe(sleeper.cpu);
            }
            !sleeper.stored
        });
        for (word, sleepers) in self.words.iter().zip(&self.sleepers) {
            let mut sleepers = sleepers.borrow_mut();
            if !sleepers.iter().any(|sleeper| sleeper.least <= word.get()) {
                continue;
            }
            // As an event wakes all others: in the order of their numbers.
            sleepers.sort_unstable_by_key(|sleeper| sleeper.cpu);
            sleepers.retain(|sleeper| {
                let sleeps = sleeper.least > word.get();
                if !sleeps {
                    self.end_wfe(sleeper.cpu);
                }
                sleeps
            });
        }
    }

    /// The highest level that loses its contents in a state.
    fn highest_down(&self, state: &CompositeState) -> Level {
        (0..psci::LEVELS as Level)
            .rev()
            .find(|&level| self.is_power_down(level, state.at(level)))
            .unwrap_or(psci::CPU_LEVEL)
    }
}

impl Platform for Soc {
    type Shared<T: Scalar> = Word<T>;

    fn this_cpu(&self) -> CpuIndex {
        CpuIndex(self.current_cpu_index() as u16)
    }

    fn cpu_by_mpidr(&self, mpidr: u64) -> Option<CpuIndex> {
        let place = self
            .by_mpidr
            .binary_search_by_key(&mpidr, |&(fields, _)| fields)
            .ok()?;
        Some(CpuIndex(self.by_mpidr[place].1))
    }

    fn counter_frequency(&self) -> u64 {
        self.machine.platform.counter_frequency
    }

    fn coherent_power_down(&self) -> bool {
        self.machine.release.hardware_coherency
    }

    fn lock_kind(&self) -> LockKind {
        self.machine.release.lock
    }

    fn message_order(&self) -> MessageOrder {
        self.machine.release.message_order
    }

    fn optional_calls(&self) -> OptionalCalls {
        OptionalCalls {
            os_initiated: self.os_initiated.get(),
            ..OptionalCalls::NONE
        }
    }

    fn is_power_down(&self, _level: Level, state: LocalState) -> bool {
        state.0 >= FIRST_POWER_DOWN
    }

    fn decode_power_state(&self, value: u32) -> Result<SuspendRequest, Error> {
        let state = self.idle_state(|state| !state.system_suspend && power_state(state) == value);
        let state = composite(state.ok_or(Error::InvalidParameters)?);
        Ok(SuspendRequest {
            state,
            last_at_level: state.highest(),
        })
    }

    fn off_state(&self) -> CompositeState {
        self.idle_state(|state| state.name == "deepest")
            .map(composite)
            .unwrap_or_default()
    }

    fn system_suspend_state(&self) -> Option<CompositeState> {
        self.idle_state(|state| state.system_suspend).map(composite)
    }

    fn power_down_allowed(&self, request: &CompositeState, why: PowerDown) -> bool {
        self.count_call();
        self.current_cpu()
            .asked
            .set(Some((self.highest_down(request), why)));
        // Nothing is refused; but where the case declares an order, it starts here, before the
        // cluster's lock.
        if why == PowerDown::Suspend && request.highest() > psci::CPU_LEVEL {
            self.ask_in_order();
        }
        true
    }

    fn barrier(&self) {
        self.count_call();
        self.advance(self.machine.platform.assumed.barrier);
    }

    fn wait_for_event(&self) {
        self.count_call();
        let cpu = self.current_cpu();
        if cpu.events_taken.replace(self.events_sent.get()) != self.events_sent.get() {
            self.advance(self.machine.platform.assumed.event_wake);
            return;
        }
        let (word, bit) = (
            self.current_cpu_index() / 64,
            1 << (self.current_cpu_index() % 64),
        );
        self.in_wfe[word].set(self.in_wfe[word].get() | bit);
        self.wait_in_wfe();
        cpu.waiting.set(Waiting::Nothing);
        self.in_wfe[word].set(self.in_wfe[word].get() & !bit);
    }

    fn send_event(&self) {
        self.count_call();
        self.barrier();
        let sent = self.events_sent.get() + 1;
        self.events_sent.set(sent);
        self.wake_sleepers();
        for (word, first) in self.in_wfe.iter().zip((0..).step_by(64)) {
            let mut waiting = word.take();
            while waiting != 0 {
                let index = first + waiting.trailing_zeros() as usize;
                waiting &= waiting - 1;
                self.end_wfe(index);
            }
        }
    }

    fn save_context(&self) {
        self.count_call();
        self.advance(self.current_cpu().costs.context_save);
    }

    fn restore_context(&self) {
        self.count_call();
        self.advance(self.current_cpu().costs.context_restore);
    }

    fn interrupt_pending(&self) -> bool {
        self.count_call();
        self.advance(self.cached_access());
        self.current_cpu().pending_interrupts.get().any()
    }

    fn interrupts_off(&self) {
        self.count_call();
        self.advance(self.memory_access());
    }

    fn interrupts_on(&self) {
        self.count_call();
        self.advance(self.memory_access());
    }

    fn interrupts_init(&self) {
        self.count_call();
        self.advance(self.current_cpu().costs.interrupts_init);
    }

    fn flush_caches(&self, level: Level) {
        self.count_call();
        let cpu = self.current_cpu();
        let cluster = usize::from(cpu.cluster);
        self.stamp(points::FLUSHED_L1_LINES, cpu.l1_lines as u32);
        let l1_dirty = cpu.l1_dirty.replace(0);
        let write_back = self.machine.platform.line_transfer;
        self.flush(cpu.l1_lines * cpu.costs.flush_l1_line + l1_dirty * write_back);
        let l2_dirty = (self.l2_dirty[cluster].get() + l1_dirty).min(cpu.l2_lines);
        self.l2_dirty[cluster].set(l2_dirty);
        if level > psci::CPU_LEVEL || self.flushes_l2_anyway() {
            self.stamp(points::FLUSHED_L2_LINES, cpu.l2_lines as u32);
            self.flush(cpu.l2_lines * cpu.costs.flush_l2_line + l2_dirty * write_back);
            self.l2_dirty[cluster].set(0);
            self.count_l2_flush(cpu.cluster);
        }
        cpu.caches_on.set(false);
    }

    fn request_hardware_flush(&self, _level: Level) {
        let cost = self.current_cpu().costs.hardware_flush_request;
        // Costs that say nothing of it leave the machine as it was before there was such a cost.
        if cost > 0 {
            self.count_call();
            self.advance(cost);
        }
    }

    fn caches_on(&self) {
        self.count_call();
        self.advance(self.cached_access());
        self.current_cpu().caches_on.set(true);
    }

    fn warm_reset(&self) {
        self.count_call();
        self.advance(self.current_cpu().costs.warm_reset);
        if self.machine.release.hardware_coherency {
            self.current_cpu().caches_on.set(true);
        }
    }

    fn power_down(&self, state: &CompositeState, why: PowerDown) {
        self.count_call();
        let cluster = self.is_power_down(1, state.at(1));
        if cluster {
            self.stamp(points::INTERCONNECT, 0);
            self.advance(self.machine.costs.interconnect_exit);
            self.stamp(points::INTERCONNECT_END, 0);
        }
        self.advance(self.current_cpu().costs.power_down);
        let cpu = self.current_cpu_index();
        let command = Command::Down {
            cpu,
            cluster,
            wakes: why == PowerDown::Suspend,
        };
        if self
            .machine
            .release
            .scp_messages
            .contain(why, self.highest_down(state))
        {
            self.send(command)
        } else {
            self.leave_to_power_unit(command)
        }
    }

    fn wait_for_power_down(&self) {
        self.count_call();
        // An interrupt does not end this WFI: the interface is off, and waking is the SCP's
        // business. The SCP always completes what it took, so this never returns here.
        loop {
            if let Some(watcher) = self.current_cpu().watched_by.get() {
                self.scheduler.wake(watcher);
            }
            self.wait_for(Waiting::Power);
        }
    }

    fn power_down_abandoned(&self, _state: &CompositeState) {}

    fn standby(&self, _state: &CompositeState) {
        self.count_call();
        let cpu = self.current_cpu_index();
        self.enter_state(cpu, CpuState::Standby);
        while !self.current_cpu().pending_interrupts.get().any() {
            self.wait_for(Waiting::Interrupt);
        }
        self.advance(self.machine.platform.assumed.event_wake);
        self.enter_state(cpu, CpuState::Running);
    }

    fn power_on(&self, target: CpuIndex) -> Result<(), Error> {
        self.count_call();
        let sender = self.current_cpu_index();
        self.send(Command::On {
            sender,
            cpu: target.get(),
        });
        Ok(())
    }

    fn powered_up(&self, state: &CompositeState, _why: PowerUp) {
        self.count_call();
        if self.is_power_down(1, state.at(1)) {
            self.stamp(points::INTERCONNECT, 1);
            let own = self.current_cpu().costs.interconnect_enter;
            let enter = own.or(self.machine.costs.interconnect_enter);
            self.advance(enter.unwrap_or_default());
            self.stamp(points::INTERCONNECT_END, 1);
        }
    }
}
