/*
 * DPDK's graph library on its stock IPv4 nodes, with a source and a sink of our own:
 *
 *   bench_source -> pkt_cls -> ip4_lookup -> ip4_rewrite -> bench_sink (one for each output)
 *
 * The source goes round a ring of buffers and makes each as a driver's vector receive path does: eight bytes of
 * metadata at once, the lengths, and 64 bytes of packet in two copies of 32. The sinks count. Buffers are never
 * allocated or freed, which favours this program over one that does.
 * Prints one JSON object: ticks a packet for each node and for the whole path.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>
#include <rte_node_eth_api.h>
#include <rte_node_ip4_api.h>

#define MOST_BUFFERS 65536
#define MOST_OUTPUTS 8
/* Packets ahead for which lines are asked. */
#define AHEAD 8
/* The stock nodes keep their own metadata in the buffer's private area. */
#define PRIVATE 64

static struct rte_mbuf *buffers[MOST_BUFFERS];
static uint32_t buffer_count = 16384, burst = 256;
static uint8_t (*packets)[64];
static uint32_t flows = 1, next_flow, next_buffer;
static uint64_t rearm;
static uint64_t sunk;

/* Asks for the three lines of a packet. Where the data lies follows from the pool, so that no cold line is read for it. */
static inline void ask_for(struct rte_mbuf *m)
{
	rte_mbuf_prefetch_part1(m);
	rte_mbuf_prefetch_part2(m);
	rte_prefetch0(RTE_PTR_ADD(m, sizeof(*m) + PRIVATE + RTE_PKTMBUF_HEADROOM));
}

/* Makes a packet of a buffer. */
static inline void receive(struct rte_mbuf *m)
{
	/* Offset, references, segments and port, as drivers write them. */
	*(uint64_t *)&m->rearm_data = rearm;
	m->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | RTE_PTYPE_L4_UDP;
	m->pkt_len = m->data_len = 60;
	rte_mov64(RTE_PTR_ADD(m, sizeof(*m) + PRIVATE + RTE_PKTMBUF_HEADROOM), packets[next_flow]);
	/* One flow has one template, as in our generator: nothing to choose. */
	if (flows > 1 && ++next_flow == flows)
		next_flow = 0;
}

static uint16_t source_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct rte_mbuf **frame = &buffers[next_buffer];
	for (uint32_t n = 0; n < burst; n++) {
		/* The ring goes on behind this burst. */
		uint32_t ahead = next_buffer + n + AHEAD;
		ask_for(buffers[ahead < buffer_count ? ahead : ahead - buffer_count]);
		receive(frame[n]);
	}
	next_buffer = next_buffer + burst == buffer_count ? 0 : next_buffer + burst;
	rte_node_enqueue(graph, node, 0, (void **)frame, burst);
	return burst;
}

static struct rte_node_register source_node = {
	.name = "bench_source",
	.flags = RTE_NODE_SOURCE_F,
	.process = source_process,
	.nb_edges = 1,
	.next_nodes = {[0] = "pkt_cls"},
};
RTE_NODE_REGISTER(source_node);

static uint16_t sink_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	sunk += count;
	return count;
}

static struct rte_node_register sink_node = {
	.name = "bench_sink",
	.process = sink_process,
};
RTE_NODE_REGISTER(sink_node);

static void need(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "rte_graph bench: cannot %s\n", what);
		exit(1);
	}
}

/* The same flows as our own generator: see `graph` in crates/dataplane-experiments/src/graphs.rs. */
static void make_packets(uint32_t routes)
{
	static const uint8_t ethernet[14] = {2, 0xfe, 0, 0, 0, 1, 2, 0xfe, 0, 0, 1, 1, 8, 0};
	packets = rte_zmalloc("packets", (size_t)flows * 64, 64);
	need(packets != NULL, "allocate packets");
	for (uint32_t flow = 0; flow < flows; flow++) {
		uint32_t route = flow * 2654435761u % routes;
		uint32_t destination = htonl((20u << 24) + (route << 8) + 1 + flow / routes % 250);
		uint32_t source = htonl((10u << 24) + flow);
		static const uint8_t begin[12] = {0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0};
		uint8_t *p = packets[flow];
		memcpy(p, ethernet, 14);
		memcpy(p + 14, begin, 12);
		memcpy(p + 26, &source, 4);
		memcpy(p + 30, &destination, 4);
		struct rte_ipv4_hdr *header = (void *)(p + 14);
		header->hdr_checksum = rte_ipv4_cksum(header);
	}
}

/* The graph with `routes` routes that lead to `outputs` outputs in turn, and the buffers. */
static struct rte_graph *make_graph(uint32_t routes, uint32_t outputs)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("buffers", buffer_count + 1024, 0, PRIVATE, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	need(pool != NULL, "make the buffer pool");
	need(rte_pktmbuf_alloc_bulk(pool, buffers, buffer_count) == 0, "allocate buffers");
	/* The pool wrote what an allocated buffer has: one reference, one segment, no port. */
	rearm = *(uint64_t *)&buffers[0]->rearm_data;
	for (uint32_t n = 1; n < buffer_count; n++)
		need(*(uint64_t *)&buffers[n]->rearm_data == rearm, "find all buffers alike");
	make_packets(routes);

	/* A port gives ip4_rewrite an output; each output is then led to a sink of its own. */
	struct rte_eth_conf configuration = {0};
	struct rte_node_ethdev_config ports[MOST_OUTPUTS];
	need(rte_eth_dev_count_avail() == outputs, "find a port for each output (--vdev net_null0, net_null1, ...)");
	for (uint32_t n = 0; n < outputs; n++) {
		need(rte_eth_dev_configure(n, 1, 1, &configuration) == 0, "configure a port");
		need(rte_eth_rx_queue_setup(n, 0, 256, 0, NULL, pool) == 0, "set up a port's receive queue");
		need(rte_eth_tx_queue_setup(n, 0, 256, 0, NULL) == 0, "set up a port's transmit queue");
		ports[n] = (struct rte_node_ethdev_config){.port_id = n, .num_rx_queues = 1, .num_tx_queues = 1, .mp = &pool, .mp_count = 1};
	}
	need(rte_node_eth_config(ports, outputs, 1) == 0, "make the ports' nodes");
	rte_node_t rewrite = rte_node_from_name("ip4_rewrite");
	rte_edge_t first_edge = rte_node_edge_count(rewrite) - outputs;
	char sinks[MOST_OUTPUTS][RTE_NODE_NAMESIZE] = {"bench_sink"};
	for (uint32_t n = 0; n < outputs; n++) {
		if (n > 0) {
			char number[4];
			snprintf(number, sizeof(number), "%u", n);
			snprintf(sinks[n], sizeof(sinks[n]), "bench_sink-%s", number);
			need(rte_node_clone(rte_node_from_name("bench_sink"), number) != RTE_NODE_ID_INVALID, "make a sink");
		}
		const char *sink = sinks[n];
		rte_node_edge_update(rewrite, first_edge + n, &sink, 1);
	}

	const char *patterns[] = {"bench_source", "pkt_cls", "ip4_lookup", "ip4_rewrite", "bench_sink*", "pkt_drop"};
	struct rte_graph_param parameters = {
		.socket_id = 0,
		.nb_node_patterns = RTE_DIM(patterns),
		.node_patterns = patterns,
	};
	need(rte_graph_create("bench", &parameters) != RTE_GRAPH_ID_INVALID, "create the graph");
	struct rte_graph *graph = rte_graph_lookup("bench");
	need(graph != NULL, "find the graph");

	/* Only now have the lookup node's tables been made. */
	uint8_t new_ethernet[14] = {2, 0xfe, 0, 0, 1, 2, 2, 0xfe, 0, 0, 0, 2, 8, 0};
	for (uint32_t n = 0; n < outputs; n++)
		need(rte_node_ip4_rewrite_add(1 + n, new_ethernet, sizeof(new_ethernet), n) == 0, "add a next hop");
	/* Routes lead to the outputs in turn, as in our generator. */
	for (uint32_t n = 0; n < routes; n++)
		need(rte_node_ip4_route_add((20u << 24) + (n << 8), 24, 1 + n % outputs, RTE_NODE_IP4_LOOKUP_NEXT_REWRITE) == 0,
		     "add a route");
	return graph;
}

int main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	need(used >= 0, "start the environment");
	argc -= used;
	argv += used;
	double seconds = argc > 1 ? atof(argv[1]) : 1.0;
	if (argc > 2)
		flows = strtoul(argv[2], NULL, 10);
	uint32_t routes = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
	if (argc > 4)
		buffer_count = strtoul(argv[4], NULL, 10);
	if (argc > 5)
		burst = strtoul(argv[5], NULL, 10);
	need(seconds > 0 && flows > 0 && routes > 0 && routes <= 65536 && burst > 0 && burst <= RTE_GRAPH_BURST_SIZE &&
		     buffer_count <= MOST_BUFFERS && buffer_count >= burst && buffer_count % burst == 0,
	     "use these arguments: SECONDS FLOWS ROUTES BUFFERS BURST [OUTPUTS], with BURST up to 256 and a divisor of BUFFERS");

	uint32_t outputs = argc > 6 ? strtoul(argv[6], NULL, 10) : 1;
	need(outputs >= 1 && outputs <= MOST_OUTPUTS, "have 1 to 8 OUTPUTS");
	struct rte_graph *graph = make_graph(routes, outputs);

	uint64_t hz = rte_get_tsc_hz();
	uint64_t end = rte_rdtsc() + hz / 10;
	while (rte_rdtsc() < end)
		rte_graph_walk(graph);

	rte_graph_off_t offset;
	rte_node_t count;
	struct rte_node *node;
	rte_graph_foreach_node(count, offset, graph, node)
		node->total_cycles = node->total_calls = node->total_objs = 0;
	sunk = 0;
	uint64_t begin = rte_rdtsc();
	end = begin + seconds * hz;
	do {
		for (int n = 0; n < 64; n++)
			rte_graph_walk(graph);
	} while (rte_rdtsc() < end);
	uint64_t ticks = rte_rdtsc() - begin;

	printf("{\"clocks_per_packet\": %.4f, \"packets\": %" PRIu64 ", \"mpps\": %.4f, \"nodes\": {", (double)ticks / sunk, sunk,
	       sunk / ((double)ticks / hz) / 1e6);
	const char *comma = "";
	rte_graph_foreach_node(count, offset, graph, node) {
		if (node->total_objs == 0)
			continue;
		/* Of a packet that takes the whole path: a sink sees its own packets only. */
		printf("%s\"%s\": %.4f", comma, node->name, (double)node->total_cycles / sunk);
		comma = ", ";
	}
	printf("}}\n");
	return 0;
}
