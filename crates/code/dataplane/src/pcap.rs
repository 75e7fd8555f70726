//! Capture files in the classic format, with either byte order and either resolution.

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const ETHERNET: u32 = 1;
const FILE_HEADER: usize = 24;
const PACKET_HEADER: usize = 16;
/// No capture has longer packets; a longer one shows that the file is damaged.
const LONGEST: usize = 256 * 1024;

/// Why a capture file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The first bytes are not those of a capture file.
    #[error(
        "not a capture file: the first four bytes must be a1b2c3d4 or a1b23c4d in either order (pcapng is not read)"
    )]
    NotACapture,
    /// The packets are not Ethernet.
    #[error("link type {0}; only Ethernet (1) is read")]
    LinkType(u32),
    /// The file ends within a packet; the offset of its header.
    #[error("the file ends within the packet at byte {0}")]
    CutShort(usize),
    /// A packet says that it is longer than any; the offset of its header.
    #[error("the packet at byte {0} says that it has more than {LONGEST} bytes")]
    Damaged(usize),
}

/// The packets of a capture file.
pub fn read(file: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let word = |at: usize| -> Option<[u8; 4]> { file.get(at..at + 4)?.try_into().ok() };
    let magic = word(0).ok_or(Error::NotACapture)?;
    let number: fn([u8; 4]) -> u32 =
        if matches!(u32::from_le_bytes(magic), MICROSECONDS | NANOSECONDS) {
            u32::from_le_bytes
        } else if matches!(u32::from_be_bytes(magic), MICROSECONDS | NANOSECONDS) {
            u32::from_be_bytes
        } else {
            return Err(Error::NotACapture);
        };
    let link = number(word(20).ok_or(Error::NotACapture)?) & 0xffff;
    if link != ETHERNET {
        return Err(Error::LinkType(link));
    }
    let mut packets = Vec::new();
    let mut at = FILE_HEADER;
    while at < file.len() {
        let length = number(word(at + 8).ok_or(Error::CutShort(at))?) as usize;
        if length > LONGEST {
            return Err(Error::Damaged(at));
        }
        let from = at + PACKET_HEADER;
        packets.push(
            file.get(from..from + length)
                .ok_or(Error::CutShort(at))?
                .to_vec(),
        );
        at = from + length;
    }
    Ok(packets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a capture file with these packets.
    fn write<'a>(packets: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let header = [
            [2, 0, 4, 0],
            [0; 4],
            [0; 4],
            (LONGEST as u32).to_le_bytes(),
            ETHERNET.to_le_bytes(),
        ];
        let mut file = [&MICROSECONDS.to_le_bytes()[..], header.as_flattened()].concat();
        for packet in packets {
            let length = (packet.len() as u32).to_le_bytes();
            file.extend([[0; 4], [0; 4], length, length].as_flattened());
            file.extend(packet);
        }
        file
    }

    fn file() -> Vec<u8> {
        write([&[1, 2, 3][..], &[]])
    }

    #[test]
    fn what_was_written_is_read() {
        assert_eq!(read(&file()).unwrap(), [vec![1, 2, 3], vec![]]);
    }

    #[test]
    fn the_other_byte_order_is_read() {
        let mut swapped = file();
        for at in [0, 16, 20, 24 + 8, 24 + 12, 24 + 19 + 8] {
            swapped[at..at + 4].reverse();
        }
        assert_eq!(read(&swapped).unwrap(), [vec![1, 2, 3], vec![]]);
    }

    #[test]
    fn damage_is_named_at_every_length() {
        let whole = file();
        for keep in 0..whole.len() {
            let result = read(&whole[..keep]);
            match keep {
                0..24 => assert_eq!(result, Err(Error::NotACapture), "{keep}"),
                24 | 43 => assert!(result.is_ok(), "{keep}"),
                25..43 => assert_eq!(result, Err(Error::CutShort(24)), "{keep}"),
                _ => assert_eq!(result, Err(Error::CutShort(43)), "{keep}"),
            }
        }
        let mut giant = whole.clone();
        giant[24 + 8..24 + 12].fill(0xff);
        assert_eq!(read(&giant), Err(Error::Damaged(24)));
        let mut link = whole;
        link[20] = 113;
        assert_eq!(read(&link), Err(Error::LinkType(113)));
    }
}
