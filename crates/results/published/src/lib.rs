//! Published figures with their sources.
//!
//! A reference is a CSV file of figures and a TOML file that says where they come from, under which
//! conditions they were taken and which of them a fit may use. Nothing that predicts may depend on
//! this crate: experiments are told conditions, never figures. The order of the floors holds them
//! apart.
#![forbid(unsafe_code)]

mod calls;
pub mod claims;
mod clocks;
mod dataplane;
mod eas;
mod energy;
mod guess;
mod psci;
mod strides;

pub use calls::{CALLS, CallFigure, CallReference, Implementation};
pub use clocks::{CLOCKS, ClockFigure, ClockReference, DivisionFigure};
pub use dataplane::{DataplaneReference, FOOTPRINT, FootprintFigure, NODE_CLOCKS, NodeFigure};
pub use eas::{EAS, EasFigure, EasReference};
pub use energy::{ENERGY, EnergyFigure, EnergyReference};
pub use psci::{Cell, PsciReference};
pub use strides::{STRIDES, StrideCell, StrideReference};

use document::{Result, Spanned};
use experiment::{Conditions, Files};
use serde::de::DeserializeOwned;

/// The published figures that stand beside those of an experiment.
#[derive(Default)]
pub struct Published {
    /// PSCI latencies, by platform.
    pub psci: Vec<PsciReference>,
    /// Instructions of PSCI calls in other firmware, if there are any.
    pub calls: Option<CallReference>,
    /// The stride study of the data plane, if there is one.
    pub strides: Option<StrideReference>,
    /// The clocks of a data plane's nodes, if there are such figures. No experiment is told
    /// anything of them.
    pub node_clocks: Option<DataplaneReference<NodeFigure>>,
    /// The footprint of a frame, if there are such figures. No experiment is told anything of it.
    pub footprint: Option<DataplaneReference<FootprintFigure>>,
    /// The cost of clocks and divisions in the idle loop, if there are such figures.
    pub clocks: Option<ClockReference>,
    /// The savings of configurations of RCU, if there are such figures. No experiment is told
    /// anything of them.
    pub energy: Option<EnergyReference>,
    /// Energy of small tasks under energy-aware scheduling, if there are such figures. No
    /// experiment is told anything of them.
    pub eas: Option<EasReference>,
}

impl Published {
    /// Reads the figures that stand beside those of an experiment, and no others: the PSCI
    /// latencies, since every recording of their platform may be laid beside them, and what was
    /// published of the experiment itself.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn read(files: &dyn Files, experiment: &str) -> Result<Self> {
        let mut all = Self {
            psci: PsciReference::all(files)?,
            ..Self::default()
        };
        match experiment {
            "psci-calls" => all.calls = if_there(files, CALLS, CallReference::read)?,
            "prefetch" => all.strides = if_there(files, STRIDES, StrideReference::read)?,
            "dataplane" => {
                all.node_clocks = if_there(files, NODE_CLOCKS, DataplaneReference::read_nodes)?
            }
            "batch" => {
                all.footprint = if_there(files, FOOTPRINT, DataplaneReference::read_footprint)?;
                all.node_clocks = if_there(files, NODE_CLOCKS, DataplaneReference::read_nodes)?;
            }
            "idle-clock" => all.clocks = if_there(files, CLOCKS, ClockReference::read)?,
            "rcu-energy" => all.energy = if_there(files, ENERGY, EnergyReference::read)?,
            "placement" => all.eas = if_there(files, EAS, EasReference::read)?,
            _ => {}
        }
        Ok(all)
    }

    /// Under what conditions the published runs ran: what experiments may know of them.
    pub fn conditions(&self) -> Conditions {
        let mut conditions = Conditions::default();
        self.psci
            .iter()
            .for_each(|reference| reference.conditions(&mut conditions));
        self.strides
            .iter()
            .for_each(|reference| reference.conditions(&mut conditions));
        self.clocks
            .iter()
            .for_each(|reference| reference.conditions(&mut conditions));
        conditions
    }
}

/// The rows of a file of figures; `wrong` says what is wrong with one, and what would be right.
fn figures<F: DeserializeOwned>(
    files: &dyn Files,
    name: &str,
    wrong: impl Fn(&F) -> Option<(String, &'static str)>,
) -> Result<Vec<F>> {
    let document = files.document(name)?;
    let checked = |row: Spanned<F>| match wrong(row.get_ref()) {
        Some((message, help)) => Err(document.wrong(row.span(), message, help)),
        None => Ok(row.into_inner()),
    };
    document.rows()?.into_iter().map(checked).collect()
}

/// True of a number above 0 that is no infinity.
fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// Reads the reference of a name, if it is among some files.
fn if_there<T>(
    files: &dyn Files,
    name: &str,
    read: fn(&dyn Files) -> Result<T>,
) -> Result<Option<T>> {
    let file = format!("{name}.toml");
    if files.list("")?.contains(&file) {
        read(files).map(Some)
    } else {
        Ok(None)
    }
}
