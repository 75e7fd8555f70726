//! Reads stock `.litmus` files.

use crate::{
    Error, Result,
    lexer::{Token, number, tokens},
    mnemonic::instruction,
    operands::register_of,
    test::{
        Condition::{self, And, False, Is, Not, Or, True},
        Instruction, LIMIT, Object, Quantifier, Register, Test, UNROLL, Variable, Width,
    },
};
use std::collections::BTreeMap;

/// Reads a test.
///
/// # Errors
/// The line, and what is wrong there or not modelled.
pub fn parse(text: &str) -> Result<Test> {
    Reader {
        text: &without_comments(text),
    }
    .test()
}

/// The text with comments blanked, so that places stay.
fn without_comments(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut depth = 0_u32;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (opens, closes) = (rest.starts_with("(*"), rest.starts_with("*)") && depth > 0);
        if opens || closes {
            depth = if opens { depth + 1 } else { depth - 1 };
            cleaned += "  ";
            rest = &rest[2..];
            continue;
        }
        if depth > 0 && c != '\n' {
            cleaned.extend(std::iter::repeat_n(' ', c.len_utf8()))
        } else {
            cleaned.push(c)
        }
        rest = &rest[c.len_utf8()..];
    }
    cleaned
}

/// Words with which the part after the program begins.
const AFTER: [&str; 6] = ["exists", "~exists", "forall", "locations", "filter", "~"];

/// A row of the program, and where it begins.
type Row<'t> = (usize, &'t str);

struct Reader<'t> {
    text: &'t str,
}

impl Test {
    /// The number of an object; a new one of one location, if there is none of that name.
    fn object(&mut self, name: &str) -> usize {
        self.objects
            .iter()
            .position(|known| known.name == name)
            .unwrap_or_else(|| self.add(name, None, None))
    }

    fn add(&mut self, name: &str, elements: Option<usize>, width: Option<Width>) -> usize {
        let first = self.locations.len();
        match elements {
            None => self.locations.push(name.to_owned()),
            Some(count) => self
                .locations
                .extend((0..count).map(|element| format!("{name}[{element}]"))),
        }
        self.initial.resize(self.locations.len(), 0);
        self.objects.push(Object {
            name: name.to_owned(),
            first,
            elements,
            width,
        });
        self.objects.len() - 1
    }

    /// Gives a location its first value, as far as its type holds it.
    fn begin(&mut self, location: usize, value: u64) {
        let variable = Variable::Location(self.locations[location].clone());
        self.initial[location] = self.cut(&variable, value);
    }

    /// A number, or the address of an object, which is new if there is none of that name, with `+`
    /// and an offset or without.
    fn value_or_new(&mut self, text: &str) -> Option<u64> {
        if text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            self.object(text.split('+').next()?.trim());
        }
        self.value(text)
    }
}

/// A type of C by its name; `None` for one that is not known.
fn width_of(kind: &str) -> Option<Width> {
    let bytes = match kind.trim_start_matches('u') {
        "int8_t" | "char" => 1,
        "int16_t" | "short" => 2,
        "int" | "int32_t" | "atomic_t" => 4,
        "int64_t" | "intptr_t" | "long" => 8,
        _ => return None,
    };
    let signed = !kind.starts_with('u') && kind != "atomic_t";
    Some(Width { bytes, signed })
}

impl<'t> Reader<'t> {
    fn line(&self, at: usize) -> usize {
        1 + self.text[..at.min(self.text.len())].matches('\n').count()
    }

    fn malformed(&self, at: usize, what: impl Into<String>) -> Error {
        Error::malformed(self.line(at), what)
    }

    fn unsupported(&self, at: usize, what: impl Into<String>) -> Error {
        Error::unsupported(self.line(at), what)
    }

    fn test(&self) -> Result<Test> {
        let start = self.text.len() - self.text.trim_start().len();
        let name = self.name(start)?;
        let open = self.text[start..]
            .find('{')
            .ok_or_else(|| self.malformed(start, "there is no `{` of an initial state"))?
            + start;
        let close = self
            .closing(open)
            .ok_or_else(|| self.malformed(open, "the initial state has no `}`"))?;
        let mut test = Test {
            name,
            unroll: UNROLL,
            limit: LIMIT,
            ..Test::default()
        };
        self.initial(open + 1, close, &mut test)?;
        let (rows, after) = self.rows(close + 1)?;
        test.threads = self.threads(&rows)?;
        let (threads, registers) = (test.threads.len(), test.registers.len());
        if registers > threads {
            return Err(self.malformed(
                open,
                format!(
                    "thread {} has a register, and the program has {threads} threads",
                    registers - 1
                ),
            ));
        }
        test.registers.resize(threads, BTreeMap::new());
        self.end(after, &mut test)?;
        test.observed.sort();
        test.observed.dedup();
        Ok(test)
    }

    /// Reads what follows the program, from `at` on.
    fn end(&self, at: usize, test: &mut Test) -> Result<()> {
        let mut tail = Tail {
            reader: self,
            tokens: tokens(&self.text[at..], at),
            next: 0,
            test,
            depth: 0,
            compared: vec![],
        };
        let mut is_asked = false;
        while let Some(token) = tail.peek() {
            match token.text {
                "locations" => tail.locations()?,
                "filter" => {
                    tail.next += 1;
                    tail.test.filter = tail.either()?;
                    tail.compared.clear();
                }
                "exists" | "forall" | "~exists" | "~" if !is_asked => {
                    is_asked = true;
                    tail.test.quantifier = tail.quantifier()?;
                    tail.test.condition = tail.either()?;
                    tail.test.observed.append(&mut tail.compared);
                }
                ";" => tail.next += 1,
                // What herd7 lets stand behind a condition, for other tools.
                "with" | "<<" => break,
                other => return Err(self.malformed(token.at, format!("`{other}` is not expected after the program: `exists`, `~exists`, `forall`, `locations` and `filter` are"))),
            }
        }
        Ok(())
    }

    /// The name of the test, on its first line.
    fn name(&self, start: usize) -> Result<String> {
        match self.text[start..]
            .lines()
            .next()
            .unwrap_or_default()
            .trim()
            .split_once(char::is_whitespace)
        {
            Some(("AArch64", name)) => Ok(name.trim().to_owned()),
            Some((other, _)) if other == other.to_uppercase() => Err(self.unsupported(
                start,
                format!("a test for {other}; tests for AArch64 are read"),
            )),
            _ => Err(self.malformed(start, "a test begins with `AArch64` and its name")),
        }
    }

    /// Position of the `}` that closes a `{`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        self.text[open..].char_indices().find_map(|(at, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(open + at)
        })
    }

    /// Reads the entries of the initial state.
    fn initial(&self, from: usize, to: usize, test: &mut Test) -> Result<()> {
        let mut at = from;
        for entry in self.text[from..to].split(';') {
            let here = at + (entry.len() - entry.trim_start().len());
            at += entry.len() + 1;
            let words = tokens(entry, here);
            if !words.is_empty() {
                self.entry(here, &words, test)?;
            }
        }
        Ok(())
    }

    /// Reads an entry of the initial state.
    fn entry(&self, at: usize, words: &[Token<'_>], test: &mut Test) -> Result<()> {
        let texts: Vec<&str> = words
            .iter()
            .map(|word| word.text)
            .filter(|text| *text != "*")
            .collect();
        let (left, right) = match texts.iter().position(|text| *text == "=") {
            Some(place) => (&texts[..place], &texts[place + 1..]),
            None => (&texts[..], &[][..]),
        };
        // A type may stand before what it is the type of.
        let (kind, thread, name, count) = match left {
            [kind @ .., thread, ":", register] => (kind, Some(*thread), *register, None),
            ["[", location, "]"] => (&[][..], None, *location, None),
            [kind @ .., location, "[", count, "]"] => (kind, None, *location, Some(*count)),
            [kind @ .., location] => (kind, None, *location, None),
            [] => return Err(self.malformed(at, "a name is missing before `=`")),
        };
        // A pointer is as wide as an address, whatever it points to.
        let width = match kind.last() {
            _ if texts.len() < words.len() => width_of("uintptr_t"),
            Some(kind) => Some(width_of(kind).ok_or_else(|| {
                self.unsupported(
                    at,
                    format!("the type `{kind}`: int, long, uint8_t and the like are read"),
                )
            })?),
            None => None,
        };
        if let Some(count) = count {
            return self.array(at, [name, count], width, right, test);
        }
        let value = match right {
            [] => None,
            [value] => Some(self.value(at, value, test)?),
            _ => {
                return Err(
                    self.unsupported(at, format!("the initial value `{}`", right.join(" ")))
                );
            }
        };
        match thread {
            Some(thread) => {
                let (thread, register) = self.register(at, thread, name)?;
                if thread > MOST_THREADS {
                    let what = format!("thread {thread}: {MOST_THREADS} are the most");
                    return Err(self.unsupported(at, what));
                }
                let count = test.registers.len().max(thread + 1);
                test.registers.resize(count, BTreeMap::new());
                test.registers[thread].insert(register, value.unwrap_or(0));
                let variable = Variable::Register(thread, register.0);
                test.types.extend(width.map(|width| (variable, width)));
            }
            None => {
                let number = test.object(name);
                let object = &mut test.objects[number];
                object.width = width.or(object.width);
                let first = object.first;
                test.begin(first, value.unwrap_or(0));
            }
        }
        Ok(())
    }

    /// The number of a thread, and a register of it.
    fn register(&self, at: usize, thread: &str, name: &str) -> Result<(usize, Register)> {
        let thread = thread
            .trim_start_matches('P')
            .parse()
            .map_err(|_| self.malformed(at, format!("there is no thread `{thread}`")))?;
        let sized = register_of(name)
            .ok_or_else(|| self.unsupported(at, format!("the register {name}")))?;
        Ok((thread, sized.register))
    }

    fn value(&self, at: usize, text: &str, test: &mut Test) -> Result<u64> {
        test.value_or_new(text)
            .ok_or_else(|| self.malformed(at, format!("`{text}` is neither a number nor a name")))
    }

    /// The values of an array: none, one, or a list in braces.
    fn values(&self, at: usize, values: &[&str], test: &mut Test) -> Result<Vec<u64>> {
        match values {
            ["{", inner @ .., "}"] => inner
                .iter()
                .filter(|text| **text != ",")
                .map(|text| self.value(at, text, test))
                .collect(),
            [] | [_] => values
                .iter()
                .map(|text| self.value(at, text, test))
                .collect(),
            other => Err(self.malformed(
                at,
                format!("`{}` is no list of values: `{{1,2}}` is", other.join(" ")),
            )),
        }
    }

    /// Reads an entry of the initial state that is an array: `type name[count]`.
    fn array(
        &self,
        at: usize,
        [name, count]: [&str; 2],
        width: Option<Width>,
        values: &[&str],
        test: &mut Test,
    ) -> Result<()> {
        let wrong = |what: String| self.malformed(at, what);
        let count = number(count)
            .and_then(|count| usize::try_from(count).ok())
            .ok_or_else(|| wrong(format!("the number in the brackets of `{name}` is none")))?;
        let given = self.values(at, values, test)?;
        let is_known = test.objects.iter().any(|object| object.name == name);
        if width.is_none() || is_known {
            return Err(wrong(format!(
                "`{name}` needs a type, once: `int {name}[{count}]`"
            )));
        }
        if count == 0 || count > Object::MOST {
            return Err(self.unsupported(
                at,
                format!("an array of {count} elements: 1 to {} are", Object::MOST),
            ));
        }
        if given.len() > count {
            return Err(wrong(format!(
                "{} values for {count} elements of `{name}`",
                given.len()
            )));
        }
        let object = test.add(name, Some(count), width);
        let first = test.objects[object].first;
        for (element, value) in given.into_iter().enumerate() {
            test.begin(first + element, value);
        }
        Ok(())
    }

    /// The rows of the program, each with its place, and where the rest begins.
    fn rows(&self, from: usize) -> Result<(Vec<Row<'t>>, usize)> {
        let mut rows = vec![];
        let mut at = from;
        loop {
            let rest = &self.text[at..];
            let lead = rest.len() - rest.trim_start().len();
            let begun = &rest[lead..];
            let word = begun
                .split(|c: char| c.is_whitespace() || c == '(' || c == '[')
                .next()
                .unwrap_or_default();
            if begun.is_empty() || AFTER.contains(&word) {
                return Ok((rows, at + lead));
            }
            let end = rest
                .find(';')
                .ok_or_else(|| self.malformed(at + lead, "a row of the program ends with `;`"))?;
            rows.push((
                at + lead,
                rest[lead..].get(..end - lead).unwrap_or_default(),
            ));
            at += end + 1;
        }
    }

    fn threads(&self, rows: &[(usize, &str)]) -> Result<Vec<Vec<Instruction>>> {
        let Some(((_, header), rows)) = rows.split_first() else {
            return Err(self.malformed(self.text.len(), "there is no program"));
        };
        let count = header.split('|').count();
        if count > MOST_THREADS {
            let what = format!("{count} threads: {MOST_THREADS} are the most");
            return Err(Error::unsupported(0, what));
        }
        if let Some(strange) = header
            .split('|')
            .map(str::trim)
            .find(|name| name.contains([':', '.', '@']))
        {
            let what = format!("a thread `{strange}`: handlers and exception levels");
            return Err(Error::unsupported(0, what));
        }
        let mut cells: Vec<Vec<(usize, &str)>> = vec![vec![]; count];
        for &(at, row) in rows {
            let columns: Vec<&str> = row.split('|').collect();
            if columns.len() != count {
                return Err(self.malformed(
                    at,
                    format!(
                        "the row has {} cells, and there are {count} threads",
                        columns.len()
                    ),
                ));
            }
            for (thread, cell) in columns.into_iter().enumerate() {
                cells[thread].push((at, cell.trim()));
            }
        }
        cells.into_iter().map(|cells| self.thread(&cells)).collect()
    }

    fn thread(&self, cells: &[(usize, &str)]) -> Result<Vec<Instruction>> {
        let mut labels = BTreeMap::new();
        let mut lines = vec![];
        for &(at, cell) in cells {
            let mut text = cell;
            while let Some((label, rest)) = text.split_once(':') {
                if labels
                    .insert(label.trim().to_owned(), lines.len())
                    .is_some()
                {
                    return Err(
                        self.malformed(at, format!("the label `{}` is there twice", label.trim()))
                    );
                }
                text = rest.trim();
            }
            if !text.is_empty() {
                lines.push((at, text));
            }
        }
        lines
            .into_iter()
            .map(|(at, text)| instruction(text, &labels, self.line(at)))
            .collect()
    }
}

/// Threads that a test may have.
const MOST_THREADS: usize = 16;

/// The part after the program.
struct Tail<'t, 'n> {
    reader: &'n Reader<'t>,
    tokens: Vec<Token<'t>>,
    next: usize,
    test: &'n mut Test,
    /// Conditions that the next one is inside of.
    depth: usize,
    /// The variables of the condition so far.
    compared: Vec<Variable>,
}

/// Conditions within one another.
const MOST_DEPTH: usize = 100;

impl<'t> Tail<'t, '_> {
    fn malformed(&self, at: usize, what: impl Into<String>) -> Error {
        self.reader.malformed(at, what)
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.next).copied()
    }

    fn end(&self) -> usize {
        self.peek().map_or(self.reader.text.len(), |token| token.at)
    }

    fn take(&mut self, what: &str) -> Result<Token<'t>> {
        let token = self
            .peek()
            .ok_or_else(|| self.malformed(self.end(), format!("{what} is missing")))?;
        self.next += 1;
        Ok(token)
    }

    fn taken(&mut self, text: &str) -> bool {
        let is = self.peek().is_some_and(|token| token.text == text);
        self.next += is as usize;
        is
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.taken(text) {
            Ok(())
        } else {
            Err(self.malformed(self.end(), format!("`{text}` is missing")))
        }
    }

    fn quantifier(&mut self) -> Result<Quantifier> {
        let not = self.taken("~");
        let word = self.take("`exists`")?;
        match (not, word.text) {
            (false, "exists") => Ok(Quantifier::Exists),
            (true, "exists") | (false, "~exists") => Ok(Quantifier::NotExists),
            (false, "forall") => Ok(Quantifier::Forall),
            (_, other) => Err(self.malformed(
                word.at,
                format!("`{other}` is not expected: `exists`, `~exists` and `forall` are"),
            )),
        }
    }

    fn locations(&mut self) -> Result<()> {
        self.next += 1;
        self.expect("[")?;
        while !self.taken("]") {
            if self.taken(";") {
                continue;
            }
            let variables = self.variables()?;
            self.test.observed.extend(variables);
        }
        Ok(())
    }

    /// A variable; of an array without an index, all its elements.
    fn variables(&mut self) -> Result<Vec<Variable>> {
        let bracket = self.taken("[");
        let token = self.take("the name of a variable")?;
        if !bracket && self.taken(":") {
            let name = self.take("a register")?.text;
            let (thread, register) = self.reader.register(token.at, token.text, name)?;
            if thread >= self.test.threads.len() {
                let what = format!("there is no thread `{}`", token.text);
                return Err(self.malformed(token.at, what));
            }
            if register == Register::ZERO {
                let what = format!("the register {name}");
                return Err(self.reader.unsupported(token.at, what));
            }
            return Ok(vec![Variable::Register(thread, register.0)]);
        }
        if !token
            .text
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        {
            return Err(self.malformed(
                token.at,
                format!("`{}` is no name of a variable", token.text),
            ));
        }
        let object = self.test.object(token.text);
        let is_array = self.test.objects[object].elements.is_some();
        let all = self.test.named(token.text);
        let one = if self.taken("[") {
            let index = self.take("an index")?;
            self.expect("]")?;
            let index = number(index.text)
                .and_then(|index| usize::try_from(index).ok())
                .filter(|_| is_array);
            let element = index.and_then(|index| all.get(index)).ok_or_else(|| {
                self.malformed(
                    token.at,
                    format!("there is no such element of `{}`", token.text),
                )
            })?;
            vec![element.clone()]
        } else {
            all
        };
        if bracket {
            self.expect("]")?;
        }
        Ok(one)
    }

    fn either(&mut self) -> Result<Condition> {
        let mut left = self.both()?;
        while self.taken("\\/") {
            left = Or(Box::new(left), Box::new(self.both()?));
        }
        if self.taken("=>") {
            let right = self.both()?;
            left = Or(Box::new(Not(Box::new(left))), Box::new(right));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Condition> {
        let mut left = self.one()?;
        while self.taken("/\\") {
            left = And(Box::new(left), Box::new(self.one()?));
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Condition> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self.malformed(
                self.end(),
                format!("more than {MOST_DEPTH} conditions lie within one another"),
            ));
        }
        let one = self.one_within();
        self.depth -= 1;
        one
    }

    fn one_within(&mut self) -> Result<Condition> {
        if self.taken("~") || self.taken("not") {
            return Ok(Not(Box::new(self.one()?)));
        }
        if self.taken("(") {
            let inner = self.either()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.taken("true") {
            return Ok(True);
        }
        if self.taken("false") {
            return Ok(False);
        }
        let at = self.end();
        let variables = self.variables()?;
        let differs = self.taken("!=");
        if !differs {
            self.expect("=")?;
        }
        let first = self.take("a value")?.text;
        let mut values = vec![first];
        while first == "{" && values.last() != Some(&"}") {
            values.push(self.take("`}`")?.text);
        }
        let values = self.reader.values(at, &values, self.test)?;
        if values.len() != variables.len() {
            return Err(self.malformed(
                at,
                format!(
                    "{} values are compared with {} of an array",
                    values.len(),
                    variables.len()
                ),
            ));
        }
        self.compared.extend_from_slice(&variables);
        let mut each = variables.into_iter().zip(values).map(|(variable, value)| {
            let value = self.test.cut(&variable, value);
            Is(variable, value)
        });
        let first = each.next().unwrap_or(True);
        let is = each.fold(first, |all, one| And(Box::new(all), Box::new(one)));
        Ok(if differs { Not(Box::new(is)) } else { is })
    }
}
