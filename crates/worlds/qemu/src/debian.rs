//! Packages of Debian for arm64, fetched with an apt configuration of their own: the machine's dpkg
//! architectures stay as they are.

use crate::images::tail;
use crate::{Error, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder in which the kernel's and busybox's packages are unpacked.
pub fn unpacked(cache: &Path) -> PathBuf {
    cache.join("unpacked")
}

pub fn create_folder(folder: &Path) -> Result {
    std::fs::create_dir_all(folder).map_err(Error::file(folder))
}

/// A folder of packages.
pub struct Packages {
    cache: PathBuf,
    /// The place of the packages.
    pub folder: PathBuf,
    sources: PathBuf,
}

/// The machine's own list of Debian's packages, where it has one.
const DEBIAN_SOURCES: &str = "/etc/apt/sources.list.d/debian.sources";

/// The suites of Debian in which a kernel of a version is looked for.
const SUITES: [&str; 4] = ["bookworm", "trixie", "trixie-backports", "sid"];

const KEY: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

impl Packages {
    /// The folder of that name in `cache`, which is made if it is not there.
    pub fn open(cache: &Path, name: &str) -> Result<Self> {
        // apt is started in a folder of its own.
        let cache = std::path::absolute(cache).map_err(Error::file(cache))?;
        for folder in ["state/lists/partial", "apt/archives/partial", name] {
            create_folder(&cache.join(folder))?;
        }
        Ok(Self {
            folder: cache.join(name),
            cache,
            sources: DEBIAN_SOURCES.into(),
        })
    }

    /// The folder `kernels` in `cache`, for packages of several suites of Debian. They come from
    /// where the machine takes Debian's packages.
    pub fn of_suites(cache: &Path) -> Result<Self> {
        let own = Self::open(&cache.join("kernels"), "packages")?;
        let place = std::fs::read_to_string(DEBIAN_SOURCES)
            .map_err(Error::file(Path::new(DEBIAN_SOURCES)))?
            .lines()
            .find_map(|line| {
                Some(
                    line.strip_prefix("URIs:")?
                        .split_whitespace()
                        .next()?
                        .to_owned(),
                )
            })
            .ok_or_else(|| {
                let cause = format!("{DEBIAN_SOURCES} has no line `URIs:`");
                Error::fetch("kernels of other suites", cause)
            })?;
        let sources = own.cache.join("sources.list");
        let lines: String = SUITES
            .iter()
            .map(|suite| format!("deb [signed-by={KEY}] {place} {suite} main\n"))
            .collect();
        std::fs::write(&sources, lines).map_err(Error::file(&sources))?;
        Ok(Self { sources, ..own })
    }

    /// The names of all packages that start so.
    pub fn names(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self
            .apt("apt-cache", &format!("pkgnames {prefix}"))?
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// The package whose file name starts so; the last one if there are several.
    pub fn find(&self, prefix: &str) -> Result<Option<PathBuf>> {
        find(&self.folder, prefix)
    }

    /// Learns what Debian has today.
    pub fn update(&self) -> Result {
        self.apt("apt-get", "update -q").map(drop)
    }

    /// The packages that these need, one level deep.
    pub fn depends(&self, names: &str) -> Result<Vec<String>> {
        Ok(self.apt(
            "apt-cache",
            &format!(
                "depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
                 --no-enhances {names}"
            ),
        )?
            .lines()
            .filter_map(|line| line.trim().trim_start_matches('|').split_once("Depends: ")).map(|(_, name)| name.to_owned()).collect())
    }

    /// A package and all libraries that it needs, in the order of their names. What else it needs
    /// is left out: interpreters, and what sets a system up.
    pub fn with_libraries(&self, name: &str) -> Result<Vec<String>> {
        let mut new = vec![name.to_owned()];
        let mut all = BTreeSet::from_iter(new.clone());
        while !new.is_empty() {
            let depends = self.depends(&new.join(" "))?;
            new = depends
                .into_iter()
                .filter(|name| name.contains("lib") && all.insert(name.clone()))
                .collect();
        }
        Ok(all.into_iter().collect())
    }

    /// Downloads packages, whose names are parted by blanks.
    pub fn download(&self, names: &str) -> Result {
        self.apt("apt-get", &format!("download -q {names}"))
            .map(drop)
    }

    /// What a program of apt says, which is called with the words of a line.
    fn apt(&self, program: &'static str, line: &str) -> Result<String> {
        let folder = |name: &str| self.cache.join(name).display().to_string();
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env("LC_ALL", "C");
        for (key, value) in [
            ("APT::Architecture", "arm64".to_owned()),
            ("APT::Architectures", "arm64".to_owned()),
            ("APT::Sandbox::User", String::new()),
            ("Dir::State", folder("state")),
            ("Dir::State::status", "/dev/null".to_owned()),
            ("Dir::Cache", folder("apt")),
        ] {
            command.arg("-o").arg(format!("{key}={value}"));
        }
        // Debian's own sources only: others of the machine may have no arm64.
        if self.sources.exists() {
            command.args([
                "-o",
                &format!("Dir::Etc::sourcelist={}", self.sources.display()),
                "-o",
                "Dir::Etc::sourceparts=-",
            ]);
        }
        said(
            command.args(line.split_whitespace()),
            (program, "apt"),
            line,
        )
    }
}

/// The file in `folder` whose name starts so; the last one if there are several.
pub fn find(folder: &Path, prefix: &str) -> Result<Option<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(Error::file(folder))?;
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(prefix))
        })
        .collect();
    found.sort();
    Ok(found.pop())
}

/// Unpacks a package into a folder.
pub fn unpack(package: &Path, folder: &Path) -> Result {
    let mut command = Command::new("dpkg-deb");
    command.arg("-x").arg(package).arg(folder);
    let what = package.display().to_string();
    said(&mut command, ("dpkg-deb", "dpkg"), &what).map(drop)
}

/// What a program prints, which a package has; `what` is fetched by it.
fn said(
    command: &mut Command,
    (program, package): (&'static str, &'static str),
    what: &str,
) -> Result<String> {
    let output = command.output().map_err(Error::start(program, package))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(Error::fetch(what, tail(&output.stderr)))
    }
}

/// Name and version of a package, from its file's name.
pub fn version(package: &Path) -> String {
    let name = package
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .replace("%3a", ":");
    name.strip_suffix("_arm64")
        .or_else(|| name.strip_suffix("_all"))
        .unwrap_or(&name)
        .replacen('_', " ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packages_name_and_version_are_those_of_its_file() {
        let version = |name: &str| version(Path::new(name));
        assert_eq!(
            version("packages/rt-tests_2.4-1_arm64.deb"),
            "rt-tests 2.4-1"
        );
        assert_eq!(
            version("libasound2-data_1.2.8-1_all.deb"),
            "libasound2-data 1.2.8-1"
        );
        assert_eq!(
            version("busybox-static_1%3a1.35.0-4_arm64.deb"),
            "busybox-static 1:1.35.0-4"
        );
    }
}
