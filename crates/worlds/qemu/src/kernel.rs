//! Linux kernels other than that of the machine's suite.

use crate::carried::write_whole;
use crate::debian::{self, Packages};
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The kernel that a guest boots.
#[derive(Clone, Debug, PartialEq)]
pub enum Kernel {
    /// The newest of Debian's kernels for arm64 whose version starts with these numbers.
    Version(Vec<u64>),
    /// An image.
    File(PathBuf),
}

/// The bytes at the beginning of an image by which the boot protocol of arm64 knows it, and where
/// they are.
const MAGIC: (&[u8], usize) = (b"ARM\x64", 56);

impl Kernel {
    /// Reads a version such as 6.12, or the name of a file that is there.
    ///
    /// # Errors
    /// It is neither, or the file is no kernel's image for arm64.
    pub fn parse(text: &str) -> Result<Self, String> {
        let path = Path::new(text);
        if path.is_file() {
            let start = std::fs::read(path).map_err(|error| format!("{text}: {error}"))?;
            let (magic, at) = MAGIC;
            return if start.get(at..at + magic.len()) == Some(magic) {
                Ok(Self::File(path.to_owned()))
            } else {
                Err(format!(
                    "{text} is no image of a kernel for arm64 (`Image`, not compressed)"
                ))
            };
        }
        match numbers(text) {
            Some((numbers, "")) => Ok(Self::Version(numbers)),
            _ => Err(format!(
                "{text} is neither a version, such as 6.12, nor a file"
            )),
        }
    }

    /// The image and a name of the kernel. What `cache` has already is not fetched again.
    ///
    /// # Errors
    /// None of Debian's kernels has the version, or it cannot be fetched.
    pub fn fetch(&self, cache: &Path) -> Result<(PathBuf, String)> {
        let version = match self {
            Self::File(path) => return Ok((path.clone(), path.display().to_string())),
            Self::Version(version) => version,
        };
        let packages = Packages::of_suites(cache)?;
        if let Some(image) = newest(&images(&packages.folder)?, version) {
            let named = packages.folder.join(&image);
            return Ok((named.clone(), debian::version(&named)));
        }
        packages.update()?;
        let mut known = packages.names("linux-image-")?;
        // Newer suites have the image in a package of its own.
        known.extend(packages.names("linux-binary-")?);
        let name = newest(&known, version).ok_or_else(|| {
            let known = versions(&known).join(", ");
            Error::fetch(
                format!("a kernel {}", shown(version)),
                format!("the suites have {known}"),
            )
        })?;
        packages.download(&name)?;
        let package = packages
            .find(&format!("{name}_"))?
            .ok_or_else(|| Error::fetch(name, "the package is not there"))?;
        let image = package.with_extension("image");
        unpack_image(&package, &image)?;
        std::fs::remove_file(&package).map_err(Error::file(&package))?;
        Ok((image.clone(), debian::version(&image)))
    }
}

/// The numbers at the beginning of a version, and what follows.
fn numbers(text: &str) -> Option<(Vec<u64>, &str)> {
    let mut numbers = Vec::new();
    let mut rest = text;
    loop {
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        numbers.push(rest[..end].parse().ok()?);
        rest = &rest[end..];
        match rest.strip_prefix('.') {
            Some(next) if next.starts_with(|c: char| c.is_ascii_digit()) => rest = next,
            _ => return Some((numbers, rest)),
        }
    }
}

fn shown(version: &[u64]) -> String {
    let numbers: Vec<_> = version.iter().map(u64::to_string).collect();
    numbers.join(".")
}

/// The order of a package among kernels: version, Debian's own number, and whether the package is
/// one of the image alone. `None` where the package is another's: of other flavours, of debugging
/// symbols.
fn rank(name: &str) -> Option<(Vec<u64>, u64, bool)> {
    let name = name.split('_').next()?;
    let alone = name.strip_prefix("linux-binary-");
    let named = alone.or_else(|| name.strip_prefix("linux-image-"))?;
    let (version, rest) = numbers(named.strip_suffix("-arm64")?)?;
    let number = match rest.strip_prefix('-') {
        // 6.1.0-50: the second number grows with each release that modules must be built for.
        Some(number) => number.parse().ok()?,
        None if rest.is_empty() || (rest.starts_with('+') && !rest.contains('-')) => 0,
        None => return None,
    };
    Some((version, number, alone.is_some()))
}

/// The newest of these packages whose version starts so.
fn newest(names: &[String], version: &[u64]) -> Option<String> {
    names
        .iter()
        .filter_map(|name| Some((rank(name)?, name)))
        .filter(|((numbers, ..), _)| numbers.starts_with(version))
        .max()
        .map(|(_, name)| name.clone())
}

/// The versions of these packages, in their order.
fn versions(names: &[String]) -> Vec<String> {
    let mut all: Vec<_> = names
        .iter()
        .filter_map(|name| rank(name))
        .map(|(version, ..)| version)
        .collect();
    all.sort();
    all.dedup();
    all.iter().map(|version| shown(version)).collect()
}

/// The names of the images that were fetched before.
fn images(folder: &Path) -> Result<Vec<String>> {
    Ok(std::fs::read_dir(folder)
        .map_err(Error::file(folder))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".image"))
        .collect())
}

/// Writes the kernel's image of a package, whole or not at all.
fn unpack_image(package: &Path, image: &Path) -> Result {
    write_whole(image, |file| {
        let output = file.try_clone().map_err(Error::file(image))?;
        let mut archive = Command::new("dpkg-deb")
            .arg("--fsys-tarfile")
            .arg(package)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Error::start("dpkg-deb", "dpkg"))?;
        let from = archive.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let wanted = ["--extract", "--to-stdout", "--wildcards", "*/vmlinuz*"];
        let unpacked = Command::new("tar")
            .args(wanted)
            .stdin(from)
            .stdout(output)
            .status()
            .map_err(Error::start("tar", "tar"))?;
        let read = archive.wait().map_err(Error::file(package))?;
        if !unpacked.success() || !read.success() {
            return Err(Error::fetch(
                package.display().to_string(),
                "it has no image of a kernel",
            ));
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_of_a_version_is_found_among_all_packages() {
        let names = [
            "linux-image-6.1.0-47-arm64",
            "linux-image-6.1.0-50-arm64",
            "linux-image-6.1.0-50-rt-arm64",
            "linux-image-6.1.0-50-arm64-dbg",
            "linux-image-6.12.107+deb13-arm64",
            "linux-image-6.12.117+deb13-arm64",
            "linux-image-6.12.117+deb13-cloud-arm64",
            "linux-image-7.2.13+deb14-arm64",
            "linux-binary-7.2.13+deb14-arm64",
            "linux-image-7.2.13+deb14-arm64-16k",
            "linux-image-arm64",
        ]
        .map(str::to_owned);
        let newest = |version: &[u64]| newest(&names, version);
        assert_eq!(
            newest(&[6, 1]).as_deref(),
            Some("linux-image-6.1.0-50-arm64")
        );
        assert_eq!(
            newest(&[6, 12]).as_deref(),
            Some("linux-image-6.12.117+deb13-arm64")
        );
        assert_eq!(
            newest(&[6, 12, 107]).as_deref(),
            Some("linux-image-6.12.107+deb13-arm64")
        );
        assert_eq!(
            newest(&[7]).as_deref(),
            Some("linux-binary-7.2.13+deb14-arm64")
        );
        assert_eq!(newest(&[6, 13]), None);
        assert_eq!(
            versions(&names),
            ["6.1.0", "6.12.107", "6.12.117", "7.2.13"]
        );
    }

    #[test]
    fn a_kernel_is_a_version_or_an_image_for_arm64() {
        assert_eq!(Kernel::parse("6.12"), Ok(Kernel::Version(vec![6, 12])));
        for wrong in ["", "6.", "six", "6.12-rc1", "/no/such/image"] {
            assert!(
                Kernel::parse(wrong)
                    .unwrap_err()
                    .contains("neither a version"),
                "{wrong}"
            );
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [0; 64]).unwrap();
        assert!(
            Kernel::parse(&file.path().display().to_string())
                .unwrap_err()
                .contains("no image")
        );
    }
}
