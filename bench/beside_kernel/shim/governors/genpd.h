/* The little of the kernel that genpd's governor asks of it. Devices and subdomains there are none, so lists are empty. */
#pragma once

#include "shim.h"

#define CONFIG_CPU_IDLE 1
#define KTIME_SEC_MAX (KTIME_MAX / NSEC_PER_SEC)
#define PM_QOS_RESUME_LATENCY_NO_CONSTRAINT_NS S64_MAX
#define DEV_PM_QOS_RESUME_LATENCY 0
#define GENPD_FLAG_CPU_DOMAIN 1
#define GENPD_FLAG_MIN_RESIDENCY 2
#define READ_ONCE(value) (value)
#define ktime_before(a, b) ((a) < (b))
#define ktime_set(seconds, ns) ((seconds) * NSEC_PER_SEC + (ns))
#define ktime_sub(a, b) ((a) - (b))
#define ktime_get() shim_now
#define dev_dbg(...)
#define spin_lock_irqsave(lock, flags) ((void)(flags))
#define spin_unlock_irqrestore(lock, flags) ((void)(flags))
#define list_for_each_entry(at, list, member) for (at = NULL; at; )
#define device_for_each_child(dev, data, visit) ((void)(visit))
#undef per_cpu
#define per_cpu(devices, cpu) (&shim_cpus[cpu])
#define for_each_cpu_and(cpu, a, b) for (cpu = 0; cpu < shim_cpu_count; cpu++)
#define get_cpu_device(cpu) (&shim_devices[cpu])

struct dev_pm_domain { int nothing; };
struct subsys { void *domain_data; };
struct device { struct { struct subsys *subsys_data; int lock; bool ignore_children; } power; };
struct gpd_timing_data {
	s64 suspend_latency_ns, resume_latency_ns, effective_constraint_ns;
	ktime_t next_wakeup;
	bool constraint_changed, cached_suspend_ok;
};
#ifdef IN_PLACE
struct generic_pm_domain_data { struct gpd_timing_data td; };
#else
struct generic_pm_domain_data { struct gpd_timing_data *td; };
#endif
struct pm_domain_data { int nothing; };
struct genpd_power_state { s64 power_off_latency_ns, power_on_latency_ns, residency_ns; };
/* Of the governor itself; up to 5.17 these are the domain's own. The kernel has a bool for the index, too. */
struct genpd_governor_data {
	s64 max_off_time_ns;
	bool max_off_time_changed;
	ktime_t next_wakeup, next_hrtimer, last_enter;
	bool reflect_residency, cached_power_down_ok, cached_power_down_state_idx;
};
struct generic_pm_domain {
	struct dev_pm_domain domain;
	int parent_links, child_links, dev_list, cpus;
	struct genpd_governor_data *gd;
	s64 max_off_time_ns;
	bool max_off_time_changed, cached_power_down_ok, cached_power_down_state_idx;
	unsigned int flags, state_count, state_idx;
	struct genpd_power_state *states;
};
struct gpd_link { struct generic_pm_domain *parent, *child; };
struct dev_power_governor {
	bool (*system_power_down_ok)(struct dev_pm_domain *domain);
	bool (*power_down_ok)(struct dev_pm_domain *domain);
	bool (*suspend_ok)(struct device *dev);
};
struct shim_cpuidle_device { ktime_t next_hrtimer; };
#define cpuidle_device shim_cpuidle_device

extern struct shim_cpuidle_device shim_cpus[16];
extern struct device shim_devices[16];
extern int shim_cpu_count, shim_global_limit, shim_cpu_limits[16], shim_pending;
extern ktime_t shim_now;
extern struct dev_power_governor pm_domain_cpu_gov;

static inline struct generic_pm_domain *pd_to_genpd(struct dev_pm_domain *pd) { return (void *)pd; }
static inline struct generic_pm_domain_data *dev_gpd_data(struct device *dev) { return NULL; }
static inline struct generic_pm_domain_data *to_gpd_data(struct pm_domain_data *pdd) { return NULL; }
static inline s64 dev_pm_qos_read_value(struct device *dev, int type) { return 0; }
static inline s64 __dev_pm_qos_resume_latency(struct device *dev) { return 0; }
static inline s32 cpu_latency_qos_limit(void) { return shim_global_limit; }
static inline s32 cpu_wakeup_latency_qos_limit(void) { return INT_MAX; }
static inline s32 dev_pm_qos_raw_resume_latency(struct device *dev) { return shim_cpu_limits[dev - shim_devices]; }
static inline bool cpus_peek_for_pending_ipi(int cpus) { return shim_pending; }
