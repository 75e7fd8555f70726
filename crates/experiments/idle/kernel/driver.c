/* Reads lines and answers them: N (states) a new CPU, S (situation) a choice, R (outcome) what became of it, I (interval) all choices until an interval
 * ends. An interval may not take longer than some seconds. */
#define _GNU_SOURCE
#include "shim.h"
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#define PATIENCE_S 10

ktime_t shim_sleep, shim_event;
s64 shim_limit;
u64 shim_clock;
bool shim_stopped, shim_got_tick, shim_utilised;
unsigned int shim_waiters;

static struct cpuidle_governor *governor;
static struct cpuidle_driver drv;
static struct cpuidle_device dev;
int shim_register(void);

int cpuidle_register_governor(struct cpuidle_governor *registered)
{
	governor = registered;
	return 0;
}

/* Tells where the code is that crashed or hangs. */
static void stop(int number, siginfo_t *info, void *context)
{
	(void)info;
#ifdef __aarch64__
	unsigned long long at = ((ucontext_t *)context)->uc_mcontext.pc;
#else
	unsigned long long at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#endif
	dprintf(2, "%d %llx\n", number, at);
	_exit(3);
}

static int choose(bool *stop_tick)
{
	*stop_tick = true;
	int index = governor->select(&drv, &dev, stop_tick);
	if (index < 0 || index >= drv.state_count) {
		dprintf(2, "0 %d\n", index);
		_exit(3);
	}
	return index;
}

static void reflect(int index, u64 residency, u64 since, bool got_tick, bool polled)
{
	shim_clock += since;
	shim_got_tick = got_tick;
	dev.last_residency_ns = residency;
	if (index >= 0) {
		if (drv.states[index].flags & CPUIDLE_FLAG_POLLING)
			dev.poll_time_limit = polled;
		if (governor->reflect)
			governor->reflect(&dev, index);
	}
}

/* The time that the kernel polls at most before it asks again. */
static u64 poll_limit(void)
{
	if (dev.poll_limit_ns)
		return dev.poll_limit_ns;
	for (int i = 1; i < drv.state_count; i++)
		if (!dev.states_usage[i].disable)
			return max(drv.states[i].target_residency_ns, 1);
	return TICK_NSEC;
}

/* Chooses until an interval is over, or once where the outcome is told; writes each state, its stay, and whether the tick stops. */
static void live(u64 left, bool got_tick, int seen, u64 residency)
{
	bool is_told = seen > -2, stop_tick;
	do {
		int index = choose(&stop_tick);
		bool polls = drv.states[index].flags & CPUIDLE_FLAG_POLLING;
		u64 stay = polls && !is_told ? min(left, poll_limit()) : left;
		if (is_told)
			reflect(seen, residency, residency, got_tick, false);
		else
			reflect(index, stay, stay, stay == left && got_tick, stay < left);
		printf("%d %llu %d\n", index, (unsigned long long)stay, stop_tick);
		left -= stay;
		shim_sleep = shim_sleep > (s64)stay ? shim_sleep - (s64)stay : 0;
		shim_event = shim_event > (s64)stay ? shim_event - (s64)stay : 0;
	} while (left > 0);
}

static void start(char *rest)
{
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
	if (governor->enable)
		governor->enable(&drv, &dev);
}

int main(void)
{
	static char line[4096];
	struct sigaction action = { .sa_sigaction = stop, .sa_flags = SA_SIGINFO };

	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM };

	for (int i = 0; i < 6; i++)
		sigaction(signals[i], &action, NULL);
	alarm(PATIENCE_S);
	shim_register();
	while (alarm(0), fgets(line, sizeof line, stdin)) {
		char *rest = line + 1;
		long long numbers[10] = { 0 };
		alarm(PATIENCE_S);
		if (line[0] == 'N') {
			start(rest);
			continue;
		}
		for (int i = 0; i < 10; i++)
			numbers[i] = strtoull(rest, &rest, 10);
		if (line[0] == 'R') {
			reflect(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
			continue;
		}
		shim_sleep = numbers[0], shim_event = numbers[1], shim_stopped = numbers[2], shim_limit = numbers[3];
		shim_waiters = numbers[4], shim_utilised = numbers[5];
		if (line[0] == 'I') {
			live(numbers[6], numbers[7], numbers[8], numbers[9]);
		} else {
			bool stop_tick;
			int index = choose(&stop_tick);
			printf("%d %d\n", index, stop_tick);
			fflush(stdout);
		}
	}
	return 0;
}
