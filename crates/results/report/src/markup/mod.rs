//! Blocks as the mark-up of documents, and as comma-separated values.

pub(crate) mod csv;
pub(crate) mod markdown;
