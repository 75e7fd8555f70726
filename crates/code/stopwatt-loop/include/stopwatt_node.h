/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A node of a packet graph, as `stopwatt run dataplane --graph my.toml --nodes my.so` takes it.
 *
 * The shared object has one function, stopwatt_node(n), which describes its n-th node. Stopwatt sets
 * a node up with the options that the graph's file has for it, and calls run() with a vector of
 * packets. Nothing is called per packet. The node says of each packet where it goes next.
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
#define STOPWATT_NODE_ABI 1

/* Most arcs of a node, and most of its reasons and of its counters. */
#define STOPWATT_ARCS_MAX 62
#define STOPWATT_REASONS_MAX 255
#define STOPWATT_COUNTERS_MAX 255

/* Bytes at `data` that may be read and written, whatever the packet's length. */
#define STOPWATT_DATA_BYTES 2048

/* Most bytes of private data of all nodes of a graph together. */
#define STOPWATT_PRIVATE_MAX 64

/* Where a packet goes, beside the node's own arcs: it is dropped, or handed to the host, for the
 * reason of a number, counted from 0. */
#define STOPWATT_DROP(reason) ((uint16_t)(0x100u | (reason)))
#define STOPWATT_PUNT(reason) ((uint16_t)(0x200u | (reason)))

/* The weight of a reason: the packet is malformed, or it happens in normal operation. */
#define STOPWATT_ERROR 0
#define STOPWATT_INFO 1

struct stopwatt_packet {
    uint8_t *data;      /* the packet, from the Ethernet header on; the node may advance it within the
                           packet, and take as much off `length` */
    void *private_data; /* `private_bytes` bytes that go with the packet, at a multiple of 8; NULL if
                           the node wants none */
    uint16_t length;    /* bytes of the packet; the node may change it, up to STOPWATT_DATA_BYTES */
    uint16_t next;      /* to be set: an arc's number, counted from 0, STOPWATT_DROP(reason) or
                           STOPWATT_PUNT(reason). It is 0 when run() is called. */
    uint32_t interface; /* the number of the interface that the packet came in on */
};

struct stopwatt_reason {
    const char *text; /* such as "denied by a rule"; `show errors` prints it */
    uint32_t severity; /* STOPWATT_ERROR or STOPWATT_INFO */
};

struct stopwatt_node {
    uint32_t abi;      /* STOPWATT_NODE_ABI */
    uint32_t arcs;     /* entries of `arc` */
    uint32_t reasons;  /* entries of `reason` */
    uint32_t counters; /* entries of `counter` */
    const char *name;  /* such as "acl"; the graph's file calls the node so */
    const char *const *arc;               /* the arcs' names, such as "permit" */
    const struct stopwatt_reason *reason; /* for what it drops packets or hands them to the host */
    const char *const *counter;           /* what else it counts */

    /* Private data of a packet, zero when the packet comes in. Nodes that give it the same name
     * share it, and say the same number of bytes; without a name it is this node's alone. It lies in
     * a cache line of its own, in front of the packet. */
    const char *private_name;
    uint32_t private_bytes;

    uint32_t reserved; /* 0 */

    /* Makes what run() needs, from the options in the graph's file; "" where there are none. NULL if
     * it cannot, with the reason in `why`, which has room for `room` bytes. Each worker calls it.
     * The function may be NULL: then `state` is NULL. */
    void *(*set_up)(const char *options, char *why, uint64_t room);

    /* Does the node's work on a vector of packets: at least 1, at most 1024. counters[k] is the
     * k-th counter's count so far, to be added to. */
    void (*run)(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters);

    /* Writes what the node saw of a packet, for traces: lines of text that end with a zero, in
     * `room` bytes. It is called after run(). It may be NULL: then a trace has the packet's Ethernet
     * header and its private data. */
    void (*trace)(const void *state, const struct stopwatt_packet *packet, char *text, uint64_t room);

    /* Frees what set_up made. May be NULL. */
    void (*tear_down)(void *state);
};

/* The n-th node of this shared object, counted from 0; NULL if there are no more. */
const struct stopwatt_node *stopwatt_node(uint32_t n);

#ifdef __cplusplus
}
#endif
