//! A litmus test as it was read.

use std::collections::BTreeMap;

/// A register: 0 to 30, or [`Register::ZERO`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Register(pub(crate) u8);

impl Register {
    /// XZR and WZR.
    pub(crate) const ZERO: Self = Self(31);
}

/// A register with the width in which an instruction uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sized {
    pub(crate) register: Register,
    /// True for 64 bits, false for 32.
    pub(crate) wide: bool,
}

impl Sized {
    /// The part of a value that the register holds.
    pub(crate) fn cut(self, value: u64) -> u64 {
        if self.wide { value } else { value & 0xffff_ffff }
    }
}

/// The second operand of an instruction that computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Number(u64),
    Register(Sized, Extend),
}

/// The change of a register before it is used: it is extended, then shifted to the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extend {
    pub(crate) signed_word: bool,
    pub(crate) word: bool,
    pub(crate) shift: u32,
}

impl Extend {
    pub(crate) const NONE: Self = Self { signed_word: false, word: false, shift: 0 };
}

/// The value that a base register gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writeback {
    No,
    /// The sum is the address, and the base becomes it.
    Before,
    /// The base is the address, and becomes the sum.
    After,
}

/// An address: base register and offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) base: Register,
    pub(crate) offset: Operand,
    pub(crate) writeback: Writeback,
}

/// The order that an access asks for (Arm ARM B2.3: Acquire, AcquirePC, Release).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) acquire: bool,
    pub(crate) acquire_pc: bool,
    pub(crate) release: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compute {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Clear,
    ShiftLeft,
    ShiftRight,
}

/// The arithmetic of an atomic instruction on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    Swap,
    Add,
    Clear,
    Xor,
    Set,
    SignedMax,
    SignedMin,
    Max,
    Min,
}

/// The barriers (Arm ARM B2.3, "Barrier-ordered-before").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barrier {
    Full,
    Load,
    Store,
    Instruction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test1 {
    Equal,
    NotEqual,
    SignedGreaterEqual,
    SignedLess,
    SignedGreater,
    SignedLessEqual,
    HigherSame,
    Lower,
    Higher,
    LowerSame,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    Nothing,
    Move { to: Sized, from: Operand },
    Compute { what: Compute, to: Sized, left: Sized, right: Operand, sets_flags: bool },
    Load { to: Sized, address: Address, orders: Orders, exclusive: bool },
    Store { from: Sized, address: Address, orders: Orders },
    StoreExclusive { status: Sized, from: Sized, address: Address, orders: Orders },
    CompareAndSwap { expected: Sized, new: Sized, address: Address, orders: Orders },
    Update { what: Update, operand: Sized, to: Sized, address: Address, orders: Orders },
    Barrier { barrier: Barrier, is_synchronization: bool },
    BranchZero { of: Sized, nonzero: bool, to: usize },
    BranchBit { of: Sized, bit: u32, nonzero: bool, to: usize },
    BranchFlags { when: Test1, to: usize },
    Branch { to: usize },
}

/// A location or a register of a thread, as conditions name them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variable {
    /// Thread and number of the register.
    Register(usize, u8),
    /// The name of a location.
    Location(String),
}

impl std::fmt::Display for Variable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Register(thread, number) => write!(f, "{thread}:X{number}"),
            Self::Location(name) => write!(f, "[{name}]"),
        }
    }
}

/// A condition on a final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always true.
    True,
    /// Always false.
    False,
    /// The variable has the value.
    Is(Variable, u64),
    /// Both hold.
    And(Box<Self>, Box<Self>),
    /// One of them holds.
    Or(Box<Self>, Box<Self>),
    /// It does not hold.
    Not(Box<Self>),
}

/// The question that a test asks of its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Some execution ends so.
    Exists,
    /// None does.
    NotExists,
    /// All do.
    Forall,
}

/// A litmus test.
#[derive(Clone, Debug)]
pub struct Test {
    /// The name on its first line.
    pub name: String,
    /// The names of the locations; the number of one is its place here.
    pub locations: Vec<String>,
    pub(crate) initial: Vec<u64>,
    pub(crate) registers: Vec<BTreeMap<Register, u64>>,
    pub(crate) threads: Vec<Vec<Instruction>>,
    /// The question that it asks.
    pub quantifier: Quantifier,
    /// The condition of which it asks.
    pub condition: Condition,
    /// Executions that end otherwise do not count.
    pub filter: Condition,
    /// The variables that a final state is made of: those of the condition and those that the test
    /// lists.
    pub observed: Vec<Variable>,
    /// The variables of the filter.
    pub(crate) filtered: Vec<Variable>,
}

/// The address of the first location; the others follow in steps of [`STEP`].
const FIRST: u64 = 0x4000_0000_0000;
/// No offset of a test reaches the next location.
const STEP: u64 = 0x1_0000;

/// The address of a location.
pub(crate) const fn address_of(location: usize) -> u64 {
    FIRST + STEP * location as u64
}

impl Test {
    /// The location at an address.
    pub(crate) fn location_at(&self, address: u64) -> Option<usize> {
        let distance = address.checked_sub(FIRST)?;
        let location = usize::try_from(distance / STEP).ok()?;
        (distance.is_multiple_of(STEP) && location < self.locations.len()).then_some(location)
    }

    /// A value as the test's text would have it: the name of a location, or a number.
    pub fn shown(&self, value: u64) -> String {
        match self.location_at(value) {
            Some(location) => self.locations[location].clone(),
            None => value.to_string(),
        }
    }
}
