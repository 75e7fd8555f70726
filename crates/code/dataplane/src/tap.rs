//! A TAP device: an interface of this machine whose other end is the graph. What the kernel sends to it comes in here.
#![expect(unsafe_code, reason = "the calls that make a device")]

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::mem::zeroed;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use crate::af_packet::{is_up, mac};
use crate::buffers::DATA_BYTES;
use crate::frame::{FRAME_MAX, Frame};
use crate::node::{Input, Reason};
use crate::nodes::Device;
use crate::plane::{Mac, Plane};

/// How often a device is looked at, to see whether it is up.
const LOOK: Duration = Duration::from_millis(100);
/// How often one that is away is made anew.
const AWAY_LOOK: Duration = Duration::from_secs(1);

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

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
    // SAFETY: the request is that of this call, and outlives it.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) }).map_err(|error| {
        match error.kind() {
            io::ErrorKind::PermissionDenied => {
                io::Error::new(error.kind(), "a TAP device needs root or the capability CAP_NET_ADMIN")
            }
            _ => error,
        }
    })?;
    // SAFETY: a call without pointers.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    checked(socket)?;
    // SAFETY: the requests outlive the calls; the flags are what the first call filled in; the socket is closed once.
    let taken_up = unsafe {
        let read = checked(libc::ioctl(socket, libc::SIOCGIFFLAGS as _, &raw mut request));
        let written = read.and_then(|()| {
            request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
            checked(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw mut request))
        });
        libc::close(socket);
        written
    };
    taken_up.map(|()| file)
}

/// A queue of a TAP device, which the input and the device of a worker share.
pub struct Queue {
    name: String,
    is_shared: bool,
    /// None while the device is away.
    file: RwLock<Option<File>>,
}

impl Queue {
    /// Makes the device, which goes when its last queue is dropped. Each of several workers has a queue of its own.
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

const REASONS: [Reason; 2] = [Reason::error("interface went down or away"), Reason::error("packet cannot be read")];
const AWAY: usize = 0;
const UNREADABLE: usize = 1;

/// Receives into the graph.
pub struct TapInput {
    queue: Arc<Queue>,
    interface: u16,
    name: String,
    /// When the device was looked at last.
    looked: Instant,
    away: bool,
    counts: [u64; REASONS.len()],
}

impl TapInput {
    /// An input node for a queue of an interface of the graph.
    pub fn new(queue: Arc<Queue>, interface: u16) -> Self {
        let name = format!("tap-input-{}", queue.name);
        Self { queue, interface, name, looked: Instant::now(), away: false, counts: [0; REASONS.len()] }
    }

    /// Notices a device that is down or away, and makes one that is away anew. `is_gone` says that its descriptor is one of nothing.
    #[cold]
    fn look_for_device(&mut self, plane: &mut Plane, is_gone: bool) {
        if self.looked.elapsed() < if self.away { AWAY_LOOK } else { LOOK } {
            return;
        }
        self.looked = Instant::now();
        let is_up = !is_gone && is_up(&self.queue.name);
        if !is_up && !self.away {
            self.counts[AWAY] += 1;
        }
        if is_gone && self.away {
            // The old one goes first.
            self.queue.put(None);
            self.queue.put(open(&self.queue.name, self.queue.is_shared).ok());
        }
        self.away = !is_up;
        plane.interfaces[self.interface as usize].is_up = is_up;
    }
}

impl Input for TapInput {
    fn name(&self) -> &str {
        &self.name
    }

    fn interface(&self) -> u16 {
        self.interface
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let wanted = plane.settings.frame_size.min(FRAME_MAX);
        let (mut bytes, mut is_gone) = (0, false);
        let queue = self.queue.clone();
        while frame.len < wanted {
            let lane = frame.len;
            // A buffer first: without one, the packet waits in the kernel.
            if plane.pool.allocate(&mut frame.buffer[lane..=lane]) == 0 {
                break;
            }
            let data = plane.pool.data_mut(frame.buffer[lane]);
            let read = match &*queue.file() {
                Some(file) => (&mut &*file).read(&mut data[..]),
                None => Err(io::Error::from_raw_os_error(libc::ENODEV)),
            };
            match read {
                Ok(length @ 1..) => {
                    // What an earlier packet left behind a short one must not be taken for its own.
                    data[length..(length + 64).min(DATA_BYTES)].fill(0);
                    frame.length[lane] = length as u16;
                    frame.len += 1;
                    bytes += length as u64;
                    continue;
                }
                Ok(_) => self.counts[UNREADABLE] += 1,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                // A device that is down may say so in this way.
                Err(error) => is_gone = error.raw_os_error() != Some(libc::EIO),
            }
            plane.pool.free(&frame.buffer[lane..=lane]);
            break;
        }
        plane.interfaces[self.interface as usize].rx.add(frame.len as u64, bytes);
        if frame.len == 0 {
            self.look_for_device(plane, is_gone);
        }
    }

    fn hardware(&self) -> String {
        let shared = if self.queue.is_shared { ", a queue for each worker" } else { "" };
        format!(
            "TAP{shared}, a call for each packet in and out; the kernel has the other end; it writes checksums and splits large \
             packets before they come in"
        )
    }

    fn counts(&self) -> Vec<(Reason, u64)> {
        REASONS.into_iter().zip(self.counts).collect()
    }

    fn clear_counts(&mut self) {
        self.counts = [0; REASONS.len()];
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
        let lanes = frame.buffers().iter().zip(&frame.length);
        lanes.filter(|(buffer, length)| (&mut &*file).write(&pool.data(**buffer)[..**length as usize]).is_ok()).count()
    }
}
