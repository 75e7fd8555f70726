//! The runs of a thread, for every value that its loads may see.

use crate::Error;
use crate::test::{
    Address, Barrier, Compute, Instruction, Operand, Orders, Register, Sized, Test, Test1, Update, Writeback,
    address_of,
};
use std::collections::{BTreeMap, BTreeSet};

/// Jumps backwards in a run of a thread; a run that takes more is cut and does not count, as in
/// herd7 by default.
const MOST_JUMPS: u32 = 2;
/// Effects of a thread.
const MOST_EFFECTS: usize = 48;
/// Runs of a thread.
const MOST_RUNS: usize = 200_000;

/// The kind of an effect (Arm ARM B2.3: Memory effects, and the effects of barriers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An explicit memory read effect.
    Read,
    /// An explicit memory write effect.
    Write,
    /// DMB or DSB of loads and stores.
    BarrierFull,
    /// DMB LD or DSB LD: earlier loads, all later accesses.
    BarrierLoad,
    /// DMB ST or DSB ST: stores.
    BarrierStore,
    /// ISB.
    BarrierInstruction,
}

/// An effect of a thread. Sets of earlier reads of the thread are bits by their number.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// Its kind.
    pub kind: Kind,
    /// The location, of a memory effect.
    pub location: usize,
    /// The value, of a memory effect.
    pub value: u64,
    /// Reads on whose values its address depends.
    pub address: u64,
    /// Reads on whose values the value that it writes depends.
    pub data: u64,
    /// Reads whose values decide whether it is done at all: those that a compare-and-swap compares
    /// with (B2.3, "Pick dependency").
    pub pick: u64,
    /// Reads on whose values it depends that the thread came here.
    pub control: u64,
    /// Acquire.
    pub acquire: bool,
    /// AcquirePC.
    pub acquire_pc: bool,
    /// Release.
    pub release: bool,
    /// The other effect of an atomic pair: a read's write, a write's read.
    pub pair: Option<usize>,
    /// The pair is that of one instruction.
    pub atomic_instruction: bool,
    /// A read whose value no register gets.
    pub no_return: bool,
    /// A barrier that is a DSB: all later instructions wait for it.
    pub is_synchronization: bool,
}

/// A run of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) effects: Vec<Effect>,
    pub(crate) registers: BTreeMap<Register, u64>,
}

/// A value, and the reads on which it depends.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    value: u64,
    from: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    /// The operands of the last comparison, as one number less the other or both anded.
    zero: bool,
    negative: bool,
    carry: bool,
    overflow: bool,
    from: u64,
}

#[derive(Clone)]
struct State {
    at: usize,
    registers: BTreeMap<Register, Value>,
    flags: Flags,
    effects: Vec<Effect>,
    control: u64,
    /// The read of the last exclusive load, and its location.
    exclusive: Option<(usize, usize)>,
    jumps: u32,
}

/// Values that locations may have.
pub(crate) type Values = Vec<BTreeSet<u64>>;

/// All runs of a thread.
///
/// # Errors
/// It accesses what is no location, or there are too many runs.
pub(crate) fn runs(test: &Test, thread: usize, values: &Values) -> Result<Vec<Run>, Error> {
    let registers =
        test.registers[thread].iter().map(|(register, value)| (*register, Value { value: *value, from: 0 }));
    let first = State {
        at: 0,
        registers: registers.collect(),
        flags: Flags::default(),
        effects: Vec::new(),
        control: 0,
        exclusive: None,
        jumps: 0,
    };
    let mut open = vec![first];
    let mut done = Vec::new();
    while let Some(mut state) = open.pop() {
        let instructions = &test.threads[thread];
        while let Some(instruction) = instructions.get(state.at) {
            state.at += 1;
            if !state.step(test, thread, instruction, values, &mut open)? {
                break;
            }
        }
        if state.at >= instructions.len() && state.jumps <= MOST_JUMPS {
            let registers = state.registers.into_iter().map(|(register, value)| (register, value.value)).collect();
            done.push(Run { effects: state.effects, registers });
        }
        if done.len() + open.len() > MOST_RUNS {
            return Err(too_much(format!("thread {thread} has more than {MOST_RUNS} runs")));
        }
    }
    Ok(done)
}

fn too_much(what: String) -> Error {
    Error::Unsupported { line: 0, what }
}

impl State {
    fn get(&self, register: Register) -> Value {
        self.registers.get(&register).copied().unwrap_or_default()
    }

    fn set(&mut self, to: Sized, value: Value) {
        if to.register != Register::ZERO {
            self.registers.insert(to.register, Value { value: to.cut(value.value), ..value });
        }
    }

    fn sized(&self, from: Sized) -> Value {
        let value = self.get(from.register);
        Value { value: from.cut(value.value), ..value }
    }

    fn operand(&self, operand: Operand) -> Value {
        match operand {
            Operand::Number(value) => Value { value, from: 0 },
            Operand::Register(register, extend) => {
                let Value { value, from } = self.get(register.register);
                let value = match (extend.signed_word, extend.word) {
                    (true, _) => i64::from(value as u32 as i32).cast_unsigned(),
                    (false, true) => value & 0xffff_ffff,
                    (false, false) => value,
                };
                Value { value: value << extend.shift, from }
            }
        }
    }

    /// The location of an access, and the reads on which its address depends.
    fn address(&mut self, test: &Test, thread: usize, address: &Address) -> Result<(usize, u64), Error> {
        let base = self.get(address.base);
        let offset = self.operand(address.offset);
        let sum = Value { value: base.value.wrapping_add(offset.value), from: base.from | offset.from };
        let at = if address.writeback == Writeback::After { base } else { sum };
        if address.writeback != Writeback::No {
            self.set(Sized { register: address.base, wide: true }, sum);
        }
        match test.location_at(at.value) {
            Some(location) => Ok((location, at.from)),
            None => Err(too_much(format!("thread {thread} accesses {:#x}, which is no location", at.value))),
        }
    }

    fn effect(&mut self, kind: Kind) -> Effect {
        Effect {
            kind,
            location: 0,
            value: 0,
            address: 0,
            data: 0,
            pick: 0,
            control: self.control,
            acquire: false,
            acquire_pc: false,
            release: false,
            pair: None,
            atomic_instruction: false,
            no_return: false,
            is_synchronization: false,
        }
    }

    fn push(&mut self, effect: Effect) -> Result<usize, Error> {
        if self.effects.len() == MOST_EFFECTS {
            return Err(too_much(format!("a thread has more than {MOST_EFFECTS} accesses and barriers")));
        }
        self.effects.push(effect);
        Ok(self.effects.len() - 1)
    }

    fn read(&mut self, location: usize, address: u64, orders: Orders, value: u64) -> Result<usize, Error> {
        let Orders { acquire, acquire_pc, .. } = orders;
        let read = self.effect(Kind::Read);
        self.push(Effect { location, value, address, acquire, acquire_pc, ..read })
    }

    fn write(&mut self, location: usize, address: u64, release: bool, value: Value) -> Result<usize, Error> {
        let write = self.effect(Kind::Write);
        self.push(Effect { location, value: value.value, address, data: value.from, release, ..write })
    }

    fn make_pair(&mut self, read: usize, write: usize, atomic_instruction: bool) {
        for (one, other) in [(read, write), (write, read)] {
            self.effects[one].pair = Some(other);
            self.effects[one].atomic_instruction = atomic_instruction;
        }
    }

    fn jump(&mut self, to: usize) -> bool {
        self.jumps += u32::from(to < self.at);
        self.at = to;
        self.jumps <= MOST_JUMPS
    }

    /// Does one instruction. Where something is to be chosen, all other choices go to `open`. False
    /// if this run is cut.
    fn step(
        &mut self,
        test: &Test,
        thread: usize,
        instruction: &Instruction,
        values: &Values,
        open: &mut Vec<Self>,
    ) -> Result<bool, Error> {
        match instruction {
            Instruction::Nothing => {}
            Instruction::Move { to, from } => {
                let value = self.operand(*from);
                self.set(*to, value);
            }
            Instruction::Compute { what, to, left, right, sets_flags } => {
                let (left, right) = (self.sized(*left), self.operand(*right));
                let value = to.cut(computed(*what, left.value, right.value));
                let from = left.from | right.from;
                if *sets_flags {
                    self.flags = flags(*what, *to, left.value, right.value, value, from);
                }
                self.set(*to, Value { value, from });
            }
            Instruction::Load { to, address, orders, exclusive } => {
                let (location, from) = self.address(test, thread, address)?;
                let load = |state: &mut Self, value: u64| {
                    let value = to.cut(value);
                    let read = state.read(location, from, *orders, value)?;
                    if *exclusive {
                        state.exclusive = Some((read, location));
                    }
                    state.set(*to, Value { value, from: 1 << read });
                    Ok(())
                };
                return self.fork(&values[location], open, load);
            }
            Instruction::Store { from, address, orders } => {
                let value = self.sized(*from);
                let (location, depends) = self.address(test, thread, address)?;
                self.write(location, depends, orders.release, value)?;
            }
            Instruction::StoreExclusive { status, from, address, orders } => {
                let value = self.sized(*from);
                let (location, depends) = self.address(test, thread, address)?;
                let monitored = self.exclusive.take();
                let mut failed = self.clone();
                // The status depends on no read: it is known whether the store will succeed before
                // what is stored.
                failed.set(*status, Value { value: 1, from: 0 });
                let Some((read, _)) = monitored.filter(|(_, monitored)| *monitored == location) else {
                    *self = failed;
                    return Ok(true);
                };
                open.push(failed);
                let write = self.write(location, depends, orders.release, value)?;
                self.make_pair(read, write, false);
                self.set(*status, Value { value: 0, from: 0 });
            }
            Instruction::CompareAndSwap { expected, new, address, orders } => {
                let (wanted, new) = (self.sized(*expected), self.sized(*new));
                let (location, from) = self.address(test, thread, address)?;
                let swap = |state: &mut Self, value: u64| {
                    let value = expected.cut(value);
                    let read = state.read(location, from, *orders, value)?;
                    if value == wanted.value {
                        let write = state.write(location, from, orders.release, new)?;
                        state.effects[write].pick = wanted.from;
                        state.make_pair(read, write, true);
                    }
                    state.set(*expected, Value { value, from: 1 << read });
                    Ok(())
                };
                return self.fork(&values[location], open, swap);
            }
            Instruction::Update { what, operand, to, address, orders } => {
                let operand = self.sized(*operand);
                let (location, from) = self.address(test, thread, address)?;
                // Without a register for the value nothing is acquired (Arm ARM C6, LDADD and the
                // like: "if the destination register is not XZR or WZR").
                let no_return = to.register == Register::ZERO;
                let orders = Orders { acquire: orders.acquire && !no_return, ..*orders };
                let update = |state: &mut Self, value: u64| {
                    let old = to.cut(value);
                    let read = state.read(location, from, orders, old)?;
                    state.effects[read].no_return = no_return;
                    let new = to.cut(updated(*what, *to, old, operand.value));
                    let write =
                        state.write(location, from, orders.release, Value { value: new, from: operand.from })?;
                    state.make_pair(read, write, true);
                    state.set(*to, Value { value: old, from: 1 << read });
                    Ok(())
                };
                return self.fork(&values[location], open, update);
            }
            Instruction::Barrier { barrier, is_synchronization } => {
                let kind = match barrier {
                    Barrier::Full => Kind::BarrierFull,
                    Barrier::Load => Kind::BarrierLoad,
                    Barrier::Store => Kind::BarrierStore,
                    Barrier::Instruction => Kind::BarrierInstruction,
                };
                let effect = self.effect(kind);
                self.push(Effect { is_synchronization: *is_synchronization, ..effect })?;
            }
            Instruction::Branch { to } => return Ok(self.jump(*to)),
            Instruction::BranchZero { of, nonzero, to } => {
                let value = self.sized(*of);
                self.control |= value.from;
                if (value.value != 0) == *nonzero {
                    return Ok(self.jump(*to));
                }
            }
            Instruction::BranchBit { of, bit, nonzero, to } => {
                let value = self.sized(*of);
                self.control |= value.from;
                if (value.value >> bit & 1 != 0) == *nonzero {
                    return Ok(self.jump(*to));
                }
            }
            Instruction::BranchFlags { when, to } => {
                self.control |= self.flags.from;
                if self.flags.hold(*when) {
                    return Ok(self.jump(*to));
                }
            }
        }
        Ok(true)
    }

    /// Goes on with the first value, and leaves the others to be tried later.
    fn fork(
        &mut self,
        values: &BTreeSet<u64>,
        open: &mut Vec<Self>,
        go_on: impl Fn(&mut Self, u64) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let mut values = values.iter();
        let Some(first) = values.next() else { return Ok(false) };
        for value in values {
            let mut other = self.clone();
            go_on(&mut other, *value)?;
            open.push(other);
        }
        go_on(self, *first)?;
        Ok(true)
    }
}

impl Flags {
    fn hold(self, when: Test1) -> bool {
        match when {
            Test1::Equal => self.zero,
            Test1::NotEqual => !self.zero,
            Test1::SignedGreaterEqual => self.negative == self.overflow,
            Test1::SignedLess => self.negative != self.overflow,
            Test1::SignedGreater => !self.zero && self.negative == self.overflow,
            Test1::SignedLessEqual => self.zero || self.negative != self.overflow,
            Test1::HigherSame => self.carry,
            Test1::Lower => !self.carry,
            Test1::Higher => self.carry && !self.zero,
            Test1::LowerSame => !self.carry || self.zero,
        }
    }
}

fn computed(what: Compute, left: u64, right: u64) -> u64 {
    match what {
        Compute::Add => left.wrapping_add(right),
        Compute::Sub => left.wrapping_sub(right),
        Compute::And => left & right,
        Compute::Or => left | right,
        Compute::Xor => left ^ right,
        Compute::Clear => left & !right,
        Compute::ShiftLeft => left.checked_shl(right as u32).unwrap_or(0),
        Compute::ShiftRight => left.checked_shr(right as u32).unwrap_or(0),
    }
}

fn flags(what: Compute, size: Sized, left: u64, right: u64, value: u64, from: u64) -> Flags {
    let negative = |value: u64| value >> (if size.wide { 63 } else { 31 }) & 1 == 1;
    let right = size.cut(right);
    let (carry, overflow) = match what {
        Compute::Sub => (left >= right, negative(left) != negative(right) && negative(value) != negative(left)),
        Compute::Add => (value < left, negative(left) == negative(right) && negative(value) != negative(left)),
        _ => (false, false),
    };
    Flags { zero: value == 0, negative: negative(value), carry, overflow, from }
}

fn updated(what: Update, size: Sized, old: u64, operand: u64) -> u64 {
    let signed = |value: u64| if size.wide { value.cast_signed() } else { i64::from(value as u32 as i32) };
    let of_two = |takes_old: bool| if takes_old { old } else { operand };
    match what {
        Update::Swap => operand,
        Update::Add => old.wrapping_add(operand),
        Update::Clear => old & !operand,
        Update::Xor => old ^ operand,
        Update::Set => old | operand,
        Update::SignedMax => of_two(signed(old) >= signed(operand)),
        Update::SignedMin => of_two(signed(old) <= signed(operand)),
        Update::Max => of_two(old >= operand),
        Update::Min => of_two(old <= operand),
    }
}

/// The values that locations may have: those at the beginning, and all that any thread may store,
/// whatever its loads see. Each round adds what loads of the round before may lead to; there are no
/// more rounds than stores, since the value that a load sees came through that many at most.
///
/// # Errors
/// As [`runs`].
pub(crate) fn all_runs(test: &Test) -> Result<Vec<Vec<Run>>, Error> {
    let mut values: Values = test.initial.iter().map(|value| BTreeSet::from([*value])).collect();
    // What is in no store and in no initial state is an address at most.
    debug_assert!(address_of(0) > 0, "addresses are no small numbers");
    let mut round = 0;
    loop {
        let all: Vec<Vec<Run>> =
            (0..test.threads.len()).map(|thread| runs(test, thread, &values)).collect::<Result<_, _>>()?;
        let known: usize = values.iter().map(BTreeSet::len).sum();
        let mut stores = 0;
        for run in all.iter().flatten() {
            let writes = run.effects.iter().filter(|effect| effect.kind == Kind::Write);
            stores = stores.max(writes.clone().count());
            for write in writes {
                values[write.location].insert(write.value);
            }
        }
        round += 1;
        if values.iter().map(BTreeSet::len).sum::<usize>() == known || round > stores * test.threads.len() {
            return Ok(all);
        }
    }
}
