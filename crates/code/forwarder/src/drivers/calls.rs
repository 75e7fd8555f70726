//! Options of sockets and requests about devices that the crate `nix` has no names for.

use nix::{getsockopt_impl, ioctl_readwrite_bad, ioctl_write_ptr_bad, setsockopt_impl, sockopt_impl};

// Names that came late to the C library.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
pub const PACKET_FANOUT_FLAG_IGNORE_OUTGOING: u32 = 0x4000;

sockopt_impl!(PacketVersion, SetOnly, libc::SOL_PACKET, libc::PACKET_VERSION, libc::tpacket_versions);
sockopt_impl!(PacketOffload, SetOnly, libc::SOL_PACKET, libc::PACKET_VNET_HDR, bool);
sockopt_impl!(PacketRing, SetOnly, libc::SOL_PACKET, libc::PACKET_RX_RING, libc::tpacket_req);
sockopt_impl!(PacketCopies, SetOnly, libc::SOL_PACKET, libc::PACKET_COPY_THRESH, libc::c_int);
sockopt_impl!(PacketIgnoreOutgoing, SetOnly, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, bool);
sockopt_impl!(PacketMembership, SetOnly, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, libc::packet_mreq);
sockopt_impl!(PacketFanout, SetOnly, libc::SOL_PACKET, libc::PACKET_FANOUT, u32);
sockopt_impl!(PacketStatistics, GetOnly, libc::SOL_PACKET, libc::PACKET_STATISTICS, libc::tpacket_stats);
sockopt_impl!(SocketFilter, SetOnly, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, libc::sock_fprog);
sockopt_impl!(XdpOptions, GetOnly, libc::SOL_XDP, libc::XDP_OPTIONS, u32);

ioctl_readwrite_bad!(make_tun, libc::TUNSETIFF, libc::ifreq);
ioctl_readwrite_bad!(read_flags, libc::SIOCGIFFLAGS, libc::ifreq);
ioctl_write_ptr_bad!(write_flags, libc::SIOCSIFFLAGS, libc::ifreq);
