//! One self-contained page: no network, readable with scripts off, at most [`MOST_BYTES`].

mod chart;
mod data;
mod draw;
mod explain;
mod page;
mod picture;

use crate::Document;

/// A page is no longer than this, in bytes, however many events it is of.
pub const MOST_BYTES: usize = 1_000_000;

/// How much of a recording a page shows.
#[derive(Clone, Copy, Debug)]
struct Detail {
    /// Whole iterations, or the measured times only.
    whole: bool,
    /// The worst iteration beside the median.
    worst: bool,
    /// Spans of the worst iteration as a table too.
    worst_table: bool,
    /// Spans as a table at all.
    tables: bool,
    /// At most so many CPUs in a timeline.
    most_cpus: usize,
    /// At most so many timelines; the cases with the longest times have them.
    most_timelines: usize,
    /// At most so many rows in a table of figures.
    most_rows: usize,
}

/// From all to little; the first that is short enough is taken.
const DETAILS: [Detail; 7] = {
    let all = Detail {
        whole: true,
        worst: true,
        worst_table: true,
        tables: true,
        most_cpus: 24,
        most_timelines: usize::MAX,
        most_rows: 1024,
    };
    let no_worst_table = Detail { worst_table: false, ..all };
    let measured = Detail { whole: false, ..no_worst_table };
    let fewer = Detail { most_cpus: 16, most_rows: 256, ..measured };
    let median = Detail { worst: false, tables: false, most_cpus: 12, most_rows: 64, ..fewer };
    let few = Detail { most_timelines: 12, ..median };
    let least = Detail { most_timelines: 2, most_cpus: 8, most_rows: 16, ..few };
    [all, no_worst_table, measured, fewer, median, few, least]
};

/// The page.
pub(crate) fn html(document: &Document<'_>) -> String {
    let mut page = String::new();
    for detail in DETAILS {
        page = page::page(document, detail);
        if page.len() <= MOST_BYTES {
            break;
        }
    }
    page
}
