//! The work that a kernel leaves to a device: checksums that are not in the packet yet, and large
//! packets that have to be split.
//!
//! A sender on the same machine (a container behind a veth, a guest behind a tap) hands over
//! packets as a device with offloads would take them. Such a packet comes with a header
//! (`struct virtio_net_hdr` of the virtio specification, section 5.1.6) that says what is missing.

use dataplane::checksum;

/// Bytes of the header in front of a packet.
pub const HEADER_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
const GSO_UDP: u8 = 5;
/// A mark beside the kind: congestion is noted in the packet.
const GSO_ECN: u8 = 0x80;

const UDP: u8 = 17;
const TCP: u8 = 6;
const SCTP: u8 = 132;

const FIN_AND_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// The parts that are missing from a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Offload {
    /// The place where the sum starts, and where it has to be written, both from the start of the
    /// packet.
    checksum: Option<(usize, usize)>,
    /// Kind and payload bytes of each part of a packet that has to be split.
    split: Option<(u8, usize)>,
}

/// Why a packet cannot be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The header points outside the packet, or contradicts it.
    Malformed,
    /// Only TCP and UDP directly above IP are split: this packet is another, such as a tunnel's.
    Kind,
    /// A part would be longer than a buffer.
    Long,
}

impl Offload {
    /// Reads the header, in the byte order of the machine.
    pub fn parse(header: [u8; HEADER_BYTES]) -> Self {
        let word = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let [flags, kind, ..] = header;
        let (size, start, offset) = (word(4), word(6), word(8));
        Self {
            checksum: (flags & NEEDS_CHECKSUM != 0).then_some((start, start + offset)),
            split: (kind != GSO_NONE).then_some((kind & !GSO_ECN, size)),
        }
    }

    /// The parts that a sender on the same machine left out of a packet that comes without a header
    /// to say so. It puts the sum of the pseudo header where the checksum belongs, so a packet that
    /// has just that there lacks its checksum. A complete packet of which that is true by chance is
    /// as it was afterwards; a damaged one passes for whole in one of 65 536 cases.
    pub fn left_by_sender(packet: &[u8]) -> Self {
        Self { checksum: missing_checksum(packet), split: None }
    }

    /// True if the packet is complete.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// True if the packet has to be split.
    pub fn splits(&self) -> bool {
        self.split.is_some()
    }

    /// Writes the checksum that is missing from a packet, if one is.
    pub fn finish(&self, packet: &mut [u8]) -> Result<(), Unfinished> {
        let Some((start, at)) = self.checksum else { return Ok(()) };
        if start > packet.len() || at + 2 > packet.len() || at < start {
            return Err(Unfinished::Malformed);
        }
        if at - start == 8 && protocol(packet) == Some(SCTP) {
            let field = packet.get_mut(at..at + 4).ok_or(Unfinished::Malformed)?;
            field.fill(0);
            let crc = crc32c(&packet[start..]);
            packet[at..at + 4].copy_from_slice(&crc.to_le_bytes());
            return Ok(());
        }
        // The field holds the sum of the pseudo header already.
        write(packet, at, checksum::sum(&packet[start..]));
        Ok(())
    }
}

/// Writes the complement of a sum. Zero would say that there is no checksum, and stands for the
/// same sum as its complement.
fn write(packet: &mut [u8], at: usize, sum: u16) {
    let field = if sum == 0xffff { 0xffff } else { !sum };
    packet[at..at + 2].copy_from_slice(&field.to_le_bytes());
}

/// The place where the network header starts, behind any tags.
fn network(packet: &[u8]) -> usize {
    let mut at = 12;
    while let Some([0x81, 0x00] | [0x88, 0xa8]) = packet.get(at..at + 2) {
        at += 4;
    }
    at + 2
}

/// The place where a TCP or UDP packet's sum starts and where it has to be written, if only the
/// pseudo header's sum is there.
fn missing_checksum(packet: &[u8]) -> Option<(usize, usize)> {
    let l3 = network(packet);
    let mut pseudo = [0; 40];
    let (start, length, kind) = match packet.get(l3)? >> 4 {
        4 => {
            let header = packet.get(l3..l3 + 20)?;
            let words = usize::from(header[0] & 0xf) * 4;
            // A fragment has a part of it, or none.
            if header[6] & 0x3f != 0 || header[7] != 0 {
                return None;
            }
            pseudo[..8].copy_from_slice(&header[12..20]);
            let length = usize::from(u16::from_be_bytes([header[2], header[3]])).checked_sub(words)?;
            (l3 + words, length, header[9])
        }
        6 => {
            let header = packet.get(l3..l3 + 40)?;
            pseudo[..32].copy_from_slice(&header[8..40]);
            (l3 + 40, usize::from(u16::from_be_bytes([header[4], header[5]])), header[6])
        }
        _ => return None,
    };
    let at = start
        + match kind {
            TCP => 16,
            UDP => 6,
            _ => return None,
        };
    pseudo[32..34].copy_from_slice(&(length as u16).to_be_bytes());
    pseudo[35] = kind;
    let field = packet.get(at..at + 2)?;
    // Padding and other bytes behind the packet are no part of the sum.
    (packet.len() == start + length && u16::from_le_bytes([field[0], field[1]]) == checksum::sum(&pseudo))
        .then_some((start, at))
}

/// The protocol above IP, without extension headers.
fn protocol(packet: &[u8]) -> Option<u8> {
    let l3 = network(packet);
    match packet.get(l3)? >> 4 {
        4 => packet.get(l3 + 9).copied(),
        6 => packet.get(l3 + 6).copied(),
        _ => None,
    }
}

/// The checksum of SCTP (RFC 9260, appendix A).
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// A large packet, and how far it has been split.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    packet: Vec<u8>,
    l3: usize,
    l4: usize,
    /// Bytes of all headers.
    headers: usize,
    /// Payload bytes of a part.
    size: usize,
    /// Payload bytes given so far.
    given: usize,
    parts: u16,
}

impl Splitter {
    /// Takes a packet, with the tag that stood beside it, to split it into parts of at most
    /// `longest` bytes. A sender on the same machine may want longer ones, whatever the interface's
    /// MTU: TCP is a stream, so that its parts may be as short as it takes. UDP has to stay whole.
    pub fn take(
        &mut self,
        bytes: &[u8],
        tag: Option<[u8; 4]>,
        offload: Offload,
        longest: usize,
    ) -> Result<(), Unfinished> {
        self.packet.clear();
        self.given = 0;
        self.parts = 0;
        match self.describe(bytes, tag, offload, longest) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.packet.clear();
                Err(error)
            }
        }
    }

    fn describe(
        &mut self,
        bytes: &[u8],
        tag: Option<[u8; 4]>,
        offload: Offload,
        longest: usize,
    ) -> Result<(), Unfinished> {
        let (Some((kind, size)), Some((start, _))) = (offload.split, offload.checksum) else {
            return Err(Unfinished::Malformed);
        };
        let header = bytes.get(..12).ok_or(Unfinished::Malformed)?;
        self.packet.extend(header);
        self.packet.extend(tag.unwrap_or_default().get(..tag.map_or(0, |tag| tag.len())).unwrap_or_default());
        self.packet.extend(&bytes[12..]);
        let packet = &self.packet;
        let l3 = network(packet);
        let l4 = start + packet.len() - bytes.len();
        let version = packet.get(l3).ok_or(Unfinished::Malformed)? >> 4;
        let ip_bytes = match version {
            4 => usize::from(packet[l3] & 15) * 4,
            6 => 40,
            _ => return Err(Unfinished::Kind),
        };
        let wanted = match kind {
            GSO_TCP4 | GSO_TCP6 => TCP,
            GSO_UDP => UDP,
            _ => return Err(Unfinished::Kind),
        };
        if l3 + ip_bytes != l4 || protocol(packet) != Some(wanted) {
            return Err(Unfinished::Kind);
        }
        let l4_bytes = match wanted {
            TCP => usize::from(packet.get(l4 + 12).ok_or(Unfinished::Malformed)? >> 4) * 4,
            _ => 8,
        };
        let shortest = if wanted == TCP { 20 } else { 8 };
        let headers = l4 + l4_bytes;
        if size == 0 || l4_bytes < shortest || headers >= packet.len() || ip_bytes < 20 {
            return Err(Unfinished::Malformed);
        }
        let size = match (wanted, longest.checked_sub(headers)) {
            (TCP, Some(room @ 1..)) => size.min(room),
            (_, Some(room)) if size <= room => size,
            _ => return Err(Unfinished::Long),
        };
        (self.l3, self.l4, self.headers, self.size) = (l3, l4, headers, size);
        Ok(())
    }

    /// True if there are parts left.
    pub fn is_done(&self) -> bool {
        self.headers + self.given >= self.packet.len()
    }

    /// Writes the next part, with all its checksums, and returns its length; `None` after the last
    /// one.
    pub fn next_part(&mut self, into: &mut [u8]) -> Option<usize> {
        if self.is_done() {
            return None;
        }
        let Self { ref packet, l3, l4, headers, size, given, parts } = *self;
        let payload = &packet[headers + given..packet.len().min(headers + given + size)];
        let length = headers + payload.len();
        let part = into.get_mut(..length)?;
        part[..headers].copy_from_slice(&packet[..headers]);
        part[headers..].copy_from_slice(payload);
        let last = headers + given + payload.len() == packet.len();
        let l4_length = (length - l4) as u16;
        let (addresses, protocol) = if part[l3] >> 4 == 4 {
            part[l3 + 2..l3 + 4].copy_from_slice(&((length - l3) as u16).to_be_bytes());
            let number = u16::from_be_bytes([part[l3 + 4], part[l3 + 5]]).wrapping_add(parts);
            part[l3 + 4..l3 + 6].copy_from_slice(&number.to_be_bytes());
            part[l3 + 10..l3 + 12].fill(0);
            let sum = !checksum::sum(&part[l3..l4]);
            part[l3 + 10..l3 + 12].copy_from_slice(&sum.to_le_bytes());
            (l3 + 12..l3 + 20, part[l3 + 9])
        } else {
            part[l3 + 4..l3 + 6].copy_from_slice(&l4_length.to_be_bytes());
            (l3 + 8..l3 + 40, part[l3 + 6])
        };
        let field = l4 + if protocol == TCP { 16 } else { 6 };
        if protocol == TCP {
            let sequence = [part[l4 + 4], part[l4 + 5], part[l4 + 6], part[l4 + 7]];
            let sequence = u32::from_be_bytes(sequence).wrapping_add(given as u32);
            part[l4 + 4..l4 + 8].copy_from_slice(&sequence.to_be_bytes());
            // The end of the data is the last part's, the answer to a mark of congestion the first
            // one's.
            if !last {
                part[l4 + 13] &= !FIN_AND_PSH;
            }
            if parts > 0 {
                part[l4 + 13] &= !CWR;
            }
        } else {
            part[l4 + 4..l4 + 6].copy_from_slice(&l4_length.to_be_bytes());
        }
        part[field..field + 2].fill(0);
        let [a, b] = l4_length.to_be_bytes();
        let pseudo = checksum::sum(&part[addresses]);
        let rest = checksum::sum(&[0, protocol, a, b]);
        let sum = [pseudo, rest, checksum::sum(&part[l4..])].map(u32::from).iter().sum::<u32>();
        let sum = (sum & 0xffff) + (sum >> 16);
        write(part, field, ((sum & 0xffff) + (sum >> 16)) as u16);
        self.given += size;
        self.parts = parts.wrapping_add(1);
        Some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const L4: usize = 34;

    fn header(flags: u8, kind: u8, size: u16, start: u16, offset: u16) -> [u8; HEADER_BYTES] {
        let mut header = [flags, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        for (at, word) in [(4, size), (6, start), (8, offset)] {
            header[at..at + 2].copy_from_slice(&word.to_ne_bytes());
        }
        header
    }

    /// A packet over IPv4 with a payload of `bytes`, and options of TCP.
    fn packet(protocol: u8, bytes: usize) -> Vec<u8> {
        let mut packet = vec![2; 12];
        packet.extend([8, 0]);
        let l4_header = if protocol == TCP { 32 } else { 8 };
        let mut ip = [0x45, 0, 0, 0, 0xff, 0xfe, 0x40, 0, 64, protocol, 0, 0, 10, 0, 1, 2, 20, 0, 0, 9];
        ip[2..4].copy_from_slice(&((20 + l4_header + bytes) as u16).to_be_bytes());
        checksum::write_header(&mut ip);
        packet.extend(ip);
        packet.resize(L4 + l4_header, 0);
        packet[L4..L4 + 8].copy_from_slice(&[0x10, 0, 0x20, 0, 0xff, 0xff, 0xff, 0xf0]);
        if protocol == TCP {
            packet[L4 + 12..L4 + 14].copy_from_slice(&[0x80, 0x99]);
        } else {
            packet[L4 + 4..L4 + 6].copy_from_slice(&((8 + bytes) as u16).to_be_bytes());
        }
        packet.extend((0..bytes).map(|n| (n * 7 + n / 251) as u8));
        packet
    }

    /// True if both checksums of a packet over IPv4 are right.
    fn valid(packet: &[u8]) -> bool {
        let l4_bytes = (packet.len() - L4) as u16;
        let [a, b] = l4_bytes.to_be_bytes();
        let mut all = packet[26..34].to_vec();
        all.extend([0, packet[23], a, b]);
        all.extend(&packet[L4..]);
        checksum::sum(&packet[14..34]) == 0xffff
            && checksum::sum(&all) == 0xffff
            && u16::from_be_bytes([packet[16], packet[17]]) as usize == packet.len() - 14
    }

    #[test]
    fn a_checksum_that_was_left_out_is_written() {
        for bytes in [0, 1, 17, 1400] {
            let mut packet = packet(UDP, bytes);
            let [a, b] = ((8 + bytes) as u16).to_be_bytes();
            let pseudo = [&packet[26..34], &[0, UDP, a, b]].concat();
            packet[L4 + 6..L4 + 8].copy_from_slice(&checksum::sum(&pseudo).to_le_bytes());
            assert!(!valid(&packet));
            Offload::parse(header(1, 0, 0, L4 as u16, 6)).finish(&mut packet).unwrap();
            assert!(valid(&packet), "{bytes} bytes");
        }
        let outside = Offload::parse(header(1, 0, 0, 60, 16));
        assert_eq!(outside.finish(&mut [0; 64]), Err(Unfinished::Malformed));
        assert!(Offload::parse(header(0, 0, 0, 0, 0)).is_none());
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn a_large_packet_is_split_into_valid_ones_with_the_same_content() {
        for (protocol, kind, bytes, tag) in [
            (TCP, GSO_TCP4, 64_000, None),
            (TCP, GSO_TCP4 | GSO_ECN, 2_897, None),
            (TCP, GSO_TCP4, 1_448, None),
            (UDP, GSO_UDP, 5_000, None),
            (TCP, GSO_TCP4, 10_000, Some([0x81, 0, 0, 7])),
        ] {
            let whole = packet(protocol, bytes);
            let offset = if protocol == TCP { 16 } else { 6 };
            let mut splitter = Splitter::default();
            splitter.take(&whole, tag, Offload::parse(header(1, kind, 1448, L4 as u16, offset)), 2048).unwrap();
            let (mut content, mut number, mut part) = (Vec::<u8>::new(), 0, [0; 2048]);
            let headers = whole.len() - bytes;
            while let Some(length) = splitter.next_part(&mut part) {
                let mut plain = part[..length].to_vec();
                if let Some(tag) = tag {
                    assert_eq!(plain.drain(12..16).collect::<Vec<_>>(), tag);
                }
                assert!(valid(&plain), "part {number} of {bytes} bytes");
                assert_eq!(u16::from_be_bytes([plain[18], plain[19]]), 0xfffe_u16.wrapping_add(number));
                if protocol == TCP {
                    let sequence = u32::from_be_bytes(plain[38..42].try_into().unwrap());
                    assert_eq!(sequence, 0xffff_fff0_u32.wrapping_add(u32::from(number) * 1448));
                    let last = splitter.is_done();
                    assert_eq!(plain[47] & FIN_AND_PSH != 0, last);
                    assert_eq!(plain[47] & CWR != 0, number == 0);
                }
                content.extend(&plain[headers..]);
                number += 1;
            }
            assert_eq!(usize::from(number), bytes.div_ceil(1448));
            assert!(content == whole[headers..]);
        }
    }

    #[test]
    fn parts_are_as_short_as_the_interface_wants_them_where_content_is_a_stream() {
        let whole = packet(TCP, 9000);
        let headers = whole.len() - 9000;
        let (mut splitter, mut part) = (Splitter::default(), [0; 2048]);
        splitter.take(&whole, None, Offload::parse(header(1, GSO_TCP4, 8948, L4 as u16, 16)), 1514).unwrap();
        let mut content = Vec::<u8>::new();
        while let Some(length) = splitter.next_part(&mut part) {
            assert!(length <= 1514 && valid(&part[..length]), "{length}");
            content.extend(&part[headers..length]);
        }
        assert!(content == whole[headers..]);
        let offload = Offload::parse(header(1, GSO_UDP, 8948, L4 as u16, 6));
        assert_eq!(splitter.take(&packet(UDP, 9000), None, offload, 1514), Err(Unfinished::Long));
        let offload = Offload::parse(header(1, GSO_TCP4, 8948, L4 as u16, 16));
        assert_eq!(splitter.take(&whole, None, offload, headers), Err(Unfinished::Long));
    }

    #[test]
    fn what_cannot_be_split_is_named() {
        let mut splitter = Splitter::default();
        let whole = packet(TCP, 9000);
        for (header, expected) in [
            (header(1, GSO_TCP4, 0, L4 as u16, 16), Unfinished::Malformed),
            (header(0, GSO_TCP4, 1448, L4 as u16, 16), Unfinished::Malformed),
            (header(1, GSO_TCP4, 1448, 84, 16), Unfinished::Kind),
            (header(1, 3, 1448, L4 as u16, 16), Unfinished::Kind),
            (header(1, GSO_UDP, 1448, L4 as u16, 6), Unfinished::Kind),
        ] {
            assert_eq!(splitter.take(&whole, None, Offload::parse(header), 2048), Err(expected), "{header:?}");
            assert_eq!(splitter.next_part(&mut [0; 2048]), None);
        }
        for length in 0..whole.len().min(80) {
            let offload = Offload::parse(header(1, GSO_TCP4, 1448, L4 as u16, 16));
            let _ = splitter.take(&whole[..length], None, offload, 2048);
            let _ = splitter.next_part(&mut [0; 2048]);
        }
    }

    #[test]
    fn a_checksum_that_the_sender_left_out_is_noticed_without_a_header() {
        // UDP over IPv4, 12 bytes of payload.
        let mut packet = vec![2; 14];
        packet[12..14].copy_from_slice(&[8, 0]);
        packet.extend([0x45, 0, 0, 40, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 1, 2, 10, 0, 2, 2]);
        packet.extend([0x10, 0, 0x20, 0, 0, 20, 0, 0]);
        packet.extend([7; 12]);
        let pseudo = [10, 0, 1, 2, 10, 0, 2, 2, 0, 17, 0, 20];
        assert!(Offload::left_by_sender(&packet).is_none(), "UDP may have no checksum");
        packet[40..42].copy_from_slice(&checksum::sum(&pseudo).to_le_bytes());
        let offload = Offload::left_by_sender(&packet);
        let mut finished = packet.clone();
        offload.finish(&mut finished).unwrap();
        assert_ne!(finished, packet);
        assert_eq!(checksum::sum(&[&pseudo[..], &finished[34..]].concat()), 0xffff);
        assert!(Offload::left_by_sender(&finished).is_none(), "what is complete stays");
        packet[20] = 0x20;
        assert!(Offload::left_by_sender(&packet).is_none(), "a fragment has no whole checksum");
        for length in 0..packet.len() {
            let _ = Offload::left_by_sender(&packet[..length]);
        }
    }
}
