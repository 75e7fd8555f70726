//! The board: its machine, and the idle states of each source.

use crate::point::Point;
use experiment::{Error, Files};
use idle::States;
use itertools::Itertools;
use minikernel::{CpuSet, Hardware};
use platforms::PlatformFiles;
use recording::facts::WorkOfCore;
use soc::config::{IdlePlatform, Machine};

/// A board.
pub struct Board {
    /// Name of the board.
    pub name: String,
    machine: Machine,
    /// Idle states by the name of their source.
    idle: Vec<(String, IdlePlatform)>,
    /// The text of its file.
    pub text: String,
}

impl Board {
    /// The board of a name or of the file at a path, with the idle states that some names stand
    /// for; a board that these are not of has those of its own name.
    ///
    /// # Errors
    /// There is no such board; what is wrong in its files.
    pub fn open(files: &dyn Files, given: &str, idle_names: &[String]) -> Result<Self, Error> {
        let platform = PlatformFiles::open(files, given)?;
        let name = platform.name();
        let machine = platform
            .sources(&platform.release_name("last")?)?
            .machine()?;
        let is_of = |idle: &&String| **idle == name || idle.starts_with(&format!("{name}-"));
        let mut idle = Vec::new();
        for source in idle_names {
            let of = if is_of(&source) {
                source.as_str()
            } else {
                name
            };
            idle.push((source.clone(), platforms::idle_states(files, of)?));
        }
        let board = Self {
            name: name.to_owned(),
            machine,
            idle,
            text: platform.document().text().to_owned(),
        };
        // A machine and idle states that do not fit each other are an error before the run starts.
        for (_, idle) in &board.idle {
            Hardware::new(&board.machine, idle, 0).map_err(Error::Failed)?;
        }
        Ok(board)
    }

    /// The time that the least and the most capable core need for what the fastest core does in a
    /// second, at their highest operating points; `None` on a board without operating points.
    pub fn work_of_cores(&self) -> [Option<WorkOfCore>; 2] {
        let tops = self
            .machine
            .platform
            .topology
            .domains
            .iter()
            .filter_map(|domain| domain.operating_points.last());
        let mut tops = tops.collect_vec();
        tops.sort_by_key(|point| point.capacity);
        let most = tops.last().map_or(1.0, |point| f64::from(point.capacity));
        [tops.first(), tops.last()].map(|point| {
            let point = point?;
            let time_s = most / f64::from(point.capacity);
            Some(WorkOfCore {
                energy_unit_s: f64::from(point.core_power) * time_s,
                time_s,
            })
        })
    }

    /// The hardware at a point.
    ///
    /// # Panics
    /// The point names idle states that the board was not opened with.
    pub fn at(&self, point: &Point<'_>) -> Hardware {
        let name = point.word("idle.states");
        let (_, idle) = self
            .idle
            .iter()
            .find(|(other, _)| *other == name)
            .expect("opened with all of them");
        let longer = point.find_number("residency").unwrap_or(100);
        let mut states = idle.clone();
        for domain in &mut states.domains {
            let states = domain
                .table
                .all()
                .iter()
                .map(|state| idle::State {
                    target_residency_ns: state.target_residency_ns * longer / 100,
                    ..*state
                })
                .collect_vec();
            domain.table = States::new(&states).expect("all are longer by the same factor");
        }
        let hardware = Hardware::new(&self.machine, &states, point.number("transition").min(1024));
        let mut hardware = hardware.expect("tried when the board was opened");
        for domain in &mut hardware.domains {
            let power = &mut domain.states[0].power;
            power.core = power.core * point.number("wfi") / 100;
            power.domain = power.domain * point.number("wfi") / 100;
        }
        hardware
    }
}

/// Capacity of a domain's cores at their highest operating point.
fn top(domain: &minikernel::Domain) -> u32 {
    domain.points.last().map_or(0, |point| point.capacity)
}

/// The domain of the slowest cores, or of the fastest, which are `big`.
fn domain<'h>(hardware: &'h Hardware, core: &str) -> &'h minikernel::Domain {
    let domains = hardware.domains.iter();
    let domain = if core == "big" {
        domains.max_by_key(|domain| top(domain))
    } else {
        domains.min_by_key(|domain| top(domain))
    };
    domain.expect("a board has domains")
}

/// The domain of the slowest cores.
pub fn little(hardware: &Hardware) -> &minikernel::Domain {
    domain(hardware, "little")
}

/// The capacity of the slowest or the fastest cores.
pub fn capacity(hardware: &Hardware, core: &str) -> u32 {
    top(domain(hardware, core))
}

/// The slowest or the fastest CPUs.
pub fn cpus_of(hardware: &Hardware, core: &str) -> CpuSet {
    CpuSet::from_cpus(domain(hardware, core).cpus.clone())
}
