/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Platform hooks of a PSCI port, as `stopwatt explore psci --hooks port.so` takes them.
 *
 * The hooks have the names and the arguments of TF-A's plat_psci_ops. Stopwatt's PSCI library calls
 * them on an explored machine, in which it is chosen who goes next, what memory shows, and what the
 * hardware refuses.
 *
 * What other CPUs may see at another time, or in another order, goes through the calls of
 * `struct stopwatt_hardware`. Each of them is an operation: other CPUs may go before it. Nobody goes
 * between two plain statements of C, and a plain variable is seen by all CPUs at once: races on plain
 * variables are not found. They start each run as they were when the shared object was loaded.
 *
 * Build:  cc -O2 -shared -fPIC -I path/to/include port.c -o port.so
 */
#ifndef STOPWATT_HOOKS_H
#define STOPWATT_HOOKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Stopwatt refuses any other. */
#define STOPWATT_HOOKS_ABI 2

/* The results of hooks. */
#define PSCI_E_SUCCESS 0
#define PSCI_E_INVALID_PARAMS (-2)
#define PSCI_E_DENIED (-3)
#define PSCI_E_INTERN_FAIL (-6)

/* Local states: the domain runs, keeps its contents, or loses them. The system has no retention, and
 * loses its contents in state 1. */
#define STOPWATT_RUN 0
#define STOPWATT_RETENTION 1
#define STOPWATT_OFF 2
#define STOPWATT_SYSTEM_OFF 1

typedef uint8_t plat_local_state_t;

/* States of the CPU, its cluster and the system. */
typedef struct psci_power_state {
    plat_local_state_t pwr_domain_state[3];
} psci_power_state_t;

/* Clusters have two CPUs each; an MPIDR has the cluster in Aff1. */
#define STOPWATT_CLUSTER(cpu) ((cpu) / 2)
#define STOPWATT_CPU_OF(mpidr) ((uint32_t)((((mpidr) >> 8) & 0xff) * 2 + ((mpidr) & 0xff)))

/* Orders of a load or a store. */
#define STOPWATT_RELAXED 0 /* LDR, STR */
#define STOPWATT_ORDERED 1 /* LDAR, STLR: acquire, release */

/* The board. A shared variable has a number, by its place in `variables` of the port, and an element
 * for each CPU. It lies in cacheable memory and starts at 0; each element has a cache line of its own.
 * A CPU whose cache is off (in the hooks of power-down and wake-up, unless the machine keeps CPUs
 * coherent) goes to memory, past the caches of the others. Who loads the same element three times in
 * a row, and nothing changes, waits until it does. */
struct stopwatt_hardware {
    uint32_t (*cpus)(void);                            /* number of CPUs */
    uint32_t (*cpu)(void);                             /* the CPU that runs */
    uint64_t (*load)(uint32_t variable, uint32_t element, uint32_t order);
    void (*store)(uint32_t variable, uint32_t element, uint64_t value, uint32_t order);
    /* Atomics: LDADDAL and CASAL, only in coherency. The value before; whether it was exchanged. */
    uint64_t (*fetch_add)(uint32_t variable, uint32_t element, uint64_t value);
    int (*compare_exchange)(uint32_t variable, uint32_t element, uint64_t expected, uint64_t value);
    void (*dmb)(void);                                 /* DMB SY */
    void (*dsb)(void);                                 /* DSB SY: maintenance is complete as well */
    void (*clean)(uint32_t variable, uint32_t element);            /* DC CVAC */
    void (*clean_invalidate)(uint32_t variable, uint32_t element); /* DC CIVAC */
    /* The port of this CPU's cluster into the interconnect. While it is closed, no CPU of the cluster
     * may be in coherency. */
    void (*close_port)(void);
    void (*open_port)(void);
    /* Tells the power controller that this CPU goes down at its next WFI, alone or with its cluster,
     * whose port is closed then. */
    void (*power_down)(int with_cluster);
    /* Asks the power controller to turn a CPU on: 0, or -1 if it refuses. */
    int (*power_on)(uint32_t cpu);
    /* A property of your own: if it does not hold, the run ends and the text is told. */
    void (*check)(int holds, const char *text);
};

struct stopwatt_psci_hooks {
    uint32_t abi;                              /* STOPWATT_HOOKS_ABI */
    const struct stopwatt_hardware **hardware; /* where Stopwatt puts the board's calls */
    const char *const *variables;              /* names of the shared variables, then NULL; or NULL */

    /* CPU 0 boots, with its cache on. May be NULL. */
    void (*setup)(void);

    /* As in TF-A; none may be NULL. `on` is called with the caller's cache on and no lock of a domain
     * held, the others with the cache off and the locks held of the domains that change.
     * `suspend_finish` also comes where a power-down is abandoned. A CPU_OFF is never abandoned. */
    int (*pwr_domain_on)(uint64_t mpidr);
    void (*pwr_domain_off)(const psci_power_state_t *target_state);
    void (*pwr_domain_suspend)(const psci_power_state_t *target_state);
    void (*pwr_domain_on_finish)(const psci_power_state_t *target_state);
    void (*pwr_domain_suspend_finish)(const psci_power_state_t *target_state);

    /* Where these are NULL, the board has all its states, a domain takes the shallowest request, and
     * the system goes off. The board's power_state has the state of level N in bits 4N+3 to 4N, the
     * level at which the caller is the last in bits 15 to 12, and bit 30 where the CPU loses its
     * contents. A port may refuse some of the board's states, or take them for shallower ones. */
    int (*validate_power_state)(unsigned int power_state, psci_power_state_t *req_state);
    plat_local_state_t (*get_target_pwr_state)(unsigned int level, const plat_local_state_t *requests,
                                               unsigned int count);
    void (*get_sys_suspend_power_state)(psci_power_state_t *req_state);

    /* As in TF-A, each may be NULL. With the cache on: before the flush of a suspend, unless the
     * machine keeps CPUs coherent; and behind pwr_domain_on_finish. */
    void (*pwr_domain_suspend_pwrdown_early)(const psci_power_state_t *target_state);
    void (*pwr_domain_on_finish_late)(const psci_power_state_t *target_state);
    /* Before the WFI of a power-down, with the cache off and no lock held; it returns. The last place
     * for the power_down of a suspend; that of a CPU_OFF belongs into pwr_domain_off, since another CPU
     * may turn this one on from here on. In older releases pwr_domain_pwr_down_wfi. */
    void (*pwr_domain_pwr_down)(const psci_power_state_t *target_state);
    /* CPU_OFF, before it begins. PSCI_E_DENIED refuses it. */
    int (*pwr_domain_off_early)(const psci_power_state_t *target_state);
    /* Before the WFI of a standby of the CPU alone; it returns. */
    void (*cpu_standby)(plat_local_state_t cpu_state);
    /* Whether the normal world may be entered there: PSCI_E_SUCCESS or not. */
    int (*validate_ns_entrypoint)(uintptr_t ns_entrypoint);
};

/* The hooks of this shared object for n = 0; NULL for any other n. */
const struct stopwatt_psci_hooks *stopwatt_psci_hooks(uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
