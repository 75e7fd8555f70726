/* Reads states and answers each with a CPU. A line is: the number of CPUs, for each its capacity, what is left of it, utilisation and estimates; the
 * number of domains, for each its set of CPUs, its number of points and for each of them clock in kHz and power; the task's utilisation, estimate,
 * previous CPU and set of CPUs. */
#include "energy_aware.h"
#include "cut.c"

struct rq shim_rq[CPUS];
struct sched_domain shim_domain, *shim_asym = &shim_domain;

int main(void)
{
	static struct em_perf_state points[DOMAINS][POINTS];
	static struct em_perf_domain models[DOMAINS];
	static struct perf_domain domains[DOMAINS];
	static struct root_domain root;
	static struct task_struct task;
	static struct cpumask allowed;

	for (;;) {
		int cpus = shim_next();
		for (int cpu = 0; cpu < cpus; cpu++) {
			struct rq *rq = &shim_rq[cpu];
			rq->rd = &root;
			rq->capacity = shim_next();
			rq->left = shim_next();
			rq->cfs.avg.util_avg = shim_next();
			rq->cfs.avg.util_est.enqueued = shim_next();
		}
		shim_all.bits = (1ull << cpus) - 1;
		int count = shim_next();
		root.pd = NULL;
		for (int domain = 0; domain < count; domain++) {
			struct em_perf_domain *model = &models[domain];
			model->cpus[0] = shim_next();
			model->nr_perf_states = shim_next();
			model->table = points[domain];
			for (int at = 0; at < model->nr_perf_states; at++) {
				points[domain][at].frequency = shim_next();
				points[domain][at].power = shim_next();
			}
			/* What the kernel computes when a model is registered. */
			unsigned long top = points[domain][model->nr_perf_states - 1].frequency;
			for (int at = 0; at < model->nr_perf_states; at++)
				points[domain][at].cost = (u64)top * points[domain][at].power / points[domain][at].frequency;
			domains[domain].em_pd = model;
			/* Each is put before those that are there. */
			domains[domain].next = root.pd;
			root.pd = &domains[domain];
		}
		task.se.avg.util_avg = shim_next();
		task.se.avg.util_est.ewma = shim_next();
		task.cpu = shim_next();
		allowed.bits = shim_next();
		task.cpus_ptr = &allowed;
		printf("%d\n", find_energy_efficient_cpu(&task, task.cpu));
		fflush(stdout);
	}
	return 0;
}
