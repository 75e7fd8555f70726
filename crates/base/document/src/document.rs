//! A text with its name; TOML.

use crate::error::{Error, Result};
use crate::excerpt::Excerpt;
use serde::de::DeserializeOwned;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, ValueDeserializer};

/// The text of a document, with the name that errors show.
#[derive(Clone, Debug)]
pub struct Document {
    name: String,
    text: String,
}

impl Document {
    /// A text that goes by `name` in errors.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is no regular file, has more than [`disk::MOST_TEXT`] bytes, or is
    /// not UTF-8.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        match disk::text(path) {
            Ok(text) => Ok(Self { name, text }),
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                Err(Error::unreadable(&name, cause).with_help("name a file that is there"))
            }
            Err(cause) => Err(Error::unreadable(&name, cause)),
        }
    }

    /// The name that errors show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads TOML that people write into a type.
    ///
    /// # Errors
    /// Those of [`Document::read_measured`]; a number that is not finite, such as `nan`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        self.read_without(&[])
    }

    /// The same, without the keys at the top that another reader of the document knows.
    ///
    /// # Errors
    /// Those of [`Document::read`].
    pub fn read_without<T: DeserializeOwned>(&self, others: &[&str]) -> Result<T> {
        T::deserialize(self.finite_without(others)?).map_err(|error| self.mistaken(&error))
    }

    /// Reads TOML that a program wrote into a type: a measured number may be none.
    ///
    /// # Errors
    /// Not TOML, tables more than 80 deep in each other, an unknown key, a missing one, a value of
    /// the wrong kind or unit; a text of more than [`disk::MOST_TEXT`] bytes.
    pub fn read_measured<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(Deserializer::from(self.table()?)).map_err(|error| self.mistaken(&error))
    }

    /// Reads a part of [`Self::table`] into a type.
    ///
    /// # Errors
    /// An unknown key, a missing one, a value of the wrong kind.
    pub fn read_value<T: DeserializeOwned>(&self, value: &Spanned<DeValue<'_>>) -> Result<T> {
        T::deserialize(ValueDeserializer::from(value.clone()))
            .map_err(|error| self.mistaken(&error))
    }

    fn finite_without(&self, others: &[&str]) -> Result<Deserializer<'_>> {
        let mut table = self.table()?;
        if let Some(place) = table.get_ref().values().find_map(not_finite) {
            return Err(self.wrong(
                place,
                "this is no finite number",
                "write a number such as 2.5",
            ));
        }
        others
            .iter()
            .for_each(|key| drop(table.get_mut().remove(*key)));
        Ok(Deserializer::from(table))
    }

    fn mistaken(&self, error: &toml::de::Error) -> Error {
        let message = error.message().lines().next().unwrap_or_default();
        self.refused(message, error.span(), None)
    }

    /// Reads TOML as a table in which everything has its place.
    ///
    /// # Errors
    /// Not TOML, tables more than 80 deep in each other; a text of more than [`disk::MOST_TEXT`]
    /// bytes.
    pub fn table(&self) -> Result<Spanned<DeTable<'_>>> {
        self.check_length()?;
        DeTable::parse(&self.text).map_err(|error| {
            let help = "write TOML: key = value on a line each, text in double quotes, and a table begins with [name]";
            let message = error.message().lines().next().unwrap_or("not TOML");
            self.refused(message, error.span(), Some(help.to_owned()))
        })
    }

    /// The range of bytes in the text at which the value of `key` in `table` stands, so that an error
    /// can point at it; 0..0 if the table has no such key.
    pub fn place(&self, table: &str, key: &str) -> Range<usize> {
        let found = || {
            Some(
                self.table()
                    .ok()?
                    .get_ref()
                    .get(table)?
                    .get_ref()
                    .get(key)?
                    .span(),
            )
        };
        found().unwrap_or(0..0)
    }

    pub(crate) fn check_length(&self) -> Result {
        if self.text.len() as u64 <= disk::MOST_TEXT {
            Ok(())
        } else {
            Err(self.wrong_as_a_whole(
                format!("it has more than {} MiB", disk::MOST_TEXT >> 20),
                "nothing that is read here has as much; divide it, or name another file",
            ))
        }
    }

    /// An error about a part of this text, with what would be right.
    pub fn wrong(
        &self,
        place: impl Into<Range<usize>>,
        message: impl AsRef<str>,
        help: impl Into<String>,
    ) -> Error {
        self.refused(message.as_ref(), Some(place.into()), Some(help.into()))
    }

    /// An error about the whole text, with what would be right.
    pub fn wrong_as_a_whole(&self, message: impl AsRef<str>, help: impl Into<String>) -> Error {
        self.refused(message.as_ref(), None, Some(help.into()))
    }

    pub(crate) fn refused(
        &self,
        message: &str,
        place: Option<Range<usize>>,
        help: Option<String>,
    ) -> Error {
        let Some(place) = place else {
            return Error::built(&format!("{}: ", self.name), message, None, None, help);
        };
        let line = self.line(place.start);
        let excerpt = Excerpt::new(&self.name, 1, &self.text, place);
        Error::built(
            &format!("{}:{line}: ", self.name),
            message,
            Some(line),
            Some(excerpt),
            help,
        )
    }

    fn line(&self, offset: usize) -> usize {
        1 + self.text.as_bytes()[..offset.min(self.text.len())]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
    }
}

/// Finds the first number that is not finite, and returns its span in the text.
fn not_finite(value: &Spanned<DeValue<'_>>) -> Option<Range<usize>> {
    match value.get_ref() {
        DeValue::Float(number) => {
            let number = number.as_str().replace('_', "").parse().ok();
            (!number.is_some_and(f64::is_finite)).then(|| value.span())
        }
        DeValue::Array(values) => values.iter().find_map(not_finite),
        DeValue::Table(table) => table.values().find_map(not_finite),
        _ => None,
    }
}
