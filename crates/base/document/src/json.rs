//! JSON as people write it: keys may repeat, there may be comments and a comma after the last
//! element, and a key may stand alone. Each value knows its place.

use crate::document::Document;
use crate::error::Result;
use crate::names::quoted;
use std::ops::Range;

/// Objects and arrays in each other, at most.
const DEEPEST: usize = 32;

/// A place in a document, in bytes from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl From<Span> for Range<usize> {
    fn from(place: Span) -> Self {
        place.start..place.end
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A key without a value.
    Missing,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number that is no integer, or too large for one, as it stands there.
    Number(String),
    /// A string.
    String(String),
    /// Values in their order.
    Array(Vec<Item>),
    /// Keys with their values, in their order; a key may come again.
    Object(Vec<(Key, Item)>),
}

impl Value {
    /// The kind of thing that it is, for messages: "and not an array".
    pub fn kind(&self) -> String {
        match self {
            Self::Missing => "nothing".to_owned(),
            Self::Null => "`null`".to_owned(),
            Self::Bool(value) => format!("`{value}`"),
            Self::Integer(value) => format!("`{value}`"),
            Self::Number(text) => quoted(text),
            Self::String(text) => format!("the string {}", quoted(text)),
            Self::Array(_) => "an array".to_owned(),
            Self::Object(_) => "an object".to_owned(),
        }
    }
}

/// A value with its place; that of an object or an array is its bracket.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The place.
    pub at: Span,
    /// The value.
    pub value: Value,
}

/// A key with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The place.
    pub at: Span,
    /// The key.
    pub name: String,
}

impl Document {
    /// Reads JSON.
    ///
    /// # Errors
    /// Not JSON; objects and arrays more than 32 deep in each other; a text of more than
    /// [`disk::MOST_TEXT`] bytes.
    pub fn json(&self) -> Result<Item> {
        self.check_length()?;
        let mut parser = Parser {
            document: self,
            at: 0,
            depth: 0,
        };
        if parser.peek() == Some('\u{feff}') {
            parser.next();
        }
        parser.blank()?;
        let item = parser.item()?;
        parser.blank()?;
        match parser.peek() {
            None => Ok(item),
            Some(_) => parser.wrong(
                "something follows the end of the file's object",
                "remove it, or put it inside",
            ),
        }
    }
}

struct Parser<'a> {
    document: &'a Document,
    /// Bytes that were read.
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.document.text()[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// The characters from here on that are of a kind.
    fn take_while(&mut self, is_of_it: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|next| !is_of_it(next)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Something is wrong with the next character.
    fn wrong<T>(&self, what: impl AsRef<str>, help: &str) -> Result<T> {
        let length = self.peek().map_or(0, char::len_utf8);
        Err(self.document.wrong(self.at..self.at + length, what, help))
    }

    /// Something is wrong with what was read from `start` on.
    fn wrong_from<T>(&self, start: usize, what: impl AsRef<str>, help: &str) -> Result<T> {
        Err(self.document.wrong(start..self.at, what, help))
    }

    /// The value that is there, for messages.
    fn found(&self) -> String {
        self.peek()
            .map_or("the end of the file".to_owned(), |found| {
                quoted(found.encode_utf8(&mut [0; 4]))
            })
    }

    /// Skips space and comments.
    fn blank(&mut self) -> Result {
        loop {
            self.take_while(char::is_whitespace);
            let (begin, rest) = (self.at, self.rest());
            self.at += match rest.get(..2) {
                Some("//") => rest.find('\n').unwrap_or(rest.len()),
                Some("/*") => match rest[2..].find("*/") {
                    Some(end) => end + 4,
                    None => {
                        let what = "this comment does not end";
                        return Err(self.document.wrong(
                            begin..begin + 2,
                            what,
                            "end it with `*/`",
                        ));
                    }
                },
                _ if rest.starts_with('/') => {
                    self.next();
                    self.next();
                    let what = "a `/` that begins no comment";
                    return self.wrong_from(begin, what, "comments are `// ...` and `/* ... */`");
                }
                _ => return Ok(()),
            }
        }
    }

    fn item(&mut self) -> Result<Item> {
        let start = self.at;
        let value = match self.peek() {
            Some('{') => self.nested(Self::object)?,
            Some('[') => self.nested(Self::array)?,
            Some('"') => Value::String(self.string()?),
            Some(first) if first == '-' || first.is_ascii_digit() => self.number(),
            Some(first) if first.is_ascii_alphabetic() => self.word()?,
            _ => {
                let what = format!("a value should stand here, and not {}", self.found());
                return self.wrong(
                    what,
                    "a value is a string in double quotes, a number, `true`, `false`, an object or an array",
                );
            }
        };
        let end = match value {
            Value::Array(_) | Value::Object(_) => start + 1,
            _ => self.at,
        };
        Ok(Item {
            at: Span { start, end },
            value,
        })
    }

    fn nested(&mut self, inside: fn(&mut Self) -> Result<Value>) -> Result<Value> {
        if self.depth == DEEPEST {
            return self.wrong(
                format!("more than {DEEPEST} objects and arrays in each other"),
                "a file of rt-app needs five",
            );
        }
        self.next();
        self.depth += 1;
        let value = inside(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value> {
        let mut entries = Vec::new();
        loop {
            self.blank()?;
            match self.peek() {
                Some('}') => break,
                Some('"') => {}
                _ => {
                    let what = format!("a key should stand here, and not {}", self.found());
                    return self.wrong(
                        what,
                        "a key is a string in double quotes; an object ends with `}`",
                    );
                }
            }
            let start = self.at;
            let name = self.string()?;
            let key = Key {
                at: Span {
                    start,
                    end: self.at,
                },
                name,
            };
            self.blank()?;
            let item = match self.peek() {
                Some(':') => {
                    self.next();
                    self.blank()?;
                    self.item()?
                }
                _ => Item {
                    at: key.at,
                    value: Value::Missing,
                },
            };
            entries.push((key, item));
            if !self.comma('}')? {
                break;
            }
        }
        self.next();
        Ok(Value::Object(entries))
    }

    fn array(&mut self) -> Result<Value> {
        let mut items = Vec::new();
        loop {
            self.blank()?;
            if self.peek() == Some(']') {
                break;
            }
            items.push(self.item()?);
            if !self.comma(']')? {
                break;
            }
        }
        self.next();
        Ok(Value::Array(items))
    }

    /// A comma, or the end; whether there may be more.
    fn comma(&mut self, end: char) -> Result<bool> {
        self.blank()?;
        match self.peek() {
            Some(',') => {
                self.next();
                Ok(true)
            }
            Some(found) if found == end => Ok(false),
            _ => {
                let what = format!("`,` or `{end}` should stand here, and not {}", self.found());
                self.wrong(what, "elements are separated by commas")
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        let begin = self.at;
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(text),
                None | Some('\n') => {
                    let place = begin..begin + 1;
                    return Err(self.document.wrong(
                        place,
                        "this string does not end in its line",
                        "end it with `\"`",
                    ));
                }
                Some('\\') => text.push(self.escape()?),
                Some(other) => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at - 1;
        const HELP: &str = "escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits";
        let escaped = match self.next() {
            same @ Some('"' | '\\' | '/') => same,
            Some('b') => Some('\u{8}'),
            Some('f') => Some('\u{c}'),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            // A half of a pair stands for no character of its own.
            Some('u') => (0..4)
                .try_fold(0, |code, _| Some(code * 16 + self.next()?.to_digit(16)?))
                .and_then(char::from_u32),
            _ => None,
        };
        escaped.map_or_else(
            || self.wrong_from(start, "an escape that is none", HELP),
            Ok,
        )
    }

    fn number(&mut self) -> Value {
        let text =
            self.take_while(|next| next.is_ascii_alphanumeric() || matches!(next, '-' | '+' | '.'));
        text.parse()
            .map_or_else(|_| Value::Number(text.to_owned()), Value::Integer)
    }

    fn word(&mut self) -> Result<Value> {
        let start = self.at;
        let word = self.take_while(|next| next.is_ascii_alphanumeric() || next == '_');
        match word.to_ascii_lowercase().as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Null),
            _ => self.wrong_from(
                start,
                format!("{} is no value", quoted(word)),
                "strings stand in double quotes",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Vec<(Key, Item)> {
        match Document::new("f.json", text).json().unwrap().value {
            Value::Object(entries) => entries,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn keys_repeat_in_order_and_values_know_their_places() {
        let text = "// first\n{ \"a\": 1, /* two\nlines */ \"b\": -2,\n  \"a\": \"\\u00e9\\n\", \"alone\", \"last\", }";
        let entries = object(text);
        let names: Vec<_> = entries.iter().map(|(key, _)| key.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "a", "alone", "last"]);
        assert_eq!(entries[1].1.value, Value::Integer(-2));
        let there = |at: Span| &text[Range::from(at)];
        assert_eq!(
            (there(entries[1].1.at), there(entries[2].0.at)),
            ("-2", "\"a\"")
        );
        assert_eq!(entries[2].1.value, Value::String("é\n".to_owned()));
        assert_eq!(
            (&entries[3].1.value, &entries[4].1.value),
            (&Value::Missing, &Value::Missing)
        );
    }

    #[test]
    fn other_values_are_read_as_well() {
        let entries = object(
            "\u{feff}{\"a\": [1, [true, False], null, ], \"b\": 1.5, \"c\": 99999999999999999999, \"d\": {}}",
        );
        assert_eq!(entries[0].1.value.kind(), "an array");
        assert_eq!(entries[1].1.value, Value::Number("1.5".to_owned()));
        assert_eq!(
            entries[2].1.value,
            Value::Number("99999999999999999999".to_owned())
        );
        assert_eq!(entries[3].1.value, Value::Object(Vec::new()));
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let wrong = |text: &str| {
            let error = Document::new("f.json", text).json().unwrap_err();
            assert!(!error.help_text().unwrap().is_empty());
            error.to_string()
        };
        assert_eq!(
            wrong(""),
            "f.json:1: a value should stand here, and not the end of the file"
        );
        assert_eq!(
            wrong("{\n a: 1}"),
            "f.json:2: a key should stand here, and not `a`"
        );
        assert_eq!(
            wrong("{\"a\": 1 \"b\": 2}"),
            "f.json:1: `,` or `}` should stand here, and not `\"`"
        );
        assert_eq!(
            wrong("{\"a\": [1 2]}"),
            "f.json:1: `,` or `]` should stand here, and not `2`"
        );
        assert_eq!(
            wrong("{\"a\": \"x\ny\"}"),
            "f.json:1: this string does not end in its line"
        );
        assert_eq!(
            wrong("{\"a\":\n\"\\x\"}"),
            "f.json:2: an escape that is none"
        );
        assert_eq!(
            wrong("{\"a\": \"\\ud800\"}"),
            "f.json:1: an escape that is none"
        );
        assert_eq!(
            wrong("{} {}"),
            "f.json:1: something follows the end of the file's object"
        );
        assert_eq!(wrong("/* {}"), "f.json:1: this comment does not end");
        assert_eq!(
            wrong("{\"a\": / 1}"),
            "f.json:1: a `/` that begins no comment"
        );
        assert_eq!(wrong("{\"a\": yes}"), "f.json:1: `yes` is no value");
        assert!(wrong(&"[".repeat(100_000)).contains("more than 32"));
    }
}
