//! `psci-calls`: instructions of the calls, counted on QEMU, beside other firmware's.

use crate::Findings;
use crate::functions;
use crate::rows::named;
use published::CallReference;
use recording::facts::{FactsError, Functions};
use recording::{Recording, distinct};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The instructions of each call.
#[derive(Serialize, JsonSchema)]
pub struct Calls<'r> {
    /// The experiment's name.
    pub experiment: &'static str,
    /// The unit of all figures: instructions.
    pub unit: &'static str,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// The conditions under which other firmware was counted.
    pub conditions_of_others: Option<&'r str>,
    /// The calls, in the recording's order.
    pub calls: Vec<Call<'r>>,
    /// Counts by function; `None` where none were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_function: Option<Functions>,
    /// Published counts of other firmware on the same cores.
    #[serde(skip)]
    pub reference: Option<CallReference>,
    /// The model of these cores, if all published counts are of others.
    pub unpublished_cores: Option<&'r str>,
}

/// A call with the mean instructions of each build: `plain` without stamps and `instrumented` with
/// those that PMF serves, or `firmware` for an image of the user's, and `stopwatt` for ours beside it.
#[derive(Serialize, JsonSchema)]
pub struct Call<'r> {
    /// The call's name.
    pub call: &'r str,
    /// Published counts of other firmware.
    pub others: Vec<OtherFirmware<'r>>,
    /// Instructions by which the counts may be off, either way; 0 where each was counted.
    pub uncertainty: u64,
    /// Mean instructions by build, at least 0.
    #[serde(flatten)]
    pub counts: BTreeMap<&'r str, f64>,
    /// The builds in the recording's order.
    pub builds: Vec<&'r str>,
}

/// The published count of another firmware.
#[derive(Serialize, JsonSchema)]
pub struct OtherFirmware<'r> {
    /// The firmware's name.
    pub implementation: &'r str,
    /// The build: `plain` or `instrumented`.
    pub build: &'r str,
    /// The least, or the lower end.
    pub low: u64,
    /// The greatest, or the upper end.
    pub high: u64,
}

/// Reads the calls in the recording's order; those that not all builds counted are left out.
///
/// # Errors
/// The counts by function are of another version or form.
pub fn read<'r>(findings: &Findings<'r>) -> Result<Calls<'r>, FactsError> {
    let platform = findings.recording.header.platform.as_ref();
    let model = platform.and_then(|platform| platform.figures.get("model")?.as_str());
    // Counts of other firmware say nothing of the user's own, unless they are asked for.
    let mut rows = named(findings.recording).into_iter();
    let are_told = rows.any(|row| row.variant == "plain")
        || findings.recording.header.request.contains_key("beside");
    let published = findings.published.calls.as_ref().filter(|_| are_told);
    let reference = published
        .zip(model)
        .and_then(|(published, model)| published.on(model));
    let counts = functions::read(findings.recording)?.unwrap_or_default();
    Ok(Calls {
        experiment: "psci-calls",
        unit: "instructions",
        recording: findings.folder,
        conditions_of_others: published
            .filter(|_| reference.is_some())
            .map(|of| of.conditions.as_str()),
        calls: calls(
            findings.recording,
            published.zip(reference.as_ref()),
            &counts.by_clock,
        ),
        by_function: Some(counts).filter(|counts| !counts.passages.is_empty()),
        unpublished_cores: model.filter(|_| published.is_some() && reference.is_none()),
        reference,
    })
}

fn calls<'r>(
    recording: &'r Recording,
    reference: Option<(&'r CallReference, &CallReference)>,
    by_clock: &BTreeMap<String, u64>,
) -> Vec<Call<'r>> {
    let rows = named(recording);
    let builds = distinct(rows.iter().map(|row| row.variant));
    let value = |build: &str, call: &str| {
        let mut rows = rows.iter();
        Some(
            rows.find(|row| (row.variant, row.subject) == (build, call))?
                .value,
        )
    };
    let others = |call: &str| -> Vec<OtherFirmware<'r>> {
        let Some((published, on_these_cores)) = reference else {
            return Vec::new();
        };
        published
            .figures
            .iter()
            .filter(|figure| figure.call == call)
            .filter(|figure| {
                on_these_cores
                    .implementations
                    .iter()
                    .any(|known| known.name == figure.implementation)
            })
            .map(|figure| OtherFirmware {
                implementation: &figure.implementation,
                build: &figure.build,
                low: figure.low,
                high: figure.high,
            })
            .collect()
    };
    let subjects = rows.iter().map(|row| row.subject);
    let call = |call: &'r str| {
        let counts = builds
            .iter()
            .map(|build| Some((*build, value(build, call)?)));
        Some(Call {
            call,
            others: others(call),
            uncertainty: by_clock.get(call).copied().unwrap_or(0),
            counts: counts.collect::<Option<_>>()?,
            builds: builds.clone(),
        })
    };
    distinct(subjects.filter(|subject| !subject.is_empty()))
        .into_iter()
        .filter_map(call)
        .collect()
}

/// The builds that are published.
pub const BUILDS: [&str; 3] = ["plain", "instrumented", "debug"];
