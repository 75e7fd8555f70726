//! Cells of the stride study: where a subject lies on its axes, and what was published for it.

use crate::MeasureRow;
use published::{Published, StrideCell, StrideReference};
use recording::{Recording, metrics};

/// The study's case.
pub(super) const CASE: &str = "prefetch";

/// Whether a recording is of a modelled core.
pub(super) fn is_modelled(recording: &Recording) -> bool {
    recording.header.world == "sim"
}

/// The published study that a recording is a prediction of.
pub(super) fn reference<'p>(recording: &Recording, published: &'p Published) -> Option<&'p StrideReference> {
    let platform = recording.header.platform.as_ref().filter(|_| is_modelled(recording))?;
    published.strides_of(&platform.name)
}

/// Loop and strides of a subject, from the recording's axes.
pub(super) fn place(recording: &Recording, subject: &str) -> Option<(String, [usize; 2])> {
    let at = recording.header.coordinates.get(subject)?;
    let stride = |key: &str| Some(at.get(key)?.as_integer()? as usize);
    Some((at.get("loop")?.as_str()?.to_owned(), [stride("stride_first")?, stride("stride_second")?]))
}

pub(super) fn published_cell<'p>(
    reference: &'p StrideReference,
    loop_name: &str,
    strides: [usize; 2],
) -> Option<&'p StrideCell> {
    let same = |cell: &&StrideCell| cell.loop_name == loop_name && [cell.stride_first, cell.stride_second] == strides;
    reference.cells.iter().find(same)
}

/// What was published for a row of measures, for pictures to draw beside it.
pub(super) fn published(recording: &Recording, published: &Published, row: &MeasureRow) -> Option<f64> {
    if (row.case.as_str(), row.metric.as_str()) != (CASE, metrics::CLOCKS_PER_PACKET.name) {
        return None;
    }
    let (loop_name, strides) = place(recording, &row.subject)?;
    Some(published_cell(reference(recording, published)?, &loop_name, strides)?.ticks)
}
