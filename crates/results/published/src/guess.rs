//! The guess of a cell from the tables alone: the yardstick that a model has to beat.

use crate::psci::{Cell, ClusterCore, PsciReference};
use itertools::Itertools;
use recording::metrics::{CACHE_FLUSH, POWERDOWN, WAKEUP};
use recording::total_order;

const DEEPEST: &str = "suspend-deepest";
const LEVEL0: &str = "suspend-level0";
const CPU_OFF: &str = "cpu-off";
const VERSION: &str = "psci-version";

impl PsciReference {
    /// A reader's guess at a cell of the parallel suspend tables, in microseconds, from the serial
    /// tables, the cells that fits use, and **the published powerdown of the CPU before**, which no
    /// model is given:
    ///
    /// - a powerdown is that of the CPU before in the declared order, and a constant: the step to
    ///   the last CPU at power level 0, which fits use; the first CPU's is the shortest serial one
    ///   of its cluster at level 0; where no order is declared, as on a machine on which nobody
    ///   waits for the SCP, it is the serial one;
    /// - a cache flush at level 0 is the serial one, times what the one cell that fits use is
    ///   longer than its serial one; at the deepest level, the cluster's last man takes the longest
    ///   serial flush of the cluster, and the others take theirs of level 0; where no order is
    ///   declared, it is the serial one;
    /// - a wakeup from level 0 is the serial one; one from the deepest level is the serial one, or
    ///   what it was in another release, whichever pattern is nearest to the whole column: as much
    ///   as a model is given that is told who woke first.
    ///
    /// Of other cells, a powerdown of CPU_OFF is the serial one of the suspend to the deepest
    /// level, and a PSCI_VERSION that of the CPU of the same cluster which fits use.
    ///
    /// `None` for the rest, and where the tables lack what the guess needs.
    pub fn guess(&self, cell: &Cell) -> Option<f64> {
        let place = cell.place();
        match (cell.case.as_str(), cell.metric.as_str()) {
            (CPU_OFF, metric) if metric == POWERDOWN.name => {
                return self.value(cell, DEEPEST, "serial", metric, place);
            }
            (VERSION, _) => return self.like_another_of_its_cluster(cell),
            _ if cell.mode != "parallel" || ![DEEPEST, LEVEL0].contains(&cell.case.as_str()) => {
                return None;
            }
            _ => {}
        }
        match cell.metric.as_str() {
            metric if metric == POWERDOWN.name => self.guess_powerdown(cell, place),
            metric if metric == CACHE_FLUSH.name => self.guess_flush(cell, place),
            metric if metric == WAKEUP.name && cell.case == DEEPEST => {
                self.guess_by_pattern(cell, place)
            }
            metric if metric == WAKEUP.name => {
                self.value(cell, &cell.case, "serial", metric, place)
            }
            _ => None,
        }
    }

    /// The place of a reader would say that a cell with a probability of 90 %: the guess, times and
    /// divided by what the guess was off by in nine of ten cells of the same kind in the *other*
    /// releases, since its own says nothing of it. `None` where there is no guess, or no other
    /// release.
    pub fn guess_interval(&self, cell: &Cell) -> Option<(f64, f64)> {
        // Wakeups from the two levels are two kinds, and so are other cases; powerdowns and flushes
        // are one.
        let kind = |cell: &Cell| {
            let apart =
                cell.metric == WAKEUP.name || [CPU_OFF, VERSION].contains(&cell.case.as_str());
            apart.then(|| cell.case.clone())
        };
        let guess = self.guess(cell)?;
        let mut off = self
            .cells
            .iter()
            .filter(|other| {
                other.release != cell.release
                    && !other.used_in_fit
                    && other.value_us > 0.0
                    && kind(other) == kind(cell)
            })
            .filter_map(|other| {
                let ratio = self.guess(other)? / other.value_us;
                Some(ratio.max(1.0 / ratio))
            })
            .collect_vec();
        off.sort_by(f64::total_cmp);
        let factor = off.get((off.len() * 9).div_ceil(10).checked_sub(1)?)?;
        Some((guess / factor, guess * factor))
    }

    fn guess_by_pattern(&self, cell: &Cell, place: ClusterCore) -> Option<f64> {
        let find = |release: &str, mode: &str, place: ClusterCore| {
            let found = self.cell(release, &cell.case, mode, &cell.metric, place);
            found.map(|cell| cell.value_us)
        };
        let serial = |release: &str, place| find(release, "serial", place);
        let parallel = |release: &str, place| find(release, "parallel", place);
        let says = |pattern: Option<&str>, place| match pattern {
            None => serial(&cell.release, place),
            Some(other) => Some(
                parallel(other, place)? + serial(&cell.release, place)? - serial(other, place)?,
            ),
        };
        let column = self
            .cells
            .iter()
            .filter(|other| other.is_of_table(cell))
            .collect_vec();
        let off = |pattern: Option<&str>| {
            column
                .iter()
                .map(|cell| {
                    Some(
                        (says(pattern, cell.place())?.max(0.01) / cell.value_us)
                            .ln()
                            .abs(),
                    )
                })
                .sum::<Option<f64>>()
        };
        let others = self
            .releases
            .iter()
            .map(|(name, _)| Some(name.as_str()))
            .filter(|name| *name != Some(&cell.release));
        let best = std::iter::once(None)
            .chain(others)
            .filter_map(|pattern| Some((pattern, off(pattern)?)))
            .min_by_key(|of| total_order(of.1))?;
        says(best.0, place)
    }

    fn like_another_of_its_cluster(&self, cell: &Cell) -> Option<f64> {
        self.cells
            .iter()
            .find(|other| {
                other.used_in_fit && other.is_of_table(cell) && other.cluster == cell.cluster
            })
            .map(|other| other.value_us)
    }

    fn guess_powerdown(&self, cell: &Cell, place: ClusterCore) -> Option<f64> {
        let order = self.scp_order(&cell.release, &cell.case, "parallel");
        if order.is_empty() {
            return self.value(cell, &cell.case, "serial", POWERDOWN.name, place);
        }
        let Some(before) = order
            .iter()
            .position(|&other| other == place)?
            .checked_sub(1)
        else {
            return order
                .iter()
                .filter(|other| other.0 == place.0)
                .filter_map(|&other| self.value(cell, LEVEL0, "serial", POWERDOWN.name, other))
                .min_by(f64::total_cmp);
        };
        let published =
            |case: &str, place| self.value(cell, case, "parallel", POWERDOWN.name, place);
        let [.., last_but_one, last] = *self.scp_order(&cell.release, LEVEL0, "parallel") else {
            return None;
        };
        let last = self
            .cell(&cell.release, LEVEL0, "parallel", POWERDOWN.name, last)
            .filter(|last| last.used_in_fit)?;
        Some(
            published(&cell.case, order[before])? + last.value_us
                - published(LEVEL0, last_but_one)?,
        )
    }

    fn guess_flush(&self, cell: &Cell, place: ClusterCore) -> Option<f64> {
        let serial = |case: &str, place| self.value(cell, case, "serial", CACHE_FLUSH.name, place);
        if self
            .scp_order(&cell.release, &cell.case, "parallel")
            .is_empty()
        {
            return serial(&cell.case, place);
        }
        if cell.case == LEVEL0 {
            let mut cells = self.cells.iter();
            let known = cells.find(|known| known.is_of_table(cell) && known.used_in_fit)?;
            return Some(serial(LEVEL0, place)? * known.value_us / serial(LEVEL0, known.place())?);
        }
        let order = self.scp_order(&cell.release, DEEPEST, "parallel");
        let of_cluster = || order.iter().copied().filter(|other| other.0 == place.0);
        if of_cluster().next_back() == Some(place) {
            of_cluster()
                .filter_map(|other| serial(DEEPEST, other))
                .max_by(f64::total_cmp)
        } else {
            serial(LEVEL0, place)
        }
    }

    /// Another cell of the same release.
    fn cell(
        &self,
        release: &str,
        case: &str,
        mode: &str,
        metric: &str,
        place: ClusterCore,
    ) -> Option<&Cell> {
        self.cells.iter().find(|cell| {
            [&cell.release, &cell.case, &cell.mode, &cell.metric] == [release, case, mode, metric]
                && cell.place() == place
        })
    }

    fn value(
        &self,
        like: &Cell,
        case: &str,
        mode: &str,
        metric: &str,
        place: ClusterCore,
    ) -> Option<f64> {
        self.cell(&like.release, case, mode, metric, place)
            .map(|cell| cell.value_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Folder;
    use std::path::Path;

    /// The median error over cells that no fit used, in percent.
    fn median(
        reference: &PsciReference,
        release: &str,
        metrics: &[&str],
        case: Option<&str>,
    ) -> f64 {
        let cells = reference.cells.iter().filter(|cell| {
            cell.release == release
                && cell.mode == "parallel"
                && !cell.used_in_fit
                && metrics.contains(&cell.metric.as_str())
                && case.is_none_or(|case| case == cell.case)
        });
        let mut errors: Vec<f64> = cells
            .filter_map(|cell| Some((reference.guess(cell)? / cell.value_us - 1.0).abs() * 100.0))
            .collect();
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    }

    #[test]
    fn the_guess_is_a_good_one_but_for_wakeups_from_the_deepest_level() {
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/published");
        let reference = PsciReference::read(&Folder(files), "juno-psci.toml").unwrap();
        for (release, _) in &reference.releases {
            assert!(
                median(&reference, release, &["powerdown", "cache_flush"], None) < 3.0,
                "{release}"
            );
            assert!(
                median(&reference, release, &["wakeup"], Some(LEVEL0)) < 8.0,
                "{release}"
            );
            assert!(
                median(&reference, release, &["wakeup"], Some(DEEPEST)) > 4.0,
                "{release}"
            );
        }
    }

    #[test]
    fn what_is_guessed_is_what_the_tables_can_tell() {
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/published");
        let reference = PsciReference::read(&Folder(files), "juno-psci.toml").unwrap();
        let guessed = |of: &dyn Fn(&Cell) -> bool| {
            reference
                .cells
                .iter()
                .filter(|cell| of(cell) && reference.guess(cell).is_some())
                .count()
        };
        // Three releases, two cases, six CPUs, three metrics; then a metric of a case.
        assert_eq!(
            guessed(&|cell| cell.mode == "parallel" && cell.case != VERSION),
            108
        );
        assert_eq!(
            (
                guessed(&|cell| cell.case == VERSION),
                guessed(&|cell| cell.case == CPU_OFF)
            ),
            (18, 18)
        );
        assert_eq!(
            guessed(&|_| true),
            108 + 18 + 18,
            "a serial suspend is what the others are guessed from"
        );
        let mut without = reference.clone();
        let cell = |case: &str, mode: &str, metric: &str| {
            let is = |cell: &&Cell| {
                (&*cell.case, &*cell.mode, &*cell.metric, cell.core) == (case, mode, metric, 1)
            };
            reference.cells.iter().find(is).unwrap()
        };
        without.conditions.clear();
        for metric in ["powerdown", "cache_flush"] {
            let guess = without.guess(cell(DEEPEST, "parallel", metric));
            assert_eq!(
                guess,
                Some(cell(DEEPEST, "serial", metric).value_us),
                "{metric}"
            );
        }
        let mut other = reference.cells[0].clone();
        other.release = "no-such-release".to_owned();
        assert_eq!(reference.guess(&other), None);
    }
}
