//! Published figures with their sources.
//!
//! A reference is a CSV file of figures and a TOML file that says where they come from, under which conditions they were taken and
//! which of them a fit may use. Nothing that predicts may depend on this crate: experiments are told
//! conditions, never figures. The order of the floors holds them apart.
#![forbid(unsafe_code)]

mod calls;
mod clocks;
mod dataplane;
mod energy;
mod error;
mod guess;
mod idle_cases;
mod psci;
mod strides;

pub use calls::{CallFigure, CallReference};
pub use clocks::{CLOCKS, ClockFigure, ClockReference, DivisionFigure};
pub use dataplane::{DataplaneReference, FOOTPRINT, FootprintFigure, NODE_CLOCKS, NodeFigure};
pub use energy::{ENERGY, EnergyFigure, EnergyReference};
pub use error::Error;
pub use idle_cases::{CaseFigure, CaseReference, CaseSource, IDLE_CASES};
pub use psci::{Cell, Layout, PsciReference};
pub use strides::{STRIDES, StrideCell, StrideReference};

use experiment::{Conditions, Files};

/// All published figures of a data folder.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// PSCI latencies, by platform.
    pub psci: Vec<PsciReference>,
    /// Instructions of PSCI calls in other firmware, if there are any.
    pub calls: Option<CallReference>,
    /// The stride study of the data plane, if there is one.
    pub strides: Option<StrideReference>,
    /// What a data plane's nodes took, if there are such figures. No experiment is told anything of it.
    pub node_clocks: Option<DataplaneReference<NodeFigure>>,
    /// What a frame touches, if there are such figures. No experiment is told anything of it.
    pub footprint: Option<DataplaneReference<FootprintFigure>>,
    /// What clocks and divisions cost in the idle loop, if there are such figures.
    pub clocks: Option<ClockReference>,
    /// Reported counts of idle governors, if there are any.
    pub idle_cases: Option<CaseReference>,
    /// What configurations of RCU saved, if there are such figures. No experiment is told anything of it.
    pub energy: Option<EnergyReference>,
}

/// Name of the file about PSCI calls in other firmware.
const CALLS: &str = "psci-calls-qemu.toml";

impl Published {
    /// Reads all references among some files: those whose names end in `-psci.toml`, the calls, the strides, the data
    /// plane's nodes and footprints, the clocks, the idle governors' cases, the energy.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let names = files.list("")?;
        let psci = names.iter().filter(|name| name.ends_with("-psci.toml"));
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        Ok(Self {
            psci: psci.map(|name| PsciReference::read_from(files, name)).collect::<Result<_, _>>()?,
            calls: if has(CALLS) { Some(CallReference::read_from(files, CALLS)?) } else { None },
            strides: if has(&format!("{STRIDES}.toml")) { Some(StrideReference::read(files)?) } else { None },
            node_clocks: if has(&format!("{NODE_CLOCKS}.toml")) {
                Some(DataplaneReference::read_nodes(files)?)
            } else {
                None
            },
            footprint: if has(&format!("{FOOTPRINT}.toml")) {
                Some(DataplaneReference::read_footprint(files)?)
            } else {
                None
            },
            clocks: if has(&format!("{CLOCKS}.toml")) { Some(ClockReference::read(files)?) } else { None },
            idle_cases: if has(&format!("{IDLE_CASES}.toml")) { Some(CaseReference::read(files)?) } else { None },
            energy: if has(&format!("{ENERGY}.toml")) { Some(EnergyReference::read(files)?) } else { None },
        })
    }

    /// The PSCI latencies of a platform, if there are any.
    pub fn psci_of(&self, platform: &str) -> Option<&PsciReference> {
        self.psci.iter().find(|reference| reference.platform == platform)
    }

    /// The stride study of a platform, if it is of that one.
    pub fn strides_of(&self, platform: &str) -> Option<&StrideReference> {
        self.strides.as_ref().filter(|reference| reference.platform == platform)
    }

    /// Under what conditions the published runs ran: what experiments may know of them.
    pub fn conditions(&self) -> Conditions {
        let mut conditions = Conditions::default();
        self.psci.iter().for_each(|reference| reference.conditions(&mut conditions));
        self.strides.iter().for_each(|reference| reference.conditions(&mut conditions));
        self.clocks.iter().for_each(|reference| reference.conditions(&mut conditions));
        conditions
    }
}
