//! The folders of `crates/` are floors: imports go down, and within a floor along the order that `crates/floors.toml` states. Published
//! figures lie above the experiments, so what predicts a figure cannot reach it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn toml(path: &Path) -> toml::Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Folders of crates, in the stated order: `code/points`, and so on.
fn stated() -> Vec<String> {
    let mut all = Vec::new();
    for floor in toml(&crates().join("floors.toml"))["floor"].as_array().expect("[[floor]] tables") {
        let folder = floor["folder"].as_str().expect("a folder");
        let names = floor["crates"].as_array().expect("a list of crates");
        all.extend(names.iter().map(|name| format!("{folder}/{}", name.as_str().expect("a name"))));
        if names.is_empty() {
            all.push(folder.to_owned());
        }
    }
    all
}

/// Packages of the workspace, by the name under which they are imported, with their folder in `crates/`.
fn folders_by_name() -> BTreeMap<String, String> {
    let workspace = toml(&crates().join("../Cargo.toml"));
    let dependencies = workspace["workspace"]["dependencies"].as_table().expect("workspace.dependencies");
    let ours = dependencies.iter().filter_map(|(name, what)| Some((name, what.get("path")?.as_str()?)));
    ours.filter_map(|(name, path)| Some((name.clone(), path.strip_prefix("crates/")?.to_owned()))).collect()
}

/// What goes against the order, one line each.
fn wrong(stated: &[String], imports: &[(String, String)]) -> Vec<String> {
    let place = |folder: &str| stated.iter().position(|other| other == folder);
    let against = |(from, to): &&(String, String)| place(to).is_none_or(|to| Some(to) >= place(from));
    imports.iter().filter(against).map(|(from, to)| format!("crates/{from} imports crates/{to}")).collect()
}

fn imports(stated: &[String]) -> Vec<(String, String)> {
    let names = folders_by_name();
    let mut found = Vec::new();
    for folder in stated {
        let manifest = toml(&crates().join(folder).join("Cargo.toml"));
        for kind in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let table = manifest.get(kind).and_then(toml::Value::as_table);
            for (name, what) in table.into_iter().flatten() {
                match names.get(name) {
                    Some(to) => found.push((folder.clone(), to.clone())),
                    None => {
                        assert!(what.get("path").is_none(), "crates/{folder}: `{name}` is not in the workspace's table")
                    }
                }
            }
        }
    }
    found
}

#[test]
fn imports_go_down_and_along_the_stated_order() {
    let stated = stated();
    let imports = imports(&stated);
    assert!(imports.len() > 40, "the manifests are no longer read: {imports:?}");
    let wrong = wrong(&stated, &imports);
    assert!(wrong.is_empty(), "{}\nsee crates/floors.toml", wrong.join("\n"));
}

#[test]
fn an_import_that_goes_up_is_found() {
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let stated = stated();
    let seeded = [
        pair("experiments/psci", "results/published"),
        pair("code/psci", "code/psci-cases"),
        pair("code/psci", "code/smc"),
    ];
    assert_eq!(
        wrong(&stated, &seeded),
        ["crates/experiments/psci imports crates/results/published", "crates/code/psci imports crates/code/psci-cases"]
    );
}

#[test]
fn every_crate_stands_on_a_floor() {
    let stated = stated();
    for floor in fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let folders = match floor.join("Cargo.toml").is_file() {
            true => vec![floor],
            false => fs::read_dir(&floor).unwrap().map(|entry| entry.unwrap().path()).collect(),
        };
        for folder in folders {
            let name = folder.strip_prefix(crates()).unwrap().to_string_lossy().replace('\\', "/");
            assert!(stated.contains(&name), "crates/{name} is in no floor of crates/floors.toml");
        }
    }
}
