//! Lines of a file of any length, without an allocation for each.

use std::io::{self, Read};

/// Longer lines are cut: the kernel writes none that long.
const LONGEST: usize = 128 * 1024;

/// A line without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Bytes of the line, or the first of them.
    pub(super) bytes: &'a [u8],
    /// From 1.
    pub(super) number: u64,
    /// True if the line ended, and was not longer than the kernel's are.
    pub(super) whole: Whole,
}

/// True if a line is all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    Yes,
    /// The file ends before the line does.
    Unended,
    /// The line goes on; what follows is passed over.
    TooLong,
}

/// Reads lines.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    at_end: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: vec![0; LONGEST], start: 0, end: 0, number: 0, at_end: false }
    }

    /// The next line; `None` at the end of the file.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut seen = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[seen..self.end]) {
                let (from, to) = (self.start, seen + at);
                self.start = to + 1;
                return Ok(Some(self.line(from, to, Whole::Yes)));
            }
            seen = self.end;
            if self.at_end {
                if self.start == self.end {
                    return Ok(None);
                }
                let from = std::mem::replace(&mut self.start, self.end);
                return Ok(Some(self.line(from, self.end, Whole::Unended)));
            }
            if self.end == self.buffer.len() {
                if self.start == 0 {
                    return self.too_long().map(Some);
                }
                self.buffer.copy_within(self.start..self.end, 0);
                seen -= self.start;
                self.end -= self.start;
                self.start = 0;
            }
            self.fill()?;
        }
    }

    /// Reads more behind what is there.
    fn fill(&mut self) -> io::Result<()> {
        let read = super::input::some_bytes(&mut self.input, &mut self.buffer[self.end..])?;
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }

    /// Passes over the rest of a line that fills the buffer. Its beginning is kept.
    fn too_long(&mut self) -> io::Result<Line<'_>> {
        const KEPT: usize = 1024;
        loop {
            self.end = KEPT;
            self.fill()?;
            let end = memchr::memchr(b'\n', &self.buffer[KEPT..self.end]);
            if end.is_some() || self.at_end {
                self.start = end.map_or(self.end, |at| KEPT + at + 1);
                return Ok(self.line(0, KEPT, Whole::TooLong));
            }
        }
    }

    fn line(&mut self, from: usize, to: usize, whole: Whole) -> Line<'_> {
        self.number += 1;
        let bytes = &self.buffer[from..to];
        Line { bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes), number: self.number, whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.0.len()).min(7);
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn lines_of_any_length_come_one_by_one() {
        let long = "x".repeat(3 * LONGEST);
        let text = format!("one\r\n\n{long}\nthree and some\nlast");
        let mut lines = Lines::new(Drops(text.as_bytes()));
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((line.bytes.len(), line.number, line.whole));
        }
        let right = [
            (3, 1, Whole::Yes),
            (0, 2, Whole::Yes),
            (1024, 3, Whole::TooLong),
            (14, 4, Whole::Yes),
            (4, 5, Whole::Unended),
        ];
        assert_eq!(seen, right);
    }
}
