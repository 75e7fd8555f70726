//! `recording.toml`.

use itertools::Itertools;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that is needed to repeat a run, and in [`Header::run`] what differs from run to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The experiment's name.
    pub experiment: String,
    /// The experiment's form, such as `tasks` of `placement`; empty for its usual one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub form: String,
    /// The world it ran in: `sim`, `explore`, `qemu`, `host` or `import`.
    pub world: String,
    /// Seed of everything drawn by lot.
    #[serde(default, with = "seed")]
    pub seed: u64,
    /// The number of times that each case was repeated.
    #[serde(default)]
    pub iterations: u32,
    /// Where the recording holds several runs one after another (boots of a log, runs of a table):
    /// the first iteration of the second and of each later one. See [`Recording::runs`].
    ///
    /// [`Recording::runs`]: crate::Recording::runs
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_begins: Vec<u32>,
    /// The unit of the events' `time`.
    pub time: TimeBase,
    /// True if the same inputs give the same values, so that any difference has a cause among the
    /// inputs. Said by what made the recording; where it is not said, simulated worlds are and
    /// others are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeatable: Option<bool>,
    /// Modes whose iterations are draws, each with a seed of its own: samples even where the world
    /// is repeatable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeded_modes: Vec<String>,
    /// Modes in which chance decided the order of the CPUs, the same in each iteration: one of many
    /// orders, and no sample of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free_modes: Vec<String>,
    /// The intervals in which simulated figures lie, by what is declared to be uncertain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Interval>,
    /// Other sessions that say how likely each CPU owns the timer of a case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timer_owners: Vec<TimerOwners>,
    /// The conditions of the runs: what was not under test, and can move figures. By the series or
    /// release that they are of (see [`Header::condition`]) and by key, such as
    /// [`conditions::ORDER`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: BTreeMap<String, BTreeMap<String, String>>,
    /// Version of the rules by which `causes.parquet` splits measured spans; whoever knows later
    /// rules splits them anew. Without it, spans were not split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribution: Option<u32>,
    /// Rows, length and checksum of each Parquet file; filled in by a write, checked by a read
    /// where present.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileFacts>,
    /// Settings given by hand (`--set key=value`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The request in full: every setting that was given, the world among them. A run with another
    /// request is another run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub request: BTreeMap<String, String>,
    /// The notes that a reader of the figures needs, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The complaints of the run about what should not be, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
    /// The experiment's facts with their version: see [`crate::facts`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<toml::Table>,
    /// Files that the run read, whole, by their kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// Versions of what took part: ours, and releases under test.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// The hardware, described or simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// Fitted costs by the name of their file or release, whole.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<String, toml::Table>,
    /// The place of the names of variants and subjects on the axes of a sweep: `single+3` at
    /// `loop = "single"`, `stride = 3`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coordinates: BTreeMap<String, toml::Table>,
    /// The words for the axes of coordinates and their places, where numbers do not say it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub axes: BTreeMap<String, Axis>,
    /// The pictures that the measures deserve, as the experiment declares them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
    /// The tracks of a timeline: the events of a CPU as stretches of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<Lane>,
    /// The facts that differ from run to run.
    #[serde(default)]
    pub run: Run,
}

/// The coordinate that says in which state a node of a graph is.
const STATE: &str = "state";

/// An axis of [`Header::coordinates`] in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The title: "length of the interval".
    pub title: String,
    /// Names of its places by their numbers: "1 to 10 us".
    #[serde(
        default,
        with = "crate::facts::numbered",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub places: BTreeMap<u32, String>,
}

/// A lane of each CPU's timeline: stretches of time between two of its points, and marks at others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// The title, such as "idle state".
    pub title: String,
    /// The point at which a stretch begins; its argument says what it is. One that has begun ends
    /// here, too.
    pub begin: String,
    /// The point at which it ends; not given where the next one's begin is its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Names of the arguments.
    #[serde(
        default,
        with = "crate::facts::numbered",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub names: BTreeMap<u32, String>,
    /// The argument that begins nothing: the idle task of a lane of tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<u32>,
    /// Points that are marks on the lane, each with what to call it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: BTreeMap<String, String>,
    /// Points among the marks that a picture of the lane must show: where something broke, or was
    /// chosen otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub telling: Vec<String>,
    /// True if it is one lane of the whole machine: a stretch may then begin on one CPU and end on
    /// another. Events of such a lane must come in the order of time over all CPUs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub machine: bool,
}

/// A picture of some measures, drawn by reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// The title, a line.
    pub title: String,
    /// The metric that is drawn.
    pub metric: String,
    /// The case whose measures are drawn; all cases where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// Kind of picture.
    #[serde(flatten)]
    pub kind: PictureKind,
}

/// Kind of picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PictureKind {
    /// A bar for each variant, made of its subjects, whose values add up.
    StackedBars,
    /// Curves over one axis, a curve for each value of another.
    Curves {
        /// The axis, a key of [`Header::coordinates`] with numbers as values.
        x: String,
        /// The axis of which each value has a curve of its own; one curve where it is not given.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A field for each pair of values of two axes.
    HeatMap {
        /// The axis that runs to the right, a key of [`Header::coordinates`] with numbers as
        /// values.
        x: String,
        /// The axis that runs upwards, likewise.
        y: String,
    },
}

impl Header {
    /// Notes the state of a node, such as `polling`, among its coordinates; the first one stays.
    pub fn set_state(&mut self, node: &str, state: &str) {
        self.coordinates
            .entry(node.to_owned())
            .or_default()
            .entry(STATE)
            .or_insert_with(|| state.into());
    }

    /// The state of a node, as VPP says it; empty where it is not known.
    pub fn state_of(&self, node: &str) -> &str {
        self.coordinates
            .get(node)
            .and_then(|at| at.get(STATE)?.as_str())
            .unwrap_or("")
    }

    /// A header with the experiment, the world, the unit of `time` and this version, and nothing
    /// else yet.
    pub fn new(experiment: &str, world: &str, time_unit: &str) -> Self {
        Self {
            experiment: experiment.to_owned(),
            world: world.to_owned(),
            time: TimeBase {
                unit: time_unit.to_owned(),
                counter_hz: None,
            },
            versions: BTreeMap::from([(
                "stopwatt".to_owned(),
                env!("CARGO_PKG_VERSION").to_owned(),
            )]),
            ..Self::default()
        }
    }

    /// The platform's name.
    pub fn platform_name(&self) -> Option<&str> {
        Some(self.platform.as_ref()?.name.as_str())
    }

    /// A condition of `release`, or of `release/case/mode`, by its key; `None` where it is not
    /// known, as in recordings that are older than conditions: it is then equal to none.
    pub fn condition(&self, of: &str, key: &str) -> Option<String> {
        let release = of.split('/').next()?;
        let mut told = [of, release]
            .into_iter()
            .filter_map(|of| self.conditions.get(of)?.get(key));
        match key {
            conditions::BAD_FIT => self.bad_fit(release),
            _ => told
                .next()
                .cloned()
                .or_else(|| Some(self.costs.get(release)?.get(key)?.as_str()?.to_owned())),
        }
    }

    /// Notes a condition of a series or a release.
    pub fn set_condition(&mut self, of: &str, key: &str, value: &str) {
        self.conditions
            .entry(of.to_owned())
            .or_default()
            .insert(key.to_owned(), value.to_owned());
    }

    /// The reasons for which a fit of a release's costs did not pass its gate.
    fn bad_fit(&self, release: &str) -> Option<String> {
        let gate = self
            .costs
            .get(release)?
            .get("fit")?
            .get("gate")?
            .as_table()?;
        let mut reasons = gate
            .get("reasons")
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_str);
        (gate.get("passed") == Some(&false.into())).then(|| reasons.join("; "))
    }

    /// True if the same inputs give the same values: see [`Header::repeatable`].
    pub fn is_repeatable(&self) -> bool {
        self.repeatable
            .unwrap_or(matches!(self.world.as_str(), "sim" | "explore"))
    }
}

/// Keys of [`Header::conditions`].
pub mod conditions {
    /// The value of what chance decided: one of many, and known to nobody before the run.
    pub const CHANCE: &str = "chance";
    /// The CPUs in the order in which they reach the power controller, as `0.1 0.0 1.2`.
    pub const ORDER: &str = "order";
    /// The CPU that owns the timer, and so wakes first, as `0.1`.
    pub const TIMER: &str = "timer";
    /// The CPUs in the order in which the timer's owner wakes them.
    pub const WAKES: &str = "wake-order";
    /// The board whose costs were borrowed; the costs say it, or the platform.
    pub const BORROWED: &str = "borrowed";
    /// Why the costs are a bad fit; the fit says it.
    pub const BAD_FIT: &str = "bad-fit";
}

/// The place of a simulated figure with a probability of 90 %, by what is declared to be uncertain:
/// the ends of the middle draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Variant, case and mode of the figure's series.
    pub variant: String,
    /// See `variant`.
    pub case: String,
    /// See `variant`.
    pub mode: String,
    /// The CPU's number.
    pub cpu: u16,
    /// The metric.
    pub metric: String,
    /// The lower end, in the metric's unit.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The middle of the draws.
    pub middle: f64,
    /// The number of draws that there were.
    pub draws: u32,
    /// The same by the CPU that owns the timer, the likeliest first; empty where it decides
    /// nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<TimerMode>,
}

/// The place of a simulated figure with a probability of 90 %, if one CPU owns the timer that wakes
/// the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimerMode {
    /// The CPU, as cluster.core.
    pub timer: String,
    /// The probability that it owns the timer, from 0 to 1.
    pub weight: f64,
    /// The figure with the costs as they are, in the metric's unit.
    pub figure: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Sessions of a board other than that of a release, with the CPUs that owned the timer in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimerOwners {
    /// The release or configuration whose modes they weigh.
    pub release: String,
    /// The case.
    pub case: String,
    /// Names of the sessions by the CPU, as cluster.core.
    pub sessions: BTreeMap<String, Vec<String>>,
}

/// The unit of an event's `time` and `ticks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeBase {
    /// Unit of `time`: `ps` in simulations, `ticks` or `instructions` elsewhere.
    pub unit: String,
    /// Frequency of the counter that `ticks` holds raw, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter_hz: Option<u64>,
}

/// The platform as it was when the run started, `--set` applied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Platform {
    /// Name of the platform, as on the command line.
    pub name: String,
    /// The platform file's text, with its sources, before any setting.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The figures that the run used.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub figures: toml::Table,
}

/// The facts that a write notes about a Parquet file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Rows.
    pub rows: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// CRC-32 (the one of zlib) of the whole file.
    pub crc32: u32,
}

/// The facts that differ from run to run: two recordings of the same inputs are equal in all but
/// these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// When it started, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The machine: processor, cores, memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The build: profile and commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The compiler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// The operating system's kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The counter whose ticks are clocks, where something was measured on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<String>,
    /// The C library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c_library: Option<String>,
    /// Anything else (kernel command line, huge pages, governor).
    #[serde(default, flatten)]
    pub more: BTreeMap<String, String>,
}

/// TOML's integers end at 2^63 - 1; a greater seed is written as a string of digits.
mod seed {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(*seed) {
            Ok(number) => serializer.serialize_i64(number),
            Err(_) => serializer.serialize_str(&seed.to_string()),
        }
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<u64, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(u64),
            Text(String),
        }
        match Either::deserialize(deserializer)? {
            Either::Number(number) => Ok(number),
            Either::Text(text) => text
                .parse()
                .map_err(|_| de::Error::custom("seed must be a number from 0 to 2^64 - 1")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_case_stands_before_what_is_said_of_its_release_and_costs() {
        let mut header = Header::new("psci-latency", "sim", "ps");
        assert_eq!(
            header.condition("r/c/m", conditions::TIMER),
            None,
            "an old recording says nothing"
        );
        let costs =
            "session = 's'\nborrowed = 'Juno r1'\n[fit.gate]\npassed = false\nreasons = ['rms']";
        header
            .costs
            .insert("r".to_owned(), toml::from_str(costs).unwrap());
        let of = |header: &Header, key: &str| header.condition("r/c/m", key);
        assert_eq!(of(&header, "session").as_deref(), Some("s"));
        assert_eq!(
            of(&header, conditions::BORROWED).as_deref(),
            Some("Juno r1")
        );
        assert_eq!(of(&header, conditions::BAD_FIT).as_deref(), Some("rms"));
        header.set_condition("r", "session", "t");
        assert_eq!(of(&header, "session").as_deref(), Some("t"));
        header.set_condition("r/c/m", "session", "u");
        assert_eq!(of(&header, "session").as_deref(), Some("u"));
        let read: Header = toml::from_str(&toml::to_string(&header).unwrap()).unwrap();
        assert_eq!(read, header);
    }
}
