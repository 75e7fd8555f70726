//! A port of others from a shared object: its hooks, what they ask of the board, its own data, and
//! what is said if it crashes.
#![expect(
    unsafe_code,
    reason = "a shared object is called by its C interface, and calls back"
)]

use explore::{About, Board, Hook, HooksFile, Invariant, MOST_CPUS, Operation, Own, Port};
use interleavings::subject::{AtomicOrder, Fence, Order};
use nix::{
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction},
    unistd::write,
};
use shared_object::{Wrong, tables, text};
use std::{
    cell::Cell,
    ffi::{c_char, c_int, c_void},
    mem::transmute,
    path::Path,
    ptr, slice,
    sync::Once,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

const ABI: u32 = 3;
const ORDERS: [Order; 2] = [Order::Relaxed, Order::Ordered];
const VARIABLES_MAX: usize = 64;
const HELP: &str = "a shared object with hooks: cc -O2 -shared -fPIC port.c -o port.so; docs/explore-hooks.md has one";

/// What runs of a shared object, in words.
#[derive(Debug)]
struct Running {
    /// The shared object as it is loaded, and then each hook on each CPU.
    texts: Vec<String>,
    /// The text of what runs, counted from 1; 0 if our own code does.
    at: AtomicUsize,
}

const LOADS: usize = 1;

impl Running {
    fn text(&self) -> Option<&str> {
        let at = self.at.load(Relaxed).checked_sub(1)?;
        self.texts.get(at).map(String::as_str)
    }
}

/// A call into a shared object: the board that a hook may use, null as it is loaded; and what runs.
type Call = (*const Board, Option<&'static Running>);

thread_local! {
    /// The call that this thread is in, while it is: a hook calls the board without an argument, and
    /// a signal comes without one.
    static CALL: Cell<Call> = const { Cell::new((ptr::null(), None)) };
}

/// `struct stopwatt_psci_hooks`. Its hooks stand in the order of [`Hook`], and each has a type of its
/// own.
#[repr(C)]
#[derive(Clone, Copy)]
struct Table {
    abi: u32,
    hardware: *mut *const Hardware,
    variables: *const *const c_char,
    hooks: [Option<Function>; Hook::ALL.len()],
    own: Own,
}

type Function = unsafe extern "C" fn();

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
    load(board, at: u32, of: u32, order: u32) -> u64 { board.load_variable(at, of, ORDERS[order.min(1) as usize]) }
    store(board, at: u32, of: u32, value: u64, order: u32) { board.store(board.variable(at, of), value, ORDERS[order.min(1) as usize]) }
    fetch_add(board, at: u32, of: u32, value: u64) -> u64 {
        board.fetch_add(board.variable(at, of), value, AtomicOrder::AcquireRelease, |sum| sum)
    }
    compare_exchange(board, at: u32, of: u32, expected: u64, value: u64) -> c_int {
        board.compare_exchange(board.variable(at, of), expected, value, AtomicOrder::AcquireRelease).is_ok().into()
    }
    dmb(board) { board.fence(Fence::Full) }
    dsb(board) { board.operation(Operation::Barrier); board.barrier_now() }
    clean(board, at: u32, of: u32) { board.maintain(board.variable(at, of), false) }
    clean_invalidate(board, at: u32, of: u32) { board.maintain(board.variable(at, of), true) }
    close_port(board) { board.close_port() }
    open_port(board) { board.open_port() }
    power_down(board, with_cluster: c_int) { board.cut_power(with_cluster != 0) }
    power_on(board, cpu: u32) -> c_int { if board.give_power(cpu) { 0 } else { -1 } }
    device(board, address: u64) { board.use_device(address) }
    wait(board) { board.wait_in_hook() }
    check(board, holds: c_int, what: *const c_char) {
        if holds == 0 {
            // SAFETY: the interface asks for a text.
            let what = unsafe { text(what) }.unwrap_or_default();
            board.hook_fails(Invariant::Own, &format!("fails a check: {what}"))
        }
    }
}

/// Does what a hook asks of the board.
fn on_board<R>(act: impl FnOnce(&Board) -> R) -> R {
    let call = CALL.get();
    // SAFETY: a hook runs on this thread only while `call` borrows the board that it has put here.
    let (Some(board), Some(running)) = (unsafe { call.0.as_ref() }, call.1) else {
        tell("uses", "the board outside of its hooks");
        tell_of("a thread of a shared object", "uses", "the board");
        // SAFETY: nothing that the program would still do matters.
        unsafe { libc::_exit(2) }
    };
    // Meanwhile our own code runs, and then maybe a hook of another CPU.
    CALL.take();
    let at = running.at.swap(0, Relaxed);
    let result = act(board);
    running.at.store(at, Relaxed);
    CALL.set(call);
    result
}

/// A port that stays loaded.
#[derive(Debug)]
struct LoadedPort {
    about: About,
    running: &'static Running,
    hooks: [Option<Function>; Hook::ALL.len()],
    /// Its writable memory: address and bytes of each piece, and what was there first.
    pieces: Vec<Piece>,
    first: Vec<u8>,
}

impl Port for LoadedPort {
    fn about(&self) -> &About {
        &self.about
    }

    fn running(&self) -> Option<&str> {
        self.running.text()
    }

    fn has(&self, hook: Hook) -> bool {
        self.hooks[hook as usize].is_some()
    }

    fn call(&self, board: &Board, hook: Hook, arguments: &[u64], states: &mut [u8]) -> Option<i32> {
        let function = self.hooks[hook as usize]?;
        CALL.set((board, Some(self.running)));
        self.running.at.store(
            LOADS + 1 + hook as usize * MOST_CPUS + board.process(),
            Relaxed,
        );
        let behind = [states.as_mut_ptr() as u64, states.len() as u64];
        let mut given = [0; 5];
        for (given, value) in given.iter_mut().zip(arguments.iter().chain(&behind)) {
            *given = *value;
        }
        let [a, b, c, d, e] = given;
        // SAFETY: the functions take numbers and addresses, which are in registers of their own on
        // all machines that this is built for: what a function does not take it does not look at. The
        // states are as many as the interface says.
        let result = unsafe {
            transmute::<Function, extern "C" fn(u64, u64, u64, u64, u64) -> c_int>(function)(
                a, b, c, d, e,
            )
        };
        self.running.at.store(0, Relaxed);
        CALL.take();
        Some(result)
    }

    fn data(&self) -> Vec<u8> {
        // SAFETY: the pieces are mapped as long as the process lives, and no hook runs.
        self.pieces
            .iter()
            .flat_map(|&(at, count)| unsafe { slice::from_raw_parts(at as *const u8, count) })
            .copied()
            .collect()
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

/// Address and bytes of memory.
type Piece = (usize, usize);

/// Finds what a shared object may write; `of` has an address in it, and gets the pieces. 1 ends the
/// search.
unsafe extern "C" fn find_pieces(
    object: *mut libc::dl_phdr_info,
    _: libc::size_t,
    of: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes an object of its list, and `use_hooks` what it had.
    let (object, (address, pieces)) = unsafe { (&*object, &mut *of.cast::<(usize, Vec<Piece>)>()) };
    // SAFETY: so many segments lie there.
    let segments = unsafe { slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let range = |segment: &libc::Elf64_Phdr| {
        let start = (object.dlpi_addr + segment.p_vaddr) as usize;
        start..start + segment.p_memsz as usize
    };
    let of = |kind: u32| {
        segments
            .iter()
            .filter(move |segment| segment.p_type == kind)
    };
    if !of(libc::PT_LOAD).any(|segment| range(segment).contains(address)) {
        return 0;
    }
    // The loader has made this part read-only.
    let fixed = of(libc::PT_GNU_RELRO).map(range).next().unwrap_or(0..0);
    for piece in of(libc::PT_LOAD)
        .filter(|segment| segment.p_flags & libc::PF_W != 0)
        .map(range)
    {
        let from = if fixed.contains(&piece.start) {
            fixed.end
        } else {
            piece.start
        };
        pieces.push((from, piece.end.saturating_sub(from)));
    }
    1
}

/// Loads the hooks of a shared object.
///
/// # Errors
/// It is no shared object with hooks.
pub fn load_port(file: &Path) -> Result<&'static dyn Port, Wrong> {
    let shown = file.display();
    let bytes = disk::read(file, disk::MOST_BYTES)
        .map_err(|error| Wrong::new(format!("{shown}: {error}"), HELP))?;
    let text_of = |at: usize| match at.checked_sub(LOADS) {
        None => format!("{shown}, as it was loaded,"),
        Some(at) => {
            let (hook, cpu) = (Hook::ALL[at / MOST_CPUS].name(), at % MOST_CPUS);
            format!("{shown}: {hook} on CPU {cpu}")
        }
    };
    let texts = (0..LOADS + Hook::ALL.len() * MOST_CPUS)
        .map(text_of)
        .collect();
    let named = HooksFile {
        file: file.canonicalize().unwrap_or(file.to_owned()),
        crc32: format!("{:08x}", crc32fast::hash(&bytes)),
    };
    let at = AtomicUsize::new(LOADS);
    let running = Box::leak(Box::new(Running { texts, at }));
    tell_crashes();
    CALL.set((ptr::null(), Some(running)));
    // SAFETY: the process is there for this search alone, and the types are those of the header.
    let table = unsafe { tables::<Table>(file, c"stopwatt_psci_hooks", ABI, "stopwatt_hooks.h") };
    let table = table.map(|mut tables| tables.next());
    running.at.store(0, Relaxed);
    CALL.take();
    let table = table?.unwrap_or_else(|| {
        Err(Wrong::new(
            format!("{shown}: stopwatt_psci_hooks(0) is NULL"),
            HELP,
        ))
    })?;
    let hooks = table.hooks;
    let mut missing = Hook::ALL[Hook::On as usize..Hook::Validate as usize]
        .iter()
        .map(|&hook| (hook.name(), hooks[hook as usize].is_some()))
        .chain([("hardware", !table.hardware.is_null())]);
    if let Some((missing, _)) = missing.find(|&(_, there)| !there) {
        return Err(Wrong::new(
            format!("{shown}: `{missing}` of its table is NULL"),
            "stopwatt_hooks.h says which members may be NULL",
        ));
    }
    // SAFETY: by the interface a list of texts that ends with NULL.
    let name = |at: usize| unsafe { text(*table.variables.add(at)) };
    let count = if table.variables.is_null() {
        0
    } else {
        VARIABLES_MAX
    };
    let variables = (0..count).map_while(name).collect();
    // SAFETY: by the interface a variable of the port.
    unsafe { *table.hardware = &raw const HARDWARE };
    let address = hooks[Hook::On as usize].map_or(0, |hook| hook as usize);
    let mut pieces: (usize, Vec<Piece>) = (address, vec![]);
    // SAFETY: the function gets the pieces back, and nobody else has them meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(find_pieces), (&raw mut pieces).cast()) };
    let mut port = LoadedPort {
        about: About {
            file: named,
            variables,
            own: table.own,
        },
        running,
        hooks,
        pieces: pieces.1,
        first: vec![],
    };
    port.first = port.data();
    Ok(Box::leak(Box::new(port)))
}

/// From now on, a hook that crashes or ends the program is named.
fn tell_crashes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // On the stack for signals, since that of the hook may be full; once, so that a crash of
        // ours goes its way.
        let flags = SaFlags::SA_ONSTACK | SaFlags::SA_RESETHAND;
        let action = SigAction::new(SigHandler::Handler(crashed), flags, SigSet::empty());
        for signal in [
            Signal::SIGSEGV,
            Signal::SIGBUS,
            Signal::SIGILL,
            Signal::SIGFPE,
            Signal::SIGABRT,
        ] {
            // SAFETY: the handler does nothing that allocates or locks.
            let _ = unsafe { sigaction(signal, &action) };
        }
        // SAFETY: a function that may be called at that time.
        unsafe { libc::atexit(ended) };
    });
}

extern "C" fn crashed(signal: c_int) {
    tell(
        "ended with",
        Signal::try_from(signal).map_or("a signal", Signal::as_str),
    );
}

extern "C" fn ended() {
    tell("ended", "the program");
}

/// Ends the program with a sentence about the hook that runs, if one does; nothing of it allocates
/// or locks.
fn tell(did: &str, what: &str) {
    // It counts as over from then on: this may crash as well.
    if let Some(hook) = CALL.take().1.and_then(Running::text) {
        tell_of(hook, did, what);
        // SAFETY: nothing that the program would still do matters.
        unsafe { libc::_exit(2) }
    }
}

fn tell_of(who: &str, did: &str, what: &str) {
    for part in ["\nError: ", who, " ", did, " ", what, "\n"] {
        let _ = write(std::io::stderr(), part.as_bytes());
    }
}
