//! JSON as rt-app's files have it: keys may repeat, there may be comments and a comma after the last element, and a key may stand alone. Each
//! value knows its place.

use crate::error::{Place, quoted};

/// Objects and arrays in each other, at most.
const DEEPEST: usize = 32;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A key without a value.
    Missing,
    Null,
    Bool(bool),
    Integer(i64),
    /// A number that is no integer, or too large for one, as it stands there.
    Number(String),
    String(String),
    Array(Vec<Item>),
    Object(Vec<(Key, Item)>),
}

impl Value {
    /// What kind of thing it is, for messages.
    pub(crate) fn kind(&self) -> String {
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

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) at: Place,
    pub(crate) value: Value,
}

/// A key with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) at: Place,
    pub(crate) name: String,
}

/// What is wrong, where, and what would be right.
pub(crate) type Wrong = (Place, String, &'static str);

struct Parser<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    at: Place,
    depth: usize,
}

/// Reads a whole text.
pub(crate) fn parse(text: &str) -> Result<Item, Wrong> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser { rest: text.chars().peekable(), at: Place { line: 1, column: 1 }, depth: 0 };
    parser.blank()?;
    let item = parser.item()?;
    parser.blank()?;
    match parser.peek() {
        None => Ok(item),
        Some(_) => parser.wrong("something follows the end of the file's object", "remove it, or put it inside"),
    }
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        self.at = match next {
            '\n' => Place { line: self.at.line.saturating_add(1), column: 1 },
            _ => Place { column: self.at.column.saturating_add(1), ..self.at },
        };
        Some(next)
    }

    fn wrong<T>(&self, what: impl Into<String>, help: &'static str) -> Result<T, Wrong> {
        Err((self.at, what.into(), help))
    }

    /// What is there, for messages.
    fn found(&mut self) -> String {
        self.peek().map_or("the end of the file".to_owned(), |found| quoted(found.encode_utf8(&mut [0; 4])))
    }

    /// Skips space and comments.
    fn blank(&mut self) -> Result<(), Wrong> {
        loop {
            match self.peek() {
                Some(space) if space.is_whitespace() => drop(self.next()),
                Some('/') => {
                    let begin = self.at;
                    self.next();
                    match self.next() {
                        Some('/') => while self.next().is_some_and(|skipped| skipped != '\n') {},
                        Some('*') => {
                            let mut last = ' ';
                            loop {
                                match self.next() {
                                    Some('/') if last == '*' => break,
                                    Some(skipped) => last = skipped,
                                    None => {
                                        return Err((
                                            begin,
                                            "this comment does not end".to_owned(),
                                            "end it with `*/`",
                                        ));
                                    }
                                }
                            }
                        }
                        _ => {
                            return Err((
                                begin,
                                "a `/` that begins no comment".to_owned(),
                                "comments are `// ...` and `/* ... */`",
                            ));
                        }
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn item(&mut self) -> Result<Item, Wrong> {
        let at = self.at;
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
        Ok(Item { at, value })
    }

    fn nested(&mut self, inside: fn(&mut Self) -> Result<Value, Wrong>) -> Result<Value, Wrong> {
        if self.depth == DEEPEST {
            return self
                .wrong(format!("more than {DEEPEST} objects and arrays in each other"), "a file of rt-app needs five");
        }
        self.next();
        self.depth += 1;
        let value = inside(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, Wrong> {
        let mut entries = Vec::new();
        loop {
            self.blank()?;
            match self.peek() {
                Some('}') => break,
                Some('"') => {}
                _ => {
                    let what = format!("a key should stand here, and not {}", self.found());
                    return self.wrong(what, "a key is a string in double quotes; an object ends with `}`");
                }
            }
            let key = Key { at: self.at, name: self.string()? };
            self.blank()?;
            let item = match self.peek() {
                Some(':') => {
                    self.next();
                    self.blank()?;
                    self.item()?
                }
                _ => Item { at: key.at, value: Value::Missing },
            };
            entries.push((key, item));
            if !self.comma('}')? {
                break;
            }
        }
        self.next();
        Ok(Value::Object(entries))
    }

    fn array(&mut self) -> Result<Value, Wrong> {
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
    fn comma(&mut self, end: char) -> Result<bool, Wrong> {
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

    fn string(&mut self) -> Result<String, Wrong> {
        let begin = self.at;
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(text),
                None | Some('\n') => {
                    return Err((begin, "this string does not end in its line".to_owned(), "end it with `\"`"));
                }
                Some('\\') => text.push(self.escape()?),
                Some(other) => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Wrong> {
        const HELP: &str = "escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits";
        match self.next() {
            Some(same @ ('"' | '\\' | '/')) => Ok(same),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('u') => {
                let digits = (0..4).try_fold(0, |code, _| Some(code * 16 + self.next()?.to_digit(16)?));
                // A half of a pair stands for no character of its own.
                digits.and_then(char::from_u32).map_or_else(|| self.wrong("an escape that is none", HELP), Ok)
            }
            _ => self.wrong("an escape that is none", HELP),
        }
    }

    fn number(&mut self) -> Value {
        let mut text = String::new();
        while let Some(digit) =
            self.peek().filter(|next| next.is_ascii_alphanumeric() || matches!(next, '-' | '+' | '.'))
        {
            text.push(digit);
            self.next();
        }
        text.parse().map_or(Value::Number(text), Value::Integer)
    }

    fn word(&mut self) -> Result<Value, Wrong> {
        let at = self.at;
        let mut word = String::new();
        while let Some(letter) = self.peek().filter(|next| next.is_ascii_alphanumeric() || *next == '_') {
            word.push(letter);
            self.next();
        }
        match word.to_ascii_lowercase().as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Null),
            _ => Err((at, format!("{} is no value", quoted(&word)), "strings stand in double quotes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Vec<(Key, Item)> {
        match parse(text).unwrap().value {
            Value::Object(entries) => entries,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn keys_repeat_in_order_and_values_know_their_places() {
        let entries = object(
            "// first\n{ \"a\": 1, /* two\nlines */ \"b\": -2,\n  \"a\": \"\\u00e9\\n\", \"alone\", \"last\", }",
        );
        let names: Vec<_> = entries.iter().map(|(key, _)| key.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "a", "alone", "last"]);
        assert_eq!(entries[1].1, Item { at: Place { line: 3, column: 15 }, value: Value::Integer(-2) });
        assert_eq!(entries[2].0.at, Place { line: 4, column: 3 });
        assert_eq!(entries[2].1.value, Value::String("é\n".to_owned()));
        assert_eq!((&entries[3].1.value, &entries[4].1.value), (&Value::Missing, &Value::Missing));
    }

    #[test]
    fn other_values_are_read_as_well() {
        let entries = object(r#"{"a": [1, [true, False], null, ], "b": 1.5, "c": 99999999999999999999, "d": {}}"#);
        assert_eq!(entries[0].1.value.kind(), "an array");
        assert_eq!(entries[1].1.value, Value::Number("1.5".to_owned()));
        assert_eq!(entries[2].1.value, Value::Number("99999999999999999999".to_owned()));
        assert_eq!(entries[3].1.value, Value::Object(Vec::new()));
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let wrong = |text: &str| {
            let (at, what, help) = parse(text).unwrap_err();
            assert!(!help.is_empty());
            (at.line, at.column, what)
        };
        assert_eq!(wrong(""), (1, 1, "a value should stand here, and not the end of the file".to_owned()));
        assert_eq!(wrong("{\n a: 1}"), (2, 2, "a key should stand here, and not `a`".to_owned()));
        assert_eq!(wrong("{\"a\": 1 \"b\": 2}"), (1, 9, "`,` or `}` should stand here, and not `\"`".to_owned()));
        assert_eq!(wrong("{\"a\": [1 2]}"), (1, 10, "`,` or `]` should stand here, and not `2`".to_owned()));
        assert_eq!(wrong("{\"a\": \"x\ny\"}").2, "this string does not end in its line");
        assert_eq!(wrong("{\"a\": \"\\x\"}").2, "an escape that is none");
        assert_eq!(wrong("{\"a\": \"\\ud800\"}").2, "an escape that is none");
        assert_eq!(wrong("{} {}"), (1, 4, "something follows the end of the file's object".to_owned()));
        assert_eq!(wrong("/* {}"), (1, 1, "this comment does not end".to_owned()));
        assert_eq!(wrong("{\"a\": / 1}").2, "a `/` that begins no comment");
        assert_eq!(wrong("{\"a\": yes}"), (1, 7, "`yes` is no value".to_owned()));
        assert!(wrong(&"[".repeat(100_000)).2.contains("more than 32"));
    }
}
