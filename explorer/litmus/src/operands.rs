//! The operands of instructions.

use crate::{
    lexer::number,
    test::{Address, Extend, Operand, Register, SizedRegister, Writeback},
};

/// A register by its name.
pub fn register_of(text: &str) -> Option<SizedRegister> {
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
    Some(SizedRegister { register, wide })
}

/// Splits at the commas that are not in brackets.
pub fn operands(text: &str) -> Vec<String> {
    let mut depth = 0;
    let is_between = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    };
    text.split(is_between)
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect()
}

/// A number, with `#` before it or without.
pub fn immediate(text: &str) -> Option<u64> {
    number(text.trim().trim_start_matches('#').trim())
}

/// A number of bits.
fn shift(text: &str) -> Option<u32> {
    let by = immediate(text).filter(|by| *by < 64)?;
    u32::try_from(by).ok()
}

/// `LSL #n`: n.
pub fn shift_left(text: &str) -> Option<u32> {
    let (name, by) = text.trim().split_once(char::is_whitespace)?;
    shift(by).filter(|_| name.eq_ignore_ascii_case("LSL"))
}

/// An operand that is a number or a register, and may be extended or shifted by the next one.
pub fn operand(operands: &[String], place: usize) -> Option<Operand> {
    let text = operands.get(place)?;
    match register_of(text) {
        Some(register) => Some(Operand::Register(
            register,
            extend(operands.get(place + 1), register)?,
        )),
        None => {
            let shift = match operands.get(place + 1) {
                Some(shift) => shift_left(shift)?,
                None => 0,
            };
            Some(Operand::Number(immediate(text)? << shift))
        }
    }
}

fn extend(text: Option<&String>, register: SizedRegister) -> Option<Extend> {
    let plain = Extend {
        word: !register.wide,
        ..Extend::default()
    };
    let Some(text) = text else {
        return Some(plain);
    };
    let text = text.to_ascii_uppercase();
    let (name, by) = text
        .split_once(char::is_whitespace)
        .unwrap_or((&text, "#0"));
    let word = match name {
        "SXTW" | "UXTW" => true,
        "SXTX" | "UXTX" | "LSL" => plain.word,
        _ => return None,
    };
    Some(Extend {
        signed_word: name == "SXTW",
        word,
        shift: shift(by)?,
    })
}

/// An address, with what writes its base back: the last operand.
pub fn address(all: &[String], place: usize) -> Option<Address> {
    let text = all.get(place)?;
    let (inner, before) = match text.strip_suffix('!') {
        Some(text) => (text, true),
        None => (text.as_str(), false),
    };
    let inner = operands(inner.trim_end().strip_prefix('[')?.strip_suffix(']')?);
    let base = register_of(inner.first()?)
        .filter(|base| base.wide)?
        .register;
    let mut offset = Operand::Number(0);
    if inner.len() > 1 {
        offset = operand(&inner, 1)?;
    }
    let mut writeback = if before {
        Writeback::Before
    } else {
        Writeback::No
    };
    if all.len() > place + 1 {
        offset = operand(all, place + 1).filter(|_| inner.len() == 1)?;
        writeback = Writeback::After;
    }
    Some(Address {
        base,
        offset,
        writeback,
    })
}
