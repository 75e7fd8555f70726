//! Which instruction may follow an instruction of A64, by its encoding (Arm ARM, C4.1).

/// An instruction where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Instruction {
    /// The virtual address.
    pub(crate) address: u64,
    pub(crate) opcode: u32,
}

/// The instruction that may follow, unless an exception is taken.
#[derive(Debug, PartialEq)]
pub(crate) enum Flow {
    /// The next one.
    Next,
    /// The one at an address.
    Jump(u64),
    /// The one at an address, or the next.
    Either(u64),
    /// A function's first, which returns to the next; `None` if a register says where it is.
    Call(Option<u64>),
    /// Wherever a register says; true for RET, ERET and their kin.
    Register { returns: bool },
    /// SVC, HVC, SMC and their kin: a vector's first, which returns to the next.
    Exception,
}

impl Instruction {
    /// The address behind it.
    pub(crate) fn next(self) -> u64 {
        self.address.wrapping_add(4)
    }

    pub(crate) fn flow(self) -> Flow {
        let opcode = self.opcode;
        let is = |mask: u32, value: u32| opcode & mask == value;
        // Bits `from` to `from + bits - 1` are a signed number of instructions.
        let target = |from: u32, bits: u32| {
            let offset = (opcode << (32 - from - bits)).cast_signed() >> (32 - bits);
            self.address.wrapping_add_signed(i64::from(offset) * 4)
        };
        match opcode >> 24 {
            _ if is(0x7c00_0000, 0x1400_0000) && opcode >> 31 == 0 => Flow::Jump(target(0, 26)),
            _ if is(0x7c00_0000, 0x1400_0000) => Flow::Call(Some(target(0, 26))),
            // B.cond and BC.cond, CBZ and CBNZ.
            0x54 | 0x34 | 0x35 | 0xb4 | 0xb5 => Flow::Either(target(5, 19)),
            // TBZ and TBNZ.
            0x36 | 0x37 | 0xb6 | 0xb7 => Flow::Either(target(5, 14)),
            0xd4 => Flow::Exception,
            // BR, BLR, RET, ERET, DRPS, and those with pointer authentication (bit 24).
            0xd6 | 0xd7 => match opcode >> 21 & 7 {
                0 => Flow::Register { returns: false },
                1 => Flow::Call(None),
                _ => Flow::Register { returns: true },
            },
            _ => Flow::Next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_say_where_they_go() {
        let at = |opcode| {
            Instruction {
                address: 0x1000,
                opcode,
            }
            .flow()
        };
        for (opcode, text, expected) in [
            (0xd503_201f, "nop", Flow::Next),
            (0xf940_0020, "ldr x0, [x1]", Flow::Next),
            (0x1400_0002, "b +8", Flow::Jump(0x1008)),
            (0x17ff_ffff, "b -4", Flow::Jump(0xffc)),
            (0x9400_0002, "bl +8", Flow::Call(Some(0x1008))),
            (0x97ff_ffff, "bl -4", Flow::Call(Some(0xffc))),
            (0x5400_0041, "b.ne +8", Flow::Either(0x1008)),
            (0x54ff_ffe1, "b.ne -4", Flow::Either(0xffc)),
            (0xb400_0040, "cbz x0, +8", Flow::Either(0x1008)),
            (0x35ff_ffe0, "cbnz w0, -4", Flow::Either(0xffc)),
            (0x3607_ffe0, "tbz w0, #0, -4", Flow::Either(0xffc)),
            (0xb708_0040, "tbnz x0, #33, +8", Flow::Either(0x1008)),
            (0xd61f_0120, "br x9", Flow::Register { returns: false }),
            (0xd63f_0120, "blr x9", Flow::Call(None)),
            (0xd65f_03c0, "ret", Flow::Register { returns: true }),
            (0xd65f_0bff, "retaa", Flow::Register { returns: true }),
            (0xd69f_03e0, "eret", Flow::Register { returns: true }),
            (0xd73f_0801, "blraa x0, x1", Flow::Call(None)),
            (0xd400_0003, "smc #0", Flow::Exception),
        ] {
            assert_eq!(at(opcode), expected, "{text}");
        }
    }
}
