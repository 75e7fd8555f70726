//! The trap table: which bits of SCR_EL3, CPTR_EL3 and MDCR_EL3 let the normal world use a feature.
//!
//! There is one world below EL3, so a feature's registers need not be saved and given to another:
//! whatever the core has, the normal world may use. What is not named here stays trapped, and a
//! trap that is taken becomes an undefined instruction ([`crate::undefined`]).

/// ID registers of a core. Those that it lacks read as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// ID_AA64PFR0_EL1.
    pub pfr0: u64,
    /// ID_AA64PFR1_EL1.
    pub pfr1: u64,
    /// ID_AA64PFR2_EL1.
    pub pfr2: u64,
    /// ID_AA64DFR0_EL1.
    pub dfr0: u64,
    /// ID_AA64ISAR1_EL1.
    pub isar1: u64,
    /// ID_AA64ISAR2_EL1.
    pub isar2: u64,
    /// ID_AA64MMFR0_EL1.
    pub mmfr0: u64,
    /// ID_AA64MMFR1_EL1.
    pub mmfr1: u64,
    /// ID_AA64MMFR3_EL1.
    pub mmfr3: u64,
    /// ID_AA64SMFR0_EL1.
    pub smfr0: u64,
}

/// Which of the ID registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Id {
    Pfr0,
    Pfr1,
    Pfr2,
    Dfr0,
    Isar1,
    Isar2,
    Mmfr0,
    Mmfr1,
    Mmfr3,
}

/// Which of the controls a rule sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Scr,
    /// SCR_EL3, for registers of EL2 that change what EL1 may do: only where somebody at EL2 sets
    /// them.
    ScrForEl2,
    Cptr,
    Mdcr,
}

/// A feature, where it shows, and what lets it through.
struct Rule {
    id: Id,
    /// Lowest bit of the field.
    field: u32,
    /// Least value of the field that has the feature.
    least: u64,
    control: Control,
    bits: u64,
}

const fn rule(id: Id, field: u32, least: u64, control: Control, bits: u64) -> Rule {
    Rule {
        id,
        field,
        least,
        control,
        bits,
    }
}

const PAUTH: u64 = 0b11 << 16;

const RULES: [Rule; 38] = {
    use Control::*;
    use Id::*;
    [
        // Pointer authentication, by any of its algorithms: API, APK.
        rule(Isar1, 4, 1, Scr, PAUTH),
        rule(Isar1, 8, 1, Scr, PAUTH),
        rule(Isar1, 24, 1, Scr, PAUTH),
        rule(Isar1, 28, 1, Scr, PAUTH),
        rule(Isar2, 8, 1, Scr, PAUTH),
        rule(Isar2, 12, 1, Scr, PAUTH),
        // Context numbers for speculation: EnSCXT.
        rule(Pfr0, 56, 2, Scr, 1 << 25),
        rule(Pfr1, 32, 2, Scr, 1 << 25),
        // Memory tagging: ATA.
        rule(Pfr1, 8, 2, Scr, 1 << 26),
        // Fine-grained traps: FGTEn, FGTEn2.
        rule(Mmfr0, 56, 1, ScrForEl2, 1 << 27),
        rule(Mmfr0, 56, 2, ScrForEl2, 1 << 59),
        // Offsets of the physical counter: ECVEn.
        rule(Mmfr0, 60, 2, ScrForEl2, 1 << 28),
        // Offsets of the activity monitors: AMVOFFEN.
        rule(Pfr0, 44, 2, Scr, 1 << 35),
        // 64-byte stores with ACCDATA_EL1: EnAS0, ADEn.
        rule(Isar1, 60, 3, Scr, 1 << 36 | 1 << 37),
        // HCRX_EL2: HXEn.
        rule(Mmfr1, 40, 1, ScrForEl2, 1 << 38),
        // Guarded control stacks: GCSEn.
        rule(Pfr1, 44, 1, Scr, 1 << 39),
        // TPIDR2_EL0 of SME: EnTP2.
        rule(Pfr1, 24, 1, Scr, 1 << 41),
        // Checked read-modify-writes of translation tables: RCWMASKEn.
        rule(Pfr1, 48, 1, Scr, 1 << 42),
        // TCR2, SCTLR2.
        rule(Mmfr3, 0, 1, Scr, 1 << 43),
        rule(Mmfr3, 4, 1, Scr, 1 << 44),
        // Permission indirection and overlays: PIEn.
        rule(Mmfr3, 8, 1, Scr, 1 << 45),
        rule(Mmfr3, 12, 1, Scr, 1 << 45),
        rule(Mmfr3, 16, 1, Scr, 1 << 45),
        rule(Mmfr3, 20, 1, Scr, 1 << 45),
        // Attribute indirection: AIEn. 128-bit translation tables: D128En.
        rule(Mmfr3, 24, 1, Scr, 1 << 46),
        rule(Mmfr3, 32, 1, Scr, 1 << 47),
        // FPMR: EnFPM.
        rule(Pfr2, 32, 1, Scr, 1 << 50),
        // Physical address of a synchronous external abort: PFAREn.
        rule(Pfr1, 60, 1, Scr, 1 << 53),
        // Scalable vectors: EZ. The matrix extension: ESM.
        rule(Pfr0, 32, 1, Cptr, 1 << 8),
        rule(Pfr1, 24, 1, Cptr, 1 << 12),
        // Statistical profiling, owned by the normal world: NSPB. Its PMSNEVFR_EL1: EnPMSN.
        rule(Dfr0, 32, 1, Mdcr, 0b11 << 12),
        rule(Dfr0, 32, 3, Mdcr, 1 << 36),
        // Trace buffer, owned by the normal world: NSTB.
        rule(Dfr0, 44, 1, Mdcr, 0b11 << 24),
        // The cycle counter does not count at EL3: SCCD for the secure state, MCCD for EL3.
        rule(Dfr0, 8, 6, Mdcr, 1 << 23),
        rule(Dfr0, 8, 7, Mdcr, 1 << 34),
        // Counters' further registers: EnPM2.
        rule(Dfr0, 8, 9, Mdcr, 1 << 7),
        // Branch records of the normal world: SBRBE.
        rule(Dfr0, 52, 1, Mdcr, 0b01 << 32),
        // Whose events are counted across threads: MTPME.
        rule(Dfr0, 48, 1, Mdcr, 1 << 28),
    ]
};

/// SCR_EL3: the normal world is non-secure, reserved ones, no instructions from its memory at EL3
/// (SIF), AArch64 below.
const SCR_ALWAYS: u64 = 1 << 0 | 0b11 << 4 | 1 << 9 | 1 << 10;
/// SCR_EL3.FIQ: Group 0 is taken at EL3, and the normal world has no access to its registers.
const SCR_FIQ: u64 = 1 << 2;
const SCR_HCE: u64 = 1 << 8;
/// MDCR_EL3: no debug of the secure world (SDD, SPD32 = 0b10).
const MDCR_ALWAYS: u64 = 1 << 16 | 0b10 << 14;

/// MPAMEN; TRAPLOWER, which is 1 after a reset, is 0.
const MPAM_ENABLED: u64 = 1 << 63;

const HCR_RW: u64 = 1 << 31;
const HCR_PAUTH: u64 = 0b11 << 40;
const HCR_ENSCXT: u64 = 1 << 53;
const HCR_ATA: u64 = 1 << 56;
const CPTR_EL2_RES1: u64 = 0x33ff;
const CPTR_EL2_TZ: u64 = 1 << 8;
const CPTR_EL2_TSM: u64 = 1 << 12;

/// The controls that EL3 writes for the normal world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    /// SCR_EL3.
    pub scr: u64,
    /// CPTR_EL3.
    pub cptr: u64,
    /// MDCR_EL3.
    pub mdcr: u64,
    /// ZCR_EL3, and ZCR_EL2 for a normal world at EL1: all of a vector. `None` without SVE.
    pub zcr: Option<u64>,
    /// MPAM3_EL3: partitions of caches and memory are on, and their registers are the levels
    /// below's. `None` without MPAM.
    pub mpam: Option<u64>,
    /// SMCR_EL3, and SMCR_EL2 for a normal world at EL1. `None` without SME.
    pub smcr: Option<u64>,
    /// HCR_EL2: 0 for a normal world at EL2; below an EL2 that nobody uses, nothing of what EL1
    /// does is trapped.
    pub hcr_el2: u64,
    /// CPTR_EL2.
    pub cptr_el2: u64,
    /// MDCR_EL2, without HPMN, the number of counters.
    pub mdcr_el2: u64,
}

impl Features {
    fn field(&self, id: Id, at: u32) -> u64 {
        let register = match id {
            Id::Pfr0 => self.pfr0,
            Id::Pfr1 => self.pfr1,
            Id::Pfr2 => self.pfr2,
            Id::Dfr0 => self.dfr0,
            Id::Isar1 => self.isar1,
            Id::Isar2 => self.isar2,
            Id::Mmfr0 => self.mmfr0,
            Id::Mmfr1 => self.mmfr1,
            Id::Mmfr3 => self.mmfr3,
        };
        match register >> at & 0xf {
            // Counters of another architecture: none that these rules know.
            0xf if id == Id::Dfr0 && at == 8 => 0,
            // Not there, rather than there in some way.
            0xf if id == Id::Dfr0 && at == 48 => 0,
            value => value,
        }
    }

    /// True if there is an EL2.
    pub fn has_el2(&self) -> bool {
        self.field(Id::Pfr0, 8) != 0
    }

    /// True if the performance monitors of the architecture are there.
    pub fn has_counters(&self) -> bool {
        self.field(Id::Dfr0, 8) != 0
    }
}

/// The controls for a core with these features, and a normal world that starts at EL1 (`at_el1`) or
/// at EL2.
pub fn controls(features: &Features, at_el1: bool) -> Controls {
    let mut controls = Controls {
        scr: SCR_ALWAYS | SCR_FIQ,
        mdcr: MDCR_ALWAYS,
        ..Controls::default()
    };
    let runs_el2 = features.has_el2() && !at_el1;
    if features.has_el2() {
        controls.scr |= SCR_HCE;
    }
    for rule in &RULES {
        if features.field(rule.id, rule.field) < rule.least {
            continue;
        }
        match rule.control {
            Control::Scr => controls.scr |= rule.bits,
            Control::ScrForEl2 if runs_el2 => controls.scr |= rule.bits,
            Control::ScrForEl2 => {}
            Control::Cptr => controls.cptr |= rule.bits,
            Control::Mdcr => controls.mdcr |= rule.bits,
        }
    }
    const LONGEST: u64 = 0xf;
    let sve = features.field(Id::Pfr0, 32) != 0;
    let sme = features.field(Id::Pfr1, 24);
    controls.zcr = sve.then_some(LONGEST);
    let has_mpam = features.field(Id::Pfr0, 40) != 0 || features.field(Id::Pfr1, 16) != 0;
    controls.mpam = has_mpam.then_some(MPAM_ENABLED);
    let all_of_a64 = features.smfr0 >> 63 << 31;
    let lookup_table = u64::from(sme >= 2) << 30;
    controls.smcr = (sme != 0).then_some(LONGEST | all_of_a64 | lookup_table);

    controls.cptr_el2 = CPTR_EL2_RES1;
    if !runs_el2 {
        controls.hcr_el2 = HCR_RW;
        for (of_el3, of_el2) in [
            (PAUTH, HCR_PAUTH),
            (1 << 25, HCR_ENSCXT),
            (1 << 26, HCR_ATA),
        ] {
            if controls.scr & of_el3 != 0 {
                controls.hcr_el2 |= of_el2;
            }
        }
        if sve {
            controls.cptr_el2 &= !CPTR_EL2_TZ;
        }
        if sme != 0 {
            controls.cptr_el2 &= !CPTR_EL2_TSM;
        }
        // E2PB and E2TB lie where NSPB and NSTB do.
        controls.mdcr_el2 = controls.mdcr & (0b11 << 12 | 0b11 << 24);
    }
    controls
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Cortex-A53: EL0 to EL3 in both states, floating point, GICv3, counters of version 3.
    const A53: Features = Features {
        pfr0: 0x0100_2222,
        pfr1: 0,
        pfr2: 0,
        dfr0: 0x1030_5106,
        isar1: 0,
        isar2: 0,
        mmfr0: 0x1122,
        mmfr1: 0,
        mmfr3: 0,
        smfr0: 0,
    };

    #[test]
    fn an_old_core_gets_what_it_always_got() {
        let expected = Controls {
            scr: 0x735,
            cptr: 0,
            mdcr: 0x1_8000,
            zcr: None,
            mpam: None,
            smcr: None,
            hcr_el2: 0,
            cptr_el2: 0x33ff,
            mdcr_el2: 0,
        };
        assert_eq!(controls(&A53, false), expected);
        assert_eq!(
            controls(&A53, true),
            Controls {
                hcr_el2: 1 << 31,
                ..expected
            }
        );
        let without_el2 = Features {
            pfr0: A53.pfr0 & !0xf00,
            ..A53
        };
        assert_eq!(controls(&without_el2, true).scr, 0x635);
    }

    #[test]
    fn every_rule_shows_in_exactly_its_control() {
        let all = Features {
            pfr0: A53.pfr0,
            ..Features::default()
        };
        let base = controls(&all, false);
        for rule in &RULES {
            let with = |value: u64| {
                let mut features = all;
                let register = match rule.id {
                    Id::Pfr0 => &mut features.pfr0,
                    Id::Pfr1 => &mut features.pfr1,
                    Id::Pfr2 => &mut features.pfr2,
                    Id::Dfr0 => &mut features.dfr0,
                    Id::Isar1 => &mut features.isar1,
                    Id::Isar2 => &mut features.isar2,
                    Id::Mmfr0 => &mut features.mmfr0,
                    Id::Mmfr1 => &mut features.mmfr1,
                    Id::Mmfr3 => &mut features.mmfr3,
                };
                *register = *register & !(0xf << rule.field) | value << rule.field;
                controls(&features, false)
            };
            let of = |controls: Controls| match rule.control {
                Control::Scr | Control::ScrForEl2 => controls.scr,
                Control::Cptr => controls.cptr,
                Control::Mdcr => controls.mdcr,
            };
            assert_eq!(of(base) & rule.bits, 0, "{:?} {}", rule.id, rule.field);
            assert_eq!(
                of(with(rule.least)) & rule.bits,
                rule.bits,
                "{:?} {}",
                rule.id,
                rule.field
            );
            assert_eq!(
                of(with(rule.least - 1)) & rule.bits,
                0,
                "{:?} {}",
                rule.id,
                rule.field
            );
        }
    }

    #[test]
    fn what_only_el2_may_set_stays_off_where_nobody_is_there() {
        let features = Features {
            mmfr0: 0x22 << 56,
            mmfr1: 1 << 40,
            ..A53
        };
        let for_el2 = 1 << 27 | 1 << 59 | 1 << 28 | 1 << 38;
        assert_eq!(controls(&features, false).scr & for_el2, for_el2);
        assert_eq!(controls(&features, true).scr & for_el2, 0);
    }

    #[test]
    fn vectors_are_there_in_full_at_either_level() {
        let features = Features {
            pfr0: A53.pfr0 | 1 << 32,
            pfr1: 2 << 24,
            smfr0: 1 << 63,
            ..A53
        };
        for (at_el1, cptr_el2) in [(false, 0x33ff), (true, 0x22ff)] {
            let controls = controls(&features, at_el1);
            assert_eq!(
                (controls.zcr, controls.smcr),
                (Some(0xf), Some(0xc000_000f))
            );
            assert_eq!(
                (controls.cptr, controls.cptr_el2),
                (1 << 8 | 1 << 12, cptr_el2)
            );
        }
    }

    #[test]
    fn partitions_of_caches_are_the_normal_worlds() {
        let with = |features: Features| controls(&features, false).mpam;
        assert_eq!(
            with(Features {
                pfr0: A53.pfr0 | 1 << 40,
                ..A53
            }),
            Some(1 << 63)
        );
        assert_eq!(
            with(Features {
                pfr1: 1 << 16,
                ..A53
            }),
            Some(1 << 63),
            "version 0.1"
        );
    }

    #[test]
    fn counters_that_are_not_the_architectures_are_none() {
        let features = Features {
            dfr0: 0xf << 8 | 0xf << 48,
            ..A53
        };
        assert_eq!(controls(&features, false).mdcr, MDCR_ALWAYS);
        assert!(!features.has_counters() && A53.has_counters());
    }
}
