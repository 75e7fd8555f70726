//! The interrupt controller, of either version, as far as PSCI needs it.
//!
//! All interrupts are the normal world's (Group 1), but for a software interrupt of Group 0, by
//! which the emulated power controller turns CPUs on. Group 0 comes to EL3, which masks it while it
//! works.

use crate::layout::POWER_ON_SGI;
use crate::registers::has_gic_registers;
use arm_gic::gicv2::registers::{Gicc, Gicd as GicdV2};
use arm_gic::gicv3::registers::{Gicd, GicrSgi};
use arm_gic::gicv3::{
    GicCpuInterface, GicDistributor, GicRedistributor, Group, SecureIntGroup, SgiTarget,
    SgiTargetGroup,
};
use arm_gic::{IntId, InterruptGroup, UniqueMmioPointer};
use core::ptr::{NonNull, addr_of_mut};
use machine::{CLUSTER, GIC_CPU_INTERFACE, GIC_DISTRIBUTOR, GIC_REDISTRIBUTORS};

/// Which controller the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gic {
    /// CPU interface in memory; at most 8 CPUs.
    V2,
    /// CPU interface in system registers.
    V3,
}

/// The settings of an interface when a CPU turned it off.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    group1: bool,
    priority_mask: u8,
}

impl Interface {
    /// Nothing gets through.
    pub const OFF: Self = Self {
        group1: false,
        priority_mask: 0,
    };
}

const GICC_GROUP0: u32 = 1 << 0;
const GICC_GROUP1: u32 = 1 << 1;
const GICC_FIQ: u32 = 1 << 3;
/// No interrupt bypasses a disabled interface.
const GICC_NO_BYPASS: u32 = 0b1111 << 5;
const LOWEST_PRIORITY: u8 = 0xff;
const NO_INTERRUPT: u32 = 1020;

impl Gic {
    /// The controller of this machine.
    pub fn find() -> Self {
        if has_gic_registers() {
            Self::V3
        } else {
            Self::V2
        }
    }

    /// Sets the controller up, for all CPUs, on the first one.
    pub fn boot(self, cpus: usize) {
        match self {
            Self::V2 => {
                let gicd = GIC_DISTRIBUTOR as *mut GicdV2;
                // SAFETY: the distributor is mapped as a device, and no other CPU runs.
                unsafe {
                    for group in 1..32 {
                        addr_of_mut!((*gicd).icenabler[group])
                            .cast::<u32>()
                            .write_volatile(u32::MAX);
                        addr_of_mut!((*gicd).icpendr[group])
                            .cast::<u32>()
                            .write_volatile(u32::MAX);
                        addr_of_mut!((*gicd).icactiver[group])
                            .cast::<u32>()
                            .write_volatile(u32::MAX);
                        addr_of_mut!((*gicd).igroupr[group])
                            .cast::<u32>()
                            .write_volatile(u32::MAX);
                    }
                    addr_of_mut!((*gicd).ctlr)
                        .cast::<u32>()
                        .write_volatile(0b11);
                }
                self.init_cpu(0);
            }
            Self::V3 => {
                // SAFETY: the distributor is mapped as a device, and no other CPU runs.
                let mut distributor =
                    GicDistributor::new(unsafe { unique::<Gicd>(GIC_DISTRIBUTOR) });
                distributor.configure_default_settings();
                distributor.enable_affinity_routing_non_secure(true);
                distributor.enable_group0(true);
                for cpu in 0..cpus {
                    init_redistributor(cpu);
                }
                self.init_interface();
            }
        }
    }

    /// Sets up this CPU's part from nothing.
    pub fn init_cpu(self, cpu: usize) {
        match self {
            Self::V2 => {
                let gicd = GIC_DISTRIBUTOR as *mut GicdV2;
                // SAFETY: these registers are banked: each CPU has its own.
                unsafe {
                    addr_of_mut!((*gicd).icenabler[0])
                        .cast::<u32>()
                        .write_volatile(0xffff_0000);
                    addr_of_mut!((*gicd).igroupr[0])
                        .cast::<u32>()
                        .write_volatile(!(1 << POWER_ON_SGI));
                    addr_of_mut!((*gicd).icactiver[0])
                        .cast::<u32>()
                        .write_volatile(u32::MAX);
                    for four in 0..8 {
                        // Group 1 in the normal world's half of the priorities, our interrupt in
                        // the other.
                        const { assert!(POWER_ON_SGI == 8) };
                        let priorities = if four == 2 { 0x8080_8000 } else { 0x8080_8080 };
                        addr_of_mut!((*gicd).ipriorityr[four])
                            .cast::<u32>()
                            .write_volatile(priorities);
                    }
                }
            }
            Self::V3 => init_redistributor(cpu),
        }
        self.init_interface();
    }

    /// Lets the power controller's own interrupt, and no other, reach this CPU; the normal world
    /// may enable its group.
    pub fn init_interface(self) {
        match self {
            Self::V2 => gicc_write(GICC_NO_BYPASS | GICC_FIQ | GICC_GROUP0, LOWEST_PRIORITY),
            Self::V3 => {
                GicCpuInterface::enable_system_register_el3(true);
                if crate::registers::has_el2() {
                    GicCpuInterface::enable_system_register_el2(true);
                }
                GicCpuInterface::enable_system_register_el1();
                GicCpuInterface::set_priority_mask(LOWEST_PRIORITY);
                GicCpuInterface::enable_group0(true);
                GicCpuInterface::enable_group1_non_secure(false);
            }
        }
    }

    /// Turns this CPU's interface off.
    pub fn interface_off(self, cpu: usize) -> Interface {
        match self {
            Self::V2 => {
                let (control, priority_mask) = gicc_read();
                gicc_write(control & !GICC_GROUP1, priority_mask);
                Interface {
                    group1: control & GICC_GROUP1 != 0,
                    priority_mask,
                }
            }
            Self::V3 => {
                let group1 = arm_sysregs::el3::accessors::read_icc_igrpen1_el3()
                    .contains(arm_sysregs::el3::registers::IccIgrpen1El3::ENABLEGRP1NS);
                let was = Interface {
                    group1,
                    priority_mask: GicCpuInterface::get_priority_mask(),
                };
                GicCpuInterface::enable_group1_non_secure(false);
                let _ = redistributor(cpu).mark_core_asleep();
                was
            }
        }
    }

    /// Turns this CPU's interface back on as it was.
    pub fn interface_on(self, cpu: usize, was: Interface) {
        match self {
            Self::V2 => {
                let (control, _) = gicc_read();
                gicc_write(
                    control | if was.group1 { GICC_GROUP1 } else { 0 },
                    was.priority_mask,
                );
            }
            Self::V3 => {
                let _ = redistributor(cpu).mark_core_awake();
                GicCpuInterface::set_priority_mask(was.priority_mask);
                GicCpuInterface::enable_group1_non_secure(was.group1);
            }
        }
    }

    /// The part of a power controller for a CPU that is down: lets any interrupt of the normal
    /// world wake it, whatever its priority. With the interface off, no interrupt is signalled and
    /// the emulator's WFI never ends.
    pub fn listen_for_interrupts(self) {
        match self {
            Self::V2 => {
                let (control, _) = gicc_read();
                gicc_write(control | GICC_GROUP1, LOWEST_PRIORITY);
            }
            Self::V3 => {
                GicCpuInterface::set_priority_mask(LOWEST_PRIORITY);
                GicCpuInterface::enable_group1_non_secure(true);
            }
        }
    }

    /// Ends [`Gic::listen_for_interrupts`].
    pub fn stop_listening(self) {
        match self {
            Self::V2 => {
                let (control, priority_mask) = gicc_read();
                gicc_write(control & !GICC_GROUP1, priority_mask);
            }
            Self::V3 => GicCpuInterface::enable_group1_non_secure(false),
        }
    }

    /// Takes the interrupts of Group 0 that are pending: true if the power controller's is among
    /// them.
    pub fn take_power_on(self) -> bool {
        let mut taken = false;
        match self {
            Self::V2 => {
                let gicc = GIC_CPU_INTERFACE as *mut Gicc;
                loop {
                    // SAFETY: the CPU's own interface; what is acknowledged is ended.
                    let acknowledged =
                        unsafe { addr_of_mut!((*gicc).iar).cast::<u32>().read_volatile() };
                    if acknowledged & 0x3ff >= NO_INTERRUPT {
                        break;
                    }
                    // SAFETY: as above.
                    unsafe {
                        addr_of_mut!((*gicc).eoir)
                            .cast::<u32>()
                            .write_volatile(acknowledged)
                    };
                    taken |= acknowledged & 0x3ff == POWER_ON_SGI;
                }
            }
            Self::V3 => {
                while let Some(id) =
                    GicCpuInterface::get_and_acknowledge_interrupt(InterruptGroup::Group0)
                {
                    if u32::from(id) >= NO_INTERRUPT {
                        break;
                    }
                    GicCpuInterface::end_interrupt(id, InterruptGroup::Group0);
                    taken |= u32::from(id) == POWER_ON_SGI;
                }
            }
        }
        taken
    }

    /// Turns a CPU on that is off.
    pub fn send_power_on(self, cpu: usize) {
        match self {
            Self::V2 => {
                let gicd = GIC_DISTRIBUTOR as *mut GicdV2;
                let value = 1 << (16 + cpu as u32 % 8) | POWER_ON_SGI;
                // SAFETY: a write that only sends; the register takes writes of all CPUs.
                unsafe {
                    addr_of_mut!((*gicd).sgir)
                        .cast::<u32>()
                        .write_volatile(value)
                }
            }
            Self::V3 => {
                let target = SgiTarget::List {
                    affinity3: 0,
                    affinity2: 0,
                    affinity1: (cpu / CLUSTER) as u8,
                    target_list: 1 << (cpu % CLUSTER),
                };
                // Errors only for interrupts that are not software's.
                let _ = GicCpuInterface::send_sgi(
                    IntId::sgi(POWER_ON_SGI),
                    target,
                    SgiTargetGroup::Group0,
                );
            }
        }
    }
}

/// # Safety
/// `address` must be that of a mapped device of type `T` that nobody else uses meanwhile.
unsafe fn unique<T>(address: usize) -> UniqueMmioPointer<'static, T> {
    let pointer = NonNull::new(address as *mut T);
    // SAFETY: by the caller's promise; no device is at address 0.
    unsafe { UniqueMmioPointer::new(pointer.unwrap_unchecked()) }
}

/// The redistributor of a CPU: two frames of 64 KiB, without those of virtual LPIs.
fn redistributor(cpu: usize) -> GicRedistributor<'static> {
    // SAFETY: mapped as a device; a CPU uses its own, the first CPU all of them before another
    // runs.
    GicRedistributor::new(unsafe {
        unique::<GicrSgi>(GIC_REDISTRIBUTORS + cpu * size_of::<GicrSgi>())
    })
}

fn init_redistributor(cpu: usize) {
    let mut redistributor = redistributor(cpu);
    redistributor.configure_default_settings();
    let own = IntId::sgi(POWER_ON_SGI);
    // Errors only for interrupts that are not private.
    let _ = redistributor.set_group(own, Group::Secure(SecureIntGroup::Group0));
    let _ = redistributor.set_interrupt_priority(own, 0);
    let _ = redistributor.enable_interrupt(own, true);
    let _ = redistributor.mark_core_awake();
}

fn gicc_read() -> (u32, u8) {
    let gicc = GIC_CPU_INTERFACE as *mut Gicc;
    // SAFETY: mapped as a device; each CPU has its own behind this address.
    unsafe {
        (
            addr_of_mut!((*gicc).ctlr).cast::<u32>().read_volatile(),
            addr_of_mut!((*gicc).pmr).cast::<u32>().read_volatile() as u8,
        )
    }
}

fn gicc_write(control: u32, priority_mask: u8) {
    let gicc = GIC_CPU_INTERFACE as *mut Gicc;
    // SAFETY: as in `gicc_read`.
    unsafe {
        addr_of_mut!((*gicc).pmr)
            .cast::<u32>()
            .write_volatile(u32::from(priority_mask));
        addr_of_mut!((*gicc).ctlr)
            .cast::<u32>()
            .write_volatile(control);
    }
}
