//! Why CPUs woke up, and what each time awake took: the part that another configuration of the
//! kernel would not have needed there.

use crate::amount::Amount;
use crate::machine::Domain;

/// What a time awake was for; the bits add up.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Cause {
    /// RCU's softirq, callbacks or threads.
    Rcu = 1,
    /// A timer other than the tick.
    Timer = 2,
    /// A task of a lower priority than usual.
    Low = 4,
    /// A device, another CPU, another softirq or task.
    Other = 8,
}

/// The time from when a CPU wakes up until it sleeps again.
#[derive(Clone, Copy, Default)]
pub struct Awake {
    domain: usize,
    /// The state that the CPU left.
    state: Option<u8>,
    /// All that it took.
    pub all: Amount,
    /// What RCU took of it.
    pub rcu: Amount,
    /// The bits of [`Cause`].
    pub causes: u8,
    is_whole: bool,
}

impl Awake {
    /// A CPU wakes up.
    pub fn new(domain: usize, state: Option<u8>) -> Self {
        Self {
            domain,
            state,
            is_whole: true,
            ..Self::default()
        }
    }
}

/// Times awake that would not have been: the least and the most of each figure.
#[derive(Clone, Copy, Default)]
pub struct Gone {
    /// How many.
    pub count: [u64; 2],
    /// Energy beyond that of sleeping on, in units times nanoseconds.
    pub energy: [f64; 2],
    /// The work that was done.
    pub work: [f64; 2],
}

impl From<&Amount> for Gone {
    fn from(amount: &Amount) -> Self {
        Self {
            count: [0; 2],
            energy: amount.energy.map(|energy| energy as f64),
            work: amount.work.map(|work| work as f64),
        }
    }
}

/// Times awake by domain.
pub struct Wakes {
    /// Those that had no other cause than RCU.
    pub rcu: Vec<Gone>,
    /// Those that had no other cause than timers, the tick and tasks of low priority.
    pub movable: Vec<Gone>,
    /// What RCU took in other times awake: the count is none.
    pub shared: Vec<Gone>,
}

impl Wakes {
    /// None yet, on a machine of some domains.
    pub fn new(domains: usize) -> Self {
        let none = || vec![Gone::default(); domains];
        Self {
            rcu: none(),
            movable: none(),
            shared: none(),
        }
    }

    /// Takes in a time awake that is over.
    pub fn add(&mut self, awake: &Awake, domains: &[Domain]) {
        if !awake.is_whole {
            return;
        }
        let has = |cause: Cause| awake.causes & cause as u8 != 0;
        let domain = &domains[awake.domain];
        // The CPU would have slept on in its state, or in any deeper one.
        let first = usize::from(awake.state.unwrap_or(0)).min(domain.states.len() - 1);
        let states = &domain.states[first..];
        let least = states.iter().map(|state| state.core[0]).min().unwrap_or(0);
        let slept = Amount::of([states[0].core[1], least], awake.all.ns).energy;
        let ends = |end: usize| {
            let all = awake.all.energy[end] + u128::from(states[0].core_trip[end]);
            all as f64 - slept[end] as f64
        };
        let gone = Gone {
            count: [1; 2],
            energy: [0, 1].map(ends),
            work: awake.all.work.map(|work| work as f64),
        };
        let is_rcu = has(Cause::Rcu) && !has(Cause::Other) && !has(Cause::Low);
        let is_movable = !has(Cause::Rcu) && !has(Cause::Other);
        if is_rcu {
            // A timer may be one of RCU's own.
            take(&mut self.rcu[awake.domain], &gone, !has(Cause::Timer));
        } else if is_movable {
            take(&mut self.movable[awake.domain], &gone, true);
        }
        if !is_rcu && has(Cause::Rcu) {
            let shared = Gone::from(&awake.rcu);
            take(&mut self.shared[awake.domain], &shared, true);
        }
    }
}

/// Adds what is gone for certain to both ends, and what may be gone to the upper end.
fn take(sum: &mut Gone, gone: &Gone, is_certain: bool) {
    let ends = if is_certain { 0..2 } else { 1..2 };
    for end in ends {
        sum.count[end] += gone.count[end];
        sum.energy[end] += gone.energy[end];
        sum.work[end] += gone.work[end];
    }
}
