//! The program in the kernel that hands an interface's packets to sockets, one for each of its
//! receive queues.
#![expect(unsafe_code, reason = "the system call that loads a program into the kernel")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The place in the kernel at which the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the interface's driver, before there is a packet for the rest of the kernel.
    Native,
    /// Behind the driver: for drivers that run no programs. Slower.
    Generic,
}

impl Mode {
    /// As the kernel's documents call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Generic => "generic",
        }
    }

    /// The flag that asks for it (`linux/if_link.h`).
    fn flag(self) -> u32 {
        match self {
            Self::Generic => 1 << 1,
            Self::Native => 1 << 2,
        }
    }
}

// Numbers of `linux/bpf.h`.
const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE_ELEM: libc::c_long = 2;
const PROG_LOAD: libc::c_long = 5;
const LINK_CREATE: libc::c_long = 28;
const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;

/// The argument of the system call; each use fills the beginning, and the rest is zero.
#[repr(C, align(8))]
struct Attributes([u8; 128]);

impl Attributes {
    fn new(words: &[(usize, u32)], addresses: &[(usize, u64)]) -> Self {
        let mut made = Self([0; 128]);
        for (at, word) in words {
            made.0[*at..at + 4].copy_from_slice(&word.to_ne_bytes());
        }
        for (at, address) in addresses {
            made.0[*at..at + 8].copy_from_slice(&address.to_ne_bytes());
        }
        made
    }

    /// Makes the call.
    ///
    /// # Safety
    /// The memory behind each address lives until the call returns, and has as many bytes as the
    /// kernel reads.
    unsafe fn call(&self, command: libc::c_long) -> io::Result<RawFd> {
        // SAFETY: the structure is as long as is said; the caller answers for the memory behind its
        // addresses.
        let result = unsafe { libc::syscall(libc::SYS_bpf, command, &raw const self.0, self.0.len()) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as RawFd) }
    }
}

/// An instruction: code, destination and source, offset, number.
fn instruction(code: u8, registers: u8, offset: i16, number: i32) -> [u8; 8] {
    let [a, b] = offset.to_ne_bytes();
    let [c, d, e, f] = number.to_ne_bytes();
    [code, registers, a, b, c, d, e, f]
}

/// `return bpf_redirect_map(&sockets, context->rx_queue_index, XDP_PASS)`: what no socket waits for
/// goes to the kernel.
fn program(map: RawFd) -> [[u8; 8]; 6] {
    [
        // r2 = the queue, which stands at 16 in the context that r1 points to.
        instruction(0x61, 0x12, 16, 0),
        // r1 = the map, by its descriptor; it takes two places.
        instruction(0x18, 0x11, 0, map),
        instruction(0, 0, 0, 0),
        // r3 = XDP_PASS.
        instruction(0xb7, 0x03, 0, 2),
        // bpf_redirect_map
        instruction(0x85, 0, 0, 51),
        instruction(0x95, 0, 0, 0),
    ]
}

/// The program on an interface, until it is dropped.
pub struct Redirect {
    map: OwnedFd,
    _program: OwnedFd,
    _link: OwnedFd,
    /// The place where it runs.
    pub mode: Mode,
}

fn owned(descriptor: RawFd) -> OwnedFd {
    // SAFETY: the descriptor is new, from a call above, and nobody else has it.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

impl Redirect {
    /// Puts it on an interface with this number of receive queues: in the driver, or behind it
    /// where the driver has no place for it.
    ///
    /// # Errors
    /// This needs root; another program may be there already.
    pub fn attach(interface: u32, queues: u32) -> io::Result<Self> {
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => io::Error::new(
                error.kind(),
                "AF_XDP needs root, or the capabilities CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW",
            ),
            _ => io::Error::new(error.kind(), format!("the kernel takes no XDP program: {error}")),
        };
        let map = Attributes::new(&[(0, MAP_TYPE_XSKMAP), (4, 4), (8, 4), (12, queues.max(1))], &[]);
        // SAFETY: there are no addresses.
        let map = owned(unsafe { map.call(MAP_CREATE) }.map_err(refused)?);
        let (steps, licence) = (program(map.as_raw_fd()), c"Dual MIT/GPL");
        let load = Attributes::new(
            &[(0, PROG_TYPE_XDP), (4, steps.len() as u32)],
            &[(8, steps.as_ptr() as u64), (16, licence.as_ptr() as u64)],
        );
        // SAFETY: the steps and the licence outlive the call, and their length is that of the
        // steps.
        let program = owned(unsafe { load.call(PROG_LOAD) }.map_err(refused)?);
        let attach = |mode: Mode| {
            let words = [(0, program.as_raw_fd() as u32), (4, interface), (8, ATTACH_XDP), (12, mode.flag())];
            // SAFETY: there are no addresses.
            unsafe { Attributes::new(&words, &[]).call(LINK_CREATE) }.map(|link| (owned(link), mode))
        };
        let (link, mode) = attach(Mode::Native).or_else(|native| {
            attach(Mode::Generic).map_err(|generic| {
                io::Error::new(
                    generic.kind(),
                    format!("no XDP program can be put on it: in the driver: {native}; behind it: {generic}"),
                )
            })
        })?;
        Ok(Self { map, _program: program, _link: link, mode })
    }

    /// Hands the packets of a queue to a socket.
    ///
    /// # Errors
    /// The interface has no such queue.
    pub fn hand(&self, queue: u32, socket: RawFd) -> io::Result<()> {
        let key_and_value = [queue, socket as u32];
        let [key, value] = [0, 1].map(|n| &raw const key_and_value[n] as u64);
        let update = Attributes::new(&[(0, self.map.as_raw_fd() as u32)], &[(8, key), (16, value)]);
        // SAFETY: both addresses are those of four bytes that outlive the call.
        unsafe { update.call(MAP_UPDATE_ELEM) }.map(|_| ())
    }
}
