//! Rows to columns.

use super::GROUP_ROWS;
use crate::columns::{Column, Get, Kind, POINT, Row, Unit};
use crate::header::Header;
use crate::names::Name;
use crate::rows::Recording;
use bytes::Bytes;
use itertools::Itertools;
use parquet::basic::{Compression, Encoding, IntType, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer_mut as typed,
};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use std::io::Write;
use std::marker::PhantomData;
use std::sync::Arc;

/// Writes one of the files, a row group at a time.
pub struct TableWriter<R, W: Write + Send> {
    of: PhantomData<R>,
    /// True if the first column is the number of the run that a row is of.
    numbered: bool,
    file: SerializedFileWriter<W>,
    rows: u64,
    /// For each column what was written last where all rows of a group had one value.
    uniform: Vec<Option<Uniform>>,
}

/// A column of a row group whose rows all have one value, as bytes of the file. Half of the columns
/// of a trace are such, and copying those bytes costs little beside encoding them again.
struct Uniform {
    value: Value,
    rows: usize,
    bytes: Bytes,
    closed: ColumnCloseResult,
}

/// The value of a row; doubles are never asked for.
#[derive(PartialEq, Eq)]
enum Value {
    Text(Option<String>),
    Number(Option<u64>),
}

impl Value {
    /// The value of all rows; `None` if they differ.
    fn of_all<R>(names: &Recording, column: &Column<R>, rows: &[R]) -> Option<Self> {
        fn same<R, T: PartialEq>(rows: &[R], get: impl Fn(&R) -> T) -> Option<T> {
            let (first, rest) = rows.split_first()?;
            let value = get(first);
            rest.iter().all(|row| get(row) == value).then_some(value)
        }
        match column.get {
            Get::Text(get) => {
                let name = same(rows, |row| get(names, row))?;
                Some(Self::Text(name.map(|name| names.text(name).to_owned())))
            }
            Get::U16(get) => same(rows, get).map(|value| Self::Number(value.map(u64::from))),
            Get::U32(get) => same(rows, get).map(|value| Self::Number(value.map(u64::from))),
            Get::U64(get) => same(rows, get).map(|value| Self::Number(Some(value))),
            Get::F64(_) => None,
        }
    }
}

impl<R: Row, W: Write + Send> TableWriter<R, W> {
    /// Starts a file; with `numbered` its first column is [`POINT`], the number of the run that a
    /// row is of.
    pub fn new(out: W, header: &Header, numbered: bool) -> Result<Self, ParquetError> {
        let properties = Arc::new(properties::<R>(header, numbered));
        let schema = schema(R::COLUMNS, numbered)?;
        Ok(Self {
            of: PhantomData,
            numbered,
            file: SerializedFileWriter::new(out, schema, properties)?,
            rows: 0,
            uniform: Vec::new(),
        })
    }

    /// Writes rows whose names are those of `names`; in a file with numbers there is one a row.
    pub fn write(
        &mut self,
        names: &Recording,
        rows: &[R],
        numbers: &[u64],
    ) -> Result<(), ParquetError> {
        let described: Vec<ColumnDescPtr> = self.file.schema_descr().columns().to_vec();
        let described = &described[usize::from(self.numbered)..];
        let properties = self.file.properties().clone();
        self.uniform.resize_with(R::COLUMNS.len(), || None);
        debug_assert_eq!(numbers.len(), if self.numbered { rows.len() } else { 0 });
        for (place, rows) in rows.chunks(GROUP_ROWS).enumerate() {
            let mut group = self.file.next_row_group()?;
            if self.numbered {
                let mut writer = group.next_column()?.ok_or_else(|| {
                    ParquetError::General(format!("no writer for column {POINT}"))
                })?;
                let from = place * GROUP_ROWS;
                let values = numbers[from..from + rows.len()]
                    .iter()
                    .map(|number| number.cast_signed())
                    .collect_vec();
                writer
                    .typed::<Int64Type>()
                    .write_batch(&values, None, None)?;
                writer.close()?;
            }
            for ((column, described), kept) in
                R::COLUMNS.iter().zip(described).zip(&mut self.uniform)
            {
                let Some(value) = Value::of_all(names, column, rows) else {
                    let mut writer = group.next_column()?.ok_or_else(|| {
                        ParquetError::General(format!("no writer for column {}", column.name))
                    })?;
                    write_rows(writer.untyped(), column, names, rows)?;
                    writer.close()?;
                    continue;
                };
                let again = kept
                    .take()
                    .filter(|kept| kept.value == value && kept.rows == rows.len());
                let uniform = match again {
                    Some(again) => again,
                    None => {
                        let mut bytes = TrackedWrite::new(Vec::new());
                        let pages = Box::new(SerializedPageWriter::new(&mut bytes));
                        let mut writer =
                            get_column_writer(described.clone(), properties.clone(), pages);
                        write_rows(&mut writer, column, names, rows)?;
                        let closed = writer.close()?;
                        Uniform {
                            value,
                            rows: rows.len(),
                            bytes: bytes.into_inner()?.into(),
                            closed,
                        }
                    }
                };
                group.append_column(&uniform.bytes, uniform.closed.clone())?;
                *kept = Some(uniform);
            }
            group.close()?;
            self.rows += rows.len() as u64;
        }
        Ok(())
    }

    /// Closes the file; returns its number of rows and its writer.
    pub fn finish(self) -> Result<(u64, W), ParquetError> {
        Ok((self.rows, self.file.into_inner()?))
    }
}

/// Rows that are turned into values at a time: few enough to stay in the cache.
const AT_A_TIME: usize = 4096;

fn schema<R>(columns: &[Column<R>], numbered: bool) -> Result<TypePtr, ParquetError> {
    let number = numbered.then(|| field(POINT, UNSIGNED, false));
    let columns = columns.iter().map(|column| {
        let kind = match column.kind() {
            Kind::Text => TEXT,
            Kind::U16 => (Physical::INT32, integer(16, false)),
            Kind::U32 => (Physical::INT32, integer(32, false)),
            Kind::U64 => UNSIGNED,
            Kind::F64 => DOUBLE,
        };
        field(column.name, kind, column.nullable)
    });
    group(number.into_iter().chain(columns))
}

/// What the values of a column are: as they are stored, and what is meant.
type ValueKind = (Physical, Option<LogicalType>);

/// Texts.
pub const TEXT: ValueKind = (Physical::BYTE_ARRAY, Some(LogicalType::String));
/// Numbers from 0.
pub const UNSIGNED: ValueKind = (Physical::INT64, integer(64, false));
/// Whole numbers.
pub const SIGNED: ValueKind = (Physical::INT64, integer(64, true));
/// Doubles.
pub const DOUBLE: ValueKind = (Physical::DOUBLE, None);

const fn integer(bit_width: i8, is_signed: bool) -> Option<LogicalType> {
    Some(LogicalType::Integer(IntType {
        bit_width,
        is_signed,
    }))
}

/// A column of a schema.
pub fn field(
    name: &str,
    (physical, logical): ValueKind,
    nullable: bool,
) -> Result<TypePtr, ParquetError> {
    let repetition = if nullable {
        Repetition::OPTIONAL
    } else {
        Repetition::REQUIRED
    };
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
        .map(Arc::new)
}

/// The schema of some columns.
pub fn group(
    fields: impl Iterator<Item = Result<TypePtr, ParquetError>>,
) -> Result<TypePtr, ParquetError> {
    Type::group_type_builder("schema")
        .with_fields(fields.collect::<Result<_, _>>()?)
        .build()
        .map(Arc::new)
}

/// What all files have in common: every choice that shows in the bytes is made here and in what is
/// added; none is left to the library's defaults.
pub fn common_properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by("stopwatt".to_owned())
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(true)
}

fn properties<R: Row>(header: &Header, numbered: bool) -> WriterProperties {
    let mut properties = common_properties()
        .set_data_page_row_count_limit(64 * 1024)
        .set_key_value_metadata(Some(metadata::<R>(header, numbered)));
    if numbered {
        properties = properties
            .set_column_dictionary_enabled(POINT.into(), false)
            .set_column_encoding(POINT.into(), Encoding::DELTA_BINARY_PACKED);
    }
    for column in R::COLUMNS {
        let path = || column.name.into();
        properties = match column.kind() {
            Kind::U64 => properties
                .set_column_dictionary_enabled(path(), false)
                .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED),
            Kind::F64 => properties
                .set_column_dictionary_enabled(path(), false)
                .set_column_encoding(path(), Encoding::PLAIN),
            // The least and the greatest of some names tell a reader nothing.
            Kind::Text => properties.set_column_statistics_enabled(path(), EnabledStatistics::None),
            Kind::U16 | Kind::U32 => properties,
        };
    }
    properties.build()
}

/// The content and unit of each column, for whoever opens the file without the documents, and
/// Arrow's schema.
fn metadata<R: Row>(header: &Header, numbered: bool) -> Vec<KeyValue> {
    let arrow = R::ARROW[usize::from(numbered)].trim().to_owned();
    let mut all = vec![KeyValue::new("ARROW:schema".to_owned(), arrow)];
    for column in R::COLUMNS {
        all.push(KeyValue::new(
            format!("description:{}", column.name),
            column.about.to_owned(),
        ));
        let unit = match column.unit {
            Unit::None => continue,
            Unit::Time => header.time.unit.clone(),
            Unit::Ticks => match header.time.counter_hz {
                Some(hz) => format!("ticks of {hz} Hz"),
                None => "ticks".to_owned(),
            },
            Unit::Row => "as the column `unit` says".to_owned(),
        };
        all.push(KeyValue::new(format!("unit:{}", column.name), unit));
    }
    all
}

/// Writes a column of a row group.
fn write_rows<R>(
    writer: &mut ColumnWriter<'_>,
    column: &Column<R>,
    names: &Recording,
    rows: &[R],
) -> Result<(), ParquetError> {
    let mut texts = Texts::new(names);
    rows.chunks(AT_A_TIME)
        .try_for_each(|rows| write_column(writer, column, &mut texts, rows))
}

fn write_column<R>(
    writer: &mut ColumnWriter<'_>,
    column: &Column<R>,
    texts: &mut Texts<'_>,
    rows: &[R],
) -> Result<(), ParquetError> {
    match column.get {
        Get::Text(get) => {
            let values = rows
                .iter()
                .map(|row| get(texts.names, row).map(|name| texts.bytes(name)));
            let (values, levels) = split(values, column.nullable);
            typed::<ByteArrayType>(writer).write_batch(&values, levels.as_deref(), None)?;
        }
        Get::U16(get) => {
            let (values, levels) = split(
                rows.iter().map(|row| get(row).map(i32::from)),
                column.nullable,
            );
            typed::<Int32Type>(writer).write_batch(&values, levels.as_deref(), None)?;
        }
        Get::U32(get) => {
            // Parquet's unsigned numbers have the bits of signed ones.
            let (values, levels) = split(
                rows.iter().map(|row| get(row).map(u32::cast_signed)),
                column.nullable,
            );
            typed::<Int32Type>(writer).write_batch(&values, levels.as_deref(), None)?;
        }
        Get::U64(get) => {
            let values = rows.iter().map(|row| get(row).cast_signed()).collect_vec();
            typed::<Int64Type>(writer).write_batch(&values, None, None)?;
        }
        Get::F64(get) => {
            let values = rows.iter().map(get).collect_vec();
            typed::<DoubleType>(writer).write_batch(&values, None, None)?;
        }
    }
    Ok(())
}

/// The values that are there, and for a column with nulls a level a row: 1 where there is a value.
pub fn split<T: Default>(
    values: impl Iterator<Item = Option<T>>,
    nullable: bool,
) -> (Vec<T>, Option<Vec<i16>>) {
    if !nullable {
        // Each is there. The length is known beforehand, which takes half the time of looking.
        return (values.map(Option::unwrap_or_default).collect(), None);
    }
    let mut levels = Vec::new();
    let there = values
        .inspect(|value| levels.push(i16::from(value.is_some())))
        .flatten()
        .collect();
    (there, Some(levels))
}

/// The place to which empty texts point. An empty vector points nowhere, and comparing two of those
/// is slow: the C library reads what they point to with a mask that leaves nothing, and the
/// processor takes hundreds of cycles to see that the address it may not read is not wanted.
/// Looking a text up in the dictionary compares; empty columns took a third of all the time that
/// writing takes.
static SOMEWHERE: [u8; 64] = [0; 64];

/// Names as the library's strings, each made once for a group of rows.
struct Texts<'a> {
    names: &'a Recording,
    made: Vec<Option<Bytes>>,
}

impl<'a> Texts<'a> {
    fn new(names: &'a Recording) -> Self {
        Self {
            names,
            made: vec![None; names.names_len()],
        }
    }

    fn bytes(&mut self, name: Name) -> ByteArray {
        let made = self.made[name.0 as usize].get_or_insert_with(|| match self.names.text(name) {
            "" => Bytes::from_static(&SOMEWHERE[..0]),
            text => Bytes::copy_from_slice(text.as_bytes()),
        });
        ByteArray::from(made.clone())
    }
}
