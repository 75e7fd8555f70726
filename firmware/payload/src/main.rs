//! A normal-world program over the EL3 image: counts calls, runs the measured procedures, checks what must hold.
//!
//! What it prints for machines starts with `@`; `@done` is the last line of a run that went well.
#![no_std]
#![no_main]

mod calls;
mod checks;
mod cpu;
mod fuzz;
mod interrupts;
mod options;
mod world;

use core::panic::PanicInfo;

use aarch64_rt::{ExceptionHandlers, InitialPagetable, RegisterStateRef, entry, exception_handlers, initial_pagetable};
use machine::say;
use options::Run;
use psci::{PowerStateFormat, id};

/// Device nGnRE, and normal memory, write-back; both accessible.
const DEVICE: usize = 1 << 10 | 1;
const MEMORY: usize = 1 << 10 | 0b11 << 8 | 1 << 2 | 1;

initial_pagetable!(
    {
        let mut gigabytes = [0; 512];
        gigabytes[0] = DEVICE;
        gigabytes[1] = 0x4000_0000 | MEMORY;
        InitialPagetable(gigabytes)
    },
    aarch64_rt::DEFAULT_MAIR
);

struct Handlers;

impl ExceptionHandlers for Handlers {
    extern "C" fn sync_current(state: RegisterStateRef) {
        panic!("exception: ESR {:#x} at {:#x}, X30 {:#x}", cpu::syndrome(), state.elr, state.sp);
    }
}

exception_handlers!(Handlers);

entry!(main);

fn main(device_tree: u64, _: u64, _: u64, _: u64) -> ! {
    let cpus = cpus_of(device_tree);
    say!("@payload EL{} {cpus} CPUs", cpu::exception_level());
    let options = match options::read() {
        Ok(options) => options,
        Err(why) => end(Err(why)),
    };
    let format = if options.extended { PowerStateFormat::Extended } else { PowerStateFormat::Original };
    interrupts::init();
    let world = world::Qemu::new(cpus, format);
    let well = match options.run {
        Run::Calls => {
            calls::run(options.count, cpus, format);
            true
        }
        Run::Latency => world::run_procedures(&world, options.count),
        Run::Checks => checks::run(cpus, format),
        Run::Fuzz => fuzz::run(cpus, options.count, options.seed),
    };
    end(if well { Ok(()) } else { Err("see above") })
}

/// Number of CPUs in the tree that the firmware handed over.
fn cpus_of(device_tree: u64) -> usize {
    use dtoolkit::fdt::Fdt;
    use dtoolkit::{Node, Property};
    // SAFETY: the firmware put its tree there, with its size in the second word; nobody writes it.
    let blob = unsafe {
        let size = u32::from_be((device_tree as *const u32).add(1).read());
        core::slice::from_raw_parts(device_tree as *const u8, size as usize)
    };
    let Ok(fdt) = Fdt::new(blob) else { return 1 };
    let root = fdt.root();
    let Some(cpus) = root.child("cpus") else { return 1 };
    let is_cpu = |node: &dtoolkit::fdt::FdtNode<'_>| {
        node.property("enable-method").is_some_and(|method| method.value() == b"psci\0")
    };
    cpus.children().filter(is_cpu).count()
}

/// Says how it went and powers the machine off.
fn end(result: Result<(), &'static str>) -> ! {
    match result {
        Ok(()) => say!("@done"),
        Err(why) => say!("@failed: {why}"),
    }
    cpu::smc(id::SYSTEM_OFF, [0; 3]);
    loop {
        cpu::wait_for_interrupt();
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    say!("@panic CPU {}: {info}", cpu::this());
    end(Err("panic"))
}
