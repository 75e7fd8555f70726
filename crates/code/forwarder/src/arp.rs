//! ARP packets for IPv4 over Ethernet (RFC 826).

use std::net::Ipv4Addr;

use dataplane::buffers::DATA_BYTES;
use dataplane::mac::Mac;

/// The operation of a request.
pub const REQUEST: u8 = 1;
/// The operation of an answer.
pub const REPLY: u8 = 2;
/// Bytes of a packet: the least that Ethernet takes, without the frame check sequence.
pub const PACKET_BYTES: u16 = 60;

/// The place where the message starts, and its bytes.
const AT: usize = 14;
const BYTES: usize = 28;
/// Ethernet, IPv4, and the lengths of their addresses.
const KIND: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// Writes a packet of [`PACKET_BYTES`] from a sender to an Ethernet address.
pub fn write(data: &mut [u8; DATA_BYTES], operation: u8, to: Mac, sender: (Mac, [u8; 4]), target: (Mac, [u8; 4])) {
    data[..64].fill(0);
    data[..6].copy_from_slice(&to.0);
    data[6..12].copy_from_slice(&sender.0.0);
    data[12..14].copy_from_slice(&[0x08, 0x06]);
    data[AT..AT + 6].copy_from_slice(&KIND);
    data[AT + 7] = operation;
    data[AT + 8..AT + 14].copy_from_slice(&sender.0.0);
    data[AT + 14..AT + 18].copy_from_slice(&sender.1);
    data[AT + 18..AT + 24].copy_from_slice(&target.0.0);
    data[AT + 24..AT + 28].copy_from_slice(&target.1);
}

/// The fields of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// [`REQUEST`] or [`REPLY`].
    pub operation: u8,
    /// The sender's Ethernet address.
    pub sender: Mac,
    /// The sender's address; 0.0.0.0 if it has none yet.
    pub sender_address: Ipv4Addr,
    /// Whom it asks for, or answers.
    pub target_address: Ipv4Addr,
}

impl Message {
    /// Reads a packet, from its Ethernet header on; `None` if it is not one that this module
    /// writes, too.
    pub fn read(packet: &[u8]) -> Option<Self> {
        let message = packet.get(AT..AT + BYTES)?;
        let address = |at: usize| Ipv4Addr::new(message[at], message[at + 1], message[at + 2], message[at + 3]);
        let sender = Mac([message[8], message[9], message[10], message[11], message[12], message[13]]);
        let operation = message[7];
        let is_right = message[..6] == KIND && message[6] == 0 && matches!(operation, REQUEST | REPLY);
        (is_right && !sender.is_group_or_zero()).then(|| Self {
            operation,
            sender,
            sender_address: address(14),
            target_address: address(24),
        })
    }
}
