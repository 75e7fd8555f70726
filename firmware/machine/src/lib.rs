//! QEMU's `virt` machine with `secure=on`, as far as firmware and payload share it (hw/arm/virt.c,
//! memory map).
#![no_std]

pub mod console;
pub mod fw_cfg;

use core::ops::Range;

/// Console of the normal world, which EL3 borrows to boot and to report.
pub const UART: usize = 0x0900_0000;
/// fw_cfg, where the options are.
pub const FW_CFG: usize = 0x0902_0000;
/// PL061 of the secure world; a pin powers off, another resets.
pub const SECURE_GPIO: usize = 0x090b_0000;
/// Interrupt distributor, of either version.
pub const GIC_DISTRIBUTOR: usize = 0x0800_0000;
/// CPU interface of GICv2.
pub const GIC_CPU_INTERFACE: usize = 0x0801_0000;
/// Redistributors of GICv3, one after the other.
pub const GIC_REDISTRIBUTORS: usize = 0x080a_0000;
/// Memory; the machine's device tree is at its start.
pub const MEMORY: usize = 0x4000_0000;
/// Memory of the secure world.
pub const SECURE_RAM: Range<usize> = 0x0e00_0000..0x0f00_0000;

/// Most CPUs that the images have room for.
pub const MAX_CPUS: usize = 32;
/// CPUs of a cluster: Aff0 counts to this.
pub const CLUSTER: usize = 16;

/// Index of the CPU with these affinity fields, if there could be one.
#[inline(always)]
pub const fn index_of(mpidr: u64) -> Option<usize> {
    let (aff0, aff1) = (mpidr & 0xff, mpidr >> 8);
    if aff0 < CLUSTER as u64 && aff1 < (MAX_CPUS / CLUSTER) as u64 {
        Some((aff1 * CLUSTER as u64 + aff0) as usize)
    } else {
        None
    }
}

/// Affinity fields of a CPU by its index.
pub const fn mpidr_of(cpu: usize) -> u64 {
    ((cpu / CLUSTER) << 8 | (cpu % CLUSTER)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_and_affinities_are_each_others_inverse() {
        for cpu in 0..MAX_CPUS {
            assert_eq!(index_of(mpidr_of(cpu)), Some(cpu));
        }
        for strange in [0x10, 0x200, 0x1_0000, 1 << 32, u64::MAX] {
            assert_eq!(index_of(strange), None);
        }
    }
}
