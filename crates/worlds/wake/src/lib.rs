//! Wake-ups of this machine's CPUs from chosen idle states: all states but one are disabled, a timer
//! is set, and the thread that it wakes reads the clock.
//!
//! The lateness of a wake-up has the whole way out in it: that of the hardware, of the firmware, and
//! of the kernel up to the thread. Parts that wake-ups from two states have in common fall out of
//! their difference.
#![forbid(unsafe_code)]

use nix::sys::prctl::set_timerslack;
use std::fs::File;
use std::io::{Error, Result, Seek, read_to_string};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The idle states of a CPU, the shallowest first: for each its files `disable` and `usage`, and
/// what the first of them held. Dropping them writes that back.
///
/// The files stay open: after one is closed, the kernel has work left, and keeps its tick for that.
pub struct States(Vec<(File, File, u64)>);

impl Drop for States {
    fn drop(&mut self) {
        for (disable, _, first) in &self.0 {
            // Whoever could disable a state can enable it.
            let _ = disable.write_at(first.to_string().as_bytes(), 0);
        }
    }
}

fn number(mut file: &File) -> Result<u64> {
    file.rewind()?;
    let text = read_to_string(file)?;
    text.trim().parse().map_err(Error::other)
}

impl States {
    /// Finds those of a CPU below its folder, such as `/sys/devices/system/cpu/cpu0`; none where
    /// the kernel has no cpuidle.
    ///
    /// # Errors
    /// A file cannot be opened; root may.
    pub fn of_cpu(folder: &Path) -> Result<Self> {
        let state = |number| folder.join(format!("cpuidle/state{number}"));
        let files = |state: PathBuf| {
            let mut options = File::options();
            let disable = options.read(true).write(true).open(state.join("disable"))?;
            let first = number(&disable)?;
            Ok((disable, File::open(state.join("usage"))?, first))
        };
        let states = (0..).map(state).take_while(|state| state.is_dir());
        states.map(files).collect::<Result<_>>().map(Self)
    }

    /// Calls `sleep` while the state in this place is the only one allowed, and returns what that
    /// returns; `None` where the kernel did not count exactly one stay in the state.
    ///
    /// # Errors
    /// A file cannot be read or written; what `sleep` returns.
    pub fn alone<T>(&self, place: usize, sleep: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let (disable, usage, _) = &self.0[place];
        // At no time are all disabled.
        disable.write_at(b"0", 0)?;
        for (at, (other, ..)) in self.0.iter().enumerate() {
            if at != place {
                other.write_at(b"1", 0)?;
            }
        }
        let before = number(usage)?;
        let slept = sleep()?;
        Ok((number(usage)? == before + 1).then_some(slept))
    }
}

/// Sets a timer for so many microseconds, sleeps, and returns the microseconds from its expiry to
/// this thread's read of the clock. The call's own way in is in them, of any state alike.
///
/// # Errors
/// The kernel refuses a timer that may not be put off.
pub fn sleep(us: u32) -> Result<f64> {
    set_timerslack(1)?;
    let gap = Duration::from_micros(us.into());
    let start = Instant::now();
    std::thread::sleep(gap);
    Ok((start.elapsed() - gap).as_nanos() as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A CPU with three states, of which the last is disabled.
    fn cpu() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (number, disable) in ["0\n", "0\n", "1\n"].into_iter().enumerate() {
            let state = folder.path().join(format!("cpuidle/state{number}"));
            fs::create_dir_all(&state).unwrap();
            fs::write(state.join("disable"), disable).unwrap();
            fs::write(state.join("usage"), "41\n").unwrap();
        }
        folder
    }

    fn file(cpu: &Path, state: usize, name: &str) -> String {
        let path = cpu.join(format!("cpuidle/state{state}/{name}"));
        fs::read_to_string(path).unwrap().trim().to_owned()
    }

    fn disabled(cpu: &Path) -> [String; 3] {
        [0, 1, 2].map(|state| file(cpu, state, "disable"))
    }

    #[test]
    fn one_state_alone_is_allowed_and_all_are_put_back() {
        let cpu = cpu();
        let states = States::of_cpu(cpu.path()).unwrap();
        for (place, expected) in [["0", "1", "1"], ["1", "0", "1"], ["1", "1", "0"]]
            .into_iter()
            .enumerate()
        {
            let seen = |stays: u64| {
                let slept = states.alone(place, || {
                    let usage = stays + file(cpu.path(), place, "usage").parse::<u64>().unwrap();
                    fs::write(
                        cpu.path().join(format!("cpuidle/state{place}/usage")),
                        usage.to_string(),
                    )?;
                    Ok(disabled(cpu.path()))
                });
                slept.unwrap()
            };
            assert_eq!(seen(1), Some(expected.map(str::to_owned)));
            assert_eq!(seen(0), None, "it was not entered");
            assert_eq!(seen(2), None, "something else woke it, too");
        }
        let failed = states.alone(0, || -> Result<()> { Err(Error::other("stopped")) });
        assert!(failed.is_err());
        drop(states);
        assert_eq!(disabled(cpu.path()), ["0", "0", "1"]);
    }

    #[test]
    fn a_cpu_without_cpuidle_has_no_states() {
        let folder = tempfile::tempdir().unwrap();
        assert!(States::of_cpu(folder.path()).unwrap().0.is_empty());
    }
}
