//! The stride study of the data plane.

use crate::read::{positive, table};
use document::Result;
use experiment::{Conditions, Files};
use serde::Deserialize;

/// A published cell of the stride study.
#[derive(Deserialize)]
pub struct StrideCell {
    /// Loop of the cell, as published: `single`, `dual`, `single-split`.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// Iterations ahead for the metadata's line, S1.
    pub stride_first: usize,
    /// Those for the data's line, S2: as S1 where none are given.
    pub stride_second: Option<usize>,
    /// Ticks of the counter per packet.
    #[serde(rename = "clocks_per_packet", deserialize_with = "positive")]
    pub ticks: f64,
    /// Millions of packets per second over the whole path, of which the loop is a part.
    #[serde(deserialize_with = "positive")]
    pub mpps: f64,
    /// True if a fit may use it.
    #[serde(skip)]
    pub may_be_fitted: bool,
}

impl StrideCell {
    /// S1 and S2.
    pub fn strides(&self) -> [usize; 2] {
        let first = self.stride_first;
        [first, self.stride_second.unwrap_or(first)]
    }

    /// `single+3`, `single-split+2/13`.
    pub fn label(&self) -> String {
        let (name, [first, second]) = (&self.loop_name, self.strides());
        if first == second {
            format!("{name}+{first}")
        } else {
            format!("{name}+{first}/{second}")
        }
    }
}

/// The published stride study of a platform.
#[derive(Deserialize)]
pub struct StrideReference {
    /// The platform's name.
    pub platform: String,
    /// What a fit may use.
    pub fit: Fit,
    /// The figures, in the file's order.
    #[serde(skip)]
    pub cells: Vec<StrideCell>,
}

#[derive(Default, Deserialize)]
pub struct Fit {
    loops: Vec<String>,
}

/// Name of the study's files, without their endings.
pub const STRIDES: &str = "dataplane-prefetch";

impl StrideReference {
    /// Reads the published stride tables and what a fit may see of them, if there are any.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn find(files: &dyn Files) -> Result<Option<Self>> {
        let mut read = table(files, STRIDES, |of: &mut Self| &mut of.cells)?;
        if let Some(Self { cells, fit, .. }) = &mut read {
            for cell in cells {
                cell.may_be_fitted = fit.loops.contains(&cell.loop_name);
            }
        }
        Ok(read)
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
