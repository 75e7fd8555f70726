//! Executions by instruction and by the calls that led to it, counted by a plugin that the emulator
//! loads (`../tcg-plugin`), and what they are of: functions, and kinds of instructions.

use crate::opcodes::{Kind, kind};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The shared object that `build.rs` made.
static PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/counts.so"));

/// The plugin as a file, which the emulator loads, and the file that it writes.
pub struct Plugin {
    folder: tempfile::TempDir,
}

impl Plugin {
    /// A plugin that counts between the marks of the guest.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new() -> Result<Self> {
        let folder = tempfile::tempdir().map_err(Error::file(&std::env::temp_dir()))?;
        let path = folder.path().join(NAME);
        std::fs::write(&path, PLUGIN).map_err(Error::file(&path))?;
        Ok(Self { folder })
    }

    /// The emulator's argument.
    pub(crate) fn argument(&self) -> String {
        let (plugin, out) = (self.folder.path().join(NAME), self.out());
        format!("file={},out={}", escaped(&plugin), escaped(&out))
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("counts")
    }

    /// True if the emulator loaded it.
    pub(crate) fn is_loaded(&self) -> bool {
        self.out().exists()
    }

    /// Reads what was counted so far.
    ///
    /// # Errors
    /// The emulator did not load the plugin, or that wrote something else.
    pub fn read(&self) -> Result<Vec<Passages>> {
        let text = std::fs::read_to_string(self.out())
            .map_err(|error| Error::Plugin(format!("it wrote nothing: {error}")))?;
        read(&text).map_err(|line| {
            Error::Plugin(format!("a line of what it wrote cannot be read: {line}"))
        })
    }
}

/// The emulator's option syntax ends a value at a comma, unless there are two.
pub fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

const NAME: &str = "libcounts.so";

/// The passages of one kind: the calls of one function, say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passages {
    /// The number of passages.
    pub count: u64,
    /// Instructions that other CPUs executed in the meantime; the machine's clock counts those,
    /// too.
    pub of_others: u64,
    /// For each frame but that in which passages begin, the frame that called it, and the address
    /// of the call; a caller stands before what it calls.
    frames: Vec<(usize, u64)>,
    taken: Vec<Taken>,
    executed: Vec<ExecutionCount>,
}

/// An exception, with how often it was taken.
#[derive(Clone, Debug, PartialEq)]
struct Taken {
    /// The last instruction before it.
    after: u64,
    vector: u64,
    count: u64,
}

/// An instruction, with how often it was executed in a frame.
#[derive(Clone, Debug, PartialEq)]
struct ExecutionCount {
    frame: usize,
    address: u64,
    opcode: u32,
    count: u64,
}

/// Reads the plugin's lines; what it was writing when it was stopped is left out. The error is the
/// line that cannot be read.
fn read(text: &str) -> Result<Vec<Passages>, String> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let mut all = Vec::new();
    let mut open: Option<Passages> = None;
    // A line without an end was cut off.
    for line in text
        .split_inclusive('\n')
        .filter_map(|line| line.strip_suffix('\n'))
    {
        let words: Vec<&str> = line.split(' ').collect();
        let mut understand = || -> Option<()> {
            match (words.as_slice(), &mut open) {
                (["passages", count, others], None) => {
                    let (count, of_others) = (count.parse().ok()?, others.parse().ok()?);
                    open = Some(Passages {
                        count,
                        of_others,
                        ..Passages::default()
                    });
                }
                (["call", frame, caller, call], Some(passages)) => {
                    let (frame, caller): (usize, usize) =
                        (frame.parse().ok()?, caller.parse().ok()?);
                    if frame != passages.frames.len() + 1 || caller >= frame {
                        return None;
                    }
                    passages.frames.push((caller, hex(call)?));
                }
                (["taken", _, after, vector, count], Some(passages)) => {
                    passages.taken.push(Taken {
                        after: hex(after)?,
                        vector: hex(vector)?,
                        count: count.parse().ok()?,
                    });
                }
                (["at", frame, address, opcode, count], Some(passages)) => {
                    let (frame, opcode) = (frame.parse().ok()?, u32::try_from(hex(opcode)?).ok()?);
                    if frame > passages.frames.len() {
                        return None;
                    }
                    let (address, count) = (hex(address)?, count.parse().ok()?);
                    passages.executed.push(ExecutionCount {
                        frame,
                        address,
                        opcode,
                        count,
                    });
                }
                (["end"], Some(_)) => all.extend(open.take()),
                _ => return None,
            }
            Some(())
        };
        understand().ok_or_else(|| line.to_owned())?;
    }
    Ok(all)
}

/// The executions of a function itself, without those that it calls.
#[derive(Default)]
pub struct Function {
    /// Instructions.
    pub instructions: u64,
    /// Those of a kind that matters, by kind.
    pub kinds: BTreeMap<Kind, u64>,
    /// Exceptions that were taken in it, by kind and origin: "synchronous, from a lower level".
    pub taken: BTreeMap<String, u64>,
}

impl Passages {
    /// Instructions of all passages together.
    pub fn instructions(&self) -> u64 {
        self.executed.iter().map(|executed| executed.count).sum()
    }

    /// The functions, by their names, which `name` gives to addresses.
    pub fn functions<'s>(&self, name: impl Fn(u64) -> &'s str) -> BTreeMap<&'s str, Function> {
        let mut functions: BTreeMap<&str, Function> = BTreeMap::new();
        for executed in &self.executed {
            let function = functions.entry(name(executed.address)).or_default();
            function.instructions += executed.count;
            if let Some(kind) = kind(executed.opcode) {
                *function.kinds.entry(kind).or_default() += executed.count;
            }
        }
        for taken in &self.taken {
            let function = functions.entry(name(taken.after)).or_default();
            *function.taken.entry(exception(taken.vector)).or_default() += taken.count;
        }
        functions
    }

    /// Instructions by the functions that called each other, the outermost first.
    pub fn stacks<'s>(&self, name: impl Fn(u64) -> &'s str) -> BTreeMap<Vec<&'s str>, u64> {
        let mut callers = vec![Vec::new()];
        for &(caller, call) in &self.frames {
            let stack = callers[caller]
                .iter()
                .copied()
                .chain([name(call)])
                .collect();
            callers.push(stack);
        }
        let mut stacks = BTreeMap::new();
        for executed in &self.executed {
            let stack = callers[executed.frame]
                .iter()
                .copied()
                .chain([name(executed.address)])
                .collect();
            *stacks.entry(stack).or_default() += executed.count;
        }
        stacks
    }
}

/// The kind and the origin of an exception, by where its vector lies in the table (Arm ARM, D1.3).
fn exception(vector: u64) -> String {
    if !vector.is_multiple_of(0x80) {
        return "to no vector".to_owned();
    }
    let kind = ["synchronous", "IRQ", "FIQ", "SError"][(vector >> 7 & 3) as usize];
    let origin = [
        "the same level with SP_EL0",
        "the same level",
        "a lower level",
        "a lower level in AArch32",
    ];
    format!("{kind} from {}", origin[(vector >> 9 & 3) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: &str = "passages 2 3\ncall 1 0 1000\ncall 2 1 2004\ntaken 0 1000 8400 2\nat 0 1000 d4000003 2\n\
                          at 1 2000 d5033fdf 4\nat 1 2004 94000000 2\nat 2 2000 d5033fdf 2\nat 2 3000 d51e1100 2\nend\n";

    fn name(address: u64) -> &'static str {
        match address {
            0x1000 => "caller",
            0x2000..0x3000 => "a",
            _ => "b",
        }
    }

    #[test]
    fn functions_and_stacks_add_up_to_the_whole() {
        let all = read(COUNTS).unwrap();
        let [passages] = all.as_slice() else {
            panic!("{all:?}")
        };
        assert_eq!(
            (passages.count, passages.instructions(), passages.of_others),
            (2, 12, 3)
        );
        let functions = passages.functions(name);
        let each: Vec<_> = functions
            .iter()
            .map(|(name, function)| (*name, function.instructions))
            .collect();
        assert_eq!(each, [("a", 8), ("b", 2), ("caller", 2)]);
        assert_eq!(functions["a"].kinds, BTreeMap::from([(Kind::Barrier, 6)]));
        assert_eq!(
            functions["b"].kinds,
            BTreeMap::from([(Kind::SystemWrite("SCR_EL3".to_owned()), 2)])
        );
        assert_eq!(
            functions["caller"].taken,
            BTreeMap::from([("synchronous from a lower level".to_owned(), 2)])
        );
        let stacks = passages.stacks(name);
        let expected = [
            (vec!["caller"], 2),
            (vec!["caller", "a"], 6),
            (vec!["caller", "a", "a"], 2),
            (vec!["caller", "a", "b"], 2),
        ];
        assert_eq!(stacks, BTreeMap::from(expected));
    }

    #[test]
    fn what_was_cut_off_is_left_out_and_what_is_wrong_is_named() {
        for length in 0..COUNTS.len() {
            assert_eq!(read(&COUNTS[..length]).unwrap(), [], "{length}");
        }
        for wrong in [
            "begun 1\n",
            "end\n",
            "passages 1 0\ncall 2 0 1\n",
            "passages 1 0\nat 1 0 0 1\n",
            "passages x\n",
        ] {
            assert_eq!(read(wrong).unwrap_err(), wrong.lines().last().unwrap());
        }
    }

    #[test]
    fn exceptions_are_told_by_their_vectors() {
        let names = [0x400, 0x1280, 0x8780, 0x8004].map(exception);
        let expected = [
            "synchronous from a lower level",
            "IRQ from the same level",
            "SError from a lower level in AArch32",
            "to no vector",
        ];
        assert_eq!(names, expected);
    }
}
