//! QEMU's side: its interface for plugins (docs/devel/tcg-plugins.rst), in version 1, which 4.2 to
//! 8.2 have, and in the versions from 2 on, which 9.0 and later have. It knows addresses and
//! opcodes, and neither registers nor exceptions.

use crate::flow::Instruction;
use crate::passages::Passages;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// HINT #0x70: a passage begins with the next instruction.
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
pub struct TranslatedInstruction([u8; 0]);

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(
        id: u64,
        translated: unsafe extern "C" fn(u64, *mut Block),
    );
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        at: *mut TranslatedInstruction,
        executed: unsafe extern "C" fn(c_uint, *mut c_void),
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut TranslatedInstruction;
    /// From version 3 on: copies the bytes to `to` and returns their number. Before: ignores all
    /// arguments but the first, and returns where the bytes are.
    fn qemu_plugin_insn_data(
        instruction: *const TranslatedInstruction,
        to: *mut u8,
        length: usize,
    ) -> *const u32;
    fn qemu_plugin_insn_size(instruction: *const TranslatedInstruction) -> usize;
    fn qemu_plugin_insn_vaddr(instruction: *const TranslatedInstruction) -> u64;
    fn dlsym(library: *const c_void, name: *const c_char) -> *const c_void;
}

/// The callback reads no registers.
const NO_REGISTERS: c_int = 0;

/// The version of the interface that this plugin is made for: `choose_version` sets the older one.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "QEMU looks for this name")]
pub static qemu_plugin_version: AtomicI32 = AtomicI32::new(2);

/// Called when the plugin is loaded, before QEMU asks for its version.
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = choose_version;

/// Chooses version 1 if the QEMU around has a function that version 2 removed.
extern "C" fn choose_version() {
    const WHOLE_PROGRAM: *const c_void = std::ptr::null();
    // SAFETY: the name is a text that ends in 0; what is found is not called.
    let removed = unsafe { dlsym(WHOLE_PROGRAM, c"qemu_plugin_n_vcpus".as_ptr()) };
    if !removed.is_null() {
        qemu_plugin_version.store(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct State {
    passages: Passages,
    out: Option<File>,
    from: Option<u64>,
    to: Vec<u64>,
    /// Passages between addresses that may still begin.
    left: u64,
    has_begun: bool,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// CPUs that are in a passage: while there is none, an instruction costs no more than a look here.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

fn with<R: Default>(work: impl FnOnce(&mut State) -> R) -> R {
    STATE
        .lock()
        .ok()
        .and_then(|mut state| state.as_mut().map(work))
        .unwrap_or_default()
}

impl State {
    fn begin(&mut self, cpu: u32) {
        if !self.passages.is_inside(cpu) {
            self.passages.begin(cpu);
            INSIDE.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn end(&mut self, cpu: u32) {
        if self.passages.is_inside(cpu) {
            self.passages.end(cpu);
            INSIDE.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn write(&mut self, text: &str) {
        if let Some(out) = &mut self.out {
            // Whoever reads the file finds it cut short.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }

    /// A passage between two addresses is written for itself: it need not be like the one before.
    fn end_and_write(&mut self, cpu: u32) {
        self.end(cpu);
        let text = self.passages.take(cpu);
        self.write(&text);
    }

    fn execute(&mut self, cpu: u32, now: Instruction) {
        match now.opcode {
            // Between addresses, a guest's marks are hints like any other.
            _ if self.from.is_some() => {}
            BEGIN => return self.begin(cpu),
            END => return self.end(cpu),
            NEXT => {
                let text = self.passages.take(cpu);
                return self.write(&text);
            }
            _ => {}
        }
        if self.passages.is_inside(cpu) && self.to.contains(&now.address) {
            self.end_and_write(cpu);
        }
        // A `to` is the end, so only a passage without one ends with the return.
        if self.passages.follow(cpu, now) && self.from.is_some() && self.to.is_empty() {
            self.end_and_write(cpu);
        }
        if self.from == Some(now.address) {
            if self.passages.forget_returned(cpu) {
                self.left += 1;
                INSIDE.fetch_sub(1, Ordering::Relaxed);
            }
            if !self.passages.is_inside(cpu) && self.left > 0 {
                self.left -= 1;
                if !std::mem::replace(&mut self.has_begun, true) {
                    self.write("begun\n");
                }
                self.begin(cpu);
            }
        }
        self.passages.count(cpu, now);
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
    let mut state = State {
        left: u64::MAX,
        ..State::default()
    };
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: QEMU hands over this number of texts, which end in 0.
        let argument = unsafe { CStr::from_ptr(*arguments.add(index)) }.to_string_lossy();
        let Some((name, value)) = argument.split_once('=') else {
            return 1;
        };
        let address = || u64::from_str_radix(value.trim_start_matches("0x"), 16);
        match name {
            "out" => match File::create(value) {
                Ok(file) => state.out = Some(file),
                Err(_) => return 1,
            },
            "from" | "to" => match (name, address()) {
                ("from", Ok(address)) => state.from = Some(address),
                (_, Ok(address)) => state.to.push(address),
                (_, Err(_)) => return 1,
            },
            "most" => match value.parse() {
                Ok(most) => state.left = most,
                Err(_) => return 1,
            },
            _ => return 1,
        }
    }
    match STATE.lock() {
        Ok(mut there) => *there = Some(state),
        Err(_) => return 1,
    }
    // SAFETY: the id is QEMU's, and the function stays.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, translated) };
    0
}

/// Called by QEMU for each block that it translates.
unsafe extern "C" fn translated(_: u64, block: *mut Block) {
    // SAFETY: the block is QEMU's, and has this number of instructions.
    for index in 0..unsafe { qemu_plugin_tb_n_insns(block) } {
        // SAFETY: as above.
        let instruction = unsafe { qemu_plugin_tb_get_insn(block, index) };
        // SAFETY: QEMU's own instruction, of which it has the bytes.
        let now = unsafe {
            if qemu_plugin_insn_size(instruction) != 4 {
                continue;
            }
            let mut bytes = [0; 4];
            let result = qemu_plugin_insn_data(instruction, bytes.as_mut_ptr(), bytes.len());
            let is_copied = result.addr() == bytes.len();
            let opcode = if is_copied {
                u32::from_ne_bytes(bytes)
            } else {
                result.read_unaligned()
            };
            Instruction {
                address: qemu_plugin_insn_vaddr(instruction),
                opcode: u32::from_le(opcode),
            }
        };
        let begins = with(|state| state.from == Some(now.address))
            || matches!(now.opcode, BEGIN | END | NEXT);
        let executed = if begins { mark } else { execute };
        // The block may be executed for as long as QEMU runs, and is translated anew now and then:
        // a few bytes for each are never freed.
        let data = Box::into_raw(Box::new(now)).cast();
        // SAFETY: QEMU's own instruction; the function stays, and so does what it is told.
        unsafe {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, executed, NO_REGISTERS, data)
        };
    }
}

/// Called before an instruction of a passage, and before any other one.
unsafe extern "C" fn execute(cpu: c_uint, data: *mut c_void) {
    if INSIDE.load(Ordering::Relaxed) > 0 {
        // SAFETY: `translated` made it, and nobody frees it.
        let now = unsafe { *data.cast::<Instruction>() };
        with(|state| state.execute(cpu, now));
    }
}

/// Called before an instruction with which a passage may begin.
unsafe extern "C" fn mark(cpu: c_uint, data: *mut c_void) {
    // SAFETY: `translated` made it, and nobody frees it.
    let now = unsafe { *data.cast::<Instruction>() };
    with(|state| state.execute(cpu, now));
}
