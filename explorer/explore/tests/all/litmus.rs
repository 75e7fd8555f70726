//! Litmus tests on the machine's memory: what it shows, beside what the architecture says.
//!
//! A thread issues its instructions in order; a load whose value nothing needs yet may be put off,
//! and what a store or a barrier leaves in the buffer leaves it whenever it is chosen. So all that
//! a run does is choices, which are drawn or enumerated.

use crate::program::{Operation, Order as Ordering, Program, Value};
use ::litmus::{Error, Quantifier, parse};
use engine::SplitMix64;
use interleavings::subject::{Answers, Delay, Memory, Moment, Newest, Order};
use std::collections::HashSet;

/// The answer of the architecture to whether an outcome may be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may be seen.
    Allowed,
    /// It may not.
    Forbidden,
}

/// A litmus test for the machine's memory.
#[derive(Clone, Debug)]
pub struct Litmus {
    /// The name, as the literature has it.
    pub name: String,
    /// The verdict of the architecture.
    pub verdict: Verdict,
    program: Program,
}

impl Litmus {
    /// The test of a text as the memory runs it. The outcome of `~exists` is forbidden, any other is allowed.
    ///
    /// # Errors
    /// The test has more than plain accesses, barriers and dependencies.
    pub fn of(text: &str) -> Result<Self, Error> {
        let test = parse(text)?;
        let verdict = match test.quantifier {
            Quantifier::NotExists => Verdict::Forbidden,
            Quantifier::Exists | Quantifier::Forall => Verdict::Allowed,
        };
        Ok(Self {
            name: test.name.clone(),
            verdict,
            program: Program::of(&test, text)?,
        })
    }
}

/// The tests of the order of accesses that the program ships.
///
/// # Panics
/// Never: a test reads them all.
pub fn shipped() -> Vec<Litmus> {
    read(include_str!("../../litmus/aarch64.txt"))
}

/// The tests of cache maintenance, between CPUs whose caches are on and CPUs whose caches are off.
///
/// # Panics
/// Never: a test reads them all.
pub fn of_maintenance() -> Vec<Litmus> {
    read(include_str!("../../litmus/maintenance.txt"))
}

/// The programs of [`shipped`] with what the architecture says of them where the MMU is off. Memory
/// is then Device-nGnRnE: accesses of a CPU to one block of it arrive in program order, one after
/// the other (DDI 0487, B2.8: no gathering, no reordering, no early acknowledgement). So no outcome
/// is allowed that no interleaving has, and those of [`shipped`] are of that kind.
pub fn in_device_memory() -> Vec<Litmus> {
    shipped()
        .into_iter()
        .map(|program| Litmus {
            verdict: Verdict::Forbidden,
            ..program
        })
        .collect()
}

/// Stock tests one after the other, each from its first line on.
fn read(text: &str) -> Vec<Litmus> {
    let starts = text.match_indices("AArch64 ").map(|(at, _)| at);
    let ends = starts.clone().skip(1).chain([text.len()]);
    let tests = starts
        .zip(ends)
        .map(|(start, end)| Litmus::of(&text[start..end]));
    match tests.collect() {
        Ok(tests) => tests,
        Err(error) => unreachable!("the file is part of the program: {error}"),
    }
}

/// Whose memory a program runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caches {
    /// All CPUs are in coherency.
    On,
    /// No CPU is, with the MMU on: Normal Non-cacheable memory.
    Off,
    /// No CPU is, with the MMU off: one block of Device-nGnRnE memory.
    Device,
}

/// The results that were seen of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LitmusCounts {
    /// Runs.
    pub runs: u64,
    /// Runs with the outcome.
    pub outcomes: u64,
    /// True if the runs were all that there are.
    pub complete: bool,
}

/// The source of choices: drawn, or read from a tape that the enumeration moves on.
enum Source {
    RandomChoices(SplitMix64),
    Tape {
        tape: Vec<(u32, u32)>,
        at: usize,
        known: HashSet<Vec<u64>>,
    },
}

impl Source {
    #[inline(always)]
    fn below(&mut self, options: u32) -> u32 {
        if options < 2 {
            return 0;
        }
        match self {
            Self::RandomChoices(random) => random.below(u64::from(options)) as u32,
            Self::Tape { tape, at, .. } => {
                if *at == tape.len() {
                    tape.push((0, options));
                }
                *at += 1;
                tape[*at - 1].0
            }
        }
    }

    /// True if the run has come, by choices that are new, to a state from which all was tried.
    fn has_been_at(&mut self, state: impl FnOnce() -> Vec<u64>) -> bool {
        match self {
            Self::Tape { tape, at, known } if *at == tape.len() => !known.insert(state()),
            _ => false,
        }
    }

    /// Moves a tape on to the next run; false if there is none.
    fn advance(&mut self) -> bool {
        let Self::Tape { tape, at, .. } = self else {
            return true;
        };
        *at = 0;
        while let Some((value, options)) = tape.pop() {
            if value + 1 < options {
                tape.push((value + 1, options));
                return true;
            }
        }
        false
    }
}

impl Answers for Source {
    fn age(&mut self, choices: u32, _: u32) -> u32 {
        self.below(choices)
    }

    /// Whatever enters a buffer stays until it is chosen to leave.
    fn delay(&mut self, _: Delay) -> u8 {
        u8::MAX
    }
}

/// A thread of a run.
struct Thread {
    next: usize,
    /// Loads that were put off, by their place in the program.
    put_off: Vec<usize>,
}

struct Run<'p> {
    program: &'p Program,
    memory: Memory,
    /// The value that each load has returned, and when that came.
    loaded: Vec<u64>,
    came: Vec<Moment>,
    threads: Vec<Thread>,
    /// Lines that have come and gone on their own, as sets of bits.
    filled: u32,
    evicted: u32,
    /// Memory is a device's.
    device: bool,
}

/// Runs at most `schedules` schedules of a program, drawn with `seed`.
pub fn draw(program: &Litmus, caches: Caches, seed: u64, runs: u64) -> LitmusCounts {
    let mut source = Source::RandomChoices(SplitMix64::new(seed));
    let mut run = Run::new(&program.program, caches);
    let blank = run.memory.clone();
    let mut seen = LitmusCounts::default();
    while seen.runs < runs {
        run.restart(&blank);
        seen.outcomes += u64::from(run.run(&mut source));
        seen.runs += 1;
    }
    seen
}

/// Runs every schedule of a program, or the first `most` of them; one that comes to a state from
/// which all was tried ends there.
pub fn enumerate(program: &Litmus, caches: Caches, most: u64) -> LitmusCounts {
    let mut source = Source::Tape {
        tape: Vec::new(),
        at: 0,
        known: HashSet::new(),
    };
    let mut run = Run::new(&program.program, caches);
    let blank = run.memory.clone();
    let mut seen = LitmusCounts::default();
    while seen.runs < most {
        run.restart(&blank);
        seen.outcomes += u64::from(run.run(&mut source));
        seen.runs += 1;
        if !source.advance() {
            seen.complete = true;
            break;
        }
    }
    seen
}

impl<'p> Run<'p> {
    fn new(program: &'p Program, caches: Caches) -> Self {
        let clusters = vec![0; program.threads.len()];
        let mut memory = Memory::new(&program.initial, 1, &clusters);
        if caches == Caches::On {
            (0..clusters.len())
                .filter(|&cpu| !program.caches_off[cpu])
                .for_each(|cpu| memory.join(cpu));
        }
        let threads = program
            .threads
            .iter()
            .map(|_| Thread {
                next: 0,
                put_off: Vec::new(),
            })
            .collect();
        Self {
            program,
            memory,
            loaded: vec![0; program.loads],
            came: vec![0; program.loads],
            threads,
            filled: 0,
            evicted: 0,
            device: caches == Caches::Device,
        }
    }

    fn restart(&mut self, blank: &Memory) {
        self.memory.restore(blank);
        self.loaded.fill(0);
        self.came.fill(0);
        (self.filled, self.evicted) = (0, 0);
        for thread in &mut self.threads {
            thread.next = 0;
            thread.put_off.clear();
        }
    }

    /// Runs to the end, and says whether the outcome was seen.
    fn run(&mut self, source: &mut Source) -> bool {
        // What can be done next: a thread's next instruction, putting it off, a load that was put
        // off, an entry that leaves a buffer.
        let mut actions: Vec<(usize, Action)> = Vec::with_capacity(32);
        loop {
            actions.clear();
            for (index, thread) in self.threads.iter().enumerate() {
                if let Some(&operation) = self.program.threads[index].get(thread.next) {
                    if self.can_be_issued(index, thread.next) {
                        actions.push((index, Action::Issue));
                    }
                    if !self.device
                        && matches!(
                            operation,
                            Operation::Load {
                                order: Ordering::Plain,
                                ..
                            }
                        )
                        && self.can_be_issued(index, thread.next)
                    {
                        actions.push((index, Action::PutOff));
                    }
                }
                actions.extend((0..thread.put_off.len()).map(|which| (index, Action::Load(which))));
                actions.extend(
                    (0..self.memory.buffered(index)).map(|entry| (index, Action::Leave(entry))),
                );
            }
            if actions.is_empty() {
                break;
            }
            if self.program.caches_off.contains(&true) {
                let lines = 0..self.memory.lines();
                actions.extend(
                    lines
                        .clone()
                        .filter(|line| self.filled >> line & 1 == 0)
                        .map(|line| (0, Action::Fill(line))),
                );
                actions.extend(
                    lines
                        .filter(|line| self.evicted >> line & 1 == 0)
                        .map(|line| (0, Action::Evict(line))),
                );
            }
            if source.has_been_at(|| self.state()) {
                return false;
            }
            let (thread, action) = actions[source.below(actions.len() as u32) as usize];
            self.act(thread, action, source);
        }
        self.holds()
    }

    fn state(&self) -> Vec<u64> {
        let mut state = self.loaded.clone();
        state.extend([u64::from(self.filled), u64::from(self.evicted)]);
        self.memory.state(&mut state);
        // Moments that registers carry matter as far as something depends on them; they are kept as
        // they are.
        state.extend(self.came.iter().map(|&moment| u64::from(moment)));
        for thread in &self.threads {
            state.extend([thread.next as u64, thread.put_off.len() as u64]);
            state.extend(thread.put_off.iter().map(|&load| load as u64));
        }
        state
    }

    /// True if no load that was put off must come before the operation.
    fn can_be_issued(&self, thread: usize, at: usize) -> bool {
        let operations = &self.program.threads[thread];
        self.threads[thread]
            .put_off
            .iter()
            .all(|&load| !must_follow(operations[load], operations[at], operations, at))
    }

    fn act(&mut self, thread: usize, action: Action, source: &mut Source) {
        match action {
            Action::Issue => {
                let at = self.threads[thread].next;
                self.threads[thread].next += 1;
                self.perform(thread, at, source);
            }
            Action::PutOff => {
                let at = self.threads[thread].next;
                self.threads[thread].next += 1;
                self.threads[thread].put_off.push(at);
            }
            Action::Load(which) => {
                let at = self.threads[thread].put_off.remove(which);
                self.perform(thread, at, source);
            }
            Action::Leave(entry) => self.memory.leave(thread, entry),
            Action::Fill(line) => {
                self.filled |= 1 << line;
                self.memory.fill_early(line);
            }
            Action::Evict(line) => {
                self.evicted |= 1 << line;
                self.memory.evict(line);
            }
        }
    }

    fn perform(&mut self, thread: usize, at: usize, source: &mut Source) {
        match self.program.threads[thread][at] {
            Operation::Load {
                location,
                number,
                order,
                address,
            } => {
                let (word, order, after) =
                    (location as u16, order_of(order), self.came([address, None]));
                let loaded = match self.device {
                    true => self.memory.load(thread, word, order, after, &mut Newest),
                    false => self.memory.load(thread, word, order, after, source),
                };
                (self.loaded[number], self.came[number]) = (loaded.value, loaded.at);
            }
            Operation::Store {
                location,
                value,
                order,
                address,
                data,
            } => {
                let (word, order, after) =
                    (location as u16, order_of(order), self.came([address, data]));
                let value = match value {
                    Value::Number(number) => number,
                    Value::Loaded(load) => self.loaded[load],
                };
                match self.device {
                    true => self
                        .memory
                        .store(thread, word, value, order, after, &mut Newest),
                    false => self.memory.store(thread, word, value, order, after, source),
                }
            }
            Operation::Maintain {
                location,
                invalidate,
            } => self
                .memory
                .maintain(thread, location as u16, invalidate, source),
            Operation::BarrierFull => self.memory.barrier(thread),
            Operation::BarrierLoad => self.memory.load_barrier(thread),
            Operation::BarrierStore => self.memory.store_barrier(thread),
            Operation::Branch(_) => {}
            Operation::Synchronize => {
                let branches = self.program.threads[thread][..at]
                    .iter()
                    .filter_map(|earlier| match earlier {
                        Operation::Branch(load) => Some(self.came[*load]),
                        _ => None,
                    });
                let after = branches.max().unwrap_or(0);
                self.memory.synchronise(thread, after);
            }
        }
    }

    /// The moment at which the newest of these loads' values came.
    fn came(&self, loads: [Option<usize>; 2]) -> Moment {
        loads
            .into_iter()
            .flatten()
            .map(|load| self.came[load])
            .max()
            .unwrap_or(0)
    }

    fn holds(&self) -> bool {
        let held = |location: usize| match self.memory.is_coherent(0) {
            true => self.memory.newest(location as u16),
            false => self.memory.newest_in_memory(location as u16),
        };
        self.program
            .condition
            .holds(&|variable| self.program.value_of(variable, &self.loaded, held))
    }
}

fn order_of(order: Ordering) -> Order {
    match order {
        Ordering::Plain => Order::Relaxed,
        Ordering::Ordered => Order::Ordered,
        Ordering::AcquirePc => Order::AcquirePc,
    }
}

#[derive(Clone, Copy)]
enum Action {
    Issue,
    PutOff,
    Load(usize),
    Leave(usize),
    /// The caches read a line in, or let it go.
    Fill(usize),
    Evict(usize),
}

/// True if an operation may not be issued while `load`, which comes before it, is put off.
fn must_follow(load: Operation, later: Operation, thread: &[Operation], at: usize) -> bool {
    let Operation::Load {
        location, number, ..
    } = load
    else {
        return false;
    };
    let depends = |from: Option<usize>| from == Some(number);
    let branched = thread[..at].contains(&Operation::Branch(number));
    match later {
        Operation::Load {
            location: other,
            address,
            ..
        } => {
            other == location
                || depends(address)
                || branched && thread[..at].contains(&Operation::Synchronize)
        }
        Operation::Store {
            location: other,
            data,
            order,
            address,
            ..
        } => {
            other == location
                || order == Ordering::Ordered
                || depends(address)
                || depends(data)
                || branched
        }
        Operation::Maintain {
            location: other, ..
        } => other == location,
        Operation::BarrierFull | Operation::BarrierLoad => true,
        // The branch itself may be guessed; a store after it may not be seen, nor anything after an
        // ISB.
        Operation::BarrierStore | Operation::Branch(_) => false,
        Operation::Synchronize => branched,
    }
}

#[test]
fn every_program_shows_what_the_architecture_says() {
    for program in shipped() {
        for caches in [Caches::On, Caches::Off] {
            let every = enumerate(&program, caches, 3_000_000);
            assert!(
                every.complete,
                "{}: more than {} schedules",
                program.name, every.runs
            );
            let drawn = draw(&program, caches, 1, 20_000);
            match program.verdict {
                Verdict::Allowed => {
                    assert!(
                        every.outcomes > 0 && drawn.outcomes > 0,
                        "{} is never seen",
                        program.name
                    )
                }
                Verdict::Forbidden => {
                    assert_eq!(
                        (every.outcomes, drawn.outcomes),
                        (0, 0),
                        "{} is seen",
                        program.name
                    )
                }
            }
        }
    }
}

#[test]
fn every_program_of_maintenance_shows_what_the_architecture_says() {
    for program in of_maintenance() {
        let every = enumerate(&program, Caches::On, 30_000_000);
        assert!(
            every.complete,
            "{}: more than {} schedules",
            program.name, every.runs
        );
        let drawn = draw(&program, Caches::On, 1, 100_000);
        match program.verdict {
            Verdict::Allowed => assert!(
                every.outcomes > 0 && drawn.outcomes > 0,
                "{} is never seen",
                program.name
            ),
            Verdict::Forbidden => assert_eq!(
                (every.outcomes, drawn.outcomes),
                (0, 0),
                "{} is seen",
                program.name
            ),
        }
    }
}

#[test]
fn device_memory_shows_interleavings_and_nothing_else() {
    for program in in_device_memory() {
        let every = enumerate(&program, Caches::Device, 1_000_000);
        assert!(
            every.complete && every.outcomes == 0,
            "{}: {every:?}",
            program.name
        );
    }
    let interleaved = Litmus::of(
        "AArch64 MP\n{ 0:X0=x; 0:X1=y; 1:X0=x; 1:X1=y; }\n P0 | P1 ;\n MOV W2,#1 | LDR W2,[X1] ;\n \
         STR W2,[X0] | LDR W3,[X0] ;\n STR W2,[X1] | ;\nexists (1:X2=1 /\\ 1:X3=1)",
    );
    assert!(enumerate(&interleaved.unwrap(), Caches::Device, 1_000).outcomes > 0);
}

#[test]
fn what_the_memory_cannot_run_is_refused() {
    for (instruction, error) in [
        ("LDXR W2,[X0]", "an instruction that is no plain access"),
        (
            "ADD W2,W1,#1",
            "a value that is computed from what was loaded",
        ),
        ("STR W1,[X3]", "thread 0 accesses 0x0, which is no location"),
        ("B.EQ L", "an instruction that is no plain access"),
    ] {
        let text = format!(
            "AArch64 T\n{{ 0:X0=x; }}\n P0 ;\n LDR W1,[X0] ;\n {instruction} ;\n L: ;\nexists (x=0)"
        );
        let refused = Litmus::of(&text).unwrap_err().to_string();
        assert!(refused.starts_with(error), "{instruction}: {refused}");
    }
    let text = "AArch64 T\nCachesOff=P1\n{ 0:X0=x; }\n P0 ;\n LDR W1,[X0] ;\nexists (x=0)";
    assert_eq!(
        Litmus::of(text).unwrap_err().to_string(),
        "`CachesOff=P1`: `P1` is no thread"
    );
}
