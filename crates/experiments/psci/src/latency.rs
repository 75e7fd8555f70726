//! `psci-latency`: the six PSCI cases, on simulated SoCs or as firmware on QEMU.

use crate::firmware;
use crate::machine::{CPUS, GIC, VIRTUALIZATION, images, images_can_be_had, machine};
use crate::psci_latency::{self, NAME, Options, Release};
use crate::timer_owners::OtherSessions;
use crate::uncertainty::Uncertainty;
use experiment::setting::{self, CheckedSetting, Choice, Keys, Number, Or, Releases};
use experiment::{
    About, Conditions, Error, Experiment, Observer, Request, Result, Settings, World,
};
use itertools::Itertools;
use platforms::PlatformFiles;
use psci_cases::{CASES, Case, Mode};
use qemu::{Build, payload};
use recording::{Header, Platform, Recording, conditions};
use soc::Order as DeclaredOrder;
use soc::config::{AssumedTimes, Machine, Sources};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Runs the six cases of the Juno documents.
pub struct PsciLatency;

const SIM: &[World] = &[World::Sim];

const PLATFORM: Or<setting::Platform> = setting::Platform::new(
    "platform",
    "Name of a platform (see `stopwatt list`) or path of a platform file.",
)
.only(SIM)
.or("juno-r1");

const RELEASE: Releases = Releases::new(
    "release",
    "A release of the platform, by its name or the end of it (v2.12); `last` for the last. May be given again; all by default.",
)
.only(SIM);

const SET: Keys = Keys::new(
    "set",
    "Override a key of the platform, release or costs. May be given again.",
)
.only(SIM);

const SEED: Or<Number> = Number::new("seed", 0..=u64::MAX, "Seed of all that is left to chance.")
    .only(SIM)
    .or(1);

const ITERATIONS: Or<Number<u32>> =
    Number::new("iterations", 1..=100_000, "Repetitions of each case.").or(11);

const FREE_SEEDS: Number<u32> = Number::new(
    "free-seeds",
    0..=100_000,
    "Seeds with which the parallel suspends also run freely, to show the spread; 100 by default, 20 in free order.",
)
.only(SIM);

/// Seeds of the free runs beside a run in a declared order, and beside one in free order.
const USUAL_FREE_SEEDS: [u32; 2] = [100, 20];

/// The order in which CPUs reach the SCP in the compared run.
#[derive(PartialEq)]
enum Order {
    Declared,
    Free,
    /// The order that another release's published run had.
    OfRelease(String),
}

fn order(text: &str) -> Result<Order, String> {
    Ok(match text {
        "" => return Err("there are: declared, free, or the name of a release".to_owned()),
        "declared" => Order::Declared,
        "free" => Order::Free,
        release => Order::OfRelease(release.to_owned()),
    })
}

const ORDER: CheckedSetting<Order> = CheckedSetting::new(
    "order",
    "ORDER",
    order,
    "Order in which CPUs reach the SCP in the compared run: `declared` (the published run's), `free` (whatever comes), or the name of a \
     release whose order is declared; `declared` by default, `free` with --set.",
)
.only(SIM);

/// Bytes of values that a run may leave; the rest of what a reader holds is room for events.
const MOST_MEASURES: u64 = recording::MOST_HELD / 4 * 3;

/// Memory that a run takes at most for each byte of values that it leaves: what the simulations
/// saw, their values, and all of them as one recording are there at once.
const TIMES_HELD: u64 = 3;

const CASE: CheckedSetting<String> =
    CheckedSetting::new("case", "CASE", known_case, "Only the cases of this name.").only(SIM);

const MODE: Choice<Mode> = Choice::new(
    "mode",
    &[
        ("parallel", Mode::Parallel, "CPUs act together"),
        ("serial", Mode::Serial, "CPUs act one by one"),
    ],
    "Only the cases of this mode.",
)
.only(SIM);

/// Names of the six cases with their modes.
const CASE_NAMES: [&str; 6] = [
    "suspend-deepest parallel",
    "suspend-level0 parallel",
    "suspend-deepest serial",
    "suspend-level0 serial",
    "cpu-off serial",
    "psci-version parallel",
];

static ABOUT: About = About {
    name: NAME,
    summary: "The six PSCI latency procedures, on a simulated SoC or as firmware on QEMU",
    details: "Keys of --set: any of the platform file that decides something (scp.channels, cores.cortex-a53.l1_data, topology.domain.little.cores), of the \
              release (psci.scp_send, psci.lock, firmware.scp_protocol, lead) and of the costs (costs.scp.core_off). \
              topology.clusters takes 4, 16x4 or 4*cortex-a53+2*cortex-a57.",
    worlds: &[
        (World::Sim, "the library on a simulated SoC"),
        (
            World::Qemu,
            "the library as an EL3 image on an emulated machine",
        ),
    ],
    settings: &[
        &PLATFORM,
        &RELEASE,
        &SET,
        &SEED,
        &ITERATIONS,
        &FREE_SEEDS,
        &ORDER,
        &CASE,
        &MODE,
        &CPUS,
        &GIC,
        &VIRTUALIZATION,
    ],
    cases: &CASE_NAMES,
    examples: &[
        ("--platform juno-r1 --release v2.12", ""),
        ("--report latency.html", "also a page with the CPU timeline"),
        ("--set psci.scp_send=outside-locks --format json", ""),
        (
            "--set topology.clusters=64x4 --iterations 1 -o recordings/big",
            "",
        ),
        ("--world qemu --cpus 4 --iterations 3", ""),
    ],
    sweep_defaults: &[
        (&RELEASE, "last"),
        (&ORDER, "free"),
        (&FREE_SEEDS, "20"),
        (&ITERATIONS, "1"),
        (&CASE, "suspend-deepest"),
        (&MODE, "parallel"),
    ],
};

fn known_case(name: &str) -> Result<String, String> {
    if CASES.iter().any(|case| case.name == name) {
        Ok(name.to_owned())
    } else {
        Err(format!("there are: {}", CASE_NAMES.join(", ")))
    }
}

impl Experiment for PsciLatency {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result {
        match request.world {
            World::Qemu => {
                images_can_be_had(request)?;
                machine(request, Some(4)).map(|_| ())
            }
            _ => Simulation::new(request).map(|_| ()),
        }
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording> {
        match request.world {
            World::Qemu => on_qemu(request, observer),
            _ => Simulation::new(request)?.run(observer),
        }
    }
}

fn on_qemu(request: &Request<'_>, observer: &Observer) -> Result<Recording> {
    // One instruction is a tick of the counter, so that each single stamp is exact.
    let machine = machine(request, Some(4))?;
    let iterations = request.settings.get(ITERATIONS);
    observer.progress.say("building and running the firmware");
    let images = images(request, Build::Instrumented)?;
    let mut run = payload::Options::new(payload::Run::Latency, iterations.into());
    run.limit = Duration::from_secs(120 + u64::from(iterations) * machine.cpus as u64);
    let ran = payload::run(&images, &machine, &run).map_err(Error::failed)?;
    observer.progress.check()?;
    Ok(firmware::latency(&machine, &ran, iterations))
}

/// The simulation that a request asks for.
struct Simulation {
    built: Arc<Built>,
    cases: Vec<Case>,
    options: Options,
    keys: Vec<(String, String)>,
}

/// All that is made of the platform's files and of the keys that are set.
struct Built {
    releases: Vec<Release>,
    /// The part of a header that is about the machines.
    platform: Option<Platform>,
    costs: BTreeMap<String, toml::Table>,
}

impl Built {
    fn new(
        request: &Request<'_>,
        order: &Order,
        drawn: bool,
        keys: &[(String, String)],
    ) -> Result<Self> {
        let settings = &request.settings;
        let files = PlatformFiles::open(request.platforms, &settings.get(PLATFORM))?;
        let names = release_names(&files, settings)?;
        let order_of = match order {
            Order::OfRelease(given) => Some(
                files
                    .release_name(given)
                    .map_err(|_| no_such_order(&files, given))?,
            ),
            _ => None,
        };
        let mut built = Self {
            releases: Vec::new(),
            platform: None,
            costs: BTreeMap::new(),
        };
        for name in &names {
            let mut source = files.sources(name)?;
            let machine = machine_with(&mut source, keys, drawn)?;
            let order_of = order_of.as_deref().unwrap_or(&machine.release.name);
            let mut orders = match order {
                Order::Free => BTreeMap::new(),
                _ => declared_orders(&machine, order_of, &request.conditions)?,
            };
            let owners = owners(
                request,
                &files,
                &machine,
                order_of,
                protocol_of(&table(source.release.text())),
                &mut orders,
            );
            let (name, costs) = (&machine.release.name, table(source.costs.text()));
            built
                .platform
                .get_or_insert_with(|| Platform {
                    name: machine.platform.name.clone(),
                    text: source.platform.text().to_owned(),
                    figures: toml::Table::new(),
                })
                .figures
                .insert(
                    name.clone(),
                    toml::Value::Table(table(source.release.text())),
                );
            let uncertainty = Uncertainty::new(&costs);
            built.costs.insert(name.clone(), costs);
            built.releases.push(Release {
                machine,
                orders,
                owners,
                uncertainty,
            });
        }
        Ok(built)
    }
}

/// The releases that are asked for, each once; all of the platform where none is.
fn release_names(files: &PlatformFiles<'_>, settings: &Settings) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for given in settings.get(RELEASE) {
        let name = files.release_name(&given)?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        names = files.releases()?;
    }
    Ok(names)
}

/// The owners of the timer that other sessions of a board tell, by case; an order that says no
/// owner gets the likeliest.
fn owners(
    request: &Request<'_>,
    files: &PlatformFiles<'_>,
    machine: &Machine,
    order_of: &str,
    protocol: Option<String>,
    orders: &mut BTreeMap<String, DeclaredOrder>,
) -> BTreeMap<String, OtherSessions> {
    // Its own session says nothing here, nor does that of the order.
    let is_own = |session: &str| {
        [&*machine.release.name, order_of].iter().any(|own| {
            session
                .strip_prefix(*own)
                .is_some_and(|it| it.is_empty() || it.starts_with(" ("))
        })
    };
    let mut owners = BTreeMap::new();
    for case in CASES.iter().filter(|case| case.mode == Mode::Parallel) {
        let Some(order) = orders.get_mut(case.name) else {
            continue;
        };
        let sessions = OtherSessions::new(machine, case, &request.conditions, |session| {
            let release = files
                .release(session)
                .ok()
                .and_then(|file| protocol_of(&table(file.text())));
            let condition = request
                .conditions
                .get("scp-protocol", &[&machine.platform.name, session]);
            !is_own(session) && release.as_ref().or(condition.first()) == protocol.as_ref()
        });
        order.timer = order
            .timer
            .or_else(|| sessions.likeliest(machine, &order.scp));
        owners.insert(case.name.to_owned(), sessions);
    }
    owners
}

/// A file that was read as TOML before, to build a machine.
fn table(text: &str) -> toml::Table {
    toml::from_str(text).unwrap_or_default()
}

/// The protocol between CPUs and the SCP that a release's file names.
fn protocol_of(release: &toml::Table) -> Option<String> {
    release
        .get("firmware")?
        .get("scp_protocol")?
        .as_str()
        .map(str::to_owned)
}

/// The cases that are asked for; all where neither case nor mode is.
fn cases_of(case: Option<String>, mode: Option<Mode>) -> Result<Vec<Case>> {
    let cases = CASES
        .into_iter()
        .filter(|it| {
            case.as_ref().is_none_or(|case| it.name == case)
                && mode.is_none_or(|mode| it.mode == mode)
        })
        .collect_vec();
    if cases.is_empty() {
        let message = format!(
            "there is no case {} {}",
            case.unwrap_or_default(),
            mode.map_or("", Mode::name)
        );
        return Err(Error::usage(
            message,
            format!("there are: {}", CASE_NAMES.join(", ")),
        ));
    }
    Ok(cases)
}

/// Refuses a run whose measures the memory does not hold.
fn has_room(releases: &[Release], cases: &[Case], options: &Options) -> Result {
    let bytes = psci_latency::bytes_of_measures(releases, cases, options);
    if bytes > MOST_MEASURES {
        let part = MOST_MEASURES as f64 / bytes as f64;
        let (most, asked) = (
            (f64::from(options.iterations) * part) as u32,
            options.iterations,
        );
        return Err(Error::Memory {
            message: format!(
                "{asked} iterations leave {} MiB of values, and a recording may have {}",
                bytes >> 20,
                MOST_MEASURES >> 20
            ),
            help: format!(
                "ask for at most {} iterations, for fewer cases, or for fewer releases at a time",
                most.max(1)
            ),
        });
    }
    let what = || format!("{} iterations", options.iterations);
    memory::must_have(bytes.saturating_mul(TIMES_HELD))
        .map_err(|short| Error::memory(&what(), &short))?;
    Ok(())
}

impl Simulation {
    fn new(request: &Request<'_>) -> Result<Self> {
        let settings = &request.settings;
        let keys = settings.get(SET);
        let usual = if keys.is_empty() {
            Order::Declared
        } else {
            Order::Free
        };
        let order = settings.get(ORDER).unwrap_or(usual);
        let declared = order != Order::Free;
        let free_seeds = settings
            .get(FREE_SEEDS)
            .unwrap_or(USUAL_FREE_SEEDS[usize::from(!declared)]);
        let make = || Built::new(request, &order, free_seeds > 0, &keys);
        let key = settings.key_of(&[&PLATFORM, &RELEASE, &ORDER, &SET, &FREE_SEEDS]);
        let built = match request.kept {
            Some(kept) => kept.get_or_make(key, make)?,
            None => Arc::new(make()?),
        };
        let (case, mode) = (settings.get(CASE), settings.get(MODE));
        let cases = cases_of(case, mode)?;
        let options = Options {
            iterations: settings.get(ITERATIONS),
            seed: settings.get(SEED),
            free_seeds,
            events: true,
        };
        has_room(&built.releases, &cases, &options)?;
        Ok(Self {
            built,
            cases,
            options,
            keys,
        })
    }

    fn run(&self, observer: &Observer) -> Result<Recording> {
        let progress = &observer.progress;
        progress.expect(
            psci_latency::iterations(&self.built.releases, &self.cases, &self.options),
            "iterations",
        );
        // A single simulation of many CPUs or iterations may take minutes, and is no use before its
        // end.
        progress.set_abandonable(true);
        let options = Options {
            events: observer.events,
            ..self.options
        };
        let mut recording = psci_latency::run(&self.built.releases, &self.cases, &options, || {
            progress.step();
            progress.check().is_ok()
        })
        .map_err(Error::failed)?;
        progress.set_abandonable(false);
        progress.check()?;
        if observer.description {
            self.describe(&mut recording.header);
        }
        Ok(recording)
    }

    /// Adds to a header what the machines were made of.
    fn describe(&self, header: &mut Header) {
        header.settings = self.keys.iter().cloned().collect();
        if self
            .keys
            .iter()
            .any(|(key, _)| key.starts_with("cores.") && key.ends_with(".clock"))
        {
            header.notes.push(CLOCKED.to_owned());
        }
        // Costs that are another board's say so themselves, and a platform of whom it has them.
        for Release { machine, .. } in &self.built.releases {
            let release = &machine.release.name;
            if let Some(lender) = &machine.platform.borrows
                && !self.built.costs[release].contains_key(conditions::BORROWED)
            {
                header.set_condition(release, conditions::BORROWED, lender);
            }
        }
        header.costs.extend(self.built.costs.clone());
        header.platform.clone_from(&self.built.platform);
    }
}

/// What another clock of a core rests on: no two figures were published at two clocks of one core.
const CLOCKED: &str = "At another clock a core's code with caches on and its flushes take as many cycles as before. Code with caches off, \
memory, the interconnect and the SCP keep their times. Nobody measured this at two clocks.";

/// The machine of a release with some keys set.
fn machine_with(sources: &mut Sources, keys: &[(String, String)], drawn: bool) -> Result<Machine> {
    // The machine before each key, where there can be such a one. One step a key: a study of
    // sensitivity sets them all.
    let mut before = Vec::with_capacity(keys.len());
    for (key, value) in keys {
        before.push(sources.machine().ok());
        platforms::set_key(sources, key, value)?;
    }
    let was_sound = before.first().is_some_and(Option::is_some);
    let machine = sources
        .machine()
        .map_err(|wrong| platforms::while_set(keys, was_sound, wrong))?;
    let mut after = Some(&machine);
    for ((key, value), before) in keys.iter().zip(&before).rev() {
        if let (Some(with), Some(without)) = (after, before)
            && with != without
            && used(with, drawn) == used(without, drawn)
        {
            return Err(Error::usage(
                format!("--set {key}={value} changes nothing: the six cases do not use `{key}`"),
                "they use the caches, the tree of domains, the idle states `level0` and `deepest`, the SCP, the assumed times, \
                 the release and the costs",
            ));
        }
        after = before.as_ref();
    }
    Ok(machine)
}

/// A machine without what the six cases never look at: names, idle states that they do not enter,
/// and operating points.
fn used(machine: &Machine, drawn: bool) -> Machine {
    let mut machine = machine.clone();
    if !drawn {
        // Only the runs of free seeds draw it.
        machine.platform.assumed = AssumedTimes {
            start_spread: 0,
            interrupt_spread: 0,
            wake_spread: 0,
            timer_spread: 0,
            ..machine.platform.assumed
        };
    }
    if machine.costs.scp.core_on.is_some() {
        // The costs say it.
        machine.platform.assumed.core_on = None;
    }
    machine
        .platform
        .idle_states
        .retain(|state| CASE_STATES.contains(&state.name.as_str()));
    for state in &mut machine.platform.idle_states {
        state.system_suspend = false;
        // All states that lose their contents are alike.
        state.state = state.state.map(|local| local.min(2));
    }
    for domain in &mut machine.platform.topology.domains {
        domain.name.clear();
        domain.operating_points.clear();
    }
    machine
}

/// The idle states that the cases enter.
const CASE_STATES: [&str; 2] = ["level0", "deepest"];

fn no_such_order(platform: &PlatformFiles, given: &str) -> Error {
    let releases = platform.releases().unwrap_or_default().join(", ");
    Error::usage(
        format!("there is no order `{given}`"),
        format!("there are: declared, free, and those of {releases}"),
    )
}

/// The conditions that published runs of a release declare, by case, for a machine of the same
/// platform.
fn declared_orders(
    machine: &Machine,
    release: &str,
    conditions: &Conditions,
) -> Result<BTreeMap<String, DeclaredOrder>> {
    let cpus = &machine.platform.topology.cpus;
    let number = |place: &String| {
        cpus.iter()
            .position(|cpu| format!("{}.{}", cpu.cluster, cpu.core) == *place)
            .ok_or_else(|| {
                let message = format!(
                    "the declared order of {release} names CPU {place}, which {} does not have",
                    machine.platform.name
                );
                Error::usage(
                    message,
                    "run with --order free, or on the platform that the published figures are of",
                )
            })
    };
    let mut orders = BTreeMap::new();
    for case in CASES.iter().filter(|case| case.mode == Mode::Parallel) {
        let declared = |what: &str| -> Result<Vec<usize>> {
            conditions
                .get(what, &[&machine.platform.name, release, case.name])
                .iter()
                .map(number)
                .collect()
        };
        let order = DeclaredOrder {
            scp: declared("scp-order")?,
            timer: declared("timer")?.first().copied(),
            wakes: declared("wake-order")?,
        };
        if !order.scp.is_empty() {
            orders.insert(case.name.to_owned(), order);
        }
    }
    Ok(orders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_listed() {
        let names = CASES.map(|case| format!("{} {}", case.name, case.mode.name()));
        assert_eq!(names, CASE_NAMES);
    }

    /// Every value of a file with its dotted key; elements of arrays of tables go by their number.
    fn leaves(value: &toml::Value, key: &str, found: &mut Vec<(String, toml::Value)>) {
        let below = |part: &str| {
            if key.is_empty() {
                part.to_owned()
            } else {
                format!("{key}.{part}")
            }
        };
        match value {
            toml::Value::Table(table) => table
                .iter()
                .for_each(|(part, value)| leaves(value, &below(part), found)),
            toml::Value::Array(all) if all.iter().any(toml::Value::is_table) => {
                all.iter()
                    .enumerate()
                    .for_each(|(place, value)| leaves(value, &below(&place.to_string()), found));
            }
            value => found.push((key.to_owned(), value.clone())),
        }
    }

    /// Another value of the same kind.
    fn another(value: &toml::Value) -> String {
        match value {
            toml::Value::Boolean(value) => (!value).to_string(),
            toml::Value::Integer(value) => (value + 1).to_string(),
            toml::Value::Float(value) => (value * 1.5).to_string(),
            toml::Value::Array(all) => {
                let numbers = all.iter().enumerate().map(|(place, value)| match value {
                    toml::Value::Integer(value) => (value + i64::from(place == 0)).to_string(),
                    other => other.to_string(),
                });
                format!("[{}]", numbers.collect::<Vec<_>>().join(", "))
            }
            toml::Value::String(text) => match text
                .split_once(' ')
                .map(|(number, unit)| (number.parse::<f64>(), unit))
            {
                Some((Ok(number), unit)) => format!("{} {unit}", number * 2.0),
                _ => match text.as_str() {
                    "scmi" => "scpi".to_owned(),
                    "inside-locks" => "outside-locks".to_owned(),
                    "bakery" => "ticket".to_owned(),
                    _ => "another".to_owned(),
                },
            },
            other => unreachable!("no file has {other}"),
        }
    }

    #[test]
    fn a_key_changes_what_is_simulated_or_is_an_error() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
        let open = |file: &str| document::Document::open(&folder.join(file)).unwrap();
        let sources = Sources {
            platform: open("juno-r1.toml"),
            release: open("juno-r1/releases/juno-v2.12.toml"),
            costs: open("juno-r1/costs/juno-v2.12.toml"),
        };
        let simulate = |machine: Machine| {
            let options = Options {
                iterations: 1,
                seed: 1,
                free_seeds: 1,
                events: true,
            };
            let (orders, owners) = Default::default();
            let releases = [Release {
                machine,
                orders,
                owners,
                uncertainty: Uncertainty::default(),
            }];
            let recording = psci_latency::run(&releases, &CASES, &options, || true).ok()?;
            Some(format!(
                "{:?} {:?}",
                recording.events(),
                recording.measures()
            ))
        };
        let usual = simulate(sources.machine().unwrap()).unwrap();
        let (mut refused, mut keys) = (Vec::new(), 0);
        for (document, prefix) in [
            (&sources.platform, ""),
            (&sources.release, ""),
            (&sources.costs, "costs"),
        ] {
            let mut all = Vec::new();
            leaves(
                &toml::Value::Table(toml::from_str(document.text()).unwrap()),
                prefix,
                &mut all,
            );
            for (key, value) in all {
                keys += 1;
                let set = (key.clone(), another(&value));
                match machine_with(&mut sources.clone(), std::slice::from_ref(&set), true) {
                    Err(error) => {
                        if format!("{error:?}").contains("changes nothing") {
                            refused.push(key);
                        }
                    }
                    Ok(machine) => {
                        assert!(
                            simulate(machine).as_ref() != Some(&usual),
                            "--set {key}={} changes nothing",
                            set.1
                        )
                    }
                }
            }
        }
        assert!(keys > 60, "{keys} keys");
        for key in [
            "topology.domain.1.name",
            "idle_state.0.state",
            "scp.source",
            "costs.release",
        ] {
            assert!(
                refused.iter().any(|refused| refused == key),
                "{key} is not refused; these are: {refused:?}"
            );
        }
        for key in [
            "cores.cortex-a53.clock",
            "scp.channels",
            "topology.domain.1.l2",
            "psci.scp_send",
            "costs.scp.take",
        ] {
            assert!(
                !refused.iter().any(|refused| refused == key),
                "{key} is refused"
            );
        }
        // What is set to what it is already is no mistake: a what-if starts there.
        machine_with(
            &mut sources.clone(),
            &[("scp.channels".to_owned(), "1".to_owned())],
            true,
        )
        .unwrap();
    }
}
