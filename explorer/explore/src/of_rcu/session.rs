//! Runs of a kernel with RCU, one after the other.

use super::kernel::{Kernel, RunningCpu};
use super::library::{Counts, Library};
use super::names::{self, CLOCK};
use super::scenario::{Action, KernelScenario, Mode, POINTERS};
use crate::Word;
use engine::Runner;
use interleavings::Core;
use interleavings::subject::{
    Cause, ChoiceSource, Failure, Invariant, Limits, Machine, Main, Names, Narrator, Operation,
    RunResult, Runs, Step, Wait, broken_lock, made_by, marks_made,
};
use rcu_faults::Thread;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The last actor: a CPU whose actions are done, or have not begun.
const LAST: u16 = Action::KINDS - 1;

struct Session<'s> {
    kernel: &'s Kernel,
    library: Rc<RefCell<Option<Rc<Library<Kernel>>>>>,
    runner: Runner<'s, Main<'s>>,
    counts: Counts,
}

/// Opens a session on a kernel with RCU and hands it to `use_it`.
pub fn with_session<R>(
    cpus: usize,
    mode: Mode,
    limits: Limits,
    use_it: impl FnOnce(&mut dyn Runs<KernelScenario>) -> R,
) -> R {
    let kernel = Kernel::new(Machine::new(cpus, &[], 1), mode);
    kernel.settings().limits.set(limits);
    kernel.settings().length.set(4_000);
    let library = Rc::new(RefCell::new(None));
    let main: Main<'_> = &|process, _| frame(&kernel, &library, process);
    let runner = Runner::with_chooser(kernel.scheduler(), &main, || kernel.take_next());
    let mut session = Session {
        kernel: &kernel,
        library: Rc::clone(&library),
        runner,
        counts: Counts::default(),
    };
    use_it(&mut session)
}

/// A library with the words that it is made of.
struct BuiltLibrary {
    library: Rc<Library<Kernel>>,
    /// The first pointer to an object.
    pointers: u16,
    /// The values that the words hold first.
    values: Vec<u64>,
    /// Pieces of plain data.
    marks: u32,
    names: Names,
}

fn make(mode: Mode, scenario: &KernelScenario, readers: usize) -> BuiltLibrary {
    let ((library, pointers), values) = made_by(|| -> (Rc<Library<Kernel>>, u16) {
        let library = Rc::new(Library::new(mode, scenario, readers));
        let pointers: Vec<Word<u64>> = (0..POINTERS as u64).map(Word::holding).collect();
        (library, pointers[0].number())
    });
    let threads = library.rcu.threads();
    let of_groups = threads
        .iter()
        .filter(|thread| matches!(thread, Thread::OffloadGp(_)));
    let marks = marks_made();
    let (cpus, words) = (scenario.cpus.len() as u16, values.len() as u16);
    let names = names::names(cpus, of_groups.count() as u16, words);
    BuiltLibrary {
        library,
        pointers,
        values,
        marks,
        names,
    }
}

/// The names of the words of a run.
pub fn names(mode: Mode, scenario: &KernelScenario) -> Names {
    make(mode, scenario, 0).names
}

fn frame(kernel: &Kernel, library: &RefCell<Option<Rc<Library<Kernel>>>>, process: usize) {
    if kernel.is_over() {
        kernel.stay();
    }
    if process == kernel.last_process() {
        kernel.clock();
    } else {
        // A frame that is thrown away keeps its library: that is memory which a failed run costs.
        let library = library.borrow().clone();
        if let Some(library) = &library {
            RunningCpu::new(kernel, library, process).runs();
        }
    }
    kernel.leave();
}

impl Session<'_> {
    /// The list that holds a callback, or the last one that did, and the operation after which that
    /// is so: the last run is made once more, and looked at before each of its operations.
    fn last_list(&mut self, number: usize) -> Option<Cause> {
        let machine = &self.kernel.machine;
        let seen = Rc::new(Cell::new(None));
        let (library, to) = (Rc::clone(&self.library), Rc::clone(&seen));
        machine.observe(Some(Box::new(move |step| {
            let held = library
                .borrow()
                .as_ref()
                .and_then(|library| library.rcu.list_of(number as u64));
            to.set(match (to.get(), held) {
                (Some((from, _, before)), Some(list)) if before == list => Some((from, step, list)),
                (_, Some(list)) => Some((step, step, list)),
                (before, None) => before,
            });
        })));
        let (scenario, schedule) = (self.script(), self.schedule());
        self.run_once(&scenario, ChoiceSource::Schedule(&schedule));
        machine.observe(None);
        let (from, until, (cpu, list)) = seen.get()?;
        let steps = machine.steps_of_run();
        let narrator = Narrator::new(&scenario, machine.names(), 1, CLOCK);
        let after = |step: usize| {
            let step = steps.get(step)?;
            let who = narrator.process(step.process);
            Some(format!(
                "{who}'s operation {}, which {}",
                step.operation,
                narrator.step(step)
            ))
        };
        let (step, what) = if until + 1 < steps.len() {
            (
                until,
                format!(
                    "was in CPU {cpu}'s {list}; no list has it after {}",
                    after(until)?
                ),
            )
        } else {
            let step = from.checked_sub(1)?;
            (
                step,
                format!("stays in CPU {cpu}'s {list} since {}", after(step)?),
            )
        };
        Some(Cause {
            what: format!("callback {number} {what}"),
            step,
        })
    }

    /// The failure of a run in which nothing failed before its end: a CPU that still waits, or
    /// counts of the library, which are kept, that are not those that are known from outside.
    fn failure_at_the_end(&mut self) -> Option<Failure> {
        let machine = &self.kernel.machine;
        if machine.cpus().iter().any(|cpu| cpu.waits() != Wait::Done) {
            let what = format!("nobody is left to go on: {}", machine.describe_waits());
            return Some(Failure::new(Invariant::EverybodyWakes, what));
        }
        let library = self.library.borrow().clone()?;
        let counts = library.counts();
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum += count;
        }
        let (invariant, what) = self.kernel.oracle().compare(&counts).err()?;
        Some(Failure::new(invariant, what))
    }
}

impl Runs<KernelScenario> for Session<'_> {
    fn run_once(&mut self, scenario: &KernelScenario, by: ChoiceSource<'_>) -> RunResult {
        let kernel = self.kernel;
        let machine = &kernel.machine;
        let cpus = machine.cpus().len();
        // What an earlier run has left of its frames goes before its words do.
        (0..=cpus).for_each(|process| self.runner.start(process, 0));
        kernel.scenario.borrow_mut().clone_from(scenario);
        let BuiltLibrary {
            library,
            pointers,
            values,
            marks,
            names,
        } = make(kernel.mode, scenario, kernel.readers());
        machine.settings().set_names(names);
        kernel.pointers.set(pointers);
        kernel.begin(&library.rcu.threads(), POINTERS);
        self.library.replace(Some(library));
        machine.memory_mut().begin(&values);
        machine.memory_mut().watch_plain(marks + POINTERS as u32);
        kernel.objects.set(marks);
        machine.settings().core.set(Core {
            lse: !scenario.exclusives,
            rcpc: false,
        });
        (0..cpus).for_each(|cpu| machine.memory_mut().join(cpu));
        machine.forget_run(by);
        for cpu in machine.cpus() {
            cpu.begin(Wait::Nothing);
        }
        (0..=cpus).for_each(|process| machine.can_go(process));
        machine.run(|| self.runner.run());
        machine.result(|| self.failure_at_the_end())
    }

    fn script(&self) -> KernelScenario {
        self.kernel.scenario.borrow().clone()
    }

    fn machine(&self) -> &Machine {
        &self.kernel.machine
    }

    fn cause(&mut self, failure: &Failure) -> Option<Cause> {
        let names = self.kernel.machine.names();
        // The failure names the callback that is lost; another one may be left as well.
        let is_lost = failure.invariant == Invariant::NoCallbackLost;
        let lost = failure.what.split(' ').nth(1).filter(|_| is_lost);
        broken_lock(&self.kernel.machine, |cell| {
            Some(names.cell(cell as u16)).filter(|name| name.ends_with("lock"))
        })
        .or_else(|| self.last_list(lost?.parse().ok()?))
    }

    fn take_counts(&mut self, counts: &mut [u64]) {
        for (count, own) in counts.iter_mut().zip(&mut self.counts) {
            *count += std::mem::take(own);
        }
    }

    fn actor(&self, step: &Step) -> Option<u16> {
        let Operation::Action { number } = step.did else {
            return None;
        };
        let scenario = self.kernel.scenario.borrow();
        let action = scenario.action_of(step.process.into(), number.into());
        Some(action.map_or(LAST, |action| action.kind()))
    }

    fn first_actor(&self) -> u16 {
        LAST
    }

    fn word(&self, cell: u16) -> u16 {
        names::kind_of(self.kernel.machine.names().counts, cell)
    }

    fn take_reached(&mut self, each: &mut dyn FnMut(usize)) {
        seeded::take_reached(rcu_faults::PLACES.len(), each);
    }
}
