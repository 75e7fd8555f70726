//! Rows of a recording as columns of Arrow, made once and then handed out without a copy.

use crate::work::RunError;
use arrow_array::builder::StringBuilder;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchIterator,
    StringArray, UInt16Array, UInt32Array, UInt64Array,
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

type NamedColumn = (&'static str, bool, ArrayRef);

/// The columns that say which series and iteration each row is of.
fn keys<R>(of: &Recording, rows: &[R], key: fn(&R) -> (usize, u32)) -> Vec<NamedColumn> {
    let [variant, case, mode] = series(of, rows.iter().map(|row| key(row).0));
    let iteration = column::<UInt32Array, _, _>(rows, |row| Some(key(row).1));
    vec![
        ("variant", false, variant),
        ("case", false, case),
        ("mode", false, mode),
        ("iteration", false, iteration),
    ]
}

fn wrong(error: impl ToString) -> PyErr {
    RunError::new_err(error.to_string())
}

impl Table {
    /// A table of these columns: names, whether a row may have none, values.
    fn new(mut columns: Vec<NamedColumn>, more: Vec<NamedColumn>) -> miette::Result<Self> {
        columns.extend(more);
        let fields = columns.iter().map(|(name, nullable, column)| {
            Field::new(*name, column.data_type().clone(), *nullable)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let columns = columns.into_iter().map(|(_, _, column)| column).collect();
        Ok(Self {
            batch: RecordBatch::try_new(schema, columns).map_err(experiment::Error::failed)?,
        })
    }

    /// The measures of a recording.
    pub fn measures(of: &Recording) -> miette::Result<Self> {
        let rows = of.measures();
        let keys = keys(of, rows, |row| (row.series.index(), row.iteration));
        Self::new(
            keys,
            vec![
                (
                    "cpu",
                    true,
                    column::<UInt16Array, _, _>(rows, |row| row.cpu),
                ),
                (
                    "cluster",
                    true,
                    column::<UInt16Array, _, _>(rows, |row| row.cluster),
                ),
                (
                    "core",
                    true,
                    column::<UInt16Array, _, _>(rows, |row| row.core),
                ),
                ("subject", true, texts(of, rows, |row| row.subject)),
                ("role", true, texts(of, rows, |row| row.role)),
                ("metric", false, texts(of, rows, |row| Some(row.metric))),
                (
                    "value",
                    false,
                    column::<Float64Array, _, _>(rows, |row| Some(row.value)),
                ),
                ("unit", false, texts(of, rows, |row| Some(row.unit))),
            ],
        )
    }

    /// The events of a recording.
    pub fn events(of: &Recording) -> miette::Result<Self> {
        let rows = of.events();
        let points = rows
            .iter()
            .map(|row| (row.point.index(), of.point_text(row.point)));
        let keys = keys(of, rows, |row| (row.series.index(), row.iteration));
        Self::new(
            keys,
            vec![
                (
                    "cpu",
                    false,
                    column::<UInt16Array, _, _>(rows, |row| Some(row.cpu)),
                ),
                (
                    "time",
                    false,
                    column::<UInt64Array, _, _>(rows, |row| Some(row.time)),
                ),
                (
                    "ticks",
                    false,
                    column::<UInt64Array, _, _>(rows, |row| Some(row.ticks)),
                ),
                ("point", false, numbered(points.map(Some))),
                (
                    "argument",
                    false,
                    column::<UInt32Array, _, _>(rows, |row| Some(row.argument)),
                ),
                (
                    "argument_kind",
                    true,
                    texts(of, rows, |row| of.point_argument(row.point)),
                ),
            ],
        )
    }

    /// The causes of the spans of a recording.
    pub fn causes(of: &Recording) -> miette::Result<Self> {
        let rows = of.causes();
        let keys = keys(of, rows, |row| (row.series.index(), row.iteration));
        Self::new(
            keys,
            vec![
                (
                    "cpu",
                    false,
                    column::<UInt16Array, _, _>(rows, |row| Some(row.cpu)),
                ),
                ("metric", false, texts(of, rows, |row| Some(row.metric))),
                ("cause", false, texts(of, rows, |row| Some(row.cause))),
                ("on", true, column::<UInt32Array, _, _>(rows, |row| row.on)),
                (
                    "holder",
                    true,
                    column::<UInt16Array, _, _>(rows, |row| row.holder),
                ),
                (
                    "ticks",
                    false,
                    column::<UInt64Array, _, _>(rows, |row| Some(row.ticks)),
                ),
            ],
        )
    }
}

/// Values as a column.
fn column<A: Array + FromIterator<Option<T>> + 'static, T, R>(
    rows: &[R],
    value: impl Fn(&R) -> Option<T>,
) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<A>())
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

/// A column of names, `None` for a null.
fn texts<R>(of: &Recording, rows: &[R], name: impl Fn(&R) -> Option<Name>) -> ArrayRef {
    let text = |name: Name| (name.index(), of.text(name));
    numbered(rows.iter().map(|row| name(row).map(text)))
}

/// Variant, case and mode of rows whose series have these numbers.
fn series<'t>(of: &'t Recording, rows: impl Iterator<Item = usize> + Clone) -> [ArrayRef; 3] {
    let all: Vec<(&str, &str, &str)> = of
        .all_series()
        .map(|series| of.series_texts(series))
        .collect();
    let column = |pick: fn(&(&'t str, &'t str, &'t str)) -> &'t str| {
        numbered(
            rows.clone()
                .map(|series| Some((series, pick(&all[series])))),
        )
    };
    [column(|it| it.0), column(|it| it.1), column(|it| it.2)]
}
