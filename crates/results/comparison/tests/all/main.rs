//! The integration tests of this crate: one program, which is linked once.

mod bounds;
mod costs;
#[path = "../../../../record/evidence/tests/all/law.rs"]
mod law;
mod laws;
mod samples;
