//! Comma-separated values: a table, a row a line.

use crate::blocks::{Cell, Table};

/// A table with its columns' headings. Text is quoted as RFC 4180 has it.
pub(crate) fn csv(table: &Table) -> String {
    // Writing into memory cannot fail.
    let bytes = write(table).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write(table: &Table) -> Result<Vec<u8>, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(table.columns.iter().map(|column| &column.heading))?;
    for row in &table.rows {
        out.write_record(row.iter().map(Cell::plain))?;
    }
    out.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}
