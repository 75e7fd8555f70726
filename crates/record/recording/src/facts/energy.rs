use super::Facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The power of a platform's idle states and operating points, with its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Power {
    /// The source of the power numbers.
    pub source: String,
    /// Watts per unit of the platform's table, where a source says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watts_per_unit: Option<f64>,
    /// The source of that figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watts_per_unit_source: Option<String>,
}

/// The energy of a recorded trace, by owner. Each pair is the least and the most that a figure may
/// be.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct TraceEnergy {
    /// The title of the platform.
    pub title: String,
    /// Unit of energy: J, or `unit s` where nobody says how many watts a unit is.
    pub unit: String,
    /// The time from the first event to the last, in seconds.
    pub seconds: f64,
    /// How many times as much boards took at the wall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<[f64; 2]>,
    /// The work that energies are divided by, and how often it was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<(String, u64)>,
    /// All energy.
    pub energy: [f64; 2],
    /// The owners, the most energy first.
    pub owners: Vec<TraceOwner>,
    /// Energy and wake-ups that would have gone otherwise.
    pub what_ifs: Vec<TraceWhatIf>,
}

/// An owner of energy in a trace.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TraceOwner {
    /// Name of the owner.
    pub name: String,
    /// True for work, false for an idle state; `None` for what the trace does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_work: Option<bool>,
    /// Its energy.
    pub energy: [f64; 2],
    /// Its time on all CPUs in seconds.
    pub cpu_s: f64,
    /// Its power in equal parts of the time: the middle of the range, in units of energy per second.
    pub power_over_time: Vec<f64>,
}

impl TraceEnergy {
    /// The modes of a figure's lower end and of its upper end.
    pub const ENDS: [&str; 2] = ["at least", "at most"];
}

impl Facts for TraceEnergy {}

/// What would have gone from a trace: the least and the most.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TraceWhatIf {
    /// The change, as a clause.
    pub name: String,
    /// Energy, in the trace's unit; negative if it would have been more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<[f64; 2]>,
    /// Wake-ups of idle CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_ups: Option<[u64; 2]>,
    /// Why it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// A workload under policies of placement.
#[derive(PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Placement {
    /// The title of the platform's idle states.
    pub title: String,
    /// The workload's name.
    pub workload: String,
    /// `highest`, or `schedutil` where frequencies follow the load.
    pub frequency: String,
    /// `ordinary` or `offloaded`.
    pub rcu: String,
    /// Simulated time of a seed, in seconds.
    pub seconds: f64,
    /// The fastest domain.
    pub big: String,
    /// The most that periodic tasks ask of the CPUs which they may use, in percent of what these
    /// can do; above 100 no policy can do it in time.
    #[serde(default)]
    pub load_percent: f64,
    /// The power numbers, where the platform has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
}

impl Facts for Placement {}

/// More and more equal tasks on some boards.
#[derive(Default, Serialize, Deserialize)]
pub struct ManyTasks {
    /// The boards.
    pub boards: Vec<TaskBoard>,
    /// The numbers of tasks, rising.
    pub tasks: Vec<u32>,
    /// Their period in milliseconds.
    pub period_ms: u64,
    /// The part of a period that a task computes on the fastest core, in percent.
    pub duty_percent: u64,
    /// Simulated time of a run, in seconds.
    pub seconds: u64,
}

impl Facts for ManyTasks {}

/// A board on which tasks run.
#[derive(Default, Serialize, Deserialize)]
pub struct TaskBoard {
    /// The platform's name.
    pub name: String,
    /// The title of its idle states.
    pub title: String,
    /// The fastest domain.
    pub big: String,
    /// The number of watts that a unit of power is, where a source says it.
    pub watts_per_unit: Option<f64>,
}

/// The benchmarks of `rcu-energy`, and what was not published of them.
#[derive(Serialize, Deserialize)]
pub struct Energy {
    /// The suite's title.
    pub title: String,
    /// The benchmarks that ran.
    pub benchmarks: Vec<Benchmark>,
    /// The quantities that are drawn.
    pub unknowns: Vec<Unknown>,
    /// The least and the most capable core at their highest operating points; `None` for a board
    /// without operating points.
    pub little: Option<WorkOfCore>,
    /// The most capable core.
    pub big: Option<WorkOfCore>,
}

/// The time that a core needs for what the fastest core does in a second.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct WorkOfCore {
    /// Energy of the core in units of the platform's power times seconds.
    pub energy_unit_s: f64,
    /// Time in seconds.
    pub time_s: f64,
}

/// A benchmark.
#[derive(Serialize, Deserialize)]
pub struct Benchmark {
    /// Name of the benchmark.
    pub name: String,
    /// True if it keeps a CPU busy.
    pub busy: bool,
    /// True if it runs for a fixed time, and not until its work is done.
    pub fixed_time: bool,
    /// Source of the benchmark.
    pub source: String,
}

/// A quantity that was not published.
#[derive(Clone, Serialize, Deserialize)]
pub struct Unknown {
    /// Name of the quantity.
    pub name: String,
    /// Meaning of the quantity.
    pub about: String,
    /// Unit of the quantity; may be empty.
    pub unit: String,
    /// The value at the central point.
    pub central: String,
    /// The values that are drawn, where they are few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

impl Facts for Energy {}
