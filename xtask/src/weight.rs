//! The weight of the house in tokens: neither the form of a file nor its place changes it.

use crate::tools::{self, Result, git};
use std::path::Path;

/// The language of a file, as far as it decides what is a comment and what is a text.
#[derive(Clone, Copy)]
enum Language {
    /// Rust, C, JavaScript: `//` and `/* */`.
    Slashes,
    /// Python: `#`.
    Hash,
}

impl Language {
    /// How comments begin and end.
    const fn comments(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Slashes => &[("//", "\n"), ("/*", "*/")],
            Self::Hash => &[("#", "\n")],
        }
    }
}

/// What the repository weighs, as it is committed, generated files too.
#[derive(Default)]
pub struct Weight {
    /// Tokens of product Rust outside `explorer/`.
    pub rust: usize,
    /// Tokens of product Rust of the explorer.
    pub explorer: usize,
    /// Tokens of the Python package, without its tests.
    pub python: usize,
    /// Tokens of C and its headers.
    pub c: usize,
    /// Tokens of the report's scripts.
    pub script: usize,
    /// Words of the documents of `docs`, decisions aside.
    pub words: usize,
}

/// Weighs what Git lists.
///
/// # Errors
/// A file cannot be read.
pub fn weigh(root: &Path) -> Result<Weight> {
    let mut weight = Weight::default();
    for name in git("ls-files")?.lines() {
        let is_test = ["tests/", "benches/", "examples/"]
            .iter()
            .any(|folder| name.starts_with(folder) || name.contains(&format!("/{folder}")));
        let path = root.join(name);
        if is_test || !path.exists() {
            continue;
        }
        match path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default()
        {
            "rs" => {
                let text = tools::read(&path)?;
                let product = text.split("\n#[cfg(test)]\nmod tests").next();
                let tokens = count(product.unwrap_or_default(), Language::Slashes);
                if name.starts_with("explorer/") {
                    weight.explorer += tokens
                } else {
                    weight.rust += tokens
                }
            }
            "py" | "pyi" if name.starts_with("python/") => {
                weight.python += count(&tools::read(&path)?, Language::Hash);
            }
            "c" | "h" => weight.c += count(&tools::read(&path)?, Language::Slashes),
            "js" => weight.script += count(&tools::read(&path)?, Language::Slashes),
            "md" if name.starts_with("docs/") && !name.starts_with("docs/adr/") => {
                weight.words += tools::read(&path)?.split_whitespace().count();
            }
            _ => {}
        }
    }
    Ok(weight)
}

/// Tokens of a text: names, numbers, texts and signs; blanks and comments are none.
fn count(text: &str, language: Language) -> usize {
    let (mut rest, mut tokens) = (text.trim_start(), 0);
    while let Some(first) = rest.chars().next() {
        let mut comments = language.comments().iter();
        let after = match comments.find(|(begin, _)| rest.starts_with(begin)) {
            Some((_, end)) => rest.split_once(end).map_or("", |(_, after)| after),
            None => {
                tokens += 1;
                &rest[token(rest, first, language)..]
            }
        };
        rest = after.trim_start();
    }
    tokens
}

/// The bytes of the token at the start of a text.
fn token(rest: &str, first: char, language: Language) -> usize {
    let text = match language {
        Language::Slashes => raw_text(rest).or_else(|| quoted(rest)),
        Language::Hash => triple(rest).or_else(|| quoted(rest)),
    };
    if let Some(text) = text {
        return text;
    }
    if first == '\'' {
        let name = word(&rest[1..]);
        return 1 + name;
    }
    match word(rest) {
        0 => first.len_utf8(),
        length => length,
    }
}

/// The bytes of the name or number at the start of a text.
fn word(rest: &str) -> usize {
    rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .unwrap_or(rest.len())
}

/// The bytes of a raw text of Rust: `r#"..."#`.
fn raw_text(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('b').unwrap_or(rest).strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let inner = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = inner.find(&end)? + end.len();
    Some(rest.len() - inner.len() + length)
}

/// The bytes of a text of Python between three quotes.
fn triple(rest: &str) -> Option<usize> {
    let quote = ["\"\"\"", "'''"]
        .into_iter()
        .find(|quote| rest.starts_with(quote))?;
    Some(3 + rest[3..].find(quote)? + 3)
}

/// The bytes of a text between quotes, or of a letter of Rust or C between apostrophes.
fn quoted(rest: &str) -> Option<usize> {
    let start = usize::from(rest.starts_with('b'));
    let mut letters = rest[start..].char_indices();
    let (_, quote) = letters
        .next()
        .filter(|(_, quote)| ['"', '\''].contains(quote))?;
    let mut inside = 0;
    while let Some((at, letter)) = letters.next() {
        match letter {
            letter if letter == quote && (quote == '"' || inside > 0) => {
                return Some(start + at + 1);
            }
            '\\' => drop(letters.next()),
            // An apostrophe before a longer name begins a lifetime.
            _ if quote == '\'' && inside > 0 && !rest[start + 1..].starts_with('\\') => {
                return None;
            }
            _ => {}
        }
        inside += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_and_comments_weigh_nothing() {
        let rust = |text: &str| count(text, Language::Slashes);
        assert_eq!(rust("fn f(a: u8) -> u8 { a + 1 }"), 15);
        assert_eq!(
            rust("fn f(a: u8) -> u8 {\n    // why\n    a /* x */ + 1\n}"),
            15
        );
        assert_eq!(rust("let a = \"x // y \\\" z\"; 'b'"), 6);
        assert_eq!(rust("r#\"a \" b\"# br\"c\" b'\\'' &'static"), 5);
        assert_eq!(count("a = '''x # y''' # z", Language::Hash), 3);
    }
}
