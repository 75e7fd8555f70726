//! Interned names.

use document::{printable, unprintable};
use std::collections::HashMap;

/// An interned string of one [`Recording`](crate::Recording). The number means nothing outside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub(crate) u32);

impl Name {
    /// Number of the name: names are numbered from 0 on, as they come. For tables by name.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Strings and their numbers.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(&number) = self.numbers.get(text) {
            return Name(number);
        }
        if text.contains(unprintable) {
            return self.intern(&printable(text));
        }
        let number = u32::try_from(self.texts.len()).expect("fewer than 2^32 names");
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        Name(number)
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Every text, in the order of its number.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    pub fn find(&self, text: &str) -> Option<Name> {
        self.numbers.get(text).copied().map(Name)
    }

    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}
