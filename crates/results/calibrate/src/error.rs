//! Why there is no fit.

use soc::RunError;

/// Why there is no fit.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A configuration file is wrong.
    #[error(transparent)]
    Config(#[from] document::Error),
    /// The plan names a cost that there is not.
    #[error("the plan fits `{0}`, which is no cost; see a costs file for those there are")]
    UnknownKey(String),
    /// No cell of the release may be used.
    #[error("the reference has no cell of {0} that a fit may use")]
    NoCells(String),
    /// A case does not run with the costs that the fit tries.
    #[error("while fitting {release}, {case} in {mode}: {source}")]
    Run {
        /// The release.
        release: String,
        /// The case.
        case: &'static str,
        /// Mode of the run.
        mode: &'static str,
        /// The point.
        source: RunError,
    },
    /// The fit did not converge.
    #[error("the fit of {0} did not converge: {1}")]
    Diverged(String, String),
}
