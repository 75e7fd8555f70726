//! A TAP device: an interface of this machine whose other end is the graph. What the kernel sends
//! to it comes in here.
#![expect(unsafe_code, reason = "the calls that make a device")]

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::mem::zeroed;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, RwLock, RwLockReadGuard};

use dataplane::frame::Frame;
use dataplane::graph::Reason;
use dataplane::nodes::Device;
use dataplane::plane::{Mac, Plane};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use super::calls::{make_tun, read_flags, write_flags};
use super::input::{Driver, DriverInput, Room};
use super::interface::{is_up, mac};

/// A request about an interface by its name.
fn request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: zeros are a value of this plain structure.
    let mut request: libc::ifreq = unsafe { zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        let message = format!("`{name}` is no name of an interface: it must have 1 to {} letters", libc::IFNAMSIZ - 1);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// Makes the device, or one more queue of it, and takes it up.
fn open(name: &str, is_shared: bool) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun");
    let file = file.map_err(|error| io::Error::new(error.kind(), format!("/dev/net/tun: {error}")))?;
    let mut request = request(name)?;
    let queues = if is_shared { libc::IFF_MULTI_QUEUE } else { 0 };
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI | queues) as libc::c_short;
    // SAFETY: the request is of the kind that the call takes, and outlives it.
    unsafe { make_tun(file.as_raw_fd(), &raw mut request) }.map_err(|error| match error {
        Errno::EPERM | Errno::EACCES => {
            io::Error::new(io::ErrorKind::PermissionDenied, "a TAP device needs root or the capability CAP_NET_ADMIN")
        }
        error => error.into(),
    })?;
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    // SAFETY: the requests are of the kind that the calls take and outlive them; the flags are what
    // the first call filled in.
    unsafe {
        read_flags(socket.as_raw_fd(), &raw mut request)?;
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
        write_flags(socket.as_raw_fd(), &raw const request)?;
    }
    Ok(file)
}

/// A queue of a TAP device, which the input and the device of a worker share.
pub struct Queue {
    name: String,
    is_shared: bool,
    /// None while the device is away.
    file: RwLock<Option<File>>,
}

impl Queue {
    /// Makes the device, which goes when its last queue is dropped. Each of several workers has a
    /// queue of its own.
    ///
    /// # Errors
    /// This needs root, or an interface of that name is there already.
    pub fn open(name: &str, is_shared: bool) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self { name: name.to_owned(), is_shared, file: RwLock::new(Some(open(name, is_shared)?)) }))
    }

    /// An Ethernet address for our end: the kernel's own, with another last bit.
    ///
    /// # Errors
    /// The device is not there any more.
    pub fn mac(&self) -> io::Result<Mac> {
        let Mac(mut bytes) = mac(&self.name)?;
        bytes[5] ^= 1;
        Ok(Mac(bytes))
    }

    fn file(&self) -> RwLockReadGuard<'_, Option<File>> {
        self.file.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn put(&self, file: Option<File>) {
        *self.file.write().unwrap_or_else(std::sync::PoisonError::into_inner) = file;
    }
}

const UNREADABLE: usize = 0;

/// Receives from a queue.
pub struct TapDriver {
    queue: Arc<Queue>,
    /// The descriptor is one of nothing.
    is_gone: bool,
}

impl TapDriver {
    /// An input node for a queue of an interface of the graph.
    pub fn input(queue: Arc<Queue>, interface: u16) -> DriverInput<Self> {
        let name = format!("tap-input-{}", queue.name);
        DriverInput::new(Self { queue, is_gone: false }, interface, name)
    }
}

impl Driver for TapDriver {
    const REASONS: &'static [Reason] = &[Reason::error("packet cannot be read")];

    fn fill(&mut self, room: &mut Room<'_>) {
        let Self { queue, is_gone } = self;
        let file = queue.file();
        *is_gone = false;
        while room.put(|data, met| {
            let read = match &*file {
                Some(file) => (&mut &*file).read(&mut data[..]),
                None => Err(io::Error::from_raw_os_error(libc::ENODEV)),
            };
            match read {
                Ok(length @ 1..) => return Some(length),
                Ok(_) => met.count(UNREADABLE),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                // A device that is down may say so in this way.
                Err(error) => *is_gone = error.raw_os_error() != Some(libc::EIO),
            }
            None
        }) {}
    }

    fn look(&mut self, away: bool) -> bool {
        let is_up = !self.is_gone && is_up(&self.queue.name);
        if self.is_gone && away {
            // The old one goes first.
            self.queue.put(None);
            self.queue.put(open(&self.queue.name, self.queue.is_shared).ok());
        }
        is_up
    }

    fn hardware(&self) -> String {
        let shared = if self.queue.is_shared { ", a queue for each worker" } else { "" };
        format!(
            "TAP{shared}, a call for each packet in and out; the kernel has the other end; it writes checksums and splits large \
             packets before they come in"
        )
    }
}

/// Sends into a queue: the kernel receives it.
pub struct TapOutput {
    queue: Arc<Queue>,
}

impl TapOutput {
    /// A device for a queue.
    pub fn new(queue: Arc<Queue>) -> Self {
        Self { queue }
    }
}

impl Device for TapOutput {
    fn send(&mut self, plane: &mut Plane, frame: &Frame) -> usize {
        let guard = self.queue.file();
        let Some(file) = &*guard else { return 0 };
        let pool = &plane.pool;
        let rows = frame.buffers().iter().zip(&frame.length);
        rows.filter(|(buffer, length)| (&mut &*file).write(&pool.data(**buffer)[..**length as usize]).is_ok()).count()
    }
}
