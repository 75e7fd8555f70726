//! The published stride study that a recording is a prediction of.

use published::{Published, StrideCell, StrideReference};
use recording::{Recording, metrics};

/// The study's case.
pub const CASE: &str = "prefetch";

/// True if the loops ran as the published ones did: on their frames and from where their data lay,
/// on a platform that no setting changes.
fn is_as_published(recording: &Recording) -> bool {
    let mut settings = recording.header.settings.iter();
    settings.all(|(key, value)| match key.as_str() {
        "frames" | "work" => true,
        "frame_size" => value == "256",
        "data_in" => value == "dram",
        "header_in" => value == "l2",
        _ => false,
    })
}

/// True if a recording is of a modelled core.
pub fn is_modelled(recording: &Recording) -> bool {
    recording.header.world == "sim"
}

/// The published study that a recording is a prediction of.
pub fn reference<'p>(
    recording: &Recording,
    published: &'p Published,
) -> Option<&'p StrideReference> {
    let reference = published.strides.as_ref()?;
    let is_comparable = is_modelled(recording) && is_as_published(recording);
    let of_platform = recording.header.platform_name() == Some(&reference.platform);
    (is_comparable && of_platform).then_some(reference)
}

/// Loop and strides of a subject, from the recording's axes.
pub fn place(recording: &Recording, subject: &str) -> Option<(String, [usize; 2])> {
    let at = recording.header.coordinates.get(subject)?;
    let stride = |key: &str| Some(at.get(key)?.as_integer()? as usize);
    Some((
        at.get("loop")?.as_str()?.to_owned(),
        [stride("stride_first")?, stride("stride_second")?],
    ))
}

pub fn published_cell<'p>(
    reference: &'p StrideReference,
    loop_name: &str,
    strides: [usize; 2],
) -> Option<&'p StrideCell> {
    let mut cells = reference.cells.iter();
    cells.find(|cell| cell.loop_name == loop_name && cell.strides() == strides)
}

/// The published value of a row of measures, for pictures to draw beside it.
pub fn published(
    recording: &Recording,
    published: &Published,
    case: &str,
    subject: &str,
    metric: &str,
) -> Option<f64> {
    if (case, metric) != (CASE, metrics::CLOCKS_PER_PACKET.name) {
        return None;
    }
    let (loop_name, strides) = place(recording, subject)?;
    Some(published_cell(reference(recording, published)?, &loop_name, strides)?.ticks)
}
