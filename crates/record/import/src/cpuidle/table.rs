//! Tables of columns: a row for each state, or a column for each state or kernel.

use super::files::{is_label, numbered};
use super::forms::{At, FORMS, Fields, number};
use crate::error::{ImportError, printable};
use document::Records;

/// What a line says, by columns.
pub type Cells = Vec<(Column, String)>;

/// A column of a table.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The key of its cells; empty where they are not read.
    pub key: &'static str,
    /// What the column's name says of its cells: a state or a kernel.
    pub labels: Fields,
}

impl Column {
    /// The column that a name stands for.
    pub fn of(name: &str) -> Option<Self> {
        let (key, labels) = FORMS.column(name)?;
        Some(Self { key, labels })
    }

    /// The column of a key, of a state or a kernel where `of` names one.
    pub fn new(key: &'static str, of: Option<(&'static str, &str)>) -> Self {
        let labels = of.map(|(label, text)| (label, printable(text)));
        let labels = labels.into_iter().collect();
        Self { key, labels }
    }

    /// True if its cells are figures of a state that the row names.
    pub fn is_plain(&self) -> bool {
        !self.key.is_empty() && !is_label(self.key) && self.labels.is_empty()
    }
}

/// The tables of a text, from line to line, and what stands above them.
#[derive(Default)]
pub struct Tables {
    /// What the lines above said of the next ones: a CPU, a domain, a state.
    pub context: Fields,
    /// True if a path named the domain of the next table.
    pub is_announced: bool,
    /// True if a table is not of counters since the start of the machine.
    pub is_counted: bool,
    /// True if it may lack counters of some states.
    pub is_sparse: bool,
    /// The line before, with single blanks.
    pub before: String,
    /// The table that the lines are in.
    pub table: Option<Table>,
    /// How many domains had no name so far.
    unnamed_domains: usize,
}

/// A table.
pub struct Table {
    columns: Vec<Column>,
    /// Where each column begins in a line.
    starts: Vec<usize>,
    separator: char,
    /// True if all cells but the first are figures.
    is_transposed: bool,
    rows: usize,
}

const RIGHT: &str = "a row has a cell for each column of the header, as `0 POLL 0 0 0 165188 541` below `State Name Disabled Latency \
                     Residency Time Usage`";

/// The cells of a line, each with its place.
fn cells(line: &str, separator: char) -> Vec<(usize, String)> {
    let trimmed = if separator == '|' {
        line.trim().trim_matches('|')
    } else {
        line
    };
    let cells: Vec<String> = match separator {
        ' ' => {
            let place = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
            let words = line.split_whitespace();
            return words.map(|word| (place(word), word.to_owned())).collect();
        }
        ',' | ';' => match Records::new(line.as_bytes(), separator as u8).next() {
            Some((_, Ok(record))) => record.iter().map(str::to_owned).collect(),
            _ => Vec::new(),
        },
        _ => trimmed
            .split(separator)
            .map(|cell| cell.trim().to_owned())
            .collect(),
    };
    cells.into_iter().enumerate().collect()
}

fn is_figure((_, cell): &(usize, String)) -> bool {
    number(cell).is_some()
}

impl Tables {
    /// Takes the header of a table, or the first row of one whose header cannot be told without it;
    /// `None` if the line is neither.
    pub fn header(
        &mut self,
        line: &str,
        text: &str,
        at: At<'_>,
    ) -> Result<Option<Cells>, ImportError> {
        let separator = ['|', ',', ';', '\t']
            .into_iter()
            .find(|by| line.trim().contains(*by));
        let separator = separator.unwrap_or(' ');
        // In `Time (us)` and `Time Spent(ms)`.
        let whole = line.replace(" (", "_(").replace(" Spent", "_Spent");
        let mut names = cells(&whole, separator);
        // The first word, or the line above, may name the CPU.
        let cpu_of = |text: &str| numbered::<u16>(text, "cpu");
        let cpu = names.first().and_then(|(_, name)| cpu_of(name));
        names.drain(..usize::from(cpu.is_some()));
        let mut columns = self.columns(&names, line);
        let known = || columns.iter().flatten();
        let has = |key| known().any(|column| column.key == key);
        let unknown = columns.len() - known().count();
        let by_state = known().filter(|column| !column.labels.is_empty()).count();
        let plain = known().filter(|column| column.is_plain()).count();
        let is_first_known = columns.first().is_some_and(Option::is_some);
        let is_long = (has("state") || has("name")) && plain > 0 && unknown <= 3;
        let is_wide = (by_state > 1 || by_state == 1 && has("cpu")) && is_first_known;
        let is_transposed = plain == 1
            && is_first_known
            && (1..9).contains(&unknown)
            && columns.len() == unknown + 1
            && names.iter().all(|(_, name)| name.parse::<u64>().is_err());
        if !(is_long || is_wide || is_transposed) {
            return self.transposed(line, at);
        }
        if is_long && has("above") != has("below") {
            let missing = if has("above") { "below" } else { "above" };
            return Err(ImportError::new(
                at.0,
                at.1,
                line,
                format!("there is no column `{missing}`"),
                RIGHT,
            ));
        }
        let has_usage = has("usage");
        if is_transposed {
            let key = columns[0].take().unwrap_or_default().key;
            columns = names
                .iter()
                .map(|(_, run)| Some(Column::new(key, Some(("run", run)))))
                .collect();
            columns[0] = Some(Column::new("state", None));
        }
        self.is_sparse |= is_wide || is_transposed;
        self.is_counted |= self.is_sparse || separator == ',';
        self.take_owner(text, cpu.or_else(|| cpu_of(&self.before)), has_usage);
        let columns = columns.into_iter().map(Option::unwrap_or_default).collect();
        let starts = names.into_iter().map(|(start, _)| start).collect();
        self.table = Some(Table {
            columns,
            starts,
            separator,
            is_transposed,
            rows: 0,
        });
        Ok(Some(Cells::new()))
    }

    /// Takes whose states the rows are: those of a CPU, or of a domain, whose tables have columns of
    /// their own.
    fn take_owner(&mut self, text: &str, cpu: Option<u16>, has_usage: bool) {
        let low = text.to_ascii_lowercase();
        let is_of_domain = low.contains("spent(ms)") || low.ends_with("s2idle");
        if let Some(cpu) = cpu {
            self.context = vec![("cpu", cpu.to_string())];
        } else if is_of_domain && !self.is_announced {
            self.unnamed_domains += 1;
            self.context = vec![("domain", self.unnamed_domains.to_string())];
        } else {
            let is_kept =
                |key| key == "cpu" || key == "domain" && (self.is_announced || !has_usage);
            self.context.retain(|(key, _)| is_kept(*key));
        }
        self.is_announced = false;
    }

    /// The columns that names stand for. Monitors of cpupower stand in the line above, between
    /// `||`; a state whose share has a column is counted in the one of its name.
    fn columns(&self, names: &[(usize, String)], line: &str) -> Vec<Option<Column>> {
        let mut monitors = self
            .before
            .split("||")
            .map(|name| name.trim_matches(['|', ' ']));
        let has_monitors = self.before.contains('|')
            && line.matches("||").count() == self.before.matches("||").count();
        let mut monitor = monitors.next().filter(|_| has_monitors);
        let of = |(_, name): &(usize, String)| {
            if name.is_empty() {
                monitor = monitor.and(monitors.next());
                return Some(Column::default());
            }
            let is_share = |(_, other): &(usize, String)| other.strip_suffix('%') == Some(name);
            match (Column::of(name), monitor) {
                (Some(column), _) if is_label(column.key) => Some(column),
                (_, Some(monitor)) => Column::of(&format!("{monitor}.{name}")),
                (None, _) if names.iter().any(is_share) => {
                    Some(Column::new("usage", Some(("state", name))))
                }
                (column, _) => column,
            }
        };
        names.iter().map(of).collect()
    }

    /// Takes the first row of a table whose header names states, where rows begin with quantities.
    fn transposed(&mut self, line: &str, at: At<'_>) -> Result<Option<Cells>, ImportError> {
        let [words, mut names] = [line, &self.before].map(|line| cells(line, ' '));
        names.drain(..usize::from(names.len() == words.len()));
        let is_row = words.len() > 2
            && words[1..].iter().all(is_figure)
            && Column::of(&words[0].1).is_some_and(|of| of.is_plain());
        if !is_row || names.len() + 1 != words.len() || names.iter().any(is_figure) {
            return Ok(None);
        }
        let states = names
            .iter()
            .map(|(_, name)| Column::new("", Some(("state", name))));
        let columns = std::iter::once(Column::new("key", None))
            .chain(states)
            .collect();
        (self.is_sparse, self.is_counted) = (true, true);
        self.context.clear();
        self.table = Some(Table {
            columns,
            starts: Vec::new(),
            separator: ' ',
            is_transposed: true,
            rows: 0,
        });
        self.row(line, line, at)
    }

    /// Takes a row of the table; `None` if the line is none.
    pub fn row(
        &mut self,
        line: &str,
        text: &str,
        (file, number): At<'_>,
    ) -> Result<Option<Cells>, ImportError> {
        let Some(mut table) = self.table.take() else {
            return Ok(None);
        };
        let is_rule = line
            .trim_matches(['-', '=', '+', ':', '|', ' ', '\t'])
            .is_empty();
        if is_rule || text.ends_with("*is offline") {
            self.table = Some(table);
            return Ok(Some(Cells::new()));
        }
        let mut row = cells(line, table.separator);
        let columns = table.columns.len();
        let is_place = |(start, _): &(usize, String)| table.starts.contains(start);
        match table.separator {
            '\t' => row.resize(row.len().max(columns), Default::default()),
            ' ' if row.len() < columns && row.iter().all(is_place) => {
                let at = |start| row.iter().find(|(of, _)| of == start);
                let cells = table
                    .starts
                    .iter()
                    .map(|start| at(start).cloned().unwrap_or_default());
                row = cells.collect();
            }
            ' ' => {
                // A state's name may have blanks.
                let key = |key| table.columns.iter().position(|column| column.key == key);
                let name = key("name").or_else(|| key("state"));
                while let Some(name) =
                    name.filter(|name| row.len() > columns && name + 1 < row.len())
                {
                    let (_, more) = row.remove(name + 1);
                    row[name].1 += &format!(" {more}");
                }
            }
            _ => {}
        }
        let has_figure = row.iter().any(is_figure);
        if table.is_transposed && !row.iter().skip(1).all(is_figure) {
            return Ok(None);
        }
        if row.len() != columns || !has_figure {
            if has_figure && row.len() > 1 && (table.rows > 0 || table.separator == ',') {
                let than = if row.len() < columns { "fewer" } else { "more" };
                let message = format!("{} cells, {than} than the header has", row.len());
                return Err(ImportError::new(file, number, line, message, RIGHT));
            }
            return Ok(None);
        }
        let mut columns = table.columns.clone();
        if columns[0].key == "key" {
            let of_row = Column::of(&row[0].1)
                .filter(Column::is_plain)
                .unwrap_or_default();
            columns
                .iter_mut()
                .for_each(|column| column.key = of_row.key);
            columns[0].key = "";
        }
        table.rows += 1;
        self.table = Some(table);
        Ok(Some(
            columns
                .into_iter()
                .zip(row.into_iter().map(|(_, cell)| cell))
                .collect(),
        ))
    }
}
