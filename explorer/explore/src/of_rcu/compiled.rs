//! The two compilations of the RCU library, on the kernel.

/// Makes words, a kernel's side and calls for one of the two compilations.
macro_rules! library {
    ($library:ident, $module:ident) => {
        pub(crate) mod $module {
            use crate::Word;
            use crate::of_rcu::kernel::{Kernel, stall_s};
            use crate::of_rcu::library::{Activity, COUNTED, HZ, Library, Need, Wish};
            use crate::of_rcu::oracle::StallReport;
            use crate::of_rcu::scenario::{KernelScenario, Mode, Urgency};
            use crate::of_rcu::thread::Thread;
            use interleavings::subject::Mark;
            use interleavings::subject::{AtomicOrder, Fence, Order};
            use $library::{
                Callback, Form, IdleNeed, Platform, Rcu, RcuTimer, Reader, Scalar, Settings,
                SharedCell, Step,
            };

            impl<T: Scalar> SharedCell<T, Kernel> for Word<T> {
                fn compare_exchange(
                    &self,
                    kernel: &Kernel,
                    current: T,
                    new: T,
                    order: $library::Order,
                ) -> bool {
                    let order = match order {
                        $library::Order::Relaxed => AtomicOrder::Relaxed,
                        $library::Order::Acquire => AtomicOrder::Acquire,
                        $library::Order::Full => AtomicOrder::Full,
                    };
                    let number = self.number();
                    let stored = kernel.machine.compare_exchange(
                        number,
                        current.to_word(),
                        new.to_word(),
                        order,
                    );
                    if stored {
                        kernel.machine.note_lock(number.into(), true);
                    }
                    stored
                }

                fn store_release(&self, kernel: &Kernel, value: T) {
                    kernel
                        .machine
                        .store(self.number(), value.to_word(), Order::Ordered);
                    kernel.machine.note_lock(self.number().into(), false);
                }

                fn load_relaxed(&self, kernel: &Kernel) -> T {
                    T::from_word(kernel.load(self.number(), Order::Relaxed))
                }

                fn store_relaxed(&self, kernel: &Kernel, value: T) {
                    kernel
                        .machine
                        .store(self.number(), value.to_word(), Order::Relaxed);
                    kernel.machine.note_lock(self.number().into(), false);
                }
            }

            fn named(thread: $library::Thread) -> Thread {
                match thread {
                    $library::Thread::GracePeriod => Thread::GracePeriod,
                    $library::Thread::Offload(cpu) => Thread::Offload(cpu),
                    $library::Thread::OffloadGp(group) => Thread::OffloadGp(group),
                    $library::Thread::OffloadCb(cpu) => Thread::OffloadCb(cpu),
                }
            }

            impl Platform for Kernel {
                type Shared<T: Scalar> = Word<T>;
                type Watch = Mark;

                fn barrier(&self) {
                    self.machine.fence(Fence::Full);
                }

                fn this_cpu(&self) -> usize {
                    self.machine.process()
                }

                fn jiffies(&self) -> u64 {
                    self.jiffies.get()
                }

                fn raise_softirq(&self) {
                    self.raise();
                }

                fn wake(&self, thread: $library::Thread) {
                    self.wake_thread(named(thread));
                }

                fn resched(&self, cpu: usize) {
                    self.interrupt_to_switch(cpu);
                }

                fn set_timer(&self, timer: RcuTimer, at_jiffy: u64) {
                    Kernel::set_timer(self, timer.group, at_jiffy);
                }

                fn cancel_timer(&self, timer: RcuTimer) {
                    self.timers.borrow_mut().remove(&timer.group);
                }

                fn invoke(&self, callback: Callback) {
                    self.invoked(callback.argument as usize);
                }

                fn stall(&self, stall: &$library::Stall) {
                    self.stalled(StallReport {
                        number: stall.grace_period,
                        age: stall.age,
                        started: stall.started,
                    });
                }

                fn may_wake(&self) -> bool {
                    self.caller_may_wake()
                }

                fn lock_wait(&self, _: u32) {
                    self.wait_for_lock();
                }
            }

            /// The library with its readers.
            pub(crate) struct ReaderLibrary {
                rcu: Rcu<Kernel>,
                readers: Vec<Reader>,
            }

            impl ReaderLibrary {
                /// RCU as the mode and the scenario have it, with the given number of readers.
                pub(crate) fn new(mode: Mode, scenario: &KernelScenario, readers: usize) -> Self {
                    let cpus = scenario.cpus.len();
                    let form = match mode {
                        Mode::OffloadModern | Mode::Lazy | Mode::HotplugModern => Form::Modern,
                        _ => Form::Y2013,
                    };
                    let mut settings = Settings::new(cpus, HZ, form);
                    settings.leaf_fanout = usize::from(scenario.leaf_fanout.max(1));
                    // Small trees have all the levels of large ones.
                    settings.interior_fanout = 2;
                    settings.preemptible = scenario.preemptible;
                    settings.stall_s = stall_s(scenario);
                    if scenario.crowded {
                        (settings.blimit, settings.qhimark, settings.qlowmark) = (2, 6, 2);
                        settings.direct_per_jiffy = 2;
                    }
                    match mode {
                        Mode::Reference => {}
                        Mode::Offload2013 => settings.offloaded = (1..cpus).collect(),
                        Mode::EnforcedIdle => settings.enforced_idle = (0..cpus).collect(),
                        Mode::Both | Mode::Hotplug2013 => {
                            settings.offloaded = (1..cpus).filter(|cpu| cpu % 2 == 1).collect();
                            settings.enforced_idle = (0..cpus).collect();
                        }
                        Mode::OffloadModern => settings.offloaded = (0..cpus).collect(),
                        Mode::Lazy | Mode::HotplugModern => {
                            settings.offloaded = (0..cpus).filter(|cpu| cpu % 2 == 0).collect();
                            settings.lazy = true;
                        }
                    }
                    let rcu = Rcu::new(settings)
                        .unwrap_or_else(|error| unreachable!("the settings are sound: {error}"));
                    Self {
                        rcu,
                        readers: (0..readers as u32).map(Reader::new).collect(),
                    }
                }
            }

            impl Library<Kernel> for ReaderLibrary {
                fn threads(&self) -> Vec<Thread> {
                    self.rcu.threads().into_iter().map(named).collect()
                }

                fn step(&self, kernel: &Kernel, thread: Thread) -> Wish {
                    let step = match thread {
                        Thread::GracePeriod => self.rcu.grace_period_thread(kernel),
                        Thread::Offload(cpu) => self
                            .rcu
                            .offload_thread(kernel, $library::Thread::Offload(cpu)),
                        Thread::OffloadGp(group) => self
                            .rcu
                            .offload_thread(kernel, $library::Thread::OffloadGp(group)),
                        Thread::OffloadCb(cpu) => self
                            .rcu
                            .offload_thread(kernel, $library::Thread::OffloadCb(cpu)),
                    };
                    match step {
                        Step::Again => Wish::Again,
                        Step::Sleep { until } => Wish::Sleep(until),
                    }
                }

                fn call(&self, kernel: &Kernel, number: usize, urgency: Urgency) {
                    let urgency = match urgency {
                        Urgency::Plain => $library::Urgency::Plain,
                        Urgency::Lazy => $library::Urgency::Lazy,
                        Urgency::Hurry => $library::Urgency::Hurry,
                    };
                    let function = kernel.machine.process() as u32;
                    self.rcu.call(
                        kernel,
                        Callback {
                            function,
                            argument: number as u64,
                            urgency,
                        },
                    );
                }

                fn read_lock(&self, reader: usize) {
                    self.rcu.read_lock(&self.readers[reader]);
                }

                fn read_unlock(&self, kernel: &Kernel, reader: usize) {
                    self.rcu.read_unlock(kernel, &self.readers[reader]);
                }

                fn is_reading(&self, reader: usize) -> bool {
                    self.readers[reader].is_reading()
                }

                fn context_switch(&self, kernel: &Kernel, from: usize) {
                    self.rcu.context_switch(kernel, &self.readers[from]);
                }

                fn irq_enter(&self, kernel: &Kernel) {
                    self.rcu.irq_enter(kernel);
                }

                fn irq_exit(&self, kernel: &Kernel) {
                    self.rcu.irq_exit(kernel);
                }

                fn tick(&self, kernel: &Kernel, interrupted: Activity, current: usize) {
                    let interrupted = match interrupted {
                        Activity::User => $library::InterruptedCode::User,
                        Activity::Kernel => $library::InterruptedCode::Kernel,
                        Activity::Idle => $library::InterruptedCode::Idle,
                    };
                    self.rcu.tick(kernel, interrupted, &self.readers[current]);
                }

                fn timer(&self, kernel: &Kernel, group: usize) {
                    self.rcu.timer(kernel, RcuTimer { group });
                }

                fn core(&self, kernel: &Kernel) -> bool {
                    self.rcu.core(kernel)
                }

                fn idle_enter(&self, kernel: &Kernel) {
                    self.rcu.idle_enter(kernel);
                }

                fn idle_exit(&self, kernel: &Kernel) {
                    self.rcu.idle_exit(kernel);
                }

                fn idle_need(&self, kernel: &Kernel) -> Need {
                    match self.rcu.idle_need(kernel) {
                        IdleNeed::StopTick => Need::Nothing,
                        IdleNeed::KeepTick => Need::Tick,
                        IdleNeed::WakeAt(at) => Need::WakeAt(at),
                    }
                }

                fn counts(&self) -> [u64; COUNTED.len()] {
                    let of_periods = self.rcu.grace_period_counters();
                    let mut counts = [0; COUNTED.len()];
                    (counts[7], counts[8]) =
                        (of_periods.grace_periods, of_periods.force_quiescent_states);
                    for cpu in 0..self.rcu.settings().cpus {
                        let counters = self.rcu.counters(cpu);
                        counts[0] += counters.queued;
                        counts[1] += counters.invoked_softirq;
                        counts[2] += counters.invoked_thread;
                        counts[3] += self.rcu.callbacks(cpu) as u64;
                        counts[4] += counters.queued_lazy;
                        counts[5] += counters.queued_bypass;
                        counts[6] += counters.adopted;
                        counts[9] += counters.quiescent_reported;
                        counts[10] += counters.quiescent_forced;
                        counts[11] += counters.resched;
                        counts[12] += counters.grace_period_wakes;
                        counts[13] += counters.offload_wakes;
                        counts[14] += counters.deferred_wakes;
                        counts[15] += counters.softirqs_raised;
                        counts[16] += counters.core_runs;
                    }
                    counts
                }

                fn offline(&self, kernel: &Kernel) -> bool {
                    self.rcu.cpu_offline(kernel).is_ok()
                }

                fn online(&self, kernel: &Kernel) {
                    self.rcu.cpu_online(kernel);
                }

                fn takes_over(&self, gone: usize) -> usize {
                    match self.rcu.settings().offloaded.contains(&gone) {
                        true => 0,
                        false => self.rcu.callbacks(gone),
                    }
                }

                fn list_of(&self, number: usize) -> Option<(usize, &'static str)> {
                    self.rcu.list_of(number as u64)
                }

                fn ready(&self, cpu: usize) -> usize {
                    match self.rcu.settings().offloaded.contains(&cpu) {
                        true => 0,
                        false => self.rcu.ready_callbacks(cpu),
                    }
                }

                fn migrate_callbacks(&self, kernel: &Kernel, cpu: usize) {
                    self.rcu.migrate_callbacks(kernel, cpu);
                }
            }
        }
    };
}

library!(rcu, sound);
library!(rcu_faults, faulty);
