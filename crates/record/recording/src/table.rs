//! Tables of columns that are known only at run time, as Parquet files: the points of a sweep.

use crate::error::{Error, Result};
use crate::header::FileFacts;
use crate::open::{Out, failed};
use crate::parquet::{
    DOUBLE, SIGNED, TEXT, UNSIGNED, common_properties, field, group, read_values, split,
};
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use std::path::Path;
use std::sync::Arc;

/// A column with its name; all columns of a table have as many values.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Values of the column.
    pub values: Values,
}

/// The values of a column, `None` for a null.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Texts.
    Text(Vec<Option<String>>),
    /// Numbers from 0.
    U64(Vec<Option<u64>>),
    /// Whole numbers.
    I64(Vec<Option<i64>>),
    /// Doubles.
    F64(Vec<Option<f64>>),
}

impl Values {
    /// The count.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Writes a table; the same columns give the same bytes.
///
/// # Errors
/// The system refuses.
pub fn write(path: &Path, columns: &[Column]) -> Result<FileFacts> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    let out = Out::create(path)?;
    write_to(out, columns)
        .map_err(|error| failed(path, error))?
        .facts(path, rows as u64)
}

fn write_to(out: Out, columns: &[Column]) -> Result<Out, ParquetError> {
    let schema = group(columns.iter().map(|column| {
        let kind = match column.values {
            Values::Text(_) => TEXT,
            Values::U64(_) => UNSIGNED,
            Values::I64(_) => SIGNED,
            Values::F64(_) => DOUBLE,
        };
        field(&column.name, kind, true)
    }))?;
    let properties = common_properties().build();
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        let mut writer = group.next_column()?.ok_or_else(|| {
            ParquetError::General(format!("no writer for column {}", column.name))
        })?;
        match &column.values {
            Values::Text(values) => {
                column_of::<ByteArrayType, _>(&mut writer, values, |text| {
                    ByteArray::from(text.as_str())
                })?;
            }
            Values::U64(values) => {
                column_of::<Int64Type, _>(&mut writer, values, |value| value.cast_signed())?
            }
            Values::I64(values) => column_of::<Int64Type, _>(&mut writer, values, |value| *value)?,
            Values::F64(values) => column_of::<DoubleType, _>(&mut writer, values, |value| *value)?,
        }
        writer.close()?;
    }
    group.close()?;
    file.into_inner()
}

fn column_of<T: DataType, V>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[Option<V>],
    to: impl Fn(&V) -> T::T,
) -> Result<(), ParquetError> {
    let values = values.iter().map(|value| value.as_ref().map(&to));
    let (there, levels) = split(values, true);
    writer
        .typed::<T>()
        .write_batch(&there, levels.as_deref(), None)
        .map(|_| ())
}

/// Reads a table that [`write()`] wrote.
///
/// # Errors
/// The file is not there, is damaged, or has a column of another type.
pub fn read(path: &Path) -> Result<Vec<Column>> {
    let bad = |error: ParquetError| {
        let message = document::printable_lines(&error.to_string());
        Error::damaged(path, format!("not a whole Parquet file ({message})"))
    };
    let file = disk::open(path).map_err(Error::io(path, "read"))?;
    let file = SerializedFileReader::new(file).map_err(bad)?;
    let schema = file.metadata().file_metadata().schema_descr();
    let mut columns = Vec::new();
    for place in 0..schema.num_columns() {
        let described = schema.column(place);
        let unsigned = matches!(described.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed)
            || described.converted_type() == ConvertedType::UINT_64;
        let mut values = match described.physical_type() {
            Physical::BYTE_ARRAY => Values::Text(Vec::new()),
            Physical::INT64 if unsigned => Values::U64(Vec::new()),
            Physical::INT64 => Values::I64(Vec::new()),
            Physical::DOUBLE => Values::F64(Vec::new()),
            other => {
                return Err(Error::wrong(
                    path,
                    format!(
                        "column `of the points` is {other}; it must be a string, u64, i64 or f64"
                    ),
                ));
            }
        };
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group).map_err(bad)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let reader = group.get_column_reader(place).map_err(bad)?;
            let levels = described.max_def_level();
            match &mut values {
                Values::Text(to) => read_to::<ByteArrayType, _>(reader, rows, levels, to, |text| {
                    text.as_utf8().map(document::printable_lines)
                }),
                Values::U64(to) => read_to::<Int64Type, _>(reader, rows, levels, to, |value| {
                    Ok(value.cast_unsigned())
                }),
                Values::I64(to) => {
                    read_to::<Int64Type, _>(reader, rows, levels, to, |value| Ok(*value))
                }
                Values::F64(to) => {
                    read_to::<DoubleType, _>(reader, rows, levels, to, |value| Ok(*value))
                }
            }
            .map_err(bad)?;
        }
        columns.push(Column {
            name: described.name().to_owned(),
            values,
        });
    }
    Ok(columns)
}

fn read_to<T: DataType, V>(
    reader: ColumnReader,
    rows: usize,
    max_level: i16,
    to: &mut Vec<Option<V>>,
    of: impl Fn(&T::T) -> Result<V, ParquetError>,
) -> Result<(), ParquetError> {
    read_values::<T>(reader, rows, max_level, |value| {
        to.push(value.map(&of).transpose()?);
        Ok(())
    })
}
