//! A port of others from a shared object: its hooks, what they ask of the board, its own data, and
//! what is said if it crashes.
#![expect(unsafe_code, reason = "a shared object is called by its C interface, and calls back")]

use explore::{Board, Hook, Invariant, Operation, Port, set_port};
use interleavings::subject::{AtomicOrder, Fence, Order};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};
use worker_process::Wrong;
use worker_process::shared_object::{tables, text};

const ABI: u32 = 1;
const SYMBOL: &CStr = c"stopwatt_psci_hooks";
const VARIABLES_MAX: usize = 64;

/// The file of the hooks that are in use, and its sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HooksFile {
    /// The path, from the root.
    pub file: PathBuf,
    /// Its CRC-32, in hexadecimal digits.
    pub crc32: String,
}

/// The file of the hooks in use, which is never freed.
static FILE: AtomicPtr<HooksFile> = AtomicPtr::new(ptr::null_mut());

/// The hook that runs, counted from 1 (0 is none), above the number of its CPU in the low byte.
static RUNNING: AtomicU32 = AtomicU32::new(0);
/// The shared object is being loaded.
const LOADS: u32 = u32::MAX;

thread_local! {
    static BOARD: Cell<*const Board> = const { Cell::new(ptr::null()) };
}

/// `struct stopwatt_psci_hooks`. States are those of three levels.
#[repr(C)]
#[derive(Clone, Copy)]
struct Table {
    abi: u32,
    hardware: *mut *const Hardware,
    variables: *const *const c_char,
    setup: Option<unsafe extern "C" fn()>,
    on: Option<unsafe extern "C" fn(u64) -> c_int>,
    down_and_up: [Option<unsafe extern "C" fn(*const u8)>; 4],
    validate: Option<unsafe extern "C" fn(c_uint, *mut u8) -> c_int>,
    target_state: Option<unsafe extern "C" fn(c_uint, *const u8, c_uint) -> u8>,
    system_state: Option<unsafe extern "C" fn(*mut u8)>,
}

/// Makes `struct stopwatt_hardware`: functions of the board for the hook that runs.
macro_rules! hardware {
    ($($name:ident($board:ident $(, $argument:ident: $type:ty)*) $(-> $result:ty)? $body:block)*) => {
        #[repr(C)]
        struct Hardware { $($name: extern "C" fn($($type),*) $(-> $result)?),* }
        $(extern "C" fn $name($($argument: $type),*) $(-> $result)? { on_board(|$board| $body) })*
        static HARDWARE: Hardware = Hardware { $($name),* };
    };
}

hardware! {
    cpus(board) -> u32 { board.cpus().len() as u32 }
    cpu(board) -> u32 { board.process() as u32 }
    load(board, at: u32, of: u32, order: u32) -> u64 { board.load(board.variable(at, of), order_of(order)) }
    store(board, at: u32, of: u32, value: u64, order: u32) { board.store(board.variable(at, of), value, order_of(order)) }
    fetch_add(board, at: u32, of: u32, value: u64) -> u64 {
        board.fetch_add(board.variable(at, of), value, AtomicOrder::AcquireRelease, |sum| sum)
    }
    compare_exchange(board, at: u32, of: u32, expected: u64, value: u64) -> c_int {
        board.compare_exchange(board.variable(at, of), expected, value, AtomicOrder::AcquireRelease).into()
    }
    dmb(board) { board.fence(Fence::Full) }
    dsb(board) { board.operation(Operation::Barrier); board.barrier_now() }
    clean(board, at: u32, of: u32) { board.maintain(board.variable(at, of), false) }
    clean_invalidate(board, at: u32, of: u32) { board.maintain(board.variable(at, of), true) }
    close_port(board) { board.close_port() }
    open_port(board) { board.open_port() }
    power_down(board, with_cluster: c_int) { board.cut_power(with_cluster != 0) }
    power_on(board, cpu: u32) -> c_int { if board.give_power(cpu) { 0 } else { -1 } }
    check(board, holds: c_int, what: *const c_char) {
        if holds == 0 {
            // SAFETY: the interface asks for a text.
            let what = unsafe { text(what) }.unwrap_or_default();
            board.hook_fails(Invariant::Own, &format!("fails a check of the port: {what}"))
        }
    }
}

fn order_of(order: u32) -> Order {
    if order == 0 { Order::Relaxed } else { Order::Ordered }
}

/// Does what a hook asks of the board.
fn on_board<R>(act: impl FnOnce(&Board) -> R) -> R {
    let running = RUNNING.swap(0, Relaxed);
    // SAFETY: a hook runs on this thread only while `call` borrows the board that it has put here.
    match unsafe { BOARD.get().as_ref() } {
        Some(board) if running != 0 && running != LOADS => {
            let result = act(board);
            RUNNING.store(running, Relaxed);
            result
        }
        _ => end(running, "uses the board outside of its hooks"),
    }
}

/// A port that stays loaded.
struct LoadedPort {
    table: Table,
    variables: Vec<String>,
    /// Its writable memory: address and bytes of each piece, and what was there first.
    pieces: Vec<(usize, usize)>,
    first: Vec<u8>,
}

impl Port for LoadedPort {
    fn variables(&self) -> &[String] {
        &self.variables
    }

    fn has(&self, hook: Hook) -> bool {
        match hook {
            Hook::SetUp => self.table.setup.is_some(),
            Hook::Validate => self.table.validate.is_some(),
            Hook::TargetState => self.table.target_state.is_some(),
            Hook::SystemState => self.table.system_state.is_some(),
            _ => true,
        }
    }

    fn call(&self, board: &Board, hook: Hook, argument: u64, states: &mut [u8]) -> i32 {
        BOARD.set(board);
        RUNNING.store((hook as u32 + 1) << 8 | board.process() as u32, Relaxed);
        let (table, at, count) = (&self.table, states.as_mut_ptr(), states.len() as c_uint);
        // SAFETY: the functions are of these types by the interface, and the states are as many as
        // it says.
        let result = unsafe {
            match hook {
                Hook::SetUp => table.setup.map(|hook| (hook(), 0).1),
                Hook::On => table.on.map(|hook| hook(argument)),
                Hook::Off | Hook::Suspend | Hook::OnFinish | Hook::SuspendFinish => {
                    table.down_and_up[hook as usize - Hook::Off as usize].map(|hook| (hook(at), 0).1)
                }
                Hook::Validate => table.validate.map(|hook| hook(argument as c_uint, at)),
                Hook::TargetState => table.target_state.map(|hook| hook(argument as c_uint, at, count).into()),
                Hook::SystemState => table.system_state.map(|hook| (hook(at), 0).1),
            }
        };
        RUNNING.store(0, Relaxed);
        result.unwrap_or_default()
    }

    fn data(&self) -> Vec<u8> {
        // SAFETY: the pieces are mapped as long as the process lives, and no hook runs.
        let bytes = |&(at, count): &(usize, usize)| unsafe { slice::from_raw_parts(at as *const u8, count) };
        self.pieces.iter().flat_map(bytes).copied().collect()
    }

    fn set_data(&self, data: Option<&[u8]>) {
        let mut data = data.unwrap_or(&self.first);
        for &(at, count) in &self.pieces {
            let (own, rest) = data.split_at(count);
            // SAFETY: as above, and the pieces are writable.
            unsafe { ptr::copy_nonoverlapping(own.as_ptr(), at as *mut u8, count) };
            data = rest;
        }
    }
}

/// The pieces of memory that a shared object may write, by an address within it.
struct Pieces {
    of: usize,
    writable: Vec<(usize, usize)>,
    has_thread_locals: bool,
}

impl Pieces {
    fn of(address: usize) -> Self {
        let mut pieces = Self { of: address, writable: Vec::new(), has_thread_locals: false };
        // SAFETY: the function gets the pieces back, and nobody else has them meanwhile.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut pieces).cast()) };
        pieces
    }
}

/// Looks at a shared object; 1 ends the search.
unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: libc::size_t, pieces: *mut c_void) -> c_int {
    // SAFETY: the loader passes an object of its list, and `Pieces::of` its pieces.
    let (object, pieces) = unsafe { (&*object, &mut *pieces.cast::<Pieces>()) };
    // SAFETY: so many segments lie there.
    let segments = unsafe { slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let start = |segment: &libc::Elf64_Phdr| (object.dlpi_addr + segment.p_vaddr) as usize;
    let end = |segment: &libc::Elf64_Phdr| start(segment) + segment.p_memsz as usize;
    let of = |kind: u32| segments.iter().filter(move |segment| segment.p_type == kind);
    if !of(libc::PT_LOAD).any(|segment| (start(segment)..end(segment)).contains(&pieces.of)) {
        return 0;
    }
    // What lies there is not written any more.
    let fixed = of(libc::PT_GNU_RELRO).map(|segment| start(segment)..end(segment)).next().unwrap_or(0..0);
    for segment in of(libc::PT_LOAD).filter(|segment| segment.p_flags & libc::PF_W != 0) {
        let from = if fixed.contains(&start(segment)) { fixed.end } else { start(segment) };
        pieces.writable.push((from, end(segment).saturating_sub(from)));
    }
    pieces.has_thread_locals = of(libc::PT_TLS).next().is_some();
    1
}

/// From now on, the board answers as it does without a port.
pub fn forget_hooks() {
    set_port(None);
    FILE.store(ptr::null_mut(), Relaxed);
}

/// Takes the hooks of a shared object into use on this thread.
///
/// # Errors
/// It is no shared object with hooks.
pub fn use_hooks(file: &Path) -> Result<(), Wrong> {
    forget_hooks();
    let shown = file.display();
    let named = HooksFile { file: file.canonicalize().unwrap_or(file.to_owned()), crc32: String::new() };
    FILE.store(Box::leak(Box::new(named.clone())), Relaxed);
    tell_crashes();
    RUNNING.store(LOADS, Relaxed);
    // SAFETY: the process is there for this search alone, and the types are those of the header.
    let mut tables = unsafe { tables::<Table>(file, SYMBOL, ABI, "stopwatt_hooks.h") }?;
    let none = || Wrong::new(format!("{shown} has no hooks"), "stopwatt_psci_hooks(0) has to return a table");
    let table = tables.next().ok_or_else(none)??;
    RUNNING.store(0, Relaxed);
    let there = [table.on.is_some()].into_iter().chain(table.down_and_up.iter().map(Option::is_some));
    if let Some(missing) = (Hook::On as usize..).zip(there).find_map(|(at, there)| (!there).then_some(at)) {
        let what = format!("{shown} has no hook `{}`", Hook::name_of(missing));
        return Err(Wrong::new(what, "a port has pwr_domain_on, _off, _suspend, _on_finish and _suspend_finish"));
    }
    if table.hardware.is_null() {
        return Err(Wrong::new(
            format!("{shown} has no `hardware`"),
            "name the variable that gets the board's calls: .hardware = &hw",
        ));
    }
    // SAFETY: by the interface a list of texts that ends with NULL.
    let name = |at: usize| unsafe { text(*table.variables.add(at)) };
    let count = if table.variables.is_null() { 0 } else { VARIABLES_MAX };
    let variables = (0..count).map_while(name).collect();
    let pieces = Pieces::of(table.on.map_or(0, |hook| hook as usize));
    if pieces.has_thread_locals {
        let what = format!("{shown} has thread-local variables, which cannot start each run anew");
        return Err(Wrong::new(what, "use plain variables: CPUs are no threads here"));
    }
    // SAFETY: by the interface a variable of the port.
    unsafe { *table.hardware = &raw const HARDWARE };
    let mut port = LoadedPort { table, variables, pieces: pieces.writable, first: Vec::new() };
    port.first = port.data();
    let bytes =
        std::fs::read(file).map_err(|error| Wrong::new(format!("{shown}: {error}"), "a file that can be read"))?;
    let crc32 = format!("{:08x}", crc32fast::hash(&bytes));
    FILE.store(Box::leak(Box::new(HooksFile { crc32, ..named })), Relaxed);
    set_port(Some(Box::leak(Box::new(port))));
    Ok(())
}

/// The file of the hooks in use.
pub fn hooks_file() -> Option<&'static HooksFile> {
    // SAFETY: null, or what is never freed.
    unsafe { FILE.load(Relaxed).as_ref() }
}

/// The hook that runs at the moment, with its CPU, and the file of it.
pub fn running_hook() -> Option<String> {
    let running = RUNNING.load(Relaxed);
    let hook = Hook::name_of((running >> 8).checked_sub(1)? as usize);
    Some(format!("{}: {hook} on CPU {}", hooks_file()?.file.display(), running & 0xff))
}

/// From now on, a hook that crashes or ends the program is named.
fn tell_crashes() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
            // SAFETY: the handler does what a handler may, on the stack for signals: that of the
            // hook may be full.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = crashed as extern "C" fn(c_int) as usize;
                action.sa_flags = libc::SA_ONSTACK;
                libc::sigaction(signal, &action, ptr::null_mut());
            }
        }
        // SAFETY: the function does what it may at that time.
        unsafe { libc::atexit(ended) };
    });
}

extern "C" fn crashed(signal: c_int) {
    let running = RUNNING.swap(0, Relaxed);
    match signal {
        _ if running == 0 => {}
        libc::SIGSEGV => end(running, "crashed with SIGSEGV"),
        libc::SIGABRT => end(running, "aborted"),
        libc::SIGFPE => end(running, "crashed with SIGFPE"),
        _ => end(running, "crashed"),
    }
    // SAFETY: both may be called in a handler.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

extern "C" fn ended() {
    let running = RUNNING.swap(0, Relaxed);
    if running != 0 {
        end(running, "ended the program");
    }
}

/// Ends the program with a sentence about the hook, without anything that allocates or locks.
fn end(running: u32, how: &str) -> ! {
    let file = hooks_file().and_then(|file| file.file.to_str()).unwrap_or("the port");
    let cpu = (running & 0xff) as u8 % 100;
    let digits = [b'0' + cpu / 10, b'0' + cpu % 10];
    let hook = Hook::name_of((running >> 8).wrapping_sub(1) as usize).as_bytes();
    let at: [&[u8]; 3] = match running {
        0 => [b"it", b"", b""],
        LOADS => [b"it", b", as it was loaded,", b""],
        _ => [hook, b" on CPU ", &digits[usize::from(cpu < 10)..]],
    };
    for part in [b"\nError: ", file.as_bytes(), b": ", at[0], at[1], at[2], b" ", how.as_bytes(), b"\n"] {
        // SAFETY: so many bytes lie there.
        unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
    }
    // SAFETY: nothing that the program would still do matters.
    unsafe { libc::_exit(2) }
}
