//! The experiments. Who adds one adds a line.

use experiment::Experiment;

/// Every experiment, in the order in which help and lists show them.
pub static EXPERIMENTS: &[&dyn Experiment] = &[
    &psci_experiments::PsciLatency,
    &psci_experiments::PsciCalls,
    &psci_experiments::LinuxBoot,
    &dataplane_experiments::Dataplane,
    &dataplane_experiments::Prefetch,
    &dataplane_experiments::Batch,
    #[cfg(target_os = "linux")]
    &tune_experiments::Tune,
    &idle_experiments::IdleReplay,
    &idle_experiments::IdleClock,
    &trace_energy::TraceEnergy,
    &energy_experiments::RcuEnergy,
    &placement_experiments::Placement,
];

/// Names of the experiments.
pub fn names() -> Vec<&'static str> {
    EXPERIMENTS
        .iter()
        .map(|experiment| experiment.about().name)
        .collect()
}

/// The experiment of a name.
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    EXPERIMENTS
        .iter()
        .copied()
        .find(|experiment| experiment.about().name == name)
}
