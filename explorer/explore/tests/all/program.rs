//! A test as the accesses of each thread in a row, with what each depends on: what a machine needs
//! that performs them one by one.

use ::litmus::Instruction::{self, Barrier, BranchBits, Compute, Load, Maintain, Nothing, Store};
use ::litmus::{Condition, Effect, Error, ErrorKind, Kind, Register, Run, Test, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// The order that an access asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// `LDR`, `STR`.
    Plain,
    /// `LDAR`, `STLR`.
    Ordered,
    /// `LDAPR`.
    AcquirePc,
}

/// A value that is stored or that a register ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// The result of a load, by the load's number.
    Loaded(usize),
}

/// An operation of a thread. Loads are numbered through all threads, and dependencies name them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// A load.
    Load {
        /// The number of the location.
        location: usize,
        /// The number of the load.
        number: usize,
        /// The order.
        order: Order,
        /// The load on which the address depends.
        address: Option<usize>,
    },
    /// A store.
    Store {
        /// The number of the location.
        location: usize,
        /// The value.
        value: Value,
        /// The order.
        order: Order,
        /// The load on which the address depends.
        address: Option<usize>,
        /// The load on which the value depends.
        data: Option<usize>,
    },
    /// `DC CVAC`, or `DC CIVAC`.
    Maintain {
        /// The number of the location whose line it is.
        location: usize,
        /// True if the line leaves the caches.
        invalidate: bool,
    },
    /// `DSB SY` or `DMB SY`.
    BarrierFull,
    /// `DMB LD`.
    BarrierLoad,
    /// `DMB ST`.
    BarrierStore,
    /// A branch that depends on a load, and leads to the next instruction either way.
    Branch(usize),
    /// `ISB`.
    Synchronize,
}

/// A test as accesses in a row.
#[derive(Clone, Debug)]
pub struct Program {
    /// The operations of each thread, in program order.
    pub threads: Vec<Vec<Operation>>,
    /// Loads of all threads.
    pub loads: usize,
    /// The value that each location begins with.
    pub initial: Vec<u64>,
    /// True for a thread whose caches are off: the test says `CachesOff=P1` before its initial
    /// state.
    pub caches_off: Vec<bool>,
    /// The condition that the test asks about.
    pub condition: Condition,
    locations: Vec<String>,
    registers: Vec<BTreeMap<Register, Value>>,
}

/// A value that a location is said to hold, so that what is loaded there can be told; each test is
/// run with two of them.
fn mark(location: usize, other: bool) -> u64 {
    0x80 + 0x40 * u64::from(other) + location as u64
}

/// The runs of the threads where each location holds its mark. A test has no more than plain
/// accesses, barriers and dependencies.
fn runs(test: &Test, other: bool) -> Result<Vec<Vec<Run>>, Error> {
    let locations = 0..test.locations.len();
    let marks = locations.map(|location| BTreeSet::from([mark(location, other)]));
    let marks = marks.collect();
    let of_thread = |(thread, instructions): (usize, &Vec<Instruction>)| {
        let is_plain = |(at, instruction): &(usize, &Instruction)| match instruction {
            BranchBits { to, .. } => *to == at + 1,
            Load { exclusive, .. } => !exclusive,
            Store { status, .. } => status.is_none(),
            Nothing | Compute { .. } | Maintain { .. } | Barrier { .. } => true,
            _ => false,
        };
        match instructions.iter().enumerate().find(|one| !is_plain(one)) {
            None => Ok(::litmus::runs(test, thread, &marks)?.0),
            Some((_, other)) => {
                let what = format!("an instruction that is no plain access: {other:?}");
                Err(unsupported(what))
            }
        }
    };
    test.threads.iter().enumerate().map(of_thread).collect()
}

impl Program {
    /// The program of a test.
    ///
    /// # Errors
    /// The test has atomics, loops, or values that are computed from what was loaded.
    pub fn of(test: &Test, text: &str) -> Result<Self, Error> {
        let mut program = Self {
            threads: Vec::new(),
            loads: 0,
            initial: test.initial.clone(),
            caches_off: Vec::new(),
            condition: test.condition.clone(),
            locations: test.locations.clone(),
            registers: Vec::new(),
        };
        for (one, other) in runs(test, false)?.iter().zip(&runs(test, true)?) {
            for (one, other) in one.iter().zip(other) {
                program.add(one, other)?;
            }
        }
        program.caches_off = caches_off(text, program.threads.len())?;
        Ok(program)
    }

    /// Adds a thread by two runs of it.
    fn add(&mut self, one: &Run, other: &Run) -> Result<(), Error> {
        let mut reads = Numbers {
            effects: &one.effects,
            numbers: Vec::new(),
        };
        let mut operations = Vec::new();
        let mut control = 0;
        for (effect, twin) in one.effects.iter().zip(&other.effects) {
            let came_by = effect.control & !control;
            operations.extend(reads.newest(came_by)?.map(Operation::Branch));
            control |= came_by;
            let (location, order) = (effect.location, order(effect));
            let address = reads.newest(effect.address)?;
            operations.push(match effect.kind {
                Kind::Read => {
                    self.loads += 1;
                    Operation::Load {
                        location,
                        number: self.loads - 1,
                        order,
                        address,
                    }
                }
                Kind::Write => Operation::Store {
                    location,
                    value: reads.value([effect.value, twin.value], effect.data)?,
                    order,
                    address,
                    data: reads.newest(effect.data)?,
                },
                Kind::Clean | Kind::CleanAndInvalidate => Operation::Maintain {
                    location,
                    invalidate: effect.kind == Kind::CleanAndInvalidate,
                },
                Kind::BarrierFull => Operation::BarrierFull,
                Kind::BarrierInstruction => Operation::Synchronize,
                Kind::BarrierLoad | Kind::BarrierStore if effect.is_synchronization => {
                    return Err(unsupported("a DSB of loads or of stores"));
                }
                Kind::BarrierLoad => Operation::BarrierLoad,
                Kind::BarrierStore => Operation::BarrierStore,
            });
            reads.numbers.push(self.loads.wrapping_sub(1));
        }
        let last = one.registers.iter().zip(other.registers.values());
        let registers = last.map(|((register, value), twin)| {
            Ok((
                *register,
                reads.value([value.value, twin.value], value.from)?,
            ))
        });
        self.registers.push(registers.collect::<Result<_, _>>()?);
        self.threads.push(operations);
        Ok(())
    }

    /// The value that a variable has at the end, if loads have returned these values and locations
    /// hold those.
    pub fn value_of(
        &self,
        variable: &Variable,
        loaded: &[u64],
        held: impl Fn(usize) -> u64,
    ) -> Option<u64> {
        match variable {
            Variable::Location(name) => {
                let location = self.locations.iter().position(|known| known == name)?;
                Some(held(location))
            }
            Variable::Register(thread, number) => {
                match self.registers[*thread].get(&Register(*number)) {
                    Some(Value::Loaded(load)) => loaded.get(*load).copied(),
                    Some(Value::Number(number)) => Some(*number),
                    None => Some(0),
                }
            }
        }
    }
}

/// Threads whose caches are off.
fn caches_off(text: &str, threads: usize) -> Result<Vec<bool>, Error> {
    let mut off = vec![false; threads];
    let mut lines = text.lines();
    let named = lines.find_map(|line| line.trim().strip_prefix("CachesOff="));
    let named = named.unwrap_or_default();
    for name in named.split_whitespace() {
        let thread = name
            .strip_prefix('P')
            .and_then(|number| number.parse::<usize>().ok())
            .and_then(|number| off.get_mut(number));
        *thread
            .ok_or_else(|| unsupported(format!("`CachesOff={named}`: `{name}` is no thread")))? =
            true;
    }
    Ok(off)
}

/// The numbers of a thread's loads.
struct Numbers<'r> {
    effects: &'r [Effect],
    /// By effect; of what is no load any number.
    numbers: Vec<usize>,
}

impl Numbers<'_> {
    /// The newest of these reads: it has the others from memory, where its thread stored them.
    fn newest(&self, reads: u64) -> Result<Option<usize>, Error> {
        let Some(last) = reads.checked_ilog2() else {
            return Ok(None);
        };
        let last = last as usize;
        if reads & !(1 << last) & !self.effects[last].data != 0 {
            return Err(unsupported("a value that depends on two loads"));
        }
        Ok(Some(self.numbers[last]))
    }

    /// A value by what it is with either mark, and the reads behind it.
    fn value(&self, [value, other]: [u64; 2], from: u64) -> Result<Value, Error> {
        let last = from.checked_ilog2().map(|last| last as usize);
        let is_of = |read: &usize| {
            let location = self.effects[*read].location;
            [value, other] == [mark(location, false), mark(location, true)]
        };
        match last.filter(is_of) {
            Some(read) => Ok(Value::Loaded(self.numbers[read])),
            None if value == other => Ok(Value::Number(value)),
            None => {
                let what = "a value that is computed from what was loaded";
                Err(unsupported(what))
            }
        }
    }
}

fn unsupported(what: impl Into<String>) -> Error {
    Error {
        kind: ErrorKind::Unsupported,
        line: 0,
        what: what.into(),
    }
}

fn order(effect: &Effect) -> Order {
    if effect.acquire || effect.release {
        Order::Ordered
    } else if effect.acquire_pc {
        Order::AcquirePc
    } else {
        Order::Plain
    }
}
