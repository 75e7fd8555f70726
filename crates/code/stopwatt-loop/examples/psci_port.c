/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A PSCI port that keeps two flags for each CPU, one for hotplug and one for idle, and closes the
 * port of a cluster when every other CPU of it has a flag set. As it stands, a CPU that resumes keeps
 * its idle flag: the bug that ports of this kind have had. -DFIXED clears it.
 *
 *   cc -O2 -shared -fPIC -I path/to/include psci_port.c -o psci_port.so
 *   stopwatt explore psci --hooks psci_port.so
 */
#include "stopwatt_hooks.h"
#include <stddef.h>

static const struct stopwatt_hardware *hw;

enum { OFF, IDLE };
static const char *const variables[] = { "off", "idle", NULL };

/* The flags are changed and read under the lock of the cluster, with the cache off. */
static uint64_t flag(unsigned int which, uint32_t cpu)
{
    return hw->load(which, cpu, STOPWATT_RELAXED);
}

static void set_flag(unsigned int which, uint64_t value)
{
    hw->store(which, hw->cpu(), value, STOPWATT_RELAXED);
}

/* True if nobody else in this CPU's cluster runs. */
static int is_last(void)
{
    uint32_t me = hw->cpu();

    for (uint32_t cpu = 0; cpu < hw->cpus(); cpu++)
        if (cpu != me && STOPWATT_CLUSTER(cpu) == STOPWATT_CLUSTER(me) && !flag(OFF, cpu) && !flag(IDLE, cpu))
            return 0;
    return 1;
}

static void go_down(void)
{
    int last = is_last();

    if (last)
        hw->close_port();
    hw->power_down(last);
}

static void come_up(const psci_power_state_t *state)
{
    if (state->pwr_domain_state[1] == STOPWATT_OFF)
        hw->open_port();
}

/* CPU 0 boots with its cache on; the others look at memory. */
static void setup(void)
{
    for (uint32_t cpu = 1; cpu < hw->cpus(); cpu++) {
        hw->store(OFF, cpu, 1, STOPWATT_RELAXED);
        hw->clean(OFF, cpu);
    }
    hw->dsb();
}

static int pwr_domain_on(uint64_t mpidr)
{
    return hw->power_on(STOPWATT_CPU_OF(mpidr)) ? PSCI_E_INTERN_FAIL : PSCI_E_SUCCESS;
}

static void pwr_domain_off(const psci_power_state_t *state)
{
    (void)state;
    set_flag(OFF, 1);
    go_down();
}

static void pwr_domain_suspend(const psci_power_state_t *state)
{
    (void)state;
    set_flag(IDLE, 1);
    go_down();
}

static void pwr_domain_on_finish(const psci_power_state_t *state)
{
    set_flag(OFF, 0);
    come_up(state);
}

static void pwr_domain_suspend_finish(const psci_power_state_t *state)
{
#ifdef FIXED
    set_flag(IDLE, 0);
#endif
    come_up(state);
}

/* A CPU that loses its contents lets its cluster go down, as the flags have it. */
static int validate_power_state(unsigned int power_state, psci_power_state_t *state)
{
    for (int level = 0; level < 3; level++)
        state->pwr_domain_state[level] = (power_state >> (4 * level)) & 0xf;

    const plat_local_state_t *is = state->pwr_domain_state;
    int standby = is[0] == STOPWATT_RETENTION && is[1] == STOPWATT_RUN && is[2] == STOPWATT_RUN;
    int off = is[0] == STOPWATT_OFF && is[1] == STOPWATT_OFF && is[2] <= STOPWATT_SYSTEM_OFF;

    return standby || off ? PSCI_E_SUCCESS : PSCI_E_INVALID_PARAMS;
}

static const struct stopwatt_psci_hooks hooks = {
    .abi = STOPWATT_HOOKS_ABI,
    .hardware = &hw,
    .variables = variables,
    .setup = setup,
    .pwr_domain_on = pwr_domain_on,
    .pwr_domain_off = pwr_domain_off,
    .pwr_domain_suspend = pwr_domain_suspend,
    .pwr_domain_on_finish = pwr_domain_on_finish,
    .pwr_domain_suspend_finish = pwr_domain_suspend_finish,
    .validate_power_state = validate_power_state,
};

const struct stopwatt_psci_hooks *stopwatt_psci_hooks(uint32_t n)
{
    return n == 0 ? &hooks : NULL;
}
