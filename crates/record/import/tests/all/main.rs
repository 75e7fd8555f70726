//! The integration tests of this crate: one program, which is linked once.

mod cpuidle;
mod ftrace;
mod perfetto;
mod support;
mod tables;
mod trace_dat;
mod wakes;
