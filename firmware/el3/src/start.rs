//! The start of a CPU: its first instruction, the boot of the first one, and the way of those that
//! were down.

use crate::entry::{self, identify};
use crate::gic::Gic;
use crate::heap::HEAP;
use crate::layout::{STACK_STRIDE, STACKS};
use crate::library::{self, PSCI};
use crate::memory::{self, Window, enable_mmu_and_caches};
use crate::platform::{Virt, give_up, stop};
use crate::{power, registers};
use alloc::format;
use alloc::vec::Vec;
use boot::{Options, options};
use core::arch::naked_asm;
use core::ops::Range;
use core::ptr::slice_from_raw_parts;
use device_tree::MAX_SIZE;
use machine::{CLUSTER, MAX_CPUS, MEMORY, fw_cfg, index_of, say};
use psci::{Endianness, EntryPoint, Platform, PowerUp};

/// First instruction of every CPU. All start at once: the first boots, the others are off until a
/// CPU_ON.
///
/// # Safety
/// Only the machine comes here.
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".init.reset")]
unsafe extern "C" fn reset() -> ! {
    naked_asm!(
        "mrs x0, currentel
         cmp x0, {el3}
         b.ne 6f",
        identify!(),
        "cbnz x20, 4f",
        // Only the first CPU touches data; the held ones have registers and their stacks.
        "adrp x0, data_begin
         add x0, x0, :lo12:data_begin
         adrp x1, data_end
         add x1, x1, :lo12:data_end
         ldr x2, =data_source
     1:  cmp x0, x1
         b.hs 2f
         ldp x3, x4, [x2], #16
         stp x3, x4, [x0], #16
         b 1b
     2:  adrp x0, bss_begin
         add x0, x0, :lo12:bss_begin
         adrp x1, bss_end
         add x1, x1, :lo12:bss_end
     3:  cmp x0, x1
         b.hs 5f
         stp xzr, xzr, [x0], #16
         b 3b
     4:  bl {hold}
     5:  bl {enable_mmu_and_caches}
         bl {cold_boot}
     6:  ldr x0, ={stack_without_el3}
         mov sp, x0
         bl {refuse_without_el3}
     99: wfi
         b 99b",
        el3 = const 3 << 2,
        stack_without_el3 = const MEMORY + (2 << 20),
        refuse_without_el3 = sym refuse_without_el3,
        cluster = const CLUSTER,
        max_cpus = const MAX_CPUS,
        stack_stride = const STACK_STRIDE,
        hold = sym power::hold,
        enable_mmu_and_caches = sym enable_mmu_and_caches,
        cold_boot = sym cold_boot,
    )
}

/// Says what a machine without EL3 lacks. It has no secure memory, and no pin that powers it off.
extern "C" fn refuse_without_el3() -> ! {
    let what =
        "there is no EL3, at which this image runs: start the machine with -M virt,secure=on";
    machine::console::print_unlocked(format_args!("stopwatt: {what}"));
    stop()
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
    unsafe { HEAP.start(begin as usize, end) }
    registers::look_around();
    if (&raw const stacks_begin as usize..&raw const stacks_end as usize) != STACKS {
        give_up(&"image.ld and the code disagree about the stacks");
    }

    let mut text = alloc::vec![0; options::MAX_SIZE];
    let options = fw_cfg::read(options::FILE, &mut text).unwrap_or_default();
    let options = Options::parse(options).unwrap_or_else(|error| give_up(&error));
    let level = exception_level(&options);
    registers::choose_exception_level(level);
    registers::set_up_el3();

    let warm = power::was_warm_reset();
    let window = Window::of_the_tree();
    // SAFETY: the machine puts its tree there at each reset, and no other CPU runs.
    let blob = unsafe { &*slice_from_raw_parts(MEMORY as *const u8, MAX_SIZE) };
    let (mut tree, machine) = device_tree::read(blob).unwrap_or_else(|error| give_up(&error));
    let affinities = affinities(&machine);
    let cpus = affinities.len();
    let gic = Gic::find();
    let memory = machine.memory.clone();
    if gic == Gic::V2 && cpus > 8 {
        give_up(&"GICv2 has no more than 8 CPUs: start the machine with gic-version=3");
    }
    let protected = options.protected(&memory);
    // A warm reset keeps memory, and whether the next cold one overwrites it.
    if !warm && power::protect_memory(false) {
        say!("stopwatt: memory is overwritten (MEM_PROTECT)");
        protected.iter().for_each(memory::overwrite);
    }
    check_entry(options.entry, &memory);
    device_tree::edit(&mut tree, &machine, &options).unwrap_or_else(|error| give_up(&error));
    place_tree(&tree.to_dtb());
    drop(window);

    gic.boot(cpus);
    let psci = library::make(
        Virt::new(cpus, &options, memory, protected, gic),
        &affinities,
    );
    let psci = PSCI.call_once(|| psci);
    psci.boot();
    power::up(0, &psci.platform().off_state());
    // Everything that was made is brought to memory, for CPUs that come with their caches off.
    memory::clean(STACKS.end, begin as usize - STACKS.end);
    memory::clean(begin as usize, HEAP.next() - begin as usize);

    registers::set_up_normal_world();
    say!(
        "stopwatt: {cpus} CPUs, {gic:?}, normal world at EL{level}, {:#x}",
        options.entry
    );
    entry::enter(EntryPoint {
        pc: options.entry,
        context_id: MEMORY as u64,
        after: PowerUp::On,
        endianness: Endianness::Little,
    })
}

/// Puts the device tree where the machine's own one was.
fn place_tree(blob: &[u8]) {
    if blob.len() > MAX_SIZE {
        give_up(&"device tree: no room for it after the idle states were added");
    }
    // SAFETY: the place of the machine's own tree, which is not used any more; the normal world is
    // not running.
    unsafe { core::ptr::copy_nonoverlapping(blob.as_ptr(), MEMORY as *mut u8, blob.len()) }
    memory::clean(MEMORY, blob.len());
}

/// Gives up if the normal world's entry is outside of its memory.
fn check_entry(entry: u64, memory: &Range<u64>) {
    if !memory.contains(&entry) {
        give_up(&format!(
            "boot options: entry {:#x} should be in memory, {:#x}..{:#x}",
            entry, memory.start, memory.end
        ));
    }
}

/// The exception level of the normal world: the one that was asked for, or the highest.
fn exception_level(options: &Options) -> u8 {
    match (options.exception_level, registers::has_el2()) {
        (Some(2), false) => give_up(
            &"boot options: exception-level cannot be 2, the machine was started without virtualization=on",
        ),
        (Some(level), _) => level,
        (None, true) => 2,
        (None, false) => 1,
    }
}

/// The affinities of the CPUs, in their order.
fn affinities(machine: &device_tree::Machine) -> Vec<u64> {
    let affinities: Vec<u64> = machine.cpus.iter().map(|cpu| cpu.affinity).collect();
    if let Some((cpu, mpidr)) = (0..)
        .zip(&affinities)
        .find(|(cpu, mpidr)| index_of(**mpidr) != Some(*cpu))
    {
        give_up(&format!(
            "device tree: CPU {cpu} has the affinity {mpidr:#x}; clusters of 16 should be full, at most 2 of them"
        ));
    }
    affinities
}

/// A CPU after an emulated reset, with MMU and caches off. The power controller comes here as a
/// reset would: by the address alone.
#[unsafe(no_mangle)]
extern "C" fn warm_boot() -> ! {
    match PSCI.get() {
        Some(psci) => entry::enter(psci.warm_boot()),
        None => stop(),
    }
}
