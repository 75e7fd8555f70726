//! Boot options: one `key=value` a line, as QEMU's `-fw_cfg name=opt/stopwatt/firmware` hands them
//! over.

use core::ops::Range;
use psci::PowerStateFormat;
use thiserror::Error;

/// Name of the fw_cfg file with the options.
pub const FILE: &str = "opt/stopwatt/firmware";
/// Longest that the file may be, in bytes.
pub const MAX_SIZE: usize = 4096;

/// The one who coordinates the power domains' states, according to the device tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuspendMode {
    /// The firmware: each CPU names the deepest state that it allows.
    #[default]
    Platform,
    /// The operating system: the tree describes power domains, and the last CPU of a domain asks
    /// for the domain's state.
    OsInitiated,
}

/// The callers that may read time stamps by PMF's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StampReaders {
    /// All.
    #[default]
    All,
    /// Those at EL2, and no guest below.
    El2,
}

/// The way to boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options<'a> {
    /// `entry`: where the normal world starts.
    pub entry: u64,
    /// `exception-level`: 1 or 2; `None` takes the highest that the machine has.
    pub exception_level: Option<u8>,
    /// `power-state`: `original` or `extended`.
    pub power_state: PowerStateFormat,
    /// `suspend-mode`: `platform` or `os-initiated`.
    pub suspend_mode: SuspendMode,
    /// `stamps`: `all` or `el2`.
    pub stamps: StampReaders,
    /// `initrd`: `START..END`, for the tree's `/chosen`.
    pub initrd: Option<Range<u64>>,
    /// `images`: `START..END`, where the machine loads images at each reset. MEM_PROTECT leaves it
    /// alone.
    pub images: Option<Range<u64>>,
    /// `bootargs`: the rest of the line, for the tree's `/chosen`.
    pub bootargs: Option<&'a str>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            entry: 0x6000_0000,
            exception_level: None,
            power_state: PowerStateFormat::Original,
            suspend_mode: SuspendMode::Platform,
            stamps: StampReaders::All,
            initrd: None,
            images: None,
            bootargs: None,
        }
    }
}

/// A line that is not an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OptionError<'a> {
    /// Not UTF-8.
    #[error("boot options: not text (byte {0} is not UTF-8)")]
    NotText(usize),
    /// No `=`.
    #[error("boot options, line {line}: `{text}` should be key=value")]
    NoValue {
        /// From 1.
        line: usize,
        /// The line.
        text: &'a str,
    },
    /// A key that there is not.
    #[error(
        "boot options, line {line}: there is no option `{key}`: entry, exception-level, power-state, suspend-mode, stamps, initrd, images, bootargs"
    )]
    UnknownKey {
        /// From 1.
        line: usize,
        /// The key.
        key: &'a str,
    },
    /// A value that the key cannot have.
    #[error("boot options, line {line}: {key} cannot be `{value}`, it should be {expected}")]
    BadValue {
        /// From 1.
        line: usize,
        /// The key.
        key: &'a str,
        /// The value.
        value: &'a str,
        /// The advice: what would be right.
        expected: &'static str,
    },
}

impl<'a> Options<'a> {
    /// The range to which the machine loads images: unless `images` says, the 64 MiB from the entry
    /// on.
    pub fn images(&self) -> Range<u64> {
        const IMAGES: u64 = 64 << 20;
        self.images
            .clone()
            .unwrap_or(self.entry..self.entry.saturating_add(IMAGES))
    }

    /// Reads options. A key that comes twice has the later value.
    ///
    /// # Errors
    /// The first line that is not an option.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, OptionError<'a>> {
        let text = core::str::from_utf8(bytes)
            .map_err(|error| OptionError::NotText(error.valid_up_to()))?;
        let mut options = Self::default();
        for (number, text) in text.lines().enumerate() {
            let line = number + 1;
            if text.trim().is_empty() {
                continue;
            }
            let (key, value) = text
                .split_once('=')
                .ok_or(OptionError::NoValue { line, text })?;
            let bad = |expected| OptionError::BadValue {
                line,
                key,
                value,
                expected,
            };
            match key {
                "entry" => {
                    options.entry = number_of(value)
                        .filter(|address| address.is_multiple_of(4))
                        .ok_or(bad("an address, a multiple of 4: 0x60000000"))?;
                }
                "exception-level" => {
                    options.exception_level = match value {
                        "1" => Some(1),
                        "2" => Some(2),
                        _ => return Err(bad("1 or 2")),
                    }
                }
                "power-state" => {
                    options.power_state = match value {
                        "original" => PowerStateFormat::Original,
                        "extended" => PowerStateFormat::Extended,
                        _ => return Err(bad("original or extended")),
                    }
                }
                "suspend-mode" => {
                    options.suspend_mode = match value {
                        "platform" => SuspendMode::Platform,
                        "os-initiated" => SuspendMode::OsInitiated,
                        _ => return Err(bad("platform or os-initiated")),
                    }
                }
                "stamps" => {
                    options.stamps = match value {
                        "all" => StampReaders::All,
                        "el2" => StampReaders::El2,
                        _ => return Err(bad("all or el2")),
                    }
                }
                "initrd" => {
                    options.initrd =
                        Some(range_of(value).ok_or(bad("START..END: 0x68000000..0x68100000"))?)
                }
                "images" => {
                    options.images =
                        Some(range_of(value).ok_or(bad("START..END: 0x60000000..0x64000000"))?)
                }
                "bootargs" => options.bootargs = Some(value),
                _ => return Err(OptionError::UnknownKey { line, key }),
            }
        }
        Ok(options)
    }
}

fn range_of(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once("..")?;
    let range = number_of(start)?..number_of(end)?;
    (range.start < range.end).then_some(range)
}

fn number_of(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn reads_every_option() {
        let text = b"entry=0x60200000\nexception-level=1\n\npower-state=extended\nsuspend-mode=os-initiated\n\
            stamps=el2\ninitrd=0x68000000..0x68000010\n\
            images=0x60200000..0x62000000\nbootargs=console=ttyAMA0 quiet\n";
        let options = Options::parse(text).unwrap();
        assert_eq!(
            options,
            Options {
                entry: 0x6020_0000,
                exception_level: Some(1),
                power_state: PowerStateFormat::Extended,
                suspend_mode: SuspendMode::OsInitiated,
                stamps: StampReaders::El2,
                initrd: Some(0x6800_0000..0x6800_0010),
                images: Some(0x6020_0000..0x6200_0000),
                bootargs: Some("console=ttyAMA0 quiet"),
            }
        );
    }

    #[test]
    fn says_what_is_wrong_where() {
        let message = |text: &[u8]| Options::parse(text).unwrap_err().to_string();
        assert_eq!(
            message(b"entry=0x60000000\npower-state=new"),
            "boot options, line 2: power-state cannot be `new`, it should be original or extended"
        );
        assert!(message(b"entry=0x60000001").contains("a multiple of 4"));
        assert!(message(b"initrd=5..5").contains("START..END"));
        assert!(message(b"speed=11").contains("there is no option `speed`"));
        assert!(message(b"entry").contains("should be key=value"));
        assert!(message(b"a=\xff").contains("byte 2"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Options::parse(&bytes);
        }
    }
}
