//! A packet socket of a Linux interface: a ring shared with the kernel to receive, batches of calls
//! to send.

#![expect(unsafe_code, reason = "addresses and options that the kernel reads, and a ring of memory shared with it")]

use std::io;
use std::mem::zeroed;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SocketError};
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, SockFlag, SockType, SockaddrLike, bind, getsockopt, recv, setsockopt, socket,
};

use super::calls::{
    PACKET_FANOUT_FLAG_IGNORE_OUTGOING, PacketCopies, PacketFanout, PacketIgnoreOutgoing, PacketMembership,
    PacketOffload, PacketRing, PacketStatistics, PacketVersion, SocketFilter,
};
use super::interface::index;
use super::offload::{HEADER_BYTES, Offload};

/// Bytes of a packet's slot in the ring, with the kernel's header in front of it.
pub(super) const SLOT_BYTES: usize = 2048;
pub(super) const SLOTS: usize = 1 << 14;
/// Bytes that the kernel takes from its memory at once.
const BLOCK_BYTES: usize = 1 << 18;
const RING_BYTES: NonZeroUsize = NonZeroUsize::new(SLOT_BYTES * SLOTS).unwrap();
/// Bytes of packets beside the ring, those that are too long for a slot: the kernel drops what is
/// more. A large packet that is to be split has up to 64 kB.
const LARGE_BYTES: usize = 32 << 20;
/// Bytes of the longest packet, with the headers in front of it.
const LONGEST: usize = 1 << 17;
/// Packets of one call to send.
pub(super) const BATCH: usize = 64;

/// Lets only packets with two given bytes at an offset into a socket.
fn filter(socket: &OwnedFd, offset: u16, mark: [u8; 2]) -> io::Result<()> {
    let step = |code, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    // A packet that is too short to have the bytes is passed over, too.
    let mut steps = [
        step(libc::BPF_LD | libc::BPF_H | libc::BPF_ABS, 0, u32::from(offset)),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, u32::from(u16::from_be_bytes(mark))),
        step(libc::BPF_RET | libc::BPF_K, 0, u32::MAX),
        step(libc::BPF_RET | libc::BPF_K, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    Ok(setsockopt(socket, SocketFilter, &program)?)
}

/// A packet socket that is not bound yet, so that nothing comes in before all is set up.
fn open() -> io::Result<OwnedFd> {
    socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None).map_err(|error| match error {
        Errno::EPERM | Errno::EACCES => {
            io::Error::new(io::ErrorKind::PermissionDenied, "a packet socket needs root or the capability CAP_NET_RAW")
        }
        error => error.into(),
    })
}

/// Binds a socket to an interface. Protocol 0 receives nothing.
fn bind_to(socket: &OwnedFd, interface: &str, protocol: u16) -> io::Result<()> {
    // SAFETY: zeros are a value of this plain structure.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index(interface)? as libc::c_int;
    // SAFETY: the pointer and the length are those of `address`, whose family is that of the type.
    let address = unsafe { LinkAddr::from_raw((&raw const address).cast(), Some(size_of_val(&address) as u32)) };
    Ok(bind(socket.as_raw_fd(), &address.ok_or(Errno::EINVAL)?)?)
}

/// Receivers of one interface that share its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fanout(u16);

impl Fanout {
    /// The group of this process for one of its interfaces, by its number in the graph.
    pub fn new(number: u16) -> Self {
        // Groups are numbered for the whole network namespace: processes must not meet.
        Self((std::process::id() as u16) << 6 | (number & 63))
    }
}

/// A packet that came in, readable until the next one is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// From the Ethernet header on.
    pub bytes: &'a [u8],
    /// The VLAN tag that the kernel took out of it.
    pub tag: Option<[u8; 4]>,
    /// The work that the sender left for a device.
    pub offload: Offload,
    /// True if the packet was longer than what the ring holds of it.
    pub is_cut: bool,
    /// When the kernel put it into the ring, by the system's clock: since 1970.
    pub stamp: Duration,
}

/// Receives through a ring (TPACKET_V2): each packet is handed over as it comes. In a ring of
/// blocks (TPACKET_V3) it would wait until its block is full or a timer of the kernel runs out,
/// which takes a millisecond at least. Packets that are longer than a slot come by a call.
pub struct Receiver {
    socket: OwnedFd,
    ring: NonNull<u8>,
    slot: usize,
    /// The slot was read, and goes back to the kernel before the next one is looked at.
    is_read: bool,
    /// The last packet that was too long for its slot.
    large: Vec<u8>,
}

// SAFETY: the ring belongs to the receiver alone; the kernel hands slots over by an atomic status.
unsafe impl Send for Receiver {}

impl Receiver {
    /// Receives what comes in on an interface, in promiscuous mode; what goes out of it is left
    /// alone.
    pub fn new(interface: &str) -> io::Result<Self> {
        Self::made(interface, None)
    }

    /// The same, of those packets alone that have two given bytes at an offset from the Ethernet
    /// header on. The kernel passes over the others before they are copied.
    pub fn marked(interface: &str, offset: u16, mark: [u8; 2]) -> io::Result<Self> {
        Self::made(interface, Some((offset, mark)))
    }

    fn made(interface: &str, marked: Option<(u16, [u8; 2])>) -> io::Result<Self> {
        let socket = open()?;
        if let Some((offset, mark)) = marked {
            filter(&socket, offset, mark)?;
        }
        setsockopt(&socket, PacketVersion, &libc::tpacket_versions::TPACKET_V2)?;
        // With it, a packet says whether its checksum is missing and how it is to be split.
        setsockopt(&socket, PacketOffload, &true)?;
        // A packet that is longer than a slot is kept whole beside the ring. More room than the
        // system's limit for sockets needs a right of its own.
        setsockopt(&socket, PacketCopies, &1)?;
        setsockopt(&socket, RcvBufForce, &LARGE_BYTES).or_else(|_| setsockopt(&socket, RcvBuf, &LARGE_BYTES))?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: (RING_BYTES.get() / BLOCK_BYTES) as u32,
            tp_frame_size: SLOT_BYTES as u32,
            tp_frame_nr: SLOTS as u32,
        };
        setsockopt(&socket, PacketRing, &request)?;
        setsockopt(&socket, PacketIgnoreOutgoing, &true)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping; the length is what the ring was made with.
        let ring = unsafe { mmap(None, RING_BYTES, access, MapFlags::MAP_SHARED, &socket, 0) }?.cast();
        let receiver = Self { socket, ring, slot: 0, is_read: false, large: Vec::new() };
        bind_to(&receiver.socket, interface, libc::ETH_P_ALL as u16)?;
        // SAFETY: zeros are a value of this plain structure.
        let mut promiscuous: libc::packet_mreq = unsafe { zeroed() };
        promiscuous.mr_ifindex = index(interface)? as libc::c_int;
        promiscuous.mr_type = libc::PACKET_MR_PROMISC as u16;
        setsockopt(&receiver.socket, PacketMembership, &promiscuous)?;
        Ok(receiver)
    }

    /// Shares the interface with other receivers of this process: each packet comes to one of them,
    /// all packets of a flow to the same.
    pub fn join(&self, group: Fanout) -> io::Result<()> {
        // A group does not take over that its receivers leave alone what goes out.
        let hashed = (libc::PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_IGNORE_OUTGOING) << 16 | u32::from(group.0);
        Ok(setsockopt(&self.socket, PacketFanout, &hashed)?)
    }

    /// The header of the slot that is next.
    fn header(&self) -> NonNull<libc::tpacket2_hdr> {
        // SAFETY: the slot lies within the ring, and starts with its header.
        unsafe { self.ring.add(self.slot * SLOT_BYTES).cast() }
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: the status is an aligned word that the kernel and we change by turns; the ring
        // outlives the borrow.
        unsafe { AtomicU32::from_ptr(std::ptr::addr_of_mut!((*self.header().as_ptr()).tp_status)) }
    }

    /// The next packet, if one is there.
    pub fn next_packet(&mut self) -> Option<Received<'_>> {
        if std::mem::take(&mut self.is_read) {
            self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.slot = (self.slot + 1) % SLOTS;
        }
        let status = self.status().load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        self.is_read = true;
        // SAFETY: the kernel has handed the slot over and keeps away from it.
        let header = unsafe { self.header().as_ref() };
        let tag = (status & libc::TP_STATUS_VLAN_VALID != 0).then(|| {
            let [a, b] = if status & libc::TP_STATUS_VLAN_TPID_VALID != 0 {
                header.tp_vlan_tpid.to_be_bytes()
            } else {
                [0x81, 0x00]
            };
            let [c, d] = header.tp_vlan_tci.to_be_bytes();
            [a, b, c, d]
        });
        let stamp = Duration::new(header.tp_sec.into(), header.tp_nsec);
        if status & libc::TP_STATUS_COPY != 0 {
            self.large.resize(LONGEST, 0);
            // Nothing else is beside the ring, so it is the packet of this slot.
            let length = recv(self.socket.as_raw_fd(), &mut self.large, MsgFlags::MSG_DONTWAIT).unwrap_or_default();
            let (offload, bytes) = match self.large[..length].split_first_chunk::<HEADER_BYTES>() {
                Some((offload, bytes)) => (Offload::parse(*offload), bytes),
                None => (Offload::default(), &[][..]),
            };
            return Some(Received { bytes, tag, offload, is_cut: bytes.len() != header.tp_len as usize, stamp });
        }
        let from = (header.tp_mac as usize).clamp(HEADER_BYTES, SLOT_BYTES);
        let length = (header.tp_snaplen as usize).min(SLOT_BYTES - from);
        let is_cut = header.tp_len > header.tp_snaplen;
        // SAFETY: the slot is ours until the next call, and `from` and `length` end within it.
        let bytes =
            unsafe { std::slice::from_raw_parts(self.ring.add(self.slot * SLOT_BYTES + from).as_ptr(), length) };
        // SAFETY: as above; the socket asked for this header, and the kernel writes it between its
        // own header and the packet.
        let offload =
            unsafe { self.ring.add(self.slot * SLOT_BYTES + from - HEADER_BYTES).cast::<[u8; HEADER_BYTES]>().read() };
        Some(Received { bytes, tag, offload: Offload::parse(offload), is_cut, stamp })
    }

    /// Packets that the kernel dropped because the ring was full, since the last call.
    pub fn kernel_drops(&self) -> io::Result<u64> {
        Ok(getsockopt(&self.socket, PacketStatistics)?.tp_drops.into())
    }

    /// Returns true if the interface went down or away since the last call.
    pub fn has_failed(&self) -> bool {
        getsockopt(&self.socket, SocketError) != Ok(0)
    }

    /// Waits until something may have come in, or the time is over.
    pub fn wait(&self, milliseconds: u16) -> io::Result<()> {
        poll(&mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)], PollTimeout::from(milliseconds))?;
        Ok(())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; nobody borrows it any more.
        let _ = unsafe { munmap(self.ring.cast(), RING_BYTES.get()) };
    }
}

/// Sends to an interface.
pub struct Sender {
    socket: OwnedFd,
    interface: String,
    /// When the interface was found to be away, or was last looked for.
    away: Option<Instant>,
}

/// The number of times that an interface that is away is looked for.
const LOOK: Duration = Duration::from_secs(1);

impl Sender {
    /// Sends to an interface of this network namespace.
    pub fn new(interface: &str) -> io::Result<Self> {
        let socket = open()?;
        bind_to(&socket, interface, 0)?;
        Ok(Self { socket, interface: interface.to_owned(), away: None })
    }

    /// True if the interface is there. One that is away may come back under its name, as another
    /// one.
    fn is_there(&mut self) -> bool {
        let Some(since) = self.away else { return true };
        if since.elapsed() < LOOK {
            return false;
        }
        match bind_to(&self.socket, &self.interface, 0) {
            Ok(()) => self.away = None,
            Err(_) => self.away = Some(Instant::now()),
        }
        self.away.is_none()
    }

    /// Sends packets in order; returns how many the kernel took. One that it refuses (too long for
    /// the interface) is passed over.
    pub fn send<'a>(&mut self, packets: impl IntoIterator<Item = &'a [u8]>) -> usize {
        let mut packets = packets.into_iter();
        let (mut sent, mut refused, mut bound_again) = (0, 0, 0);
        if !self.is_there() {
            return 0;
        }
        loop {
            // SAFETY: zeros are values of these plain structures.
            let (mut parts, mut messages): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) =
                unsafe { (zeroed(), zeroed()) };
            let mut count = 0;
            for (packet, part) in packets.by_ref().take(BATCH).zip(&mut parts) {
                part.iov_base = packet.as_ptr().cast_mut().cast();
                part.iov_len = packet.len();
                count += 1;
            }
            for (message, part) in messages.iter_mut().zip(&mut parts).take(count) {
                message.msg_hdr.msg_iov = part;
                message.msg_hdr.msg_iovlen = 1;
            }
            let mut done = 0;
            let mut retries = 0;
            while done < count {
                // SAFETY: `count - done` messages from `done` on, each with one part that points to
                // a packet borrowed by the caller; the kernel only reads them.
                let result =
                    unsafe { libc::sendmmsg(self.socket.as_raw_fd(), &mut messages[done], (count - done) as u32, 0) };
                match Errno::result(result) {
                    Ok(taken) => {
                        done += taken as usize;
                        retries = 0;
                    }
                    // The queue is full for a moment.
                    Err(Errno::ENOBUFS) if retries < 1000 => retries += 1,
                    Err(Errno::EINTR) => {}
                    Err(Errno::ENXIO | Errno::ENODEV | Errno::ENETDOWN) => {
                        // It may be back already, as another one. The socket tells once more that
                        // the old one went.
                        bound_again += 1;
                        if bound_again > 2 || bind_to(&self.socket, &self.interface, 0).is_err() {
                            self.away = Some(Instant::now());
                            return sent + done - refused;
                        }
                    }
                    Err(_) => {
                        done += 1;
                        refused += 1;
                    }
                }
            }
            sent += done;
            if count < BATCH {
                return sent - refused;
            }
        }
    }
}
