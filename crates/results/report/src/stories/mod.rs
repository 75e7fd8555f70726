//! What a run prints, for people and for machines: some experiments have tables of their own, all others get tables of their measures.
//!
//! Everything is read from the recording; published figures stand beside it.

mod batch;
mod energy_cells;
mod energy_effects;
mod energy_explain;
mod energy_owners;
mod energy_predictors;
mod exploration;
mod forward;
mod idle_cases;
mod idle_clock;
mod idle_replay;
mod linux;
mod linux_rates;
mod loaded;
mod placement;
mod rates;
mod rcu_doses;
mod rcu_energy;
mod rows;
mod run;
mod stride_cells;
mod strides;
mod work_costs;

use self::run::Run;
use crate::model::told::Told;
use crate::{Findings, Format, Style};
use published::Published;
use recording::Recording;
use serde_json::Value;

/// A way to show the recordings of an experiment.
struct Story {
    experiment: &'static str,
    /// The world, if it is for recordings of one world alone.
    world: Option<&'static str>,
    text: fn(&Run<'_>, Style) -> String,
    json: fn(&Run<'_>) -> Value,
}

/// The experiments that are not shown by tables of their measures alone.
const STORIES: [Story; 16] = [
    Story { experiment: "explore-psci", world: None, text: exploration::text, json: exploration::json },
    Story { experiment: "explore-rcu", world: None, text: exploration::text, json: exploration::json },
    Story { experiment: "psci-latency", world: Some("sim"), text: latency_text, json: latency_json },
    Story { experiment: "psci-calls", world: None, text: calls_text, json: calls_json },
    Story { experiment: "linux-boot", world: None, text: linux::text, json: linux::json },
    Story { experiment: "dataplane", world: None, text: loaded::text, json: loaded::json },
    Story { experiment: "prefetch", world: None, text: strides::text, json: strides::json },
    Story { experiment: "batch", world: None, text: batch::text, json: batch::json },
    Story { experiment: "forward", world: None, text: forward::text, json: forward::json },
    Story { experiment: "idle-replay", world: None, text: idle_replay::text, json: idle_replay::json },
    Story { experiment: "idle-clock", world: None, text: idle_clock::text, json: idle_clock::json },
    Story { experiment: "idle-cases", world: None, text: idle_cases::text, json: idle_cases::json },
    Story { experiment: "rcu-doses", world: None, text: rcu_doses::text, json: rcu_doses::json },
    Story { experiment: "linux-rates", world: None, text: linux_rates::text, json: linux_rates::json },
    Story { experiment: "rcu-energy", world: None, text: rcu_energy::text, json: rcu_energy::json },
    Story { experiment: "placement", world: None, text: placement::text, json: placement::json },
];

/// The story of a recording, if it has one.
fn story_of(recording: &Recording) -> Option<&'static Story> {
    let header = &recording.header;
    STORIES
        .iter()
        .find(|story| story.experiment == header.experiment && story.world.is_none_or(|world| world == header.world))
}

/// What is read from a recording that lies in `folder`, with the published figures of its platform beside it, and with its story: what its run
/// printed is read from the recording, so that every report says the same.
pub fn findings<'a>(recording: &'a Recording, folder: &str, published: &'a Published) -> Findings<'a> {
    let findings = run::findings(recording, folder, published);
    // Reports have tables of their own for PSCI latencies.
    let Some(story) = story_of(recording).filter(|_| findings.compared.is_empty()) else { return findings };
    let of_run = move |folder: &str, style| {
        let mut text = (story.text)(&Run { recording, folder, published }, style);
        recording.header.notes.iter().for_each(|note| text.push_str(&format!("{note}\n")));
        text
    };
    let (of_text, of_json) = (folder.to_owned(), folder.to_owned());
    let told = Told::new(
        move |style| of_run(&of_text, style),
        move || (story.json)(&Run { recording, folder: &of_json, published }),
    );
    Findings { told: Some(told), ..findings }
}

/// What a run prints for people.
pub fn run_text(recording: &Recording, folder: &str, published: &Published, style: Style) -> String {
    let run = Run { recording, folder, published };
    let mut text = match story_of(recording) {
        Some(story) => (story.text)(&run, style),
        None => String::from_utf8_lossy(&crate::render(&run.findings(), Format::Text, style)).into_owned(),
    };
    for note in &recording.header.notes {
        text.push_str(&format!("{note}\n"));
    }
    text.push_str(&format!("Recording: {folder}\n"));
    text
}

/// What a run prints for machines.
pub fn run_json(recording: &Recording, folder: &str, published: &Published) -> Value {
    let run = Run { recording, folder, published };
    match story_of(recording) {
        Some(story) => (story.json)(&run),
        None => crate::json(&run.findings()),
    }
}

fn latency_text(run: &Run<'_>, style: Style) -> String {
    let findings = run.findings();
    let what_if = match run.recording.header.settings.is_empty() {
        true => "",
        false => "What if: settings differ from the published run, so errors are differences.\n",
    };
    let doubts: String = findings.doubts().iter().map(|doubt| format!("{doubt}\n")).collect();
    crate::terminal::tables(&findings, style) + what_if + &doubts
}

fn latency_json(run: &Run<'_>) -> Value {
    let findings = run.findings();
    let mut value = crate::psci_latency_json(&findings.compared, &findings.spreads, Some(run.folder.as_ref()));
    if let Some(object) = value.as_object_mut() {
        crate::export::json::warn(object, &findings);
    }
    value
}

fn calls_text(run: &Run<'_>, style: Style) -> String {
    crate::psci_calls_text(&crate::counted_calls(run.recording), run.published.calls.as_ref(), style)
}

fn calls_json(run: &Run<'_>) -> Value {
    let calls = crate::counted_calls(run.recording);
    crate::psci_calls_json(&calls, run.published.calls.as_ref(), run.folder.as_ref())
}
