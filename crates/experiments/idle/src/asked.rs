//! What several experiments are told alike: a trace, a platform, governors, ticks.

use crate::trace::TracedIntervals;
use experiment::Error;
use experiment::setting::{self, CheckedSetting, InputFile, Number, Or};
use idle::{Family, Release};
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

pub const GOVERNORS: CheckedSetting<Vec<idle::Kind>> = CheckedSetting::new(
    "governors",
    "NAMES",
    kinds,
    "Governors, parted by commas [default: the traced kernel's own where the trace names it, menu and teo of Linux 7.1]: menu or teo of a release, as menu@6.12.117 \
     (`stopwatt list governors`), menu@3.10, ladder, never-deep, always-deepest.",
);

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
pub fn kinds(text: &str) -> Result<Vec<idle::Kind>, String> {
    let mut found = Vec::new();
    for name in text.split(',').map(str::trim) {
        let kind = idle::Kind::find(name).ok_or_else(|| no_governor(name))?;
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    Ok(found)
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
