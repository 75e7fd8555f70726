//! The integration tests of this crate: one program, which is linked once.

mod bad_input;
mod browser;
#[allow(dead_code, reason = "the example that takes pictures uses the rest")]
mod chromium;
mod claims;
mod common;
mod compare;
mod damaged;
mod dataplane;
mod documents;
mod explain;
mod explore;
mod floors;
mod hints;
mod idle;
mod import;
mod installed;
#[path = "../../../record/evidence/tests/all/law.rs"]
mod law;
mod laws;
mod narrow;
mod output;
mod own_board;
#[cfg(target_os = "linux")]
mod own_graph;
mod pages;
mod paths;
mod placement;
mod psci_latency;
#[cfg(target_os = "linux")]
mod rcu_energy;
mod report;
mod stories;
mod sweep;
mod trace_energy;
#[cfg(target_os = "linux")]
mod tune;
mod what_if;
mod words;
