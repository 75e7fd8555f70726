//! A schedule in a file: the run of a test that failed.

use crate::machine::{Core, Counting, Deviation, Operation, Step};
use crate::search::Runs;
use std::path::PathBuf;

/// The version of the text.
const FORMAT: u32 = 2;

/// What to do about a schedule that is no use.
pub const ANEW: &str =
    "record it anew: run its test without STOPWATT_REPLAY, and a failure leaves a new schedule";

/// The run of a test that failed.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    format: u32,
    /// The test by its path.
    pub test: String,
    pub threads: usize,
    /// Words that the run made.
    words: usize,
    /// Counts of references are words.
    counts: bool,
    #[serde(default)]
    deviation: Vec<Recorded>,
    /// It comes last, so that it is not there in a text that was cut off.
    pub core: Core,
}

/// A deviation, and the operation of its thread at which it was made.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    at: String,
    choice: Deviation,
}

/// The path of the test that runs: the name that its thread has, or the function that its code is
/// in where a test has no thread of its own.
pub fn test_of<T>(_: &T) -> String {
    let code = std::any::type_name::<T>().trim_end_matches("::{{closure}}");
    let thread = std::thread::current();
    let name = thread.name().filter(|name| *name != "main");
    name.unwrap_or(code).to_owned()
}

/// The operation of a deviation's process at which it is made, without values and lines.
fn operation_at(deviation: &Deviation, steps: &[Step]) -> String {
    let step = steps
        .iter()
        .rfind(|step| (step.process, step.operation) == (deviation.process, deviation.operation));
    let Some(&Step { did, .. }) = step else {
        return "the end".to_owned();
    };
    match did {
        Operation::Load { cell }
        | Operation::Loaded { cell, .. }
        | Operation::Store { cell, .. }
        | Operation::Update { cell, .. } => format!("{} of word {cell}", did.kind()),
        _ => did.kind().to_owned(),
    }
}

impl File {
    /// The last run of a session, whose steps were kept.
    pub fn of<C>(test: &str, session: &dyn Runs<C>) -> Self {
        let (machine, steps) = (session.machine(), session.steps());
        let recorded = |choice: Deviation| Recorded {
            at: operation_at(&choice, &steps),
            choice,
        };
        Self {
            format: FORMAT,
            test: test.to_owned(),
            threads: machine.cpus().len(),
            words: machine.names().own.len(),
            deviation: session.schedule().into_iter().map(recorded).collect(),
            core: machine.settings().core.get(),
            counts: machine.settings().counts.get() == Counting::Words,
        }
    }

    /// Reads a text; `name` is its name in errors.
    ///
    /// # Panics
    /// It is no schedule of this format, or it is cut off.
    pub fn read(name: &str, text: &str) -> Self {
        let file: Self = toml::from_str(text).unwrap_or_else(|error| {
            panic!("{name} is no schedule of format {FORMAT}; {ANEW}\n{error}")
        });
        let format = file.format;
        assert!(
            format == FORMAT,
            "{name} has format {format}, and this version of the package reads format {FORMAT}; {ANEW}"
        );
        file
    }

    /// True if it is of this test. A path may begin with the name of the crate.
    pub fn is_of(&self, test: &str) -> bool {
        let [own, other] = [&self.test[..], test].map(|path| format!("::{path}"));
        own.ends_with(&other) || other.ends_with(&own)
    }

    /// What counts of references are in its run.
    pub fn counting(&self) -> Counting {
        if self.counts {
            Counting::Words
        } else {
            Counting::Avoided
        }
    }

    pub fn schedule(&self) -> Vec<Deviation> {
        self.deviation.iter().map(|one| one.choice).collect()
    }

    /// The reason why the failure is gone, after a run that did not fail, whose steps were kept.
    ///
    /// # Errors
    /// The difference from the test that was recorded: the run says nothing of its failure.
    pub fn gone<C>(&self, session: &dyn Runs<C>) -> Result<String, String> {
        let (own, words) = (self.words, session.machine().names().own.len());
        if words < own {
            return Err(format!("it made {own} words, and now makes {words}"));
        }
        let (made, steps) = (session.schedule(), session.steps());
        for (number, recorded) in (1..).zip(&self.deviation) {
            let (then, now) = (&recorded.at, operation_at(&recorded.choice, &steps));
            if now != *then {
                return Err(format!(
                    "its deviation {number} was made at this operation: {then}; now it is: {now}"
                ));
            }
            // Behind a choice that is not there any more, all may be different.
            if !made.contains(&recorded.choice) {
                return Ok(format!(
                    "its deviation {number} is not possible any more, at this operation: {then}"
                ));
            }
        }
        Ok("the same schedule does not fail any more".to_owned())
    }

    /// Leaves it in a folder, whole or not at all, and returns its path.
    pub fn leave(&self, folder: Option<&PathBuf>) -> PathBuf {
        let signs = |letter: char| !letter.is_alphanumeric() && letter != '_';
        let words: Vec<&str> = self
            .test
            .split(signs)
            .filter(|word| !word.is_empty())
            .collect();
        let name = words.join("-");
        let folder = folder
            .cloned()
            .or_else(|| std::env::var_os("STOPWATT_SCHEDULES").map(PathBuf::from));
        // What Cargo builds lies below a folder with this file, wherever that is; anything else
        // leaves its schedules where it runs.
        let program = std::env::current_exe().unwrap_or_default();
        let target = program
            .ancestors()
            .find(|folder| folder.join("CACHEDIR.TAG").is_file());
        let folder = folder
            .unwrap_or_else(|| target.map_or_else(PathBuf::new, |target| target.join("explore")));
        let path = folder.join(format!("{name}.schedule"));
        let text = toml::to_string(self)
            .unwrap_or_else(|error| unreachable!("a schedule is plain data: {error}"));
        let partial = folder.join(format!(".{name}.partial-{}", std::process::id()));
        let written = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&partial, text))
            .and_then(|()| std::fs::rename(&partial, &path));
        if let Err(error) = written {
            eprintln!("cannot leave {}: {error}", path.display());
        }
        std::path::absolute(&path).unwrap_or(path)
    }
}
