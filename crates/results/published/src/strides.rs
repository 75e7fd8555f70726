//! The stride study of the data plane.

use crate::{figures, if_there, is_positive};
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
}

#[derive(Deserialize)]
struct Fit {
    loops: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(rename = "loop")]
    loop_name: String,
    stride_first: usize,
    /// As the first where none is given.
    stride_second: Option<usize>,
    mpps: f64,
    clocks_per_packet: f64,
}

/// Name of the study's files, without their endings.
pub const STRIDES: &str = "dataplane-prefetch";

fn wrong(row: &Row) -> Option<(String, &'static str)> {
    if !matches!(row.loop_name.as_str(), "single" | "single-split" | "dual") {
        let message = format!("`{}` is no loop", row.loop_name);
        return Some((message, "a loop is single, single-split or dual"));
    }
    if !is_positive(row.clocks_per_packet) {
        let message = format!("{} clocks per packet", row.clocks_per_packet);
        return Some((message, "clocks_per_packet must be greater than 0"));
    }
    let message = format!("{} Mpps", row.mpps);
    (!is_positive(row.mpps)).then_some((message, "mpps must be greater than 0"))
}

impl StrideReference {
    /// Reads the published stride tables and what a fit may see of them.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn read(files: &dyn Files) -> Result<Self> {
        let description: Description = files.document(&format!("{STRIDES}.toml"))?.read()?;
        let rows = figures(files, &format!("{STRIDES}.csv"), wrong)?;
        let cell = |row: Row| StrideCell {
            may_be_fitted: description.fit.loops.contains(&row.loop_name),
            loop_name: row.loop_name,
            stride_first: row.stride_first,
            stride_second: row.stride_second.unwrap_or(row.stride_first),
            ticks: row.clocks_per_packet,
            mpps: row.mpps,
        };
        let cells = rows.into_iter().map(cell).collect();
        Ok(Self {
            cells,
            platform: description.platform,
        })
    }

    /// Reads the stride tables of a platform, if there are any.
    ///
    /// # Errors
    /// As [`StrideReference::read`].
    pub fn for_platform(files: &dyn Files, platform: &str) -> Result<Option<Self>> {
        Ok(
            if_there(files, STRIDES, Self::read)?
                .filter(|reference| reference.platform == platform),
        )
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
