//! Which file of a crate uses which, read from the sources' paths, and the circles in that.
//!
//! A path that starts with `crate`, `super`, `self` or the name of a child module is a use of the
//! file in which its name is defined: re-exports are followed. `mod` declarations, what a file
//! hands on from its own children, comments, strings and modules under `#[cfg(test)]` are no uses.

use std::collections::{BTreeMap, BTreeSet};

/// Sources of one crate: the text by the path below `src`, such as `config/platform.rs`.
pub type Sources = BTreeMap<String, String>;

/// The files that use each other in a loop, each circle sorted, by the path below `src`.
pub fn circles(sources: &Sources) -> Vec<Vec<String>> {
    loops(&uses(sources)).into_iter().collect()
}

/// The modules of one folder that use each other in a loop, each circle sorted, by the path below
/// `src`. A module is a file with the folder of its name.
pub fn module_circles(sources: &Sources) -> Vec<Vec<String>> {
    let uses = uses(sources);
    let modules: BTreeMap<&String, Module> =
        sources.keys().map(|file| (file, module_of(file))).collect();
    let folders: BTreeSet<&[String]> = modules
        .values()
        .filter_map(|module| module.split_last())
        .map(|(_, folder)| folder)
        .collect();
    let mut circles = BTreeSet::new();
    for folder in folders {
        // The module of this folder that a file belongs to.
        let within = |file: &String| {
            let rest = modules.get(file)?.strip_prefix(folder)?;
            Some([folder, rest.get(..1)?].concat().join("/"))
        };
        let mut between: Uses = sources
            .keys()
            .filter_map(|file| Some((within(file)?, BTreeSet::new())))
            .collect();
        for (file, used) in &uses {
            let Some(from) = within(file) else { continue };
            let used = used.iter().filter_map(within).filter(|to| *to != from);
            between.entry(from.clone()).or_default().extend(used);
        }
        circles.extend(loops(&between));
    }
    circles.into_iter().collect()
}

/// The imports of each of some files or modules.
type Uses = BTreeMap<String, BTreeSet<String>>;

fn loops(uses: &Uses) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = uses
        .keys()
        .map(|file| (file, reached_from(uses, file)))
        .collect();
    let mut circles = BTreeSet::new();
    for (file, reach) in &reached {
        if reach.contains(*file) {
            let circle = reach
                .iter()
                .filter(|other| reached[**other].contains(*file));
            circles.insert(circle.map(|other| (*other).clone()).collect::<Vec<_>>());
        }
    }
    circles
}

fn reached_from<'u>(uses: &'u Uses, file: &String) -> BTreeSet<&'u String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&String> = uses[file].iter().collect();
    while let Some(other) = next.pop() {
        if reached.insert(other) {
            next.extend(&uses[other]);
        }
    }
    reached
}

/// The files that each file uses.
fn uses(sources: &Sources) -> Uses {
    let mut house = House::default();
    let mut files = Vec::new();
    for (file, text) in sources {
        let tokens = without_tests(tokens(text));
        let module = module_of(file);
        house.files.insert(module.clone(), file.clone());
        files.push((file, module, tokens));
    }
    let mut found = Vec::new();
    for (file, module, tokens) in &files {
        house.read(file, module, tokens, &mut found);
    }
    let mut uses: Uses = sources
        .keys()
        .map(|file| (file.clone(), BTreeSet::new()))
        .collect();
    for path in found {
        let handed_on = path.handed_on && path.absolute.starts_with(&path.module);
        let Some(target) = house.file_of(&path.absolute, 0) else {
            continue;
        };
        if target != path.file && !handed_on {
            uses.entry(path.file).or_default().insert(target);
        }
    }
    uses
}

type Module = Vec<String>;

fn module_of(file: &str) -> Module {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    if matches!(path, "lib" | "main" | "mod") {
        Vec::new()
    } else {
        path.split('/').map(str::to_owned).collect()
    }
}

/// A path as some file writes it.
struct Path {
    file: String,
    module: Module,
    absolute: Module,
    /// It stands in a `pub use`.
    handed_on: bool,
}

/// The modules of a crate.
#[derive(Default)]
struct House {
    /// Files by module, modules within a file included.
    files: BTreeMap<Module, String>,
    /// The names in a module's `use` declarations, by module and name: the absolute path, or `None`
    /// for other crates.
    names: BTreeMap<(Module, String), Option<Module>>,
}

impl House {
    /// The file in which the name at the end of an absolute path is defined.
    fn file_of(&self, path: &[String], depth: usize) -> Option<String> {
        let mut module = Vec::new();
        for (at, segment) in path.iter().enumerate() {
            module.push(segment.clone());
            if self.files.contains_key(&module) {
                continue;
            }
            module.pop();
            return match self.names.get(&(module.clone(), segment.clone())) {
                Some(None) => None,
                Some(Some(other)) if depth < 16 && other != path => {
                    self.file_of(&[other.as_slice(), &path[at + 1..]].concat(), depth + 1)
                }
                _ => self.files.get(&module).cloned(),
            };
        }
        self.files.get(&module).cloned()
    }

    /// Notes a file's inner modules and `use` declarations, and collects its paths.
    fn read(&mut self, file: &str, module: &Module, tokens: &[String], found: &mut Vec<Path>) {
        let mut module = module.clone();
        // Braces that are open, with the length of the module's path to return to at their end.
        let mut open = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let next = |ahead: usize| tokens.get(at + ahead).map_or("", String::as_str);
            match tokens[at].as_str() {
                "mod" if next(2) == "{" => {
                    open.push(module.len());
                    module.push(next(1).to_owned());
                    self.files.insert(module.clone(), file.to_owned());
                    at += 3;
                    continue;
                }
                "{" => open.push(module.len()),
                "}" => module.truncate(open.pop().unwrap_or(module.len())),
                // Not the `use<…>` of a type.
                "use" if next(1) != "<" => {
                    let public = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
                    let mut trees = Vec::new();
                    at = use_tree(tokens, at + 1, &[], &mut trees);
                    for (path, name) in trees {
                        let absolute = self.absolute(&module, &path);
                        if let Some(absolute) = &absolute {
                            let (file, module, absolute) =
                                (file.to_owned(), module.clone(), absolute.clone());
                            found.push(Path {
                                file,
                                module,
                                absolute,
                                handed_on: public,
                            });
                        }
                        self.names.insert((module.clone(), name), absolute);
                    }
                    continue;
                }
                _ if next(1) == "::"
                    && (at == 0 || !matches!(tokens[at - 1].as_str(), "::" | "." | "$")) =>
                {
                    let mut path = vec![tokens[at].clone()];
                    while tokens.get(at + 1).is_some_and(|token| token == "::")
                        && tokens.get(at + 2).is_some_and(|token| is_name(token))
                    {
                        path.push(tokens[at + 2].clone());
                        at += 2;
                    }
                    if let Some(absolute) = self.absolute(&module, &path) {
                        found.push(Path {
                            file: file.to_owned(),
                            module: module.clone(),
                            absolute,
                            handed_on: false,
                        });
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// A path from the crate's root; `None` if it leads to another crate or to a name that is not a
    /// module's.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let mut base = module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                base.clear();
                rest = &path[1..];
            }
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                base.push(child.to_owned());
                if !self.files.contains_key(&base) {
                    return None;
                }
                rest = &path[1..];
            }
        }
        Some(base.into_iter().chain(rest.iter().cloned()).collect())
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Reads the tree of a `use` declaration: full paths with the names that they bind. Returns the
/// place after it.
fn use_tree(
    tokens: &[String],
    mut at: usize,
    prefix: &[String],
    trees: &mut Vec<(Vec<String>, String)>,
) -> usize {
    let mut path = prefix.to_vec();
    let mut name = None;
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token != "}") {
                    at = use_tree(tokens, at, &path, trees);
                    if tokens.get(at).is_some_and(|token| token == ",") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "as" => {
                name = tokens.get(at + 1).cloned();
                at += 2;
            }
            "," | "}" | ";" => break,
            "self" if !path.is_empty() => at += 1,
            "::" | "*" => at += 1,
            other => {
                path.push(other.to_owned());
                at += 1;
            }
        }
    }
    if let Some(last) = path.last().cloned() {
        trees.push((path, name.unwrap_or(last)));
    }
    at
}

/// Leaves out what stands under `#[cfg(test)]`, up to the end of its braces or its semicolon.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..]
            .iter()
            .map(String::as_str)
            .take(TEST.len())
            .eq(TEST)
        {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut depth = 0;
        while at < tokens.len() {
            let token = tokens[at].as_str();
            at += 1;
            match token {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(token, "}" | ";") {
                break;
            }
        }
    }
    kept
}

/// Names, `::` and single characters, without comments, literals and white space.
fn tokens(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let starts = |at: usize, what: &str| {
        what.chars()
            .enumerate()
            .all(|(n, c)| text.get(at + n) == Some(&c))
    };
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let c = text[at];
        if starts(at, "//") {
            at += text[at..]
                .iter()
                .position(|&c| c == '\n')
                .unwrap_or(text.len() - at);
        } else if starts(at, "/*") {
            let mut depth = 1;
            at += 2;
            while depth > 0 && at < text.len() {
                let step = if starts(at, "/*") {
                    1
                } else {
                    -i32::from(starts(at, "*/"))
                };
                depth += step;
                at += 1 + usize::from(step != 0);
            }
        } else if is_name(&c.to_string()) || c.is_ascii_digit() {
            let end = text[at..]
                .iter()
                .position(|c| !c.is_alphanumeric() && *c != '_')
                .map_or(text.len(), |n| at + n);
            let word: String = text[at..end].iter().collect();
            at = end;
            if matches!(word.as_str(), "r" | "br" | "cr") && (starts(at, "\"") || starts(at, "#")) {
                let hashes = text[at..].iter().take_while(|&&c| c == '#').count();
                if text.get(at + hashes) == Some(&'"') {
                    let close = format!("\"{}", "#".repeat(hashes));
                    at += hashes + 1;
                    while at < text.len() && !starts(at, &close) {
                        at += 1;
                    }
                    at += close.len();
                    continue;
                }
            }
            tokens.push(word);
        } else if c == '"' {
            at += 1;
            while at < text.len() && text[at] != '"' {
                at += 1 + usize::from(text[at] == '\\');
            }
            at += 1;
        } else if c == '\'' {
            // A character, or a lifetime.
            if text.get(at + 1) == Some(&'\\') {
                at += 3;
                while at < text.len() && text[at] != '\'' {
                    at += 1;
                }
                at += 1;
            } else {
                at += if text.get(at + 2) == Some(&'\'') {
                    3
                } else {
                    1
                };
            }
        } else if starts(at, "::") {
            tokens.push("::".to_owned());
            at += 2;
        } else {
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
            at += 1;
        }
    }
    tokens
}
