//! The published clocks of a data plane's nodes, and the footprint of a frame.

use crate::{figures, is_positive};
use document::Result;
use experiment::Files;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The clocks of a node.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeFigure {
    /// Name of the node in the document.
    pub node: String,
    /// `active` or `polling`.
    pub state: String,
    /// Calls, those without packets among them.
    pub calls: u64,
    /// Packets.
    pub vectors: u64,
    /// Times that it suspended itself.
    pub suspends: u64,
    /// Ticks of the counter for each packet.
    pub clocks: f64,
    /// Packets for each call as printed; damaged in some rows, so vectors and calls count.
    pub vectors_per_call_printed: f64,
    /// Nanoseconds for each packet.
    pub slide_ns: f64,
}

/// The footprint of a frame's packets in the caches, in KB of 1024 bytes.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FootprintFigure {
    /// Packets of the frame.
    pub frame_size: u64,
    /// Indices of 4 bytes.
    pub vector_4b_kb: f64,
    /// Descriptors of 32 bytes.
    pub descriptor_32b_kb: f64,
    /// Buffers' lines of metadata and data, 128 bytes.
    pub buffer_128b_kb: f64,
}

/// Figures of a data plane on a platform.
#[derive(Clone, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct DataplaneReference<F> {
    /// The title.
    pub title: String,
    /// The source.
    pub source: String,
    /// The platform's name.
    pub platform: String,
    /// The note about them; may be empty.
    #[serde(default)]
    pub note: String,
    /// The figures, in the file's order.
    #[serde(skip)]
    pub figures: Vec<F>,
}

/// Names of the files, without their endings.
pub const NODE_CLOCKS: &str = "dataplane-runtime";
/// As above, of the bytes that a frame touches.
pub const FOOTPRINT: &str = "dataplane-footprint";

impl<F: DeserializeOwned> DataplaneReference<F> {
    fn read(
        files: &dyn Files,
        name: &str,
        right: &'static str,
        is_right: fn(&F) -> bool,
    ) -> Result<Self> {
        let mut read: Self = files.document(&format!("{name}.toml"))?.read()?;
        read.figures = figures(files, &format!("{name}.csv"), |row| {
            (!is_right(row)).then(|| ("no figure".to_owned(), right))
        })?;
        Ok(read)
    }
}

impl DataplaneReference<NodeFigure> {
    /// Reads what nodes took.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn read_nodes(files: &dyn Files) -> Result<Self> {
        Self::read(
            files,
            NODE_CLOCKS,
            "clocks and slide_ns must be greater than 0",
            |row| is_positive(row.slide_ns) && is_positive(row.clocks),
        )
    }
}

impl DataplaneReference<FootprintFigure> {
    /// Reads what a frame touches.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn read_footprint(files: &dyn Files) -> Result<Self> {
        Self::read(
            files,
            FOOTPRINT,
            "frame_size must be greater than 0",
            |row| row.frame_size > 0,
        )
    }
}
