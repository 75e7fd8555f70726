//! The nodes at which packets leave the graph.

use crate::arcs::{FIRST_ARC, Verdict};
use crate::frame::Frame;
use crate::node::Node;
use crate::plane::Plane;
use crate::trace::ethernet_line;

/// Counts what goes out of an interface. Arcs: drop, punt, the interface's tx.
pub struct InterfaceOutput {
    interface: u16,
    name: String,
}

impl InterfaceOutput {
    /// The output node of an interface.
    pub fn new(plane: &Plane, interface: u16) -> Self {
        Self {
            interface,
            name: format!("{}-output", plane.interfaces[interface as usize].name),
        }
    }
}

impl Node for InterfaceOutput {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        // 32 bits hold the bytes of a frame.
        let bytes: u32 = frame.length[..frame.len]
            .iter()
            .map(|length| u32::from(*length))
            .sum();
        plane.interfaces[self.interface as usize]
            .tx
            .add(frame.len as u64, bytes.into());
        Verdict::All(FIRST_ARC)
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        let data = plane.pool.data(frame.buffer[row]);
        vec![
            plane.interfaces[self.interface as usize].name.clone(),
            ethernet_line(data),
        ]
    }
}

/// A device that sends packets.
pub trait Device: Send {
    /// Sends a frame's packets, in order; returns how many it took, usually the first ones. It does
    /// not free buffers.
    fn send(&mut self, plane: &mut Plane, frame: &Frame) -> usize;
}

/// A device that takes everything and keeps nothing.
pub struct Discard;

impl Device for Discard {
    fn send(&mut self, _plane: &mut Plane, frame: &Frame) -> usize {
        frame.len
    }
}

/// Hands packets to a device and frees them.
pub struct InterfaceTx {
    interface: u16,
    name: String,
    device: Box<dyn Device>,
}

impl InterfaceTx {
    /// The tx node of an interface.
    pub fn new(plane: &Plane, interface: u16, device: Box<dyn Device>) -> Self {
        Self {
            interface,
            name: format!("{}-tx", plane.interfaces[interface as usize].name),
            device,
        }
    }
}

impl Node for InterfaceTx {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        let sent = self.device.send(plane, frame);
        if sent < frame.len {
            // Bytes as if the last ones were refused: a full queue refuses those.
            let refused = (frame.len - sent) as u64;
            let bytes = frame.length[sent..frame.len]
                .iter()
                .map(|length| u64::from(*length))
                .sum::<u64>();
            let interface = &mut plane.interfaces[self.interface as usize];
            interface.tx_errors += refused;
            interface.tx.packets -= refused;
            interface.tx.bytes -= bytes;
        }
        plane.pool.free(frame.buffers());
        Verdict::Consumed
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        vec![format!(
            "{} length {}",
            plane.interfaces[self.interface as usize].name, frame.length[row]
        )]
    }
}

/// A node at which packets end that no interface sends: they are counted and freed. Their reasons
/// were counted where they were found.
pub enum End {
    /// Drops packets.
    Drop,
    /// Hands packets to the host.
    Punt,
}

impl Node for End {
    fn name(&self) -> &str {
        match self {
            Self::Drop => "error-drop",
            Self::Punt => "error-punt",
        }
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        let interface = &mut plane.interfaces[frame.rx as usize];
        let count = match self {
            Self::Drop => &mut interface.drops,
            Self::Punt => &mut interface.punts,
        };
        *count += frame.len as u64;
        plane.pool.free(frame.buffers());
        Verdict::Consumed
    }

    fn trace(&self, _plane: &Plane, _frame: &Frame, _lane: usize) -> Vec<String> {
        let end = match self {
            Self::Drop => "dropped",
            Self::Punt => "punted",
        };
        vec![end.to_owned()]
    }
}
