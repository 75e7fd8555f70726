//! A fake machine, for tests of the library and of ports, on a host with the standard library
//! (feature `fake`).
//!
//! A test says what its CPUs do, one at a time: [`Harness::suspend`], [`Harness::wake`],
//! [`Harness::turn_off`], or any call by [`Harness::smc`]. A CPU that powers down unwinds and so
//! loses its stack, as hardware does; the test then decides when it wakes, and what other CPUs do
//! meanwhile. What the library asked of the machine stands in [`Harness::log`].
//!
//! Memory is modelled with what makes caches dangerous: see [`Cell`]. A word that is touched with
//! the wrong maintenance makes the test panic, so the same library code that runs on the board is
//! tried against the least helpful cache that the architecture allows.
//!
//! # To test a port
//! A port's power-domain tree and the meaning of its `power_state` values are plain functions. Put
//! them in a [`Board`], and [`Harness::on_board`] runs the library over them:
//!
//! ```
//! use psci::fake::{Board, Harness, Options};
//! use psci::*;
//!
//! /// Two CPUs in a cluster. A CPU's state 1 is off, and so is the cluster's.
//! struct TwoCpus;
//!
//! impl Board for TwoCpus {
//!     fn topology(&self) -> Topology<'static> {
//!         Topology {
//!             domains: &[DomainDesc { parent: None, level: 1 }],
//!             cpus: &[CpuDesc { mpidr: 0, parent: 0 }, CpuDesc { mpidr: 1, parent: 0 }],
//!         }
//!     }
//!     fn is_power_down(&self, _: Level, state: LocalState) -> bool { state == LocalState(1) }
//!     fn decode_power_state(&self, _: CpuIndex, _: PowerStateFormat, raw: u32) -> Result<SuspendRequest, Error> {
//!         let levels = match raw {
//!             0x1_0000 => [1, 0, 0, 0],
//!             0x101_0001 => [1, 1, 0, 0],
//!             _ => return Err(Error::InvalidParameters),
//!         };
//!         let state = CompositeState { levels: levels.map(LocalState) };
//!         Ok(SuspendRequest { state, last_at_level: state.highest() })
//!     }
//!     fn off_state(&self) -> CompositeState {
//!         CompositeState { levels: [1, 1, 0, 0].map(LocalState) }
//!     }
//! }
//!
//! let machine = Harness::on_board(TwoCpus, Options::default())?;
//! machine.turn_on(1);
//! let suspend = |cpu| machine.smc(cpu, id::CPU_SUSPEND | id::SMC64, [0x101_0001, 0x8000_0000, 7]);
//!
//! // The first CPU leaves the cluster on, the last one takes it down.
//! suspend(1).powered_down();
//! assert_eq!(machine.last_power_down(), "power_down [1, 0, 0, 0] Suspend");
//! suspend(0).powered_down();
//! assert_eq!(machine.last_power_down(), "power_down [1, 1, 0, 0] Suspend");
//!
//! // Whoever wakes first opens the cluster again, and resumes where it asked to.
//! let entry = machine.wake(1);
//! assert_eq!((entry.pc, entry.context_id, entry.after), (0x8000_0000, 7, PowerUp::Resume));
//! assert_eq!(machine.last_logged("powered_up"), "powered_up [1, 1, 0, 0] Resume");
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! What it cannot show is what a port's drivers do to hardware: barriers, interrupt controller and
//! power controller are entries of the log here.

// The machine under the library may use what the library itself may not.
#![allow(clippy::disallowed_types)]

mod asymmetric;
mod asymmetric_harness;
mod board;
mod harness;
mod machine;
mod memory;
mod platform;

pub use asymmetric::{Asymmetric, CPU_TABLE, CPUS, DOMAINS, TOPOLOGY, mpidr, state};
pub use asymmetric_harness::RESUME;
pub use board::Board;
pub use harness::{CPU_ON_ENTRY, Ending, Harness, SUCCESS, code, leak, returned, storage};
pub use machine::{Fake, Options, TICKS_PER_US};
pub use memory::Cell;
