//! The integration tests of this crate: one program, which is linked once.

mod damage;
mod files;
mod ui_render;
mod workloads;
