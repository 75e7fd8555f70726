//! The findings of a recording, from which stories are made.

pub(crate) mod cells;
pub(crate) mod documents;
pub(crate) mod figures;
pub(crate) mod headline;
pub(crate) mod measures;
pub(crate) mod pictures;
