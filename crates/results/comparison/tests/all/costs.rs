//! One simulated cost is made 5 % larger: exactly the rows that depend on it change, and the change
//! is named by its cause.
//!
//! Which rows depend on a cost is declared here, from what the cost is
//! (`crates/worlds/soc-config/src/costs.rs`) and what the six procedures do, and not from anything that
//! the comparison computes. Where a CPU is alone, as in the serial tables, the declaration says of
//! every row whether it changes. Where CPUs meet, what one takes longer for is waited for by
//! others, and can also be hidden in a wait of its own: there the fed cause must grow wherever it
//! is fed, whatever else changes must be a wait or a flush beside other flushes, and the rows that
//! change must be exactly those whose values differ in the two recordings, put side by side here
//! without the comparison's own code.

use attribution::Cause;
use comparison::{Change, Comparison, Input, Key, Options, Verdict, Who, compare};
use document::Document;
use findings::Findings;
use psci_cases::CASES;
use psci_experiments::psci_latency::{self, Release};
use recording::Recording;
use soc::Order;
use soc::config::Sources;
use std::collections::BTreeSet;
use std::path::Path;
use std::slice::from_ref;
use std::sync::OnceLock;

/// A release whose lead is a little core (1.0) and whose SCP answers (SCMI).
const RELEASE: &str = "juno-v2.12";

fn sources() -> Sources {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms/");
    let open = |name: String| Document::open(&root.join(name)).unwrap();
    let mut sources = Sources {
        platform: open("juno-r1.toml".to_owned()),
        release: open(format!("juno-r1/releases/{RELEASE}.toml")),
        costs: open(format!("juno-r1/costs/{RELEASE}.toml")),
    };
    // 5 % of the smallest cost is less than a tick of Juno's counter.
    sources.set("counter.frequency", "1 GHz").unwrap();
    sources
}

fn record(set: &[(&str, &str)]) -> Recording {
    let mut sources = sources();
    for (key, value) in set {
        sources.set(key, value).unwrap();
    }
    // Some order, so that no cost decides who comes first: a little core, a big one, and so on.
    let suspends = CASES.iter().filter(|case| case.name.starts_with("suspend"));
    let orders = suspends
        .map(|case| {
            (
                case.name.to_owned(),
                Order {
                    scp: vec![4, 0, 1, 5, 2, 3],
                    ..Order::default()
                },
            )
        })
        .collect();
    let (owners, uncertainty) = Default::default();
    let release = Release {
        machine: sources.machine().unwrap(),
        orders,
        owners,
        uncertainty,
    };
    let options = psci_latency::Options {
        iterations: 3,
        seed: 1,
        free_seeds: 0,
        events: true,
    };
    let mut recording = psci_latency::run(&[release], &CASES, &options, || true).unwrap();
    // The command does the same: what went in stands in the recording.
    recording
        .header
        .costs
        .insert(RELEASE.to_owned(), sources.costs.text().parse().unwrap());
    recording
}

fn base() -> &'static Recording {
    static BASE: OnceLock<Recording> = OnceLock::new();
    BASE.get_or_init(|| record(&[]))
}

fn compared(a: &Recording, b: &Recording) -> Comparison {
    // Findings live as long as the comparison only.
    let [a, b] = [a, b].map(|recording| Findings::new(recording, "", None));
    compare(
        &[
            Input {
                name: "before".to_owned(),
                runs: from_ref(&a),
                ..Input::default()
            },
            Input {
                name: "after".to_owned(),
                runs: from_ref(&b),
                ..Input::default()
            },
        ],
        &Options::default(),
    )
    .unwrap()
}

/// All costs of the file, with their values.
fn costs() -> Vec<(String, String)> {
    fn walk(costs: &mut Vec<(String, String)>, path: &str, table: &toml::Table) {
        for (key, value) in table
            .iter()
            .filter(|(key, _)| !["release", "session", "fit"].contains(&key.as_str()))
        {
            match value {
                toml::Value::Table(table) => walk(costs, &format!("{path}{key}."), table),
                toml::Value::String(text) => costs.push((format!("{path}{key}"), text.clone())),
                other => costs.push((format!("{path}{key}"), other.to_string())),
            }
        }
    }
    let mut all = Vec::new();
    walk(&mut all, "", &sources().costs.text().parse().unwrap());
    all
}

/// Whom a cost is charged to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Core {
    Any,
    Little,
    Big,
}

/// The use that a cost is charged for, which says in which rows its cause's time is longer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Charge {
    /// The call of the procedure's that is a CPU's first since it got power, on its way in.
    FirstEntry,
    /// The same call of the CPU that has made calls before: of the lead.
    WarmEntry,
    /// Each suspend, on its way down.
    SuspendDown,
    /// Each suspend, on its way up.
    SuspendUp,
    /// Each power-down.
    Down,
    /// Each power-up.
    Up,
    /// Each power-up by CPU_ON.
    OnUp,
    /// Each flush.
    Flush,
    /// Each flush that other CPUs make at the same time.
    FlushBesideOthers,
    /// Each flush of a CPU that takes its cluster down.
    LastFlush,
    /// Each power-down that takes the cluster down.
    LastDown,
    /// Each power-up of a CPU whose cluster was down.
    FirstUp,
    /// Each power-down and each power-up.
    DownAndUp,
    /// The work of the SCP after it has answered: nobody, but who finds it at work.
    Nobody,
}

/// Each cost with the cause that shows its time, its charge, and the core that is charged.
const DECLARED: [(&str, Cause, Charge, Core); 26] = [
    (
        "shared.memory_access",
        Cause::Code,
        Charge::DownAndUp,
        Core::Any,
    ),
    (
        "shared.interconnect_exit",
        Cause::Interconnect,
        Charge::LastDown,
        Core::Any,
    ),
    ("shared.smc_warm", Cause::Code, Charge::WarmEntry, Core::Any),
    (
        "shared.flush_port_share",
        Cause::FlushL1,
        Charge::FlushBesideOthers,
        Core::Any,
    ),
    ("scp.take", Cause::ScpWait, Charge::Down, Core::Any),
    ("scp.core_on", Cause::ScpWait, Charge::Nobody, Core::Any),
    ("scp.core_off", Cause::ScpWait, Charge::Nobody, Core::Any),
    ("scp.cluster_off", Cause::ScpWait, Charge::Nobody, Core::Any),
    (
        "cores.cortex-a53.smc",
        Cause::Code,
        Charge::FirstEntry,
        Core::Little,
    ),
    (
        "cores.cortex-a53.interconnect_enter",
        Cause::Interconnect,
        Charge::FirstUp,
        Core::Little,
    ),
    (
        "cores.cortex-a53.context_save",
        Cause::Code,
        Charge::SuspendDown,
        Core::Little,
    ),
    (
        "cores.cortex-a53.context_restore",
        Cause::Code,
        Charge::SuspendUp,
        Core::Little,
    ),
    (
        "cores.cortex-a53.power_down",
        Cause::Code,
        Charge::Down,
        Core::Little,
    ),
    (
        "cores.cortex-a53.flush_l1_line",
        Cause::FlushL1,
        Charge::Flush,
        Core::Little,
    ),
    (
        "cores.cortex-a53.flush_l2_line",
        Cause::FlushL2,
        Charge::LastFlush,
        Core::Little,
    ),
    (
        "cores.cortex-a53.warm_reset",
        Cause::WakeupPath,
        Charge::Up,
        Core::Little,
    ),
    (
        "cores.cortex-a53.interrupts_init",
        Cause::Code,
        Charge::OnUp,
        Core::Little,
    ),
    (
        "cores.cortex-a57.smc",
        Cause::Code,
        Charge::FirstEntry,
        Core::Big,
    ),
    (
        "cores.cortex-a57.interconnect_enter",
        Cause::Interconnect,
        Charge::FirstUp,
        Core::Big,
    ),
    (
        "cores.cortex-a57.context_save",
        Cause::Code,
        Charge::SuspendDown,
        Core::Big,
    ),
    (
        "cores.cortex-a57.context_restore",
        Cause::Code,
        Charge::SuspendUp,
        Core::Big,
    ),
    (
        "cores.cortex-a57.power_down",
        Cause::Code,
        Charge::Down,
        Core::Big,
    ),
    (
        "cores.cortex-a57.flush_l1_line",
        Cause::FlushL1,
        Charge::Flush,
        Core::Big,
    ),
    (
        "cores.cortex-a57.flush_l2_line",
        Cause::FlushL2,
        Charge::LastFlush,
        Core::Big,
    ),
    (
        "cores.cortex-a57.warm_reset",
        Cause::WakeupPath,
        Charge::Up,
        Core::Big,
    ),
    (
        "cores.cortex-a57.interrupts_init",
        Cause::Code,
        Charge::OnUp,
        Core::Big,
    ),
];

/// True if a row's span holds what the cost is charged for.
fn is_fed(key: &Key, charged: Charge, core: Core) -> bool {
    let (cluster, lead) = match key.who {
        Who::Place { cluster, core } => (cluster, (cluster, core) == (1, 0)),
        // The declared order has the lead as the first of its cluster.
        Who::Nth { cluster, n } => (cluster, (cluster, n) == (1, 1)),
        Who::LastMan { cluster } => (cluster, false),
        _ => panic!("{key:?}"),
    };
    if core != Core::Any && (core == Core::Little) != (cluster == 1) {
        return false;
    }
    let (case, metric) = (key.case.as_str(), key.metric.as_str());
    let serial = key.mode == "serial";
    let suspends = case.starts_with("suspend") || (case == "cpu-off" && lead);
    // In series the big cluster is off but for the CPU that has its turn, and the lead keeps the
    // little one up until its own.
    let takes_cluster_down = match case {
        "suspend-deepest" | "cpu-off" if serial => cluster == 0 || lead,
        "suspend-deepest" => matches!(key.who, Who::LastMan { .. }),
        _ => false,
    };
    let down = metric == "powerdown";
    let up = metric == "wakeup";
    let flush = metric == "powerdown" || metric == "cache_flush";
    match charged {
        Charge::FirstEntry => !lead && (down || case == "psci-version"),
        Charge::WarmEntry => lead && (down || case == "psci-version"),
        Charge::SuspendDown => down && suspends,
        Charge::SuspendUp => up && suspends,
        Charge::Down => down,
        Charge::Up => up,
        Charge::OnUp => up && !suspends,
        Charge::Flush => flush,
        // At the deepest level the locks keep the CPUs of a cluster apart.
        Charge::FlushBesideOthers => flush && case == "suspend-level0" && !serial,
        Charge::LastFlush => flush && takes_cluster_down,
        Charge::LastDown => down && takes_cluster_down,
        // Who comes up first in parallel is nothing that a cost's meaning tells.
        Charge::FirstUp => up && serial && takes_cluster_down,
        Charge::DownAndUp => down || up,
        Charge::Nobody => false,
    }
}

/// True if other CPUs have a part in the row: in parallel suspends, and where the lead's message of
/// the serial tables finds the SCP busy with the CPU_OFF of the CPU before it.
fn meets_others(key: &Key) -> bool {
    let lead_down = key.who
        == Who::Place {
            cluster: 1,
            core: 0,
        }
        && key.metric == "powerdown";
    (key.mode == "parallel" && key.case.starts_with("suspend")) || lead_down
}

/// Causes through which one CPU's time becomes another's.
const BETWEEN_CPUS: [Cause; 6] = [
    Cause::LockWait,
    Cause::ScpChannelWait,
    Cause::ScpWait,
    Cause::DeclaredOrder,
    Cause::FlushL1,
    Cause::FlushL2,
];

/// Rounding of two stamps, in microseconds at 1 GHz.
const ROUNDING: f64 = 0.0025;

fn grew(change: &Change, cause: Cause) -> f64 {
    change
        .causes
        .iter()
        .find(|change| change.part == cause)
        .map_or(0.0, |change| change.absolute())
}

/// The value of a parallel suspend's row in the median, read off the measures: of each iteration
/// that of the n-th CPU of the cluster by powerdown, the last man being the last.
fn occurred(recording: &Recording, key: &Key) -> f64 {
    let mut values = Vec::new();
    for iteration in 0..recording.header.iterations {
        let of = |metric: &str| -> Vec<(u16, u16, f64)> {
            let measures = recording.measures().iter().filter(|measure| {
                let (_, case, mode) = recording.series_texts(measure.series);
                (case, mode, measure.iteration) == (&*key.case, &*key.mode, iteration)
                    && recording.text(measure.metric) == metric
            });
            measures
                .map(|m| (m.cluster.unwrap(), m.core.unwrap(), m.value))
                .collect()
        };
        let (cluster, n) = match key.who {
            Who::Nth { cluster, n } => (cluster, usize::from(n)),
            Who::LastMan { cluster } => (cluster, if cluster == 0 { 2 } else { 4 }),
            _ => panic!("{key:?} has no role"),
        };
        let mut order: Vec<_> = of("powerdown")
            .into_iter()
            .filter(|(other, ..)| *other == cluster)
            .collect();
        order.sort_by(|a, b| a.2.total_cmp(&b.2));
        let core = order[n - 1].1;
        values.extend(
            of(&key.metric)
                .into_iter()
                .filter(|m| (m.0, m.1) == (cluster, core))
                .map(|m| m.2),
        );
    }
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

fn check(cost: &str) {
    let (_, cause, charged, core) = *DECLARED.iter().find(|(name, ..)| *name == cost).unwrap();
    let (_, value) = costs().into_iter().find(|(name, _)| name == cost).unwrap();
    let (number, unit) = value.split_once(' ').unwrap_or((&value, ""));
    let more = format!("{} {unit}", number.parse::<f64>().unwrap() * 1.05);
    let after = record(&[(&format!("costs.{cost}"), more.trim())]);
    let comparison = compared(base(), &after);
    assert_eq!(comparison.rows.len(), 96);
    assert_eq!(
        comparison.differences.len(),
        1,
        "{:?}",
        comparison.differences
    );
    assert_eq!(comparison.differences[0].key, format!("costs.{cost}"));
    assert!((comparison.differences[0].percent[0].unwrap() - 5.0).abs() < 0.01);
    let (mut changed, mut in_company) = (0, 0);
    for row in &comparison.rows {
        let label = row.key.label();
        let change = row.changes[0].as_ref().unwrap();
        let differs = change.verdict != Verdict::Same;
        changed += usize::from(differs);
        let fed = is_fed(&row.key, charged, core);
        // The code of a wake-up and its reset are one part.
        let cause = match (cause, row.key.metric.as_str()) {
            (Cause::Code, "wakeup") => Cause::WakeupPath,
            _ => cause,
        };
        if row.key.mode == "parallel" && row.key.case.starts_with("suspend") {
            // A tick at 1 GHz is what rounding can make.
            let by = occurred(&after, &row.key) - occurred(base(), &row.key);
            assert_eq!(
                differs,
                by.abs() > 0.001 + 1e-6,
                "{label} and {cost}: {by} us, {change:?}"
            );
            assert!(
                (change.absolute - by).abs() < 1e-6,
                "{label} and {cost}: {by} us, {change:?}"
            );
            in_company += usize::from(differs);
        }
        if meets_others(&row.key) {
            // Hidden or not, what is fed takes longer; where waits vary, waits are asked of by
            // their sum.
            if fed && !BETWEEN_CPUS[..4].contains(&cause) {
                assert!(
                    grew(change, cause) > 0.0,
                    "{label} depends on {cost}: {change:?}"
                );
            }
            for other in change
                .causes
                .iter()
                .filter(|other| !fed || other.part != cause)
            {
                // memory_access lengthens everything that firmware does, reset included.
                let explained = BETWEEN_CPUS.contains(&other.part) || charged == Charge::DownAndUp;
                let steady = other.absolute().abs() <= ROUNDING;
                let first_up = charged == Charge::FirstUp && other.part == Cause::Interconnect;
                assert!(
                    steady || explained || first_up,
                    "{label}, {cost}: {} changed as well: {change:?}",
                    other.part.name()
                );
            }
        } else {
            assert_eq!(differs, fed, "{label} and {cost}: {change:?}");
            if fed {
                assert_eq!(
                    change.main_cause(),
                    Some(cause),
                    "{label}, {cost}: {change:?}"
                );
                assert_eq!(change.basis, comparison::Basis::Exact);
            }
        }
    }
    assert!(changed > 0, "no row depends on {cost}");
    // What only a CPU_ON's way up takes is in no suspend's figures.
    assert_eq!(
        in_company > 0,
        charged != Charge::OnUp,
        "{in_company} rows of the parallel suspends depend on {cost}"
    );
}

macro_rules! a_test_for_each {
    ($($name:ident: $cost:literal,)*) => {
        $(
            #[test]
            fn $name() {
                check($cost);
            }
        )*

        #[test]
        fn every_cost_of_the_file_has_a_test() {
            let tested = BTreeSet::from([$($cost.to_owned()),*]);
            let declared: BTreeSet<String> = DECLARED.iter().map(|(name, ..)| (*name).to_owned()).collect();
            let there: BTreeSet<String> = costs().into_iter().map(|(name, _)| name).collect();
            assert_eq!(tested, there);
            assert_eq!(declared, there);
        }
    };
}

a_test_for_each! {
    memory_access: "shared.memory_access",
    interconnect_exit: "shared.interconnect_exit",
    smc_warm: "shared.smc_warm",
    flush_port_share: "shared.flush_port_share",
    scp_take: "scp.take",
    scp_core_on: "scp.core_on",
    scp_core_off: "scp.core_off",
    scp_cluster_off: "scp.cluster_off",
    little_smc: "cores.cortex-a53.smc",
    little_interconnect_enter: "cores.cortex-a53.interconnect_enter",
    big_interconnect_enter: "cores.cortex-a57.interconnect_enter",
    little_context_save: "cores.cortex-a53.context_save",
    little_context_restore: "cores.cortex-a53.context_restore",
    little_power_down: "cores.cortex-a53.power_down",
    little_flush_l1_line: "cores.cortex-a53.flush_l1_line",
    little_flush_l2_line: "cores.cortex-a53.flush_l2_line",
    little_warm_reset: "cores.cortex-a53.warm_reset",
    little_interrupts_init: "cores.cortex-a53.interrupts_init",
    big_smc: "cores.cortex-a57.smc",
    big_context_save: "cores.cortex-a57.context_save",
    big_context_restore: "cores.cortex-a57.context_restore",
    big_power_down: "cores.cortex-a57.power_down",
    big_flush_l1_line: "cores.cortex-a57.flush_l1_line",
    big_flush_l2_line: "cores.cortex-a57.flush_l2_line",
    big_warm_reset: "cores.cortex-a57.warm_reset",
    big_interrupts_init: "cores.cortex-a57.interrupts_init",
}

#[test]
fn a_recording_and_itself_and_a_repetition_of_it_do_not_differ() {
    for other in [base(), &record(&[])] {
        let comparison = compared(base(), other);
        assert_eq!(comparison.count(Verdict::Same), 96);
        assert!(
            !comparison.has_regression()
                && comparison.warnings.is_empty()
                && comparison.differences.is_empty()
        );
        assert!(
            comparison
                .changes()
                .all(|(_, change)| change.absolute == 0.0)
        );
    }
}

#[test]
fn causes_of_a_change_add_up_to_it() {
    let after = record(&[
        ("psci.scp_send", "outside-locks"),
        ("costs.scp.take", "70 us"),
    ]);
    let comparison = compared(base(), &after);
    let mut large = 0;
    for (row, change) in comparison.changes() {
        let sum: f64 = change.causes.iter().map(|cause| cause.absolute()).sum();
        assert!(
            (sum - change.absolute).abs() < 1e-6,
            "{}: {sum} of {}",
            row.key.label(),
            change.absolute
        );
        large += usize::from(change.absolute.abs() > 10.0);
    }
    assert!(large > 10, "the settings changed next to nothing");
}
