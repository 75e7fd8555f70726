/* The little of the kernel that a governor of drivers/cpuidle/governors asks of it, for a program that runs it alone. Every header of the kernel that it
 * includes is this one. Types are the kernel's, since overflows are part of what is compared. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;
typedef s64 ktime_t;

#define U64_MAX UINT64_MAX
#define S64_MAX INT64_MAX
#define KTIME_MAX S64_MAX
#define NSEC_PER_USEC 1000L
#define NSEC_PER_SEC 1000000000L
#define TICK_NSEC (NSEC_PER_SEC / HZ)

#define likely(x) (x)
#define unlikely(x) (x)
#define __init
#define __read_mostly
#define module_param(name, type, mode)
#define trace_guest_halt_poll_ns_grow(now, before) ((void)(before))
#define trace_guest_halt_poll_ns_shrink(now, before) ((void)(before))
#define kvm_para_available() true
#define tick_nohz_enabled true
#define jiffies (shim_clock / TICK_NSEC)
#define shim_one_of(a, is, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ is b_ ? a_ : b_; })
#define min(a, b) shim_one_of(a, <, b)
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define max(a, b) shim_one_of(a, >, b)
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define do_div(a, b) ({ u32 rest_ = (a) % (u32)(b); (a) = (a) / (u32)(b); rest_; })
#define ktime_to_ns(t) (t)
#define ktime_to_us(t) ((s64)(t) / NSEC_PER_USEC)
#define DEFINE_PER_CPU(type, name) type name
#define this_cpu_ptr(p) (p)
#define per_cpu_ptr(p, cpu) (p)
#define per_cpu(v, cpu) (v)
#define postcore_initcall(f) int shim_register(void) { return f(); }

#define CPUIDLE_STATE_MAX 10
#define CPUIDLE_FLAG_POLLING 1

struct cpuidle_state_usage {
	unsigned long long disable;
};

struct cpuidle_state {
	s64 exit_latency_ns;
	s64 target_residency_ns;
	unsigned int flags;
};

struct cpuidle_device {
	unsigned int poll_time_limit:1;
	unsigned int cpu;
	int last_state_idx;
	u64 last_residency_ns, poll_limit_ns;
	struct cpuidle_state_usage states_usage[CPUIDLE_STATE_MAX];
};

struct cpuidle_driver {
	struct cpuidle_state states[CPUIDLE_STATE_MAX];
	int state_count;
};

struct cpuidle_governor {
	const char *name;
	unsigned int rating;
	int (*enable)(struct cpuidle_driver *drv, struct cpuidle_device *dev);
	int (*select)(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick);
	void (*reflect)(struct cpuidle_device *dev, int index);
};

/* The situation, as the line that was read last says it. */
extern ktime_t shim_sleep, shim_event;
extern s64 shim_limit;
extern u64 shim_clock;
extern bool shim_stopped, shim_got_tick, shim_utilised;
extern unsigned int shim_waiters;

/* The next number of what is asked; the program ends with its input. */
static inline s64 shim_next(void)
{
	long long number;
	if (scanf("%lld", &number) != 1)
		exit(0);
	return number;
}

int cpuidle_register_governor(struct cpuidle_governor *governor);
static inline s64 cpuidle_governor_latency_req(unsigned int cpu) { return shim_limit; }
/* teo of 6.3 to 6.10: over its threshold, or nothing at all. */
static inline unsigned long arch_scale_cpu_capacity(int cpu) { return 1024; }
static inline unsigned long sched_cpu_util(int cpu) { return shim_utilised ? 1024 : 0; }
static inline unsigned int nr_iowait_cpu(unsigned int cpu) { return shim_waiters; }
static inline ktime_t tick_nohz_get_sleep_length(ktime_t *event) { *event = shim_event; return shim_sleep; }
static inline bool tick_nohz_tick_stopped(void) { return shim_stopped; }
static inline bool tick_nohz_idle_got_tick(void) { return shim_got_tick; }
static inline u64 local_clock(void) { return shim_clock; }
