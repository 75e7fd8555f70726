//! Names in messages.

use crate::printable::printable;

/// The name among some that a misspelt one was probably meant to be: the one that needs the fewest
/// letters changed or two neighbours exchanged, if those are few; capitals or not is no matter.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let most = 1 + name.chars().count() / 4;
    let name = name.to_lowercase();
    known
        .into_iter()
        .map(|other| {
            let far = strsim::damerau_levenshtein(&name, &other.to_lowercase());
            (far, other)
        })
        .filter(|(far, _)| *far <= most)
        .min()
        .map(|(_, other)| other)
}

/// Says what names there are, the nearest first: `did you mean juno-r1? there are: juno-r1, tc2`.
pub fn one_of(name: &str, known: &[impl AsRef<str>]) -> String {
    let all: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let near = nearest(name, all.iter().copied())
        .map(|near| format!("did you mean {near}? "))
        .unwrap_or_default();
    format!("{near}there are: {}", all.join(", "))
}

/// A number in decimal or, after 0x, in hexadecimal.
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A part of a document in a message: in backticks, in one line, and not too long.
pub fn quoted(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    let rest = if text.chars().nth(60).is_some() {
        "..."
    } else {
        ""
    };
    format!("`{}{rest}`", printable(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        let texts = ["0x10", "16", "x", "0x", "-1"];
        let expected = [Some(16), Some(16), None, None, None];
        assert_eq!(texts.map(number), expected);
    }

    #[test]
    fn the_nearest_name_needs_few_letters_changed() {
        assert_eq!(nearest("jun-r1", ["tc2", "juno-r1"]), Some("juno-r1"));
        assert_eq!(nearest("zen", ["tc2", "juno-r1"]), None);
        assert_eq!(
            nearest("ab", ["ac", "a"]),
            Some("a"),
            "of two that are as near, the first in the alphabet"
        );
        assert_eq!(
            one_of("jun-r1", &["juno-r1", "tc2"]),
            "did you mean juno-r1? there are: juno-r1, tc2"
        );
        assert_eq!(one_of("wholly-else", &["juno-r1"]), "there are: juno-r1");
    }

    #[test]
    fn what_is_quoted_is_short_and_has_no_control_characters() {
        assert_eq!(quoted("a\nb\u{1b}"), "`a\\u{a}b\\u{1b}`");
        assert_eq!(quoted(&"x".repeat(70)), format!("`{}...`", "x".repeat(60)));
    }
}
