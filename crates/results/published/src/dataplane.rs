//! The published clocks of a data plane's nodes, and the footprint of a frame.

use document::Result;
use experiment::Files;
use serde::Deserialize;

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
#[derive(Clone)]
pub struct DataplaneReference<F> {
    /// The title.
    pub title: String,
    /// The source.
    pub source: String,
    /// The platform's name.
    pub platform: String,
    /// The note about them; may be empty.
    pub note: String,
    /// The figures, in the file's order.
    pub figures: Vec<F>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    title: String,
    source: String,
    platform: String,
    #[serde(default)]
    note: String,
}

/// Names of the files, without their endings.
pub const NODE_CLOCKS: &str = "dataplane-runtime";
/// As above, of the bytes that a frame touches.
pub const FOOTPRINT: &str = "dataplane-footprint";

impl<F: for<'de> Deserialize<'de>> DataplaneReference<F> {
    fn read(files: &dyn Files, name: &str, right: &str, is_right: fn(&F) -> bool) -> Result<Self> {
        let Description {
            title,
            source,
            platform,
            note,
        } = files.document(&format!("{name}.toml"))?.read()?;
        let document = files.document(&format!("{name}.csv"))?;
        let figures = document
            .rows()?
            .into_iter()
            .map(|row| {
                if is_right(row.get_ref()) {
                    Ok(row.into_inner())
                } else {
                    Err(document.wrong(row.span(), "no figure", right))
                }
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            figures,
            title,
            source,
            platform,
            note,
        })
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
            |row| {
                row.slide_ns.is_finite()
                    && row.slide_ns > 0.0
                    && row.clocks.is_finite()
                    && row.clocks > 0.0
            },
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
