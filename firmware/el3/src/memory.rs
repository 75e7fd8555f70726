//! EL3's view of memory: the translation table, the caches, and the words that CPUs share.

use crate::layout::is_guard;
use core::arch::{asm, naked_asm};
use core::cell::UnsafeCell;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use machine::{MEMORY, SECURE_RAM};
use psci::{Level, Scalar, SharedCell, SharedWord};

/// SCTLR_EL3 after a reset: the bits that are always one.
pub const SCTLR_RESET: u64 = 0x30c5_0830;
const SCTLR_MMU: u64 = 1 << 0;
const SCTLR_ALIGNMENT: u64 = 1 << 1;
const SCTLR_DATA_CACHE: u64 = 1 << 2;
const SCTLR_STACK_ALIGNMENT: u64 = 1 << 3;
const SCTLR_INSTRUCTION_CACHE: u64 = 1 << 12;
const SCTLR_WRITE_IMPLIES_NO_EXECUTE: u64 = 1 << 19;

/// SCTLR_EL3 with the MMU on and the data cache off: how a CPU runs that comes out of reset.
const SCTLR_UNCACHED: u64 = SCTLR_RESET
    | SCTLR_MMU
    | SCTLR_ALIGNMENT
    | SCTLR_STACK_ALIGNMENT
    | SCTLR_INSTRUCTION_CACHE
    | SCTLR_WRITE_IMPLIES_NO_EXECUTE;
const SCTLR_CACHED: u64 = SCTLR_UNCACHED | SCTLR_DATA_CACHE;

/// 4 KiB granule, 39 bits of address, write-back inner shareable walks, 48 bits of physical address
/// or as many as the core has.
const TCR: u64 = 0x8080_0000 | 0b101 << 16 | 0b11 << 12 | 0b01 << 10 | 0b01 << 8 | (64 - 39);
/// Attribute 0: device nGnRE. Attribute 1: normal write-back.
const MAIR: u64 = 0xff04;

const BLOCK: u64 = 0b01;
const TABLE: u64 = 0b11;
const PAGE: u64 = 0b11;
const NORMAL: u64 = 1 << 2 | 0b11 << 8;
const NON_SECURE: u64 = 1 << 5;
const READ_ONLY: u64 = 0b10 << 6;
const ACCESSED: u64 = 1 << 10;
const EXECUTE_NEVER: u64 = 1 << 54;

const FLASH: u64 = BLOCK | NORMAL | READ_ONLY | ACCESSED;
const DEVICE: u64 = BLOCK | ACCESSED | EXECUTE_NEVER;
const SECURE: u64 = NORMAL | ACCESSED | EXECUTE_NEVER;
const NORMAL_WORLD: u64 = BLOCK | NORMAL | NON_SECURE | ACCESSED | EXECUTE_NEVER;

#[repr(C, align(4096))]
struct Table([u64; 512]);

/// A table that is written after the image was linked.
struct WrittenTable(UnsafeCell<Table>);

// SAFETY: written by the first CPU only, while it boots and no other uses its MMU; then only read,
// by the MMU.
unsafe impl Sync for WrittenTable {}

impl WrittenTable {
    const fn new(table: Table) -> Self {
        Self(UnsafeCell::new(table))
    }
}

/// The first two megabytes of secure RAM, in pages: the stacks, whose guards are left out, and what
/// the image writes.
static PAGES: Table = {
    let mut table = Table([0; 512]);
    let mut index = 0;
    while index < 512 {
        let address = SECURE_RAM.start + index * 4096;
        if !is_guard(address) {
            table.0[index] = address as u64 | PAGE | SECURE;
        }
        index += 1;
    }
    table
};

/// The entry of [`LOWEST`] that leads to [`PAGES`].
const PAGES_ENTRY: usize = SECURE_RAM.start >> 21;

/// The lowest gigabyte, in blocks of 2 MiB: flash, devices, secure RAM. `enable_mmu_and_caches`
/// enters the pages.
static LOWEST: WrittenTable = WrittenTable::new({
    let mut table = Table([0; 512]);
    let mut index = 0;
    while index < 512 {
        let address = (index as u64) << 21;
        table.0[index] = match address {
            0..0x0400_0000 => address | FLASH,
            // The interrupt controller and the peripherals; not the secure RAM that follows, nor
            // the PCI window.
            0x0800_0000..0x0a00_0000 => address | DEVICE,
            0x0e00_0000..0x0f00_0000 => address | BLOCK | SECURE,
            _ => 0,
        };
        index += 1;
    }
    table
});

/// Gigabytes: the lowest by its own table, which `enable_mmu_and_caches` enters here. The others
/// are the normal world's and are not mapped but by a [`Window`].
static ROOT: WrittenTable = WrittenTable::new(Table([0; 512]));

/// A gigabyte of the normal world's memory that EL3 can read and write, until the value is dropped.
///
/// There is one only while the first CPU boots: for the device tree, and to overwrite what
/// MEM_PROTECT protects. Afterwards EL3 maps nothing of the normal world's, so that no fault of its
/// own can read or change it.
pub struct Window {
    /// The gigabyte of EL3's addresses.
    slot: usize,
}

impl Window {
    /// The slot at which addresses of the lowest gigabyte of memory are themselves.
    const LOWEST_MEMORY: usize = MEMORY >> 30;

    /// Shows the gigabyte that the device tree is in, at its own addresses.
    pub fn of_the_tree() -> Self {
        Self::open(Self::LOWEST_MEMORY, Self::LOWEST_MEMORY as u64)
    }

    /// Shows a gigabyte of physical addresses at those of `slot`, which has no window yet.
    fn open(slot: usize, gigabyte: u64) -> Self {
        Self::set(slot, gigabyte << 30 | NORMAL_WORLD);
        Self { slot }
    }

    fn set(slot: usize, entry: u64) {
        // SAFETY: the slots are the normal world's, of which nothing is in use but through this
        // value; the first CPU alone is here.
        unsafe {
            (&raw mut (*ROOT.0.get()).0[slot]).write_volatile(entry);
            asm!(
                "dsb sy",
                "tlbi alle3",
                "dsb sy",
                "isb",
                options(nostack, preserves_flags)
            );
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        Self::set(self.slot, 0);
    }
}

/// Turns the MMU and caches on, on the first CPU. From assembly, without a stack frame.
///
/// # Safety
/// Once, on the CPU of the cold boot.
#[unsafe(naked)]
pub unsafe extern "C" fn enable_mmu_and_caches() {
    naked_asm!(
        // An address in a static's initialiser cannot be shifted: the links to the lower tables are
        // made here.
        "adrp x0, {root}
         add x0, x0, :lo12:{root}
         adrp x1, {lowest}
         add x1, x1, :lo12:{lowest}
         orr x2, x1, {table}
         str x2, [x0]
         adrp x2, {pages}
         add x2, x2, :lo12:{pages}
         orr x2, x2, {table}
         str x2, [x1, {pages_entry}]
         mov x19, x30
         bl {enable_mmu_uncached}
         mrs x0, sctlr_el3
         orr x0, x0, {cache}
         msr sctlr_el3, x0
         isb
         ret x19",
        root = sym ROOT,
        lowest = sym LOWEST,
        pages = sym PAGES,
        pages_entry = const PAGES_ENTRY * 8,
        table = const TABLE,
        cache = const SCTLR_DATA_CACHE,
        enable_mmu_uncached = sym enable_mmu_uncached,
    )
}

/// Turns the MMU on and leaves the data cache off.
///
/// # Safety
/// The translation table must be complete.
#[unsafe(naked)]
pub unsafe extern "C" fn enable_mmu_uncached() {
    naked_asm!(
        "adrp x0, {root}
         add x0, x0, :lo12:{root}
         msr ttbr0_el3, x0
         ldr x0, ={tcr}
         msr tcr_el3, x0
         ldr x0, ={mair}
         msr mair_el3, x0
         isb
         tlbi alle3
         ic iallu
         dsb sy
         isb
         ldr x0, ={sctlr}
         msr sctlr_el3, x0
         isb
         ret",
        root = sym ROOT,
        tcr = const TCR,
        mair = const MAIR,
        sctlr = const SCTLR_UNCACHED,
    )
}

/// Turns the data cache on.
#[inline(always)]
pub fn data_cache_on() {
    // SAFETY: only makes accesses cacheable; what others wrote meanwhile is in memory.
    unsafe {
        asm!("msr sctlr_el3, {}", "isb", in(reg) SCTLR_CACHED, options(nostack, preserves_flags))
    }
}

/// Turns the data cache off and cleans and invalidates by set/way: L1 for level 0, all levels for a
/// cluster.
pub fn data_cache_off(level: Level) {
    // SAFETY: changes no contents of memory that a coherent observer could see.
    unsafe { clean_off(if level == 0 { 1 } else { 7 }) }
}

/// Uses no stack: between the first instruction and the last, what the cache holds of it cannot be
/// read.
///
/// # Safety
/// MMU on.
#[unsafe(naked)]
unsafe extern "C" fn clean_off(cache_levels: u64) {
    naked_asm!(
        "mrs x1, sctlr_el3
         bic x1, x1, {cache}
         msr sctlr_el3, x1
         isb
         mrs x2, clidr_el1
         mov x3, xzr              // cache level, as CSSELR has it
     1:  and x4, x2, #7
         lsr x2, x2, #3
         cmp x4, #2               // a data or unified cache?
         b.lo 4f
         msr csselr_el1, x3
         isb
         mrs x4, ccsidr_el1
         and x5, x4, #7
         add x5, x5, #4           // log2 of the line
         ubfx x6, x4, #3, #10     // last way
         ubfx x7, x4, #13, #15    // last set
         clz w8, w6               // where the way begins
         mov x9, #1
         lsl x9, x9, x5           // one set further
     2:  lsl x10, x6, x8
         orr x10, x10, x3
         lsl x11, x7, x5
         orr x11, x11, x10
     3:  dc cisw, x11
         cmp x11, x10
         sub x11, x11, x9
         b.ne 3b
         subs x6, x6, #1
         b.ge 2b
     4:  add x3, x3, #2
         subs x0, x0, #1
         b.ne 1b
         dsb sy
         isb
         ret",
        cache = const SCTLR_DATA_CACHE,
    )
}

/// Cleans `length` bytes to memory, line by line, for readers that have their caches off.
pub fn clean(address: usize, length: usize) {
    let first = address & !(LINE - 1);
    for line in (first..address + length).step_by(LINE) {
        // SAFETY: maintenance by address changes nothing that a coherent observer could see.
        unsafe { asm!("dc cvac, {}", in(reg) line, options(nostack, preserves_flags)) }
    }
    barrier();
}

/// Writes zeros over a part of the normal world's memory, whose ends are multiples of a line,
/// through to memory, a gigabyte at a time. Only while the first CPU boots.
pub fn overwrite(part: &Range<u64>) {
    const GIGABYTE: u64 = 1 << 30;
    const SLOT: usize = Window::LOWEST_MEMORY + 1;
    let (mut address, end) = (
        part.start & !(LINE as u64 - 1),
        part.end & !(LINE as u64 - 1),
    );
    while address < end {
        let gigabyte = address / GIGABYTE;
        let to = end.min((gigabyte + 1) * GIGABYTE);
        let window = Window::open(SLOT, gigabyte);
        overwrite_mapped(SLOT as u64 * GIGABYTE + address % GIGABYTE, to - address);
        drop(window);
        address = to;
    }
}

/// Writes zeros from an address on, both multiples of a line.
fn overwrite_mapped(address: u64, length: u64) {
    for line in (address..address + length).step_by(LINE) {
        // SAFETY: nobody runs whose memory it is.
        unsafe {
            asm!(
                "stp xzr, xzr, [{0}]", "stp xzr, xzr, [{0}, #16]", "stp xzr, xzr, [{0}, #32]", "stp xzr, xzr, [{0}, #48]",
                "dc cvac, {0}",
                in(reg) line, options(nostack, preserves_flags),
            );
        }
    }
    barrier();
}

/// DSB SY.
#[inline(always)]
pub fn barrier() {
    // SAFETY: only waits.
    unsafe { asm!("dsb sy", options(nostack, preserves_flags)) }
}

/// The cache write-back granule of the CPUs that the machine has.
const LINE: usize = 64;

/// A word in a line of its own.
#[repr(align(64))]
pub struct Word(AtomicU64);

impl<T: Scalar, P: ?Sized> SharedWord<T, P> for Word {
    fn new(value: T) -> Self {
        Self(AtomicU64::new(value.to_word()))
    }

    #[inline(always)]
    fn load(&self, _: &P) -> T {
        T::from_word(self.0.load(Ordering::Acquire))
    }

    #[inline(always)]
    fn store(&self, _: &P, value: T) {
        self.0.store(value.to_word(), Ordering::Release);
    }

    #[inline(always)]
    fn fetch_add(&self, _: &P, value: T) -> T {
        T::from_word(self.0.fetch_add(value.to_word(), Ordering::AcqRel))
    }
}

impl<T: Scalar, P: ?Sized> SharedCell<T, P> for Word {
    #[inline(always)]
    fn clean(&self, _: &P) {
        // SAFETY: maintenance of our own word's line.
        unsafe { asm!("dc cvac, {}", in(reg) self, options(nostack, preserves_flags)) }
    }

    #[inline(always)]
    fn clean_invalidate(&self, _: &P) {
        // SAFETY: as above.
        unsafe { asm!("dc civac, {}", in(reg) self, options(nostack, preserves_flags)) }
    }
}

/// Leaves (`false`) or joins (`true`) the coherency of the cluster, on cores that have a switch for
/// it.
pub fn coherency(join: bool) {
    const SMP_ENABLE: u64 = 1 << 6;
    let part = arm_sysregs::el1::accessors::read_midr_el1().bits() >> 4 & 0xfff;
    // Cortex-A53, A57 and A72 (their manuals: CPUECTLR_EL1.SMPEN). Others of the machine have none,
    // or another register.
    if matches!(part, 0xd03 | 0xd07 | 0xd08) {
        // SAFETY: these cores have the register; the caches are off and clean.
        unsafe {
            let mut value: u64;
            asm!("mrs {}, s3_1_c15_c2_1", out(reg) value, options(nostack, preserves_flags));
            value = if join {
                value | SMP_ENABLE
            } else {
                value & !SMP_ENABLE
            };
            asm!("msr s3_1_c15_c2_1, {}", "isb", "dsb sy", in(reg) value, options(nostack, preserves_flags));
        }
    }
}
