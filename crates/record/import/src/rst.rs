//! Grid tables of reStructuredText documents, also where spacing was lost on the way.
//!
//! A page that was copied from a browser has its indentation, its blank lines and the padding of its cells removed, and here and there a letter.
//! So nothing is read from columns of characters: a row is what stands between bars, a rule is a line of `+`, `-` and `=`.

use crate::Options;
use crate::error::{ImportError, printable};
use crate::figures::{self, Figure, Figures};
use crate::names::{self, CaseAndMode, Column};
use std::io::Read;

/// Larger files are no documents.
const LARGEST: u64 = 64 << 20;

const RIGHT: &str = "a table is a grid of +---+ and | cell |, with a column CPU or the columns Cluster and Core, then Powerdown, Wakeup and \
                     Cache Flush (or PSCI_ENTRY, PSCI_EXIT, CFLUSH_OVERHEAD; or Latency), under a caption or title that names the \
                     call, the level and parallel or serial";

/// Reads the tables of a document. Tables that have neither a column CPU nor a column Cluster are passed over, as is the text.
///
/// A release in a caption, as in `(v2.12)`, gets the options' prefix; a table without one is of the options' variant.
///
/// # Errors
/// The document cannot be read; no table could be; without `lenient`, a table that is cut short, a cell that is no figure, a
/// table without a case or a unit, a cell that comes twice.
pub fn rst(document: impl Read, options: &Options) -> Result<Figures, ImportError> {
    let mut bytes = Vec::new();
    document.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| {
        ImportError::whole(&options.file, format!("cannot be read: {error}"), "name a file that can be read")
    })?;
    if bytes.len() as u64 > LARGEST {
        return Err(ImportError::whole(
            &options.file,
            "larger than 64 MiB",
            "name a document, or cut the tables out of it",
        ));
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut reader = Reader { options, found: Figures::default(), title: String::new(), caption: None };
    let mut at = 0;
    while at < lines.len() {
        at = reader.step(&lines, at)?;
    }
    let mut found = reader.found.finish(options, false)?;
    found.doubts = too_long(&found.figures, options).into_iter().collect();
    Ok(found)
}

/// A power call that takes longer than this is one whose unit is not what the table says: 50 ms, in nanoseconds.
const DOUBTFUL_NS: f64 = 50e6;

/// Figures that are too long for the unit that their table names.
fn too_long(figures: &[Figure], options: &Options) -> Option<ImportError> {
    let nanoseconds = |unit: &str| match unit {
        "ms" => 1e6,
        "us" => 1e3,
        _ => 1.0,
    };
    let mut long = figures.iter().filter(|figure| figure.value * nanoseconds(&figure.unit) > DOUBTFUL_NS);
    let (first, more) = (long.next()?, long.count());
    let message = format!("{} {} is long for a call, and so are {more} more", first.value, first.unit);
    let help = "does the table's caption name the right unit? --unit overrules it";
    Some(ImportError::new(&options.file, first.line, "", message, help))
}

struct Reader<'o> {
    options: &'o Options,
    found: Figures,
    /// Title of the section.
    title: String,
    /// Caption of the table that is next.
    caption: Option<String>,
}

/// A line of a grid, with its number.
struct GridLine<'t> {
    number: u64,
    text: &'t str,
}

impl Reader<'_> {
    /// Reads what starts at a line; returns where the next starts.
    fn step(&mut self, lines: &[&str], at: usize) -> Result<usize, ImportError> {
        let line = lines[at];
        if let Some(caption) = line.strip_prefix(".. table::") {
            let more = lines[at + 1..].iter().take_while(|line| !line.is_empty() && !is_grid(line)).count();
            let parts: Vec<&str> =
                std::iter::once(caption.trim()).chain(lines[at + 1..=at + more].iter().copied()).collect();
            self.caption = Some(parts.join(" "));
            return Ok(at + more + 1);
        }
        if is_rule(line) {
            let count = lines[at..].iter().take_while(|line| is_grid(line)).count();
            let grid: Vec<_> = lines[at..at + count]
                .iter()
                .zip(at as u64 + 1..)
                .map(|(text, number)| GridLine { number, text })
                .collect();
            self.table(&grid)?;
            self.caption = None;
            return Ok(at + count);
        }
        if lines.get(at + 1).is_some_and(|under| is_underline(under)) && !line.is_empty() && !is_underline(line) {
            self.title = line.to_owned();
            self.caption = None;
            return Ok(at + 2);
        }
        Ok(at + 1)
    }

    fn wrong(&mut self, line: &GridLine<'_>, message: impl Into<String>) -> Result<(), ImportError> {
        let error = ImportError::new(&self.options.file, line.number, line.text, message, RIGHT);
        self.found.wrong(self.options, error)
    }

    fn table(&mut self, grid: &[GridLine<'_>]) -> Result<(), ImportError> {
        // What stands above the header in a cell as wide as the table is a title of its own.
        let mut titles: Vec<String> = self.caption.iter().cloned().collect();
        let mut header: Option<(Vec<Column>, Vec<String>)> = None;
        for (index, row) in grid.iter().enumerate() {
            if is_rule(row.text) {
                continue;
            }
            let Some(cells) = cells(row.text) else {
                // Only a table of ours must be whole.
                if header.is_some() {
                    self.wrong(row, "the row is cut short: it does not end in `|`")?;
                }
                continue;
            };
            let Some((columns, names)) = &header else {
                let columns: Option<Vec<Column>> = cells.iter().map(|cell| names::of_column(cell)).collect();
                match columns {
                    Some(columns) if is_ours(&columns) => {
                        header = Some((columns, cells.iter().map(|cell| (*cell).to_owned()).collect()));
                    }
                    _ if cells.len() == 1 => titles.push(cells[0].to_owned()),
                    // A table of something else, unless it seems to be meant as one of ours.
                    _ if cells
                        .iter()
                        .any(|cell| matches!(names::of_column(cell), Some(Column::Cpu | Column::Cluster))) =>
                    {
                        return self.wrong(row, "a table of CPUs with a column of another kind");
                    }
                    _ => return Ok(()),
                }
                continue;
            };
            if cells.len() != columns.len() {
                let message = format!("{} cells where the header has {}", cells.len(), columns.len());
                self.wrong(row, message)?;
                continue;
            }
            titles.push(self.title.clone());
            let read = self.row(row, &cells, columns, names, &titles);
            titles.pop();
            match read {
                Ok(figures) => self.found.take(figures, self.options)?,
                Err(message) => self.wrong(row, message)?,
            }
            if grid.get(index + 1).is_none_or(|next| !is_rule(next.text)) {
                self.wrong(row, "the table is cut short: no line +---+ follows this row")?;
            }
        }
        if header.is_none() && grid.iter().any(|line| !is_rule(line.text)) && !titles.is_empty() {
            let captioned = titles.iter().any(|title| names::of_title(title).is_some());
            if captioned {
                return self.wrong(&grid[0], "the table has no header");
            }
        }
        Ok(())
    }

    fn row(
        &self,
        line: &GridLine<'_>,
        cells: &[&str],
        columns: &[Column],
        headers: &[String],
        titles: &[String],
    ) -> Result<Vec<Figure>, String> {
        let (case, mode) = case_of(titles).ok_or_else(|| {
            format!("cannot tell the case from `{}`", printable(titles.last().map_or("", String::as_str)))
        })?;
        let variant = match titles.iter().find_map(|title| release_of(title)) {
            Some(release) => format!("{}{release}", self.options.prefix),
            None => self.options.variant.clone(),
        };
        let number = |column: Column| -> Result<Option<u16>, String> {
            let Some(place) = columns.iter().position(|&other| other == column) else { return Ok(None) };
            let wrong = |_| format!("`{}` is no number of a CPU, cluster or core", printable(cells[place]));
            cells[place].parse().map(Some).map_err(wrong)
        };
        let (cpu, place) = match (number(Column::Cpu)?, number(Column::Cluster)?, number(Column::Core)?) {
            (_, Some(cluster), Some(core)) => (None, Some((cluster, core))),
            (Some(cpu), _, _) => figures::cpu_of(cpu, self.options)?,
            _ => return Err("the row names no CPU".to_owned()),
        };
        if let Some(place) = place {
            figures::known_place(place, self.options)?;
        }
        let mut read = Vec::new();
        for ((cell, &column), header) in cells.iter().zip(columns).zip(headers) {
            let Column::Metric(metric) = column else { continue };
            let said = || names::unit_of(header).or_else(|| titles.iter().find_map(|title| names::unit_of(title)));
            // Captions are written by hand, and one may say microseconds over nanoseconds: who imports it knows better.
            let unit = (self.options.unit.clone())
                .or_else(|| said().map(str::to_owned))
                .ok_or("neither header nor caption names a unit; say which with --unit")?;
            let (value, printed_change_percent) = value(cell)?;
            figures::plausible(value, &unit)?;
            read.push(Figure {
                variant: variant.clone(),
                case: case.to_owned(),
                mode: mode.to_owned(),
                cpu,
                place,
                metric: metric.to_owned(),
                value,
                unit,
                printed_change_percent,
                iteration: 0,
                line: line.number,
            });
        }
        Ok(read)
    }
}

/// The case, from the nearest title that names one.
fn case_of(titles: &[String]) -> Option<CaseAndMode> {
    titles.iter().find_map(|title| names::of_title(title))
}

/// A release in parentheses: `(v2.12)`, `(2.12)`, as `v2.12`.
fn release_of(title: &str) -> Option<String> {
    title.split('(').skip(1).find_map(|part| {
        let inside = part.split_once(')')?.0.trim();
        let digits = inside.strip_prefix('v').unwrap_or(inside);
        let right = digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.contains('.')
            && digits.len() <= 20
            && digits.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
        right.then(|| format!("v{digits}"))
    })
}

/// A figure and the change printed beside it: `244.52 (-65.43%)`.
fn value(cell: &str) -> Result<(f64, Option<f64>), String> {
    let wrong = || format!("`{}` is no figure; expected one such as 244.52 or 244.52 (-65.43%)", printable(cell));
    let (value, change) = match cell.split_once('(') {
        Some((value, rest)) => {
            let change = rest.trim_end().strip_suffix(')').and_then(|rest| rest.trim_end().strip_suffix('%'));
            (value, Some(change.ok_or_else(wrong)?))
        }
        None => (cell, None),
    };
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(wrong);
    Ok((number(value)?, change.map(number).transpose()?))
}

fn is_ours(columns: &[Column]) -> bool {
    let has = |column| columns.contains(&column);
    (has(Column::Cpu) || (has(Column::Cluster) && has(Column::Core)))
        && columns.iter().any(|column| matches!(column, Column::Metric(_)))
}

/// The cells between bars; `None` where the row does not begin and end with one.
fn cells(row: &str) -> Option<Vec<&str>> {
    let inside = row.strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3
        && line.starts_with('+')
        && line.ends_with('+')
        && line.chars().all(|c| matches!(c, '+' | '-' | '='))
}

fn is_grid(line: &str) -> bool {
    line.starts_with('|') || is_rule(line)
}

fn is_underline(line: &str) -> bool {
    let mut chars = line.chars();
    let first = chars.next();
    line.len() >= 3
        && first.is_some_and(|c| c.is_ascii_punctuation() && !matches!(c, '+' | '|'))
        && chars.all(|c| Some(c) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_that_names_the_wrong_unit_is_doubted_and_overruled() {
        let table = ".. table:: ``CPU_SUSPEND`` latencies (us) to deepest power level in serial (v2.14)\n\n\
                     +---------+------+-----------+--------+-------------+\n\
                     | Cluster | Core | Powerdown | Wakeup | Cache Flush |\n\
                     +=========+======+===========+========+=============+\n\
                     |    0    |  0   |  187960   | 26920  |    5540     |\n\
                     +---------+------+-----------+--------+-------------+\n";
        let read = |unit: Option<&str>| {
            rst(table.as_bytes(), &Options { unit: unit.map(str::to_owned), ..Options::default() }).unwrap()
        };
        let believed = read(None);
        assert_eq!((believed.figures[0].unit.as_str(), believed.doubts.len()), ("us", 1));
        assert!(believed.doubts[0].message.contains("187960 us is long for a call"), "{}", believed.doubts[0]);
        let overruled = read(Some("ns"));
        assert_eq!((overruled.figures[0].unit.as_str(), overruled.doubts.len()), ("ns", 0));
    }
}
