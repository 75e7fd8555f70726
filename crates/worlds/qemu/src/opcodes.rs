//! Kinds of A64 instructions, by their encoding (Arm ARM, C4.1).

use std::sync::LazyLock;

/// A kind of instruction whose number matters beside that of all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Reads memory; one that reads two registers' worth is one.
    Load,
    /// Writes memory.
    Store,
    /// DSB, DMB, ISB, SB, ESB.
    Barrier,
    /// DC, IC.
    CacheMaintenance,
    /// TLBI, AT.
    Translation,
    /// SMC, HVC, SVC, ERET, BRK.
    Exception,
    /// WFI, WFE.
    Wait,
    /// MSR: the register that is written.
    SystemWrite(String),
}

/// Encodings: bits that count, their value, and the kind, a line each. The first that fits counts.
static ENCODINGS: LazyLock<Vec<(u32, u32, &str)>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let (bits, kind) = line.rsplit_once(' ')?;
        let (mask, value) = bits.split_once(' ')?;
        let bits = |digits| u32::from_str_radix(digits, 16).ok();
        Some((bits(mask)?, bits(value)?, kind))
    };
    include_str!("encodings.txt")
        .lines()
        .filter_map(row)
        .collect()
});

/// The kind of an instruction; `None` for one that only computes or branches.
pub fn kind(opcode: u32) -> Option<Kind> {
    let mut encodings = ENCODINGS.iter();
    let found = encodings.find(|(mask, value, _)| opcode & mask == *value);
    Some(match found?.2 {
        "load" => Kind::Load,
        "store" => Kind::Store,
        "barrier" => Kind::Barrier,
        "cache-maintenance" => Kind::CacheMaintenance,
        "translation" => Kind::Translation,
        "exception" => Kind::Exception,
        "wait" => Kind::Wait,
        "register" => Kind::SystemWrite(register(opcode)),
        "none" => return None,
        field => Kind::SystemWrite(field.to_owned()),
    })
}

/// The names of system registers that firmware writes, a line each behind the encoding.
const REGISTERS: &str = include_str!("registers.txt");

/// The name of the system register that is written; by its encoding, as assemblers know it, where it
/// has no name here.
fn register(opcode: u32) -> String {
    let field = |at: u32, all: u32| opcode >> at & all;
    let encoding = format!(
        "S{}_{}_C{}_C{}_{}",
        2 + field(19, 1),
        field(16, 7),
        field(12, 15),
        field(8, 15),
        field(5, 7)
    );
    let mut named = REGISTERS.lines().filter_map(|line| line.split_once(' '));
    let known = named.find(|(known, _)| *known == encoding);
    known.map_or(encoding.as_str(), |(_, name)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings as GNU's assembler writes them.
    #[test]
    fn instructions_are_told_apart() {
        let write = |register: &str| Some(Kind::SystemWrite(register.to_owned()));
        for (opcode, text, expected) in [
            (0xd400_0003, "smc #0", Some(Kind::Exception)),
            (0xd69f_03e0, "eret", Some(Kind::Exception)),
            (0xd503_3f9f, "dsb sy", Some(Kind::Barrier)),
            (0xd503_3bbf, "dmb ish", Some(Kind::Barrier)),
            (0xd503_3fdf, "isb", Some(Kind::Barrier)),
            (0xd503_3f5f, "clrex", None),
            (0xd503_221f, "esb", Some(Kind::Barrier)),
            (0xd503_207f, "wfi", Some(Kind::Wait)),
            (0xd503_201f, "nop", None),
            (0xd50b_7e21, "dc civac, x1", Some(Kind::CacheMaintenance)),
            (0xd508_711f, "ic ialluis", Some(Kind::CacheMaintenance)),
            (0xd50e_871f, "tlbi alle3", Some(Kind::Translation)),
            (0xd51e_1100, "msr scr_el3, x0", write("SCR_EL3")),
            (0xd51e_4020, "msr elr_el3, x0", write("ELR_EL3")),
            (0xd53e_1100, "mrs x0, scr_el3", None),
            (0xa9bf_07e0, "stp x0, x1, [sp, #-16]!", Some(Kind::Store)),
            (0xa8c1_07e0, "ldp x0, x1, [sp], #16", Some(Kind::Load)),
            (0xf940_0020, "ldr x0, [x1]", Some(Kind::Load)),
            (0xf900_0020, "str x0, [x1]", Some(Kind::Store)),
            (0x3940_0020, "ldrb w0, [x1]", Some(Kind::Load)),
            (0xb980_0020, "ldrsw x0, [x1]", Some(Kind::Load)),
            (0x5800_0040, "ldr x0, 8", Some(Kind::Load)),
            (0xc85f_7c20, "ldxr x0, [x1]", Some(Kind::Load)),
            (0xc802_7c20, "stxr w2, x0, [x1]", Some(Kind::Store)),
            (0xc8df_fc20, "ldar x0, [x1]", Some(Kind::Load)),
            (0xc89f_fc20, "stlr x0, [x1]", Some(Kind::Store)),
            (0xf980_0020, "prfm pldl1keep, [x1]", None),
            (0x3dc0_0020, "ldr q0, [x1]", Some(Kind::Load)),
            (0x3d80_0020, "str q0, [x1]", Some(Kind::Store)),
            (0xd503_4fdf, "msr daifset, #0xf", write("DAIFSet")),
            (0xd500_41bf, "msr spsel, #1", write("SPSel")),
            (0xd500_401f, "cfinv", None),
            (0xf820_0041, "ldadd x0, x1, [x2]", Some(Kind::Store)),
            (0xf8bf_c041, "ldapr x1, [x2]", Some(Kind::Load)),
            (0xf860_6841, "ldr x1, [x2, x0]", Some(Kind::Load)),
            (0x8b01_0000, "add x0, x0, x1", None),
            (0x1400_0001, "b 4", None),
            (0xd65f_03c0, "ret", None),
            (0xd61f_0120, "br x9", None),
            (0xd280_0020, "mov x0, #1", None),
        ] {
            assert_eq!(kind(opcode), expected, "{text}");
        }
        assert_eq!(
            kind(0xd51e_f040),
            write("S3_6_C15_C0_2"),
            "a register of the implementer"
        );
    }
}
