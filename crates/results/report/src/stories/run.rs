//! A recording with what stands beside it.

use published::Published;
use recording::Recording;

/// A recording in its folder, with all published figures.
pub(crate) struct Run<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) folder: &'a str,
    pub(crate) published: &'a Published,
}
