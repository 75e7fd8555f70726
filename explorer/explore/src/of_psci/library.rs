//! The PSCI library on a board: its second compilation, whose branches are counted, and which does
//! the same as the first while no fault is on.

use super::{
    board::{Board, Entry, Port, shape_of, variables_of},
    options::MachineOptions,
};
use ::points::Sink;
use interleavings::subject::made_by;
use itertools::Itertools;
use psci_faults::{
    Call, CpuDesc, CpuRecord, DomainDesc, DomainRecord, Endianness, EntryPoint, Outcome, Psci,
    StorageRef, SystemRecord, Topology, lock::BakeryWord,
};
use smc::{PSCI_VERSION, SMC64};

/// The library on a board.
pub type Library<'b> = Psci<'b, Board>;

/// The entry point of a CPU into the normal world.
pub fn entry_of(entry: EntryPoint) -> Entry {
    Entry {
        pc: entry.pc,
        context_id: entry.context_id,
        big: entry.endianness == Endianness::Big,
    }
}

/// Makes a call, and notes the stamp of its start if it is one of PSCI.
pub fn ask(board: &Board, library: &Library<'_>, function: u32, args: [u64; 3]) -> Outcome {
    // The exception was taken a tick before.
    let entered = board.now() - 1;
    if matches!(function & !SMC64, PSCI_VERSION..=0x8400_001f) {
        board.ledger.borrow_mut().stamps(board.process())[0] = entered;
    }
    library.handle_smc(Call {
        function,
        args,
        entered,
    })
}

/// Builds a board with the library on it, and hands both to `run`.
pub fn with_library<R>(
    cpus: usize,
    options: MachineOptions,
    port: Option<&'static dyn Port>,
    run: impl FnOnce(&Board, &Library<'_>) -> R,
) -> R {
    let shape = shape_of(cpus, port);
    let domains = (0..=shape.clusters() as u8)
        .map(|at| DomainDesc {
            parent: (at > 0).then_some(0),
            level: 2 - at.min(1),
        })
        .collect_vec();
    let table = (0..cpus)
        .map(|cpu| CpuDesc {
            mpidr: shape.mpidr(cpu),
            parent: 1 + shape.cluster(cpu) as u16,
        })
        .collect_vec();
    let topology = Topology {
        domains: &domains,
        cpus: &table,
    };
    // The records ask the machine what CPUs that are off ask for; a board without words can say
    // that.
    let blank = Board::new(cpus, &[], options, port);
    let ((mut records, mut domain_records, words, system), values) = made_by(|| {
        let records = table.iter().map(|_| CpuRecord::new(&blank)).collect_vec();
        let domain_records = domains
            .iter()
            .map(|domain| DomainRecord::new(&blank, domain.level))
            .collect_vec();
        let words = (0..2 * cpus).map(|_| BakeryWord::default()).collect_vec();
        (records, domain_records, words, SystemRecord::default())
    });
    let of_port = variables_of(port).len();
    let values = [values, vec![0; of_port * cpus]].concat();
    let board = Board::new(cpus, &values, options, port);
    let storage = StorageRef {
        cpus: &mut records,
        domains: &mut domain_records,
        words: &words,
        system: &system,
    };
    match Psci::new(&board, &topology, storage) {
        Ok(library) => run(&board, &library),
        Err(error) => unreachable!("the board is sound: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::with_library;
    use crate::of_psci::layout::Shape;
    use crate::of_psci::names::{names, words_of_library};
    use crate::of_psci::options::MachineOptions;

    #[test]
    fn every_word_of_the_library_has_a_name() {
        for cpus in 1..6_usize {
            let shape = Shape::new(cpus, 0);
            let named = words_of_library(shape);
            with_library(cpus, MachineOptions::default(), None, |board, _| {
                assert_eq!(board.memory().lines(), named);
                let names = names(shape, &[]);
                assert_eq!(names.cell(named as u16 - 2), "the suspend mode");
                assert_eq!(
                    names.cell(named as u16 - 3),
                    format!("CPU {}'s bakery word of the system", cpus - 1)
                );
            });
        }
    }
}
