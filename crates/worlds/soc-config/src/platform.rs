//! Hardware facts: the platform file.

use super::set;
use crate::quantity::{bytes, hertz, picoseconds, power, some_picoseconds};
use document::{Document, Error, Result, readers, within};
use serde::Deserialize;
use serde::de::Error as _;
use std::collections::BTreeMap;
use toml::Spanned;

/// An operating point of a domain: its frequency, what its cores get done there, and what that
/// costs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatingPoint {
    /// Clock in Hz.
    #[serde(deserialize_with = "hertz")]
    pub clock: u64,
    /// Work per time, in units of the platform's table; the fastest core of a platform usually has
    /// 1024. At least 1.
    #[serde(deserialize_with = "capacity")]
    pub capacity: u32,
    /// Power of a core that runs, in units.
    #[serde(deserialize_with = "power")]
    pub core_power: u32,
    /// Power of the domain's shared part while at least one core runs, in units.
    #[serde(deserialize_with = "power")]
    pub domain_power: u32,
}

/// The hardware facts of a platform file.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// Short name, as on the command line.
    pub name: String,
    /// Full name.
    pub title: String,
    /// Frequency of the generic counter in Hz.
    pub counter_frequency: u64,
    /// Bytes of a cache line, the same in every cache.
    pub line: u64,
    /// Picoseconds in which the interconnect takes one line.
    pub line_transfer: u64,
    /// Core types by name.
    pub cores: BTreeMap<String, CoreType>,
    /// The power domains and CPUs.
    pub topology: Topology,
    /// The states that CPU_SUSPEND and SYSTEM_SUSPEND know.
    pub idle_states: Vec<IdleState>,
    /// Number of SCP channels, each served on its own.
    pub scp_channels: usize,
    /// Order in which cores that wake at the same time get their power.
    pub power_ups: PowerUps,
    /// Times that no published table shows.
    pub assumed: AssumedTimes,
    /// The platform whose releases and costs stand in for its own, where it has none.
    pub borrows: Option<String>,
}

/// A type of core.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreType {
    /// Clock in Hz.
    #[serde(deserialize_with = "hertz")]
    pub clock: u64,
    /// Bytes of the L1 data cache.
    #[serde(deserialize_with = "l1_size")]
    pub l1_data: u64,
    /// Bytes of the L2 cache that each core has to itself; 0 where a cluster shares its L2.
    #[serde(default, deserialize_with = "cache_size")]
    pub l2: u64,
    /// The core type of the platform that costs are borrowed from whose costs it has.
    pub borrows: Option<String>,
    #[serde(rename = "source")]
    _source: String,
}

/// The tree of power domains with its CPUs as leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Domains, in the file's order.
    pub domains: Vec<Domain>,
    /// CPUs, numbered by their place here.
    pub cpus: Vec<WorldCpu>,
    /// Highest power level: that of the root.
    pub top_level: u8,
    /// True if the shape was given on the command line in place of the file's.
    pub reshaped: bool,
}

/// A power domain above the CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Name of the domain.
    pub name: String,
    /// Place of its parent in [`Topology::domains`]; the root has none.
    pub parent: Option<usize>,
    /// Power level: 1 directly above CPUs.
    pub level: u8,
    /// Bytes of the L2 cache that the CPUs share, in a domain that holds CPUs; 0 where each core
    /// has its own.
    pub l2: u64,
    /// Bytes of the L3 cache that the CPUs share, in a domain that holds CPUs; 0 if there is none.
    pub l3: u64,
    /// Operating points by rising frequency, in a domain that holds CPUs; none where the file has
    /// none.
    pub operating_points: Vec<OperatingPoint>,
}

/// A CPU of the platform.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldCpu {
    /// Label of its cluster (affinity level 1).
    pub cluster: u16,
    /// Number within the cluster (affinity level 0).
    pub core: u16,
    /// Place of its domain in [`Topology::domains`].
    pub domain: usize,
    /// Core type of the cluster.
    pub core_type: String,
}

impl WorldCpu {
    /// Affinity fields as in `MPIDR_EL1`: the cluster's label spread over Aff1 to Aff3, the core in
    /// Aff0.
    pub fn mpidr(&self) -> u64 {
        let cluster = u64::from(self.cluster);
        u64::from(self.core) | (cluster & 0xff) << 8 | (cluster >> 8) << 16
    }
}

/// Order in which cores that wake at the same time get their power.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerUps {
    /// The SCP powers one up after the other, and takes no message meanwhile.
    #[default]
    OneByOne,
    /// Hardware powers each up, whatever the SCP does.
    AtOnce,
}

/// A composite power state.
#[derive(Clone, Debug, PartialEq)]
pub struct IdleState {
    /// Name of the state.
    pub name: String,
    /// Local states by power level: 0 runs, 1 keeps its contents, 2 and more lose them.
    pub state: [u8; psci::LEVELS],
    /// True if this is what SYSTEM_SUSPEND enters.
    pub system_suspend: bool,
}

/// Assumed times, in picoseconds, for what no published table shows. A spread is the longest of
/// delays that nobody knows: each is drawn anew, from 0 up, whenever it happens, where a run leaves
/// to chance who arrives first.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssumedTimes {
    /// From a wake-up to the first instruction of a core, where the costs do not say it.
    #[serde(default, deserialize_with = "some_picoseconds")]
    pub core_on: Option<u64>,
    /// The time by which it takes longer when the cluster was off.
    #[serde(deserialize_with = "picoseconds")]
    pub cluster_on: u64,
    /// A core's code between its power-up and the firmware's first stamp; the SCP is free
    /// meanwhile.
    #[serde(default, deserialize_with = "picoseconds")]
    pub boot_rom: u64,
    /// A load or store that hits a cache.
    #[serde(deserialize_with = "picoseconds")]
    pub cached_access: u64,
    /// From an event to the instruction after WFE.
    #[serde(deserialize_with = "picoseconds")]
    pub event_wake: u64,
    /// One turn of a polling loop in the normal world.
    #[serde(deserialize_with = "poll")]
    pub normal_poll: u64,
    /// A barrier that finds nothing outstanding.
    #[serde(deserialize_with = "picoseconds")]
    pub barrier: u64,
    /// From an interrupt to its handler in the normal world.
    #[serde(deserialize_with = "picoseconds")]
    pub interrupt_entry: u64,
    /// CPUs leave a barrier within this time of each other, by the seed.
    #[serde(deserialize_with = "picoseconds")]
    pub start_skew: u64,
    /// The time that the message of a CPU before its call takes on the one console, as a test
    /// framework's debug build prints it; 0 where it prints none.
    #[serde(default, deserialize_with = "picoseconds")]
    pub console_message: u64,
    /// The time by which a CPU takes longer from a barrier to its call.
    #[serde(default, deserialize_with = "picoseconds")]
    pub start_spread: u64,
    /// The time by which a software interrupt arrives later.
    #[serde(default, deserialize_with = "picoseconds")]
    pub interrupt_spread: u64,
    /// The time by which a core takes longer to get its power back.
    #[serde(default, deserialize_with = "picoseconds")]
    pub wake_spread: u64,
    /// The time by which the shared timer fires later.
    #[serde(default, deserialize_with = "picoseconds")]
    pub timer_spread: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    counter: FileCounter,
    cores: BTreeMap<String, CoreType>,
    caches: FileCaches,
    interconnect: FileInterconnect,
    topology: FileTopology,
    idle_state: Vec<Spanned<FileState>>,
    scp: FileScp,
    assumed: AssumedTimes,
    borrows: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCounter {
    #[serde(deserialize_with = "hertz")]
    frequency: u64,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCaches {
    #[serde(deserialize_with = "line_size")]
    line: u64,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileInterconnect {
    #[serde(deserialize_with = "hertz")]
    clock: u64,
    #[serde(deserialize_with = "width")]
    width: u64,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTopology {
    #[serde(rename = "source")]
    _source: String,
    domain: Spanned<Vec<Spanned<FileDomain>>>,
    #[serde(default)]
    reshaped: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileDomain {
    name: String,
    parent: Option<Spanned<String>>,
    cluster: Option<u16>,
    core: Option<Spanned<String>>,
    cores: Option<u16>,
    #[serde(default, deserialize_with = "cache_size")]
    l2: u64,
    #[serde(default, deserialize_with = "cache_size")]
    l3: u64,
    #[serde(default)]
    operating_point: Vec<OperatingPoint>,
    #[serde(rename = "operating_points_source")]
    _operating_points_source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileState {
    name: String,
    state: Vec<u8>,
    #[serde(default)]
    system_suspend: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileScp {
    #[serde(deserialize_with = "channels")]
    channels: usize,
    #[serde(default)]
    power_ups: PowerUps,
    #[serde(rename = "source")]
    _source: String,
}

readers! {
    capacity: u32 = |from| {
        let help =
            "is no capacity: it is 1 to 1000000; the fastest core of a platform usually has 1024";
        within(u32::deserialize(from)?, 1..=1_000_000, help)
    };

    /// No larger L1 data cache was ever built: its lines are counted in 32 bits, and flushing it
    /// would outlast any run.
    l1_size: u64 = |from| within(
        bytes(from)?,
        0..=16 << 20,
        "bytes: an L1 data cache has up to 16 MiB",
    );

    /// Nor a larger L2 or L3 cache.
    cache_size: u64 = |from| within(
        bytes(from)?,
        0..=1 << 30,
        "bytes: an L2 cache or an L3 has up to 1024 MiB",
    );

    line_size: u64 = |from| {
        let line = bytes(from)?;
        let help = "a cache line is a power of two of at least 16 bytes; most Arm cores have \"64 B\"";
        if line >= 16 && line.is_power_of_two() {
            Ok(line)
        } else {
            Err(D::Error::custom(help))
        }
    };

    width: u64 = |from| {
        let help = "bytes: an interconnect without width moves nothing; one of 128 bits has \"16 B\"";
        within(bytes(from)?, 1..=u64::MAX, help)
    };

    channels: usize = |from| within(
        usize::deserialize(from)?,
        1..=64,
        "channels: an SCP has 1 to 64",
    );

    poll: u64 = |from| {
        let help =
            "ps: a polling loop that takes no time never lets others run; give it some nanoseconds";
        within(picoseconds(from)?, 1..=u64::MAX, help)
    };
}

/// Keys of idle states in the same file, which `IdlePlatform` reads.
const OF_IDLE_STATES: [&str; 5] = ["power", "running_unit", "domain", "power_domain", "beside"];

/// Largest number of CPUs of a platform.
pub const MAX_CPUS: usize = 1024;

impl Platform {
    /// Reads and checks a platform file, which may hold the idle states as well.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line and what would be right.
    pub fn read(document: &Document) -> Result<Self> {
        let file: File = document.read_without(&OF_IDLE_STATES)?;
        let beats = file.caches.line.div_ceil(file.interconnect.width);
        let line_transfer =
            (u128::from(beats) * 1_000_000_000_000 / u128::from(file.interconnect.clock)) as u64;
        let topology = topology(document, &file.topology, &file.cores)?;
        let idle_states = idle_states(document, &file.idle_state, topology.top_level)?;
        Ok(Self {
            name: file.name,
            title: file.title,
            counter_frequency: file.counter.frequency,
            line: file.caches.line,
            line_transfer,
            cores: file.cores,
            topology,
            idle_states,
            scp_channels: file.scp.channels,
            power_ups: file.scp.power_ups,
            assumed: file.assumed,
            borrows: file.borrows,
        })
    }
}

impl Platform {
    /// A cache that software has no operation for on the machines of this model: a private L2 or an
    /// L3, if there is one.
    pub fn cache_for_hardware(&self) -> Option<&'static str> {
        let private = self
            .topology
            .cpus
            .iter()
            .any(|cpu| self.cores[&cpu.core_type].l2 > 0);
        let shared = self.topology.domains.iter().any(|domain| domain.l3 > 0);
        if private {
            Some("the private L2")
        } else {
            shared.then_some("the L3")
        }
    }
}

/// Refuses a core type that the file has no table of.
fn known_core(
    document: &Document,
    core: &Spanned<String>,
    cores: &BTreeMap<String, CoreType>,
) -> Result {
    if cores.contains_key(core.get_ref()) {
        return Ok(());
    }
    let known: Vec<_> = cores.keys().cloned().collect();
    Err(document.wrong(
        core.span(),
        format!("there is no core type `{}`", core.get_ref()),
        format!(
            "core types have a table of their own; there are: {}",
            known.join(", ")
        ),
    ))
}

impl Topology {
    /// Cluster and core of each CPU, by their labels.
    pub fn places(&self) -> Vec<(u16, u16)> {
        self.cpus
            .iter()
            .map(|cpu| (cpu.cluster, cpu.core))
            .collect()
    }
}

fn topology(
    document: &Document,
    file: &FileTopology,
    cores: &BTreeMap<String, CoreType>,
) -> Result<Topology> {
    let entries = file.domain.get_ref();
    let tree = Tree::read(document, file)?;
    let (mut domains, mut cpus) = (Vec::new(), Vec::<WorldCpu>::new());
    for (index, entry) in entries.iter().enumerate() {
        let domain = entry.get_ref();
        let level = (tree.top_level - tree.depths[index]) as u8;
        domains.push(Domain {
            name: domain.name.clone(),
            parent: tree.parents[index],
            level,
            l2: domain.l2,
            l3: domain.l3,
            operating_points: operating_points(document, entry)?,
        });
        let wrong = |message: String, help: &str| Err(document.wrong(entry.span(), message, help));
        match (&domain.core, domain.cores) {
            (None, None) if tree.parents.contains(&Some(index)) => {}
            (Some(core), Some(count)) if !tree.parents.contains(&Some(index)) => {
                let cluster = domain.cluster.unwrap_or(index as u16);
                if level != 1 {
                    let help = "every domain with cores has the same number of domains above it";
                    let what = "sits higher than other domains with cores";
                    return wrong(format!("`{}` {what}", domain.name), help);
                }
                known_core(document, core, cores)?;
                if count == 0 || count > 256 {
                    return wrong(format!("{count} cores"), "a cluster has 1 to 256 cores");
                }
                if cpus.iter().any(|cpu| cpu.cluster == cluster) {
                    return wrong(
                        format!("there are two clusters {cluster}"),
                        "give each its own `cluster` label",
                    );
                }
                let core_type = core.get_ref();
                if domain.l2 > 0 && cores[core_type].l2 > 0 {
                    let what = "have an L2 each, and the cluster has another";
                    let help = "what a cluster of such cores shares is an `l3`";
                    return wrong(format!("the cores of `{}` {what}", domain.name), help);
                }
                cpus.extend((0..count).map(|core| WorldCpu {
                    cluster,
                    core,
                    domain: index,
                    core_type: core_type.clone(),
                }));
            }
            _ => {
                let help = "a domain has either child domains, or both `core` and `cores`";
                let what = "is neither a cluster nor a parent of domains";
                return wrong(format!("`{}` {what}", domain.name), help);
            }
        }
    }
    if cpus.len() > MAX_CPUS {
        return Err(document.wrong(
            file.domain.span(),
            format!("{} CPUs", cpus.len()),
            format!("at most {MAX_CPUS}"),
        ));
    }
    Ok(Topology {
        domains,
        cpus,
        top_level: tree.top_level as u8,
        reshaped: file.reshaped,
    })
}

/// The power domains of a file as a tree with one root.
struct Tree {
    /// Position of each domain's parent; the root has none.
    parents: Vec<Option<usize>>,
    /// Number of domains above each.
    depths: Vec<usize>,
    /// Power level of the root.
    top_level: usize,
}

impl Tree {
    /// Reads the parents, and checks that they make one tree of no more levels than PSCI has.
    fn read(document: &Document, file: &FileTopology) -> Result<Self> {
        let entries = file.domain.get_ref();
        let wrong = |index: usize, message: String, help: &str| {
            Err(document.wrong(entries[index].span(), message, help))
        };
        let parents = parents(document, entries)?;
        let mut depths = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let depth = std::iter::successors(parents[index], |at| parents[*at])
                .take(entries.len() + 1)
                .count();
            if depth > entries.len() {
                return wrong(
                    index,
                    format!(
                        "the domain `{}` is in a cycle of parents",
                        entry.get_ref().name
                    ),
                    "following `parent` from any domain must end at the one domain that has none",
                );
            }
            depths.push(depth);
        }
        let mut roots = (0..entries.len()).filter(|index| parents[*index].is_none());
        if roots.next().is_none() {
            return Err(document.wrong(
                file.domain.span(),
                "there is no domain without a parent",
                "the root, often `system`, has no `parent`",
            ));
        }
        if let Some(second) = roots.next() {
            let name = &entries[second].get_ref().name;
            return wrong(
                second,
                format!("`{name}` is a second root"),
                "all domains but one have a `parent`",
            );
        }
        let leaf_depth = depths.iter().copied().max().unwrap_or(0);
        let top_level = leaf_depth + 1;
        if top_level >= psci::LEVELS {
            let deepest = depths
                .iter()
                .position(|depth| *depth == leaf_depth)
                .unwrap_or(0);
            return wrong(
                deepest,
                format!("the tree has {} power levels", top_level + 1),
                &format!("PSCI has {} power levels, CPUs included", psci::LEVELS),
            );
        }
        Ok(Self {
            parents,
            depths,
            top_level,
        })
    }
}

/// Positions of the domains' parents, by their names, which differ.
fn parents(document: &Document, entries: &[Spanned<FileDomain>]) -> Result<Vec<Option<usize>>> {
    let position = |name: &str| {
        entries
            .iter()
            .position(|entry| entry.get_ref().name == name)
    };
    let mut parents = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let domain = entry.get_ref();
        if position(&domain.name) != Some(index) {
            return Err(document.wrong(
                entry.span(),
                format!("there are two domains named `{}`", domain.name),
                "names must differ",
            ));
        }
        let Some(parent) = &domain.parent else {
            parents.push(None);
            continue;
        };
        let at = position(parent.get_ref()).ok_or_else(|| {
            let names: Vec<_> = entries
                .iter()
                .map(|entry| entry.get_ref().name.as_str())
                .collect();
            document.wrong(
                parent.span(),
                format!("there is no domain `{}`", parent.get_ref()),
                format!("a parent is one of: {}", names.join(", ")),
            )
        })?;
        parents.push(Some(at));
    }
    Ok(parents)
}

fn operating_points(
    document: &Document,
    entry: &Spanned<FileDomain>,
) -> Result<Vec<OperatingPoint>> {
    let domain = entry.get_ref();
    let wrong = |message: String, help: &str| Err(document.wrong(entry.span(), message, help));
    let points = domain.operating_point.clone();
    if !points.is_empty() && domain.core.is_none() {
        return wrong(
            format!("`{}` has operating points, but no cores", domain.name),
            "only a domain with cores has them",
        );
    }
    if !points
        .is_sorted_by(|lower, upper| lower.clock < upper.clock && lower.capacity < upper.capacity)
    {
        return wrong(
            format!("the operating points of `{}` are out of order", domain.name),
            "both clock and capacity rise from each operating point to the next; powers need not",
        );
    }
    Ok(points)
}

fn idle_states(
    document: &Document,
    entries: &[Spanned<FileState>],
    top_level: u8,
) -> Result<Vec<IdleState>> {
    let mut states: Vec<IdleState> = Vec::new();
    for entry in entries {
        let file = entry.get_ref();
        let wrong = |message: String, help: &str| Err(document.wrong(entry.span(), message, help));
        if file.state.len() != usize::from(top_level) + 1 {
            return wrong(
                format!("`{}` has {} levels", file.name, file.state.len()),
                &format!(
                    "one number a power level, lowest first: {} here",
                    top_level + 1
                ),
            );
        }
        if file.state.iter().any(|&local| local > 15) {
            return wrong(
                format!("`{}` has a local state above 15", file.name),
                "0 runs, 1 keeps its contents, 2 to 15 lose them",
            );
        }
        if !file.state.is_sorted_by(|lower, upper| lower >= upper) {
            return wrong(
                format!("in `{}` a level is deeper than the one below it", file.name),
                "a parent is never deeper than its children",
            );
        }
        if states.iter().any(|state| state.name == file.name) {
            return wrong(
                format!("there are two states `{}`", file.name),
                "names must differ",
            );
        }
        let mut state = [0; psci::LEVELS];
        state[..file.state.len()].copy_from_slice(&file.state);
        states.push(IdleState {
            name: file.name.clone(),
            state,
            system_suspend: file.system_suspend,
        });
    }
    for needed in ["level0", "deepest"] {
        if !states.iter().any(|state| state.name == needed) {
            return Err(document.wrong(
                0..0,
                format!("there is no idle state `{needed}`"),
                "the procedures ask for `level0` and `deepest`",
            ));
        }
    }
    Ok(states)
}

/// The clusters of a shape, each as its core type and its cores; a number of clusters are `like`
/// one.
fn clusters_of(shape: &str, like: &(String, u16)) -> Option<Vec<(String, u16)>> {
    let (core, cores) = like;
    if let Ok(count) = shape.parse::<u16>() {
        return Some((0..count).map(|_| (core.clone(), *cores)).collect());
    }
    if let Some((count, size)) = shape.split_once('x').filter(|_| !shape.contains('*')) {
        let (count, size): (u16, u16) = (count.trim().parse().ok()?, size.trim().parse().ok()?);
        return Some((0..count).map(|_| (core.clone(), size)).collect());
    }
    let part = |part: &str| {
        let (count, core) = part.split_once('*')?;
        Some((core.trim().to_owned(), count.trim().parse().ok()?))
    };
    shape.split('+').map(part).collect()
}

/// The table of a cluster that lies where another one does.
fn cluster_table(label: usize, like: &FileDomain, core: String, count: u16) -> toml_edit::Table {
    let mut table = toml_edit::Table::new();
    table.insert("name", toml_edit::value(format!("cluster{label}")));
    if let Some(parent) = &like.parent {
        table.insert("parent", toml_edit::value(parent.get_ref().clone()));
    }
    table.insert("cluster", toml_edit::value(label as i64));
    table.insert("core", toml_edit::value(core));
    table.insert("cores", toml_edit::value(i64::from(count)));
    for (key, size) in [("l2", like.l2), ("l3", like.l3)] {
        if size > 0 {
            table.insert(key, toml_edit::value(format!("{size} B")));
        }
    }
    table
}

/// Replaces the clusters of a platform by a shape given on the command line.
pub fn set_clusters(document: &mut Document, shape: &str) -> Result {
    let platform = Platform::read(document)?;
    let file: File = document.read_without(&OF_IDLE_STATES)?;
    let (clusters, parents): (Vec<_>, Vec<_>) = file
        .topology
        .domain
        .into_inner()
        .into_iter()
        .map(Spanned::into_inner)
        .partition(|domain| domain.core.is_some());
    let first = clusters[0].clone();
    let core_of = |domain: &FileDomain| {
        domain
            .core
            .as_ref()
            .map(|core| core.get_ref().clone())
            .unwrap_or_default()
    };
    let refuse = || {
        let known: Vec<_> = platform.cores.keys().cloned().collect();
        Error::new(
            format!("`{shape}` is not a shape of clusters"),
            format!(
                "write a number of clusters (4), clusters x cores (16x4) or cores*type with + between clusters (4*{}); core types: {}",
                known[0],
                known.join(", ")
            ),
        )
    };
    let like = (core_of(&first), first.cores.unwrap_or(1));
    let wanted = clusters_of(shape, &like)
        .filter(|wanted| {
            wanted
                .iter()
                .all(|(core, _)| platform.cores.contains_key(core))
        })
        .ok_or_else(refuse)?;
    if wanted.is_empty() || wanted.len() > MAX_CPUS {
        return Err(refuse());
    }

    let mut editable = set::editable(document)?;
    let mut tables = toml_edit::ArrayOfTables::new();
    for parent in parents {
        let mut table = toml_edit::Table::new();
        table.insert("name", toml_edit::value(parent.name));
        if let Some(above) = parent.parent {
            table.insert("parent", toml_edit::value(above.into_inner()));
        }
        tables.push(table);
    }
    for (label, (core, count)) in wanted.into_iter().enumerate() {
        let like = clusters
            .iter()
            .find(|cluster| core_of(cluster) == core)
            .unwrap_or(&first);
        tables.push(cluster_table(label, like, core, count));
    }
    editable["topology"]["domain"] = toml_edit::Item::ArrayOfTables(tables);
    editable["topology"]["reshaped"] = toml_edit::value(true);
    set::replace(document, &editable);
    Ok(())
}
