//! Jobs that are done side by side.

use crate::error::Result;
use console::Progress;
use rayon::prelude::*;

/// Does jobs side by side on all cores of the machine, each a step of the progress; what comes back
/// is in their order.
///
/// # Errors
/// A job failed, or the run was told to stop.
pub fn side_by_side<J: Send, D: Send>(
    progress: &Progress,
    jobs: impl IntoParallelIterator<Item = J>,
    one: impl Fn(J) -> Result<D> + Sync + Send,
) -> Result<Vec<D>> {
    jobs.into_par_iter()
        .map(|job| {
            progress.check()?;
            let done = one(job)?;
            progress.step();
            Ok(done)
        })
        .collect()
}
