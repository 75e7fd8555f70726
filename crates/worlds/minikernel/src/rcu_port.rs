//! RCU on the kernel: the crate `rcu` behind [`Callbacks`]. Its shared words are plain cells, for a
//! call of it is one step of the kernel, in which no other CPU runs.

use crate::callbacks::{
    Callback, Callbacks, CpuTime, IdleNeed, InterruptedCode, Requests, Step, Thread, ThreadNumber,
};
use crate::task::CpuSet;
use points::{Point, Sink};
use rcu::{Order, RcuTimer, Reader, Scalar, SharedCell, SharedWord, Stall, Urgency};
use std::cell::{Cell, RefCell};

/// RCU, and where its threads may run.
pub struct Rcu {
    rcu: rcu::Rcu<Port>,
    port: Port,
    affinities: Affinities,
    /// Any task, and any idle loop: none of them reads.
    reader: Reader,
}

/// CPUs on which RCU's threads may run.
pub struct Affinities {
    /// The thread that starts and ends grace periods.
    pub grace_periods: CpuSet,
    /// The threads that serve offloaded CPUs.
    pub offload: CpuSet,
}

impl Rcu {
    /// RCU as configured; stamps of its own points are asked for if `record` is set.
    ///
    /// # Errors
    /// What cannot be had.
    pub fn new(
        settings: rcu::Settings,
        affinities: Affinities,
        record: bool,
    ) -> Result<Self, rcu::SettingsError> {
        let rcu = rcu::Rcu::new(settings)?;
        let port = Port {
            threads: rcu.threads(),
            place: Cell::new(CpuTime { cpu: 0, jiffy: 0 }),
            requests: RefCell::default(),
            record,
        };
        Ok(Self {
            rcu,
            port,
            affinities,
            reader: Reader::new(0),
        })
    }

    /// Makes a call of RCU's, whose requests go to `requests`.
    fn at<R>(&self, place: CpuTime, requests: &mut Requests, call: impl FnOnce(&Self) -> R) -> R {
        self.port.place.set(place);
        std::mem::swap(requests, &mut self.port.requests.borrow_mut());
        let answer = call(self);
        std::mem::swap(requests, &mut self.port.requests.borrow_mut());
        answer
    }
}

impl Callbacks for Rcu {
    fn threads(&self) -> Vec<Thread> {
        let thread = |thread: &rcu::Thread| {
            let (name, cpus) = match thread {
                rcu::Thread::GracePeriod => ("rcu".to_owned(), self.affinities.grace_periods),
                rcu::Thread::Offload(cpu) => (format!("rcuo/{cpu}"), self.affinities.offload),
                rcu::Thread::OffloadGp(group) => {
                    (format!("rcuog/{group}"), self.affinities.offload)
                }
                rcu::Thread::OffloadCb(cpu) => (format!("rcuop/{cpu}"), self.affinities.offload),
            };
            Thread { name, cpus }
        };
        self.port.threads.iter().map(thread).collect()
    }

    fn call(&mut self, place: CpuTime, callback: Callback, requests: &mut Requests) {
        let urgency = if callback.lazy {
            Urgency::Lazy
        } else {
            Urgency::Plain
        };
        let callback = rcu::Callback {
            function: callback.by,
            argument: 0,
            urgency,
        };
        self.at(place, requests, |this| this.rcu.call(&this.port, callback));
    }

    fn context_switch(&mut self, place: CpuTime, requests: &mut Requests) {
        self.at(place, requests, |this| {
            this.rcu.context_switch(&this.port, &this.reader);
        });
    }

    fn tick(&mut self, place: CpuTime, interrupted: InterruptedCode, requests: &mut Requests) {
        self.at(place, requests, |this| {
            this.rcu.tick(&this.port, interrupted, &this.reader);
        });
    }

    fn softirq(&mut self, place: CpuTime, requests: &mut Requests) -> bool {
        self.at(place, requests, |this| this.rcu.core(&this.port))
    }

    fn idle_need(&mut self, place: CpuTime, requests: &mut Requests) -> IdleNeed {
        self.at(place, requests, |this| this.rcu.idle_need(&this.port))
    }

    fn idle_enter(&mut self, place: CpuTime, requests: &mut Requests) {
        self.at(place, requests, |this| this.rcu.idle_enter(&this.port));
    }

    fn idle_exit(&mut self, place: CpuTime, requests: &mut Requests) {
        self.at(place, requests, |this| this.rcu.idle_exit(&this.port));
    }

    fn thread(&mut self, thread: ThreadNumber, place: CpuTime, requests: &mut Requests) -> Step {
        let Some(&thread) = self.port.threads.get(thread) else {
            return Step::Sleep { until: None };
        };
        self.at(place, requests, |this| {
            this.rcu.offload_thread(&this.port, thread)
        })
    }

    fn timer(&mut self, number: u32, place: CpuTime, requests: &mut Requests) {
        let timer = RcuTimer {
            group: number as usize,
        };
        self.at(place, requests, |this| this.rcu.timer(&this.port, timer));
    }
}

/// The kernel as RCU sees it: what it asks for is collected.
struct Port {
    threads: Vec<rcu::Thread>,
    place: Cell<CpuTime>,
    requests: RefCell<Requests>,
    record: bool,
}

impl Sink for Port {
    /// The kernel takes the time when it carries the stamp out, which is now.
    fn now(&self) -> u64 {
        0
    }

    fn capture(&self, point: Point, argument: u32, _ticks: u64) {
        if self.record {
            self.requests.borrow_mut().stamps.push((point, argument));
        }
    }
}

impl rcu::Platform for Port {
    type Shared<T: Scalar> = Word<T>;
    type Watch = ();

    fn barrier(&self) {}
    fn this_cpu(&self) -> usize {
        self.place.get().cpu
    }

    fn jiffies(&self) -> u64 {
        self.place.get().jiffy
    }

    fn raise_softirq(&self) {
        self.requests.borrow_mut().softirq = true;
    }

    fn wake(&self, thread: rcu::Thread) {
        let number = self.threads.iter().position(|&other| other == thread);
        self.requests.borrow_mut().wake.extend(number);
    }

    fn resched(&self, cpu: usize) {
        self.requests.borrow_mut().reschedule.push(cpu);
    }

    fn set_timer(&self, timer: RcuTimer, at_jiffy: u64) {
        self.requests
            .borrow_mut()
            .timers
            .push((timer.group as u32, Some(at_jiffy)));
    }

    fn cancel_timer(&self, timer: RcuTimer) {
        self.requests
            .borrow_mut()
            .timers
            .push((timer.group as u32, None));
    }

    fn invoke(&self, callback: rcu::Callback) {
        let lazy = callback.urgency == Urgency::Lazy;
        self.requests.borrow_mut().invoke.push(Callback {
            by: callback.function,
            lazy,
        });
    }

    fn stall(&self, stall: &Stall) {
        let mut text = format!(
            "grace period {} takes {} jiffies",
            stall.grace_period, stall.age
        );
        if !stall.cpus.is_empty() {
            text += &format!("; CPUs {:?} have not passed a quiescent state", stall.cpus);
        }
        if let Some(jiffies) = stall.thread_starved {
            text += &format!("; its thread has not run for {jiffies} jiffies");
        }
        self.requests.borrow_mut().stalls.push(text);
    }
}

/// A word of memory.
pub struct Word<T>(Cell<T>);

impl<T: Scalar> SharedWord<T, Port> for Word<T> {
    fn new(value: T) -> Self {
        Self(Cell::new(value))
    }

    fn load(&self, _port: &Port) -> T {
        self.0.get()
    }

    fn store(&self, _port: &Port, value: T) {
        self.0.set(value);
    }

    fn fetch_add(&self, _port: &Port, value: T) -> T {
        let before = self.0.get();
        self.0
            .set(T::from_word(before.to_word().wrapping_add(value.to_word())));
        before
    }
}

impl<T: Scalar> SharedCell<T, Port> for Word<T> {
    fn compare_exchange(&self, _port: &Port, current: T, new: T, _: Order) -> bool {
        let same = self.0.get() == current;
        if same {
            self.0.set(new);
        }
        same
    }
}
