//! Reads stock `.litmus` files.

use crate::Error;
use crate::lexer::{Token, number, tokens};
use crate::test::{
    Address, Barrier, Compute, Condition, Extend, Instruction, Operand, Orders, Quantifier, Register, Sized, Test,
    Test1, Update, Variable, Writeback, address_of,
};
use std::collections::BTreeMap;

/// Reads a test.
///
/// # Errors
/// The line, and what is wrong there or not modelled.
pub fn parse(text: &str) -> Result<Test, Error> {
    Reader { text: &without_comments(text) }.test()
}

/// The text with comments blanked, so that places stay.
fn without_comments(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut depth = 0_u32;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (opens, closes) = (rest.starts_with("(*"), rest.starts_with("*)") && depth > 0);
        if opens || closes {
            depth = if opens { depth + 1 } else { depth - 1 };
            cleaned.push_str("  ");
            rest = &rest[2..];
            continue;
        }
        match depth > 0 && c != '\n' {
            true => cleaned.extend(std::iter::repeat_n(' ', c.len_utf8())),
            false => cleaned.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    cleaned
}

/// Words with which the part after the program begins.
const AFTER: [&str; 6] = ["exists", "~exists", "forall", "locations", "filter", "~"];

/// A row of the program, and where it begins.
type Row<'t> = (usize, &'t str);

struct Reader<'t> {
    text: &'t str,
}

/// Names that are met while a test is read.
#[derive(Default)]
struct Names {
    locations: Vec<String>,
    initial: Vec<u64>,
}

impl Names {
    fn location(&mut self, name: &str) -> usize {
        self.locations.iter().position(|known| known == name).unwrap_or_else(|| {
            self.locations.push(name.to_owned());
            self.initial.push(0);
            self.locations.len() - 1
        })
    }

    fn value(&mut self, text: &str) -> Option<u64> {
        let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_name { Some(address_of(self.location(text))) } else { number(text) }
    }
}

impl<'t> Reader<'t> {
    fn line(&self, at: usize) -> usize {
        1 + self.text[..at.min(self.text.len())].matches('\n').count()
    }

    fn malformed(&self, at: usize, what: impl Into<String>) -> Error {
        Error::Malformed { line: self.line(at), what: what.into() }
    }

    fn unsupported(&self, at: usize, what: impl Into<String>) -> Error {
        Error::Unsupported { line: self.line(at), what: what.into() }
    }

    fn test(&self) -> Result<Test, Error> {
        let start = self.text.len() - self.text.trim_start().len();
        let first = self.text[start..].lines().next().unwrap_or_default().trim();
        let name = match first.split_once(char::is_whitespace) {
            Some(("AArch64", name)) => name.trim().to_owned(),
            Some((other, _))
                if ["X86", "X86_64", "PPC", "ARM", "C", "RISCV", "LISA", "MIPS", "LK", "BPF", "CPP11", "ASL"]
                    .contains(&other) =>
            {
                return Err(self.unsupported(start, format!("a test for {other}; tests for AArch64 are read")));
            }
            _ => return Err(self.malformed(start, "a test begins with `AArch64` and its name")),
        };
        let open =
            self.text[start..].find('{').ok_or_else(|| self.malformed(start, "there is no `{` of an initial state"))?
                + start;
        let close =
            self.text[open..].find('}').ok_or_else(|| self.malformed(open, "the initial state has no `}`"))? + open;
        let mut names = Names::default();
        let mut registers: Vec<BTreeMap<Register, u64>> = Vec::new();
        self.initial(open + 1, close, &mut names, &mut registers)?;
        let (rows, after) = self.rows(close + 1)?;
        let threads = self.threads(&rows)?;
        registers.resize(threads.len().max(registers.len()), BTreeMap::new());
        if registers.len() > threads.len() {
            return Err(self.malformed(
                open,
                format!("thread {} has a register, and the program has {} threads", registers.len() - 1, threads.len()),
            ));
        }
        let (mut quantifier, mut condition, mut filter, mut observed) =
            (None, Condition::True, Condition::True, Vec::new());
        let mut tail = Tail {
            reader: self,
            tokens: tokens(&self.text[after..], after),
            next: 0,
            names: &mut names,
            threads: threads.len(),
            depth: 0,
        };
        while let Some(token) = tail.peek() {
            match token.text {
                "locations" => tail.locations(&mut observed)?,
                "filter" => {
                    tail.next += 1;
                    filter = tail.either()?;
                }
                "exists" | "forall" | "~exists" | "~" if quantifier.is_none() => {
                    quantifier = Some(tail.quantifier()?);
                    condition = tail.either()?;
                }
                // What herd7 lets stand behind a condition, for other tools.
                "with" | "<<" => break,
                other => return Err(self.malformed(token.at, format!("`{other}` is not expected after the program: `exists`, `~exists`, `forall`, `locations` and `filter` are"))),
            }
        }
        observed.extend(variables(&condition));
        observed.sort();
        observed.dedup();
        Ok(Test {
            name,
            locations: names.locations,
            initial: names.initial,
            registers,
            threads,
            quantifier: quantifier.unwrap_or(Quantifier::Forall),
            condition,
            filtered: variables(&filter),
            filter,
            observed,
        })
    }

    /// Reads the entries of the initial state.
    fn initial(
        &self,
        from: usize,
        to: usize,
        names: &mut Names,
        registers: &mut Vec<BTreeMap<Register, u64>>,
    ) -> Result<(), Error> {
        let mut at = from;
        for entry in self.text[from..to].split(';') {
            let here = at + (entry.len() - entry.trim_start().len());
            at += entry.len() + 1;
            let words = tokens(entry, here);
            if words.is_empty() {
                continue;
            }
            let texts: Vec<&str> = words.iter().map(|word| word.text).filter(|text| *text != "*").collect();
            if texts.contains(&"{") || texts.iter().skip(1).any(|text| *text == "[") && texts[0] != "[" {
                return Err(self.unsupported(here, "arrays"));
            }
            let (left, right) = match texts.iter().position(|text| *text == "=") {
                Some(place) => (&texts[..place], &texts[place + 1..]),
                None => (&texts[..], &[][..]),
            };
            let value = match right {
                [] => None,
                [value] => Some(
                    names
                        .value(value)
                        .ok_or_else(|| self.malformed(here, format!("`{value}` is neither a number nor a name")))?,
                ),
                _ => return Err(self.unsupported(here, format!("the initial value `{}`", right.join(" ")))),
            };
            // A type may stand before what it is the type of.
            let (kind, named) = match left {
                [thread, ":", register] => (None, (Some(*thread), *register)),
                [kind @ .., thread, ":", register] => (kind.last(), (Some(*thread), *register)),
                ["[", location, "]"] | [location] => (None, (None, *location)),
                [kind @ .., location] => (kind.last(), (None, *location)),
                [] => return Err(self.malformed(here, "a name is missing before `=`")),
            };
            if let Some(kind) =
                kind.filter(|kind| ["int8_t", "uint8_t", "int16_t", "uint16_t", "char", "short"].contains(kind))
            {
                return Err(self.unsupported(here, format!("accesses of less than a word: `{kind}`")));
            }
            match named {
                (Some(thread), register) => {
                    let thread: usize = thread
                        .trim_start_matches('P')
                        .parse()
                        .map_err(|_| self.malformed(here, format!("`{thread}` is no thread")))?;
                    if thread > MOST_THREADS {
                        return Err(self.unsupported(here, format!("thread {thread}: {MOST_THREADS} are the most")));
                    }
                    let sized = register_of(register)
                        .ok_or_else(|| self.unsupported(here, format!("the register {register}")))?;
                    registers.resize(registers.len().max(thread + 1), BTreeMap::new());
                    registers[thread].insert(sized.register, value.unwrap_or(0));
                }
                (None, location) => {
                    let location = names.location(location);
                    // Without a type a location has a word.
                    let is_wide = kind.is_some_and(|kind| kind.contains("64") || kind.contains("long"));
                    let is_negative_word = value.is_some_and(|value| i32::try_from(value.cast_signed()).is_ok());
                    let value = value.unwrap_or(0);
                    names.initial[location] = if is_negative_word && !is_wide { value & 0xffff_ffff } else { value };
                }
            }
        }
        Ok(())
    }

    /// The rows of the program, each with its place, and where the rest begins.
    fn rows(&self, from: usize) -> Result<(Vec<Row<'t>>, usize), Error> {
        let mut rows = Vec::new();
        let mut at = from;
        loop {
            let rest = &self.text[at..];
            let lead = rest.len() - rest.trim_start().len();
            let begun = &rest[lead..];
            let word = begun.split(|c: char| c.is_whitespace() || c == '(' || c == '[').next().unwrap_or_default();
            if begun.is_empty() || AFTER.contains(&word) {
                return Ok((rows, at + lead));
            }
            let end = rest.find(';').ok_or_else(|| self.malformed(at + lead, "a row of the program ends with `;`"))?;
            rows.push((at + lead, rest[lead..].get(..end - lead).unwrap_or_default()));
            at += end + 1;
        }
    }

    fn threads(&self, rows: &[(usize, &str)]) -> Result<Vec<Vec<Instruction>>, Error> {
        let Some(((_, header), rows)) = rows.split_first() else {
            return Err(self.malformed(self.text.len(), "there is no program"));
        };
        let count = header.split('|').count();
        if count > MOST_THREADS {
            return Err(Error::Unsupported { line: 0, what: format!("{count} threads: {MOST_THREADS} are the most") });
        }
        if let Some(strange) = header.split('|').map(str::trim).find(|name| name.contains([':', '.', '@'])) {
            return Err(Error::Unsupported {
                line: 0,
                what: format!("a thread `{strange}`: handlers and exception levels"),
            });
        }
        let mut cells: Vec<Vec<(usize, &str)>> = vec![Vec::new(); count];
        for &(at, row) in rows {
            let columns: Vec<&str> = row.split('|').collect();
            if columns.len() != count {
                return Err(
                    self.malformed(at, format!("the row has {} cells, and there are {count} threads", columns.len()))
                );
            }
            for (thread, cell) in columns.into_iter().enumerate() {
                cells[thread].push((at, cell.trim()));
            }
        }
        cells.into_iter().map(|cells| self.thread(&cells)).collect()
    }

    fn thread(&self, cells: &[(usize, &str)]) -> Result<Vec<Instruction>, Error> {
        let mut labels = BTreeMap::new();
        let mut lines = Vec::new();
        for &(at, cell) in cells {
            let mut text = cell;
            while let Some((label, rest)) = text.split_once(':') {
                if labels.insert(label.trim().to_owned(), lines.len()).is_some() {
                    return Err(self.malformed(at, format!("the label `{}` is there twice", label.trim())));
                }
                text = rest.trim();
            }
            if !text.is_empty() {
                lines.push((at, text));
            }
        }
        lines.into_iter().map(|(at, text)| self.instruction(at, text, &labels)).collect()
    }

    fn instruction(&self, at: usize, text: &str, labels: &BTreeMap<String, usize>) -> Result<Instruction, Error> {
        let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let mnemonic = mnemonic.to_ascii_uppercase();
        let operands = operands(rest);
        let wrong = || self.malformed(at, format!("the operands of `{text}` are not those of {mnemonic}"));
        let reg = |place: usize| operands.get(place).and_then(|text| register_of(text)).ok_or_else(wrong);
        let num =
            |place: usize| operands.get(place).and_then(|text| number(text.trim_start_matches('#'))).ok_or_else(wrong);
        let label = |place: usize| {
            let name = operands.get(place).ok_or_else(wrong)?;
            labels.get(name.as_str()).copied().ok_or_else(|| self.malformed(at, format!("there is no label `{name}`")))
        };
        // A register or number, with what is done to it.
        let last = |place: usize| operand(&operands, place).ok_or_else(wrong);
        let address = |place: usize| address(&operands, place).ok_or_else(wrong);
        let plain = Orders::default();
        let acquire = Orders { acquire: true, ..plain };
        let release = Orders { release: true, ..plain };
        let both = Orders { acquire: true, release: true, ..plain };
        let compute = |what, sets_flags| {
            Ok(Instruction::Compute { what, to: reg(0)?, left: reg(1)?, right: last(2)?, sets_flags })
        };
        let compare = |what| {
            let left = reg(0)?;
            let to = Sized { register: Register::ZERO, ..left };
            Ok(Instruction::Compute { what, to, left, right: last(1)?, sets_flags: true })
        };
        let load = |orders, exclusive| Ok(Instruction::Load { to: reg(0)?, address: address(1)?, orders, exclusive });
        let store = |orders| Ok(Instruction::Store { from: reg(0)?, address: address(1)?, orders });
        let store_exclusive = |orders| {
            let status = reg(0)?;
            Ok(Instruction::StoreExclusive { status, from: reg(1)?, address: address(2)?, orders })
        };
        match mnemonic.as_str() {
            "NOP" => Ok(Instruction::Nothing),
            "MOV" | "MOVZ" if operands.len() == 2 => Ok(Instruction::Move { to: reg(0)?, from: last(1)? }),
            "ADD" => compute(Compute::Add, false),
            "ADDS" => compute(Compute::Add, true),
            "SUB" => compute(Compute::Sub, false),
            "SUBS" => compute(Compute::Sub, true),
            "AND" => compute(Compute::And, false),
            "ANDS" => compute(Compute::And, true),
            "ORR" => compute(Compute::Or, false),
            "EOR" => compute(Compute::Xor, false),
            "BIC" => compute(Compute::Clear, false),
            "LSL" => compute(Compute::ShiftLeft, false),
            "LSR" => compute(Compute::ShiftRight, false),
            "CMP" => compare(Compute::Sub),
            "TST" => compare(Compute::And),
            "LDR" | "LDUR" => load(plain, false),
            "LDAR" => load(acquire, false),
            "LDAPR" | "LDAPUR" => load(Orders { acquire_pc: true, ..plain }, false),
            "LDXR" => load(plain, true),
            "LDAXR" => load(acquire, true),
            "STR" | "STUR" => store(plain),
            "STLR" | "STLUR" => store(release),
            "STXR" => store_exclusive(plain),
            "STLXR" => store_exclusive(release),
            "DMB" | "DSB" => {
                let scope = operands.first().map(|scope| scope.to_ascii_uppercase()).unwrap_or_default();
                let barrier = match scope.as_str() {
                    "SY" | "ISH" | "OSH" | "NSH" => Barrier::Full,
                    "LD" | "ISHLD" | "OSHLD" | "NSHLD" => Barrier::Load,
                    "ST" | "ISHST" | "OSHST" | "NSHST" => Barrier::Store,
                    _ => return Err(wrong()),
                };
                Ok(Instruction::Barrier { barrier, is_synchronization: mnemonic == "DSB" })
            }
            "ISB" => Ok(Instruction::Barrier { barrier: Barrier::Instruction, is_synchronization: false }),
            "CBZ" => Ok(Instruction::BranchZero { of: reg(0)?, nonzero: false, to: label(1)? }),
            "CBNZ" => Ok(Instruction::BranchZero { of: reg(0)?, nonzero: true, to: label(1)? }),
            "TBZ" | "TBNZ" => {
                let bit = u32::try_from(num(1)?).ok().filter(|bit| *bit < 64).ok_or_else(wrong)?;
                Ok(Instruction::BranchBit { of: reg(0)?, bit, nonzero: mnemonic == "TBNZ", to: label(2)? })
            }
            "B" => Ok(Instruction::Branch { to: label(0)? }),
            _ => {
                if let Some(when) =
                    mnemonic.strip_prefix("B.").or_else(|| mnemonic.strip_prefix('B')).and_then(flags_test)
                {
                    return Ok(Instruction::BranchFlags { when, to: label(0)? });
                }
                let orders = |suffix: &str| match suffix {
                    "" => Some(plain),
                    "A" => Some(acquire),
                    "L" => Some(release),
                    "AL" => Some(both),
                    _ => None,
                };
                if let Some(orders) = mnemonic.strip_prefix("CAS").and_then(orders) {
                    return Ok(Instruction::CompareAndSwap {
                        expected: reg(0)?,
                        new: reg(1)?,
                        address: address(2)?,
                        orders,
                    });
                }
                for (name, what) in UPDATES {
                    if let Some(orders) =
                        mnemonic.strip_prefix("LD").and_then(|rest| rest.strip_prefix(name)).and_then(orders)
                        && what != Update::Swap
                    {
                        return Ok(Instruction::Update {
                            what,
                            operand: reg(0)?,
                            to: reg(1)?,
                            address: address(2)?,
                            orders,
                        });
                    }
                    let stored = mnemonic.strip_prefix("ST").and_then(|rest| rest.strip_prefix(name)).and_then(orders);
                    if let Some(orders) = stored.filter(|orders| !orders.acquire && what != Update::Swap) {
                        let operand = reg(0)?;
                        let to = Sized { register: Register::ZERO, ..operand };
                        return Ok(Instruction::Update { what, operand, to, address: address(1)?, orders });
                    }
                }
                if let Some(orders) = mnemonic.strip_prefix("SWP").and_then(orders) {
                    return Ok(Instruction::Update {
                        what: Update::Swap,
                        operand: reg(0)?,
                        to: reg(1)?,
                        address: address(2)?,
                        orders,
                    });
                }
                Err(self.unsupported(at, format!("the instruction `{text}`")))
            }
        }
    }
}

/// Threads that a test may have.
const MOST_THREADS: usize = 16;

const UPDATES: [(&str, Update); 8] = [
    ("ADD", Update::Add),
    ("CLR", Update::Clear),
    ("EOR", Update::Xor),
    ("SET", Update::Set),
    ("SMAX", Update::SignedMax),
    ("SMIN", Update::SignedMin),
    ("UMAX", Update::Max),
    ("UMIN", Update::Min),
];

fn flags_test(name: &str) -> Option<Test1> {
    Some(match name {
        "EQ" => Test1::Equal,
        "NE" => Test1::NotEqual,
        "GE" => Test1::SignedGreaterEqual,
        "LT" => Test1::SignedLess,
        "GT" => Test1::SignedGreater,
        "LE" => Test1::SignedLessEqual,
        "HS" | "CS" => Test1::HigherSame,
        "LO" | "CC" => Test1::Lower,
        "HI" => Test1::Higher,
        "LS" => Test1::LowerSame,
        _ => return None,
    })
}

fn register_of(text: &str) -> Option<Sized> {
    let text = text.trim().to_ascii_uppercase();
    let wide = match text.as_bytes().first()? {
        b'X' => true,
        b'W' => false,
        _ => return None,
    };
    let register = match &text[1..] {
        "ZR" => Register::ZERO,
        number => Register(number.parse().ok().filter(|number| *number <= 30)?),
    };
    Some(Sized { register, wide })
}

/// Splits at the commas that are not in brackets.
fn operands(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_i32;
    for c in text.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().into_iter().for_each(|part| part.push(c));
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// An operand that is a number or a register, and may be extended or shifted by the next one.
fn operand(operands: &[String], place: usize) -> Option<Operand> {
    let text = operands.get(place)?;
    match register_of(text) {
        Some(register) => Some(Operand::Register(register, extend(operands.get(place + 1), register)?)),
        None => {
            let value = number(text.trim_start_matches('#'))?;
            let shift = match operands.get(place + 1) {
                Some(shift) => number(shift.strip_prefix("LSL")?.trim().trim_start_matches('#'))?,
                None => 0,
            };
            Some(Operand::Number(value.checked_shl(u32::try_from(shift).ok()?)?))
        }
    }
}

fn extend(text: Option<&String>, register: Sized) -> Option<Extend> {
    let Some(text) = text else { return Some(Extend { word: !register.wide, ..Extend::NONE }) };
    let text = text.to_ascii_uppercase();
    let (name, shift) = text.split_once(char::is_whitespace).unwrap_or((&text, "#0"));
    let shift = u32::try_from(number(shift.trim().trim_start_matches('#'))?).ok().filter(|shift| *shift < 64)?;
    match name {
        "SXTW" => Some(Extend { signed_word: true, word: true, shift }),
        "UXTW" => Some(Extend { signed_word: false, word: true, shift }),
        "SXTX" | "UXTX" | "LSL" => Some(Extend { signed_word: false, word: !register.wide, shift }),
        _ => None,
    }
}

fn address(all: &[String], place: usize) -> Option<Address> {
    let text = all.get(place)?;
    let (inner, before) = match text.strip_suffix('!') {
        Some(text) => (text, true),
        None => (text.as_str(), false),
    };
    let inner = operands(inner.strip_prefix('[')?.strip_suffix(']')?);
    let base = register_of(inner.first()?).filter(|base| base.wide)?.register;
    let offset = if inner.len() > 1 { operand(&inner, 1)? } else { Operand::Number(0) };
    if all.len() > place + 1 {
        let after = operand(all, place + 1)?;
        return (inner.len() == 1).then_some(Address { base, offset: after, writeback: Writeback::After });
    }
    Some(Address { base, offset, writeback: if before { Writeback::Before } else { Writeback::No } })
}

/// The part after the program.
struct Tail<'t, 'n> {
    reader: &'n Reader<'t>,
    tokens: Vec<Token<'t>>,
    next: usize,
    names: &'n mut Names,
    threads: usize,
    /// Conditions that the next one is inside of.
    depth: usize,
}

/// Conditions within one another.
const MOST_DEPTH: usize = 100;

impl<'t> Tail<'t, '_> {
    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.next).copied()
    }

    fn end(&self) -> usize {
        self.peek().map_or(self.reader.text.len(), |token| token.at)
    }

    fn take(&mut self, what: &str) -> Result<Token<'t>, Error> {
        let token = self.peek().ok_or_else(|| self.reader.malformed(self.end(), format!("{what} is missing")))?;
        self.next += 1;
        Ok(token)
    }

    fn taken(&mut self, text: &str) -> bool {
        let is = self.peek().is_some_and(|token| token.text == text);
        self.next += usize::from(is);
        is
    }

    fn expect(&mut self, text: &str) -> Result<(), Error> {
        match self.taken(text) {
            true => Ok(()),
            false => Err(self.reader.malformed(self.end(), format!("`{text}` is missing"))),
        }
    }

    fn quantifier(&mut self) -> Result<Quantifier, Error> {
        let not = self.taken("~");
        let word = self.take("`exists`")?;
        match (not, word.text) {
            (false, "exists") => Ok(Quantifier::Exists),
            (true, "exists") | (false, "~exists") => Ok(Quantifier::NotExists),
            (false, "forall") => Ok(Quantifier::Forall),
            (_, other) => Err(self
                .reader
                .malformed(word.at, format!("`{other}` is not expected: `exists`, `~exists` and `forall` are"))),
        }
    }

    fn locations(&mut self, observed: &mut Vec<Variable>) -> Result<(), Error> {
        self.next += 1;
        self.expect("[")?;
        while !self.taken("]") {
            if self.taken(";") {
                continue;
            }
            observed.push(self.variable()?);
        }
        Ok(())
    }

    fn variable(&mut self) -> Result<Variable, Error> {
        let bracket = self.taken("[");
        let token = self.take("the name of a variable")?;
        if bracket {
            self.expect("]")?;
        }
        if !bracket && self.taken(":") {
            let register = self.take("a register")?;
            let thread = token.text.trim_start_matches('P').parse().ok().filter(|thread| *thread < self.threads);
            let thread = thread
                .ok_or_else(|| self.reader.malformed(token.at, format!("there is no thread `{}`", token.text)))?;
            let sized = register_of(register.text).filter(|sized| sized.register != Register::ZERO);
            let sized =
                sized.ok_or_else(|| self.reader.unsupported(register.at, format!("the register {}", register.text)))?;
            return Ok(Variable::Register(thread, sized.register.0));
        }
        if !token.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return Err(self.reader.malformed(token.at, format!("`{}` is no name of a variable", token.text)));
        }
        self.names.location(token.text);
        if self.peek().is_some_and(|token| token.text == "[") {
            return Err(self.reader.unsupported(token.at, "arrays"));
        }
        Ok(Variable::Location(token.text.to_owned()))
    }

    fn either(&mut self) -> Result<Condition, Error> {
        let mut left = self.both()?;
        while self.taken("\\/") {
            left = Condition::Or(Box::new(left), Box::new(self.both()?));
        }
        if self.taken("=>") {
            let right = self.both()?;
            left = Condition::Or(Box::new(Condition::Not(Box::new(left))), Box::new(right));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Condition, Error> {
        let mut left = self.one()?;
        while self.taken("/\\") {
            left = Condition::And(Box::new(left), Box::new(self.one()?));
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Condition, Error> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self
                .reader
                .malformed(self.end(), format!("more than {MOST_DEPTH} conditions lie within one another")));
        }
        let one = self.one_within();
        self.depth -= 1;
        one
    }

    fn one_within(&mut self) -> Result<Condition, Error> {
        if self.taken("~") || self.taken("not") {
            return Ok(Condition::Not(Box::new(self.one()?)));
        }
        if self.taken("(") {
            let inner = self.either()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.taken("true") {
            return Ok(Condition::True);
        }
        if self.taken("false") {
            return Ok(Condition::False);
        }
        let at = self.end();
        let variable = self.variable()?;
        let differs = self.taken("!=");
        if !differs {
            self.expect("=")?;
        }
        let value = self.take("a value")?;
        let value = self
            .names
            .value(value.text)
            .ok_or_else(|| self.reader.malformed(at, format!("`{}` is neither a number nor a name", value.text)))?;
        let is = Condition::Is(variable, value);
        Ok(if differs { Condition::Not(Box::new(is)) } else { is })
    }
}

fn variables(condition: &Condition) -> Vec<Variable> {
    match condition {
        Condition::True | Condition::False => Vec::new(),
        Condition::Is(variable, _) => vec![variable.clone()],
        Condition::Not(inner) => variables(inner),
        Condition::And(left, right) | Condition::Or(left, right) => {
            let mut all = variables(left);
            all.extend(variables(right));
            all
        }
    }
}
