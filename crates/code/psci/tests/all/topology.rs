//! The boards that `Psci::new` accepts.

use crate::fake::{
    Asymmetric, Board, CPU_TABLE, DOMAINS, Fake, Harness, Options, TOPOLOGY, leak, state, storage,
};
use psci::{
    CompositeState, ConfigError, CpuDesc, CpuIndex, DomainDesc, Error, Level, LocalState,
    PowerStateFormat, Psci, Storage, StorageRef, SuspendRequest, Topology,
};

fn machine() -> &'static Fake {
    leak(Fake::new(Asymmetric, Options::default()))
}

fn refused(domains: &[DomainDesc], cpus: &[CpuDesc]) -> ConfigError {
    let fake = machine();
    let topology = Topology { domains, cpus };
    Psci::new(fake, &topology, storage(fake, &topology))
        .map(|_| ())
        .unwrap_err()
}

fn domains(change: impl FnOnce(&mut Vec<DomainDesc>)) -> ConfigError {
    let mut domains = DOMAINS.to_vec();
    change(&mut domains);
    refused(&domains, &CPU_TABLE)
}

fn cpus(change: impl FnOnce(&mut Vec<CpuDesc>)) -> ConfigError {
    let mut cpus = CPU_TABLE.to_vec();
    change(&mut cpus);
    refused(&DOMAINS, &cpus)
}

#[test]
fn a_tree_that_is_none_is_refused() {
    assert_eq!(refused(&[], &CPU_TABLE), ConfigError::Size);
    assert_eq!(refused(&DOMAINS, &[]), ConfigError::Size);
    let roots = |count: usize| {
        refused(
            &vec![
                DomainDesc {
                    parent: None,
                    level: 1
                };
                count
            ],
            &CPU_TABLE,
        )
    };
    assert_eq!(
        (roots(65534), roots(65535)),
        (ConfigError::Roots { found: 65534 }, ConfigError::Size)
    );
    assert_eq!(
        domains(|d| d[4].parent = Some(9)),
        ConfigError::NoSuchParent { parent: 9 }
    );
    assert_eq!(
        domains(|d| d[4].parent = Some(0)),
        ConfigError::Level { domain: 4 }
    );
    assert_eq!(
        domains(|d| d[4].parent = Some(4)),
        ConfigError::Level { domain: 4 },
        "a cycle"
    );
    assert_eq!(
        domains(|d| d[0].level = 4),
        ConfigError::Level { domain: 0 }
    );
    assert_eq!(
        domains(|d| d[5].level = 0),
        ConfigError::Level { domain: 5 }
    );
    assert_eq!(
        domains(|d| d[1].parent = None),
        ConfigError::Roots { found: 2 }
    );
    assert_eq!(
        domains(|d| d.push(DomainDesc {
            parent: Some(2),
            level: 1
        })),
        ConfigError::Empty { domain: 6 }
    );
    assert_eq!(
        cpus(|c| c[0].parent = 77),
        ConfigError::NoSuchParent { parent: 77 }
    );
    assert_eq!(
        cpus(|c| c[0].parent = 1),
        ConfigError::CpuLevel { cpu: CpuIndex(0) }
    );
    assert_eq!(
        cpus(|c| c[3].mpidr = 0x77),
        ConfigError::Mpidr { cpu: CpuIndex(3) }
    );
    assert_eq!(
        cpus(|c| c[2].parent = 3),
        ConfigError::NotConsecutive { domain: 3 }
    );
}

#[test]
fn storage_of_another_size_is_refused() {
    let fake = machine();
    let small = Topology {
        domains: &DOMAINS[..5],
        cpus: &CPU_TABLE[..3],
    };
    assert_eq!(
        Psci::new(fake, &TOPOLOGY, storage(fake, &small))
            .map(|_| ())
            .unwrap_err(),
        ConfigError::Storage
    );
    let changes: [fn(&mut StorageRef<'static, Fake>); 3] = [
        |storage| storage.words = &storage.words[1..],
        |storage| storage.cpus = &mut std::mem::take(&mut storage.cpus)[1..],
        |storage| storage.domains = &mut std::mem::take(&mut storage.domains)[1..],
    ];
    for change in changes {
        let mut other = storage(fake, &TOPOLOGY);
        change(&mut other);
        assert_eq!(
            Psci::new(fake, &TOPOLOGY, other).map(|_| ()).unwrap_err(),
            ConfigError::Storage
        );
    }
}

/// A firmware's storage is the same as a simulator's, for a tree of two levels as well.
#[test]
fn fixed_storage() {
    let fake = machine();
    let storage: &'static mut Storage<Fake, 6, 6> = leak(Storage::new(fake, &TOPOLOGY));
    let psci = Psci::new(fake, &TOPOLOGY, storage.borrow()).unwrap();
    psci.boot();
    assert_eq!(psci.top_level(), 3);

    let domains = [DomainDesc {
        parent: None,
        level: 1,
    }];
    let cpus: Vec<_> = CPU_TABLE
        .iter()
        .map(|cpu| CpuDesc { parent: 0, ..*cpu })
        .collect();
    let flat = Topology {
        domains: &domains,
        cpus: &cpus,
    };
    let mut storage: Storage<Fake, 6, 1> = Storage::new(fake, &flat);
    assert_eq!(
        Psci::new(fake, &flat, storage.borrow())
            .unwrap()
            .top_level(),
        1
    );
}

/// The message that a port's author reads when `Psci::new` refuses the board.
#[test]
fn a_refusal_says_what_is_wrong() {
    for (error, text) in [
        (
            ConfigError::Size,
            "a tree needs 1 to 65535 CPUs and domains",
        ),
        (
            ConfigError::NoSuchParent { parent: 9 },
            "there is no domain 9 to be a parent",
        ),
        (
            ConfigError::Level { domain: 4 },
            "the level of domain 4 is not one below its parent's",
        ),
        (
            ConfigError::CpuLevel { cpu: CpuIndex(3) },
            "the parent of CPU 3 is not at level 1",
        ),
        (
            ConfigError::Roots { found: 2 },
            "2 domains have no parent: there must be one",
        ),
        (ConfigError::Empty { domain: 6 }, "domain 6 has no CPU"),
        (
            ConfigError::NotConsecutive { domain: 3 },
            "the CPUs of domain 3 are not consecutive",
        ),
        (
            ConfigError::Mpidr { cpu: CpuIndex(3) },
            "the platform does not find CPU 3 by its MPIDR",
        ),
        (
            ConfigError::Storage,
            "the storage does not fit the topology",
        ),
        (
            ConfigError::TicketWithoutCoherency,
            "ticket locks need coherent power-down",
        ),
        (
            ConfigError::OffState,
            "the off state does not power the CPU down, or skips a level",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

/// [`Asymmetric`] with another state for CPUs that are off.
struct Off(CompositeState);

impl Board for Off {
    fn topology(&self) -> Topology<'static> {
        TOPOLOGY
    }
    fn is_power_down(&self, level: Level, state: LocalState) -> bool {
        Asymmetric.is_power_down(level, state)
    }
    fn decode_power_state(
        &self,
        cpu: CpuIndex,
        format: PowerStateFormat,
        raw: u32,
    ) -> Result<SuspendRequest, Error> {
        Asymmetric.decode_power_state(cpu, format, raw)
    }
    fn off_state(&self) -> CompositeState {
        self.0
    }
}

/// A CPU that is off keeps nothing, and is not off below a domain that runs below one that is off.
#[test]
fn an_off_state_that_is_none_is_refused() {
    let refused = |levels| Harness::on_board(Off(state(levels)), Options::default()).err();
    assert_eq!(refused([2, 2, 3, 0]), None);
    for levels in [[1, 0, 0, 0], [0, 0, 0, 0], [2, 0, 3, 0], [2, 0, 0, 1]] {
        assert_eq!(refused(levels), Some(ConfigError::OffState), "{levels:?}");
    }
}
