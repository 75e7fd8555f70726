//! The firmware's images: built of a checkout, or carried by the program.

use crate::carried;
use crate::target::TARGET;
use crate::{Error, Result};
use elf::ElfBytes;
use elf::abi::PT_LOAD;
use elf::endian::AnyEndian;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Build of the EL3 image.
#[derive(Clone, Copy, Debug)]
pub enum Build {
    /// With the stamps that PMF serves.
    Instrumented,
    /// Without any stamp.
    Plain,
    /// Leaves idle states 300 us late. No released program carries it.
    Late,
}

/// Flat images of EL3 and of the normal-world payload.
pub struct Images {
    /// For the start of the secure flash.
    pub firmware: PathBuf,
    /// For [`Images::ENTRY`].
    pub payload: PathBuf,
}

impl Images {
    /// Address of the payload, and of a kernel.
    pub const ENTRY: u64 = 0x6000_0000;

    /// Both images, optimised: of the checkout at `tree`, built unless they are up to date; without
    /// a checkout those that this program carries.
    ///
    /// # Errors
    /// There is no firmware in `tree`, or it does not build; there is no checkout, and the program
    /// carries none.
    pub fn find(tree: Option<&Path>, build: Build) -> Result<Self> {
        // A folder of its own for each build: neither undoes the other.
        let (carried, folder, features): (_, _, &[&str]) = match build {
            Build::Instrumented => ("el3", FOLDER, &[]),
            Build::Plain => (
                "el3-plain",
                "target/firmware-plain",
                &["--features", "plain"],
            ),
            Build::Late => ("el3-late", "target/firmware-late", &["--features", "late"]),
        };
        Ok(Self {
            firmware: image(tree, carried, folder, "el3", features)?,
            payload: image(tree, PAYLOAD, folder, PAYLOAD, &[])?,
        })
    }

    /// Says whether images can be had at all, without building anything.
    ///
    /// # Errors
    /// There is no checkout, and this program carries none.
    pub fn can_be_had(tree: Option<&Path>) -> Result {
        if tree.is_some() || carried::are_there() {
            Ok(())
        } else {
            Err(Error::Other(
                "the firmware is built from Stopwatt's source tree, which is not here: run in a checkout of Stopwatt, name one with --data, or \
                 take a released program, which has the images built in"
                    .to_owned(),
            ))
        }
    }

    /// True if this program carries images.
    pub fn are_carried() -> bool {
        carried::are_there()
    }

    /// The folder for what is fetched: `target/linux` of a checkout, or of the user's caches.
    pub fn linux_cache(tree: Option<&Path>) -> PathBuf {
        tree.map_or_else(
            || carried::cache().join("linux"),
            |tree| tree.join("target/linux"),
        )
    }

    /// The ELF file of the firmware, which names its functions.
    pub fn firmware_elf(&self) -> PathBuf {
        self.firmware.with_extension("")
    }

    /// The payload alone: the normal world for another firmware.
    ///
    /// # Errors
    /// As [`Images::find`].
    pub fn find_payload(tree: Option<&Path>) -> Result<PathBuf> {
        image(tree, PAYLOAD, FOLDER, PAYLOAD, &[])
    }
}

/// The folder of a checkout in which the instrumented image and the payload are built.
const FOLDER: &str = "target/firmware";

/// The payload's package, and its name among what this program carries.
const PAYLOAD: &str = "payload";

/// A flat image: of a package that is built in a folder of the checkout at `tree`, or without a
/// checkout the one that this program carries.
fn image(
    tree: Option<&Path>,
    carried: &str,
    folder: &str,
    package: &str,
    features: &[&str],
) -> Result<PathBuf> {
    let Some(root) = tree else {
        Images::can_be_had(None)?;
        return flatten(&carried::file(carried)?);
    };
    let workspace = root.join("firmware");
    if !workspace.join("Cargo.toml").is_file() {
        let cause = "not there: run in a checkout of Stopwatt, or name one with --data";
        return Err(Error::file(&workspace)(cause));
    }
    let folder = root.join(folder);
    cargo(&workspace, &folder, package, features)?;
    flatten(&folder.join(TARGET).join("release").join(package))
}

fn cargo(workspace: &Path, folder: &Path, package: &str, features: &[&str]) -> Result {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&program);
    command.current_dir(workspace).args([
        "build",
        "--release",
        "--locked",
        "--quiet",
        "--package",
        package,
    ]);
    command
        .args(features)
        .arg("--target")
        .arg(TARGET)
        .arg("--target-dir")
        .arg(folder);
    // Flags meant for programs of this machine do not fit firmware.
    command
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = command
        .output()
        .map_err(Error::start(&program.to_string_lossy(), "cargo"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(Error::Other(format!(
            "the firmware did not build (the Rust target it needs: rustup target add {TARGET}); cargo said:\n{}",
            tail(&output.stderr)
        )))
    }
}

/// The last lines of a program's output.
pub fn tail(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

/// Lays the loaded segments of an ELF file out as they lie in memory, beside the file.
fn flatten(path: &Path) -> Result<PathBuf> {
    let data = std::fs::read(path).map_err(Error::file(path))?;
    let wrong = Error::file::<String>(path);
    let elf =
        ElfBytes::<AnyEndian>::minimal_parse(&data).map_err(|error| wrong(error.to_string()))?;
    let headers = elf
        .segments()
        .ok_or_else(|| wrong("it has no program headers".to_owned()))?;
    let mut segments = Vec::new();
    for header in headers
        .iter()
        .filter(|header| header.p_type == PT_LOAD && header.p_filesz > 0)
    {
        let bytes = elf
            .segment_data(&header)
            .map_err(|error| wrong(error.to_string()))?;
        segments.push((header.p_paddr, bytes));
    }
    let begin = segments
        .iter()
        .map(|&(address, _)| address)
        .min()
        .ok_or_else(|| wrong("nothing to load".to_owned()))?;
    let mut image = Vec::new();
    for (address, bytes) in segments {
        let at = (address - begin) as usize;
        if at > 64 << 20 {
            return Err(wrong(format!(
                "a segment at {address:#x} is 64 MiB or more above the first"
            )));
        }
        image.resize(image.len().max(at + bytes.len()), 0);
        image[at..at + bytes.len()].copy_from_slice(bytes);
    }
    let output = path.with_extension("bin");
    // Another run may be reading the image: it is replaced whole, and only by another one.
    if std::fs::read(&output).is_ok_and(|known| known == image) {
        return Ok(output);
    }
    carried::write_whole(&output, |file| {
        file.write_all(&image).map_err(Error::file(&output))
    })?;
    Ok(output)
}
