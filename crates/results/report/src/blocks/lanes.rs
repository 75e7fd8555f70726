//! The declared lanes of a recording over a part of its time: what a timeline shows.

use super::number::{quantity, unit_of_us};
use attribution::{CpuLane, cpu_lanes};
use itertools::Itertools;
use recording::{Recording, grouped};

/// The lanes of a case over a window of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    /// The case; may be empty.
    pub case: String,
    /// The rows, from above.
    pub rows: Vec<Row>,
    /// The window, in the recording's unit of time.
    from: u64,
    pub to: u64,
    /// Units in a microsecond.
    per_us: f64,
    /// True if what is a microsecond elsewhere is an operation of an explored run, which has no
    /// time.
    pub is_order: bool,
    titles: Vec<String>,
    all_stretches: usize,
    all_rows: usize,
}

/// A lane of a CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    /// The variant, which may be a policy.
    variant: String,
    /// The CPU, or the machine.
    owner: String,
    /// The title of its track.
    pub title: String,
    pub stretches: Vec<NamedStretch>,
    pub marks: Vec<NamedMark>,
}

/// A stretch of time with what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedStretch {
    pub from: u64,
    pub to: u64,
    pub what: String,
}

impl NamedMark {
    /// The number with which the mark's name begins, if it does.
    pub fn number(&self) -> Option<&str> {
        let (number, _) = self.what.split_once(". ")?;
        number
            .bytes()
            .all(|digit| digit.is_ascii_digit())
            .then_some(number)
    }
}

/// A mark with what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedMark {
    pub at: u64,
    pub what: String,
    /// True if every picture of the lane must show it.
    pub is_telling: bool,
}

/// Units of a recording's time in a microsecond; `None` where it is no time.
pub fn units_per_us(recording: &Recording) -> Option<f64> {
    recording::units::factor("us", &recording.header.time.unit)
}

/// The name of a lane's argument; the number where it has none.
pub fn argument_name(lane: &recording::Lane, argument: u32) -> String {
    lane.names
        .get(&argument)
        .cloned()
        .unwrap_or_else(|| argument.to_string())
}

impl Lanes {
    /// The lanes of each case over a part of the time in which at most `stretches` stretches lie,
    /// in at most `rows` rows; none where the recording declares none, or has no event on them.
    pub fn from_recording(
        recording: &Recording,
        most_stretches: usize,
        most_rows: usize,
    ) -> Vec<Self> {
        let Some(per_us) = units_per_us(recording).filter(|_| !recording.header.lanes.is_empty())
        else {
            return Vec::new();
        };
        let titles = recording
            .header
            .lanes
            .iter()
            .map(|lane| lane.title.clone())
            .collect_vec();
        let all = cpu_lanes(recording);
        let case_of = |lane: &CpuLane<'_>| recording.series_texts(lane.series).1;
        // In the order in which the recording has them.
        let series = all.iter().map(|lane| lane.series).sorted_unstable();
        let cases = series
            .map(|series| recording.series_texts(series).1)
            .unique();
        let of_case = |case: &str| {
            let all = all
                .iter()
                .filter(|lane| case_of(lane) == case)
                .collect_vec();
            let lanes = &all[..all.len().min(most_rows)];
            let is_order = recording.header.world == "explore";
            let (from, to) = window(lanes, most_stretches, is_order)?;
            let several = all.iter().any(|lane| lane.series != all[0].series);
            let rows = lanes
                .iter()
                .map(|lane| row(recording, lane, several, (from, to)))
                .collect();
            let all_stretches = all.iter().map(|lane| lane.stretches.len()).sum();
            let (case, titles, all_rows) = (case.to_owned(), titles.clone(), all.len());
            Some(Self {
                case,
                rows,
                from,
                to,
                per_us,
                is_order,
                titles,
                all_stretches,
                all_rows,
            })
        };
        cases.filter_map(of_case).collect()
    }

    /// The same rows with those of a variant together; `None` where that is no other order.
    pub fn by_variant(&self) -> Option<Self> {
        let variants = grouped(self.rows.iter().map(|row| (&row.variant, row)));
        let owners = || self.rows.iter().map(|row| &row.owner);
        if variants.len() < 2 || owners().all(|owner| Some(owner) == owners().next()) {
            return None;
        }
        let row = |row: &Row| {
            let titled = if self.titles.len() > 1 {
                format!(", {}", row.title)
            } else {
                String::new()
            };
            Row {
                name: format!("{}, {}{titled}", row.variant, row.owner),
                ..row.clone()
            }
        };
        let rows = variants.into_iter().flat_map(|(_, rows)| rows);
        Some(Self {
            rows: rows.map(row).collect(),
            ..self.clone()
        })
    }

    /// The names of the stretches of each track, by its title.
    pub fn kinds_by_title(&self) -> Vec<(&str, Vec<&str>)> {
        let of_title = |title: &str| {
            let mut kinds = self.kinds();
            let rows = || self.rows.iter().filter(|row| row.title == title);
            kinds.retain(|kind| {
                rows()
                    .flat_map(|row| &row.stretches)
                    .any(|stretch| stretch.what == *kind)
            });
            kinds
        };
        self.titles
            .iter()
            .map(|title| (title.as_str(), of_title(title)))
            .filter(|(_, kinds)| !kinds.is_empty())
            .collect()
    }

    /// A time in microseconds from the window's begin.
    pub fn us(&self, time: u64) -> f64 {
        time.saturating_sub(self.from) as f64 / self.per_us
    }

    /// The microseconds, or the operations, of a unit in which a length is read best; and that
    /// unit.
    pub fn unit(&self, length: f64) -> (f64, &'static str) {
        if self.is_order {
            (1.0, "operations")
        } else {
            unit_of_us(length)
        }
    }

    /// A length in words: "84.42 us", "70 operations".
    pub fn length(&self, length: f64) -> String {
        let (per, unit) = self.unit(length);
        format!("{} {unit}", quantity(length / per, unit))
    }

    /// The window's length in words.
    pub fn span(&self) -> String {
        self.length(self.us(self.to))
    }

    /// The window's begin in seconds.
    pub fn zero_s(&self) -> f64 {
        self.from as f64 / self.per_us / 1e6
    }

    /// The titles of the tracks, in words.
    pub fn titles(&self) -> String {
        self.titles.join(", ")
    }

    /// The names of all stretches, in order of their first.
    pub fn kinds(&self) -> Vec<&str> {
        let stretches = self.rows.iter().flat_map(|row| &row.stretches);
        let kinds = stretches.map(|stretch| stretch.what.as_str());
        kinds.unique().collect()
    }

    /// The parts that are not shown, in words; `None` if all are.
    pub fn left_out(&self) -> Option<String> {
        let shown: usize = self.rows.iter().map(|row| row.stretches.len()).sum();
        let rows = self.all_rows - self.rows.len();
        let parts = [(self.all_stretches - shown, "stretches"), (rows, "rows")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect_vec();
        (!parts.is_empty()).then(|| format!("Left out for want of room: {}.", parts.join(" and ")))
    }
}

/// The part of the time that is shown: all of it if it has few enough stretches, and else as much
/// at its end, where a run breaks, or about the middle, or about the middle one of the machine's
/// own stretches where there are any: they are rare, and what happens then is what one wants to
/// see.
fn window(lanes: &[&CpuLane<'_>], most_stretches: usize, at_the_end: bool) -> Option<(u64, u64)> {
    let stretches = || lanes.iter().flat_map(|lane| &lane.stretches);
    let ends = stretches().map(|stretch| stretch.to);
    let ends = ends.sorted_unstable().collect_vec();
    let first = stretches().map(|stretch| stretch.from).min()?;
    if ends.len() <= most_stretches {
        return Some((first, *ends.last()?));
    }
    let of_machine = lanes
        .iter()
        .filter(|lane| lane.cpu.is_none())
        .flat_map(|lane| &lane.stretches)
        .map(|of| of.from)
        .sorted_unstable()
        .collect_vec();
    let middle = match of_machine.get(of_machine.len() / 2).filter(|_| !at_the_end) {
        Some(&from) => ends.partition_point(|&end| end < from),
        None if at_the_end => ends.len(),
        None => ends.len() / 2,
    };
    let begin = middle
        .saturating_sub(most_stretches / 2)
        .min(ends.len() - most_stretches);
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
    let stretches = lane
        .stretches
        .iter()
        .filter(|stretch| stretch.to > from && stretch.from < to);
    let marks = lane
        .marks
        .iter()
        .filter(|mark| (from..=to).contains(&mark.at));
    let is_telling = |name: &str| {
        let mut points = lane.lane.telling.iter();
        points.any(|point| {
            lane.lane
                .marks
                .get(point)
                .is_some_and(|other| other == name)
        })
    };
    Row {
        name,
        variant: variant.to_owned(),
        owner: lane.owner(),
        title: title.clone(),
        stretches: stretches
            .map(|stretch| NamedStretch {
                from: stretch.from.max(from),
                to: stretch.to.min(to),
                what: argument_name(lane.lane, stretch.what),
            })
            .collect(),
        marks: marks
            .map(|mark| NamedMark {
                at: mark.at,
                what: mark.name.to_owned(),
                is_telling: is_telling(mark.name),
            })
            .collect(),
    }
}
