//! Tests on a board: what each CPU does, and what must hold at the end.

use explore::{Board, Config, Failure, Invariant, MachineOptions, Tally};
use interleavings::subject::{
    Bodies, ChoiceSource, Machine, Main, Names, OnMachine, RunResult, Runs, made_by, search,
};
use std::cell::RefCell;
use std::rc::Rc;

type Body = Box<dyn Fn(&Board)>;
type AtTheEnd = (Box<dyn Fn(&Board) -> bool>, &'static str);

#[derive(Default)]
pub struct Model {
    bodies: Vec<Body>,
    at_the_end: Vec<AtTheEnd>,
}

impl Model {
    /// Adds a CPU that does this.
    pub fn cpu(&mut self, body: impl Fn(&Board) + 'static) {
        self.bodies.push(Box::new(body));
    }

    /// What must hold once all CPUs are done; `what` says what is wrong if it does not.
    pub fn at_the_end(&mut self, holds: impl Fn(&Board) -> bool + 'static, what: &'static str) {
        self.at_the_end.push((Box::new(holds), what));
    }
}

fn build(set_up: &dyn Fn(&mut Model)) -> (Rc<Model>, Vec<u64>) {
    made_by(|| {
        let mut model = Model::default();
        set_up(&mut model);
        Rc::new(model)
    })
}

struct Session<'s> {
    board: &'s Board,
    model: &'s RefCell<Rc<Model>>,
    runner: engine::Runner<'s, Main<'s>>,
    set_up: &'s dyn Fn(&mut Model),
    coherent: bool,
}

impl Runs<Bodies> for Session<'_> {
    fn run_once(&mut self, script: &Bodies, by: ChoiceSource<'_>) -> RunResult {
        let cpus = script.0;
        (0..cpus).for_each(|cpu| self.runner.stop(cpu));
        let (model, values) = build(self.set_up);
        self.model.replace(model);
        let machine: &Machine = self.board.machine();
        machine.begin_bodies(by, &values, cpus);
        if !self.coherent {
            machine.memory_mut().begin(&values);
        }
        (0..cpus).for_each(|cpu| self.runner.start(cpu, 0));
        machine.run(|| self.runner.run());
        let at_the_end = || {
            let model = self.model.borrow().clone();
            let broken = model
                .at_the_end
                .iter()
                .find(|(holds, _)| !holds(self.board));
            broken.map(|(_, what)| Failure::new(Invariant::Own, (*what).to_owned()))
        };
        machine.result(|| {
            let waits = machine.failure_of_waits();
            waits.or_else(|| (!machine.is_pruned()).then(at_the_end).flatten())
        })
    }

    fn script(&self) -> Bodies {
        Bodies(self.board.cpus().len())
    }

    fn machine(&self) -> &Machine {
        self.board.machine()
    }
}

/// Explores a test on a board, in coherency from the start or with the caches of all CPUs off.
pub fn check(config: &Config, coherent: bool, set_up: impl Fn(&mut Model)) -> Tally<(), Bodies> {
    let (model, values) = build(&set_up);
    let options = MachineOptions::default();
    let board = &Board::new(model.bodies.len(), &values, options, None);
    let machine = board.machine();
    machine.settings().set_names(Names::numbers());
    machine.settings().limits.set(config.limits);
    machine.settings().length.set(100);
    let model = RefCell::new(model);
    let main: Main<'_> = &|cpu, _| {
        // A frame that is thrown away keeps its model: that is memory which a failed run costs.
        let model = model.borrow().clone();
        (model.bodies[cpu])(board);
        drop(model);
        machine.settle();
        machine.drain();
        machine.leave();
    };
    let runner = engine::Runner::with_chooser(machine.scheduler(), &main, || machine.take_next());
    let mut session = Session {
        board,
        model: &model,
        runner,
        set_up: &set_up,
        coherent,
    };
    let name = std::thread::current().name().unwrap_or("test").to_owned();
    search(config, &name, &mut session)
}
