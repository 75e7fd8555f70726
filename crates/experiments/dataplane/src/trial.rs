//! Runs a graph of ours or of a file under load, one window after the other.

use crate::graphs::{
    self, Asked, Counted, Ending, GraphAbout, GraphAsked, GraphKind, Running, Started, Window,
};
#[cfg(target_os = "linux")]
use crate::own_graph;
use dataplane::pcap;
use experiment::{Error, Progress, Result};
use std::path::Path;

/// The results of a loaded graph.
pub struct Ran {
    /// The graph.
    pub about: GraphAbout,
    /// The windows, in order.
    pub windows: Vec<Window>,
    /// The rest.
    pub ending: Ending,
    /// Events of nodes, where they were asked for, or a line that says why none are counted.
    pub counted: Option<Counted>,
}

impl Asked {
    /// Loads the graph.
    ///
    /// # Errors
    /// A file is wrong; a node crashed or hung; packets do not add up.
    pub fn run(&self, progress: &Progress) -> Result<Ran> {
        progress.expect(self.windows.into(), "windows");
        let (about, mut target) = match &self.graph {
            GraphAsked::Ours(kind) => self.ours(*kind)?,
            GraphAsked::File(path) => own_graph::start(path, self, progress)?,
        };
        target.warm_up(self.window / 10)?;
        let mut windows = Vec::new();
        for _ in 0..self.windows {
            progress.check()?;
            windows.push(target.window(self.window)?);
            progress.step();
        }
        progress.check()?;
        let counted = self.events.map(|events| target.count(events, self.window));
        let counted = counted.transpose()?;
        let ending = target.end()?;
        if let Some(wrong) = ending.balances.iter().find(|balance| !balance.holds()) {
            return Err(Error::Failed(format!("packets do not add up: {wrong:?}")));
        }
        Ok(Ran {
            about,
            windows,
            ending,
            counted,
        })
    }

    /// A graph of ours, in this process.
    fn ours(&self, kind: GraphKind) -> Result<Started<'static>> {
        let (graphs, input, packets) = match &self.receive {
            None => (graphs::graphs(self.load, self.workers), "pg-input", None),
            Some(path) => {
                let packets = captured(path)?;
                let words = format!("{} packets of {}", packets.len(), path.display());
                let graph = graphs::of_captured(self.load, packets);
                (vec![graph], graphs::CAPTURED, Some(words))
            }
        };
        let mut running = Running::new(graphs, self.trace > 0);
        running.graphs[0].tracer.add(input, self.trace);
        let about = GraphAbout {
            name: kind.name().to_owned(),
            packets,
            has_routes: true,
        };
        Ok((about, Box::new(running)))
    }
}

/// The packets of a capture file.
fn captured(path: &Path) -> Result<Vec<Vec<u8>>> {
    let wrong = |why: String| Error::Failed(format!("{}: {why}", path.display()));
    let packets = pcap::read(&std::fs::read(path).map_err(|error| wrong(error.to_string()))?)
        .map_err(|error| wrong(error.to_string()))?;
    if packets.is_empty() {
        Err(wrong("there is no packet in it".to_owned()))
    } else {
        Ok(packets)
    }
}

#[cfg(not(target_os = "linux"))]
mod own_graph {
    use crate::graphs::{Asked, Started};
    use experiment::{Error, Progress, Result};
    use std::path::Path;

    pub fn start<'a>(graph: &Path, _: &'a Asked, _: &'a Progress) -> Result<Started<'a>> {
        let message = "graphs of one's own run on Linux alone";
        Err(Error::Failed(format!("{}: {message}", graph.display())))
    }
}
