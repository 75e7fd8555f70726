//! Runs: a scenario under a chooser, from a machine in which some CPUs run.

use super::acts::{ENTERED, RESET, RETURNED};
use super::board::FREQUENCY;
use super::board::{Board, EL3, Entry, INITIALIZED, INTERRUPTS, Port, Power, SAVED, TurnOn};
use super::frame::{BOOT, DOWN, SCRIPT};
use super::hook::Hook;
use super::layout;
use super::ledger::{
    DENIED, Ledger, NOT_OFFERED, Request, SYSTEM, States, VETO, WRONG_ENTRY, highest,
};
use super::library::{self, Library, entry_of};
use super::names::{kind_of, lock, statistics};
use super::passed;
use super::reached::{WARM_BOOT, outcome};
use super::scenario::Ask::*;
use super::scenario::{Ask, Scenario};
use ::points::Sink;
use engine::Runner;
use interleavings::subject::Invariant::{Answer, OneCpuOnWins, Statistics};
use interleavings::subject::{
    Cause, ChoiceSource, Failure, Invariant, Kind, Limits, Machine, Main, Memory, Operation,
    RunResult, Runs, Step, Wait, broken_lock,
};
use itertools::Itertools;
use psci_faults::{EntryPoint, Outcome, PowerUp};
use smc::*;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// The machine after its boot, with some CPUs running.
struct Snapshot {
    memory: Memory,
    ledger: Ledger,
    ports: Vec<Cell<bool>>,
    /// CPUs that are off, as a mask: also those that the port has not turned on.
    off: u64,
    /// The port's own data.
    data: Vec<u8>,
}

/// A board with the library, ready for one run after the other.
pub struct Session<'s> {
    board: &'s Board,
    scenario: &'s RefCell<Scenario>,
    runner: Runner<'s, Main<'s>>,
    snapshots: HashMap<(u64, bool), Snapshot>,
}

/// Opens a session on a board with the library and hands it to `use_it`.
pub fn with_session<R>(
    board: &Board,
    library: &Library<'_>,
    limits: Limits,
    use_it: impl FnOnce(&mut dyn Runs<Scenario>) -> R,
) -> R {
    let scenario = RefCell::new(Scenario::default());
    let main: Main<'_> = &|process, entry| frame(board, library, &scenario, process, entry);
    let runner = Runner::with_chooser(board.scheduler(), &main, || board.take_next());
    board.settings().limits.set(limits);
    board.settings().length.set(500);
    let mut session = Session {
        board,
        scenario: &scenario,
        runner,
        snapshots: HashMap::new(),
    };
    use_it(&mut session)
}

impl Runs<Scenario> for Session<'_> {
    fn run_once(&mut self, scenario: &Scenario, by: ChoiceSource<'_>) -> RunResult {
        let mask = scenario.off.iter().fold(0u64, |mask, &cpu| mask | 1 << cpu);
        let key = (mask, scenario.os_initiated);
        if !self.snapshots.contains_key(&key) {
            match self.set_up(scenario) {
                Ok(snapshot) => self.snapshots.insert(key, snapshot),
                // It does not even boot.
                Err(ran) => return ran,
            };
        }
        self.scenario.borrow_mut().clone_from(scenario);
        self.restore(key);
        self.start(SCRIPT, self.snapshots[&key].off, by);
        self.board.resident.set(scenario.resident);
        let mut ledger = self.board.ledger.borrow_mut();
        ledger.clone_from(&self.snapshots[&key].ledger);
        ledger.begin_run();
        drop(ledger);
        self.go()
    }

    fn script(&self) -> Scenario {
        self.scenario.borrow().clone()
    }

    fn machine(&self) -> &Machine {
        self.board
    }

    fn cause(&mut self, failure: &Failure) -> Option<Cause> {
        let is_told = failure.invariant == Invariant::OneHolder;
        broken_lock(self.board, |id| Some(lock(id)).filter(|_| !is_told))
    }

    fn take_counts(&mut self, counts: &mut [u64]) {
        for (count, own) in counts
            .iter_mut()
            .zip(self.board.counts.borrow_mut().iter_mut())
        {
            *count += std::mem::take(own);
        }
    }

    fn take_reached(&mut self, each: &mut dyn FnMut(usize)) {
        seeded::take_reached(psci_faults::PLACES.len(), each);
    }

    fn actor(&self, step: &Step) -> Option<u16> {
        match step.did {
            Operation::Action { number } => {
                let ask = self
                    .scenario
                    .borrow()
                    .ask(step.process.into(), number.into());
                Some(ask.map_or(WARM_BOOT, |ask| ask.call() as u16))
            }
            Operation::Act { act, .. } if act == &RESET => Some(WARM_BOOT),
            _ => None,
        }
    }

    fn first_actor(&self) -> u16 {
        WARM_BOOT
    }

    fn word(&self, cell: u16) -> u16 {
        kind_of(self.board.shape, cell)
    }
}

impl Session<'_> {
    /// Boots the machine as a careful operating system does: one CPU after the other, nobody
    /// interrupted.
    fn set_up(&mut self, scenario: &Scenario) -> Result<Snapshot, RunResult> {
        let board = self.board;
        let count = board.cpus().len();
        // CPU 0 boots; if it is to be off, it goes off last, once another one runs.
        let mut boot = Scenario {
            cpus: vec![Vec::new(); count],
            ..scenario.clone()
        };
        let stays_off = |cpu: usize| scenario.off.contains(&(cpu as u8));
        boot.cpus[0].extend(
            (1..count)
                .filter(|&cpu| !stays_off(cpu))
                .map(|cpu| On(cpu as u8)),
        );
        if scenario.os_initiated {
            boot.cpus[0].push(Mode(1));
        }
        if stays_off(0) {
            boot.cpus[0].push(Off);
        }
        self.scenario.borrow_mut().clone_from(&boot);
        board.resident.set(None);
        board.ledger.replace(Ledger::new(board.shape));
        let blank = Memory::blank_of(&board.memory());
        board.memory_mut().restore(&blank);
        board.port.iter().for_each(|port| port.set_data(None));
        let everybody_off = (1 << count) - 1;
        self.reset_cpus(everybody_off, &vec![Cell::new(false); board.ports.len()]);
        self.start(BOOT, everybody_off & !1, ChoiceSource::Schedule(&[]));
        let ran = self.go();
        if ran.failure.is_some() {
            return Err(ran);
        }
        Ok(Snapshot {
            memory: board.memory().clone(),
            ledger: board.ledger.borrow().clone(),
            ports: board.ports.clone(),
            off: board.states.iter().rev().fold(0, |off, cpu| {
                off << 1 | u64::from(cpu.power.get() != Power::On)
            }),
            data: board.port.map(Port::data).unwrap_or_default(),
        })
    }

    fn restore(&mut self, key: (u64, bool)) {
        let snapshot = &self.snapshots[&key];
        self.board.memory_mut().restore(&snapshot.memory);
        self.board
            .port
            .iter()
            .for_each(|port| port.set_data(Some(&snapshot.data)));
        self.reset_cpus(snapshot.off, &snapshot.ports);
    }

    fn reset_cpus(&self, off: u64, ports: &[Cell<bool>]) {
        for (index, cpu) in self.board.states.iter().enumerate() {
            let is_off = off >> index & 1 != 0;
            self.board.cpus()[index].begin(if is_off { Wait::Absent } else { Wait::Nothing });
            cpu.power.set(if is_off { Power::Off } else { Power::On });
            cpu.position.set(0);
            cpu.answered.set(0);
            cpu.passed.take();
            cpu.turn_ons.borrow_mut().clear();
            cpu.on_since.set(u32::from(!is_off));
            cpu.off_since.set(u32::from(is_off));
            cpu.dark_since.set(u32::from(is_off));
            cpu.hook.set(None);
            cpu.marks.set(0);
        }
        for (own, port) in self.board.ports.iter().zip(ports) {
            own.set(port.get());
        }
    }

    /// Starts all processes; CPUs that are `off` wait for their power.
    fn start(&mut self, entry: u32, off: u64, by: ChoiceSource<'_>) {
        self.board.forget(by);
        for cpu in 0..self.board.cpus().len() {
            let is_off = off >> cpu & 1 != 0;
            self.runner.start(cpu, if is_off { DOWN } else { entry });
            if !is_off {
                self.board.can_go(cpu);
            }
        }
        let controller = self.board.last_process();
        self.runner.start(controller, SCRIPT);
        self.board.can_go(controller);
    }

    fn go(&mut self) -> RunResult {
        self.board.run(|| self.runner.run());
        self.board.result(|| at_the_end(self.board))
    }
}

/// The property that must hold once nobody does anything more.
fn at_the_end(board: &Board) -> Option<Failure> {
    let fails = |invariant, what, cpu: usize| {
        Some(Failure {
            invariant,
            what,
            process: cpu as u8,
            operation: board.operation_of(cpu),
        })
    };
    for (index, cpu) in board.states.iter().enumerate() {
        for turn_on in cpu.turn_ons.borrow().iter() {
            if turn_on.result == Some(0) && !turn_on.entered {
                return fails(
                    OneCpuOnWins,
                    format!(
                        "a CPU_ON of CPU {index} returned SUCCESS, and it never entered the normal world for it"
                    ),
                    index,
                );
            }
        }
    }
    let stuck = |index: usize| {
        board.states[index].power.get() == Power::On && board.cpus()[index].waits() != Wait::Done
    };
    if let Some(index) = (0..board.cpus().len()).find(|&index| stuck(index)) {
        return fails(
            Invariant::EverybodyWakes,
            format!(
                "nobody is left to go on{}: {}",
                board.hook_of(index, "after"),
                board.describe_waits()
            ),
            index,
        );
    }
    let memory = board.memory();
    let compared = board.ledger.borrow().compare(|owner, state| {
        let [time, count] = statistics(board.shape, owner, state).map(|cell| memory.newest(cell));
        (count, time)
    });
    compared
        .err()
        .and_then(|(invariant, what)| fails(invariant, what, 0))
}

/// The frame of a process.
fn frame(
    board: &Board,
    library: &Library<'_>,
    scenario: &RefCell<Scenario>,
    process: usize,
    entry: u32,
) {
    if board.is_over() {
        board.stay();
    }
    if process == board.last_process() {
        board.run_controller();
    }
    match entry {
        BOOT => {
            board.comes_up();
            board.ports[board.state().cluster].set(true);
            board.memory_mut().join(process);
            board.hook(Hook::SetUp, &[], &mut []);
            library.boot();
            let now = board.step_count();
            board.keep_books(|books| books.is_out(process, false, None, now));
            board.state().on_since.set(1);
            board.state().off_since.set(0);
        }
        DOWN => {
            board.comes_up();
            board.ledger.borrow_mut().stamps(process)[3] = board.now();
            enter(board, library.warm_boot());
            // The call that it comes from is the one before the next.
            let number = board.state().position.get().checked_sub(1);
            if let Some(ask) = number.and_then(|number| scenario.borrow().ask(process, number)) {
                board.count(outcome(ask.call(), None, false, false));
            }
        }
        _ => {}
    }
    loop {
        let number = board.state().position.get();
        let ask = scenario.borrow().ask(process, number);
        let Some(ask) = ask else { break };
        board.state().position.set(number + 1);
        let (x0, early) = call(board, library, number, ask);
        let vetoed = board.ledger.borrow().was_vetoed(process);
        board.count(outcome(ask.call(), x0, vetoed, early));
    }
    board.leave();
}

/// The CPU enters the normal world.
fn enter(board: &Board, landing: EntryPoint) {
    let (entry, resumes) = (entry_of(landing), landing.after == PowerUp::Resume);
    board.does(&ENTERED, entry.pc);
    let process = board.process();
    let cpu = &board.states[process];
    if !board.memory().is_coherent(process) {
        board.fail(
            Invariant::EntryPoint,
            format!("CPU {process} enters the normal world with its caches off"),
        );
    }
    board.check_holder("enters the normal world");
    let right = 0b1010 | EL3 | INTERRUPTS | (u32::from(!resumes) * INITIALIZED);
    let these = right | INITIALIZED | SAVED;
    board.expect(process, "enters the normal world", these, right);
    let right = if resumes {
        entry == cpu.resumes_at.get() && cpu.on_since.get() != 0
    } else {
        let mut turn_ons = cpu.turn_ons.borrow_mut();
        turn_ons
            .iter_mut()
            .find(|turn_on| turn_on.entry == entry && turn_on.is_open())
            .map(|turn_on| turn_on.entered = true)
            .is_some()
    };
    if !right {
        let open = |turn_on: &&TurnOn| !turn_on.entered;
        let asked = match resumes {
            true => cpu.resumes_at.get().to_string(),
            false => {
                let turn_ons = cpu.turn_ons.borrow();
                turn_ons
                    .iter()
                    .filter(open)
                    .map(|turn_on| turn_on.entry)
                    .join(" or ")
            }
        };
        let asked = if asked.is_empty() { "nowhere" } else { &asked };
        let after = if resumes { "a suspend" } else { "a CPU_ON" };
        board.fail(
            Invariant::EntryPoint,
            format!("CPU {process} comes from {after} to {entry}, and was asked to go to {asked}"),
        );
    }
    cpu.on_since.set(board.step_count());
    cpu.off_since.set(0);
    let now = board.step_count();
    board.keep_books(|books| books.returns(process, None, false, now));
}

const SUCCESS: u64 = 0;
const ALREADY_ON: u64 = -4i64 as u64;
const ON_PENDING: u64 = -5i64 as u64;
const INVALID_ADDRESS: u64 = -9i64 as u64;

/// Draws the platform's answers to a call: the refusals that are due, and whether the entry point
/// is a wrong address. They are drawn before the platform is asked, so that a library that does not
/// ask is held to them as well.
fn draw_answers(board: &Board, ask: Ask, asks: Request) -> (u64, bool) {
    let loses = match asks {
        Request::Suspend { states, .. } | Request::DefaultSuspend(states) => states[0] == 2,
        Request::Off(_) | Request::SystemSuspend(_) => true,
        Request::Nothing | Request::Mode => false,
    };
    let due = if loses && board.answer(Kind::Denied, 2) == 1 {
        VETO
    } else {
        0
    };
    let (answers, enters) = match ask {
        On(_) => (2, true),
        Suspend { .. } => (2, loses),
        DefaultSuspend | SystemSuspend => (3, loses),
        Freeze | Migrate(_) | Other(0x8000_0000..) => (passed::ANSWERS, false),
        _ => (1, false),
    };
    let answered = match ask {
        // A port has no hook for it.
        Freeze if board.port.is_some() => passed::NOT_OFFERED,
        _ => board.answer(Kind::Answered, answers),
    };
    board.state().answered.set(answered);
    match (ask, answered) {
        (DefaultSuspend | SystemSuspend, 2) | (Freeze, passed::NOT_OFFERED) => (NOT_OFFERED, false),
        (Other(_) | Migrate(_), _) | (_, 0) => (due, false),
        _ => (due | if enters { WRONG_ENTRY } else { 0 }, true),
    }
}

/// A call of a scenario. Returns X0 if it returned, and whether it ended before it had begun.
fn call(board: &Board, library: &Library<'_>, number: usize, ask: Ask) -> (Option<u64>, bool) {
    board.start_action(number);
    let process = board.process();
    let (pc, context_id) = layout::entry_of(process, number);
    let asks = match ask {
        Off => Request::Off(SYSTEM),
        Freeze => Request::Off([0; 3]),
        Suspend { states, last } => Request::Suspend { states, last },
        DefaultSuspend => Request::DefaultSuspend(layout::default_suspend(process)),
        SystemSuspend => Request::SystemSuspend(SYSTEM),
        Mode(_) => Request::Mode,
        _ => Request::Nothing,
    };
    let (due, is_wrong) = draw_answers(board, ask, asks);
    board.mark(EL3 | INTERRUPTS, !0);
    let pc = if is_wrong {
        pc | layout::WRONG_ADDRESS
    } else {
        pc
    };
    let called = board.step_count();
    board.ledger.borrow_mut().calls(process, asks, due, called);
    if !matches!(ask, Off | Suspend { .. } | DefaultSuspend) {
        // What these calls are held to is what was plain when they were made: the caller has heard
        // of it.
        board.memory_mut().learn(process);
    }
    let entry = Entry {
        pc,
        context_id,
        big: board.is_big() == Some(true),
    };
    let call = Call {
        board,
        library,
        process,
        entry,
        called,
    };
    let x0 = call.make(ask);
    if x0.is_some() {
        let marks = board.state().marks.get();
        let waits = u32::from(marks & 0b1100 != 0) * 0b1100;
        let calls = u32::from(!matches!(ask, Other(_))) * 0b11;
        let these = INTERRUPTS | waits | calls;
        board.expect(process, "returns to the normal world", these, these);
    }
    let early = board.ledger.borrow().did_leave_early(process);
    let resident = board.resident.get() == Some(process as u8);
    let now = board.step_count();
    board.keep_books(|books| books.returns(process, x0, resident, now));
    (x0, early)
}

/// A call that a CPU makes, and what is asked of its answer.
struct Call<'b> {
    board: &'b Board,
    library: &'b Library<'b>,
    process: usize,
    entry: Entry,
    /// The number of steps of the run when the call was made.
    called: u32,
}

impl Call<'_> {
    /// Makes the call; returns X0, or `None` where it does not return.
    fn make(&self, ask: Ask) -> Option<u64> {
        let Entry { pc, context_id, .. } = self.entry;
        Some(match ask {
            Off => return self.turn_off(CPU_OFF),
            Freeze => return self.turn_off(CPU_FREEZE),
            On(target) => self.turn_on(ask, target.into()),
            Suspend { states, last } => {
                let raw = u64::from(layout::power_state(states, last));
                self.suspend(CPU_SUSPEND, [raw, pc, context_id])
            }
            DefaultSuspend => self.suspend(CPU_DEFAULT_SUSPEND, [pc, context_id, 0]),
            SystemSuspend => self.suspend_the_system(),
            Affinity(target) => self.ask_affinity(ask, target.into(), false),
            ClusterAffinity(target) => self.ask_affinity(ask, target.into(), true),
            Other(call @ passed::STAMPS..0x8000_0000) => self.read_stamp(call - passed::STAMPS),
            Other(call) => self.ask_the_platform(call, self.process),
            Migrate(target) => self.ask_the_platform(MIGRATE, target.into()),
            Mode(mode) => self.set_mode(mode),
            Count { of, states } => self.ask_statistics(of, states, true),
            Residency { of, states } => self.ask_statistics(of, states, false),
        })
    }

    /// Makes a call that must return; returns X0. Of short arguments the upper halves have no
    /// meaning.
    fn ask(&self, function: u32, arguments: [u64; 3]) -> u64 {
        let Self { board, library, .. } = *self;
        let upper = u64::from(function & SMC64 == 0) * (0xdead << 32);
        let arguments = arguments.map(|argument| argument | upper);
        returned(board, library::ask(board, library, function, arguments))[0]
    }

    fn others(&self) -> impl Iterator<Item = usize> {
        (0..self.board.cpus().len()).filter(|&other| other != self.process)
    }

    /// True if what began at this operation began before the call.
    fn is_since(&self, operation: &Cell<u32>) -> bool {
        (1..=self.called).contains(&operation.get())
    }

    /// True if the CPU has been on since before the call.
    fn was_on(&self, other: usize) -> bool {
        self.is_since(&self.board.states[other].on_since)
    }

    /// True if the CPU has been off since before the call.
    fn was_off(&self, other: usize) -> bool {
        self.is_since(&self.board.states[other].off_since)
    }

    /// True if all others have been off since before the call, and none is frozen.
    fn others_were_off(&self) -> bool {
        let one = self.board.ledger.borrow().one_not_off(self.process);
        one.is_none() && self.others().all(|other| self.was_off(other))
    }

    /// True if the CPU has been without power since before the call.
    fn was_dark(&self, other: usize) -> bool {
        let other = &self.board.states[other];
        other.power.get() == Power::Off && self.is_since(&other.dark_since)
    }

    /// True if a CPU_ON of the CPU has succeeded, and it has not entered for it.
    fn is_pending(&self, other: usize) -> bool {
        let turn_ons = self.board.states[other].turn_ons.borrow();
        turn_ons
            .iter()
            .any(|turn_on| turn_on.result == Some(SUCCESS) && !turn_on.entered)
    }

    /// CPU_SUSPEND, or another call that resumes at the entry point.
    fn suspend(&self, function: u32, arguments: [u64; 3]) -> u64 {
        self.board.states[self.process].resumes_at.set(self.entry);
        self.ask(function | SMC64, arguments)
    }

    /// CPU_ON of a CPU.
    fn turn_on(&self, ask: Ask, target: usize) -> u64 {
        let Self {
            board,
            process,
            entry,
            ..
        } = *self;
        let other = &board.states[target];
        let off = other.off_since.replace(0);
        let pending = self.is_pending(target);
        let place = other.turn_ons.borrow().len();
        let undecided = other.turn_ons.borrow().iter().any(TurnOn::is_open);
        other.turn_ons.borrow_mut().push(TurnOn {
            entry,
            result: None,
            entered: false,
        });
        let arguments = [board.shape.mpidr(target), entry.pc, entry.context_id];
        let x0 = self.ask(CPU_ON | SMC64, arguments);
        other.turn_ons.borrow_mut()[place].result = Some(x0);
        board.keep_books(|books| books.turned_on(process, x0));
        let entered = other.turn_ons.borrow()[place].entered;
        if x0 != SUCCESS && entered {
            board.fail(OneCpuOnWins, format!("CPU_ON of CPU {target} returned {} to CPU {process}, and CPU {target} entered where that call said", x0 as i64));
        }
        let alone = other.turn_ons.borrow().len() == place + 1;
        let was_off = off != 0 && !undecided && alone;
        let is_on = x0 == ALREADY_ON;
        let is_refused = matches!(x0, ON_PENDING | INVALID_ADDRESS);
        let wrong = [
            (
                x0 == SUCCESS && self.was_on(target) && target != process,
                "on",
            ),
            ((is_on || x0 == ON_PENDING) && was_off, "off"),
            (is_on && self.was_dark(target), "without power"),
            (pending && !is_refused && self.was_dark(target), "pending"),
        ];
        self.hold_affinity(ask, x0, &wrong);
        if x0 != SUCCESS && was_off && other.power.get() == Power::Off {
            other.off_since.set(board.step_count());
        }
        x0
    }

    /// Fails the run if the answer contradicts a state that held during the whole call.
    fn hold_affinity(&self, ask: Ask, x0: u64, wrong: &[(bool, &str)]) {
        if let Some((_, was)) = wrong.iter().find(|(is, _)| *is) {
            let (cpu, x0) = (self.process, x0 as i64);
            let what =
                format!("{ask} returned {x0} to CPU {cpu}, and its target was {was} all the time");
            self.board.fail(Invariant::Affinity, what);
        }
    }

    /// CPU_OFF or CPU_FREEZE; X0 if it returned.
    fn turn_off(&self, function: u32) -> Option<u64> {
        let Self {
            board,
            library,
            process,
            ..
        } = *self;
        let cpu = &board.states[process];
        cpu.on_since.set(0);
        match library::ask(board, library, function, [0; 3]) {
            Outcome::Return([x0, ..]) => {
                cpu.on_since.set(board.step_count());
                Some(x0)
            }
            Outcome::Enter(landing) => {
                enter(board, landing);
                None
            }
        }
    }

    /// SYSTEM_SUSPEND.
    fn suspend_the_system(&self) -> u64 {
        let Self { board, process, .. } = *self;
        let x0 = self.suspend(SYSTEM_SUSPEND, [self.entry.pc, self.entry.context_id, 0]);
        let refused = x0 == DENIED && !board.ledger.borrow().was_vetoed(process);
        if refused && self.others_were_off() {
            board.fail(
                Answer,
                format!("SYSTEM_SUSPEND returned DENIED to CPU {process}, and all other CPUs were off all the time"),
            );
        }
        x0
    }

    /// AFFINITY_INFO of a CPU, or of its cluster: ON if anything of it is on, else ON_PENDING if
    /// anything is to come up (PSCI DEN0022, 5.7).
    fn ask_affinity(&self, ask: Ask, target: usize, cluster: bool) -> u64 {
        let shape = self.board.shape;
        let of =
            |&cpu: &usize| cpu == target || cluster && shape.cluster(cpu) == shape.cluster(target);
        let mut all = (0..shape.cpus).filter(of);
        let pending = all.clone().any(|cpu| self.is_pending(cpu));
        let arguments = [shape.mpidr(target), u64::from(cluster), 0];
        let x0 = self.ask(AFFINITY_INFO | SMC64, arguments);
        let is_on = all.clone().any(|cpu| self.was_on(cpu));
        let is_off = all.clone().all(|cpu| self.was_off(cpu));
        let is_pending = pending && all.all(|cpu| self.was_dark(cpu));
        let wrong = [
            (is_on && x0 != 0, "on"),
            (is_off && x0 != 1, "off"),
            (is_pending && x0 != 2, "pending"),
        ];
        self.hold_affinity(ask, x0, &wrong);
        x0
    }

    /// A call that passes the platform's answer on.
    fn ask_the_platform(&self, call: u32, named: usize) -> u64 {
        let Self { board, process, .. } = *self;
        let home = board.resident.get().map(usize::from);
        let answered = board.state().answered.get() as usize;
        let (function, first, second, right) =
            passed::passes(call, process, named, home, board, answered);
        board.state().asks_about.set(Some([first, second]));
        let x0 = self.ask(function, [first, second, 0]);
        // The Trusted OS moves to a CPU that is on (PSCI DEN0022, 5.8.2).
        let may_be_off = self.was_off(named) || x0 == DENIED && !self.was_on(named);
        let right = match board.state().passed.take() {
            Some(right) => right,
            None if call == MIGRATE && home == Some(process) && may_be_off => DENIED,
            None => right,
        };
        let unheard = board.state().asks_about.take().is_some();
        let why = if unheard && matches!(call, SYSTEM_OFF | SYSTEM_RESET) {
            "the platform was not told".to_owned()
        } else if x0 != right {
            format!("the platform's answer makes {}", right as i64)
        } else {
            return x0;
        };
        let (name, x0) = (passed::name(call), x0 as i64);
        let what = format!(
            "{name} of {first:#x} and {second:#x} returned {x0} to CPU {process}, and {why}"
        );
        board.fail(Answer, what)
    }

    /// A stamp of the own CPU by PMF, in the long form of the call or in the short one. One that is
    /// older than the CPU's last call reads as 0.
    fn read_stamp(&self, stamp: u32) -> u64 {
        let Self {
            board,
            library,
            process,
            ..
        } = *self;
        let function = PMF_GET_TIMESTAMP | ((stamp & 1) * SMC64);
        let arguments = [
            (0x4100_0400 | stamp).into(),
            board.shape.argument(process),
            1,
        ];
        let [x0, low, high, _] = returned(board, library::ask(board, library, function, arguments));
        let stamps = *board.ledger.borrow_mut().stamps(process);
        let taken = stamps[stamp as usize];
        let (read, right) = (low | high << 32, if taken < stamps[0] { 0 } else { taken });
        if (x0, read) != (0, right) {
            board.fail(Statistics, format!("PMF_GET_TIMESTAMP tells CPU {process} that its stamp {stamp} is {read:#x}, and {right:#x} would be right"));
        }
        x0
    }

    /// PSCI_SET_SUSPEND_MODE.
    fn set_mode(&self, mode: u8) -> u64 {
        let Self {
            board,
            process,
            called,
            ..
        } = *self;
        let x0 = self.ask(PSCI_SET_SUSPEND_MODE, [u64::from(mode), 0, 0]);
        let ledger = board.ledger.borrow();
        let (must, must_not) = match ledger.mode_before() {
            None => (false, false),
            Some(before) if before == mode => (true, false),
            _ if mode == 0 => (
                self.others_were_off(),
                self.others().any(|other| self.was_on(other)),
            ),
            _ => {
                let (had, may_have) = ledger.suspended_before(called);
                let (had, may_have) = (had && board.options.lse, may_have && board.options.lse);
                (
                    !may_have && self.others().all(|other| ledger.awake_since(other, called)),
                    had || self.others().any(|other| ledger.slept_since(other, called)),
                )
            }
        };
        drop(ledger);
        if must && x0 != SUCCESS || must_not && x0 != DENIED {
            let right = if must {
                "nothing stood in its way"
            } else {
                "something stood in its way"
            };
            board.fail(
                Answer,
                format!(
                    "PSCI_SET_SUSPEND_MODE to {mode} returned {} to CPU {process}, and {right} all the time",
                    x0 as i64
                ),
            );
        }
        board.ledger.borrow_mut().mode_changed(mode, x0 == SUCCESS);
        x0
    }

    /// PSCI_STAT_COUNT of states, or PSCI_STAT_RESIDENCY.
    fn ask_statistics(&self, of: u8, states: States, is_count: bool) -> u64 {
        let Self { board, process, .. } = *self;
        let level = usize::from(highest(&states));
        let target = usize::from(of);
        let [counts, _, least, _] = board.ledger.borrow().counts(target, level, states[level]);
        // A count that still lies in a store buffer need not be seen yet.
        let is_seen = (0..board.cpus().len()).all(|cpu| board.memory().buffered(cpu) == 0);
        // Nobody goes down: the level at which the caller would be the last has no meaning.
        let raw = u64::from(layout::power_state(states, 2));
        let function = if is_count {
            PSCI_STAT_COUNT
        } else {
            PSCI_STAT_RESIDENCY
        };
        let x0 = self.ask(function | SMC64, [board.shape.argument(target), raw, 0]);
        let [_, began, _, most] = board.ledger.borrow().counts(target, level, states[level]);
        let microseconds = |ticks: u64| ticks.saturating_mul(1_000_000) / FREQUENCY;
        let (least, most) = match is_count {
            true => (counts, began),
            false => (microseconds(least), microseconds(most)),
        };
        if x0 > most || is_seen && x0 < least {
            let name = smc::name(function).unwrap_or_default();
            board.fail(
                Statistics,
                format!(
                    "{name} returned {x0} to CPU {process}, and {least} to {most} would be right"
                ),
            );
        }
        x0
    }
}

/// The results of a call that must return.
fn returned(board: &Board, outcome: Outcome) -> [u64; 4] {
    board.check_holder("returns to the normal world");
    match outcome {
        Outcome::Return(results) => {
            board.does(&RETURNED, results[0]);
            results
        }
        Outcome::Enter(landing) => board.fail(
            Invariant::EntryPoint,
            format!(
                "a call that only returns enters the normal world at {:#x}",
                landing.pc
            ),
        ),
    }
}
