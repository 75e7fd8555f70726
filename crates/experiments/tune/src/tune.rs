//! `tune`: a loop's distances and batch, tried on this machine and predicted from its model.

use crate::choose::{self, Chosen, from_sweep};
use crate::core_file::CoreFile;
use crate::grid::Grid;
use crate::nodes::Node;
use crate::predict::{Model, Predictions};
use crate::process::Process;
use crate::protocol::Source;
use crate::recipe::Recipe;
use crate::results::{self, ModelUsed};
use crate::sweep::{self, Measurements, sweep};
use crate::system;
use dataplane_experiments::host_header;
use document::Document;
use experiment::setting::{CheckedSetting, Choice, InputFile, Number, Or, Switch};
use experiment::{About, Error, Example, Experiment, Files, Progress, Request, Settings, Sink, World, WorldAbout};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Tries a loop's distances and batch.
pub struct Tune;

const LOOP: InputFile = InputFile::new("loop", "A shared object with a loop: see stopwatt_loop.h.");

const NAME: CheckedSetting<String> = CheckedSetting::new(
    "name",
    "NAME",
    |text| Ok(text.to_owned()),
    "The loop of the shared object; its first where none is named.",
);

const NODE: Choice<Node> = Choice::new("node", Node::CHOICES, "A loop of our own data plane.");

const RECIPE: InputFile = InputFile::new("recipe", "A loop that is described in TOML: its lines and its work.");

const BATCH: Or<Number<u64>> = Number::new("batch", 4..=4096, "Records of a call.").or(256);

const CORE: InputFile = InputFile::new(
    "core",
    "A core file of `calibrate-core`, for the prediction; the one of this processor's name where it is not given.",
);

const ROUNDS: Or<Number<usize>> =
    Number::new("rounds", 3..=1000, "Rounds at most; it stops earlier when the answer is certain.").or(25);

const MEMORY: Or<Number<u64>> =
    Number::new("memory", 1..=16_384, "The largest working set, in megabytes.").unit("MB").or(256);

const PATIENCE: Or<Number<u64>> =
    Number::new("patience", 1..=3600, "The longest that the loop may take for one answer.").unit("s").or(30);

const QUICK: Switch = Switch::new(
    "quick",
    "No sweep: the model names the cells that are measured, a tenth of those of a sweep. Needs a core file.",
);

const SMALL_PAGES: Switch = Switch::new("small-pages", "Do not ask for huge pages for the records.");

static ABOUT: About = About {
    name: "tune",
    summary: "Prefetch distances and batch of a loop that you wrote: measured, predicted, and why",
    details: "The loop is a shared object with a small C interface, a node of ours, or a description. It runs in a process of its own, on \
              four working sets: a batch that is near (warm), half the second cache, half the last one, and memory. Every combination of \
              distances is measured in turn until the answer is certain, and the grid grows until the best is inside. A core file \
              of `stopwatt calibrate-core` adds the answer that a model gives from a tenth of the measurements.",
    worlds: &[WorldAbout { world: World::Host, about: "real memory, the machine's own clock", needs: &[] }],
    settings: &[&LOOP, &NAME, &NODE, &RECIPE, &BATCH, &CORE, &ROUNDS, &MEMORY, &PATIENCE, &QUICK, &SMALL_PAGES],
    cases: &[],
    examples: &[
        Example { arguments: "--loop acl.so", about: "" },
        Example { arguments: "--node study --batch 64", about: "" },
        Example { arguments: "--recipe parser.toml --report tune.html", about: "" },
        Example { arguments: "--loop acl.so --quick", about: "some seconds instead of a minute" },
    ],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

/// The folder of core files among the platform files.
pub const CORES: &str = "cores";

impl Experiment for Tune {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        source(&request.settings).map(drop)?;
        let core = core(request.platforms, request.settings.get(CORE).as_deref())?;
        if core.is_none() && request.settings.get(QUICK) {
            return Err(Error::usage(
                format!("--quick needs the model, and there is no core file for {}", system::processor()),
                "stopwatt calibrate-core, which takes some ten seconds; or leave --quick out",
            ));
        }
        Ok(())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        let (source, from) = source(settings)?;
        let core = core(request.platforms, settings.get(CORE).as_deref())?;
        let progress = sink.progress();
        progress.say("starting the loop");
        let mut process =
            Process::start(&source, !settings.get(SMALL_PAGES), Duration::from_secs(settings.get(PATIENCE)))?;
        let memory = settings.get(MEMORY) << 20;
        let mut grid = Grid::new(&process.about, settings.get(BATCH), &system::cache_bytes(), memory);
        let records = grid.sets.iter().map(|set| set.records).max().unwrap_or(0).max(4096);
        let huge = process.set_up(records)?;
        progress.check()?;
        let about = process.about.clone();
        let huge_share = huge.unwrap_or(0.0);
        let quick = core.as_ref().filter(|_| settings.get(QUICK));
        let TunedLoop { measured, predicted, chosen } = match quick {
            Some((_, core)) => {
                without_sweep(&mut process, &grid, &Model::new(core, &about, &grid, huge_share), &progress)?
            }
            None => {
                let measured = sweep(&mut process, &mut grid, settings.get(ROUNDS), &progress)?;
                progress.say("asking the model");
                let model = core.as_ref().map(|(_, core)| Model::new(core, &about, &grid, huge_share));
                let predicted = model.and_then(|model| model.predict(&measured.values));
                let chosen = match &predicted {
                    Some(Predictions { ticks, used, .. }) => from_sweep(&grid, ticks, used, &measured.values)?,
                    None => None,
                };
                TunedLoop { measured, predicted, chosen }
            }
        };
        let mut header = host_header(ABOUT.name, measured.rounds as u32);
        let used = core.as_ref().zip(predicted.as_ref());
        let used = used.map(|((name, core), predicted)| ModelUsed { core, name, predicted, chosen: chosen.as_ref() });
        header.set_facts(&results::facts(&process, &from, &grid, huge, &measured, used.as_ref(), quick.is_some()));
        if core.is_none() {
            header.notes.push(format!(
                "No prediction: there is no core file for {}. `stopwatt calibrate-core` makes one in some ten seconds.",
                system::processor()
            ));
        }
        header
            .complaints
            .extend(measured.ended.iter().map(|ended| format!("{ended}; what was measured before is kept")));
        let recording = results::recording(header, &about, &grid, &measured, used.as_ref());
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

/// A loop's measurements, and what they were made of.
struct TunedLoop {
    measured: Measurements,
    predicted: Option<Predictions>,
    chosen: Option<Chosen>,
}

/// The answer from the cells that the model asks for.
fn without_sweep(
    process: &mut Process,
    grid: &Grid,
    model: &Model<'_>,
    progress: &Progress,
) -> Result<TunedLoop, Error> {
    let mut values = vec![Vec::new(); grid.cells.len()];
    let budget = choose::budget(grid);
    progress.expect(budget as u64, "rounds");
    let used = model.used();
    sweep::some(process, grid, &used, choose::ROUNDS, &mut values, progress)?;
    let predicted = model.predict(&values);
    let mut chosen = None;
    if let Some(Predictions { ticks, used, .. }) = &predicted {
        chosen = choose::choose(grid, ticks, used, budget, |cell| {
            if values[cell].is_empty() {
                sweep::some(process, grid, &[cell], choose::ROUNDS, &mut values, progress)?;
            }
            (0..choose::ROUNDS).for_each(|_| progress.step());
            Ok(values[cell].clone())
        })?;
    }
    let at_the_end = sweep::best(grid, &values).is_some_and(|best| grid.is_longest(best));
    Ok(TunedLoop {
        measured: Measurements { values, rounds: choose::ROUNDS, ended: None, at_the_end },
        predicted,
        chosen,
    })
}

/// The loop that is asked for, and where it is from.
fn source(settings: &Settings) -> Result<(Source, String), Error> {
    let given = (settings.get(LOOP), settings.get(NODE), settings.get(RECIPE));
    match given {
        (Some(path), None, None) => {
            let from = path.display().to_string();
            if !path.is_file() {
                return Err(Error::usage(
                    format!("{from} is no file"),
                    "a shared object: cc -O2 -shared -fPIC my.c -o my.so",
                ));
            }
            Ok((Source::Shared { path, name: settings.get(NAME) }, from))
        }
        (None, Some(node), None) => Ok((Source::Node(node.name().to_owned()), "a node of ours".to_owned())),
        (None, None, Some(path)) => {
            let recipe = Recipe::read(&Document::open(&path)?)?;
            Ok((Source::Recipe(recipe), path.display().to_string()))
        }
        (None, None, None) => {
            Err(Error::usage("no loop is named", "one of --loop FILE.so, --node NAME, --recipe FILE.toml"))
        }
        _ => Err(Error::usage("more than one loop is named", "one of --loop, --node and --recipe")),
    }
}

/// The core file that is named, or the one of this processor.
fn core(platforms: &dyn Files, given: Option<&Path>) -> Result<Option<(String, CoreFile)>, Error> {
    if let Some(path) = given {
        let core = CoreFile::read(&Document::open(path)?)?;
        return Ok(Some((path.display().to_string(), core)));
    }
    let name: PathBuf = [CORES, &format!("{}.toml", system::file_name(&system::processor()))].iter().collect();
    let name = name.display().to_string();
    if platforms.read(&name).is_err() {
        return Ok(None);
    }
    let core = CoreFile::read(&platforms.document(&name)?)?;
    Ok(Some((name, core)))
}
