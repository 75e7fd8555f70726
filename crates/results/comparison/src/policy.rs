//! The policy: which changes count as a regression.

use crate::bounds::Bound;
use crate::table::Key;
use document::{Document, readers, within};
use recording::metrics::Better;
use serde::Deserialize;

/// Thresholds for all rows and for some.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// A change of fewer percent than this does not matter. From 0.
    #[serde(deserialize_with = "threshold")]
    pub threshold: f64,
    /// The level at which corrected p-values are read: the chance of a false alarm in a whole
    /// comparison. From 0 to 1.
    #[serde(deserialize_with = "level")]
    pub alpha: f64,
    /// What becomes of changes that too few runs stand behind.
    pub unjudged: Unjudged,
    /// What iterations of a recording are that was measured.
    pub iterations: Iterations,
    /// What rows may come to. Where there is a bound, it decides, and no change does.
    pub bounds: Vec<Bound>,
    /// Rules for some rows; the first that matches a row counts.
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            threshold: 1.0,
            alpha: 0.05,
            unjudged: Unjudged::default(),
            iterations: Iterations::default(),
            bounds: Vec::new(),
            rules: Vec::new(),
        }
    }
}

/// What becomes of changes that too few runs stand behind.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unjudged {
    /// The comparison says that it cannot tell.
    #[default]
    Tell,
    /// They count as a regression does.
    Fail,
    /// They count as no regression.
    Pass,
}

/// What iterations of a recording are that was measured.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Iterations {
    /// Parts of one run: they say nothing about the next run.
    #[default]
    OfOneRun,
    /// Runs of their own, as those of a log of several boots.
    Runs,
}

/// A rule for the rows that agree with all that it names.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// The case.
    pub case: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// The measure.
    pub metric: Option<String>,
    /// The CPU, role or subject, as tables print it: `1.3`, `last man of 1`, `ip4-lookup`.
    pub row: Option<String>,
    /// A change of fewer percent than this does not matter; the policy's own where it is not given.
    #[serde(deserialize_with = "some_threshold")]
    pub threshold: Option<f64>,
    /// Nor does a change of less than this, in the row's unit.
    #[serde(deserialize_with = "threshold")]
    pub least: f64,
    /// Which way is better; by the measure and its unit where it is not given.
    pub better: Option<Better>,
    /// True if the rows are left out altogether.
    pub ignore: bool,
}

// Values are looked at where they are read, so that an error has their line.

readers! {
    threshold: f64 = |from| {
        let wrong = "is no threshold: it must be 0 or more";
        within(f64::deserialize(from)?, 0.0..=f64::MAX, wrong)
    };

    some_threshold: Option<f64> = |from| threshold(from).map(Some);

    level: f64 = |from| {
        let between = f64::MIN_POSITIVE..=1.0_f64.next_down();
        let wrong = "is no level: alpha must be between 0 and 1";
        within(f64::deserialize(from)?, between, wrong)
    };
}

const HELP: &str = "a policy has threshold = 1.0 (percent), alpha = 0.05, unjudged (tell, fail, pass), iterations (of-one-run, runs), bounds \
                    and [[rule]] tables with any of case, mode, metric, row, threshold, least, better (lower, higher, neither), ignore";

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    /// It is not TOML; a key is unknown; a threshold is negative, alpha is no probability.
    pub fn read(document: &Document) -> Result<Self, document::Error> {
        document.read().map_err(|error| error.with_help(HELP))
    }

    /// The first rule that matches a row, with its place.
    pub(crate) fn rule(&self, key: &Key) -> Option<(usize, &Rule)> {
        self.rules
            .iter()
            .enumerate()
            .find(|(_, rule)| rule.matches(key))
    }
}

impl Rule {
    fn matches(&self, key: &Key) -> bool {
        let agrees = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        agrees(&self.case, &key.case)
            && agrees(&self.mode, &key.mode)
            && agrees(&self.metric, &key.metric)
            && agrees(&self.row, &key.row())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Who;

    fn key(case: &str, metric: &str) -> Key {
        Key {
            variant: String::new(),
            case: case.to_owned(),
            mode: "parallel".to_owned(),
            metric: metric.to_owned(),
            subject: String::new(),
            role: String::new(),
            who: Who::LastMan { cluster: 1 },
        }
    }

    #[test]
    fn the_first_rule_that_matches_counts() {
        let text = "threshold = 2.0\n[[rule]]\nmetric = \"wakeup\"\nthreshold = 5.0\n[[rule]]\nrow = \"last man of 1\"\nignore = true\n";
        let policy = Policy::read(&Document::new("p.toml", text)).unwrap();
        assert_eq!(
            policy.rule(&key("c", "wakeup")).unwrap().1.threshold,
            Some(5.0)
        );
        assert!(policy.rule(&key("c", "powerdown")).unwrap().1.ignore);
        assert_eq!((policy.threshold, policy.alpha), (2.0, 0.05));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let message = |text: &str| {
            Policy::read(&Document::new("p.toml", text))
                .unwrap_err()
                .to_string()
        };
        assert!(
            message("threshold = 1.0\ntreshold = 2\n")
                .starts_with("p.toml:2: unknown field `treshold`")
        );
        assert!(
            message("[[rule]]\nbetter = \"less\"\n")
                .starts_with("p.toml:2: unknown variant `less`")
        );
        assert!(
            message("threshold = -1\n")
                .starts_with("p.toml:1: -1 is no threshold: it must be 0 or more")
        );
        assert!(
            message("\nalpha = 1.5\n")
                .starts_with("p.toml:2: 1.5 is no level: alpha must be between 0 and 1")
        );
        for alpha in ["0", "1", "-0.1"] {
            assert!(
                message(&format!("alpha = {alpha}")).contains("is no level"),
                "{alpha}"
            );
        }
        assert_eq!(
            Policy::read(&Document::new("p.toml", "alpha = 0.2"))
                .unwrap()
                .alpha,
            0.2
        );
        assert!(message("[[rule]]\nleast = -0.5\n").starts_with("p.toml:2: -0.5 is no threshold"));
        assert!(
            message("[[rule]]\nthreshold = nan\n")
                .starts_with("p.toml:2: this is no finite number")
        );
    }
}
