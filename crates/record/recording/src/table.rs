//! Tables of columns that are known only at run time, as Parquet files: the points of a sweep.

use crate::error::Result;
use crate::header::FileFacts;
use crate::open::{Out, failed};
use crate::parquet::{DOUBLE, SIGNED, TEXT, UNSIGNED, common_properties, field, group, split};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use std::path::Path;
use std::sync::Arc;

/// A column with its name; all columns of a table have as many values.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Values of the column.
    pub values: Values,
}

/// The values of a column, `None` for a null.
#[derive(Clone, Debug)]
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
    fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
        }
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
