//! Experiments of the data plane: whole graphs at full load, the stride study here and on a modelled core, footprints.
//!
//! Nothing here can reach a published figure: a fit is handed the cells that it may use, and no more.
#![forbid(unsafe_code)]

pub mod fit;
pub mod footprint;
pub mod graphs;
pub mod host;
pub mod import;
pub mod model;
pub mod results;
