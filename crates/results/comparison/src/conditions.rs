//! The conditions of runs: what was not the thing under test and can move a row. Rows that a
//! differing condition decides are not judged.

use crate::result::{Basis, Condition, Differing, OddRun, Row, Shift, Side, Verdict};
use crate::rows::is_exact;
use crate::table::{Key, Table, TableName, Who};
use itertools::Itertools;
use recording::metrics::WAKEUP;
use recording::{Header, conditions, stats};

/// The conditions that differ between the base and each other recording.
pub fn differing(tables: &[&Table], headers: &[&Header], sides: &[Side]) -> Vec<Differing> {
    let mut found = (1..sides.len())
        .flat_map(|side| other_runs(headers, side))
        .collect_vec();
    found.extend(other_orders(tables, headers, sides));
    found.extend(other_timers(tables[0], headers, sides));
    found
}

/// The tables of wake-ups in which another CPU owned the timer, or woke the others in another order.
fn other_timers(base: &Table, headers: &[&Header], sides: &[Side]) -> Vec<Differing> {
    let mut names = base
        .rows
        .iter()
        .map(|(key, _)| key)
        .filter(|key| key.metric == WAKEUP.name)
        .map(Key::table)
        .collect_vec();
    names.dedup();
    let mut found = Vec::new();
    for (side, header) in headers.iter().enumerate().skip(1) {
        for name @ [variant, case, mode] in &names {
            let owner = |side: usize, header: &Header| {
                let release = sides[side]
                    .variants
                    .iter()
                    .find(|own| *own == variant)
                    .or(sides[side].variants.first())?;
                let is_drawn = header.seeded_modes.contains(mode);
                let of = |key| header.condition(&format!("{release}/{case}/{mode}"), key);
                let wakes = of(conditions::WAKES).unwrap_or_default();
                (!is_drawn).then(|| Some(format!("{} {wakes}", of(conditions::TIMER)?)))?
            };
            let (Some(own), Some(other)) = (owner(0, headers[0]), owner(side, header)) else {
                continue;
            };
            if own != other || own.contains(conditions::CHANCE) {
                found.push(Differing {
                    condition: Condition::Timer,
                    side,
                    values: [own, other].map(|owner| owner.trim_end().to_owned()),
                    table: Some(name.clone()),
                    remedy: None,
                });
            }
        }
    }
    found
}

/// Another machine that was measured, or another condition that an import was given. Who ran a
/// simulation does not matter, nor who imported.
fn other_runs(headers: &[&Header], side: usize) -> Vec<Differing> {
    let [own, others] = [headers[0], headers[side]].map(|header| {
        let mut known = header.conditions.get("").cloned().unwrap_or_default();
        let machine = header.run.machine.clone();
        if !header.is_repeatable() && header.world != "import" {
            known.extend(machine.map(|machine| ("machine".to_owned(), machine)));
        }
        known
    });
    let differing = |(key, own): (String, String)| {
        let other = others.get(&key).filter(|other| **other != own)?.clone();
        let (condition, values) = match &*key {
            "machine" => (Condition::Machine, [own, other]),
            _ => (
                Condition::Given,
                [own, other].map(|value| format!("{key} {value}")),
            ),
        };
        Some(Differing {
            condition,
            side,
            values,
            table: None,
            remedy: None,
        })
    };
    own.into_iter().filter_map(differing).collect()
}

/// The tables whose rows of roles the order decides. A mode whose iterations draw it is a sample of
/// orders, so it is none of them.
fn other_orders(tables: &[&Table], headers: &[&Header], sides: &[Side]) -> Vec<Differing> {
    let is_in = |modes: &[String], mode: &str| modes.iter().any(|of| of == mode);
    let is_drawn = |side: usize, mode: &str| is_in(&headers[side].seeded_modes, mode);
    let has_drawn = |side: usize, name: &TableName| {
        let mut others = tables[side].orders.keys();
        others.any(|other| other[..2] == name[..2] && is_drawn(side, &other[2]))
    };
    let mut found = Vec::new();
    for (name, base) in tables[0]
        .orders
        .iter()
        .filter(|(name, _)| !is_drawn(0, &name[2]))
    {
        for (side, table) in tables.iter().enumerate().skip(1) {
            let Some(other) = table.orders.get(name).filter(|_| !is_drawn(side, &name[2])) else {
                continue;
            };
            let by_chance = [0, side].map(|side| is_in(&headers[side].free_modes, &name[2]));
            if base == other && by_chance == [false; 2] {
                continue;
            }
            let remedy = match by_chance {
                _ if has_drawn(0, name) && has_drawn(side, name) => {
                    Some("the rows of the same case over many orders are judged".to_owned())
                }
                [false, false] if is_exact(headers, side, &name[2]) => {
                    let release =
                        |side: usize| sides[side].variants.first().cloned().unwrap_or_default();
                    Some(format!(
                        "`stopwatt run psci-latency --release {} --order {}` runs it in the base's order",
                        release(side),
                        release(0)
                    ))
                }
                [false, false] => None,
                _ => Some("`--free-seeds` in both gives rows over many orders".to_owned()),
            };
            found.push(Differing {
                condition: Condition::Order,
                side,
                values: [(base, by_chance[0]), (other, by_chance[1])].map(|(order, by_chance)| {
                    if by_chance {
                        "chance".to_owned()
                    } else {
                        order.iter().map(u16::to_string).join(" ")
                    }
                }),
                table: Some(name.clone()),
                remedy: remedy.filter(|_| headers[0].experiment == "psci-latency"),
            });
        }
    }
    found
}

impl Differing {
    /// True if it decides a row: an order those of roles, a timer's owner the wake-ups.
    pub fn decides(&self, key: &Key) -> bool {
        self.table
            .as_ref()
            .is_none_or(|table| *table == key.table())
            && match self.condition {
                Condition::Order => matches!(key.who, Who::Nth { .. } | Who::LastMan { .. }),
                Condition::Timer => key.metric == WAKEUP.name,
                Condition::Machine | Condition::Given | Condition::Session => true,
            }
    }
}

/// Takes the verdict from rows that a condition decides: two runs of one thing would differ as
/// much. Runs are left to their test where no order is chance's.
pub fn leave_unjudged(rows: &mut [Row], conditions: &[Differing]) {
    for row in rows {
        for (side, change) in (1..).zip(&mut row.changes) {
            let found = conditions
                .iter()
                .find(|of| of.side == side && of.decides(&row.key));
            let (Some(change), Some(of)) = (change.as_mut(), found) else {
                continue;
            };
            let is_sample = of.condition == Condition::Order
                && change.basis != Basis::Exact
                && !of.values.contains(&"chance".to_owned());
            if change.verdict != Verdict::Same && !is_sample {
                change.verdict = Verdict::Unjudged(of.condition);
            }
        }
    }
}

/// Takes the verdict from what rows have in common, where a condition decides some of them.
pub fn withhold_shifts(shifts: &mut [Shift], rows: &[Row]) {
    for shift in shifts {
        let mut changes = rows
            .iter()
            .filter(|row| row.key.metric == shift.metric)
            .filter_map(|row| row.changes[shift.side - 1].as_ref());
        if changes.any(|change| matches!(change.verdict, Verdict::Unjudged(_))) {
            shift.verdict = Verdict::Unclear;
        }
    }
}

/// A run is odd if it is off by so many robust standard deviations of the others, and by
/// [`ODD_FACTOR`].
const ODD_DEVIATIONS: f64 = 6.0;

/// As [`ODD_DEVIATIONS`].
const ODD_FACTOR: f64 = 1.5;

/// The runs of a side that are unlike its others in the median of the rows.
pub fn odd_runs(rows: &[Row], side: usize, runs: usize) -> Vec<OddRun> {
    let whole = rows
        .iter()
        .map(|row| &row.values[side])
        .filter(|values| values.len() == runs && values.iter().all(|value| *value > 0.0))
        .collect_vec();
    let of_run = |run: usize| {
        let logs = whole
            .iter()
            .map(|values| (values[run] / stats::median(values).unwrap_or(f64::NAN)).ln());
        stats::median(&logs.collect_vec()).unwrap_or(0.0)
    };
    let logs = (0..runs).map(of_run).collect_vec();
    let sizes = logs.iter().map(|log| log.abs()).collect_vec();
    // 1.4826 medians of the distances are a standard deviation where values are normal.
    let usual = 1.4826 * stats::median(&sizes).unwrap_or(0.0);
    let is_odd = |log: f64| log.abs() > (ODD_DEVIATIONS * usual).max(ODD_FACTOR.ln());
    (1..)
        .zip(logs)
        .filter(|(_, log)| runs >= evidence::FEWEST_RUNS && is_odd(*log))
        .map(|(run, log)| OddRun {
            side,
            run,
            factor: log.exp(),
            rows: whole.len(),
        })
        .collect()
}
