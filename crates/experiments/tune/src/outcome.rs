//! What calls of a loop leave behind. Calls that do the same work leave the same, whatever their
//! prefetches; those of a loop that forgets its last records do not.
//!
//! The calls are made in a copy of the process, so that each time they find the same memory.
#![cfg(target_os = "linux")]
#![expect(unsafe_code, reason = "the process is copied")]

use itertools::{EitherOrBoth, Itertools};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, pipe};
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Values by their places, in the order of the places: addresses, or numbers of records.
pub type Words = Vec<(u64, u64)>;

/// The most bytes of a record that are looked at: what a loop leaves in a packet is in front.
const RECORD_BYTES: usize = 1024;

/// This process's memory.
const MEMORY: &str = "/proc/self/mem";

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// What came of work in a copy of this process.
pub enum Copied {
    /// What it said.
    Said(Words),
    /// It crashed.
    Crashed,
    /// There is no copy, or it said nothing.
    Unknown,
}

/// Works in a copy of this process.
pub fn in_a_copy(work: impl FnOnce() -> Option<Words>) -> Copied {
    let copied = || {
        let (from, to) = pipe().ok()?;
        // SAFETY: this process has one thread. The child works on its own memory, and ends without
        // running any destructor.
        match unsafe { fork() }.ok()? {
            ForkResult::Child => {
                drop(from);
                // A call that hangs ends with the process that waits for it.
                let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
                let bytes = work().map(|words| {
                    let both = words.into_iter().flat_map(|(place, value)| [place, value]);
                    both.flat_map(u64::to_ne_bytes).collect_vec()
                });
                let done = bytes.and_then(|bytes| File::from(to).write_all(&bytes).ok());
                // SAFETY: ends the process at once.
                unsafe { nix::libc::_exit(i32::from(done.is_none())) }
            }
            ForkResult::Parent { child } => {
                drop(to);
                let mut bytes = Vec::new();
                File::from(from).read_to_end(&mut bytes).ok()?;
                match waitpid(child, None).ok()? {
                    WaitStatus::Exited(_, 0) => {
                        let words = bytes.chunks_exact(WORD).map(word).tuples();
                        Some(Copied::Said(words.collect()))
                    }
                    WaitStatus::Signaled(..) => Some(Copied::Crashed),
                    _ => None,
                }
            }
        }
    };
    copied().unwrap_or(Copied::Unknown)
}

/// The places whose values differ.
pub fn differing(one: &Words, other: &Words) -> HashSet<u64> {
    one.iter()
        .merge_join_by(other, |one, other| one.0.cmp(&other.0))
        .filter_map(|at| match at {
            EitherOrBoth::Both(one, other) => (one != other).then_some(one.0),
            EitherOrBoth::Left(at) | EitherOrBoth::Right(at) => Some(at.0),
        })
        .collect()
}

/// Up to eight bytes as a word.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; WORD];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(word)
}

/// The bytes of some of the `records`, each up to where the next one of all may begin, in order;
/// `None` of a single record.
pub fn extents(records: &[usize], (from, count): (usize, usize)) -> Option<Vec<Range<u64>>> {
    let sorted = records.iter().copied().sorted().dedup().collect_vec();
    let steps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    let bytes = steps.min()?.min(RECORD_BYTES) as u64;
    let some = records[from..from + count].iter().sorted().dedup();
    some.map(|from| Some(*from as u64..(*from as u64).checked_add(bytes)?))
        .collect()
}

/// The words in some extents of this process's memory; `None` if there is no memory, as with
/// records that are numbers of buffers.
pub fn read(extents: &[Range<u64>]) -> Option<Words> {
    let memory = File::open(MEMORY).ok()?;
    let mut words = Vec::new();
    for extent in extents {
        let mut bytes = vec![0; (extent.end - extent.start) as usize];
        memory.read_exact_at(&mut bytes, extent.start).ok()?;
        let places = extent.clone().step_by(WORD);
        words.extend(places.zip(bytes.chunks(WORD).map(word)));
    }
    Some(words)
}

/// Writes words to where they were [`read`] from.
pub fn restore(words: &Words, extents: &[Range<u64>]) -> std::io::Result<()> {
    let memory = File::options().write(true).open(MEMORY)?;
    let ends = extents.iter().map(|extent| extent.end).collect_vec();
    for (place, value) in words {
        let end = ends[ends.partition_point(|end| end <= place)];
        let bytes = &value.to_ne_bytes()[..WORD.min((end - place) as usize)];
        memory.write_all_at(bytes, *place)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_copy_that_does_less_leaves_less_behind() {
        let mut memory = vec![0_u64; 1000];
        let records = (0..1000)
            .map(|at| memory.as_ptr().addr() + 8 * at)
            .collect_vec();
        let extents = extents(&records, (0, 1000)).unwrap();
        let mut work = |skipped: usize| {
            let add = || {
                black_box(&mut memory)[skipped..]
                    .iter_mut()
                    .for_each(|word| *word += 3);
                read(&extents)
            };
            match in_a_copy(add) {
                Copied::Said(words) => words,
                Copied::Crashed | Copied::Unknown => panic!("it says nothing"),
            }
        };
        let whole = work(0);
        assert!(whole.iter().all(|(_, value)| *value == 3));
        assert_eq!(whole, work(0), "each finds the same memory");
        assert_eq!(differing(&whole, &work(12)).len(), 12);
        assert_eq!(memory[0], 0, "this process did nothing of it");
        assert!(matches!(
            in_a_copy(|| std::process::abort()),
            Copied::Crashed
        ));
    }

    #[test]
    fn records_end_where_the_next_begins_and_numbers_are_no_records_in_memory() {
        let mut memory = (0..1200_u32).map(|at| at as u8).collect_vec();
        let first = memory.as_mut_ptr().addr();
        let records = [24, 0, 12, 48].map(|at| first + at);
        let extents = extents(&records, (0, 4)).unwrap();
        let words = read(&extents).unwrap();
        assert_eq!(words.len(), 8, "eight bytes and four of each");
        assert_eq!(words[0], (first as u64, 0x0706_0504_0302_0100));
        memory[..60].fill(0);
        restore(&words, &extents).unwrap();
        assert_eq!(read(&extents).unwrap(), words);
        assert_eq!(memory[36..40], [0; 4], "what no record has stays");
        let numbers = super::extents(&[0, 1, 2], (0, 3)).unwrap();
        assert_eq!(read(&numbers), None);
    }
}
