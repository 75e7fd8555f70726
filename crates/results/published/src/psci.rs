//! PSCI latencies.

use document::{Result, Spanned};
use experiment::{Conditions, Files};
use itertools::Itertools;
use recording::total_order;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A published figure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Release, as in the file: `juno-v2.12`.
    pub release: String,
    /// Case: `suspend-deepest`.
    pub case: String,
    /// `parallel` or `serial`.
    pub mode: String,
    /// Cluster label of the CPU.
    pub cluster: u16,
    /// Core within the cluster.
    pub core: u16,
    /// `powerdown`, `wakeup`, `cache_flush` or `latency`.
    pub metric: String,
    /// The figure as the document prints it, in [`Cell::unit`].
    #[serde(rename = "value")]
    pub printed: String,
    /// The figure in microseconds.
    #[serde(skip)]
    pub value_us: f64,
    /// The figure as published, in [`Cell::unit`].
    #[serde(skip)]
    pub published: f64,
    /// The unit of publication: `us` or `ns`.
    pub unit: String,
    /// Half of the last digit that the document printed, in microseconds: the figure is known no
    /// better.
    #[serde(skip)]
    pub resolution_us: f64,
    /// The change against the release before, in percent, where the document prints one.
    pub printed_change_percent: Option<f64>,
    /// True if fits may use it.
    #[serde(skip)]
    pub used_in_fit: bool,
}

impl Cell {
    /// The CPU's cluster and core.
    pub fn place(&self) -> ClusterCore {
        (self.cluster, self.core)
    }

    /// True if another cell stands in the same column of the same release's table.
    pub fn is_of_table(&self, other: &Self) -> bool {
        (&self.release, &self.case, &self.mode, &self.metric)
            == (&other.release, &other.case, &other.mode, &other.metric)
    }
}

/// Published PSCI latencies of a platform.
#[derive(Clone)]
pub struct PsciReference {
    /// The platform's name.
    pub platform: String,
    /// Names of the releases, in the file's order, with their source.
    pub releases: Vec<(String, String)>,
    /// All figures, in the file's order.
    pub cells: Vec<Cell>,
    /// The rules that say which cells fits use.
    pub fit_rules: Vec<String>,
    /// The session of the board that each release's tables are of: the release's name, unless the
    /// file names another.
    pub sessions: BTreeMap<String, String>,
    pub(crate) conditions: Vec<Condition>,
}

/// A CPU as (cluster, core).
pub type ClusterCore = (u16, u16);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    platform: String,
    figures: String,
    release: Vec<Release>,
    #[serde(default)]
    condition: Vec<Condition>,
    fit: Vec<Rule>,
    #[serde(default)]
    leave_out: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    name: String,
    source: String,
    /// The session of the board that the tables are of, if another release's are of it as well.
    session: Option<String>,
}

impl Release {
    fn session(&self) -> (String, String) {
        (
            self.name.clone(),
            self.session.clone().unwrap_or_else(|| self.name.clone()),
        )
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    release: String,
    /// The session, where the release's tables are not in the file: it says who owned the timer.
    session: Option<String>,
    /// The protocol of such a session; that of another is in its release's platform file.
    scp_protocol: Option<ScpProtocol>,
    case: String,
    #[serde(default)]
    scp_order: Vec<(u16, u16)>,
    timer: Option<(u16, u16)>,
    #[serde(default)]
    wake_order: Vec<(u16, u16)>,
}

/// A protocol between CPUs and the SCP, as a release's platform file names it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ScpProtocol {
    Scpi,
    Scmi,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// Its words, or why it leaves cells out.
    #[serde(alias = "why")]
    rule: String,
    case: Option<String>,
    mode: String,
    metric: Option<String>,
    cpus: Option<Vec<(u16, u16)>>,
    place: Option<CpuPosition>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CpuPosition {
    Last,
    /// The CPU with the shortest cell of the same table and metric.
    Shortest,
    AfterFirstLastMan,
    /// The last CPU but one, by cluster and core and without the timer's owner, in the order in
    /// which the power controller gives power.
    PoweredLastButOne,
}

impl PsciReference {
    /// Reads the reference whose TOML file has this name among some files.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn read(files: &dyn Files, name: &str) -> Result<Self> {
        let file: File = files.document(name)?.read()?;
        let mut cells = cells(files, &file.figures)?;
        let orders = file.condition;
        let used = |cell: &Cell| {
            let covers = |rule: &Rule| rule.covers(cell, &cells, &orders);
            file.fit.iter().any(covers) && !file.leave_out.iter().any(covers)
        };
        let used = cells.iter().map(used).collect_vec();
        for (cell, used) in cells.iter_mut().zip(used) {
            cell.used_in_fit = used;
        }
        Ok(Self {
            platform: file.platform,
            sessions: file.release.iter().map(Release::session).collect(),
            releases: file
                .release
                .into_iter()
                .map(|release| (release.name, release.source))
                .collect(),
            cells,
            fit_rules: file.fit.into_iter().map(|rule| rule.rule).collect(),
            conditions: orders,
        })
    }

    /// Reads all references among some files: those whose names end in `-psci.toml`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn all(files: &dyn Files) -> Result<Vec<Self>> {
        files
            .list("")?
            .iter()
            .filter(|name| name.ends_with("-psci.toml"))
            .map(|name| Self::read(files, name))
            .collect()
    }

    /// Reads the latencies of a platform, if there are any.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn for_platform(files: &dyn Files, platform: &str) -> Result<Option<Self>> {
        Ok(Self::all(files)?
            .into_iter()
            .find(|reference| reference.platform == platform))
    }

    /// The orders in which CPUs reached the SCP, by release and case: what a compared run is asked
    /// for; and the sessions in which a CPU owned the timer, by case and CPU. No figure is among
    /// it.
    pub fn conditions(&self, conditions: &mut Conditions) {
        for Condition {
            release,
            session,
            scp_protocol,
            case,
            scp_order,
            timer,
            wake_order,
        } in &self.conditions
        {
            let name = |(cluster, core): &(u16, u16)| format!("{cluster}.{core}");
            let label = session.as_ref().map_or_else(
                || release.clone(),
                |session| format!("{release} ({session})"),
            );
            let place = [self.platform.as_str(), &label, case];
            conditions.add("scp-order", &place, scp_order.iter().map(name));
            conditions.add("timer", &place, timer.iter().map(name));
            conditions.add("wake-order", &place, wake_order.iter().map(name));
            let protocol = scp_protocol.map(|protocol| format!("{protocol:?}").to_lowercase());
            conditions.add("scp-protocol", &place[..2], protocol);
            for owner in timer.iter().map(name) {
                let place = [self.platform.as_str(), case, &owner];
                let sessions = conditions.get("timer-owner", &place).to_vec();
                conditions.add(
                    "timer-owner",
                    &place,
                    sessions.into_iter().chain([label.clone()]),
                );
            }
        }
    }

    /// The CPU, as (cluster, core), that a condition declares to own the timer, and the order in
    /// which it wakes the others, if one is declared.
    pub fn wake_ups(&self, release: &str, case: &str) -> (Option<ClusterCore>, &[ClusterCore]) {
        condition(&self.conditions, release, case).map_or((None, &[]), |condition| {
            (condition.timer, &condition.wake_order)
        })
    }

    /// The declared order in which CPUs, as (cluster, core), reached the SCP; empty where none is
    /// declared.
    pub fn scp_order(&self, release: &str, case: &str, mode: &str) -> &[(u16, u16)] {
        if mode != "parallel" {
            return &[];
        }
        condition(&self.conditions, release, case).map_or(&[], |condition| &condition.scp_order)
    }
}

fn condition<'c>(conditions: &'c [Condition], release: &str, case: &str) -> Option<&'c Condition> {
    let mut conditions = conditions.iter();
    conditions.find(|condition| condition.release == release && condition.case == case)
}

impl Rule {
    fn covers(&self, cell: &Cell, cells: &[Cell], orders: &[Condition]) -> bool {
        let matches = cell.mode == self.mode
            && self.case.as_ref().is_none_or(|case| *case == cell.case)
            && self
                .metric
                .as_ref()
                .is_none_or(|metric| *metric == cell.metric)
            && self
                .cpus
                .as_ref()
                .is_none_or(|cpus| cpus.contains(&cell.place()));
        matches
            && self.place.is_none_or(|place| {
                if place == CpuPosition::Shortest {
                    return shortest_like(cell, cells) == Some(cell.place());
                }
                let order = condition(orders, &cell.release, &cell.case);
                order.and_then(|order| place.core_of(order)) == Some(cell.place())
            })
    }
}

/// The CPU with the shortest cell of a cell's table and metric.
fn shortest_like(cell: &Cell, cells: &[Cell]) -> Option<(u16, u16)> {
    cells
        .iter()
        .filter(|other| other.is_of_table(cell))
        .min_by_key(|of| total_order(of.value_us))
        .map(Cell::place)
}

impl CpuPosition {
    fn core_of(self, condition: &Condition) -> Option<(u16, u16)> {
        let order = &condition.scp_order;
        match self {
            Self::PoweredLastButOne => {
                let timer = condition.timer?;
                let mut others = order
                    .iter()
                    .copied()
                    .filter(|&cpu| cpu != timer)
                    .collect_vec();
                others.sort_unstable();
                others.iter().rev().nth(1).copied()
            }
            Self::Shortest => None,
            Self::Last => order.last().copied(),
            Self::AfterFirstLastMan => {
                let last_of = |cluster| order.iter().rposition(|&(other, _)| other == cluster);
                let first_last_man = order
                    .iter()
                    .filter_map(|&(cluster, _)| last_of(cluster))
                    .min()?;
                order.get(first_last_man + 1).copied()
            }
        }
    }
}

fn cells(files: &dyn Files, name: &str) -> Result<Vec<Cell>> {
    let document = files.document(name)?;
    let cell = |row: Spanned<Cell>| {
        let place = row.span();
        let mut cell = row.into_inner();
        let Some(factor) = recording::units::factor(&cell.unit, "us") else {
            let message = format!("`{}` is not a unit of time here", cell.unit);
            return Err(document.wrong(place, message, "expected `us` or `ns`"));
        };
        cell.published = match cell.printed.parse() {
            Ok(value) if f64::is_finite(value) && value >= 0.0 => value,
            _ => {
                let message = format!("`{}` is not a time", cell.printed);
                return Err(document.wrong(place, message, "expected a number of 0 or more"));
            }
        };
        // The 2017 document prints whole microseconds; the later ones print the counter's 20 ns,
        // without trailing zeros.
        cell.resolution_us = if cell.printed.contains('.') || cell.unit == "ns" {
            0.01
        } else {
            0.5
        };
        cell.value_us = cell.published * factor;
        Ok(cell)
    };
    document.rows()?.into_iter().map(cell).collect()
}
