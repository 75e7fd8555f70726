//! The folders of `crates/` are floors: imports go down, and within a floor along the order that `crates/floors.toml` states. Published
//! figures lie above the experiments, so what predicts a figure cannot reach it. Within a crate, files do not use each other in a circle,
//! but for those that `crates/floors.toml` names with a reason.

mod uses;

use std::collections::{BTreeMap, BTreeSet};
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

/// Dev-dependencies that may go up, as pairs of folders.
fn test_worlds() -> Vec<(String, String)> {
    let floors = toml(&crates().join("floors.toml"));
    let listed = floors.get("test-world").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let text = |entry: &toml::Value, key: &str| entry[key].as_str().expect("a text").to_owned();
    assert!(listed.iter().all(|entry| !text(entry, "reason").is_empty()), "a test-world without a reason");
    listed.iter().map(|entry| (text(entry, "crate"), text(entry, "uses"))).collect()
}

fn imports(stated: &[String]) -> Vec<(String, String)> {
    let mut worlds = test_worlds();
    let names = folders_by_name();
    let mut found = Vec::new();
    for folder in stated {
        let manifest = toml(&crates().join(folder).join("Cargo.toml"));
        for kind in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let table = manifest.get(kind).and_then(toml::Value::as_table);
            for (name, what) in table.into_iter().flatten() {
                match names.get(name) {
                    Some(to) => {
                        let import = (folder.clone(), to.clone());
                        match worlds.iter().position(|world| kind == "dev-dependencies" && *world == import) {
                            Some(listed) => drop(worlds.swap_remove(listed)),
                            None => found.push(import),
                        }
                    }
                    None => {
                        // A crate's tests may use the crate itself with other features.
                        let path = what.get("path").and_then(toml::Value::as_str).filter(|&path| path != ".");
                        assert!(path.is_none(), "crates/{folder}: `{name}` is not in the workspace's table")
                    }
                }
            }
        }
    }
    assert!(worlds.is_empty(), "no dev-dependencies (any more), take them out of crates/floors.toml: {worlds:?}");
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

/// Adds the Rust files below `folder`, by their path from `source`.
fn read_sources(source: &Path, folder: &Path, sources: &mut uses::Sources) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            read_sources(source, &path, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path.strip_prefix(source).unwrap().to_string_lossy().replace('\\', "/");
            sources.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

/// The circles of all crates, each as its files' paths below `crates/`.
fn circles() -> BTreeSet<Vec<String>> {
    let mut all = BTreeSet::new();
    for folder in stated() {
        let source = crates().join(&folder).join("src");
        let mut sources = uses::Sources::new();
        read_sources(&source, &source, &mut sources);
        assert!(!sources.is_empty(), "no sources in {}", source.display());
        let named = |file: &String| format!("{folder}/src/{file}");
        all.extend(uses::circles(&sources).iter().map(|circle| circle.iter().map(named).collect::<Vec<_>>()));
    }
    all
}

#[test]
fn files_use_each_other_in_no_circle_but_those_with_a_reason() {
    let floors = toml(&crates().join("floors.toml"));
    let listed = floors.get("circle").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let listed: BTreeSet<Vec<String>> = listed
        .iter()
        .map(|circle| {
            assert!(circle["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "a circle without a reason");
            let mut files: Vec<_> = circle["files"].as_array().expect("a list of files").iter().collect();
            files.sort_by_key(|file| file.as_str());
            files.iter().map(|file| file.as_str().expect("a file").to_owned()).collect()
        })
        .collect();
    let found = circles();
    let new: Vec<_> = found.difference(&listed).map(|circle| circle.join(", ")).collect();
    let gone: Vec<_> = listed.difference(&found).map(|circle| circle.join(", ")).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "files that use each other in a circle and are not listed in crates/floors.toml:\n  {}\n\
         listed there, but no circle (any more); take it out:\n  {}",
        new.join("\n  "),
        gone.join("\n  ")
    );
}

#[test]
fn a_circle_of_files_is_found_and_what_is_none_is_not() {
    let sources = |files: &[(&str, &str)]| -> uses::Sources {
        files.iter().map(|&(file, text)| (file.to_owned(), text.to_owned())).collect()
    };
    let root = "pub mod a; mod b; mod deep; pub use b::B;";
    let circle = |files: &[(&str, &str)]| uses::circles(&sources(files));
    // Through a re-export, through a function's path, and by way of a third file.
    let b = ("b.rs", "use super::deep::low::LOW; pub struct B;");
    let deep = ("deep.rs", "mod low; pub use low::LOW;");
    let low = ("deep/low.rs", "pub fn f() { super::super::a::g() } pub const LOW: u8 = 1;");
    let a = ("a.rs", "use crate::{B, other::C}; pub fn g() {}");
    assert_eq!(circle(&[("lib.rs", root), a, b, deep, low]), [["a.rs", "b.rs", "deep/low.rs"]]);
    // The same without the call back.
    let low = ("deep/low.rs", "/* super::super::a */ // super::super::a\npub const LOW: &str = \"crate::a::g\";");
    assert!(circle(&[("lib.rs", root), a, b, deep, low]).is_empty());
    // Tests may look up.
    let low =
        ("deep/low.rs", "pub const LOW: char = '\\''; #[cfg(test)] mod tests { use crate::a::g; fn f() { g() } }");
    assert!(circle(&[("lib.rs", root), a, b, deep, low]).is_empty());
    // A file that uses its children, and a child that uses it.
    let parent = ("deep.rs", "mod low; pub struct P; pub fn f() { low::f() }");
    let child = ("deep/low.rs", "use super::P; pub fn f() {}");
    assert_eq!(circle(&[("lib.rs", root), parent, child]), [["deep.rs", "deep/low.rs"]]);
}
