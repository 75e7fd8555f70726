//! Passages of any image on any machine: which instructions are executed between two addresses.

use crate::{Counts, Error, Guest, Plugin};
use std::path::Path;
use std::time::Duration;

/// The passages that are counted, and the machine on which.
#[derive(Clone)]
pub struct Passage {
    /// The address at which one begins.
    pub from: u64,
    /// The addresses before which one ends; if there is none, it ends with the return from the
    /// function at `from`.
    pub to: Vec<u64>,
    /// The passages after which the machine is ended; from 1.
    pub most: u64,
    /// The time after which the machine is ended.
    pub limit: Duration,
}

/// The counts, and how the machine ended.
pub struct CountResult {
    /// The passages.
    pub counts: Counts,
    /// True if the machine turned itself off, or the emulator ended.
    pub is_off: bool,
    /// The last lines of its console and of the emulator.
    pub last: Vec<String>,
}

/// Options of the emulator that start an image.
const STARTS: [&str; 6] = ["kernel", "bios", "pflash", "drive", "device", "hda"];
/// Options that are given unless the user gives them: names by which they go, and arguments.
const USUAL: [(&[&str], &[&str]); 7] = [
    (&["M", "machine"], &["-M", "virt"]),
    (&["cpu"], &["-cpu", "cortex-a57"]),
    (&["icount"], &["-icount", "shift=0,sleep=off"]),
    (&["nic", "net", "netdev"], &["-nic", "none"]),
    (&["display", "nographic"], &["-display", "none"]),
    (&["monitor", "nographic"], &["-monitor", "none"]),
    (&["serial", "nographic"], &["-serial", "stdio"]),
];

/// The emulator's arguments: the user's, and for what those leave open the usual ones. An image
/// that they do not start is started as a kernel.
pub fn arguments(image: &Path, given: &[String]) -> Vec<String> {
    let is_given = |names: &[&str]| {
        given
            .iter()
            .filter_map(|word| word.strip_prefix('-'))
            .into_iter()
            .any(|word| names.contains(&word.trim_start_matches('-')))
    };
    let mut arguments: Vec<String> = USUAL
        .iter()
        .filter(|(names, _)| !is_given(names))
        .flat_map(|(_, arguments)| *arguments)
        .map(|word| (*word).to_owned())
        .collect();
    if !is_given(&STARTS) {
        arguments.extend(["-kernel".to_owned(), image.display().to_string()]);
    }
    arguments.extend_from_slice(given);
    arguments
}

/// Runs a machine and counts the passages, until there were enough, it is off or its time is over.
///
/// # Errors
/// The emulator is missing, does not start or loads no plugins.
pub fn run(
    arguments: &[String],
    passage: &Passage,
    mut is_stopped: impl FnMut() -> bool,
) -> Result<CountResult, Error> {
    let plugin = Plugin::between(passage.from, &passage.to, passage.most)?;
    let mut guest = Guest::start_with(arguments, &plugin, passage.limit)?;
    let is_off = guest.wait(|| {
        is_stopped()
            || plugin
                .read()
                .is_ok_and(|counts| counts.passages.len() as u64 >= passage.most)
    });
    if let Some(error) = guest.not_loaded(&plugin) {
        return Err(error);
    }
    Ok(CountResult {
        counts: plugin.read()?,
        is_off,
        last: guest.last_lines(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_gives_is_not_given_twice() {
        let of = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|word| (*word).to_owned()).collect();
            arguments(Path::new("a.elf"), &given).join(" ")
        };
        let rest = "-nic none -display none -monitor none -serial stdio";
        assert_eq!(
            of(&[]),
            format!("-M virt -cpu cortex-a57 -icount shift=0,sleep=off {rest} -kernel a.elf")
        );
        assert_eq!(
            of(&[
                "-machine",
                "virt,secure=on",
                "-cpu",
                "max",
                "-icount",
                "auto",
                "-nographic",
                "--bios",
                "flash.bin"
            ]),
            "-nic none -machine virt,secure=on -cpu max -icount auto -nographic --bios flash.bin"
        );
    }
}
