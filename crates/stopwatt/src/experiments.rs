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
    &dataplane_experiments::Patterns,
    #[cfg(target_os = "linux")]
    &tune_experiments::Tune,
    #[cfg(target_os = "linux")]
    &forwarder_experiments::Forward,
    &idle_experiments::IdleReplay,
    &idle_experiments::IdlePredict,
    &idle_experiments::IdleClock,
    &idle_experiments::IdleCases,
    &rcu_experiments::RcuDoses,
    &rcu_experiments::LinuxRates,
    &energy_experiments::RcuEnergy,
    &energy_experiments::RcuLazy,
    &placement_experiments::Placement,
    &placement_experiments::EasEnergy,
    &explorations::ExplorePsci,
    &explorations::ExploreRcu,
];

/// Names of the experiments.
pub fn names() -> Vec<&'static str> {
    EXPERIMENTS.iter().map(|experiment| experiment.about().name).collect()
}

/// The name that an experiment with these settings has today. Rates are searched by the forwarder,
/// and once were by `dataplane`.
pub fn name_today(name: &str, mut settings: impl Iterator<Item = impl AsRef<str>>) -> &str {
    match name {
        "dataplane" if settings.any(|setting| setting.as_ref() == "find-rate") => "forward",
        name => name,
    }
}

/// The experiment of a name.
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    EXPERIMENTS.iter().copied().find(|experiment| experiment.about().name == name)
}
