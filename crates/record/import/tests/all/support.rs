//! Writes `trace.dat` files of the events of a trace's text, for machines of both byte orders and
//! of 32 and 64 bits.
#![allow(dead_code, reason = "each test uses a part of it")]

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

/// For which machine, and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub big: bool,
    pub long: usize,
    pub version: u8,
    pub compressed: bool,
}

pub const PAGE: usize = 4096;

/// The machine of the trace, as `uname` has it.
const UNAME: &[u8] = b"Linux phone 6.6.50-v8+ aarch64\0";

/// The kernel's formats: name, number, fields (type and name, size, whether signed) and how they
/// are printed.
const FORMATS: [(&str, &str, u16, &str, &str); 13] = [
    (
        "power",
        "cpu_idle",
        101,
        "u32 state;4 u32 cpu_id;4",
        "\"state=%lu cpu_id=%lu\", (unsigned long)REC->state, (unsigned long)REC->cpu_id",
    ),
    (
        "power",
        "cpu_idle_miss",
        102,
        "u32 cpu_id;4 u32 state;4 bool below;4",
        "\"cpu_id=%lu state=%lu type=%s\", (unsigned long)REC->cpu_id, (unsigned long)REC->state, (REC->below)?\"below\":\"above\"",
    ),
    (
        "timer",
        "hrtimer_start",
        111,
        "void*hrtimer;p void*function;p s64 expires;8 s64 softexpires;8 u32 mode;4",
        "\"hrtimer=%p function=%p expires=%llu softexpires=%llu\", REC->hrtimer, REC->function, REC->expires, REC->softexpires",
    ),
    (
        "timer",
        "hrtimer_cancel",
        112,
        "void*hrtimer;p",
        "\"hrtimer=%p\", REC->hrtimer",
    ),
    (
        "timer",
        "hrtimer_expire_entry",
        113,
        "void*hrtimer;p s64 now;8 void*function;p",
        "\"hrtimer=%p function=%p now=%llu\", REC->hrtimer, REC->function, REC->now",
    ),
    (
        "timer",
        "timer_start",
        114,
        "void*timer;p void*function;p ulong expires;p ulong now;p u32 flags;4",
        "\"timer=%p expires=%lu\", REC->timer, REC->expires",
    ),
    (
        "timer",
        "timer_cancel",
        115,
        "void*timer;p",
        "\"timer=%p\", REC->timer",
    ),
    (
        "timer",
        "timer_expire_entry",
        116,
        "void*timer;p ulong now;p void*function;p",
        "\"timer=%p now=%lu\", REC->timer, REC->now",
    ),
    (
        "timer",
        "tick_stop",
        117,
        "int success;4 int dependency;4",
        "\"success=%d\", REC->success",
    ),
    (
        "irq",
        "irq_handler_entry",
        121,
        "int irq;4 name;4",
        "\"irq=%d name=%s\", REC->irq, __get_str(name)",
    ),
    (
        "irq",
        "irq_handler_exit",
        122,
        "int irq;4 int ret;4",
        "\"irq=%d ret=%d\", REC->irq, REC->ret",
    ),
    ("ipi", "ipi_entry", 123, "reason;p", "\"(%s)\", REC->reason"),
    (
        "sched",
        "sched_switch",
        131,
        "char prev_comm[16];16 pid_t prev_pid;4 char next_comm[16];16 pid_t next_pid;4",
        "\"%s:%d ==> %s:%d\", REC->prev_comm, REC->prev_pid, REC->next_comm, REC->next_pid",
    ),
];
const WAKEUP: (&str, &str, u16, &str, &str) = (
    "sched",
    "sched_wakeup",
    132,
    "char comm[16];16 pid_t pid;4 int target_cpu;4",
    "\"%s:%d CPU:%03d\", REC->comm, REC->pid, REC->target_cpu",
);

/// The place of the tick's function.
const TICK: u64 = 0x8010_1230;

struct Out {
    machine: Machine,
    bytes: Vec<u8>,
}

impl Out {
    fn number(&mut self, value: u64, size: usize) {
        let little = value.to_le_bytes();
        match self.machine.big {
            false => self.bytes.extend_from_slice(&little[..size]),
            true => self.bytes.extend(little[..size].iter().rev()),
        }
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }

    fn sized(&mut self, size: usize, bytes: &[u8]) {
        self.number(bytes.len() as u64, size);
        self.bytes.extend_from_slice(bytes);
    }
}

fn new(machine: Machine) -> Out {
    Out {
        machine,
        bytes: Vec::new(),
    }
}

/// A value of an event's field in the text: behind `key=`.
fn value<'a>(fields: &'a str, key: &str) -> Option<&'a str> {
    let rest = fields
        .split_once(&format!("{key}="))
        .map(|(_, rest)| rest)?;
    Some(rest.split([' ', ']']).next().unwrap_or(rest))
}

/// The event of a line, as the kernel has it in memory; `None` for lines of no event.
fn event(line: &str, machine: Machine) -> Option<(u16, u64, Vec<u8>)> {
    if line.starts_with('#') {
        return None;
    }
    let (_, rest) = line.split_once('[')?;
    let (cpu, rest) = rest.split_once(']')?;
    let mut words = rest.split_ascii_whitespace();
    let (time, name) = (
        words.nth(1)?.strip_suffix(':')?,
        words.next()?.strip_suffix(':')?,
    );
    let fields = rest.split_once(&format!("{name}: "))?.1;
    let (seconds, micros) = time.split_once('.')?;
    let time = (seconds.parse::<u64>().ok()? * 1_000_000 + micros.parse::<u64>().ok()?) * 1000;
    let (_, _, id, layout, _) = FORMATS
        .iter()
        .chain([&WAKEUP])
        .find(|format| format.1 == name)?;
    let number = |key: &str| {
        value(fields, key)
            .and_then(|text| text.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let address = |key: &str| {
        value(fields, key)
            .and_then(|text| u64::from_str_radix(text, 16).ok())
            .unwrap_or(0)
    };
    let function = || {
        if value(fields, "function") == Some("tick_sched_timer") {
            TICK
        } else {
            0x8000_0000
        }
    };
    let mut out = new(machine);
    out.number((*id).into(), 2);
    out.bytes.extend([0, 0]);
    out.number(1, 4);
    let mut tail = Vec::new();
    for (field, size) in fields_of(layout, machine) {
        while !out.bytes.len().is_multiple_of(size.min(machine.long)) && size <= 8 {
            out.bytes.push(0);
        }
        match &*field {
            "hrtimer" | "timer" => out.number(address(&field), size),
            "function" => out.number(function(), size),
            "below" => out.number(u64::from(fields.contains("type=below")), size),
            "now" if name == "timer_start" => {
                out.number(number("expires") - number("timeout"), size)
            }
            "flags" => {
                let deferrable = u64::from(fields.contains("flags=D")) << 19;
                out.number(number("cpu") | deferrable | number("idx") << 22, size);
            }
            "name" => {
                tail = value(fields, "name").unwrap_or("").as_bytes().to_vec();
                tail.push(0);
                out.number((tail.len() as u64) << 16 | (out.bytes.len() as u64 + 4), 4);
            }
            "prev_comm" | "next_comm" | "comm" => {
                let next = if field == "comm" {
                    "pid"
                } else {
                    &field.replace("comm", "pid")
                };
                let text = fields
                    .split_once(&format!("{field}="))
                    .unwrap()
                    .1
                    .split_once(&format!(" {next}="))
                    .unwrap()
                    .0;
                let mut comm = text.as_bytes().to_vec();
                comm.resize(16, 0);
                out.bytes.extend(comm);
            }
            key => out.number(number(key), size),
        }
    }
    out.bytes.extend(tail);
    Some((cpu.parse().ok()?, time, out.bytes))
}

fn fields_of(layout: &str, machine: Machine) -> Vec<(String, usize)> {
    let mut fields = Vec::new();
    let mut rest = layout;
    while let Some((declared, more)) = rest.split_once(';') {
        let (size, more) = more.split_once(' ').unwrap_or((more, ""));
        let size = if size == "p" {
            machine.long
        } else {
            size.parse().unwrap()
        };
        let name = declared.trim().rsplit([' ', '*']).next().unwrap();
        fields.push((name.split('[').next().unwrap().to_owned(), size));
        rest = more;
    }
    fields
}

/// The text of an event's `format` file.
fn format_text(format: &(&str, &str, u16, &str, &str), machine: Machine) -> String {
    let (_, name, id, layout, print) = format;
    let mut text = format!("name: {name}\nID: {id}\nformat:\n");
    for (field, offset, size) in [
        ("unsigned short common_type", 0, 2),
        ("unsigned char common_flags", 2, 1),
        ("unsigned char common_preempt_count", 3, 1),
        ("int common_pid", 4, 4),
    ] {
        let signed = u8::from(field.starts_with("int"));
        text += &format!("\tfield:{field};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n");
    }
    text += "\n";
    let mut offset = 8_usize;
    for (name, size) in fields_of(layout, machine) {
        while !offset.is_multiple_of(size.min(machine.long)) && size <= 8 {
            offset += 1;
        }
        let (declared, signed) = match &*name {
            "name" => ("__data_loc char[] name".to_owned(), 0),
            "prev_comm" | "next_comm" | "comm" => (format!("char {name}[16]"), 0),
            "hrtimer" | "timer" | "function" => (format!("void * {name}"), 0),
            "reason" => ("const char * reason".to_owned(), 0),
            "expires" | "now" | "softexpires" if size == 8 && !layout.contains("ulong") => {
                (format!("s64 {name}"), 1)
            }
            "expires" | "now" => (format!("unsigned long {name}"), 0),
            "below" => ("bool below".to_owned(), 0),
            "irq" | "ret" | "success" | "target_cpu" | "pid" | "prev_pid" | "next_pid" => {
                (format!("int {name}"), 1)
            }
            _ => (format!("u32 {name}"), 0),
        };
        text += &format!("\tfield:{declared};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n");
        offset += size;
    }
    text + "\nprint fmt: " + print + "\n"
}

/// The pages of a CPU's ring buffer.
fn pages(events: &[(u64, Vec<u8>)], machine: Machine) -> Vec<u8> {
    let header = 8 + machine.long;
    let mut all = Vec::new();
    let mut body = new(machine);
    let (mut first, mut last) = (0, 0);
    let finish = |all: &mut Vec<u8>, body: &mut Out, first: u64| {
        let mut page = new(machine);
        page.number(first, 8);
        page.number(body.bytes.len() as u64, machine.long);
        page.bytes.append(&mut body.bytes);
        page.bytes.resize(PAGE, 0);
        all.extend(page.bytes);
    };
    for (index, (time, bytes)) in events.iter().enumerate() {
        if header + body.bytes.len() + bytes.len() + 24 > PAGE {
            finish(&mut all, &mut body, first);
        }
        if body.bytes.is_empty() {
            (first, last) = (*time, *time);
        }
        let word = |out: &mut Out, kind: u64, delta: u64| {
            out.number(
                if machine.big {
                    kind << 27 | delta
                } else {
                    delta << 5 | kind
                },
                4,
            );
        };
        let mut delta = time - last;
        if index % 50 == 7 {
            // The kernel writes an absolute time now and then.
            word(&mut body, 31, time & ((1 << 27) - 1));
            body.number(time >> 27, 4);
            delta = 0;
        } else if delta >= 1 << 27 || index % 50 == 9 {
            word(&mut body, 30, delta & ((1 << 27) - 1));
            body.number(delta >> 27, 4);
            delta = 0;
        }
        if index % 50 == 11 && delta > 0 {
            // An event that was taken back: eight bytes of padding.
            word(&mut body, 29, delta);
            body.number(8, 4);
            body.number(0, 4);
            delta = 0;
        }
        let mut data = bytes.clone();
        data.resize(data.len().div_ceil(4) * 4, 0);
        if data.len() > 28 * 4 || index % 50 == 13 {
            word(&mut body, 0, delta);
            body.number(data.len() as u64 + 4, 4);
        } else {
            word(&mut body, data.len() as u64 / 4, delta);
        }
        body.bytes.extend(data);
        last = *time;
    }
    if !body.bytes.is_empty() {
        finish(&mut all, &mut body, first);
    }
    all
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A file of the events of a trace's text.
pub fn trace_dat(text: &str, machine: Machine) -> Vec<u8> {
    trace_dat_with(text, machine, &[])
}

/// The same with empty instances of these names beside the top buffer, which version 7 has.
pub fn trace_dat_with(text: &str, machine: Machine, instances: &[&str]) -> Vec<u8> {
    let mut cpus: Vec<Vec<(u64, Vec<u8>)>> = Vec::new();
    for (cpu, time, bytes) in text.lines().filter_map(|line| event(line, machine)) {
        let cpu = usize::from(cpu);
        cpus.resize(cpus.len().max(cpu + 1), Vec::new());
        cpus[cpu].push((time, bytes));
    }
    let pages: Vec<Vec<u8>> = cpus.iter().map(|events| pages(events, machine)).collect();
    let headers = {
        let mut out = new(machine);
        out.text("header_page");
        let page = format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:{at};\tsize:{size};\tsigned:1;\n",
            long = machine.long,
            at = 8 + machine.long,
            size = PAGE - 8 - machine.long
        );
        out.sized(8, page.as_bytes());
        out.text("header_event");
        out.sized(8, b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n");
        out.bytes
    };
    let formats = {
        let mut out = new(machine);
        let systems = ["power", "timer", "irq", "ipi", "sched"];
        out.number(systems.len() as u64, 4);
        for system in systems {
            out.text(system);
            let of: Vec<_> = FORMATS
                .iter()
                .chain([&WAKEUP])
                .filter(|format| format.0 == system)
                .collect();
            out.number(of.len() as u64, 4);
            for format in of {
                out.sized(8, format_text(format, machine).as_bytes());
            }
        }
        out.bytes
    };
    let functions = {
        let mut out = new(machine);
        out.sized(
            4,
            format!("80000000 t hrtimer_wakeup\n{TICK:08x} t tick_sched_timer\n").as_bytes(),
        );
        out.bytes
    };
    let command_lines = {
        let mut out = new(machine);
        out.sized(8, b"1 init\n");
        out.bytes
    };
    let mut out = new(machine);
    out.bytes.extend(b"\x17\x08\x44tracing");
    out.text(&machine.version.to_string());
    out.bytes
        .extend([u8::from(machine.big), machine.long as u8]);
    out.number(PAGE as u64, 4);
    if machine.version == 6 {
        out.bytes.extend(&headers);
        out.number(0, 4);
        out.bytes.extend(&formats);
        out.bytes.extend(&functions);
        out.number(0, 4);
        out.bytes.extend(&command_lines);
        out.number(pages.len() as u64, 4);
        out.bytes.extend(b"options  \0");
        out.number(4, 2);
        out.sized(4, b"[local] global counter\0");
        out.number(5, 2);
        out.sized(4, UNAME);
        out.number(0, 2);
        out.bytes.extend(b"flyrecord\0");
        let mut at = (out.bytes.len() + 16 * pages.len()).div_ceil(PAGE) * PAGE;
        for pages in &pages {
            out.number(at as u64, 8);
            out.number(pages.len() as u64, 8);
            at += pages.len();
        }
        out.bytes.resize(out.bytes.len().div_ceil(PAGE) * PAGE, 0);
        out.bytes.extend(pages.concat());
        return out.bytes;
    }
    out.text(if machine.compressed { "zlib" } else { "none" });
    out.text("1");
    let first_options = out.bytes.len();
    out.number(0, 8);
    let mut options = new(machine);
    // No formats of ftrace's own events, and none of trace_printk.
    let none = vec![0; 4];
    for (id, bytes) in [
        (16, &headers),
        (17, &none),
        (18, &formats),
        (19, &functions),
        (20, &none),
        (21, &command_lines),
    ] {
        options.number(id, 2);
        options.number(8, 4);
        options.number(out.bytes.len() as u64, 8);
        section(&mut out, id, bytes);
    }
    // The pages.
    let section_at = out.bytes.len() as u64;
    out.number(3, 2);
    out.number(machine.compressed.into(), 2);
    out.number(0, 4);
    out.number(0, 8);
    out.bytes.resize(out.bytes.len().div_ceil(PAGE) * PAGE, 0);
    let mut buffer = new(machine);
    buffer.number(section_at, 8);
    buffer.text("");
    buffer.text("local");
    buffer.number(PAGE as u64, 4);
    buffer.number(pages.len() as u64, 4);
    for (cpu, pages) in pages.iter().enumerate() {
        let at = out.bytes.len();
        if machine.compressed {
            let chunks: Vec<&[u8]> = pages.chunks(3 * PAGE).collect();
            out.number(chunks.len() as u64, 4);
            for chunk in chunks {
                let packed = zlib(chunk);
                out.number(packed.len() as u64, 4);
                out.number(chunk.len() as u64, 4);
                out.bytes.extend(packed);
            }
        } else {
            out.bytes.extend(pages);
        }
        buffer.number(cpu as u64, 4);
        buffer.number(at as u64, 8);
        buffer.number((out.bytes.len() - at) as u64, 8);
    }
    options.number(5, 2);
    options.sized(4, UNAME);
    options.number(3, 2);
    options.sized(4, &buffer.bytes);
    for instance in instances {
        let mut buffer = new(machine);
        buffer.number(section_at, 8);
        buffer.text(instance);
        buffer.text("local");
        buffer.number(PAGE as u64, 4);
        buffer.number(0, 4);
        options.number(3, 2);
        options.sized(4, &buffer.bytes);
    }
    options.number(0, 2);
    options.number(8, 4);
    options.number(0, 8);
    let at = out.bytes.len() as u64;
    section(&mut out, 0, &options.bytes);
    let mut place = new(machine);
    place.number(at, 8);
    out.bytes[first_options..first_options + 8].copy_from_slice(&place.bytes);
    out.bytes
}

fn section(out: &mut Out, id: u64, bytes: &[u8]) {
    let compressed = out.machine.compressed;
    out.number(id, 2);
    out.number(compressed.into(), 2);
    out.number(0, 4);
    if compressed {
        let packed = zlib(bytes);
        out.number(packed.len() as u64 + 8, 8);
        out.number(packed.len() as u64, 4);
        out.number(bytes.len() as u64, 4);
        out.bytes.extend(packed);
    } else {
        out.number(bytes.len() as u64, 8);
        out.bytes.extend_from_slice(bytes);
    }
}
