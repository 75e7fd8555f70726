//! Ethernet addresses.

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
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

impl std::str::FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no Ethernet address: it must look like 02:fe:00:00:00:01");
        let mut mac = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut mac {
            let part = parts
                .next()
                .filter(|part| part.len() == 2)
                .ok_or_else(wrong)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
        }
        if parts.next().is_some() {
            Err(wrong())
        } else {
            Ok(Self(mac))
        }
    }
}
