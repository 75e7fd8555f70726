//! The published clocks of a data plane's nodes.

use document::{Error, Spanned};
use experiment::Files;
use serde::Deserialize;

/// The clocks of a node.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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

/// Figures of nodes on a platform.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeReference {
    /// The source.
    pub source: String,
    /// The platform's name.
    pub platform: String,
    /// The figures, in the file's order.
    pub figures: Vec<NodeFigure>,
}

#[derive(Deserialize)]
struct Description {
    source: String,
    platform: String,
}

/// Name of the files, without their endings.
pub const NODE_CLOCKS: &str = "dataplane-runtime";

impl NodeReference {
    /// Reads what nodes took.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let Description { source, platform } =
            files.document(&format!("{NODE_CLOCKS}.toml"))?.read()?;
        let document = files.document(&format!("{NODE_CLOCKS}.csv"))?;
        let is_right = |value: f64| value.is_finite() && value > 0.0;
        let checked = |row: Spanned<NodeFigure>| {
            let of = row.get_ref();
            let right = "clocks and slide_ns must be greater than 0";
            match is_right(of.slide_ns) && is_right(of.clocks) {
                true => Ok(row.into_inner()),
                false => Err(document.wrong(row.span(), "no figure", right)),
            }
        };
        let rows = document.rows()?.into_iter();
        Ok(Self {
            figures: rows.map(checked).collect::<Result<_, _>>()?,
            source,
            platform,
        })
    }
}
