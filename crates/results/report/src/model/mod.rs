//! Tables and pictures of a recording, before they are drawn.

pub mod cells;
pub mod measures;
pub mod pictures;
