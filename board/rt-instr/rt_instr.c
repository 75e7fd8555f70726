// SPDX-License-Identifier: GPL-2.0
/*
 * Prints what Trusted Firmware-A stamped in each power-down of cpuidle, as lines that `stopwatt import rt-instr` reads.
 *
 * The firmware has to be built with ENABLE_RUNTIME_INSTRUMENTATION=1. When a CPU leaves an idle state, the module reads the six stamps of
 * that CPU by SMC, with interrupts off; the lines are made when someone reads debugfs. Nothing waits and nothing is allocated on the way.
 */
#include <linux/arm-smccc.h>
#include <linux/cpuidle.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <asm/arch_timer.h>
#include <asm/cputype.h>
#include <trace/events/power.h>

/* Vendor-specific service of EL3 (TF-A from 2.11 on), and the call of before. Both in their 64-bit form. */
#define PMF_GET_TIMESTAMP 0xc7000020UL
#define PMF_GET_TIMESTAMP_OLD 0xc2000010UL
/* Stamps of the runtime instrumentation, service 1 of PMF. */
#define RT_INSTR(id) (0x41UL << 24 | 1UL << 10 | (id))
/* Looks past the caches, as a CPU that is down writes its stamps. */
#define MAINTAIN 1UL

enum { ENTER_PSCI, EXIT_PSCI, ENTER_LOW_POWER, EXIT_LOW_POWER, ENTER_FLUSH, EXIT_FLUSH, STAMPS };

/* The last stays of a CPU. */
#define KEPT 256
struct stay {
	u32 state;
	u64 at[STAMPS];
};
struct kept {
	u64 mpidr;
	u32 entered;
	u64 count;
	struct stay stays[KEPT];
};
static struct kept *__percpu kept;

static unsigned long function;
static struct dentry *folder;

static bool read_stamps(u64 *at)
{
	struct arm_smccc_res res;
	int id;

	for (id = 0; id < STAMPS; id++) {
		arm_smccc_1_1_smc(function, RT_INSTR(id), read_cpuid_mpidr() & MPIDR_HWID_BITMASK, MAINTAIN, &res);
		if (res.a0)
			return false;
		at[id] = res.a1;
	}
	return true;
}

/* True if the stamps are of a power-down that was not seen before. Without a flush both of its stamps stay as they were. */
static bool is_new(const struct kept *own, const u64 *at)
{
	const u64 *last = own->stays[(own->count + KEPT - 1) % KEPT].at;

	return at[ENTER_PSCI] && (!own->count || at[ENTER_PSCI] > last[ENTER_PSCI]) && at[ENTER_PSCI] <= at[ENTER_LOW_POWER] &&
	       at[ENTER_LOW_POWER] <= at[EXIT_LOW_POWER] && at[EXIT_LOW_POWER] <= at[EXIT_PSCI];
}

static void on_cpu_idle(void *data, unsigned int state, unsigned int cpu)
{
	struct kept *own = per_cpu_ptr(kept, cpu);
	u64 at[STAMPS];

	if (state != PWR_EVENT_EXIT) {
		own->mpidr = read_cpuid_mpidr();
		own->entered = state;
		return;
	}
	/* State 0 is WFI, which does not call the firmware. */
	if (own->entered && read_stamps(at) && is_new(own, at)) {
		struct stay *stay = &own->stays[own->count % KEPT];

		stay->state = own->entered;
		memcpy(stay->at, at, sizeof(at));
		/* A reader sees the stay before the count that has it. */
		smp_store_release(&own->count, own->count + 1);
	}
	own->entered = 0;
}

static u64 ns(u64 from, u64 to)
{
	return to > from ? mul_u64_u64_div_u64(to - from, NSEC_PER_SEC, arch_timer_get_cntfrq()) : 0;
}

static int rt_instr_show(struct seq_file *file, void *unused)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct kept *own = per_cpu_ptr(kept, cpu);
		u64 count = smp_load_acquire(&own->count);
		/* With threads the core is a level higher. */
		int level = own->mpidr & MPIDR_MT_BITMASK ? 1 : 0;
		u64 cluster = MPIDR_AFFINITY_LEVEL(own->mpidr, (level + 1));
		u64 core = MPIDR_AFFINITY_LEVEL(own->mpidr, level);
		u64 first = count > KEPT ? count - KEPT : 0;

		for (; first < count; first++) {
			const struct stay *stay = &own->stays[first % KEPT];
			const u64 *at = stay->at;
			bool flushed = at[ENTER_PSCI] <= at[ENTER_FLUSH] && at[EXIT_FLUSH] <= at[ENTER_LOW_POWER];

			seq_printf(file, "<RT_INSTR:linux_idle_state%u\t%llu\t%llu\t%llu\t%llu\t%llu/>\n", stay->state,
				   cluster, core, ns(at[ENTER_PSCI], at[ENTER_LOW_POWER]),
				   ns(at[EXIT_LOW_POWER], at[EXIT_PSCI]), flushed ? ns(at[ENTER_FLUSH], at[EXIT_FLUSH]) : 0ULL);
		}
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rt_instr);

static int __init rt_instr_begin(void)
{
	static const unsigned long functions[] = { PMF_GET_TIMESTAMP, PMF_GET_TIMESTAMP_OLD };
	u64 at[STAMPS];
	int i, error;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		bool answers;

		function = functions[i];
		preempt_disable();
		answers = read_stamps(at);
		preempt_enable();
		if (answers)
			break;
	}
	if (i == ARRAY_SIZE(functions)) {
		pr_err("rt_instr: the firmware answers neither of PMF's calls; build it with ENABLE_RUNTIME_INSTRUMENTATION=1\n");
		return -ENODEV;
	}
	kept = alloc_percpu(struct kept);
	if (!kept)
		return -ENOMEM;
	error = register_trace_cpu_idle(on_cpu_idle, NULL);
	if (error) {
		free_percpu(kept);
		return error;
	}
	folder = debugfs_create_file("rt_instr", 0400, NULL, NULL, &rt_instr_fops);
	return 0;
}

static void __exit rt_instr_end(void)
{
	debugfs_remove(folder);
	unregister_trace_cpu_idle(on_cpu_idle, NULL);
	tracepoint_synchronize_unregister();
	free_percpu(kept);
}

module_init(rt_instr_begin);
module_exit(rt_instr_end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Stamps of Trusted Firmware-A around each power-down of cpuidle");
