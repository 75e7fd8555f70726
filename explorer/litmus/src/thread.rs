//! The runs of a thread, for every value that its loads may see.

use crate::{
    Error, Result,
    test::{
        Address,
        Compute::{
            self, Add, And, Clear, Multiply, Or, OrNot, ShiftLeft, ShiftRight, ShiftRightSigned,
            Sub, Xor, XorNot,
        },
        Field,
        Instruction::{
            self, Barrier, Branch, BranchBits, BranchFlags, ClearExclusive, CompareAndSwap,
            Extract, Insert, Load, Maintain, Nothing, Select, Store,
        },
        Kind::{self, Clean, CleanAndInvalidate, Read, Write},
        Operand, Orders, Register, SelectKind, SizedRegister, Test, Test1, Update, Width,
        Writeback,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// Effects of a thread.
const MOST_EFFECTS: usize = 48;
/// Runs of a thread.
const MOST_RUNS: usize = 200_000;

/// An effect of a thread. Sets of earlier reads of the thread are bits by their number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effect {
    /// Kind of the effect.
    pub kind: Kind,
    /// The location, of a memory effect.
    pub location: usize,
    /// The value, of a memory effect.
    pub value: u64,
    /// Reads on whose values its address depends.
    pub address: u64,
    /// Reads on whose values the value that it writes depends.
    pub data: u64,
    /// The size in bytes, of a memory effect.
    pub bytes: u8,
    /// Reads whose values decide which value is written, or whether one is: those that a
    /// conditional select or a compare-and-swap compares with (B2.3, "Pick data dependency"). Like
    /// the next two it includes what depends without picking. A read has here and in `data` what it
    /// gets from the last write of its thread to its location.
    pub pick: u64,
    /// Reads whose values decide its address.
    pub pick_address: u64,
    /// Reads on whose values it depends that the thread came here.
    pub control: u64,
    /// The same, with those that picked a value for that.
    pub pick_control: u64,
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
    /// The other access of an exclusive pair: both are one single-copy atomic access.
    pub twin: Option<usize>,
    /// A read whose value no register gets.
    pub no_return: bool,
    /// A barrier that is a DSB: all later instructions wait for it.
    pub is_synchronization: bool,
}

/// A run of a thread.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its effects, in program order.
    pub effects: Vec<Effect>,
    /// The registers at its end.
    pub registers: BTreeMap<Register, Value>,
    /// Of a run that ends in the middle of a loop, its first effect of the round that it can repeat
    /// for ever. It does so if that round reads what stays.
    pub(crate) repeats: Option<usize>,
}

/// A value, and the reads on which it depends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Value {
    /// The value.
    pub value: u64,
    /// The reads, as a set of bits by their numbers.
    pub from: u64,
    /// Reads on which it depends, and reads that decided which value it is.
    picked: u64,
}

impl Value {
    fn known(value: u64) -> Self {
        Self {
            value,
            from: 0,
            picked: 0,
        }
    }

    /// Another value that depends on the same reads.
    fn with(self, value: u64) -> Self {
        Self { value, ..self }
    }

    /// A value that is made of two.
    fn of(value: u64, one: Self, other: Self) -> Self {
        Self {
            value,
            from: one.from | other.from,
            picked: one.picked | other.picked,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Flags {
    /// The operands of the last comparison, as one number less the other or both anded.
    zero: bool,
    negative: bool,
    carry: bool,
    overflow: bool,
    of: Value,
}

#[derive(Clone)]
struct State<'t> {
    test: &'t Test,
    thread: usize,
    at: usize,
    registers: BTreeMap<Register, Value>,
    flags: Flags,
    effects: Vec<Effect>,
    control: u64,
    pick_control: u64,
    /// The reads of the last exclusive load, and their locations.
    exclusive: Vec<(usize, usize)>,
    jumps: Vec<Jump>,
    /// Stores that failed though their monitor was set: a loop may not count on one.
    failures: usize,
    /// See [`Run::repeats`].
    repeats: Option<usize>,
}

/// A jump backwards.
#[derive(Clone)]
struct Jump {
    /// Where to, the writes before it, and the registers' values.
    state: (usize, usize, Vec<u64>),
    /// The effects before it, and the failures.
    effects: usize,
    failures: usize,
}

/// The runs of a thread, and whether runs with more jumps backwards could come to another end.
type ThreadRuns = (Vec<Run>, bool);

/// Values that locations may have.
pub type Values = Vec<BTreeSet<u64>>;

/// All runs of a thread.
///
/// # Errors
/// It accesses what is no location, or there are too many runs.
pub fn runs(test: &Test, thread: usize, values: &Values) -> Result<ThreadRuns> {
    let registers = test.registers[thread]
        .iter()
        .map(|(register, value)| (*register, Value::known(*value)));
    let first = State {
        test,
        thread,
        at: 0,
        registers: registers.collect(),
        flags: Flags::default(),
        effects: vec![],
        control: 0,
        pick_control: 0,
        exclusive: vec![],
        jumps: vec![],
        failures: 0,
        repeats: None,
    };
    let mut open = vec![first];
    let (mut done, mut is_cut) = (vec![], false);
    while let Some(mut state) = open.pop() {
        let instructions = &test.threads[thread];
        while let Some(instruction) = instructions.get(state.at) {
            state.at += 1;
            let goes_on = state.step(instruction, values, &mut open)?;
            if state.repeats.is_some() {
                done.push(state.run());
                state.repeats = None;
            }
            if !goes_on {
                break;
            }
        }
        if state.jumps.len() > test.unroll as usize {
            is_cut |= state.earlier().is_none();
        } else if state.at >= instructions.len() {
            done.push(state.run());
        }
        if done.len() + open.len() > MOST_RUNS {
            return Err(Error::unsupported(
                0,
                format!("thread {thread} has more than {MOST_RUNS} runs"),
            ));
        }
    }
    Ok((done, is_cut))
}

impl State<'_> {
    fn run(&self) -> Run {
        Run {
            effects: self.effects.clone(),
            registers: self.registers.clone(),
            repeats: self.repeats,
        }
    }

    fn get(&self, register: Register) -> Value {
        self.registers.get(&register).copied().unwrap_or_default()
    }

    fn set(&mut self, to: SizedRegister, value: Value) {
        if to.register != Register::ZERO {
            let value = value.with(to.cut(value.value));
            self.registers.insert(to.register, value);
        }
    }

    fn sized(&self, from: SizedRegister) -> Value {
        let value = self.get(from.register);
        value.with(from.cut(value.value))
    }

    fn operand(&self, operand: Operand) -> Value {
        match operand {
            Operand::Number(value) => Value::known(value),
            Operand::Register(register, extend) => {
                let found = self.get(register.register);
                let value = match (extend.signed_word, extend.word) {
                    (true, _) => i64::from(found.value as u32 as i32).cast_unsigned(),
                    (false, true) => found.value & 0xffff_ffff,
                    (false, false) => found.value,
                };
                found.with(value << extend.shift)
            }
        }
    }

    /// The places of `count` accesses to neighbours of this width.
    fn places(&mut self, address: &Address, width: Width, count: usize) -> Result<Vec<Place>> {
        let base = self.get(address.base);
        let offset = self.operand(address.offset);
        let sum = Value::of(base.value.wrapping_add(offset.value), base, offset);
        let at = if address.writeback == Writeback::After {
            base
        } else {
            sum
        };
        if address.writeback != Writeback::No {
            self.set(
                SizedRegister {
                    register: address.base,
                    wide: true,
                },
                sum,
            );
        }
        let place = |number: u64| {
            let place = at.value.wrapping_add(number * width.bytes as u64);
            Ok(Place {
                location: self.test.location_at(place).ok_or_else(|| {
                    Error::unsupported(
                        0,
                        format!(
                            "thread {} accesses {place:#x}, which is no location",
                            self.thread
                        ),
                    )
                })?,
                at,
                width,
            })
        };
        (0..count as u64).map(place).collect()
    }

    fn all_sized(&self, registers: &[SizedRegister]) -> Vec<Value> {
        registers
            .iter()
            .map(|register| self.sized(*register))
            .collect()
    }

    fn effect(&self, kind: Kind) -> Effect {
        Effect {
            kind,
            control: self.control,
            pick_control: self.pick_control,
            ..Effect::default()
        }
    }

    fn push(&mut self, effect: Effect) -> Result<usize> {
        if self.effects.len() == MOST_EFFECTS {
            return Err(Error::unsupported(
                0,
                format!("a thread has more than {MOST_EFFECTS} accesses and barriers"),
            ));
        }
        self.effects.push(effect);
        Ok(self.effects.len() - 1)
    }

    fn read(&mut self, place: Place, orders: Orders, no_return: bool, value: u64) -> Result<usize> {
        let read = self.effect(Read);
        // What the thread itself wrote last there carries its dependencies, whoever wrote what is
        // read.
        let (data, pick) = self
            .effects
            .iter()
            .rfind(|effect| effect.kind == Write && effect.location == place.location)
            .map_or((0, 0), |write| {
                (write.data | write.address, write.pick | write.pick_address)
            });
        self.push(Effect {
            value: place.width.cut(value),
            data,
            pick,
            // Without a register for the value nothing is acquired (Arm ARM C6, LDADD and the like:
            // "if the destination register is not XZR or WZR").
            acquire: orders.acquire && !no_return,
            acquire_pc: orders.acquire_pc,
            no_return,
            ..place.of(read)
        })
    }

    /// The value that a register gets from a read.
    fn returned(&self, value: u64, read: usize) -> Value {
        let Effect { data, pick, .. } = self.effects[read];
        Value {
            value,
            from: data | 1 << read,
            picked: pick | 1 << read,
        }
    }

    fn write(&mut self, place: Place, release: bool, value: Value) -> Result<usize> {
        let write = self.effect(Write);
        let stored = place.width.cut(value.value);
        self.push(Effect {
            value: stored,
            data: value.from,
            pick: value.picked,
            release,
            ..place.of(write)
        })
    }

    fn make_pair(&mut self, read: usize, write: usize, atomic_instruction: bool) {
        for (one, other) in [(read, write), (write, read)] {
            self.effects[one].pair = Some(other);
            self.effects[one].atomic_instruction = atomic_instruction;
        }
    }

    /// Two accesses are one; of one alone nothing is changed.
    fn make_twins(&mut self, accesses: &[usize]) {
        if let [one, other] = *accesses {
            self.effects[one].twin = Some(other);
            self.effects[other].twin = Some(one);
        }
    }

    fn jump(&mut self, to: usize) -> bool {
        if to < self.at {
            let values = self.registers.values().map(|value| value.value).collect();
            let writes = self
                .effects
                .iter()
                .filter(|effect| effect.kind == Write)
                .count();
            self.jumps.push(Jump {
                state: (to, writes, values),
                effects: self.effects.len(),
                failures: self.failures,
            });
            let round = self.earlier();
            let round = round.filter(|earlier| earlier.failures == self.failures);
            self.repeats = round.map(|earlier| earlier.effects);
        }
        self.at = to;
        self.jumps.len() <= self.test.unroll as usize
    }

    /// The earlier jump backwards after which all was as it is after the last one: a loop that
    /// waits. To go round it again leads nowhere else.
    fn earlier(&self) -> Option<&Jump> {
        let (last, before) = self.jumps.split_last()?;
        before.iter().rfind(|jump| jump.state == last.state)
    }

    /// Does one instruction. Where something is to be chosen, all other choices go to `open`. False
    /// if this run is cut.
    fn step(
        &mut self,
        instruction: &Instruction,
        values: &Values,
        open: &mut Vec<Self>,
    ) -> Result<bool> {
        match instruction {
            Load { .. } => self.load(instruction, values, open),
            Store {
                status,
                from,
                width,
                address,
                orders,
            } => {
                let stored = self.all_sized(from);
                let stores = self
                    .places(address, *width, from.len())?
                    .into_iter()
                    .zip(stored)
                    .collect();
                match status {
                    Some(status) => self.store_exclusively(*status, stores, *orders, open)?,
                    None => stores.into_iter().try_for_each(|(place, value)| {
                        self.write(place, orders.release, value).map(drop)
                    })?,
                }
                Ok(true)
            }
            CompareAndSwap { .. } => self.compare_and_swap(instruction, values, open),
            Instruction::Update { .. } => self.update(instruction, values, open),
            Branch { .. } | BranchBits { .. } | BranchFlags { .. } => Ok(self.branch(instruction)),
            _ => self.compute(instruction).map(|()| true),
        }
    }

    /// An instruction that only registers, flags or the monitor take part in, or a barrier.
    fn compute(&mut self, instruction: &Instruction) -> Result<()> {
        match instruction {
            Nothing => {}
            Instruction::Compute {
                what,
                to,
                left,
                right,
                sets_flags,
            } => {
                let (left, right) = (self.sized(*left), self.operand(*right));
                let value = Value::of(
                    to.cut(computed(*what, *to, left.value, right.value)),
                    left,
                    right,
                );
                if *sets_flags {
                    self.flags = flags(*what, *to, left.value, right.value, value);
                }
                self.set(*to, value);
            }
            Insert { to, mask, value } => {
                let old = self.get(to.register);
                self.set(*to, old.with(old.value & !mask | value));
            }
            Extract {
                to,
                from,
                field: Field { low, width, signed },
            } => {
                let found = self.sized(*from);
                let unused = 64 - width;
                let high = (found.value >> low) << unused;
                let value = if *signed {
                    (high.cast_signed() >> unused).cast_unsigned()
                } else {
                    high >> unused
                };
                self.set(*to, found.with(value));
            }
            Select { .. } => self.select(instruction),
            ClearExclusive => self.exclusive.clear(),
            Barrier {
                kind,
                is_synchronization,
            } => {
                let effect = self.effect(*kind);
                self.push(Effect {
                    is_synchronization: *is_synchronization,
                    ..effect
                })?;
            }
            Maintain {
                address,
                invalidate,
                ..
            } => {
                let kind = match invalidate {
                    false => Clean,
                    true => CleanAndInvalidate,
                };
                let location = self.places(address, Width::INT, 1)?[0].location;
                let effect = self.effect(kind);
                self.push(Effect { location, ..effect })?;
            }
            other => unreachable!("{other:?} is no computation"),
        }
        Ok(())
    }

    /// A conditional select.
    fn select(&mut self, instruction: &Instruction) {
        let Select {
            to,
            left,
            right,
            kind,
            when,
        } = instruction
        else {
            unreachable!("{instruction:?} is no conditional select");
        };
        let chosen = if self.flags.hold(*when) {
            self.sized(*left)
        } else {
            let right = self.sized(*right);
            right.with(match kind {
                SelectKind::Csel => right.value,
                SelectKind::Csinc => right.value.wrapping_add(1),
                SelectKind::Csinv => !right.value,
                SelectKind::Csneg => right.value.wrapping_neg(),
            })
        };
        self.set(
            *to,
            Value {
                picked: chosen.picked | self.flags.of.picked,
                ..chosen
            },
        );
    }

    /// A branch; false if the run is cut since it jumps too often.
    fn branch(&mut self, instruction: &Instruction) -> bool {
        match instruction {
            Branch { to } => return self.jump(*to),
            BranchBits {
                of,
                mask,
                nonzero,
                to,
            } => {
                let value = self.sized(*of);
                self.control |= value.from;
                self.pick_control |= value.picked;
                if (value.value & mask != 0) == *nonzero {
                    return self.jump(*to);
                }
            }
            BranchFlags { when, to } => {
                self.control |= self.flags.of.from;
                self.pick_control |= self.flags.of.picked;
                if self.flags.hold(*when) {
                    return self.jump(*to);
                }
            }
            other => unreachable!("{other:?} is no branch"),
        }
        true
    }

    /// A load or a pair of them, one run for each value.
    fn load(
        &mut self,
        instruction: &Instruction,
        values: &Values,
        open: &mut Vec<Self>,
    ) -> Result<bool> {
        let Load {
            to,
            width,
            address,
            orders,
            exclusive,
        } = instruction
        else {
            unreachable!("{instruction:?} is no load");
        };
        let places = self.places(address, *width, to.len())?;
        let load = |state: &mut Self, found: &[u64]| {
            let mut reads = vec![];
            for ((value, place), to) in found.iter().zip(&places).zip(to) {
                let read = state.read(*place, *orders, false, *value)?;
                reads.push((read, place.location));
                let value = state.returned(width.extended(*value), read);
                state.set(*to, value);
            }
            if *exclusive {
                state.make_twins(&reads.iter().map(|(read, _)| *read).collect::<Vec<_>>());
                state.exclusive = reads;
            }
            Ok(())
        };
        self.fork(
            places.iter().map(|place| &values[place.location]),
            open,
            load,
        )
    }

    /// A compare-and-swap of one register or of a pair, one run for each value.
    fn compare_and_swap(
        &mut self,
        instruction: &Instruction,
        values: &Values,
        open: &mut Vec<Self>,
    ) -> Result<bool> {
        let CompareAndSwap {
            expected,
            new,
            width,
            address,
            orders,
        } = instruction
        else {
            unreachable!("{instruction:?} is no compare-and-swap");
        };
        let (wanted, new) = (self.all_sized(expected), self.all_sized(new));
        let places = self.places(address, *width, expected.len())?;
        let no_return = expected.iter().all(|to| to.register == Register::ZERO);
        let results = kept(&wanted);
        let swap = |state: &mut Self, chosen: &[u64]| {
            let (found, keeps) = chosen.split_at(places.len());
            let found: Vec<u64> = found.iter().map(|value| width.cut(*value)).collect();
            let mut reads = vec![];
            for (place, value) in places.iter().zip(&found) {
                let read = state.read(*place, *orders, no_return, *value)?;
                reads.push(read);
            }
            let is_found = found
                .iter()
                .zip(&wanted)
                .all(|(found, wanted)| *found == width.cut(wanted.value));
            if is_found {
                for ((place, new), read) in places.iter().zip(&new).zip(&reads) {
                    let write = state.write(*place, orders.release, *new)?;
                    state.make_pair(*read, write, true);
                }
                state.pick_last(places.len(), &wanted, &reads);
            }
            for (to, value) in expected.iter().zip(found) {
                let value = state.result(value, &wanted, &reads, is_found && keeps == [1]);
                state.set(*to, value);
            }
            Ok(())
        };
        self.fork(
            places
                .iter()
                .map(|place| &values[place.location])
                .chain([&results]),
            open,
            swap,
        )
    }

    /// The values that a compare-and-swap compares pick what its last writes store.
    fn pick_last(&mut self, writes: usize, wanted: &[Value], reads: &[usize]) {
        let of_reads = reads.iter().fold(0, |all, read| all | 1 << read);
        let picked = wanted.iter().fold(of_reads, |all, one| all | one.picked);
        self.effects
            .iter_mut()
            .rev()
            .take(writes)
            .for_each(|write| write.pick |= picked);
    }

    /// The result of a compare-and-swap. A register that keeps what was expected, since memory had
    /// it, depends on that, and what was read picks it; else it has what was read.
    fn result(&self, value: u64, wanted: &[Value], reads: &[usize], keeps: bool) -> Value {
        let join = |all: Vec<Value>| {
            let all = all.into_iter();
            all.reduce(|one, other| Value::of(value, one, other))
                .unwrap_or_default()
        };
        let read = join(
            reads
                .iter()
                .map(|read| self.returned(value, *read))
                .collect(),
        );
        if !keeps {
            return read;
        }
        let Value { from, picked, .. } = join(wanted.to_vec());
        Value {
            value,
            from,
            picked: picked | read.picked,
        }
    }

    /// A read-modify-write in one instruction, one run for each value.
    fn update(
        &mut self,
        instruction: &Instruction,
        values: &Values,
        open: &mut Vec<Self>,
    ) -> Result<bool> {
        let Instruction::Update {
            what,
            operand,
            to,
            width,
            address,
            orders,
        } = instruction
        else {
            unreachable!("{instruction:?} is no read-modify-write");
        };
        let operand = self.sized(*operand);
        let place = self.places(address, *width, 1)?[0];
        let no_return = to.register == Register::ZERO;
        let update = |state: &mut Self, found: &[u64]| {
            let old = width.cut(found[0]);
            let read = state.read(place, *orders, no_return, old)?;
            let new = updated(*what, *to, *width, old, width.cut(operand.value));
            let write = state.write(place, orders.release, operand.with(new))?;
            state.effects[write].data |= 1 << read;
            state.effects[write].pick |= 1 << read;
            state.make_pair(read, write, true);
            let value = state.returned(old, read);
            state.set(*to, value);
            Ok(())
        };
        self.fork([&values[place.location]], open, update)
    }

    /// Stores what the monitor was set for, or fails: then one of both is left for later.
    fn store_exclusively(
        &mut self,
        status: SizedRegister,
        stores: Vec<(Place, Value)>,
        orders: Orders,
        open: &mut Vec<Self>,
    ) -> Result<()> {
        let monitored = std::mem::take(&mut self.exclusive);
        let mut failed = self.clone();
        // The status depends on no read: it is known whether the store will succeed before what is
        // stored.
        failed.set(status, Value::known(1));
        let is_set = monitored
            .iter()
            .map(|(_, location)| *location)
            .eq(stores.iter().map(|(place, _)| place.location));
        if !is_set {
            *self = failed;
            return Ok(());
        }
        failed.failures += 1;
        open.push(failed);
        let mut writes = vec![];
        for ((place, value), (read, _)) in stores.into_iter().zip(monitored) {
            let write = self.write(place, orders.release, value)?;
            self.make_pair(read, write, false);
            writes.push(write);
        }
        self.make_twins(&writes);
        self.set(status, Value::known(0));
        Ok(())
    }

    /// Goes on with the first values of what is read, and leaves the others to be tried later.
    fn fork<'v>(
        &mut self,
        values: impl IntoIterator<Item = &'v BTreeSet<u64>>,
        open: &mut Vec<Self>,
        go_on: impl Fn(&mut Self, &[u64]) -> Result<()>,
    ) -> Result<bool> {
        let mut combined = vec![vec![]];
        for values in values {
            let with = |so_far: &Vec<u64>| {
                let so_far = so_far.clone();
                values
                    .iter()
                    .map(move |value| [&so_far[..], &[*value]].concat())
            };
            combined = combined.iter().flat_map(with).collect();
        }
        let mut combined = combined.into_iter();
        let Some(first) = combined.next() else {
            return Ok(false);
        };
        for values in combined {
            let mut other = self.clone();
            go_on(&mut other, &values)?;
            open.push(other);
        }
        go_on(self, &first)?;
        Ok(true)
    }
}

/// The results that a compare-and-swap that succeeds may give its register: 1, that it keeps what
/// was expected, and 0, that it gets what was read. Where nothing was loaded for what is expected,
/// to keep it allows all that the other does.
fn kept(wanted: &[Value]) -> BTreeSet<u64> {
    let depends = wanted.iter().any(|wanted| wanted.picked != 0);
    (u64::from(!depends)..=1).collect()
}

/// Location, size and dependencies of an access.
#[derive(Clone, Copy)]
struct Place {
    location: usize,
    /// The address, for the reads on which it depends.
    at: Value,
    width: Width,
}

impl Place {
    fn of(self, effect: Effect) -> Effect {
        Effect {
            location: self.location,
            address: self.at.from,
            pick_address: self.at.picked,
            bytes: self.width.bytes,
            ..effect
        }
    }
}

impl Flags {
    /// As ConditionHolds of the Arm ARM.
    fn hold(self, when: Test1) -> bool {
        let holds = match when.0 >> 1 {
            0 => self.zero,
            1 => self.carry,
            2 => self.negative,
            3 => self.overflow,
            4 => self.carry && !self.zero,
            5 => self.negative == self.overflow,
            6 => !self.zero && self.negative == self.overflow,
            _ => return true,
        };
        holds != (when.0 & 1 == 1)
    }
}

fn computed(what: Compute, size: SizedRegister, left: u64, right: u64) -> u64 {
    // A register shifts by the low bits of the number.
    let by = right as u32 & if size.wide { 63 } else { 31 };
    match what {
        Add => left.wrapping_add(right),
        Sub => left.wrapping_sub(right),
        And => left & right,
        Or => left | right,
        Xor => left ^ right,
        Clear => left & !right,
        OrNot => left | !right,
        XorNot => left ^ !right,
        Multiply => left.wrapping_mul(right),
        ShiftLeft => left << by,
        ShiftRight => left >> by,
        ShiftRightSigned => (Width::of(size).signed(left) >> by).cast_unsigned(),
    }
}

fn flags(what: Compute, size: SizedRegister, left: u64, right: u64, of: Value) -> Flags {
    let negative = |value: u64| value >> (if size.wide { 63 } else { 31 }) & 1 == 1;
    let right = size.cut(right);
    let (carry, overflow) = match what {
        Sub => (
            left >= right,
            negative(left) != negative(right) && negative(of.value) != negative(left),
        ),
        Add => (
            of.value < left,
            negative(left) == negative(right) && negative(of.value) != negative(left),
        ),
        _ => (false, false),
    };
    Flags {
        zero: of.value == 0,
        negative: negative(of.value),
        carry,
        overflow,
        of,
    }
}

fn updated(what: Update, size: SizedRegister, width: Width, old: u64, operand: u64) -> u64 {
    let of_two = |takes_old: bool| if takes_old { old } else { operand };
    match what {
        Update::Swap => operand,
        Update::Compute(what) => computed(what, size, old, operand),
        Update::SignedMax => of_two(width.signed(old) >= width.signed(operand)),
        Update::SignedMin => of_two(width.signed(old) <= width.signed(operand)),
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
pub fn all_runs(test: &Test) -> Result<Vec<ThreadRuns>> {
    let mut values = test
        .initial
        .iter()
        .map(|value| BTreeSet::from([*value]))
        .collect();
    let mut round = 0;
    loop {
        let all: Vec<ThreadRuns> = (0..test.threads.len())
            .map(|thread| runs(test, thread, &values))
            .collect::<Result<_>>()?;
        let known = values.iter().map(BTreeSet::len).sum();
        let mut stores = 0;
        for run in all.iter().flat_map(|(runs, _)| runs) {
            let writes = run.effects.iter().filter(|effect| effect.kind == Write);
            stores = stores.max(writes.clone().count());
            for write in writes {
                values[write.location].insert(write.value);
            }
        }
        round += 1;
        if values.iter().map(BTreeSet::len).sum::<usize>() == known
            || round > stores * test.threads.len()
        {
            one_size_each(test, &all)?;
            return Ok(all);
        }
    }
}

/// Holds that all accesses of a location have one size, and that of its type.
///
/// # Errors
/// The location that is accessed in several sizes.
fn one_size_each(test: &Test, all: &[ThreadRuns]) -> Result<()> {
    let mut sizes = vec![None; test.locations.len()];
    for effect in all
        .iter()
        .flat_map(|(runs, _)| runs)
        .flat_map(|run| &run.effects)
        .filter(|effect| effect.bytes != 0)
    {
        let object = test.object_of(effect.location);
        let declared = object.and_then(|object| Some(object.width?.bytes));
        let known = &mut sizes[effect.location];
        let expected = known.or(declared).unwrap_or(effect.bytes);
        // What is no array has nothing behind it: there a word and a doubleword are one.
        let is_alone = object.is_some_and(|object| object.elements.is_none());
        if expected != effect.bytes && !(is_alone && expected.min(effect.bytes) >= 4) {
            return Err(Error::unsupported(
                0,
                format!(
                    "accesses of several sizes to `{}`: {expected} and {} bytes",
                    test.locations[effect.location], effect.bytes
                ),
            ));
        }
        *known = Some(expected);
    }
    Ok(())
}
