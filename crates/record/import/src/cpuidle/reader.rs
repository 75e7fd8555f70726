//! The reader of texts: every line, row and object becomes fields of one state of one owner.

use super::files::{Files, is_label, numbered, place};
use super::forms::{At, FORMS, Fields, Form, first};
use super::table::{Cells, Column, Tables};
use crate::error::ImportError;
use document::Document;
use document::json::{Item, Value};

/// The reader, from line to line. Lines that are of no form are passed over: they may be a mail
/// around the figures.
#[derive(Default)]
struct Reader {
    files: Files,
    /// The list that the lines are in.
    form: Option<&'static Form>,
    tables: Tables,
    /// The path whose content is in the next line.
    path: Option<String>,
    refused: Option<ImportError>,
}

/// Reads a text.
///
/// # Errors
/// A figure is wrong or comes twice; a row is cut off; JSON is damaged; the text has no counts.
pub fn read_text(file: &str, text: &str) -> Result<Files, ImportError> {
    let mut reader = Reader::default();
    let mut start = text.chars().filter(|c| !c.is_whitespace());
    if let (Some('{' | '['), Some('"' | '{' | '[')) = (start.next(), start.next()) {
        let item = Document::new(file, text).json().map_err(|error| {
            let line = error.line().unwrap_or(0) as u64;
            let help =
                "send the whole of the JSON, such as {\"cpu0\":{\"state0\":{\"usage\":1200}}}";
            ImportError::new(file, line, "", error.without_place().to_string(), help)
        })?;
        reader.json(&item, &Fields::new(), (file, text))?;
    } else {
        for (number, line) in (1..).zip(text.lines()) {
            reader.line(line, (file, number))?;
        }
    }
    match reader.refused {
        Some(error) if reader.files.is_empty() => Err(error),
        _ => Ok(reader.files),
    }
}

impl Reader {
    fn line(&mut self, line: &str, at: At<'_>) -> Result<(), ImportError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let text = words.join(" ").replace(';', ",");
        if text.is_empty() {
            self.tables.table = None;
        } else if !self.path(line.trim(), at)? {
            let row = self.tables.row(line, &text, at)?;
            if !self.table(row, at)? && !self.list(&text, at)? {
                let header = self.tables.header(line, &text, at)?;
                self.table(header, at)?;
            }
        }
        self.tables.before = text;
        Ok(())
    }

    /// A row or the header of a table.
    fn table(&mut self, cells: Option<Cells>, at: At<'_>) -> Result<bool, ImportError> {
        self.files.is_counted |= self.tables.is_counted;
        self.files.is_sparse |= self.tables.is_sparse;
        let context = self.tables.context.clone();
        cells.map_or(Ok(false), |cells| self.take(&context, &cells, at))
    }

    /// A line of a list, or one that stands alone.
    fn list(&mut self, text: &str, at: At<'_>) -> Result<bool, ImportError> {
        // Some patterns are of two lines.
        let both = format!("{}\n{text}", self.tables.before);
        let fields = |patterns| first(patterns, text).or_else(|| first(patterns, &both));
        for form in &FORMS.form {
            let is_current = self.form.is_some_and(|current| std::ptr::eq(current, form));
            let is_open = form.heads.is_empty() && form.paths.is_empty();
            let mut found = fields(&form.heads);
            if found.is_some() && !form.why.is_empty() {
                let why = || ImportError::new(at.0, at.1, text, &form.why, &form.help);
                self.refused.get_or_insert_with(why);
                return Ok(true);
            }
            if found.is_some() {
                self.form = Some(form);
            } else if is_current || is_open {
                found = fields(&form.rows);
            }
            if let Some(found) = found {
                return self.take_line(found, form, is_open, at);
            }
            if is_current && first(&form.ends, text).is_some() {
                self.form = None;
            }
        }
        Ok(false)
    }

    fn take_line(
        &mut self,
        found: Fields,
        form: &Form,
        is_open: bool,
        at: At<'_>,
    ) -> Result<bool, ImportError> {
        self.files.is_counted |= form.counted;
        self.files.has_entered_alone |= form.counted;
        let mut cells = Cells::new();
        let mut of_key = None;
        for (key, text) in found {
            match key {
                // In `cpu="0",state="1"`, `state: 1, cpu_id: 0` and `cpu_id=0,host=a`.
                "labels" => cells.extend(text.split(',').filter_map(|pair| {
                    let (key, text) = pair.split_once([':', '='])?;
                    let text = text.trim().trim_matches('"');
                    Some((Column::of(key.trim())?, text.to_owned()))
                })),
                "key" => of_key = Column::of(&text),
                "value" => cells.extend(of_key.take().map(|column| (column, text))),
                key => cells.push((Column::new(key, None), text)),
            }
        }
        let mut context = std::mem::take(&mut self.tables.context);
        let is_owner = |key| is_label(key) && !matches!(key, "state" | "name");
        if is_open || cells.iter().any(|(column, _)| is_owner(column.key)) {
            context.clear();
        }
        self.take(&context, &cells, at)?;
        context.extend(labels(&cells));
        self.tables.context = context;
        Ok(true)
    }

    /// Takes cells: those of columns that name a state each by itself, the others together.
    fn take(&mut self, context: &Fields, cells: &Cells, at: At<'_>) -> Result<bool, ImportError> {
        let mut fields = context.clone();
        fields.extend(labels(cells));
        let mut alone = fields.clone();
        for (column, text) in cells {
            // Programs print these where they could not read.
            if is_label(column.key) || text.trim_matches(['*', '-']).is_empty() {
                continue;
            }
            let figure = (column.key, text.clone());
            if column.is_plain() {
                alone.push(figure);
            } else if !column.key.is_empty() {
                let own = column.labels.iter().cloned().chain([figure]);
                self.files
                    .add(&fields.iter().cloned().chain(own).collect(), at)?;
            }
        }
        self.files.add(&alone, at)?;
        Ok(true)
    }

    /// A line with a path: `PATH:CONTENT`, `PATH = CONTENT`, `==> PATH <==`, `$ cat PATH`; or the
    /// content of the file whose path stands above.
    fn path(&mut self, line: &str, at: At<'_>) -> Result<bool, ImportError> {
        let shown = line.trim_start_matches("==> ").trim_end_matches(" <==");
        if let Some(path) = self.path.take().filter(|_| shown == line) {
            self.files.take(&path, line, at)?;
            return Ok(true);
        }
        let is_file = |end: &usize| place(&shown[..*end]).is_some();
        let end = shown.find(':').filter(is_file);
        let end = end.or_else(|| shown.find([':', '=', ' ', '\t']));
        let (path, rest) = shown.split_at(end.unwrap_or(shown.len()));
        // `grep -n` adds the number of the line.
        let content = rest.trim_start_matches([':', '=', ' ', '\t']);
        let content = content.strip_prefix("1:").unwrap_or(content);
        if place(path).is_some() && !content.is_empty() {
            self.files.take(path, content, at)?;
        } else if self.announce(path) {
            self.line(content, at)?;
        } else if !rest.starts_with(':') || path.matches('/').count() < 2 {
            return Ok(shown.split_whitespace().any(|word| self.announce(word)));
        }
        // Else it is another file of a folder.
        Ok(true)
    }

    /// Takes what a path says of the lines below it.
    fn announce(&mut self, path: &str) -> bool {
        if place(path).is_some() && !path.contains('*') {
            self.path = Some(path.to_owned());
            return true;
        }
        let of_form = |form: &'static Form| Some((form, first(&form.paths, path)?));
        let Some((form, mut fields)) = FORMS.form.iter().find_map(of_form) else {
            return false;
        };
        fields.retain(|(_, text)| !text.contains('*'));
        if fields.is_empty() || self.tables.context != fields {
            self.tables.table = None;
            self.form = Some(form);
            self.files.is_counted |= form.counted;
            self.tables.is_announced = !fields.is_empty();
            self.tables.context = fields;
        }
        true
    }

    /// A value of JSON: objects in each other, or arrays of objects, whose keys are those of
    /// columns, or name CPUs, states and kernels.
    fn json(&mut self, item: &Item, above: &Fields, of: (&str, &str)) -> Result<(), ImportError> {
        let pairs = match &item.value {
            Value::Array(items) => {
                return items.iter().try_for_each(|item| self.json(item, above, of));
            }
            Value::Object(pairs) => pairs,
            _ => return Ok(()),
        };
        let line = 1 + of.1[..item.at.start].matches('\n').count() as u64;
        let own = cells(item);
        self.take(above, &own, (of.0, line))?;
        let mut context = above.clone();
        context.extend(labels(&own));
        let has = |key| context.iter().any(|(known, _)| *known == key);
        let is_nested = |item: &Item| matches!(item.value, Value::Array(_) | Value::Object(_));
        let several = pairs.iter().filter(|(_, item)| is_nested(item)).count() > 1;
        for (key, item) in pairs {
            let key = key.name.as_str();
            let is_of = |word| numbered::<u16>(key, word).is_some();
            let has_figures = || cells(item).iter().any(|(column, _)| column.is_plain());
            let label = match () {
                () if is_of("cpu") => Some("cpu"),
                () if is_of("state") || !has("state") && has_figures() => Some("state"),
                () if several && !has("cpu") && !has("run") => Some("run"),
                () => None,
            };
            let label = label.map(|label| (label, key.to_owned()));
            let below = context.iter().cloned().chain(label).collect();
            self.json(item, &below, of)?;
        }
        Ok(())
    }
}

/// The labels among cells.
fn labels(cells: &Cells) -> impl Iterator<Item = (&'static str, String)> {
    let labels = cells.iter().filter(|(column, _)| is_label(column.key));
    labels.map(|(column, text)| (column.key, text.clone()))
}

/// What the keys of an object say, those without objects of their own.
fn cells(item: &Item) -> Cells {
    let Value::Object(pairs) = &item.value else {
        return Cells::new();
    };
    let cell = |(key, item): &(document::json::Key, Item)| {
        let text = match &item.value {
            Value::Integer(number) => number.to_string(),
            Value::Number(text) | Value::String(text) => text.clone(),
            _ => return None,
        };
        Some((Column::of(&key.name)?, text))
    };
    pairs.iter().filter_map(cell).collect()
}
