//! A plugin that QEMU loads into itself: how often each instruction was executed between the marks
//! of a guest.
//!
//! The interface is version 1 of QEMU's plugin interface (docs/devel/tcg-plugins.rst), which 4.2 to
//! 8.2 have. It knows addresses and opcodes, and neither registers nor exceptions, so a guest marks
//! what is to be counted by hints that mean nothing to a core ([`BEGIN`], [`END`], [`NEXT`]), or
//! addresses do (`from`, `to`). `build.rs` of the crate `qemu` compiles this file, without any
//! dependency, and carries it.
//!
//! | argument | |
//! |---|---|
//! | `out=FILE` | where the counts go |
//! | `from=ADDRESS` | a passage begins where this address is executed |
//! | `to=ADDRESS` | and ends where this one is; may be given again |
//!
//! The file has a line `passages N` for each kind of passage and then, for each instruction that was
//! executed within, a line `ADDRESS OPCODE COUNT`, the first two in hexadecimal.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::Write;
use std::sync::Mutex;

/// HINT #0x70: a passage begins. Counting starts with the next instruction.
const BEGIN: u32 = 0xd503_2e1f;
/// HINT #0x71: a passage ends.
const END: u32 = 0xd503_2e3f;
/// HINT #0x72: passages of another kind follow; those before are written.
const NEXT: u32 = 0xd503_2e5f;

/// A translated block; only QEMU looks into it.
#[repr(C)]
pub struct Block([u8; 0]);

/// An instruction of a block; only QEMU looks into it.
#[repr(C)]
pub struct Instruction([u8; 0]);

type Translated = unsafe extern "C" fn(u64, *mut Block);
type Executed = unsafe extern "C" fn(c_uint, *mut c_void);

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, translated: Translated);
    fn qemu_plugin_register_vcpu_insn_exec_cb(at: *mut Instruction, executed: Executed, flags: c_int, data: *mut c_void);
    fn qemu_plugin_register_vcpu_insn_exec_inline(at: *mut Instruction, operation: c_int, to: *mut c_void, add: u64);
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    fn qemu_plugin_insn_data(instruction: *const Instruction) -> *const c_void;
    fn qemu_plugin_insn_size(instruction: *const Instruction) -> usize;
    fn qemu_plugin_insn_vaddr(instruction: *const Instruction) -> u64;
}

/// The callback reads no registers.
const NO_REGISTERS: c_int = 0;
/// The operation that adds to 64 bits.
const ADD: c_int = 0;

/// The version of the interface that this plugin is made for.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "QEMU looks for this name")]
pub static qemu_plugin_version: c_int = 1;

/// An instruction at an address.
struct Slot {
    /// Executions since the start, which translated code adds to.
    all: *mut u64,
    /// `all` when the passage began.
    before: u64,
    /// Executions in passages of this kind.
    counted: u64,
}

// SAFETY: `all` is never freed, and is read while the guest stands still in a callback.
unsafe impl Send for Slot {}

#[derive(Default)]
struct Counts {
    slots: HashMap<(u64, u32), Slot>,
    out: Option<File>,
    from: Option<u64>,
    to: Vec<u64>,
    inside: bool,
    passages: u64,
}

static COUNTS: Mutex<Option<Counts>> = Mutex::new(None);

fn with<R: Default>(work: impl FnOnce(&mut Counts) -> R) -> R {
    COUNTS.lock().ok().and_then(|mut counts| counts.as_mut().map(work)).unwrap_or_default()
}

impl Counts {
    fn begin(&mut self) {
        self.inside = true;
        for slot in self.slots.values_mut() {
            // SAFETY: see `Slot`.
            slot.before = unsafe { slot.all.read_volatile() };
        }
    }

    fn end(&mut self) {
        if !std::mem::take(&mut self.inside) {
            return;
        }
        self.passages += 1;
        for slot in self.slots.values_mut() {
            // SAFETY: see `Slot`.
            slot.counted += unsafe { slot.all.read_volatile() } - slot.before;
        }
    }

    /// Writes the passages so far, and starts another kind.
    fn write(&mut self) {
        let passages = std::mem::take(&mut self.passages);
        if passages == 0 {
            return;
        }
        let mut text = format!("passages {passages}\n");
        let mut lines = Vec::new();
        for (&(address, opcode), slot) in &mut self.slots {
            let count = std::mem::take(&mut slot.counted);
            if count > 0 {
                lines.push((address, opcode, count));
            }
        }
        lines.sort_unstable();
        for (address, opcode, count) in lines {
            text.push_str(&format!("{address:x} {opcode:x} {count}\n"));
        }
        if let Some(out) = &mut self.out {
            // Whoever reads the file finds it cut short.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }
}

/// Called by QEMU when it loads the plugin: reads the arguments. 0 means that all is well.
///
/// # Safety
/// Called by QEMU, with `count` arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    _: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    let mut counts = Counts::default();
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: QEMU hands over as many texts that end in 0.
        let argument = unsafe { CStr::from_ptr(*arguments.add(index)) }.to_string_lossy();
        let Some((name, value)) = argument.split_once('=') else { return 1 };
        let address = || u64::from_str_radix(value.trim_start_matches("0x"), 16);
        match (name, address()) {
            ("out", _) => match File::create(value) {
                Ok(file) => counts.out = Some(file),
                Err(_) => return 1,
            },
            ("from", Ok(address)) => counts.from = Some(address),
            ("to", Ok(address)) => counts.to.push(address),
            _ => return 1,
        }
    }
    match COUNTS.lock() {
        Ok(mut there) => *there = Some(counts),
        Err(_) => return 1,
    }
    // SAFETY: the id is QEMU's, and the function stays.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, translated) };
    0
}

/// Called by QEMU for each block that it translates.
unsafe extern "C" fn translated(_: u64, block: *mut Block) {
    // SAFETY: the block is QEMU's, and there are as many instructions.
    for index in 0..unsafe { qemu_plugin_tb_n_insns(block) } {
        // SAFETY: as above.
        let instruction = unsafe { qemu_plugin_tb_get_insn(block, index) };
        // SAFETY: QEMU's own instruction, of which it has the bytes.
        let (address, opcode) = unsafe {
            if qemu_plugin_insn_size(instruction) != 4 {
                continue;
            }
            let opcode = qemu_plugin_insn_data(instruction).cast::<u32>().read_unaligned();
            (qemu_plugin_insn_vaddr(instruction), u32::from_le(opcode))
        };
        let mark = match opcode {
            BEGIN => Some(begin as Executed),
            END => Some(end as Executed),
            NEXT => Some(next as Executed),
            _ if with(|counts| counts.from == Some(address)) => Some(begin as Executed),
            _ if with(|counts| counts.to.contains(&address)) => Some(end_and_write as Executed),
            _ => None,
        };
        if let Some(mark) = mark {
            // SAFETY: QEMU's own instruction; the function stays.
            unsafe { qemu_plugin_register_vcpu_insn_exec_cb(instruction, mark, NO_REGISTERS, std::ptr::null_mut()) };
        }
        if matches!(opcode, BEGIN | END | NEXT) {
            continue;
        }
        let all = with(|counts| {
            let new = || Slot { all: Box::leak(Box::new(0)), before: 0, counted: 0 };
            Some(counts.slots.entry((address, opcode)).or_insert_with(new).all as usize)
        });
        if let Some(all) = all {
            // SAFETY: 64 bits that are never freed.
            unsafe { qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD, all as *mut c_void, 1) };
        }
    }
}

unsafe extern "C" fn begin(_: c_uint, _: *mut c_void) {
    with(Counts::begin);
}

unsafe extern "C" fn end(_: c_uint, _: *mut c_void) {
    with(Counts::end);
}

unsafe extern "C" fn next(_: c_uint, _: *mut c_void) {
    with(Counts::write);
}

/// A passage between two addresses is a kind of its own: a passage need not be like the one before.
unsafe extern "C" fn end_and_write(_: c_uint, _: *mut c_void) {
    with(|counts| {
        counts.end();
        counts.write();
    });
}
