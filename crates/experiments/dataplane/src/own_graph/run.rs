//! The process that asks for a graph: it starts the one that runs it, and watches.

use super::file::GraphFile;
use super::protocol::{NodeAbout, RefusedNode, Request};
use super::worker::ARGUMENT;
use crate::events::Events;
use crate::graphs::{Asked, Counted, Ending, GraphAbout, Started, Target, Window};
use document::Document;
use experiment::{Error, Progress, Result};
use itertools::Itertools;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::time::Duration;
use worker_process::place::WatchedMemory;
use worker_process::{Failure, Process};

/// Starts the graph of a file, with nodes of shared objects, in a process of its own. Beyond a
/// window, nodes may take as long as the patience.
///
/// # Errors
/// The file or a shared object is wrong, or a node crashed or hung.
pub fn start<'a>(graph: &Path, asked: &'a Asked, progress: &'a Progress) -> Result<Started<'a>> {
    let document = Document::open(graph)?;
    let file = GraphFile::read(&document)?;
    for object in &asked.objects {
        if !object.is_file() {
            let message = format!("{} is no file", object.display());
            return Err(Error::usage(
                message,
                "a shared object with nodes: cc -O2 -shared -fPIC my.c -o my.so",
            ));
        }
    }
    let mut watcher = Watcher::start(asked, progress)?;
    let load = Request::Load(asked.objects.clone());
    let nodes: Vec<NodeAbout> = watcher.ask(&load, Duration::ZERO, "as it was loaded")?;
    let mut plan = file.plan(graph, &nodes, asked.load)?;
    (plan.workers, plan.trace) = (asked.workers, asked.trace);
    let build = Request::Build(Box::new(plan));
    let built: Result<(), RefusedNode> =
        watcher.ask(&build, Duration::ZERO, "as the graph was built")?;
    if let Err(RefusedNode { node, why }) = built {
        return Err(file.refused(&node, &why).into());
    }
    let about = GraphAbout {
        name: file.name(graph),
        packets: file.packets(),
        has_routes: file.has_routes(),
    };
    Ok((about, Box::new(watcher)))
}

struct Watcher<'a> {
    process: Process,
    place: WatchedMemory,
    asked: &'a Asked,
    progress: &'a Progress,
}

impl Target for Watcher<'_> {
    fn warm_up(&mut self, length: Duration) -> Result {
        self.ask(&Request::WarmUp(length), length, "under load")
    }

    fn window(&mut self, length: Duration) -> Result<Window> {
        self.ask(&Request::Window(length), length, "under load")
    }

    fn count(&mut self, events: Events, length: Duration) -> Result<Counted> {
        self.ask(&Request::Count(events, length), length, "under load")
    }

    fn end(&mut self) -> Result<Ending> {
        self.ask(&Request::End, Duration::ZERO, "as the graph was taken down")
    }
}

impl<'a> Watcher<'a> {
    fn start(asked: &'a Asked, progress: &'a Progress) -> Result<Self> {
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
