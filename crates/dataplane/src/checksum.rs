//! The Internet checksum.

/// The sum of a header of 20 bytes, folded to 16 bits, in the order of the bytes in memory: 0xffff if its checksum is right.
#[inline(always)]
pub fn header_sum(header: &[u8; 20]) -> u16 {
    let word = |at: usize| u64::from(u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]));
    fold(word(0) + word(4) + word(8) + word(12) + word(16))
}

/// The sum of any number of bytes, folded to 16 bits, in the order of the bytes in memory.
pub fn sum(bytes: &[u8]) -> u16 {
    let pairs = bytes.chunks(2).map(|pair| u64::from(u16::from_le_bytes([pair[0], *pair.get(1).unwrap_or(&0)])));
    fold(pairs.sum())
}

/// Writes the checksum of a header of 20 bytes into it.
pub fn write_header(header: &mut [u8; 20]) {
    header[10..12].fill(0);
    let sum = !header_sum(header);
    header[10..12].copy_from_slice(&sum.to_le_bytes());
}

/// The checksum after the TTL was decremented (RFC 1624, for a difference of 0x0100): the same bits as a fresh one, so zero is
/// never written as 0xffff.
#[inline(always)]
pub fn after_ttl_decrement(checksum: [u8; 2]) -> [u8; 2] {
    let sum = u32::from(u16::from_be_bytes(checksum)) + 0x0100;
    ((sum + u32::from(sum >= 0xffff)) as u16).to_be_bytes()
}

#[inline(always)]
fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with a given TTL and identification.
    fn header(ttl: u8, id: u16) -> [u8; 20] {
        let mut header = [0x45, 0, 0, 46, 0, 0, 0, 0, ttl, 17, 0, 0, 10, 0, 0, 1, 10, 1, 0, 1];
        header[4..6].copy_from_slice(&id.to_be_bytes());
        write_header(&mut header);
        header
    }

    #[test]
    fn an_incremental_checksum_equals_a_fresh_one_for_every_identification_and_ttl() {
        for id in 0..=u16::MAX {
            let ttl = (id % 255) as u8 + 1;
            let before = header(ttl, id);
            let fresh = header(ttl - 1, id);
            let incremental = after_ttl_decrement([before[10], before[11]]);
            let mut after = before;
            after[8] -= 1;
            after[10..12].copy_from_slice(&incremental);
            assert_eq!(header_sum(&after), 0xffff, "ttl {ttl}, id {id}");
            assert_eq!(after, fresh, "ttl {ttl}, id {id}");
        }
    }

    #[test]
    fn both_sums_agree() {
        let header = header(64, 12345);
        assert_eq!(sum(&header), 0xffff);
        assert_eq!(header_sum(&header), 0xffff);
        assert_eq!(sum(&[1]), 1);
    }
}
