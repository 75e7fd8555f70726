//! The warnings before a comparison.

use crate::matching::{Pending, factor, is_exact};
use crate::policy::Rule;
use crate::result::{Basis, Change, OtherOrder, Side};
use crate::statistics::rank_test;
use crate::table::{Key, Table};
use recording::{Header, stats};
use std::collections::HashMap;

pub(crate) fn warnings(sides: &[Side], headers: &[&Header]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut differ = |what: &str, of: &dyn Fn(&Side) -> Option<String>, then: &str| {
        let values: Vec<_> = sides.iter().map(of).collect();
        if values.iter().any(|value| *value != values[0]) {
            let shown: Vec<_> = sides
                .iter()
                .zip(&values)
                .map(|(side, value)| {
                    format!("{} ({})", value.as_deref().unwrap_or("unknown"), side.name)
                })
                .collect();
            warnings.push(format!("{what} differ: {}{then}", shown.join(", ")));
        }
    };
    differ(
        "platforms",
        &|side| side.platform.clone(),
        "; what changed may be the hardware",
    );
    differ(
        "worlds",
        &|side| Some(side.world.clone()),
        "; a figure of one is no measurement of the other",
    );
    // Who ran a simulation does not matter; a machine that was measured does.
    if sides
        .iter()
        .any(|side| !side.repeatable && side.world != "import")
    {
        differ(
            "machines",
            &|side| side.machine.clone(),
            "; what changed may be the machine",
        );
    }
    if headers.iter().any(|header| {
        (&header.experiment, &header.form) != (&headers[0].experiment, &headers[0].form)
    }) {
        let names: Vec<_> = headers
            .iter()
            .map(|header| header.experiment.as_str())
            .collect();
        warnings.push(format!("experiments differ: {}", names.join(", ")));
    }
    if sides.iter().all(|side| side.repeatable)
        && sides.iter().any(|side| side.seed != sides[0].seed)
    {
        let seeds: Vec<_> = sides.iter().map(|side| side.seed.to_string()).collect();
        warnings.push(format!(
            "seeds differ ({}): rows are compared as samples, not exactly",
            seeds.join(", ")
        ));
    }
    warnings
}

/// A table whose rows the order of the CPUs decides, and how to compare it all the same.
pub(crate) fn of_order(order: &OtherOrder, sides: &[Side], headers: &[&Header]) -> String {
    let (base, other) = (&sides[0], &sides[order.side]);
    let OtherOrder { case, mode, .. } = order;
    let exact = is_exact(headers, order.side, mode);
    let text = |order: &[u16]| {
        order
            .iter()
            .map(u16::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let why = match order.by_chance {
        [false, false] => format!(
            "the clusters' CPUs went down in another order in {} ({}) than in {} ({})",
            other.name,
            text(&order.clusters[1]),
            base.name,
            text(&order.clusters[0])
        ),
        [true, false] => format!("chance had the order of the CPUs in {}", base.name),
        [false, true] => format!("chance had the order of the CPUs in {}", other.name),
        [true, true] => "chance had the order of the CPUs in both".to_owned(),
    };
    let then = match (order.by_chance.contains(&true), exact) {
        (false, false) => "; part of each change there is that order".to_owned(),
        _ => ", which decides the rows: they are not judged".to_owned(),
    };
    let remedy = match (order.by_chance, exact) {
        ([false, false], true) if headers[0].experiment == "psci-latency" => {
            let release = |side: &Side| side.variants.first().cloned().unwrap_or_default();
            format!(
                "; `stopwatt run psci-latency --release {} --order {}` runs it in the base's order",
                release(other),
                release(base)
            )
        }
        _ if order.drawn_as_well => {
            "; the rows of the same case over many orders are judged".to_owned()
        }
        ([false, false], _) => String::new(),
        _ => "; `--free-seeds` in both gives rows over many orders".to_owned(),
    };
    format!("{case} {mode}: {why}{then}{remedy}")
}

/// Rows that match but for their unit.
pub(crate) fn other_units(tables: &[Table]) -> Option<String> {
    let base: HashMap<&Key, &str> = tables[0]
        .rows
        .iter()
        .map(|(key, samples)| (key, samples.unit.as_str()))
        .collect();
    let others = tables[1..].iter().flat_map(|table| &table.rows);
    let mut wrong = others.filter_map(|(key, samples)| {
        let unit = base.get(key)?;
        factor(&samples.unit, unit)
            .is_none()
            .then(|| format!("{} is in {unit} and in {}", key.label(), samples.unit))
    });
    let first = wrong.next()?;
    Some(format!(
        "rows of units that cannot be compared are left out: {first}, and {} more",
        wrong.count()
    ))
}

/// Rows whose iterations are not independent.
pub(crate) fn dependent(rows: &[Pending<'_>]) -> Option<String> {
    let per = |change: &Change| match change.basis {
        Basis::Sampled {
            values_per_independent,
            ..
        } => Some(values_per_independent).filter(|per| *per > 1.0),
        Basis::Exact => None,
    };
    let of_rows = rows.iter().flat_map(|row| {
        row.row
            .changes
            .iter()
            .flatten()
            .filter_map(per)
            .map(|per| (per, &row.row.key))
    });
    let count = of_rows.clone().count();
    let (most, key) = of_rows.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "iterations of {count} changes depend on the one before (autocorrelation), so their p-values and intervals count fewer \
         values: {most:.1} as one in the worst row ({})",
        key.label()
    ))
}

/// Fewer iterations than this have no beginning to tell from the rest.
const FEWEST_IN_TIME: usize = 12;

/// Distance from the median, in robust standard deviations, from which a value is an outlier.
const OUTLYING: f64 = 5.0;

/// Rows of a recording with outliers, that begin otherwise than they go on, or that drift.
pub(crate) fn uneven(side: &str, table: &Table) -> Option<String> {
    let (mut outliers, mut warm_up, mut drift) = (Vec::new(), Vec::new(), Vec::new());
    for (key, samples) in table
        .rows
        .iter()
        .filter(|(_, samples)| samples.values.len() >= FEWEST_IN_TIME)
    {
        let values = &samples.values;
        let (tenth, third) = ((values.len() / 10).max(1), values.len() / 3);
        let median = |values: &[f64]| stats::median(values).unwrap_or(f64::NAN);
        let far = |value: f64, from: &[f64]| {
            let middle = median(from);
            let apart: Vec<f64> = from.iter().map(|value| (value - middle).abs()).collect();
            // 1.4826 medians of the distances are a standard deviation where values are normal.
            let sd = 1.4826 * median(&apart);
            sd > 0.0 && (value - middle).abs() > OUTLYING * sd
        };
        let (first, rest) = values.split_at(tenth);
        if first.iter().all(|&value| far(value, rest)) {
            warm_up.push(key);
        } else if values.iter().any(|&value| far(value, values)) {
            outliers.push(key);
        }
        // The first third beside the last, with the beginning left out.
        let early = &values[tenth..third + tenth];
        if rank_test(early, &values[values.len() - third..]) < 0.001 {
            drift.push(key);
        }
    }
    let said = |rows: &[&Key], what: &str| {
        let first = rows.first()?;
        Some(format!(
            "{what} in {} rows, such as {}",
            rows.len(),
            first.label()
        ))
    };
    let parts = [
        said(
            &outliers,
            "outliers (5 standard deviations and more from the median)",
        ),
        said(&warm_up, "a first tenth that is unlike the rest (warm-up)"),
        said(&drift, "a drift from the first third to the last"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{side} has {}", parts.join("; ")))
}

pub(crate) fn describe(rule: &Rule) -> String {
    let parts = [
        ("case", &rule.case),
        ("mode", &rule.mode),
        ("metric", &rule.metric),
        ("row", &rule.row),
    ];
    let named: Vec<_> = parts
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?)))
        .collect();
    if named.is_empty() {
        "for all rows".to_owned()
    } else {
        named.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attribution::Timelines;
    use recording::Recording;

    /// A side that measured itself, in world `host`.
    fn side(name: &str) -> Side {
        let named = str::to_owned;
        Side {
            name: named(name),
            runs: 1,
            variants: vec![named("v")],
            world: named("host"),
            repeatable: false,
            platform: None,
            machine: None,
            seed: 1,
        }
    }

    fn header(experiment: &str) -> Header {
        Header::new(experiment, "host", "ns")
    }

    fn said(sides: [Side; 2]) -> Vec<String> {
        let header = header("e");
        warnings(&sides, &[&header, &header])
    }

    /// Values of a case's row, by metric and unit.
    fn table(rows: &[(&str, &str, &[f64])]) -> Table {
        let mut recording = Recording::new(header("e"));
        let series = recording.series("v", "c", "");
        for &(metric, unit, values) in rows {
            for (iteration, &value) in (0..).zip(values) {
                recording.measure(series, iteration, metric, unit, value);
            }
        }
        Table::new(&Timelines::new(&recording), |_| Some(String::new()))
    }

    #[test]
    fn what_sides_do_not_share_is_said_with_whose_it_is() {
        assert!(said([side("A"), side("B")]).is_empty());
        let board = |name| Some(String::from(name));
        let differ: [(Side, &str); 3] = [
            (
                Side {
                    platform: board("juno"),
                    ..side("B")
                },
                "platforms differ: unknown (A), juno (B); what changed may be the hardware",
            ),
            (
                Side {
                    world: "qemu".to_owned(),
                    ..side("B")
                },
                "worlds differ: host (A), qemu (B); a figure of one is no measurement of the other",
            ),
            (
                Side {
                    machine: board("m2"),
                    ..side("B")
                },
                "machines differ: unknown (A), m2 (B); what changed may be the machine",
            ),
        ];
        for (other, text) in differ {
            assert_eq!(said([side("A"), other]), [text]);
        }
    }

    /// Two simulations by two people, and two logs that were imported: who did it says nothing of
    /// the figures.
    #[test]
    fn a_machine_matters_where_it_was_measured() {
        let of = |name, world: &str, repeatable, machine: &str| Side {
            world: world.to_owned(),
            repeatable,
            machine: Some(machine.to_owned()),
            ..side(name)
        };
        for (world, repeatable, warned) in
            [("sim", true, 0), ("import", false, 0), ("host", false, 1)]
        {
            let found = said([
                of("A", world, repeatable, "one"),
                of("B", world, repeatable, "two"),
            ]);
            assert_eq!(found.len(), warned, "{world}: {found:?}");
        }
    }

    #[test]
    fn seeds_matter_where_both_repeat_themselves() {
        let of = |seed, repeatable| Side {
            seed,
            repeatable,
            ..side("A")
        };
        for (sides, warned) in [
            ([of(1, true), of(2, true)], true),
            ([of(1, true), of(1, true)], false),
            ([of(1, true), of(2, false)], false),
            ([of(1, false), of(2, false)], false),
        ] {
            let found = said(sides);
            let text = "seeds differ (1, 2): rows are compared as samples, not exactly";
            assert_eq!(found, if warned { vec![text] } else { vec![] });
        }
    }

    #[test]
    fn other_experiments_are_named() {
        let found = warnings(&[side("A"), side("B")], &[&header("e"), &header("f")]);
        assert_eq!(found, ["experiments differ: e, f"]);
    }

    /// The remedy is a command where there is one, and rows that are judged where there are such.
    #[test]
    fn an_order_that_decides_is_told_with_its_remedy() {
        let told = |experiment: &str, world: &str, by_chance, drawn_as_well| {
            let mut header = header(experiment);
            header.world = world.to_owned();
            let clusters = [vec![0, 1], vec![1, 0]];
            let (case, mode) = ("suspend-deepest".to_owned(), "parallel".to_owned());
            let order = OtherOrder {
                variant: String::new(),
                case,
                mode,
                side: 1,
                clusters,
                by_chance,
                drawn_as_well,
            };
            of_order(&order, &[side("A"), side("B")], &[&header, &header])
        };
        let head = "suspend-deepest parallel: the clusters' CPUs went down in another order in B (1 0) than in A (0 1)";
        for (experiment, world, by_chance, drawn, expected) in [
            ("psci-latency", "import", [false; 2], false, format!("{head}; part of each change there is that order")),
            (
                "psci-latency",
                "sim",
                [false; 2],
                true,
                format!(
                    "{head}, which decides the rows: they are not judged; `stopwatt run psci-latency --release v --order v` runs it \
                     in the base's order"
                ),
            ),
            (
                "psci-latency",
                "sim",
                [false, true],
                true,
                "suspend-deepest parallel: chance had the order of the CPUs in B, which decides the rows: they are not judged; the rows \
                 of the same case over many orders are judged"
                    .to_owned(),
            ),
            (
                "psci-latency",
                "sim",
                [true, true],
                false,
                "suspend-deepest parallel: chance had the order of the CPUs in both, which decides the rows: they are not judged; `--free-seeds` \
                 in both gives rows over many orders"
                    .to_owned(),
            ),
        ] {
            assert_eq!(told(experiment, world, by_chance, drawn), expected);
        }
    }

    #[test]
    fn units_that_cannot_be_compared_are_counted() {
        let one = table(&[
            ("a", "us", &[1.0]),
            ("b", "us", &[1.0]),
            ("c", "us", &[1.0]),
        ]);
        let other = table(&[
            ("a", "ns", &[1.0]),
            ("b", "ticks", &[1.0]),
            ("c", "bytes", &[1.0]),
            ("d", "us", &[1.0]),
        ]);
        assert_eq!(
            other_units(&[one, other]).as_deref(),
            Some(
                "rows of units that cannot be compared are left out: c, b is in us and in ticks, and 1 more"
            )
        );
        assert_eq!(
            other_units(&[table(&[("a", "us", &[1.0])]), table(&[("a", "ns", &[1.0])])]),
            None
        );
    }

    /// Twenty values about 100, with some changed: what is said of them.
    fn uneven_with(change: impl Fn(usize, f64) -> f64, count: usize) -> Option<String> {
        let values: Vec<f64> = (0..count)
            .map(|n| change(n, 100.0 + (n * 7 % 10) as f64 / 10.0))
            .collect();
        uneven("A", &table(&[("m", "us", &values)]))
    }

    #[test]
    fn what_is_uneven_is_told_apart() {
        assert_eq!(uneven_with(|_, value| value, 20), None);
        // The median is 100.45, and the values' robust standard deviation 0.37.
        let outlying = |value| uneven_with(move |n, even| if n == 10 { value } else { even }, 20);
        assert_eq!(outlying(102.0), None, "4 standard deviations");
        let outliers = Some(
            "A has outliers (5 standard deviations and more from the median) in 1 rows, such as c, m",
        );
        assert_eq!(
            (outlying(103.0).as_deref(), outlying(98.0).as_deref()),
            (outliers, outliers)
        );
        // The first tenth, which is two values; of less than twenty, one.
        let begins = |first: usize, count| {
            uneven_with(
                move |n, even| if n < first { even + 9.0 } else { even },
                count,
            )
        };
        let warm_up =
            Some("A has a first tenth that is unlike the rest (warm-up) in 1 rows, such as c, m");
        assert_eq!(begins(2, 20).as_deref(), warm_up);
        assert_eq!(
            (begins(1, 20).as_deref(), begins(1, 19).as_deref()),
            (outliers, warm_up)
        );
        assert_eq!(
            (begins(1, 12).as_deref(), begins(1, 11)),
            (warm_up, None),
            "too few values have no beginning"
        );
        let drifts = |per| uneven_with(move |n, even| even + per * n as f64, 40);
        let drift = Some("A has a drift from the first third to the last in 1 rows, such as c, m");
        assert_eq!(
            (
                drifts(0.05).as_deref(),
                drifts(-0.05).as_deref(),
                drifts(0.0)
            ),
            (drift, drift, None)
        );
        // Values that are all alike have no spread to be far from.
        let mut alike = [5.0; 30];
        assert_eq!(uneven("A", &table(&[("m", "us", &alike)])), None);
        alike[15] = 6.0;
        assert_eq!(uneven("A", &table(&[("m", "us", &alike)])), None);
    }
}
