/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A loop over packets or records, as `stopwatt tune --loop my.so` takes it.
 *
 * The shared object has one function, stopwatt_loop(n), which describes its n-th loop. Stopwatt sets
 * up as many records as it wants to go through, shuffles their addresses, and calls run() with a
 * batch of them and a value for each knob. Nothing is called per record or per prefetch.
 *
 * Build:  cc -O2 -shared -fPIC -I path/to/include my.c -o my.so
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Stopwatt refuses any other. */
#define STOPWATT_LOOP_ABI 1

/* The knob is a prefetch distance: records ahead, 0 for no prefetch. */
#define STOPWATT_DISTANCE 0
/* The knob is a choice that only the loop understands, such as how far it is unrolled: every power
 * of two from `least` to `most` is tried. It may be the only knob. */
#define STOPWATT_CHOICE 1
/* No knob, but a line of a record that run() reads and never prefetches: it says what leads to the
 * lines behind it, and its value is always 0. */
#define STOPWATT_LINE 2

/* The address of a knob's line is known without any other line. */
#define STOPWATT_AFTER_NONE UINT32_MAX

struct stopwatt_knob {
    const char *name;   /* such as "header"; what tables call it: letters that can be printed */
    const char *define; /* the macro in your source, such as "HEADER_AHEAD"; NULL if there is none */
    uint32_t kind;      /* STOPWATT_DISTANCE or STOPWATT_CHOICE */
    uint32_t least;     /* the least value that run() takes */
    uint32_t most;      /* the largest; 0 for a distance without a limit of its own */
    uint32_t today;     /* what your source has today */
    uint32_t after;     /* for a line: the knob whose line holds this line's address, so that run()
                           reads that line before this one; or STOPWATT_AFTER_NONE */
    uint32_t beside;    /* 1 if the line lies directly behind the line before it in `knob`: hardware may
                           fetch it by itself */
};

struct stopwatt_loop {
    uint32_t abi;                      /* STOPWATT_LOOP_ABI */
    uint32_t knobs;                    /* entries of `knob`: 1 to 8 */
    const char *name;                  /* such as "flow-lookup" */
    const struct stopwatt_knob *knob;
    uint64_t record_bytes;             /* bytes of the cache lines that run() touches per record; a line
                                          has 64 or 128, as the machine has it */
    uint64_t most_records;             /* the most that set_up() can make; 0 for as many as fit memory */

    /* Makes `count` records, writes a pointer to each, and returns what run() needs, or NULL if
     * there is no memory; tear_down() is not called then. In place of a pointer there may be what
     * run() understands, such as a buffer's index. 1000 and 16 000 records are asked for first, to see
     * what a record takes, and never more than `most_records`. Records that lie one behind the other
     * give the largest working set for the least memory; Stopwatt shuffles their order. */
    void *(*set_up)(uint64_t count, uint64_t seed, void **records);

    /* Does the loop's work on all of `n` records, with `values[k]` for the k-th knob: a value from
     * `least` to `most`. Whatever the values, its results have to be the same: values with which
     * they are not are left out (docs/tune.md). */
    void (*run)(void *state, void *const *records, uint64_t n, const uint32_t *values);

    /* Frees what set_up made. May be NULL. */
    void (*tear_down)(void *state);
};

/* The n-th loop of this shared object, counted from 0; NULL if there are no more. */
const struct stopwatt_loop *stopwatt_loop(uint32_t n);

/* May be missing: a number that stands for what the n-th loop made of a record, such as a checksum of
 * its results, wherever they are. Without it, the records are compared. */
uint64_t stopwatt_results(uint32_t n, const void *state, const void *record);

#ifdef __cplusplus
}
#endif
