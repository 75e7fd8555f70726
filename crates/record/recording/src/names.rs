//! Interned names.

use std::collections::HashMap;

/// An interned string of one [`Recording`](crate::Recording). The number means nothing outside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub(crate) u32);

impl Name {
    /// Its number: names are numbered from 0 on, as they come. For tables by name.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a character steers a terminal, or the direction of what follows, instead of being seen. No name has one.
pub fn unprintable(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text with such characters as what they are, `\u{1b}`.
pub(crate) fn printable(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for letter in text.chars() {
        match unprintable(letter) {
            true => seen.extend(letter.escape_unicode()),
            false => seen.push(letter),
        }
    }
    seen
}

/// Characters that a text of several lines may have though they are not seen.
pub(crate) const LAYOUT: [char; 2] = ['\n', '\t'];

/// A text of several lines with what steers a terminal as what it is, `\u{1b}`; line ends and tabs stay.
pub fn printable_lines(text: &str) -> String {
    let parts = text.split_inclusive(LAYOUT).map(|part| match part.strip_suffix(LAYOUT) {
        Some(line) => printable(line) + &part[line.len()..],
        None => printable(part),
    });
    parts.collect()
}

/// Strings and their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    pub(crate) fn intern(&mut self, text: &str) -> Name {
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

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Every text, in the order of its number.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    pub(crate) fn find(&self, text: &str) -> Option<Name> {
        self.numbers.get(text).copied().map(Name)
    }

    pub(crate) fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}
