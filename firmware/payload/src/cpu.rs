//! The abilities of a CPU: calls to the firmware, suspends that come back, the counter, the timer.

use aarch64_rt::{SuspendContext, warm_boot_entry};
use arm_sysregs::el1::accessors::read_mpidr_el1;
use core::arch::{asm, naked_asm};
use core::sync::atomic::{AtomicU64, Ordering};
use machine::{MAX_CPUS, index_of, mpidr_of};

/// Bytes of stack of a CPU.
pub const STACK: usize = 0x4000;

/// Stacks of all CPUs.
#[repr(C, align(4096))]
pub struct Stacks(core::cell::UnsafeCell<[[u8; STACK]; MAX_CPUS]>);

// SAFETY: only addresses are taken; each CPU uses its own stack.
unsafe impl Sync for Stacks {}

/// The stack of CPU n starts at n + 1 times [`STACK`], and grows down.
pub static STACKS: Stacks = Stacks(core::cell::UnsafeCell::new([[0; STACK]; MAX_CPUS]));

/// This CPU.
pub fn this() -> usize {
    index_of(read_mpidr_el1().bits() & 0xffff).unwrap_or(0)
}

/// 1 or 2.
pub fn exception_level() -> u64 {
    let level: u64;
    // SAFETY: reading it has no effect.
    unsafe { asm!("mrs {}, CurrentEL", out(reg) level, options(nomem, nostack, preserves_flags)) }
    level >> 2 & 3
}

/// ESR of the last exception at the present level.
pub fn syndrome() -> u64 {
    let (one, two): (u64, u64);
    // SAFETY: reading them has no effect; ESR_EL2 is there where this runs at EL2.
    unsafe {
        asm!("mrs {}, esr_el1", out(reg) one, options(nomem, nostack, preserves_flags));
        if exception_level() < 2 {
            return one;
        }
        asm!("mrs {}, esr_el2", out(reg) two, options(nomem, nostack, preserves_flags));
    }
    two
}

/// The first result of an SMC, which says how it went.
pub fn call(function: u32, arguments: [u64; 3]) -> i64 {
    smc(function, arguments)[0] as i64
}

/// An SMC (SMCCC DEN0028: X4 and up are kept by the firmware).
#[inline(always)]
pub fn smc(function: u32, [x1, x2, x3]: [u64; 3]) -> [u64; 4] {
    let mut results = [0; 4];
    // SAFETY: a call that does not come back leaves nothing behind that another CPU waits for.
    unsafe {
        asm!(
            "smc #0",
            inout("x0") u64::from(function) => results[0],
            inout("x1") x1 => results[1],
            inout("x2") x2 => results[2],
            inout("x3") x3 => results[3],
            options(nostack),
        );
    }
    results
}

/// Lays the registers that a caller counts on onto the stack.
macro_rules! save {
    () => {
        "stp x29, x30, [sp, #-96]!
         stp x27, x28, [sp, #16]
         stp x25, x26, [sp, #32]
         stp x23, x24, [sp, #48]
         stp x21, x22, [sp, #64]
         stp x19, x20, [sp, #80]"
    };
}

/// Takes them from there.
macro_rules! restore {
    () => {
        "ldp x19, x20, [sp, #80]
         ldp x21, x22, [sp, #64]
         ldp x23, x24, [sp, #48]
         ldp x25, x26, [sp, #32]
         ldp x27, x28, [sp, #16]
         ldp x29, x30, [sp], #96"
    };
}

/// True if an SMC, with its id and arguments in X0 to X3, keeps X4 to X30 (SMCCC DEN0028, 2.6), or
/// does not return here.
#[unsafe(naked)]
pub extern "C" fn smc_keeps_registers(function: u64, x1: u64, x2: u64, x3: u64) -> bool {
    naked_asm!(
        save!(),
        ".irp n, 4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
         mov x\\n, #\\n
         movk x\\n, #0xa5a5, lsl #48
         .endr
         smc #0
         mov x0, xzr
         mov x1, #0xa5a5000000000000
         .irp n, 4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
         sub x2, x\\n, #\\n
         eor x2, x2, x1
         orr x0, x0, x2
         .endr
         cmp x0, #0
         cset x0, eq",
        restore!(),
        "ret"
    )
}

/// The counter, in order with what came before.
#[inline(always)]
pub fn counter() -> u64 {
    let ticks;
    // SAFETY: reading it has no effect.
    unsafe { asm!("isb", "mrs {}, cntpct_el0", out(reg) ticks, options(nostack, preserves_flags)) }
    ticks
}

/// Ticks of the counter in a second.
pub fn counter_frequency() -> u64 {
    arm_sysregs::el0::accessors::read_cntfrq_el0().bits()
}

/// Lets this CPU's timer interrupt in `microseconds`.
pub fn start_timer(microseconds: u64) {
    let ticks = microseconds * counter_frequency() / 1_000_000;
    // SAFETY: the physical timer of the normal world is ours.
    unsafe {
        asm!("msr cntp_tval_el0, {}", "msr cntp_ctl_el0, {}", "isb", in(reg) ticks, in(reg) 1u64, options(nostack, preserves_flags));
    }
}

/// Silences this CPU's timer.
pub fn stop_timer() {
    // SAFETY: as in `start_timer`.
    unsafe {
        asm!(
            "msr cntp_ctl_el0, xzr",
            "isb",
            options(nostack, preserves_flags)
        )
    }
}

/// Waits for `microseconds`, or until another interrupt.
pub fn nap(microseconds: u64) {
    start_timer(microseconds);
    wait_for_interrupt();
    stop_timer();
}

/// WFI.
pub fn wait_for_interrupt() {
    // SAFETY: only waits.
    unsafe { asm!("dsb sy", "wfi", options(nostack, preserves_flags)) }
}

/// WFE.
pub fn wait_for_event() {
    // SAFETY: only waits.
    unsafe { asm!("wfe", options(nostack, preserves_flags)) }
}

/// SEV.
pub fn send_event() {
    // SAFETY: only wakes.
    unsafe { asm!("dsb sy", "sev", options(nostack, preserves_flags)) }
}

/// CPU_ON with an entry that runs `main` on the CPU's own stack; `context` must outlive the start.
///
/// The value is PSCI's return code.
pub fn turn_on(cpu: usize, starts: &'static Starts) -> i64 {
    let context_address = (&raw const starts.0[cpu]) as u64;
    smc(
        psci::id::CPU_ON | psci::id::SMC64,
        [
            mpidr_of(cpu),
            warm_boot_entry as *const () as u64,
            context_address,
        ],
    )[0] as i64
}

/// MPIDR_EL1, as it is.
pub fn mpidr() -> u64 {
    read_mpidr_el1().bits()
}

/// CPU_ON by a caller whose data are big-endian if `big`. The MMU is off meanwhile: its tables
/// would be read in that order, too.
fn turn_on_in_order(big: bool, mpidr: u64, entry: u64, context: u64) -> i64 {
    const EE: u64 = 1 << 25;
    const MMU_AND_CACHES: u64 = 1 << 12 | 1 << 2 | 1;
    macro_rules! call {
        ($sctlr:literal) => {{
            let mut code = u64::from(psci::id::CPU_ON | psci::id::SMC64);
            // SAFETY: nothing but registers is touched until the register is as it was; addresses
            // are the same without MMU.
            unsafe {
                asm!(
                    "dsb sy",
                    concat!("mrs {old}, ", $sctlr),
                    "bic {new}, {old}, {off}",
                    "orr {new}, {new}, {order}",
                    concat!("msr ", $sctlr, ", {new}"),
                    "isb",
                    "smc #0",
                    concat!("msr ", $sctlr, ", {old}"),
                    "isb",
                    old = out(reg) _,
                    new = out(reg) _,
                    off = in(reg) MMU_AND_CACHES,
                    order = in(reg) if big { EE } else { 0 },
                    inout("x0") code,
                    inout("x1") mpidr => _,
                    inout("x2") entry => _,
                    inout("x3") context => _,
                    options(nostack),
                );
            }
            code as i64
        }};
    }
    if exception_level() == 2 {
        call!("sctlr_el2")
    } else {
        call!("sctlr_el1")
    }
}

/// First and last code of a CPU that says how it started: [`ENTRIES`] instructions, each of which
/// may be the first. The report is the address behind it, with EE in bit 0; it is stored at the
/// address in X0, little-endian.
#[unsafe(naked)]
unsafe extern "C" fn report() -> ! {
    naked_asm!(
        ".rept {entries}
         bl 1f
         .endr
      1: mrs x1, CurrentEL
         cmp x1, #8
         b.eq 2f
         mrs x1, sctlr_el1
         bic x2, x1, #(1 << 25)
         msr sctlr_el1, x2
         b 3f
      2: mrs x1, sctlr_el2
         bic x2, x1, #(1 << 25)
         msr sctlr_el2, x2
      3: isb
         ubfx x1, x1, #25, #1
         orr x1, x1, x30
         str x1, [x0]
         dsb sy
         mov x0, #{off}
         movk x0, #0x8400, lsl #16
         smc #0
      4: wfi
         b 4b",
        entries = const ENTRIES,
        off = const psci::id::CPU_OFF & 0xffff,
    )
}

/// Entries of a CPU that reports.
pub const ENTRIES: usize = 16;

/// The report of a CPU that was turned on.
static REPORT: AtomicU64 = AtomicU64::new(0);

/// Turns a CPU on at one of [`ENTRIES`] addresses, by a caller whose data are big-endian if `big`,
/// and waits until it is off again.
///
/// # Errors
/// What CPU_ON returned, or what the CPU reported, which is not how it should have started.
pub fn turn_on_and_off(big: bool, cpu: usize, entry: usize) -> Result<(), i64> {
    REPORT.store(u64::MAX, Ordering::Release);
    let address = report as *const () as u64 + 4 * entry as u64;
    let code = turn_on_in_order(big, mpidr_of(cpu), address, (&raw const REPORT) as u64);
    if code != 0 {
        return Err(code);
    }
    while REPORT.load(Ordering::Acquire) == u64::MAX {
        nap(100);
    }
    wait_until_off(cpu);
    let report = REPORT.load(Ordering::Acquire);
    if report == address + 4 + u64::from(big) {
        Ok(())
    } else {
        Err(report as i64)
    }
}

/// True if AFFINITY_INFO says that a CPU is off.
pub fn is_off(cpu: usize) -> bool {
    smc(
        psci::id::AFFINITY_INFO | psci::id::SMC64,
        [mpidr_of(cpu), 0, 0],
    )[0] == 1
}

/// Sleeps until a CPU is off.
pub fn wait_until_off(cpu: usize) {
    while !is_off(cpu) {
        nap(100);
    }
}

/// Contexts in which CPUs start that are turned on, by CPU.
pub struct Starts([SuspendContext; MAX_CPUS]);

// SAFETY: never written.
unsafe impl Sync for Starts {}

/// Each CPU that is turned on starts `main` at the top of its own stack.
pub const fn starts_of(main: extern "C" fn(u64) -> !) -> Starts {
    let mut starts = [SuspendContext {
        stack_ptr: core::ptr::null_mut(),
        entry: main,
        arg: 0,
    }; MAX_CPUS];
    let mut cpu = 0;
    while cpu < MAX_CPUS {
        // The end of the CPU's stack; computed as a pointer, so that a static can hold it.
        starts[cpu].stack_ptr = STACKS
            .0
            .get()
            .cast::<u8>()
            .wrapping_add((cpu + 1) * STACK)
            .cast::<u64>();
        starts[cpu].arg = cpu as u64;
        cpu += 1;
    }
    Starts(starts)
}

/// CPU_SUSPEND with `function` as its id, with all registers kept: returns when the call returns,
/// and when the CPU comes back through the entry point.
///
/// The value is PSCI's return code, 0 in the second case.
pub fn suspend(function: u32, power_state: u32) -> i64 {
    // SAFETY: the function keeps to the calling convention, whichever way it returns.
    unsafe {
        suspend_and_keep(
            u64::from(function),
            u64::from(power_state),
            warm_boot_entry as *const () as u64,
        ) as i64
    }
}

/// Lays the registers that a caller counts on onto the stack, and below them the context that the
/// runtime's entry reads.
///
/// # Safety
/// `entry` must be [`warm_boot_entry`].
#[unsafe(naked)]
unsafe extern "C" fn suspend_and_keep(function: u64, power_state: u64, entry: u64) -> u64 {
    naked_asm!(
        save!(),
        "mov x9, sp
         adr x10, {resumed}
         sub sp, sp, #32
         stp x9, x10, [sp]           // stack_ptr, entry
         str xzr, [sp, #16]          // arg
         mov x3, sp                  // context_id: where the context is
         smc #0
         add sp, sp, #32
",
        restore!(),
        "ret",
        resumed = sym resumed,
    )
}

/// Continuation of the runtime's entry after a power-down, with the stack as the suspend left it.
#[unsafe(naked)]
extern "C" fn resumed(_: u64) -> ! {
    naked_asm!(restore!(), "mov x0, xzr", "ret")
}

const _: () = assert!(
    core::mem::offset_of!(SuspendContext, stack_ptr) < core::mem::offset_of!(SuspendContext, entry)
);
