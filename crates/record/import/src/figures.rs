//! Figures that were read, and the recording of them.

use crate::error::{ImportError, pass_over, printable};
use crate::{Options, names};
use recording::metrics::{CACHE_FLUSH, POWERDOWN, PRINTED_CHANGE, by_name};
use recording::units::{
    self,
    Dimension::{Clocks, Instructions, Time},
};
use recording::{Header, Recording};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One figure.
#[derive(Debug, Default, PartialEq)]
pub struct Figure {
    /// Release or configuration.
    pub variant: String,
    /// Case.
    pub case: String,
    /// Mode; empty where the case has none.
    pub mode: String,
    /// The CPU's number, where it is known.
    pub cpu: Option<u16>,
    /// Cluster of the CPU and its number there, where they are known.
    pub place: Option<(u16, u16)>,
    /// The part that was played, by whatever the figure is of; empty where there is none.
    pub role: String,
    /// The quantity that was measured.
    pub metric: String,
    /// The figure, in [`Figure::unit`].
    pub value: f64,
    /// Unit of the figure, as in the text.
    pub unit: String,
    /// The change that the document prints beside it, in percent.
    pub printed_change_percent: Option<f64>,
    /// Which run, from 0: a boot of the machine, or what the text numbers so.
    pub run: u32,
    /// Which repetition in its run, from 0.
    pub iteration: u32,
    /// The line that it stands in, from 1.
    pub line: u64,
}

/// The figures that were read from a text.
#[derive(Debug, Default)]
pub struct Figures {
    /// The figures in the order of the text.
    pub figures: Vec<Figure>,
    /// The first of the lines that were left out, with `lenient`.
    pub warnings: Vec<ImportError>,
    /// The number of lines that were left out in all.
    pub left_out: u64,
    /// The doubts about what was taken as it is and looks wrong, each with its line.
    pub doubts: Vec<ImportError>,
}

/// Combinations of release, case and mode; far more than documents have, far fewer than a recording
/// holds.
const MOST_SERIES: usize = 4096;
/// CPUs; far more than platforms have.
const MOST_CPUS: usize = 4096;
/// Figures of one file: 20 000 runs of all six tests. More are no measurement, and would fill the
/// memory.
pub const MOST_FIGURES: usize = if cfg!(test) { 1_000 } else { 2_000_000 };
/// A time longer than this is a stamp left over from another call: 10 minutes, in nanoseconds.
const LONGEST_NS: f64 = 600e9;

impl Figures {
    /// Fails with an error, or notes it where the options are lenient.
    pub(crate) fn wrong(
        &mut self,
        options: &Options,
        error: ImportError,
    ) -> Result<(), ImportError> {
        let Self {
            warnings, left_out, ..
        } = self;
        pass_over(error, options.lenient, warnings, left_out)
    }

    /// Takes what was read of a line, or fails with what is wrong there, or notes it where the
    /// options are lenient.
    pub(crate) fn take(
        &mut self,
        read: Result<Vec<Figure>, ImportError>,
        options: &Options,
    ) -> Result<(), ImportError> {
        match read {
            Ok(figures) => self.figures.extend(figures),
            Err(error) => return self.wrong(options, error),
        }
        if self.figures.len() <= MOST_FIGURES {
            return Ok(());
        }
        Err(ImportError::whole(
            &options.file,
            format!("more than {MOST_FIGURES} figures"),
            "split the file; recordings of its parts can be compared",
        ))
    }

    /// The places of CPUs; refuses more series or CPUs than a recording holds.
    fn places(&self, file: &str) -> Result<BTreeSet<(u16, u16)>, ImportError> {
        let series: BTreeSet<_> = self
            .figures
            .iter()
            .map(|f| (&f.variant, &f.case, &f.mode))
            .collect();
        if series.len() > MOST_SERIES {
            return Err(ImportError::whole(
                file,
                format!(
                    "{} different combinations of release, case and mode",
                    series.len()
                ),
                format!("a recording takes at most {MOST_SERIES}: split the file"),
            ));
        }
        let places: BTreeSet<(u16, u16)> = self.figures.iter().filter_map(|f| f.place).collect();
        if places.len() > MOST_CPUS {
            return Err(ImportError::whole(
                file,
                format!("{} different CPUs", places.len()),
                format!(
                    "at most {MOST_CPUS} can be imported: are cluster and core what they should be?"
                ),
            ));
        }
        Ok(places)
    }

    /// Refuses a file without figures.
    fn has_some(&self, file: &str) -> Result<(), ImportError> {
        if self.figures.is_empty() {
            let what = if self.left_out > 0 {
                "no line could be read"
            } else {
                "there is nothing to import"
            };
            return Err(ImportError::whole(
                file,
                what,
                "expected lines `<RT_INSTR:test<TAB>cluster<TAB>core<TAB>ns…/>`, RST tables with a column CPU or Cluster, or CSV \
                 with the columns case, metric, value, unit",
            ));
        }
        Ok(())
    }

    /// Numbers CPUs and repetitions, and refuses what a recording cannot hold.
    ///
    /// `repeats`: whether the same cell may come again, as the next iteration.
    pub(crate) fn finish(mut self, options: &Options, repeats: bool) -> Result<Self, ImportError> {
        let file = &options.file;
        self.figures
            .iter_mut()
            .filter(|figure| figure.variant.is_empty())
            .for_each(|figure| figure.variant.clone_from(&options.variant));
        let places = self.places(file)?;
        // Without a platform, CPUs are numbered by cluster and core.
        let counted: BTreeMap<(u16, u16), u16> = places.into_iter().zip(0..).collect();
        let mut seen = HashMap::new();
        let mut kept = Vec::with_capacity(self.figures.len());
        for mut figure in std::mem::take(&mut self.figures) {
            figure.cpu = match (&options.cpus, figure.place, figure.cpu) {
                (Some(cpus), Some(place), _) => cpus
                    .iter()
                    .position(|&cpu| cpu == place)
                    .map(|cpu| cpu as u16),
                (None, Some(place), _) => counted.get(&place).copied(),
                (_, None, cpu) => cpu,
            };
            if let Some(known) = units::unit(&figure.unit) {
                known.name.clone_into(&mut figure.unit);
            }
            let key = (
                figure.series(),
                (
                    figure.run,
                    figure.cpu,
                    figure.place,
                    figure.role.clone(),
                    figure.metric.clone(),
                ),
            );
            match seen.get_mut(&key) {
                Some((_, line)) if !repeats => {
                    let error = twice(file, &figure, *line);
                    self.wrong(options, error)?;
                    continue;
                }
                Some((count, _)) => {
                    *count += 1;
                    figure.iteration = *count;
                }
                None => {
                    seen.insert(key, (0, figure.line));
                }
            }
            kept.push(figure);
        }
        self.figures = kept;
        self.has_some(file)?;
        Ok(self)
    }
}

/// The error of a figure that stands in line `first` already.
fn twice(file: &str, figure: &Figure, first: u64) -> ImportError {
    ImportError::new(
        file,
        figure.line,
        "",
        format!(
            "{} {} {} has a second {} of {}",
            figure.variant,
            figure.case,
            figure.mode,
            figure.metric,
            figure.cpu_name()
        ),
        format!(
            "the first one is in line {first}: keep one, or name the tables' releases in their captions; of an RST \
                             page --section HEADING reads one section, and --platform NAME tells CPUs apart whose core's number is repeated"
        ),
    )
}

impl Figure {
    /// Its variant, case and mode.
    pub(crate) fn series(&self) -> (String, String, String) {
        (self.variant.clone(), self.case.clone(), self.mode.clone())
    }

    /// The CPU as people write it: cluster.core, or its number.
    pub fn cpu_name(&self) -> String {
        match (self.place, self.cpu) {
            (Some((cluster, core)), _) => format!("CPU {cluster}.{core}"),
            (None, Some(cpu)) => format!("CPU {cpu}"),
            (None, None) => "the whole".to_owned(),
        }
    }
}

/// The figures that a measurement can hardly have given: all times 0, a flush longer than the
/// powerdown that it is part of, one CPU alone in parallel.
pub fn implausible(figures: &[Figure], options: &Options) -> Vec<ImportError> {
    let mut found = Vec::new();
    let mut say = |figure: &Figure, message: String, help: &str| {
        found.push(ImportError::new(
            &options.file,
            figure.line,
            "",
            format!("{} {}: {message}", figure.case, figure.mode),
            help,
        ));
    };
    let mut say_of_lines = |is_wrong: fn(&&[Figure]) -> bool, what: &str, help: &str| {
        let lines = figures.chunk_by(|a, b| a.line == b.line && a.place == b.place);
        let mut wrong = lines.filter(is_wrong);
        if let Some(first) = wrong.next() {
            let count = 1 + wrong.count();
            let message = format!("{what}, in {count} lines from this one on");
            say(&first[0], message, help);
        }
    };
    say_of_lines(
        |line| line.iter().all(|figure| figure.value == 0.0),
        "all times are 0",
        "is the counter running, and are the points compiled in?",
    );
    say_of_lines(
        |line| {
            let of = |name: &str| {
                let figure = line.iter().find(|figure| figure.metric == name);
                figure.map(|figure| figure.value)
            };
            of(CACHE_FLUSH.name)
                .zip(of(POWERDOWN.name))
                .is_some_and(|(flush, powerdown)| flush > powerdown)
        },
        "the cache flush is longer than the powerdown that it is part of",
        "the fields are powerdown, wakeup, cache flush; is their order another?",
    );
    // By release, case and mode: the first figure, and the CPUs.
    let mut cpus = BTreeMap::new();
    for figure in figures {
        cpus.entry((&figure.variant, &figure.case, &figure.mode))
            .or_insert((figure, BTreeSet::new()))
            .1
            .extend(figure.place);
    }
    let most = cpus.values().map(|(_, places)| places.len()).max();
    let all = options.cpus.as_ref().map_or(most.unwrap_or(0), Vec::len);
    for (first, places) in cpus.values().filter(|_| all > 1) {
        if let Some((cluster, core)) = places.first().filter(|_| places.len() == 1) {
            let message = format!("only CPU {cluster}.{core} of {all} has lines");
            say(first, message, "is the log whole?");
        }
    }
    found
}

/// Checks that a metric that is a time or a count of clocks, by the table of metrics, has a unit of
/// one. Metrics that the table does not know may have any unit.
pub fn known_unit(metric: &str, unit: &str) -> Result<(), String> {
    let is_time = |unit: &str| {
        let known = units::unit(unit).map(|unit| unit.dimension);
        matches!(known, Some(Time | Clocks | Instructions))
    };
    if by_name(metric).is_some_and(|metric| is_time(metric.unit)) && !is_time(unit) {
        Err(format!(
            "`{}` is no unit of {metric}; the units are ps, ns, us, ms, s, ticks, clk, clocks, cycles, instructions",
            printable(unit)
        ))
    } else {
        Ok(())
    }
}

/// A time that can have been measured; otherwise what is wrong with it.
pub fn plausible(value: f64, unit: &str) -> Result<(), String> {
    match units::nanoseconds(unit) {
        _ if !value.is_finite() => Err(format!("`{value}` is no number")),
        Some(_) if value < 0.0 => Err(format!("`{value}` is not a time")),
        Some(ns) if value * ns > LONGEST_NS => Err(format!(
            "{value} {unit} is no latency: one of its stamps belongs to another call"
        )),
        _ => Ok(()),
    }
}

/// A label that can be printed; otherwise what is wrong with it.
pub fn label(text: &str, what: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        Err(format!("the {what} is empty"))
    } else if text.len() > 100 || text.chars().any(char::is_control) {
        Err(format!("`{}` is no name of a {what}", printable(text)))
    } else {
        Ok(text.to_owned())
    }
}

/// The recording of what was read.
///
/// Units are those of the text. `kind` is what was read: `rt-instr`, `rst` or `csv`.
pub fn record(figures: &Figures, options: &Options, kind: &str) -> Recording {
    let is_of_cpus = figures.figures.iter().any(|figure| figure.cpu.is_some());
    let mut header = Header::new(
        if is_of_cpus { "psci-latency" } else { "table" },
        "import",
        "ticks",
    );
    header
        .settings
        .insert("source".to_owned(), printable(&options.file));
    header
        .settings
        .insert("source_kind".to_owned(), kind.to_owned());
    // Iterations are numbered through all runs: each run begins behind the longest test before it.
    let mut lengths: BTreeMap<u32, u32> = BTreeMap::new();
    for figure in &figures.figures {
        let length = lengths.entry(figure.run).or_default();
        *length = (*length).max(figure.iteration + 1);
    }
    let mut begin = BTreeMap::new();
    for (run, length) in lengths {
        begin.insert(run, header.iterations);
        header.iterations += length;
    }
    header.run_begins = begin.values().skip(1).copied().collect();
    let mut recording = Recording::new(header);
    for figure in &figures.figures {
        let series = recording.series(&figure.variant, &figure.case, &figure.mode);
        let role = (!figure.role.is_empty()).then(|| recording.name(&figure.role));
        let change = figure.printed_change_percent.map(|percent| {
            (
                format!("{}{PRINTED_CHANGE}", figure.metric),
                "%".to_owned(),
                percent,
            )
        });
        let value = (figure.metric.clone(), figure.unit.clone(), figure.value);
        for (metric, unit, value) in std::iter::once(value).chain(change) {
            let iteration = begin[&figure.run] + figure.iteration;
            let measure = recording.measure(series, iteration, &metric, &unit, value);
            measure.cpu = figure.cpu;
            (measure.cluster, measure.core) = figure.place.unzip();
            measure.role = role;
        }
    }
    recording
}

/// A CPU's number, and its cluster and core.
pub type CpuAndPlace = (Option<u16>, Option<(u16, u16)>);

/// Turns what a text says of a CPU into its number and place.
pub fn cpu_of(number: u16, options: &Options) -> Result<CpuAndPlace, String> {
    match &options.cpus {
        None => Ok((Some(number), None)),
        Some(cpus) => match cpus.get(usize::from(number)) {
            Some(&place) => Ok((Some(number), Some(place))),
            None => Err(format!(
                "there is no CPU {number}; the platform has {}",
                cpus.len()
            )),
        },
    }
}

/// Refuses a CPU that the platform lacks.
pub fn known_place(place: (u16, u16), options: &Options) -> Result<(), String> {
    match &options.cpus {
        Some(cpus) if !cpus.contains(&place) => Err(format!(
            "there is no core {} in cluster {} on the platform",
            place.1, place.0
        )),
        _ => Ok(()),
    }
}

/// All tests that the framework's lines may name, for help texts.
pub fn known_tests() -> String {
    names::TESTS.map(|(name, _)| name).join(", ")
}
