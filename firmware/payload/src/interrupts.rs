//! The interrupt controller of the normal world: one software interrupt and the timer of each CPU.
//! Interrupts stay masked; WFI sees them, and the program asks for them.

use arm_gic::gicv2::{self, GicV2};
use arm_gic::gicv3::registers::{Gicd, GicrSgi};
use arm_gic::gicv3::{
    GicCpuInterface, GicDistributor, GicRedistributor, SgiTarget, SgiTargetGroup,
};
use arm_gic::{IntId, InterruptGroup, UniqueMmioPointer};
use arm_sysregs::el1::accessors::read_id_aa64pfr0_el1;
use core::ptr::NonNull;
use machine::{
    CLUSTER, GIC_CPU_INTERFACE as CPU_INTERFACE, GIC_DISTRIBUTOR as DISTRIBUTOR,
    GIC_REDISTRIBUTORS as REDISTRIBUTORS,
};

/// The physical timer of the normal world's EL1 (and EL2).
const TIMER: IntId = IntId::ppi(14);
/// The one software interrupt.
const WAKE: IntId = IntId::sgi(0);

/// The exception that a CPU took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Interrupt of the timer.
    Timer,
    /// Another CPU's.
    Software,
}

fn is_v3() -> bool {
    read_id_aa64pfr0_el1().gic() != 0
}

/// # Safety
/// As [`UniqueMmioPointer::new`].
unsafe fn unique<T>(address: usize) -> UniqueMmioPointer<'static, T> {
    let pointer = NonNull::new(address as *mut T).unwrap_or(NonNull::dangling());
    // SAFETY: by the caller's promise.
    unsafe { UniqueMmioPointer::new(pointer) }
}

fn v2() -> GicV2<'static> {
    // SAFETY: mapped as a device; what is used here is banked for each CPU, or only written.
    unsafe { GicV2::new(DISTRIBUTOR as *mut _, CPU_INTERFACE as *mut _) }
}

/// Sets up what is common to all CPUs, on the first.
pub fn init() {
    if is_v3() {
        // SAFETY: mapped as a device; no other CPU runs yet.
        let mut distributor = GicDistributor::new(unsafe { unique::<Gicd>(DISTRIBUTOR) });
        distributor.modify_control(
            arm_gic::gicv3::registers::GicdCtlr::EnableGrp1NS
                | arm_gic::gicv3::registers::GicdCtlr::EnableGrp0,
            true,
        );
    } else {
        v2().enable_group0(true);
    }
    init_cpu();
}

/// Sets up this CPU's part.
pub fn init_cpu() {
    if is_v3() {
        // SAFETY: mapped as a device; a CPU uses its own.
        let registers = unsafe {
            unique::<GicrSgi>(REDISTRIBUTORS + crate::cpu::this() * size_of::<GicrSgi>())
        };
        let mut redistributor = GicRedistributor::new(registers);
        for id in [TIMER, WAKE] {
            let _ = redistributor.enable_interrupt(id, true);
        }
        GicCpuInterface::enable_system_register_el1();
        GicCpuInterface::set_priority_mask(0xff);
        GicCpuInterface::enable_group1(true);
    } else {
        let mut gic = v2();
        for id in [TIMER, WAKE] {
            let _ = gic.enable_interrupt(id, true);
        }
        gic.set_priority_mask(0xff);
        // In the normal world's view the first bit is Group 1's.
        // SAFETY: the CPU's own interface.
        unsafe { (CPU_INTERFACE as *mut u32).write_volatile(1) }
    }
}

/// Sends a CPU the software interrupt.
pub fn send(cpu: usize) {
    if is_v3() {
        let target = SgiTarget::List {
            affinity3: 0,
            affinity2: 0,
            affinity1: (cpu / CLUSTER) as u8,
            target_list: 1 << (cpu % CLUSTER),
        };
        let _ = GicCpuInterface::send_sgi(WAKE, target, SgiTargetGroup::CurrentGroup1);
    } else {
        let target = gicv2::SgiTarget::List {
            target_list_filter: gicv2::SgiTargetListFilter::CPUTargetList,
            target_list: 1 << cpu,
        };
        v2().send_sgi(WAKE, target);
    }
}

/// Takes a pending interrupt of this CPU, if there is one.
pub fn take() -> Option<Taken> {
    let raw = if is_v3() {
        u32::from(GicCpuInterface::get_and_acknowledge_interrupt(
            InterruptGroup::Group1,
        )?)
    } else {
        // The normal world's acknowledge register is the plain one. The whole of it, sender
        // included, goes back. SAFETY: the CPU's own interface.
        unsafe { ((CPU_INTERFACE + 0xc) as *const u32).read_volatile() }
    };
    let id = raw & 0x3ff;
    if id >= 1020 {
        return None;
    }
    let taken = if id == u32::from(TIMER) {
        crate::cpu::stop_timer();
        Taken::Timer
    } else {
        Taken::Software
    };
    if is_v3() {
        GicCpuInterface::end_interrupt(
            if id == u32::from(TIMER) { TIMER } else { WAKE },
            InterruptGroup::Group1,
        );
    } else {
        // SAFETY: as above.
        unsafe { ((CPU_INTERFACE + 0x10) as *mut u32).write_volatile(raw) }
    }
    Some(taken)
}
