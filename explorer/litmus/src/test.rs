//! A litmus test as it was read.

use std::collections::BTreeMap;

/// A register by its number: 0 to 30, or 31 for the one that is always 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Register(pub u8);

impl Register {
    /// XZR and WZR.
    pub(crate) const ZERO: Self = Self(31);
}

/// A register with the width in which an instruction uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizedRegister {
    pub register: Register,
    /// True for 64 bits, false for 32.
    pub wide: bool,
}

impl SizedRegister {
    /// The register that is always 0, of the same width.
    pub fn nought(self) -> Self {
        Self {
            register: Register::ZERO,
            ..self
        }
    }

    /// The part of a value that the register holds.
    pub fn cut(self, value: u64) -> u64 {
        Width::of(self).cut(value)
    }
}

/// The second operand of an instruction that computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Number(u64),
    Register(SizedRegister, Extend),
}

/// The change of a register before it is used: it is extended, then shifted to the left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extend {
    pub signed_word: bool,
    pub word: bool,
    pub shift: u32,
}

/// The value that a base register gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writeback {
    No,
    /// The sum is the address, and the base becomes it.
    Before,
    /// The base is the address, and becomes the sum.
    After,
}

/// An address: base register and offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Register,
    pub offset: Operand,
    pub writeback: Writeback,
}

/// The size of an access, and what becomes of the value in a wider register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// 1, 2, 4 or 8.
    pub bytes: u8,
    pub signed: bool,
}

impl Width {
    /// Width of an access of a whole register.
    pub fn of(register: SizedRegister) -> Self {
        Self {
            bytes: if register.wide { 8 } else { 4 },
            signed: false,
        }
    }

    /// The part of a value that is stored.
    pub fn cut(self, value: u64) -> u64 {
        value & (u64::MAX >> (64 - 8 * self.bytes as u32))
    }

    /// `int`, the type of what has none.
    pub const INT: Self = Self {
        bytes: 4,
        signed: true,
    };

    /// The value as a number with a sign.
    pub fn signed(self, value: u64) -> i64 {
        let unused = 64 - 8 * self.bytes as u32;
        (value << unused).cast_signed() >> unused
    }

    /// The value that a register gets.
    pub fn extended(self, value: u64) -> u64 {
        if self.signed {
            self.signed(value).cast_unsigned()
        } else {
            self.cut(value)
        }
    }
}

/// The order that an access asks for (Arm ARM B2.3: Acquire, AcquirePC, Release).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    pub acquire: bool,
    pub acquire_pc: bool,
    pub release: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compute {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Clear,
    OrNot,
    XorNot,
    Multiply,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
}

/// The conditional selects: CSEL, CSINC, CSINV and CSNEG change the second register differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectKind {
    Csel,
    Csinc,
    Csinv,
    Csneg,
}

/// Bits of a register, from the lowest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub low: u32,
    pub width: u32,
    pub signed: bool,
}

/// The arithmetic of an atomic instruction on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Swap,
    Compute(Compute),
    SignedMax,
    SignedMin,
    Max,
    Min,
}

/// The kind of an effect (Arm ARM B2.3: Memory effects, and the effects of barriers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// An explicit memory read effect.
    #[default]
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
    /// `DC CVAC` of the line of a location.
    Clean,
    /// `DC CIVAC`.
    CleanAndInvalidate,
}

/// A condition of the flags, by the code that instructions have for it (Arm ARM, "Condition code"):
/// with the lowest bit it is the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test1(pub u8);

impl Test1 {
    /// The opposite.
    pub fn opposite(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// An instruction.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Instruction {
    Nothing,
    Compute {
        what: Compute,
        to: SizedRegister,
        left: SizedRegister,
        right: Operand,
        sets_flags: bool,
    },
    /// The bits of `mask` become those of the number.
    Insert {
        to: SizedRegister,
        mask: u64,
        value: u64,
    },
    Extract {
        to: SizedRegister,
        from: SizedRegister,
        field: Field,
    },
    Select {
        to: SizedRegister,
        left: SizedRegister,
        right: SizedRegister,
        kind: SelectKind,
        when: Test1,
    },
    /// One register, or two for a pair: two accesses, of which neither orders the other.
    Load {
        to: Vec<SizedRegister>,
        width: Width,
        address: Address,
        orders: Orders,
        exclusive: bool,
    },
    /// One register or a pair; exclusive if a register gets the status.
    Store {
        status: Option<SizedRegister>,
        from: Vec<SizedRegister>,
        width: Width,
        address: Address,
        orders: Orders,
    },
    ClearExclusive,
    /// One register each, or a pair.
    CompareAndSwap {
        expected: Vec<SizedRegister>,
        new: Vec<SizedRegister>,
        width: Width,
        address: Address,
        orders: Orders,
    },
    Update {
        what: Update,
        operand: SizedRegister,
        to: SizedRegister,
        width: Width,
        address: Address,
        orders: Orders,
    },
    Barrier {
        kind: Kind,
        is_synchronization: bool,
    },
    /// `DC CVAC`, or `DC CIVAC`, which also takes the line out of the caches.
    Maintain {
        address: Address,
        invalidate: bool,
        line: usize,
    },
    /// Tests the bits of `mask`.
    BranchBits {
        of: SizedRegister,
        mask: u64,
        nonzero: bool,
        to: usize,
    },
    BranchFlags {
        when: Test1,
        to: usize,
    },
    Branch {
        to: usize,
    },
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
            // An element of an array, as herd7 has it.
            Self::Location(name) if name.contains('[') => f.write_str(name),
            Self::Location(name) => write!(f, "[{name}]"),
        }
    }
}

/// A condition on a final state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Always true.
    #[default]
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

impl Condition {
    /// True if it holds where variables have these values.
    pub fn holds(&self, value_of: &dyn Fn(&Variable) -> Option<u64>) -> bool {
        match self {
            Self::True => true,
            Self::False => false,
            Self::Is(variable, value) => value_of(variable) == Some(*value),
            Self::And(left, right) => left.holds(value_of) && right.holds(value_of),
            Self::Or(left, right) => left.holds(value_of) || right.holds(value_of),
            Self::Not(inner) => !inner.holds(value_of),
        }
    }
}

/// The question that a test asks of its condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quantifier {
    /// Some execution ends so.
    Exists,
    /// None does.
    NotExists,
    /// All do; so one asks that has no condition.
    #[default]
    Forall,
}

/// A litmus test.
#[derive(Clone, Debug, Default)]
pub struct Test {
    /// The name on its first line.
    pub name: String,
    /// The names of the locations; the number of one is its place here. Elements of an array are
    /// locations one after the other, as `x[0]`.
    pub locations: Vec<String>,
    pub(crate) objects: Vec<Object>,
    /// The values that the locations begin with.
    pub initial: Vec<u64>,
    pub(crate) registers: Vec<BTreeMap<Register, u64>>,
    /// The types of registers, where the test says them.
    pub(crate) types: BTreeMap<Variable, Width>,
    /// The instructions of each thread.
    #[doc(hidden)]
    pub threads: Vec<Vec<Instruction>>,
    /// The question that it asks.
    pub quantifier: Quantifier,
    /// The condition of which it asks.
    pub condition: Condition,
    /// Executions that end kind do not count.
    pub filter: Condition,
    /// The variables that a final state is made of: those of the condition and those that the test
    /// lists.
    pub observed: Vec<Variable>,
    /// Jumps backwards in a run of a thread; a run that takes more is cut and does not count.
    pub unroll: u32,
    /// The steps of the search through the executions after which there is no answer.
    pub limit: u64,
}

/// The jumps backwards that a run takes where nobody says how many: those of herd7.
pub const UNROLL: u32 = 2;

/// The steps that a test may take where nobody says how many.
pub const LIMIT: u64 = 1_000_000_000;

/// The address of the first object; the others follow in steps of [`STEP`].
const FIRST: u64 = 0x4000_0000_0000;
/// No offset of a test reaches the next object.
const STEP: u64 = 0x1_0000;

/// A location that is one for itself, or an array.
#[derive(Clone, Debug)]
pub struct Object {
    pub name: String,
    /// The number of its first location.
    pub first: usize,
    /// The number of its elements; `None` of what is no array.
    pub elements: Option<usize>,
    /// Its type, or that of its elements; `None` if the test does not say.
    pub width: Option<Width>,
}

impl Object {
    /// Elements that an array may have.
    pub const MOST: usize = 256;

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.width.unwrap_or(Width::INT).bytes as u64
    }

    fn locations(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.elements.unwrap_or(1)
    }
}

/// The address of an object, by its number.
pub const fn address_of(object: usize) -> u64 {
    FIRST + STEP * object as u64
}

impl Test {
    /// The object at or below an address, and how far from its beginning that is.
    fn object_at(&self, address: u64) -> Option<(&Object, u64)> {
        let distance = address.checked_sub(FIRST)?;
        let object = self.objects.get(usize::try_from(distance / STEP).ok()?)?;
        Some((object, distance % STEP))
    }

    /// The location at an address.
    pub(crate) fn location_at(&self, address: u64) -> Option<usize> {
        let (object, offset) = self.object_at(address)?;
        let location = object.first + usize::try_from(offset / object.size()).ok()?;
        (offset.is_multiple_of(object.size()) && object.locations().contains(&location))
            .then_some(location)
    }

    /// The object that a location is, or is an element of.
    pub(crate) fn object_of(&self, location: usize) -> Option<&Object> {
        self.objects
            .iter()
            .find(|object| object.locations().contains(&location))
    }

    /// The variables of the object of a name: of an array, all its elements.
    pub(crate) fn named(&self, name: &str) -> Vec<Variable> {
        let array = self
            .objects
            .iter()
            .find(|object| object.name == name)
            .and_then(|object| object.elements);
        match array {
            Some(count) => (0..count)
                .map(|element| Variable::Location(format!("{name}[{element}]")))
                .collect(),
            None => vec![Variable::Location(name.to_owned())],
        }
    }

    /// The type of a variable: `int` where the test does not say it.
    fn width(&self, variable: &Variable) -> Width {
        let width = match variable {
            Variable::Register(..) => self.types.get(variable).copied(),
            Variable::Location(name) => self
                .locations
                .iter()
                .position(|known| known == name)
                .and_then(|location| self.object_of(location)?.width),
        };
        width.unwrap_or(Width::INT)
    }

    /// The part of a value that a variable's type holds, as herd7 compares it: an address is whole
    /// in each.
    pub(crate) fn cut(&self, variable: &Variable, value: u64) -> u64 {
        match self.object_at(value) {
            Some(_) => value,
            None => self.width(variable).cut(value),
        }
    }

    /// The value of a variable as the test's text would have it: the name of a location, or a
    /// number, with a sign where its type has one.
    pub fn shown(&self, variable: &Variable, value: u64) -> String {
        let width = self.width(variable);
        match self.object_at(value) {
            Some((object, 0)) => object.name.clone(),
            Some((object, offset)) => format!("{}+{offset}", object.name),
            None if width.signed => width.signed(value).to_string(),
            None => value.to_string(),
        }
    }

    /// A value as a text has it: a number, or the name of an object with an offset or without.
    pub(crate) fn value(&self, text: &str) -> Option<u64> {
        let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
        match self
            .objects
            .iter()
            .position(|object| object.name == name.trim())
        {
            Some(object) => {
                Some(address_of(object).wrapping_add(crate::lexer::number(offset.trim())?))
            }
            None => crate::lexer::number(text),
        }
    }
}
