//! What differs from run to run: when, where and by what a recording was made.

use recording::Run;
use std::time::SystemTime;

/// This run of this program on this machine.
pub fn this_run() -> Run {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let cpu = read("/proc/cpuinfo").and_then(|text| {
        text.lines().find_map(|line| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim().to_owned()))
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Run {
        when: Some(humantime::format_rfc3339_seconds(SystemTime::now()).to_string()),
        command: std::env::args().collect(),
        machine: Some(format!("{}, {cores} cores", cpu.unwrap_or_else(|| std::env::consts::ARCH.to_owned()))),
        build: Some(format!(
            "{} {}",
            if cfg!(debug_assertions) { "debug" } else { "release" },
            env!("STOPWATT_COMMIT")
        )),
        compiler: Some(env!("STOPWATT_RUSTC").to_owned()),
        kernel: read("/proc/sys/kernel/osrelease").map(|release| release.trim().to_owned()),
        ..Run::default()
    }
}
