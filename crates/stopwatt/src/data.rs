//! Where platforms and references are.

use miette::{IntoDiagnostic, WrapErr, miette};
use published::PsciReference;
use soc::config::{Document, Platform, Sources};
use std::path::{Path, PathBuf};

/// The folder that holds `platforms` and `published`.
pub struct DataFolder {
    root: PathBuf,
}

impl DataFolder {
    /// The given folder, or the nearest one above the working folder, or the one that this program was built from.
    pub fn find(given: Option<&Path>) -> miette::Result<Self> {
        let holds_data = |folder: &Path| folder.join("platforms").is_dir() && folder.join("published").is_dir();
        if let Some(folder) = given {
            return match holds_data(folder) {
                true => Ok(Self { root: folder.to_owned() }),
                false => Err(miette!(
                    help = "give the folder that holds both, such as the root of a Stopwatt checkout",
                    "{} has no folders `platforms` and `published`",
                    folder.display()
                )),
            };
        }
        let here = std::env::current_dir().into_diagnostic().wrap_err("cannot tell the working folder")?;
        let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let found = here.ancestors().map(Path::to_owned).chain([built_from]).find(|folder| holds_data(folder));
        found.map(|root| Self { root }).ok_or_else(|| {
            miette!(
                help = "run in a Stopwatt checkout, or say where the data is with --data DIR",
                "no folders `platforms` and `published` here or above"
            )
        })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Names of the platforms that have releases.
    pub fn platforms(&self) -> miette::Result<Vec<String>> {
        let names = stems(&self.root.join("platforms"))?;
        Ok(names.into_iter().filter(|name| self.platform_folder(name).join("releases").is_dir()).collect())
    }

    /// Names of a platform's releases.
    pub fn releases(&self, platform: &str) -> miette::Result<Vec<String>> {
        stems(&self.platform_folder(platform).join("releases"))
    }

    /// The platform's name and file for what was given on the command line.
    pub fn platform(&self, given: &str) -> miette::Result<(String, Document)> {
        if given.contains(['/', '.']) {
            let document = Document::open(Path::new(given))?;
            // The file's own name says whose releases and costs apply.
            let name = Platform::read(&document)?.name;
            self.known(&name)?;
            return Ok((name, document));
        }
        self.known(given)?;
        Ok((given.to_owned(), self.open(&format!("platforms/{given}.toml"))?))
    }

    fn known(&self, platform: &str) -> miette::Result<()> {
        let known = self.platforms()?;
        match known.iter().any(|name| name == platform) {
            true => Ok(()),
            false => Err(miette!(
                help = format!(
                    "there are: {}; a platform of another name needs releases and costs of its own",
                    known.join(", ")
                ),
                "there is no platform `{platform}`"
            )),
        }
    }

    /// A release's file.
    pub fn release(&self, platform: &str, release: &str) -> miette::Result<Document> {
        let known = self.releases(platform)?;
        if !known.iter().any(|name| name == release) {
            return Err(miette!(
                help = format!("there are: {}", known.join(", ")),
                "{platform} has no release `{release}`"
            ));
        }
        self.open(&format!("platforms/{platform}/releases/{release}.toml"))
    }

    /// All three files of a release.
    pub fn sources(&self, platform: &(String, Document), release: &str) -> miette::Result<Sources> {
        let (name, document) = platform;
        Ok(Sources {
            platform: document.clone(),
            release: self.release(name, release)?,
            costs: self.open(&self.costs_name(name, release))?,
        })
    }

    /// Path of a costs file within the folder.
    pub fn costs_name(&self, platform: &str, release: &str) -> String {
        format!("platforms/{platform}/costs/{release}.toml")
    }

    /// A path within the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A file of the folder, which goes by its name within it.
    pub fn open(&self, name: &str) -> miette::Result<Document> {
        let document = Document::open(&self.root.join(name))?;
        Ok(Document::new(name, document.text()))
    }

    /// The published PSCI figures of a platform, if there are any.
    pub fn psci_reference(&self, platform: &str) -> miette::Result<Option<PsciReference>> {
        for path in files(&self.root.join("published"))? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with("-psci.toml") {
                let reference = PsciReference::read(&path).into_diagnostic()?;
                if reference.platform == platform {
                    return Ok(Some(reference));
                }
            }
        }
        Ok(None)
    }

    fn platform_folder(&self, name: &str) -> PathBuf {
        self.root.join("platforms").join(name)
    }
}

fn files(folder: &Path) -> miette::Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(folder).into_diagnostic().wrap_err_with(|| format!("cannot read {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.into_diagnostic()?.path());
    }
    paths.sort();
    Ok(paths)
}

fn stems(folder: &Path) -> miette::Result<Vec<String>> {
    let paths = files(folder)?;
    let toml = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    Ok(toml.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect())
}
