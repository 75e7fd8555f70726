//! PSCI 1.3 for EL3 firmware: the calls by which an operating system turns CPUs on and off and
//! suspends them (Arm DEN0022), over a [`Platform`] that stands for the machine. Section numbers in
//! this crate are those of issue F.b of that document, "Arm Power State Coordination Interface",
//! version 1.3.
//!
//! The library does not know whether that machine is a board, an emulator or a simulation. Every
//! word that two CPUs share is a cell of the platform's ([`Platform::Shared`]), and everything that
//! takes time is one of its methods. It holds no memory of its own, allocates nothing and contains
//! no unsafe code.
//!
//! # Entry points
//!
//! | | when | what |
//! |---|---|---|
//! | [`Psci::new`] | once | checks the power-domain tree and the storage |
//! | [`Psci::boot`] | once, on the CPU of the cold boot | marks that CPU and its ancestors as running |
//! | [`Psci::handle_smc`] | an SMC | returns values for X0 to X3, or does not return: the CPU is down |
//! | [`Psci::warm_boot`] | a reset other than the first | returns where the CPU enters the normal world |
//!
//! # What happens when, and where the stamps are
//!
//! CPU_SUSPEND to a power-down state:
//!
//! 1. **ENTER_PSCI**: the counter as the vector read it ([`Call::entered`]); arguments are checked,
//!    the entry point is saved
//! 2. the locks of the ancestors, lowest level first, up to the highest level the request powers
//!    down (see below)
//! 3. a pending interrupt: release and return; nothing has changed
//! 4. coordination: the request is noted, each domain's state decided and written
//! 5. context saved; **ENTER_CFLUSH**, [`Platform::flush_caches`], **EXIT_CFLUSH**
//! 6. interrupt controller interface off
//! 7. [`Platform::power_down`], inside the locks unless [`Platform::message_order`] says otherwise
//! 8. locks released, highest first
//! 9. **ENTER_HW_LOW_PWR**, [`Platform::wait_for_power_down`]
//!
//! and back up, in [`Psci::warm_boot`]:
//!
//! 1. **EXIT_HW_LOW_PWR**, then [`Platform::warm_reset`]
//! 2. the locks, lowest first; [`Platform::powered_up`]; caches on
//! 3. interrupt controller on, context restored, statistics, states to running
//! 4. locks released, highest first; **EXIT_PSCI**
//!
//! CPU_OFF goes the same way down without saving context, and tells others that the CPU is off
//! right before ENTER_HW_LOW_PWR. CPU_FREEZE does so too, but the CPU and its ancestors count as
//! running, so that none of them loses power. After a CPU_ON the way up initialises the interrupt
//! controller instead of restoring. If the terminal WFI returns, the power-down was abandoned: all
//! is undone under the same locks; CPU_SUSPEND returns SUCCESS, CPU_OFF DENIED.
//!
//! | call | locks |
//! |---|---|
//! | CPU_SUSPEND of level 0 only, and the wake-up from it, in platform-coordinated mode | none |
//! | CPU_FREEZE | none |
//! | CPU_SUSPEND up to level n, and the wake-up from it | ancestors up to n |
//! | CPU_SUSPEND in OS-initiated mode | ancestors up to the top |
//! | CPU_OFF, SYSTEM_SUSPEND, the way up after CPU_ON | ancestors up to the top |
//! | CPU_ON | the target's own lock, around the change of its state and the message |
//!
//! In OS-initiated mode one CPU's request takes down a domain in which others sleep, so those must
//! lock all levels when they wake.
//!
//! [`mod@points`] lists the points; [the first six](points::ENTER_PSCI) are read over the PMF
//! calls. The feature `detail` adds those that split a powerdown or wakeup into lock wait, message,
//! context and code; the feature `off` removes all.
//!
//! # Caches
//!
//! A CPU on its way down lets go of its locks with its caches off, and a CPU on its way up takes
//! them with its caches off. The library does the maintenance that this needs, word by word; what a
//! port must see to is the memory that the words lie in ([`SharedCell`]). Module [`lock`] has the
//! lock that works under these conditions, and the one for machines that stay coherent.
//!
//! # Porting
//!
//! A platform must answer 24 methods; the others have a default. Here is a whole one, for a machine
//! whose CPUs stay coherent and have one low-power state; the bodies would be a few instructions
//! each:
//!
//! ```
//! use core::sync::atomic::{AtomicU64, Ordering::*};
//! use psci::*;
//!
//! struct Board;
//!
//! /// A shared word. Where CPUs do not stay coherent, `clean` and `clean_invalidate` are DC CVAC and DC CIVAC, and the
//! /// word has a cache line of its own.
//! struct Word(AtomicU64);
//!
//! impl<T: Scalar> SharedWord<T, Board> for Word {
//!     fn new(value: T) -> Self { Self(AtomicU64::new(value.to_word())) }
//!     fn load(&self, _: &Board) -> T { T::from_word(self.0.load(Acquire)) }
//!     fn store(&self, _: &Board, value: T) { self.0.store(value.to_word(), Release) }
//!     fn fetch_add(&self, _: &Board, value: T) -> T { T::from_word(self.0.fetch_add(value.to_word(), AcqRel)) }
//! }
//!
//! impl<T: Scalar> SharedCell<T, Board> for Word {
//!     fn clean(&self, _: &Board) {}
//!     fn clean_invalidate(&self, _: &Board) {}
//! }
//!
//! impl Sink for Board {
//!     fn now(&self) -> u64 { 0 /* ISB, CNTPCT_EL0 */ }
//!     fn capture(&self, _: Point, _: u32, _: u64) {}
//! }
//!
//! impl Platform for Board {
//!     type Shared<T: Scalar> = Word;
//!
//!     // The CPUs and their states.
//!     fn this_cpu(&self) -> CpuIndex { CpuIndex(0) /* from MPIDR_EL1 */ }
//!     fn cpu_by_mpidr(&self, mpidr: u64) -> Option<CpuIndex> { (mpidr < 2).then_some(CpuIndex(mpidr as u16)) }
//!     fn counter_frequency(&self) -> u64 { 50_000_000 }
//!     fn coherent_power_down(&self) -> bool { true }
//!     fn is_power_down(&self, _: Level, state: LocalState) -> bool { state == LocalState(1) }
//!     fn decode_power_state(&self, power_state: u32) -> Result<SuspendRequest, Error> {
//!         let fields = PowerState::parse(PowerStateFormat::Original, power_state).ok_or(Error::InvalidParameters)?;
//!         match fields {
//!             PowerState { power_down: true, level: Some(0), state_id: 0 } => {
//!                 let mut state = CompositeState::RUN;
//!                 state.set(CPU_LEVEL, LocalState(1));
//!                 Ok(SuspendRequest { state, last_at_level: 0 })
//!             }
//!             _ => Err(Error::InvalidParameters),
//!         }
//!     }
//!     fn off_state(&self) -> CompositeState {
//!         CompositeState { levels: [LocalState(1), LocalState(1), LocalState::RUN, LocalState::RUN] }
//!     }
//!
//!     // Barriers and events: DSB SY; WFE; DSB, SEV.
//!     fn barrier(&self) {}
//!     fn wait_for_event(&self) {}
//!     fn send_event(&self) {}
//!
//!     // The CPU's own hardware.
//!     fn save_context(&self) {}
//!     fn restore_context(&self) {}
//!     fn interrupt_pending(&self) -> bool { false }
//!     fn interrupts_off(&self) {}
//!     fn interrupts_on(&self) {}
//!     fn interrupts_init(&self) {}
//!     fn flush_caches(&self, _: Level) {}
//!     fn caches_on(&self) {}
//!     fn warm_reset(&self) {}
//!
//!     // Power.
//!     fn power_down(&self, _: &CompositeState, _: PowerDown) {}
//!     fn wait_for_power_down(&self) {} // WFI; here it returns at once, so that every power-down is abandoned
//!     fn power_down_abandoned(&self, _: &CompositeState) {}
//!     fn standby(&self, _: &CompositeState) {}
//!     fn power_on(&self, _: CpuIndex) -> Result<(), Error> { Ok(()) }
//!     fn powered_up(&self, _: &CompositeState, _: PowerUp) {}
//! }
//!
//! // Two CPUs in one domain.
//! let topology = Topology {
//!     domains: &[DomainDesc { parent: None, level: 1 }],
//!     cpus: &[CpuDesc { mpidr: 0, parent: 0 }, CpuDesc { mpidr: 1, parent: 0 }],
//! };
//! let mut storage = Storage::<Board, 2, 1>::new(&Board, &topology);
//! let psci = Psci::new(&Board, &topology, storage.borrow())?;
//! psci.boot();
//!
//! let call = |function, args| psci.handle_smc(Call { function, args, entered: Board.now() });
//! assert_eq!(call(id::PSCI_VERSION, [0; 3]), Outcome::Return([0x1_0003, 0, 0, 0]));
//! assert_eq!(call(id::CPU_ON, [1, 0x6000_0000, 0]), Outcome::Return([0, 0, 0, 0]));
//! assert_eq!(call(id::AFFINITY_INFO, [1, 0, 0]), Outcome::Return([2, 0, 0, 0])); // ON_PENDING
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! # Cost
//!
//! The platform is a type parameter: its settings are constants after inlining, so a machine with
//! ticket locks carries no bakery, and on AArch64 a release build contains no panic. PSCI_VERSION
//! is two stamps, a bit test and a match: about 65 AArch64 instructions by its listing, without
//! vector and capture. AFFINITY_INFO of a CPU is one maintained load. Coordination reads the
//! requests of a domain's CPUs until one says "run": for a suspend to level n, at most the CPUs
//! below the ancestor at n, once for each level. A bakery of n CPUs costs 2 stores and 2(n - 1)
//! loads to acquire; a maintained access is the access, one maintenance instruction and one
//! barrier.
//!
//! # What is not done
//!
//! * The MPIDR of the calls is looked up by the platform; multi-threaded CPUs (MT) are CPUs like
//!   any other.
//! * A CPU in CPU_DEFAULT_SUSPEND's standby of level 0 counts as running for OS-initiated requests
//!   of others.
//! * A CPU that is frozen by CPU_FREEZE reads as off in AFFINITY_INFO, and SYSTEM_SUSPEND beside it
//!   is DENIED: both are this library's reading of 5.17 and 5.20, which no other firmware was held
//!   to.
//! * PSCI_STAT counts [`STAT_SLOTS`] states a domain, and counts a stay when it ends. Stays after
//!   CPU_OFF count like those of a suspend in the same state.
//! * SMCCC_ARCH_WORKAROUND and the SoC id calls are the firmware's, which answers for them in
//!   [`Platform::smccc_arch_feature`] and [`Platform::smccc_arch_call`]; SDEI and the other
//!   services are not there.
#![no_std]
#![forbid(unsafe_code)]

mod affinity;
mod call;
mod cell;
mod cpu_index;
mod dispatch;
mod error;
mod features;
mod identity;
pub mod lock;
mod on_off;
mod platform;
mod pmf;
pub mod points;
mod power_down;
mod power_state;
mod psci;
mod services;
mod settings;
mod shared;
mod stat_calls;
mod state;
mod state_checks;
mod statistics;
mod storage;
mod suspend;
mod suspend_mode;
mod suspend_request;
mod system;
mod topology;
mod transition;
mod tree;
mod trusted_os;
mod warm_boot;

pub use ::points::{Point, Sink};
pub use call::{Call, Endianness, EntryPoint, Outcome};
pub use cell::{Scalar, SharedAtomic, SharedCell, SharedWord};
pub use cpu_index::CpuIndex;
pub use dispatch::{PSCI_VERSION, SMCCC_VERSION};
pub use error::Error;
pub use identity::{Identity, Service};
pub use platform::{Platform, STAT_SLOTS};
pub use power_state::{PowerState, PowerStateFormat};
pub use psci::Psci;
pub use settings::{LockKind, MessageOrder, OptionalCalls, SuspendModeChange};
/// Function ids of the calls.
pub use smc as id;
pub use state::{CPU_LEVEL, CompositeState, HwState, LEVELS, Level, LocalState, MAX_LEVEL};
pub use storage::{CpuRecord, DomainRecord, Storage, StorageRef, SystemRecord};
pub use suspend_request::SuspendRequest;
pub use topology::{ConfigError, CpuDesc, DomainDesc, Topology};
pub use transition::{PowerDown, PowerUp};
pub use trusted_os::TrustedOs;
