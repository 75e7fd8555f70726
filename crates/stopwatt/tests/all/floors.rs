//! The folders of `crates/` are floors, and so are those beside them that have crates: imports go
//! down, and within a floor along the order that `crates/floors.toml` states. Published figures lie
//! above the experiments, so what predicts a figure cannot reach it. Within a crate, neither files
//! nor modules use each other in a circle, but for those that `crates/floors.toml` names with a
//! reason.

mod includes;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn toml(path: &Path) -> toml::Table {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The content of `crates/floors.toml`.
fn floors() -> toml::Table {
    toml(&root().join("crates/floors.toml"))
}

/// Folders of crates, in the stated order: `crates/code/points`, and so on.
fn stated() -> Vec<String> {
    let mut all = Vec::new();
    for floor in floors()["floor"].as_array().expect("[[floor]] tables") {
        let folder = floor["folder"].as_str().expect("a folder");
        let names = floor["crates"].as_array().expect("a list of crates");
        all.extend(
            names
                .iter()
                .map(|name| format!("{folder}/{}", name.as_str().expect("a name"))),
        );
        if names.is_empty() {
            all.push(folder.to_owned());
        }
    }
    all
}

/// The crates of each floor with `imports`, and the folders that they may import.
fn limits() -> Vec<(Vec<String>, Vec<String>)> {
    let floors = floors();
    let floors = floors["floor"].as_array().expect("[[floor]] tables");
    let texts = |list: &toml::Value, before: &str| -> Vec<String> {
        let list = list.as_array().expect("a list").iter();
        list.map(|text| format!("{before}{}", text.as_str().expect("a text")))
            .collect()
    };
    let limit = |floor: &toml::Value| {
        let folder = format!("{}/", floor["folder"].as_str().expect("a folder"));
        Some((
            texts(&floor["crates"], &folder),
            texts(floor.get("imports")?, ""),
        ))
    };
    floors.iter().filter_map(limit).collect()
}

/// The folder, from the root, that a path in a manifest leads to; `None` out of the repository.
fn from_root(manifest: &str, path: &str) -> Option<String> {
    let mut folder: Vec<&str> = manifest
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    for part in path.split('/').filter(|part| *part != ".") {
        match part {
            ".." => drop(folder.pop()?),
            part => folder.push(part),
        }
    }
    Some(folder.join("/"))
}

/// Packages of the workspace in a folder, by the name under which they are imported, with their
/// folders.
fn folders_by_name(workspace: &str) -> BTreeMap<String, String> {
    let manifest = toml(&root().join(workspace).join("Cargo.toml"));
    let dependencies = manifest["workspace"]["dependencies"]
        .as_table()
        .expect("workspace.dependencies");
    let ours = dependencies
        .iter()
        .filter_map(|(name, what)| Some((name, what.get("path")?.as_str()?)));
    ours.filter_map(|(name, path)| Some((name.clone(), from_root(workspace, path)?)))
        .collect()
}

/// The imports against the order, one line each.
fn wrong(stated: &[String], imports: &[(String, String)]) -> Vec<String> {
    let place = |folder: &str| stated.iter().position(|other| other == folder);
    let against =
        |(from, to): &&(String, String)| place(to).is_none_or(|to| Some(to) >= place(from));
    let limits = limits();
    let outside = |(from, to): &&(String, String)| {
        let limit = limits.iter().find(|(crates, _)| crates.contains(from));
        limit.is_some_and(|(crates, below)| {
            !crates.contains(to) && !below.iter().any(|folder| Path::new(to).starts_with(folder))
        })
    };
    imports
        .iter()
        .filter(|import| against(import) || outside(import))
        .map(|(from, to)| format!("{from} imports {to}"))
        .collect()
}

/// Dev-dependencies that may go up, as pairs of folders.
fn test_worlds() -> Vec<(String, String)> {
    let floors = floors();
    let listed = floors
        .get("test-world")
        .and_then(toml::Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let text = |entry: &toml::Value, key: &str| entry[key].as_str().expect("a text").to_owned();
    assert!(
        listed.iter().all(|entry| !text(entry, "reason").is_empty()),
        "a test-world without a reason"
    );
    listed
        .iter()
        .map(|entry| (text(entry, "crate"), text(entry, "uses")))
        .collect()
}

fn imports(stated: &[String]) -> Vec<(String, String)> {
    let mut worlds = test_worlds();
    let workspaces = [
        ("firmware/", folders_by_name("firmware")),
        ("", folders_by_name("")),
    ];
    let mut found = Vec::new();
    for folder in stated {
        let names = workspaces
            .iter()
            .find(|(prefix, _)| folder.starts_with(prefix))
            .map(|(_, names)| names);
        let manifest = toml(&root().join(folder).join("Cargo.toml"));
        for kind in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let tables = manifest
                .get("target")
                .and_then(toml::Value::as_table)
                .into_iter()
                .flatten();
            let tables = tables
                .filter_map(|(_, target)| target.get(kind))
                .chain(manifest.get(kind));
            for (name, what) in tables.filter_map(toml::Value::as_table).flatten() {
                let path = what.get("path").and_then(toml::Value::as_str);
                let to =
                    path.map_or_else(|| names?.get(name).cloned(), |path| from_root(folder, path));
                // A crate's tests may use the crate itself with other features.
                let Some(to) = to.filter(|to| to != folder) else {
                    continue;
                };
                let import = (folder.clone(), to);
                match worlds
                    .iter()
                    .position(|world| kind == "dev-dependencies" && *world == import)
                {
                    Some(listed) => drop(worlds.swap_remove(listed)),
                    None => found.push(import),
                }
            }
        }
    }
    assert!(
        worlds.is_empty(),
        "no dev-dependencies (any more), take them out of crates/floors.toml: {worlds:?}"
    );
    found
}

#[test]
fn imports_go_down_and_along_the_stated_order() {
    let stated = stated();
    let imports = imports(&stated);
    assert!(
        imports.len() > 40,
        "the manifests are no longer read: {imports:?}"
    );
    let wrong = wrong(&stated, &imports);
    assert!(
        wrong.is_empty(),
        "{}\nsee crates/floors.toml",
        wrong.join("\n")
    );
}

#[test]
fn an_import_that_goes_up_is_found() {
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let stated = stated();
    let seeded = [
        pair("crates/experiments/psci", "crates/results/published"),
        pair("crates/code/psci", "crates/code/psci-cases"),
        pair("firmware/el3", "crates/worlds/soc"),
        pair("firmware/el3", "crates/code/psci"),
        pair("crates/code/psci", "crates/code/smc"),
        pair("crates/stopwatt", "explorer/litmus"),
        pair("explorer/explore", "crates/worlds/soc"),
        pair("explorer/explore", "crates/worlds/engine"),
        pair("explorer/explore", "explorer/seeded"),
        pair("explorer/stopwatt-explore", "crates/stopwatt"),
    ];
    assert_eq!(
        wrong(&stated, &seeded),
        [
            "crates/experiments/psci imports crates/results/published",
            "crates/code/psci imports crates/code/psci-cases",
            "firmware/el3 imports crates/worlds/soc",
            "crates/stopwatt imports explorer/litmus",
            "explorer/explore imports crates/worlds/soc"
        ]
    );
}

/// Adds the folders below one that have a manifest of a package.
fn add_packages(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if folder.join("Cargo.toml").is_file()
        && toml(&folder.join("Cargo.toml")).contains_key("package")
    {
        found.push(folder.to_owned());
    } else if depth > 0 {
        for folder in fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
        {
            add_packages(&folder, depth - 1, found);
        }
    }
}

#[test]
fn every_crate_stands_on_a_floor() {
    let stated = stated();
    let mut found = Vec::new();
    for folder in ["crates", "explorer", "firmware", "python", "xtask"] {
        add_packages(&root().join(folder), 2, &mut found);
    }
    let found: BTreeSet<String> = found
        .iter()
        .map(|folder| {
            folder
                .strip_prefix(root())
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/")
        })
        .collect();
    let floors: BTreeSet<String> = stated.into_iter().collect();
    assert_eq!(
        found, floors,
        "the crates that are there, and those on a floor of crates/floors.toml"
    );
}

/// The crates of `crates/` and `explorer/` by folder, each with the names of its package and its library.
fn named_crates() -> Vec<(String, String, String)> {
    let crates = stated()
        .into_iter()
        .filter(|folder| folder.starts_with("crates/") || folder.starts_with("explorer/"));
    let named = crates.map(|folder| {
        let manifest = toml(&root().join(&folder).join("Cargo.toml"));
        let package = manifest["package"]["name"]
            .as_str()
            .expect("a name")
            .to_owned();
        let library = manifest
            .get("lib")
            .and_then(|library| library.get("name")?.as_str());
        let library = library.map_or_else(|| package.replace('-', "_"), str::to_owned);
        (folder, package, library)
    });
    named.collect()
}

/// The crates whose names break the rule of `crates/floors.toml`, one line each.
fn misnamed(crates: &[(String, String, String)]) -> Vec<String> {
    const EXPERIMENTS: &str = "crates/experiments/";
    let last = |folder: &str| folder.rsplit('/').next().unwrap_or_default().to_owned();
    let mut wrong = Vec::new();
    for (folder, package, library) in crates {
        let name = last(folder);
        let own = match folder.starts_with(EXPERIMENTS) && *package == format!("{name}-experiments")
        {
            true => package.clone(),
            false => name.clone(),
        };
        if *package != own && *package != format!("stopwatt-{own}") {
            wrong.push(format!("{folder} holds the package {package}"));
        }
        if *library != own.replace('-', "_") {
            wrong.push(format!("{folder} holds the library {library}"));
        }
        // An experiment may have the name of what it measures.
        let is_pair = |other: &str| {
            let is_experiment = folder.starts_with(EXPERIMENTS);
            is_experiment != other.starts_with(EXPERIMENTS) && (!is_experiment || own != name)
        };
        let taken = crates.iter().find(|(other, theirs, _)| {
            other != folder
                && (*theirs == own || *theirs == *package || last(other) == name && !is_pair(other))
        });
        if let Some((other, ..)) = taken {
            wrong.push(format!("{folder} has the name of {other}"));
        }
    }
    wrong
}

#[test]
fn a_crate_has_one_name_and_no_other_crate_has_it() {
    let crates = named_crates();
    assert!(
        crates.len() > 30,
        "the manifests are no longer read: {crates:?}"
    );
    let wrong = misnamed(&crates);
    assert!(
        wrong.is_empty(),
        "{}\nsee crates/floors.toml",
        wrong.join("\n")
    );
}

#[test]
fn a_name_that_is_used_twice_is_found() {
    let named = |names: &[[&str; 3]]| -> Vec<(String, String, String)> {
        let owned = |[folder, package, library]: &[&str; 3]| {
            (folder.to_string(), package.to_string(), library.to_string())
        };
        names.iter().map(owned).collect()
    };
    let soc = ["crates/worlds/soc", "stopwatt-soc", "soc"];
    assert!(
        misnamed(&named(&[
            soc,
            [
                "crates/experiments/soc",
                "soc-experiments",
                "soc_experiments"
            ]
        ]))
        .is_empty()
    );
    for wrong in [
        ["crates/record/soc", "soc-record", "soc"],
        ["crates/record/soc", "stopwatt-soc", "soc"],
        ["crates/worlds/chip", "soc", "soc"],
        ["crates/worlds/chip", "stopwatt-chip", "stopwatt_chip"],
        ["crates/experiments/soc", "soc", "soc"],
        ["crates/worlds/chip", "chip-experiments", "chip_experiments"],
    ] {
        assert!(!misnamed(&named(&[soc, wrong])).is_empty(), "{wrong:?}");
    }
}

/// Adds the Rust files below `folder`, by their path from `source`.
fn read_sources(source: &Path, folder: &Path, sources: &mut uses::Sources) {
    for path in fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if path.is_dir() {
            read_sources(source, &path, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path
                .strip_prefix(source)
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/");
            sources.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

/// The folder of `stated` that holds a file, or the published figures' own, whose crate is
/// `published`.
fn home_of(stated: &[String], file: &str) -> Option<String> {
    if file.starts_with("data/published/") {
        return Some("crates/results/published".to_owned());
    }
    let holds = |folder: &&String| file.starts_with(&format!("{folder}/"));
    stated.iter().find(holds).cloned()
}

/// The files that sources take in as they are compiled, as pairs of folders.
fn inclusions(stated: &[String]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in stated {
        let source = root().join(folder).join("src");
        let mut sources = uses::Sources::new();
        read_sources(&source, &source, &mut sources);
        for (file, text) in &sources {
            let here = format!("{folder}/src/{file}");
            let here = here.rsplit_once('/').map_or("", |(above, _)| above);
            for path in includes::included(text) {
                let to = from_root(here, &path).expect("a file of the repository");
                let to = home_of(stated, &to);
                found.extend(to.map(|to| (folder.clone(), to)));
            }
        }
    }
    found
}

#[test]
fn files_that_are_compiled_in_come_from_below() {
    let stated = stated();
    let found = inclusions(&stated);
    assert!(!found.is_empty(), "the sources are no longer read");
    let found: Vec<_> = found.into_iter().filter(|(from, to)| from != to).collect();
    let mut ordered = stated.clone();
    // A crate of the results may hold published figures, as one that imports `published` may.
    ordered.retain(|folder| folder != "crates/results/published");
    let at = ordered
        .iter()
        .position(|folder| folder.starts_with("crates/results/"));
    ordered.insert(at.expect("a floor"), "crates/results/published".to_owned());
    let wrong = wrong(&ordered, &found);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_is_compiled_in_is_found_in_every_form() {
    let text = r#"
        const A: &str = include_str!("../../a.toml");
        macro_rules! texts { ($n:literal) => { include_bytes!(concat!("../b/", $n, ".json")) }; }
        include!(concat!(env!("OUT_DIR"), "/c.rs"));
        #[doc = include_str!("d.md")]
        fn f() { let _ = "include_str!(\"e\")"; }
    "#;
    assert_eq!(includes::included(text), ["../../a.toml", "../b/", "d.md"]);
    let stated = stated();
    let home = home_of(&stated, "data/published/juno-psci.csv").unwrap();
    let leak = [("crates/experiments/psci".to_owned(), home)];
    assert_eq!(wrong(&stated, &leak).len(), 1);
}

/// The circles of all crates that `circles` finds, each as its files' or modules' paths from the
/// root.
fn all_circles(circles: impl Fn(&uses::Sources) -> Vec<Vec<String>>) -> BTreeSet<Vec<String>> {
    let mut all = BTreeSet::new();
    for folder in stated() {
        let source = root().join(&folder).join("src");
        let mut sources = uses::Sources::new();
        read_sources(&source, &source, &mut sources);
        assert!(!sources.is_empty(), "no sources in {}", source.display());
        let named = |file: &String| format!("{folder}/src/{file}");
        all.extend(
            circles(&sources)
                .iter()
                .map(|circle| circle.iter().map(named).collect::<Vec<_>>()),
        );
    }
    all
}

/// The circles of `crates/floors.toml`, of files or of modules.
fn listed_circles(kind: &str) -> BTreeSet<Vec<String>> {
    let floors = floors();
    let listed = floors
        .get("circle")
        .and_then(toml::Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let of_kind = listed.iter().filter_map(|circle| {
        assert!(
            circle["reason"]
                .as_str()
                .is_some_and(|reason| !reason.is_empty()),
            "a circle without a reason"
        );
        let mut paths: Vec<_> = circle
            .get(kind)?
            .as_array()
            .expect("a list of paths")
            .iter()
            .collect();
        paths.sort_by_key(|path| path.as_str());
        Some(
            paths
                .iter()
                .map(|path| path.as_str().expect("a path").to_owned())
                .collect(),
        )
    });
    of_kind.collect()
}

/// Fails unless the circles that there are are those with a reason.
fn compare(kind: &str, found: &BTreeSet<Vec<String>>) {
    let listed = listed_circles(kind);
    let new: Vec<_> = found
        .difference(&listed)
        .map(|circle| circle.join(", "))
        .collect();
    let gone: Vec<_> = listed
        .difference(found)
        .map(|circle| circle.join(", "))
        .collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "{kind} that use each other in a circle and are not listed in crates/floors.toml:\n  {}\n\
         listed there, but no circle (any more); take it out:\n  {}",
        new.join("\n  "),
        gone.join("\n  ")
    );
}

#[test]
fn files_use_each_other_in_no_circle_but_those_with_a_reason() {
    compare("files", &all_circles(uses::circles));
}

#[test]
fn modules_use_each_other_in_no_circle_but_those_with_a_reason() {
    compare("modules", &all_circles(uses::module_circles));
}

#[test]
fn a_circle_of_modules_is_found_where_no_files_make_one() {
    let sources = |files: &[(&str, &str)]| -> uses::Sources {
        files
            .iter()
            .map(|&(file, text)| (file.to_owned(), text.to_owned()))
            .collect()
    };
    let root = ("lib.rs", "mod a; mod b;");
    let (a, b) = (
        ("a.rs", "pub mod high; pub mod low;"),
        ("b/mod.rs", "use crate::a::low::f;"),
    );
    let low = ("a/low.rs", "pub fn f() {}");
    let circle = [root, a, b, low, ("a/high.rs", "use crate::b;")];
    assert!(uses::circles(&sources(&circle)).is_empty());
    assert_eq!(uses::module_circles(&sources(&circle)), [["a", "b"]]);
    // The same one folder further down.
    let deep: Vec<(String, String)> = circle
        .iter()
        .map(|(file, text)| match *file {
            "lib.rs" => ("deep.rs".to_owned(), (*text).to_owned()),
            file => (
                format!("deep/{file}"),
                text.replace("crate::", "crate::deep::"),
            ),
        })
        .chain([("lib.rs".to_owned(), "mod deep;".to_owned())])
        .collect();
    assert_eq!(
        uses::module_circles(&deep.into_iter().collect()),
        [["deep/a", "deep/b"]]
    );
    assert!(uses::module_circles(&sources(&[root, a, b, low, ("a/high.rs", "")])).is_empty());
}

#[test]
fn a_circle_of_files_is_found_and_what_is_none_is_not() {
    let sources = |files: &[(&str, &str)]| -> uses::Sources {
        files
            .iter()
            .map(|&(file, text)| (file.to_owned(), text.to_owned()))
            .collect()
    };
    let root = "pub mod a; mod b; mod deep; pub use b::B;";
    let circle = |files: &[(&str, &str)]| uses::circles(&sources(files));
    // Through a re-export, through a function's path, and by way of a third file.
    let b = ("b.rs", "use super::deep::low::LOW; pub struct B;");
    let deep = ("deep.rs", "mod low; pub use low::LOW;");
    let low = (
        "deep/low.rs",
        "pub fn f() { super::super::a::g() } pub const LOW: u8 = 1;",
    );
    let a = ("a.rs", "use crate::{B, other::C}; pub fn g() {}");
    assert_eq!(
        circle(&[("lib.rs", root), a, b, deep, low]),
        [["a.rs", "b.rs", "deep/low.rs"]]
    );
    // The same without the call back.
    let low = (
        "deep/low.rs",
        "/* super::super::a */ // super::super::a\npub const LOW: &str = \"crate::a::g\";",
    );
    assert!(circle(&[("lib.rs", root), a, b, deep, low]).is_empty());
    // Tests may look up.
    let low = (
        "deep/low.rs",
        "pub const LOW: char = '\\''; #[cfg(test)] mod tests { use crate::a::g; fn f() { g() } }",
    );
    assert!(circle(&[("lib.rs", root), a, b, deep, low]).is_empty());
    // A file that uses its children, and a child that uses it.
    let parent = ("deep.rs", "mod low; pub struct P; pub fn f() { low::f() }");
    let child = ("deep/low.rs", "use super::P; pub fn f() {}");
    assert_eq!(
        circle(&[("lib.rs", root), parent, child]),
        [["deep.rs", "deep/low.rs"]]
    );
}
