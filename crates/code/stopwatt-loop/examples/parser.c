/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A parser of a few dependent lines: a packet's first line says where its second header is, that
 * one where the third is, and the third names the flow's entry. One knob asks for the first line,
 * another for the second, as far ahead as each.
 *
 *   cc -O2 -shared -fPIC -I crates/code/stopwatt-loop/include crates/code/stopwatt-loop/examples/parser.c -o parser.so
 *   stopwatt tune --loop parser.so --batch 64
 */
#include "stopwatt_loop.h"
#include <stdlib.h>

#define LINES 4

struct line {
    struct line *inner;
    uint64_t bytes, sum;
    char rest[64 - sizeof(struct line *) - 2 * sizeof(uint64_t)];
};

static void *set_up(uint64_t count, uint64_t seed, void **records)
{
    struct line *lines = aligned_alloc(64, count * LINES * sizeof *lines);
    if (!lines)
        return NULL;
    for (uint64_t i = 0; i < count; i++) {
        struct line *first = lines + LINES * i;
        for (int depth = 0; depth < LINES; depth++) {
            first[depth].inner = depth + 1 < LINES ? &first[depth + 1] : NULL;
            first[depth].bytes = seed + i;
        }
        records[i] = first;
    }
    return lines;
}

static void run(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    const uint64_t first_ahead = values[0], second_ahead = values[1];
    (void)made;
    for (uint64_t i = 0; i < n; i++) {
        if (first_ahead && i + first_ahead < n)
            __builtin_prefetch(records[i + first_ahead]);
        if (second_ahead && i + second_ahead < n)
            __builtin_prefetch(((struct line *)records[i + second_ahead])->inner);
        struct line *first = records[i];
        uint64_t sum = 0;
        for (const struct line *line = first; line; line = line->inner)
            sum += line->bytes;
        first->sum = sum; /* the result, which stopwatt compares */
    }
}

const struct stopwatt_loop *stopwatt_loop(uint32_t n)
{
    static const struct stopwatt_knob knobs[] = {
        { "first", "FIRST_AHEAD", STOPWATT_DISTANCE, 0, 0, 4, STOPWATT_AFTER_NONE, 0 },
        { "second", "SECOND_AHEAD", STOPWATT_DISTANCE, 0, 0, 2, 0, 1 },
        { "third", NULL, STOPWATT_LINE, 0, 0, 0, 1, 1 },
        { "fourth", NULL, STOPWATT_LINE, 0, 0, 0, 2, 1 },
    };
    static const struct stopwatt_loop parser = {
        STOPWATT_LOOP_ABI, 4, "parser", knobs, 64 * LINES, 0, set_up, run, free,
    };
    return n == 0 ? &parser : NULL;
}
