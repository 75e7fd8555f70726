//! Facts about the idle intervals of a recorded trace.
//!
//!     cargo run -p sleeps --example sleeps RECORDING [each]

use sleeps::{Sleep, SleepLength, Waker};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name a recording")?;
    let each = arguments.next().is_some();
    let (mut late_ns, mut wakers) = (Vec::new(), std::collections::BTreeMap::new());
    let summary = sleeps::sleeps(folder.as_ref(), |sleep: Sleep| {
        *wakers.entry(sleep.waker.name()).or_insert(0_u64) += 1;
        if each {
            println!("{sleep:?}");
        }
        if let SleepLength::Known { timer_ns, tick_ns } = sleep.length
            && let Some(expected) = match sleep.waker {
                Waker::Timer => Some(timer_ns),
                Waker::Tick => tick_ns,
                _ => None,
            }
        {
            late_ns.push(
                sleep
                    .interval_ns()
                    .cast_signed()
                    .saturating_sub_unsigned(expected),
            );
        }
    })?;
    println!(
        "{} known, {} bounded, {} unknown {:?}",
        summary.known,
        summary.bounded,
        summary.all_unknown(),
        summary.unknown
    );
    println!("woken by: {wakers:?}");
    late_ns.sort_unstable();
    if let (Some(least), Some(most)) = (late_ns.first(), late_ns.last()) {
        let of = |percent: usize| late_ns[(late_ns.len() - 1) * percent / 100];
        let absolute = late_ns
            .iter()
            .filter(|late| late.unsigned_abs() <= 5_000)
            .count();
        println!(
            "timers' wake-ups against the expected time, ns: least {least}, 10 % {}, median {}, 90 % {}, 99 % {}, most {most}; {absolute} of {} within 5 us",
            of(10),
            of(50),
            of(90),
            of(99),
            late_ns.len()
        );
    }
    Ok(())
}
