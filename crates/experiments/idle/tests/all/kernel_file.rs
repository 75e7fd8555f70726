//! A governor's file of a kernel's tree.

use crate::replay::{known, platform, sleep};
use idle_experiments::kernel_file::{KernelFile, Source};
use idle_experiments::replay::{Chooser, GovernorReplay, Ideal, Unsaid, replay};
use idle_experiments::trace::TracedIntervals;
use sleeps::Waker;

const TICK_NS: u64 = 4_000_000;

/// A governor that enters the deepest state that the next timer leaves time for, and counts.
const BY_TIMER: &str = r#"
#include <linux/kernel.h>
#include <linux/cpuidle.h>
#include <linux/tick.h>

static DEFINE_PER_CPU(unsigned int, reflected);

static int by_timer_select(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	ktime_t event, sleep = tick_nohz_get_sleep_length(&event);
	int chosen = 0;

	for (int i = 1; i < drv->state_count; i++)
		if (!dev->states_usage[i].disable && drv->states[i].target_residency_ns <= sleep)
			chosen = i;
	*stop_tick = sleep > TICK_NSEC;
	/* HERE */
	return chosen;
}

static void by_timer_reflect(struct cpuidle_device *dev, int index)
{
	dev->last_state_idx = index;
	per_cpu(reflected, dev->cpu)++;
}

static struct cpuidle_governor by_timer = {
	.name = "by-timer",
	.rating = 1,
	.select = by_timer_select,
	.reflect = by_timer_reflect,
};

static int __init by_timer_init(void) { return cpuidle_register_governor(&by_timer); }
postcore_initcall(by_timer_init);
"#;

fn traced() -> TracedIntervals {
    let sleeps = (0..40_u64).flat_map(|at| {
        let (enter, timer) = (at * 50_000_000, 1000 << (at % 16));
        (0..2).map(move |cpu| sleep(cpu, enter, enter + timer / 2, known(timer), Waker::Ipi))
    });
    TracedIntervals::from_sleeps(sleeps)
}

/// The replay of the governor with a line in its `select`, or the error.
fn replayed(name: &str, line: &str) -> Result<GovernorReplay, String> {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, BY_TIMER.replace("/* HERE */", line)).unwrap();
    let source = Source::find(path.to_str().unwrap()).unwrap();
    let platform = platform("qemu-virt");
    let traced = traced();
    let file = KernelFile::compile(&source, TICK_NS).map_err(|error| error.to_string())?;
    let asked = file.ask(&platform, &traced, Unsaid::TIMER, TICK_NS);
    let asked = asked.map_err(|error| error.to_string())?;
    let chooser = Chooser::Asked(&asked);
    Ok(replay(
        &platform,
        &traced,
        chooser,
        Unsaid::TIMER,
        TICK_NS,
        &mut Ideal,
    ))
}

#[test]
fn a_file_chooses_as_its_code_says() {
    let (platform, traced) = (platform("qemu-virt"), traced());
    let found = replayed("by-timer.c", "").unwrap();
    let table = &platform.domains[0].table;
    let deepest = |timer_ns: u64| {
        let fits = |state: &idle::State| state.target_residency_ns <= timer_ns;
        table.all().iter().rposition(fits).unwrap_or(0) as u8
    };
    let expected = (0..40)
        .map(|at| deepest(1000 << (at % 16)))
        .collect::<Vec<_>>();
    assert_eq!(found.chosen, [expected.clone(), expected]);
    // One line changes what it touches, and nothing else.
    let patched = replayed("patched.c", "if (chosen == 2) chosen = 1;").unwrap();
    for (was, is) in found
        .chosen
        .iter()
        .flatten()
        .zip(patched.chosen.iter().flatten())
    {
        assert_eq!(*is, if *was == 2 { 1 } else { *was });
    }
    assert_eq!(traced.all().count(), 80);
}

#[test]
fn code_that_breaks_is_named_with_its_function_and_line() {
    let told = |name, line| replayed(name, line).err().unwrap();
    let crash = told("crash.c", "chosen = *(volatile int *)8;");
    assert!(
        crash.contains("crash.c crashed in by_timer_select (crash.c:17) with signal 11"),
        "{crash}"
    );
    let state = told("state.c", "return 77;");
    assert!(state.contains("state.c chose state 77 of"), "{state}");
    let text = told("text.c", "chosen = nr_running();");
    assert!(
        text.contains("text.c does not compile") && text.contains("nr_running"),
        "{text}"
    );
}
