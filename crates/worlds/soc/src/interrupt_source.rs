//! The source of interrupts, and sets of them.

use engine::Time;

/// Devices that a machine can have.
pub const MAX_DEVICES: usize = 40;
/// Kinds of interrupts between processors that software may tell apart.
pub const MAX_IPIS: usize = 8;

/// The source of an interrupt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// The timer that the CPUs of a measured procedure share.
    SharedTimer,
    /// Another CPU, of no particular kind.
    Software,
    /// The CPU's own timer.
    LocalTimer,
    /// The always-on timer, for CPUs whose own timer stops.
    Broadcast,
    /// Another CPU, of a kind below [`MAX_IPIS`].
    Ipi(u8),
    /// A device, by its number below [`MAX_DEVICES`].
    Device(u8),
}

impl Source {
    const IPIS: u32 = 4;
    const DEVICES: u32 = Self::IPIS + MAX_IPIS as u32;

    const fn number(self) -> u32 {
        match self {
            Self::SharedTimer => 0,
            Self::Software => 1,
            Self::LocalTimer => 2,
            Self::Broadcast => 3,
            Self::Ipi(kind) => Self::IPIS + kind as u32 % MAX_IPIS as u32,
            Self::Device(number) => Self::DEVICES + number as u32 % MAX_DEVICES as u32,
        }
    }

    const fn from_number(number: u32) -> Self {
        match number {
            0 => Self::SharedTimer,
            1 => Self::Software,
            2 => Self::LocalTimer,
            3 => Self::Broadcast,
            number if number < Self::DEVICES => Self::Ipi((number - Self::IPIS) as u8),
            number => Self::Device((number - Self::DEVICES) as u8),
        }
    }
}

/// A set of interrupts that are pending.
#[derive(Clone, Copy, Default)]
pub struct Interrupts(u64);

impl Interrupts {
    /// True if there is one.
    #[inline]
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// True if one of this source is among them.
    #[inline]
    pub const fn has(self, source: Source) -> bool {
        self.0 >> source.number() & 1 == 1
    }

    /// The same set with one more.
    #[inline]
    #[must_use]
    pub const fn with(self, source: Source) -> Self {
        Self(self.0 | 1 << source.number())
    }

    /// The interrupts by number: timers first, then other CPUs', then devices'.
    pub fn sources(self) -> impl Iterator<Item = Source> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let number = left.trailing_zeros();
            left &= left.checked_sub(1)?;
            Some(Source::from_number(number))
        })
    }
}

/// A timer's line: what it is to do.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    /// When, in ps; [`Time::MAX`] if it is not programmed.
    pub(crate) deadline: Time,
    /// The CPU that it interrupts.
    pub(crate) cpu: usize,
    /// As what.
    pub(crate) source: Source,
}

impl Line {
    /// A line that is not programmed.
    pub(crate) const OFF: Self = Self {
        deadline: Time::MAX,
        cpu: 0,
        source: Source::SharedTimer,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_hands_out_each_source_that_was_put_in_and_no_other() {
        let sources = [
            Source::SharedTimer,
            Source::Software,
            Source::LocalTimer,
            Source::Broadcast,
            Source::Ipi(0),
            Source::Ipi(MAX_IPIS as u8 - 1),
            Source::Device(0),
            Source::Device(MAX_DEVICES as u8 - 1),
        ];
        let set = sources
            .iter()
            .rev()
            .fold(Interrupts::default(), |set, &source| set.with(source));
        assert!(set.any() && set.has(Source::Ipi(7)) && !set.has(Source::Ipi(1)));
        assert_eq!(set.sources().collect::<Vec<_>>(), sources);
    }
}
