//! Idle states, as an operating system's CPUs entered them.

use crate::Style;
use crate::grid::{fitted, right, table};
use crate::words::number;
use recording::Recording;
use recording::metrics::{IDLE_ENTERED, IDLE_REJECTED, IDLE_TIME};

/// A row for each idle state of a `linux-boot` recording, in its order: entries of the CPU with the fewest and of the
/// one with the most, entries of all, and how many of those ended at once because an interrupt was pending.
pub fn idle_states_text(recording: &Recording, style: Style) -> String {
    let mut states: Vec<&str> = Vec::new();
    for measure in recording.measures().iter().filter(|measure| recording.text(measure.metric) == IDLE_ENTERED.name) {
        if let Some(state) = measure.subject.map(|subject| recording.text(subject))
            && !states.contains(&state)
        {
            states.push(state);
        }
    }
    let values = |metric: &str, state: &str| -> Vec<f64> {
        let of = |measure: &&recording::Measure| {
            recording.text(measure.metric) == metric
                && measure.subject.is_some_and(|subject| recording.text(subject) == state)
        };
        recording.measures().iter().filter(of).map(|measure| measure.value).collect()
    };
    let mut drawn = table(style);
    drawn.set_header(["idle state", "fewest a CPU", "most a CPU", "all CPUs", "rejected", "mean stay, us"]);
    for state in states {
        let entered = values(IDLE_ENTERED.name, state);
        let sum: f64 = entered.iter().sum();
        let rejected: f64 = values(IDLE_REJECTED.name, state).iter().sum();
        let time: f64 = values(IDLE_TIME.name, state).iter().sum();
        let (fewest, most) = entered
            .iter()
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), &value| (low.min(value), high.max(value)));
        let whole = |value: f64| right(format!("{value:.0}"));
        let stay = if sum > 0.0 { number(time / sum) } else { String::new() };
        drawn.add_row([state.into(), whole(fewest), whole(most), whole(sum), whole(rejected), right(stay)]);
    }
    format!("{}\n", fitted(drawn, style))
}
