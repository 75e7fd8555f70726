/* Reads lines and answers them: N (states) a new domain, S (situation) a choice, -1 where the domain stays on. */
#include "genpd.h"

struct shim_cpuidle_device shim_cpus[16];
struct device shim_devices[16];
int shim_cpu_count, shim_global_limit, shim_cpu_limits[16], shim_pending;
ktime_t shim_now;

int main(void)
{
	static struct generic_pm_domain genpd;
	static struct genpd_governor_data data;
	static struct genpd_power_state states[10];

	for (char what; scanf(" %c", &what) == 1;) {
		if (what == 'N') {
			memset(&genpd, 0, sizeof genpd);
			memset(&data, 0, sizeof data);
			genpd.states = states, genpd.gd = &data, genpd.flags = GENPD_FLAG_CPU_DOMAIN;
			/* As when a device is attached. */
			genpd.max_off_time_changed = data.max_off_time_changed = true;
			genpd.state_count = shim_next();
			for (unsigned int i = 0; i < genpd.state_count; i++) {
				states[i].power_off_latency_ns = shim_next();
				states[i].power_on_latency_ns = shim_next();
				states[i].residency_ns = shim_next();
			}
		} else {
			shim_now = shim_next(), shim_global_limit = shim_next(), shim_pending = shim_next();
			shim_cpu_count = shim_next();
			for (int i = 0; i < shim_cpu_count; i++)
				shim_cpus[i].next_hrtimer = shim_next(), shim_cpu_limits[i] = shim_next();
			printf("%d\n", pm_domain_cpu_gov.power_down_ok(&genpd.domain) ? (int)genpd.state_idx : -1);
			fflush(stdout);
		}
	}
	return 0;
}
