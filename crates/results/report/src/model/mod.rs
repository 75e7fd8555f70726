//! Tables, headlines and pictures of a recording, before they are drawn.

pub mod cells;
pub mod figures;
pub mod headline;
pub mod measures;
pub mod pictures;
