//! Blocks as the mark-up of documents, one language a file, and as comma-separated values.

pub(crate) mod csv;
pub(crate) mod markdown;
pub(crate) mod rst;
