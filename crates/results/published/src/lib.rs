//! Published figures with their sources.
//!
//! A reference is a CSV file of figures and a TOML file that says where they come from, under which conditions they were taken and
//! which of them a fit may use. Nothing that predicts may depend on this crate: experiments are told
//! conditions, never figures. A test on the dependency graph holds them apart.
#![forbid(unsafe_code)]

mod calls;
mod psci;

pub use calls::{CallFigure, CallReference};
pub use psci::{Cell, Error, Layout, PsciReference};
