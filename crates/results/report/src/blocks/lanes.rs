//! The declared lanes of a recording over a part of its time: what a timeline shows.

use attribution::{CpuLane, cpu_lanes};
use recording::Recording;
use std::collections::BTreeMap;

/// The lanes of a case over a window of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    /// The case; may be empty.
    pub(crate) case: String,
    /// The rows, from above.
    pub(crate) rows: Vec<Row>,
    /// The window, in the recording's unit of time.
    from: u64,
    pub(crate) to: u64,
    /// Units in a microsecond.
    per_us: f64,
    titles: Vec<String>,
    all_stretches: usize,
    all_rows: usize,
}

/// A lane of a CPU.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// The variant, which may be a policy.
    variant: String,
    /// The CPU, or the machine.
    owner: String,
    /// The title of its track.
    pub(crate) title: String,
    pub(crate) stretches: Vec<NamedStretch>,
    pub(crate) marks: Vec<NamedMark>,
}

/// A stretch of time with what it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedStretch {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) what: String,
}

/// A mark with what it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedMark {
    pub(crate) at: u64,
    pub(crate) what: String,
    /// True if every picture of the lane must show it.
    pub(crate) is_telling: bool,
}

/// Units of a recording's time in a microsecond; `None` where it is no time.
pub(crate) fn units_per_us(recording: &Recording) -> Option<f64> {
    match recording.header.time.unit.as_str() {
        "ps" => Some(1e6),
        "ns" => Some(1e3),
        "us" => Some(1.0),
        _ => None,
    }
}

/// The name of a lane's argument; the number where it has none.
pub(crate) fn argument_name(lane: &recording::Lane, argument: u32) -> String {
    lane.names.get(&argument).cloned().unwrap_or_else(|| argument.to_string())
}

impl Lanes {
    /// The lanes of each case over a part of the time in which at most `stretches` stretches lie,
    /// in at most `rows` rows; none where the recording declares none, or has no event on them.
    pub(crate) fn from_recording(recording: &Recording, most_stretches: usize, most_rows: usize) -> Vec<Self> {
        let Some(per_us) = units_per_us(recording).filter(|_| !recording.header.lanes.is_empty()) else {
            return Vec::new();
        };
        let titles: Vec<String> = recording.header.lanes.iter().map(|lane| lane.title.clone()).collect();
        let all = cpu_lanes(recording);
        let case_of = |lane: &CpuLane<'_>| recording.series_texts(lane.series).1;
        // In the order in which the recording has them.
        let mut series: Vec<_> = all.iter().map(|lane| lane.series).collect();
        series.sort_unstable();
        let mut cases: Vec<&str> = Vec::new();
        for series in series {
            let case = recording.series_texts(series).1;
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        let of_case = |case: &str| {
            let all: Vec<&CpuLane<'_>> = all.iter().filter(|lane| case_of(lane) == case).collect();
            let lanes = &all[..all.len().min(most_rows)];
            let (from, to) = window(lanes, most_stretches)?;
            let several = all.iter().any(|lane| lane.series != all[0].series);
            let rows = lanes.iter().map(|lane| row(recording, lane, several, (from, to))).collect();
            let all_stretches = all.iter().map(|lane| lane.stretches.len()).sum();
            let (case, titles, all_rows) = (case.to_owned(), titles.clone(), all.len());
            Some(Self { case, rows, from, to, per_us, titles, all_stretches, all_rows })
        };
        cases.into_iter().filter_map(of_case).collect()
    }

    /// The same rows with those of a variant together; `None` where that is no other order.
    pub(crate) fn by_variant(&self) -> Option<Self> {
        let mut variants: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !variants.contains(&row.variant.as_str()) {
                variants.push(&row.variant);
            }
        }
        let owners = || self.rows.iter().map(|row| &row.owner);
        if variants.len() < 2 || owners().all(|owner| Some(owner) == owners().next()) {
            return None;
        }
        let named = |row: &Row| {
            let titled = if self.titles.len() > 1 { format!(", {}", row.title) } else { String::new() };
            Row { name: format!("{}, {}{titled}", row.variant, row.owner), ..row.clone() }
        };
        let of =
            |variant: &&str| self.rows.iter().filter(|row| row.variant == **variant).map(named).collect::<Vec<_>>();
        Some(Self { rows: variants.iter().flat_map(of).collect(), ..self.clone() })
    }

    /// The names of the stretches of each track, by its title.
    pub(crate) fn kinds_by_title(&self) -> Vec<(&str, Vec<&str>)> {
        let of_title = |title: &str| {
            let mut kinds = self.kinds();
            let rows = || self.rows.iter().filter(|row| row.title == title);
            kinds.retain(|kind| rows().flat_map(|row| &row.stretches).any(|stretch| stretch.what == *kind));
            kinds
        };
        self.titles
            .iter()
            .map(|title| (title.as_str(), of_title(title)))
            .filter(|(_, kinds)| !kinds.is_empty())
            .collect()
    }

    /// A time in microseconds from the window's begin.
    pub(crate) fn us(&self, time: u64) -> f64 {
        time.saturating_sub(self.from) as f64 / self.per_us
    }

    /// The window's begin in seconds.
    pub(crate) fn zero_s(&self) -> f64 {
        self.from as f64 / self.per_us / 1e6
    }

    /// The titles of the tracks, in words.
    pub(crate) fn titles(&self) -> String {
        self.titles.join(", ")
    }

    /// The names of all stretches, in order of their first.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for stretch in self.rows.iter().flat_map(|row| &row.stretches) {
            let next = kinds.len();
            kinds.entry(&stretch.what).or_insert(next);
        }
        let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
        kinds.sort_by_key(|(_, order)| *order);
        kinds.into_iter().map(|(kind, _)| kind).collect()
    }

    /// The parts that are not shown, in words; `None` if all are.
    pub(crate) fn left_out(&self) -> Option<String> {
        let shown: usize = self.rows.iter().map(|row| row.stretches.len()).sum();
        let rows = self.all_rows - self.rows.len();
        let parts: Vec<String> = [(self.all_stretches - shown, "stretches"), (rows, "rows")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        (!parts.is_empty()).then(|| format!("Left out for want of room: {}.", parts.join(" and ")))
    }
}

/// The part of the time that is shown: all of it if it has few enough stretches, and else as much
/// about the middle, or about the middle one of the machine's own stretches where there are any:
/// they are rare, and what happens then is what one wants to see.
fn window(lanes: &[&CpuLane<'_>], most_stretches: usize) -> Option<(u64, u64)> {
    let mut ends: Vec<u64> = lanes.iter().flat_map(|lane| &lane.stretches).map(|stretch| stretch.to).collect();
    ends.sort_unstable();
    let first = lanes.iter().flat_map(|lane| &lane.stretches).map(|stretch| stretch.from).min()?;
    if ends.len() <= most_stretches {
        return Some((first, *ends.last()?));
    }
    let mut of_machine: Vec<u64> =
        lanes.iter().filter(|lane| lane.cpu.is_none()).flat_map(|lane| &lane.stretches).map(|of| of.from).collect();
    of_machine.sort_unstable();
    let middle = match of_machine.get(of_machine.len() / 2) {
        Some(&from) => ends.partition_point(|&end| end < from),
        None => ends.len() / 2,
    };
    let begin = middle.saturating_sub(most_stretches / 2).min(ends.len() - most_stretches);
    Some((ends[begin], ends[begin + most_stretches - 1]))
}

fn row(recording: &Recording, lane: &CpuLane<'_>, several: bool, (from, to): (u64, u64)) -> Row {
    let (variant, _, _) = recording.series_texts(lane.series);
    let title = &lane.lane.title;
    let name = match (several, recording.header.lanes.len()) {
        (false, _) => format!("{}, {title}", lane.owner()),
        (true, 1) => format!("{}, {variant}", lane.owner()),
        (true, _) => format!("{}, {variant}, {title}", lane.owner()),
    };
    let stretches = lane.stretches.iter().filter(|stretch| stretch.to > from && stretch.from < to);
    let named = |stretch: &attribution::Stretch| NamedStretch {
        from: stretch.from.max(from),
        to: stretch.to.min(to),
        what: argument_name(lane.lane, stretch.what),
    };
    let marks = lane.marks.iter().filter(|mark| (from..=to).contains(&mark.at));
    let is_telling = |name: &str| {
        let mut points = lane.lane.telling.iter();
        points.any(|point| lane.lane.marks.get(point).is_some_and(|other| other == name))
    };
    Row {
        name,
        variant: variant.to_owned(),
        owner: lane.owner(),
        title: title.clone(),
        stretches: stretches.map(named).collect(),
        marks: marks
            .map(|mark| NamedMark { at: mark.at, what: mark.name.to_owned(), is_telling: is_telling(mark.name) })
            .collect(),
    }
}
