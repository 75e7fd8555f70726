//! The PSCI library, in either of its two compilations.

use super::board::{Board, Entry};
use super::hook::variables;
use super::layout;
use super::options::MachineOptions;
use interleavings::subject::{CPUS_PER_CLUSTER, made_by};

/// Entry of a CPU into the normal world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Landing {
    pub(crate) entry: Entry,
    /// It comes from a suspend, not from a CPU_ON.
    pub(crate) resumes: bool,
}

/// The answer of a call that returned.
pub(crate) enum Answer {
    Return(u64),
    Enter(Landing),
}

/// The calls of either compilation.
pub(crate) trait Library {
    fn boot(&self);
    fn call(&self, function: u32, args: [u64; 3]) -> Answer;
    fn warm_boot(&self) -> Landing;
}

macro_rules! entry_of {
    ($library:ident, $entry:ident) => {
        Entry {
            pc: $entry.pc,
            context_id: $entry.context_id,
            big: $entry.endianness == $library::Endianness::Big,
        }
    };
}

/// Implements [`Library`] for one of the two compilations, and a function that builds a board with
/// it.
macro_rules! library {
    ($library:ident, $build:ident) => {
        impl Library for $library::Psci<'_, Board> {
            fn boot(&self) {
                $library::Psci::boot(self);
            }

            fn call(&self, function: u32, args: [u64; 3]) -> Answer {
                match self.handle_smc($library::Call {
                    function,
                    args,
                    entered: 0,
                }) {
                    $library::Outcome::Return([x0, ..]) => Answer::Return(x0),
                    $library::Outcome::Enter(entry) => Answer::Enter(Landing {
                        entry: entry_of!($library, entry),
                        resumes: entry.after == $library::PowerUp::Resume,
                    }),
                }
            }

            fn warm_boot(&self) -> Landing {
                let entry = $library::Psci::warm_boot(self);
                Landing {
                    entry: entry_of!($library, entry),
                    resumes: entry.after == $library::PowerUp::Resume,
                }
            }
        }

        /// Builds a board with the library on it, and hands both to `run`.
        pub(crate) fn $build<R>(
            cpus: usize,
            options: MachineOptions,
            run: impl FnOnce(&Board, &dyn Library) -> R,
        ) -> R {
            use $library::{
                CpuDesc, CpuIndex, CpuRecord, DomainDesc, DomainRecord, StorageRef, SystemRecord,
                Topology,
            };
            let clusters = cpus.div_ceil(CPUS_PER_CLUSTER);
            let mut domains = vec![DomainDesc {
                parent: None,
                level: 2,
            }];
            domains.extend((0..clusters).map(|_| DomainDesc {
                parent: Some(0),
                level: 1,
            }));
            let of_cpu = |cpu: usize| CpuDesc {
                mpidr: layout::mpidr(cpu),
                parent: 1 + (cpu / CPUS_PER_CLUSTER) as u16,
            };
            let table: Vec<_> = (0..cpus).map(of_cpu).collect();
            let topology = Topology {
                domains: &domains,
                cpus: &table,
            };
            debug_assert_eq!(CpuIndex(0).get(), 0);
            // The records ask the machine what CPUs that are off ask for; a board without words can
            // say that.
            let blank = Board::new(cpus, &[], options);
            let ((mut records, mut domain_records, words, system), values) = made_by(|| {
                let records: Vec<CpuRecord<Board>> =
                    table.iter().map(|_| CpuRecord::new(&blank)).collect();
                let domain_records: Vec<DomainRecord<Board>> = domains
                    .iter()
                    .map(|domain| DomainRecord::new(&blank, domain.level))
                    .collect();
                let words: Vec<_> = (0..2 * cpus)
                    .map(|_| $library::lock::BakeryWord::new())
                    .collect();
                (records, domain_records, words, SystemRecord::new())
            });
            let of_port = variables();
            let values = [values, vec![0; of_port * cpus]].concat();
            let board = Board::new(cpus, &values, options);
            let storage = StorageRef {
                cpus: &mut records,
                domains: &mut domain_records,
                words: &words,
                system: &system,
            };
            match $library::Psci::new(&board, &topology, storage) {
                Ok(library) => run(&board, &library),
                Err(error) => unreachable!("the board is sound: {error}"),
            }
        }
    };
}

library!(psci, with_sound);
library!(psci_faults, with_faults);

#[cfg(test)]
mod tests {
    use super::with_sound;
    use crate::of_psci::names::{WORDS_OF_CPU, WORDS_OF_DOMAIN, names};
    use crate::of_psci::options::MachineOptions;
    use interleavings::subject::CPUS_PER_CLUSTER;

    #[test]
    fn every_word_of_the_library_has_a_name() {
        for cpus in 1..6_usize {
            let domains = cpus.div_ceil(CPUS_PER_CLUSTER) + 1;
            let named = cpus * WORDS_OF_CPU + domains * WORDS_OF_DOMAIN + 2 * cpus + 2;
            with_sound(cpus, MachineOptions::default(), |board, _| {
                assert_eq!(board.memory().lines(), named);
                let names = names(cpus);
                assert_eq!(names.cell(named as u16 - 2), "the suspend mode");
                assert_eq!(
                    names.cell(named as u16 - 3),
                    format!("CPU {}'s bakery word of the system", cpus - 1)
                );
            });
        }
    }
}
