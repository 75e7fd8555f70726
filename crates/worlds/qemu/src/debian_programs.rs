//! Programs of Debian for the guest: real-time tests, a benchmark and a player of sound, with the
//! libraries that they need.

use crate::Error;
use crate::debian::{self, Packages, create_folder, unpacked};
use crate::initramfs::Entry;
use elf::ElfBytes;
use elf::abi::DT_NEEDED;
use elf::endian::AnyEndian;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Programs: the package, and where it has them.
const PROGRAMS: [(&str, &str); 3] =
    [("rt-tests", "usr/bin/cyclictest"), ("sysbench", "usr/bin/sysbench"), ("alsa-utils", "usr/bin/aplay")];
/// Data that a library reads: the sound library its settings.
const DATA: &str = "usr/share/alsa";
/// Modules of the kernel's package that make a sound card without hardware, in the order in which
/// they are to be loaded.
const MODULES: [&str; 5] =
    ["soundcore.ko", "core/snd.ko", "core/snd-timer.ko", "core/snd-pcm.ko", "drivers/snd-aloop.ko"];
/// Names the packages that were fetched. Written when all are there.
const LIST: &str = "fetched";

/// Versions of the packages, and the files: programs, the libraries that they load, data, modules.
pub(crate) fn files(cache: &Path) -> Result<(Vec<String>, Vec<Entry>), Error> {
    let root = cache.join("programs/unpacked");
    let versions = fetch(cache, &root)?;
    let mut entries: Vec<Entry> =
        ["lib", "modules", "tmp", "usr", "usr/share"].into_iter().map(Entry::folder).collect();
    let mut wanted = BTreeSet::new();
    for (_, program) in PROGRAMS {
        let path = root.join(program);
        wanted.extend(needed(&path)?);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        entries.push(Entry::copy(&format!("bin/{name}"), &path)?);
    }
    let mut found = BTreeSet::new();
    while let Some(name) = wanted.pop_first() {
        if found.insert(name.clone()) {
            let path = library(&root, &name)?;
            wanted.extend(needed(&path)?);
            entries.push(Entry::copy(&format!("lib/{name}"), &path)?);
        }
    }
    folder(&root, DATA, &mut entries)?;
    entries.extend(modules(cache)?);
    Ok((versions, entries))
}

/// Fetches and unpacks what is not there yet.
fn fetch(cache: &Path, root: &Path) -> Result<Vec<String>, Error> {
    let packages = Packages::open(cache, "programs")?;
    let list = packages.folder().join(LIST);
    if !list.exists() {
        packages.update()?;
        let names = packages.with_libraries(&PROGRAMS.map(|(package, _)| package))?;
        packages.download(&names)?;
        create_folder(root)?;
        for name in &names {
            let package = packages.find(&format!("{name}_"))?.ok_or_else(|| Error::Fetch {
                what: name.clone(),
                output: "the package is not there after it was downloaded".to_owned(),
            })?;
            debian::unpack(&package, root)?;
        }
        std::fs::write(&list, names.join("\n")).map_err(Error::file(&list))?;
    }
    let versions = PROGRAMS.map(|(name, _)| Ok(packages.find(&format!("{name}_"))?.as_deref().map(debian::version)));
    Ok(versions.into_iter().collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect())
}

/// The libraries that a program or library names.
fn needed(path: &Path) -> Result<Vec<String>, Error> {
    let bytes = std::fs::read(path).map_err(Error::file(path))?;
    let wrong = |error: elf::ParseError| Error::Image { path: path.to_owned(), cause: error.to_string() };
    let file = ElfBytes::<AnyEndian>::minimal_parse(&bytes).map_err(wrong)?;
    let Some(names) = file.section_header_by_name(".dynstr").map_err(wrong)? else { return Ok(Vec::new()) };
    let names = file.section_data_as_strtab(&names).map_err(wrong)?;
    let dynamic = file.dynamic().map_err(wrong)?.into_iter().flat_map(|table| table.iter());
    let needed = dynamic.filter(|entry| entry.d_tag == DT_NEEDED);
    needed.map(|entry| Ok(names.get(entry.d_val() as usize).map_err(wrong)?.to_owned())).collect()
}

fn library(root: &Path, name: &str) -> Result<PathBuf, Error> {
    let places = ["lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu"].map(|folder| root.join(folder).join(name));
    places.into_iter().find(|path| path.exists()).ok_or_else(|| Error::Fetch {
        what: name.to_owned(),
        output: "no package that was fetched has this library".to_owned(),
    })
}

/// A folder with all that is in it.
fn folder(root: &Path, name: &str, entries: &mut Vec<Entry>) -> Result<(), Error> {
    entries.push(Entry::folder(name));
    let path = root.join(name);
    let mut names: Vec<_> = std::fs::read_dir(&path).map_err(Error::file(&path))?.flatten().collect();
    names.sort_by_key(std::fs::DirEntry::file_name);
    for entry in names {
        let inner = format!("{name}/{}", entry.file_name().to_string_lossy());
        match entry.path() {
            path if path.is_dir() => folder(root, &inner, entries)?,
            path if path.exists() => entries.push(Entry::copy(&inner, &path)?),
            _ => {}
        }
    }
    Ok(())
}

/// The sound modules, with names that say their order. A kernel without one of them has none of
/// those after it either.
fn modules(cache: &Path) -> Result<Vec<Entry>, Error> {
    let Some(kernel) = debian::find(&unpacked(cache).join("lib/modules"), "")? else { return Ok(Vec::new()) };
    let paths = MODULES.map(|module| kernel.join("kernel/sound").join(module));
    let there = paths.iter().take_while(|path| path.exists()).enumerate();
    let named = there.map(|(number, path)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Entry::copy(&format!("modules/{number}-{name}"), path)
    });
    named.collect()
}
