//! What the machine and the build are: it belongs to every measurement.

use std::fs;

use recording::Run;

/// Everything about this run that another run may not share.
pub fn run() -> Run {
    let read = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let line = |path: &str, key: &str| {
        let text = read(path)?;
        let line = text.lines().find(|line| line.starts_with(key))?.to_owned();
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    let mut run = Run {
        when: Some(now()),
        command: std::env::args().collect(),
        machine: line("/proc/cpuinfo", "model name"),
        build: Some(if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned()),
        compiler: option_env!("STOPWATT_RUSTC").map(str::to_owned),
        kernel: read("/proc/sys/kernel/osrelease"),
        ..Run::default()
    };
    let more = [
        ("kernel_command_line", read("/proc/cmdline")),
        ("transparent_huge_pages", read("/sys/kernel/mm/transparent_hugepage/enabled")),
        ("huge_pages", line("/proc/meminfo", "HugePages_Total")),
        ("governor", read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").or(Some("not known".to_owned()))),
        ("c_library", c_library()),
        ("counter", Some(dataplane::machine::COUNTER.to_owned())),
    ];
    run.more = more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    run
}

/// The C library's file, by its name in our own memory map.
fn c_library() -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.contains("libc"))?;
    path.rsplit('/').next().map(str::to_owned)
}

/// The time of day in RFC 3339, UTC.
fn now() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// Year, month and day of a number of days since 1970.
fn date(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    loop {
        let length = if leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(20_778), (2026, 11, 21));
    }
}
