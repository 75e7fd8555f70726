//! `stopwatt list governors`: menu and teo by kernel.

use crate::list::ListOptions;
use console::Console;
use idle::{Change, Family, Kind, Release, Releases};
use idle_experiments::no_governor;
use itertools::Itertools;
use miette::{Result, bail, miette};
use serde_json::json;
use std::fmt::Write;

/// Prints every change of the governors with its commit and releases, or the rules of some.
pub fn run(console: &Console, options: &ListOptions) -> Result<()> {
    let mut dated = Vec::new();
    for name in &options.governors {
        match Kind::find(name) {
            Some(Kind::Dated(family, release)) => dated.push((family, release)),
            Some(_) => {
                bail!(
                    help = "name a release, as menu@6.12.117 or teo@6.6",
                    "`{name}` has no rules that changed with the kernel"
                );
            }
            None => return Err(miette!("{}", no_governor(name))),
        }
    }
    options
        .format
        .print(console, || as_json(&dated), || as_text(&dated))
}

/// A sentence on the kernel code that a governor was held to.
fn standing(family: Family, release: Release) -> String {
    if family.judged().contains(&release) {
        format!("agrees with the C code of {release} in 100 000 random steps")
    } else {
        "follows the commits; no package of this release was run beside it".to_owned()
    }
}

fn commit(change: &Change) -> &'static str {
    if change.commit.is_empty() {
        "-"
    } else {
        change.commit
    }
}

fn releases(releases: impl Iterator<Item = Release>) -> String {
    releases.map(|release| release.to_string()).join(", ")
}

fn as_text(dated: &[(Family, Release)]) -> String {
    let mut out = String::new();
    for (family, release) in dated {
        let _ = writeln!(
            out,
            "{}@{release}: {}",
            family.name(),
            standing(*family, *release)
        );
        for change in changes(*family).filter(|change| change.is_in(*release)) {
            let _ = writeln!(out, "  {:12}  {}", commit(&change), change.about);
        }
    }
    if !dated.is_empty() {
        return out;
    }
    for family in [Family::Menu, Family::Teo] {
        let _ = writeln!(
            out,
            "{} from Linux {} on (run idle-replay --governors {0}@RELEASE)",
            family.name(),
            family.oldest()
        );
        for change in changes(family) {
            let until = match releases(change.until.iter()) {
                none if none.is_empty() => none,
                until => format!("; until {until}"),
            };
            let from = releases(change.from.iter());
            let _ = writeln!(
                out,
                "  {:12}  {}: from {from}{until}",
                commit(&change),
                change.about
            );
        }
        let judged = releases(family.judged().iter().copied());
        let _ = writeln!(
            out,
            "  the C code agrees for {judged}; other releases follow the commits"
        );
    }
    out.push_str("The first release is mainline's; the others are of long-term branches. 6.12.107 and 6.12.117 stand for them or earlier ones.\n");
    out
}

fn as_json(dated: &[(Family, Release)]) -> serde_json::Value {
    let all = |of: Releases| of.iter().map(|release| release.to_string()).collect_vec();
    let change = |change: Change| {
        json!({
            "governor": change.family.name(), "commit": change.commit, "about": change.about,
            "from": all(change.from), "until": all(change.until),
        })
    };
    match dated {
        [] => json!({ "changes": idle::changes().map(change).collect_vec() }),
        dated => json!({ "governors": dated.iter().map(|(family, release)| {
        json!({
            "governor": family.name(), "release": release.to_string(), "judged": family.judged().contains(release),
            "rules": changes(*family).filter(|change| change.is_in(*release)).map(change).collect_vec(),
        })
    }).collect_vec() }),
    }
}

fn changes(family: Family) -> impl Iterator<Item = Change> {
    idle::changes().filter(move |change| change.family == family)
}
