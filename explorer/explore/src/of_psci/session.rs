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
use engine::Runner;
use interleavings::subject::Invariant::{Answer, OneCpuOnWins, Statistics};
use interleavings::subject::{
    Access, Cause, ChoiceSource, Failure, Invariant, Kind, Limits, Machine, Main, Memory,
    Operation, RunResult, Runs, Step, Wait, broken_lock,
};
use psci_faults::{EntryPoint, Outcome, PowerUp};
use smc::*;
use std::cell::RefCell;
use std::collections::HashMap;

/// The machine after its boot, with some CPUs running.
struct Snapshot {
    memory: Memory,
    ledger: Ledger,
    clusters: Vec<(bool, bool)>,
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
        if is_told {
            None
        } else {
            broken_lock(self.board, |id| Some(lock(id)))
        }
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

    fn accesses(&self, each: &mut dyn FnMut(Access)) {
        let scenario = self.scenario.borrow();
        let actor = |step: &Step| match step.did {
            Operation::Action { number } => {
                let ask = scenario.ask(step.process.into(), number.into());
                Some(ask.map_or(WARM_BOOT, |ask| ask.call() as u16))
            }
            Operation::Act { act, .. } if act == &RESET => Some(WARM_BOOT),
            _ => None,
        };
        let word = |cell| kind_of(self.board.shape, cell);
        self.board.accesses(WARM_BOOT, actor, word, each);
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
        let everybody_off = (0..count).fold(0, |mask, cpu| mask | 1 << cpu);
        self.reset_cpus(everybody_off, &vec![(false, false); board.clusters.len()]);
        self.start(BOOT, everybody_off & !1, ChoiceSource::Schedule(&[]));
        let ran = self.go();
        if ran.failure.is_some() {
            return Err(ran);
        }
        Ok(Snapshot {
            memory: board.memory().clone(),
            ledger: board.ledger.borrow().clone(),
            clusters: board
                .clusters
                .iter()
                .map(|cluster| (cluster.power.get(), cluster.port.get()))
                .collect(),
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
        self.reset_cpus(snapshot.off, &snapshot.clusters);
    }

    fn reset_cpus(&self, off: u64, clusters: &[(bool, bool)]) {
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
            cpu.hook.set(None);
            cpu.marks.set(0);
        }
        for (cluster, &(power, port)) in self.board.clusters.iter().zip(clusters) {
            cluster.power.set(power);
            cluster.port.set(port);
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
            let cluster = &board.clusters[board.state().cluster];
            cluster.port.set(true);
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
        let asked = if resumes {
            vec![cpu.resumes_at.get().to_string()]
        } else {
            cpu.turn_ons
                .borrow()
                .iter()
                .filter(|turn_on| !turn_on.entered)
                .map(|turn_on| turn_on.entry.to_string())
                .collect()
        };
        let asked = if asked.is_empty() {
            "nowhere".to_owned()
        } else {
            asked.join(" or ")
        };
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

/// Draws the platform's answers to a call: the refusals that are due, and whether the entry point
/// is a wrong address. They are drawn before the platform is asked, so that a library that does not
/// ask is held to them as well.
fn draw_answers(board: &Board, ask: Ask, asks: Request) -> (u64, bool) {
    let loses = match asks {
        Request::Suspend { states, .. } | Request::DefaultSuspend(states) => states[0] == 2,
        Request::Off | Request::SystemSuspend(_) => true,
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
        Other(0x8000_0000..) => (passed::ANSWERS, false),
        _ => (1, false),
    };
    let answered = board.answer(Kind::Answered, answers);
    board.state().answered.set(answered);
    match (ask, answered) {
        (DefaultSuspend | SystemSuspend, 2) => (NOT_OFFERED, false),
        (Other(_), _) | (_, 0) => (due, false),
        _ => (due | if enters { WRONG_ENTRY } else { 0 }, true),
    }
}

/// A call of a scenario. Returns X0 if it returned, and whether it ended before it had begun.
fn call(board: &Board, library: &Library<'_>, number: usize, ask: Ask) -> (Option<u64>, bool) {
    board.start_action(number);
    let process = board.process();
    let (pc, context_id) = layout::entry_of(process, number);
    let asks = match ask {
        Off => Request::Off,
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
        match ask {
            On(target) => Some(self.turn_on(target)),
            Off => self.turn_off(),
            Suspend { states, last } => {
                let raw = u64::from(layout::power_state(states, last));
                Some(self.suspend(CPU_SUSPEND, [raw, pc, context_id]))
            }
            DefaultSuspend => Some(self.suspend(CPU_DEFAULT_SUSPEND, [pc, context_id, 0])),
            SystemSuspend => Some(self.suspend_the_system()),
            Affinity(target) => Some(self.ask_affinity(target, false)),
            ClusterAffinity(target) => Some(self.ask_affinity(target, true)),
            Other(function) => Some(self.ask_the_platform(function)),
            Mode(mode) => Some(self.set_mode(mode)),
            Count { of, states } => Some(self.ask_statistics(of, states, true)),
            Residency { of, states } => Some(self.ask_statistics(of, states, false)),
        }
    }

    /// Makes a call that must return; returns X0. Of short arguments the upper halves have no
    /// meaning.
    fn ask(&self, function: u32, arguments: [u64; 3]) -> u64 {
        let upper = u64::from(function & SMC64 == 0) * (0xdead << 32);
        let arguments = arguments.map(|argument| argument | upper);
        returned(self.board, library::ask(self.library, function, arguments))
    }

    fn others(&self) -> impl Iterator<Item = usize> {
        (0..self.board.cpus().len()).filter(|&other| other != self.process)
    }

    /// True if the CPU has been on since before the call.
    fn was_on(&self, other: usize) -> bool {
        (1..=self.called).contains(&self.board.states[other].on_since.get())
    }

    /// True if the CPU has been off since before the call.
    fn was_off(&self, other: usize) -> bool {
        (1..=self.called).contains(&self.board.states[other].off_since.get())
    }

    /// CPU_SUSPEND, or another call that resumes at the entry point.
    fn suspend(&self, function: u32, arguments: [u64; 3]) -> u64 {
        self.board.states[self.process].resumes_at.set(self.entry);
        self.ask(function | SMC64, arguments)
    }

    /// CPU_ON of a CPU.
    fn turn_on(&self, target: u8) -> u64 {
        let Self {
            board,
            process,
            entry,
            ..
        } = *self;
        let target_index = usize::from(target);
        let other = &board.states[target_index];
        let (on, off) = (other.on_since.get(), other.off_since.replace(0));
        let place = other.turn_ons.borrow().len();
        let undecided = other.turn_ons.borrow().iter().any(TurnOn::is_open);
        other.turn_ons.borrow_mut().push(TurnOn {
            entry,
            result: None,
            entered: false,
        });
        let x0 = self.ask(
            CPU_ON | SMC64,
            [board.shape.mpidr(target_index), entry.pc, entry.context_id],
        );
        other.turn_ons.borrow_mut()[place].result = Some(x0);
        board.keep_books(|books| books.turned_on(process, x0));
        let entered = other.turn_ons.borrow()[place].entered;
        if x0 != SUCCESS && entered {
            board.fail(OneCpuOnWins, format!("CPU_ON of CPU {target} returned {} to CPU {process}, and CPU {target} entered where that call said", x0 as i64));
        }
        if x0 == SUCCESS && on != 0 && other.on_since.get() == on && target_index != process {
            board.fail(
                Invariant::Affinity,
                format!(
                    "CPU_ON of CPU {target} returned SUCCESS to CPU {process}, and CPU {target} was on all the time"
                ),
            );
        }
        let alone = other.turn_ons.borrow().len() == place + 1;
        if matches!(x0, ALREADY_ON | ON_PENDING) && off != 0 && !undecided && alone {
            board.fail(
                Invariant::Affinity,
                format!(
                    "CPU_ON of CPU {target} returned {} to CPU {process}, and CPU {target} was off all the time",
                    x0 as i64
                ),
            );
        }
        if x0 != SUCCESS && off != 0 && !undecided && alone && other.power.get() == Power::Off {
            other.off_since.set(board.step_count());
        }
        x0
    }

    /// CPU_OFF; X0 if it returned.
    fn turn_off(&self) -> Option<u64> {
        let Self {
            board,
            library,
            process,
            ..
        } = *self;
        let cpu = &board.states[process];
        cpu.on_since.set(0);
        match library::ask(library, CPU_OFF, [0; 3]) {
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
        if refused && self.others().all(|other| self.was_off(other)) {
            board.fail(
                Answer,
                format!("SYSTEM_SUSPEND returned DENIED to CPU {process}, and all other CPUs were off all the time"),
            );
        }
        x0
    }

    /// AFFINITY_INFO of a CPU, or of its cluster.
    fn ask_affinity(&self, target: u8, cluster: bool) -> u64 {
        let Self { board, process, .. } = *self;
        let target_index = usize::from(target);
        let before: Vec<_> = board
            .states
            .iter()
            .enumerate()
            .filter(|(index, state)| {
                if cluster {
                    state.cluster == board.states[target_index].cluster
                } else {
                    *index == target_index
                }
            })
            .map(|(_, other)| (other, other.on_since.get(), other.off_since.get()))
            .collect();
        let arguments = [board.shape.mpidr(target_index), u64::from(cluster), 0];
        let x0 = self.ask(AFFINITY_INFO | SMC64, arguments);
        let still_on = before
            .iter()
            .any(|(other, on, _)| *on != 0 && other.on_since.get() == *on);
        let still_off = before
            .iter()
            .all(|(other, _, off)| *off != 0 && other.off_since.get() == *off);
        if still_on && x0 != 0 || still_off && x0 != 1 {
            let was = if still_on { "on" } else { "off" };
            let of = if cluster { "the cluster of " } else { "" };
            board.fail(
                Invariant::Affinity,
                format!("AFFINITY_INFO told CPU {process} {x0} of {of}CPU {target}, which was {was} all the time"),
            );
        }
        x0
    }

    /// A call that passes the platform's answer on.
    fn ask_the_platform(&self, call: u32) -> u64 {
        let Self { board, process, .. } = *self;
        let home = board.resident.get().map(usize::from);
        let answered = board.state().answered.get() as usize;
        let (function, first, second, right) = passed::passes(call, process, home, board, answered);
        board.state().asks_about.set(Some([first, second]));
        let x0 = self.ask(function, [first, second, 0]);
        let right = board.state().passed.take().unwrap_or(right);
        if x0 != right {
            let (name, x0, right) = (passed::name(call), x0 as i64, right as i64);
            board.fail(
                Answer,
                format!("{name} of {first:#x} and {second:#x} returned {x0} to CPU {process}, and the platform's answer makes {right}"),
            );
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
        let before = board.ledger.borrow().mode_before();
        let ledger = board.ledger.borrow();
        let (mut must, mut must_not) = (before == Some(mode), false);
        if before.is_some_and(|before| before != mode) {
            match mode {
                0 => {
                    must = self.others().all(|other| self.was_off(other));
                    must_not = self.others().any(|other| self.was_on(other));
                }
                _ => {
                    let (had, may_have) = if board.options.lse {
                        ledger.suspended_before(called)
                    } else {
                        (false, false)
                    };
                    must =
                        !may_have && self.others().all(|other| ledger.awake_since(other, called));
                    must_not = had || self.others().any(|other| ledger.slept_since(other, called));
                }
            }
        }
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
        let last = highest(&states);
        let level = usize::from(last);
        let target = usize::from(of);
        let [counts, _, least, _] = board.ledger.borrow().counts(target, level, states[level]);
        let raw = u64::from(layout::power_state(states, last));
        let function = if is_count {
            PSCI_STAT_COUNT
        } else {
            PSCI_STAT_RESIDENCY
        };
        let x0 = self.ask(function | SMC64, [board.shape.argument(target), raw, 0]);
        let [_, began, _, most] = board.ledger.borrow().counts(target, level, states[level]);
        if is_count && !(counts..=began).contains(&x0) {
            board.fail(
                Statistics,
                format!("PSCI_STAT_COUNT returned {x0} to CPU {process}, and there were {counts} to {began} stays"),
            );
        }
        let microseconds = |ticks: u64| ticks.saturating_mul(1_000_000) / FREQUENCY;
        let (least, most) = (microseconds(least), microseconds(most));
        if !is_count && !(least..=most).contains(&x0) {
            board.fail(Statistics, format!(
                "PSCI_STAT_RESIDENCY returned {x0} to CPU {process}, after stays of {least} to {most} us"
            ));
        }
        x0
    }
}

/// X0 of a call that must return.
fn returned(board: &Board, outcome: Outcome) -> u64 {
    board.check_holder("returns to the normal world");
    match outcome {
        Outcome::Return([x0, ..]) => {
            board.does(&RETURNED, x0);
            x0
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
