//! The layout of a file, in both versions.

use super::super::kind::cpu_of;
use super::file::{self, Bad, Compression, File};
use super::format::{Addresses, Format, header_field};
use super::pages::{CpuData, PageHeader, PageLayout};
use crate::error::{printable, printable_bytes};
use crate::text::{number, parted};
use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read, Seek};

/// The layout of events that a file gives before they come.
#[derive(Default)]
pub struct Layout {
    pub version: u32,
    pub big: bool,
    pub page_size: usize,
    pub page_header: PageHeader,
    pub compression: Compression,
    pub formats: HashMap<u16, Format>,
    /// Names of functions and texts.
    pub addresses: Addresses,
    /// True if the file names the tick's function.
    pub knows_ticks: bool,
    pub tasks: BTreeMap<u32, Vec<u8>>,
    pub clock: String,
    /// Multiplier, shift and offset that make nanoseconds of a counter.
    pub tsc: Option<(u64, u32, u64)>,
    pub cpus: Vec<CpuData>,
    /// Names of the buffers beside the top one.
    pub instances: Vec<String>,
    /// The kernel's release, as `uname -r` has it.
    pub release: Option<String>,
}

/// The option behind the last one of a list.
const DONE: u16 = 0;

/// The bytes of a page, if a page can have as many.
fn possible(page_size: u32, file: &File<impl Read + Seek>) -> Result<usize, Bad> {
    if (1024..=1 << 20).contains(&page_size) {
        Ok(page_size as usize)
    } else {
        Err(file.bad(format!(
            "a page has {page_size} bytes; it must have 1024 to 1048576"
        )))
    }
}

/// More pages of options are a circle.
const MOST_SECTIONS: usize = 64;

impl Layout {
    pub fn read(file: &mut File<impl Read + Seek>) -> Result<Self, Bad> {
        file.seek(file::MAGIC.len() as u64)?;
        let version = file.text()?;
        file.big = match file.u8()? {
            0 => false,
            1 => true,
            other => {
                return Err(file.bad(format!(
                    "the byte order is {other}; it must be 0 (little) or 1 (big)"
                )));
            }
        };
        match file.u8()? {
            4 | 8 => {}
            other => return Err(file.bad(format!("a long has {other} bytes; it must have 4 or 8"))),
        }
        let page_size = file.u32()?;
        let mut layout = Self {
            big: file.big,
            page_size: possible(page_size, file)?,
            page_header: PageHeader {
                commit_at: 8,
                commit_size: 8,
                data_at: 16,
            },
            ..Self::default()
        };
        match &*version {
            b"6" => layout.read_6(file)?,
            b"7" => layout.read_7(file)?,
            _ => {
                let what = format!("the file has version `{}`", printable_bytes(&version));
                return Err(Bad {
                    at: 10,
                    what,
                    right: "versions 6 and 7 can be read: convert it with `trace-cmd convert`",
                });
            }
        }
        Ok(layout)
    }

    fn read_6(&mut self, file: &mut File<impl Read + Seek>) -> Result<(), Bad> {
        self.version = 6;
        self.headers(file)?;
        self.ftrace_formats(file)?;
        self.event_formats(file)?;
        self.addresses(file)?;
        self.addresses(file)?;
        self.command_lines(file)?;
        let cpus = file.u32()?;
        let mut what = file.bytes(10)?;
        if what == b"options  \0" {
            loop {
                let id = file.u16()?;
                if id == DONE {
                    break;
                }
                let length = file.u32()?;
                let value = file.bytes(length.into())?;
                self.take(id, value, file);
            }
            what = file.bytes(10)?;
        }
        match &*what {
            b"flyrecord\0" => {}
            b"latency  \0" => {
                let right = "import what `trace-cmd report` prints of it";
                let bad = file.bad("the file holds the text of a latency tracer");
                return Err(Bad { right, ..bad });
            }
            _ => return Err(file.bad("neither `flyrecord` nor `latency` stands before the events")),
        }
        for cpu in 0..cpus {
            let place = (file.u64()?, file.u64()?);
            self.add_cpu(cpu, place, false, file)?;
        }
        Ok(())
    }

    fn read_7(&mut self, file: &mut File<impl Read + Seek>) -> Result<(), Bad> {
        self.version = 7;
        let name = file.text()?;
        file.text()?;
        let Some(compression) = Compression::find(&name) else {
            let bad = format!("the file is compressed with `{}`", printable_bytes(&name));
            let right = "none, zlib and zstd can be read: convert it with `trace-cmd convert --compression none`";
            return Err(Bad {
                right,
                ..file.bad(bad)
            });
        };
        self.compression = compression;
        let mut next = file.u64()?;
        let mut sections = 0;
        // Formats come first when events are to be understood, wherever they stand.
        while next != 0 {
            sections += 1;
            if sections > MOST_SECTIONS {
                return Err(file.bad("the sections of options run in a circle"));
            }
            let bytes = self.section(file, next)?;
            let mut options = file.within(bytes);
            loop {
                let (id, length) = (options.u16()?, options.u32()?);
                let value = options.bytes(length.into())?;
                let mut inside = file.within(value.clone());
                if id == DONE {
                    next = inside.u64()?;
                    break;
                }
                let part = match id {
                    // HEADER_INFO, FTRACE_EVENTS, EVENT_FORMATS, KALLSYMS and PRINTK, CMDLINES
                    16 => Self::headers,
                    17 => Self::ftrace_formats,
                    18 => Self::event_formats,
                    19 | 20 => Self::addresses,
                    21 => Self::command_lines,
                    // BUFFER
                    3 => {
                        self.buffer(file, &mut inside)?;
                        continue;
                    }
                    _ => {
                        self.take(id, value, file);
                        continue;
                    }
                };
                let bytes = self.section(file, inside.u64()?)?;
                part(self, &mut file.within(bytes))?;
            }
        }
        Ok(())
    }

    /// Takes an option that both versions have.
    fn take(&mut self, id: u16, value: Vec<u8>, file: &File<impl Read + Seek>) {
        match id {
            // TRACECLOCK
            4 => self.take_clock(&value),
            // UNAME: `Linux host 6.1.0-13-arm64 aarch64`
            5 => {
                let text = String::from_utf8_lossy(&value);
                self.release = text.split_whitespace().nth(2).map(str::to_owned);
            }
            // TSC2NSEC
            14 => self.take_tsc(file.within(value)),
            _ => {}
        }
    }

    /// The bytes of a section, unpacked.
    fn section(&self, file: &mut File<impl Read + Seek>, at: u64) -> Result<Vec<u8>, Bad> {
        file.seek(at)?;
        let (_, flags, _, size) = (file.u16()?, file.u16()?, file.u32()?, file.u64()?);
        if flags & 1 != 0 {
            self.compression.unpack(file)
        } else {
            file.bytes(size)
        }
    }

    /// The events of a buffer. Those of an instance beside the top one have a name, and belong to
    /// whoever made it.
    fn buffer(
        &mut self,
        file: &mut File<impl Read + Seek>,
        inside: &mut File<Cursor<Vec<u8>>>,
    ) -> Result<(), Bad> {
        let section = inside.u64()?;
        let (name, clock) = (inside.text()?, inside.text()?);
        if !name.is_empty() {
            self.instances.push(printable_bytes(&name));
            return Ok(());
        }
        self.take_clock(&clock);
        let page_size = inside.u32()?;
        self.page_size = possible(page_size, file)?;
        file.seek(section)?;
        let (_, flags) = (file.u16()?, file.u16()?);
        for _ in 0..inside.u32()? {
            let (cpu, place) = (inside.u32()?, (inside.u64()?, inside.u64()?));
            self.add_cpu(cpu, place, flags & 1 != 0, file)?;
        }
        Ok(())
    }

    fn add_cpu(
        &mut self,
        cpu: u32,
        (offset, size): (u64, u64),
        compressed: bool,
        file: &File<impl Read + Seek>,
    ) -> Result<(), Bad> {
        let Some(cpu) = cpu_of(cpu.into()) else {
            return Err(file.bad(format!("there is a CPU {cpu}, more than Linux can have")));
        };
        if self.cpus.iter().any(|known| known.cpu == cpu) {
            return Err(file.bad(format!("the events of CPU {cpu} stand twice in the file")));
        }
        self.cpus.push(CpuData {
            cpu,
            offset,
            size,
            compressed,
        });
        Ok(())
    }

    fn headers(&mut self, file: &mut File<impl Read + Seek>) -> Result<(), Bad> {
        for (name, length) in [(&b"header_page"[..], 12), (b"header_event", 13)] {
            let found = file.bytes(length)?;
            if found.strip_suffix(b"\0") != Some(name) {
                return Err(file.bad(format!("`{}` is missing", String::from_utf8_lossy(name))));
            }
            let length = file.u64()?;
            let text = file.bytes(length)?;
            if name != b"header_page" || text.is_empty() {
                continue;
            }
            let (commit, data) = (header_field(&text, "commit"), header_field(&text, "data"));
            let (Some((commit_at, commit_size)), Some((data_at, _))) = (commit, data) else {
                return Err(file.bad("`header_page` names no field `commit` and no field `data`"));
            };
            if !matches!(commit_size, 4 | 8)
                || commit_at + commit_size > data_at
                || data_at + 8 > self.page_size
                || commit_at < 8
            {
                return Err(file.bad("`header_page` describes a page that cannot be"));
            }
            self.page_header = PageHeader {
                commit_at,
                commit_size,
                data_at,
            };
        }
        Ok(())
    }

    fn ftrace_formats(&mut self, file: &mut File<impl Read + Seek>) -> Result<(), Bad> {
        for _ in 0..file.u32()? {
            self.format(file)?;
        }
        Ok(())
    }

    fn event_formats(&mut self, file: &mut File<impl Read + Seek>) -> Result<(), Bad> {
        for _ in 0..file.u32()? {
            file.text()?;
            for _ in 0..file.u32()? {
                self.format(file)?;
            }
        }
        Ok(())
    }

    fn format(&mut self, file: &mut File<impl Read + Seek>) -> Result<(), Bad> {
        let length = file.u64()?;
        let text = file.bytes(length)?;
        if let Some((id, format)) = Format::parse(&text) {
            self.formats.insert(id, format);
        }
        Ok(())
    }

    /// The places of functions, from the text of kallsyms (`ffffffc080a1b2c3 t NAME`), and those of
    /// texts, such as the reasons of IPIs (`0xffffffc080a1b2c3 : "TEXT"`).
    fn addresses(&mut self, file: &mut File<impl Read + Seek>) -> Result<(), Bad> {
        let length = file.u32()?;
        for line in file.bytes(length.into())?.split(|byte| *byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line) else {
                continue;
            };
            let mut words = line.trim_start().splitn(3, ' ');
            if let (Some(address), Some(kind), Some(name)) =
                (words.next(), words.next(), words.next())
                && let Ok(address) = u64::from_str_radix(address.trim_start_matches("0x"), 16)
                && address != 0
            {
                let name = if kind == ":" {
                    name.trim_matches('"')
                } else {
                    name.split('\t').next().unwrap_or(name)
                };
                self.addresses.add(address, name.as_bytes());
                self.knows_ticks |= matches!(name, "tick_sched_timer" | "tick_nohz_handler");
            }
        }
        self.addresses.sort();
        Ok(())
    }

    fn command_lines(&mut self, file: &mut File<impl Read + Seek>) -> Result<(), Bad> {
        let length = file.u64()?;
        for line in file.bytes(length)?.split(|byte| *byte == b'\n') {
            let Some((pid, name)) = parted(line, b' ') else {
                continue;
            };
            let pid = std::str::from_utf8(pid).ok();
            if let Some(pid) = pid.and_then(|pid| pid.parse().ok()) {
                self.tasks.insert(pid, name.to_vec());
            }
        }
        Ok(())
    }

    /// `[local] global counter`, or only the clock's name.
    fn take_clock(&mut self, value: &[u8]) {
        let text = String::from_utf8_lossy(value);
        let text = text.trim_end_matches('\0').trim();
        let chosen = text
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'))
            .map_or(text, |(name, _)| name);
        self.clock = printable(chosen);
    }

    fn take_tsc(&mut self, mut value: File<Cursor<Vec<u8>>>) {
        if let (Ok(multiplier), Ok(shift), Ok(offset)) = (value.u32(), value.u32(), value.u64())
            && multiplier > 0
            && shift < 64
        {
            self.tsc = Some((multiplier.into(), shift, offset));
        }
    }

    /// Layout of the pages of a CPU.
    pub fn pages(&self, data: &CpuData) -> PageLayout {
        PageLayout {
            size: self.page_size,
            header: self.page_header,
            big: self.big,
            compression: if data.compressed {
                self.compression
            } else {
                Compression::None
            },
            scale: self.tsc.filter(|_| self.counts_tsc()),
        }
    }

    /// True if times are counts of a processor's counter.
    pub fn counts_tsc(&self) -> bool {
        matches!(&*self.clock, "x86-tsc" | "tsc2nsec")
    }

    /// True if the clock counts something that is no time, or whose unit nobody says.
    pub fn counts_no_time(&self) -> bool {
        matches!(&*self.clock, "counter" | "uptime") || (self.counts_tsc() && self.tsc.is_none())
    }

    /// The format of an event, by the number that it begins with.
    pub fn format_of(&self, event: &[u8]) -> Option<&Format> {
        let number = number(event.get(..2)?, self.big);
        self.formats.get(&(number as u16))
    }
}
