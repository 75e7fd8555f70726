//! The forms of `data/idle-tables.toml`, and the lines that fit their patterns.

use document::Document;
use serde::Deserialize;
use std::sync::LazyLock;

/// A file's name, and the number of its line.
pub type At<'a> = (&'a str, u64);

/// What a text says of states: keys of `data/idle-tables.toml`, each with its text.
pub type Fields = Vec<(&'static str, String)>;

/// All forms.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forms {
    /// A key, and the patterns of the columns that it stands for.
    columns: Vec<Vec<String>>,
    /// Lists, and lines that stand alone.
    pub form: Vec<Form>,
}

/// A list, or a kind of line that stands alone where there are no heads.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Form {
    /// True if the figures are those of an interval, and no counters.
    pub counted: bool,
    /// Patterns of the lines that begin the list.
    pub heads: Vec<String>,
    /// Patterns of files' paths that begin it.
    pub paths: Vec<String>,
    /// Patterns of its lines.
    pub rows: Vec<String>,
    /// Patterns of the lines that end it.
    pub ends: Vec<String>,
    /// Why it has no figures of states, and what would have some; empty where it has.
    pub why: String,
    pub help: String,
}

/// The forms that the program knows.
pub static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let text = include_str!("../../data/idle-tables.toml");
    Document::new("idle-tables.toml", text)
        .read()
        .expect("a test reads the same text")
});

impl Forms {
    /// The key that a column stands for, and the state in the column's name.
    pub fn column(&'static self, name: &str) -> Option<(&'static str, Fields)> {
        self.columns.iter().find_map(|patterns| {
            let (key, patterns) = patterns.split_first()?;
            Some((key.as_str(), first(patterns, name)?))
        })
    }
}

/// Longer lines fit no pattern: where a field ends is searched for.
const LONGEST: usize = 500;

/// What the first pattern that fits takes out of a text.
pub fn first(patterns: &'static [String], text: &str) -> Option<Fields> {
    let mut patterns = patterns.iter().filter(|_| text.len() <= LONGEST);
    patterns.find_map(|pattern| taken(pattern, text))
}

/// What a pattern takes out of a text, if it fits.
pub fn taken(pattern: &'static str, text: &str) -> Option<Fields> {
    let (literal, fields) = pattern.split_once('<').unwrap_or((pattern, ""));
    let rest = after(text, literal)?;
    let Some((field, pattern)) = fields.split_once('>') else {
        return rest.is_empty().then(Fields::new);
    };
    let of = |key, text: &str, rest| {
        let mut fields = taken(pattern, rest)?;
        if key != "_" {
            fields.insert(0, (key, text.to_owned()));
        }
        Some(fields)
    };
    if let Some((key, constant)) = field.split_once('=') {
        return of(key, constant, rest);
    }
    let (key, start) = field.split_once('^').unwrap_or((field, ""));
    let key_of = key.trim_end_matches('#');
    let fits = |text: &str| {
        let mut bytes = text.bytes().chain([0]).zip(start.bytes());
        let fits = bytes.all(|(byte, start)| match start {
            b'#' => byte.is_ascii_digit(),
            b'@' => byte.is_ascii_alphabetic(),
            _ => byte.eq_ignore_ascii_case(&start),
        });
        key == "_" || fits && !text.is_empty() && (key == key_of || number(text).is_some())
    };
    // The next literal tells where the field may end.
    let next = pattern.split('<').next().filter(|next| !next.is_empty());
    let ends = match next {
        None if pattern.is_empty() => rest.len()..=rest.len(),
        _ => 0..=rest.len(),
    };
    ends.filter_map(|end| rest.split_at_checked(end))
        .find_map(|(text, rest)| {
            let is_end = next.is_none_or(|next| after(rest, next).is_some());
            if !is_end || text.contains('\n') || !fits(text.trim()) {
                return None;
            }
            of(key_of, text.trim(), rest)
        })
}

/// What stands behind a literal at the beginning of a text, in small or large letters.
fn after<'t>(text: &'t str, literal: &str) -> Option<&'t str> {
    let start = text.get(..literal.len())?;
    start
        .eq_ignore_ascii_case(literal)
        .then(|| &text[literal.len()..])
}

/// A number as programs print it, with `,` between thousands.
pub fn number(text: &str) -> Option<f64> {
    let mut groups = text.split('.').next()?.split(',').skip(1);
    if groups.any(|group| group.len() != 3) {
        return None;
    }
    let number: f64 = text.replace(',', "").parse().ok()?;
    number.is_finite().then_some(number)
}

/// Units behind a key, and how many microseconds one of them has.
const UNITS: [(&str, f64); 4] = [
    ("_ns", 1e-3),
    ("_ms", 1e3),
    ("_s", 1e6),
    ("_arch", 1.0 / 19.2),
];

/// A quantity in its own unit: the key without a unit, and the text of the value; times become
/// whole microseconds.
pub fn quantity(key: &'static str, text: &str) -> (&'static str, String) {
    let unit = UNITS
        .iter()
        .find_map(|(unit, us)| Some((key.strip_suffix(unit)?, us)));
    match (unit, number(text)) {
        (Some((key, us)), Some(number)) => (key, (number * us).round().to_string()),
        (Some((key, _)), None) => (key, text.to_owned()),
        // Prometheus prints 3.4e+07.
        (None, Some(number)) if text.contains(['e', 'E']) => (key, number.to_string()),
        (None, _) => (key, text.replace(',', "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_the_shortest_texts_that_fit() {
        let fields = taken("cpu<cpu> <name> :<disable=1>", "CPU3 C1 BYT :").unwrap();
        let expected = [("cpu", "3"), ("name", "C1 BYT"), ("disable", "1")];
        assert_eq!(fields, expected.map(|(key, text)| (key, text.to_owned())));
        let fields = taken("cpu<cpu#> <name^@> <usage#>", "cpu0 cluster sleep 3");
        assert_eq!(fields.unwrap()[1].1, "cluster sleep");
        assert_eq!(taken("cpu<cpu#> <name^@> <usage#>", "cpu0 1 2"), None);
        assert_eq!(taken("<state^c#>", "Core"), None);
        assert_eq!(taken("<state>%", "C1%+"), None);
        assert!(!FORMS.form.is_empty());
    }

    #[test]
    fn a_decimal_comma_is_no_number() {
        assert_eq!(number("1,234,567.5"), Some(1_234_567.5));
        assert_eq!(
            (number("29,3"), number("nan"), number("")),
            (None, None, None)
        );
    }
}
