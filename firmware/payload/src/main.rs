//! A normal-world program over the EL3 image: counts calls, runs the measured procedures, checks
//! what must hold.
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
mod resets;
mod traps;
mod world;

use aarch64_rt::{
    ExceptionHandlers, InitialPagetable, RegisterStateRef, entry, exception_handlers,
    initial_pagetable,
};
use core::panic::PanicInfo;
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
        // As much as the tests give a machine.
        let mut gigabyte = 1;
        while gigabyte <= 4 {
            gigabytes[gigabyte] = gigabyte << 30 | MEMORY;
            gigabyte += 1;
        }
        InitialPagetable(gigabytes)
    },
    aarch64_rt::DEFAULT_MAIR
);

struct Handlers;

impl ExceptionHandlers for Handlers {
    extern "C" fn sync_current(mut state: RegisterStateRef) {
        if traps::catch(&mut state) {
            return;
        }
        panic!(
            "exception: ESR {:#x} at {:#x}, X30 {:#x}",
            cpu::syndrome(),
            state.elr,
            state.sp
        );
    }

    extern "C" fn sync_lower(mut state: RegisterStateRef) {
        traps::ended_32(&mut state);
    }
}

exception_handlers!(Handlers);

entry!(main);

fn main(_: u64, _: u64, _: u64, _: u64) -> ! {
    let options = match options::read() {
        Ok(options) => options,
        Err(why) => end(Err(why)),
    };
    let cpus = options.cpus;
    say!("@payload EL{} {cpus} CPUs", cpu::exception_level());
    let format = if options.extended {
        PowerStateFormat::Extended
    } else {
        PowerStateFormat::Original
    };
    interrupts::init();
    let world = world::Qemu::new(cpus, format);
    let well = match options.run {
        Run::Calls => {
            calls::run(options.count, cpus, format, options.states);
            true
        }
        Run::Latency => world::run_procedures(&world, options.count),
        Run::Checks => checks::run(cpus, format, options.memory_end),
        Run::Resets => resets::run(cpus, options.memory_end),
        Run::Fuzz => fuzz::run(cpus, options.count, options.seed),
    };
    end(if well { Ok(()) } else { Err("see above") })
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
