//! Grace periods that take too long, and CPUs that go off and come back.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::machine::{Kernel, Load};
use rcu::{Form, InterruptedCode, Reader, Refusal, Settings, Thread, Urgency};

const HZ: u64 = 100;

fn kernel() -> Kernel {
    Kernel::new(Settings::new(20, HZ, Form::Modern))
}

#[test]
fn a_reader_on_a_cpu_is_named_after_21_seconds_and_again_after_three_times_that() {
    let kernel = kernel();
    kernel.set_load(17, Load::Busy(InterruptedCode::Kernel));
    kernel.rcu.read_lock(kernel.reader(17));
    kernel.call(1, 0, Urgency::Plain);
    kernel.jiffies(2);
    kernel.jiffies(21 * HZ - 3);
    assert!(kernel.machine.stalls.borrow().is_empty());
    kernel.jiffies(4);
    {
        let stalls = kernel.machine.stalls.borrow();
        let (_, stall) = &stalls[0];
        assert_eq!(
            (stalls.len(), &stall.cpus[..], &stall.readers[..], stall.age),
            (1, &[17][..], &[][..], 21 * HZ)
        );
        assert_eq!(
            (stall.grace_period, stall.started, stall.thread_starved),
            (1, true, None)
        );
    }
    kernel.jiffies(63 * HZ);
    let at: Vec<u64> = kernel
        .machine
        .stalls
        .borrow()
        .iter()
        .map(|(at, _)| *at)
        .collect();
    assert_eq!((at.len(), at[1] - at[0]), (2, 63 * HZ));
    assert_eq!(kernel.invoked(), 0);
    assert!(
        kernel.rcu.counters(17).resched > 100,
        "it was interrupted all the while"
    );
    kernel.on(17, |p| kernel.rcu.read_unlock(p, kernel.reader(17)));
    kernel.jiffies(10);
    assert_eq!(kernel.invoked(), 1);
}

#[test]
fn a_reader_that_was_preempted_is_named_by_its_id() {
    let kernel = kernel();
    kernel.set_load(18, Load::Busy(InterruptedCode::Kernel));
    let reader = Reader::new(4711);
    let late = Reader::new(4712);
    kernel.rcu.read_lock(&reader);
    kernel.on(18, |p| kernel.rcu.context_switch(p, &reader));
    kernel.call(1, 0, Urgency::Plain);
    kernel.jiffies(3);
    // This one starts after the grace period, so it does not hold it up.
    kernel.rcu.read_lock(&late);
    kernel.on(18, |p| kernel.rcu.context_switch(p, &late));
    kernel.jiffies(21 * HZ + 1);
    {
        let stalls = kernel.machine.stalls.borrow();
        assert_eq!(
            (
                stalls.len(),
                &stalls[0].1.cpus[..],
                &stalls[0].1.readers[..]
            ),
            (1, &[][..], &[4711][..])
        );
    }
    // It goes on elsewhere, and leaves its read section there.
    kernel.on(2, |p| kernel.rcu.read_unlock(p, &reader));
    kernel.jiffies(10);
    assert_eq!(kernel.invoked(), 1);
    // The late one holds up the next.
    kernel.call(1, 1, Urgency::Plain);
    kernel.jiffies(100);
    assert_eq!(kernel.invoked(), 1);
    kernel.on(18, |p| kernel.rcu.read_unlock(p, &late));
    kernel.jiffies(10);
    assert_eq!(kernel.invoked(), 2);
}

#[test]
fn a_grace_period_thread_that_starves_is_said_apart() {
    let kernel = kernel();
    kernel.call(1, 0, Urgency::Plain);
    // It starts in this jiffy, and would end in the next.
    kernel.jiffy();
    kernel.starved.borrow_mut().insert(Thread::GracePeriod);
    kernel.jiffies(22 * HZ);
    {
        let stalls = kernel.machine.stalls.borrow();
        assert_eq!((stalls.len(), stalls[0].1.started), (1, true));
        assert!(
            stalls[0]
                .1
                .thread_starved
                .is_some_and(|jiffies| jiffies > 20 * HZ)
        );
    }
    let kernel = self::kernel();
    kernel.starved.borrow_mut().insert(Thread::GracePeriod);
    kernel.call(1, 0, Urgency::Plain);
    kernel.jiffies(22 * HZ);
    let stalls = kernel.machine.stalls.borrow();
    assert_eq!(
        (stalls.len(), stalls[0].1.started, stalls[0].1.age),
        (1, false, 21 * HZ),
        "it never started"
    );
}

#[test]
fn callbacks_of_a_cpu_that_goes_off_are_taken_over() {
    let kernel = kernel();
    kernel.set_load(5, Load::Busy(InterruptedCode::User));
    kernel.call(5, 0, Urgency::Plain);
    kernel.jiffy();
    kernel.call(5, 1, Urgency::Lazy);
    kernel
        .on(5, |p| kernel.rcu.cpu_offline(p))
        .expect("others stay");
    kernel.set_load(5, Load::Off);
    kernel.jiffies(50);
    assert_eq!(kernel.invoked(), 0, "nobody has taken them over");
    kernel.on(0, |p| kernel.rcu.migrate_callbacks(p, 5));
    kernel.jiffies(10);
    assert_eq!((kernel.invoked(), kernel.rcu.counters(0).adopted), (2, 2));
    assert!(
        kernel
            .machine
            .invoked
            .borrow()
            .iter()
            .all(|invoked| invoked.cpu == 0)
    );
}

#[test]
fn a_grace_period_waits_neither_for_a_cpu_that_goes_off_nor_for_one_that_comes_up() {
    let kernel = kernel();
    for cpu in [5, 6] {
        kernel.set_load(cpu, Load::Busy(InterruptedCode::Kernel));
        kernel.rcu.read_lock(kernel.reader(cpu));
    }
    kernel.on(6, |p| kernel.rcu.read_unlock(p, kernel.reader(6)));
    kernel
        .on(6, |p| kernel.rcu.cpu_offline(p))
        .expect("others stay");
    kernel.set_load(6, Load::Off);
    kernel.call(1, 0, Urgency::Plain);
    kernel.jiffies(5);
    // The grace period runs. CPU 6 comes up and starts to read; CPU 5 stops reading and goes off.
    kernel.set_load(6, Load::Busy(InterruptedCode::Kernel));
    kernel.rcu.read_lock(kernel.reader(6));
    kernel.jiffies(5);
    assert_eq!(kernel.invoked(), 0, "CPU 5 still reads");
    kernel.on(5, |p| kernel.rcu.read_unlock(p, kernel.reader(5)));
    kernel
        .on(5, |p| kernel.rcu.cpu_offline(p))
        .expect("others stay");
    kernel.set_load(5, Load::Off);
    kernel.jiffies(5);
    assert_eq!(kernel.invoked(), 1);
    kernel.call(1, 1, Urgency::Plain);
    kernel.jiffies(50);
    assert_eq!(kernel.invoked(), 1, "the next one waits for CPU 6");
}

#[test]
fn the_last_ordinary_cpu_of_2013_stays_and_an_offloaded_list_stays_with_its_thread() {
    let kernel = Kernel::new(Settings {
        offloaded: vec![1, 2, 3],
        ..Settings::new(4, HZ, Form::Y2013)
    });
    assert_eq!(
        kernel.on(0, |p| kernel.rcu.cpu_offline(p)),
        Err(Refusal::LastOrdinary)
    );
    for form in [Form::Y2013, Form::Modern] {
        let kernel = Kernel::new(Settings {
            offloaded: vec![1, 2, 3],
            ..Settings::new(4, HZ, form)
        });
        kernel.set_load(2, Load::Busy(InterruptedCode::User));
        kernel.call(2, 9, Urgency::Plain);
        kernel
            .on(2, |p| kernel.rcu.cpu_offline(p))
            .expect("an offloaded CPU may go");
        kernel.set_load(2, Load::Off);
        kernel.on(0, |p| kernel.rcu.migrate_callbacks(p, 2));
        kernel.jiffies(10);
        assert_eq!(
            (
                kernel.rcu.counters(0).adopted,
                kernel.rcu.counters(2).invoked_thread
            ),
            (0, 1),
            "{form:?}"
        );
    }
    let alone = Kernel::new(Settings::new(1, HZ, Form::Modern));
    assert_eq!(
        alone.on(0, |p| alone.rcu.cpu_offline(p)),
        Err(Refusal::Last)
    );
}
