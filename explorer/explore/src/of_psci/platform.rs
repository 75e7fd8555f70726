//! The board as the PSCI library sees it.

use super::{
    acts::{POWER_DOWN, POWERED_UP, STANDBY, TURN_ON},
    board::{Board, Command, EL3, FLUSHES, FREQUENCY, INITIALIZED, INTERRUPTS, SAVED},
    hook::Hook::{self, *},
    layout::*,
    ledger::{DENIED, States, VETO, WRONG_ENTRY, highest},
    names::lock,
    passed, reached,
};
use crate::Word;
use ::points::{Point, Sink};
use interleavings::subject::{
    Invariant::{Answer, DomainUp, OneHolder},
    Kind,
    Operation::*,
    Order, Wait,
};
use psci_faults::{
    CompositeState, CpuIndex, Endianness,
    Error::{self, Denied, InternalFailure, InvalidParameters, NotSupported},
    HwState, Identity, Level, LocalState, LockKind, MessageOrder, OptionalCalls, Platform,
    PowerDown, PowerStateFormat, PowerUp, Scalar, Service, SharedCell, SuspendModeChange,
    SuspendRequest, TrustedOs,
    lock::CPU_LOCK,
};

impl Sink for Board {
    fn now(&self) -> u64 {
        // Bit 33 is set, so that a lost upper half of a stamp is noticed.
        1 << 33 | u64::from(self.step_count())
    }

    fn capture(&self, point: Point, argument: u32, _ticks: u64) {
        // The stamps of the start of a call and of a reset are noted where those happen.
        let is_now = match point.id() {
            3 => self.state().marks.get() & 0b100 != 0,
            id => (1..6).contains(&id),
        };
        if is_now {
            self.ledger.borrow_mut().stamps(self.process())[usize::from(point.id())] = self.now();
        }
        self.mark(1_u32.checked_shl(point.id().into()).unwrap_or(0) & 0x3f, 0);
        use psci_faults::points::psci::{COORDINATED, LEFT_EARLY, LOCK_ACQUIRED, LOCK_RELEASED};
        if point == LOCK_ACQUIRED {
            self.note_acquired(argument);
        } else if point == LOCK_RELEASED {
            self.note_released(argument);
        } else if point == COORDINATED {
            self.note_granted(argument);
        } else if point == LEFT_EARLY {
            self.ledger.borrow_mut().left_early(self.process());
        }
    }
}

impl Board {
    fn note_acquired(&self, id: u32) {
        let cpu = self.process();
        let own = id.checked_sub(CPU_LOCK).map(|own| own as usize);
        if own.map_or(id as usize > self.ports.len(), |own| {
            own >= self.cpus().len()
        }) {
            self.fail(
                OneHolder,
                format!("CPU {cpu} holds a lock {id:#x}, which there is not"),
            );
        }
        let mut holders = self.holders();
        // Who has stored that it lets the lock go says so only after its event: until then it may
        // still stand as the holder.
        if let Some(at) = holders.iter().position(|&(lock, _)| lock == id) {
            let (_, other) = holders.swap_remove(at);
            self.contested.borrow_mut().push((id, other, cpu));
        }
        holders.push((id, cpu));
        drop(holders);
        self.note_lock(id, true);
        if let Some(level) = level_of(id) {
            let now = self.step_count();
            self.keep_books(|books| books.acquired(cpu, level, now));
        }
    }

    fn note_released(&self, id: u32) {
        let cpu = self.process();
        self.note_lock(id, false);
        self.holders().retain(|&holder| holder != (id, cpu));
        self.contested
            .borrow_mut()
            .retain(|&(lock, first, _)| (lock, first) != (id, cpu));
    }

    /// A request is granted, up to this level.
    fn note_granted(&self, highest: u32) {
        let cpu = self.process();
        let held = self
            .holders()
            .iter()
            .filter(|holder| holder.1 == cpu)
            .filter_map(|&(id, _)| level_of(id))
            .max();
        let result = self.ledger.borrow_mut().is_granted(
            cpu,
            highest as u8,
            held.unwrap_or(0),
            self.step_count(),
        );
        if let Ok((granted, by_os)) = result {
            self.state().levels.set(granted);
            if let Some(at) = reached::states(&granted, by_os) {
                self.count(at);
            }
        }
        self.hold(result.map(drop));
    }

    /// A CPU that another one has taken a lock from does what only a holder may.
    pub fn check_holder(&self, what: &str) {
        let cpu = self.process();
        let contested = self.contested.borrow();
        if let Some(&(id, _, other)) = contested.iter().find(|&&(_, first, _)| first == cpu) {
            let what = format!(
                "CPU {cpu} holds {} and {what}, while CPU {other} holds it as well",
                lock(id)
            );
            drop(contested);
            self.fail(OneHolder, what);
        }
    }

    fn announce(&self, mut states: States, wakes: bool) {
        if self.port.is_none() {
            self.does(&POWER_DOWN, 0);
        }
        let process = self.process();
        // If the states that are right are not known, these are taken for them.
        self.state().levels.set(states);
        self.keep_books(|books| books.may_go(process));
        self.keep_books(|books| books.goes_down(process, states));
        if self.resident.get() == Some(process as u8) && self.ledger.borrow().is_off(process) {
            self.fail(
                Answer,
                format!("CPU {process} goes off, and the Trusted OS resides there"),
            );
        }
        let cluster = loses(1, states[1]);
        self.state().goes.set(Some(wakes));
        let hooked = self
            .hook(if wakes { Suspend } else { Off }, &[], &mut states)
            .is_some();
        if !hooked && cluster {
            self.shut_port();
        }
        if loses(2, states[2])
            && !self.options.coherent
            && let Some(other) = (0..self.cpus().len())
                .find(|&other| other != process && self.memory().is_coherent(other))
        {
            self.fail(
                DomainUp,
                format!("CPU {process} takes the system down while CPU {other} runs"),
            );
        }
        if !hooked {
            self.send(Command::Down {
                cpu: process as u8,
                cluster,
                wakes,
            });
        }
    }

    /// The port of the cluster is closed: no other CPU may run in it.
    pub fn shut_port(&self) {
        self.check_holder("closes the cluster's port");
        let process = self.process();
        let own = self.states[process].cluster;
        // Where CPUs stay coherent the hardware sees to it that a port is open for whoever needs
        // it.
        let looks = !self.options.coherent;
        if let Some(other) = (0..self.cpus().len()).find(|&other| {
            looks
                && other != process
                && self.states[other].cluster == own
                && self.memory().is_coherent(other)
        }) {
            let by = self.hook_of(process, "in");
            self.fail(
                DomainUp,
                format!("CPU {process}{by} closes the port of cluster {own} while CPU {other} runs in it"),
            );
        }
        self.ports[own].set(false);
    }

    /// What was down is open again: the states are those that the CPU takes itself and its domains to
    /// be in, as it comes up.
    fn open(&self, mut states: States, hook: Hook, counts: bool) {
        if self.port.is_none() {
            self.does(&POWERED_UP, 0);
        }
        let (cpu, now) = (self.process(), self.step_count());
        self.keep_books(|books| books.is_out(cpu, counts, Some(states), now));
        self.state().levels.set(states);
        let hooked = self.hook(hook, &[], &mut states).is_some();
        if !hooked && loses(1, states[1]) {
            self.check_holder("opens the cluster's port");
            self.ports[self.state().cluster].set(true);
        }
    }

    /// The power controller is asked to turn a CPU on; false if it refuses.
    pub fn ask_for_power(&self, target: usize) -> bool {
        self.does(&TURN_ON, target as u64);
        let is_on = self.answer(Kind::PowerOnFails, 2) == 0;
        if is_on {
            self.send(Command::On { cpu: target as u8 });
        }
        is_on
    }

    /// A flush comes between its two stamps.
    fn check_flush_stamps(&self) {
        self.expect(self.process(), "flushes its caches", 0b11_0000, 0b01_0000);
    }

    /// The platform's answer for the present call.
    fn answered(&self) -> u32 {
        self.state().answered.get()
    }
}

/// The level of a domain's lock, by its id; the own locks of CPUs have none.
fn level_of(id: u32) -> Option<u8> {
    match id {
        0 => Some(2),
        CPU_LOCK.. => None,
        _ => Some(1),
    }
}

/// The states of a CPU, its cluster and the system; there is no fourth level.
fn composite([cpu, cluster, system]: States) -> CompositeState {
    CompositeState {
        levels: [cpu, cluster, system, 0].map(LocalState),
    }
}

fn states_of(state: &CompositeState) -> States {
    let [cpu, cluster, system, _] = state.levels.map(|local| local.0);
    [cpu, cluster, system]
}

/// An error of a port.
fn error_of(answer: i32) -> Error {
    if answer == -1 {
        NotSupported
    } else {
        InvalidParameters
    }
}

/// The error of a call that fails.
fn error(board: &Board) -> Error {
    if board.answered() == 1 {
        Denied
    } else {
        InternalFailure
    }
}

impl<T: Scalar> SharedCell<T, Board> for Word<T> {
    fn load_relaxed(&self, board: &Board) -> T {
        T::from_word(board.load(self.number(), Order::Relaxed))
    }
    fn store_relaxed(&self, board: &Board, value: T) {
        board.store(self.number(), value.to_word(), Order::Relaxed);
    }
    fn clean(&self, board: &Board) {
        board.maintain(self.number(), false);
    }
    fn clean_invalidate(&self, board: &Board) {
        board.maintain(self.number(), true);
    }
}

impl Platform for Board {
    type Shared<T: Scalar> = Word<T>;

    fn this_cpu(&self) -> CpuIndex {
        CpuIndex(self.process() as u16)
    }

    fn cpu_by_mpidr(&self, mpidr: u64) -> Option<CpuIndex> {
        self.state().target.set(mpidr);
        (0..self.shape.cpus)
            .find(|&cpu| self.shape.mpidr(cpu) == mpidr)
            .map(|cpu| CpuIndex(cpu as u16))
    }

    fn counter_frequency(&self) -> u64 {
        FREQUENCY
    }
    fn coherent_power_down(&self) -> bool {
        self.options.coherent
    }

    fn lock_kind(&self) -> LockKind {
        if self.options.ticket {
            LockKind::Ticket
        } else {
            LockKind::Bakery
        }
    }

    fn message_order(&self) -> MessageOrder {
        if self.options.outside_locks {
            MessageOrder::OutsideLocks
        } else {
            MessageOrder::InsideLocks
        }
    }

    fn is_power_down(&self, level: Level, state: LocalState) -> bool {
        loses(level, state.0)
    }

    fn decode_power_state(&self, raw: u32) -> Result<SuspendRequest, Error> {
        let (states, last_at_level) = self.decode(raw).ok_or(InvalidParameters)?;
        Ok(SuspendRequest {
            state: composite(states),
            last_at_level,
        })
    }

    fn off_state(&self) -> CompositeState {
        composite(OFF)
    }

    fn optional_calls(&self) -> OptionalCalls {
        let there = self.answered() != passed::NOT_OFFERED;
        OptionalCalls {
            os_initiated: true,
            node_hw_state: there,
            system_reset2: there,
            mem_protect: there,
            mem_protect_check_range: there,
            system_off2: there,
            cpu_freeze: there && self.port.is_none(),
        }
    }

    fn power_state_format(&self) -> PowerStateFormat {
        PowerStateFormat::Extended
    }

    fn coordinate(&self, level: Level, requests: impl Iterator<Item = LocalState>) -> LocalState {
        LocalState(self.coordinated(level, requests.map(|request| request.0)))
    }

    fn stat_slot(&self, level: Level, state: LocalState) -> Option<usize> {
        self.check_index(level, state.0);
        // A frozen CPU has no slot: its power state is RUN.
        (state != LocalState::RUN).then(|| slot(state.0))
    }
    fn is_valid_entry_point(&self, address: u64) -> bool {
        let Some(result) = self.hook(EntryPoint, &[address], &mut []) else {
            return address & WRONG_ADDRESS == 0;
        };
        let mut books = self.ledger.borrow_mut();
        books.refuses(self.process(), WRONG_ENTRY, result != 0);
        result == 0
    }

    fn suspend_mode_change(&self) -> SuspendModeChange {
        use SuspendModeChange::{BeforeAnySuspend, WhileNobodySleeps};
        if self.options.lse {
            BeforeAnySuspend
        } else {
            WhileNobodySleeps
        }
    }

    fn caller_endianness(&self) -> Option<Endianness> {
        self.is_big().map(|big| {
            if big {
                Endianness::Big
            } else {
                Endianness::Little
            }
        })
    }

    fn system_off(&self) {
        self.hears(smc::SYSTEM_OFF, 0_u64);
        self.passes(SystemOff, &[], &[]);
    }
    fn system_reset(&self) {
        self.hears(smc::SYSTEM_RESET, 0_u64);
        self.passes(SystemReset, &[], &[]);
    }
    fn system_reset2(&self, kind: u32, cookie: u64) -> Error {
        self.hears(kind, cookie);
        self.passes(
            SystemReset2,
            &[(kind >> 31) as u64, kind.into(), cookie],
            &[-1, -2],
        )
        .map_or_else(|| error(self), error_of)
    }
    fn hibernate(&self) -> Error {
        error(self)
    }

    fn mem_protect(&self, enable: bool) -> Result<bool, Error> {
        self.hears(enable, 0_u64);
        match (self.protect(enable), self.answered()) {
            (Some(was), _) => Ok(was),
            (_, answered @ ..2) => Ok(answered == 1),
            _ => Err(InternalFailure),
        }
    }

    fn mem_protect_check_range(&self, base: u64, length: u64) -> bool {
        self.hears(base, length);
        self.passes(ProtectCheck, &[base, length], &[0, DENIED as i32])
            .map_or(self.answered() == 0, |answer| answer == 0)
    }

    fn node_hw_state(&self, cpu: CpuIndex, level: Level) -> Result<HwState, Error> {
        self.hears(self.shape.argument(cpu.get()), level);
        // A scenario asks for the CPU that calls, which is on.
        match self.passes(
            Hook::HwState,
            &[self.shape.mpidr(cpu.get()), level.into()],
            &[0, -1, -2],
        ) {
            Some(answer @ ..0) => Err(error_of(answer)),
            None if self.answered() == 1 => Ok(psci_faults::HwState::Standby),
            None if self.answered() > 1 => Err(InternalFailure),
            _ => Ok(psci_faults::HwState::On),
        }
    }

    fn may_read_stamps(&self) -> bool {
        self.answered() == 0
    }
    fn smccc_arch_feature(&self, _: u32) -> i32 {
        self.answered() as i32 - 1
    }

    fn smccc_arch_call(&self, _: u32, _: [u64; 3]) -> Option<[u64; 4]> {
        (self.answered() != 0).then(|| [self.answered().into(), 0, 0, 0])
    }

    fn service_identity(&self, _: Service) -> Identity {
        Identity {
            uid: [self.answered(), 0, 0, 0],
            major: self.answered() + 4,
            minor: 0,
        }
    }

    fn migrate(&self, target: CpuIndex) -> Result<(), Error> {
        self.hears(self.shape.argument(target.get()), 0_u64);
        (self.answered() == 0)
            .then_some(())
            .ok_or_else(|| error(self))
    }

    fn power_down_allowed(&self, request: &CompositeState, why: PowerDown) -> bool {
        self.act(Own);
        let hook = match why {
            PowerDown::Off => OffEarly,
            _ => MaySuspend,
        };
        let answer = self.hook(hook, &[], &mut states_of(request));
        if answer.is_some_and(|answer| answer != 0) {
            self.ledger.borrow_mut().refuses(self.process(), VETO, true);
        }
        self.ledger.borrow_mut().is_asked(self.process())
    }

    fn system_suspend_state(&self) -> Option<CompositeState> {
        (self.answered() != 2).then(|| composite(self.system_states()))
    }

    fn default_suspend_state(&self) -> Option<CompositeState> {
        (self.answered() != 2).then(|| composite(default_suspend(self.process())))
    }

    fn trusted_os(&self) -> TrustedOs {
        let at = self.resident.get().map(|cpu| CpuIndex(cpu.into()));
        match at {
            None => TrustedOs::Absent,
            Some(cpu) if self.options.lse => TrustedOs::Fixed(cpu),
            Some(cpu) => TrustedOs::Migratable(cpu),
        }
    }

    fn barrier(&self) {
        // Not an operation that ends a poll: a load with its maintenance is polled as a
        // whole.
        self.operation(Barrier);
        self.barrier_now();
    }

    fn wait_for_event(&self) {
        self.wait_for_an_event();
    }
    fn send_event(&self) {
        self.send_an_event();
    }

    fn save_context(&self) {
        self.act(Own);
        self.mark(SAVED, 0);
        if !self.options.coherent {
            self.hook(SuspendEarly, &[], &mut self.state().levels.get());
        }
    }

    fn restore_context(&self) {
        self.act(Own);
        self.expect(self.process(), "restores its context", SAVED, SAVED);
        self.mark(0, SAVED);
    }

    fn interrupt_pending(&self) -> bool {
        self.act(Own);
        let pending = self.answer(Kind::Pending, 2) == 1;
        self.ledger.borrow_mut().looks(self.process(), pending);
        pending
    }
    fn interrupts_off(&self) {
        self.act(Own);
        self.mark(0, INTERRUPTS);
    }
    fn interrupts_on(&self) {
        self.act(Own);
        self.mark(INTERRUPTS, 0);
    }
    fn interrupts_init(&self) {
        self.act(Own);
        self.mark(INTERRUPTS | INITIALIZED, 0);
        self.hook(OnFinishLate, &[], &mut self.state().levels.get());
    }
    fn request_hardware_flush(&self, level: Level) {
        self.check_flush_stamps();
        self.mark(FLUSHES << level.min(1), 0);
    }
    fn flush_caches(&self, level: Level) {
        self.act(Flush { level });
        self.check_holder("flushes its caches");
        self.check_flush_stamps();
        let process = self.process();
        self.memory_mut().flush(process, level > 0);
        self.memory_mut().leave_coherency(process);
        self.wake_pollers();
    }
    fn caches_on(&self) {
        self.act(CachesOn);
        let process = self.process();
        let cluster = self.states[process].cluster;
        if !self.ports[cluster].get() {
            self.fail(
                DomainUp,
                format!(
                    "CPU {process} joins coherency{} while the port of cluster {cluster} is closed",
                    self.hook_of(process, "after")
                ),
            );
        }
        self.memory_mut().join(process);
    }

    fn warm_reset(&self) {
        self.act(Own);
        self.mark(EL3, 0);
        if self.options.coherent {
            let process = self.process();
            self.memory_mut().join(process);
        }
    }

    fn power_down(&self, state: &CompositeState, why: PowerDown) {
        self.announce(states_of(state), why == PowerDown::Suspend);
    }

    fn wait_for_power_down(&self) {
        Board::wait_for_power_down(self);
    }

    fn power_down_abandoned(&self, state: &CompositeState) {
        self.mark(0, SAVED);
        self.open(states_of(state), SuspendFinish, false);
    }

    fn standby(&self, state: &CompositeState) {
        self.does(&STANDBY, 0);
        let (process, states) = (self.process(), states_of(state));
        self.keep_books(|books| books.goes_down(process, states));
        if highest(&states) == 0 {
            self.hook(Standby, &[self.number(0, states[0])], &mut []);
        }
        self.barrier_now();
        self.ledger.borrow_mut().rests(process, self.step_count());
        self.block(Wait::Interrupt);
        self.ledger
            .borrow_mut()
            .standby_ends(process, states, self.step_count());
    }

    fn power_on(&self, target: CpuIndex) -> Result<(), Error> {
        let target = target.get();
        let is_on = match self.hook(Hook::On, &[self.shape.mpidr(target)], &mut []) {
            None => self.ask_for_power(target),
            Some(result) => {
                self.check_given(target, result);
                result == 0
            }
        };
        self.ledger
            .borrow_mut()
            .power_on_failed(self.process(), !is_on);
        is_on.then_some(()).ok_or(InternalFailure)
    }

    fn powered_up(&self, state: &CompositeState, after: PowerUp) {
        let hook = if after == PowerUp::On {
            OnFinish
        } else {
            SuspendFinish
        };
        self.open(states_of(state), hook, true);
    }

    fn leave_coherency(&self) {
        self.act(Own);
        let process = self.process();
        self.memory_mut().leave_coherency(process);
        self.wake_pollers();
    }
}
