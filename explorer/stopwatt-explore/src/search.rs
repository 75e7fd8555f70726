//! `stopwatt explore psci` and `stopwatt explore rcu`: many runs, until one breaks something.

use crate::{
    options::Plan,
    printout::{Form, Printout},
};
use console::{Console, Progress};
use explorations::{Recordable, experiment};
use explore::{Account, CounterexampleIn, TallyOf, Watchdog};
use miette::miette;
use published::Published;
use report::Report;
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use stopwatt::{Answer, output::Format, recordings, report_command};

/// Explores as planned; the answer is no if something was found.
pub fn search<S: Recordable>(console: &Console, plan: &Plan<S>) -> miette::Result<Printout> {
    let request = recordings::Request::new();
    recordings::check_target(
        &plan.folder,
        &experiment::<S>(),
        "explore",
        &request,
        plan.told.replace,
    )?;
    report_command::report_of(plan.told.report.as_ref())?;
    let watchdog = watch(console, &plan.subject);
    let progress = Arc::new(Progress::default());
    progress.say("exploring");
    let shown = console.show(progress.clone());
    let start = Instant::now();
    let tally = explore::explore_on(&plan.subject, &plan.exploration, plan.threads, |tally| {
        progress.say(&format!("{} schedules", tally.schedules));
        start.elapsed() < plan.time && progress.check().is_ok()
    });
    let seconds = start.elapsed().as_secs_f64();
    let shrunk = match &tally.found {
        Some(found) => {
            progress.say("found, and now shrunk");
            Some(shrink(plan, found)?)
        }
        None => None,
    };
    let is_stopped = progress.check().is_err() && tally.found.is_none() && !tally.complete;
    drop((watchdog, shown));
    tell(console, plan, &tally, (seconds, is_stopped), shrunk)
}

/// The time that the library may run without an operation.
const PATIENCE: Duration = Duration::from_secs(20);

/// Ends the program where the library loops without an operation.
fn watch<S: Recordable>(console: &Console, subject: &S) -> Watchdog {
    let (notes, cpus, port) = (console.clone(), subject.cpus(), subject.port());
    explore::watch(PATIENCE, move |process, operation| {
        let cpu = || match usize::from(process) == cpus {
            true => S::LAST.to_owned(),
            false => format!("CPU {process}"),
        };
        let who = port
            .and_then(|port| port.running())
            .map_or_else(cpu, str::to_owned);
        notes.note(&format!(
            "Error: {who} has made no operation since its operation {operation}, {PATIENCE:?} ago: it loops"
        ));
        std::process::exit(2);
    })
}

/// A shorter run that breaks the same invariant, with what it shows.
type ShortRun<S> = (CounterexampleIn<S>, Account);

fn shrink<S: Recordable>(
    plan: &Plan<S>,
    found: &CounterexampleIn<S>,
) -> miette::Result<ShortRun<S>> {
    let limits = plan.exploration.limits;
    let (again, _) = plan.subject.replay(found, limits);
    if again.hash != found.hash {
        return Err(miette!(
            help = "the code under test draws on something that the explorer does not choose: a clock, an address, the order of a hash map",
            "run {} broke an invariant, and the same choices did something else the second time",
            found.run
        ));
    }
    let shrunk = match plan.exploration.script {
        Some(_) => plan.subject.shrink(found, limits),
        None => plan.subject.simplest(found, limits),
    };
    let (_, account) = plan.subject.account(&shrunk, limits);
    Ok((shrunk, account))
}

/// Records the search, and tells of it.
fn tell<S: Recordable>(
    console: &Console,
    plan: &Plan<S>,
    tally: &TallyOf<S>,
    (seconds, is_stopped): (f64, bool),
    shrunk: Option<ShortRun<S>>,
) -> miette::Result<Printout> {
    let (seed, limits) = (plan.exploration.seed, plan.exploration.limits);
    let mut recording = match &shrunk {
        Some((shrunk, account)) => {
            let mut recording = explorations::record(&plan.subject, shrunk, account, limits, seed);
            explorations::add_coverage::<S>(&mut recording, tally);
            recording
        }
        None => explorations::nothing_found::<S>(&plan.subject, tally, seed),
    };
    recording.header.run = provenance::this_run();
    // The command that people type.
    let words = ["stopwatt", "explore"].map(str::to_owned);
    recording.header.run.command.splice(..1, words);
    let is_recorded = shrunk.is_some() || plan.always_recorded;
    let written = if is_recorded {
        recordings::write(&mut recording, &plan.folder)
    } else {
        Ok(())
    };
    let reported =
        report_command::write_beside(console, &recording, &plan.folder, plan.told.report.as_ref());
    let is_recorded = is_recorded && written.is_ok();
    let answer = written.and(reported).map(|()| match shrunk {
        Some(_) => Answer::No,
        None if is_stopped => Answer::Unknown,
        None => Answer::Yes,
    });
    if plan.told.format == Format::Json {
        let form = Form::Json(rates_value(
            plan,
            tally,
            (seconds, is_stopped),
            shrunk.map(|(shrunk, _)| shrunk),
        ));
        return Ok(Printout { answer, form });
    }
    let (folder, published) = (plan.folder.display().to_string(), Published::default());
    let report = Report::new(&recording, &folder, &published);
    let story = if is_recorded {
        report.run_text(console.style, plan.told.all)
    } else {
        report.story_text(console.style, plan.told.all)
    };
    let of = if plan.time == Duration::MAX {
        String::new()
    } else {
        format!(" of {}", plan.time.as_secs())
    };
    let stopped = if is_stopped {
        format!("Stopped after {seconds:.0}{of} s. ")
    } else {
        String::new()
    };
    Ok(Printout {
        answer,
        form: Form::Text(format!("{stopped}{story}{}", rates_text(tally, seconds))),
    })
}

fn rates_value<S: Recordable>(
    plan: &Plan<S>,
    tally: &TallyOf<S>,
    (seconds, is_stopped): (f64, bool),
    shrunk: Option<CounterexampleIn<S>>,
) -> serde_json::Value {
    let found = shrunk.map(|found| {
        json!({
            "invariant": found.failure.invariant.name(), "what": found.failure.what, "run": found.run,
            "deviations": found.schedule.len(), "recording": plan.folder.display().to_string(),
        })
    });
    json!({
        "schedules": tally.schedules, "steps": tally.steps, "seconds": seconds, "complete": tally.complete,
        "stopped": is_stopped, "hooks": plan.subject.port().map(|port| &port.about().file),
        "found": found,
    })
}

fn rates_text<M, C>(tally: &explore::Tally<M, C>, seconds: f64) -> String {
    let (schedules, steps) = (tally.schedules as f64, tally.steps as f64);
    format!(
        "{} schedules of {:.0} operations in {seconds:.1} s: {:.0} schedules/s, {:.1} M operations/s\n",
        tally.schedules,
        steps / schedules.max(1.0),
        schedules / seconds,
        steps / seconds / 1e6,
    )
}
