//! The stride study of the data plane.

use crate::error::{Error, parse};
use experiment::{Conditions, Files};
use serde::Deserialize;

/// A published cell of the stride study.
#[derive(Clone, Debug, PartialEq)]
pub struct StrideCell {
    /// Its loop as published: `single`, `dual`, `single-split`.
    pub loop_name: String,
    /// S1, iterations ahead for the metadata's line.
    pub stride_first: usize,
    /// S2, iterations ahead for the data's line.
    pub stride_second: usize,
    /// Ticks of the counter per packet.
    pub ticks: f64,
    /// Whether a fit may use it.
    pub may_be_fitted: bool,
}

impl StrideCell {
    /// `single+3`, `single-split+2/13`.
    pub fn label(&self) -> String {
        let Self { loop_name, stride_first, stride_second, .. } = self;
        match stride_first == stride_second {
            true => format!("{loop_name}+{stride_first}"),
            false => format!("{loop_name}+{stride_first}/{stride_second}"),
        }
    }
}

/// The published stride study of a platform.
#[derive(Clone, Debug, PartialEq)]
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
    /// The published clocks say the same.
    #[serde(rename = "mpps")]
    _mpps: f64,
    clocks_per_packet: f64,
}

/// Name of the study's files, without their endings.
pub const STRIDES: &str = "dataplane-prefetch";

impl StrideReference {
    /// Reads the published stride tables and what a fit may see of them.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let path = format!("{STRIDES}.toml");
        let description: Description = parse(files, &path)?;
        let path = format!("{STRIDES}.csv");
        let text = files.read(&path)?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows = reader.deserialize::<Row>().zip(2..);
        let cells = rows.map(|(row, line)| {
            let wrong = |message: String| Error::Line { path: files.shown(&path), line, message };
            let row = row.map_err(|error| wrong(error.to_string()))?;
            if !matches!(row.loop_name.as_str(), "single" | "single-split" | "dual") {
                return Err(wrong(format!("`{}` is no loop: single, single-split or dual", row.loop_name)));
            }
            if !(row.clocks_per_packet.is_finite() && row.clocks_per_packet > 0.0) {
                return Err(wrong("clocks_per_packet must be greater than 0".to_owned()));
            }
            Ok(StrideCell {
                may_be_fitted: description.fit.loops.contains(&row.loop_name),
                loop_name: row.loop_name,
                stride_first: row.stride_first,
                stride_second: row.stride_second.unwrap_or(row.stride_first),
                ticks: row.clocks_per_packet,
            })
        });
        Ok(Self { cells: cells.collect::<Result<_, _>>()?, platform: description.platform })
    }

    /// Which cells were measured: what a prediction is asked for. No figure is among it.
    pub fn conditions(&self, conditions: &mut Conditions) {
        conditions.add("stride-cells", &[&self.platform], self.cells.iter().map(StrideCell::label));
    }
}
