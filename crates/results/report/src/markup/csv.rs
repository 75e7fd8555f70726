//! Comma-separated values: a table, a row a line.

use crate::blocks::Table;

/// A table with its columns' headings. Text is quoted as RFC 4180 has it.
pub fn csv(table: &Table) -> String {
    // Writing into memory cannot fail.
    let bytes = write(table).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write(table: &Table) -> Result<Vec<u8>, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(table.columns.iter().map(|column| &column.heading))?;
    for row in &table.rows {
        out.write_record(row.iter().map(|cell| no_formula(cell.plain())))?;
    }
    out.into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))
}

/// A cell that no spreadsheet takes for a formula: a name in a recording may begin with `=`, and
/// who opens the table would run it. The apostrophe says that it is text.
fn no_formula(cell: String) -> String {
    let is_formula = cell.starts_with(['=', '@', '\t', '\r'])
        || cell.strip_prefix(['+', '-']).is_some_and(|rest| {
            rest.starts_with(|next: char| next.is_alphabetic() || "(=@".contains(next))
        });
    if is_formula { format!("'{cell}") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_is_text() {
        for formula in ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-(1)", "\t=1"] {
            assert_eq!(no_formula(formula.to_owned()), format!("'{formula}"));
        }
        for plain in ["", "-", "-5.2 %", "+13", "- to 4", "single+3", "juno-v2.12"] {
            assert_eq!(no_formula(plain.to_owned()), plain);
        }
    }
}
