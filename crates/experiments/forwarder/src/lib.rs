//! The forwarder's experiments: it forwards between interfaces of this machine, and the highest
//! rate of what forwards is searched.
//!
//! | file | what it has |
//! |---|---|
//! | `forward.rs` | the experiment: what it can be told |
//! | `config.rs` | the forwarder's configuration: interfaces, neighbours, routes |
//! | `supervise.rs`, `lines.rs` | a forwarder that runs, and the commands that are typed meanwhile |
//! | `find_rate.rs`, `rates/` | rates and latencies, in networks of this command's own |
//! | `results.rs` | results as recordings |
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod config;
mod find_rate;
mod forward;
mod lines;
mod rates;
pub mod results;
mod supervise;

pub use config::Config;
pub use forward::Forward;
