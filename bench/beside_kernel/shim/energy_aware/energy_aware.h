/* The little of the kernel that find_energy_efficient_cpu and what it calls ask of it, for a program that runs them alone. What a state does not have
 * here is nothing: interrupts, tasks that are not fair, clamps, thermal pressure. */
#pragma once

#include "shim.h"

#define CPUS 64
#define DOMAINS 8
#define POINTS 32

#define __always_inline inline
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, v) ((x) = (v))
#define typeof __typeof__
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define rcu_read_lock()
#define rcu_read_unlock()
#define rcu_dereference(x) (x)
#define SCHED_CAPACITY_SHIFT 10
#define SCHED_CAPACITY_SCALE 1024
#define UTIL_EST 1
#define sched_feat(x) (x)
#define UTIL_AVG_UNCHANGED 0x80000000
#define EM_PERF_DOMAIN_SKIP_INEFFICIENCIES 2
#define EM_PERF_STATE_INEFFICIENT 1
#define fits_capacity(cap, most) ((cap) * 1280 < (most) * 1024)

struct cpumask { u64 bits; };
#define cpumask_test_cpu(cpu, mask) ((mask)->bits >> (cpu) & 1)
#define cpumask_first(mask) __builtin_ctzll((mask)->bits)
#define cpumask_empty(mask) ((mask)->bits == 0)
#define cpumask_and(to, a, b) ((to)->bits = (a)->bits & (b)->bits)
#define for_each_cpu(cpu, mask) for (cpu = 0; cpu < CPUS; cpu++) if (cpumask_test_cpu(cpu, mask))
#define for_each_cpu_and(cpu, a, b) for_each_cpu(cpu, a) if (cpumask_test_cpu(cpu, b))
#define to_cpumask(bits) ((struct cpumask *)(bits))
static struct cpumask shim_all = { ~0ull }, shim_scratch;
#define cpu_online_mask (&shim_all)
#define this_cpu_cpumask_var_ptr(x) (&shim_scratch)

struct em_perf_state { unsigned long frequency, power, cost, flags; };
struct em_perf_domain { struct em_perf_state *table; int nr_perf_states; unsigned long flags; unsigned long cpus[1]; };
struct perf_domain { struct em_perf_domain *em_pd; struct perf_domain *next; };
#define perf_domain_span(pd) to_cpumask((pd)->em_pd->cpus)
#define em_estimate_energy(cost, sum, scale) (((cost) * (sum)) / (scale))

struct util_est { unsigned int enqueued, ewma; };
struct sched_avg { unsigned long util_avg; struct util_est util_est; };
struct sched_entity { struct sched_avg avg; };
struct cfs_rq { struct sched_avg avg; };
struct root_domain { struct perf_domain *pd; int overutilized; };
struct rq { struct cfs_rq cfs; unsigned long capacity, left; struct root_domain *rd; int rt; };
struct task_struct { struct sched_entity se; struct cpumask *cpus_ptr; int cpu; };
struct sched_domain { struct sched_domain *parent; };
#define sched_domain_span(sd) (&shim_all)

extern struct rq shim_rq[CPUS];
extern struct sched_domain shim_domain, *shim_asym;
#define sd_asym_cpucapacity shim_asym
#define cpu_rq(cpu) (&shim_rq[cpu])
#define this_rq() (&shim_rq[0])
#define smp_processor_id() 0
#define current ((struct task_struct *)0)
#define task_on_rq_queued(p) 0
#define task_cpu(p) ((p)->cpu)
#define capacity_of(cpu) (cpu_rq(cpu)->left)
#define arch_scale_cpu_capacity(cpu) (cpu_rq(cpu)->capacity)
#define capacity_orig_of arch_scale_cpu_capacity
#define arch_scale_thermal_pressure(cpu) 0ul
#define sync_entity_load_avg(se)

enum uclamp_id { UCLAMP_MIN, UCLAMP_MAX };
#define uclamp_is_used() false
#define uclamp_eff_value(p, id) 0ul
#define uclamp_rq_is_idle(rq) false
#define uclamp_rq_get(rq, id) 0ul
#define uclamp_rq_util_with(rq, util, p) (util)
#define rt_rq_is_runnable(rt) false
#define cpu_util_irq(rq) 0ul
#define cpu_util_rt(rq) 0ul
#define cpu_util_dl(rq) 0ul
#define cpu_bw_dl(rq) 0ul
#define scale_irq_capacity(util, irq, most) (util)
enum schedutil_type { FREQUENCY_UTIL, ENERGY_UTIL };
#define cpu_util_type schedutil_type

#define lsub_positive(pointer, value) do { typeof(pointer) p_ = (pointer); *p_ -= min_t(typeof(*p_), *p_, value); } while (0)
#define sub_positive lsub_positive
