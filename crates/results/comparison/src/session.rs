//! Sessions of a board. Costs that were fitted to two sessions differ by the state of the board as
//! well as by the firmware, and one release that was measured twice shows by how much.

use crate::result::{
    Basis, BoardCost, CauseChange, Change, Condition, Row, Sessions, Side, Verdict,
};
use crate::table::Key;
use document::Document;
use itertools::Itertools;
use recording::Header;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// One release in two sessions of a board, and the costs that no release decides there.
#[derive(Clone, Default, Deserialize)]
pub struct BoardSessions {
    platform: String,
    release: String,
    figures: String,
    by_place: Vec<ByPlace>,
    board_cost: Vec<BoardKey>,
    /// The largest change from one session to the other in percent, by mode and metric; the mode is
    /// empty but for tables by place.
    #[serde(skip)]
    floors: BTreeMap<(String, String), f64>,
}

#[derive(Clone, Deserialize)]
struct ByPlace {
    mode: String,
    metric: String,
}

#[derive(Clone, Deserialize)]
struct BoardKey {
    /// End of the cost's key.
    key: String,
    /// The causes whose time it decides.
    causes: Vec<String>,
    /// A figure of the release that must be the same for the cost to be the board's.
    same: Option<String>,
}

impl BoardSessions {
    /// Reads the description of two sessions; their figures are in a file that it names.
    ///
    /// # Errors
    /// The description is not as it has to be.
    pub fn read(
        description: &Document,
        figures: impl FnOnce(&str) -> String,
    ) -> Result<Self, document::Error> {
        let mut read: Self = description.read()?;
        read.read_figures(&figures(&read.figures));
        Ok(read)
    }

    /// The platform that was measured twice.
    pub fn platform(&self) -> &str {
        &self.platform
    }

    /// Reads lines of release, session, case, mode, cluster, core, metric, value and unit.
    fn read_figures(&mut self, figures: &str) {
        // By release, case, mode, metric, cluster and core, the values of each session.
        let mut values: BTreeMap<[&str; 6], BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
        for line in figures.lines().skip(1) {
            let fields = line.split(',').collect_vec();
            let [
                release,
                session,
                case,
                mode,
                cluster,
                core,
                metric,
                value,
                _,
            ] = fields[..]
            else {
                continue;
            };
            let Ok(value) = value.parse() else { continue };
            let by_place = self
                .by_place
                .iter()
                .any(|table| (&*table.mode, &*table.metric) == (mode, metric));
            let cell = [
                release,
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
        for ([_, _, mode, metric, _, core], mut sessions) in values {
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
        self.floors
            .iter()
            .rev()
            .find(|((mode, metric), _)| key.mode.starts_with(mode) && key.metric == *metric)
            .map_or_else(
                || self.floors.values().copied().fold(0.0, f64::max),
                |(_, floor)| *floor,
            )
    }
}

/// The sessions behind the costs of a base and a recording, if they are two.
fn sessions(
    known: Option<&BoardSessions>,
    headers: &[&Header],
    side: usize,
    variants: [&str; 2],
) -> Option<Sessions> {
    let both = [headers[0], headers[side]];
    let costs = |at: usize| {
        both[at]
            .costs
            .get(variants[at])
            .filter(|_| both[at].is_repeatable())
    };
    let costs = [costs(0)?, costs(1)?];
    let names = [session(costs[0])?.to_owned(), session(costs[1])?.to_owned()];
    if names[0] == names[1] || all(costs[0]).eq(all(costs[1])) {
        return None;
    }
    let platforms = both.map(|header| header.platform_name().unwrap_or_default());
    let known = known.filter(|of| platforms == [of.platform.as_str(); 2]);
    let figure = |at: usize, key: &str| {
        let figures = both[at].platform.as_ref()?.figures.get(variants[at])?;
        key.split('.')
            .try_fold(figures, |value, part| value.get(part))
            .cloned()
    };
    let is_boards = |key: &str| {
        known.iter().flat_map(|of| &of.board_cost).any(|board| {
            key.ends_with(&board.key)
                && board.same.as_ref().is_none_or(|same| {
                    figure(0, same).is_some() && figure(0, same) == figure(1, same)
                })
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
    let floors = known.iter().flat_map(|of| &of.floors);
    // Those that miss their figures by more than they may, as `calibrate` says.
    let bad = costs.iter().zip(variants).filter(|(costs, _)| {
        of_fit(costs, "gate", "passed").and_then(Value::as_bool) == Some(false)
    });
    Some(Sessions {
        side,
        moved: moved.collect(),
        floors: floors
            .map(|((mode, metric), floor)| ([mode.clone(), metric.clone()], *floor))
            .collect(),
        granted: granted(costs[0]) + granted(costs[1]),
        measured: [
            known.map_or_else(String::new, |of| of.release.clone()),
            platforms[0].to_owned(),
        ],
        bad_fits: bad.map(|(_, variant)| variant.to_owned()).collect(),
        names,
    })
}

/// The session that costs were fitted to: the file names it, or it is that of the release alone.
fn session(costs: &Table) -> Option<&str> {
    let name = |key: &str| costs.get(key).and_then(Value::as_str);
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

fn collect(prefix: &str, value: &Value, found: &mut Vec<(String, f64)>) {
    for (key, value) in value.as_table().into_iter().flatten() {
        match value {
            Value::Table(_) => collect(&format!("{prefix}{key}."), value, found),
            other => found.extend(microseconds(other).map(|us| (format!("{prefix}{key}"), us))),
        }
    }
}

/// A cost in microseconds; a share is a plain number.
fn microseconds(value: &Value) -> Option<f64> {
    let Some(text) = value.as_str() else {
        return value.as_float();
    };
    let (number, unit) = text.split_once(' ')?;
    Some(number.parse::<f64>().ok()? * recording::units::factor(unit, "us")?)
}

/// The standard error that a fit leaves of a cost, in microseconds.
fn deviation(costs: &Table, key: &str) -> Option<f64> {
    let keys = of_fit(costs, "uncertainty", "keys")?.as_array()?;
    let place = keys.iter().position(|other| other.as_str() == Some(key))?;
    let parts = of_fit(costs, "uncertainty", "factor")?.get(place)?;
    let parts = parts.as_array()?.iter().filter_map(Value::as_float);
    Some(parts.map(|part| part * part).sum::<f64>().sqrt())
}

/// What a file of costs says of its fit.
fn of_fit<'c>(costs: &'c Table, table: &str, key: &str) -> Option<&'c Value> {
    costs.get("fit")?.get(table)?.get(key)
}

/// What a fit grants each of its cells, in percent.
fn granted(costs: &Table) -> f64 {
    let granted = of_fit(costs, "uncertainty", "granted").and_then(|all| all.get(0)?.as_float());
    let residual = of_fit(costs, "gate", "weighted_rms").and_then(Value::as_float);
    granted.unwrap_or_default() * residual.unwrap_or_default().max(1.0) * 100.0
}

/// Takes the verdict from changes that two sessions of one firmware differ by, and from those of
/// which most is of a cause whose cost moved with the board. Of a board of which no release was
/// measured twice, what one release differs by is the sessions'.
pub fn leave_to_sessions(
    rows: &mut [Row],
    headers: &[&Header],
    sides: &[Side],
    known: Option<&BoardSessions>,
) -> Vec<Sessions> {
    // Releases of one name are compared with each other; where names differ there is one a side.
    let release = |side: usize, key: &Key| -> String {
        sides[side]
            .variants
            .iter()
            .find(|variant| **variant == key.variant)
            .or(sides[side].variants.first())
            .cloned()
            .unwrap_or_default()
    };
    let mut all: BTreeMap<(String, usize), Option<Sessions>> = BTreeMap::new();
    for row in rows {
        for (side, change) in (1..).zip(&mut row.changes) {
            let Some(change) = change.as_mut() else {
                continue;
            };
            let releases = [0, side].map(|side| release(side, &row.key));
            let found = all
                .entry((row.key.variant.clone(), side))
                .or_insert_with(|| {
                    sessions(
                        known,
                        headers,
                        side,
                        releases.each_ref().map(String::as_str),
                    )
                });
            let Some(sessions) = found else { continue };
            let of_board = sessions.of_board(change, known);
            let is_open = match known.filter(|_| !sessions.floors.is_empty()) {
                Some(known) => {
                    of_board || least(change) <= known.floor(&row.key) + sessions.granted
                }
                None => releases[0] == releases[1],
            };
            if of_board {
                change.causes.clear();
            }
            if change.verdict.is_change() && is_open {
                change.verdict = Verdict::Unjudged(Condition::Session);
            }
        }
    }
    let mut all = all.into_values().flatten().collect_vec();
    all.dedup();
    all
}

impl Sessions {
    /// True if most of a change is of causes whose costs moved with the board.
    fn of_board(&self, change: &Change, known: Option<&BoardSessions>) -> bool {
        let board = known
            .iter()
            .flat_map(|of| &of.board_cost)
            .filter(|board| self.moved.iter().any(|cost| cost.key.ends_with(&board.key)));
        let names = board.flat_map(|board| &board.causes).collect_vec();
        let part: f64 = change
            .causes
            .iter()
            .filter(|cause| names.iter().any(|name| *name == cause.part.name()))
            .map(CauseChange::absolute)
            .sum();
        part / change.absolute > 0.5
    }
}

/// The size of a change in percent, at the end of its interval that is nearer to none.
fn least(change: &Change) -> f64 {
    let size = |percent: f64| either_way(1.0 + percent / 100.0);
    match (change.basis, change.percent) {
        (Basis::Runs { interval, .. }, _) => size(interval[0]).min(size(interval[1])),
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
        let options = Options {
            sessions: Some(of_juno()),
            ..Options::default()
        };
        try_compare(&[base, other], &options).unwrap()
    }

    fn of_juno() -> BoardSessions {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../data/published/");
        let text = |name: &str| std::fs::read_to_string(format!("{folder}{name}")).unwrap();
        let description = Document::new("sessions.toml", text("sessions.toml"));
        BoardSessions::read(&description, |name| text(name)).unwrap()
    }

    /// Without a release that was measured twice there, what one release differs by is the
    /// sessions', and two releases are judged.
    #[test]
    fn a_floor_is_of_one_platform() {
        let of = |session: &str, release: &str, powerdown| {
            let mut run = run(session, powerdown, 4.0);
            run.header.platform.as_mut().unwrap().name = "other".to_owned();
            let costs = run.header.costs.remove("v").unwrap();
            run.header.costs.insert(release.to_owned(), costs);
            let mut renamed = Recording::new(run.header.clone());
            let series = renamed.series(release, "suspend-level0", "serial");
            renamed.measure(series, 0, "powerdown", "us", powerdown).cpu = Some(0);
            renamed
        };
        let base = of("first", "v", 100.0);
        let again = compared(&base, &of("second", "v", 130.0));
        assert_eq!(verdict(&again), Verdict::Unjudged(Condition::Session));
        let next = compared(&base, &of("second", "w", 130.0));
        assert_eq!(
            (verdict(&next), next.sessions[0].floors.len()),
            (Verdict::Worse, 0)
        );
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
            (Verdict::Unjudged(Condition::Session), Outcome::Unjudged)
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
        let repeated = of_juno();
        let modes = |metric: &str| {
            repeated
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
            repeated
                .floors
                .values()
                .all(|floor| (5.0..200.0).contains(floor)),
            "{:?}",
            repeated.floors
        );
        assert!((either_way(0.5) - either_way(2.0)).abs() < 1e-9);
        assert!(repeated.board_cost.len() > 3 && !repeated.release.is_empty());
    }
}
