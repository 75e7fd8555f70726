//! For build scripts: a library's sources with its faults, and with counters of its branches.

use proc_macro2::Span;
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Display,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};
use syn::{
    spanned::Spanned,
    visit::{self, Visit},
};

/// A fault of a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    name: String,
    #[serde(default = "ours")]
    commit: String,
    what: String,
    /// Empty for a fault that lies in what the library runs on: its layout, its settings.
    #[serde(default)]
    change: Vec<Change>,
}

fn ours() -> String {
    "ours".to_owned()
}

/// A list of faults.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Faults {
    fault: Vec<Fault>,
}

/// A part of one source file that reads otherwise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    file: String,
    /// The part by its text, which must occur once in the library's source.
    before: Option<String>,
    /// The part by its place, as offsets in bytes.
    at: Option<[usize; 2]>,
    after: String,
    /// An addition outside functions, or one that every copy of a function needs: a helper, a
    /// field. It changes nothing by itself, and is there whichever fault is on.
    #[serde(default)]
    always: bool,
}

fn read(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    must(fs::read_to_string(path), path)
}

/// What cannot be done with a file ends the build.
fn must<T>(result: Result<T, impl Display>, path: &Path) -> T {
    result.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Rust files of a folder, each with its name and its text.
fn sources_in(folder: &Path) -> BTreeMap<String, String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = must(fs::read_dir(folder), folder);
    let sources = entries
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|found| found == "rs"));
    let named = sources.map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        (name.into_owned(), read(&path))
    });
    named.collect()
}

/// The variable with which a fault whose text the library no longer has is left out with a warning.
/// Mutants need it: they change the text.
const LENIENT: &str = "SEEDED_LENIENT";

/// The variable that names a folder with a list of mutants for each library, such as `psci.toml`:
/// they come after the library's faults.
const MUTANTS: &str = "SEEDED_MUTANTS";

/// A part of a source that reads otherwise, in one copy of the function around it.
struct Edit {
    at: Range<usize>,
    text: String,
}

impl Edit {
    /// True if it lies between the braces of a function.
    fn lies_in(&self, body: &Body) -> bool {
        body.at.start < self.at.start && self.at.end < body.at.end
    }
}

/// A function whose body can be there several times.
struct Body {
    name: String,
    /// From brace to brace.
    at: Range<usize>,
    /// True if it cannot be there several times: it is constant, and cannot ask which fault is on,
    /// or returns a type that it makes.
    single: bool,
}

/// A source file of the library.
#[derive(Default)]
struct Source {
    text: String,
    bodies: Vec<Body>,
    /// Counters of branches: what each copy without a fault has besides.
    counters: Vec<Edit>,
    /// The edits that every copy has, and what stands outside functions.
    always: Vec<Edit>,
    /// The changes of each fault, by the number of the function in `bodies` and of the fault.
    changes: BTreeMap<(usize, usize), Vec<Edit>>,
}

/// Finds functions and branches of a file.
struct Finder<'p> {
    file: &'p str,
    source: Source,
    /// The branches, as the table of them has them.
    places: &'p mut Vec<String>,
    function: String,
    owner: String,
}

impl Finder<'_> {
    fn count(&mut self, at: usize, span: Span, kind: &'static str, around: [&str; 2]) {
        let number = self.places.len();
        let (file, function, line) = (self.file, &self.function, span.start().line);
        self.places.push(format!("    seeded::Place {{ file: \"{file}.rs\", line: {line}, function: {function:?}, kind: {kind:?} }},"));
        let text = format!("{}seeded::reached({number});{}", around[0], around[1]);
        self.source.counters.push(Edit { at: at..at, text });
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let opaque = matches!(&signature.output, syn::ReturnType::Type(_, of) if matches!(**of, syn::Type::ImplTrait(_)));
        let single = opaque || signature.constness.is_some();
        let name = match self.owner.as_str() {
            "" => signature.ident.to_string(),
            owner => format!("{owner}::{}", signature.ident),
        };
        self.source.bodies.push(Body {
            name: name.clone(),
            at: block.span().byte_range(),
            single,
        });
        if signature.constness.is_none() {
            self.function = name;
            self.visit_block(block);
        }
    }
}

impl Visit<'_> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &syn::ItemFn) {
        self.owner.clear();
        self.function(&item.sig, &item.block);
    }

    fn visit_item_impl(&mut self, item: &syn::ItemImpl) {
        let owner = match &*item.self_ty {
            syn::Type::Path(path) => path
                .path
                .segments
                .last()
                .map(|segment| segment.ident.to_string()),
            _ => None,
        };
        for member in &item.items {
            if let syn::ImplItem::Fn(function) = member {
                self.owner = owner.clone().unwrap_or_default();
                self.function(&function.sig, &function.block);
            }
        }
    }

    fn visit_item_trait(&mut self, item: &syn::ItemTrait) {
        for member in &item.items {
            if let syn::TraitItem::Fn(syn::TraitItemFn {
                sig,
                default: Some(block),
                ..
            }) = member
            {
                self.owner = item.ident.to_string();
                self.function(sig, block);
            }
        }
    }

    // Constants are computed before anything runs, and tests are not compiled.
    fn visit_item_const(&mut self, _: &syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &syn::ItemStatic) {}
    fn visit_item_mod(&mut self, _: &syn::ItemMod) {}
    fn visit_expr_const(&mut self, _: &syn::ExprConst) {}

    fn visit_block(&mut self, block: &syn::Block) {
        let open = block.brace_token.span.open();
        let entry = self
            .source
            .bodies
            .last()
            .is_some_and(|body| body.at.start == open.byte_range().start);
        self.count(
            open.byte_range().end,
            open,
            if entry { "called" } else { "block" },
            ["", ""],
        );
        visit::visit_block(self, block);
    }

    fn visit_expr_if(&mut self, branch: &syn::ExprIf) {
        visit::visit_expr_if(self, branch);
        if branch.else_branch.is_none() {
            let close = branch.then_branch.brace_token.span.close();
            self.count(
                close.byte_range().end,
                branch.if_token.span,
                "if not",
                [" else { ", " }"],
            );
        }
    }

    fn visit_arm(&mut self, arm: &syn::Arm) {
        let body = arm.body.span();
        let block = matches!(&*arm.body, syn::Expr::Block(_));
        if !block {
            self.count(body.byte_range().start, arm.pat.span(), "arm", ["{ ", " "]);
        }
        visit::visit_arm(self, arm);
        if !block {
            let end = body.byte_range().end;
            self.source.counters.push(Edit {
                at: end..end,
                text: " }".to_owned(),
            });
        }
    }
}

impl Source {
    fn new(file: &str, text: String, places: &mut Vec<String>) -> Self {
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}.rs: {error}"));
        let source = Self {
            text,
            ..Self::default()
        };
        let mut finder = Finder {
            file,
            source,
            places,
            function: String::new(),
            owner: String::new(),
        };
        finder.visit_file(&parsed);
        finder.source
    }

    /// Notes a change of fault `number`, on the source as it stands in the library: what other
    /// faults change does not matter.
    fn change(&mut self, change: &Change, number: usize) -> Result<(), String> {
        let file = &change.file;
        let at = match (&change.before, change.at) {
            (Some(before), None) => {
                let found = self.text.matches(before.as_str()).count();
                if found != 1 {
                    return Err(format!("the text to change occurs {found} times in {file}"));
                }
                let start = self.text.find(before.as_str()).unwrap_or_default();
                start..start + before.len()
            }
            (None, Some([start, end])) if self.text.get(start..end).is_some() => start..end,
            _ => {
                return Err(format!(
                    "a change of {file} has either `before` or `at`, two offsets within the file"
                ));
            }
        };
        let edit = Edit {
            at,
            text: change.after.clone(),
        };
        if change.always {
            // An addition, so that several of them go together.
            let before = &self.text[edit.at.clone()];
            let (at, added) = match (
                edit.text.strip_prefix(before),
                edit.text.strip_suffix(before),
            ) {
                (Some(added), _) => (edit.at.end, added),
                (None, Some(added)) => (edit.at.start, added),
                _ => {
                    return Err(format!(
                        "a change of {file} that is always there may only add before or after"
                    ));
                }
            };
            self.always.push(Edit {
                at: at..at,
                text: added.to_owned(),
            });
            return Ok(());
        }
        let number_of_body = self.bodies.iter().position(|body| edit.lies_in(body));
        let body = number_of_body.ok_or_else(|| {
            format!("a change of {file} lies in no function, and is not `always = true`")
        })?;
        let Body { name, single, .. } = &self.bodies[body];
        if *single {
            return Err(format!("{name} of {file} cannot be there twice"));
        }
        self.changes.entry((body, number)).or_default().push(edit);
        Ok(())
    }

    /// The text with a copy of each changed function for each fault that changes it.
    fn with_faults(&mut self, faults: &[(String, u64)]) -> String {
        let mut edits = vec![];
        let changed: BTreeSet<usize> = self.changes.keys().map(|(body, _)| *body).collect();
        for &number in &changed {
            let at = self.bodies[number].at.clone();
            let mut text = String::from("{ match seeded::on() {\n");
            for (&(_, fault), own) in self.changes.range((number, 0)..(number + 1, 0)) {
                let (name, id) = &faults[fault];
                let copy = rewritten(&self.text, at.clone(), own.iter().chain(&self.always));
                text += &format!("{id:#x} => // fault {name}\n{copy}\n");
            }
            let plain = rewritten(
                &self.text,
                at.clone(),
                self.always.iter().chain(&self.counters),
            );
            text += &format!("_ => // no fault\n{plain}\n}} }}\n");
            edits.push(Edit { at, text });
        }
        let within = |edit: &Edit| changed.iter().any(|&body| edit.lies_in(&self.bodies[body]));
        let rest = self
            .always
            .iter()
            .chain(&self.counters)
            .filter(|edit| !within(edit));
        rewritten(&self.text, 0..self.text.len(), edits.iter().chain(rest))
    }
}

/// A part of a text with some edits; those that lie elsewhere are left out.
fn rewritten<'e>(text: &str, part: Range<usize>, edits: impl Iterator<Item = &'e Edit>) -> String {
    let mut edits: Vec<&Edit> = edits
        .filter(|edit| part.start <= edit.at.start && edit.at.end <= part.end)
        .collect();
    // In the order in which they were noted where they stand at one place.
    edits.sort_by_key(|edit| edit.at.start);
    let (mut new, mut from) = (String::new(), part.start);
    for edit in edits {
        assert!(
            from <= edit.at.start,
            "two changes of one fault overlap at `{}`",
            &text[edit.at.clone()]
        );
        new += &text[from..edit.at.start];
        new += &edit.text;
        from = edit.at.end;
    }
    new + &text[from..part.end]
}

/// Copies the library whose sources lie in `sources`, relative to the crate that is built, with the
/// faults of the crate's `faults.toml` and with counters of its branches. The crate includes
/// `library.rs` from `OUT_DIR` and nothing else: beside the library that is `FAULTS`, `find`,
/// `PLACES`, and `SOURCES`, a number that changes with the sources.
///
/// # Panics
/// A source or a fault cannot be read, or a text to change does not occur exactly once and
/// `SEEDED_LENIENT` is not set: the build fails, and says which.
pub fn compile(sources: &str) {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by Cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by Cargo"));
    let library = here.join(sources);
    let texts = sources_in(&library);

    let sum = checksum(&texts);
    println!("cargo::rerun-if-env-changed={LENIENT}");
    println!("cargo::rerun-if-env-changed={MUTANTS}");

    let mut places = vec![];
    let mut sources = BTreeMap::new();
    for (file, text) in texts {
        let source = Source::new(&file, text, &mut places);
        sources.insert(file, source);
    }
    assert!(
        places.len() <= crate::MOST_PLACES,
        "{} branches are more than are counted",
        places.len()
    );

    let (mut table, ids) = write_faults(sum, faults(&here, &library), &mut sources);
    table += "];\n\n/// The branches of the library, in the order of `seeded::reached`.\n";
    table += "pub static PLACES: &[seeded::Place] = &[\n";
    table += &places.join("\n");
    table += "\n];\n";

    let library = sources
        .remove("lib")
        .expect("the library has a lib.rs")
        .text;
    write(
        &out.join("library.rs"),
        &format!(
            "{}{table}{}",
            include_str!("head.rs"),
            as_included(&library, &out)
        ),
    );
    for (name, source) in &mut sources {
        write(&out.join(format!("{name}.rs")), &source.with_faults(&ids));
    }
}

/// A number that changes with the sources (FNV-1a).
fn checksum(texts: &BTreeMap<String, String>) -> u64 {
    texts
        .iter()
        .flat_map(|(name, source)| name.bytes().chain(source.bytes()))
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3)
        })
}

/// Makes the changes of the faults to the sources. Returns the table of faults, still open, and
/// the name and id of each fault.
fn write_faults(
    sum: u64,
    faults: Vec<(PathBuf, Fault)>,
    sources: &mut BTreeMap<String, Source>,
) -> (String, Vec<(String, u64)>) {
    let mut table = format!(
        "/// The sources of the library, as a number that changes with them.\npub const SOURCES: u64 = {sum:#x};\n\n"
    );
    table += "/// All faults, by name.\npub static FAULTS: &[seeded::Fault] = &[\n";
    let lenient = env::var_os(LENIENT).is_some();
    let mut ids = vec![];
    for (
        number,
        (
            path,
            Fault {
                name,
                commit,
                what,
                change,
            },
        ),
    ) in faults.into_iter().enumerate()
    {
        // The sources of two libraries differ, and so do the ids of their faults.
        let id = (sum & !0xffff) | (number as u64 + 1);
        ids.push((name.clone(), id));
        let result = change.iter().try_for_each(|change| {
            let file = change.file.trim_end_matches(".rs");
            sources
                .get_mut(file)
                .ok_or_else(|| format!("the library has no {}", change.file))?
                .change(change, number)
        });
        match result {
            Ok(()) => {}
            Err(why) if lenient => {
                println!(
                    "cargo::warning={name} of {} is left out: {why}",
                    path.display()
                );
                // Half a fault is none.
                sources
                    .values_mut()
                    .for_each(|source| source.changes.retain(|&(_, fault), _| fault != number));
                continue;
            }
            Err(why) => panic!("{name} of {}: {why}", path.display()),
        }
        table += &format!(
            "    seeded::Fault {{ name: {name:?}, commit: {commit:?}, what: {what:?}, id: {id:#x} }},\n"
        );
    }
    (table, ids)
}

/// The faults of the crate's list, and of the list of mutants where they are asked for, each with
/// its file.
fn faults(here: &Path, library: &Path) -> Vec<(PathBuf, Fault)> {
    let name = library
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default();
    let mutants =
        env::var_os(MUTANTS).map(|folder| Path::new(&folder).join(name).with_extension("toml"));
    let mut faults = vec![];
    for path in [here.join("faults.toml")].into_iter().chain(mutants) {
        let list: Faults = must(toml::from_str(&read(&path)), &path);
        faults.extend(list.fault.into_iter().map(|fault| (path.clone(), fault)));
    }
    faults
}

/// The library's root without what an included file may not have, and with its modules in `out`.
fn as_included(library: &str, out: &Path) -> String {
    let mut text = String::new();
    for line in library
        .lines()
        .filter(|line| !line.starts_with("//!") && !line.starts_with("#!["))
    {
        let module = line
            .strip_suffix(';')
            .and_then(|line| line.strip_prefix("mod ").or(line.strip_prefix("pub mod ")));
        if let Some(module) = module {
            // The library itself is held to lints; of a fault nobody expects it.
            let path = out.join(format!("{module}.rs"));
            text += &format!("#[allow(warnings, clippy::all)]\n#[path = {path:?}]\n");
        }
        text += line;
        text.push('\n');
    }
    text
}

fn write(path: &Path, text: &str) {
    must(fs::write(path, text), path);
}
