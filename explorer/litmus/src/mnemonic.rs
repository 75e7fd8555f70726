//! Instructions by their text.

use crate::{
    Error, Result,
    operands::{address, immediate, operand, operands, register_of, shift_left},
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
        Kind, Operand, Orders,
        SelectKind::{Csel, Csinc, Csinv, Csneg},
        SizedRegister, Test1, Update, Width, Writeback,
    },
};
use std::collections::BTreeMap;

/// Loads and stores, by their names without the letters of the size. An X is an exclusive's, and a P
/// at the end that of two neighbours.
const ACCESSES: [&str; 19] = [
    "LDR", "LDUR", "LDAR", "LDAPR", "LDAPUR", "LDXR", "LDAXR", "LDP", "LDXP", "LDAXP", "STR",
    "STUR", "STLR", "STLUR", "STXR", "STLXR", "STP", "STXP", "STLXP",
];

const UPDATES: [(&str, Update); 8] = [
    ("ADD", Update::Compute(Add)),
    ("CLR", Update::Compute(Clear)),
    ("EOR", Update::Compute(Xor)),
    ("SET", Update::Compute(Or)),
    ("SMAX", Update::SignedMax),
    ("SMIN", Update::SignedMin),
    ("UMAX", Update::Max),
    ("UMIN", Update::Min),
];

const COMPUTES: [(&str, Compute); 12] = [
    ("ADD", Add),
    ("SUB", Sub),
    ("AND", And),
    ("ORR", Or),
    ("ORN", OrNot),
    ("EOR", Xor),
    ("EON", XorNot),
    ("BIC", Clear),
    ("MUL", Multiply),
    ("LSL", ShiftLeft),
    ("LSR", ShiftRight),
    ("ASR", ShiftRightSigned),
];

/// Instructions that are not modelled, by the reason.
const NOT_MODELLED: [(&str, &[&str]); 5] = [
    (
        "maintenance of caches and of translations",
        &["DC", "IC", "TLBI", "AT"],
    ),
    ("system registers", &["MRS", "MSR"]),
    ("exceptions", &["SVC", "HVC", "SMC", "ERET", "UDF", "BRK"]),
    ("waits and events", &["WFE", "WFI", "SEV", "SEVL"]),
    (
        "pairs that are not temporal, which do not keep the order of an address",
        &["LDNP", "STNP"],
    ),
];

/// The conditions of the flags, by their codes.
const CONDITIONS: [&str; 15] = [
    "EQ", "NE", "CS", "CC", "MI", "PL", "VS", "VC", "HI", "LS", "GE", "LT", "GT", "LE", "AL",
];

fn flags_test(name: &str) -> Option<Test1> {
    let name = match name {
        "HS" => "CS",
        "LO" => "CC",
        name => name,
    };
    let code = CONDITIONS.iter().position(|known| *known == name)?;
    Some(Test1(code as u8))
}

/// The letters of an atomic's orders.
fn orders(suffix: &str) -> Option<Orders> {
    matches!(suffix, "" | "A" | "L" | "AL").then(|| Orders {
        acquire: suffix.starts_with('A'),
        acquire_pc: false,
        release: suffix.ends_with('L'),
    })
}

/// The letters of an atomic's orders, then of its size.
fn orders_and_bytes(suffix: &str) -> Option<(Orders, Option<u8>)> {
    let (letters, bytes) = match suffix.strip_suffix(['B', 'H']) {
        Some(letters) => (letters, Some(if suffix.ends_with('B') { 1 } else { 2 })),
        None => (suffix, None),
    };
    Some((orders(letters)?, bytes))
}

/// The letters of a load's size: its bytes, and whether the value has a sign. `None` within is
/// that of the register.
fn size(suffix: &str) -> Option<(Option<u8>, bool)> {
    Some(match suffix {
        "" => (None, false),
        "B" => (Some(1), false),
        "H" => (Some(2), false),
        "SB" => (Some(1), true),
        "SH" => (Some(2), true),
        "SW" => (Some(4), true),
        _ => return None,
    })
}

/// The operands of an instruction, and its text.
struct Reader<'i> {
    text: &'i str,
    mnemonic: &'i str,
    operands: Vec<String>,
    labels: &'i BTreeMap<String, usize>,
    line: usize,
}

/// Reads the instruction of a line; `labels` are those of its thread, with the numbers of
/// instructions.
///
/// # Errors
/// It is none, or not modelled.
pub fn instruction(text: &str, labels: &BTreeMap<String, usize>, line: usize) -> Read {
    let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mnemonic = mnemonic.to_ascii_uppercase();
    let reader = Reader {
        text,
        mnemonic: &mnemonic,
        operands: operands(rest),
        labels,
        line,
    };
    if let Some(read) = reader
        .control()
        .or_else(|| reader.computation())
        .or_else(|| reader.access())
        .or_else(|| reader.atomic())
    {
        return read;
    }
    let why = NOT_MODELLED
        .iter()
        .find(|(_, names)| names.contains(&mnemonic.as_str()));
    let why = why.map_or_else(String::new, |(why, _)| format!(": {why}"));
    Err(Error::unsupported(
        line,
        format!("the instruction `{text}`{why}"),
    ))
}

type Read = Result<Instruction>;

impl Reader<'_> {
    fn wrong(&self) -> Error {
        let (text, mnemonic) = (self.text, self.mnemonic);
        Error::malformed(
            self.line,
            format!("the operands of `{text}` are not those of {mnemonic}"),
        )
    }

    fn hold<T>(&self, read: Option<T>) -> Result<T> {
        read.ok_or_else(|| self.wrong())
    }

    /// An operand; of what is not there the empty text.
    fn at(&self, place: usize) -> &str {
        self.operands.get(place).map_or("", String::as_str)
    }

    fn reg(&self, place: usize) -> Result<SizedRegister> {
        self.hold(register_of(self.at(place)))
    }

    /// Registers of one width.
    fn registers(&self, place: usize, count: usize) -> Result<Vec<SizedRegister>> {
        let all = (place..place + count).map(|place| self.reg(place));
        let all: Vec<SizedRegister> = all.collect::<Result<_>>()?;
        let is_one = all.iter().all(|register| register.wide == all[0].wide);
        self.hold(is_one.then_some(all))
    }

    /// A number below `end`.
    fn below(&self, place: usize, end: u64) -> Result<u32> {
        let number = immediate(self.at(place)).filter(|number| *number < end);
        self.hold(number.map(|number| number as u32))
    }

    fn label(&self, place: usize) -> Result<usize> {
        let name = self.hold(self.operands.get(place))?;
        self.labels
            .get(name.as_str())
            .copied()
            .ok_or_else(|| Error::malformed(self.line, format!("there is no label `{name}`")))
    }

    /// A register or number, with what is done to it.
    fn last(&self, place: usize) -> Result<Operand> {
        self.hold(operand(&self.operands, place))
    }

    fn address(&self, place: usize) -> Result<Address> {
        self.hold(address(&self.operands, place))
    }

    /// An address that is a base register and nothing more, as atomics have it.
    fn base(&self, place: usize) -> Result<Address> {
        let address = self.address(place)?;
        let plain = address.writeback == Writeback::No && address.offset == Operand::Number(0);
        self.hold(plain.then_some(address))
    }

    fn flags(&self, place: usize) -> Result<Test1> {
        self.hold(flags_test(&self.at(place).to_ascii_uppercase()))
    }

    /// A register's access of these bytes, or of the register's own size.
    fn width(&self, register: SizedRegister, bytes: Option<u8>, signed: bool) -> Result<Width> {
        match bytes {
            // Bytes and halfwords are of W registers, unless they are extended by their sign.
            Some(_) if register.wide && !signed => Err(self.wrong()),
            Some(4) if !register.wide => Err(self.wrong()),
            Some(bytes) => Ok(Width { bytes, signed }),
            None => Ok(Width::of(register)),
        }
    }

    /// Branches, barriers, and what does nothing.
    fn control(&self) -> Option<Read> {
        let branch = |nonzero, mask: Result<u64>, label| {
            Ok(BranchBits {
                of: self.reg(0)?,
                mask: mask?,
                nonzero,
                to: self.label(label)?,
            })
        };
        let bit = || Ok(1 << self.below(1, 64)?);
        Some(match self.mnemonic {
            // A prefetch has no effect that the model knows of.
            "NOP" | "YIELD" | "PRFM" | "PRFUM" => Ok(Nothing),
            "CLREX" => Ok(ClearExclusive),
            "DMB" | "DSB" => self.barrier(),
            "DC" => self.maintain()?,
            "ISB" => Ok(Barrier {
                kind: Kind::BarrierInstruction,
                is_synchronization: false,
            }),
            "CBZ" => branch(false, Ok(u64::MAX), 1),
            "CBNZ" => branch(true, Ok(u64::MAX), 1),
            "TBZ" => branch(false, bit(), 2),
            "TBNZ" => branch(true, bit(), 2),
            "B" => self.label(0).map(|to| Branch { to }),
            _ => {
                let rest = self
                    .mnemonic
                    .strip_prefix("B.")
                    .or_else(|| self.mnemonic.strip_prefix('B'))?;
                let when = flags_test(rest)?;
                self.label(0).map(|to| BranchFlags { when, to })
            }
        })
    }

    fn barrier(&self) -> Read {
        let kind = match self.at(0).to_ascii_uppercase().as_str() {
            "SY" | "ISH" | "OSH" | "NSH" => Kind::BarrierFull,
            "LD" | "ISHLD" | "OSHLD" | "NSHLD" => Kind::BarrierLoad,
            "ST" | "ISHST" | "OSHST" | "NSHST" => Kind::BarrierStore,
            _ => return Err(self.wrong()),
        };
        Ok(Barrier {
            kind,
            is_synchronization: self.mnemonic == "DSB",
        })
    }

    /// `DC CVAC,Xn` and `DC CIVAC,Xn`.
    fn maintain(&self) -> Option<Read> {
        let invalidate = match self.at(0).to_ascii_uppercase().as_str() {
            "CVAC" => false,
            "CIVAC" => true,
            _ => return None,
        };
        Some(self.reg(1).map(|base| Maintain {
            address: Address {
                base: base.register,
                offset: Operand::Number(0),
                writeback: Writeback::No,
            },
            invalidate,
            line: self.line,
        }))
    }

    /// Instructions in which only registers take part.
    fn computation(&self) -> Option<Read> {
        let (name, sets_flags) = match self.mnemonic {
            "ADDS" | "SUBS" | "ANDS" => (&self.mnemonic[..3], true),
            name => (name, false),
        };
        if let Some(&(_, what)) = COMPUTES.iter().find(|known| known.0 == name) {
            return Some(self.compute(what, self.reg(0), self.reg(1), 2, sets_flags));
        }
        // The first operand of what has one less: nought.
        let nought = || self.reg(0).map(SizedRegister::nought);
        let change = |what, sets_flags| self.compute(what, self.reg(0), nought(), 1, sets_flags);
        let compare = |what| self.compute(what, nought(), self.reg(0), 1, true);
        let select = |kind| {
            Ok(Select {
                to: self.reg(0)?,
                left: self.reg(1)?,
                right: self.reg(2)?,
                kind,
                when: self.flags(3)?,
            })
        };
        // One register is both that are selected from; the flags are tested the other way round.
        let select_one = |kind, of: Result<SizedRegister>, flags| {
            let (to, of) = (self.reg(0)?, of?);
            Ok(Select {
                to,
                left: of,
                right: of,
                kind,
                when: self.flags(flags)?.opposite(),
            })
        };
        Some(match self.mnemonic {
            "MOV" | "MOVZ" => change(Or, false),
            "MOVK" => self.insert(),
            "NEG" => change(Sub, false),
            "NEGS" => change(Sub, true),
            "MVN" => change(OrNot, false),
            "CMP" => compare(Sub),
            "CMN" => compare(Add),
            "TST" => compare(And),
            "UBFX" => self.extract(false),
            "SBFX" => self.extract(true),
            "UXTB" => self.field(0, 8, false),
            "UXTH" => self.field(0, 16, false),
            "UXTW" => self.field(0, 32, false),
            "SXTB" => self.field(0, 8, true),
            "SXTH" => self.field(0, 16, true),
            "SXTW" => self.field(0, 32, true),
            "CSEL" => select(Csel),
            "CSINC" => select(Csinc),
            "CSINV" => select(Csinv),
            "CSNEG" => select(Csneg),
            "CSET" => select_one(Csinc, nought(), 1),
            "CSETM" => select_one(Csinv, nought(), 1),
            "CINC" => select_one(Csinc, self.reg(1), 2),
            "CINV" => select_one(Csinv, self.reg(1), 2),
            "CNEG" => select_one(Csneg, self.reg(1), 2),
            _ => return None,
        })
    }

    fn compute(
        &self,
        what: Compute,
        to: Result<SizedRegister>,
        left: Result<SizedRegister>,
        right: usize,
        sets_flags: bool,
    ) -> Read {
        Ok(Instruction::Compute {
            what,
            to: to?,
            left: left?,
            right: self.last(right)?,
            sets_flags,
        })
    }

    fn insert(&self) -> Read {
        let to = self.reg(0)?;
        let value = (self.below(1, 1 << 16)?) as u64;
        let shift = match self.operands.get(2) {
            None => 0,
            Some(text) => shift_left(text)
                .filter(|shift| shift.is_multiple_of(16))
                .ok_or_else(|| self.wrong())?,
        };
        Ok(Insert {
            to,
            mask: 0xffff << shift,
            value: value << shift,
        })
    }

    fn extract(&self, signed: bool) -> Read {
        let to = self.reg(0)?;
        let (low, width) = (self.below(2, 64)?, self.below(3, 65)?);
        if width == 0 || low + width > if to.wide { 64 } else { 32 } {
            return Err(self.wrong());
        }
        self.field(low, width, signed)
    }

    fn field(&self, low: u32, width: u32, signed: bool) -> Read {
        Ok(Extract {
            to: self.reg(0)?,
            from: self.reg(1)?,
            field: Field { low, width, signed },
        })
    }

    /// Loads and stores: exclusives and pairs among them.
    fn access(&self) -> Option<Read> {
        // Of a pair only LDPSW has a size of its own.
        let named = |name: &str, count| {
            let suffix = self.mnemonic.strip_prefix(name)?;
            let has_size = count == 1 || suffix.is_empty() || self.mnemonic == "LDPSW";
            size(suffix).filter(|_| has_size)
        };
        for name in ACCESSES {
            let starts = |letters| name.starts_with(letters);
            let (loads, exclusive) = (starts("LD"), name.contains('X'));
            let count = 1 + name.ends_with('P') as usize;
            let orders = Orders {
                acquire: starts("LDA") && !starts("LDAP"),
                acquire_pc: starts("LDAP"),
                release: starts("STL"),
            };
            let Some((bytes, signed)) = named(name, count).filter(|(_, signed)| loads || !signed)
            else {
                continue;
            };
            // An exclusive store has a register for its status before the others.
            let first = (exclusive && !loads) as usize;
            let read = || {
                let registers = self.registers(first, count)?;
                let width = self.width(registers[0], bytes, signed)?;
                let address = match exclusive {
                    true => self.base(first + count)?,
                    false => self.address(first + count)?,
                };
                Ok(if loads {
                    Load {
                        to: registers,
                        width,
                        address,
                        orders,
                        exclusive,
                    }
                } else {
                    Store {
                        status: exclusive.then(|| self.reg(0)).transpose()?,
                        from: registers,
                        width,
                        address,
                        orders,
                    }
                })
            };
            return Some(read());
        }
        None
    }

    /// A compare-and-swap of one register, or of an even one and the next.
    fn compare_and_swap(&self, letters: &str) -> Option<Read> {
        let pair = letters.strip_prefix('P');
        let count = 1 + pair.is_some() as usize;
        let (orders, bytes) = orders_and_bytes(pair.unwrap_or(letters))
            .filter(|(_, bytes)| count == 1 || bytes.is_none())?;
        let read = || {
            let all = self.registers(0, 2 * count)?;
            let (expected, new) = all.split_at(count);
            let is_pair = |of: &[SizedRegister]| {
                let [even, odd] = [of[0], of[count - 1]].map(|sized| sized.register.0);
                count == 1 || even.is_multiple_of(2) && odd == even + 1
            };
            self.hold((is_pair(expected) && is_pair(new)).then_some(()))?;
            Ok(CompareAndSwap {
                expected: expected.to_vec(),
                new: new.to_vec(),
                width: self.width(all[0], bytes, false)?,
                address: self.base(2 * count)?,
                orders,
            })
        };
        Some(read())
    }

    /// Read-modify-writes in one instruction.
    fn atomic(&self) -> Option<Read> {
        if let Some(letters) = self.mnemonic.strip_prefix("CAS") {
            return self.compare_and_swap(letters);
        }
        // One that stores has no register for the value that was there.
        let update = |what, (orders, bytes), loads: bool| {
            let count = 1 + loads as usize;
            let all = self.registers(0, count)?;
            Ok(Instruction::Update {
                what,
                operand: all[0],
                to: if loads { all[1] } else { all[0].nought() },
                width: self.width(all[0], bytes, false)?,
                address: self.base(count)?,
                orders,
            })
        };
        if let Some(letters) = self.mnemonic.strip_prefix("SWP").and_then(orders_and_bytes) {
            return Some(update(Update::Swap, letters, true));
        }
        for (name, what) in UPDATES {
            let named = |start| {
                let rest = self.mnemonic.strip_prefix(start);
                rest.and_then(|rest| rest.strip_prefix(name))
                    .and_then(orders_and_bytes)
            };
            if let Some(letters) = named("LD") {
                return Some(update(what, letters, true));
            }
            if let Some(letters) = named("ST").filter(|(orders, _)| !orders.acquire) {
                return Some(update(what, letters, false));
            }
        }
        None
    }
}
