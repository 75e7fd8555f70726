//! The order in which CPUs came: a condition of a run, which decides the rows of roles.

use crate::matching::Pending;
use crate::result::{Basis, OtherOrder, Verdict};
use crate::table::{Key, Table, Who};
use recording::Header;

/// Release, case and mode, as in a row's key.
type Name = (String, String, String);

/// The tables whose rows of roles the order decides. A mode whose iterations draw it is a sample of
/// orders, so it is none of them.
pub(crate) fn other_orders(tables: &[Table], headers: &[&Header]) -> Vec<OtherOrder> {
    let free = |side: usize, mode: &str| headers[side].free_modes.iter().any(|free| free == mode);
    let is_drawn =
        |side: usize, mode: &str| headers[side].seeded_modes.iter().any(|drawn| drawn == mode);
    let has_drawn = |side: usize, (variant, case, _): &Name| {
        tables[side]
            .orders
            .keys()
            .any(|other| (&other.0, &other.1) == (variant, case) && is_drawn(side, &other.2))
    };
    let mut found = Vec::new();
    for (name, base) in tables[0]
        .orders
        .iter()
        .filter(|(name, _)| !is_drawn(0, &name.2))
    {
        for (side, table) in tables.iter().enumerate().skip(1) {
            let Some(other) = table.orders.get(name).filter(|_| !is_drawn(side, &name.2)) else {
                continue;
            };
            let by_chance = [free(0, &name.2), free(side, &name.2)];
            if base != other || by_chance.contains(&true) {
                let (variant, case, mode) = name.clone();
                let drawn_as_well = has_drawn(0, name) && has_drawn(side, name);
                let clusters = [base.clone(), other.clone()];
                found.push(OtherOrder {
                    variant,
                    case,
                    mode,
                    side,
                    clusters,
                    by_chance,
                    drawn_as_well,
                });
            }
        }
    }
    found
}

/// Takes the verdict from rows that an order decides: two runs of one machine would differ as much.
/// Samples are left to their test, unless all of them share the order that chance had.
pub(crate) fn leave_unjudged(rows: &mut [Pending<'_>], orders: &[OtherOrder]) {
    let is_role = |key: &Key| matches!(key.who, Who::Nth { .. } | Who::LastMan { .. });
    for Pending { row, .. } in rows.iter_mut().filter(|pending| is_role(&pending.row.key)) {
        for (side, change) in (1..).zip(&mut row.changes) {
            let Some(change) = change
                .as_mut()
                .filter(|change| change.verdict != Verdict::Same)
            else {
                continue;
            };
            let Some(order) = orders.iter().find(|order| order.holds(&row.key, side)) else {
                continue;
            };
            if change.basis == Basis::Exact || order.by_chance.contains(&true) {
                (change.verdict, change.too_few) = (Verdict::Order, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::request::Options;
    use crate::result::{Comparison, Verdict};
    use crate::testing;
    use recording::{Header, Recording};

    /// Two CPUs of two clusters, with their powerdowns in each mode.
    fn run(rows: &[(&str, [f64; 2])]) -> Recording {
        let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
        for (mode, values) in rows {
            let series = recording.series("v", "suspend-deepest", mode);
            for (cluster, value) in (0..).zip(values) {
                let measure = recording.measure(series, 0, "powerdown", "us", *value);
                (measure.cpu, measure.cluster, measure.core) =
                    (Some(cluster), Some(cluster), Some(0));
            }
        }
        recording
    }

    fn compared(a: &Recording, b: &Recording) -> Comparison {
        testing::compared(&[a, b], &Options::default())
    }

    fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
        comparison
            .changes()
            .map(|(_, change)| change.verdict)
            .collect()
    }

    #[test]
    fn rows_that_another_order_decides_are_not_judged() {
        let (base, same) = (
            run(&[("parallel", [10.0, 20.0])]),
            run(&[("parallel", [30.0, 40.0])]),
        );
        assert_eq!(
            verdicts(&compared(&base, &same)),
            [Verdict::Worse, Verdict::Worse]
        );
        let swapped = compared(&base, &run(&[("parallel", [40.0, 30.0])]));
        assert_eq!(
            (verdicts(&swapped), swapped.has_regression()),
            (vec![Verdict::Order; 2], false)
        );
        let [order] = &swapped.orders[..] else {
            panic!("{:?}", swapped.orders)
        };
        assert_eq!(
            (&order.clusters, order.by_chance, order.drawn_as_well),
            (&[vec![0, 1], vec![1, 0]], [false; 2], false)
        );
        let serial = compared(
            &run(&[("serial", [10.0, 20.0])]),
            &run(&[("serial", [40.0, 30.0])]),
        );
        assert_eq!(
            (verdicts(&serial), serial.orders),
            (vec![Verdict::Worse; 2], vec![]),
            "nobody waits for another"
        );
    }

    /// Chance may have had the base's order: it is one of many all the same.
    #[test]
    fn an_order_of_chance_decides_nothing_unless_it_is_drawn_again_and_again() {
        let with_drawn = |values: [f64; 2]| {
            let mut recording = run(&[
                ("parallel", values),
                ("parallel-free", [values[1], values[0]]),
            ]);
            recording.header.seeded_modes = vec!["parallel-free".to_owned()];
            recording
        };
        let (base, mut other) = (with_drawn([10.0, 20.0]), with_drawn([11.0, 22.0]));
        assert_eq!(compared(&base, &other).orders, []);
        other.header.free_modes = vec!["parallel".to_owned()];
        let comparison = compared(&base, &other);
        let found: Vec<_> = comparison
            .orders
            .iter()
            .map(|order| (&*order.mode, order.by_chance, order.drawn_as_well))
            .collect();
        assert_eq!(found, [("parallel", [false, true], true)]);
        // One draw of each says nothing.
        assert_eq!(
            verdicts(&comparison),
            [
                Verdict::Order,
                Verdict::Order,
                Verdict::Unclear,
                Verdict::Unclear
            ]
        );
        assert_eq!(
            verdicts(&compared(&other, &other))[..2],
            [Verdict::Same; 2],
            "what is equal needs no judge"
        );
    }
}
