//! Platforms and published figures: built into the program, or in a folder that overrides them.

use document::Error;
use experiment::{Files, Folder};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::path::{Path, PathBuf};

/// Every data file, by its path from the root of the data.
static BUILT_IN: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/data_files.rs"));

/// The data that is in force.
#[derive(Clone)]
pub enum Data {
    /// The data that the program was built with.
    BuiltIn,
    /// A folder with `platforms` and `published`.
    Folder(PathBuf),
}

impl Data {
    /// The given folder, or the nearest one above the working folder, that has both `platforms` and
    /// `published`, by itself or in a folder `data`; else what is built in.
    pub fn find(given: Option<&Path>) -> Result<Self> {
        // A checkout has its data in a folder of that name.
        let data_of = |folder: &Path| {
            [folder.to_owned(), folder.join("data")]
                .into_iter()
                .find(|folder| {
                    folder.join("platforms").is_dir() && folder.join("published").is_dir()
                })
        };
        if let Some(folder) = given {
            // Programs that build what lies there have working folders of their own.
            let whole = std::path::absolute(folder)
                .into_diagnostic()
                .wrap_err("cannot tell the working folder")?;
            return match data_of(&whole) {
                Some(data) => Ok(Self::Folder(data)),
                None => Err(miette!(
                    help = "give the folder that holds both, such as `data` of a Stopwatt checkout, or leave --data out",
                    "{} has no folders `platforms` and `published`",
                    folder.display()
                )),
            };
        }
        Ok(std::env::current_dir()
            .into_diagnostic()
            .wrap_err("cannot tell the working folder")?
            .ancestors()
            .find_map(data_of)
            .map_or(Self::BuiltIn, Self::Folder))
    }

    /// Which data is in force, in words.
    pub fn words(&self) -> String {
        match self {
            Self::BuiltIn => "built into this program".to_owned(),
            Self::Folder(folder) => folder.display().to_string(),
        }
    }

    /// The platform files.
    pub fn platforms(&self) -> Part {
        Part {
            data: self.clone(),
            folder: "platforms",
        }
    }

    /// The files of published figures.
    pub fn published(&self) -> Part {
        Part {
            data: self.clone(),
            folder: "published",
        }
    }

    /// The files of what documents state: those that are built in where a folder has none.
    pub fn claims(&self) -> Part {
        Part {
            data: Some(self)
                .filter(|data| data.folder().is_ok_and(|of| of.join("claims").is_dir()))
                .unwrap_or(&Self::BuiltIn)
                .clone(),
            folder: "claims",
        }
    }

    /// The folder of the data, for what is written into it.
    pub fn folder(&self) -> Result<&Path> {
        match self {
            Self::Folder(folder) => Ok(folder),
            Self::BuiltIn => Err(miette!(
                help = "run it in a checkout of Stopwatt, or name a folder with --data",
                "the data is built into the program, and nothing can be written there"
            )),
        }
    }

    /// The checkout that firmware can be built from: where the data is, or above the working
    /// folder.
    pub fn source_tree(&self) -> Option<PathBuf> {
        let is_checkout = |folder: &Path| folder.join("firmware/Cargo.toml").is_file();
        let here = std::env::current_dir().ok();
        let above = here.iter().flat_map(|here| here.ancestors());
        let data = match self {
            Self::Folder(folder) => Some(folder.as_path()),
            Self::BuiltIn => None,
        };
        data.into_iter()
            .flat_map(Path::ancestors)
            .chain(above)
            .find(|folder| is_checkout(folder))
            .map(Path::to_owned)
    }
}

/// One of the folders of the data.
pub struct Part {
    data: Data,
    folder: &'static str,
}

impl Files for Part {
    fn read(&self, path: &str) -> Result<String, Error> {
        match &self.data {
            Data::Folder(root) => Folder(root.join(self.folder)).read(path),
            Data::BuiltIn => {
                let name = format!("{}/{path}", self.folder);
                BUILT_IN
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, text)| (*text).to_owned())
                    .ok_or_else(|| {
                        Error::unreadable(
                            &self.shown(path),
                            "the program has no such file built in",
                        )
                    })
            }
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, Error> {
        match &self.data {
            Data::Folder(root) => Folder(root.join(self.folder)).list(folder),
            Data::BuiltIn => {
                let start = match folder {
                    "" => format!("{}/", self.folder),
                    _ => format!("{}/{folder}/", self.folder),
                };
                Ok(BUILT_IN
                    .iter()
                    .filter_map(|(name, _)| name.strip_prefix(start.as_str()))
                    .filter(|name| !name.contains('/'))
                    .map(str::to_owned)
                    .collect())
            }
        }
    }

    fn shown(&self, path: &str) -> String {
        match &self.data {
            Data::Folder(root) => Folder(root.join(self.folder)).shown(path),
            Data::BuiltIn => format!("{}/{path} (built in)", self.folder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_is_what_lies_in_the_checkout() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
        let (built_in, folder) = (Data::BuiltIn.platforms(), Data::Folder(root).platforms());
        for below in [
            "",
            "juno-r1",
            "juno-r1/releases",
            "juno-r1/costs",
            "macchiatobin/costs",
        ] {
            let names = folder.list(below).unwrap();
            assert_eq!(built_in.list(below).unwrap(), names, "{below}");
            for name in names {
                let path = if below.is_empty() {
                    name
                } else {
                    format!("{below}/{name}")
                };
                assert_eq!(
                    built_in.read(&path).unwrap(),
                    folder.read(&path).unwrap(),
                    "{path}"
                );
            }
        }
        assert!(
            built_in
                .read("nowhere.toml")
                .unwrap_err()
                .to_string()
                .contains("no such file built in")
        );
    }
}
