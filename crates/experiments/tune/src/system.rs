//! The system about itself: caches, the processor's name, pages.

use dataplane_experiments::host;

/// The share of the mapping of an address that lies in huge pages; `None` where the system does not
/// say.
pub fn huge_share(address: usize) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/smaps").ok()?;
    let mut inside = false;
    let (mut size, mut huge) = (0.0, 0.0);
    for line in text.lines() {
        let first = line.split_whitespace().next().unwrap_or_default();
        if let Some((from, to)) = first.split_once('-')
            && let (Ok(from), Ok(to)) = (
                usize::from_str_radix(from, 16),
                usize::from_str_radix(to, 16),
            )
        {
            inside = (from..to).contains(&address);
        } else if inside
            && let Some(kib) = line
                .split_whitespace()
                .nth(1)
                .and_then(|kib| kib.parse::<f64>().ok())
        {
            match first {
                "Rss:" => size = kib,
                "AnonHugePages:" => huge = kib,
                _ => {}
            }
        }
    }
    (size > 0.0).then(|| huge / size)
}

/// Bytes of addresses that this process has, as far as the system says.
pub fn own_bytes() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:"))
        .unwrap_or_default()
        .split_whitespace()
        .next()
        .and_then(|kib| kib.parse::<u64>().ok())
        .unwrap_or(0)
        << 10
}

/// Bytes of the data caches of the first processor, level by level, as the system says.
pub fn cache_bytes() -> Vec<u64> {
    (1..=4)
        .filter_map(host::cache_bytes)
        .map(|bytes| bytes as u64)
        .collect()
}

/// The processor's name, as the system says: on Arm the parts of the identification register.
pub fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        Some(
            text.lines()
                .find(|line| {
                    line.split(':')
                        .next()
                        .is_some_and(|name| name.trim() == key)
                })?
                .split_once(':')?
                .1
                .trim()
                .to_owned(),
        )
    };
    let part = |key: &str| value(key).unwrap_or_else(|| "?".to_owned());
    if let Some(implementer) = value("CPU implementer") {
        let (part, variant) = (part("CPU part"), part("CPU variant"));
        let name = arm_core(&implementer, &part).map_or_else(
            || format!("implementer {implementer} part {part}"),
            str::to_owned,
        );
        return format!("{name} variant {variant}");
    }
    match value("model name") {
        // A hypervisor may hide the name; family and model are there.
        Some(name) => format!(
            "{name}, family {} model {}",
            part("cpu family"),
            part("model")
        ),
        None => std::env::consts::ARCH.to_owned(),
    }
}

/// The name of a core of Arm itself.
fn arm_core(implementer: &str, part: &str) -> Option<&'static str> {
    let rows = include_str!("cores.txt").lines();
    let mut cores = rows.filter_map(|row| row.split_once(' '));
    let core = cores.find(|(known, _)| implementer == "0x41" && *known == part);
    core.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_has_a_name() {
        assert!(!processor().is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_mapping_of_a_value_has_a_share() {
        let large = vec![1_u8; 1 << 22];
        let share = huge_share(large.as_ptr() as usize + (1 << 21)).unwrap();
        assert!((0.0..=1.0).contains(&share));
        assert_eq!(huge_share(8), None);
    }
}
