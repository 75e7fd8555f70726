//! Workers: threads that each run a graph of their own over the tables that all share.
//!
//! Between its rounds a worker does what it is asked: that is how counters are read and traces are
//! set while packets flow. Nothing that a packet needs is locked.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dataplane::graph::{Graph, Report};
use dataplane::machine;
use dataplane::show::worker_name;

/// Empty rounds after which a worker sleeps a little.
const PATIENCE: u32 = 64;
const NAP: Duration = Duration::from_micros(50);
/// Rounds after which a worker that has packets looks whether it is asked something.
const ROUNDS: u32 = 64;

type Ask = Box<dyn FnOnce(&mut Graph) + Send>;

/// The state that a worker tells without being asked.
#[derive(Default)]
struct State {
    done: AtomicBool,
    cpu: AtomicUsize,
}

struct Worker {
    thread: JoinHandle<Graph>,
    asks: Sender<Ask>,
    state: Arc<State>,
    pinned: Option<usize>,
}

/// All workers.
pub struct Workers {
    workers: Vec<Worker>,
    stop: Arc<AtomicBool>,
}

/// A worker's thread is gone: it panicked, and said why on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

impl std::fmt::Display for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a worker ended by a fault in the program")
    }
}

impl std::error::Error for Gone {}

impl Workers {
    /// Starts a worker for each graph. The n-th is kept on the n-th of `cpus`, if there is one; a
    /// `busy` one never sleeps.
    ///
    /// # Errors
    /// The system starts no thread, or does not have the processor.
    pub fn start(graphs: Vec<Graph>, cpus: &[usize], busy: bool) -> io::Result<Self> {
        let stop = Arc::<AtomicBool>::default();
        let mut workers = Self { workers: Vec::new(), stop };
        for (number, graph) in graphs.into_iter().enumerate() {
            let (asks, asked) = channel();
            let (pinning, was_pinned) = channel();
            let (state, stop, pinned) = (Arc::<State>::default(), workers.stop.clone(), cpus.get(number).copied());
            let told = state.clone();
            let thread = thread::Builder::new().name(worker_name(number)).spawn(move || {
                let _ = pinning.send(pinned.map_or(Ok(()), pin));
                work(graph, &asked, &told, &stop, busy)
            })?;
            workers.workers.push(Worker { thread, asks, state, pinned });
            if let Ok(Err(error)) = was_pinned.recv() {
                let _ = workers.stop();
                let cpu = pinned.unwrap_or_default();
                return Err(io::Error::new(
                    error.kind(),
                    format!("a worker cannot be kept on processor {cpu}: {error}"),
                ));
            }
        }
        Ok(workers)
    }

    /// Does something in each worker, between two of its rounds; returns what came of it, in the
    /// workers' order.
    ///
    /// # Errors
    /// A worker is gone.
    pub fn each<R: Send + 'static>(
        &self,
        what: impl Fn(&mut Graph) -> R + Send + Sync + 'static,
    ) -> Result<Vec<R>, Gone> {
        let what = Arc::new(what);
        let asked = self.workers.iter().map(|worker| {
            let (answers, answer) = channel();
            let what = what.clone();
            let ask: Ask = Box::new(move |graph| {
                let _ = answers.send(what(graph));
            });
            worker.asks.send(ask).map_err(|_| Gone)?;
            Ok(answer)
        });
        // All are asked before the first answer is waited for.
        let asked: Vec<_> = asked.collect::<Result<_, Gone>>()?;
        asked.into_iter().map(|answer| answer.recv().map_err(|_| Gone)).collect()
    }

    /// The reports of all workers.
    ///
    /// # Errors
    /// A worker is gone.
    pub fn reports(&self) -> Result<Vec<Report>, Gone> {
        self.each(|graph| graph.report())
    }

    /// True if no input of any worker will ever have more packets.
    pub fn are_done(&self) -> bool {
        self.workers.iter().all(|worker| worker.state.done.load(Ordering::Relaxed))
    }

    /// True if a worker's thread has ended before it was told to.
    pub fn is_one_gone(&self) -> bool {
        self.workers.iter().any(|worker| worker.thread.is_finished())
    }

    /// `show threads`.
    pub fn threads(&self) -> String {
        let mut out = format!("{:<6}{:<20}{:<12}{}\n", "ID", "Name", "Processor", "Kept there");
        for (number, worker) in self.workers.iter().enumerate() {
            let cpu = worker.state.cpu.load(Ordering::Relaxed);
            let pinned = if worker.pinned.is_some() { "yes" } else { "no" };
            out.push_str(&format!("{number:<6}{:<20}{cpu:<12}{pinned}\n", worker_name(number)));
        }
        out
    }

    /// Stops all and returns their graphs.
    ///
    /// # Errors
    /// A worker is gone.
    pub fn stop(mut self) -> Result<Vec<Graph>, Gone> {
        self.stop.store(true, Ordering::Relaxed);
        let graphs: Vec<_> = std::mem::take(&mut self.workers).into_iter().map(|worker| worker.thread.join()).collect();
        graphs.into_iter().map(|graph| graph.map_err(|_| Gone)).collect()
    }
}

impl Drop for Workers {
    /// Threads that are not waited for end by themselves: where one cannot be started, those before
    /// it do not forward on.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(target_os = "linux")]
fn pin(cpu: usize) -> io::Result<()> {
    machine::pin(cpu)
}

#[cfg(not(target_os = "linux"))]
fn pin(_cpu: usize) -> io::Result<()> {
    Err(io::Error::other("only Linux keeps threads on processors"))
}

#[cfg(target_os = "linux")]
fn cpu() -> usize {
    machine::cpu().unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
fn cpu() -> usize {
    0
}

fn work(mut graph: Graph, asks: &Receiver<Ask>, state: &State, stop: &AtomicBool, busy: bool) -> Graph {
    let (mut idle, mut rounds) = (0_u32, 0_u32);
    loop {
        idle = if graph.run_once() == 0 { idle.saturating_add(1) } else { 0 };
        rounds = rounds.wrapping_add(1);
        if idle >= PATIENCE && !busy {
            thread::sleep(NAP);
        }
        if idle == 0 && !rounds.is_multiple_of(ROUNDS) {
            continue;
        }
        while let Ok(ask) = asks.try_recv() {
            ask(&mut graph);
        }
        if stop.load(Ordering::Relaxed) {
            return graph;
        }
        if rounds.is_multiple_of(ROUNDS) {
            state.cpu.store(cpu(), Ordering::Relaxed);
        }
        state.done.store(graph.is_done(), Ordering::Relaxed);
    }
}
