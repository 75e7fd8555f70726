//! What other people's crates a build takes: lock files in step, and licences and sources that
//! `deny.toml` allows.

use crate::tools::{Result, cargo, git, root, said, table};
use serde_json::Value;
use std::collections::BTreeSet;

/// The registry that crates may come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks every lock file of the repository, and each dependency that one names.
///
/// # Errors
/// A lock file is stale, or a crate has a licence or a source that is not allowed.
pub fn check() -> Result {
    let listed = git("ls-files *Cargo.lock")?;
    let allowed = allowed()?;
    let (mut wrong, mut known) = (BTreeSet::new(), BTreeSet::new());
    for lock in listed.lines() {
        let manifest = lock.replace("Cargo.lock", "Cargo.toml");
        let mut metadata = cargo(&format!(
            "metadata --locked --format-version 1 --manifest-path {manifest}"
        ));
        let output = match said(&mut metadata) {
            Ok(output) => output,
            Err(error) => {
                wrong.insert(format!("{lock}: {error}"));
                continue;
            }
        };
        let all: Value =
            serde_json::from_str(&output).map_err(|error| format!("{manifest}: {error}"))?;
        for package in all["packages"].as_array().into_iter().flatten() {
            // What lies in the checkout has no source.
            let Some(source) = package["source"].as_str() else {
                continue;
            };
            let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
            let licence = text(&package["license"]);
            if !is_allowed(licence, &allowed) {
                wrong.insert(format!(
                    "{name}: deny.toml does not allow the licence `{licence}`"
                ));
            }
            if source != REGISTRY {
                wrong.insert(format!(
                    "{name}: it comes from {source}, and not from the registry"
                ));
            }
            known.insert(name);
        }
    }
    println!(
        "{} crates of others, with licences and sources that deny.toml allows",
        known.len()
    );
    println!(
        "advisories are not looked up here: the workflow `ci` does, or `cargo deny check advisories`"
    );
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.into_iter().collect::<Vec<_>>().join("\n"))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The licences of `deny.toml`.
fn allowed() -> Result<Vec<String>> {
    let path = root().join("deny.toml");
    Ok(table(&path)?
        .get("licenses")
        .and_then(|licences| licences.get("allow")?.as_array())
        .ok_or_else(|| format!("{}: [licenses] has no `allow`", path.display()))?
        .iter()
        .filter_map(|licence| licence.as_str().map(str::to_owned))
        .collect())
}

/// True if one of the alternatives of a licence expression is allowed whole.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    expression
        .replace(['(', ')'], "")
        .replace('/', " OR ")
        .split(" OR ")
        .any(|all| {
            all.split(" AND ")
                .all(|one| allowed.iter().any(|allowed| allowed == one.trim()))
        })
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn one_alternative_has_to_be_allowed_whole() {
        let allowed = ["MIT".to_owned(), "ISC".to_owned()];
        for licence in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR Zlib)",
            "MIT AND ISC",
        ] {
            assert!(is_allowed(licence, &allowed), "{licence}");
        }
        for licence in ["", "GPL-3.0", "MIT AND GPL-3.0"] {
            assert!(!is_allowed(licence, &allowed), "{licence}");
        }
    }
}
