//! Columns to rows.

use super::MOST_GROUP_ROWS;
use super::pages;
use crate::columns::{Column, Kind, POINT, Row};
use crate::error::{Error, Result};
use crate::names::Name;
use crate::rows::{Recording, Series, SeriesNames};
use document::{printable, unprintable};
use itertools::Itertools;
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::collections::HashMap;
use std::fs::File;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// One of the files, read a row group at a time.
pub struct TableReader<R> {
    path: PathBuf,
    of: PhantomData<R>,
    /// Place in the file of each of our columns; `None` for one that the file may lack, and does.
    places: Vec<Option<usize>>,
    file: SerializedFileReader<File>,
    /// The same file, to look at pages before they are read.
    raw: File,
    rows: u64,
    next_group: usize,
    rows_before: usize,
    /// Place of the column [`POINT`], where the file's rows are of many runs.
    number: Option<usize>,
    numbers: Vec<u64>,
}

/// The values of a column in a row group.
pub enum Values {
    Text(Vec<Option<Name>>),
    U32(Vec<Option<u32>>),
    U64(Vec<u64>),
    F64(Vec<f64>),
}

impl Values {
    pub fn name(&self, row: usize) -> Option<Name> {
        match self {
            Self::Text(values) => values[row],
            _ => None,
        }
    }

    pub fn u32(&self, row: usize) -> Option<u32> {
        match self {
            Self::U32(values) => values[row],
            _ => None,
        }
    }

    /// A column of u16 was checked to hold no more.
    pub fn u16(&self, row: usize) -> Option<u16> {
        self.u32(row).map(|value| value as u16)
    }

    pub fn u64(&self, row: usize) -> u64 {
        match self {
            Self::U64(values) => values[row],
            _ => 0,
        }
    }

    pub fn f64(&self, row: usize) -> f64 {
        match self {
            Self::F64(values) => values[row],
            _ => 0.0,
        }
    }
}

/// A value of a column that was checked to have one in every row.
pub fn sure<T>(value: Option<T>) -> T {
    value.expect("a column without nulls has a value in every row: `TableReader` checked it")
}

impl<R: Row> TableReader<R> {
    /// The runs of the rows of the last group, for a file that was opened for them.
    pub fn take_numbers(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.numbers)
    }

    /// Opens a file and looks at its columns. If its rows are of many runs, [`TableReader::take_numbers`]
    /// says of which.
    pub fn open(path: &Path, numbered: bool) -> Result<Self> {
        let file = disk::open(path).map_err(Error::io(path, "read"))?;
        let raw = disk::open(path).map_err(Error::io(path, "read"))?;
        let file = SerializedFileReader::new(file).map_err(|error| bad(path, &error))?;
        let there = file.metadata().file_metadata().schema_descr();
        let place_of = |name: &str| {
            (0..there.num_columns()).find(|&at| there.column(at).path().string() == name)
        };
        let mut places = Vec::with_capacity(R::COLUMNS.len());
        for column in R::COLUMNS {
            let place = place_of(column.name);
            if let Some(place) = place {
                check_type(path, column, &there.column(place))?;
            } else if !column.optional {
                let mut needed = R::COLUMNS
                    .iter()
                    .filter(|column| !column.optional)
                    .map(|column| format!("{} ({})", column.name, column.kind().name()));
                return Err(no_column(path, column.name, &needed.join(", ")));
            }
            places.push(place);
        }
        let mut rows = 0_u64;
        for group in file.metadata().row_groups() {
            let more = u64::try_from(group.num_rows())
                .ok()
                .filter(|rows| *rows <= MOST_GROUP_ROWS);
            let message = || {
                format!(
                    "a row group has {} rows; it may have up to {MOST_GROUP_ROWS}",
                    group.num_rows()
                )
            };
            rows += more.ok_or_else(|| bad(path, &ParquetError::General(message())))?;
        }
        let number =
            place_of(POINT).filter(|&at| there.column(at).physical_type() == Physical::INT64);
        if numbered && number.is_none() {
            let columns = format!("{POINT} (u64) and those of a recording");
            return Err(no_column(path, POINT, &columns));
        }
        Ok(Self {
            path: path.to_owned(),
            of: PhantomData,
            places,
            raw,
            rows,
            next_group: 0,
            rows_before: 0,
            number: number.filter(|_| numbered),
            numbers: Vec::new(),
            file,
        })
    }

    /// The number of rows that the file has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of a series of this file.
    pub fn series(&self, of: &mut Recording, names: SeriesNames) -> Result<Series> {
        of.series_of(names)
            .ok_or_else(|| self.too_many("combinations of variant, case and mode"))
    }

    /// There are more of something than a recording may have.
    pub fn too_many(&self, what: &'static str) -> Error {
        Error::wrong(
            &self.path,
            format!("more than 65536 {what}; a recording has fewer"),
        )
    }

    /// A row of the group that was read last, which has this many rows, has no finite value.
    pub fn not_finite(&self, row: usize, of: usize, value: f64) -> Error {
        let row = self.rows_before - of + row;
        Error::wrong(
            &self.path,
            format!(
                "column `value` is {value} in row {row}; a measure is a finite number, and one that was not taken has no row"
            ),
        )
    }

    /// Reads the next row group; names are interned in `names`. Returns the columns in our order
    /// and the number of rows, or `None` at the end.
    pub fn next_group(&mut self, names: &mut Recording) -> Result<Option<(Vec<Values>, usize)>> {
        if self.next_group >= self.file.num_row_groups() {
            return Ok(None);
        }
        let path = self.path.clone();
        let bad = |error: ParquetError| bad(&path, &error);
        let group = self.file.get_row_group(self.next_group).map_err(bad)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut all = Vec::with_capacity(R::COLUMNS.len());
        for (column, place) in R::COLUMNS.iter().zip(&self.places) {
            let Some(place) = *place else {
                all.push(nothing(column.kind(), rows));
                continue;
            };
            let levels = self.levels(&*group, place).map_err(bad)?;
            let reader = group.get_column_reader(place).map_err(bad)?;
            let values = read_column(column.kind(), reader, rows, levels, names).map_err(bad)?;
            if !column.nullable
                && let Some(row) = first_null(&values)
            {
                let (column, row) = (column.name, self.rows_before + row);
                let only = "only cpu, cluster, core, subject and role may be null";
                return Err(Error::wrong(
                    &path,
                    format!("column `{column}` is null in row {row}; {only}"),
                ));
            }
            all.push(values);
        }
        if let Some(place) = self.number {
            let levels = self.levels(&*group, place).map_err(bad)?;
            let reader = group.get_column_reader(place).map_err(bad)?;
            if let Values::U64(numbers) =
                read_column(Kind::U64, reader, rows, levels, names).map_err(bad)?
            {
                self.numbers = numbers;
            }
        }
        self.next_group += 1;
        self.rows_before += rows;
        Ok(Some((all, rows)))
    }

    /// The level of a value that is there, in a column of a row group whose pages may be read.
    fn levels(&self, group: &dyn RowGroupReader, place: usize) -> Result<i16, ParquetError> {
        let column = group.metadata().column(place);
        pages::check(&self.raw, column)?;
        Ok(column.column_descr().max_def_level())
    }
}

fn bad(path: &Path, error: &ParquetError) -> Error {
    Error::damaged(
        path,
        format!(
            "not a whole Parquet file ({})",
            printable(&error.to_string())
        ),
    )
}

fn check_type<R>(path: &Path, column: &Column<R>, found: &ColumnDescriptor) -> Result {
    let unsigned = |bits: i8, converted| match found.logical_type_ref() {
        Some(LogicalType::Integer(int)) => int.bit_width == bits && !int.is_signed,
        None => found.converted_type() == converted,
        Some(_) => false,
    };
    let physical = found.physical_type();
    let fits = match column.kind() {
        Kind::Text => physical == Physical::BYTE_ARRAY,
        Kind::U16 => physical == Physical::INT32 && unsigned(16, ConvertedType::UINT_16),
        Kind::U32 => physical == Physical::INT32 && unsigned(32, ConvertedType::UINT_32),
        Kind::U64 => physical == Physical::INT64 && unsigned(64, ConvertedType::UINT_64),
        Kind::F64 => physical == Physical::DOUBLE,
    };
    if fits && found.max_rep_level() == 0 && found.max_def_level() <= 1 {
        return Ok(());
    }
    let is = match found.logical_type_ref() {
        Some(LogicalType::Integer(int)) => {
            format!("{}{}", if int.is_signed { "i" } else { "u" }, int.bit_width)
        }
        Some(logical) => format!("{logical:?}"),
        None if found.max_rep_level() > 0 => "a list".to_owned(),
        None => physical.to_string(),
    };
    Err(Error::wrong(
        path,
        format!(
            "column `{}` is {is}; it must be {}",
            column.name,
            column.kind().name()
        ),
    ))
}

fn no_column(path: &Path, column: &str, expected: &str) -> Error {
    Error::wrong(
        path,
        format!("no column `{column}`; the columns are {expected}"),
    )
}

fn nothing(kind: Kind, rows: usize) -> Values {
    match kind {
        Kind::Text => Values::Text(vec![None; rows]),
        Kind::U16 | Kind::U32 => Values::U32(vec![None; rows]),
        Kind::U64 => Values::U64(vec![0; rows]),
        Kind::F64 => Values::F64(vec![0.0; rows]),
    }
}

fn first_null(values: &Values) -> Option<usize> {
    match values {
        Values::Text(values) => values.iter().position(Option::is_none),
        Values::U32(values) => values.iter().position(Option::is_none),
        Values::U64(_) | Values::F64(_) => None,
    }
}

/// Bytes of a name: far more than one needs, and few enough that what repeats it for each row stays
/// small.
const LONGEST_NAME: usize = 4096;

/// Refuses a name that would steer a terminal, or that is too long to be one.
fn check_name(text: &str) -> Result<(), ParquetError> {
    if text.len() > LONGEST_NAME {
        let start: String = text.chars().take(40).collect();
        let (length, start) = (text.len(), start.escape_debug());
        return Err(ParquetError::General(format!(
            "a name of {length} bytes, \"{start}...\"; one may have up to {LONGEST_NAME}"
        )));
    }
    if text.contains(unprintable) {
        Err(ParquetError::General(format!(
            "a name with a control character, \"{}\"",
            text.escape_debug()
        )))
    } else {
        Ok(())
    }
}

fn read_column(
    kind: Kind,
    reader: ColumnReader,
    rows: usize,
    levels: i16,
    names: &mut Recording,
) -> Result<Values, ParquetError> {
    Ok(match kind {
        Kind::Text => {
            let mut all = Vec::with_capacity(rows);
            // The rows of an entry of a dictionary share its bytes, so one look at them does. What
            // is known keeps them where they are.
            let mut known = HashMap::new();
            read_values::<ByteArrayType>(reader, rows, levels, |text| {
                let mut name = |text: &ByteArray| -> Result<Name, ParquetError> {
                    let place = (text.data().as_ptr(), text.len());
                    if let Some((name, _)) = known.get(&place) {
                        return Ok(*name);
                    }
                    check_name(text.as_utf8()?)?;
                    let name = names.name(text.as_utf8()?);
                    known.insert(place, (name, text.clone()));
                    Ok(name)
                };
                all.push(text.map(&mut name).transpose()?);
                Ok(())
            })?;
            Values::Text(all)
        }
        Kind::U16 | Kind::U32 => {
            let mut all = Vec::with_capacity(rows);
            read_values::<Int32Type>(reader, rows, levels, |value| {
                let value = value.map(|value| value.cast_unsigned());
                if kind == Kind::U16
                    && let Some(wrong) = value.filter(|value| *value > u32::from(u16::MAX))
                {
                    return Err(ParquetError::General(format!(
                        "{wrong} in a column of 16 bits"
                    )));
                }
                all.push(value);
                Ok(())
            })?;
            Values::U32(all)
        }
        Kind::U64 => {
            let mut all = Vec::with_capacity(rows);
            read_values::<Int64Type>(reader, rows, levels, |value| {
                all.push(value.ok_or_else(null)?.cast_unsigned());
                Ok(())
            })?;
            Values::U64(all)
        }
        Kind::F64 => {
            let mut all = Vec::with_capacity(rows);
            read_values::<DoubleType>(reader, rows, levels, |value| {
                all.push(*value.ok_or_else(null)?);
                Ok(())
            })?;
            Values::F64(all)
        }
    })
}

fn null() -> ParquetError {
    ParquetError::General("a null where a number must be".to_owned())
}

/// Values that are decoded at a time: few enough to stay in the cache.
const AT_A_TIME: usize = 4096;

/// Hands on the values of a column in a row group, `None` for a null.
fn read_values<T: DataType>(
    reader: ColumnReader,
    rows: usize,
    max_level: i16,
    mut take: impl FnMut(Option<&T::T>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let mut reader: ColumnReaderImpl<T> = get_typed_column_reader(reader);
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        values.clear();
        levels.clear();
        let wanted = AT_A_TIME.min(rows - read);
        let (more, _, _) = reader.read_records(wanted, Some(&mut levels), None, &mut values)?;
        if more == 0 {
            return Err(ParquetError::General(format!(
                "{read} values where {rows} must be"
            )));
        }
        read += more;
        if max_level == 0 {
            values.iter().try_for_each(|value| take(Some(value)))?;
            continue;
        }
        let mut there = values.iter();
        for level in &levels {
            take(if *level == max_level {
                there.next()
            } else {
                None
            })?;
        }
    }
    Ok(())
}
