//! Functions of an image by address, from the symbols of its ELF file.

use crate::Error;
use elf::ElfBytes;
use elf::abi::{EM_AARCH64, SHF_EXECINSTR, SHN_UNDEF, STB_GLOBAL, STT_FUNC, STT_NOTYPE};
use elf::endian::AnyEndian;
use std::cmp::Reverse;
use std::path::Path;

/// Images larger than this are none.
const LARGEST: u64 = 256 << 20;

/// The functions of an ELF file.
#[derive(Debug)]
pub struct Symbols {
    /// Begin, end and name, in order of begins. A function that has another one inside stands in
    /// parts.
    functions: Vec<(u64, u64, String)>,
}

/// A name of an address.
struct Symbol {
    begin: u64,
    /// The end, where the file has one.
    end: Option<u64>,
    section_end: u64,
    is_global: bool,
    name: String,
}

impl Symbols {
    /// Reads the symbols of an image for A64.
    ///
    /// # Errors
    /// The file cannot be read, is no ELF file, is of another machine, or has no symbols.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = Error::file::<&str>(path);
        let data = disk::read(path, LARGEST).map_err(Error::file(path))?;
        let elf = ElfBytes::<AnyEndian>::minimal_parse(&data).map_err(|_| {
            wrong(
                "it is no whole ELF file; name the one that the image was made of, such as bl31.elf",
            )
        })?;
        if elf.ehdr.e_machine != EM_AARCH64 {
            return Err(wrong(
                "it is of another machine than AArch64, whose images alone are counted",
            ));
        }
        let sections = elf.section_headers().ok_or_else(|| {
            wrong("it has no sections, and so no names of functions; name the file from before it was stripped")
        })?;
        let executable = |index: u16| {
            let section = sections.get(usize::from(index)).ok()?;
            (section.sh_flags & u64::from(SHF_EXECINSTR) != 0)
                .then_some((section.sh_addr, section.sh_addr + section.sh_size))
        };
        let (table, names) = elf
            .symbol_table()
            .map_err(|_| wrong("its table of sections or symbols cannot be read"))?
            .ok_or_else(|| wrong("it has no symbols; name the file from before it was stripped"))?;
        let (mut sized, mut labels) = (Vec::new(), Vec::new());
        for symbol in table.iter().filter(|symbol| symbol.st_shndx != SHN_UNDEF) {
            let Some((_, section_end)) = executable(symbol.st_shndx) else {
                continue;
            };
            let Ok(name) = names.get(symbol.st_name as usize) else {
                continue;
            };
            let (begin, is_function) = (symbol.st_value, symbol.st_symtype() == STT_FUNC);
            // `$x` and `$d` say where instructions and data begin, and `.L` is the compiler's own.
            let is_label = symbol.st_symtype() == STT_NOTYPE
                && !name.is_empty()
                && !name.starts_with(['$', '.']);
            if is_function || is_label {
                let end = (symbol.st_size > 0).then(|| begin.saturating_add(symbol.st_size));
                let name = format!("{:#}", rustc_demangle::demangle(name));
                let symbol = Symbol {
                    begin,
                    end,
                    section_end,
                    is_global: symbol.st_bind() == STB_GLOBAL,
                    name,
                };
                if is_function && end.is_some() {
                    sized.push(symbol)
                } else {
                    labels.push(symbol)
                }
            }
        }
        let mut functions = parts(sized);
        add_labels(&mut functions, labels);
        if functions.is_empty() {
            return Err(wrong(
                "it names no function; name the file from before it was stripped",
            ));
        }
        Ok(Self { functions })
    }

    /// The function that an address is in.
    pub fn at(&self, address: u64) -> Option<&str> {
        let after = self
            .functions
            .partition_point(|(begin, ..)| *begin <= address);
        let (_, end, name) = self.functions.get(after.checked_sub(1)?)?;
        (address < *end).then_some(name.as_str())
    }

    /// The address of a function by its name.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.functions
            .iter()
            .find(|(_, _, known)| known == name)
            .map(|(begin, ..)| *begin)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|(.., name)| name.as_str())
    }
}

/// Parts of functions whose lengths the file has: an address belongs to the innermost function
/// around it.
fn parts(mut sized: Vec<Symbol>) -> Vec<(u64, u64, String)> {
    // Of several names of an address, a global one, and then the first in the alphabet.
    sized.sort_by(|a, b| {
        let key = |of: &Symbol| (of.begin, Reverse(of.end), !of.is_global);
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    sized.dedup_by_key(|function| function.begin);
    let mut parts: Vec<(u64, u64, String)> = Vec::new();
    // Functions around the place, the innermost last.
    let mut open: Vec<(u64, String)> = Vec::new();
    let mut place = 0;
    let last = Symbol {
        begin: u64::MAX,
        end: None,
        section_end: 0,
        is_global: false,
        name: String::new(),
    };
    for function in sized.into_iter().chain([last]) {
        while let Some((end, name)) = open.pop() {
            let until = end.min(function.begin);
            if place < until {
                parts.push((place, until, name.clone()));
                place = until;
            }
            if end > function.begin {
                open.push((end, name));
                break;
            }
        }
        place = function.begin;
        open.extend(function.end.map(|end| (end, function.name)));
    }
    parts
}

/// Adds labels where no function is, each up to the next name.
fn add_labels(functions: &mut Vec<(u64, u64, String)>, mut labels: Vec<Symbol>) {
    let is_inside = |label: &Symbol| {
        functions
            .partition_point(|(begin, ..)| *begin <= label.begin)
            .checked_sub(1)
            .is_some_and(|at| label.begin < functions[at].1)
    };
    labels.retain(|label| !is_inside(label));
    labels.sort_by(|a, b| {
        a.begin
            .cmp(&b.begin)
            .then(b.end.cmp(&a.end))
            .then_with(|| a.name.cmp(&b.name))
    });
    labels.dedup_by_key(|label| label.begin);
    let mut begins: Vec<u64> = labels.iter().map(|label| label.begin).collect();
    begins.extend(functions.iter().map(|(begin, ..)| *begin));
    begins.sort_unstable();
    functions.extend(labels.into_iter().map(|label| {
        let next = begins
            .get(begins.partition_point(|begin| *begin <= label.begin))
            .copied()
            .unwrap_or(u64::MAX);
        (
            label.begin,
            label.end.unwrap_or(label.section_end).min(next),
            label.name,
        )
    }));
    functions.sort_by_key(|(begin, ..)| *begin);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The error of a file of these bytes.
    fn wrong(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        std::fs::write(&path, bytes).unwrap();
        Symbols::read(&path).unwrap_err().to_string()
    }

    #[test]
    fn files_without_functions_are_refused_with_what_would_be_right() {
        assert!(wrong(b"text").contains("no whole ELF file; name the one"));
        assert!(
            Symbols::read(Path::new("not/there"))
                .unwrap_err()
                .to_string()
                .starts_with("not/there: No such file")
        );
        // A program of this machine, with a name as Rust mangles it; with another machine's number
        // it would be AArch64's.
        let folder = tempfile::tempdir().unwrap();
        let (source, path) = (folder.path().join("program.c"), folder.path().join("image"));
        let text = "int _ZN4qemu5tests5wrong17h0123456789abcdefE(void) { return 1; }\nint main(void) { return 0; }\n";
        std::fs::write(&source, text).unwrap();
        assert!(
            Command::new("cc")
                .arg(&source)
                .arg("-o")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        let program = std::fs::read(&path).unwrap();
        if cfg!(target_arch = "x86_64") {
            assert!(wrong(&program).contains("of another machine than AArch64"));
        }
        let mut other = program.clone();
        other[18..20].copy_from_slice(&EM_AARCH64.to_le_bytes());
        // The offset, the number and the names' place of its sections are 0: as if they were cut
        // off.
        let mut stripped = other.clone();
        stripped[40..48].fill(0);
        stripped[60..64].fill(0);
        assert!(
            wrong(&stripped).contains("it has no sections"),
            "{}",
            wrong(&stripped)
        );
        assert!(wrong(&other[..other.len() / 2]).contains("no whole ELF file"));
        std::fs::write(&path, &other).unwrap();
        let symbols = Symbols::read(&path).unwrap();
        let main = symbols.address("main").unwrap();
        assert_eq!(
            (symbols.at(main), symbols.at(main + 1)),
            (Some("main"), Some("main"))
        );
        assert!(
            symbols.names().any(|name| name.ends_with("tests::wrong")),
            "names are demangled"
        );
    }
    #[test]
    fn a_sized_function_owns_its_range_and_labels_count_elsewhere() {
        let of = |begin, end: Option<u64>, name: &str| Symbol {
            begin,
            end,
            section_end: 100,
            is_global: name == "exit",
            name: name.to_owned(),
        };
        let mut functions = parts(vec![
            of(10, Some(30), "exit"),
            of(10, Some(30), "alias"),
            of(14, Some(18), "inner"),
            of(16, Some(17), "innermost"),
            of(40, Some(44), "last"),
        ]);
        let labels = [
            (2, None, "start"),
            (10, None, "same"),
            (20, None, "no_mpam"),
            (30, None, "end"),
            (50, Some(52), "stub"),
        ];
        add_labels(
            &mut functions,
            labels.map(|(begin, end, name)| of(begin, end, name)).into(),
        );
        let symbols = Symbols { functions };
        let at = [
            1, 2, 9, 10, 13, 14, 16, 17, 18, 20, 29, 30, 39, 40, 44, 50, 52,
        ]
        .map(|at| symbols.at(at).unwrap_or("-"));
        let right =
            "- start start exit exit inner innermost inner exit exit exit end end last - stub -";
        assert_eq!(at.join(" "), right);
        assert_eq!(symbols.address("exit"), Some(10));
    }
}
