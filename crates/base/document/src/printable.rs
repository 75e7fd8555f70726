//! Text from outside, fit for a terminal.

/// Returns true if a character steers a terminal, or the direction of what follows, and is not seen
/// itself.
pub fn unprintable(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text with such characters spelt out, as `\u{1b}`.
pub fn printable(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for letter in text.chars() {
        if unprintable(letter) {
            seen.extend(letter.escape_unicode())
        } else {
            seen.push(letter)
        }
    }
    seen
}

/// Characters that a text of several lines may have though they are not seen.
pub const LAYOUT: [char; 2] = ['\n', '\t'];

/// A text of several lines with what steers a terminal spelt out, as `\u{1b}`; line ends and tabs
/// stay.
pub fn printable_lines(text: &str) -> String {
    text.split_inclusive(LAYOUT)
        .map(|part| match part.strip_suffix(LAYOUT) {
            Some(line) => printable(line) + &part[line.len()..],
            None => printable(part),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_spelt_out() {
        assert_eq!(
            printable("a\u{1b}[2J\u{202e}b\n"),
            "a\\u{1b}[2J\\u{202e}b\\u{a}"
        );
        assert_eq!(printable_lines("a\tb\n\r\u{7}\n"), "a\tb\n\\u{d}\\u{7}\n");
    }
}
