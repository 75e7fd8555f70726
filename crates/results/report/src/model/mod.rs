//! What every output is made from: findings of a recording and the tables of them, before anything is drawn. Each output builds on
//! these, and none on another's.

pub(crate) mod accuracy;
pub(crate) mod compared;
pub(crate) mod figures;
pub(crate) mod findings;
pub(crate) mod headline;
pub(crate) mod lanes;
pub(crate) mod measures;
pub(crate) mod pictures;
pub(crate) mod told;
