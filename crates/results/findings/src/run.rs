//! A recording with what stands beside it.

use published::Published;
use recording::Recording;

/// A recording in its folder, with all published figures.
pub struct Run<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// The folder where the recording lies, as it was named on the command line.
    pub folder: &'a str,
    /// The published figures, of this experiment and others; empty where none are known.
    pub published: &'a Published,
}
