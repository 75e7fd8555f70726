//! Runs: a scenario under a chooser, from a machine in which some CPUs run.

use super::acts::{ENTERED, RETURNED};
use super::board::{Board, Entered, Power, TurnOn};
use super::frame::{BOOT, DOWN, SCRIPT};
use super::layout;
use super::library::{Answer, Landing, Library};
use super::names::{counts_of_domain, domain};
use super::scenario::{Ask, Scenario};
use engine::Runner;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use stopwatt_explore::subject::{
    By, Did, Failure, Invariant, Limits, Machine, MachineChoice, Memory, RunResult, Runs, Waits,
};

/// The machine after its boot, with some CPUs running.
struct Snapshot {
    memory: Memory,
    /// Stays of each domain that have begun.
    stays: Vec<u64>,
    clusters: Vec<(bool, bool)>,
}

/// A board with the library, ready for one run after the other.
pub(crate) struct Session<'s, M: Fn(usize, u32)> {
    board: &'s Board,
    scenario: &'s RefCell<Scenario>,
    runner: Runner<'s, M>,
    snapshots: HashMap<(u64, bool), Snapshot>,
    limits: Limits,
    /// About how many operations a run has, for strategies that spread over them.
    length: u64,
}

/// Opens a session on a board with the library and hands it to `use_it`.
pub(crate) fn with_session<R>(
    board: &Board,
    library: &dyn Library,
    limits: Limits,
    use_it: impl FnOnce(&mut dyn Runs<Scenario>) -> R,
) -> R {
    let scenario = RefCell::new(Scenario::default());
    let main = |process: usize, entry: u32| frame(board, library, &scenario, process, entry);
    let runner = Runner::with_chooser(&board.scheduler, &main, MachineChoice(board));
    let mut session = Session { board, scenario: &scenario, runner, snapshots: HashMap::new(), limits, length: 500 };
    use_it(&mut session)
}

impl<M: Fn(usize, u32)> Runs<Scenario> for Session<'_, M> {
    fn run(&mut self, scenario: &Scenario, by: By<'_>) -> RunResult {
        let mask = scenario.off.iter().fold(0u64, |mask, &cpu| mask | 1 << cpu);
        let key = (mask, scenario.os_initiated);
        if !self.snapshots.contains_key(&key) {
            match self.set_up(scenario) {
                Ok(snapshot) => self.snapshots.insert(key, snapshot),
                // It does not even boot.
                Err(ran) => return ran,
            };
        }
        self.board.choose_by(by, self.length);
        self.scenario.borrow_mut().clone_from(scenario);
        self.restore(key);
        self.start(SCRIPT, mask);
        for (stays, &before) in self.board.stays.iter().zip(&self.snapshots[&key].stays) {
            stays.set(before);
        }
        self.go()
    }

    fn script(&self) -> Scenario {
        self.scenario.borrow().clone()
    }

    fn machine(&self) -> &Machine {
        self.board
    }
}

impl<M: Fn(usize, u32)> Session<'_, M> {
    /// Boots the machine as a careful operating system does: one CPU after the other, nobody
    /// interrupted.
    fn set_up(&mut self, scenario: &Scenario) -> Result<Snapshot, RunResult> {
        let board = self.board;
        let count = board.cpus.len();
        // CPU 0 boots; if it is to be off, it goes off last, once another one runs.
        let mut boot = Scenario { cpus: vec![Vec::new(); count], ..scenario.clone() };
        let stays_off = |cpu: usize| scenario.off.contains(&(cpu as u8));
        boot.cpus[0].extend((1..count).filter(|&cpu| !stays_off(cpu)).map(|cpu| Ask::On(cpu as u8)));
        if scenario.os_initiated {
            boot.cpus[0].push(Ask::Mode(1));
        }
        if stays_off(0) {
            boot.cpus[0].push(Ask::Off);
        }
        board.choose_by(By::Schedule(&[]), self.length);
        self.scenario.borrow_mut().clone_from(&boot);
        let blank = Memory::blank_of(&board.memory.borrow());
        board.memory.borrow_mut().restore(&blank);
        let everybody_off = (0..count).fold(0, |mask, cpu| mask | 1 << cpu);
        self.reset_cpus(everybody_off, &vec![(false, false); board.clusters.len()]);
        self.start(BOOT, everybody_off & !1);
        let ran = self.go();
        if ran.failure.is_some() {
            return Err(ran);
        }
        Ok(Snapshot {
            memory: board.memory.borrow().clone(),
            stays: board.stays.iter().map(Cell::get).collect(),
            clusters: board.clusters.iter().map(|cluster| (cluster.power.get(), cluster.port.get())).collect(),
        })
    }

    fn restore(&mut self, key: (u64, bool)) {
        let snapshot = &self.snapshots[&key];
        self.board.memory.borrow_mut().restore(&snapshot.memory);
        self.reset_cpus(key.0, &snapshot.clusters);
    }

    fn reset_cpus(&self, off: u64, clusters: &[(bool, bool)]) {
        for (index, cpu) in self.board.states.iter().enumerate() {
            let is_off = off >> index & 1 != 0;
            self.board.cpus[index].begin(if is_off { Waits::Absent } else { Waits::Nothing });
            cpu.power.set(if is_off { Power::Off } else { Power::On });
            cpu.position.set(0);
            cpu.turn_ons.borrow_mut().clear();
            cpu.on_since.set(u32::from(!is_off));
            cpu.off_since.set(u32::from(is_off));
            cpu.saved.set(false);
        }
        for (cluster, &(power, port)) in self.board.clusters.iter().zip(clusters) {
            cluster.power.set(power);
            cluster.port.set(port);
        }
    }

    /// Starts all processes; CPUs that are `off` wait for their power.
    fn start(&mut self, entry: u32, off: u64) {
        self.board.forget();
        self.board.limits.set(self.limits);
        for cpu in 0..self.board.cpus.len() {
            let is_off = off >> cpu & 1 != 0;
            self.runner.start(cpu, if is_off { DOWN } else { entry });
            if !is_off {
                self.board.can_go(cpu);
            }
        }
        let controller = self.board.last_process();
        self.runner.start(controller, SCRIPT);
        self.board.can_go(controller);
        self.board.begin();
    }

    fn go(&mut self) -> RunResult {
        let board = self.board;
        let result = catch_unwind(AssertUnwindSafe(|| self.runner.run()));
        if let Err(payload) = result {
            *board.failure.borrow_mut() = Some(Failure::of_panic(&*payload));
        }
        let failure = board.failure.take().or_else(|| at_the_end(board));
        let steps = board.steps.get();
        self.length = (self.length * 7 + u64::from(steps)) / 8;
        RunResult { failure, steps, hash: board.hash() }
    }
}

/// The property that must hold once nobody does anything more.
fn at_the_end(board: &Board) -> Option<Failure> {
    let fails = |invariant, what, cpu: usize| {
        Some(Failure { invariant, what, process: cpu as u8, operation: board.operation_of(cpu) })
    };
    for (index, cpu) in board.states.iter().enumerate() {
        for turn_on in cpu.turn_ons.borrow().iter() {
            if turn_on.result == Some(0) && !turn_on.entered {
                let what =
                    format!("a CPU_ON of CPU {index} returned SUCCESS, and it never entered the normal world for it");
                return fails(Invariant::OneCpuOnWins, what, index);
            }
        }
    }
    let stuck =
        |index: usize| board.states[index].power.get() == Power::On && board.cpus[index].waits.get() != Waits::Done;
    if let Some(index) = (0..board.cpus.len()).find(|&index| stuck(index)) {
        return fails(Invariant::EverybodyWakes, format!("nobody is left to go on: {}", board.describe_waits()), index);
    }
    let cpus = board.cpus.len();
    for (number, stays) in board.stays.iter().enumerate() {
        let counted: u64 = counts_of_domain(cpus, number).map(|cell| board.memory.borrow().newest(cell)).sum();
        if counted > stays.get() {
            let what = format!(
                "{} was counted {counted} times out of its low-power states and had gone into them {} times",
                domain(number),
                stays.get()
            );
            return fails(Invariant::Statistics, what, 0);
        }
    }
    None
}

/// The frame of a process.
fn frame(board: &Board, library: &dyn Library, scenario: &RefCell<Scenario>, process: usize, entry: u32) {
    if board.over.get() {
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
            board.memory.borrow_mut().join(process);
            library.boot();
            board.state().on_since.set(1);
            board.state().off_since.set(0);
        }
        DOWN => {
            board.comes_up();
            let landing = library.warm_boot();
            enter(board, landing);
        }
        _ => {}
    }
    loop {
        let number = board.state().position.get();
        let ask = scenario.borrow().cpus.get(process).and_then(|asks| asks.get(number).copied());
        let Some(ask) = ask else { break };
        board.state().position.set(number + 1);
        call(board, library, number, ask);
    }
    board.leave();
}

/// The CPU enters the normal world.
fn enter(board: &Board, landing: Landing) {
    board.act(Did::Act { act: &ENTERED, with: landing.entry.pc });
    let process = board.process();
    let cpu = &board.states[process];
    if !board.memory.borrow().is_coherent(process) {
        board.fail(Invariant::EntryPoint, format!("CPU {process} enters the normal world with its caches off"));
    }
    board.check_holder("enters the normal world");
    let right = if landing.resumes {
        landing.entry == cpu.resumes_at.get() && cpu.on_since.get() != 0
    } else {
        let mut turn_ons = cpu.turn_ons.borrow_mut();
        let asked = turn_ons.iter_mut().find(|turn_on| {
            turn_on.entry == landing.entry && !turn_on.entered && turn_on.result.is_none_or(|x0| x0 == 0)
        });
        asked.map(|turn_on| turn_on.entered = true).is_some()
    };
    if !right {
        let asked: Vec<String> = match landing.resumes {
            true => vec![format!("{:#x} with {:#x}", cpu.resumes_at.get().pc, cpu.resumes_at.get().context_id)],
            false => cpu
                .turn_ons
                .borrow()
                .iter()
                .filter(|turn_on| !turn_on.entered)
                .map(|turn_on| format!("{:#x} with {:#x}", turn_on.entry.pc, turn_on.entry.context_id))
                .collect(),
        };
        let asked = if asked.is_empty() { "nowhere".to_owned() } else { asked.join(" or ") };
        let Entered { pc, context_id } = landing.entry;
        let after = if landing.resumes { "a suspend" } else { "a CPU_ON" };
        board.fail(
            Invariant::EntryPoint,
            format!("CPU {process} comes from {after} to {pc:#x} with {context_id:#x}, and was asked to go to {asked}"),
        );
    }
    cpu.on_since.set(board.steps.get());
    cpu.off_since.set(0);
}

const SUCCESS: u64 = 0;
const ALREADY_ON: u64 = -4i64 as u64;
const ON_PENDING: u64 = -5i64 as u64;

/// A call of a scenario.
fn call(board: &Board, library: &dyn Library, number: usize, ask: Ask) {
    board.start_action(number);
    let process = board.process();
    let (pc, context_id) = layout::entry_of(process, number);
    let entry = Entered { pc, context_id };
    let wide = |function: u32| function | smc::SMC64;
    if matches!(ask, Ask::On(_) | Ask::Affinity(_)) {
        // What these calls are held to is what was plain when they were made: the caller has heard
        // of it.
        board.memory.borrow_mut().learn(process);
    }
    match ask {
        Ask::On(target) => {
            let target_index = usize::from(target);
            let other = &board.states[target_index];
            let (on, off) = (other.on_since.get(), other.off_since.replace(0));
            let place = other.turn_ons.borrow().len();
            let undecided = other
                .turn_ons
                .borrow()
                .iter()
                .any(|turn_on| !turn_on.entered && turn_on.result.is_none_or(|x0| x0 == SUCCESS));
            other.turn_ons.borrow_mut().push(TurnOn { entry, result: None, entered: false });
            let x0 = returned(board, library.call(wide(smc::CPU_ON), [layout::mpidr(target_index), pc, context_id]));
            other.turn_ons.borrow_mut()[place].result = Some(x0);
            let entered = other.turn_ons.borrow()[place].entered;
            if x0 != SUCCESS && entered {
                board.fail(Invariant::OneCpuOnWins, format!("CPU_ON of CPU {target} returned {} to CPU {process}, and CPU {target} entered where that call said", x0 as i64));
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
                other.off_since.set(board.steps.get());
            }
        }
        Ask::Off => {
            let cpu = &board.states[process];
            cpu.on_since.set(0);
            match library.call(smc::CPU_OFF, [0; 3]) {
                Answer::Return(_) => cpu.on_since.set(board.steps.get()),
                Answer::Enter(landing) => enter(board, landing),
            }
        }
        Ask::Suspend { states, last } => {
            board.states[process].resumes_at.set(entry);
            let raw = layout::power_state(states, last);
            returned(board, library.call(wide(smc::CPU_SUSPEND), [u64::from(raw), pc, context_id]));
        }
        Ask::Affinity(target) => {
            let target_index = usize::from(target);
            let other = &board.states[target_index];
            let (on, off) = (other.on_since.get(), other.off_since.get());
            let x0 = returned(board, library.call(wide(smc::AFFINITY_INFO), [layout::mpidr(target_index), 0, 0]));
            let (still_on, still_off) =
                (on != 0 && other.on_since.get() == on, off != 0 && other.off_since.get() == off);
            if still_on && x0 != 0 || still_off && x0 != 1 {
                let was = if still_on { "on" } else { "off" };
                board.fail(
                    Invariant::Affinity,
                    format!("AFFINITY_INFO told CPU {process} {x0} of CPU {target}, which was {was} all the time"),
                );
            }
        }
        Ask::Mode(mode) => {
            returned(board, library.call(smc::PSCI_SET_SUSPEND_MODE, [u64::from(mode), 0, 0]));
        }
    }
}

/// X0 of a call that must return.
fn returned(board: &Board, answer: Answer) -> u64 {
    board.check_holder("returns to the normal world");
    match answer {
        Answer::Return(x0) => {
            board.act(Did::Act { act: &RETURNED, with: x0 });
            x0
        }
        Answer::Enter(landing) => board.fail(
            Invariant::EntryPoint,
            format!("a call that only returns enters the normal world at {:#x}", landing.entry.pc),
        ),
    }
}
