/* Reads states and answers each with a CPU. A line is: the number of CPUs, for each its capacity, what is left of it, utilisation and estimates; the
 * number of domains, for each its set of CPUs, its number of points and for each of them clock in kHz and power; the task's utilisation, estimate,
 * previous CPU and set of CPUs. */
#include "shim.h"
#include "cut.c"

struct rq shim_rq[CPUS];
struct sched_domain shim_domain, *shim_asym = &shim_domain;

int main(void)
{
	static char line[65536];
	static struct em_perf_state points[DOMAINS][POINTS];
	static struct em_perf_domain models[DOMAINS];
	static struct perf_domain domains[DOMAINS];
	static struct root_domain root;
	static struct task_struct task;
	static struct cpumask allowed;

	while (fgets(line, sizeof line, stdin)) {
		char *rest = line;
		int cpus = strtol(rest, &rest, 10);
		for (int cpu = 0; cpu < cpus; cpu++) {
			struct rq *rq = &shim_rq[cpu];
			rq->rd = &root;
			rq->capacity = strtoul(rest, &rest, 10);
			rq->left = strtoul(rest, &rest, 10);
			rq->cfs.avg.util_avg = strtoul(rest, &rest, 10);
			rq->cfs.avg.util_est.enqueued = strtoul(rest, &rest, 10);
		}
		shim_all.bits = (1ull << cpus) - 1;
		int count = strtol(rest, &rest, 10);
		root.pd = NULL;
		for (int domain = 0; domain < count; domain++) {
			struct em_perf_domain *model = &models[domain];
			model->cpus[0] = strtoull(rest, &rest, 10);
			model->nr_perf_states = strtol(rest, &rest, 10);
			model->table = points[domain];
			for (int at = 0; at < model->nr_perf_states; at++) {
				points[domain][at].frequency = strtoul(rest, &rest, 10);
				points[domain][at].power = strtoul(rest, &rest, 10);
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
		task.se.avg.util_avg = strtoul(rest, &rest, 10);
		task.se.avg.util_est.ewma = strtoul(rest, &rest, 10);
		task.cpu = strtol(rest, &rest, 10);
		allowed.bits = strtoull(rest, &rest, 10);
		task.cpus_ptr = &allowed;
		printf("%d\n", find_energy_efficient_cpu(&task, task.cpu));
		fflush(stdout);
	}
	return 0;
}
