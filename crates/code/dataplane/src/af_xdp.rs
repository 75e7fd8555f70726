//! Packets of a Linux interface through AF_XDP: the driver, or what is right behind it, puts them into memory that is shared with us, and the
//! rest of the kernel sees nothing of them.
#![expect(unsafe_code, reason = "rings of memory shared with the kernel, and calls to wake it")]

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use xdp::nic::NicIndex;
use xdp::slab::{HeapSlab, Slab};
use xdp::socket::{XdpSocket, XdpSocketBuilder};
use xdp::umem::{FrameSize, UmemCfgBuilder};
use xdp::{CompletionRing, FillRing, RingConfigBuilder, RxRing, TxRing, Umem};

use crate::af_packet::{index, is_up};
use crate::buffers::DATA_BYTES;
use crate::frame::{FRAME_MAX, Frame};
use crate::node::{Input, Reason};
use crate::nodes::Device;
use crate::offload::Offload;
use crate::plane::Plane;
use crate::xdp_program::{Mode, Redirect};

/// Frames of a socket's memory: half wait for packets, half are there to send.
const FRAMES: u32 = 8192;
const RECEIVING: u32 = FRAMES / 2;
const SENDING: u32 = FRAMES / 2;
/// Bytes of the longest IP packet: a frame has 2048, of which the kernel keeps 256 in front of the packet.
pub const MTU_MAX: u16 = 2048 - 256 - 18;

/// How often an interface is looked at, to see whether it is still there.
const LOOK: Duration = Duration::from_millis(100);
/// How often one that is away is looked for.
const AWAY_LOOK: Duration = Duration::from_secs(1);

/// How many receive queues an interface of this network namespace has.
///
/// # Errors
/// It is not there.
pub fn queues(interface: &str) -> io::Result<u32> {
    index(interface)?;
    let queues = fs::read_dir(format!("/sys/class/net/{interface}/queues"))?;
    let receives = queues.filter_map(|queue| queue.ok()?.file_name().into_string().ok());
    Ok(receives.filter(|name| name.starts_with("rx-")).count() as u32)
}

/// An interface whose packets the kernel hands to sockets, shared by those of all its queues.
pub struct Handed {
    interface: String,
    /// The interface's number, and the program on it. One that came back has another number.
    program: Mutex<Option<(u32, Redirect)>>,
}

impl Handed {
    /// Puts the program on an interface. It is taken off when this is dropped.
    ///
    /// # Errors
    /// This needs root; another program may be there already.
    pub fn new(interface: &str) -> io::Result<Arc<Self>> {
        let made = Self { interface: interface.to_owned(), program: Mutex::default() };
        made.with_program(|_, _| Ok(()))?;
        Ok(Arc::new(made))
    }

    /// Does something with the program on the interface, which is put there first if it is not.
    fn with_program<R>(&self, what: impl FnOnce(u32, &Redirect) -> io::Result<R>) -> io::Result<R> {
        let index = index(&self.interface)? as u32;
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        if program.as_ref().is_none_or(|(of, _)| *of != index) {
            // The old one goes first.
            *program = None;
            *program = Some((index, Redirect::attach(index, queues(&self.interface)?)?));
        }
        match &*program {
            Some((index, program)) => what(*index, program),
            None => Err(io::Error::other("the program is gone")),
        }
    }
}

/// A socket with its rings. What the kernel shares comes before the memory that it lies in, so that it is dropped before.
struct Port {
    socket: XdpSocket,
    fill: FillRing,
    rx: RxRing,
    completion: CompletionRing,
    tx: TxRing,
    /// Came in, and not taken yet.
    received: HeapSlab,
    sending: HeapSlab,
    umem: Umem,
    index: u32,
    mode: Mode,
    is_zero_copy: bool,
    /// What the kernel had dropped when it was last asked.
    drops: u64,
}

// SAFETY: packets in the slabs point into the port's own memory; a port moves with it, and one thread uses it at a time.
unsafe impl Send for Port {}

fn wrong(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("AF_XDP: {error}"))
}

impl Port {
    fn open(handed: &Handed, queue: u32) -> io::Result<Self> {
        handed.with_program(|index, program| {
            let memory =
                UmemCfgBuilder { frame_size: FrameSize::TwoK, frame_count: FRAMES, ..UmemCfgBuilder::default() };
            let mut umem = Umem::map(memory.build().map_err(wrong)?)?;
            let rings = RingConfigBuilder {
                rx_count: RECEIVING,
                fill_count: RECEIVING,
                tx_count: SENDING,
                completion_count: SENDING,
            };
            let mut builder = XdpSocketBuilder::new().map_err(wrong)?;
            let (rings, flags) = builder.build_rings(&umem, rings.build().map_err(wrong)?).map_err(wrong)?;
            // Without a flag the kernel shares its own buffers where the driver can, and copies otherwise.
            let socket = builder.bind(NicIndex::new(index), queue, flags).map_err(wrong)?;
            let (Some(rx), Some(tx)) = (rings.rx_ring, rings.tx_ring) else {
                return Err(wrong("a ring is missing"));
            };
            let mut fill = rings.fill_ring;
            // SAFETY: the memory is dropped after the socket.
            unsafe { fill.enqueue(&mut umem, RECEIVING as usize) };
            program.hand(queue, socket.as_raw_fd())?;
            Ok(Self {
                is_zero_copy: is_zero_copy(&socket),
                socket,
                fill,
                rx,
                completion: rings.completion_ring,
                tx,
                received: HeapSlab::with_capacity(FRAME_MAX),
                sending: HeapSlab::with_capacity(FRAME_MAX),
                umem,
                index,
                mode: program.mode,
                drops: 0,
            })
        })
    }

    /// Packets that the kernel dropped because the rings were full or a packet was too long, since the last call.
    fn kernel_drops(&mut self) -> u64 {
        let Ok(statistics) = self.socket.statistics() else { return 0 };
        let drops = statistics.rx_dropped + statistics.rx_ring_full;
        let new = drops.saturating_sub(self.drops);
        self.drops = drops;
        new
    }

    /// Tells the kernel that there is something to send, until it has looked at all of it. Returns how many packets it dropped; all of
    /// them where the interface is down.
    fn wake(&self) -> usize {
        /// Times in a row that the kernel may have no room.
        const PATIENCE: u32 = 10_000;
        let (mut dropped, mut tries) = (0, 0);
        while tries < PATIENCE {
            // SAFETY: a call with neither data nor an address.
            let result = unsafe {
                libc::sendto(self.socket.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0)
            };
            if result >= 0 {
                break;
            }
            match io::Error::last_os_error().raw_os_error() {
                // It sends some at a time.
                Some(libc::EAGAIN | libc::EINTR) => {}
                // The device dropped one.
                Some(libc::EBUSY) => dropped += 1,
                Some(libc::ENOBUFS) => {}
                _ => return usize::MAX,
            }
            tries += 1;
        }
        dropped
    }

    fn send(&mut self, plane: &Plane, frame: &Frame) -> usize {
        self.completion.dequeue(&mut self.umem, SENDING as usize);
        let (mut sent, mut lanes) = (0, frame.buffers().iter().zip(&frame.length));
        loop {
            for (buffer, length) in lanes.by_ref().take(FRAME_MAX) {
                // SAFETY: the memory is dropped after the slab.
                let Some(mut packet) = (unsafe { self.umem.alloc() }) else { break };
                if packet.append(&plane.pool.data(*buffer)[..*length as usize]).is_err() {
                    // Longer than a frame of the memory, so longer than any MTU that was taken.
                    self.umem.free_packet(packet);
                    continue;
                }
                if let Some(packet) = self.sending.push_front(packet) {
                    self.umem.free_packet(packet);
                }
            }
            // SAFETY: the memory is dropped after the socket.
            let queued = unsafe { self.tx.send(&mut self.sending) };
            if queued == 0 {
                break;
            }
            sent += queued - self.wake().min(queued);
            self.completion.dequeue(&mut self.umem, SENDING as usize);
        }
        // What found no place in the ring.
        while let Some(packet) = self.sending.pop_back() {
            self.umem.free_packet(packet);
        }
        sent
    }
}

/// Whether the kernel and we share buffers, or packets are copied.
fn is_zero_copy(socket: &XdpSocket) -> bool {
    let (mut options, mut length) = (0_u32, size_of::<u32>() as libc::socklen_t);
    // SAFETY: the pointers are to `options` and its length.
    let asked = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_XDP,
            libc::XDP_OPTIONS,
            std::ptr::from_mut(&mut options).cast(),
            &mut length,
        )
    };
    asked == 0 && options & libc::XDP_OPTIONS_ZEROCOPY != 0
}

/// A queue of an interface, which the input and the device of a worker share.
pub struct Queue {
    handed: Arc<Handed>,
    number: u32,
    /// None while the interface is away.
    port: Mutex<Option<Port>>,
}

impl Queue {
    /// Opens a queue.
    ///
    /// # Errors
    /// Somebody else has it, or this needs root.
    pub fn open(handed: &Arc<Handed>, number: u32) -> io::Result<Arc<Self>> {
        let port = Port::open(handed, number)?;
        Ok(Arc::new(Self { handed: handed.clone(), number, port: Mutex::new(Some(port)) }))
    }

    fn port(&self) -> MutexGuard<'_, Option<Port>> {
        self.port.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const REASONS: [Reason; 2] =
    [Reason::info("checksum written that the sender left out"), Reason::error("interface went down or away")];
const FINISHED: usize = 0;
const AWAY: usize = 1;

/// Receives into the graph.
pub struct XdpInput {
    queue: Arc<Queue>,
    interface: u16,
    name: String,
    looked: Instant,
    away: bool,
    polls: u32,
    was_busy: bool,
    counts: [u64; REASONS.len()],
}

impl XdpInput {
    /// An input node for a queue of an interface of the graph.
    pub fn new(queue: Arc<Queue>, interface: u16) -> Self {
        let name = format!("af-xdp-input-{}-{}", queue.handed.interface, queue.number);
        Self {
            queue,
            interface,
            name,
            looked: Instant::now(),
            away: false,
            polls: 0,
            was_busy: false,
            counts: [0; REASONS.len()],
        }
    }

    /// Notices an interface that went away, and one that is back. Nothing waits in the ring.
    #[cold]
    fn look_for_interface(&mut self, plane: &mut Plane) {
        if self.looked.elapsed() < if self.away { AWAY_LOOK } else { LOOK } {
            return;
        }
        self.looked = Instant::now();
        let name = &self.queue.handed.interface;
        let mut port = self.queue.port();
        let is_same = |port: &Port| index(name).is_ok_and(|index| index as u32 == port.index);
        if port.as_ref().is_some_and(|port| !is_same(port)) {
            *port = None;
        }
        if port.is_none() && self.away {
            *port = Port::open(&self.queue.handed, self.queue.number).ok();
        }
        let is_there = port.is_some() && is_up(name);
        if !is_there && !self.away {
            self.counts[AWAY] += 1;
        }
        self.away = !is_there;
        plane.interfaces[self.interface as usize].is_up = is_there;
    }
}

impl Input for XdpInput {
    fn name(&self) -> &str {
        &self.name
    }

    fn interface(&self) -> u16 {
        self.interface
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let wanted = plane.settings.frame_size.min(FRAME_MAX);
        let mut guard = self.queue.port();
        let (mut bytes, mut drops) = (0, 0);
        if let Some(port) = &mut *guard {
            while frame.len < wanted {
                // SAFETY: the memory is dropped after the slab.
                if port.received.is_empty() && unsafe { port.rx.recv(&port.umem, &mut port.received) } == 0 {
                    break;
                }
                let lane = frame.len;
                // A buffer first: without one, the packet waits.
                if plane.pool.allocate(&mut frame.buffer[lane..=lane]) == 0 {
                    break;
                }
                let Some(packet) = port.received.pop_back() else {
                    plane.pool.free(&frame.buffer[lane..=lane]);
                    break;
                };
                let data = plane.pool.data_mut(frame.buffer[lane]);
                let length = packet.len().min(DATA_BYTES);
                data[..length].copy_from_slice(&packet[..length]);
                port.umem.free_packet(packet);
                let offload = Offload::left_by_sender(&data[..length]);
                if !offload.is_none() && offload.finish(&mut data[..length]).is_ok() {
                    self.counts[FINISHED] += 1;
                }
                // What an earlier packet left behind a short one must not be taken for its own.
                data[length..(length + 64).min(DATA_BYTES)].fill(0);
                frame.length[lane] = length as u16;
                frame.len += 1;
                bytes += length as u64;
            }
            // SAFETY: the memory is dropped after the socket.
            unsafe { port.fill.enqueue(&mut port.umem, frame.len) };
            self.polls = self.polls.wrapping_add(1);
            if (frame.len == 0 && self.was_busy) || self.polls.is_multiple_of(256) {
                drops = port.kernel_drops();
            }
        }
        drop(guard);
        let interface = &mut plane.interfaces[self.interface as usize];
        interface.rx.add(frame.len as u64, bytes);
        interface.kernel_drops += drops;
        if frame.len == 0 {
            self.look_for_interface(plane);
        }
        self.was_busy = frame.len > 0;
    }

    fn hardware(&self) -> String {
        let port = self.queue.port();
        let state = port.as_ref().map_or("away".to_owned(), |port| {
            let copies = if port.is_zero_copy { "zero copy" } else { "copy mode" };
            format!("{} mode, {copies}", port.mode.name())
        });
        format!(
            "AF_XDP, queue {}, {state}, rings of {RECEIVING}; the kernel sees nothing that comes in; checksums that a sender \
             left out: done here; sends through the same socket",
            self.queue.number
        )
    }

    fn counts(&self) -> Vec<(Reason, u64)> {
        REASONS.into_iter().zip(self.counts).collect()
    }

    fn clear_counts(&mut self) {
        self.counts = [0; REASONS.len()];
    }
}

/// Sends through a queue's socket.
pub struct XdpOutput {
    queue: Arc<Queue>,
}

impl XdpOutput {
    /// A device for a queue.
    pub fn new(queue: Arc<Queue>) -> Self {
        Self { queue }
    }
}

impl Device for XdpOutput {
    fn send(&mut self, plane: &mut Plane, frame: &Frame) -> usize {
        self.queue.port().as_mut().map_or(0, |port| port.send(plane, frame))
    }
}
