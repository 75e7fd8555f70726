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
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Stopwatt refuses any other. */
#define STOPWATT_HOOKS_ABI 3

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

/* Clusters have two CPUs each; a port that says otherwise defines this before. An MPIDR has the cluster
 * in Aff1. */
#ifndef STOPWATT_EACH
#define STOPWATT_EACH 2
#endif
#define STOPWATT_CLUSTER(cpu) ((cpu) / STOPWATT_EACH)
#define STOPWATT_CPU_OF(mpidr) ((uint32_t)((((mpidr) >> 8) & 0xff) * STOPWATT_EACH + ((mpidr) & 0xff)))

/* Orders of a load or a store. */
#define STOPWATT_RELAXED 0 /* LDR, STR */
#define STOPWATT_ORDERED 1 /* LDAR, STLR: acquire, release */

typedef void stopwatt_act(void);

/* The board. A shared variable has a number, by its place in `variables` of the port, and an element
 * for each CPU. It lies in cacheable memory and starts at 0; each element has a cache line of its own.
 * A CPU whose cache is off (in the hooks of power-down and wake-up, unless the machine keeps CPUs
 * coherent) goes to memory, past the caches of the others. Who loads the same element three times in
 * a row, and nothing changes, waits until it does. */
struct stopwatt_hardware {
    uint32_t (*cpus)(void), (*cpu)(void);              /* the number of CPUs; the one that runs */
    uint64_t (*load)(uint32_t variable, uint32_t element, uint32_t order);
    void (*store)(uint32_t variable, uint32_t element, uint64_t value, uint32_t order);
    /* Atomics: LDADDAL and CASAL, only in coherency. The value before; whether it was exchanged. */
    uint64_t (*fetch_add)(uint32_t variable, uint32_t element, uint64_t value);
    int (*compare_exchange)(uint32_t variable, uint32_t element, uint64_t expected, uint64_t value);
    stopwatt_act *dmb, *dsb;                           /* DMB SY; DSB SY: maintenance is complete as well */
    /* DC CVAC and DC CIVAC. */
    void (*clean)(uint32_t variable, uint32_t element), (*clean_invalidate)(uint32_t variable, uint32_t element);
    /* The port of this CPU's cluster into the interconnect. While it is closed, no CPU of the cluster
     * may be in coherency. */
    stopwatt_act *close_port, *open_port;
    /* Tells the power controller that this CPU goes down at its next WFI, alone or with its cluster,
     * whose port is closed then. */
    void (*power_down)(int with_cluster);
    /* Asks the power controller to turn a CPU on: 0, or -1 if it refuses. */
    int (*power_on)(uint32_t cpu);
    /* Before a register of a device is read or written: what it holds and does is plain C behind this
     * call, and nobody goes between. Who uses one or two of them again and again lets all others go. */
    void (*device)(uint64_t address);
    /* WFI. In the hooks that end the system it never returns, in others at once. */
    stopwatt_act *wait;
    /* A property of your own: if it does not hold, the run ends and the text is told. */
    void (*check)(int holds, const char *text);
};

/* A hook that is told, or makes, the states of the CPU and its domains. */
typedef void stopwatt_told(const psci_power_state_t *target_state);
typedef int stopwatt_asked(const psci_power_state_t *target_state);

struct stopwatt_psci_hooks {
    uint32_t abi;                              /* STOPWATT_HOOKS_ABI */
    const struct stopwatt_hardware **hardware; /* where Stopwatt puts the board's calls */
    const char *const *variables;              /* names of the shared variables, then NULL; or NULL */

    /* CPU 0 boots, with its cache on. May be NULL. */
    stopwatt_act *setup;

    /* As in TF-A; none may be NULL. `on` is called with the caller's cache on and no lock of a domain
     * held, the others with the cache off and the locks held of the domains that change.
     * `suspend_finish` also comes where a power-down is abandoned. A CPU_OFF is never abandoned. */
    int (*pwr_domain_on)(uint64_t mpidr);
    stopwatt_told *pwr_domain_off, *pwr_domain_suspend, *pwr_domain_on_finish, *pwr_domain_suspend_finish;

    /* Where these are NULL, the board has all its states, a domain takes the shallowest request, and
     * the system goes off. The board's power_state has the state of level N in bits 4N+3 to 4N, the
     * level at which the caller is the last in bits 15 to 12, and bit 30 where the CPU loses its
     * contents. A port may refuse some of the board's states, or take them for shallower ones. */
    int (*validate_power_state)(unsigned int power_state, psci_power_state_t *req_state);
    plat_local_state_t (*get_target_pwr_state)(unsigned int level, const plat_local_state_t *requests,
                                               unsigned int count);
    void (*get_sys_suspend_power_state)(psci_power_state_t *req_state);

    /* All from here on may be NULL. With the cache on: before the flush of a suspend, unless the
     * machine keeps CPUs coherent; and behind pwr_domain_on_finish. */
    stopwatt_told *pwr_domain_suspend_pwrdown_early, *pwr_domain_on_finish_late;
    /* Before the WFI of a power-down, with the cache off and no lock held; it returns. The last place
     * for the power_down of a suspend; that of a CPU_OFF belongs into pwr_domain_off, since another CPU
     * may turn this one on from here on. In older releases pwr_domain_pwr_down_wfi. */
    stopwatt_told *pwr_domain_pwr_down;
    /* CPU_OFF, before it begins. PSCI_E_DENIED refuses it. */
    stopwatt_asked *pwr_domain_off_early;
    /* Before the WFI of a standby of the CPU alone; it returns. */
    void (*cpu_standby)(plat_local_state_t cpu_state);
    /* Whether the normal world may be entered there: PSCI_E_SUCCESS or not. */
    int (*validate_ns_entrypoint)(uintptr_t ns_entrypoint);
    /* The system goes off or is reset: they wait and do not return; of the third an error does. */
    stopwatt_act *system_off, *system_reset;
    int (*system_reset2)(int is_vendor, int reset_type, uint64_t cookie);
    /* The statistics of a state at a level, an index of its own; and validate_power_state for them. */
    int (*get_pwr_lvl_state_idx)(plat_local_state_t state, int level);
    int (*translate_power_state_by_mpidr)(uint64_t mpidr, unsigned int power_state, psci_power_state_t *output_state);
    /* NODE_HW_STATE, MEM_PROTECT_CHECK_RANGE and MEM_PROTECT. */
    int (*get_node_hw_state)(uint64_t mpidr, unsigned int level);
    int (*mem_protect_chk)(uintptr_t base, uint64_t length);
    int (*read_mem_protect)(int *value), (*write_mem_protect)(int value);
    /* A suspend, before it begins. An error refuses it. */
    stopwatt_asked *pwr_domain_validate_suspend;

    /* CPUs of a cluster, and a port's own numbers of local states: of the CPU, its cluster and the system
     * each the one that runs, that keeps its contents, and that loses them. The system has two: 0 and
     * PLAT_MAX_OFF_STATE. Where they are 0, two CPUs and the numbers above. */
    uint32_t cpus_per_cluster;
    plat_local_state_t state_numbers[3][3];
};

/* The names of TF-A: an operation is the hook of its name. */
typedef struct stopwatt_psci_hooks plat_psci_ops_t;
typedef uint64_t u_register_t;
#define plat_psci_ops stopwatt_psci_hooks

/* The hooks of this shared object for n = 0; NULL for any other n. */
const struct stopwatt_psci_hooks *stopwatt_psci_hooks(uint32_t n);

#ifdef __cplusplus
}
#endif
