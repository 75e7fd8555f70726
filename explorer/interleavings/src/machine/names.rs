//! Names of words and locks, for those who read a schedule.

use crate::memory::NOBODY;
use std::fmt::Display;
use std::panic::Location;
use std::rc::Rc;

/// The name of a word by its number and the place at which it was made.
pub fn number_and_place(word: usize, place: &Location<'_>) -> String {
    let name = variable(place)
        .map(|name| format!(" ({name})"))
        .unwrap_or_default();
    format!("word {word}{name} of {}:{}", place.file(), place.line())
}

/// The variable or field that is made at a place: what stands before it in its line, where the
/// source is at hand.
fn variable(place: &Location<'_>) -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    // Cargo names files from the workspace, and runs tests in the package.
    let source = folder
        .ancestors()
        .find_map(|folder| std::fs::read_to_string(folder.join(place.file())).ok())?;
    let before = source
        .lines()
        .nth(place.line() as usize - 1)?
        .get(..place.column() as usize - 1)?;
    // A field stands before a colon, behind the last sign of equality; a variable behind `let`.
    let value = before.rfind("= ").map_or(before, |at| &before[at..]);
    let declared = before.rsplit_once("let ").map(|(_, name)| name);
    let field = value.rsplit_once(": ").or(match declared {
        None => before.rsplit_once(": "),
        _ => None,
    });
    let is_other = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let name = match field {
        Some((name, _)) => name.rsplit(is_other).next()?,
        None => declared?
            .trim_start_matches("mut ")
            .split(is_other)
            .next()?,
    };
    Some(name)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

/// The subject's names of words, of locks, and of what CPUs wait for.
#[derive(Clone, Debug)]
pub struct Names {
    /// The numbers that the names of words depend on, as the subject counts them.
    pub counts: [u16; 3],
    /// The name of a word by its number.
    pub word: fn(&Self, u16) -> String,
    /// The names of words that are known only when the program runs.
    pub own: Rc<[String]>,
    /// The name of a lock by its id.
    pub lock: fn(u32) -> String,
    /// The name of plain data by the counts and its number.
    pub plain: fn([u16; 3], u32) -> String,
    /// What a process is called: a CPU, or a thread.
    pub who: &'static str,
    /// The waits of CPUs by their number, as the rest of a sentence.
    pub waits: &'static [&'static str],
}

impl Names {
    /// Words and locks have numbers, in the order in which they were made, but for those with an
    /// own name.
    pub fn numbers() -> Self {
        Self::new([0; 3], |names, word| names.own(word.into(), word))
    }

    /// A subject that names a word by its number and by some counts.
    pub fn new(counts: [u16; 3], word: fn(&Self, u16) -> String) -> Self {
        Self {
            counts,
            word,
            own: Rc::new([]),
            lock: |id| format!("lock {id}"),
            plain: |_, plain| format!("plain data {plain}"),
            who: "CPU",
            waits: &[],
        }
    }

    /// The name of a process.
    pub fn process(&self, process: impl Display) -> String {
        format!("{} {process}", self.who)
    }

    /// The name of the one who stored something.
    pub fn writer(&self, writer: u8) -> String {
        if writer == NOBODY {
            "nobody".to_owned()
        } else {
            self.process(writer)
        }
    }

    /// The own name at a place, or the word's number.
    pub fn own(&self, at: usize, word: u16) -> String {
        self.own
            .get(at)
            .cloned()
            .unwrap_or_else(|| format!("word {word}"))
    }

    /// The name of a word.
    pub fn cell(&self, cell: u16) -> String {
        (self.word)(self, cell)
    }

    /// The wait of a CPU, as the rest of a sentence.
    pub fn waits(&self, what: u8) -> &'static str {
        self.waits
            .get(usize::from(what))
            .copied()
            .unwrap_or("waits")
    }
}
