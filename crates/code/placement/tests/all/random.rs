//! Properties over random histories.

use crate::common::Machine;
use placement::{CpuSet, Doing, Kind, LONGEST_SUM, PERIOD, Pelt, Policy, View, decay};
use proptest::prelude::*;

fn doing() -> impl Strategy<Value = Doing> {
    prop_oneof![
        Just(Doing::Nothing),
        Just(Doing::Waiting),
        Just(Doing::Running)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_sum_is_above_what_always_running_gives(steps in prop::collection::vec((0..40_000_000_000_u64, doing(), 1..=1024_u32), 1..200)) {
        let mut pelt = Pelt::new(0);
        let mut now = 0;
        for (step, doing, capacity) in steps {
            now += step;
            pelt.update(now, doing, capacity);
            prop_assert!(pelt.runnable <= pelt.divider(), "{pelt:?}");
            prop_assert!(pelt.running <= pelt.runnable);
            prop_assert!(pelt.divider() < LONGEST_SUM && pelt.divider() >= LONGEST_SUM - PERIOD);
            prop_assert!(pelt.ratio() <= 1024 && pelt.utilisation() <= 1024 && pelt.served() <= 1024);
        }
    }

    #[test]
    fn half_is_left_after_32_periods_whatever_the_sum(sum in 2..=u64::from(LONGEST_SUM), half_lives in 1..20_u64) {
        // Cut off twice: once by the shift, once by the fraction that stands for y^0.
        prop_assert_eq!(decay(sum, 32 * half_lives), (sum >> half_lives).saturating_sub(1));
    }

    #[test]
    fn nobody_is_put_where_it_may_not_run(
        kind in prop::sample::select(&Kind::ALL[..]),
        sets in prop::collection::vec((1..32_u64, -20..=19_i8, 0..12_u8), 1..12),
        steps in prop::collection::vec((0..6_u8, 0..12_usize, 0..30_u64), 1..300),
    ) {
        let mut policy = kind.policy(&Machine::model(), 1);
        let mut machine = Machine::tc2();
        for &(set, nice, real_time) in &sets {
            let task = machine.task(nice);
            machine.tasks[task].allowed = CpuSet(set);
            // A kernel gives a task that has not started the first CPU that it may use.
            machine.tasks[task].cpu = CpuSet(set).iter(5).next().unwrap_or(0);
            machine.tasks[task].is_kernel_thread = real_time == 11;
            if real_time < 3 {
                machine.tasks[task].policy = Policy::RealTime { priority: 1 + real_time };
            }
        }
        for (what, which, ms) in steps {
            let task = which % sets.len();
            let cpu = which % 5;
            machine.pass(ms);
            match what {
                0 | 1 => {
                    if machine.tasks[task].doing == Doing::Nothing {
                        let to = machine.wake(&mut *policy, task);
                        prop_assert!(machine.allowed(task).has(to), "{kind}: wake to {to}");
                    }
                }
                2 => {
                    if machine.tasks[task].doing == Doing::Running {
                        let cpu = machine.tasks[task].cpu;
                        machine.set(&mut *policy, task, Doing::Nothing);
                        machine.go_on(&mut *policy, cpu);
                    }
                }
                3 => {
                    if let Some(wanted) = machine.tick(&mut *policy, cpu) {
                        prop_assert!(machine.allowed(wanted.task).has(wanted.to), "{kind}: {wanted:?}");
                        prop_assert!(wanted.to != cpu, "{kind}: {wanted:?}");
                    }
                }
                4 => {
                    if machine.running(cpu).is_none() && machine.waiting(cpu) == 0 {
                        let pulled = machine.pull(&mut *policy, cpu);
                        prop_assert!(pulled.is_none_or(|task| machine.allowed(task).has(cpu)), "{kind}: {pulled:?}");
                    }
                }
                // A task's CPUs change while it sleeps.
                _ => {
                    if machine.tasks[task].doing == Doing::Nothing {
                        machine.tasks[task].allowed = CpuSet(1 + (sets[task].0 + ms) % 31);
                    }
                }
            }
            for cpu in 0..5 {
                prop_assert!(policy.utilisation(&machine, cpu).is_some());
            }
        }
    }
}
