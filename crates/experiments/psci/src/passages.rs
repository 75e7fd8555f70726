//! Passages of any image by function, as a recording.

use crate::functions;
use qemu::{Counts, Symbols};
use recording::Header;
use recording::Recording;
use recording::facts::Functions;

/// Name of the experiment in recordings.
pub const EXPERIMENT: &str = "count";

/// Passages that were counted, and their names.
pub struct CountedPassages<'c> {
    /// Name of the image, which is the variant of the recording's measures.
    pub image: &'c str,
    /// Name of the passages: the function, and where they end.
    pub name: &'c str,
    /// The emulator's arguments.
    pub arguments: &'c [String],
    /// The passages.
    pub counts: &'c Counts,
}

/// A recording of passages: instructions of each as measures, in the order in which they ended, and
/// all of them by function.
pub fn recording(counted: &CountedPassages<'_>, symbols: &Symbols) -> Recording {
    let passages = &counted.counts.passages;
    let mut header = Header::new(EXPERIMENT, "qemu", "instructions");
    // Without it the machine's interrupts come when this machine's clock says so.
    header.repeatable = Some(
        counted
            .arguments
            .iter()
            .any(|word| word.trim_start_matches('-') == "icount"),
    );
    header.iterations = u32::try_from(passages.len()).unwrap_or(u32::MAX);
    header
        .run
        .more
        .insert("qemu".to_owned(), counted.arguments.join(" "));
    let whole = (counted.image, counted.name, passages.len() as u64);
    header.set_facts(&Functions {
        by_clock: std::collections::BTreeMap::new(),
        not_counted: functions::NOT_COUNTED.map(str::to_owned).to_vec(),
        passages: vec![functions::passage(
            passages,
            symbols,
            functions::UNNAMED,
            whole,
        )],
    });
    let mut recording = Recording::new(header);
    let series = recording.series(counted.image, EXPERIMENT, "serial");
    let subject = recording.name(counted.name);
    for (number, passage) in (0..).zip(passages) {
        recording
            .measure(
                series,
                number,
                "passage",
                "instructions",
                passage.instructions() as f64,
            )
            .subject = Some(subject);
    }
    recording
}
