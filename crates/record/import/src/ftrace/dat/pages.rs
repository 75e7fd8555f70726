//! The events on the pages of a CPU's ring buffer.
//!
//! A page begins with the time of its first event and how many bytes are used. Each event has a
//! word of 32 bits before it: five bits say how long it is or what else it is, the others by how
//! much time it follows the one before.

use super::file::{Bad, Compression, File};
use crate::text::number;
use std::io::{Read, Seek};

/// Events before this page were lost: a bit of the count of used bytes.
const MISSED: u64 = 1 << 31;
/// The bit that says that the number of lost events stands behind the last event.
const MISSED_STORED: u64 = 1 << 30;
const USED: u64 = (1 << 27) - 1;

const TIME_BITS: u32 = 27;
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// A CPU's events, one after the other.
#[derive(Default)]
pub struct Pages {
    pub cpu: u16,
    /// The place of the next page or chunk in the file, and the end of all.
    next: u64,
    end: u64,
    layout: PageLayout,
    /// Compressed chunks that are still to come; `None` before their number was read.
    chunks_left: Option<u32>,
    /// Pages that were unpacked together.
    chunk: Vec<u8>,
    chunk_at: usize,
    page: Vec<u8>,
    /// The place of the page in the file, or its chunk.
    pub page_at: u64,
    at: usize,
    used: usize,
    time: u64,
    event: Option<(usize, usize)>,
    lost: Option<Option<u64>>,
}

/// The place of the pages of a CPU.
pub struct CpuData {
    pub cpu: u16,
    pub offset: u64,
    pub size: u64,
    pub compressed: bool,
}

/// Layout of a file's pages.
#[derive(Default)]
pub struct PageLayout {
    pub size: usize,
    pub header: PageHeader,
    pub big: bool,
    pub compression: Compression,
    /// Multiplier, shift and offset that make nanoseconds of a counter.
    pub scale: Option<(u64, u32, u64)>,
}

/// Layout of a page's header in memory.
#[derive(Clone, Copy, Default)]
pub struct PageHeader {
    pub commit_at: usize,
    pub commit_size: usize,
    pub data_at: usize,
}

impl Pages {
    pub fn new(data: &CpuData, layout: PageLayout) -> Self {
        Self {
            cpu: data.cpu,
            next: data.offset,
            end: data.offset.saturating_add(data.size),
            layout,
            ..Self::default()
        }
    }

    /// When the event happened; `None` behind the last.
    pub fn time_ns(&self) -> Option<u64> {
        self.event?;
        Some(match self.layout.scale {
            None => self.time,
            Some((multiplier, shift, offset)) => {
                let ns = (u128::from(self.time) * u128::from(multiplier)) >> shift;
                (ns as u64).wrapping_add(offset)
            }
        })
    }

    /// The event's bytes.
    pub fn event(&self) -> &[u8] {
        self.event.map_or(&[], |(from, to)| &self.page[from..to])
    }

    /// Events that were lost before this one; the number where the kernel counted them.
    pub fn take_lost(&mut self) -> Option<Option<u64>> {
        self.lost.take()
    }

    /// Says that there are no more events.
    pub fn give_up(&mut self) {
        (self.event, self.at, self.used) = (None, 0, 0);
        (self.next, self.end, self.chunks_left) = (0, 0, Some(0));
        self.chunk.clear();
        self.chunk_at = 0;
    }

    fn word(&self, at: usize) -> Result<u32, Bad> {
        let bytes = self.page.get(at..at + 4).filter(|_| at + 4 <= self.used);
        let bytes: &[u8; 4] = bytes
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| self.bad("an event reaches beyond its page"))?;
        Ok(number(bytes, self.layout.big) as u32)
    }

    fn bad(&self, what: impl Into<String>) -> Bad {
        let what = format!(
            "{}, {} bytes into a page of CPU {}",
            what.into(),
            self.at,
            self.cpu
        );
        Bad::new(self.page_at, what)
    }

    /// Goes to the next event.
    pub fn advance(&mut self, file: &mut File<impl Read + Seek>) -> Result<(), Bad> {
        self.event = None;
        loop {
            if self.at >= self.used {
                if !self.next_page(file)? {
                    return Ok(());
                }
                continue;
            }
            let word = self.word(self.at)?;
            // The compiler puts the first bit field into the lowest bits, or on machines of the
            // other byte order into the highest.
            let (kind, delta) = if self.layout.big {
                (word >> TIME_BITS, u64::from(word & ((1 << TIME_BITS) - 1)))
            } else {
                (word & 31, u64::from(word >> 5))
            };
            let body = self.at + 4;
            let length = match kind {
                PADDING if delta == 0 => {
                    self.at = self.used;
                    continue;
                }
                PADDING => {
                    self.time = self.time.wrapping_add(delta);
                    self.at = body + self.word(body)? as usize;
                    continue;
                }
                TIME_EXTEND | TIME_STAMP => {
                    let value = u64::from(self.word(body)?) << TIME_BITS | delta;
                    self.time = match kind {
                        TIME_EXTEND => self.time.wrapping_add(value),
                        // The top five bits did not fit: they are those of the time before.
                        _ => self.time & !((1 << 59) - 1) | value,
                    };
                    self.at = body + 4;
                    continue;
                }
                0 => {
                    let length = self.word(body)? as usize;
                    let length = length
                        .checked_sub(4)
                        .ok_or_else(|| self.bad("an event has no length"))?;
                    self.at = body + 4;
                    length.div_ceil(4) * 4
                }
                words => {
                    self.at = body;
                    words as usize * 4
                }
            };
            let end = self.at + length;
            if end > self.used {
                return Err(self.bad("an event reaches beyond its page"));
            }
            self.time = self.time.wrapping_add(delta);
            self.event = Some((self.at, end));
            self.at = end;
            return Ok(());
        }
    }

    /// Takes the next page; false behind the last.
    fn next_page(&mut self, file: &mut File<impl Read + Seek>) -> Result<bool, Bad> {
        self.at = 0;
        self.used = 0;
        if !self.next_bytes(file)? {
            return Ok(false);
        }
        let PageHeader {
            commit_at,
            commit_size,
            data_at,
        } = self.layout.header;
        let number = |at: usize, size: usize| number(&self.page[at..at + size], self.layout.big);
        let (time, commit) = (number(0, 8), number(commit_at, commit_size));
        let used = data_at + (commit & USED) as usize;
        if used > self.page.len() {
            return Err(self.bad(format!(
                "a page of {} bytes claims to use {used}",
                self.page.len()
            )));
        }
        if commit & MISSED != 0 {
            let stored = commit & MISSED_STORED != 0 && used + commit_size <= self.page.len();
            self.lost = Some(stored.then(|| number(used, commit_size)));
        }
        (self.time, self.at, self.used) = (time, data_at, used);
        Ok(true)
    }

    /// Fills the page; false behind the last.
    fn next_bytes(&mut self, file: &mut File<impl Read + Seek>) -> Result<bool, Bad> {
        let page_size = self.layout.size;
        if self.layout.compression == Compression::None {
            if self.next >= self.end {
                return Ok(false);
            }
            file.seek(self.next)?;
            self.page_at = self.next;
            // The last page may be short.
            let length = (self.end - self.next).min(page_size as u64);
            self.page = file.bytes(length)?;
            self.page.resize(page_size, 0);
            self.next += length;
            return Ok(true);
        }
        while self.chunk_at >= self.chunk.len() {
            if self.next >= self.end || self.chunks_left == Some(0) {
                return Ok(false);
            }
            file.seek(self.next)?;
            self.page_at = self.next;
            let left = match self.chunks_left {
                Some(left) => left,
                None => file.u32()?,
            };
            if left == 0 {
                self.chunks_left = Some(0);
                return Ok(false);
            }
            self.chunk = self.layout.compression.unpack(file)?;
            self.chunk_at = 0;
            self.chunks_left = Some(left - 1);
            self.next = file.at;
        }
        let end = (self.chunk_at + page_size).min(self.chunk.len());
        self.page = self.chunk[self.chunk_at..end].to_vec();
        self.page.resize(page_size, 0);
        self.chunk_at = end;
        Ok(true)
    }
}
