//! The folder of a data set:
//!
//! ```text
//! plan.toml                 the plan, as it was given
//! sweep.toml                experiment, world, numbers of points and chunks, the program's version
//! data/chunk=000000/        points.parquet, measures.parquet (events, causes), chunk.toml
//! ```
//!
//! A chunk's folder is written beside `data` and renamed into it, so it is there whole or not at
//! all.

use crate::error::{Error, Result};
use crate::fits::Fitting;
use crate::manifest::{Chunk, FORMAT, Marks, VERSION};
use crate::plan::Plan;
use disk::Partial;
use document::Document;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

pub const PLAN_FILE: &str = "plan.toml";
pub const MARKS_FILE: &str = "sweep.toml";
pub const CHUNK_FILE: &str = "chunk.toml";
pub const POINTS_FILE: &str = "points.parquet";
const DATA: &str = "data";
/// Notes of who ran which chunks, in sweeps of earlier builds.
const RUNS: &str = "runs";

/// True if a folder holds the data set of a sweep.
pub fn is_sweep(folder: &Path) -> bool {
    folder.join(MARKS_FILE).is_file()
}

/// The folder of a data set.
pub struct Dataset {
    /// Folder of the dataset.
    pub folder: PathBuf,
    marks: Marks,
    /// The plan that it was begun with.
    pub plan: Plan,
}

impl Dataset {
    /// Begins the data set of a plan, or finds the one that was begun: several programs may do so
    /// at the same time.
    ///
    /// # Errors
    /// Something else is in the way; it was begun from another plan or by another version; the
    /// system refuses.
    pub fn begin(folder: &Path, fitting: &Fitting) -> Result<Self> {
        let plan = &fitting.plan;
        let marks = Marks {
            format: FORMAT.to_owned(),
            version: VERSION,
            stopwatt: provenance::VERSION.to_owned(),
            experiment: plan.experiment.clone(),
            world: fitting.world.name().to_owned(),
            points: plan.points().unwrap_or(u64::MAX),
            chunk: plan.chunk(),
            chunks: plan.chunks(),
            plan: crc32fast::hash(plan.text().as_bytes()),
        };
        check_ours(folder)?;
        if is_sweep(folder) {
            let begun = Self::open(folder)?;
            begun.must_be_of(&marks.stopwatt)?;
            if begun.marks.plan != marks.plan {
                return Err(Error::folder(
                    folder,
                    "holds the sweep of another plan".to_owned(),
                    "name another folder with --output, add --replace, or go on with the plan that lies in it: stopwatt sweep --resume DIR",
                ));
            }
            return Ok(begun);
        }
        Self::write(folder, marks, plan)
    }

    /// Writes plan and marks.
    fn write(folder: &Path, marks: Marks, plan: &Plan) -> Result<Self> {
        let data = folder.join(DATA);
        fs::create_dir_all(&data).map_err(Error::io(&data, "create"))?;
        // The plan first: whoever sees the marks finds it.
        write(&folder.join(PLAN_FILE), plan.text())?;
        let text = toml::to_string(&marks).map_err(|error| unwritable(folder, &error))?;
        write(&folder.join(MARKS_FILE), &text)?;
        Ok(Self {
            folder: folder.to_owned(),
            marks,
            plan: plan.clone(),
        })
    }

    /// Removes the data set of a folder, if it has one, also one that is damaged.
    ///
    /// # Errors
    /// Somebody runs its plan, or the system refuses.
    pub fn remove(folder: &Path) -> Result {
        if !is_sweep(folder) {
            return Ok(());
        }
        check_ours(folder)?;
        if let Some(process) = Self::open(folder)
            .ok()
            .and_then(|begun| begun.at_work("").next())
        {
            return Err(Error::folder(
                folder,
                format!("process {process} is running the plan that is to be replaced"),
                "wait for its end, or stop it",
            ));
        }
        // The marks last: whoever is stopped before can try again.
        for name in [DATA, RUNS, PLAN_FILE, MARKS_FILE] {
            let path = folder.join(name);
            let removed = if path.is_dir() {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
            if_there(removed).map_err(Error::io(&path, "remove"))?;
        }
        Ok(())
    }

    /// Opens a data set that was begun.
    ///
    /// # Errors
    /// It is none, or is damaged.
    pub fn open(folder: &Path) -> Result<Self> {
        const HELP: &str = "name the folder that `stopwatt sweep` wrote";
        let path = folder.join(MARKS_FILE);
        let Some(text) = if_there(disk::text(&path)).map_err(Error::io(&path, "read"))? else {
            return Err(Error::folder(
                folder,
                format!("no sweep: it has no {MARKS_FILE}"),
                HELP,
            ));
        };
        let marks: Marks =
            toml::from_str(&text).map_err(|error| Error::folder(&path, error.to_string(), HELP))?;
        if (marks.format.as_str(), marks.version) != (FORMAT, VERSION) {
            return Err(Error::folder(
                &path,
                format!("is of the format {} {}", marks.format, marks.version),
                format!("this program reads {FORMAT} {VERSION}"),
            ));
        }
        let path = folder.join(PLAN_FILE);
        let plan = Plan::read(&Document::open(&path)?)?;
        let is_its = crc32fast::hash(plan.text().as_bytes()) == marks.plan
            && (plan.points(), plan.chunk(), plan.chunks())
                == (Some(marks.points), marks.chunk, marks.chunks);
        if !is_its {
            return Err(Error::folder(
                &path,
                format!("is not the plan that {MARKS_FILE} was written for"),
                "put the plan back with which the sweep was begun, or begin another one",
            ));
        }
        Ok(Self {
            folder: folder.to_owned(),
            marks,
            plan,
        })
    }

    /// Refuses another version than the one that the data set was begun by.
    fn must_be_of(&self, stopwatt: &str) -> Result {
        if self.marks.stopwatt != stopwatt {
            return Err(Error::folder(
                &self.folder,
                format!(
                    "was begun by stopwatt {}, and this is {stopwatt}",
                    self.marks.stopwatt
                ),
                "go on with the same build, or begin anew in another folder or with --replace: two builds may give two figures",
            ));
        }
        Ok(())
    }

    /// The experiment's name.
    pub fn experiment(&self) -> &str {
        &self.marks.experiment
    }

    /// The world's name.
    pub fn world(&self) -> &str {
        &self.marks.world
    }

    /// The folder of a chunk.
    pub fn chunk_folder(&self, chunk: u64) -> PathBuf {
        self.folder.join(DATA).join(chunk_name(chunk))
    }

    /// A folder beside the data in which a chunk is written. What a program of this machine that
    /// was killed left of the chunk is removed.
    pub(crate) fn partial(&self, chunk: u64, what: &str) -> Result<Partial> {
        let beside = self.folder.join(chunk_name(chunk));
        // Processes of another machine cannot be looked up, so theirs are told apart by its name.
        Partial::beside(&beside, &format!("{what}-{}", host()))
            .map_err(Error::io(&self.folder, "write in"))
    }

    /// The manifest of a chunk; `None` if it is not there, or its files are not as long as it says.
    ///
    /// # Errors
    /// What is said cannot be read.
    pub(crate) fn chunk(&self, chunk: u64) -> Result<Option<Chunk>> {
        let folder = self.chunk_folder(chunk);
        let path = folder.join(CHUNK_FILE);
        let Some(text) = if_there(disk::text(&path)).map_err(Error::io(&path, "read"))? else {
            return Ok(None);
        };
        // A machine that lost power may have left less of a file than was written.
        let Ok(said) = toml::from_str::<Chunk>(&text) else {
            return Ok(None);
        };
        // A program of another machine may still have run one of the plan before: it is none of
        // this plan.
        let is_its = said.plan == self.marks.plan;
        let mut files = said.files.iter();
        let is_whole = is_its
            && files.all(|(name, facts)| {
                fs::metadata(folder.join(name)).is_ok_and(|there| there.len() == facts.bytes)
            });
        Ok(is_whole.then_some(said))
    }

    /// The manifest of a chunk whose files are what it says, by their checksums; `None` if it is
    /// not there, or is damaged.
    ///
    /// # Errors
    /// What is said cannot be read.
    pub(crate) fn whole_chunk(&self, chunk: u64) -> Result<Option<Chunk>> {
        let folder = self.chunk_folder(chunk);
        let Some(said) = self.chunk(chunk)? else {
            return Ok(None);
        };
        for (name, facts) in &said.files {
            let path = folder.join(name);
            let (_, sum) = recording::checksum(&path).map_err(Error::io(&path, "read"))?;
            if sum != facts.crc32 {
                return Ok(None);
            }
        }
        Ok(Some(said))
    }

    /// True if another program of this machine that is still there writes a chunk.
    pub(crate) fn is_at_work(&self, chunk: u64) -> bool {
        self.at_work(&chunk_name(chunk)).next().is_some()
    }

    /// Other programs of this machine that are still there and write a chunk, by their numbers. An
    /// empty name stands for any chunk.
    fn at_work(&self, chunk: &str) -> impl Iterator<Item = u32> {
        let (start, end) = (format!(".{chunk}"), format!(".partial-{}-", host()));
        let of_other = move |name: &str| {
            let (named, process) = name.strip_prefix(&start)?.split_once(&end)?;
            let process: u32 = process.parse().ok()?;
            let is_it = (start.len() == 1 || named.is_empty())
                && process != std::process::id()
                && Path::new("/proc").join(process.to_string()).exists();
            is_it.then_some(process)
        };
        fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(move |entry| of_other(entry.file_name().to_str()?))
    }

    /// The number of chunks that are there.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn done(&self) -> Result<u64> {
        let mut done = 0;
        for chunk in 0..self.marks.chunks {
            done += u64::from(self.chunk(chunk)?.is_some());
        }
        Ok(done)
    }

    /// Numbers of the chunks that are not there, or have points that failed.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn missing(&self) -> Result<Vec<u64>> {
        let mut missing = Vec::new();
        for chunk in 0..self.marks.chunks {
            if self
                .chunk(chunk)?
                .is_none_or(|said| !said.failed.is_empty())
            {
                missing.push(chunk);
            }
        }
        Ok(missing)
    }

    /// The number of points and chunks that it is to have.
    pub fn size(&self) -> (u64, u64) {
        (self.marks.points, self.marks.chunks)
    }
}

/// Refuses a folder that holds something else than a data set.
fn check_ours(folder: &Path) -> Result {
    // What another program is about to begin here starts with a dot, or is one of our names.
    let is_ours = |name: &str| {
        name.starts_with('.') || [PLAN_FILE, MARKS_FILE, DATA, RUNS, "slurm.sh"].contains(&name)
    };
    match if_there(fs::read_dir(folder))
        .map_err(Error::io(folder, "list"))?
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .find(|name| !is_ours(name))
    {
        Some(name) => Err(Error::folder(
            folder,
            format!("exists and is no sweep: it holds {name}"),
            "name another folder with --output, or remove it yourself",
        )),
        None => Ok(()),
    }
}

/// What the system did with a file or folder; `None` if it is not there.
fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

fn chunk_name(chunk: u64) -> String {
    format!("chunk={chunk:06}")
}

/// The name of this machine.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name
        .trim()
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-')
        .collect();
    if name.is_empty() {
        "here".to_owned()
    } else {
        name
    }
}

pub fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Io {
        path: path.to_owned(),
        doing: "write",
        cause: io::Error::other(error.to_string()),
    }
}

/// Writes a small file whole or not at all, over one of the same content.
fn write(path: &Path, text: &str) -> Result {
    let partial =
        Partial::beside(path, &format!("partial-{}", host())).map_err(Error::io(path, "write"))?;
    fs::write(partial.path(), text)
        .and_then(|()| fs::rename(partial.path(), path))
        .map_err(Error::io(path, "write"))
}
