//! The subject of an exploration, as far as recordings need to know it.

use document::Document;
use explore::{MachineOptions, Mode, Port, Psci, Rcu, Script, Subject};
use seeded::{Fault, Place};

/// A subject whose runs can be recorded and repeated.
pub trait Recordable: Subject + Sync {
    /// The sources of the library, as a number that changes with them.
    const SOURCES: u64;

    /// The subject with one kind of machine.
    fn with(
        cpus: usize,
        machine: Self::Machine,
        fault: Option<&'static Fault>,
        port: Option<&'static dyn Port>,
    ) -> Self;

    /// Number of CPUs.
    fn cpus(&self) -> usize;

    /// The fault that the library has.
    fn fault(&self) -> Option<&'static Fault>;

    /// The port that its machine has.
    fn port(&self) -> Option<&'static dyn Port> {
        None
    }

    /// All faults that it can have: what is static there, not a copy of it.
    const FAULTS: &'static &'static [Fault];

    /// Says what is wrong with a machine.
    ///
    /// # Errors
    /// A sentence.
    fn check_machine(machine: &Self::Machine) -> Result<(), String> {
        let _ = machine;
        Ok(())
    }

    /// Reads from TOML what CPUs are to do.
    ///
    /// # Errors
    /// What is wrong, with its line.
    fn read(document: &Document) -> Result<Self::Script, document::Error> {
        let help = format!("stopwatt explore {} --help shows one", Self::NAME);
        let script: Self::Script = document.read().map_err(|error| error.with_help(&help))?;
        script
            .check()
            .map_err(|wrong| document.wrong_as_a_whole(wrong, help))?;
        Ok(script)
    }

    /// The branches of the library.
    const PLACES: &'static &'static [Place];
}

impl Recordable for Psci {
    const SOURCES: u64 = psci_faults::SOURCES;
    const FAULTS: &'static &'static [Fault] = &psci_faults::FAULTS;
    const PLACES: &'static &'static [Place] = &psci_faults::PLACES;

    fn with(
        cpus: usize,
        machine: MachineOptions,
        fault: Option<&'static Fault>,
        port: Option<&'static dyn Port>,
    ) -> Self {
        Self {
            cpus,
            machines: vec![machine],
            fault,
            port,
        }
    }

    fn port(&self) -> Option<&'static dyn Port> {
        self.port
    }

    fn cpus(&self) -> usize {
        self.cpus
    }

    fn fault(&self) -> Option<&'static Fault> {
        self.fault
    }

    fn check_machine(machine: &MachineOptions) -> Result<(), String> {
        if !(1..=64).contains(&machine.cells_per_line) {
            return Err(format!(
                "a line holds 1 to 64 words, not {}",
                machine.cells_per_line
            ));
        }
        if machine.ticket && !machine.coherent {
            return Err("ticket locks need a machine that stays coherent".to_owned());
        }
        Ok(())
    }
}

impl Recordable for Rcu {
    const SOURCES: u64 = rcu_faults::SOURCES;
    const FAULTS: &'static &'static [Fault] = &rcu_faults::FAULTS;
    const PLACES: &'static &'static [Place] = &rcu_faults::PLACES;

    fn with(
        cpus: usize,
        mode: Mode,
        fault: Option<&'static Fault>,
        _: Option<&'static dyn Port>,
    ) -> Self {
        Self {
            cpus,
            modes: vec![mode],
            fault,
        }
    }

    fn cpus(&self) -> usize {
        self.cpus
    }

    fn fault(&self) -> Option<&'static Fault> {
        self.fault
    }
}
