//! Lines of a loop's source at which loads miss, by samples of perf, and whether a prefetch names
//! what they read.

use experiment::{Error, Result};
use import::samples::Samples;
use itertools::Itertools;
use recording::facts::MissedLine;
use std::path::Path;

/// The lines that are told, and the share of all samples that a line has at least.
const MOST: usize = 3;
const LEAST_SHARE: f64 = 0.05;

/// The lines with most samples in a file of `perf script`; the sources are looked for beside the
/// loop.
///
/// # Errors
/// The file cannot be read, or has no sample.
pub fn read(perf: &Path, shared_object: &Path) -> Result<Vec<MissedLine>> {
    let samples =
        Samples::open(perf).map_err(|wrong| Error::usage(wrong.to_string(), &*wrong.help))?;
    let shares = samples.shares().into_iter();
    let by_line = shares.map(|(place, share)| {
        let line = if place.line.is_empty() {
            &place.symbol
        } else {
            &place.line
        };
        (line.clone(), share)
    });
    let lines = by_line.into_grouping_map().sum().into_iter();
    let lines = lines.filter(|(_, share)| *share >= LEAST_SHARE);
    let missed = lines.sorted_by(|a, b| b.1.total_cmp(&a.1)).take(MOST);
    let missed = missed.map(|(place, share)| MissedLine {
        unnamed: unnamed(&place, shared_object),
        place,
        share,
    });
    Ok(missed.collect())
}

/// The name that a line reads through, such as an array's, if no prefetch in the same source has it;
/// `None` if one has it, or if there is no such source.
fn unnamed(place: &str, shared_object: &Path) -> Option<String> {
    let (file, number) = place.rsplit_once(':')?;
    let source = std::fs::read_to_string(shared_object.with_file_name(file)).ok()?;
    let line = source
        .lines()
        .nth(number.parse::<usize>().ok()?.checked_sub(1)?)?;
    let line = line.replace("->", "[");
    let read = names(line.rsplit_once('[')?.0).last()?;
    let mut prefetches = source.lines().filter(|line| line.contains("prefetch"));
    let is_named = prefetches.any(|line| names(line).contains(&read));
    (!is_named).then(|| read.to_owned())
}

fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|sign: char| !sign.is_alphanumeric() && sign != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_candidate_if_no_prefetch_names_what_it_reads() {
        let folder = tempfile::tempdir().unwrap();
        let source = "void run(void)\n{\n    __builtin_prefetch(records[i + ahead]);\n    \
                      key = *(uint64_t *)records[i];\n    rule = state->rules[key & mask];\n    \
                      rule->hits++;\n}\n";
        std::fs::write(folder.path().join("my.c"), source).unwrap();
        let perf = folder.path().join("perf.txt");
        let sample = |period: u32, line: u32| {
            format!(
                "vpp 1 1.0: {period} cache-misses: aaaac0de10 run+0x18 (my.so)\n  my.c:{line}\n"
            )
        };
        let text = sample(50, 5) + &sample(30, 4) + &sample(20, 6) + &sample(1, 2);
        std::fs::write(&perf, text).unwrap();
        let missed = read(&perf, &folder.path().join("my.so")).unwrap();
        let told = missed
            .iter()
            .map(|of| (of.place.as_str(), of.unnamed.as_deref()));
        assert_eq!(
            told.collect_vec(),
            [
                ("my.c:5", Some("rules")),
                ("my.c:4", None),
                ("my.c:6", Some("rule"))
            ]
        );
        std::fs::write(&perf, "nothing\n").unwrap();
        let wrong = read(&perf, &folder.path().join("my.so")).unwrap_err();
        assert!(wrong.to_string().contains("no samples"), "{wrong}");
    }
}
