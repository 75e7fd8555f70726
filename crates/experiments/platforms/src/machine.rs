//! Machines: which there are, and the three files of each release.

use document::{Document, one_of};
use experiment::{Error, Files, Result};
use itertools::Itertools;
use soc::config::{Platform, Sources};
use std::path::Path;

/// A platform's file, and those of its releases and costs.
pub struct PlatformFiles<'a> {
    files: &'a dyn Files,
    name: String,
    /// The platform whose releases and costs apply: itself, or its lender.
    lender: String,
    document: Document,
}

impl<'a> PlatformFiles<'a> {
    /// Names of the platforms that have releases, in alphabetical order.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(files: &dyn Files) -> Result<Vec<String>> {
        let names = files.stems("")?;
        Ok(names
            .into_iter()
            .filter(|name| {
                files
                    .stems(&format!("{name}/releases"))
                    .is_ok_and(|all| !all.is_empty())
            })
            .collect())
    }

    /// The platform of a name, or of the file at a path; a file's own name, or that of the lender
    /// that it `borrows` of, says whose releases and costs apply.
    ///
    /// # Errors
    /// There is no such platform; the file is wrong.
    pub fn open(files: &'a dyn Files, given: &str) -> Result<Self> {
        let (name, lender, document) = if given.contains(['/', '.']) {
            let document = Document::open(Path::new(given))?;
            let platform = Platform::read(&document)?;
            let lender = platform.borrows.unwrap_or_else(|| platform.name.clone());
            (platform.name, lender, Some(document))
        } else {
            (given.to_owned(), given.to_owned(), None)
        };
        let known = Self::names(files)?;
        if !known.contains(&lender) {
            let there = one_of(&lender, &known);
            let help = format!(
                "{there}; a platform of another name needs releases and costs of its own, or `borrows = \"tc2\"`"
            );
            return Err(Error::usage(
                format!("there is no platform `{lender}`"),
                help,
            ));
        }
        let document = match document {
            Some(document) => document,
            None => read(files, &format!("{name}.toml"))?,
        };
        Ok(Self {
            files,
            name,
            lender,
            document,
        })
    }

    /// Name of the platform.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// File of the platform.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Names of its releases, in alphabetical order.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn releases(&self) -> Result<Vec<String>> {
        Ok(self.files.stems(&format!("{}/releases", self.lender))?)
    }

    /// The release that is meant: by its name, by the end of its name (`v2.12` for `juno-v2.12`),
    /// or `last`.
    ///
    /// # Errors
    /// None or several are meant.
    pub fn release_name(&self, given: &str) -> Result<String> {
        let known = self.releases()?;
        if let Some(name) = known.iter().find(|name| *name == given) {
            return Ok(name.clone());
        }
        if let ("last", Some(last)) = (given, known.last()) {
            return Ok(last.clone());
        }
        let short = known
            .iter()
            .filter(|name| name.ends_with(&format!("-{given}")))
            .collect_vec();
        if let [one] = short[..] {
            return Ok(one.clone());
        }
        let message = if short.is_empty() {
            format!("{} has no release `{given}`", self.name)
        } else {
            format!("{} has several releases `{given}`", self.name)
        };
        Err(Error::usage(message, one_of(given, &known)))
    }

    /// A release's file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn release(&self, release: &str) -> Result<Document> {
        read(
            self.files,
            &format!("{}/releases/{release}.toml", self.lender),
        )
    }

    /// All three files of a release. A borrowed release leaves caches that software cannot flush to
    /// the hardware.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn sources(&self, release: &str) -> Result<Sources> {
        let mut sources = Sources {
            platform: self.document.clone(),
            release: self.release(release)?,
            costs: read(self.files, &format!("{}/costs/{release}.toml", self.lender))?,
        };
        if self.lender != self.name
            && Platform::read(&self.document)?
                .cache_for_hardware()
                .is_some()
        {
            sources.set("psci.hardware_coherency", "true")?;
        }
        Ok(sources)
    }

    /// The name or the path of its idle states, for [`crate::idle_states`]: its own file's where it
    /// has them.
    ///
    /// # Errors
    /// The file is wrong.
    pub fn idle_states(&self) -> Result<String> {
        let own = self.document.table()?.get_ref().contains_key("domain");
        Ok(if own {
            self.document.name().to_owned()
        } else {
            self.name.clone()
        })
    }
}

/// A platform file by its path, which goes by that path in messages, wherever it lies.
fn read(files: &dyn Files, path: &str) -> Result<Document> {
    Ok(Document::new(
        format!("platforms/{path}"),
        files.read(path)?,
    ))
}
