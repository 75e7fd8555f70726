//! The names that others give to the measured cases, and ours.

use recording::metrics::{CACHE_FLUSH, LATENCY, POWERDOWN, WAKEUP, intervals};
use recording::units;

/// The mode of what `board/rt-instr` prints.
pub const LINUX: &str = "linux";

/// Case and mode, by the names that recordings use.
pub type CaseAndMode = (&'static str, &'static str);

/// Tests of the test framework's runtime-instrumentation suite.
pub const TESTS: [(&str, CaseAndMode); 6] = [
    (
        "test_rt_instr_susp_deep_parallel",
        ("suspend-deepest", "parallel"),
    ),
    (
        "test_rt_instr_susp_deep_serial",
        ("suspend-deepest", "serial"),
    ),
    (
        "test_rt_instr_cpu_susp_parallel",
        ("suspend-level0", "parallel"),
    ),
    (
        "test_rt_instr_cpu_susp_serial",
        ("suspend-level0", "serial"),
    ),
    ("test_rt_instr_cpu_off_serial", ("cpu-off", "serial")),
    (
        "test_rt_instr_psci_version_parallel",
        ("psci-version", "parallel"),
    ),
];

/// The latencies of a suspend or a CPU_OFF, in the order in which log lines have them.
pub const LATENCIES: [&str; 3] = [POWERDOWN.name, WAKEUP.name, CACHE_FLUSH.name];

/// The case that a test of the framework measures.
pub fn of_test(name: &str) -> Option<CaseAndMode> {
    TESTS
        .iter()
        .find(|(test, _)| *test == name)
        .map(|&(_, case)| case)
}

/// The case that a caption or a section's title speaks of. The documents write PSCI_VERSION as
/// CPU_VERSION, too.
pub fn of_title(title: &str) -> Option<CaseAndMode> {
    let title = title.to_lowercase();
    if let Some(&(_, case)) = TESTS.iter().find(|(test, _)| title.contains(test)) {
        return Some(case);
    }
    let parallel = title.contains("parallel");
    let serial = title.contains("serial") || title.contains("sequence");
    let mode = if parallel {
        Some("parallel")
    } else {
        serial.then_some("serial")
    };
    if title.contains("cpu_off") {
        // Its title names CPU_SUSPEND and the deepest level as well: that is what the lead does.
        // There is only a serial one.
        Some(("cpu-off", mode.unwrap_or("serial")))
    } else if title.contains("psci_version") || title.contains("cpu_version") {
        Some(("psci-version", mode.unwrap_or("parallel")))
    } else if title.contains("cpu_suspend") && title.contains("deepest") {
        Some(("suspend-deepest", mode?))
    } else if title.contains("cpu_suspend") && title.contains("level 0") {
        Some(("suspend-level0", mode?))
    } else {
        None
    }
}

/// The content of a table's column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Column {
    Cpu,
    Cluster,
    Core,
    /// A metric, and the unit that the header names.
    Metric(&'static str, Option<&'static str>),
}

/// The content of a column by its header, without unit and markup.
pub fn of_column(header: &str) -> Option<Column> {
    let name = header
        .split('(')
        .next()
        .unwrap_or_default()
        .replace(['`', '*'], "")
        .trim()
        .to_lowercase();
    let metric = match name.as_str() {
        "cpu" => return Some(Column::Cpu),
        "cluster" => return Some(Column::Cluster),
        "core" => return Some(Column::Core),
        "psci_entry" => POWERDOWN,
        "psci_exit" => WAKEUP,
        "cflush_overhead" => CACHE_FLUSH,
        "total time" => LATENCY,
        title => intervals().find(|metric| is_spelt(title, &metric.title.to_lowercase()))?,
    };
    Some(Column::Metric(metric.name, unit_of(header)))
}

/// True if a header is a title, or but for one letter: pages of v2.8 and v2.9 have a "Wakekup".
fn is_spelt(header: &str, title: &str) -> bool {
    header == title || (title.len() > 5 && strsim::levenshtein(header, title) == 1)
}

/// The unit that a header or a caption names. One of the published documents lost the letter µ and
/// the parenthesis before it: what is left of `(µs)` is `s)`.
pub fn unit_of(text: &str) -> Option<&'static str> {
    let mut inside = text
        .split('(')
        .skip(1)
        .filter_map(|part| part.split_once(')'));
    inside
        .find_map(|(text, _)| units::unit(text))
        .map(|unit| unit.name)
        .or_else(|| text.contains(" s)").then_some("us"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_both_documents_name_their_case() {
        for (title, case) in [
            (
                "``CPU_SUSPEND`` to deepest power level on all CPUs in parallel",
                ("suspend-deepest", "parallel"),
            ),
            (
                "``CPU_SUSPEND`` latencies s) to power level 0 in serial (v2.11)",
                ("suspend-level0", "serial"),
            ),
            (
                "``CPU_OFF`` on all non-lead CPUs in sequence then ``CPU_SUSPEND`` on lead CPU to deepest power level",
                ("cpu-off", "serial"),
            ),
            (
                "``CPU_OFF`` latencies s) on all non-lead CPUs (v2.12)",
                ("cpu-off", "serial"),
            ),
            (
                "``CPU_VERSION`` latency s) in parallel on all cores (2.12)",
                ("psci-version", "parallel"),
            ),
            (
                "test_rt_instr_cpu_susp_parallel",
                ("suspend-level0", "parallel"),
            ),
        ] {
            assert_eq!(of_title(title), Some(case), "{title}");
        }
        assert_eq!(
            of_title("``CPU_SUSPEND`` to deepest power level"),
            None,
            "neither parallel nor serial"
        );
        assert_eq!(of_title("Procedure"), None);
    }

    #[test]
    fn a_column_with_a_letter_too_many_is_read() {
        let wakeup = Some(Column::Metric(WAKEUP.name, None));
        assert_eq!(of_column("Wakekup"), wakeup);
        assert_eq!(
            of_column("Powerdown (us)"),
            Some(Column::Metric(POWERDOWN.name, Some("us")))
        );
        assert_eq!(of_column("Wake"), None);
    }

    #[test]
    fn a_lost_mu_is_still_microseconds_and_nothing_is_nothing() {
        assert_eq!(
            unit_of("``CPU_SUSPEND`` latencies s) to deepest"),
            Some("us")
        );
        assert_eq!(unit_of("TOTAL TIME (ns)"), Some("ns"));
        assert_eq!(unit_of("latencies (µs)"), Some("us"));
        assert_eq!(unit_of("Powerdown"), None);
    }
}
