//! Tables, headlines and pictures of a recording, before they are drawn.

pub(crate) mod cells;
pub(crate) mod figures;
pub(crate) mod headline;
pub(crate) mod measures;
pub(crate) mod pictures;
