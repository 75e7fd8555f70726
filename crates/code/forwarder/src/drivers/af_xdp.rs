//! Packets of a Linux interface through AF_XDP: the driver, or what is right behind it, puts them
//! into memory that is shared with us, and the rest of the kernel sees nothing of them.
#![expect(unsafe_code, reason = "rings of memory shared with the kernel, and calls to wake it")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xdp::nic::NicIndex;
use xdp::slab::{HeapSlab, Slab};
use xdp::socket::{XdpSocket, XdpSocketBuilder};
use xdp::umem::{FrameSize, UmemCfgBuilder};
use xdp::{CompletionRing, FillRing, RingConfigBuilder, RxRing, TxRing, Umem};

use dataplane::buffers::DATA_BYTES;
use dataplane::frame::{FRAME_MAX, Frame};
use dataplane::graph::Reason;
use dataplane::nodes::Device;
use dataplane::plane::Plane;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, getsockopt, send};

use super::calls::XdpOptions;
use super::input::{Driver, DriverInput, Room};
use super::interface::{index, is_up, queues};
use super::offload::Offload;
use super::xdp_program::{Mode, Redirect};

/// Frames of a socket's memory: half wait for packets, half are there to send.
const FRAMES: u32 = 8192;
const RECEIVING: u32 = FRAMES / 2;
const SENDING: u32 = FRAMES / 2;
/// Bytes of the longest IP packet: a frame has 2048, of which the kernel keeps 256 in front of the
/// packet.
pub const MTU_MAX: u16 = 2048 - 256 - 18;

/// An interface whose packets the kernel hands to sockets, shared by those of all its queues.
pub struct XdpInterface {
    interface: String,
    /// The interface's number, and the program on it. One that came back has another number.
    program: Mutex<Option<(u32, Redirect)>>,
}

impl XdpInterface {
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
        let index = index(&self.interface)?;
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

/// A socket with its rings. What the kernel shares comes before the memory that it lies in, so that
/// it is dropped before.
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
    /// The number of packets that the kernel had dropped when it was last asked.
    drops: u64,
}

// SAFETY: packets in the slabs point into the port's own memory; a port moves with it, and one
// thread uses it at a time.
unsafe impl Send for Port {}

fn wrong(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("AF_XDP: {error}"))
}

impl Port {
    fn open(handed: &XdpInterface, queue: u32) -> io::Result<Self> {
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
            // Without a flag the kernel shares its own buffers where the driver can, and copies
            // otherwise.
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

    /// Packets that the kernel dropped because the rings were full or a packet was too long, since
    /// the last call.
    fn kernel_drops(&mut self) -> u64 {
        let Ok(statistics) = self.socket.statistics() else { return 0 };
        let drops = statistics.rx_dropped + statistics.rx_ring_full;
        let new = drops.saturating_sub(self.drops);
        self.drops = drops;
        new
    }

    /// Tells the kernel that there is something to send, until it has looked at all of it. Returns
    /// how many packets it dropped; all of them where the interface is down.
    fn wake(&self) -> usize {
        /// Times in a row that the kernel may have no room.
        const PATIENCE: u32 = 10_000;
        let (mut dropped, mut tries) = (0, 0);
        while tries < PATIENCE {
            match send(self.socket.as_raw_fd(), &[], MsgFlags::MSG_DONTWAIT) {
                Ok(_) => break,
                // It sends some at a time, or has no room just now.
                Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS) => {}
                // The device dropped one.
                Err(Errno::EBUSY) => dropped += 1,
                Err(_) => return usize::MAX,
            }
            tries += 1;
        }
        dropped
    }

    fn send(&mut self, plane: &Plane, frame: &Frame) -> usize {
        self.completion.dequeue(&mut self.umem, SENDING as usize);
        let (mut sent, mut rows) = (0, frame.buffers().iter().zip(&frame.length));
        loop {
            for (buffer, length) in rows.by_ref().take(FRAME_MAX) {
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
        // The packets for which the ring had no room are freed.
        while let Some(packet) = self.sending.pop_back() {
            self.umem.free_packet(packet);
        }
        sent
    }
}

/// Returns true if the kernel and we share buffers, false if packets are copied.
fn is_zero_copy(socket: &XdpSocket) -> bool {
    // SAFETY: the socket outlives the borrow.
    let socket = unsafe { BorrowedFd::borrow_raw(socket.as_raw_fd()) };
    getsockopt(&socket, XdpOptions).is_ok_and(|options| options & libc::XDP_OPTIONS_ZEROCOPY != 0)
}

/// A queue of an interface, which the input and the device of a worker share.
pub struct Queue {
    handed: Arc<XdpInterface>,
    number: u32,
    /// None while the interface is away.
    port: Mutex<Option<Port>>,
}

impl Queue {
    /// Opens a queue.
    ///
    /// # Errors
    /// Somebody else has it, or this needs root.
    pub fn open(handed: &Arc<XdpInterface>, number: u32) -> io::Result<Arc<Self>> {
        let port = Port::open(handed, number)?;
        Ok(Arc::new(Self { handed: handed.clone(), number, port: Mutex::new(Some(port)) }))
    }

    fn port(&self) -> MutexGuard<'_, Option<Port>> {
        self.port.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const FINISHED: usize = 0;

/// Receives from a queue.
pub struct XdpDriver {
    queue: Arc<Queue>,
}

impl XdpDriver {
    /// An input node for a queue of an interface of the graph.
    pub fn input(queue: Arc<Queue>, interface: u16) -> DriverInput<Self> {
        let name = format!("af-xdp-input-{}-{}", queue.handed.interface, queue.number);
        DriverInput::new(Self { queue }, interface, name)
    }
}

impl Driver for XdpDriver {
    const REASONS: &'static [Reason] = &[Reason::info("checksum written that the sender left out")];

    fn fill(&mut self, room: &mut Room<'_>) {
        let mut guard = self.queue.port();
        let Some(port) = &mut *guard else { return };
        loop {
            // SAFETY: the memory is dropped after the slab.
            if port.received.is_empty() && unsafe { port.rx.recv(&port.umem, &mut port.received) } == 0 {
                break;
            }
            let is_put = room.put(|data, met| {
                let packet = port.received.pop_back()?;
                let length = packet.len().min(DATA_BYTES);
                data[..length].copy_from_slice(&packet[..length]);
                port.umem.free_packet(packet);
                let offload = Offload::left_by_sender(&data[..length]);
                if !offload.is_none() && offload.finish(&mut data[..length]).is_ok() {
                    met.count(FINISHED);
                }
                Some(length)
            });
            if !is_put {
                break;
            }
        }
        // SAFETY: the memory is dropped after the socket.
        unsafe { port.fill.enqueue(&mut port.umem, room.taken()) };
    }

    fn kernel_drops(&mut self) -> u64 {
        self.queue.port().as_mut().map_or(0, Port::kernel_drops)
    }

    fn look(&mut self, away: bool) -> bool {
        let name = &self.queue.handed.interface;
        let mut port = self.queue.port();
        if port.as_ref().is_some_and(|port| index(name).ok() != Some(port.index)) {
            *port = None;
        }
        if port.is_none() && away {
            *port = Port::open(&self.queue.handed, self.queue.number).ok();
        }
        port.is_some() && is_up(name)
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
