//! Published figures with their sources.
//!
//! A reference is a CSV file of figures and a TOML file that says where they come from, under which
//! conditions they were taken and which of them a fit may use. Nothing that predicts may depend on
//! this crate: experiments are told conditions, never figures. The order of the floors holds them
//! apart.
#![forbid(unsafe_code)]

pub mod claims;
mod guess;
mod psci;
mod read;
mod strides;
mod tables;

pub use psci::{Cell, PsciReference};
pub use strides::{STRIDES, StrideCell, StrideReference};
pub use tables::{
    CallFigure, CallReference, ClockReference, CountedFigure, CountedReference, DataplaneReference,
    EasReference, EnergyFigure, EnergyReference, FootprintFigure, Implementation,
};

use document::Result;
use experiment::{Conditions, Files};
use read::{figures, table};
use tables::CLOCKS;

/// The published figures that stand beside those of an experiment.
#[derive(Default)]
pub struct Published {
    /// PSCI latencies, by platform.
    pub psci: Vec<PsciReference>,
    /// Instructions of PSCI calls in other firmware, if there are any.
    pub calls: Option<CallReference>,
    /// The stride study of the data plane, if there is one.
    pub strides: Option<StrideReference>,
    /// The footprint of a frame, if there are such figures. No experiment is told anything of it.
    pub footprint: Option<DataplaneReference>,
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
            "psci-calls" => {
                all.calls = table(files, "psci-calls-qemu", |of: &mut CallReference| {
                    &mut of.figures
                })?
            }
            "prefetch" => all.strides = StrideReference::find(files)?,
            "batch" => {
                all.footprint = table(
                    files,
                    "dataplane-footprint",
                    |of: &mut DataplaneReference| &mut of.figures,
                )?
            }
            "idle-clock" => {
                all.clocks = table(files, CLOCKS, |of: &mut ClockReference| &mut of.clocks)?;
                if let Some(clocks) = &mut all.clocks {
                    clocks.divisions = figures(files, "cpuidle-division")?;
                }
            }
            "rcu-energy" => {
                all.energy = table(files, "rcu-energy", |of: &mut EnergyReference| {
                    &mut of.figures
                })?
            }
            "placement" => {
                all.eas = table(files, "eas-energy", |of: &mut EasReference| &mut of.figures)?
            }
            _ => {}
        }
        Ok(all)
    }

    /// Calls whose times and instructions are both known of two releases, if there are any.
    ///
    /// # Errors
    /// What is wrong with the table, with its file and line.
    pub fn counted(files: &dyn Files) -> Result<Option<CountedReference>> {
        table(files, "counted", |of: &mut CountedReference| {
            &mut of.figures
        })
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
