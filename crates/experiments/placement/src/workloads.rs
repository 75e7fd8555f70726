//! The workloads that come with the command, so that it needs no checkout.

macro_rules! workloads {
    ($($name:literal)*) => {
        /// Their names, in alphabetical order.
        pub const NAMES: &[&str] = &[$($name),*];

        const TEXTS: &[&str] = &[$(include_str!(concat!("../../../../data/workloads/", $name, ".json"))),*];
    };
}

workloads! { "andebench2" "andebench8" "audio" "audio-bbench" "burst" "closes" "cyclictest" "sysbench" "ui-render" }

/// The text of a workload, by its name.
pub fn find(name: &str) -> Option<&'static str> {
    NAMES
        .iter()
        .position(|known| *known == name)
        .map(|at| TEXTS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_of_the_folder_is_there() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/workloads");
        let names = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names
            .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
            .collect();
        names.sort_unstable();
        assert_eq!(names, NAMES);
        assert!(find("ui-render").unwrap().contains("render") && find("ui").is_none());
    }
}
