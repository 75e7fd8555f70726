//! `cpuidle`: what a kernel counted of its idle states.

use crate::Findings;
use crate::rows::{measures_of, of_metric};
use itertools::Itertools;
use recording::facts::{
    Away, CountedState, DomainSleep, FactsError, IdleCounts, KernelTrace, WakeUps,
};
use recording::idle::{IdleCount, IdleSum, idle_counts, percent_of};
use recording::{Recording, distinct, grouped, metrics, stats};
use schemars::JsonSchema;
use serde::Serialize;

/// The counts in each test of each kernel.
#[derive(Serialize, JsonSchema)]
pub struct KernelCounts<'r> {
    /// The tests of each kernel.
    pub tests: Vec<Test<'r>>,
    /// Shares of the time, and what hardware counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub residencies: Vec<Residency<'r>>,
    /// Who woke the CPUs of a trace; `None` where that was not looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_ups: Option<WakeUps>,
    /// How the clusters of a trace slept, where they have states of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<DomainSleep>,
    /// Times of which a trace does not say that a CPU ran or was idle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub away: Vec<Away>,
    /// Exit latencies that were measured by wake-ups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exit_latencies: Vec<ExitLatency>,
    /// A sentence about the clusters; empty where nothing is to be said.
    pub clusters: String,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// A share of the time in an idle state, or another figure of it that is no count of the kernel's.
#[derive(Serialize, JsonSchema)]
pub struct Residency<'r> {
    /// The kernel's name.
    pub kernel: &'r str,
    /// The test's name.
    pub case: &'r str,
    /// The core, the package or another part of the hardware; empty for a CPU or all CPUs.
    pub place: &'r str,
    /// The CPU's number; `None` for all CPUs and for a place.
    pub cpu: Option<u16>,
    /// The state's name.
    pub state: &'r str,
    /// The name of what was measured: `idle_requested` is what the kernel asked for, `idle_hardware`
    /// what the hardware did.
    pub metric: &'r str,
    /// The value.
    pub value: f64,
    /// The value's unit.
    pub unit: &'r str,
}

/// The counts in a test of a kernel.
#[derive(Serialize, JsonSchema)]
pub struct Test<'r> {
    /// The test's name.
    pub case: &'r str,
    /// The kernel's name.
    pub kernel: &'r str,
    /// Length of the test in seconds; `None` where it is not known.
    pub seconds: Option<f64>,
    /// The number of CPUs that were counted each by itself; 0 where all were counted together.
    pub cpus: usize,
    /// Entries into idle states.
    pub entered: f64,
    /// Entries into a state that was too deep, in percent; `None` where not counted.
    pub above_percent: Option<f64>,
    /// Entries into a state that was too shallow, in percent; `None` where not counted.
    pub below_percent: Option<f64>,
    /// Both of these, in percent; `None` where not counted.
    pub misses_percent: Option<f64>,
    /// The states, summed over each cluster.
    pub states: Vec<State<'r>>,
    /// The states of each CPU; empty if there is one CPU.
    pub states_of_cpus: Vec<State<'r>>,
    /// The sums over all states and CPUs.
    pub sum: IdleSum,
}

/// The counts of a state: of a CPU, of a cluster, or of all CPUs.
#[derive(Serialize, JsonSchema)]
pub struct State<'r> {
    /// The cluster's number; `None` where there are no clusters.
    pub cluster: Option<u16>,
    /// The CPU's number; `None` in a sum over CPUs.
    pub cpu: Option<u16>,
    /// The state's name.
    pub state: &'r str,
    /// The kernel's exit latency in microseconds; `None` where it is not known.
    pub exit_latency_us: Option<u64>,
    /// The kernel's target residency in microseconds; `None` where it is not known.
    pub residency_us: Option<u64>,
    /// True if the state was disabled.
    pub disabled: bool,
    /// Entries into the state.
    pub entered: f64,
    /// Entries per second; `None` where the length of the test is not known.
    pub entered_per_second: Option<f64>,
    /// Time in the state in microseconds; `None` where it was not counted.
    pub time_us: Option<f64>,
    /// Mean length of a stay in microseconds; `None` where times were not counted.
    pub mean_us: Option<f64>,
    /// The share of the idle time in percent, or of the entries where times were not counted.
    pub share_percent: Option<f64>,
    /// Entries that were too deep; `None` where not counted.
    pub above: Option<f64>,
    /// Entries that were too shallow; `None` where not counted.
    pub below: Option<f64>,
    /// Entries that the hardware refused; `None` where not counted.
    pub rejected: Option<f64>,
}

impl KernelCounts<'_> {
    /// The seconds of all CPUs of a test of which it is known whether they ran or were idle; `None`
    /// where the length of the test is not known.
    pub fn covered_s(&self, test: &Test<'_>) -> Option<f64> {
        let mut states = test.states_of_cpus.iter();
        let is_counted =
            |of: &&Away| test.cpus == 1 || states.any(|state| state.cpu == Some(of.cpu));
        let away = self.away.iter().filter(is_counted);
        let away = away.map(|of| (of.ns[1] - of.ns[0]) as f64 / 1e9);
        Some(test.seconds? * test.cpus as f64 - away.sum::<f64>())
    }
}

impl State<'_> {
    /// Its counts as a sum, to which others can be added.
    pub fn sum(&self) -> IdleSum {
        let &Self {
            entered,
            time_us,
            above,
            below,
            rejected,
            ..
        } = self;
        IdleSum {
            entered,
            time_us,
            above,
            below,
            rejected,
        }
    }
}

/// An exit latency: the time by which a timer's thread wakes up later from a state than from the
/// first one, after gaps of at least the state's target residency.
#[derive(Serialize, JsonSchema)]
pub struct ExitLatency {
    /// The state's name.
    pub state: String,
    /// The exit latency that the kernel declares, in microseconds.
    pub declared_us: Option<u64>,
    /// The number of wake-ups that were compared.
    pub wake_ups: usize,
    /// The median in microseconds, between the ends of an interval that holds it with 95 % if
    /// wake-ups are independent.
    pub us: [f64; 3],
}

/// The exit latencies of states of which at least six wake-ups were compared, as far as they are told
/// from 0.
pub fn exit_latencies(recording: &Recording) -> Vec<ExitLatency> {
    let facts: IdleCounts = recording.header.facts().unwrap_or_default();
    let of = |state: CountedState| {
        let rows = of_metric(recording, metrics::EXIT_LATENCY);
        let is_long = |gap: &str| {
            let us = gap.trim_end_matches(" us").parse();
            us.is_ok_and(|us: u64| Some(us) >= state.residency_us)
        };
        let of_state = rows.filter(|row| row.subject == state.name && is_long(row.mode));
        let values = of_state.map(|row| row.value).collect_vec();
        let [low, high] = stats::median_interval(&values).filter(|[low, _]| *low > 0.0)?;
        Some(ExitLatency {
            us: [low, stats::median(&values)?, high],
            wake_ups: values.len(),
            declared_us: state.exit_latency_us,
            state: state.name,
        })
    };
    facts.states.into_iter().filter_map(of).collect()
}

/// What a recording has of the time in idle states beside counts.
fn residencies(recording: &Recording) -> Vec<Residency<'_>> {
    let names = [metrics::IDLE_REQUESTED.name, metrics::IDLE_MEAN.name];
    let rows = recording.measures().iter().map(|measure| {
        let (kernel, case, place) = recording.series_texts(measure.series);
        Residency {
            kernel,
            case,
            place,
            cpu: measure.cpu,
            state: measure.subject.map_or("", |of| recording.text(of)),
            metric: recording.text(measure.metric),
            value: measure.value,
            unit: recording.text(measure.unit),
        }
    });
    let is_meant =
        |metric: &str| metric.starts_with(metrics::IDLE_HARDWARE.name) || names.contains(&metric);
    rows.filter(|row| is_meant(row.metric)).collect()
}

/// True if a recording has counts of idle states: those of the kernel, or those of a trace.
pub fn is_of(recording: &Recording) -> bool {
    match recording.header.experiment.as_str() {
        "cpuidle" => true,
        "ftrace" => of_metric(recording, metrics::IDLE_ENTERED).next().is_some(),
        _ => false,
    }
}

/// What a trace says of the states that it counts.
fn of_trace(counts: &[IdleCount<'_>], trace: &KernelTrace) -> IdleCounts {
    let mut facts = IdleCounts::default();
    for count in counts {
        let Some(number) = trace
            .states
            .iter()
            .position(|state| state.name == count.state)
        else {
            continue;
        };
        let state = &trace.states[number];
        facts.states.push(CountedState {
            variant: count.variant.to_owned(),
            case: count.case.to_owned(),
            cluster: count.cluster,
            number: number as u16,
            name: state.name.clone(),
            exit_latency_us: state.exit_latency_us,
            residency_us: state.residency_us,
            disabled: false,
        });
    }
    facts
}

/// Reads what was counted.
///
/// # Errors
/// The recording's facts are missing, or are of another version or form.
pub fn read<'r>(findings: &'r Findings<'_>) -> Result<KernelCounts<'r>, FactsError> {
    let recording = findings.recording;
    let counts = idle_counts(recording);
    let mut trace = KernelTrace::default();
    let facts = match recording.header.experiment.as_str() {
        "ftrace" => {
            trace = recording.header.facts()?;
            of_trace(&counts, &trace)
        }
        _ => recording.header.facts()?,
    };
    let names = distinct(counts.iter().map(|count| (count.variant, count.case)));
    let test = |(kernel, case): (&'r str, &'r str)| {
        let of = counts
            .iter()
            .filter(|count| (count.variant, count.case) == (kernel, case))
            .collect_vec();
        // Where all CPUs are counted together, each of them is counted again.
        let has_all = of.iter().any(|count| count.cpu.is_none());
        let sums = of.iter().filter(|count| count.cpu.is_none() == has_all);
        let sums = sums.copied().collect_vec();
        let seconds = measures_of(recording, case, metrics::WINDOW)
            .find(|row| row.variant == kernel)
            .map(|row| row.value)
            .filter(|seconds| *seconds > 0.0);
        let cpus = sums.iter().map(|count| count.cpu).unique().collect_vec();
        let known = facts
            .states
            .iter()
            .filter(|state| (state.variant.as_str(), state.case.as_str()) == (kernel, case))
            .collect_vec();
        let sum = IdleSum::over(sums.iter().map(|count| count.sum));
        let each =
            |counts: &[&IdleCount<'r>], by_cpu| grouped_states(counts, &known, seconds, by_cpu);
        Test {
            case,
            kernel,
            seconds,
            cpus: cpus.iter().flatten().count(),
            entered: sum.entered,
            above_percent: percent_of(sum.above, sum.entered),
            below_percent: percent_of(sum.below, sum.entered),
            misses_percent: percent_of(sum.misses(), sum.entered),
            states: each(&sums, false),
            states_of_cpus: if of.len() > sums.len() || cpus.len() > 1 {
                each(&of, true)
            } else {
                Vec::new()
            },
            sum,
        }
    };
    Ok(KernelCounts {
        tests: names.into_iter().map(test).collect(),
        residencies: residencies(recording),
        wake_ups: trace.wake_ups,
        domains: trace.domains,
        away: trace.away,
        exit_latencies: exit_latencies(recording),
        clusters: facts.clusters,
        recording: findings.folder,
    })
}

/// The states, summed over each cluster or over each CPU, with what is known of them.
fn grouped_states<'r>(
    counts: &[&IdleCount<'r>],
    known: &[&CountedState],
    seconds: Option<f64>,
    by_cpu: bool,
) -> Vec<State<'r>> {
    let mut groups = grouped(counts.iter().map(|count| {
        let key = (count.cluster, count.cpu.filter(|_| by_cpu));
        (key, (count.state, count.sum))
    }));
    groups.sort_by_key(|(key, _)| *key);
    let mut all = Vec::new();
    for ((cluster, cpu), states) in groups {
        let mut states = grouped(states)
            .into_iter()
            .map(|(state, sums)| (state, IdleSum::over(sums)))
            .collect_vec();
        let fact = |state: &str| {
            let mut known = known.iter();
            known.find(|known| known.name == state && known.cluster == cluster)
        };
        // Whichever CPU was in which of them first.
        states.sort_by_key(|(state, _)| fact(state).map(|fact| fact.number));
        let whole = IdleSum::over(states.iter().map(|(_, sum)| *sum));
        for (state, sum) in states {
            let fact = fact(state);
            all.push(State {
                cluster,
                cpu,
                state,
                exit_latency_us: fact.and_then(|fact| fact.exit_latency_us),
                residency_us: fact.and_then(|fact| fact.residency_us),
                disabled: fact.is_some_and(|fact| fact.disabled),
                entered: sum.entered,
                entered_per_second: seconds.map(|seconds| sum.entered / seconds),
                time_us: sum.time_us,
                mean_us: sum
                    .time_us
                    .filter(|_| sum.entered > 0.0)
                    .map(|time| time / sum.entered),
                share_percent: match (sum.time_us, whole.time_us) {
                    (Some(time), Some(whole)) => percent_of(Some(time), whole),
                    _ => percent_of(Some(sum.entered), whole.entered),
                },
                above: sum.above,
                below: sum.below,
                rejected: sum.rejected,
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::Header;

    /// A state, and what its wake-ups took after gaps of 20 and of 500 us.
    fn recorded(states: &[(&str, [Vec<f64>; 2])]) -> Recording {
        let mut header = Header::new("cpuidle", "host", "us");
        let state = |(number, (name, _)): (u16, &(&str, _))| CountedState {
            variant: "kernel".to_owned(),
            case: "cpuidle".to_owned(),
            cluster: None,
            number,
            name: (*name).to_owned(),
            exit_latency_us: Some(15),
            residency_us: Some(50),
            disabled: false,
        };
        header.set_facts(&IdleCounts {
            clusters: String::new(),
            states: (0..).zip(states).map(state).collect(),
        });
        let mut recording = Recording::new(header);
        for (name, gaps) in states {
            for (gap, values) in ["20 us", "500 us"].into_iter().zip(gaps) {
                let series = recording.series("kernel", "cpuidle", gap);
                for us in values {
                    recording.add(series, 0, metrics::EXIT_LATENCY, name, *us);
                }
            }
        }
        recording
    }

    #[test]
    fn exit_latencies_are_medians_after_gaps_that_pay() {
        let rounds: Vec<f64> = (1..=20).map(f64::from).collect();
        let recording = recorded(&[
            ("WFI", [vec![], vec![]]),
            ("retain", [vec![900.0; 40], rounds]),
            ("off", [vec![7.0; 40], vec![8.0; 5]]),
            ("deep", [vec![], (-15..=20).map(f64::from).collect()]),
        ]);
        let [found] = &exit_latencies(&recording)[..] else {
            panic!("five wake-ups, and an interval that holds 0, say nothing")
        };
        assert_eq!((&*found.state, found.wake_ups), ("retain", 20));
        assert_eq!(found.us, [6.0, 10.5, 15.0]);
    }
}
