//! Measurements from elsewhere, as a recording like any other.
//!
//! Three kinds of text are read: the UART log of the Trusted Firmware-A test framework
//! ([`rt_instr`]), the tables of reStructuredText documents ([`rst`]) and CSV ([`csv_table`]). Each
//! yields [`Figures`]; [`record`] makes the recording of them. [`nodes`] reads what VPP, rte_graph
//! and grout print of their nodes, [`cpuidle`] the kernel's counts of idle states. Cases, modes and metrics
//! get the names that simulated recordings use, so that both can be compared.
//!
//! Input is hostile until read: whatever the bytes are, the answer is figures or an [`ImportError`]
//! that names the file and the line and says what would be right. Memory grows with the number of
//! figures and not with what lies between them.
#![forbid(unsafe_code)]

pub mod cpuidle;
mod csv_table;
mod error;
mod figures;
pub mod ftrace;
mod names;
pub mod nodes;
mod packed;
mod rows;
mod rst;
mod rt_instr;
mod runs;
pub mod samples;
mod text;

pub use csv_table::{csv_table, csv_tables};
pub use error::ImportError;
pub use figures::{Figure, Figures, record};
pub use packed::{open, shown};
pub use rst::rst;
pub use rt_instr::rt_instr;
pub use text::text;

use std::path::PathBuf;

/// Options for reading a text.
#[derive(Clone, Default)]
pub struct Options {
    /// The file's name, for errors and for the recording.
    pub file: String,
    /// Release or configuration of figures that name none.
    pub variant: String,
    /// The text put before a release that the text names: `juno-` makes `juno-v2.12` of `v2.12`.
    pub prefix: String,
    /// Unit of an RST document's tables, whatever they say; `None` where they say it.
    pub unit: Option<String>,
    /// Text of a heading: only tables of an RST document below such a heading are read; `None` for
    /// all.
    pub section: Option<String>,
    /// Cluster and core of each CPU of the platform, by the CPU's number; `None` where no platform
    /// is known.
    pub cpus: Option<Vec<(u16, u16)>>,
    /// Folder of the document, where its tables may be in files; `None` where it is not known.
    pub beside: Option<PathBuf>,
    /// True if what is malformed is left out with a warning.
    pub lenient: bool,
}
