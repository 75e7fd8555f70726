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
    let near = nearest(name, all.iter().copied()).map_or_else(String::new, |near| format!("did you mean {near}? "));
    format!("{near}there are: {}", all.join(", "))
}

/// A part of a document in a message: in backticks, in one line, and not too long.
pub fn quoted(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    let rest = if text.chars().nth(60).is_some() { "..." } else { "" };
    format!("`{}{rest}`", printable(&start))
}

/// A message of `serde` without the names of Rust's types.
pub(crate) fn plain(message: &str) -> String {
    const TYPES: [(&[&str], &str); 4] = [
        (&["usize", "u8", "u16", "u32", "u64", "nonzero u32", "a nonzero u32"], "a whole number from 0"),
        (&["i8", "i16", "i32", "i64", "isize"], "a whole number"),
        (&["f32", "f64"], "a number"),
        (&["a sequence", "a map"], "a list or table"),
    ];
    let Some((said, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let name = TYPES.iter().find(|(types, _)| types.contains(&expected)).map(|(_, name)| *name);
    match name.or_else(|| expected.starts_with("struct ").then_some("a table")) {
        Some(name) => format!("{said}, expected {name}"),
        None => message.to_owned(),
    }
}

/// Help for a message of `serde` about a name that there is not, if another one is near.
pub(crate) fn help_for(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field `").or_else(|| message.strip_prefix("unknown variant `"))?;
    let (name, known) = rest.split_once("`, expected ")?;
    let near = nearest(name, known.split('`').skip(1).step_by(2))?;
    Some(format!("did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_needs_few_letters_changed() {
        assert_eq!(nearest("jun-r1", ["tc2", "juno-r1"]), Some("juno-r1"));
        assert_eq!(nearest("zen", ["tc2", "juno-r1"]), None);
        assert_eq!(nearest("ab", ["ac", "a"]), Some("a"), "of two that are as near, the first in the alphabet");
        assert_eq!(one_of("jun-r1", &["juno-r1", "tc2"]), "did you mean juno-r1? there are: juno-r1, tc2");
        assert_eq!(one_of("wholly-else", &["juno-r1"]), "there are: juno-r1");
    }

    #[test]
    fn messages_of_serde_are_understood() {
        let near = |message| help_for(message);
        assert_eq!(near("unknown field `a`, expected one of `b`, `xyz`").as_deref(), Some("did you mean `b`?"));
        assert_eq!(
            near("unknown variant `lowr`, expected `lower` or `neither`").as_deref(),
            Some("did you mean `lower`?")
        );
        assert_eq!(near("unknown field `wholly-else`, expected `b`"), None);
        assert_eq!(near("missing field `b`"), None);
        assert_eq!(
            plain("invalid type: string \"two\", expected usize"),
            "invalid type: string \"two\", expected a whole number from 0"
        );
        assert_eq!(plain("unknown field `a`, expected `u8`"), "unknown field `a`, expected `u8`");
    }

    #[test]
    fn what_is_quoted_is_short_and_has_no_control_characters() {
        assert_eq!(quoted("a\nb\u{1b}"), "`a\\u{a}b\\u{1b}`");
        assert_eq!(quoted(&"x".repeat(70)), format!("`{}...`", "x".repeat(60)));
    }
}
