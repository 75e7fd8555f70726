//! What a call of a loop changes in memory. Two calls that do the same work leave the same behind,
//! whatever their prefetches; one that forgets its last records does not.
//!
//! The call is made in a copy of the process, so that each call finds the same memory.
#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "a copy of the process looks at all of its own memory"
)]

use crate::protocol::Changed;
use itertools::Itertools;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, pipe};
use std::fs::File;
use std::io::{Read, Write};

/// Bytes of the copy of the memory at least: more than what the C library takes from its heap, so
/// that the copy has a mapping of its own.
const COPY_BYTES: usize = 64 << 20;

/// The most bytes of memory that are looked at.
const MOST_BYTES: usize = 1 << 30;

/// The first call of a copy, and the second one, whose changes count.
#[derive(PartialEq)]
pub enum Turn {
    /// What only happens once, such as the look-up of a function's address, happens in it.
    First,
    /// Its changes count.
    Second,
}

/// Calls twice in a copy of this process, and says what the second call changed; `None` if that
/// cannot be found out. If a call crashes, both are made in this process as well.
pub fn changed(mut call: impl FnMut(Turn)) -> Option<Changed> {
    let (from, to) = pipe().ok()?;
    // SAFETY: this process has one thread. The child works on its own memory, and ends without
    // running any destructor.
    match unsafe { fork() }.ok()? {
        ForkResult::Child => {
            drop(from);
            // A call that hangs ends with the process that waits for it.
            let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
            let done = compare(&mut call).and_then(|Changed { words, digest }| {
                File::from(to)
                    .write_all(&[words.to_ne_bytes(), digest.to_ne_bytes()].concat())
                    .ok()
            });
            // SAFETY: ends the process at once.
            unsafe { nix::libc::_exit(i32::from(done.is_none())) }
        }
        ForkResult::Parent { child } => {
            drop(to);
            let mut said = [0; 16];
            let arrived = File::from(from).read_exact(&mut said);
            if let Ok(WaitStatus::Signaled(..)) = waitpid(child, None) {
                call(Turn::First);
                call(Turn::Second);
            }
            let word = |at: usize| Some(u64::from_ne_bytes(said[at..at + 8].try_into().ok()?));
            arrived.ok()?;
            Some(Changed {
                words: word(0)?,
                digest: word(8)?,
            })
        }
    }
}

/// Compares the memory of this process before and after the second call.
fn compare(call: &mut impl FnMut(Turn)) -> Option<Changed> {
    call(Turn::First);
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let own = (&raw const maps).addr();
    let areas = maps
        .lines()
        .filter_map(|line| {
            let (from, to) = line.split_once(' ')?.0.split_once('-')?;
            let (from, to) = (
                usize::from_str_radix(from, 16).ok()?,
                usize::from_str_radix(to, 16).ok()?,
            );
            // The stack has what is left of calls.
            (line.contains(" rw-p ") && !(from..to).contains(&own))
                .then_some((from, (to - from) / size_of::<u64>()))
        })
        .collect_vec();
    let words: usize = areas.iter().map(|(_, words)| words).sum();
    if words * size_of::<u64>() > MOST_BYTES {
        return None;
    }
    let mut before: Vec<u64> = Vec::with_capacity(words.max(COPY_BYTES / size_of::<u64>()));
    for &(from, words) in &areas {
        // SAFETY: the mapping is there and readable, and `before` has room for all of them.
        unsafe {
            let to = before.as_mut_ptr().add(before.len());
            std::ptr::copy_nonoverlapping(std::ptr::with_exposed_provenance(from), to, words);
            before.set_len(before.len() + words);
        }
    }
    call(Turn::Second);
    let (mut changed, mut at) = (Changed::default(), 0);
    for &(from, words) in &areas {
        for word in 0..words {
            let address = from + word * size_of::<u64>();
            // SAFETY: as above; whatever the call did with the mapping, its memory is still there.
            let now = unsafe { std::ptr::with_exposed_provenance::<u64>(address).read_volatile() };
            if now != before[at + word] {
                changed.words += 1;
                let mixed =
                    (changed.digest ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ now;
                changed.digest = mixed.rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            }
        }
        at += words;
    }
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_call_that_does_less_leaves_less_behind() {
        let mut memory = vec![0_u64; 10_000];
        let mut work = |count: usize, skipped: usize| {
            changed(|_| {
                black_box(&mut memory)[..count - skipped]
                    .iter_mut()
                    .for_each(|word| *word += 3)
            })
            .unwrap()
        };
        let whole = work(1000, 0);
        assert_eq!(
            (whole.words, whole),
            (1000, work(1000, 0)),
            "each call finds the same memory"
        );
        assert_eq!(work(1000, 12).words, 988);
        assert_eq!(work(1000, 1000).words, 0);
        assert_eq!(memory[0], 0, "this process did nothing of it");
    }
}
