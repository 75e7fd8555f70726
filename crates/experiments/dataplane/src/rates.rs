//! Rates and latencies over interfaces, in networks that are made for it.
//!
//! | file | what it has |
//! |---|---|
//! | `namespace.rs` | network namespaces that go with the program |
//! | `flow.rs` | the generator and the sink |
//! | `command.rs` | a program of the user's that forwards |
//! | `bench.rs` | a network for a driver, and a trial in it |
//! | `search.rs` | bisection over the load |
//! | `find.rs` | all of it for each driver |

pub mod bench;
mod command;
pub mod find;
mod flow;
mod namespace;
pub mod search;
