//! Functions of an image by address, from the symbols of its ELF file.

use crate::Error;
use elf::ElfBytes;
use elf::abi::{EM_AARCH64, SHF_EXECINSTR, SHN_UNDEF, STT_FUNC, STT_NOTYPE};
use elf::endian::AnyEndian;
use std::path::Path;

/// Images larger than this are none.
const LARGEST: u64 = 256 << 20;

/// The functions of an ELF file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Begin, end and name, in order of begins; ends are those that the file says, or where the
    /// next one begins.
    functions: Vec<(u64, u64, String)>,
}

impl Symbols {
    /// Reads the symbols of an image for A64.
    ///
    /// # Errors
    /// The file cannot be read, is no ELF file, is of another machine, or has no symbols.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |cause: &str| Error::Image { path: path.to_owned(), cause: cause.to_owned() };
        let data = disk::read(path, LARGEST).map_err(Error::file(path))?;
        let not_elf = |_| wrong("it is no whole ELF file; name the one that the image was made of, such as bl31.elf");
        let elf = ElfBytes::<AnyEndian>::minimal_parse(&data).map_err(not_elf)?;
        if elf.ehdr.e_machine != EM_AARCH64 {
            return Err(wrong("it is of another machine than AArch64, whose images alone are counted"));
        }
        let damaged = |_| wrong("its table of sections or symbols cannot be read");
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
            .map_err(damaged)?
            .ok_or_else(|| wrong("it has no symbols; name the file from before it was stripped"))?;
        let mut functions = Vec::new();
        for symbol in table.iter().filter(|symbol| symbol.st_shndx != SHN_UNDEF) {
            let Some((_, section_end)) = executable(symbol.st_shndx) else { continue };
            let Ok(name) = names.get(symbol.st_name as usize) else { continue };
            // `$x` and `$d` say where instructions and data begin, and `.L` is the compiler's own.
            let is_label = symbol.st_symtype() == STT_NOTYPE && !name.is_empty() && !name.starts_with(['$', '.']);
            if symbol.st_symtype() == STT_FUNC || is_label {
                let end = if symbol.st_size > 0 { symbol.st_value + symbol.st_size } else { section_end };
                functions.push((
                    symbol.st_value,
                    end,
                    symbol.st_size > 0,
                    format!("{:#}", rustc_demangle::demangle(name)),
                ));
            }
        }
        if functions.is_empty() {
            return Err(wrong("it names no function; name the file from before it was stripped"));
        }
        // Of several names of an address, one with a length, and then the first in the alphabet.
        functions.sort_by(|a, b| a.0.cmp(&b.0).then(b.2.cmp(&a.2)).then(a.3.cmp(&b.3)));
        functions.dedup_by_key(|function| function.0);
        let begins: Vec<u64> = functions.iter().map(|function| function.0).chain([u64::MAX]).collect();
        let ends = functions.into_iter().zip(&begins[1..]);
        let functions = ends.map(|((begin, end, _, name), &next)| (begin, end.min(next), name)).collect();
        Ok(Self { functions })
    }

    /// The function that an address is in.
    pub fn at(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|(begin, ..)| *begin <= address);
        let (_, end, name) = self.functions.get(after.checked_sub(1)?)?;
        (address < *end).then_some(name.as_str())
    }

    /// The address of a function by its name.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.functions.iter().find(|(_, _, known)| known == name).map(|(begin, ..)| *begin)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|(.., name)| name.as_str())
    }
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
        assert!(Symbols::read(Path::new("not/there")).unwrap_err().to_string().starts_with("not/there: No such file"));
        // A program of this machine, with a name as Rust mangles it; with another machine's number
        // it would be AArch64's.
        let folder = tempfile::tempdir().unwrap();
        let (source, path) = (folder.path().join("program.c"), folder.path().join("image"));
        let text = "int _ZN4qemu5tests5wrong17h0123456789abcdefE(void) { return 1; }\nint main(void) { return 0; }\n";
        std::fs::write(&source, text).unwrap();
        assert!(Command::new("cc").arg(&source).arg("-o").arg(&path).status().unwrap().success());
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
        assert!(wrong(&stripped).contains("it has no sections"), "{}", wrong(&stripped));
        assert!(wrong(&other[..other.len() / 2]).contains("no whole ELF file"));
        std::fs::write(&path, &other).unwrap();
        let symbols = Symbols::read(&path).unwrap();
        let main = symbols.address("main").unwrap();
        assert_eq!((symbols.at(main), symbols.at(main + 1)), (Some("main"), Some("main")));
        assert!(symbols.names().any(|name| name.ends_with("tests::wrong")), "names are demangled");
    }
}
