//! The disk: input files are read with a limit, and what is being written goes away with the
//! program.
//!
//! [`open`], [`read`] and [`text`] take regular files only. A FIFO would block, and a device such
//! as `/dev/zero` never ends. [`Partial`] is a file or a folder that is not whole yet: it is
//! removed when it is dropped, and [`remove_partials`] removes those of the whole program, for who
//! handles signals.
#![forbid(unsafe_code)]

mod input;
mod partial;

pub use input::{MOST_BYTES, MOST_TEXT, open, read, text};
pub use partial::{Partial, remove_partials};
