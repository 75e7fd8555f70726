//! What several experiments are told alike: a trace, a platform, governors, ticks.

use crate::kernel_file::Source;
use crate::trace::TracedIntervals;
use experiment::Error;
use experiment::setting::{self, CheckedSetting, InputFile, Number, Or};
use idle::{Family, Kind, Release};
use itertools::Itertools;
use std::path::Path;

/// The trace that is replayed.
pub const TRACE: InputFile =
    InputFile::new("trace", "The trace: a file that `import ftrace` reads, - for standard input, or a recording of a trace (a folder) [default: a sample].")
        .positional();

/// The platform whose idle states a replay enters.
pub const PLATFORM: setting::Platform =
    setting::Platform::new("platform", "Platform whose idle states and powers count.");

/// The platform where none is named.
pub const USUAL_PLATFORM: &str = "juno-r2";

pub const PLATFORM_OR_USUAL: Or<setting::Platform> = PLATFORM.or(USUAL_PLATFORM);

pub const GOVERNORS: CheckedSetting<Vec<Asked>> = CheckedSetting::new(
    "governors",
    "NAMES",
    governors,
    "Governors, parted by commas [default: the traced kernel's own where the trace names it, menu and teo of Linux 7.1]: menu or teo of a release, as menu@6.12.117 \
     (`stopwatt list governors`), menu@3.10, ladder, never-deep, always-deepest; or a governor's file of a kernel's tree, as drivers/cpuidle/governors/teo.c.",
);

/// A governor that is asked for.
#[derive(Clone, PartialEq)]
pub enum Asked {
    /// One that Stopwatt has.
    Known(Kind),
    /// A file of a kernel's tree.
    File(Source),
}

/// The governors of a list of names and files.
fn governors(text: &str) -> Result<Vec<Asked>, String> {
    let one = |name: &str| match Source::find(name) {
        Some(source) => Ok(Asked::File(source)),
        None => kinds(name).map(|kinds| Asked::Known(kinds[0])),
    };
    // Of a path the last part is enough, unless two have it.
    let last = |text: &str| text.rsplit('/').next().unwrap_or(text).to_owned();
    let all = text.split(',').map(str::trim).unique().collect_vec();
    let counts = all.iter().map(|text| last(text)).counts();
    let short = |asked| match asked {
        Asked::File(source) if counts[&last(&source.name)] == 1 => Asked::File(Source {
            name: last(&source.name),
            ..source
        }),
        asked => asked,
    };
    all.into_iter().map(|text| one(text).map(short)).collect()
}

/// Ticks of the scheduler.
pub const HZ: Number = Number::new(
    "hz",
    24..=10_000,
    "Ticks of the scheduler of the traced kernel.",
)
.unit("Hz");

/// Ticks of the scheduler where nothing is said, in Hz.
pub const USUAL_HZ: u64 = 250;

pub const HZ_OR_USUAL: Or<Number> = HZ.or(USUAL_HZ);

/// The governors of a list of names.
pub fn kinds(text: &str) -> Result<Vec<Kind>, String> {
    let one = |name| Kind::find(name).ok_or_else(|| no_governor(name));
    text.split(',').map(str::trim).unique().map(one).collect()
}

/// The error for a governor that there is not, with those that there are.
pub fn no_governor(name: &str) -> String {
    let families = [Family::Menu, Family::Teo];
    let Some((family, release)) = name.split_once('@') else {
        let known: Vec<String> = idle::Kind::ALL.iter().map(ToString::to_string).collect();
        let dated = "menu or teo of a release, as menu@6.12.117";
        return format!(
            "there is no governor `{name}`; there are: {}, and {dated}",
            known.join(", ")
        );
    };
    match families.into_iter().find(|known| known.name() == family) {
        None => {
            format!("`{name}`: of menu and teo there are releases, as menu@6.12.117 and teo@6.6")
        }
        Some(_) if Release::parse(release).is_none() => {
            format!(
                "`{name}`: `{release}` is no release of Linux, such as 6.12, 6.12.117 or 6.18-rc4"
            )
        }
        Some(known) => format!(
            "`{name}`: {family} is here as it was from Linux {} on",
            known.oldest()
        ),
    }
}

/// Refuses a trace that is not there.
pub fn check_there(trace: Option<&Path>) -> Result<(), Error> {
    match trace {
        Some(path) if path != Path::new("-") && !path.exists() => Err(Error::usage(
            format!("{} is not there", path.display()),
            "name ftrace text, or the folder of a recording of a trace; without a name it is a sample",
        )),
        _ => Ok(()),
    }
}

/// The trace that is named, or the sample.
pub fn traced(trace: Option<&Path>) -> Result<TracedIntervals, Error> {
    check_there(trace)?;
    trace.map_or_else(TracedIntervals::sample, TracedIntervals::open)
}
