//! Sessions of a board. Costs that were fitted to two sessions differ by the state of the board as
//! well as by the firmware, and one release that was measured twice shows by how much.

use crate::matching::Pending;
use crate::result::{Basis, BoardCost, Change, Sessions, Side, TablePaths, Verdict};
use crate::table::Key;
use recording::Header;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use toml::Table;

/// One release in two sessions: `data/published/sessions.toml`, and its figures.
static REPEATED: LazyLock<Repeated> = LazyLock::new(|| {
    // Both belong to the program, and a test reads them.
    let mut repeated: Repeated =
        toml::from_str(include_str!("../../../../data/published/sessions.toml"))
            .unwrap_or_default();
    repeated.read_figures(include_str!(
        "../../../../data/published/juno-psci-sessions.csv"
    ));
    repeated
});

#[derive(Default, Deserialize)]
struct Repeated {
    platform: String,
    release: String,
    by_place: Vec<ByPlace>,
    board_cost: Vec<BoardKey>,
    /// The largest change from one session to the other in percent, by mode and metric; the mode is
    /// empty but for tables by place.
    #[serde(skip)]
    floors: BTreeMap<(String, String), f64>,
}

#[derive(Deserialize)]
struct ByPlace {
    mode: String,
    metric: String,
}

#[derive(Deserialize)]
struct BoardKey {
    /// End of the cost's key.
    key: String,
    /// A figure of the release that must be the same for the cost to be the board's.
    same: Option<String>,
}

impl Repeated {
    /// Reads lines of session, case, mode, cluster, core, metric, value and unit.
    fn read_figures(&mut self, figures: &str) {
        // By case, mode, metric, cluster and core, the values of each session.
        let mut values: BTreeMap<[&str; 5], BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
        for line in figures.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let [session, case, mode, cluster, core, metric, value, _] = fields[..] else {
                continue;
            };
            let Ok(value) = value.parse() else { continue };
            let by_place = self
                .by_place
                .iter()
                .any(|table| (&*table.mode, &*table.metric) == (mode, metric));
            let cell = [
                case,
                mode,
                metric,
                cluster,
                if by_place { "" } else { core },
            ];
            values
                .entry(cell)
                .or_default()
                .entry(session)
                .or_default()
                .push(value);
        }
        for ([_, mode, metric, _, core], mut sessions) in values {
            sessions
                .values_mut()
                .for_each(|values| values.sort_by(f64::total_cmp));
            let mut sessions = sessions.into_values();
            let (Some(first), Some(second)) = (sessions.next(), sessions.next()) else {
                continue;
            };
            let changes = first
                .iter()
                .zip(second)
                .map(|(first, second)| either_way(second / first));
            let mode = if core.is_empty() { mode } else { "" };
            let floor = self
                .floors
                .entry((mode.to_owned(), metric.to_owned()))
                .or_default();
            *floor = changes.fold(*floor, f64::max);
        }
    }

    /// The change of a row in percent that a session explains; of a metric that was not measured
    /// twice, the largest of all.
    fn floor(&self, key: &Key) -> f64 {
        let of_row = self
            .floors
            .iter()
            .rev()
            .find(|((mode, metric), _)| key.mode.starts_with(mode) && key.metric == *metric);
        of_row.map_or_else(
            || self.floors.values().copied().fold(0.0, f64::max),
            |(_, floor)| *floor,
        )
    }
}

/// The sessions behind the costs of a base and a recording, if they are two.
pub(crate) fn sessions(headers: &[&Header], side: usize, variants: [&str; 2]) -> Option<Sessions> {
    let costs: Vec<&Table> = [0, side]
        .iter()
        .zip(variants)
        .map(|(&side, variant)| {
            headers[side]
                .costs
                .get(variant)
                .filter(|_| headers[side].is_repeatable())
        })
        .collect::<Option<_>>()?;
    let names = [session(costs[0])?.to_owned(), session(costs[1])?.to_owned()];
    if names[0] == names[1] || all(costs[0]).eq(all(costs[1])) {
        return None;
    }
    let figure = |side: usize, key: &str| {
        let figures = headers[side]
            .platform
            .as_ref()?
            .figures
            .get(variants[usize::from(side != 0)])?;
        key.split('.')
            .try_fold(figures, |value, part| value.get(part))
            .cloned()
    };
    let is_boards = |key: &str| {
        REPEATED.board_cost.iter().any(|board| {
            let is_same =
                |same: &String| figure(0, same).is_some() && figure(0, same) == figure(side, same);
            key.ends_with(&board.key) && board.same.as_ref().is_none_or(is_same)
        })
    };
    let moved = all(costs[0])
        .filter(|(key, _)| is_boards(key))
        .filter_map(|(key, before)| {
            let (_, after) = all(costs[1]).find(|(other, _)| *other == key)?;
            let open = deviation(costs[0], &key)?.hypot(deviation(costs[1], &key)?);
            let has_moved = (after - before).abs() > (3.0 * open).max(0.02 * before);
            has_moved.then_some(BoardCost {
                key,
                us: [before, after],
            })
        });
    Some(Sessions {
        side,
        names,
        moved: moved.collect(),
        floors: REPEATED
            .floors
            .iter()
            .map(|((mode, metric), floor)| ([mode.clone(), metric.clone()], *floor))
            .collect(),
        granted: granted(costs[0]) + granted(costs[1]),
        measured: [REPEATED.release.clone(), REPEATED.platform.clone()],
    })
}

/// The session that costs were fitted to: the file names it, or it is that of the release alone.
fn session(costs: &Table) -> Option<&str> {
    let name = |key: &str| costs.get(key).and_then(toml::Value::as_str);
    name("session").or_else(|| name("release").filter(|_| costs.contains_key("fit")))
}

/// The costs of a file with their keys as a fit writes them, in microseconds.
fn all(costs: &Table) -> impl Iterator<Item = (String, f64)> {
    let mut found = Vec::new();
    for (section, value) in costs.iter().filter(|(section, _)| *section != "fit") {
        let prefix = if section == "shared" {
            String::new()
        } else {
            format!("{section}.")
        };
        collect(&prefix, value, &mut found);
    }
    found.into_iter()
}

fn collect(prefix: &str, value: &toml::Value, found: &mut Vec<(String, f64)>) {
    for (key, value) in value.as_table().into_iter().flatten() {
        match value {
            toml::Value::Table(_) => collect(&format!("{prefix}{key}."), value, found),
            other => found.extend(microseconds(other).map(|us| (format!("{prefix}{key}"), us))),
        }
    }
}

/// A cost in microseconds; a share is a plain number.
fn microseconds(value: &toml::Value) -> Option<f64> {
    let (number, unit) = match value.as_str() {
        Some(text) => text.split_once(' ')?,
        None => return value.as_float(),
    };
    let factor = [("ps", 1e-6), ("ns", 1e-3), ("us", 1.0), ("ms", 1e3)]
        .into_iter()
        .find(|(name, _)| *name == unit)?
        .1;
    Some(number.parse::<f64>().ok()? * factor)
}

/// The standard error that a fit leaves of a cost, in microseconds.
fn deviation(costs: &Table, key: &str) -> Option<f64> {
    let uncertainty = costs.get("fit")?.get("uncertainty")?;
    let place = uncertainty
        .get("keys")?
        .as_array()?
        .iter()
        .position(|other| other.as_str() == Some(key))?;
    let row = uncertainty
        .get("factor")?
        .as_array()?
        .get(place)?
        .as_array()?;
    Some(
        row.iter()
            .filter_map(toml::Value::as_float)
            .map(|part| part * part)
            .sum::<f64>()
            .sqrt(),
    )
}

/// What a fit grants each of its cells, in percent.
fn granted(costs: &Table) -> f64 {
    let of = |table: &str, key: &str| costs.get("fit")?.get(table)?.get(key).cloned();
    let granted = of("uncertainty", "granted")
        .and_then(|granted| granted.get(0)?.as_float())
        .unwrap_or_default();
    let residual = of("gate", "weighted_rms")
        .and_then(|rms| rms.as_float())
        .unwrap_or_default();
    granted * residual.max(1.0) * 100.0
}

/// Takes the verdict from changes that two sessions of one firmware differ by, and the causes
/// from all where the board was in another state.
pub(crate) fn leave_to_sessions(
    rows: &mut [Pending<'_>],
    headers: &[&Header],
    sides: &[Side],
) -> Vec<Sessions> {
    // Releases of one name are compared with each other; where names differ there is one a side.
    let release = |side: usize, key: &Key| -> &str {
        let own = sides[side]
            .variants
            .iter()
            .find(|variant| **variant == key.variant);
        own.or(sides[side].variants.first())
            .map_or("", String::as_str)
    };
    let mut known: BTreeMap<(String, usize), Option<Sessions>> = BTreeMap::new();
    for Pending { row, .. } in rows {
        for (side, change) in (1..).zip(&mut row.changes) {
            let Some(change) = change.as_mut() else {
                continue;
            };
            let found = known
                .entry((row.key.variant.clone(), side))
                .or_insert_with(|| {
                    sessions(
                        headers,
                        side,
                        [release(0, &row.key), release(side, &row.key)],
                    )
                });
            let Some(sessions) = found else { continue };
            if !sessions.moved.is_empty() {
                change.causes.clear();
            }
            let is_judged = matches!(
                change.verdict,
                Verdict::Worse | Verdict::Better | Verdict::Changed
            );
            if is_judged && least(change) <= REPEATED.floor(&row.key) + sessions.granted {
                change.verdict = Verdict::Session;
            }
        }
    }
    let mut all: Vec<Sessions> = known.into_values().flatten().collect();
    all.dedup();
    all
}

/// The size of a change in percent, at the end of its interval that is nearer to none.
fn least(change: &Change) -> f64 {
    let size = |percent: f64| either_way(1.0 + percent / 100.0);
    match (change.basis, change.percent) {
        (
            Basis::Sampled {
                interval: Some((low, high)),
                ..
            },
            _,
        ) => size(low).min(size(high)),
        (_, Some(percent)) => size(percent),
        _ => f64::INFINITY,
    }
}

/// The size of a change by a factor in percent; halving and doubling are the same.
fn either_way(factor: f64) -> f64 {
    if factor > 0.0 {
        factor.max(1.0 / factor) * 100.0 - 100.0
    } else {
        f64::INFINITY
    }
}

/// Drops the critical paths of recordings whose board was in another state.
pub(crate) fn withhold_paths(mut paths: Vec<TablePaths>, sessions: &[Sessions]) -> Vec<TablePaths> {
    for of in sessions.iter().filter(|of| !of.moved.is_empty()) {
        paths
            .iter_mut()
            .for_each(|table| table.paths[of.side] = None);
    }
    paths.retain(|table| table.paths.iter().skip(1).any(Option::is_some));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Options;
    use crate::result::{Comparison, Outcome};
    use crate::testing::try_compare;
    use recording::Recording;

    /// Costs of a session with their standard errors, and the powerdown that they come to, of a
    /// release that speaks SCMI.
    fn run(session: &str, powerdown: f64, line_ns: f64) -> Recording {
        speaking("scmi", session, powerdown, line_ns)
    }

    fn speaking(protocol: &str, session: &str, powerdown: f64, line_ns: f64) -> Recording {
        let costs = format!(
            "release = \"v\"\nsession = \"{session}\"\n[cores.a]\nflush_l2_line = \"{line_ns} ns\"\nsmc = \"{powerdown} us\"\n\
             [fit.uncertainty]\nkeys = [\"cores.a.flush_l2_line\", \"cores.a.smc\"]\nfactor = [[1e-5], [0.1, 0.1]]\n"
        );
        let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
        recording
            .header
            .costs
            .insert("v".to_owned(), costs.parse().unwrap());
        let figures = format!("[v.firmware]\nscp_protocol = \"{protocol}\"")
            .parse()
            .unwrap();
        recording.header.platform = Some(recording::Platform {
            name: "juno-r1".to_owned(),
            text: String::new(),
            figures,
        });
        let series = recording.series("v", "suspend-level0", "serial");
        recording
            .measure(series, 0, "powerdown", "us", powerdown)
            .cpu = Some(0);
        recording
    }

    fn compared(base: &Recording, other: &Recording) -> Comparison {
        try_compare(&[base, other], &Options::default()).unwrap()
    }

    fn verdict(comparison: &Comparison) -> Verdict {
        comparison.rows[0].changes[0].as_ref().unwrap().verdict
    }

    #[test]
    fn what_two_sessions_of_one_firmware_differ_by_is_not_judged() {
        let base = run("first", 100.0, 4.0);
        let near = compared(&base, &run("second", 110.0, 4.0));
        assert_eq!(
            (verdict(&near), near.outcome()),
            (Verdict::Session, Outcome::Unjudged)
        );
        assert!(near.sessions[0].moved.is_empty());
        let far = compared(&base, &run("second", 130.0, 4.0));
        assert_eq!(
            (verdict(&far), far.outcome()),
            (Verdict::Worse, Outcome::Regression)
        );
        let same = compared(&base, &run("first", 110.0, 4.0));
        assert_eq!(
            (verdict(&same), same.sessions.len()),
            (Verdict::Worse, 0),
            "one session is exact"
        );
    }

    #[test]
    fn a_cost_of_the_board_that_moved_is_told() {
        let other = compared(&run("first", 100.0, 4.04), &run("second", 130.0, 4.91));
        let [moved] = &other.sessions[0].moved[..] else {
            panic!("{:?}", other.sessions)
        };
        assert_eq!(moved.key, "cores.a.flush_l2_line");
        assert!((moved.us[0] - 4.04e-3).abs() < 1e-9 && (moved.us[1] - 4.91e-3).abs() < 1e-9);
        // Of releases that speak another protocol nobody says whose cost it is.
        let older = compared(
            &speaking("scpi", "old", 100.0, 5.32),
            &run("second", 130.0, 4.04),
        );
        assert!(older.sessions[0].moved.is_empty());
    }

    /// A rise and a fall of the same factor are as large, and each metric has a floor.
    #[test]
    fn floors_come_from_a_release_that_was_measured_twice() {
        let modes = |metric: &str| {
            REPEATED
                .floors
                .keys()
                .filter(|(_, of)| of == metric)
                .count()
        };
        assert_eq!(
            ["cache_flush", "latency", "powerdown", "wakeup"].map(modes),
            [1, 1, 2, 1]
        );
        assert!(
            REPEATED
                .floors
                .values()
                .all(|floor| (5.0..200.0).contains(floor)),
            "{:?}",
            REPEATED.floors
        );
        assert!((either_way(0.5) - either_way(2.0)).abs() < 1e-9);
        assert!(REPEATED.board_cost.len() > 3 && !REPEATED.release.is_empty());
    }
}
