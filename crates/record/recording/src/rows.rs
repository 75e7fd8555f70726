//! A recording in memory.

use crate::header::Header;
use crate::metrics::Metric;
use crate::names::{Name, Names};
use itertools::Itertools;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// An interned variant, case and mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series(pub(crate) u16);

/// An interned point's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PointName(pub(crate) u16);

impl Series {
    /// Number of the series: series are numbered from 0 on, as they come. For tables by series.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl PointName {
    /// Number of the point name: points are numbered from 0 on, as they come. For tables by point.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// The names that a [`Series`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeriesNames {
    /// The release or configuration.
    pub variant: Name,
    /// The experiment's case.
    pub case: Name,
    /// The case's mode; the empty name where a case has none.
    pub mode: Name,
}

/// One time-stamped event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Time in the unit of the header's time base.
    pub time: u64,
    /// The raw value of the counter.
    pub ticks: u64,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// The argument of the point: a lock, a level, a message.
    pub argument: u32,
    /// Variant, case and mode.
    pub series: Series,
    /// The CPU, by number.
    pub cpu: u16,
    /// The point.
    pub point: PointName,
}

/// One named number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Variant, case and mode.
    pub series: Series,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// The CPU, by number.
    pub cpu: Option<u16>,
    /// The CPU's cluster.
    pub cluster: Option<u16>,
    /// The CPU's number within its cluster.
    pub core: Option<u16>,
    /// The subject that it is a measure of besides: a node, a cell.
    pub subject: Option<Name>,
    /// The part that the subject played.
    pub role: Option<Name>,
    /// The quantity that was measured.
    pub metric: Name,
    /// Unit of the value.
    pub unit: Name,
    /// The value.
    pub value: f64,
}

/// A part of a measured span, and what it was spent on. The parts of a span add up to it, tick for
/// tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CauseRow {
    /// Variant, case and mode.
    pub series: Series,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// The CPU, by number.
    pub cpu: u16,
    /// The measure whose span it is a part of.
    pub metric: Name,
    /// The cause that the part was spent on.
    pub cause: Name,
    /// For a wait: the lock's id, or the number of the SCP's channel.
    pub on: Option<u32>,
    /// For a wait: the CPU that was waited for.
    pub holder: Option<u16>,
    /// The length, in ticks of the counter.
    pub ticks: u64,
}

/// Kinds of rows, of which some are kept.
#[derive(Clone, Copy, Default)]
pub struct RowKinds {
    /// Time-stamped events.
    pub events: bool,
    /// Named numbers.
    pub measures: bool,
    /// The causes of measured spans.
    pub causes: bool,
}

impl RowKinds {
    pub(crate) const ALL: Self = Self {
        events: true,
        measures: true,
        causes: true,
    };
}

/// Events, measures, causes and the header that says what they are.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The header, which repeats the run.
    pub header: Header,
    names: Names,
    series: Vec<SeriesNames>,
    series_numbers: HashMap<SeriesNames, Series>,
    points: Vec<Point>,
    point_numbers: HashMap<Name, PointName>,
    pub(crate) events: Vec<Event>,
    pub(crate) measures: Vec<Measure>,
    pub(crate) causes: Vec<CauseRow>,
}

/// The name that a [`PointName`] stands for.
#[derive(Clone, Copy, Debug)]
struct Point {
    name: Name,
    /// The meaning of the argument of the point's events.
    argument: Option<Name>,
}

impl Recording {
    /// An empty recording.
    pub fn new(header: Header) -> Self {
        Self {
            header,
            ..Self::default()
        }
    }

    /// Makes room for this many more events, so that [`Recording::push`] never has to.
    pub fn reserve_events(&mut self, more: usize) {
        self.events.reserve(more);
    }

    /// True if it has no rows.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.measures.is_empty() && self.causes.is_empty()
    }

    /// Forgets every row and keeps the memory and the names.
    pub fn clear(&mut self) {
        self.events.clear();
        self.measures.clear();
        self.causes.clear();
    }

    /// The number of a name; the same text always has the same one.
    pub fn name(&mut self, text: &str) -> Name {
        self.names.intern(text)
    }

    /// The number of a name, if it was ever used here.
    pub fn find_name(&self, text: &str) -> Option<Name> {
        self.names.find(text)
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.names.text(name)
    }

    /// The number of a variant, case and mode.
    ///
    /// # Panics
    /// With more than 65 536 of them.
    pub fn series(&mut self, variant: &str, case: &str, mode: &str) -> Series {
        let names = SeriesNames {
            variant: self.name(variant),
            case: self.name(case),
            mode: self.name(mode),
        };
        self.series_of(names)
            .expect("at most 65 536 combinations of variant, case and mode")
    }

    /// `None` with more than 65 536 of them.
    pub(crate) fn series_of(&mut self, names: SeriesNames) -> Option<Series> {
        if let Some(series) = self.series_numbers.get(&names) {
            return Some(*series);
        }
        let series = Series(u16::try_from(self.series.len()).ok()?);
        self.series.push(names);
        self.series_numbers.insert(names, series);
        Some(series)
    }

    /// The names that a series stands for.
    pub fn series_names(&self, series: Series) -> SeriesNames {
        self.series[series.0 as usize]
    }

    /// Variant, case and mode of a series, as text.
    pub fn series_texts(&self, series: Series) -> (&str, &str, &str) {
        let names = self.series_names(series);
        (
            self.text(names.variant),
            self.text(names.case),
            self.text(names.mode),
        )
    }

    /// Every series, in the order of their first use.
    pub fn all_series(&self) -> impl ExactSizeIterator<Item = Series> + use<> {
        (0..self.series.len()).map(|index| Series(index as u16))
    }

    /// The number of a point's name.
    ///
    /// # Panics
    /// With more than 65 536 of them.
    pub fn point(&mut self, text: &str) -> PointName {
        let name = self.name(text);
        self.point_of(name).expect("at most 65 536 points")
    }

    /// `None` with more than 65 536 of them.
    pub(crate) fn point_of(&mut self, name: Name) -> Option<PointName> {
        if let Some(point) = self.point_numbers.get(&name) {
            return Some(*point);
        }
        let point = PointName(u16::try_from(self.points.len()).ok()?);
        self.points.push(Point {
            name,
            argument: None,
        });
        self.point_numbers.insert(name, point);
        Some(point)
    }

    /// The number of a point's name, with what the argument of its events is where it means
    /// something: `lock`, `level`, `smc-function`.
    ///
    /// # Panics
    /// With more than 65 536 points.
    pub fn point_with(&mut self, text: &str, argument: Option<&str>) -> PointName {
        let point = self.point(text);
        if let Some(argument) = argument {
            self.points[point.0 as usize].argument = Some(self.names.intern(argument));
        }
        point
    }

    /// The meaning of the argument of a point's events; `None` where it means nothing, or nobody
    /// said.
    pub fn point_argument(&self, point: PointName) -> Option<Name> {
        self.points[point.0 as usize].argument
    }

    pub(crate) fn set_point_argument(&mut self, point: PointName, argument: Option<Name>) {
        let known = &mut self.points[point.0 as usize].argument;
        *known = known.or(argument);
    }

    pub(crate) fn names_len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn point_name(&self, point: PointName) -> Name {
        self.points[point.0 as usize].name
    }

    /// The number of a point's name, if it was ever used here.
    pub fn find_point(&self, text: &str) -> Option<PointName> {
        self.point_numbers.get(&self.find_name(text)?).copied()
    }

    /// A point's name.
    pub fn point_text(&self, point: PointName) -> &str {
        self.text(self.points[point.0 as usize].name)
    }

    /// Adds an event: the hot path.
    #[inline]
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Adds an event, field by field.
    #[expect(clippy::too_many_arguments, reason = "one argument a column")]
    #[inline]
    pub fn event(
        &mut self,
        series: Series,
        iteration: u32,
        cpu: u16,
        time: u64,
        ticks: u64,
        point: PointName,
        argument: u32,
    ) {
        self.push(Event {
            time,
            ticks,
            iteration,
            argument,
            series,
            cpu,
            point,
        });
    }

    /// Adds a measure and returns it, so that the CPU, the subject or the role can be filled in.
    pub fn measure(
        &mut self,
        series: Series,
        iteration: u32,
        metric: &str,
        unit: &str,
        value: f64,
    ) -> &mut Measure {
        let (metric, unit) = (self.name(metric), self.name(unit));
        self.push_measure(Measure {
            series,
            iteration,
            cpu: None,
            cluster: None,
            core: None,
            subject: None,
            role: None,
            metric,
            unit,
            value,
        })
    }

    /// Adds a measure of a metric, in its unit, of a subject; `""` is none.
    pub fn add(
        &mut self,
        series: Series,
        iteration: u32,
        metric: Metric,
        subject: &str,
        value: f64,
    ) -> &mut Measure {
        self.add_part(series, iteration, metric, [subject, ""], value)
    }

    /// The same with a role behind the subject; `""` is none.
    pub fn add_part(
        &mut self,
        series: Series,
        iteration: u32,
        metric: Metric,
        names: [&str; 2],
        value: f64,
    ) -> &mut Measure {
        let [subject, role] = names.map(|name| (!name.is_empty()).then(|| self.name(name)));
        let measure = self.measure(series, iteration, metric.name, metric.unit, value);
        (measure.subject, measure.role) = (subject, role);
        measure
    }

    /// Adds a measure whose names are interned already.
    pub fn push_measure(&mut self, measure: Measure) -> &mut Measure {
        self.measures.push(measure);
        self.measures.last_mut().expect("one was pushed just now")
    }

    /// The events, in the order they were pushed.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The measures, in the order they were pushed.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// Adds a part of a span's causes.
    pub fn push_cause(&mut self, cause: CauseRow) {
        self.causes.push(cause);
    }

    /// The causes of measured spans, in the order they were pushed; see [`Header::attribution`].
    pub fn causes(&self) -> &[CauseRow] {
        &self.causes
    }

    /// Forgets what measured spans were spent on.
    pub fn clear_causes(&mut self) {
        self.causes.clear();
    }

    /// Values of a metric in a series, in the order they were pushed.
    pub fn values(&self, series: Series, metric: &str) -> Vec<f64> {
        let Some(metric) = self.find_name(metric) else {
            return Vec::new();
        };
        self.measures
            .iter()
            .filter(|m| m.series == series && m.metric == metric)
            .map(|m| m.value)
            .collect()
    }

    /// Forgets the rows of all series but these.
    pub fn keep_series(&mut self, series: &[Series]) {
        self.events.retain(|event| series.contains(&event.series));
        self.measures
            .retain(|measure| series.contains(&measure.series));
        self.causes.retain(|cause| series.contains(&cause.series));
    }

    /// The runs that it holds, each a recording of its own whose iterations begin with 0: boots of a
    /// log, runs of a table. A recording of one run is alone.
    pub fn runs(&self) -> Vec<Self> {
        let begins = || self.header.run_begins.iter().copied();
        let ends = begins().chain([u32::MAX]);
        let run = |(begin, end): (u32, u32)| {
            let mut run = self.clone();
            let is_of = |iteration: &mut u32| {
                let is_of = (begin..end).contains(iteration);
                *iteration = iteration.saturating_sub(begin);
                is_of
            };
            run.events.retain_mut(|row| is_of(&mut row.iteration));
            run.measures.retain_mut(|row| is_of(&mut row.iteration));
            run.causes.retain_mut(|row| is_of(&mut row.iteration));
            run.header.run_begins.clear();
            run.header.iterations = end.min(self.header.iterations) - begin;
            run
        };
        [0].into_iter().chain(begins()).zip(ends).map(run).collect()
    }

    /// A digest of its measures, whatever the releases are called and whenever it was made: two
    /// recordings that have the same one are one measurement.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for row in &self.measures {
            let (_, case, mode) = self.series_texts(row.series);
            let names = [row.subject, row.role, Some(row.metric), Some(row.unit)];
            (
                case,
                mode,
                names.map(|name| name.map(|name| self.text(name))),
            )
                .hash(&mut hasher);
            (row.iteration, row.cpu, row.cluster, row.core).hash(&mut hasher);
            row.value.to_bits().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Forgets the measures of all metrics but some.
    pub fn keep_metrics(&mut self, is_kept: impl Fn(&str) -> bool) {
        let kept = self.names.all().map(is_kept).collect_vec();
        self.measures
            .retain(|measure| kept[measure.metric.0 as usize]);
    }

    /// Appends another recording's rows; the header stays as it is.
    pub fn append(&mut self, other: &Recording) {
        self.append_as(other, str::to_owned);
    }

    /// As [`Recording::append`], with other names for the variants.
    pub fn append_as(&mut self, other: &Recording, rename: impl Fn(&str) -> String) {
        self.append_kinds(other, RowKinds::ALL, rename);
    }

    /// As [`Recording::append_as`], for rows of some kinds only.
    pub(crate) fn append_kinds(
        &mut self,
        other: &Recording,
        kinds: RowKinds,
        rename: impl Fn(&str) -> String,
    ) {
        let series = other
            .all_series()
            .map(|s| {
                let (variant, case, mode) = other.series_texts(s);
                self.series(&rename(variant), case, mode)
            })
            .collect_vec();
        // A name stands in many rows, and is looked up once.
        let mut moved = vec![None; other.names.len()];
        let names = &mut self.names;
        let mut again = |name: Name| {
            *moved[name.index()].get_or_insert_with(|| names.intern(other.names.text(name)))
        };
        if kinds.measures {
            self.measures
                .extend(other.measures.iter().map(|row| Measure {
                    series: series[row.series.0 as usize],
                    subject: row.subject.map(&mut again),
                    role: row.role.map(&mut again),
                    metric: again(row.metric),
                    unit: again(row.unit),
                    ..*row
                }));
        }
        if kinds.causes {
            self.causes.extend(other.causes.iter().map(|row| CauseRow {
                series: series[row.series.0 as usize],
                metric: again(row.metric),
                cause: again(row.cause),
                ..*row
            }));
        }
        if kinds.events {
            let points = (0..other.points.len())
                .map(|index| {
                    let point = PointName(index as u16);
                    let argument = other
                        .point_argument(point)
                        .map(|name| self.names.intern(other.text(name)));
                    let point = self.point(other.point_text(point));
                    self.set_point_argument(point, argument);
                    point
                })
                .collect_vec();
            self.events.extend(other.events.iter().map(|event| Event {
                series: series[event.series.0 as usize],
                point: points[event.point.0 as usize],
                ..*event
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_measures_have_one_digest_whatever_the_release_is_called() {
        let digest = |variant: &str, values: &[f64]| {
            let mut recording = Recording::new(Header::new("t", "import", "ns"));
            let series = recording.series(variant, "case", "");
            for (iteration, value) in (0..).zip(values) {
                recording.measure(series, iteration, "wakeup", "us", *value);
            }
            recording.digest()
        };
        assert_eq!(digest("a", &[1.0, 2.0]), digest("b", &[1.0, 2.0]));
        assert_ne!(digest("a", &[1.0, 2.0]), digest("a", &[2.0, 1.0]));
    }

    #[test]
    fn an_event_takes_32_bytes() {
        assert_eq!(size_of::<Event>(), 32);
    }

    #[test]
    fn appending_renumbers_names_and_keeps_rows() {
        let mut one = Recording::new(Header::new("e", "sim", "ps"));
        let a = one.series("v1", "c", "");
        let p = one.point("begin");
        one.event(a, 0, 0, 1, 1, p, 0);

        let mut two = Recording::new(Header::new("e", "sim", "ps"));
        let q = two.point("end");
        let b = two.series("v2", "c", "");
        two.event(b, 0, 1, 2, 2, q, 9);
        let node = two.name("ip4-lookup");
        two.measure(b, 0, "clocks", "clk", 8.1).subject = Some(node);

        one.append(&two);
        assert_eq!(one.events().len(), 2);
        assert_eq!(one.series_texts(one.events()[1].series), ("v2", "c", ""));
        assert_eq!(one.point_text(one.events()[1].point), "end");
        assert_eq!(one.text(one.measures()[0].subject.unwrap()), "ip4-lookup");
        assert_eq!(one.values(one.measures()[0].series, "clocks"), [8.1]);
    }
}
