//! What a CPU does: a loop of reading, replacing, switching, running threads, ticking and idling.

use super::platform::{Doing, END, WORK, World};
use rcu::{Callback, IdleNeed, Interrupted, Rcu, RcuTimer, Reader, Thread, Urgency};

impl World {
    /// The life of a CPU.
    pub fn cpu(&self, rcu: &Rcu<World>, cpu: usize) {
        while self.goes_on() {
            let actions = 2 + self.draw(cpu, 4);
            for _ in 0..actions {
                self.boundary(rcu, cpu);
                if !self.goes_on() {
                    return;
                }
                if self.jiffies.get() < WORK {
                    self.act(rcu, cpu);
                } else {
                    self.wind_up(rcu, cpu);
                }
            }
            self.end_of_jiffy(cpu);
        }
    }

    fn goes_on(&self) -> bool {
        !self.over.get() && !self.oracle.failed()
    }

    fn act(&self, rcu: &Rcu<World>, cpu: usize) {
        match self.draw(cpu, 100) {
            0..40 => self.read(rcu, cpu),
            40..52 if self.draw(cpu, 12) < self.replaces => self.replace(rcu, cpu),
            52..65 => self.switch(rcu, cpu),
            65..85 => self.run_thread(rcu, cpu),
            85..97 => {
                let jiffies = 1 + self.draw(cpu, 6);
                self.idle(rcu, cpu, self.jiffies.get() + jiffies);
            }
            _ if self.hotplug && cpu > 0 => self.go_off(rcu, cpu),
            _ => {}
        }
    }

    /// After the work: all read sections end, and then there is nothing to do but what RCU wants.
    fn wind_up(&self, rcu: &Rcu<World>, cpu: usize) {
        if let Some(task) = self.states[cpu].task.get() {
            while self.tasks[task].depth.get() > 0 {
                self.leave(rcu, task);
            }
        }
        let reading = self.tasks.iter().any(|task| task.depth.get() > 0);
        self.run_thread(rcu, cpu);
        if reading || self.busy_end {
            self.switch(rcu, cpu);
        } else {
            self.idle(rcu, cpu, END);
        }
    }

    /// Between two actions: interrupts come in.
    fn boundary(&self, rcu: &Rcu<World>, cpu: usize) {
        let state = &self.states[cpu];
        let now = self.jiffies.get();
        self.scheduler.advance(1);
        if state.ticked.replace(now) < now {
            self.interrupt(rcu, cpu, true, Interrupted::Kernel);
        }
        if state.softirq.get() {
            self.interrupt(rcu, cpu, false, Interrupted::Kernel);
        }
        if state.resched.replace(false) {
            self.switch(rcu, cpu);
        }
        if let Some(gone) = self.gone.take() {
            rcu.adopt(self, gone);
            self.hotplug_busy.set(false);
        }
    }

    fn current(&self, cpu: usize) -> &Reader {
        self.states[cpu].task.get().map_or(&self.states[cpu].nobody, |task| &self.tasks[task].reader)
    }

    /// An interrupt: the tick or another, then timers that are due, then the softirq, at most three times.
    fn interrupt(&self, rcu: &Rcu<World>, cpu: usize, tick: bool, interrupted: Interrupted) {
        rcu.irq_enter(self);
        if tick {
            let from_user =
                interrupted == Interrupted::Kernel && !self.current(cpu).is_reading() && self.draw(cpu, 2) == 0;
            rcu.tick(self, if from_user { Interrupted::User } else { interrupted }, self.current(cpu));
        }
        while let Some(timer) = self.due_timer() {
            rcu.timer(self, timer);
        }
        for _ in 0..3 {
            if self.states[cpu].softirq.replace(false) && rcu.core(self) {
                self.states[cpu].softirq.set(true);
            }
        }
        rcu.irq_exit(self);
    }

    fn due_timer(&self) -> Option<RcuTimer> {
        let now = self.jiffies.get();
        let mut timers = self.timers.borrow_mut();
        let due = timers.iter().find(|&(_, &at)| at <= now).map(|(&timer, _)| timer)?;
        timers.remove(&due);
        Some(due)
    }

    /// A step of a reader: it starts, nests, looks at what it sees, or leaves.
    fn read(&self, rcu: &Rcu<World>, cpu: usize) {
        let Some(task) = self.states[cpu].task.get() else { return };
        let depth = self.tasks[task].depth.get();
        if depth > 0 && self.draw(cpu, 5) > 0 {
            return self.leave(rcu, task);
        }
        if depth < 3 {
            rcu.read_lock(&self.tasks[task].reader);
            self.tasks[task].depth.set(depth + 1);
            if depth == 0 {
                self.oracle.read_starts(task);
                let pointer = &self.pointers[self.draw(cpu, 3) as usize];
                self.scheduler.advance(1);
                self.tasks[task].sees.set(Some(pointer.get()));
            }
        }
        self.scheduler.advance(1);
        self.check(task);
    }

    fn check(&self, task: usize) {
        if let Some(object) = self.tasks[task].sees.get() {
            self.oracle.read(task, object);
        }
    }

    fn leave(&self, rcu: &Rcu<World>, task: usize) {
        let depth = self.tasks[task].depth.get() - 1;
        self.tasks[task].depth.set(depth);
        if depth == 0 {
            self.check(task);
            self.tasks[task].sees.set(None);
            self.oracle.read_ends(task);
        }
        rcu.read_unlock(self, &self.tasks[task].reader);
    }

    /// Replaces an object, and has the old one freed.
    fn replace(&self, rcu: &Rcu<World>, cpu: usize) {
        let urgency = match self.draw(cpu, 6) {
            0..3 => Urgency::Plain,
            3..5 => Urgency::Lazy,
            _ => Urgency::Hurry,
        };
        self.states[cpu].may_wake.set(self.draw(cpu, 4) > 0);
        let new = self.oracle.object();
        let old = self.pointers[self.draw(cpu, 3) as usize].replace(new);
        let argument = self.oracle.queue(old);
        rcu.call(self, Callback { function: cpu as u32, argument, urgency });
    }

    /// Another task runs, if one is free; the one before may be in the middle of reading.
    fn switch(&self, rcu: &Rcu<World>, cpu: usize) {
        self.put_task(rcu, cpu);
        self.take_task(cpu);
    }

    fn put_task(&self, rcu: &Rcu<World>, cpu: usize) {
        let outgoing = self.current(cpu);
        self.preempted.set(self.preempted.get() + u64::from(outgoing.is_reading()));
        rcu.context_switch(self, outgoing);
        if let Some(task) = self.states[cpu].task.take() {
            self.tasks[task].running.set(false);
        }
    }

    fn take_task(&self, cpu: usize) {
        let first = self.draw(cpu, self.tasks.len() as u64) as usize;
        let free = (0..self.tasks.len()).map(|index| (first + index) % self.tasks.len());
        if let Some(task) = free.into_iter().find(|&task| !self.tasks[task].running.get()) {
            self.tasks[task].running.set(true);
            self.states[cpu].task.set(Some(task));
        }
    }

    /// Some steps of a thread that is ready, with interrupts between them.
    fn run_thread(&self, rcu: &Rcu<World>, cpu: usize) {
        let Some(thread) = self.take_thread(self.draw(cpu, 8)) else { return };
        self.put_task(rcu, cpu);
        let steps = 1 + self.draw(cpu, 12);
        for _ in 0..steps {
            self.threads.borrow()[&thread].woken.set(false);
            let step = match thread {
                Thread::GracePeriod => rcu.grace_period_thread(self),
                _ => rcu.offload_thread(self, thread),
            };
            self.stepped(thread, step);
            if step != rcu::Step::Again || !self.goes_on() {
                break;
            }
            if self.states[cpu].softirq.get() {
                self.interrupt(rcu, cpu, false, Interrupted::Kernel);
            }
        }
        self.threads.borrow()[&thread].running.set(false);
        // Whoever woke it while it ran found nobody to run it; it may be ready still.
        rcu.context_switch(self, &self.states[cpu].nobody);
        self.take_task(cpu);
    }

    fn end_of_jiffy(&self, cpu: usize) {
        let now = self.jiffies.get();
        self.wait_until(cpu, Doing::Done(now), || self.jiffies.get() > now);
    }

    /// Lets the clock go on until something happens here.
    fn wait_until(&self, cpu: usize, doing: Doing, happened: impl Fn() -> bool) {
        self.states[cpu].doing.set(doing);
        self.scheduler.wake(self.cpus());
        while !happened() && self.goes_on() {
            self.scheduler.wait(None);
        }
        self.states[cpu].doing.set(Doing::Work);
    }

    fn idle(&self, rcu: &Rcu<World>, cpu: usize, until: u64) {
        let state = &self.states[cpu];
        self.put_task(rcu, cpu);
        let mut need = self.settle(rcu, cpu);
        rcu.idle_enter(self);
        state.kicked.set(false);
        // What became ready while this CPU was awake has kicked nobody.
        while !self.thread_is_ready() && self.gone.get().is_none() && self.goes_on() {
            let timed = || match need {
                IdleNeed::StopTick => false,
                IdleNeed::KeepTick => state.ticked.get() < self.jiffies.get(),
                IdleNeed::WakeAt(at) => at <= self.jiffies.get(),
            };
            let leave = || self.jiffies.get() >= until || state.kicked.get() || state.resched.get();
            self.wait_until(cpu, Doing::Idle(until, need), || timed() || leave());
            if leave() {
                break;
            }
            if timed() {
                state.ticked.set(self.jiffies.get());
                rcu.irq_enter(self);
                rcu.tick(self, Interrupted::Idle, &state.nobody);
                self.device(rcu, cpu);
                need = self.settle(rcu, cpu);
                rcu.irq_exit(self);
            }
        }
        state.kicked.set(false);
        rcu.idle_exit(self);
        self.take_task(cpu);
    }

    /// Another interrupt's handler, on an idle CPU: it reads, and replaces what it read.
    fn device(&self, rcu: &Rcu<World>, cpu: usize) {
        if self.jiffies.get() >= WORK {
            return;
        }
        let nobody = &self.states[cpu].nobody;
        let reader = self.tasks.len() + cpu;
        rcu.read_lock(nobody);
        self.oracle.read_starts(reader);
        let object = self.pointers[self.draw(cpu, 3) as usize].get();
        for _ in 0..self.draw(cpu, 20) {
            self.scheduler.advance(1);
            self.oracle.read(reader, object);
        }
        self.oracle.read_ends(reader);
        rcu.read_unlock(self, nobody);
        if self.draw(cpu, 12) < self.replaces {
            self.replace(rcu, cpu);
        }
    }

    /// Runs softirqs and asks what RCU needs, until it needs no softirq any more.
    fn settle(&self, rcu: &Rcu<World>, cpu: usize) -> IdleNeed {
        loop {
            while self.states[cpu].softirq.replace(false) {
                if rcu.core(self) {
                    self.states[cpu].softirq.set(true);
                }
            }
            let need = rcu.idle_need(self);
            if !self.states[cpu].softirq.get() {
                return need;
            }
        }
    }

    fn go_off(&self, rcu: &Rcu<World>, cpu: usize) {
        if self.hotplug_busy.replace(true) {
            return;
        }
        let state = &self.states[cpu];
        self.put_task(rcu, cpu);
        if rcu.cpu_offline(self).is_err() {
            self.hotplug_busy.set(false);
            return self.take_task(cpu);
        }
        state.softirq.set(false);
        self.gone.set(Some(cpu));
        self.kick_idle_cpu();
        let mut until = self.jiffies.get() + 1 + self.draw(cpu, 5);
        while self.goes_on() {
            self.wait_until(cpu, Doing::Off(until), || self.jiffies.get() >= until);
            // Its callbacks must have been taken over, and no other CPU be on its way.
            if !self.hotplug_busy.replace(true) {
                rcu.cpu_online(self);
                self.hotplug_busy.set(false);
                break;
            }
            until = self.jiffies.get() + 1;
        }
        state.resched.set(false);
        self.take_task(cpu);
    }
}
