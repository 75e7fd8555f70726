//! The process that asks for a graph: it starts the one that runs it, and watches.

use super::file::GraphFile;
use super::protocol::{Ending, NodeAbout, RefusedNode, Request};
use super::worker::ARGUMENT;
use crate::events::Events;
use crate::graphs::{EventCounts, FinishedGraph, Load, LoadResult};
use crate::latency::Percentiles;
use document::Document;
use experiment::{Error, Progress, Result};
use itertools::Itertools;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::time::Duration;
use worker_process::place::WatchedMemory;
use worker_process::{Failure, Process};

/// A run that is asked for.
pub struct RunRequest<'a> {
    /// The graph's file.
    pub graph: &'a Path,
    /// The shared objects.
    pub objects: &'a [PathBuf],
    /// The load, but for what the file says of it.
    pub load: Load,
    /// Threads.
    pub workers: usize,
    /// Packets that are traced.
    pub trace: usize,
    /// Windows.
    pub windows: u32,
    /// Length of a window.
    pub window: Duration,
    /// Events that are counted.
    pub events: Option<Events>,
    /// The longest that nodes may take beyond a window.
    pub patience: Duration,
}

/// Runs a graph.
///
/// # Errors
/// The file or a shared object is wrong, or a node crashed or hung.
pub fn run(asked: &RunRequest<'_>, progress: &Progress) -> Result<FinishedGraph> {
    let document = Document::open(asked.graph)?;
    let file = GraphFile::read(&document)?;
    for object in asked.objects {
        if !object.is_file() {
            let message = format!("{} is no file", object.display());
            return Err(Error::usage(
                message,
                "a shared object with nodes: cc -O2 -shared -fPIC my.c -o my.so",
            ));
        }
    }
    let mut watcher = Watcher::start(asked, progress)?;
    let load = Request::Load(asked.objects.to_vec());
    let nodes: Vec<NodeAbout> = watcher.ask(&load, Duration::ZERO, "as it was loaded")?;
    let mut plan = file.plan(asked.graph, &nodes, asked.load)?;
    (plan.workers, plan.trace) = (asked.workers, asked.trace);
    let build = Request::Build(Box::new(plan));
    let built: Result<(), RefusedNode> =
        watcher.ask(&build, Duration::ZERO, "as the graph was built")?;
    if let Err(RefusedNode { node, why }) = built {
        return Err(file.refused(&node, &why).into());
    }
    watcher.ask::<()>(
        &Request::WarmUp(asked.window / 10),
        asked.window,
        "under load",
    )?;
    let mut windows = Vec::new();
    for _ in 0..asked.windows {
        progress.check()?;
        windows.push(watcher.ask(&Request::Window(asked.window), asked.window, "under load")?);
        progress.step();
    }
    progress.check()?;
    let (mut counted, mut no_counters) = (None, None);
    if let Some(events) = asked.events {
        let request = Request::Count(events, asked.window);
        match watcher.ask::<Result<EventCounts, String>>(&request, asked.window, "under load")? {
            Ok(there) => counted = Some(there),
            Err(why) => no_counters = Some(why),
        }
    }
    let ended: Ending =
        watcher.ask(&Request::End, Duration::ZERO, "as the graph was taken down")?;
    let loaded = LoadResult {
        windows,
        rounds: Percentiles::of(ended.rounds, &ended.percentiles),
        balances: ended.balances,
        errors: ended.errors,
        counted,
        trace: Some(ended.trace).filter(|trace| !trace.is_empty()),
    };
    Ok(FinishedGraph {
        name: file.name(asked.graph),
        loaded,
        no_counters,
        packets: file.packets(),
        has_routes: file.has_routes(),
    })
}

struct Watcher<'a> {
    process: Process,
    place: WatchedMemory,
    asked: &'a RunRequest<'a>,
    progress: &'a Progress,
}

impl<'a> Watcher<'a> {
    fn start(asked: &'a RunRequest<'a>, progress: &'a Progress) -> Result<Self> {
        let place = WatchedMemory::new().map_err(Error::failed)?;
        let process = Process::start(
            "a graph of one's own",
            &[ARGUMENT.into(), place.argument()],
            false,
        )?;
        Ok(Self {
            process,
            place,
            asked,
            progress,
        })
    }

    fn ask<A: DeserializeOwned>(
        &mut self,
        request: &Request,
        takes: Duration,
        doing: &str,
    ) -> Result<A> {
        let (place, objects) = (&self.place, self.objects());
        self.process
            .ask(
                request,
                takes + self.asked.patience,
                &|| match place.running() {
                    running if running.is_empty() => {
                        format!("the process with the nodes of {objects}")
                    }
                    running => running.join(" or "),
                },
                doing,
            )
            .map_err(|failure| match failure {
                Failure::Refused(error) => error,
                // Ctrl-C ends that process as well.
                Failure::Gone(_) if self.progress.check().is_err() => Error::Cancelled,
                Failure::Gone(text) => {
                    let help = format!(
                        "that is code of {objects} and not of Stopwatt; nothing was recorded"
                    );
                    Error::usage(text, help)
                }
            })
    }

    fn objects(&self) -> String {
        let names = self
            .asked
            .objects
            .iter()
            .map(|path| path.display().to_string())
            .collect_vec();
        if names.is_empty() {
            "no shared object".to_owned()
        } else {
            names.join(", ")
        }
    }
}
