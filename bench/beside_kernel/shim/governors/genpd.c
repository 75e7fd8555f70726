/* Reads lines and answers them: N (states) a new domain, S (situation) a choice, -1 where the domain stays on. */
#include "genpd.h"

struct shim_cpuidle_device shim_cpus[16];
struct device shim_devices[16];
int shim_cpu_count, shim_global_limit, shim_cpu_limits[16], shim_pending;
ktime_t shim_now;

int main(void)
{
	static char line[4096];
	static struct generic_pm_domain genpd;
	static struct genpd_governor_data data;
	static struct genpd_power_state states[10];

	while (fgets(line, sizeof line, stdin)) {
		char *rest = line + 1;
		if (line[0] == 'N') {
			memset(&genpd, 0, sizeof genpd);
			memset(&data, 0, sizeof data);
			genpd.states = states, genpd.gd = &data, genpd.flags = GENPD_FLAG_CPU_DOMAIN;
			/* As when a device is attached. */
			genpd.max_off_time_changed = data.max_off_time_changed = true;
			genpd.state_count = strtol(rest, &rest, 10);
			for (unsigned int i = 0; i < genpd.state_count; i++) {
				states[i].power_off_latency_ns = strtoll(rest, &rest, 10);
				states[i].power_on_latency_ns = strtoll(rest, &rest, 10);
				states[i].residency_ns = strtoll(rest, &rest, 10);
			}
		} else if (line[0] == 'S') {
			shim_now = strtoll(rest, &rest, 10);
			shim_global_limit = strtol(rest, &rest, 10);
			shim_pending = strtol(rest, &rest, 10);
			shim_cpu_count = strtol(rest, &rest, 10);
			for (int i = 0; i < shim_cpu_count; i++) {
				shim_cpus[i].next_hrtimer = strtoll(rest, &rest, 10);
				shim_cpu_limits[i] = strtol(rest, &rest, 10);
			}
			printf("%d\n", pm_domain_cpu_gov.power_down_ok(&genpd.domain) ? (int)genpd.state_idx : -1);
			fflush(stdout);
		}
	}
	return 0;
}
