//! Rows of a recording as columns of Arrow, made once and then handed out without a copy.

use crate::work::RunError;
use arrow_array::builder::StringBuilder;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int32Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, PrimitiveArray, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use recording::{Name, Recording};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows with columns of Arrow.
///
/// pyarrow, pandas, polars and duckdb take it by the Arrow C data interface: ``pyarrow.table(t)``,
/// ``polars.DataFrame(t)``. The columns are not copied.
#[pyclass(frozen, module = "stopwatt._native")]
pub struct Table {
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    /// Columns and their types as a capsule, for whoever takes Arrow's C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(wrong)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows as a capsule, for whoever takes Arrow's C data interface. The columns are as they
    /// are, whatever schema is asked for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer leave a wish for other types unheard.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(batches)),
            c"arrow_array_stream",
        )
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    /// The place of the values of each column in memory; for a text, its numbers in the dictionary.
    /// Whoever took the table without a copy has the same addresses.
    fn addresses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (field, column) in self
            .batch
            .schema()
            .fields()
            .iter()
            .zip(self.batch.columns())
        {
            let address = column
                .to_data()
                .buffers()
                .first()
                .map(|buffer| buffer.as_ptr() as usize);
            all.set_item(field.name(), address)?;
        }
        Ok(all)
    }

    fn __repr__(&self) -> String {
        format!(
            "<stopwatt.Table: {} rows of {}>",
            self.batch.num_rows(),
            self.column_names().join(", ")
        )
    }
}

/// Columns of a recording's rows, added one by one: names, whether a row may have none, values.
struct Columns<'r, R> {
    of: &'r Recording,
    rows: &'r [R],
    all: Vec<(Field, ArrayRef)>,
}

impl<'r, R> Columns<'r, R> {
    /// The columns that say which series and iteration each row is of.
    fn new(of: &'r Recording, rows: &'r [R], key: fn(&R) -> (usize, u32)) -> Self {
        let [variant, case, mode] = series(of, rows.iter().map(|row| key(row).0));
        let all = Vec::new();
        Self { of, rows, all }
            .add("variant", false, variant)
            .add("case", false, case)
            .add("mode", false, mode)
            .numbers::<UInt32Type>("iteration", false, |row| Some(key(row).1))
    }

    fn add(mut self, name: &str, nullable: bool, column: ArrayRef) -> Self {
        let field = Field::new(name, column.data_type().clone(), nullable);
        self.all.push((field, column));
        self
    }

    /// Adds numbers.
    fn numbers<T: ArrowPrimitiveType>(
        self,
        name: &str,
        nullable: bool,
        value: impl Fn(&R) -> Option<T::Native>,
    ) -> Self {
        let column: PrimitiveArray<T> = self.rows.iter().map(value).collect();
        self.add(name, nullable, Arc::new(column))
    }

    /// Adds the texts of names.
    fn texts(self, name: &str, nullable: bool, value: impl Fn(&R) -> Option<Name>) -> Self {
        let text = |name: Name| (name.index(), self.of.text(name));
        let column = numbered(self.rows.iter().map(|row| value(row).map(text)));
        self.add(name, nullable, column)
    }

    fn table(self) -> miette::Result<Table> {
        let (fields, columns): (Vec<_>, _) = self.all.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        Ok(Table {
            batch: batch.map_err(experiment::Error::failed)?,
        })
    }
}

fn wrong(error: impl ToString) -> PyErr {
    RunError::new_err(error.to_string())
}

impl Table {
    /// The measures of a recording.
    pub fn measures(of: &Recording) -> miette::Result<Self> {
        let rows = of.measures();
        Columns::new(of, rows, |row| (row.series.index(), row.iteration))
            .numbers::<UInt16Type>("cpu", true, |row| row.cpu)
            .numbers::<UInt16Type>("cluster", true, |row| row.cluster)
            .numbers::<UInt16Type>("core", true, |row| row.core)
            .texts("subject", true, |row| row.subject)
            .texts("role", true, |row| row.role)
            .texts("metric", false, |row| Some(row.metric))
            .numbers::<Float64Type>("value", false, |row| Some(row.value))
            .texts("unit", false, |row| Some(row.unit))
            .table()
    }

    /// The events of a recording.
    pub fn events(of: &Recording) -> miette::Result<Self> {
        let rows = of.events();
        let points = rows
            .iter()
            .map(|row| (row.point.index(), of.point_text(row.point)));
        Columns::new(of, rows, |row| (row.series.index(), row.iteration))
            .numbers::<UInt16Type>("cpu", false, |row| Some(row.cpu))
            .numbers::<UInt64Type>("time", false, |row| Some(row.time))
            .numbers::<UInt64Type>("ticks", false, |row| Some(row.ticks))
            .add("point", false, numbered(points.map(Some)))
            .numbers::<UInt32Type>("argument", false, |row| Some(row.argument))
            .texts("argument_kind", true, |row| of.point_argument(row.point))
            .table()
    }

    /// The causes of the spans of a recording.
    pub fn causes(of: &Recording) -> miette::Result<Self> {
        let rows = of.causes();
        Columns::new(of, rows, |row| (row.series.index(), row.iteration))
            .numbers::<UInt16Type>("cpu", false, |row| Some(row.cpu))
            .texts("metric", false, |row| Some(row.metric))
            .texts("cause", false, |row| Some(row.cause))
            .numbers::<UInt32Type>("on", true, |row| row.on)
            .numbers::<UInt16Type>("holder", true, |row| row.holder)
            .numbers::<UInt64Type>("ticks", false, |row| Some(row.ticks))
            .table()
    }
}

/// Texts and their numbers in a column.
#[derive(Default)]
struct Dictionary {
    numbers: Vec<Option<i32>>,
    texts: StringBuilder,
    known: HashMap<String, i32>,
}

impl Dictionary {
    /// The number of a text that has another number where it comes from.
    fn number(&mut self, there: usize, text: &str) -> i32 {
        if let Some(Some(number)) = self.numbers.get(there) {
            return *number;
        }
        if self.numbers.len() <= there {
            self.numbers.resize(there + 1, None);
        }
        let next = self.known.len() as i32;
        // Two series may have the same variant.
        let number = *self.known.entry(text.to_owned()).or_insert_with(|| {
            self.texts.append_value(text);
            next
        });
        self.numbers[there] = Some(number);
        number
    }

    fn array(mut self, numbers: Int32Array) -> ArrayRef {
        let texts: StringArray = self.texts.finish();
        let column = DictionaryArray::<Int32Type>::try_new(numbers, Arc::new(texts));
        Arc::new(column.expect("every number was given out for a text"))
    }
}

/// A column of texts, each with its number where it comes from; `None` for a null.
fn numbered<'t>(texts: impl Iterator<Item = Option<(usize, &'t str)>>) -> ArrayRef {
    let mut dictionary = Dictionary::default();
    let numbers = texts
        .map(|text| text.map(|(there, text)| dictionary.number(there, text)))
        .collect();
    dictionary.array(numbers)
}

/// Variant, case and mode of rows whose series have these numbers.
fn series(of: &Recording, rows: impl Iterator<Item = usize> + Clone) -> [ArrayRef; 3] {
    let all: Vec<[&str; 3]> = of
        .all_series()
        .map(|series| of.series_texts(series).into())
        .collect();
    [0, 1, 2].map(|part| numbered(rows.clone().map(|series| Some((series, all[series][part])))))
}
