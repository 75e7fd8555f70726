//! Blocks as the mark-up of documents, and as comma-separated values.

pub mod csv;
pub mod markdown;
