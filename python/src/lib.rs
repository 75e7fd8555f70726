//! Stopwatt as a Python package: the extension module `stopwatt._native`, on which the Python files
//! beside it are built.
//!
//! | file | what it is about |
//! |---|---|
//! | `work.rs` | work on a thread of its own, with the GIL released, that Ctrl-C and a lack of memory stop |
//! | `tables.rs` | rows of a recording as columns of Arrow |
//! | `recording.rs` | a recording in Python |
//! | `commands.rs` | what the command does, in Python |
//!
//! Experiments, commands and their options are not listed here: they come from the experiments'
//! descriptions and from the command line.
// `tables` hands memory to other libraries by Arrow's C data interface; that is where unsafe code
// is, with its reasons, in the libraries.
#![forbid(unsafe_code)]

mod commands;
mod recording;
mod tables;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::commands::{begin_sweep, command, compare, main, run_sweep, start_with};
    #[pymodule_export]
    use crate::recording::{Recording, findings_schema, open_recording, run};
    #[pymodule_export]
    use crate::tables::Table;
    #[pymodule_export]
    use crate::work::{DataError, Error, RunError, UsageError, end};

    /// The program's version.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
