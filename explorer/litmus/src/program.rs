//! A test as the accesses of each thread in a row, with what each depends on: what a machine needs
//! that performs them one by one.

use crate::Error;
use crate::test::{
    Address, Barrier, Compute, Condition, Extend, Instruction, Operand, Orders, Register, Test,
    Variable, Width, Writeback,
};
use std::collections::BTreeMap;

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
    registers: Vec<BTreeMap<Register, Content>>,
}

impl Program {
    /// The program of a test.
    ///
    /// # Errors
    /// The test has atomics, loops, or values that are computed from what was loaded.
    pub fn of(test: &Test) -> Result<Self, Error> {
        let mut threads = Vec::new();
        let mut loads = 0;
        let mut registers = Vec::new();
        for (instructions, initial) in test.threads.iter().zip(&test.registers) {
            let known = initial
                .iter()
                .map(|(register, value)| (*register, Content::number(*value)))
                .collect();
            let mut thread = Thread {
                test,
                registers: known,
                loads,
                operations: Vec::new(),
            };
            for (at, instruction) in instructions.iter().enumerate() {
                thread.add(at, instruction)?;
            }
            loads = thread.loads;
            threads.push(thread.operations);
            registers.push(thread.registers);
        }
        Ok(Self {
            threads,
            loads,
            initial: test.initial.clone(),
            caches_off: caches_off(test)?,
            condition: test.condition.clone(),
            locations: test.locations.clone(),
            registers,
        })
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
                let content = self.registers[*thread].get(&Register(*number));
                match content.map_or(Value::Number(0), |content| content.value) {
                    Value::Number(number) => Some(number),
                    Value::Loaded(load) => loaded.get(load).copied(),
                }
            }
        }
    }
}

/// Threads whose caches are off.
fn caches_off(test: &Test) -> Result<Vec<bool>, Error> {
    let mut off = vec![false; test.threads.len()];
    let named = test.information.get("CachesOff").map_or("", String::as_str);
    for name in named.split_whitespace() {
        let thread = name
            .strip_prefix('P')
            .and_then(|number| number.parse::<usize>().ok())
            .and_then(|number| off.get_mut(number));
        *thread.ok_or_else(|| {
            Error::unsupported(0, format!("`CachesOff={named}`: `{name}` is no thread"))
        })? = true;
    }
    Ok(off)
}

/// The content of a register.
#[derive(Clone, Copy, Debug)]
struct Content {
    value: Value,
    /// The load on which it depends.
    from: Option<usize>,
}

impl Content {
    fn number(number: u64) -> Self {
        Self {
            value: Value::Number(number),
            from: None,
        }
    }
}

struct Thread<'t> {
    test: &'t Test,
    registers: BTreeMap<Register, Content>,
    loads: usize,
    operations: Vec<Operation>,
}

fn no_plain_access(instruction: &Instruction) -> Error {
    Error::unsupported(
        0,
        format!("an instruction that is no plain access: {instruction:?}"),
    )
}

impl Thread<'_> {
    fn add(&mut self, at: usize, instruction: &Instruction) -> Result<(), Error> {
        let operation = match instruction {
            Instruction::Nothing => return Ok(()),
            Instruction::Move { to, from } => {
                let known = self.operand(*from)?;
                self.set(to.register, known);
                return Ok(());
            }
            Instruction::Compute {
                what,
                to,
                left,
                right,
                sets_flags: false,
            } => {
                let (left, right, other) = (left.register, *right, self.operand(*right)?);
                let known = compute(*what, (left, right), self.known(left), other)?;
                self.set(to.register, known);
                return Ok(());
            }
            Instruction::Load { .. } | Instruction::Store { .. } => self.access(instruction)?,
            Instruction::Maintain {
                address,
                invalidate,
                ..
            } => Operation::Maintain {
                location: self.location(*address)?.0,
                invalidate: *invalidate,
            },
            Instruction::Barrier {
                barrier,
                is_synchronization,
            } => match (barrier, is_synchronization) {
                (Barrier::Full, _) => Operation::BarrierFull,
                (Barrier::Load, false) => Operation::BarrierLoad,
                (Barrier::Store, false) => Operation::BarrierStore,
                (Barrier::Instruction, _) => Operation::Synchronize,
                (Barrier::Load | Barrier::Store, true) => return Err(no_plain_access(instruction)),
            },
            Instruction::BranchBits {
                of,
                mask: u64::MAX,
                to,
                ..
            } if *to == at + 1 => match self.known(of.register).from {
                Some(load) => Operation::Branch(load),
                None => return Ok(()),
            },
            other => return Err(no_plain_access(other)),
        };
        self.operations.push(operation);
        Ok(())
    }

    /// A load or store of one register.
    fn access(&mut self, instruction: &Instruction) -> Result<Operation, Error> {
        match instruction {
            Instruction::Load {
                to,
                width: Width { signed: false, .. },
                address,
                orders,
                exclusive: false,
            } if to.len() == 1 => {
                let (location, address) = self.location(*address)?;
                let number = self.loads;
                self.loads += 1;
                self.set(
                    to[0].register,
                    Content {
                        value: Value::Loaded(number),
                        from: Some(number),
                    },
                );
                Ok(Operation::Load {
                    location,
                    number,
                    order: order(*orders),
                    address,
                })
            }
            Instruction::Store {
                status: None,
                from,
                address,
                orders,
                ..
            } if from.len() == 1 => {
                let (location, address) = self.location(*address)?;
                let Content { value, from: data } = self.known(from[0].register);
                Ok(Operation::Store {
                    location,
                    value,
                    order: order(*orders),
                    address,
                    data,
                })
            }
            other => Err(no_plain_access(other)),
        }
    }

    fn known(&self, register: Register) -> Content {
        self.registers
            .get(&register)
            .copied()
            .unwrap_or(Content::number(0))
    }

    fn set(&mut self, register: Register, known: Content) {
        if register != Register::ZERO {
            self.registers.insert(register, known);
        }
    }

    fn operand(&self, operand: Operand) -> Result<Content, Error> {
        match operand {
            Operand::Number(number) => Ok(Content::number(number)),
            Operand::Register(register, Extend { shift: 0, .. }) => {
                Ok(self.known(register.register))
            }
            Operand::Register(..) => Err(Error::unsupported(0, "a register that is shifted")),
        }
    }

    /// The location of an address, and the load on which the address depends.
    fn location(&self, address: Address) -> Result<(usize, Option<usize>), Error> {
        let Content { value, from } = compute(
            Compute::Add,
            (address.base, address.offset),
            self.known(address.base),
            self.operand(address.offset)?,
        )?;
        let location = match (value, address.writeback) {
            (Value::Number(address), Writeback::No) => self.test.location_at(address),
            _ => None,
        };
        Ok((
            location.ok_or_else(|| Error::unsupported(0, "an address that is no location's"))?,
            from,
        ))
    }
}

fn order(orders: Orders) -> Order {
    match orders {
        Orders { acquire: true, .. } | Orders { release: true, .. } => Order::Ordered,
        Orders {
            acquire_pc: true, ..
        } => Order::AcquirePc,
        _ => Order::Plain,
    }
}

/// The result of a computation: of numbers, or of a loaded value with itself.
fn compute(
    what: Compute,
    of: (Register, Operand),
    left: Content,
    right: Content,
) -> Result<Content, Error> {
    let is_same = matches!(of, (left, Operand::Register(right, _)) if left == right.register);
    let value = match (what, left.value, right.value) {
        (Compute::Xor | Compute::Sub, _, _) if is_same => 0,
        (Compute::Add, Value::Number(left), Value::Number(right)) => left.wrapping_add(right),
        (Compute::And, _, Value::Number(0)) => 0,
        _ => {
            return Err(Error::unsupported(
                0,
                "a value that is computed from what was loaded",
            ));
        }
    };
    let from = match (left.from, right.from) {
        (Some(left), Some(right)) if left != right => {
            return Err(Error::unsupported(0, "a value that depends on two loads"));
        }
        (left, right) => left.or(right),
    };
    Ok(Content {
        value: Value::Number(value),
        from,
    })
}
