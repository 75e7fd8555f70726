//! One key of a document overridden.

use document::{Document, Error, Result};

/// Parts of a key at most. Platforms have keys of four.
const MOST_PARTS: usize = 16;

/// Sets a dotted key; a part that names an element of an array of tables is its number or its
/// `name`. A value that is not TOML is taken as a string.
///
/// # Errors
/// The text is not TOML, or a part of the key is no table.
pub fn set(document: &mut Document, key: &str, value: &str) -> Result {
    let mut editable = editable(document)?;
    let value = match value.parse::<toml_edit::Value>() {
        Ok(value) => value,
        Err(_) => toml_edit::Value::from(value),
    };
    let parts: Vec<&str> = key.split('.').collect();
    let refuse = |why: &str| Error::new(format!("--set {key}: {why}"), HELP);
    let Some((last, path)) = parts
        .split_last()
        .filter(|_| parts.iter().all(|part| !part.is_empty()))
    else {
        return Err(refuse("not a key"));
    };
    if parts.len() > MOST_PARTS {
        let begin = parts[..MOST_PARTS].join(".");
        let why = format!(
            "the key has {} parts, and no key has more than {MOST_PARTS}",
            parts.len()
        );
        return Err(Error::new(format!("--set {begin}…: {why}"), HELP));
    }
    let mut item = editable.as_item_mut();
    for part in path {
        item = match item {
            toml_edit::Item::ArrayOfTables(tables) => {
                let index = part.parse().ok().or_else(|| {
                    tables.iter().position(|table| {
                        table.get("name").and_then(|name| name.as_str()) == Some(part)
                    })
                });
                let Some(table) = index.and_then(|index| tables.get_mut(index)) else {
                    return Err(refuse(&format!("there is no element `{part}`")));
                };
                table.entry(last).or_insert(toml_edit::value(value.clone()));
                // The borrow checker wants the last step taken here: a table in an array is no
                // `Item`.
                table[last] = toml_edit::value(value);
                replace(document, &editable);
                return Ok(());
            }
            other => {
                let Some(table) = other.as_table_like_mut() else {
                    return Err(refuse(&format!("`{part}` is not in a table")));
                };
                table.entry(part).or_insert(toml_edit::table())
            }
        };
    }
    let Some(table) = item.as_table_like_mut() else {
        return Err(refuse(&format!("`{last}` is not in a table")));
    };
    table.insert(last, toml_edit::value(value));
    replace(document, &editable);
    Ok(())
}

/// The text of a document in a form that keeps comments and order.
pub fn editable(document: &Document) -> Result<toml_edit::DocumentMut> {
    document
        .text()
        .parse::<toml_edit::DocumentMut>()
        .map_err(|error| {
            let message = error.message().lines().next().unwrap_or("not TOML");
            document.wrong(error.span().unwrap_or_default(), message, "write TOML")
        })
}

/// Gives a document the edited text.
pub fn replace(document: &mut Document, editable: &toml_edit::DocumentMut) {
    *document = Document::new(document.name(), editable.to_string());
}

const HELP: &str = "write --set key=value with a key of the platform (scp.channels=2, topology.domain.little.cores=8), of the \
release (psci.scp_send=outside-locks) or of the costs (costs.scp.core_off=\"90 us\")";
