//! Integers, strings and objects of a file, checked.

use document::json::{Item, Key, Span, Value};
use document::{Document, Error, Result, one_of, quoted};
use std::collections::BTreeMap;

/// An hour in microseconds: no event is longer.
pub const HOUR_US: i64 = 3_600_000_000;

/// A file that is being read, with the settings that stand for numbers in it.
#[derive(Clone, Debug)]
pub struct Source<'d> {
    pub(crate) document: &'d Document,
    pub(crate) settings: BTreeMap<String, i64>,
}

impl Source<'_> {
    pub fn error(&self, at: Span, what: impl AsRef<str>, help: impl Into<String>) -> Error {
        self.document.wrong(at, what, help)
    }

    pub fn wrong<T>(&self, at: Span, what: impl AsRef<str>, help: impl Into<String>) -> Result<T> {
        Err(self.error(at, what, help))
    }

    pub fn object<'a>(&self, item: &'a Item, what: &str) -> Result<&'a [(Key, Item)]> {
        match &item.value {
            Value::Object(entries) => Ok(entries),
            other => self.wrong(
                item.at,
                format!("{what} is an object, and not {}", other.kind()),
                "write `{ \"key\": value, ... }`",
            ),
        }
    }

    /// An integer within limits; a string `"$name"` stands for a setting.
    pub fn integer(
        &self,
        item: &Item,
        what: &str,
        limits: std::ops::RangeInclusive<i64>,
    ) -> Result<i64> {
        let (low, high) = (limits.start(), limits.end());
        let range = || format!("it is an integer from {low} to {high}");
        let value = match &item.value {
            Value::Integer(value) => *value,
            Value::Bool(value) if (*low, *high) == (0, 1) => i64::from(*value),
            Value::String(text) if text.starts_with('$') => self.setting(item.at, &text[1..])?,
            other => {
                return self.wrong(item.at, format!("{what} is not {}", other.kind()), range());
            }
        };
        if limits.contains(&value) {
            Ok(value)
        } else {
            self.wrong(item.at, format!("{what} is not {value}"), range())
        }
    }

    fn setting(&self, at: Span, name: &str) -> Result<i64> {
        self.settings.get(name).copied().ok_or_else(|| {
            let known: Vec<&String> = self.settings.keys().collect();
            let help = if known.is_empty() {
                "declare it in `global`: `\"stopwatt_settings\": { \"name\": 1 }`".to_owned()
            } else {
                one_of(name, &known)
            };
            self.error(at, format!("there is no setting {}", quoted(name)), help)
        })
    }

    pub fn switch(&self, item: &Item, what: &str) -> Result<bool> {
        Ok(self.integer(item, what, 0..=1)? == 1)
    }

    /// A length in microseconds, as nanoseconds.
    pub fn us(&self, item: &Item, what: &str) -> Result<u64> {
        Ok(self.integer(item, &format!("{what} in microseconds"), 0..=HOUR_US)? as u64 * 1_000)
    }

    pub fn string<'a>(&self, item: &'a Item, what: &str) -> Result<&'a str> {
        match &item.value {
            Value::String(text) if !text.is_empty() => Ok(text),
            other => {
                let found = if matches!(other, Value::String(_)) {
                    "empty".to_owned()
                } else {
                    other.kind()
                };
                self.wrong(
                    item.at,
                    format!("{what} is not {found}"),
                    "it is a name in double quotes",
                )
            }
        }
    }

    /// The entries of an object that has only these keys, each at most once.
    pub fn fields<'a, const N: usize>(
        &self,
        item: &'a Item,
        what: &str,
        keys: [&str; N],
    ) -> Result<[Option<&'a Item>; N]> {
        let mut found = [None; N];
        for (key, value) in self.object(item, what)? {
            let Some(at) = keys.iter().position(|&known| known == key.name) else {
                let help = one_of(&key.name, &keys);
                return self.wrong(key.at, format!("{what} has no {}", quoted(&key.name)), help);
            };
            if found[at].replace(value).is_some() {
                return Err(self.twice(key));
            }
        }
        Ok(found)
    }

    pub fn twice(&self, key: &Key) -> Error {
        self.error(
            key.at,
            format!("{} stands here a second time", quoted(&key.name)),
            "only events may repeat: keep one",
        )
    }
}
