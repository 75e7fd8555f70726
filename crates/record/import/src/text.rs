//! The one reader of text: lines of any length, without what a terminal, a log or a mail put around
//! them, and without an allocation for each.
//!
//! A mark of byte order, carriage returns, escapes for colours, quotation marks of mails (`> `) and
//! the times that logs put before a line are taken away; a line that a mail broke is put together
//! where its format says which lines cannot stand alone. Only lines with an unusual first byte are
//! looked at. Packed files and standard input are unpacked before ([`crate::open`]).

use crate::error::ImportError;
use memchr::memmem;
use std::io::{self, Cursor, ErrorKind, Read};

/// Longer lines come in parts: the kernel writes none that long.
const LONGEST: usize = 128 * 1024;
/// Columns of a line that a mail broke: at most these, and so many at least with the word that did
/// not fit.
const BROKEN: std::ops::RangeInclusive<usize> = 60..=80;

/// Bytes of a line to which no further one is put.
const MENDED: usize = 1024;

/// A line without its end.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// Bytes of the line, or a part of them.
    pub bytes: &'a [u8],
    /// From 1; of the first line, where a mail broke it.
    pub number: u64,
    /// True if the line ended, and was not longer than the kernel's are.
    pub whole: Whole,
}

/// True if a line is all there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Whole {
    Yes,
    /// The file ends before the line does.
    Unended,
    /// The line goes on.
    TooLong,
    /// A further part of a line that is too long, and goes on.
    Part,
    /// The last part of a line that is too long.
    LastPart,
}

/// True if a line, the second one, is the rest of the first.
pub type IsRest = fn(&[u8], &[u8]) -> bool;

/// Reads lines.
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    at_end: bool,
    in_long_line: bool,
    /// True if an escape came: from then on each line is looked through.
    has_escapes: bool,
    is_rest: Option<IsRest>,
    /// True if the rest of a line may begin with a blank, as most lines of traces do.
    is_indented: bool,
    /// A line that does not stand in the buffer as it is.
    changed: Vec<u8>,
}

/// A line's place in the buffer.
#[derive(Clone, Copy)]
struct Place {
    from: usize,
    to: usize,
    whole: Whole,
}

impl<R: Read> Lines<R> {
    /// `is_rest` tells lines that a mail broke; without it none are put together.
    pub fn new(input: R, is_rest: Option<IsRest>) -> Self {
        let (buffer, changed) = (vec![0; LONGEST], Vec::new());
        let (start, end, number) = (0, 0, 0);
        Self {
            input,
            buffer,
            start,
            end,
            number,
            at_end: false,
            in_long_line: false,
            has_escapes: false,
            is_rest,
            is_indented: false,
            changed,
        }
    }

    /// The next line; `None` at the end of the file.
    #[inline]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let Some(place) = self.place()? else {
            return Ok(None);
        };
        let first = self.buffer[place.from..place.to].first();
        let is_plain = !self.has_escapes && self.number > 1 && !first.is_some_and(is_unusual);
        if !is_plain || (self.is_rest.is_some() && self.next_may_be_rest()) {
            return self.cleaned(place).map(Some);
        }
        let bytes = &self.buffer[place.from..place.to];
        let bytes = if let [bytes @ .., b'\r'] = bytes {
            bytes
        } else {
            bytes
        };
        Ok(Some(Line {
            bytes,
            number: self.number,
            whole: place.whole,
        }))
    }

    /// True if the next line begins as no line of a trace or a table does, or is not there yet.
    fn next_may_be_rest(&self) -> bool {
        let first = self.buffer[self.start..self.end].first();
        self.is_indented
            || first.is_none_or(|byte| !matches!(byte, b' ' | b'\t' | b'<' | b'#' | b'\n' | b'\r'))
    }

    #[inline]
    fn place(&mut self) -> io::Result<Option<Place>> {
        let mut seen = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[seen..self.end]) {
                let place = self.take(seen + at, Whole::Yes, Whole::LastPart);
                self.start += 1;
                self.in_long_line = false;
                return Ok(Some(place));
            }
            seen = self.end;
            if self.at_end {
                let has_more = self.start < self.end;
                return Ok(has_more.then(|| self.take(self.end, Whole::Unended, Whole::LastPart)));
            }
            if self.end == self.buffer.len() {
                if self.start == 0 {
                    let place = self.take(self.end, Whole::TooLong, Whole::Part);
                    self.in_long_line = true;
                    return Ok(Some(place));
                }
                self.buffer.copy_within(self.start..self.end, 0);
                seen -= self.start;
                self.end -= self.start;
                self.start = 0;
            }
            self.fill()?;
        }
    }

    /// Takes what stands before a place in the buffer.
    #[inline]
    fn take(&mut self, to: usize, first: Whole, further: Whole) -> Place {
        let from = std::mem::replace(&mut self.start, to);
        self.number += u64::from(!self.in_long_line);
        Place {
            from,
            to,
            whole: if self.in_long_line { further } else { first },
        }
    }

    /// Reads more behind what is there.
    fn fill(&mut self) -> io::Result<()> {
        let read = some_bytes(&mut self.input, &mut self.buffer[self.end..])?;
        self.has_escapes |=
            memchr::memchr(b'\x1b', &self.buffer[self.end..self.end + read]).is_some();
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }

    /// A line without what was put around it, with the lines that are its rest.
    #[cold]
    fn cleaned(&mut self, mut place: Place) -> io::Result<Line<'_>> {
        let number = self.number;
        let mut line = clean(&self.buffer[place.from..place.to], number == 1);
        let mut last = columns(&line);
        let may_go_on = |line: &[u8], last, whole| {
            whole == Whole::Yes && last <= *BROKEN.end() && line.len() < MENDED
        };
        while let Some(is_rest) = self.is_rest.filter(|_| may_go_on(&line, last, place.whole)) {
            let Some(next) = self.place()? else { break };
            let rest = clean(&self.buffer[next.from..next.to], false);
            let is_whole = matches!(next.whole, Whole::Yes | Whole::Unended);
            if !is_whole || rest.trim_ascii().is_empty() || !is_rest(&line, &rest) {
                (self.start, self.number, self.in_long_line) = (next.from, self.number - 1, false);
                break;
            }
            line.truncate(line.trim_ascii_end().len());
            line.push(b' ');
            line.extend_from_slice(rest.trim_ascii_start());
            (last, place.whole) = (columns(&rest), next.whole);
        }
        self.changed = line;
        Ok(Line {
            bytes: &self.changed,
            number,
            whole: place.whole,
        })
    }
}

/// A text without what was put around its lines, byte by byte. Lines keep their numbers.
pub struct Cleaned<R> {
    lines: Lines<R>,
    waiting: Cursor<Vec<u8>>,
}

impl<R: Read> Cleaned<R> {
    pub fn new(input: R, is_rest: Option<IsRest>) -> Self {
        let lines = Lines {
            is_indented: true,
            ..Lines::new(input, is_rest)
        };
        let waiting = Cursor::default();
        Self { lines, waiting }
    }
}

impl<R: Read> Read for Cleaned<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.waiting.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            let Some(line) = self.lines.next()? else {
                return Ok(0);
            };
            let ends = matches!(line.whole, Whole::Yes | Whole::LastPart);
            let number = line.number;
            self.waiting.set_position(0);
            let waiting = self.waiting.get_mut();
            waiting.clear();
            waiting.extend_from_slice(line.bytes);
            // Empty lines stand for those that were put together.
            let ends = u64::from(ends) + self.lines.number - number;
            waiting.extend((0..ends).map(|_| b'\n'));
        }
    }
}

/// The text of an input without what was put around its lines. Bytes that are none are replaced.
///
/// # Errors
/// It cannot be read, or has more than [`disk::MOST_TEXT`] bytes.
pub fn text(input: impl Read, file: &str, is_rest: Option<IsRest>) -> Result<String, ImportError> {
    let mut bytes = Vec::new();
    Cleaned::new(input, is_rest)
        .take(disk::MOST_TEXT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ImportError::unreadable(file, &error))?;
    if bytes.len() as u64 > disk::MOST_TEXT {
        return Err(ImportError::whole(
            file,
            format!("larger than {} MiB", disk::MOST_TEXT >> 20),
            "cut out the part that is to be read",
        ));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// A line of a text by its number, from 1; empty where there is none.
pub fn line(text: &str, number: u64) -> &str {
    text.lines()
        .nth((number as usize).saturating_sub(1))
        .unwrap_or_default()
}

/// True if some bytes stand among others.
pub fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memmem::find(bytes, part).is_some()
}

/// What stands before and behind the first place of a byte.
#[inline]
pub fn parted(bytes: &[u8], by: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(by, bytes)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

/// The number that some bytes are, at most eight.
#[inline]
pub fn number(bytes: &[u8], big: bool) -> u64 {
    let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    if big {
        bytes.iter().fold(0, fold)
    } else {
        bytes.iter().rev().fold(0, fold)
    }
}

/// Reads some bytes; 0 at the end.
pub fn some_bytes(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// True if a line is as long as a mail makes it that had no room for the next word.
pub fn has_no_room(line: &[u8], next: &[u8]) -> bool {
    let word = next
        .split(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    columns(line.trim_ascii_end()) + 1 + word.len() >= *BROKEN.start()
}

fn columns(line: &[u8]) -> usize {
    line.iter().fold(0, |column, byte| {
        if *byte == b'\t' {
            (column / 8 + 1) * 8
        } else {
            column + 1
        }
    })
}

/// True if a line may have something before it: a quotation mark, a time in brackets or in digits,
/// the level of a kernel's message, a month.
#[inline]
fn is_unusual(first: &u8) -> bool {
    matches!(
        first,
        b'>' | b'[' | b'0'..=b'9' | b'A' | b'D' | b'F' | b'J' | b'M' | b'N' | b'O' | b'S'
    )
}

fn clean(line: &[u8], is_first: bool) -> Vec<u8> {
    let mut line = without_escapes(line.strip_suffix(b"\r").unwrap_or(line));
    let mut rest = line.as_slice();
    if is_first {
        rest = rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest);
    }
    while let Some(quoted) = rest.strip_prefix(b">") {
        rest = quoted.strip_prefix(b" ").unwrap_or(quoted);
    }
    // A kernel's message in a system's log has two times.
    for _ in 0..2 {
        rest = behind_time(rest).unwrap_or(rest);
    }
    line.drain(..line.len() - rest.len());
    line
}

/// A line without the sequences that a terminal takes for colours and movements.
fn without_escapes(line: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr::memchr(b'\x1b', rest) {
        kept.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let end = match rest.first() {
            Some(b'[') => rest[1..]
                .iter()
                .position(|byte| (0x40..0x7f).contains(byte))
                .map(|at| at + 2),
            // A title ends with a bell, or with an escape that is taken away next.
            Some(b']') => rest
                .iter()
                .position(|byte| matches!(byte, 7 | 0x1b))
                .map(|at| at + usize::from(rest[at] == 7)),
            Some(_) => Some(1),
            None => None,
        };
        rest = &rest[end.unwrap_or(rest.len())..];
    }
    kept.extend_from_slice(rest);
    kept
}

/// The rest of a line behind the time that a log put before it, and behind a machine and a program
/// after that: `2026-10-02T08:11:01Z `, `[   12.345678] `, `08:11:01.123 `, `Oct  2 08:11:01 board
/// vpp[812]: `. `None` where there is none.
fn behind_time(line: &[u8]) -> Option<&[u8]> {
    let is_digit = u8::is_ascii_digit;
    let line = match line.strip_prefix(b"<").and_then(|rest| parted(rest, b'>')) {
        Some((level, rest)) if !level.is_empty() && level.iter().all(is_digit) => rest,
        _ => line,
    };
    let is_of_time = |byte: &u8| {
        is_digit(byte) || matches!(byte, b'-' | b':' | b'.' | b',' | b'T' | b'Z' | b'+' | b' ')
    };
    let is_time = |text: &[u8]| {
        let colons = memchr::memchr_iter(b':', text).count();
        let is_decimal = parted(text.trim_ascii(), b'.').is_some_and(|(whole, part)| {
            part.len() >= 3 && !whole.is_empty() && whole.iter().chain(part).all(is_digit)
        });
        is_decimal || (colons >= 2 && text.iter().all(is_of_time))
    };
    let (time, rest) = if let Some(inside) = line.strip_prefix(b"[") {
        let (time, rest) = parted(inside, b']')?;
        (time, rest.strip_prefix(b" ").unwrap_or(rest))
    } else {
        let mut months = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ".chunks(4);
        let words = if months.any(|month| line.starts_with(month)) {
            let date = line[4..].trim_ascii_start();
            let day = date.iter().take_while(|byte| is_digit(byte)).count();
            date[day..].strip_prefix(b" ")?
        } else {
            match line.split_at_checked(11) {
                Some(([date @ .., b' '], rest))
                    if (date[4], date[7]) == (b'-', b'-') && date.iter().all(is_of_time) =>
                {
                    rest
                }
                _ => line,
            }
        };
        let (time, rest) = parted(words, b' ')?;
        (time.strip_suffix(b":").unwrap_or(time), rest)
    };
    is_time(time).then(|| behind_program(rest))
}

/// The rest of a line behind `board vpp[812]: ` or `board kernel: `.
fn behind_program(line: &[u8]) -> &[u8] {
    let mut rest = line;
    for _ in 0..2 {
        let Some((word, more)) = parted(rest, b' ') else {
            break;
        };
        if word.ends_with(b"]:") || word == b"kernel:" {
            return more;
        }
        rest = more;
    }
    line
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
        let long = "x".repeat(LONGEST * 5 / 2);
        let text = format!("one\r\n\n{long}\nthree and some\nlast");
        let mut lines = Lines::new(Drops(text.as_bytes()), None);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((line.bytes.len(), line.number, line.whole));
        }
        let right = [
            (3, 1, Whole::Yes),
            (0, 2, Whole::Yes),
            (LONGEST, 3, Whole::TooLong),
            (LONGEST, 3, Whole::Part),
            (LONGEST / 2, 3, Whole::LastPart),
            (14, 4, Whole::Yes),
            (4, 5, Whole::Unended),
        ];
        assert_eq!(seen, right);
        let mut again = String::new();
        Cleaned::new(Drops(text.as_bytes()), None)
            .read_to_string(&mut again)
            .unwrap();
        assert_eq!(again, text.replace('\r', ""));
    }

    #[test]
    fn what_terminals_logs_and_mails_put_around_a_line_is_taken_away() {
        for around in [
            "{}",
            "> {}",
            ">{}",
            ">> > {}",
            "\u{1b}[1;32m{}\u{1b}[0m",
            "\u{1b}]0;board\u{7}{}",
            "2026-10-02T08:11:01Z {}",
            "2026-10-02T08:11:01.123456+02:00 board vpp[812]: {}",
            "2026-10-02 08:11:01,123 {}",
            "[2026-10-02 08:11:01.123] {}",
            "[   12.345678] {}",
            "<6>[   12.345678] {}",
            "12.345678 {}",
            "08:11:01.123 {}",
            "Oct  2 08:11:01 board kernel: [   12.345678] {}",
            "Oct 02 08:11:01 {}",
            "> [08:11:01] {}",
        ] {
            for text in [
                "Name   State",
                "  vector rates in 1.5e2",
                "/sys/devices/state0/usage:7",
                "0  POLL  0",
                "WFI:",
            ] {
                let line = around.replace("{}", text);
                // A quotation mark takes a blank with it.
                let right = if around == ">{}" {
                    text.strip_prefix(' ').unwrap_or(text)
                } else {
                    text
                };
                assert_eq!(
                    String::from_utf8(clean(line.as_bytes(), false)).unwrap(),
                    right,
                    "{line}"
                );
            }
        }
        assert_eq!(clean(b"\xef\xbb\xbfa", true), b"a");
        for line in [
            "[000]   100.000000: power:cpu_idle: state=1",
            "0,1,2.5",
            "May be",
            "Duration: 330496749",
            "1 2 3",
        ] {
            assert_eq!(
                String::from_utf8(clean(line.as_bytes(), false)).unwrap(),
                line
            );
        }
    }

    #[test]
    fn lines_that_a_mail_broke_are_put_together_and_keep_their_numbers() {
        let is_rest: IsRest = |line, next| has_no_room(line, next) && !next.starts_with(b"row");
        let row = format!("row {}", "x".repeat(60));
        let text = format!("> {row} \n> with an end\n> row 2\n> short\nrow 3");
        let mut again = String::new();
        Cleaned::new(Drops(text.as_bytes()), Some(is_rest))
            .read_to_string(&mut again)
            .unwrap();
        assert_eq!(again, format!("{row} with an end\n\nrow 2\nshort\nrow 3"));
    }
}
