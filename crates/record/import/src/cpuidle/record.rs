//! The recording of what was counted.

use super::state::{Counts, State};
use recording::facts::{CountedState, IdleCounts};
use recording::metrics;
use recording::{Header, Recording, Series};

/// Makes a recording of what was counted. `clusters` says how clusters are known; it is empty where
/// they are not.
pub fn record(mut header: Header, counts: &[Counts], clusters: &str) -> Recording {
    let mut facts = IdleCounts {
        clusters: clusters.to_owned(),
        states: Vec::new(),
    };
    for of in counts {
        for cpu in &of.cpus {
            let cluster = cpu.place.map(|(cluster, _)| cluster);
            for (number, state) in (0..).zip(&cpu.states) {
                match facts.states.iter_mut().find(|known| {
                    (&known.variant, &known.case, known.cluster, known.number)
                        == (&of.variant, &of.case, cluster, number)
                }) {
                    Some(known) => known.disabled &= state.disabled,
                    None => facts.states.push(CountedState {
                        variant: of.variant.clone(),
                        case: of.case.clone(),
                        cluster,
                        number,
                        name: state.name.clone(),
                        exit_latency_us: state.latency_us,
                        residency_us: state.residency_us,
                        disabled: state.disabled,
                    }),
                }
            }
        }
    }
    header.iterations = 1;
    header.set_facts(&facts);
    let mut recording = Recording::new(header);
    for of in counts {
        let series = recording.series(&of.variant, &of.case, "");
        if let Some(seconds) = of.seconds {
            recording.add(series, 0, metrics::WINDOW, "", seconds);
        }
        for cpu in &of.cpus {
            cpu.states
                .iter()
                .for_each(|state| add(&mut recording, series, (cpu.cpu, cpu.place), state));
        }
        for measured in &of.measured {
            let series = recording.series(&of.variant, &of.case, &measured.place);
            let (metric, state) = (measured.metric, &measured.state);
            recording.add(series, 0, metric, state, measured.value).cpu = measured.cpu;
        }
    }
    recording
}

/// Adds the counters of a state of a CPU.
pub(crate) fn add(
    recording: &mut Recording,
    series: Series,
    (cpu, place): (Option<u16>, Option<(u16, u16)>),
    state: &State,
) {
    let metrics = [
        metrics::IDLE_ENTERED,
        metrics::IDLE_TIME,
        metrics::IDLE_ABOVE,
        metrics::IDLE_BELOW,
        metrics::IDLE_REJECTED,
        metrics::IDLE_S2IDLE,
    ];
    for (metric, (_, value)) in metrics.into_iter().zip(state.counters()) {
        let Some(value) = value else { continue };
        let measure = recording.add(series, 0, metric, &state.name, value as f64);
        measure.cpu = cpu;
        (measure.cluster, measure.core) = place.unzip();
    }
}
