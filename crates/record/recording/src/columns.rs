//! The columns of the three Parquet files: each is declared here once, with what it holds and how a
//! row gives it.

use crate::folder::{CAUSES_FILE, EVENTS_FILE, MEASURES_FILE};
use crate::names::Name;
use crate::rows::{CauseRow, Event, Measure, Recording};

/// A kind of rows: its file, and where a recording has them.
pub trait Row: Sized + 'static {
    /// Name of the file.
    const FILE: &'static str;
    /// Columns of the file.
    const COLUMNS: &'static [Column<Self>];
    /// The file's schema as Arrow's readers want it: what makes text columns dictionaries to them.
    /// The second is for a file with the number of the run that a row is of.
    const ARROW: [&'static str; 2];

    /// The rows of a recording.
    fn of(recording: &Recording) -> &[Self];

    /// The same, to be changed.
    fn of_mut(recording: &mut Recording) -> &mut Vec<Self>;
}

/// Says what a kind of rows is, by the names of its file's schemas.
macro_rules! rows {
    ($row:ty, $file:ident, $columns:ident, $schema:literal, $of:ident) => {
        impl Row for $row {
            const FILE: &'static str = $file;
            const COLUMNS: &'static [Column<Self>] = &$columns;
            const ARROW: [&'static str; 2] = [
                include_str!(concat!("../arrow/", $schema, ".b64")),
                include_str!(concat!("../arrow/numbered-", $schema, ".b64")),
            ];

            fn of(recording: &Recording) -> &[Self] {
                &recording.$of
            }

            fn of_mut(recording: &mut Recording) -> &mut Vec<Self> {
                &mut recording.$of
            }
        }
    };
}

rows!(Event, EVENTS_FILE, EVENTS, "events", events);
rows!(Measure, MEASURES_FILE, MEASURES, "measures", measures);
rows!(CauseRow, CAUSES_FILE, CAUSES, "causes", causes);

/// Accessor of a column's value in a row.
pub enum Get<R> {
    /// A string, written as a dictionary.
    Text(fn(&Recording, &R) -> Option<Name>),
    /// An unsigned 16-bit number.
    U16(fn(&R) -> Option<u16>),
    /// An unsigned 32-bit number.
    U32(fn(&R) -> Option<u32>),
    /// An unsigned 64-bit number; never null.
    U64(fn(&R) -> u64),
    /// A double; never null.
    F64(fn(&R) -> f64),
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    U16,
    U32,
    U64,
    F64,
}

impl Kind {
    /// The type, as an error message names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F64 => "f64",
        }
    }
}

/// The unit of a column's numbers.
#[derive(Debug, PartialEq)]
pub enum Unit {
    /// Nothing: names, indices.
    None,
    /// The unit that the header's time base names.
    Time,
    /// Ticks of the counter whose frequency the header names.
    Ticks,
    /// The unit that stands in the row's column `unit`.
    Row,
}

/// A column.
pub struct Column<R: 'static> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) unit: Unit,
    pub(crate) nullable: bool,
    /// True if a file without it is read all the same, each row as if it were null.
    pub(crate) optional: bool,
    pub(crate) get: Get<R>,
}

impl<R> Column<R> {
    const fn new(name: &'static str, about: &'static str, get: Get<R>) -> Self {
        Self {
            name,
            about,
            unit: Unit::None,
            nullable: false,
            optional: false,
            get,
        }
    }

    const fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    const fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// A column that older files do not have.
    const fn since_later(mut self) -> Self {
        (self.nullable, self.optional) = (true, true);
        self
    }

    pub const fn kind(&self) -> Kind {
        match self.get {
            Get::Text(_) => Kind::Text,
            Get::U16(_) => Kind::U16,
            Get::U32(_) => Kind::U32,
            Get::U64(_) => Kind::U64,
            Get::F64(_) => Kind::F64,
        }
    }
}

/// First column of the files that hold the rows of many runs: the number of the run, a u64. `point`
/// alone is an instrumentation point.
pub const POINT: &str = "sweep_point";

/// Columns behind those that say which repetition of which series a row is of.
macro_rules! with_keys {
    ($($column:expr),* $(,)?) => {
        [
            Column::new(
                "variant",
                "the release or configuration",
                Get::Text(|of, row| Some(of.series_names(row.series).variant)),
            ),
            Column::new(
                "case",
                "the experiment's case",
                Get::Text(|of, row| Some(of.series_names(row.series).case)),
            ),
            Column::new(
                "mode",
                "the case's mode; empty where it has none",
                Get::Text(|of, row| Some(of.series_names(row.series).mode)),
            ),
            Column::new(
                "iteration",
                "the repetition, from 0",
                Get::U32(|row| Some(row.iteration)),
            ),
            $($column),*
        ]
    };
}

/// `events.parquet`.
static EVENTS: [Column<Event>; 10] = with_keys![
    Column::new("cpu", "the CPU's number, from 0", Get::U16(|e| Some(e.cpu))),
    Column::new(
        "time",
        "when, in the recording's unit of time",
        Get::U64(|e: &Event| e.time),
    )
    .unit(Unit::Time),
    Column::new(
        "ticks",
        "the raw value of the CPU's counter",
        Get::U64(|e: &Event| e.ticks),
    )
    .unit(Unit::Ticks),
    Column::new(
        "point",
        "the instrumentation point",
        Get::Text(|r, e| Some(r.point_name(e.point))),
    ),
    Column::new(
        "argument",
        "a number that belongs to the point",
        Get::U32(|e| Some(e.argument)),
    ),
    Column::new(
        "argument_kind",
        "what the argument is: a lock, a level, an SMC function id; null where it means nothing",
        Get::Text(|r, e: &Event| r.point_argument(e.point)),
    )
    .since_later(),
];

/// `measures.parquet`.
static MEASURES: [Column<Measure>; 12] = with_keys![
    Column::new(
        "cpu",
        "the CPU's number, from 0",
        Get::U16(|m: &Measure| m.cpu),
    )
    .nullable(),
    Column::new(
        "cluster",
        "the CPU's cluster",
        Get::U16(|m: &Measure| m.cluster),
    )
    .nullable(),
    Column::new(
        "core",
        "the CPU's number within its cluster",
        Get::U16(|m: &Measure| m.core),
    )
    .nullable(),
    Column::new(
        "subject",
        "what else it is a measure of: a node, a cell, a state",
        Get::Text(|_, m: &Measure| m.subject),
    )
    .nullable(),
    Column::new(
        "role",
        "the part that the CPU or subject played",
        Get::Text(|_, m: &Measure| m.role),
    )
    .nullable(),
    Column::new(
        "metric",
        "what was measured",
        Get::Text(|_, m| Some(m.metric)),
    ),
    Column::new(
        "value",
        "the figure, in the unit of its row",
        Get::F64(|m: &Measure| m.value),
    )
    .unit(Unit::Row),
    Column::new(
        "unit",
        "the unit of the value",
        Get::Text(|_, m| Some(m.unit)),
    ),
];

/// `causes.parquet`.
static CAUSES: [Column<CauseRow>; 10] = with_keys![
    Column::new("cpu", "the CPU's number, from 0", Get::U16(|c| Some(c.cpu))),
    Column::new(
        "metric",
        "the measure whose span is split",
        Get::Text(|_, c| Some(c.metric)),
    ),
    Column::new(
        "cause",
        "what this part of the span was spent on",
        Get::Text(|_, c| Some(c.cause)),
    ),
    Column::new(
        "on",
        "for a wait: the lock's id, or the SCP channel",
        Get::U32(|c: &CauseRow| c.on),
    )
    .nullable(),
    Column::new(
        "holder",
        "for a wait: the CPU that was waited for",
        Get::U16(|c: &CauseRow| c.holder),
    )
    .nullable(),
    Column::new(
        "ticks",
        "how long, in ticks of the counter",
        Get::U64(|c: &CauseRow| c.ticks),
    )
    .unit(Unit::Ticks),
];

/// Equal when both hold the same rows in the same order under the same header, however their names
/// are numbered.
impl PartialEq for Recording {
    fn eq(&self, other: &Self) -> bool {
        self.header == other.header
            && has_same::<Event>(self, other)
            && has_same::<Measure>(self, other)
            && has_same::<CauseRow>(self, other)
    }
}

/// True if two recordings have the same rows of a kind: the same value in each column.
fn has_same<R: Row>(one: &Recording, other: &Recording) -> bool {
    let mut pairs = R::of(one).iter().zip(R::of(other));
    let is_same = |(a, b)| {
        R::COLUMNS.iter().all(|column| match column.get {
            Get::Text(get) => {
                get(one, a).map(|name| one.text(name)) == get(other, b).map(|name| other.text(name))
            }
            Get::U16(get) => get(a) == get(b),
            Get::U32(get) => get(a) == get(b),
            Get::U64(get) => get(a) == get(b),
            Get::F64(get) => get(a).to_bits() == get(b).to_bits(),
        })
    };
    R::of(one).len() == R::of(other).len() && pairs.all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::process::{Command, Stdio};

    fn described<R>(table: &str, columns: &[Column<R>]) -> String {
        let mut text = String::new();
        for column in columns {
            let (name, about, kind) = (column.name, column.about, column.kind().name());
            let _ = writeln!(
                text,
                "{table}\t{name}\t{kind}\t{}\t{about}",
                column.nullable
            );
        }
        text
    }

    /// `arrow/*.b64` are made from the columns by `arrow/make.py`, which needs pyarrow:
    /// `STOPWATT_PYTHON` names a Python that has it. Without it, what was made is held to the
    /// columns by their names alone; `tests/other_readers.rs` reads it with pyarrow.
    #[test]
    fn arrows_schemas_are_those_of_the_columns() {
        let numbered = |table: &str, columns: String| {
            format!(
                "{table}\t{POINT}\tu64\tfalse\tthe number of the run that the row is of\n{columns}"
            )
        };
        let columns = described("events", &EVENTS)
            + &described("measures", &MEASURES)
            + &described("causes", &CAUSES);
        let columns = columns
            + &numbered("numbered-events", described("numbered-events", &EVENTS))
            + &numbered(
                "numbered-measures",
                described("numbered-measures", &MEASURES),
            )
            + &numbered("numbered-causes", described("numbered-causes", &CAUSES));
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("arrow");
        let made = std::fs::read_to_string(folder.join("columns.tsv")).unwrap_or_default();
        if let Some(python) = std::env::var_os("STOPWATT_PYTHON") {
            let mut make = Command::new(python);
            let mut make = make
                .arg(folder.join("make.py"))
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
            std::io::Write::write_all(&mut make.stdin.take().unwrap(), columns.as_bytes()).unwrap();
            assert!(make.wait().unwrap().success());
        } else {
            assert_eq!(
                made, columns,
                "run this test with STOPWATT_PYTHON=python, one that has pyarrow"
            );
        }
    }
}
