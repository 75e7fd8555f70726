//! Names of recordings and tables in a comparison.

use comparison::Row;

/// Recordings go by letters in the tables.
pub(super) fn letter(side: usize) -> String {
    match u8::try_from(side) {
        Ok(side @ 0..26) => char::from(b'A' + side).to_string(),
        _ => format!("#{side}"),
    }
}

/// The release, the case and the mode of a row's table.
pub(super) fn table_name(head: &Row) -> String {
    let parts = [&head.key.variant, &head.key.case, &head.key.mode].map(String::as_str);
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
