/*
 * The same graph as a loop for `stopwatt tune`: packets are received into buffers, and go through DPDK's stock IPv4
 * nodes. The distance is the one at which the receive path asks for a buffer's three lines; the choice is how many
 * packets go through the graph at once.
 *
 *   gcc -O3 -march=native -shared -fPIC -DALLOW_EXPERIMENTAL_API -Wno-deprecated-declarations \
 *       -I crates/code/stopwatt-loop/include bench/rte_graph/loop.c -o rte_graph.so $(pkg-config --cflags --libs libdpdk)
 *   echo 160 > /proc/sys/vm/nr_hugepages
 *   stopwatt tune --loop rte_graph.so
 */
#define LOOP
#include "main.c"

#include "stopwatt_loop.h"

static void *const *loop_records;
static uint32_t loop_left, loop_burst, loop_ahead;
static struct rte_graph *loop_graph;

static uint16_t source_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(count);
	uint32_t now = loop_left < loop_burst ? loop_left : loop_burst;
	for (uint32_t n = 0; n < now; n++) {
		if (loop_ahead && n + loop_ahead < loop_left)
			ask_for(loop_records[n + loop_ahead]);
		receive(loop_records[n]);
	}
	rte_node_enqueue(graph, node, 0, (void **)(uintptr_t)loop_records, now);
	loop_records += now;
	loop_left -= now;
	return now;
}

static void *set_up(uint64_t count, uint64_t seed, void **records)
{
	RTE_SET_USED(seed);
	if (!loop_graph) {
		char *words[] = {"loop", "--in-memory", "--no-pci", "--no-telemetry", "--log-level=1", "--vdev", "net_null0"};
		need(rte_eal_init(RTE_DIM(words), words) >= 0, "start the environment: root, and 160 huge pages");
		buffer_count = MOST_BUFFERS;
		loop_graph = make_graph(1000, 1);
	}
	memcpy(records, buffers, count * sizeof(*records));
	return loop_graph;
}

static void run(void *state, void *const *records, uint64_t n, const uint32_t *values)
{
	loop_records = records;
	loop_left = n;
	loop_ahead = values[0];
	loop_burst = values[1];
	while (loop_left)
		rte_graph_walk(state);
}

const struct stopwatt_loop *stopwatt_loop(uint32_t n)
{
	static const struct stopwatt_knob knobs[] = {
		{"receive", "AHEAD", STOPWATT_DISTANCE, 0, 0, AHEAD, STOPWATT_AFTER_NONE, 0},
		{"burst", NULL, STOPWATT_CHOICE, 32, RTE_GRAPH_BURST_SIZE, 256, STOPWATT_AFTER_NONE, 0},
		{"second", NULL, STOPWATT_LINE, 0, 0, 0, STOPWATT_AFTER_NONE, 1},
		{"data", NULL, STOPWATT_LINE, 0, 0, 0, STOPWATT_AFTER_NONE, 0},
	};
	static const struct stopwatt_loop loop = {
		STOPWATT_LOOP_ABI, 4, "rte_graph", knobs, 192, MOST_BUFFERS, set_up, run, NULL,
	};
	return n == 0 ? &loop : NULL;
}
