//! The stride study of the data plane.

use crate::read::{positive, table};
use document::Result;
use experiment::{Conditions, Files};
use serde::Deserialize;

/// A published cell of the stride study.
pub struct StrideCell {
    /// Loop of the cell, as published: `single`, `dual`, `single-split`.
    pub loop_name: String,
    /// S1, iterations ahead for the metadata's line.
    pub stride_first: usize,
    /// S2, iterations ahead for the data's line.
    pub stride_second: usize,
    /// Ticks of the counter per packet.
    pub ticks: f64,
    /// Millions of packets per second over the whole path, of which the loop is a part.
    pub mpps: f64,
    /// True if a fit may use it.
    pub may_be_fitted: bool,
}

impl StrideCell {
    /// `single+3`, `single-split+2/13`.
    pub fn label(&self) -> String {
        let Self {
            loop_name,
            stride_first,
            stride_second,
            ..
        } = self;
        if stride_first == stride_second {
            format!("{loop_name}+{stride_first}")
        } else {
            format!("{loop_name}+{stride_first}/{stride_second}")
        }
    }
}

/// The published stride study of a platform.
pub struct StrideReference {
    /// The platform's name.
    pub platform: String,
    /// The figures, in the file's order.
    pub cells: Vec<StrideCell>,
}

#[derive(Deserialize)]
struct Description {
    platform: String,
    fit: Fit,
    #[serde(skip)]
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Fit {
    loops: Vec<String>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "loop")]
    loop_name: String,
    stride_first: usize,
    /// As the first where none is given.
    stride_second: Option<usize>,
    #[serde(deserialize_with = "positive")]
    mpps: f64,
    #[serde(deserialize_with = "positive")]
    clocks_per_packet: f64,
}

/// Name of the study's files, without their endings.
pub const STRIDES: &str = "dataplane-prefetch";

impl StrideReference {
    /// Reads the published stride tables and what a fit may see of them, if there are any.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn find(files: &dyn Files) -> Result<Option<Self>> {
        let Some(read) = table(files, STRIDES, |of: &mut Description| &mut of.rows)? else {
            return Ok(None);
        };
        let cell = |row: Row| StrideCell {
            may_be_fitted: read.fit.loops.contains(&row.loop_name),
            loop_name: row.loop_name,
            stride_first: row.stride_first,
            stride_second: row.stride_second.unwrap_or(row.stride_first),
            ticks: row.clocks_per_packet,
            mpps: row.mpps,
        };
        Ok(Some(Self {
            cells: read.rows.into_iter().map(cell).collect(),
            platform: read.platform,
        }))
    }

    /// Reads the stride tables of a platform, if there are any.
    ///
    /// # Errors
    /// As [`StrideReference::find`].
    pub fn for_platform(files: &dyn Files, platform: &str) -> Result<Option<Self>> {
        Ok(Self::find(files)?.filter(|reference| reference.platform == platform))
    }

    /// The cells that were measured: what a prediction is asked for. No figure is among it.
    pub fn conditions(&self, conditions: &mut Conditions) {
        conditions.add(
            "stride-cells",
            &[&self.platform],
            self.cells.iter().map(StrideCell::label),
        );
    }
}
