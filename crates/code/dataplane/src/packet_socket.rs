//! A packet socket of a Linux interface: a ring shared with the kernel to receive, batches of calls
//! to send. It is for measuring: the kernel sees every packet, too, and work that the kernel leaves
//! to a device, such as a checksum or the splitting of a large packet, is not done here.

#![expect(
    unsafe_code,
    reason = "addresses and options that the kernel reads, and a ring of memory shared with it"
)]

use crate::buffers::DATA_BYTES;
use crate::frame::{FRAME_MAX, Frame};
use crate::mac::Mac;
use crate::node::{Input, Reason};
use crate::nodes::Device;
use crate::plane::Plane;
use nix::errno::Errno;
use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::if_nametoindex;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::socket::{
    AddressFamily, LinkAddr, SockFlag, SockType, SockaddrLike, bind, getsockopt, setsockopt, socket,
};
use options::{
    PacketIgnoreOutgoing, PacketMembership, PacketRing, PacketStatistics, PacketVersion,
};
use std::io;
use std::mem::zeroed;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Options of sockets that the crate `nix` has no names for.
mod options {
    use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};

    /// A name that came late to the C library.
    const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
    sockopt_impl!(
        PacketIgnoreOutgoing,
        SetOnly,
        libc::SOL_PACKET,
        PACKET_IGNORE_OUTGOING,
        bool
    );
    sockopt_impl!(
        PacketVersion,
        SetOnly,
        libc::SOL_PACKET,
        libc::PACKET_VERSION,
        libc::tpacket_versions
    );
    sockopt_impl!(
        PacketRing,
        SetOnly,
        libc::SOL_PACKET,
        libc::PACKET_RX_RING,
        libc::tpacket_req
    );
    sockopt_impl!(
        PacketMembership,
        SetOnly,
        libc::SOL_PACKET,
        libc::PACKET_ADD_MEMBERSHIP,
        libc::packet_mreq
    );
    sockopt_impl!(
        PacketStatistics,
        GetOnly,
        libc::SOL_PACKET,
        libc::PACKET_STATISTICS,
        libc::tpacket_stats
    );
}

/// Bytes of a packet's slot in the ring, with the kernel's header in front of it.
const SLOT_BYTES: usize = 2048;
const SLOTS: usize = 1 << 14;
/// Bytes that the kernel takes from its memory at once.
const BLOCK_BYTES: usize = 1 << 18;
const RING_BYTES: NonZeroUsize = NonZeroUsize::new(SLOT_BYTES * SLOTS).unwrap();
/// Packets of one call to send.
const BATCH: usize = 64;

fn no_interface() -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        "there is no such interface here (`ip link` lists those that are)",
    )
}

fn index(interface: &str) -> io::Result<u32> {
    if_nametoindex(interface).map_err(|error| {
        if error == Errno::ENODEV {
            no_interface()
        } else {
            error.into()
        }
    })
}

/// The Ethernet address of an interface of this machine.
///
/// # Errors
/// The interface is not there, or has no such address.
pub fn mac(interface: &str) -> io::Result<Mac> {
    let link = |entry: InterfaceAddress| {
        let is_it = entry.interface_name == interface;
        entry.address.filter(|_| is_it)?.as_link_addr()?.addr()
    };
    getifaddrs()?
        .find_map(link)
        .map(Mac)
        .ok_or_else(no_interface)
}

/// A packet socket that is not bound yet, so that nothing comes in before all is set up.
fn open() -> io::Result<OwnedFd> {
    socket(
        AddressFamily::Packet,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        None,
    )
    .map_err(|error| match error {
        Errno::EPERM | Errno::EACCES => io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a packet socket needs root or the capability CAP_NET_RAW",
        ),
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
    let address = unsafe {
        LinkAddr::from_raw(
            (&raw const address).cast(),
            Some(size_of_val(&address) as u32),
        )
    };
    Ok(bind(socket.as_raw_fd(), &address.ok_or(Errno::EINVAL)?)?)
}

/// A packet that came in, readable until the next one is asked for.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedPacket<'a> {
    /// From the Ethernet header on.
    pub bytes: &'a [u8],
    /// The VLAN tag that the kernel took out of it.
    pub tag: Option<[u8; 4]>,
    /// True if the packet was longer than what the ring holds of it.
    pub is_cut: bool,
}

/// Receives through a ring (TPACKET_V2): each packet is handed over as it comes. In a ring of
/// blocks (TPACKET_V3) it would wait until its block is full or a timer of the kernel runs out,
/// which takes a millisecond at least.
pub struct Receiver {
    socket: OwnedFd,
    ring: NonNull<u8>,
    slot: usize,
    /// The slot was read, and goes back to the kernel before the next one is looked at.
    is_read: bool,
}

// SAFETY: the ring belongs to the receiver alone; the kernel hands slots over by an atomic status.
unsafe impl Send for Receiver {}

impl Receiver {
    /// Receives what comes in on an interface, in promiscuous mode; what goes out of it is left
    /// alone.
    pub fn new(interface: &str) -> io::Result<Self> {
        let socket = open()?;
        setsockopt(&socket, PacketVersion, &libc::tpacket_versions::TPACKET_V2)?;
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
        let ring =
            unsafe { mmap(None, RING_BYTES, access, MapFlags::MAP_SHARED, &socket, 0) }?.cast();
        let receiver = Self {
            socket,
            ring,
            slot: 0,
            is_read: false,
        };
        bind_to(&receiver.socket, interface, libc::ETH_P_ALL as u16)?;
        // SAFETY: zeros are a value of this plain structure.
        let mut promiscuous: libc::packet_mreq = unsafe { zeroed() };
        promiscuous.mr_ifindex = index(interface)? as libc::c_int;
        promiscuous.mr_type = libc::PACKET_MR_PROMISC as u16;
        setsockopt(&receiver.socket, PacketMembership, &promiscuous)?;
        Ok(receiver)
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
    pub fn next_packet(&mut self) -> Option<ReceivedPacket<'_>> {
        if std::mem::take(&mut self.is_read) {
            self.status()
                .store(libc::TP_STATUS_KERNEL, Ordering::Release);
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
        let from = (header.tp_mac as usize).min(SLOT_BYTES);
        let length = (header.tp_snaplen as usize).min(SLOT_BYTES - from);
        let is_cut = header.tp_len > header.tp_snaplen;
        // SAFETY: the slot is ours until the next call, and `from` and `length` end within it.
        let bytes = unsafe {
            std::slice::from_raw_parts(
                self.ring.add(self.slot * SLOT_BYTES + from).as_ptr(),
                length,
            )
        };
        Some(ReceivedPacket { bytes, tag, is_cut })
    }

    /// Packets that the kernel dropped because the ring was full, since the last call.
    pub fn kernel_drops(&self) -> io::Result<u64> {
        Ok(getsockopt(&self.socket, PacketStatistics)?.tp_drops.into())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; nobody borrows it any more.
        let _ = unsafe { munmap(self.ring.cast(), RING_BYTES.get()) };
    }
}

/// Packets of an interface as they come into a graph.
pub struct PacketInput {
    receiver: Receiver,
    interface: u16,
    /// Packets that were longer than a slot or a buffer.
    too_long: u64,
    polls: u32,
}

/// The node's name: one interface of a graph is measured.
pub const INPUT: &str = "af-packet-input";

const TOO_LONG: Reason =
    Reason::error("packet longer than a buffer: switch off offloads (ethtool -K), lower the mtu");

/// Polls of which one asks the kernel what it dropped: each question is a system call.
const POLLS: u32 = 256;

impl PacketInput {
    /// An input node for an interface of the graph, by its number there.
    pub fn new(receiver: Receiver, interface: u16) -> Self {
        Self {
            receiver,
            interface,
            too_long: 0,
            polls: 0,
        }
    }

    /// Writes the next packet into a buffer's data and returns its length; `None` if there is none.
    fn next_into(&mut self, data: &mut [u8; DATA_BYTES]) -> Option<usize> {
        loop {
            let ReceivedPacket { bytes, tag, is_cut } = self.receiver.next_packet()?;
            let length = bytes.len() + tag.map_or(0, |tag| tag.len());
            if is_cut || length > DATA_BYTES {
                self.too_long += 1;
                continue;
            }
            // The kernel takes a VLAN's tag out of a packet; it stands between addresses and type.
            match tag.zip(bytes.split_at_checked(12)) {
                Some((tag, (addresses, rest))) => {
                    data[..12].copy_from_slice(addresses);
                    data[12..16].copy_from_slice(&tag);
                    data[16..length].copy_from_slice(rest);
                }
                None => data[..bytes.len()].copy_from_slice(bytes),
            }
            // A longer packet may have lain in this buffer before. Its bytes behind this one must
            // not be taken for this one's own.
            data[length..(length + 64).min(DATA_BYTES)].fill(0);
            return Some(length);
        }
    }
}

impl Input for PacketInput {
    fn name(&self) -> &str {
        INPUT
    }

    fn interface(&self) -> u16 {
        self.interface
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let (mut bytes, too_long) = (0, self.too_long);
        // A buffer first: without one, the packet waits where it is.
        while frame.len < plane.settings.frame_size.min(FRAME_MAX)
            && plane
                .pool
                .allocate(&mut frame.buffer[frame.len..=frame.len])
                == 1
        {
            let buffer = frame.buffer[frame.len];
            let Some(length) = self.next_into(plane.pool.data_mut(buffer)) else {
                plane.pool.free(&[buffer]);
                break;
            };
            frame.length[frame.len] = length as u16;
            frame.len += 1;
            bytes += length as u64;
        }
        let interface = &mut plane.interfaces[self.interface as usize];
        let dropped = self.too_long - too_long;
        interface.rx.add(frame.len as u64 + dropped, bytes);
        interface.drops += dropped;
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(POLLS) {
            interface.kernel_drops += self.receiver.kernel_drops().unwrap_or_default();
        }
    }

    fn hardware(&self) -> String {
        format!(
            "packet socket, ring TPACKET_V2 of {SLOTS} x {} kB; sends by sendmmsg, {BATCH} at a time",
            SLOT_BYTES >> 10
        )
    }

    fn counts(&self) -> Vec<(Reason, u64)> {
        vec![(TOO_LONG, self.too_long)]
    }
}

/// Sends to an interface.
pub struct Sender(OwnedFd);

impl Sender {
    /// Sends to an interface of this network namespace.
    ///
    /// # Errors
    /// The interface is not there, or may not be used.
    pub fn new(interface: &str) -> io::Result<Self> {
        let socket = open()?;
        bind_to(&socket, interface, 0)?;
        Ok(Self(socket))
    }

    /// Sends packets in order; returns how many the kernel took. One that it refuses (too long for
    /// the interface, or the interface is down) is passed over.
    pub fn send<'a>(&mut self, packets: impl IntoIterator<Item = &'a [u8]>) -> usize {
        let mut packets = packets.into_iter();
        let (mut sent, mut refused) = (0, 0);
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
                let result = unsafe {
                    libc::sendmmsg(
                        self.0.as_raw_fd(),
                        &mut messages[done],
                        (count - done) as u32,
                        0,
                    )
                };
                match Errno::result(result) {
                    Ok(taken) => {
                        done += taken as usize;
                        retries = 0;
                    }
                    // The queue is full for a moment.
                    Err(Errno::ENOBUFS) if retries < 1000 => retries += 1,
                    Err(Errno::EINTR) => {}
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

impl Device for Sender {
    fn send(&mut self, plane: &mut Plane, frame: &Frame) -> usize {
        let pool = &plane.pool;
        let packets = frame
            .buffers()
            .iter()
            .zip(&frame.length)
            .map(|(buffer, length)| &pool.data(*buffer)[..*length as usize]);
        Self::send(self, packets)
    }
}
