//! A recording, what is read from it, and the published figures beside it.

use crate::accuracy::{Accuracy, accuracy};
use crate::beside::beside;
use crate::compared::{ComparedCell, Spread, compare, spread, with_intervals};
use crate::published_strides;
use crate::rows::{Row, tick_ns};
use crate::spread::quartiles;
use attribution::{Timelines, lock_order_decides, microseconds};
use itertools::Itertools;
use published::{PsciReference, Published};
use recording::{Header, Measure, Recording, Series, conditions, metrics, stats};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

/// Mode of the runs that show the spread; they have tables of their own.
const FREE_RUNNING: &str = "parallel-free";

/// No figures.
static NONE: LazyLock<Published> = LazyLock::new(Published::default);

/// A recording with all that is read from it: the timelines at once, and the rest when it is asked
/// for.
pub struct Findings<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// The recording's folder, as it was named on the command line.
    pub folder: &'a str,
    /// The published figures, of this experiment and others; empty where none are known.
    pub published: &'a Published,
    /// The timelines: events of each CPU, and waits of CPUs for each other.
    pub timelines: Timelines<'a>,
    compared: OnceLock<Vec<ComparedCell>>,
    spreads: OnceLock<Vec<Spread>>,
    accuracy: OnceLock<Vec<Accuracy>>,
    measures: OnceLock<Vec<MeasureRow>>,
}

/// A measure over all iterations.
#[derive(Serialize)]
pub struct MeasureRow {
    /// Release or configuration.
    pub variant: String,
    /// Case.
    pub case: String,
    /// Mode; may be empty.
    pub mode: String,
    /// The CPU as cluster.core, where it is known, or its number; empty for what is not of a CPU.
    pub cpu: String,
    /// The subject that it is a measure of besides; may be empty.
    pub subject: String,
    /// The part that the subject played; may be empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub role: String,
    /// The quantity that was measured.
    pub metric: String,
    /// The unit of all values.
    pub unit: String,
    /// Number of values.
    #[serde(rename = "values")]
    pub count: usize,
    /// The smallest.
    pub min: f64,
    /// The middle one, or the mean of the middle two.
    pub median: f64,
    /// The largest.
    pub max: f64,
    /// The first and the third quartile.
    pub quartiles: [f64; 2],
    /// The published value, in the same unit.
    pub published: Option<f64>,
}

impl MeasureRow {
    /// The distance between the quartiles as a share of the median; `None` of a single value.
    pub fn apart(&self) -> Option<f64> {
        (self.count > 1).then(|| {
            (self.quartiles[1] - self.quartiles[0]) / self.median.abs().max(f64::MIN_POSITIVE)
        })
    }
}

impl<'a> Findings<'a> {
    /// Reads a recording's timelines. All else is read when it is asked for, with the published
    /// figures beside it.
    pub fn new(
        recording: &'a Recording,
        folder: &'a str,
        published: Option<&'a Published>,
    ) -> Self {
        let (compared, spreads, accuracy, measures) = Default::default();
        Self {
            recording,
            folder,
            published: published.unwrap_or(&NONE),
            timelines: Timelines::new(recording),
            compared,
            spreads,
            accuracy,
            measures,
        }
    }

    /// The published PSCI latencies that stand beside it, if there are any for its platform.
    fn reference(&self) -> Option<&'a PsciReference> {
        let header = &self.recording.header;
        let platform = header.platform_name().filter(|_| beside(header))?;
        let mut references = self.published.psci.iter();
        references.find(|reference| reference.platform == platform)
    }

    /// PSCI latencies beside published ones; empty for other experiments.
    pub fn compared(&self) -> &[ComparedCell] {
        self.compared.get_or_init(|| {
            let cells = self
                .timelines
                .cells()
                .into_iter()
                .filter(|cell| cell.mode != FREE_RUNNING)
                .collect();
            let mut compared = compare(cells, self.reference());
            // Another order of the CPUs than the published run's is another run.
            let order = self.recording.header.request.get("order");
            if self.is_simulated() && order.is_some_and(|order| order != "declared") {
                for cell in compared
                    .iter_mut()
                    .filter(|cell| lock_order_decides(&cell.recorded.case, &cell.recorded.mode))
                {
                    (cell.published, cell.guess, cell.guess_interval) = Default::default();
                }
            }
            with_intervals(&mut compared, &self.recording.header.intervals);
            if !self.is_simulated() {
                // Nothing was fitted to a measurement: whether a fit used the published cell says
                // nothing about it.
                for published in compared
                    .iter_mut()
                    .filter_map(|cell| cell.published.as_mut())
                {
                    published.used_in_fit = false;
                }
            }
            compared
        })
    }

    /// The scatter of free-running seeds.
    pub fn spreads(&self) -> &[Spread] {
        self.spreads.get_or_init(|| {
            self.recording
                .all_series()
                .filter(|&series| self.recording.series_texts(series).2 == FREE_RUNNING)
                .filter_map(|series| spread(self.recording, series))
                .collect()
        })
    }

    /// The accuracy of predictions; empty where nothing was predicted, as in what was measured.
    pub fn accuracy(&self) -> &[Accuracy] {
        let tick_us = tick_ns(self.recording) / 1e3;
        self.accuracy.get_or_init(|| {
            if self.is_simulated() {
                accuracy(self.compared(), tick_us)
            } else {
                Vec::new()
            }
        })
    }

    /// All measures that are not PSCI latencies in a unit of time.
    pub fn measures(&self) -> &[MeasureRow] {
        self.measures.get_or_init(|| measures(self))
    }

    /// The source of the figures, one fact a row: what stands at the head of every output.
    pub fn source(&self) -> Vec<(&'static str, String)> {
        let header = &self.recording.header;
        let mut facts = vec![("recording", self.folder.to_owned())];
        facts.push((
            "experiment",
            format!("{} in world {}", header.experiment, header.world),
        ));
        if let Some(platform) = header.platform_name() {
            facts.push(("platform", platform.to_owned()));
        }
        let versions = header
            .versions
            .iter()
            .map(|(name, version)| format!("{name} ({version})"))
            .collect_vec();
        if !versions.is_empty() {
            facts.push(("versions", versions.join(", ")));
        }
        if !header.settings.is_empty() {
            let settings = header
                .settings
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect_vec();
            facts.push(("settings", settings.join(", ")));
        }
        if header.iterations > 0 {
            facts.push(("repeats", repeats(header)));
        }
        facts.extend(command(header).map(|command| ("command", command)));
        facts.extend(header.run.when.clone().map(|when| ("recorded", when)));
        for (release, source) in self.published() {
            facts.push(("published", format!("{release}: {source}")));
        }
        facts
    }

    /// The doubts about the costs that a simulation used, a sentence for each release; empty where
    /// fits passed their gate.
    pub fn doubts(&self) -> Vec<String> {
        let header = &self.recording.header;
        header.costs.keys().filter_map(|release| {
            let why = header.condition(release, conditions::BAD_FIT)?;
            Some(format!(
                "Warning: the costs of {release} are a bad fit, so its figures are no predictions: {why}."
            ))
        }).collect()
    }

    /// The series of a release, a case and a mode.
    pub fn series(&self, texts: [&str; 3]) -> Option<Series> {
        let mut all = self.recording.all_series();
        all.find(|&series| <[&str; 3]>::from(self.recording.series_texts(series)) == texts)
    }

    /// Releases that have published figures here, with the document's name.
    pub fn published(&self) -> Vec<(&str, &str)> {
        let Some(reference) = self.reference() else {
            return Vec::new();
        };
        let has = |name: &str| {
            self.compared()
                .iter()
                .any(|cell| cell.recorded.variant == name && cell.published.is_some())
        };
        reference
            .releases
            .iter()
            .filter(|(name, _)| has(name))
            .map(|(name, source)| (name.as_str(), source.as_str()))
            .collect()
    }

    /// True if the figures are predictions of a simulation, and not measured.
    pub fn is_simulated(&self) -> bool {
        is_simulated(&self.recording.header)
    }
}

fn is_simulated(header: &Header) -> bool {
    header.world == "sim"
}

/// The number of repeats, and the seed where chance has a part in it.
pub fn repeats(header: &Header) -> String {
    let iterations = match header.iterations {
        1 => "1 iteration".to_owned(),
        more => format!("{more} iterations"),
    };
    if is_simulated(header) {
        format!("{iterations}, seed {}", header.seed)
    } else {
        iterations
    }
}

/// The command that made a recording, with the program by its name.
pub fn command(header: &Header) -> Option<String> {
    let (program, arguments) = header.run.command.split_first()?;
    let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let quoted = arguments.iter().map(|argument| {
        if argument.contains(char::is_whitespace) {
            format!("'{argument}'")
        } else {
            argument.clone()
        }
    });
    Some(std::iter::once(program.to_owned()).chain(quoted).join(" "))
}

/// Subject and role of a measure, which tell rows apart. The role of a CPU, such as the last man's,
/// does not, and is empty here.
pub fn names<'r>(recording: &'r Recording, measure: &Measure) -> [&'r str; 2] {
    let row = Row::new(recording, measure);
    [
        row.subject,
        if measure.cpu.is_none() { row.role } else { "" },
    ]
}

fn measures(findings: &Findings<'_>) -> Vec<MeasureRow> {
    let recording = findings.recording;
    let mut groups = BTreeMap::new();
    // Rows come in the order in which the recording first has them.
    let mut numbers = std::collections::HashMap::new();
    let mut number = |text: String| {
        let next = numbers.len() as u32;
        *numbers.entry(text).or_insert(next)
    };
    for (index, measure) in recording.measures().iter().enumerate() {
        let metric = recording.text(measure.metric);
        let is_interval = metrics::by_name(metric).is_some_and(|metric| metric.interval.is_some());
        if is_interval && measure.cpu.is_some() && microseconds(recording, measure).is_some() {
            continue;
        }
        let cpu = measure.cpu.map_or(u32::MAX, u32::from);
        let key = (
            measure.series,
            number(format!("m{metric}")),
            names(recording, measure).map(|name| number(format!("s{name}"))),
            cpu,
            number(format!("u{}", recording.text(measure.unit))),
        );
        groups
            .entry(key)
            .or_insert_with(|| (index, Vec::new()))
            .1
            .push(measure.value);
    }
    groups
        .into_values()
        .filter_map(|(index, values)| {
            let measure = &recording.measures()[index];
            let [min, max] = stats::ends(values.iter().copied());
            let (variant, case, mode) = recording.series_texts(measure.series);
            let [subject, role] = names(recording, measure).map(str::to_owned);
            let metric = recording.text(measure.metric);
            let cpu = match (measure.cluster, measure.core, measure.cpu) {
                (Some(cluster), Some(core), _) => format!("{cluster}.{core}"),
                (_, _, Some(cpu)) => cpu.to_string(),
                _ => String::new(),
            };
            Some(MeasureRow {
                published: published_strides::published(
                    recording,
                    findings.published,
                    case,
                    &subject,
                    metric,
                ),
                variant: variant.to_owned(),
                case: case.to_owned(),
                mode: mode.to_owned(),
                cpu,
                subject,
                role,
                metric: metric.to_owned(),
                unit: recording.text(measure.unit).to_owned(),
                count: values.len(),
                min,
                median: stats::median(&values)?,
                max,
                quartiles: quartiles(&values),
            })
        })
        .collect()
}
