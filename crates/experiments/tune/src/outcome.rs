//! What calls of a loop leave behind. Calls that do the same work leave the same, whatever their
//! prefetches; those of a loop that forgets its last records do not.
//!
//! The calls are made in a copy of the process, so that each time they find the same memory.
#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "a copy of the process looks at all of its own memory"
)]

use itertools::{EitherOrBoth, Itertools};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, pipe};
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::ops::Range;

/// Values by their places, in the order of the places: addresses, or numbers of records.
pub type Words = Vec<(u64, u64)>;

/// Bytes of the copy of the memory at least, and of what is found: more than what the C library
/// takes from its heap, so that both have mappings of their own.
const COPY_BYTES: usize = 64 << 20;

/// The most bytes of memory that are looked at.
const MOST_BYTES: usize = 1 << 30;

/// The most bytes of a record that are looked at: what a loop leaves in a packet is in front.
const RECORD_BYTES: usize = 1024;

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

/// This process's mappings that it may write, without files; the stack is left out, which has what
/// is left of calls.
fn areas() -> Option<Vec<Range<usize>>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let own = (&raw const maps).addr();
    let area = |line: &str| {
        let (from, to) = line.split_once(' ')?.0.split_once('-')?;
        let hexadecimal = |text| usize::from_str_radix(text, 16).ok();
        let area = hexadecimal(from)?..hexadecimal(to)?;
        (line.contains(" rw-p ") && !area.contains(&own)).then_some(area)
    };
    Some(maps.lines().filter_map(area).collect())
}

/// The bytes of some of the `records`, each up to where the next one of all may begin, in order;
/// `None` if records are not the addresses of memory, such as numbers of buffers.
pub fn extents(records: &[usize], (from, count): (usize, usize)) -> Option<Vec<Range<usize>>> {
    let sorted = records.iter().copied().sorted().dedup().collect_vec();
    let steps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    let bytes = steps.min()?.min(RECORD_BYTES);
    let some = records[from..from + count].iter().copied().sorted().dedup();
    let areas = areas()?;
    let extent = |from: usize| {
        let at = areas.partition_point(|area| area.end <= from);
        let end = from.checked_add(bytes)?;
        let area = areas.get(at)?;
        (area.start <= from && end <= area.end).then_some(from..end)
    };
    some.map(extent).collect()
}

/// The words in some extents.
pub fn read(extents: &[Range<usize>]) -> Words {
    let words = |extent: &Range<usize>| {
        let starts = extent.clone().step_by(WORD);
        starts.map(|at| at..extent.end.min(at + WORD)).collect_vec()
    };
    let value = |at: Range<usize>| {
        // SAFETY: `extents` found the bytes in a mapping of this process.
        let bytes = unsafe {
            std::slice::from_raw_parts(std::ptr::with_exposed_provenance(at.start), at.len())
        };
        (at.start as u64, word(bytes))
    };
    extents.iter().flat_map(words).map(value).collect()
}

/// Writes words to where they were [`read`] from.
pub fn restore(words: &Words, extents: &[Range<usize>]) {
    let ends = extents.iter().map(|extent| extent.end).collect_vec();
    for (place, value) in words {
        let at = *place as usize;
        let end = ends[ends.partition_point(|end| *end <= at)];
        let bytes = value.to_ne_bytes();
        // SAFETY: as in `read`, from a mapping that may be written.
        unsafe {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(at);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, WORD.min(end - at));
        }
    }
}

/// The words of this process's memory that calls change; `None` if there is too much memory.
pub fn changed(calls: impl FnOnce()) -> Option<Words> {
    let areas = areas()?;
    let bytes: usize = areas.iter().map(ExactSizeIterator::len).sum();
    if bytes > MOST_BYTES {
        return None;
    }
    let mut found = Vec::with_capacity(COPY_BYTES / size_of::<(u64, u64)>());
    let mut before: Vec<u64> = Vec::with_capacity(bytes.max(COPY_BYTES) / WORD);
    for area in &areas {
        let words = area.len() / WORD;
        // SAFETY: the mapping is there and readable, and `before` has room for all of them.
        unsafe {
            let to = before.as_mut_ptr().add(before.len());
            std::ptr::copy_nonoverlapping(std::ptr::with_exposed_provenance(area.start), to, words);
            before.set_len(before.len() + words);
        }
    }
    calls();
    let places = areas.into_iter().flat_map(|area| area.step_by(WORD));
    found.extend(places.zip(before).filter_map(|(place, before)| {
        // SAFETY: as above; whatever the calls did with the mapping, its memory is still there.
        let now = unsafe { std::ptr::with_exposed_provenance::<u64>(place).read_volatile() };
        (now != before).then_some((place as u64, now))
    }));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_call_that_does_less_leaves_less_behind() {
        let mut memory = vec![0_u64; 10_000];
        let mut work = |count: usize, skipped: usize| {
            let add = || {
                black_box(&mut memory)[..count - skipped]
                    .iter_mut()
                    .for_each(|word| *word += 3);
            };
            match in_a_copy(|| changed(add)) {
                Copied::Said(words) => words,
                Copied::Crashed | Copied::Unknown => panic!("it says nothing"),
            }
        };
        let whole = work(1000, 0);
        assert_eq!(whole.len(), 1000);
        assert_eq!(whole, work(1000, 0), "each call finds the same memory");
        assert_eq!(work(1000, 12).len(), 988);
        assert_eq!(differing(&whole, &work(1000, 12)).len(), 12);
        assert_eq!(work(1000, 1000), []);
        assert_eq!(memory[0], 0, "this process did nothing of it");
        assert!(matches!(
            in_a_copy(|| std::process::abort()),
            Copied::Crashed
        ));
    }

    #[test]
    fn records_end_where_the_next_begins_and_numbers_are_no_records_in_memory() {
        let mut memory = (0..1200_u32).map(|at| at as u8).collect_vec();
        let first = memory.as_mut_ptr().expose_provenance();
        let records = [24, 0, 12, 48].map(|at| first + at);
        let extents = extents(&records, (0, 4)).unwrap();
        assert!(extents.iter().all(|extent| extent.len() == 12));
        let words = read(&extents);
        assert_eq!(words.len(), 8, "eight bytes and four of each");
        assert_eq!(words[0], (first as u64, 0x0706_0504_0302_0100));
        memory[..60].fill(0);
        restore(&words, &extents);
        assert_eq!(read(&extents), words);
        assert_eq!(memory[36..40], [0; 4], "what no record has stays");
        assert_eq!(super::extents(&[0, 1, 2], (0, 3)), None);
    }
}
