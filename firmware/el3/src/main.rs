//! EL3 firmware for QEMU's `virt` machine: the PSCI library on real exception vectors.
//!
//! ```text
//! reset ─┬─ first CPU ──▶ cold_boot: options, device tree, interrupt controller, PSCI ──▶ normal world
//!        └─ others ─────▶ power::hold ◀── off ──┐                                            │ SMC
//!                             │ CPU_ON           │                                            ▼
//!                             ▼                  └────────── power::wait ◀── psci ◀── vectors::smc
//!                  reset::emulated_reset ◀── wake-up ────────────┘                            │
//!                             ▼                                                               ▼
//!                         warm_boot ──▶ normal world                                   back to the caller
//! ```
//!
//! To port the library to a board, read `platform.rs` first: it is the whole of what the library asks for.
#![no_std]
#![no_main]

extern crate alloc;

mod gic;
mod layout;
mod memory;
mod platform;
mod power;
mod registers;
mod reset;
mod vectors;

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::panic::PanicInfo;
use core::ptr::slice_from_raw_parts;

use boot::{Options, options};
use device_tree::MAX_SIZE;
use linked_list_allocator::Heap;
use psci::{
    CpuDesc, CpuRecord, DomainDesc, DomainRecord, Endianness, EntryPoint, Platform, PowerUp, Psci, StorageRef,
    SystemRecord, Topology,
};
use spin::Once;
use spin::mutex::SpinMutex;

use gic::Gic;
use layout::{MAPPED_MEMORY, STACK_SIZE};
use machine::{MAX_CPUS, MEMORY, SECURE_RAM, fw_cfg, index_of, say};
use platform::{Virt, give_up, stop};

/// The library, made by the first CPU before any other runs.
static PSCI: Once<Psci<'static, Virt>> = Once::new();

/// Memory for booting: the device tree, and the library's records, which stay.
struct BootHeap(SpinMutex<Heap>);

#[global_allocator]
static HEAP: BootHeap = BootHeap(SpinMutex::new(Heap::empty()));

// SAFETY: the heap hands out memory as the trait asks; the lock keeps users apart.
unsafe impl core::alloc::GlobalAlloc for BootHeap {
    unsafe fn alloc(&self, layout: core::alloc::Layout) -> *mut u8 {
        self.0.lock().allocate_first_fit(layout).map_or(core::ptr::null_mut(), |block| block.as_ptr())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: core::alloc::Layout) {
        if let Some(block) = core::ptr::NonNull::new(pointer) {
            // SAFETY: by the trait, the block came from `alloc` with this layout.
            unsafe { self.0.lock().deallocate(block, layout) }
        }
    }
}

/// The first CPU, with MMU, caches and a stack.
extern "C" fn cold_boot() -> ! {
    unsafe extern "C" {
        static stacks_begin: u8;
        static stacks_end: u8;
        static mut heap_begin: u8;
        static heap_end: u8;
    }
    let (begin, end) = (&raw mut heap_begin, &raw const heap_end as usize);
    // SAFETY: the linker keeps this range free of anything else.
    unsafe { HEAP.0.lock().init(begin, end - begin as usize) }
    registers::look_around();
    let stacks = &raw const stacks_end as usize - &raw const stacks_begin as usize;
    if stacks != MAX_CPUS * STACK_SIZE {
        give_up(&"image.ld and the code disagree about the stacks");
    }

    let mut text = alloc::vec![0; options::MAX_SIZE];
    let options = fw_cfg::read(options::FILE, &mut text).unwrap_or_default();
    let options = Options::parse(options).unwrap_or_else(|error| give_up(&error));
    let level = match (options.exception_level, registers::has_el2()) {
        (Some(2), false) => {
            give_up(&"boot options: exception-level cannot be 2, the machine was started without virtualization=on")
        }
        (Some(level), _) => level,
        (None, true) => 2,
        (None, false) => 1,
    };
    registers::choose_exception_level(level);
    registers::set_up_el3();

    let warm = power::was_warm_reset();
    let blob = machines_tree(warm);
    let (mut tree, machine) = device_tree::read(blob).unwrap_or_else(|error| give_up(&error));
    let affinities: Vec<u64> = machine.cpus.iter().map(|cpu| cpu.affinity).collect();
    if let Some((cpu, mpidr)) = (0..).zip(&affinities).find(|(cpu, mpidr)| index_of(**mpidr) != Some(*cpu)) {
        give_up(&format!(
            "device tree: CPU {cpu} has the affinity {mpidr:#x}; clusters of 16 should be full, at most 2 of them"
        ));
    }
    let cpus = affinities.len();
    let gic = Gic::find();
    let memory = machine.memory.start.max(MAPPED_MEMORY.start)..machine.memory.end.min(MAPPED_MEMORY.end);
    if gic == Gic::V2 && cpus > 8 {
        give_up(&"GICv2 has no more than 8 CPUs: start the machine with gic-version=3");
    }
    let protected = options.protected(&memory);
    // A warm reset keeps memory, and whether the next cold one overwrites it.
    if !warm && power::protect_memory(false) {
        say!("stopwatt: memory is overwritten (MEM_PROTECT)");
        protected.iter().for_each(memory::overwrite);
    }
    if !memory.contains(&options.entry) {
        give_up(&format!(
            "boot options: entry {:#x} should be in memory, {:#x}..{:#x}",
            options.entry, memory.start, memory.end
        ));
    }
    device_tree::edit(&mut tree, &machine, &options).unwrap_or_else(|error| give_up(&error));
    let blob = tree.to_dtb();
    if blob.len() > MAX_SIZE {
        give_up(&"device tree: no room for it after the idle states were added");
    }
    // SAFETY: the place of the machine's own tree, which is not used any more; the normal world is not running.
    unsafe { core::ptr::copy_nonoverlapping(blob.as_ptr(), MEMORY as *mut u8, blob.len()) }
    memory::clean(MEMORY, blob.len());

    gic.boot(cpus);
    let psci = make_psci(Virt::new(cpus, options.power_state, memory, protected, gic), &affinities);
    let psci = PSCI.call_once(|| psci);
    psci.boot();
    power::up(0, &psci.platform().off_state());
    // Everything that was made is brought to memory, for CPUs that come with their caches off.
    memory::clean(SECURE_RAM.start, begin as usize - SECURE_RAM.start);
    memory::clean(begin as usize, HEAP.0.lock().used() + 0x1_0000);

    registers::set_up_normal_world();
    say!("stopwatt: {cpus} CPUs, {gic:?}, normal world at EL{level}, {:#x}", options.entry);
    reset::enter(EntryPoint {
        pc: options.entry,
        context_id: MEMORY as u64,
        after: PowerUp::On,
        endianness: Endianness::Little,
    })
}

/// The tree that the machine brings. The one in memory is the normal world's to overwrite, so a copy is kept for a warm reset.
fn machines_tree(warm: bool) -> &'static [u8] {
    struct Copy(core::cell::UnsafeCell<[u8; MAX_SIZE]>);
    // SAFETY: touched by the first CPU only, while it boots.
    unsafe impl Sync for Copy {}
    #[unsafe(link_section = ".kept")]
    static COPY: Copy = Copy(core::cell::UnsafeCell::new([0; MAX_SIZE]));

    let copy = COPY.0.get().cast::<u8>();
    // SAFETY: the machine puts its tree there; no other CPU runs, and the copy has the size.
    unsafe {
        if !warm {
            core::ptr::copy_nonoverlapping(MEMORY as *const u8, copy, MAX_SIZE);
        }
        &*slice_from_raw_parts(copy, MAX_SIZE)
    }
}

/// The library over this machine: system, clusters, cores. What it works in stays for good.
fn make_psci(virt: Virt, cpus: &[u64]) -> Psci<'static, Virt> {
    let virt: &'static Virt = Box::leak(Box::new(virt));
    let clusters = cpus.iter().map(|mpidr| mpidr >> 8).max().unwrap_or(0) as u16 + 1;
    let mut domains = alloc::vec![DomainDesc { parent: None, level: 2 }];
    domains.extend((0..clusters).map(|_| DomainDesc { parent: Some(0), level: 1 }));
    let descriptions: Vec<_> = cpus.iter().map(|&mpidr| CpuDesc { mpidr, parent: 1 + (mpidr >> 8) as u16 }).collect();
    let topology = Topology { domains: &domains, cpus: &descriptions };

    let records: Vec<_> = cpus.iter().map(|_| CpuRecord::new(virt)).collect();
    let domain_records: Vec<_> = domains.iter().map(|domain| DomainRecord::new(virt, domain.level)).collect();
    let words: Vec<_> = (0..cpus.len() * usize::from(topology.top())).map(|_| psci::lock::BakeryWord::new()).collect();
    let storage = StorageRef {
        cpus: records.leak(),
        domains: domain_records.leak(),
        words: words.leak(),
        system: Box::leak(Box::new(SystemRecord::new())),
    };
    Psci::new(virt, &topology, storage).unwrap_or_else(|error| give_up(&format!("power domains: {error:?}")))
}

/// A CPU after a reset, with MMU and caches off.
extern "C" fn warm_boot() -> ! {
    match PSCI.get() {
        Some(psci) => reset::enter(psci.warm_boot()),
        None => stop(),
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    say!("stopwatt: EL3 on CPU {}: {info}", registers::this_cpu());
    stop()
}
