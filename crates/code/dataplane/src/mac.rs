//! Ethernet addresses.

/// An Ethernet address.
#[derive(Clone, Copy)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The address as the low 48 bits of a number, first byte lowest: as a load from a packet gives
    /// it.
    pub fn bits(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }
}

impl std::fmt::Display for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
