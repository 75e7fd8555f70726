/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A loop in C: an access list of 16 rules over IPv4 packets. The buffer's metadata says where the
 * packet's data starts, so a packet has two lines, of which the first holds the second's address.
 *
 *   cc -O2 -shared -fPIC -I crates/code/stopwatt-loop/include crates/code/stopwatt-loop/examples/acl.c -o acl.so
 *   stopwatt tune --loop acl.so
 */
#include "stopwatt_loop.h"
#include <stdlib.h>

#define RULES 16

struct metadata {
    unsigned char *data;
    uint32_t verdict;
    char rest[64 - sizeof(unsigned char *) - sizeof(uint32_t)];
};

struct rule {
    uint32_t source, source_mask, destination, destination_mask;
    uint32_t verdict;
};

struct state {
    struct metadata *metadata;
    unsigned char *data;
    struct rule rules[RULES];
    uint64_t dropped;
};

static uint64_t next(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

static void *set_up(uint64_t count, uint64_t seed, void **records)
{
    struct state *state = calloc(1, sizeof *state);
    uint64_t random = seed | 1;
    if (!state)
        return NULL;
    state->metadata = aligned_alloc(64, count * sizeof *state->metadata);
    state->data = aligned_alloc(64, count * 64);
    if (!state->metadata || !state->data) {
        free(state->metadata);
        free(state->data);
        free(state);
        return NULL;
    }
    for (int r = 0; r < RULES; r++)
        state->rules[r] = (struct rule){ (uint32_t)next(&random), 0xffff0000u << (r & 7),
                                         (uint32_t)next(&random), 0xff000000u, r & 1 };
    /* The last rule is for all packets. */
    state->rules[RULES - 1] = (struct rule){ .verdict = 1 };
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *data = state->data + 64 * i;
        for (int b = 0; b < 64; b++)
            data[b] = (unsigned char)next(&random);
        state->metadata[i].data = data;
        state->metadata[i].verdict = 0;
        records[i] = &state->metadata[i];
    }
    return state;
}

static uint32_t word(const unsigned char *at)
{
    uint32_t value;
    __builtin_memcpy(&value, at, sizeof value);
    return value;
}

static void run(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    struct state *state = made;
    const uint64_t metadata_ahead = values[0], data_ahead = values[1];
    uint64_t dropped = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (metadata_ahead && i + metadata_ahead < n)
            __builtin_prefetch(records[i + metadata_ahead]);
        if (data_ahead && i + data_ahead < n)
            __builtin_prefetch(((struct metadata *)records[i + data_ahead])->data);
        struct metadata *metadata = records[i];
        uint32_t source = word(metadata->data + 26), destination = word(metadata->data + 30);
        uint32_t verdict = 0;
        for (int r = 0; r < RULES; r++) {
            const struct rule *rule = &state->rules[r];
            if (!((source ^ rule->source) & rule->source_mask) &&
                !((destination ^ rule->destination) & rule->destination_mask)) {
                verdict = rule->verdict + 1;
                break;
            }
        }
        metadata->verdict = verdict;
        dropped += verdict;
    }
    state->dropped += dropped;
}

static void tear_down(void *made)
{
    struct state *state = made;
    free(state->metadata);
    free(state->data);
    free(state);
}

const struct stopwatt_loop *stopwatt_loop(uint32_t n)
{
    static const struct stopwatt_knob knobs[] = {
        { "metadata", "METADATA_AHEAD", STOPWATT_DISTANCE, 0, 0, 4, STOPWATT_AFTER_NONE, 0 },
        { "data", "DATA_AHEAD", STOPWATT_DISTANCE, 0, 0, 2, 0, 0 },
    };
    static const struct stopwatt_loop acl = {
        STOPWATT_LOOP_ABI, 2, "acl", knobs, 128, 0, set_up, run, tear_down,
    };
    return n == 0 ? &acl : NULL;
}
