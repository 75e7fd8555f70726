//! Kinds of A64 instructions, by their encoding (Arm ARM, C4.1).

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

/// The kind of an instruction; `None` for one that only computes or branches.
pub fn kind(opcode: u32) -> Option<Kind> {
    let is = |mask: u32, value: u32| opcode & mask == value;
    // Exception generation and return.
    if is(0xff00_0000, 0xd400_0000)
        || is(0xffff_fbff, 0xd69f_03e0 & 0xffff_fbff)
        || is(0xffff_f800, 0xd69f_0800)
    {
        return Some(Kind::Exception);
    }
    // The space of hints: WFE and WFI, ESB.
    match opcode {
        0xd503_205f | 0xd503_207f => return Some(Kind::Wait),
        0xd503_221f => return Some(Kind::Barrier),
        _ => {}
    }
    // CLREX, DSB, DMB, ISB, SB.
    if is(0xffff_f01f, 0xd503_301f) {
        return (opcode >> 5 & 7 != 2).then_some(Kind::Barrier);
    }
    // MSR (immediate): a field of PSTATE.
    if is(0xfff8_f01f, 0xd500_401f) {
        let field = match (opcode >> 16 & 7, opcode >> 5 & 7) {
            (0, 3) => "UAO",
            (0, 4) => "PAN",
            (0, 5) => "SPSel",
            (3, 1) => "SSBS",
            (3, 2) => "DIT",
            (3, 4) => "TCO",
            (3, 6) => "DAIFSet",
            (3, 7) => "DAIFClr",
            // CFINV and its kin.
            _ => return None,
        };
        return Some(Kind::SystemWrite(field.to_owned()));
    }
    // SYS: CRn 7 is caches and address translation, CRn 8 the TLB.
    if is(0xfff8_0000, 0xd508_0000) {
        let (crn, crm) = (opcode >> 12 & 0xf, opcode >> 8 & 0xf);
        return match (crn, crm) {
            (7, 8 | 9) | (8 | 9, _) => Some(Kind::Translation),
            (7, _) => Some(Kind::CacheMaintenance),
            _ => None,
        };
    }
    // MSR (register).
    if is(0xfff0_0000, 0xd510_0000) {
        let (op0, op1) = (2 + (opcode >> 19 & 1), opcode >> 16 & 7);
        let (crn, crm, op2) = (opcode >> 12 & 0xf, opcode >> 8 & 0xf, opcode >> 5 & 7);
        return Some(Kind::SystemWrite(register(op0, op1, crn, crm, op2)));
    }
    access(opcode)
}

/// A load or a store; `None` for what accesses no memory.
fn access(opcode: u32) -> Option<Kind> {
    let is = |mask: u32, value: u32| opcode & mask == value;
    // Loads and stores: bit 27 set, bit 25 clear.
    if !is(0x0a00_0000, 0x0800_0000) {
        return None;
    }
    // Atomic operations both read and write; they are stores here, but for LDAPR.
    if is(0x3f20_0c00, 0x3820_0000) {
        return Some(if is(0x0000_f000, 0x0000_c000) {
            Kind::Load
        } else {
            Kind::Store
        });
    }
    let load = match (opcode >> 28 & 3, opcode >> 24 & 3) {
        // Exclusive and ordered: bit 22. Compare-and-swap both reads and writes; it is a store
        // here.
        (0, _) => is(1 << 22, 1 << 22),
        // Literals always read.
        (1, _) if is(0x3b00_0000, 0x1800_0000) => true,
        // Pairs: bit 22.
        (2, _) => is(1 << 22, 1 << 22),
        // Single registers: opc, of which only 00 stores, and of vectors also 10.
        _ => {
            let (vector, opc) = (is(1 << 26, 1 << 26), opcode >> 22 & 3);
            // PRFM accesses nothing that the program sees.
            if opcode >> 30 == 3 && !vector && opc == 2 {
                return None;
            }
            opc != 0 && !(vector && opc == 2)
        }
    };
    Some(if load { Kind::Load } else { Kind::Store })
}

/// The names of system registers that firmware writes, a line each behind the encoding.
const REGISTERS: &str = include_str!("registers.txt");

/// The name of a system register; by its encoding, as assemblers know it, where it has no name here.
fn register(op0: u32, op1: u32, crn: u32, crm: u32, op2: u32) -> String {
    let encoding = format!("S{op0}_{op1}_C{crn}_C{crm}_{op2}");
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
