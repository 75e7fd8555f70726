//! `cargo xtask new`: writes what a new metric, cause, fault or platform fact begins with, and
//! lists what is left to do. `cargo xtask stored` makes the stored recording of a story.

use crate::tools::{cargo, check, root};
use std::fs;
use std::path::{Path, PathBuf};

/// The kinds of things that can be begun.
const KINDS: &str = "story, metric, cause, fault or platform-fact";

/// Begins a thing of a kind.
///
/// # Errors
/// The kind or the name is none, the thing is there already, or a file cannot be written.
pub fn new(arguments: &[String]) -> Result<(), String> {
    let [kind, name] = arguments else { return Err(format!("name a kind ({KINDS}) and a name: new metric wake-cost")) };
    let is_name = |name: &str| name.starts_with(|first: char| first.is_ascii_lowercase());
    let letters = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_name(name) || !letters(name) {
        return Err(format!("`{name}` is no name: lower-case letters, digits and hyphens, such as wake-cost"));
    }
    match kind.as_str() {
        "story" => story(name),
        "metric" => metric(name),
        "cause" => cause(name),
        "fault" => fault(name),
        "platform-fact" => platform_fact(name),
        other => Err(format!("`{other}` is no kind: {KINDS}")),
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Puts `row` behind the last line that ends with `end` in a file of the checkout.
fn append(file: &str, name: &str, end: &str, row: &str) -> Result<(), String> {
    let path = root().join(file);
    let text = read(&path)?;
    if text.contains(&format!("{name:?}")) {
        return Err(format!("{file} has {name:?} already"));
    }
    let at = text.rfind(end).ok_or_else(|| format!("{file} has no line that ends with `{end}`"))? + end.len();
    write(&path, &format!("{}{row}{}", &text[..at], &text[at..]))
}

/// The words of a name, each with its first letter as `change` makes it, joined.
fn joined(name: &str, change: impl Fn(&str) -> String, by: &str) -> String {
    name.split('-').map(change).collect::<Vec<_>>().join(by)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn story(name: &str) -> Result<(), String> {
    let (file, title) = (name.replace('-', "_"), joined(name, capitalised, ""));
    let finding = root().join("crates/results/findings/src").join(&file).with_extension("rs");
    let story = root().join("crates/results/report/src/stories").join(&file).with_extension("rs");
    if finding.exists() || story.exists() {
        return Err(format!("there is a story `{file}` already"));
    }
    register("crates/results/findings/src/lib.rs", &format!("pub mod {file};\n"), "pub mod ")?;
    register("crates/results/report/src/stories/mod.rs", &format!("mod {file};\n"), "mod ")?;
    let row = format!("    {title}({file}::{title}): {name:?} => read(run);\n");
    append("crates/results/findings/src/finding.rs", name, "read(run)?;\n", &row)?;
    let of = |template: &str| template.replace("NAME", name).replace("FILE", &file).replace("Title", &title);
    write(&finding, &of(include_str!("../templates/finding.rs.txt")))?;
    write(&story, &of(include_str!("../templates/story.rs.txt")))?;
    println!(
        "left to do:\n  fields and `read` in findings/src/{file}.rs: all that is reckoned is reckoned there\n  the answer, a picture and \
         tables in report/src/stories/{file}.rs\n  cargo xtask stored {name} run {name} ...   (a short run)\n  cargo test -p findings -p report\n  python python/stubs.py, with the \
         package installed: writes the finding's classes"
    );
    Ok(())
}

/// Adds a line to a file of the checkout, in order among those that start alike.
fn register(file: &str, line: &str, start: &str) -> Result<(), String> {
    let path = root().join(file);
    let text = read(&path)?;
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let is_alike = |other: &String| other.starts_with(start) && other.ends_with(";\n");
    let last = lines.iter().rposition(is_alike).ok_or_else(|| format!("{file} has no line `{start}...;`"))?;
    let at = lines.iter().position(|other| is_alike(other) && other.as_str() > line).unwrap_or(last + 1);
    lines.insert(at, line.to_owned());
    write(&path, &lines.concat())
}

fn metric(name: &str) -> Result<(), String> {
    let (key, words) = (name.replace('-', "_"), name.replace('-', " "));
    let row = format!(
        "    /// {}, in microseconds.\n    {} = Metric::new(\"{key}\", (\"{}\", \"{words}\"), \"us\", Lower);\n",
        capitalised(&words),
        key.to_uppercase(),
        capitalised(&words),
    );
    append("crates/record/recording/src/metrics.rs", &key, "Neither);\n", &row)?;
    println!(
        "left to do:\n  its comment, headings, unit and which way is better, in that row\n  an experiment that writes it: \
         recording.measure(series, iteration, metrics::{}.name, unit, value)\n  cargo test -p recording metrics",
        key.to_uppercase()
    );
    Ok(())
}

fn cause(name: &str) -> Result<(), String> {
    let words = name.replace('-', " ");
    let row = format!(
        "    /// {}.\n    {} = CauseRow {{\n        name: {name:?},\n        title: {words:?},\n        sentence: \"spent on {words}\",\n        \
         activity: {words:?},\n        waited: (\"\", \"\"),\n        letter: '?',\n        terminal: \"37\",\n        class: {name:?},\n        \
         light: colours(\"#dddddd\", \"#777777\"),\n        dark: colours(\"#333333\", \"#999999\"),\n        pattern: Pattern::Plain,\n        \
         colour_words: \"grey\",\n        light_label: false,\n        recognition: since(\"{name}\", \"{name}-end\"),\n    }};\n",
        capitalised(&words),
        joined(name, capitalised, ""),
    );
    append("crates/record/attribution/src/causes.rs", name, "\n    };\n", &row)?;
    println!(
        "left to do:\n  words, letter, colours and pattern, in that row: all words of a cause stand there\n  the points `{name}` and \
         `{name}-end`, in the `points!` block of the crate that stamps them\n  cargo test -p attribution -p report"
    );
    Ok(())
}

fn fault(name: &str) -> Result<(), String> {
    let path = root().join("crates/code/psci-faults/faults").join(name).with_extension("toml");
    if path.exists() {
        return Err(format!("{} is there already", path.display()));
    }
    // Whole, so that it builds: the text that it changes is there once.
    let text = "commit = \"ours\"\nwhat = \"The wake-up of a CPU that stays on is not told to the platform.\"\n\n[[change]]\nfile = \
                \"power_down.rs\"\nbefore = '''\n        self.platform.power_down_abandoned(&wake_state);\n'''\nafter = \"\"\n";
    write(&path, text)?;
    println!(
        "left to do:\n  commit: where it was published, as a project and a commit, or \"ours\"\n  what: the error, as a sentence\n  \
         each [[change]]: a text that `file` of crates/code/psci/src has once, and what takes its place\n  cargo run --release -- explore \
         faults --find   (for the RCU library the file goes to crates/code/rcu-faults/faults)"
    );
    Ok(())
}

fn platform_fact(name: &str) -> Result<(), String> {
    let key = name.replace('-', "_");
    let file = "crates/worlds/soc/src/config/platform.rs";
    let text = read(&root().join(file))?;
    if text.contains(&format!("{key}:")) {
        return Err(format!("{file} has `{key}` already"));
    }
    let line_of = |what: &str| text.lines().position(|line| line.contains(what)).map_or(0, |at| at + 1);
    let insert = |text: String, before: &str, line: &str| text.replacen(before, &format!("{line}{before}"), 1);
    let places = [
        ("    /// The most that a CPU starts late in a parallel case, drawn evenly.\n", "pub start_skew"),
        ("    start_skew: Duration,\n", ""),
        ("                start_skew: file.assumed.start_skew.0,\n", ""),
    ];
    let mut new = text.clone();
    let fact = format!("    /// {}, in ps.\n    pub {key}: u64,\n", capitalised(&name.replace('-', " ")));
    let anchor = text.lines().take(line_of(places[0].1) - 1).collect::<Vec<_>>();
    let documented = anchor.iter().rposition(|line| !line.trim_start().starts_with("///")).map_or(0, |at| at + 1);
    let before = anchor[documented..].iter().map(|line| format!("{line}\n")).collect::<String>();
    new = insert(new, &before, &fact);
    new = insert(new, places[1].0, &format!("    #[serde(default)]\n    {key}: Option<Duration>,\n"));
    new = insert(new, places[2].0, &format!("                {key}: file.assumed.{key}.map_or(0, |time| time.0),\n"));
    if new.matches(&key).count() != 4 {
        return Err(format!(
            "{file} has another form than this knows; add `{key}` to Assumed, to its file's table and where one becomes the other"
        ));
    }
    write(&root().join(file), &new)?;
    println!(
        "left to do:\n  its comment in `Assumed`, and its unit if it is no time\n  {key} = \"... ns\" below [assumed] of \
         data/platforms/*.toml, with its source; where it is left out it is 0\n  the use of `platform.assumed.{key}` in crates/worlds/soc\n  \
         a line in docs/platforms.md\n  cargo test -p soc"
    );
    Ok(())
}

/// Makes a stored recording anew: by the command that is given, or by the one that it names.
///
/// # Errors
/// There is no such recording and no command, or the run fails.
pub fn stored(arguments: &[String]) -> Result<(), String> {
    let Some((name, given)) = arguments.split_first() else {
        return Err("name a recording of crates/results/report/tests/recordings, and for a new one its command: stored batch run \
                    batch --repetitions 2"
            .to_owned());
    };
    let folder = PathBuf::from("crates/results/report/tests/recordings").join(name);
    let command = match given {
        [] => {
            let path = root().join(&folder).join("recording.toml");
            let table: toml::Table = read(&path)?.parse().map_err(|error| format!("{}: {error}", path.display()))?;
            let words = table.get("run").and_then(|run| run.get("command")?.as_array()).cloned().unwrap_or_default();
            words.iter().skip(1).filter_map(|word| word.as_str().map(str::to_owned)).collect()
        }
        given => given.to_vec(),
    };
    let mut kept = Vec::new();
    let mut words = command.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "--output" => drop(words.next()),
            "--replace" => {}
            _ => kept.push(word),
        }
    }
    let mut run = cargo(&["run", "--release", "--quiet", "--"]);
    check(run.args(kept).arg("--replace").arg("-o").arg(&folder))?;
    forget_machine(&root().join(folder).join("recording.toml"))
}

/// Leaves out of a stored recording's header what tells of the machine that made it, but for the
/// counter.
fn forget_machine(path: &Path) -> Result<(), String> {
    let text = read(path)?;
    let (before, run) = text.split_once("\n[run]\n").ok_or_else(|| format!("{}: no [run]", path.display()))?;
    let kept = run.lines().filter(|line| ["when ", "command ", "counter "].iter().any(|key| line.starts_with(key)));
    let kept: String = kept
        .map(|line| match line.split_once("/stopwatt\"") {
            Some((_, arguments)) => format!("command = [\"stopwatt\"{arguments}\n"),
            None => format!("{line}\n"),
        })
        .collect();
    fs::write(path, format!("{before}\n[run]\n{kept}")).map_err(|error| format!("{}: {error}", path.display()))
}
