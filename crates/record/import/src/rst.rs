//! Tables of reStructuredText documents: grids, also where spacing was lost on the way, and
//! comma-separated values, also in files beside the document.
//!
//! A page that was copied from a browser has its indentation, its blank lines and the padding of
//! its cells removed, and here and there a letter. So nothing is read from columns of characters: a
//! row is what stands between bars, a rule is a line of `+`, `-` and `=`.

use crate::Options;
use crate::error::{ImportError, printable};
use crate::figures::{Figure, Figures};
use crate::names::{self, Column};
use crate::rows;
use crate::text;
use itertools::Itertools;
use recording::units;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

const RIGHT: &str = "a table is a grid of +---+ and | cell |, or a csv-table, with a column CPU or the columns Cluster and Core, then Powerdown, Wakeup and \
                     Cache Flush (or PSCI_ENTRY, PSCI_EXIT, CFLUSH_OVERHEAD; or Latency), under a caption or title that names the \
                     call, the level and parallel or serial";

/// Reads the tables of a document. Tables that have neither a column CPU nor a column Cluster are
/// passed over, as is the text.
///
/// A release in a caption, as in `(v2.12)`, gets the options' prefix; a table without one is of the
/// options' variant.
///
/// # Errors
/// The document cannot be read; no table could be; without `lenient`, a table that is cut short, a
/// cell that is no figure, a table without a case or a unit, a cell that comes twice.
pub fn rst(document: impl Read, options: &Options) -> Result<Figures, ImportError> {
    let text = text::text(document, &options.file, None)?;
    let lines = text.lines().map(str::trim).collect_vec();
    let mut reader = Reader {
        options,
        found: Figures::default(),
        headings: Vec::new(),
        title: String::new(),
        caption: None,
    };
    let mut at = 0;
    while at < lines.len() {
        at = reader.step(&lines, at)?;
    }
    if let Some(section) = options
        .section
        .as_ref()
        .filter(|_| reader.found.figures.is_empty())
    {
        return Err(ImportError::whole(
            &options.file,
            format!("no table of ours stands below a heading with \"{section}\""),
            "name a part of a heading above the tables",
        ));
    }
    let mut found = reader.found;
    let mut doubts = name_variants(&mut found.figures, options)
        .into_iter()
        .collect_vec();
    doubts.extend(repeated_cpus(&mut found.figures, options));
    let mut found = found.finish(options, false)?;
    doubts.extend(doubtful(&found.figures, options));
    found.doubts = doubts;
    Ok(found)
}

/// Names the figures of tables without a release, where another table of the document is of a
/// release called as they would be: `-current` stands behind it then, which is told.
fn name_variants(figures: &mut [Figure], options: &Options) -> Option<ImportError> {
    let collides = figures
        .iter()
        .any(|figure| figure.variant == options.variant);
    let mut unnamed = figures
        .iter_mut()
        .filter(|figure| collides && figure.variant.is_empty())
        .peekable();
    let line = unnamed.peek()?.line;
    let name = format!("{}-current", options.variant);
    unnamed.for_each(|figure| figure.variant.clone_from(&name));
    Some(ImportError::new(
        &options.file,
        line,
        "",
        format!(
            "the document has a table of {}, so this one, which names no release, is {name}",
            options.variant
        ),
        "--variant gives it another name",
    ))
}

/// Gives rows that repeat the CPU of another row the CPU that their table lacks, if that is the one
/// of their place in it; each is told. A table must have a row for every CPU, in order.
fn repeated_cpus(figures: &mut [Figure], options: &Options) -> Vec<ImportError> {
    let mut known: Vec<(u16, u16)> = match &options.cpus {
        Some(cpus) => cpus.clone(),
        None => figures.iter().filter_map(|figure| figure.place).collect(),
    };
    known.sort_unstable();
    known.dedup();
    let mut tables: BTreeMap<_, BTreeMap<u64, (u16, u16)>> = BTreeMap::new();
    for figure in figures.iter() {
        if let Some(place) = figure.place {
            tables
                .entry(figure.series())
                .or_default()
                .insert(figure.line, place);
        }
    }
    let mut doubts = Vec::new();
    for (name, rows) in tables.iter().filter(|(_, rows)| rows.len() == known.len()) {
        let count = |place: (u16, u16)| rows.values().filter(|other| **other == place).count();
        let wrong = rows
            .iter()
            .zip(&known)
            .filter(|((_, place), right)| place != right)
            .collect_vec();
        let explained = wrong
            .iter()
            .all(|((_, place), right)| count(**place) > 1 && count(**right) == 0);
        if wrong.is_empty() || !explained {
            continue;
        }
        for ((&line, place), &right) in wrong {
            let message = format!(
                "a second row of CPU {}.{}, read as {}.{} by its place",
                place.0, place.1, right.0, right.1
            );
            doubts.push(ImportError::new(
                &options.file,
                line,
                "",
                message,
                "is it a slip of the document? mend it there if not",
            ));
            figures
                .iter_mut()
                .filter(|figure| figure.line == line && figure.series() == *name)
                .for_each(|figure| figure.place = Some(right));
        }
    }
    doubts
}

/// A power call that takes longer than this, or less than a microsecond in a row of which every
/// figure does, is one whose unit is not what the table says: 50 ms, in nanoseconds.
const DOUBTFUL_NS: [f64; 2] = [1e3, 50e6];

/// Figures that are too long or too short for the unit that their table names.
fn doubtful(figures: &[Figure], options: &Options) -> Option<ImportError> {
    let ns = |figure: &Figure| figure.value * units::nanoseconds(&figure.unit).unwrap_or(f64::NAN);
    let [least, most] = DOUBTFUL_NS;
    let rows = figures.chunk_by(|a, b| a.line == b.line);
    let is_wrong = |row: &&[Figure]| {
        row.iter().any(|of| ns(of) > most) || row.len() > 1 && row.iter().all(|of| ns(of) < least)
    };
    let mut wrong = rows.filter(is_wrong);
    let (first, more) = (&wrong.next()?[0], wrong.count());
    let length = if ns(first) < least { "short" } else { "long" };
    Some(ImportError::new(
        &options.file,
        first.line,
        "",
        format!(
            "{} {} is {length} for a call, and so are {more} rows more",
            first.value, first.unit
        ),
        "does the table's caption name the right unit? --unit overrules it",
    ))
}

struct Reader<'o> {
    options: &'o Options,
    found: Figures,
    /// The headings above, the whole document's first, each with the character of its underline.
    headings: Vec<(char, String)>,
    /// Title of the section.
    title: String,
    /// Caption of the table that is next.
    caption: Option<String>,
}

/// The facts that a csv-table gives about itself: its caption, and its options by name.
struct Directive<'t> {
    caption: String,
    options: BTreeMap<&'t str, &'t str>,
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
            let more = lines[at + 1..]
                .iter()
                .take_while(|line| !line.is_empty() && !is_grid(line))
                .count();
            let parts = std::iter::once(caption.trim())
                .chain(lines[at + 1..=at + more].iter().copied())
                .collect_vec();
            self.caption = Some(parts.join(" "));
            return Ok(at + more + 1);
        }
        if let Some(caption) = line.strip_prefix(".. csv-table::") {
            return self.csv_table(caption.trim(), lines, at);
        }
        if is_rule(line) {
            let count = lines[at..].iter().take_while(|line| is_grid(line)).count();
            let grid = lines[at..at + count]
                .iter()
                .zip(at as u64 + 1..)
                .map(|(text, number)| GridLine { number, text })
                .collect_vec();
            if self.is_chosen() {
                self.table(&grid)?;
            }
            self.caption = None;
            return Ok(at + count);
        }
        if lines.get(at + 1).is_some_and(|under| is_underline(under))
            && !line.is_empty()
            && !is_underline(line)
        {
            self.title = line.to_owned();
            self.caption = None;
            // A heading of a level that is open ends what stands below that level.
            let level = lines[at + 1].chars().next().unwrap_or_default();
            let open = self
                .headings
                .iter()
                .position(|(of, _)| *of == level)
                .unwrap_or(self.headings.len());
            self.headings.truncate(open);
            self.headings.push((level, line.to_lowercase()));
            return Ok(at + 2);
        }
        Ok(at + 1)
    }

    /// True in the section that is asked for.
    fn is_chosen(&self) -> bool {
        let section = self
            .options
            .section
            .as_ref()
            .map(|section| section.to_lowercase());
        section.is_none_or(|section| {
            self.headings
                .iter()
                .any(|(_, heading)| heading.contains(&section))
        })
    }

    fn error(&self, line: &GridLine<'_>, message: impl Into<String>) -> ImportError {
        ImportError::new(&self.options.file, line.number, line.text, message, RIGHT)
    }

    fn wrong(
        &mut self,
        line: &GridLine<'_>,
        message: impl Into<String>,
    ) -> Result<(), ImportError> {
        let error = self.error(line, message);
        self.found.wrong(self.options, error)
    }

    /// Reads a table of comma-separated values, in the document or in a file beside it; returns
    /// where the next part starts.
    fn csv_table(
        &mut self,
        caption: &str,
        lines: &[&str],
        at: usize,
    ) -> Result<usize, ImportError> {
        let mut directive = Directive {
            caption: caption.to_owned(),
            options: BTreeMap::new(),
        };
        let mut next = at + 1;
        while let Some(line) = lines.get(next).filter(|line| !line.is_empty()) {
            match line
                .strip_prefix(':')
                .and_then(|option| option.split_once(':'))
            {
                Some((name, value)) => _ = directive.options.insert(name, value.trim()),
                None if !directive.options.is_empty() => break,
                // A long caption goes on in the next line.
                None => directive.caption = format!("{} {line}", directive.caption),
            }
            next += 1;
        }
        let here = GridLine {
            number: at as u64 + 1,
            text: lines[at],
        };
        let Some(file) = directive.options.get("file") else {
            while lines.get(next).is_some_and(|line| line.is_empty()) {
                next += 1;
            }
            let count = lines[next..]
                .iter()
                .take_while(|line| !line.is_empty() && !line.starts_with(".."))
                .count();
            let text = lines[next..next + count].join("\n");
            if self.is_chosen() {
                self.values(
                    &directive,
                    &text,
                    &self.options.file.clone(),
                    next as u64,
                    &here,
                )?;
            }
            return Ok(next + count);
        };
        match self.beside(file) {
            _ if !self.is_chosen() => {}
            Ok((name, text)) => self.values(&directive, &text, &name, 0, &here)?,
            Err(message) => self.wrong(&here, message)?,
        }
        Ok(next)
    }

    /// Name and text of a file that a document names.
    fn beside(&self, file: &str) -> Result<(String, String), String> {
        let path = Path::new(file);
        let folder = self.options.beside.as_ref().ok_or(
            "the table is in a file beside the document, and where that lies is not known",
        )?;
        if path.is_absolute() {
            return Err(format!(
                "the table's file {} is not named from the document on",
                printable(file)
            ));
        }
        let path = folder.join(path);
        let text = disk::text(&path)
            .map_err(|error| format!("cannot read the table's file {}: {error}", path.display()))?;
        Ok((path.display().to_string(), text))
    }

    /// Reads comma-separated values whose first line has the number `before` + 1 in its file.
    fn values(
        &mut self,
        directive: &Directive<'_>,
        text: &str,
        file: &str,
        before: u64,
        here: &GridLine<'_>,
    ) -> Result<(), ImportError> {
        let option = |name| directive.options.get(name).copied();
        let delimiter = match option("delim") {
            Some("tab") => b'\t',
            Some("space") => b' ',
            other => other.and_then(|by| by.bytes().next()).unwrap_or(b','),
        };
        let mut headers =
            option("header").and_then(|header| rows::records(header, b',').next()?.1.ok());
        let mut columns = None;
        let header_rows = option("header-rows").and_then(|rows| rows.parse().ok());
        let mut header_rows: usize = header_rows.unwrap_or(0);
        let titles = [directive.caption.clone(), self.title.clone()];
        for (line, record) in rows::records(text, delimiter) {
            let record = match record {
                Ok(record) if header_rows > 0 => {
                    header_rows -= 1;
                    headers.get_or_insert(record);
                    continue;
                }
                other => other,
            };
            // Without headings nobody can tell what the table is of.
            let Some(headers) = &headers else {
                return Ok(());
            };
            if columns.is_none() {
                match rows::columns(headers) {
                    Ok(named) => columns = named,
                    Err(message) => return self.wrong(here, message),
                }
            }
            let Some(columns) = &columns else {
                return Ok(());
            };
            let read = record.and_then(|record| {
                let cells = record.iter().map(String::as_str).collect_vec();
                rows::row(self.options, before + line, &cells, columns, &titles)
            });
            let wrong = |message| {
                ImportError::new(file, before + line, text::line(text, line), message, RIGHT)
            };
            self.found.take(read.map_err(wrong), self.options)?;
        }
        Ok(())
    }

    fn table(&mut self, grid: &[GridLine<'_>]) -> Result<(), ImportError> {
        // What stands above the header in a cell as wide as the table is a title of its own.
        let mut titles = self.caption.iter().cloned().collect_vec();
        let mut header: Option<Vec<Column>> = None;
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
            let Some(columns) = &header else {
                match rows::columns(&cells) {
                    Ok(Some(columns)) => header = Some(columns),
                    _ if cells.len() == 1 => titles.push(cells[0].to_owned()),
                    Ok(None) => return Ok(()),
                    Err(message) => return self.wrong(row, message),
                }
                continue;
            };
            titles.push(self.title.clone());
            let read = rows::row(self.options, row.number, &cells, columns, &titles);
            titles.pop();
            let wrong = |message| self.error(row, message);
            self.found.take(read.map_err(wrong), self.options)?;
            if grid.get(index + 1).is_none_or(|next| !is_rule(next.text)) {
                self.wrong(
                    row,
                    "the table is cut short: no line +---+ follows this row",
                )?;
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
}

/// The cells between bars; `None` where the row does not begin and end with one.
fn cells(row: &str) -> Option<Vec<&str>> {
    Some(
        row.strip_prefix('|')?
            .strip_suffix('|')?
            .split('|')
            .map(str::trim)
            .collect(),
    )
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

    fn options(variant: &str) -> Options {
        Options {
            file: "doc.rst".to_owned(),
            variant: variant.to_owned(),
            ..Options::default()
        }
    }

    /// A document of level-0 tables in parallel: what a caption adds, and cluster and core of each
    /// row.
    fn document(tables: &[(&str, &[(u16, u16)])]) -> String {
        let of_table = |(release, rows): &(&str, &[(u16, u16)])| {
            let head = format!(
                ".. table:: ``CPU_SUSPEND`` latencies (us) to power level 0 in parallel{release}\n\n\
                 +---+\n| Cluster | Core | Powerdown |\n+===+\n"
            );
            let row = |(cluster, core): &(u16, u16)| {
                format!("| {cluster} | {core} | {cluster}{core}.5 |\n+---+\n")
            };
            format!("{head}{}\n", rows.iter().map(row).collect::<String>())
        };
        tables.iter().map(of_table).collect()
    }

    const WHOLE: &[(u16, u16)] = &[(0, 0), (0, 1), (1, 0), (1, 1)];

    #[test]
    fn a_table_without_a_release_has_another_name_than_one_that_has_it() {
        let read = |variant: &str| {
            rst(
                document(&[("", WHOLE), (" (v2.12)", WHOLE)]).as_bytes(),
                &options(variant),
            )
            .unwrap()
        };
        let variants = |found: &Figures| -> Vec<String> {
            let mut all: Vec<String> = found
                .figures
                .iter()
                .map(|figure| figure.variant.clone())
                .collect();
            all.dedup();
            all
        };
        let found = read("board");
        assert_eq!(
            (variants(&found), found.doubts.len()),
            (vec!["board".to_owned(), "v2.12".to_owned()], 0)
        );
        let found = read("v2.12");
        assert_eq!(variants(&found), ["v2.12-current", "v2.12"]);
        let said = found.doubts[0].to_string();
        assert!(
            said.contains("doc.rst:6") && said.contains("names no release, is v2.12-current"),
            "{said}"
        );
    }

    /// A page repeats its tables with an older session's values below another heading.
    #[test]
    fn a_section_is_read_alone() {
        let page = format!(
            "Performance\n===========\n\nResults\n-------\n\n{0}\nHistoric Results\n----------------\n\nJuno\n~~~~\n\n{0}",
            document(&[("", WHOLE)])
        );
        let read = |section: Option<&str>| {
            rst(
                page.as_bytes(),
                &Options {
                    section: section.map(str::to_owned),
                    ..options("b")
                },
            )
        };
        let error = format!("{:?}", read(None).unwrap_err());
        assert!(
            error.contains("has a second powerdown") && error.contains("--section"),
            "{error}"
        );
        assert_eq!(read(Some("historic")).unwrap().figures.len(), 4);
        assert_eq!(read(Some("Juno")).unwrap().figures.len(), 4);
        assert!(
            read(Some("N1SDP"))
                .unwrap_err()
                .to_string()
                .contains("no table of ours")
        );
    }

    #[test]
    fn a_row_that_repeats_a_cpu_is_of_the_cpu_of_its_place() {
        let read = |rows: &[(u16, u16)]| {
            rst(
                document(&[(" (v1.0)", WHOLE), (" (v2.0)", rows)]).as_bytes(),
                &options("b"),
            )
        };
        let places = |rows: &[(u16, u16)]| -> Vec<(u16, u16)> {
            read(rows)
                .unwrap()
                .figures
                .iter()
                .skip(4)
                .filter_map(|figure| figure.place)
                .collect()
        };
        assert_eq!(
            places(&[(0, 0), (0, 0), (1, 0), (1, 1)]),
            WHOLE,
            "the second row is of the CPU that is missing"
        );
        assert_eq!(places(&[(0, 1), (0, 1), (1, 0), (1, 0)]), WHOLE);
        let said = read(&[(0, 0), (0, 1), (1, 1), (1, 1)]).unwrap().doubts[0].to_string();
        assert!(
            said.contains("a second row of CPU 1.1, read as 1.0 by its place"),
            "{said}"
        );
        // Nothing says which row is wrong.
        for rows in [
            &[(0, 0), (0, 0), (1, 0)][..],
            &[(0, 0), (0, 0), (1, 1), (1, 0)],
            &[(0, 1), (0, 0), (1, 0), (1, 0)],
        ] {
            assert!(
                read(rows)
                    .unwrap_err()
                    .to_string()
                    .contains("has a second powerdown"),
                "{rows:?}"
            );
        }
    }

    #[test]
    fn a_caption_that_names_the_wrong_unit_is_doubted_and_overruled() {
        let table = ".. table:: ``CPU_SUSPEND`` latencies (us) to deepest power level in serial (v2.14)\n\n\
                     +---------+------+-----------+--------+-------------+\n\
                     | Cluster | Core | Powerdown | Wakeup | Cache Flush |\n\
                     +=========+======+===========+========+=============+\n\
                     |    0    |  0   |  187960   | 26920  |    5540     |\n\
                     +---------+------+-----------+--------+-------------+\n";
        let read = |unit: Option<&str>| {
            rst(
                table.as_bytes(),
                &Options {
                    unit: unit.map(str::to_owned),
                    ..Options::default()
                },
            )
            .unwrap()
        };
        let believed = read(None);
        assert_eq!(
            (believed.figures[0].unit.as_str(), believed.doubts.len()),
            ("us", 1)
        );
        assert!(
            believed.doubts[0]
                .message
                .contains("187960 us is long for a call"),
            "{}",
            believed.doubts[0]
        );
        let overruled = read(Some("ns"));
        assert_eq!(
            (overruled.figures[0].unit.as_str(), overruled.doubts.len()),
            ("ns", 0)
        );
    }
}
