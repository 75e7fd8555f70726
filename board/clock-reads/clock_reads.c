// SPDX-License-Identifier: GPL-2.0
/*
 * Prints what a read of each of the kernel's clocks takes: 10 000 rounds of 100 reads, as a patch for cpuidle measured it in 2016.
 *
 * First one CPU reads with interrupts off. Then all others read at once while this one goes on, so that its ticks set the clock that they
 * read. Lines of the kernel's log: clock, CPUs that read, and the average, the deviation and the longest of a round, in picoseconds a read.
 * Nothing stays loaded.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <asm/arch_timer.h>

#define ROUNDS 10000
#define READS 100

static const struct clock {
	const char *name;
	u64 (*read)(void);
} clocks[] = {
	{ "ktime_get", ktime_get_ns },
	{ "ktime_get_mono_fast", ktime_get_mono_fast_ns },
	{ "local_clock", local_clock },
};

/* What the CPUs that read have found, together. */
static struct found {
	u64 cpus, sum, squares, most;
} all;
static DEFINE_SPINLOCK(lock);

static void measure(void *clock)
{
	u64 (*read)(void) = ((const struct clock *)clock)->read;
	struct found own = { };
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		u64 ps, from = arch_timer_read_counter();

		for (i = 0; i < READS; i++)
			read();
		ps = div_u64((arch_timer_read_counter() - from) * (NSEC_PER_SEC * 1000 / READS), arch_timer_get_cntfrq());
		own.sum += ps;
		own.squares += ps * ps;
		own.most = max(own.most, ps);
	}
	spin_lock(&lock);
	all.cpus++;
	all.sum += own.sum;
	all.squares += own.squares;
	all.most = max(all.most, own.most);
	spin_unlock(&lock);
}

static void print(const char *name)
{
	u64 rounds = all.cpus * ROUNDS, mean = div64_u64(all.sum, rounds);

	pr_info("clock_reads: %s,%llu,%llu,%u,%llu\n", name, all.cpus, mean, int_sqrt64(div64_u64(all.squares, rounds) - mean * mean), all.most);
	all = (struct found) { };
}

static int __init clock_reads(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		void *clock = (void *)&clocks[i];

		local_irq_disable();
		measure(clock);
		local_irq_enable();
		print(clocks[i].name);
		smp_call_function(measure, clock, true);
		if (all.cpus)
			print(clocks[i].name);
	}
	return -EAGAIN;
}

module_init(clock_reads);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What a read of each of the kernel's clocks takes");
