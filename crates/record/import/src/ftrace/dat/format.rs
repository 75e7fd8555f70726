//! The kernel's formats of events, and the fields of an event.

use super::super::kind::{Fields, Kind};
use crate::text::{self, parted};

/// Names of the kernel's functions, and its texts, by their addresses.
#[derive(Default)]
pub struct Addresses {
    names: Vec<u8>,
    /// Address, begin and end of the name.
    places: Vec<(u64, u32, u32)>,
}

impl Addresses {
    pub fn add(&mut self, address: u64, name: &[u8]) {
        let begin = self.names.len() as u32;
        self.names.extend_from_slice(name);
        self.places.push((address, begin, self.names.len() as u32));
    }

    /// Puts them in order, which comes before any is looked for.
    pub fn sort(&mut self) {
        self.places.sort_by_key(|place| place.0);
    }

    /// The name that begins at an address, or within which it lies.
    fn name(&self, address: u64, within: bool) -> Option<&[u8]> {
        let at = self
            .places
            .partition_point(|place| place.0 <= address)
            .checked_sub(1)?;
        let (begins, from, to) = self.places[at];
        (within || begins == address).then(|| &self.names[from as usize..to as usize])
    }
}

/// Layout of an event in memory.
pub struct Format {
    pub name: Vec<u8>,
    pub kind: Option<&'static Kind>,
    fields: Vec<Field>,
}

struct Field {
    name: String,
    offset: usize,
    size: usize,
    is_signed: bool,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Number,
    /// Text of a fixed length.
    Text,
    /// Length and place of a text that follows the fixed fields; the place counts from the event's
    /// beginning or from the field's end.
    Elsewhere {
        from_field: bool,
    },
}

impl Format {
    /// Reads the text of a `format` file; the event's number and its format, `None` if it is no
    /// such text.
    pub fn parse(text: &[u8]) -> Option<(u16, Self)> {
        let text = String::from_utf8_lossy(text);
        let (mut name, mut id, mut fields) = (None, None, Vec::new());
        for line in text.lines() {
            let line = line.trim();
            if let Some(rest) = line.strip_prefix("name:") {
                name = Some(rest.trim().as_bytes().to_vec());
            } else if let Some(rest) = line.strip_prefix("ID:") {
                id = rest.trim().parse().ok();
            } else if line.starts_with("field:") || line.starts_with("field special:") {
                fields.extend(Field::parse(line));
            } else if line.starts_with("print fmt") {
                break;
            }
        }
        let name = name?;
        Some((
            id?,
            Self {
                kind: Kind::find(&name),
                name,
                fields,
            },
        ))
    }

    /// An event of this format, with the names of addresses.
    pub fn record<'a>(&'a self, data: &'a [u8], big: bool, addresses: &'a Addresses) -> Record<'a> {
        Record {
            format: self,
            data,
            big,
            addresses,
        }
    }
}

impl Field {
    /// `field:char prev_comm[16]; offset:8; size:16; signed:0;`, with tabs between.
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(';').map(str::trim);
        let declared = parts.next()?.split_once(':')?.1.trim();
        let (mut offset, mut size, mut is_signed) = (None, None, false);
        for part in parts {
            match part.split_once(':') {
                Some(("offset", value)) => offset = value.parse().ok(),
                Some(("size", value)) => size = value.parse().ok(),
                Some(("signed", value)) => is_signed = value == "1",
                _ => {}
            }
        }
        let (declared, is_array) = match declared.split_once('[') {
            Some((before, rest)) if !rest.starts_with(']') => (before, true),
            _ => (declared, false),
        };
        let name = declared.rsplit([' ', '*']).next()?.to_owned();
        let form = match declared {
            _ if declared.starts_with("__data_loc") => Form::Elsewhere { from_field: false },
            _ if declared.starts_with("__rel_loc") => Form::Elsewhere { from_field: true },
            _ if is_array => Form::Text,
            _ => Form::Number,
        };
        Some(Self {
            name,
            offset: offset?,
            size: size?,
            is_signed,
            form,
        })
    }
}

/// The place and size of a field in the text of a `header_page` file.
pub fn header_field(text: &[u8], name: &str) -> Option<(usize, usize)> {
    String::from_utf8_lossy(text)
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("field"))
        .filter_map(Field::parse)
        .find(|field| field.name == name)
        .map(|field| (field.offset, field.size))
}

/// An event and its format.
pub struct Record<'a> {
    format: &'a Format,
    data: &'a [u8],
    big: bool,
    addresses: &'a Addresses,
}

impl<'a> Record<'a> {
    fn field(&self, key: &str) -> Option<(&'a Field, &'a [u8])> {
        let field = self.format.fields.iter().find(|field| field.name == key)?;
        let data = self
            .data
            .get(field.offset..field.offset.checked_add(field.size)?)?;
        Some((field, data))
    }

    /// The bytes of an array or a text.
    fn bytes(&self, key: &str) -> Option<&'a [u8]> {
        let (field, data) = self.field(key)?;
        let Form::Elsewhere { from_field } = field.form else {
            return Some(data);
        };
        let place = number(data, self.big, false)? as usize;
        let begin = (place & 0xffff)
            + if from_field {
                field.offset + field.size
            } else {
                0
            };
        self.data.get(begin..begin + (place >> 16))
    }
}

/// A number of 1, 2, 4 or 8 bytes.
fn number(data: &[u8], big: bool, is_signed: bool) -> Option<u64> {
    if !matches!(data.len(), 1 | 2 | 4 | 8) {
        return None;
    }
    let value = text::number(data, big);
    let unused = 64 - 8 * data.len() as u32;
    Some(if is_signed {
        ((value << unused).cast_signed() >> unused).cast_unsigned()
    } else {
        value
    })
}

impl Fields for Record<'_> {
    fn number(&self, key: &str) -> Option<u64> {
        let (field, data) = self.field(key)?;
        if field.form != Form::Number {
            None
        } else {
            number(data, self.big, field.is_signed)
        }
    }

    fn address(&self, key: &str) -> Option<u64> {
        self.number(key)
    }

    fn text(&self, key: &str) -> Option<&[u8]> {
        let (field, data) = self.field(key)?;
        if field.form == Form::Number {
            let is_named = matches!(
                key,
                "function" | "func" | "callback" | "callsite" | "reason"
            );
            let address =
                number(data, self.big, false).filter(|address| is_named && *address != 0)?;
            return self.addresses.name(address, key == "callsite");
        }
        let text = self.bytes(key)?;
        Some(parted(text, 0).map_or(text, |(text, _)| text))
    }

    fn called(&self) -> Option<Vec<u64>> {
        let bits = self
            .bytes("target_cpus")
            .or_else(|| self.bytes("cpumask"))?;
        // The kernel's words have 8 bytes, or the whole has as many as a word.
        let place = |byte: usize| {
            if self.big {
                byte / 8 * 8 + bits.len().min(8) - 1 - byte % 8
            } else {
                byte
            }
        };
        Some(
            (0..8 * bits.len() as u64)
                .filter(|cpu| {
                    bits.get(place(*cpu as usize / 8))
                        .is_some_and(|byte| byte & 1 << (cpu % 8) != 0)
                })
                .collect(),
        )
    }

    fn task(&self) -> Option<(u32, &[u8])> {
        Some((self.number("common_pid")? as u32, b""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_of_cpus_are_read_as_the_kernel_keeps_them() {
        let text = b"name: ipi_raise\nID: 7\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                     \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
                     \tfield:__data_loc unsigned long[] target_cpus;\toffset:8;\tsize:4;\tsigned:0;\n\
                     \tfield:const char * reason;\toffset:16;\tsize:8;\tsigned:0;\n";
        let (_, format) = Format::parse(text).unwrap();
        let mut addresses = Addresses::default();
        addresses.add(0x9000, b"after");
        addresses.add(0x8000, b"Rescheduling interrupts");
        addresses.sort();
        for big in [false, true] {
            let number = |value: u64, size: usize| {
                let bytes = value.to_le_bytes();
                if big {
                    bytes[..size].iter().rev().copied().collect()
                } else {
                    bytes[..size].to_vec()
                }
            };
            let parts = [
                (7, 2),
                (0, 2),
                (77, 4),
                (16 << 16 | 24, 4),
                (0, 4),
                (0x8000, 8),
                (1 << 33 | 2, 8),
                (1, 8),
            ];
            let data: Vec<u8> = parts
                .into_iter()
                .flat_map(|(value, size)| number(value, size))
                .collect();
            let record = format.record(&data, big, &addresses);
            assert_eq!(record.called(), Some(vec![1, 33, 64]), "{big}");
            assert_eq!(record.text("reason"), Some(&b"Rescheduling interrupts"[..]));
            assert_eq!(record.task(), Some((77, &b""[..])));
        }
        assert_eq!(
            [addresses.name(0x8010, false), addresses.name(0x8010, true)],
            [None, Some(&b"Rescheduling interrupts"[..])]
        );
    }

    #[test]
    fn formats_are_read_as_the_kernel_writes_them() {
        let text = b"name: irq_handler_entry\nID: 141\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
                     \tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n\
                     \tfield:const void * function;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n\n\
                     print fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n";
        let (id, format) = Format::parse(text).unwrap();
        assert_eq!((id, format.kind), (141, Kind::find(b"irq_handler_entry")));
        let forms: Vec<_> = format
            .fields
            .iter()
            .map(|field| (&*field.name, field.offset, field.form))
            .collect();
        let right = [
            ("common_type", 0, Form::Number),
            ("irq", 8, Form::Number),
            ("name", 12, Form::Elsewhere { from_field: false }),
            ("function", 16, Form::Number),
            ("comm", 24, Form::Text),
        ];
        assert_eq!(forms, right);
        assert_eq!(
            number(&[0xff, 0xff, 0xff, 0xfe], true, true),
            Some(u64::MAX - 1)
        );
    }
}
