//! Words and signs of the parts of a test that are not instructions.

/// A word or a sign, and where it begins in the text.
#[derive(Clone, Copy)]
pub struct Token<'t> {
    pub text: &'t str,
    pub at: usize,
}

const SIGNS: [&str; 16] = [
    "/\\", "\\/", "!=", "=>", "~", "(", ")", "=", ":", "[", "]", ";", ",", "*", "{", "}",
];

/// The tokens of a piece of text that begins at `from`. Strings in quotes are one token each.
pub fn tokens(text: &str, from: usize) -> Vec<Token<'_>> {
    let mut tokens = vec![];
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next().unwrap_or(' ');
        let length = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            sign.len()
        } else {
            let ends = |c: char| c.is_whitespace() || SIGNS.iter().any(|sign| sign.starts_with(c));
            rest.find(ends)
                .filter(|&end| end > 0)
                .unwrap_or(if ends(first) {
                    first.len_utf8()
                } else {
                    rest.len()
                })
        };
        tokens.push(Token {
            text: &rest[..length],
            at: from + at,
        });
        at += length;
    }
    tokens
}

/// A number as the tests write it: decimal or 0x..., with or without a sign.
pub fn number(text: &str) -> Option<u64> {
    let unsigned = text.strip_prefix('-');
    let digits = unsigned.unwrap_or(text);
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    let value = hex.map_or_else(|| digits.parse(), |hex| u64::from_str_radix(hex, 16));
    let value = value.ok()?;
    Some(if unsigned.is_some() {
        value.wrapping_neg()
    } else {
        value
    })
}
