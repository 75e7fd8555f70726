//! The Internet checksum.

use std::hint::{black_box, cold_path};

/// The largest [`header_product`] of a header whose checksum is valid. It is the number of
/// multiples of 0xffff below 2^64.
pub const LARGEST_VALID_PRODUCT: u64 = u64::MAX / 0xffff;

/// For a header of 20 bytes that are not all zero, given as numbers with the first byte lowest: at
/// most [`LARGEST_VALID_PRODUCT`] if its checksum is valid, else more.
#[inline(always)]
pub fn header_product(first: u64, second: u64, third: u32) -> u64 {
    // Adding with the carry brought round is adding modulo 2^64 - 1, which 0xffff divides: the sum
    // of the 16-bit words modulo 0xffff stays in it, and is zero if the checksum is right.
    let (sum, carry) = first.overflowing_add(second);
    let (sum, again) = sum.overflowing_add(u64::from(third) + u64::from(carry));
    let sum = sum + u64::from(again);
    // The inverse of 0xffff modulo 2^64 maps its multiples, and nothing else, to what they are
    // multiples of.
    sum.wrapping_mul(LARGEST_VALID_PRODUCT.wrapping_neg())
}

/// The sum of any number of bytes, folded to 16 bits, in the order of the bytes in memory.
pub fn sum(bytes: &[u8]) -> u16 {
    let pairs = bytes
        .chunks(2)
        .map(|pair| u64::from(u16::from_le_bytes([pair[0], *pair.get(1).unwrap_or(&0)])));
    fold(pairs.sum())
}

/// Writes the checksum of a header of 20 bytes into it.
pub fn write_header(header: &mut [u8; 20]) {
    header[10..12].fill(0);
    let sum = !sum(header);
    header[10..12].copy_from_slice(&sum.to_le_bytes());
}

/// The four bytes from the TTL to the checksum, as a number with the first byte lowest, after a TTL
/// of 1 or more was decremented (RFC 1624, for a difference of 0x0100): the same bits as a fresh
/// checksum, so zero is never written as 0xffff.
#[inline(always)]
pub fn decrement_ttl(word: u32) -> u32 {
    // One less at the bottom, one more at the top; and once more where the top reaches 0xffff or
    // passes it, which is rare: a branch is cheaper than the arithmetic of a carry.
    if word > 0xfffe_0000 {
        cold_path();
        return black_box(word).wrapping_add(0x1_ffff);
    }
    word.wrapping_add(0xffff)
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
        let mut header = [
            0x45, 0, 0, 46, 0, 0, 0, 0, ttl, 17, 0, 0, 10, 0, 0, 1, 10, 1, 0, 1,
        ];
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
            let word = decrement_ttl(u32::from_le_bytes(before[8..12].try_into().unwrap()));
            let mut after = before;
            after[8..12].copy_from_slice(&word.to_le_bytes());
            assert_eq!(sum(&after), 0xffff, "ttl {ttl}, id {id}");
            assert_eq!(after, fresh, "ttl {ttl}, id {id}");
        }
    }

    fn product(header: &[u8; 20]) -> u64 {
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
        header_product(word(0), word(8), (word(12) >> 32) as u32)
    }

    #[test]
    fn both_sums_agree() {
        let header = header(64, 12345);
        assert_eq!(sum(&header), 0xffff);
        assert_eq!(sum(&[1]), 1);
        for (at, bit) in (0..20).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut damaged = header;
            damaged[at] ^= 1 << bit;
            assert!(
                product(&damaged) > LARGEST_VALID_PRODUCT,
                "byte {at}, bit {bit}"
            );
        }
        for id in 0..=u16::MAX {
            let mut any = header;
            any[4..6].copy_from_slice(&id.to_be_bytes());
            assert_eq!(
                product(&any) <= LARGEST_VALID_PRODUCT,
                sum(&any) == 0xffff,
                "id {id}"
            );
            write_header(&mut any);
            assert!(product(&any) <= LARGEST_VALID_PRODUCT, "id {id}");
        }
    }
}
