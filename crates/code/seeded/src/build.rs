//! For build scripts: a library's sources with its faults.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A file of `faults`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    commit: String,
    what: String,
    /// Empty for a fault that lies in what the library runs on: its layout, its settings.
    #[serde(default)]
    change: Vec<Change>,
}

/// Text of one source file that is replaced.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    file: String,
    before: String,
    after: String,
}

fn read(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

/// The files of a folder with this extension, by name without it.
fn files(folder: &Path, extension: &str) -> BTreeMap<String, PathBuf> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let named = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    named.map(|path| (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path)).collect()
}

/// The variable with which a fault whose text the library no longer has is left out with a warning.
/// Mutants need it: they change the text.
const LENIENT: &str = "SEEDED_LENIENT";

fn apply(change: &Change, sources: &mut BTreeMap<String, String>) -> Result<(), String> {
    let Some(source) = sources.get_mut(change.file.trim_end_matches(".rs")) else {
        return Err(format!("the library has no {}", change.file));
    };
    let found = source.matches(change.before.as_str()).count();
    if found != 1 {
        return Err(format!("the text to change occurs {found} times in {}", change.file));
    }
    *source = source.replacen(&change.before, &change.after, 1);
    Ok(())
}

/// Copies the library whose sources lie in `sources`, relative to the crate that is built, and
/// applies the changes of the crate's `faults` to the copy. The crate includes `library.rs` from
/// `OUT_DIR` and nothing else: beside the library that is `FAULTS`, `find`, and `SOURCES`, a number
/// that changes with the sources.
///
/// # Panics
/// A source or a fault cannot be read, or a text to change does not occur exactly once and
/// `SEEDED_LENIENT` is not set: the build fails, and says which.
pub fn compile(sources: &str) {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by Cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by Cargo"));
    let mut sources: BTreeMap<String, String> =
        files(&here.join(sources), "rs").into_iter().map(|(name, path)| (name, read(&path))).collect();

    // FNV-1a: what tells one state of the sources from another.
    let all = sources.iter().flat_map(|(name, source)| name.bytes().chain(source.bytes()));
    let sum =
        all.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));

    println!("cargo::rerun-if-env-changed={LENIENT}");
    let lenient = env::var_os(LENIENT).is_some();
    let mut table = format!(
        "/// The sources of the library, as a number that changes with them.\npub const SOURCES: u64 = {sum:#x};\n\n"
    );
    table.push_str("/// All faults, by name.\npub static FAULTS: &[seeded::Fault] = &[\n");
    for (number, (name, path)) in (1..).zip(files(&here.join("faults"), "toml")) {
        let fault: Fault = toml::from_str(&read(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut changed = sources.clone();
        match fault.change.iter().try_for_each(|change| apply(change, &mut changed)) {
            Ok(()) => sources = changed,
            Err(why) if lenient => {
                println!("cargo::warning={} is left out: {why}", path.display());
                continue;
            }
            Err(why) => panic!("{}: {why}", path.display()),
        }
        let Fault { commit, what, .. } = fault;
        // The sources of two libraries differ, and so do the ids of their faults.
        let id = (sum & !0xffff) | number;
        writeln!(table, "    seeded::Fault {{ name: {name:?}, commit: {commit:?}, what: {what:?}, id: {id:#x} }},")
            .expect("a string grows");
    }
    table.push_str("];\n");

    let library = sources.remove("lib").expect("the library has a lib.rs");
    write(&out.join("library.rs"), &format!("{}{table}{}", include_str!("head.rs"), as_included(&library, &out)));
    for (name, source) in &sources {
        write(&out.join(format!("{name}.rs")), source);
    }
}

/// The library's root without what an included file may not have, and with its modules in `out`.
fn as_included(library: &str, out: &Path) -> String {
    let mut text = String::new();
    // Where the comment starts that belongs to the line to come.
    let mut documented = 0;
    let mut lines = library.lines().filter(|line| !line.starts_with("//!") && !line.starts_with("#![")).peekable();
    while let Some(line) = lines.next() {
        // What only the fake machine or the documentation needs.
        if matches!(line, r#"#[cfg(feature = "fake")]"# | "#[cfg(doctest)]") {
            while lines.next_if(|next| next.starts_with("#[")).is_some() {}
            lines.next();
            text.truncate(documented);
            continue;
        }
        let module =
            line.strip_suffix(';').and_then(|line| line.strip_prefix("mod ").or(line.strip_prefix("pub mod ")));
        if let Some(module) = module {
            writeln!(text, "#[path = {:?}]", out.join(format!("{module}.rs"))).expect("a string grows");
        }
        text.push_str(line);
        text.push('\n');
        if !line.starts_with("///") {
            documented = text.len();
        }
    }
    text
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
