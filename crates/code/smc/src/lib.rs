//! Function ids of secure monitor calls, named as in PSCI (DEN0022), SMCCC (DEN0028) and the
//! firmware's performance measurement framework (PMF).
//!
//! Firmware that answers calls, software that makes them and tools that read recordings share these
//! ids. Ids are those of the 32-bit calling convention; with [`SMC64`] set, a call passes 64-bit
//! arguments.
//!
//! ```
//! assert_eq!(smc::name(smc::CPU_ON | smc::SMC64), Some("CPU_ON"));
//! assert_eq!(smc::name(0x8400_001f), None);
//! ```
#![no_std]
#![forbid(unsafe_code)]

/// Set in the id of a call that passes 64-bit arguments.
///
/// ```
/// assert_eq!(smc::CPU_ON | smc::SMC64, 0xc400_0003);
/// assert_eq!(smc::name(0xc400_0003), smc::name(smc::CPU_ON));
/// ```
pub const SMC64: u32 = 0x4000_0000;

macro_rules! functions {
    ($($name:ident = $id:literal, $about:literal;)*) => {
        $(#[doc = $about] pub const $name: u32 = $id;)*

        /// The function's name, in either calling convention; `None` for ids that have none here.
        pub const fn name(function: u32) -> Option<&'static str> {
            match function & !SMC64 {
                $($id => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

functions! {
    SMCCC_VERSION = 0x8000_0000, "Version of the calling convention (DEN0028).";
    SMCCC_ARCH_FEATURES = 0x8000_0001, "Whether a call of the Arm architecture service is there (DEN0028).";

    SMCCC_ARCH_SOC_ID = 0x8000_0002, "Identifies the SoC (DEN0028).";
    SMCCC_ARCH_WORKAROUND_1 = 0x8000_8000, "Mitigates CVE-2017-5715 on the calling CPU (DEN0028).";
    SMCCC_ARCH_WORKAROUND_2 = 0x8000_7fff, "Turns a mitigation of CVE-2018-3639 on or off (DEN0028).";
    SMCCC_ARCH_WORKAROUND_3 = 0x8000_3fff, "Mitigates CVE-2017-5715 and CVE-2022-23960 on the calling CPU (DEN0028).";

    PSCI_VERSION = 0x8400_0000, "Version of PSCI.";
    CPU_SUSPEND = 0x8400_0001, "Suspends the calling CPU.";
    CPU_OFF = 0x8400_0002, "Powers the calling CPU down.";
    CPU_ON = 0x8400_0003, "Powers another CPU up.";
    AFFINITY_INFO = 0x8400_0004, "Whether another CPU is on, off, or on its way.";
    MIGRATE = 0x8400_0005, "Moves a Trusted OS that runs on one CPU only.";
    MIGRATE_INFO_TYPE = 0x8400_0006, "Whether a Trusted OS runs on one CPU only, and can move.";
    MIGRATE_INFO_UP_CPU = 0x8400_0007, "MPIDR of the CPU that a Trusted OS of one CPU runs on.";
    SYSTEM_OFF = 0x8400_0008, "Powers the system down.";
    SYSTEM_RESET = 0x8400_0009, "Resets the system.";
    PSCI_FEATURES = 0x8400_000a, "Whether a call is there, and with what features.";
    CPU_FREEZE = 0x8400_000b, "Takes the calling CPU out of use, in a state the implementation chooses.";
    CPU_DEFAULT_SUSPEND = 0x8400_000c, "Suspends the calling CPU to a state the implementation chooses.";
    NODE_HW_STATE = 0x8400_000d, "True state of a node of the power topology.";
    SYSTEM_SUSPEND = 0x8400_000e, "Suspends to RAM.";
    PSCI_SET_SUSPEND_MODE = 0x8400_000f, "Platform-coordinated or OS-initiated suspends.";
    PSCI_STAT_RESIDENCY = 0x8400_0010, "Time that a node spent in a state.";
    PSCI_STAT_COUNT = 0x8400_0011, "How often a node was in a state.";
    SYSTEM_RESET2 = 0x8400_0012, "Resets in a way that the caller names.";
    MEM_PROTECT = 0x8400_0013, "Makes a reset overwrite memory before it gives it out.";
    MEM_PROTECT_CHECK_RANGE = 0x8400_0014, "Whether MEM_PROTECT protects a range of memory.";
    SYSTEM_OFF2 = 0x8400_0015, "Powers down in a way that the caller names, such as to hibernate.";

    ARCHITECTURE_SERVICE_CALL_COUNT = 0x8000_ff00, "Number of calls of the Arm Architecture Service.";
    ARCHITECTURE_SERVICE_UID = 0x8000_ff01, "UUID of the implementation of the Arm Architecture Service.";
    ARCHITECTURE_SERVICE_REVISION = 0x8000_ff03, "Revision of the implementation of the Arm Architecture Service.";
    SILICON_SERVICE_CALL_COUNT = 0x8200_ff00, "Number of calls of the Silicon Provider Service, which older readers of PMF call.";
    SILICON_SERVICE_UID = 0x8200_ff01, "UUID of the implementation of the Silicon Provider Service.";
    SILICON_SERVICE_REVISION = 0x8200_ff03, "Revision of the implementation of the Silicon Provider Service.";
    STANDARD_SERVICE_CALL_COUNT = 0x8400_ff00, "Number of calls of the Standard Secure Service, which PSCI is part of.";
    STANDARD_SERVICE_UID = 0x8400_ff01, "UUID of the implementation of the Standard Secure Service.";
    STANDARD_SERVICE_REVISION = 0x8400_ff03, "Revision of the implementation of the Standard Secure Service.";
    VENDOR_EL3_SERVICE_CALL_COUNT = 0x8700_ff00, "Number of calls of the Vendor Specific EL3 Monitor Service, which PMF is part of.";
    VENDOR_EL3_SERVICE_UID = 0x8700_ff01, "UUID of the implementation of the Vendor Specific EL3 Monitor Service.";
    VENDOR_EL3_SERVICE_REVISION = 0x8700_ff03, "Revision of the implementation of the Vendor Specific EL3 Monitor Service.";

    PMF_GET_TIMESTAMP = 0x8700_0020, "PMF: reads a time stamp.";
    PMF_VERSION = 0x8700_0021, "PMF: version of the interface.";
    PMF_GET_TIMESTAMP_OLD = 0x8200_0010, "PMF: reads a time stamp, as older readers call it.";
}

/// Function ids of all PSCI calls, in ascending order.
///
/// ```
/// let names: Vec<_> = smc::PSCI_FUNCTIONS.into_iter().filter_map(smc::name).collect();
/// assert_eq!((names[0], names[3], names.len()), ("PSCI_VERSION", "CPU_ON", 22));
/// ```
pub const PSCI_FUNCTIONS: [u32; 22] = {
    let mut all = [0; 22];
    let mut n = 0;
    while n < all.len() {
        all[n] = PSCI_VERSION + n as u32;
        n += 1;
    }
    all
};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn psci_calls_have_names_and_their_neighbours_have_none() {
        assert!(
            PSCI_FUNCTIONS
                .iter()
                .all(|id| name(*id).is_some() && name(id | SMC64) == name(*id))
        );
        assert_eq!(
            (
                PSCI_FUNCTIONS[21],
                name(PSCI_FUNCTIONS[21] + 1),
                name(PSCI_VERSION - 1)
            ),
            (SYSTEM_OFF2, None, None)
        );
    }
}
