//! A recording in Python.

use crate::tables::Table;
use crate::work::{Asked, RunError, UsageError, just, work};
use console::Console;
use experiment::Progress;
use findings::{Finding, Findings};
use miette::{IntoDiagnostic, miette};
use published::Published;
use pyo3::prelude::*;
use report::{Format, Report, Style};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use stopwatt::data::Data;
use stopwatt::experiments;

/// The recording of a run: its rows, and what repeats it.
#[pyclass(frozen, module = "stopwatt._native")]
pub struct Recording {
    pub(crate) rows: Arc<recording::Recording>,
    folder: Option<PathBuf>,
    /// Measures, events and causes.
    tables: [OnceLock<Py<Table>>; 3],
}

impl Recording {
    fn new(rows: recording::Recording, folder: Option<PathBuf>) -> Self {
        Self {
            rows: Arc::new(rows),
            folder,
            tables: Default::default(),
        }
    }

    /// The name of the recording where it is shown.
    pub(crate) fn name(&self) -> String {
        match &self.folder {
            Some(folder) => folder.display().to_string(),
            None => self.rows.header.experiment.clone(),
        }
    }

    fn table(
        &self,
        py: Python<'_>,
        of: usize,
        make: fn(&recording::Recording) -> miette::Result<Table>,
    ) -> PyResult<Py<Table>> {
        let of = &self.tables[of];
        if let Some(table) = of.get() {
            return Ok(table.clone_ref(py));
        }
        let rows = self.rows.clone();
        let made = just(py, move || make(&rows))?;
        let made = Py::new(py, made)?;
        Ok(of.get_or_init(|| made).clone_ref(py))
    }
}

#[pymethods]
impl Recording {
    /// The measures: a :class:`Table` with a row per figure.
    #[getter]
    fn measures(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table(py, 0, Table::measures)
    }

    /// The events: a :class:`Table` with a row per stamp.
    #[getter]
    fn events(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table(py, 1, Table::events)
    }

    /// The causes of measured spans: a :class:`Table` with a row per span and cause.
    #[getter]
    fn causes(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.table(py, 2, Table::causes)
    }

    /// The header as JSON.
    fn header_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.rows.header)
            .map_err(|error| RunError::new_err(error.to_string()))
    }

    /// The folder that it was read from, or None.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }

    /// Writes the recording as a folder, whole or not at all.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let rows = self.rows.clone();
        just(py, move || {
            Ok(rows.write(&folder).map_err(experiment::Error::from)?)
        })
    }

    /// A report: "answers", "html", "term", "md", "csv", "json" or "perfetto", as bytes.
    fn report(&self, py: Python<'_>, format: &str) -> PyResult<Vec<u8>> {
        let all = format != "answers";
        let name = if all { format } else { Format::Text.name() };
        let Some(format) = Format::of_name(name).or_else(|| Format::of_extension(name)) else {
            let known = Format::ALL.map(|format| format.name()).join(", ");
            return Err(UsageError::new_err(format!(
                "there is no report `{format}`; there are: {known}"
            )));
        };
        let (rows, name) = (self.rows.clone(), self.name());
        just(py, move || {
            let published =
                Published::read(&Data::find(None)?.published(), &rows.header.experiment)?;
            Ok(Report::new(&rows, &name, &published).render(format, Style::PLAIN, all))
        })
    }

    /// What the experiment found, as JSON of the schema of [`findings_schema`].
    fn findings_json(&self, py: Python<'_>) -> PyResult<String> {
        let (rows, name) = (self.rows.clone(), self.name());
        just(py, move || {
            let experiment = &rows.header.experiment;
            let published = Published::read(&Data::find(None)?.published(), experiment)?;
            let read = Findings::new(&rows, &name, Some(&published));
            let finding = Finding::read(&read).into_diagnostic()?.ok_or_else(|| {
                miette!(
                    help = "use `measures`, `events` or `report`",
                    "there are no findings of `{experiment}`"
                )
            })?;
            serde_json::to_string(&finding).into_diagnostic()
        })
    }

    fn __repr__(&self) -> String {
        let (rows, header) = (&self.rows, &self.rows.header);
        format!(
            "<stopwatt.Recording of {} in the world {}: {} measures, {} events, {} causes>",
            header.experiment,
            header.world,
            rows.measures().len(),
            rows.events().len(),
            rows.causes().len()
        )
    }
}

/// The schema of all findings as JSON, with the experiments of each below `experiments`.
#[pyfunction]
pub fn findings_schema() -> String {
    let mut schema = findings::schema().to_value();
    for (class, experiments) in Finding::NAMES {
        schema["experiments"][class] = (*experiments).into();
    }
    schema.to_string()
}

/// Opens a recording's folder, or the data set of a sweep; with `forget` it is in memory alone, and
/// the folder may go.
#[pyfunction]
#[pyo3(signature = (folder, forget=false))]
pub fn open_recording(py: Python<'_>, folder: PathBuf, forget: bool) -> PyResult<Recording> {
    let from = folder.clone();
    let rows = just(py, move || match sweep::is_sweep(&from) {
        true => Ok(sweep::read(&from)?),
        false => Ok(recording::Recording::read(&from).map_err(experiment::Error::from)?),
    })?;
    Ok(Recording::new(rows, (!forget).then_some(folder)))
}

/// Runs an experiment.
#[pyfunction]
#[pyo3(signature = (experiment, world, settings, tell=None))]
pub fn run(
    py: Python<'_>,
    experiment: String,
    world: Option<String>,
    settings: Vec<(String, String)>,
    tell: Option<&Bound<'_, PyAny>>,
) -> PyResult<Recording> {
    let progress: Arc<Progress> = Arc::default();
    let asked = Asked::Run(progress.clone());
    let does = move || {
        let found = experiments::find(&experiment).ok_or_else(|| {
            let known = experiments::names();
            miette!(
                help = document::one_of(&experiment, &known),
                "there is no experiment `{experiment}`"
            )
        })?;
        let about = found.about();
        let world = match world.as_deref() {
            None => about.worlds[0].0,
            Some(name) => about.world(name).ok_or_else(|| {
                miette!(
                    help = about.known_worlds(),
                    "{} does not run in the world {name}",
                    about.name
                )
            })?,
        };
        // A key that is no setting is one of the platform, where the experiment takes those.
        let keys = about.keys();
        let given = settings
            .into_iter()
            .map(|(key, value)| match (about.setting(&key), keys) {
                (None, Some(keys)) if key.contains('.') => {
                    (keys.name().to_owned(), format!("{key}={value}"))
                }
                _ => (key, value),
            });
        stopwatt::run::in_memory(
            &Console::kept(),
            &Data::find(None)?,
            found,
            world,
            given.collect(),
            &progress,
        )
    };
    let rows = work(py, &asked, tell, does)?;
    Ok(Recording::new(rows, None))
}
