use super::Facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A graph at full load.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct GraphLoad {
    /// The graph's name.
    pub graph: String,
    /// Packets of a frame.
    pub frame_size: u64,
    /// The loop of its nodes.
    #[serde(rename = "loop")]
    pub shape: String,
    /// Prefetch strides of headers and of data, such as `4/4`.
    pub strides: String,
    /// Buffers that packets lie in.
    pub buffers: u64,
    /// `hot` where each buffer is reused at once, `cycle` where all take turns.
    pub reuse: String,
    /// Routes of the table.
    pub routes: u64,
    /// Interfaces that packets leave by.
    pub outputs: u64,
    /// Flows that packets belong to.
    pub flows: u64,
    /// Packets a second that come to each worker; 0 where they are there whenever they are asked
    /// for.
    #[serde(default)]
    pub rate: u64,
    /// Packets that wait for a worker at most; 0 where they do not wait.
    #[serde(default)]
    pub ring: u64,
    /// Threads.
    pub workers: u64,
    /// True if header checksums are verified.
    pub checksum: bool,
    /// The source of packets.
    pub driver: String,
    /// The packets, where they are not the generator's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<String>,
    /// The shared objects that nodes are from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<String>,
    /// Traces of the first packets, where any were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

impl Facts for GraphLoad {
    const ARE_SETTINGS: bool = true;
}

/// A driver of interfaces.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Driver {
    /// Name of the driver.
    pub name: String,
    /// The mode in which it ran, in words; may be empty.
    pub mode: String,
}

/// The stride study, or the study of frame sizes.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct Study {
    /// Packets of a frame; 0 where it is varied.
    pub frame_size: u64,
    /// Frames of a measurement.
    pub frames: u64,
    /// Buffers that packets lie in; `None` on a modelled core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers: Option<u64>,
    /// Rounds of work per packet; `None` on a modelled core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// `chained`, or `independent` where no round waits for the one before.
    pub work: String,
    /// The place of metadata before a frame: `dram`, or a level of cache.
    pub header_in: String,
    /// The place of packet data before a frame.
    pub data_in: String,
}

impl Facts for Study {
    const ARE_SETTINGS: bool = true;
}
