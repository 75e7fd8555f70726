/* Reads lines and answers them: N (states) a new CPU, S (situation) a choice, R (outcome) what became of it. */
#include "shim.h"

ktime_t shim_sleep, shim_event;
s64 shim_limit;
u64 shim_clock;
bool shim_stopped, shim_got_tick, shim_utilised;
unsigned int shim_waiters;

static struct cpuidle_governor *governor;
int shim_register(void);

int cpuidle_register_governor(struct cpuidle_governor *registered)
{
	governor = registered;
	return 0;
}

int main(void)
{
	static char line[4096];
	static struct cpuidle_driver drv;
	static struct cpuidle_device dev;

	shim_register();
	while (fgets(line, sizeof line, stdin)) {
		if (line[0] == 'N') {
			char *rest = line + 1;
			memset(&dev, 0, sizeof dev);
			memset(&drv, 0, sizeof drv);
			drv.state_count = strtol(rest, &rest, 10);
			for (int i = 0; i < drv.state_count; i++) {
				drv.states[i].exit_latency_ns = strtoll(rest, &rest, 10);
				drv.states[i].target_residency_ns = strtoll(rest, &rest, 10);
				drv.states[i].flags = strtol(rest, &rest, 10) ? CPUIDLE_FLAG_POLLING : 0;
				dev.states_usage[i].disable = strtol(rest, &rest, 10);
			}
			/* Nothing was entered yet. */
			dev.last_state_idx = -1;
			governor->enable(&drv, &dev);
		} else if (line[0] == 'S') {
			int stopped, utilised;
			long long sleep, event, limit;
			bool stop_tick = true;
			sscanf(line + 1, "%lld %lld %d %lld %u %d", &sleep, &event, &stopped, &limit, &shim_waiters, &utilised);
			shim_sleep = sleep, shim_event = event, shim_stopped = stopped, shim_utilised = utilised, shim_limit = limit;
			int index = governor->select(&drv, &dev, &stop_tick);
			printf("%d %d\n", index, stop_tick);
			fflush(stdout);
		} else if (line[0] == 'R') {
			int index, got_tick, polled;
			unsigned long long residency, since;
			sscanf(line + 1, "%d %llu %llu %d %d", &index, &residency, &since, &got_tick, &polled);
			shim_clock += since;
			shim_got_tick = got_tick;
			dev.last_residency_ns = residency;
			if (index >= 0) {
				if (drv.states[index].flags & CPUIDLE_FLAG_POLLING)
					dev.poll_time_limit = polled;
				governor->reflect(&dev, index);
			}
		}
	}
	return 0;
}
