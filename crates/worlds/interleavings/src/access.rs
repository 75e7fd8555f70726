//! Accesses of shared words, their maintenance, and events, as operations of the CPU that runs.

use crate::choice::{Deviation, Kind};
use crate::failure::Invariant;
use crate::machine::{Cpu, LoggedAnswers, Machine, Waits};
use crate::memory::{Answers, AtomicOrder, Loaded, Memory, Order, Told};
use crate::step::{Did, Fence};
use std::cell::Cell;
use std::panic::Location;

/// Answers of a load that gets the newest value.
struct Newest;

impl Answers for Newest {
    fn answer(&mut self, _: Kind, _: u32) -> u32 {
        0
    }
}

impl Machine {
    /// The order of a load that acquires and may go before an earlier store that releases: `LDAPR`
    /// where the core has it.
    pub fn acquiring(&self) -> Order {
        if self.rcpc.get() { Order::AcquirePc } else { Order::Ordered }
    }

    /// Loads a word. A CPU that loads the same value twice in a row waits for the word to change.
    pub fn load(&self, cell: u16, order: Order) -> u64 {
        self.load_with(cell, order, self.late_loads.get())
    }

    /// As [`Machine::load`], and never late: of an address, which differs from run to run.
    pub(crate) fn load_address(&self, cell: u16, order: Order) -> u64 {
        self.load_with(cell, order, false)
    }

    fn load_with(&self, cell: u16, order: Order, may_be_late: bool) -> u64 {
        self.settle_word(cell);
        self.operation(Did::Load { cell });
        let process = self.process();
        if order == Order::Relaxed && may_be_late {
            match self.try_late(process, cell) {
                Some(value) => return value,
                None => self.follow_if_tried(process),
            }
        }
        let loaded = self.load_now(process, cell, order);
        if self.spins.get() {
            self.note_spin(process, cell, loaded.value);
            return loaded.value;
        }
        let cpu = &self.cpus[process];
        let (last, value, times) = cpu.polled.get();
        if (last, value) == (cell, loaded.value) {
            cpu.polled.set((cell, value, times.saturating_add(1)));
            // It has looked twice, and would look for ever. What lies in memory it may find after
            // maintenance of its own; what lies in the caches of others, somebody else must bring.
            if times >= 1 && loaded.is_newest_here {
                match loaded.newest_elsewhere {
                    Some(_) if self.memory.borrow().is_coherent(process) => self.let_others_go(),
                    _ => self.block(Waits::Change(cell)),
                }
            }
        } else {
            cpu.polled.set((cell, loaded.value, 0));
        }
        loaded.value
    }

    /// The value that a load returns before it is stored, if it is late.
    fn try_late(&self, process: usize, cell: u16) -> Option<u64> {
        let operation = self.operations[process].get();
        let mut memory = self.memory.borrow_mut();
        if process >= self.cpus.len() || !memory.may_be_late(process, cell) {
            return None;
        }
        let newest = memory.newest(cell);
        let value = self.chooser.borrow_mut().late(process, operation, cell, newest, memory.later_values(cell))?;
        self.schedule.borrow_mut().push(Deviation { process: process as u8, operation, kind: Kind::LoadLate, value });
        memory.owe(process, cell, value);
        drop(memory);
        self.has_late.set(true);
        self.follow_from_here(process);
        self.cpus[process].polled.set((cell, value, 0));
        self.mix(value);
        if self.keeps_steps.get()
            && let Some(step) = self.log.borrow_mut().last_mut()
        {
            step.did = Did::Loaded { cell, value, newest: None, cached: true, early: false };
        }
        Some(value)
    }

    /// The load that is tried without being late is this one: what follows is compared.
    #[inline(always)]
    fn follow_if_tried(&self, process: usize) {
        if let Some((late, _)) = self.tried.get()
            && late.is_at(process, self.operations[process].get())
        {
            self.follow_from_here(process);
        }
    }

    /// Waits for a late load of this word.
    #[inline(always)]
    fn settle_word(&self, cell: u16) {
        if self.followed.get() != 0 && self.memory.borrow().owed(self.process()) == Some(cell) {
            self.settle();
        }
    }

    /// Takes a value that the process stores into account.
    #[inline(always)]
    fn mix_stored(&self, value: u64) {
        self.mix(value);
        let process = self.process();
        if self.followed.get() >> process & 1 != 0 {
            self.follow(process, value, false);
        }
    }

    fn load_now(&self, process: usize, cell: u16, order: Order) -> Loaded {
        let mut chooser = self.chooser.borrow_mut();
        let mut schedule = self.schedule.borrow_mut();
        let operation = self.operations[process].get();
        let mut asked = LoggedAnswers { chooser: &mut chooser, schedule: &mut schedule, process, operation };
        // To see an old value for ever would be unfair, and to see it a third time in a row shows
        // nothing that the second has not shown.
        let sees_the_newest = |cpu: &Cpu| {
            let (last, _, times) = cpu.polled.get();
            cpu.spin.borrow().old || self.traces.get() && last == cell && times >= 1
        };
        let loaded = match self.cpus.get(process).is_some_and(sees_the_newest) {
            true => self.memory.borrow_mut().load(process, cell, order, &mut Newest),
            false => self.memory.borrow_mut().load(process, cell, order, &mut asked),
        };
        self.mix(loaded.value);
        if self.keeps_steps.get()
            && let Some(step) = self.log.borrow_mut().last_mut()
        {
            let cached = self.memory.borrow().is_coherent(process);
            let Loaded { value, newest_elsewhere: newest, is_newest_here, .. } = loaded;
            step.did = Did::Loaded { cell, value, newest, cached, early: !is_newest_here };
        }
        loaded
    }

    /// Stores a word.
    pub fn store(&self, cell: u16, value: u64, order: Order) {
        if order == Order::Relaxed {
            self.settle_word(cell)
        } else {
            self.settle();
        }
        self.operation(Did::Store { cell, value });
        self.cpu().polled.set((u16::MAX, 0, 0));
        self.mix_stored(value);
        self.ends_spin();
        self.with_memory(|memory, process, asked| memory.store(process, cell, value, order, asked));
    }

    /// Adds to a word; `wrap` cuts the sum to its width. The value before.
    pub fn fetch_add(&self, cell: u16, value: u64, order: AtomicOrder, wrap: impl Fn(u64) -> u64) -> u64 {
        self.update(cell, order, Did::FetchAdd { cell, value }, value, |before| Some(wrap(before.wrapping_add(value))))
    }

    /// Stores `value`, and returns what the word held.
    pub fn swap(&self, cell: u16, value: u64, order: AtomicOrder) -> u64 {
        self.update(cell, order, Did::Swap { cell, value }, value, |_| Some(value))
    }

    /// Stores `value` if the word holds `expected`; whether it did.
    pub fn compare_exchange(&self, cell: u16, expected: u64, value: u64, order: AtomicOrder) -> bool {
        let change = |before| (before == expected).then_some(value);
        self.update(cell, order, Did::CompareExchange { cell, value }, value, change) == expected
    }

    /// Changes a word in one step: `change` makes the new value of the present one, or leaves it.
    /// The value before. `with` is what it is changed with.
    ///
    /// A core without LSE does it with exclusives, again until the store succeeds; anybody may go
    /// between load and store.
    pub fn update(
        &self,
        cell: u16,
        order: AtomicOrder,
        did: Did,
        with: u64,
        change: impl Fn(u64) -> Option<u64>,
    ) -> u64 {
        if !self.exclusives.get() {
            self.start_atomic(cell, order, did, with);
            let mut before = 0;
            let mut ends = false;
            let change = |before| {
                let after = change(before);
                ends = after.is_some();
                after
            };
            self.with_memory(|memory, process, asked| before = memory.atomic(process, cell, order, change, asked));
            self.mix(before);
            self.note_update(cell, before, ends);
            return before;
        }
        let of_pair = if order == AtomicOrder::Full { AtomicOrder::Release } else { order };
        loop {
            if let Ok(before) = self.update_exclusively(cell, of_pair, did, with, &change) {
                // As Linux has it: the barrier is only behind what was stored.
                if order == AtomicOrder::Full && change(before).is_some() {
                    self.fence(Fence::Full);
                }
                return before;
            }
        }
    }

    /// One attempt of a core without LSE.
    ///
    /// # Errors
    /// The store failed: what the load had returned.
    pub fn update_exclusively(
        &self,
        cell: u16,
        order: AtomicOrder,
        did: Did,
        with: u64,
        change: &impl Fn(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        self.start_atomic(cell, order, did, with);
        let process = self.process();
        let (before, monitored) = self.memory.borrow_mut().load_exclusive(process, cell, order);
        self.mix(before);
        self.wake_pollers();
        let Some(value) = change(before) else {
            self.note_update(cell, before, false);
            return Ok(before);
        };
        self.operation(Did::StoreExclusive { cell, value });
        self.mix_stored(value);
        let fails = self.answer(Kind::ExclusiveFails, 2) == 1;
        let mut stored = false;
        if !fails {
            self.with_memory(|memory, process, asked| {
                stored = memory.store_exclusive(process, monitored, value, order, asked);
            });
        }
        if stored {
            self.ends_spin();
            Ok(before)
        } else {
            Err(before)
        }
    }

    #[inline(always)]
    fn start_atomic(&self, cell: u16, order: AtomicOrder, did: Did, with: u64) {
        if order.releases() {
            self.settle();
        } else {
            self.settle_word(cell)
        }
        self.operation(did);
        self.mix_stored(with);
        let process = self.process();
        if process < self.cpus.len() {
            self.cpus[process].polled.set((u16::MAX, 0, 0));
            self.cpus[process].last_atomic.set(cell);
        }
        if !self.memory.borrow().is_coherent(process) {
            self.fail(
                Invariant::Atomic,
                "an atomic is used by a CPU that is not in coherency: nothing makes it one step for the others"
                    .to_owned(),
            );
        }
    }

    /// The process tells others, outside memory, of all that it has seen and done: it hands
    /// something on under a lock that is not part of what is explored.
    pub fn tell(&self, told: &Cell<Told>) {
        self.settle();
        let process = self.process();
        let more = self.memory.borrow_mut().tell(process, told.get());
        told.set(more);
        self.wake_pollers();
    }

    /// The process hears what others have told, and sees what they had stored.
    pub fn hear(&self, told: &Cell<Told>) {
        let process = self.process();
        self.memory.borrow_mut().hear(process, told.get());
    }

    /// Another word, in the middle of a run.
    pub(crate) fn make_word(&self, value: u64) -> u16 {
        self.memory.borrow_mut().add_word(value)
    }

    /// The newest value of a word, for the one who has it to itself.
    pub(crate) fn value_of(&self, cell: u16) -> u64 {
        let mut memory = self.memory.borrow_mut();
        (0..self.cpus.len()).for_each(|cpu| memory.empty_buffer(cpu));
        memory.newest(cell)
    }

    /// Another piece of plain data, which the process that runs has written.
    pub(crate) fn make_plain(&self, place: &'static Location<'static>) -> u32 {
        let plain = match &mut self.memory.borrow_mut().races {
            Some(races) => races.make_plain(),
            None => 0,
        };
        self.access_plain(plain, true, place);
        plain
    }

    /// The process that runs accesses plain data: what it reads or leaves there may decide what
    /// others do.
    pub(crate) fn access_plain(&self, plain: u32, writes: bool, place: &'static Location<'static>) {
        self.watch_plain(plain, writes, place);
        self.mix_plain(plain, writes);
    }

    /// The process that runs accesses plain data at this place of the source. It is no operation.
    #[inline]
    pub fn watch_plain(&self, plain: u32, writes: bool, place: &'static Location<'static>) {
        let process = self.process();
        let operation = self.operations[process].get();
        let race = match &mut self.memory.borrow_mut().races {
            Some(races) => races.access(process, plain, writes, operation, Some(place)),
            None => None,
        };
        if let Some(race) = race {
            self.fail(Invariant::DataRace, format!("{}: {race}", self.names.get().plain(plain)));
        }
    }

    // --- Loops that wait -------------------------------------------------------------------------

    /// Takes a load into account. A process that three times loads the same values of the same
    /// words, up to four of them, and does nothing else waits for one of them to change.
    fn note_spin(&self, process: usize, cell: u16, value: u64) {
        let Some(cpu) = self.cpus.get(process) else { return };
        let again = cpu.spin.borrow_mut().loaded(cell, value);
        if let Some(again) = again {
            self.spin(process, &again);
        }
    }

    /// Others go until one of these words changes, or until nobody else can go. If one of the
    /// values is an old one, it gets the newest from then on instead: to see an old one for ever
    /// would be unfair, and is nothing that hardware does.
    fn spin(&self, process: usize, looks_at: &[(u16, u64)]) {
        let is_newest = {
            let memory = self.memory.borrow();
            looks_at.iter().all(|&(cell, value)| memory.newest(cell) == value)
        };
        if let (true, Some(&(cell, _))) = (is_newest, looks_at.last()) {
            if !self.settle() && !self.drain() {
                self.block(Waits::Spin(cell));
            }
        } else {
            self.settle();
            self.memory.borrow_mut().empty_buffer(process);
            self.wake_pollers();
            self.cpus[process].spin.borrow_mut().old = true;
        }
    }

    /// The process says that it waits for others.
    pub(crate) fn yields(&self) {
        let process = self.process();
        let loads = self.cpus.get(process).map(|cpu| cpu.spin.borrow().loads().to_vec()).unwrap_or_default();
        match loads.is_empty() {
            true => self.let_others_go(),
            false => self.spin(process, &loads),
        }
        if let Some(cpu) = self.cpus.get(process) {
            cpu.spin.borrow_mut().forget_loads();
        }
    }

    /// A read-modify-write that leaves its word as it is, is a load.
    fn note_update(&self, cell: u16, before: u64, changed: bool) {
        if changed {
            self.ends_spin();
        } else if self.spins.get() {
            self.note_spin(self.process(), cell, before);
        }
    }

    #[inline(always)]
    fn ends_spin(&self) {
        if self.spins.get() {
            self.cpu().spin.borrow_mut().ends();
        }
    }

    /// Waits until a word changes.
    pub(crate) fn wait_for_change(&self, cell: u16) {
        // Whatever lets others go may let the word change: then it is looked at again.
        if !self.settle() && !self.drain() {
            self.block(Waits::Change(cell));
        }
    }

    /// A barrier.
    pub fn fence(&self, fence: Fence) {
        if fence != Fence::Stores {
            self.settle();
        }
        self.operation(Did::Fence { fence });
        let process = self.process();
        {
            let mut memory = self.memory.borrow_mut();
            match fence {
                Fence::Full => memory.full_barrier(process),
                Fence::Loads => memory.load_barrier(process),
                Fence::Stores => memory.store_barrier(process),
                Fence::Complete => memory.barrier(process),
                // Code has branched on what it loaded before it asks for that.
                Fence::Instructions => memory.load_barrier(process),
            }
        }
        self.wake_pollers();
    }

    /// Cleans the line of a word by address, and with `invalidate` takes it out of the caches.
    pub fn maintain(&self, cell: u16, invalidate: bool) {
        self.settle();
        self.operation(Did::Maintain { cell, invalidate });
        self.with_memory(|memory, process, asked| memory.maintain(process, cell, invalidate, asked));
    }

    #[inline(always)]
    fn with_memory(&self, act: impl FnOnce(&mut Memory, usize, &mut LoggedAnswers<'_>)) {
        let process = self.process();
        {
            let mut chooser = self.chooser.borrow_mut();
            let mut schedule = self.schedule.borrow_mut();
            let operation = self.operations[process].get();
            let mut asked = LoggedAnswers { chooser: &mut chooser, schedule: &mut schedule, process, operation };
            act(&mut self.memory.borrow_mut(), process, &mut asked);
        }
        self.wake_pollers();
    }

    /// `DSB SY`.
    pub fn barrier_now(&self) {
        self.settle();
        self.memory.borrow_mut().barrier(self.process());
        self.wake_pollers();
    }

    /// An operation that is no access of memory.
    pub fn act(&self, did: Did) {
        if did != Did::Own {
            self.settle();
        }
        self.operation(did);
        self.cpu().polled.set((u16::MAX, 0, 0));
    }

    /// Waits for an event. It may end without one.
    pub fn wait_for_an_event(&self) {
        self.act(Did::WaitForEvent);
        let cpu = self.cpu();
        if self.answer(Kind::Spurious, 2) == 0 && !cpu.event.get() {
            self.block(Waits::Event);
        }
        let process = self.process();
        self.note_event();
        self.cpus[process].event.set(false);
        self.memory.borrow_mut().learn(process);
    }

    /// Sends an event to all CPUs.
    pub fn send_an_event(&self) {
        self.act(Did::SendEvent);
        self.barrier_now();
        for (index, cpu) in self.cpus.iter().enumerate() {
            cpu.event.set(true);
            if cpu.waits.get() == Waits::Event {
                self.unblock(index);
            }
        }
    }
}
