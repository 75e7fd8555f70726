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
    &dataplane_experiments::FindRate,
    &idle_experiments::IdleReplay,
    &idle_experiments::IdleClock,
    &rcu_experiments::RcuDoses,
    &rcu_experiments::LinuxRates,
    &energy_experiments::RcuEnergy,
    &energy_experiments::RcuLazy,
    &placement_experiments::Placement,
    &explorations::ExplorePsci,
    &explorations::ExploreRcu,
];

/// Names of the experiments.
pub fn names() -> Vec<&'static str> {
    EXPERIMENTS
        .iter()
        .map(|experiment| experiment.about().name)
        .collect()
}

/// Names that experiments had in earlier versions, with what stands for each today.
const FORMER: [(&str, &str); 4] = [
    ("eas-energy", "placement --tasks 10,20,30,40,50"),
    (
        "forward",
        "dataplane --receive eth0 --send eth1, or stopwatt run find-rate: the router has left (docs/dataplane.md)",
    ),
    ("idle-cases", "idle-replay --case all"),
    ("idle-predict", "idle-replay --predict"),
];

/// How an experiment is spelt today that was called `name`, or had one of these `settings`, in an
/// earlier version; `None` if its spelling is right.
pub fn today(
    name: &str,
    mut settings: impl Iterator<Item = impl AsRef<str>>,
) -> Option<&'static str> {
    match name {
        "dataplane"
            if settings.any(|setting| setting.as_ref().trim_start_matches('-') == "find-rate") =>
        {
            Some("find-rate")
        }
        name => FORMER
            .iter()
            .find(|(former, _)| *former == name)
            .map(|(_, today)| *today),
    }
}

/// The experiment of a name.
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    EXPERIMENTS
        .iter()
        .copied()
        .find(|experiment| experiment.about().name == name)
}
