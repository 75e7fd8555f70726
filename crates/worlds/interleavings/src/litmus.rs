//! Litmus programs: what the machine's memory allows, beside what the architecture says.
//!
//! A thread issues its instructions in order; a load whose value nothing needs yet may be put off,
//! and what a store or a barrier leaves in the buffer leaves it whenever it is chosen. So all that
//! a run does is choices, which are drawn or enumerated.

use crate::choice::Kind;
use crate::memory::{Answers, Memory, Moment, Order};
use engine::SplitMix64;
use std::collections::{BTreeMap, HashSet};

/// True if the architecture allows an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may be seen.
    Allowed,
    /// It may not.
    Forbidden,
}

/// A litmus program with the outcome that is asked about.
#[derive(Clone, Debug)]
pub struct Litmus {
    /// Its name, as the literature has it.
    pub name: String,
    /// The verdict of the architecture.
    pub verdict: Verdict,
    threads: Vec<Vec<Instruction>>,
    /// Threads whose caches are off whatever the run says; lines then come and go on their own.
    off: Vec<bool>,
    /// Registers and words with the values that they have in the outcome.
    registers: Vec<(usize, u64)>,
    words: Vec<(u16, u64)>,
    register_count: usize,
    word_count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    Number(u64),
    Register(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    Load { word: u16, to: usize, order: Order, address: Option<usize> },
    Store { word: u16, data: Data, order: Order, address: Option<usize> },
    Maintain { word: u16, invalidate: bool },
    BarrierSy,
    BarrierLd,
    BarrierSt,
    Branch(usize),
    Isb,
}

/// The tests of the order of accesses that the program ships.
///
/// # Panics
/// Never: a test reads them all.
pub fn shipped() -> Vec<Litmus> {
    parsed(include_str!("../litmus/aarch64.txt"))
}

/// Those of cache maintenance, between CPUs whose caches are on and CPUs whose caches are off.
///
/// # Panics
/// Never: a test reads them all.
pub fn of_maintenance() -> Vec<Litmus> {
    parsed(include_str!("../litmus/maintenance.txt"))
}

/// The programs of [`shipped`] with what the architecture says of them where the MMU is off. Memory
/// is then Device-nGnRnE: accesses of a CPU to one block of it arrive in program order, one after
/// the other (DDI 0487, B2.8: no gathering, no reordering, no early acknowledgement). So no outcome
/// is allowed that no interleaving has, and those of [`shipped`] are of that kind.
pub fn in_device_memory() -> Vec<Litmus> {
    shipped().into_iter().map(|program| Litmus { verdict: Verdict::Forbidden, ..program }).collect()
}

fn parsed(text: &str) -> Vec<Litmus> {
    match parse(text) {
        Ok(programs) => programs,
        Err(error) => unreachable!("the file is part of the program: {error}"),
    }
}

/// Reads litmus programs, a line each.
///
/// # Errors
/// The line, and what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Litmus>, String> {
    let lines =
        (1..).zip(text.lines()).map(|(number, line)| (number, line.split('#').next().unwrap_or_default().trim()));
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| parse_line(line).map_err(|error| format!("line {number}: {error}")))
        .collect()
}

fn parse_line(line: &str) -> Result<Litmus, String> {
    let mut head = line.splitn(3, char::is_whitespace);
    let name = head.next().unwrap_or_default().to_owned();
    let rest = head.next().map(|_| ()).and(line[name.len()..].trim_start().split_once(char::is_whitespace));
    let (verdict, rest) = rest.ok_or("a verdict and a program are missing")?;
    let verdict = match verdict {
        "allowed" => Verdict::Allowed,
        "forbidden" => Verdict::Forbidden,
        other => return Err(format!("`{other}` is no verdict: allowed and forbidden are right")),
    };
    let (program, outcome) = rest.split_once("exists").ok_or("`exists` and an outcome are missing")?;
    let mut names = Names::default();
    let (mut threads, mut off) = (Vec::new(), Vec::new());
    for thread in program.split('|') {
        let (is_off, thread) = match thread.trim().strip_prefix("off:") {
            Some(thread) => (true, thread),
            None => (false, thread),
        };
        let instructions: Result<Vec<_>, String> =
            thread.split(';').map(|text| names.instruction(text.trim())).collect();
        threads.push(instructions?);
        off.push(is_off);
    }
    let (mut registers, mut words) = (Vec::new(), Vec::new());
    for condition in outcome.split_whitespace() {
        let (what, value) =
            condition.split_once('=').ok_or_else(|| format!("`{condition}` is no condition: a=1 would be one"))?;
        let value = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        match (names.registers.get(what), names.words.get(what)) {
            (Some(&register), _) => registers.push((register, value)),
            (None, Some(&word)) => words.push((word, value)),
            (None, None) => return Err(format!("nothing is called `{what}`")),
        }
    }
    Ok(Litmus {
        name,
        verdict,
        threads,
        off,
        registers,
        words,
        register_count: names.registers.len(),
        word_count: names.words.len(),
    })
}

/// Names of words and registers by their order of appearance.
#[derive(Default)]
struct Names {
    words: BTreeMap<String, u16>,
    registers: BTreeMap<String, usize>,
}

impl Names {
    /// A word, and the register on which its address depends.
    fn address(&mut self, text: &str) -> Result<(u16, Option<usize>), String> {
        let (word, register) = match text.split_once('[') {
            Some((word, register)) => (word, Some(self.register(register.trim_end_matches(']'))?)),
            None => (text, None),
        };
        let next = self.words.len() as u16;
        Ok((*self.words.entry(word.to_owned()).or_insert(next), register))
    }

    fn register(&self, name: &str) -> Result<usize, String> {
        self.registers.get(name).copied().ok_or_else(|| format!("register `{name}` is not loaded before"))
    }

    fn instruction(&mut self, text: &str) -> Result<Instruction, String> {
        let parts: Vec<&str> = text.split_whitespace().collect();
        Ok(match parts[..] {
            // What is in a buffer is all that a DSB completes and a DMB does not, and there the two
            // do the same.
            ["dmb.sy" | "dsb"] => Instruction::BarrierSy,
            [clean @ ("dc.cvac" | "dc.civac"), word] => {
                let (word, _) = self.address(word)?;
                Instruction::Maintain { word, invalidate: clean == "dc.civac" }
            }
            ["dmb.ld"] => Instruction::BarrierLd,
            ["dmb.st"] => Instruction::BarrierSt,
            ["isb"] => Instruction::Isb,
            ["ctrl", register] => Instruction::Branch(self.register(register)?),
            [load @ ("R" | "RA" | "RQ"), word, to] => {
                let (word, address) = self.address(word)?;
                let next = self.registers.len();
                let to = *self.registers.entry(to.to_owned()).or_insert(next);
                let order = match load {
                    "RA" => Order::Ordered,
                    "RQ" => Order::AcquirePc,
                    _ => Order::Relaxed,
                };
                Instruction::Load { word, to, order, address }
            }
            [store @ ("W" | "WL"), word, data] => {
                let (word, address) = self.address(word)?;
                let data = match data.parse() {
                    Ok(number) => Data::Number(number),
                    Err(_) => Data::Register(self.register(data)?),
                };
                let order = if store == "WL" { Order::Ordered } else { Order::Relaxed };
                Instruction::Store { word, data, order, address }
            }
            _ => return Err(format!("`{text}` is no instruction")),
        })
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
    Tape { tape: Vec<(u32, u32)>, at: usize, known: HashSet<Vec<u64>> },
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
        let Self::Tape { tape, at, .. } = self else { return true };
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
    fn answer(&mut self, _: Kind, options: u32) -> u32 {
        self.below(options)
    }

    /// Whatever enters a buffer stays until it is chosen to leave.
    fn delay(&mut self, _: Kind) -> u8 {
        u8::MAX
    }
}

/// Accesses to device memory leave nothing to choose.
struct InOrder;

impl Answers for InOrder {
    fn answer(&mut self, _: Kind, _: u32) -> u32 {
        0
    }
}

/// A thread of a run.
struct Thread {
    next: usize,
    /// Loads that were put off, by their place in the program.
    put_off: Vec<usize>,
}

struct Run<'p> {
    program: &'p Litmus,
    memory: Memory,
    registers: Vec<u64>,
    /// When the value of each register came.
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
    let mut run = Run::new(program, caches);
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
    let mut source = Source::Tape { tape: Vec::new(), at: 0, known: HashSet::new() };
    let mut run = Run::new(program, caches);
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
    fn new(program: &'p Litmus, caches: Caches) -> Self {
        let clusters = vec![0; program.threads.len()];
        let mut memory = Memory::new(&vec![0; program.word_count], 1, &clusters);
        if caches == Caches::On {
            (0..clusters.len()).filter(|&cpu| !program.off[cpu]).for_each(|cpu| memory.join(cpu));
        }
        let threads = program.threads.iter().map(|_| Thread { next: 0, put_off: Vec::new() }).collect();
        Self {
            program,
            memory,
            registers: vec![0; program.register_count],
            came: vec![0; program.register_count],
            threads,
            filled: 0,
            evicted: 0,
            device: caches == Caches::Device,
        }
    }

    fn restart(&mut self, blank: &Memory) {
        self.memory.restore(blank);
        self.registers.fill(0);
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
                if let Some(&instruction) = self.program.threads[index].get(thread.next) {
                    if self.can_be_issued(index, thread.next) {
                        actions.push((index, Action::Issue));
                    }
                    if !self.device
                        && matches!(instruction, Instruction::Load { order: Order::Relaxed, .. })
                        && self.can_be_issued(index, thread.next)
                    {
                        actions.push((index, Action::PutOff));
                    }
                }
                actions.extend((0..thread.put_off.len()).map(|which| (index, Action::Load(which))));
                actions.extend((0..self.memory.buffered(index)).map(|entry| (index, Action::Leave(entry))));
            }
            if actions.is_empty() {
                break;
            }
            if self.program.off.contains(&true) {
                let lines = 0..self.memory.lines();
                actions.extend(
                    lines.clone().filter(|line| self.filled >> line & 1 == 0).map(|line| (0, Action::Fill(line))),
                );
                actions.extend(lines.filter(|line| self.evicted >> line & 1 == 0).map(|line| (0, Action::Evict(line))));
            }
            if source.has_been_at(|| self.state()) {
                return false;
            }
            let (thread, action) = actions[source.below(actions.len() as u32) as usize];
            self.act(thread, action, source);
        }
        self.has_outcome()
    }

    fn state(&self) -> Vec<u64> {
        let mut state = self.registers.clone();
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

    /// True if no load that was put off must come before the instruction.
    fn can_be_issued(&self, thread: usize, at: usize) -> bool {
        let instructions = &self.program.threads[thread];
        self.threads[thread]
            .put_off
            .iter()
            .all(|&load| !must_follow(instructions[load], instructions[at], instructions, at))
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
            Action::Leave(entry) => self.memory.let_leave(thread, entry),
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
            Instruction::Load { word, to, order, address } => {
                let after = address.map_or(0, |register| self.came[register]);
                let loaded = match self.device {
                    true => self.memory.load_after(thread, word, order, after, &mut InOrder),
                    false => self.memory.load_after(thread, word, order, after, source),
                };
                (self.registers[to], self.came[to]) = (loaded.value, loaded.at);
            }
            Instruction::Store { word, data, order, address } => {
                let (value, data) = match data {
                    Data::Number(number) => (number, None),
                    Data::Register(register) => (self.registers[register], Some(register)),
                };
                let came = [address, data].into_iter().flatten().map(|register| self.came[register]);
                let after = came.max().unwrap_or(0);
                match self.device {
                    true => self.memory.store_after(thread, word, value, order, after, &mut InOrder),
                    false => self.memory.store_after(thread, word, value, order, after, source),
                }
            }
            Instruction::Maintain { word, invalidate } => self.memory.maintain(thread, word, invalidate, source),
            Instruction::BarrierSy => self.memory.barrier(thread),
            Instruction::BarrierLd => self.memory.load_barrier(thread),
            Instruction::BarrierSt => self.memory.store_barrier(thread),
            Instruction::Branch(_) => {}
            Instruction::Isb => {
                let branches = self.program.threads[thread][..at].iter().filter_map(|earlier| match earlier {
                    Instruction::Branch(register) => Some(self.came[*register]),
                    _ => None,
                });
                let after = branches.max().unwrap_or(0);
                self.memory.synchronise(thread, after);
            }
        }
    }

    fn has_outcome(&self) -> bool {
        let word = |cell: u16| match self.memory.is_coherent(0) {
            true => self.memory.newest(cell),
            false => self.memory.newest_in_memory(cell),
        };
        self.program.registers.iter().all(|&(register, value)| self.registers[register] == value)
            && self.program.words.iter().all(|&(cell, value)| word(cell) == value)
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

/// True if an instruction may not be issued while `load`, which comes before it, is put off.
fn must_follow(load: Instruction, later: Instruction, thread: &[Instruction], at: usize) -> bool {
    let Instruction::Load { word, to, .. } = load else { return false };
    let depends = |register: Option<usize>| register == Some(to);
    let branched = thread[..at].contains(&Instruction::Branch(to));
    match later {
        Instruction::Load { word: other, address, .. } => {
            other == word || depends(address) || branched && thread[..at].contains(&Instruction::Isb)
        }
        Instruction::Store { word: other, data, order, address } => {
            other == word || order == Order::Ordered || depends(address) || data == Data::Register(to) || branched
        }
        Instruction::Maintain { word: other, .. } => other == word,
        Instruction::BarrierSy | Instruction::BarrierLd => true,
        // The branch itself may be guessed; a store after it may not be seen, nor anything after an
        // ISB.
        Instruction::BarrierSt | Instruction::Branch(_) => false,
        Instruction::Isb => branched,
    }
}

#[cfg(test)]
mod tests {
    use super::{Caches, Verdict, draw, enumerate, in_device_memory, of_maintenance, parse, shipped};

    #[test]
    fn every_program_shows_what_the_architecture_says() {
        for program in shipped() {
            for caches in [Caches::On, Caches::Off] {
                let every = enumerate(&program, caches, 3_000_000);
                assert!(every.complete, "{}: more than {} schedules", program.name, every.runs);
                let drawn = draw(&program, caches, 1, 20_000);
                match program.verdict {
                    Verdict::Allowed => {
                        assert!(every.outcomes > 0 && drawn.outcomes > 0, "{} is never seen", program.name)
                    }
                    Verdict::Forbidden => {
                        assert_eq!((every.outcomes, drawn.outcomes), (0, 0), "{} is seen", program.name)
                    }
                }
            }
        }
    }

    #[test]
    fn every_program_of_maintenance_shows_what_the_architecture_says() {
        for program in of_maintenance() {
            let every = enumerate(&program, Caches::On, 30_000_000);
            assert!(every.complete, "{}: more than {} schedules", program.name, every.runs);
            let drawn = draw(&program, Caches::On, 1, 100_000);
            match program.verdict {
                Verdict::Allowed => assert!(every.outcomes > 0 && drawn.outcomes > 0, "{} is never seen", program.name),
                Verdict::Forbidden => assert_eq!((every.outcomes, drawn.outcomes), (0, 0), "{} is seen", program.name),
            }
        }
    }

    #[test]
    fn device_memory_shows_interleavings_and_nothing_else() {
        for program in in_device_memory() {
            let every = enumerate(&program, Caches::Device, 1_000_000);
            assert!(every.complete && every.outcomes == 0, "{}: {every:?}", program.name);
        }
        let interleaved = parse("MP allowed W x 1; W y 1 | R y a; R x b exists a=1 b=1").unwrap();
        assert!(enumerate(&interleaved[0], Caches::Device, 1_000).outcomes > 0);
    }

    #[test]
    fn what_is_no_program_is_refused_with_its_line() {
        for (text, error) in [
            ("MP", "line 1: a verdict and a program are missing"),
            ("\nMP maybe W x 1 exists x=1", "line 2: `maybe` is no verdict: allowed and forbidden are right"),
            ("MP allowed W x 1", "line 1: `exists` and an outcome are missing"),
            ("MP allowed V x 1 exists x=1", "line 1: `V x 1` is no instruction"),
            ("MP allowed W x a exists x=1", "line 1: register `a` is not loaded before"),
            ("MP allowed W x 1 exists z=1", "line 1: nothing is called `z`"),
        ] {
            assert_eq!(parse(text).unwrap_err(), error);
        }
    }
}
