//! Executions by instruction, counted by a plugin that the emulator loads (`../tcg-plugin`), and
//! what they are: functions, and kinds of instructions.

use crate::Error;
use crate::opcodes::{Kind, kind};
use crate::symbols::Symbols;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The shared object that `build.rs` made.
static PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/counts.so"));

/// The plugin as a file, which the emulator loads, and the file that it writes.
#[derive(Debug)]
pub struct Plugin {
    folder: tempfile::TempDir,
    between: String,
}

impl Plugin {
    /// A plugin that counts between the marks of the guest.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new() -> Result<Self, Error> {
        let folder = tempfile::tempdir().map_err(Error::file(&std::env::temp_dir()))?;
        let path = folder.path().join(NAME);
        std::fs::write(&path, PLUGIN).map_err(Error::file(&path))?;
        Ok(Self { folder, between: String::new() })
    }

    /// The same, for passages from one address to one of others, which it also counts.
    ///
    /// # Errors
    /// As [`Plugin::new`].
    pub fn between(from: u64, to: &[u64]) -> Result<Self, Error> {
        let to: String = to.iter().map(|to| format!(",to={to:x}")).collect();
        Ok(Self { between: format!(",from={from:x}{to}"), ..Self::new()? })
    }

    /// The emulator's argument.
    pub(crate) fn argument(&self) -> String {
        let escaped = |path: PathBuf| path.to_string_lossy().replace(',', ",,");
        let (plugin, out) = (self.folder.path().join(NAME), self.out());
        format!("file={},out={}{}", escaped(plugin), escaped(out), self.between)
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("counts")
    }

    /// Reads what was counted so far, a value for each kind of passage in order.
    ///
    /// # Errors
    /// The emulator did not load the plugin, or was stopped while it wrote.
    pub fn read(&self) -> Result<Vec<Passages>, Error> {
        let path = self.out();
        let wrong = |cause: String| Error::Plugin { cause };
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(format!("it wrote nothing: {error}")))?;
        let mut found: Vec<Passages> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> = line.split(' ').collect();
            let hex = |text: &str| u64::from_str_radix(text, 16).ok();
            let read = match words.as_slice() {
                ["passages", count] => {
                    count.parse().ok().map(|count| found.push(Passages { count, executed: Vec::new() }))
                }
                [address, opcode, count] => found.last_mut().zip(hex(address)).and_then(|(last, address)| {
                    let (opcode, count) = (u32::try_from(hex(opcode)?).ok()?, count.parse().ok()?);
                    last.executed.push(Executed { address, opcode, count });
                    Some(())
                }),
                _ => None,
            };
            read.ok_or_else(|| wrong(format!("line {number} of what it wrote cannot be read: {line}")))?;
        }
        Ok(found)
    }
}

const NAME: &str = "libcounts.so";

/// The passages of one kind: the calls of one function, say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passages {
    /// The number of passages.
    pub count: u64,
    /// Every instruction that was executed in one of them, in order of addresses.
    pub executed: Vec<Executed>,
}

/// An instruction with how often it was executed, in all passages of a kind together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Its address.
    pub address: u64,
    /// The instruction.
    pub opcode: u32,
    /// The number of executions.
    pub count: u64,
}

impl Passages {
    /// Instructions of one passage, in the mean.
    pub fn instructions(&self) -> f64 {
        self.mean(self.executed.iter().map(|executed| executed.count).sum())
    }

    /// Instructions of one passage by function, in the mean, the most first; by `other` what no
    /// symbol names.
    pub fn by_function<'s>(&self, symbols: &'s [Symbols], other: &'s str) -> Vec<(&'s str, f64)> {
        let mut functions: BTreeMap<&str, u64> = BTreeMap::new();
        for executed in &self.executed {
            let name = symbols.iter().find_map(|symbols| symbols.at(executed.address)).unwrap_or(other);
            *functions.entry(name).or_default() += executed.count;
        }
        let mut functions: Vec<_> = functions.into_iter().map(|(name, count)| (name, self.mean(count))).collect();
        functions.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        functions
    }

    /// Instructions of one passage by their kind, in the mean; those that are of no kind are left
    /// out.
    pub fn by_kind(&self) -> BTreeMap<Kind, f64> {
        let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
        for executed in &self.executed {
            if let Some(kind) = kind(executed.opcode) {
                *kinds.entry(kind).or_default() += executed.count;
            }
        }
        kinds.into_iter().map(|(kind, count)| (kind, self.mean(count))).collect()
    }

    fn mean(&self, count: u64) -> f64 {
        count as f64 / self.count.max(1) as f64
    }
}
