//! A configuration text with its name, and errors that point into it.

use miette::{Diagnostic, NamedSource, SourceSpan};
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::path::Path;

/// Something wrong in a configuration file: what, where, and what would be right.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct ConfigError(Box<Report>);

#[derive(Debug, Clone, thiserror::Error, Diagnostic)]
#[error("{message}")]
struct Report {
    message: String,
    #[source_code]
    text: NamedSource<String>,
    #[label("here")]
    place: Option<SourceSpan>,
    #[help]
    help: Option<String>,
}

impl Diagnostic for ConfigError {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.0.help()
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.0.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        self.0.labels()
    }
}

impl ConfigError {
    /// What is wrong with a setting itself, of which no file knows.
    pub(super) fn of_setting(message: String, help: &str) -> Self {
        Document::new("", "").error(message, None, Some(help.to_owned()))
    }
}

/// The text of a configuration file.
#[derive(Clone, Debug)]
pub struct Document {
    name: String,
    text: String,
}

impl Document {
    /// A text that goes by `name` in errors.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is no regular file, has more than [`disk::MOST_TEXT`] bytes, or is not UTF-8.
    pub fn open(path: &Path) -> Result<Self, ConfigError> {
        let name = path.display().to_string();
        match disk::text(path) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => Err(Self::new(&name, "").error(format!("cannot read {name}: {error}"), None, None)),
        }
    }

    /// The name that errors show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text as it stands, overrides included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Deserializes the text.
    ///
    /// # Errors
    /// Not TOML, an unknown key, a missing one, a value of the wrong kind or unit.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        toml::from_str(&self.text).map_err(|error| {
            let message = error.message().lines().next().unwrap_or("not a valid file").to_owned();
            let line = error.span().map(|span| self.line(span.start));
            let place = line.map_or_else(String::new, |line| format!(":{line}"));
            self.error(format!("{}{place}: {message}", self.name), error.span(), None)
        })
    }

    /// An error about a part of this text, with what would be right.
    pub fn wrong(&self, place: Range<usize>, message: impl AsRef<str>, help: impl Into<String>) -> ConfigError {
        let line = self.line(place.start);
        self.error(format!("{}:{line}: {}", self.name, message.as_ref()), Some(place), Some(help.into()))
    }

    fn error(&self, message: String, place: Option<Range<usize>>, help: Option<String>) -> ConfigError {
        let text = NamedSource::new(&self.name, self.text.clone()).with_language("TOML");
        ConfigError(Box::new(Report { message, text, place: place.map(SourceSpan::from), help }))
    }

    fn line(&self, offset: usize) -> usize {
        1 + self.text.as_bytes()[..offset.min(self.text.len())].iter().filter(|&&byte| byte == b'\n').count()
    }

    /// Sets a dotted key; a part that names an element of an array of tables is its number or its `name`.
    /// A value that is not TOML is taken as a string.
    ///
    /// # Errors
    /// The text is not TOML, or a part of the key is no table.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        let mut document = self.editable()?;
        let value = match value.parse::<toml_edit::Value>() {
            Ok(value) => value,
            Err(_) => toml_edit::Value::from(value),
        };
        let parts: Vec<&str> = key.split('.').collect();
        let refuse = |why: &str| self.error(format!("--set {key}: {why}"), None, Some(SET_HELP.to_owned()));
        let Some((last, path)) = parts.split_last().filter(|_| parts.iter().all(|part| !part.is_empty())) else {
            return Err(refuse("not a key"));
        };
        let mut item: &mut toml_edit::Item = document.as_item_mut();
        for part in path {
            item = match item {
                toml_edit::Item::ArrayOfTables(tables) => {
                    let index = part.parse().ok().or_else(|| {
                        tables.iter().position(|table| table.get("name").and_then(|name| name.as_str()) == Some(part))
                    });
                    let Some(table) = index.and_then(|index| tables.get_mut(index)) else {
                        return Err(refuse(&format!("there is no element `{part}`")));
                    };
                    table.entry(last).or_insert(toml_edit::value(value.clone()));
                    // The borrow checker wants the last step taken here: a table in an array is no `Item`.
                    table[last] = toml_edit::value(value);
                    self.text = document.to_string();
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
        self.text = document.to_string();
        Ok(())
    }

    /// The text as a document that keeps its comments and order.
    pub(crate) fn editable(&self) -> Result<toml_edit::DocumentMut, ConfigError> {
        self.text.parse::<toml_edit::DocumentMut>().map_err(|error| {
            let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
            self.error(format!("{}: {message}", self.name), error.span(), None)
        })
    }

    pub(crate) fn replace_text(&mut self, text: String) {
        self.text = text;
    }
}

const SET_HELP: &str = "write --set key=value with a key of the platform (scp.channels=2, topology.domain.little.cores=8), of the \
release (psci.scp_send=outside-locks) or of the costs (costs.scp.core_off=\"90 us\")";
