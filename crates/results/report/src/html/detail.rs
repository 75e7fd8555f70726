//! The part of a recording that a page shows, and what it leaves out for that.

/// The part of a recording that a page shows.
#[derive(Clone, Copy)]
pub struct Detail {
    /// Whole iterations, or the measured times only.
    pub whole: bool,
    /// The worst iteration beside the median.
    pub worst: bool,
    /// Spans of the worst iteration as a table too.
    pub worst_table: bool,
    /// Spans as a table at all.
    pub tables: bool,
    /// The number of CPUs in a timeline at most.
    pub most_cpus: usize,
    /// The number of timelines at most; the cases with the longest times have them.
    pub most_timelines: usize,
    /// The number of rows in a table at most.
    pub most_rows: usize,
    /// The number of cases at most.
    pub most_cases: usize,
    /// The number of points of a sample at most.
    pub most_points: usize,
}

/// From all to little; the first that is short enough is taken.
pub const DETAILS: [Detail; 7] = {
    let all = Detail {
        whole: true,
        worst: true,
        worst_table: true,
        tables: true,
        most_cpus: 24,
        most_timelines: usize::MAX,
        most_rows: 1024,
        most_cases: usize::MAX,
        most_points: 100,
    };
    let no_worst_table = Detail {
        worst_table: false,
        ..all
    };
    let measured = Detail {
        whole: false,
        ..no_worst_table
    };
    let fewer = Detail {
        most_cpus: 16,
        most_rows: 256,
        most_points: 20,
        ..measured
    };
    let median = Detail {
        worst: false,
        tables: false,
        most_cpus: 12,
        most_rows: 64,
        most_points: 5,
        ..fewer
    };
    let few = Detail {
        most_timelines: 12,
        ..median
    };
    let least = Detail {
        most_timelines: 2,
        most_cpus: 8,
        most_rows: 16,
        ..few
    };
    [all, no_worst_table, measured, fewer, median, few, least]
};

/// The parts that the page does not show, found while it is made.
#[derive(Default)]
pub struct LeftOut {
    pub iterations: u64,
    pub cpus: usize,
    pub timelines: usize,
    pub rows: usize,
    /// Pictures of measures.
    pub pictures: usize,
    pub cases: usize,
    /// True if any case has a worst iteration beside its median.
    pub worst: bool,
}
