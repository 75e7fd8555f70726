//! Programs of Debian for the guest, each with the libraries that it needs.

use crate::debian::{self, Packages, create_folder};
use crate::initramfs::Entry;
use crate::{Error, Result};
use elf::ElfBytes;
use elf::abi::DT_NEEDED;
use elf::endian::AnyEndian;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Names the packages that were fetched. Written when all are there.
const LIST: &str = "fetched";

/// Version of a package, and the files: the program at a path in it, and the libraries that it loads.
/// The packages are in the folder of a name.
pub fn files(
    name: &str,
    [package, path]: [&str; 2],
    cache: &Path,
) -> Result<(Option<String>, Vec<Entry>)> {
    let root = cache.join(name).join("unpacked");
    let version = fetch(name, package, cache, &root)?;
    let mut entries: Vec<Entry> = ["lib", "modules", "tmp", "usr", "usr/share"]
        .into_iter()
        .map(Entry::folder)
        .collect();
    let path = root.join(path);
    let mut libraries = BTreeSet::from_iter(needed(&path)?);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    entries.push(Entry::copy(&format!("bin/{name}"), &path)?);
    let mut found = BTreeSet::new();
    while let Some(name) = libraries.pop_first() {
        if found.insert(name.clone()) {
            let path = library(&root, &name)?;
            libraries.extend(needed(&path)?);
            entries.push(Entry::copy(&format!("lib/{name}"), &path)?);
        }
    }
    Ok((version, entries))
}

/// Fetches and unpacks what is not there yet.
fn fetch(folder: &str, package: &str, cache: &Path, root: &Path) -> Result<Option<String>> {
    let packages = Packages::open(cache, folder)?;
    let list = packages.folder.join(LIST);
    if !list.exists() {
        packages.update()?;
        let names = packages.with_libraries(package)?;
        packages.download(&names.join(" "))?;
        create_folder(root)?;
        for name in &names {
            let package = packages.find(&format!("{name}_"))?.ok_or_else(|| {
                Error::fetch(name, "the package is not there after it was downloaded")
            })?;
            debian::unpack(&package, root)?;
        }
        std::fs::write(&list, names.join("\n")).map_err(Error::file(&list))?;
    }
    let package = packages.find(&format!("{package}_"))?;
    Ok(package.map(|package| debian::version(&package)))
}

/// The libraries that a program or library names.
fn needed(path: &Path) -> Result<Vec<String>> {
    let bytes = std::fs::read(path).map_err(Error::file(path))?;
    let wrong = Error::file::<elf::ParseError>(path);
    let file = ElfBytes::<AnyEndian>::minimal_parse(&bytes).map_err(wrong)?;
    let Some(names) = file.section_header_by_name(".dynstr").map_err(wrong)? else {
        return Ok(Vec::new());
    };
    let names = file.section_data_as_strtab(&names).map_err(wrong)?;
    file.dynamic()
        .map_err(wrong)?
        .into_iter()
        .flat_map(|table| table.iter())
        .filter(|entry| entry.d_tag == DT_NEEDED)
        .map(|entry| Ok(names.get(entry.d_val() as usize).map_err(wrong)?.to_owned()))
        .collect()
}

/// A library, in the usual folders or in a folder of its package's own within them.
fn library(root: &Path, name: &str) -> Result<PathBuf> {
    let usual =
        ["lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu"].map(|folder| root.join(folder));
    let inner = usual
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten();
    usual
        .iter()
        .cloned()
        .chain(inner.map(|entry| entry.path()))
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| Error::fetch(name, "no package that was fetched has this library"))
}
