//! A port that says only what it must: what the library does for it by default.

#![allow(clippy::disallowed_types)] // the machine's own state is its own

use crate::fake::{SUCCESS, code, leak};
use points::{Point, Sink};
use psci::{
    Call, CompositeState, CpuDesc, CpuIndex, DomainDesc, Error, Level, LocalState, LockKind,
    MessageOrder, OptionalCalls, Outcome, Platform, PowerDown, PowerStateFormat, PowerUp, Psci,
    STAT_SLOTS, Scalar, Service, SharedCell, SharedWord, Storage, SuspendModeChange,
    SuspendRequest, Topology, TrustedOs, id,
};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Two CPUs in one domain, without anything that the trait does not ask for.
#[derive(Default)]
struct Bare {
    ticks: AtomicU64,
    /// Messages to the power controller.
    messages: AtomicU64,
}

/// A word that all CPUs see alike.
struct Word<T>(AtomicU64, PhantomData<fn() -> T>);

impl<T: Scalar> SharedWord<T, Bare> for Word<T> {
    fn new(value: T) -> Self {
        Self(AtomicU64::new(value.to_word()), PhantomData)
    }
    fn load(&self, _: &Bare) -> T {
        T::from_word(self.0.load(SeqCst))
    }
    fn store(&self, _: &Bare, value: T) {
        self.0.store(value.to_word(), SeqCst);
    }
    fn fetch_add(&self, _: &Bare, value: T) -> T {
        T::from_word(self.0.fetch_add(value.to_word(), SeqCst))
    }
}

impl<T: Scalar> SharedCell<T, Bare> for Word<T> {
    fn clean(&self, _: &Bare) {}
    fn clean_invalidate(&self, _: &Bare) {}
}

impl Sink for Bare {
    fn now(&self) -> u64 {
        self.ticks.fetch_add(1, SeqCst)
    }
    fn capture(&self, _: Point, _: u32, _: u64) {}
}

const OFF: CompositeState = CompositeState {
    levels: [LocalState(2), LocalState(2), LocalState(0), LocalState(0)],
};

impl Platform for Bare {
    type Shared<T: Scalar> = Word<T>;

    fn this_cpu(&self) -> CpuIndex {
        CpuIndex(0)
    }
    fn cpu_by_mpidr(&self, mpidr: u64) -> Option<CpuIndex> {
        (mpidr < 2).then_some(CpuIndex(mpidr as u16))
    }
    fn counter_frequency(&self) -> u64 {
        1_000_000
    }
    fn is_power_down(&self, _: Level, state: LocalState) -> bool {
        state == LocalState(2)
    }
    fn decode_power_state(&self, raw: u32) -> Result<SuspendRequest, Error> {
        let standby = CompositeState {
            levels: [LocalState(1), LocalState(0), LocalState(0), LocalState(0)],
        };
        match raw {
            0 => Ok(SuspendRequest {
                state: standby,
                last_at_level: 0,
            }),
            0x1_0000 => Ok(SuspendRequest {
                state: OFF,
                last_at_level: 1,
            }),
            _ => Err(Error::InvalidParameters),
        }
    }
    fn off_state(&self) -> CompositeState {
        OFF
    }
    fn barrier(&self) {}
    fn wait_for_event(&self) {}
    fn send_event(&self) {}
    fn save_context(&self) {}
    fn restore_context(&self) {}
    fn interrupt_pending(&self) -> bool {
        false
    }
    fn interrupts_off(&self) {}
    fn interrupts_on(&self) {}
    fn interrupts_init(&self) {}
    fn flush_caches(&self, _: Level) {}
    fn caches_on(&self) {}
    fn warm_reset(&self) {}
    fn power_down(&self, _: &CompositeState, _: PowerDown) {
        self.messages.fetch_add(1, SeqCst);
    }
    fn wait_for_power_down(&self) {}
    fn power_down_abandoned(&self, _: &CompositeState) {}
    fn standby(&self, _: &CompositeState) {}
    fn power_on(&self, _: CpuIndex) -> Result<(), Error> {
        Ok(())
    }
    fn powered_up(&self, _: &CompositeState, _: PowerUp) {}
}

#[test]
fn what_a_port_does_not_say_has_the_documented_answer() {
    let bare = Bare::default();
    assert!(!bare.coherent_power_down());
    assert_eq!(bare.lock_kind(), LockKind::Bakery, "tickets need coherency");
    assert_eq!(bare.message_order(), MessageOrder::InsideLocks);
    assert_eq!(bare.power_state_format(), PowerStateFormat::Original);
    assert_eq!(bare.optional_calls(), OptionalCalls::NONE);
    assert_eq!(
        bare.suspend_mode_change(),
        SuspendModeChange::WhileNobodySleeps
    );
    assert_eq!(
        (bare.system_suspend_state(), bare.default_suspend_state()),
        (None, None)
    );
    assert_eq!(
        (bare.caller_endianness(), bare.trusted_os()),
        (None, TrustedOs::Absent)
    );
    assert!(
        bare.is_valid_entry_point(0xdead_beef) && bare.power_down_allowed(&OFF, PowerDown::Off)
    );
    assert_eq!(
        (
            bare.smccc_arch_feature(0x8000_8000),
            bare.smccc_arch_call(0x8000_8000, [1; 3])
        ),
        (-1, None)
    );
    assert_eq!(
        bare.service_identity(Service::Standard).uid,
        Service::Standard.identity().uid
    );
    assert_eq!(
        [bare.system_reset2(0, 0), bare.hibernate()],
        [Error::NotSupported; 2]
    );
    assert_eq!(bare.mem_protect(true), Err(Error::NotSupported));
    assert!(!bare.mem_protect_check_range(0x8000_0000, 4));
    assert_eq!(bare.node_hw_state(CpuIndex(0), 0), Err(Error::NotSupported));
    assert_eq!(bare.migrate(CpuIndex(1)), Err(Error::NotSupported));
}

/// Residencies of state n are counted in slot n - 1, as long as there is one.
#[test]
fn states_are_counted_in_order() {
    let bare = Bare::default();
    let slots: Vec<_> = (0..6)
        .map(|state| bare.stat_slot(1, LocalState(state)))
        .collect();
    assert_eq!(slots, [None, Some(0), Some(1), Some(2), Some(3), None]);
    assert_eq!(STAT_SLOTS, 4);
}

/// The shallowest request wins; after one to keep running no further one is asked for.
#[test]
fn the_shallowest_request_wins() {
    let bare = Bare::default();
    for (requests, expected, looked_at) in [
        (&[3, 1, 2][..], 1, 3),
        (&[2, 2], 2, 2),
        (&[2, 0, 1], 0, 2),
        (&[0], 0, 1),
        (&[1, 3], 1, 2),
    ] {
        let mut looked = 0;
        let states = requests
            .iter()
            .map(|&state| LocalState(state))
            .inspect(|_| looked += 1);
        assert_eq!(
            bare.coordinate(1, states),
            LocalState(expected),
            "{requests:?}"
        );
        assert_eq!(looked, looked_at, "{requests:?}");
    }
}

#[test]
fn an_access_in_no_order_is_an_ordinary_one_by_default() {
    let bare = Bare::default();
    let word = <Word<u64> as SharedWord<u64, Bare>>::new(3);
    word.store_relaxed(&bare, 7);
    assert_eq!((word.load_relaxed(&bare), word.load(&bare)), (7, 7));
}

/// The calls of such a port as the normal world sees them.
#[test]
fn calls_of_a_bare_port() {
    let bare: &'static Bare = leak(Bare::default());
    let domains = [DomainDesc {
        parent: None,
        level: 1,
    }];
    let cpus = [
        CpuDesc {
            mpidr: 0,
            parent: 0,
        },
        CpuDesc {
            mpidr: 1,
            parent: 0,
        },
    ];
    let topology = Topology {
        domains: &domains,
        cpus: &cpus,
    };
    let storage: &'static mut Storage<Bare, 2, 1> = leak(Storage::new(bare, &topology));
    let psci = Psci::new(bare, &topology, storage.borrow()).unwrap();
    psci.boot();
    let call = |function, args| match psci.handle_smc(Call {
        function,
        args,
        entered: Sink::now(bare),
    }) {
        Outcome::Return([x0, ..]) => x0,
        Outcome::Enter(entry) => panic!("entered {entry:?}"),
    };
    let unsupported = code(Error::NotSupported);
    for function in [
        id::CPU_FREEZE,
        id::SYSTEM_SUSPEND,
        id::CPU_DEFAULT_SUSPEND,
        id::MEM_PROTECT,
        id::MIGRATE,
    ] {
        assert_eq!(call(function, [0; 3]), unsupported, "{function:#x}");
    }
    assert_eq!(
        call(id::SYSTEM_OFF, [0; 3]),
        code(Error::InternalFailure),
        "the platform did nothing"
    );
    assert_eq!(
        call(id::SYSTEM_RESET, [0; 3]),
        code(Error::InternalFailure),
        "the platform did nothing"
    );
    assert_eq!(call(id::CPU_ON | id::SMC64, [1, 0xdead_beef, 0]), SUCCESS);
    assert_eq!(
        call(id::CPU_SUSPEND | id::SMC64, [0, 0, 0]),
        SUCCESS,
        "a standby"
    );
    // The power-down comes back as an abandoned one, with the other CPU off: the controller was
    // told once.
    assert_eq!(
        call(id::CPU_SUSPEND | id::SMC64, [0x1_0000, 0x1000, 0]),
        SUCCESS
    );
    assert_eq!(bare.messages.load(SeqCst), 1);
}
