//! The name of the processor.

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
    #[test]
    fn the_processor_has_a_name() {
        assert!(!super::processor().is_empty());
    }
}
