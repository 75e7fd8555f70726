/* Asks a governor: N and states begin a CPU, I and an interval ask for its states until it ends. No interval takes it more than 10 s. */
#define _GNU_SOURCE
#include "shim.h"
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

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

static void stop(int why, u64 at)
{
	dprintf(2, "%d %lx\n", why, at);
	_exit(3);
}

/* Tells where the code is that crashed or hangs. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
#ifdef __aarch64__
	stop(number, machine->pc);
#else
	stop(number, machine->gregs[REG_RIP]);
#endif
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

static void start(void)
{
	memset(&dev, 0, sizeof dev);
	drv.state_count = shim_next();
	for (int i = 0; i < drv.state_count; i++) {
		struct cpuidle_state *state = &drv.states[i];
		state->exit_latency_ns = shim_next();
		state->target_residency_ns = shim_next();
		state->flags = shim_next();
		dev.states_usage[i].disable = shim_next();
	}
	/* Nothing was entered yet. */
	dev.last_state_idx = -1;
	if (governor->enable)
		governor->enable(&drv, &dev);
}

/* Chooses until an interval is over, or once where the outcome is told; writes each state, its stay, and whether the tick stops. */
static void live(void)
{
	shim_sleep = shim_next(), shim_event = shim_next(), shim_stopped = shim_next(), shim_limit = shim_next();
	shim_waiters = shim_next(), shim_utilised = shim_next();
	u64 left = shim_next(), got_tick = shim_next();
	int seen = shim_next();
	s64 residency = shim_next();
	do {
		bool stop_tick = true;
		int index = governor->select(&drv, &dev, &stop_tick);
		if ((unsigned)index >= drv.state_count)
			stop(0, index);
		bool polls = drv.states[index].flags && seen < -1;
		s64 stay = polls ? min(left, poll_limit()) : left;
		printf("%d %ld %d\n", index, stay, stop_tick);
		left -= stay;
		dev.last_residency_ns = seen < -1 ? stay : residency;
		dev.poll_time_limit = left > 0;
		shim_clock += dev.last_residency_ns;
		shim_got_tick = !left && got_tick;
		index = seen < -1 ? index : seen;
		if (index >= 0 && governor->reflect)
			governor->reflect(&dev, index);
		shim_sleep = max(shim_sleep - stay, 0), shim_event = max(shim_event - stay, 0);
	} while (left > 0);
}

int main(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM };
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	for (int i = 0; i < 5; i++)
		sigaction(signals[i], &action, NULL);
	alarm(10);
	shim_register();
	for (char what; alarm(0), scanf(" %c", &what) == 1;) {
		alarm(10);
		what == 'N' ? start() : live();
	}
	return 0;
}
