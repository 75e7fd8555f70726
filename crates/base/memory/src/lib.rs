//! The memory that this program may still take. A program that takes more is ended by the system
//! without a word, and one that is a part of another takes that one with it; so what is known to
//! need much asks first ([`must_have`]), and long work is watched ([`Watch`]).
//!
//! The system says it in several places, and the least of them counts: what the machine has free,
//! what control groups and what the process's own limits allow. Where nothing is said, as on other
//! systems than Linux, nothing is refused.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

/// Bytes that are left over at least: for what is not counted, and to say what went wrong.
const RESERVE: u64 = 128 << 20;

/// There is less memory than is needed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("it needs {} MiB of memory, and {} MiB can be had", .needed >> 20, .room >> 20)]
pub struct Short {
    /// Bytes that are needed.
    pub needed: u64,
    /// Bytes that can be had.
    pub room: u64,
}

/// Bytes that are not asked for: the answer takes longer than many a run.
const SMALL: u64 = 16 << 20;

/// Refuses what needs more memory than there is.
///
/// # Errors
/// It does.
pub fn must_have(needed: u64) -> Result<(), Short> {
    if needed <= SMALL {
        return Ok(());
    }
    let room = room();
    if needed <= room {
        Ok(())
    } else {
        Err(Short { needed, room })
    }
}

/// Bytes that this program may still take; `u64::MAX` where the system does not say.
pub fn room() -> u64 {
    let [limits, status] = ["/proc/self/limits", "/proc/self/status"].map(read);
    let all = [
        physical(),
        left(&limits, "Max address space", &status, "VmSize:"),
        left(&limits, "Max data size", &status, "VmData:"),
    ];
    all.into_iter().flatten().min().unwrap_or(u64::MAX)
}

/// A file of the system; empty where there is none.
fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Bytes of the machine's memory that this program may still take.
fn physical() -> Option<u64> {
    let all = [
        free(&read("/proc/meminfo")),
        groups(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup")),
    ];
    all.into_iter().flatten().min()
}

/// Sees that memory is about to run out, for work that may take any amount.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    least: u64,
}

impl Watch {
    /// Watches from now on. Where there is little from the start, most of it may be used all the
    /// same. Limits of addresses are not looked at: threads set tens of megabytes of them aside,
    /// and need few.
    pub fn new() -> Self {
        Self {
            least: RESERVE.min(physical().unwrap_or(u64::MAX) / 8),
        }
    }

    /// The lack, if too little is left to go on.
    pub fn short(&self) -> Option<Short> {
        let room = physical().unwrap_or(u64::MAX);
        (room < self.least).then_some(Short {
            needed: self.least,
            room,
        })
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

/// The number behind a word that begins a line; `None` where something else stands there.
fn number(text: &str, word: &str) -> Option<u64> {
    let mut lines = text.lines();
    let behind = lines.find_map(|line| line.strip_prefix(word))?;
    behind.split_whitespace().next()?.parse().ok()
}

/// The bytes behind a word of a file of `/proc` that gives kB.
fn kilobytes(text: &str, word: &str) -> Option<u64> {
    number(text, word)?.checked_mul(1024)
}

/// The memory that the machine has free, from `/proc/meminfo`.
fn free(meminfo: &str) -> Option<u64> {
    Some(
        kilobytes(meminfo, "MemAvailable:")?
            .saturating_add(kilobytes(meminfo, "SwapFree:").unwrap_or(0)),
    )
}

/// The rest of a soft limit of `/proc/self/limits`, if there is one, after what `/proc/self/status`
/// says is used of it.
fn left(limits: &str, limit: &str, status: &str, used: &str) -> Option<u64> {
    let used = kilobytes(status, used).unwrap_or(0);
    Some(number(limits, limit)?.saturating_sub(used))
}

/// The rest of the control groups of this program, each of which may have a limit.
fn groups(cgroup: &str, root: &Path) -> Option<u64> {
    let own = cgroup.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let left = |folder: &Path| {
        let of = |file: &str| read(folder.join(file));
        // A group without a limit says `max`.
        let (most, used) = (
            number(&of("memory.max"), "")?,
            number(&of("memory.current"), "")?,
        );
        // Files that were read are counted, and given back when they must be.
        let statistics = of("memory.stat");
        let files = |word: &str| number(&statistics, word).unwrap_or(0);
        let used = used.saturating_sub(files("inactive_file ") + files("active_file "));
        Some(most.saturating_sub(used))
    };
    let own = root.join(own);
    let groups = own
        .ancestors()
        .take_while(|folder| folder.starts_with(root));
    groups.filter_map(left).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_system_are_read() {
        let meminfo =
            "MemTotal:       24052876 kB\nMemAvailable:   1000 kB\nSwapFree:             24 kB\n";
        assert_eq!(free(meminfo), Some(1024 * 1024));
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         4096000              unlimited            bytes     \n";
        assert_eq!(
            (
                number(limits, "Max address space"),
                number(limits, "Max data size")
            ),
            (Some(4_096_000), None)
        );
        let status = "VmPeak:\t    9999 kB\nVmSize:\t    1000 kB\n";
        let left = |limits| left(limits, "Max address space", status, "VmSize:");
        assert_eq!(left(limits), Some(4_096_000 - 1_024_000));
        assert_eq!(
            left("Max address space  1"),
            Some(0),
            "a limit that was set later"
        );
    }

    #[test]
    fn the_least_of_the_control_groups_counts_and_files_are_no_use() {
        let folder = std::env::temp_dir().join(format!("stopwatt-memory-{}", std::process::id()));
        let own = folder.join("a/b");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("memory.max"), "max\n").unwrap();
        fs::write(own.join("memory.current"), "700\n").unwrap();
        fs::write(folder.join("a/memory.max"), "1000\n").unwrap();
        fs::write(folder.join("a/memory.current"), "900\n").unwrap();
        fs::write(
            folder.join("a/memory.stat"),
            "anon 600\ninactive_file 200\nactive_file 100\n",
        )
        .unwrap();
        let left = groups("0::/a/b\n", &folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(left, Some(400));
    }

    #[test]
    fn what_nobody_has_is_refused_and_a_little_is_not() {
        assert!(must_have(1 << 20).is_ok() && must_have(SMALL + 1).is_ok());
        if room() < u64::MAX {
            let short = must_have(u64::MAX).unwrap_err();
            assert!(
                short.to_string().starts_with("it needs 17592186044415 MiB"),
                "{short}"
            );
            assert_eq!(Watch { least: 0 }.short(), None);
            assert!(
                Watch { least: u64::MAX }
                    .short()
                    .is_some_and(|short| short.room < u64::MAX)
            );
        }
    }
}
