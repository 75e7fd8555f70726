//! The facts that differ from run to run: when, where and by what a recording was made.
#![forbid(unsafe_code)]

mod processor;

use recording::Run;
use std::fs;
use std::time::SystemTime;

/// The version of the workspace, with the commit that it was built from.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("STOPWATT_COMMIT"),
    ")"
);

/// This run of this program on this machine.
pub fn this_run() -> Run {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    Run {
        when: Some(humantime::format_rfc3339_seconds(SystemTime::now()).to_string()),
        // A path need not be text, and a recording holds none that is not.
        command: std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        machine: Some(format!("{}, {cores} cores", processor::processor())),
        build: Some(format!("{profile} {}", env!("STOPWATT_COMMIT"))),
        compiler: Some(env!("STOPWATT_RUSTC").to_owned()),
        kernel: text("/proc/sys/kernel/osrelease"),
        ..Run::default()
    }
}

/// This run, with what else has a part in what is measured on this machine: memory, frequencies, C
/// library.
pub fn this_measurement() -> Run {
    let mut run = this_run();
    let more = [
        ("kernel_command_line", text("/proc/cmdline")),
        (
            "transparent_huge_pages",
            text("/sys/kernel/mm/transparent_hugepage/enabled"),
        ),
        ("huge_pages", fact("/proc/meminfo", "HugePages_Total")),
        (
            "governor",
            text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                .or(Some("not known".to_owned())),
        ),
    ];
    run.c_library = c_library();
    run.more = more
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect();
    run
}

/// A file of the kernel, if it is there.
fn text(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

/// The text behind the colon of a line that starts with the key.
fn fact(path: &str, key: &str) -> Option<String> {
    text(path)?
        .lines()
        .find(|line| line.starts_with(key))?
        .split_once(':')
        .map(|(_, value)| value.trim().to_owned())
}

/// The C library that is in our memory, as it calls itself; its file's name where it does not say.
fn c_library() -> Option<String> {
    let maps = text("/proc/self/maps")?;
    let path = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5))
        .find(|path| path.contains("libc"))?;
    let banner = fs::read(path).ok().and_then(|library| banner(&library));
    banner.or_else(|| path.rsplit('/').next().map(str::to_owned))
}

/// glibc's first line about itself, as in
/// `GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.`
fn banner(library: &[u8]) -> Option<String> {
    const BEGIN: &[u8] = b"GNU C Library (";
    let at = library
        .windows(BEGIN.len())
        .position(|window| window == BEGIN)?;
    let line = library[at..]
        .iter()
        .take(200)
        .take_while(|byte| byte.is_ascii_graphic() || **byte == b' ');
    let line: String = line.map(|&byte| char::from(byte)).collect();
    Some(line.trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_says_what_it_is() {
        let file =
            b"\x7fELF\0GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\nCopyright";
        assert_eq!(
            banner(file).unwrap(),
            "GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36"
        );
        assert_eq!(banner(b"musl"), None);
    }

    #[test]
    fn a_measurement_names_its_build_and_its_time() {
        let run = this_measurement();
        assert!(
            run.compiler.unwrap().starts_with("rustc ")
                && run.build.unwrap().split(' ').count() == 2
        );
        assert!(run.when.unwrap().ends_with('Z') && run.machine.unwrap().ends_with("cores"));
    }
}
