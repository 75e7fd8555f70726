//! Names in messages.

use crate::printable::printable;

/// The name among some that a misspelt one was probably meant to be: the one that needs the fewest
/// letters changed, if those are few.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let most = 1 + name.chars().count() / 4;
    known
        .into_iter()
        .map(|other| (strsim::levenshtein(name, other), other))
        .filter(|(far, _)| *far <= most)
        .min()
        .map(|(_, other)| other)
}

/// Says what names there are, the nearest first: `did you mean juno-r1? there are: juno-r1, tc2`.
pub fn one_of<N: AsRef<str>>(name: &str, known: &[N]) -> String {
    let all: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let near = nearest(name, all.iter().copied())
        .map_or_else(String::new, |near| format!("did you mean {near}? "));
    format!("{near}there are: {}", all.join(", "))
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

/// A message of `serde` in the words of people who write a file, with what would be right.
pub(crate) fn in_plain_words(message: &str) -> (String, Option<String>) {
    let known = |rest: &str| {
        rest.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    if let Some((name, rest)) = message
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split_once('`'))
    {
        let known = known(rest);
        let help = if known.is_empty() {
            "leave it out: there are none".to_owned()
        } else {
            one_of(name, &known)
        };
        return (format!("there is no key `{name}` here"), Some(help));
    }
    if let Some((name, rest)) = message
        .strip_prefix("unknown variant `")
        .and_then(|rest| rest.split_once('`'))
    {
        return (
            format!("`{name}` is no value of this key"),
            Some(one_of(name, &known(rest))),
        );
    }
    if let Some(name) = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.split('`').next())
    {
        return (
            format!("the key `{name}` is missing here"),
            Some(format!("add it to this table: {name} = ...")),
        );
    }
    if message.starts_with("data did not match any variant") {
        return (
            "this is a value of the wrong kind".to_owned(),
            Some("write a number, or text in double quotes".into()),
        );
    }
    let found = ["invalid type: ", "invalid value: ", "invalid length "]
        .into_iter()
        .find_map(|start| {
            let (found, expected) = message.strip_prefix(start)?.rsplit_once(", expected ")?;
            Some((found, expected))
        });
    let Some((found, expected)) = found else {
        return (message.to_owned(), None);
    };
    let (expected, help) = kind(expected);
    // A value stands behind the name of its kind, which is Rust's.
    let found = match (found, found.find(['`', '"']), found.rfind(['`', '"'])) {
        (_, Some(begin), Some(end)) if end > begin => found[begin..=end].trim_matches('`'),
        ("map", ..) => "a table",
        ("sequence", ..) => "a list",
        _ => found,
    };
    (
        format!("{found} stands where {expected} should"),
        help.map(str::to_owned),
    )
}

/// Describes a Rust type to somebody who writes a file: what it takes, and an example.
fn kind(expected: &str) -> (&str, Option<&'static str>) {
    const DIGITS: Option<&str> = Some("write its digits alone, such as 2");
    const TABLE: Option<&str> = Some("write [name] above its keys, or name = { key = value }");
    const LIST: Option<&str> = Some("write it in brackets, such as [1, 2]");
    match expected {
        "u8" => ("a whole number from 0 to 255", DIGITS),
        "u16" => ("a whole number from 0 to 65535", DIGITS),
        "u32" => ("a whole number from 0 to 4294967295", DIGITS),
        "usize" | "u64" => ("a whole number from 0 on", DIGITS),
        "nonzero u32" | "a nonzero u32" => ("a whole number from 1 to 4294967295", DIGITS),
        "i8" | "i16" | "i32" | "i64" | "isize" => ("a whole number", DIGITS),
        "f32" | "f64" => ("a number", DIGITS),
        "a string" | "string" => ("text", Some("put it into double quotes")),
        "a boolean" => ("true or false", Some("write it without quotes")),
        "a sequence" => ("a list", LIST),
        "a map" => ("a table", TABLE),
        other if other.starts_with("struct ") => ("a table", TABLE),
        other if other.starts_with("tuple ") || other.starts_with("an array of ") => {
            ("a list", LIST)
        }
        other => (other, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn messages_of_serde_are_understood() {
        let said = |message| {
            let (what, help) = in_plain_words(message);
            format!("{what}; {}", help.unwrap_or_default())
        };
        let near = said("unknown field `a`, expected one of `b`, `xyz`");
        assert!(
            near.contains("`a`") && near.ends_with("did you mean b? there are: b, xyz"),
            "{near}"
        );
        let near = said("unknown variant `lowr`, expected `lower` or `neither`");
        assert!(
            near.ends_with("did you mean lower? there are: lower, neither"),
            "{near}"
        );
        assert!(said("unknown field `a`, there are no fields").contains("leave it out"));
        assert!(said("missing field `b`").contains("b = ..."));
        for (message, found, expected) in [
            (
                "invalid type: string \"two\", expected usize",
                "\"two\" stands",
                "a whole number from 0",
            ),
            (
                "invalid value: integer `-1`, expected u8",
                "-1 stands",
                "a whole number from 0",
            ),
            (
                "invalid type: floating point `NaN`, expected i64",
                "NaN stands",
                "a whole number",
            ),
            (
                "invalid type: map, expected a string",
                "a table stands",
                "text",
            ),
            (
                "invalid type: boolean `true`, expected struct Platform",
                "true stands",
                "a table",
            ),
            (
                "invalid type: integer `99` as i128, expected u64",
                "99 stands",
                "a whole number from 0",
            ),
            (
                "invalid length 3, expected a tuple of size 2",
                "3 stands",
                "a tuple of size 2",
            ),
        ] {
            let said = said(message);
            assert!(said.starts_with(found) && said.contains(expected), "{said}");
        }
        assert_eq!(
            said("`us us` is no unit"),
            "`us us` is no unit; ",
            "what a reader says itself"
        );
    }

    #[test]
    fn what_is_quoted_is_short_and_has_no_control_characters() {
        assert_eq!(quoted("a\nb\u{1b}"), "`a\\u{a}b\\u{1b}`");
        assert_eq!(quoted(&"x".repeat(70)), format!("`{}...`", "x".repeat(60)));
    }
}
