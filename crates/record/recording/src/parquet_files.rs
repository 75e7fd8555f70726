//! The two Parquet files: columns, their types and how they are encoded.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

use crate::error::Error;
use crate::names::Name;
use crate::rows::{Event, Measure, Recording, SeriesNames};

/// Rows that are turned into columns at a time.
const BATCH_ROWS: usize = 64 * 1024;
/// Rows of a row group.
const GROUP_ROWS: usize = 1024 * 1024;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    U16,
    U32,
    U64,
    F64,
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Self::U16 => DataType::UInt16,
            Self::U32 => DataType::UInt32,
            Self::U64 => DataType::UInt64,
            Self::F64 => DataType::Float64,
        }
    }

    fn says(self) -> &'static str {
        match self {
            Self::Text => "a string or a dictionary of strings",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F64 => "f64",
        }
    }
}

/// A column: its name, its type and whether it may be null.
type Column = (&'static str, Kind, bool);

const EVENTS: [Column; 9] = [
    ("variant", Kind::Text, false),
    ("case", Kind::Text, false),
    ("mode", Kind::Text, false),
    ("iteration", Kind::U32, false),
    ("cpu", Kind::U16, false),
    ("time", Kind::U64, false),
    ("ticks", Kind::U64, false),
    ("point", Kind::Text, false),
    ("argument", Kind::U32, false),
];

const MEASURES: [Column; 12] = [
    ("variant", Kind::Text, false),
    ("case", Kind::Text, false),
    ("mode", Kind::Text, false),
    ("iteration", Kind::U32, false),
    ("cpu", Kind::U16, true),
    ("cluster", Kind::U16, true),
    ("core", Kind::U16, true),
    ("subject", Kind::Text, true),
    ("role", Kind::Text, true),
    ("metric", Kind::Text, false),
    ("value", Kind::F64, false),
    ("unit", Kind::Text, false),
];

fn schema(columns: &[Column]) -> SchemaRef {
    let fields: Vec<Field> =
        columns.iter().map(|&(name, kind, nullable)| Field::new(name, kind.data_type(), nullable)).collect();
    Arc::new(Schema::new(fields))
}

/// Every choice that shows in the bytes is made here; none is left to the library's defaults.
fn properties() -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by("stopwatt".to_owned())
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_data_page_row_count_limit(BATCH_ROWS)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(true);
    for column in ["time", "ticks"] {
        properties = properties
            .set_column_dictionary_enabled(column.into(), false)
            .set_column_encoding(column.into(), Encoding::DELTA_BINARY_PACKED);
    }
    properties
        .set_column_dictionary_enabled("value".into(), false)
        .set_column_encoding("value".into(), Encoding::PLAIN)
        .build()
}

/// Names in use among some rows, as the dictionary of a column.
///
/// Dictionaries are numbered by first appearance in the rows, so the bytes do not depend on the order of interning.
struct Dictionary {
    places: Vec<i32>,
    names: Vec<Name>,
}

impl Dictionary {
    const NOT_YET: i32 = -1;

    fn column(recording: &Recording, names: impl Iterator<Item = Option<Name>>) -> ArrayRef {
        let mut dictionary = Self { places: vec![Self::NOT_YET; recording.names_len()], names: Vec::new() };
        let keys: Int32Array = names.map(|name| name.map(|name| dictionary.place(name))).collect();
        let texts = StringArray::from_iter_values(dictionary.names.iter().map(|&name| recording.text(name)));
        Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(texts)))
    }

    fn place(&mut self, name: Name) -> i32 {
        let place = &mut self.places[name.0 as usize];
        if *place == Self::NOT_YET {
            *place = self.names.len() as i32;
            self.names.push(name);
        }
        *place
    }
}

type Batch = Result<RecordBatch, ParquetError>;

fn batch(columns: &[Column], arrays: Vec<ArrayRef>) -> Batch {
    RecordBatch::try_new(schema(columns), arrays).map_err(ParquetError::from)
}

fn series_columns<'a>(recording: &Recording, series: impl Iterator<Item = SeriesNames> + Clone + 'a) -> [ArrayRef; 3] {
    [
        Dictionary::column(recording, series.clone().map(|s| Some(s.variant))),
        Dictionary::column(recording, series.clone().map(|s| Some(s.case))),
        Dictionary::column(recording, series.map(|s| Some(s.mode))),
    ]
}

fn event_batch(recording: &Recording, rows: &[Event]) -> Batch {
    let [variant, case, mode] = series_columns(recording, rows.iter().map(|e| recording.series_names(e.series)));
    batch(
        &EVENTS,
        vec![
            variant,
            case,
            mode,
            Arc::new(rows.iter().map(|e| e.iteration).collect::<UInt32Array>()),
            Arc::new(rows.iter().map(|e| e.cpu).collect::<UInt16Array>()),
            Arc::new(rows.iter().map(|e| e.time).collect::<UInt64Array>()),
            Arc::new(rows.iter().map(|e| e.ticks).collect::<UInt64Array>()),
            Dictionary::column(recording, rows.iter().map(|e| Some(recording.point_name(e.point)))),
            Arc::new(rows.iter().map(|e| e.argument).collect::<UInt32Array>()),
        ],
    )
}

fn measure_batch(recording: &Recording, rows: &[Measure]) -> Batch {
    let [variant, case, mode] = series_columns(recording, rows.iter().map(|m| recording.series_names(m.series)));
    batch(
        &MEASURES,
        vec![
            variant,
            case,
            mode,
            Arc::new(rows.iter().map(|m| m.iteration).collect::<UInt32Array>()),
            Arc::new(rows.iter().map(|m| m.cpu).collect::<UInt16Array>()),
            Arc::new(rows.iter().map(|m| m.cluster).collect::<UInt16Array>()),
            Arc::new(rows.iter().map(|m| m.core).collect::<UInt16Array>()),
            Dictionary::column(recording, rows.iter().map(|m| m.subject)),
            Dictionary::column(recording, rows.iter().map(|m| m.role)),
            Dictionary::column(recording, rows.iter().map(|m| Some(m.metric))),
            Arc::new(rows.iter().map(|m| m.value).collect::<Float64Array>()),
            Dictionary::column(recording, rows.iter().map(|m| Some(m.unit))),
        ],
    )
}

fn write<R>(
    out: impl Write + Send,
    columns: &[Column],
    rows: &[R],
    to_batch: impl Fn(&[R]) -> Batch,
) -> Result<(), ParquetError> {
    let mut writer = ArrowWriter::try_new(out, schema(columns), Some(properties()))?;
    for chunk in rows.chunks(BATCH_ROWS) {
        writer.write(&to_batch(chunk)?)?;
    }
    writer.close()?;
    Ok(())
}

pub(crate) fn write_events(recording: &Recording, out: impl Write + Send) -> Result<(), ParquetError> {
    write(out, &EVENTS, recording.events(), |rows| event_batch(recording, rows))
}

pub(crate) fn write_measures(recording: &Recording, out: impl Write + Send) -> Result<(), ParquetError> {
    write(out, &MEASURES, recording.measures(), |rows| measure_batch(recording, rows))
}

/// The columns of one batch, in our order, checked.
struct Columns<'a> {
    path: &'a Path,
    columns: &'static [Column],
    arrays: Vec<ArrayRef>,
    first_row: usize,
}

impl<'a> Columns<'a> {
    fn new(path: &'a Path, columns: &'static [Column], batch: &RecordBatch, first_row: usize) -> Result<Self, Error> {
        let mut arrays = Vec::with_capacity(columns.len());
        for &(column, kind, nullable) in columns {
            let array = batch.column_by_name(column).ok_or_else(|| Error::MissingColumn {
                path: path.to_owned(),
                column,
                expected: columns
                    .iter()
                    .map(|(name, kind, _)| format!("{name} ({})", kind.says()))
                    .collect::<Vec<_>>()
                    .join(", "),
            })?;
            let fits = match (kind, array.data_type()) {
                (Kind::Text, DataType::Utf8) => true,
                (Kind::Text, DataType::Dictionary(key, value)) => **key == DataType::Int32 && **value == DataType::Utf8,
                (kind, found) => *found == kind.data_type(),
            };
            if !fits {
                return Err(Error::ColumnType {
                    path: path.to_owned(),
                    column,
                    found: array.data_type().to_string(),
                    expected: kind.says().to_owned(),
                });
            }
            if !nullable && array.null_count() > 0 {
                let row = (0..array.len()).find(|&row| array.is_null(row)).unwrap_or(0);
                return Err(Error::Null { path: path.to_owned(), column, row: first_row + row });
            }
            arrays.push(array.clone());
        }
        Ok(Self { path, columns, arrays, first_row })
    }

    /// The names of a text column; a dictionary is interned once, not row by row.
    fn names(&self, column: usize, recording: &mut Recording) -> Result<Vec<Option<Name>>, Error> {
        let array = &self.arrays[column];
        if let Some(strings) = array.as_string_opt::<i32>() {
            return Ok(strings.iter().map(|text| text.map(|text| recording.name(text))).collect());
        }
        let dictionary = array.as_dictionary::<Int32Type>();
        let texts = dictionary.values().as_string::<i32>();
        let mut interned: Vec<Option<Name>> = vec![None; texts.len()];
        let mut names = Vec::with_capacity(array.len());
        for (row, key) in dictionary.keys().iter().enumerate() {
            let Some(key) = key.map(|key| key as usize) else {
                names.push(None);
                continue;
            };
            if texts.is_null(key) {
                return Err(self.null(column, row));
            }
            names.push(Some(*interned[key].get_or_insert_with(|| recording.name(texts.value(key)))));
        }
        Ok(names)
    }

    fn sure_names(&self, column: usize, recording: &mut Recording) -> Result<Vec<Name>, Error> {
        let names = self.names(column, recording)?;
        names.into_iter().enumerate().map(|(row, name)| name.ok_or_else(|| self.null(column, row))).collect()
    }

    fn null(&self, column: usize, row: usize) -> Error {
        Error::Null { path: self.path.to_owned(), column: self.columns[column].0, row: self.first_row + row }
    }

    fn u16_opt(&self, column: usize, row: usize) -> Option<u16> {
        let array = self.arrays[column].as_primitive::<UInt16Type>();
        array.is_valid(row).then(|| array.value(row))
    }

    fn u32s(&self, column: usize) -> &UInt32Array {
        self.arrays[column].as_primitive::<UInt32Type>()
    }

    fn u64s(&self, column: usize) -> &UInt64Array {
        self.arrays[column].as_primitive::<UInt64Type>()
    }
}

fn read(
    path: &Path,
    columns: &'static [Column],
    mut take: impl FnMut(&Columns<'_>, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    let bad = |message: String| Error::Parquet { path: path.to_owned(), message };
    let file = std::fs::File::open(path).map_err(Error::io(path, "read"))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| bad(e.to_string()))?;
    let empty = RecordBatch::new_empty(builder.schema().clone());
    Columns::new(path, columns, &empty, 0)?;
    let mut first_row = 0;
    for batch in builder.with_batch_size(BATCH_ROWS).build().map_err(|e| bad(e.to_string()))? {
        let batch = batch.map_err(|e| bad(e.to_string()))?;
        take(&Columns::new(path, columns, &batch, first_row)?, batch.num_rows())?;
        first_row += batch.num_rows();
    }
    Ok(())
}

pub(crate) fn read_events(recording: &mut Recording, path: &Path) -> Result<(), Error> {
    read(path, &EVENTS, |columns, rows| {
        let variants = columns.sure_names(0, recording)?;
        let cases = columns.sure_names(1, recording)?;
        let modes = columns.sure_names(2, recording)?;
        let points = columns.sure_names(7, recording)?;
        let (iterations, cpus) = (columns.u32s(3), columns.arrays[4].as_primitive::<UInt16Type>());
        let (times, ticks, arguments) = (columns.u64s(5), columns.u64s(6), columns.u32s(8));
        for row in 0..rows {
            let names = SeriesNames { variant: variants[row], case: cases[row], mode: modes[row] };
            let event = Event {
                time: times.value(row),
                ticks: ticks.value(row),
                iteration: iterations.value(row),
                argument: arguments.value(row),
                series: recording.series_of(names),
                cpu: cpus.value(row),
                point: recording.point_of(points[row]),
            };
            recording.push(event);
        }
        Ok(())
    })
}

pub(crate) fn read_measures(recording: &mut Recording, path: &Path) -> Result<(), Error> {
    read(path, &MEASURES, |columns, rows| {
        let variants = columns.sure_names(0, recording)?;
        let cases = columns.sure_names(1, recording)?;
        let modes = columns.sure_names(2, recording)?;
        let subjects = columns.names(7, recording)?;
        let roles = columns.names(8, recording)?;
        let metrics = columns.sure_names(9, recording)?;
        let units = columns.sure_names(11, recording)?;
        let (iterations, values) = (columns.u32s(3), columns.arrays[10].as_primitive::<Float64Type>());
        for row in 0..rows {
            let names = SeriesNames { variant: variants[row], case: cases[row], mode: modes[row] };
            let measure = Measure {
                series: recording.series_of(names),
                iteration: iterations.value(row),
                cpu: columns.u16_opt(4, row),
                cluster: columns.u16_opt(5, row),
                core: columns.u16_opt(6, row),
                subject: subjects[row],
                role: roles[row],
                metric: metrics[row],
                unit: units[row],
                value: values.value(row),
            };
            recording.push_measure(measure);
        }
        Ok(())
    })
}
