//! What names states in words: the list of `cpupower idle-info`, tables of name, usage and time,
//! and the kernel's tables of power domains (`pm_genpd/*/idle_states`).

use super::files::{Files, Owner};
use super::state::MOST_STATES;
use crate::error::{ImportError, printable};

/// The content of a table's column: a file of the state's folder, or a word of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    Cpu,
    /// Number or name of the state.
    State,
    File(&'static str),
    Other,
}

/// The reader, from line to line.
#[derive(Default)]
pub struct Listed {
    cpu: u16,
    /// The number of the CPU's next state.
    next: usize,
    /// The columns of the table that the lines are in.
    columns: Vec<Column>,
    /// What one in the column of times stands for, in microseconds.
    unit_us: u64,
    /// The power domain whose table comes next, where a path named it, and that of this table.
    announced: Option<String>,
    domain: Option<String>,
    /// How many domains had no name so far.
    unnamed_domains: usize,
    /// True within a state of cpupower's list.
    in_list: bool,
    /// The line before, which names a state of the list.
    before: String,
}

/// A file's name, and the number of its line.
type At<'a> = (&'a str, u64);

const RIGHT: &str = "a row has a cell for each column of the header, as `0 POLL 0 0 0 165188 541` below `State Name Disabled Latency \
                     Residency Time Usage`";

impl Listed {
    /// Takes a line, if it is one of a list or a table; whether it was.
    pub fn line(&mut self, line: &str, at: At<'_>, files: &mut Files) -> Result<bool, ImportError> {
        let (domain, line) = domain_of(line);
        if let Some(domain) = domain {
            self.announced = Some(domain.to_owned());
        }
        let line = line.trim();
        let taken =
            self.list(line, at, files)? || self.header(line, at)? || self.row(line, at, files)?;
        line.clone_into(&mut self.before);
        Ok(taken || domain.is_some())
    }

    /// A line of `cpupower idle-info`.
    fn list(&mut self, line: &str, at: At<'_>, files: &mut Files) -> Result<bool, ImportError> {
        let Some((key, value)) = line.split_once(':') else {
            return Ok(false);
        };
        if let Some(cpu) = key
            .strip_prefix("analyzing CPU ")
            .and_then(|cpu| cpu.parse().ok())
        {
            (self.cpu, self.next, self.in_list) = (cpu, 0, false);
            return Ok(true);
        }
        let value = value.trim();
        let mut take = |this: &Self, name: &str, value: &str| {
            this.take(this.next.saturating_sub(1), name, value, at, files)
        };
        let name = match key {
            "Flags/Description" => {
                let name = self.before.trim_end_matches([':', ' ']);
                let (name, disable) = match name.strip_suffix("(DISABLED)") {
                    Some(name) => (name.trim_end().to_owned(), "1"),
                    None => (name.to_owned(), "0"),
                };
                (self.next, self.in_list) = (self.next + 1, true);
                take(self, "name", &name)?;
                take(self, "disable", disable)?;
                return Ok(true);
            }
            "Latency" => "latency",
            "Residency" => "residency",
            "Usage" => "usage",
            "Duration" => "time",
            _ => return Ok(false),
        };
        if self.in_list {
            take(self, name, value)?;
        }
        Ok(self.in_list)
    }

    /// A file of a state of the CPU.
    fn take(
        &self,
        state: usize,
        name: &str,
        value: &str,
        (file, line): At<'_>,
        files: &mut Files,
    ) -> Result<(), ImportError> {
        files.take(
            &format!("cpu{}/cpuidle/state{state}/{name}", self.cpu),
            value,
            file,
            line,
        )
    }

    /// The header of a table, if the line is one.
    fn header(&mut self, line: &str, (file, number): At<'_>) -> Result<bool, ImportError> {
        let mut columns = Vec::new();
        let (mut cpu, mut unit_us, mut is_domain) = (None, 1, false);
        for word in words(line) {
            let word = word.to_ascii_lowercase();
            let (name, unit) = word.split_once('(').unwrap_or((&word, ""));
            let digits = name.strip_prefix("cpu").unwrap_or_default();
            let column = match name {
                // What stands behind a column's name, as in `Time Spent(ms)` and `Time (us)`.
                "" | "spent" if !columns.is_empty() => {
                    is_domain |= name == "spent";
                    unit_us = if unit.starts_with("ms") {
                        1_000
                    } else {
                        unit_us
                    };
                    continue;
                }
                _ if columns.is_empty() && !digits.is_empty() => {
                    cpu = digits.trim_end_matches(':').parse().ok();
                    continue;
                }
                name => column_of(name),
            };
            if column == Column::File("time") && unit.starts_with("ms") {
                unit_us = 1_000;
            }
            columns.push(column);
        }
        let has = |column| columns.contains(&column);
        let has_name = has(Column::State) || has(Column::File("name"));
        let others = columns.iter().filter(|of| **of == Column::Other).count();
        if !has_name || others > 3 || !(is_domain || has(Column::File("usage"))) {
            return Ok(false);
        }
        if !has(Column::File("usage")) {
            return Err(ImportError::new(
                file,
                number,
                line,
                "the table has times and no entries",
                "older kernels count no entries of power domains: give the table of one that prints Usage",
            ));
        }
        // The line above may name the CPU.
        let above = self
            .before
            .trim_end_matches(':')
            .to_ascii_lowercase()
            .replace(' ', "");
        self.cpu = cpu
            .or_else(|| above.strip_prefix("cpu")?.parse().ok())
            .unwrap_or(self.cpu);
        (self.next, self.unit_us, self.in_list) = (0, unit_us, false);
        let name = self.announced.take();
        self.unnamed_domains += usize::from(is_domain && name.is_none());
        self.domain = is_domain.then(|| name.unwrap_or_else(|| self.unnamed_domains.to_string()));
        self.columns = columns;
        Ok(true)
    }

    /// Joins the cells of a state's name, which may have blanks.
    fn join_names(&self, cells: &mut Vec<String>) {
        let name = self
            .columns
            .iter()
            .position(|column| matches!(column, Column::File("name")))
            .or(self
                .columns
                .iter()
                .position(|column| *column == Column::State));
        while let Some(name) =
            name.filter(|name| cells.len() > self.columns.len() && name + 1 < cells.len())
        {
            let more = cells.remove(name + 1);
            cells[name] = format!("{} {more}", cells[name]);
        }
    }

    /// Takes a cell of a row about a state.
    fn cell(
        &mut self,
        (column, cell): (&Column, &String),
        state: usize,
        has_names: bool,
        at: At<'_>,
        files: &mut Files,
    ) -> Result<(), ImportError> {
        let name = match column {
            Column::File(name) => name,
            Column::State
                if !has_names && (self.domain.is_some() || cell.parse::<u64>().is_err()) =>
            {
                "name"
            }
            Column::Cpu | Column::State | Column::Other => return Ok(()),
        };
        let count = cell
            .parse::<u64>()
            .ok()
            .and_then(|count| count.checked_mul(self.unit_us));
        let value = match (name, count) {
            ("time", Some(us)) => us.to_string(),
            _ => cell.clone(),
        };
        match &self.domain {
            Some(domain) => files.state(Owner::Domain(domain.clone()), (state, name), &value, at),
            None => self.take(state, name, &value, at, files),
        }
    }

    /// A row of a table, if the line is one.
    fn row(
        &mut self,
        line: &str,
        (file, number): At<'_>,
        files: &mut Files,
    ) -> Result<bool, ImportError> {
        let mut cells: Vec<String> = words(line).map(str::to_owned).collect();
        let is_rule = !cells.is_empty()
            && cells
                .iter()
                .all(|cell| cell.trim_matches(['-', '=', '+', ':']).is_empty());
        if self.columns.is_empty() || is_rule {
            return Ok(false);
        }
        let wrong = |message: String| ImportError::new(file, number, line, message, RIGHT);
        let named = |column: &Column| matches!(column, Column::File("name"));
        self.join_names(&mut cells);
        let is_count = |cell: &String| cell.parse::<u64>().is_ok();
        if cells.len() < self.columns.len() || !cells.iter().any(is_count) {
            let is_cut = cells.iter().any(is_count) && self.next > 0 && cells.len() > 1;
            self.columns.clear();
            self.domain = None;
            return if is_cut {
                Err(wrong(format!(
                    "{} cells, fewer than the header has",
                    cells.len()
                )))
            } else {
                Ok(false)
            };
        }
        let columns = std::mem::take(&mut self.columns);
        if let Some(cpu) = columns.iter().position(|column| *column == Column::Cpu) {
            let text = cells[cpu].to_ascii_lowercase();
            let cpu = text
                .strip_prefix("cpu")
                .unwrap_or(&text)
                .parse()
                .map_err(|_| wrong(format!("`{}` is no number of a CPU", printable(&text))))?;
            if cpu != self.cpu {
                (self.cpu, self.next) = (cpu, 0);
            }
        }
        if self.next >= MOST_STATES {
            return Err(wrong("more states than a CPU has".to_owned()));
        }
        let state = |cell: &String| cell.strip_prefix('S').unwrap_or(cell).parse().ok();
        let state = columns
            .iter()
            .position(|column| *column == Column::State)
            .and_then(|at| state(&cells[at]))
            .unwrap_or(self.next);
        self.next = state + 1;
        for (column, cell) in columns.iter().zip(&cells) {
            self.cell(
                (column, cell),
                state,
                columns.iter().any(named),
                (file, number),
                files,
            )?;
        }
        self.columns = columns;
        Ok(true)
    }
}

/// The column that a word of a header names.
fn column_of(name: &str) -> Column {
    match name {
        "cpu" => Column::Cpu,
        "state" | "idx" | "index" | "#" => Column::State,
        "usage" | "entered" | "entries" | "count" => Column::File("usage"),
        "time" | "duration" => Column::File("time"),
        "disabled" | "disable" => Column::File("disable"),
        "name" => Column::File("name"),
        "latency" => Column::File("latency"),
        "residency" => Column::File("residency"),
        "above" => Column::File("above"),
        "below" => Column::File("below"),
        "rejected" => Column::File("rejected"),
        "s2idle" => Column::File("s2idle"),
        _ => Column::Other,
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || matches!(c, '|' | ','))
        .filter(|word| !word.is_empty())
}

/// The power domain that a line names, and the rest: `…/pm_genpd/NAME/idle_states:REST` as grep
/// writes it, `==> …/pm_genpd/NAME/idle_states <==` as tail does.
fn domain_of(line: &str) -> (Option<&str>, &str) {
    match line
        .split_once("/idle_states")
        .filter(|(before, _)| before.contains('/'))
    {
        Some((before, rest)) if !before.contains("/cpu") || before.contains("pm_genpd") => {
            let rest = rest.strip_prefix(':').unwrap_or("");
            (before.rsplit('/').next(), rest)
        }
        _ => (None, line),
    }
}
