//! Packets of a Linux interface, through a packet socket: a ring shared with the kernel to receive, batches of calls to send.

#![expect(unsafe_code, reason = "sockets, and a ring of memory shared with the kernel")]

use std::ffi::CStr;
use std::fs;
use std::io;
use std::mem::zeroed;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::{Duration, Instant};

use crate::buffers::DATA_BYTES;
use crate::frame::{FRAME_MAX, Frame};
use crate::node::{Input, Reason};
use crate::nodes::Device;
use crate::offload::{HEADER_BYTES, Offload, Splitter, Unfinished};
use crate::plane::{Mac, Plane};

const BLOCK_BYTES: usize = 1 << 18;
const BLOCKS: usize = 64;
/// The kernel hands over a block that is not full after so many milliseconds.
const BLOCK_TIMEOUT_MS: u32 = 1;
/// Packets of one call to send.
const BATCH: usize = 64;

/// The Ethernet address of an interface of this network namespace.
pub fn mac(interface: &str) -> io::Result<Mac> {
    about(interface, "address")?.parse().map_err(io::Error::other)
}

/// Bytes of the largest IP packet of an interface of this network namespace.
pub fn mtu(interface: &str) -> io::Result<u32> {
    about(interface, "mtu")?.parse().map_err(io::Error::other)
}

/// Whether the kernel forwards what comes in on an interface.
pub fn kernel_forwards(interface: &str) -> bool {
    fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{interface}/forwarding")).is_ok_and(|text| text.trim() == "1")
}

/// The IPv4 addresses that the kernel has on an interface, with the lengths of their networks' prefixes.
pub fn addresses(interface: &str) -> io::Result<Vec<(Ipv4Addr, u8)>> {
    let mut list = std::ptr::null_mut();
    // SAFETY: the pointer is ours; the call sets it to a list that is freed below.
    checked(unsafe { libc::getifaddrs(&mut list) })?;
    let ip4 = |address: *const libc::sockaddr| {
        // SAFETY: null, or an address of the list, whose family says which structure it is.
        unsafe { address.as_ref() }.filter(|there| i32::from(there.sa_family) == libc::AF_INET).map(|there| {
            // SAFETY: the family is that of this structure.
            let there = unsafe { std::ptr::from_ref(there).cast::<libc::sockaddr_in>().read_unaligned() };
            Ipv4Addr::from(u32::from_be(there.sin_addr.s_addr))
        })
    };
    let (mut found, mut next) = (Vec::new(), list);
    // SAFETY: each pointer of the list is null or a valid element until the list is freed.
    while let Some(there) = unsafe { next.as_ref() } {
        // SAFETY: the name is a string that ends with a zero, as long as the list is there.
        let name = unsafe { CStr::from_ptr(there.ifa_name) };
        if name.to_bytes() == interface.as_bytes()
            && let (Some(address), Some(mask)) = (ip4(there.ifa_addr), ip4(there.ifa_netmask))
        {
            found.push((address, u32::from(mask).leading_ones() as u8));
        }
        next = there.ifa_next;
    }
    // SAFETY: the list of the call above, freed once.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

/// What the kernel says about an interface of this network namespace.
fn about(interface: &str, what: &str) -> io::Result<String> {
    match fs::read_to_string(format!("/sys/class/net/{interface}/{what}")) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::new(error.kind(), "there is no such interface here (`ip link` lists those that are)"))
        }
        Err(error) => Err(error),
    }
}

/// The number of an interface of this network namespace: one that comes back under its name has another.
///
/// # Errors
/// It is not there.
pub(crate) fn index(interface: &str) -> io::Result<libc::c_int> {
    about(interface, "ifindex")?.parse().map_err(io::Error::other)
}

/// Whether an interface of this network namespace is there and up.
pub(crate) fn is_up(interface: &str) -> bool {
    let flags = about(interface, "flags").ok();
    let flags = flags.and_then(|text| libc::c_int::from_str_radix(text.trim_start_matches("0x"), 16).ok());
    flags.is_some_and(|flags| flags & libc::IFF_UP != 0)
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn set_option<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of `value`.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    })
    .map(|_| ())
}

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
    // SAFETY: the pointer and the length are those of `program`, which points to steps that outlive the call.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            std::ptr::from_ref(&program).cast(),
            size_of::<libc::sock_fprog>() as libc::socklen_t,
        )
    })
    .map(|_| ())
}

/// A packet socket that is not bound yet, so that nothing comes in before all is set up.
fn open() -> io::Result<OwnedFd> {
    // SAFETY: a call without pointers.
    let socket = checked(unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) });
    let socket = socket.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            io::Error::new(error.kind(), "a packet socket needs root or the capability CAP_NET_RAW")
        }
        _ => error,
    })?;
    // SAFETY: the descriptor is new and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// Binds a socket to an interface. Protocol 0 receives nothing.
fn bind(socket: &OwnedFd, interface: &str, protocol: u16) -> io::Result<()> {
    let index = index(interface)?;
    // SAFETY: zeros are a value of this plain structure.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index;
    // SAFETY: the pointer and the length are those of `address`.
    checked(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            std::ptr::from_ref(&address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    })
    .map(|_| ())
}

/// Receivers of one interface that share its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fanout(u16);

impl Fanout {
    /// The group of this process for one of its interfaces, by its number in the graph.
    pub fn of_interface(number: u16) -> Self {
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
    /// What the sender left for a device to do.
    pub offload: Offload,
    /// Whether the packet was longer than what the ring holds of it.
    pub is_cut: bool,
    /// When the kernel put it into the ring, by the system's clock: since 1970.
    pub stamp: Duration,
}

/// Receives through a ring (TPACKET_V3).
pub struct Receiver {
    socket: OwnedFd,
    ring: NonNull<u8>,
    block: usize,
    /// Packets left in the block, and where the next one lies in it.
    left: u32,
    offset: usize,
}

// SAFETY: the ring belongs to the receiver alone; the kernel hands blocks over by an atomic status.
unsafe impl Send for Receiver {}

impl Receiver {
    /// Receives what comes in on an interface, in promiscuous mode; what goes out of it is left alone.
    pub fn new(interface: &str) -> io::Result<Self> {
        Self::made(interface, None)
    }

    /// The same, of those packets alone that have two given bytes at an offset from the Ethernet header on. The kernel passes over the
    /// others before they are copied.
    pub fn of_marked(interface: &str, offset: u16, mark: [u8; 2]) -> io::Result<Self> {
        Self::made(interface, Some((offset, mark)))
    }

    fn made(interface: &str, marked: Option<(u16, [u8; 2])>) -> io::Result<Self> {
        let socket = open()?;
        if let Some((offset, mark)) = marked {
            filter(&socket, offset, mark)?;
        }
        set_option(&socket, libc::PACKET_VERSION, &libc::tpacket_versions::TPACKET_V3)?;
        // With it, a packet says whether its checksum is missing and how it is to be split.
        set_option(&socket, libc::PACKET_VNET_HDR, &1_i32)?;
        let request = libc::tpacket_req3 {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: BLOCKS as u32,
            tp_frame_size: 2048,
            tp_frame_nr: (BLOCK_BYTES * BLOCKS / 2048) as u32,
            tp_retire_blk_tov: BLOCK_TIMEOUT_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set_option(&socket, libc::PACKET_RX_RING, &request)?;
        // The name came late to the C library: 23 is PACKET_IGNORE_OUTGOING.
        const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
        set_option(&socket, PACKET_IGNORE_OUTGOING, &1_i32)?;
        // SAFETY: a new mapping; the length is what the ring was made with.
        let ring = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                BLOCK_BYTES * BLOCKS,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if ring == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring =
            NonNull::new(ring.cast()).ok_or_else(|| io::Error::other("the kernel mapped a ring at address 0"))?;
        let receiver = Self { socket, ring, block: 0, left: 0, offset: 0 };
        bind(&receiver.socket, interface, libc::ETH_P_ALL as u16)?;
        // SAFETY: zeros are a value of this plain structure.
        let mut promiscuous: libc::packet_mreq = unsafe { zeroed() };
        promiscuous.mr_ifindex = index(interface)?;
        promiscuous.mr_type = libc::PACKET_MR_PROMISC as u16;
        set_option(&receiver.socket, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)?;
        Ok(receiver)
    }

    /// Shares the interface with other receivers of this process: each packet comes to one of them, all packets of a flow to the same.
    pub fn join(&self, group: Fanout) -> io::Result<()> {
        // A group does not take over that its receivers leave alone what goes out. The name came late to the C library, too.
        const PACKET_FANOUT_FLAG_IGNORE_OUTGOING: u32 = 0x4000;
        let hashed = (libc::PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_IGNORE_OUTGOING) << 16 | u32::from(group.0);
        set_option(&self.socket, libc::PACKET_FANOUT, &hashed)
    }

    fn block_header(&self) -> NonNull<libc::tpacket_hdr_v1> {
        // SAFETY: the block lies within the ring; its header follows a version and an offset of 4 bytes each.
        unsafe { self.ring.add(self.block * BLOCK_BYTES + 8).cast() }
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: the status is an aligned word that the kernel and we change by turns; the ring outlives the borrow.
        unsafe { AtomicU32::from_ptr(std::ptr::addr_of_mut!((*self.block_header().as_ptr()).block_status)) }
    }

    /// The next packet, if one is there.
    pub fn next_packet(&mut self) -> Option<Received<'_>> {
        if self.left == 0 && !self.next_block() {
            return None;
        }
        let at = self.block * BLOCK_BYTES + self.offset;
        // SAFETY: the kernel has handed the block over and keeps away from it; the offset is the kernel's, within the block, and
        // aligned for the header.
        let header = unsafe { self.ring.add(at).cast::<libc::tpacket3_hdr>().as_ref() };
        let from = at + header.tp_mac as usize;
        let length = (header.tp_snaplen as usize).min(BLOCK_BYTES * BLOCKS - from);
        // SAFETY: as above; the packet lies behind its header, and `length` ends within the ring in any case.
        let bytes = unsafe { std::slice::from_raw_parts(self.ring.add(from).as_ptr(), length) };
        // SAFETY: the socket asked for this header, and the kernel writes it between its own header and the packet.
        let offload = unsafe { self.ring.add(from - HEADER_BYTES).cast::<[u8; HEADER_BYTES]>().read() };
        let tag = (header.tp_status & libc::TP_STATUS_VLAN_VALID != 0).then(|| {
            let [a, b] = if header.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0 {
                header.hv1.tp_vlan_tpid.to_be_bytes()
            } else {
                [0x81, 0x00]
            };
            let [c, d] = (header.hv1.tp_vlan_tci as u16).to_be_bytes();
            [a, b, c, d]
        });
        let is_cut = header.tp_len > header.tp_snaplen;
        self.left -= 1;
        self.offset += header.tp_next_offset as usize;
        let stamp = Duration::new(header.tp_sec.into(), header.tp_nsec);
        Some(Received { bytes, tag, offload: Offload::parse(offload), is_cut, stamp })
    }

    /// Gives the block that was read back and takes the next one, if it is ours.
    fn next_block(&mut self) -> bool {
        if self.offset != 0 {
            fence(Ordering::Release);
            self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.block = (self.block + 1) % BLOCKS;
            self.offset = 0;
        }
        if self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the block is ours, and its header is within the ring.
        let header = unsafe { self.block_header().as_ref() };
        self.left = header.num_pkts;
        self.offset = header.offset_to_first_pkt as usize;
        if self.left == 0 {
            // A block that timed out empty: give it back at the next call.
            return false;
        }
        true
    }

    /// Packets that the kernel dropped because the ring was full, since the last call.
    pub fn kernel_drops(&self) -> io::Result<u64> {
        // SAFETY: zeros are a value of this plain structure.
        let mut statistics: libc::tpacket_stats_v3 = unsafe { zeroed() };
        let mut length = size_of::<libc::tpacket_stats_v3>() as libc::socklen_t;
        // SAFETY: the pointers are to `statistics` and its length.
        checked(unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                std::ptr::from_mut(&mut statistics).cast(),
                &mut length,
            )
        })?;
        Ok(u64::from(statistics.tp_drops))
    }

    /// Whether the interface went down or away since the last call.
    pub fn has_failed(&self) -> bool {
        let (mut error, mut length) = (0_i32, size_of::<i32>() as libc::socklen_t);
        // SAFETY: the pointers are to `error` and its length.
        let asked = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                std::ptr::from_mut(&mut error).cast(),
                &mut length,
            )
        };
        asked < 0 || error != 0
    }

    /// Waits until something may have come in, or the time is over.
    pub fn wait(&self, milliseconds: u16) -> io::Result<()> {
        let mut poll = libc::pollfd { fd: self.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure, ours.
        checked(unsafe { libc::poll(&mut poll, 1, i32::from(milliseconds)) }).map(|_| ())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; nobody borrows it any more.
        unsafe {
            libc::munmap(self.ring.as_ptr().cast(), BLOCK_BYTES * BLOCKS);
        }
    }
}

/// Sends to an interface.
pub struct Sender {
    socket: OwnedFd,
    interface: String,
    /// When the interface was found to be away, or was last looked for.
    away: Option<Instant>,
}

/// How often an interface that is away is looked for.
const LOOK: Duration = Duration::from_secs(1);

impl Sender {
    /// Sends to an interface of this network namespace.
    pub fn new(interface: &str) -> io::Result<Self> {
        let socket = open()?;
        bind(&socket, interface, 0)?;
        Ok(Self { socket, interface: interface.to_owned(), away: None })
    }

    /// Whether the interface is there. One that is away may come back under its name, as another one.
    fn is_there(&mut self) -> bool {
        let Some(since) = self.away else { return true };
        if since.elapsed() < LOOK {
            return false;
        }
        match bind(&self.socket, &self.interface, 0) {
            Ok(()) => self.away = None,
            Err(_) => self.away = Some(Instant::now()),
        }
        self.away.is_none()
    }

    /// Sends packets in order; returns how many the kernel took. One that it refuses (too long for the interface) is passed over.
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
                // SAFETY: `count - done` messages from `done` on, each with one part that points to a packet borrowed by the caller;
                // the kernel only reads them.
                let result =
                    unsafe { libc::sendmmsg(self.socket.as_raw_fd(), &mut messages[done], (count - done) as u32, 0) };
                match checked(result) {
                    Ok(taken) => {
                        done += taken as usize;
                        retries = 0;
                    }
                    // The queue is full for a moment.
                    Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) && retries < 1000 => retries += 1,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if matches!(error.raw_os_error(), Some(libc::ENXIO | libc::ENODEV | libc::ENETDOWN)) => {
                        // It may be back already, as another one. The socket tells once more that the old one went.
                        bound_again += 1;
                        if bound_again > 2 || bind(&self.socket, &self.interface, 0).is_err() {
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

/// What the input does with packets that are not complete, and how often.
const REASONS: [Reason; 6] = [
    Reason::info("large packet split"),
    Reason::error("large packet of a kind that is not split"),
    Reason::error("part of a large packet longer than a buffer"),
    Reason::error("offload header contradicts the packet"),
    Reason::error("packet longer than the ring's block"),
    Reason::error("interface went down or away"),
];
const SPLIT: usize = 0;
const CUT: usize = 4;
const AWAY: usize = 5;

fn reason(unfinished: Unfinished) -> usize {
    match unfinished {
        Unfinished::Kind => 1,
        Unfinished::Long => 2,
        Unfinished::Malformed => 3,
    }
}

/// Receives into the graph. Packets are whole there: missing checksums are written, and large packets are split.
pub struct PacketInput {
    /// None while the interface is away.
    receiver: Option<Receiver>,
    interface: u16,
    device: String,
    group: Option<Fanout>,
    name: String,
    /// When the interface was found to be away, or was last looked for.
    away: Option<Instant>,
    polls: u32,
    was_busy: bool,
    splitter: Splitter,
    counts: [u64; REASONS.len()],
}

impl PacketInput {
    /// An input node for an interface of the graph, which has the name of the machine's.
    pub fn new(receiver: Receiver, interface: u16, name: &str) -> Self {
        Self {
            receiver: Some(receiver),
            interface,
            device: name.to_owned(),
            group: None,
            name: format!("af-packet-input-{name}"),
            away: None,
            polls: 0,
            was_busy: false,
            splitter: Splitter::default(),
            counts: [0; REASONS.len()],
        }
    }

    /// The same, which shares the interface with the inputs of other workers.
    pub fn shared(receiver: Receiver, interface: u16, name: &str) -> io::Result<Self> {
        let group = Fanout::of_interface(interface);
        receiver.join(group)?;
        Ok(Self { group: Some(group), ..Self::new(receiver, interface, name) })
    }

    /// A receiver on the interface that has come back.
    fn reopened(&self) -> io::Result<Receiver> {
        let receiver = Receiver::new(&self.device)?;
        if let Some(group) = self.group {
            receiver.join(group)?;
        }
        Ok(receiver)
    }

    /// Notices an interface that went away, and one that is back. The ring is empty.
    #[cold]
    fn look_for_interface(&mut self, plane: &mut Plane) {
        if self.away.is_none() && self.receiver.as_ref().is_some_and(Receiver::has_failed) {
            self.counts[AWAY] += 1;
            self.away = Some(Instant::now());
        }
        if self.away.is_some_and(|since| since.elapsed() >= LOOK) {
            // The old one goes first: a group of receivers is for one interface as long as one of them is there.
            self.receiver = None;
            // A receiver on an interface that is down has failed already.
            self.receiver = self.reopened().ok().filter(|receiver| !receiver.has_failed());
            self.away = if self.receiver.is_some() { None } else { Some(Instant::now()) };
        }
        plane.interfaces[self.interface as usize].is_up = self.away.is_none();
    }

    /// Writes the next packet into a buffer's data and returns its length; `None` if there is none.
    fn next_into(&mut self, data: &mut [u8; DATA_BYTES], dropped: &mut u64) -> Option<usize> {
        loop {
            if let Some(length) = self.splitter.next_part(data) {
                return Some(length);
            }
            let Received { bytes, tag, offload, is_cut, .. } = self.receiver.as_mut()?.next_packet()?;
            let problem = if is_cut {
                Some(CUT)
            } else if offload.splits() {
                self.counts[SPLIT] += 1;
                self.splitter.take(bytes, tag, offload, DATA_BYTES).err().map(reason)
            } else {
                // Longer than a buffer is longer than any interface's MTU: the graph sees a giant and counts it.
                let length = bytes.len().min(DATA_BYTES);
                data[..length].copy_from_slice(&bytes[..length]);
                match offload.finish(&mut data[..length]) {
                    Err(unfinished) if length == bytes.len() => Some(reason(unfinished)),
                    _ => return Some(insert_tag(data, length, tag)),
                }
            };
            if let Some(problem) = problem {
                self.counts[problem] += 1;
                *dropped += 1;
            }
        }
    }
}

/// Puts the tag back that the kernel took out; returns the packet's new length.
fn insert_tag(data: &mut [u8; DATA_BYTES], length: usize, tag: Option<[u8; 4]>) -> usize {
    match tag {
        Some(tag) if length >= 12 => {
            let length = length.min(DATA_BYTES - 4);
            data.copy_within(12..length, 16);
            data[12..16].copy_from_slice(&tag);
            length + 4
        }
        _ => length,
    }
}

impl Input for PacketInput {
    fn name(&self) -> &str {
        &self.name
    }

    fn interface(&self) -> u16 {
        self.interface
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let wanted = plane.settings.frame_size.min(FRAME_MAX);
        let (mut bytes, mut dropped) = (0, 0);
        while frame.len < wanted {
            let lane = frame.len;
            // A buffer first: without one, the packet stays in the ring.
            if plane.pool.allocate(&mut frame.buffer[lane..=lane]) == 0 {
                break;
            }
            let data = plane.pool.data_mut(frame.buffer[lane]);
            let Some(length) = self.next_into(data, &mut dropped) else {
                plane.pool.free(&frame.buffer[lane..=lane]);
                break;
            };
            // What an earlier packet left behind a short one must not be taken for its own.
            data[length..(length + 64).min(DATA_BYTES)].fill(0);
            frame.length[lane] = length as u16;
            frame.len += 1;
            bytes += length as u64;
        }
        let interface = &mut plane.interfaces[self.interface as usize];
        interface.rx.add(frame.len as u64 + dropped, bytes);
        interface.drops += dropped;
        // Asking the kernel takes a call: now and then is enough, and always once the ring is empty after load.
        self.polls = self.polls.wrapping_add(1);
        let ask = (frame.len == 0 && self.was_busy) || self.polls.is_multiple_of(256);
        if ask {
            let drops = self.receiver.as_ref().and_then(|receiver| receiver.kernel_drops().ok());
            plane.interfaces[self.interface as usize].kernel_drops += drops.unwrap_or_default();
            if frame.len == 0 {
                self.look_for_interface(plane);
            }
        }
        self.was_busy = frame.len > 0;
    }

    fn hardware(&self) -> String {
        let shared = if self.group.is_some() { ", shared out to workers by flow (fanout)" } else { "" };
        format!(
            "packet socket, ring TPACKET_V3 of {BLOCKS} x {} kB{shared}; missing checksums and splitting: done here; \
             sends by sendmmsg, {BATCH} at a time",
            BLOCK_BYTES >> 10
        )
    }

    fn counts(&self) -> Vec<(Reason, u64)> {
        REASONS.into_iter().zip(self.counts).collect()
    }

    fn clear_counts(&mut self) {
        self.counts = [0; REASONS.len()];
    }
}

impl Device for Sender {
    fn send(&mut self, plane: &mut Plane, frame: &Frame) -> usize {
        let pool = &plane.pool;
        let packets =
            frame.buffers().iter().zip(&frame.length).map(|(buffer, length)| &pool.data(*buffer)[..*length as usize]);
        Self::send(self, packets)
    }
}
