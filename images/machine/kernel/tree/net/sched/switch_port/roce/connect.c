// SPDX-License-Identifier: GPL-2.0
/*
 * A queue pair of a program comes to the NIC by which its peer is reached, with the headers
 * that all its packets have.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <net/arp.h>
#include <net/ip.h>
#include <net/neighbour.h>
#include <net/route.h>

#include "telemetry.h"
#include "../switch.h"

#define ROCE_RESOLVE_MS 1000

/* The peer's, or the gateway's, address on the link, once it is known. */
static int resolve(struct rtable *route, __be32 peer, u8 *address)
{
	struct neighbour *neighbour = dst_neigh_lookup(&route->dst, &peer);
	unsigned long end = jiffies + msecs_to_jiffies(ROCE_RESOLVE_MS);
	bool is_known;

	if (!neighbour)
		return -EHOSTUNREACH;
	while (!(is_known = READ_ONCE(neighbour->nud_state) & NUD_VALID) &&
	       time_before(jiffies, end)) {
		neigh_event_send(neighbour, NULL);
		if (msleep_interruptible(1))
			break;
	}
	neigh_ha_snapshot(address, neighbour, route->dst.dev);
	neigh_release(neighbour);
	return is_known ? 0 : -EHOSTUNREACH;
}

static void put_headers(struct roce_pair *pair, const struct roce_connect *connect,
			const struct net_device *dev, const u8 *gateway, __be32 own)
{
	struct ethhdr *ethernet = (struct ethhdr *)pair->headers;
	struct iphdr *ip = (struct iphdr *)(ethernet + 1);
	struct udphdr *udp = (struct udphdr *)(ip + 1);

	ether_addr_copy(ethernet->h_dest, gateway);
	ether_addr_copy(ethernet->h_source, dev->dev_addr);
	ethernet->h_proto = htons(ETH_P_IP);
	*ip = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.frag_off = htons(IP_DF),
		.ttl = ROCE_TTL,
		.protocol = IPPROTO_UDP,
		.saddr = own,
		.daddr = connect->peer,
	};
	udp->source = htons(connect->source_port);
	udp->dest = htons(ROCE_PORT);
}

static struct roce_pair *new_pair(struct roce_program *program, const struct roce_connect *connect)
{
	struct roce_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);

	if (!pair)
		return NULL;
	pair->program = program;
	pair->number = connect->pair;
	pair->peer = connect->peer_pair;
	INIT_LIST_HEAD(&pair->messages);
	INIT_LIST_HEAD(&pair->responses);
	INIT_LIST_HEAD(&pair->waiting);
	INIT_LIST_HEAD(&pair->credit.owing);
	timerqueue_init(&pair->paced);
	return pair;
}

void roce_pair_free(struct roce_pair *pair)
{
	kfree(pair->timings);
	kvfree(pair->selective);
	kfree(pair);
}

static u32 longest_frame(const struct roce_config *config)
{
	return ROCE_HEADERS_BYTES + ROCE_BTH_BYTES + ROCE_RETH_BYTES + config->mtu +
	       ROCE_ICRC_BYTES +
	       (config->control && config->control->wants_telemetry ? ROCE_TELEMETRY_BYTES : 0);
}

/* A program names its pairs by their numbers, whatever NIC they are of. */
static int insert(struct roce_pair *pair, struct roce_nic *nic)
{
	int error = xa_insert(&pair->program->pairs, pair->number, pair, GFP_KERNEL);

	if (error)
		return error;
	error = xa_insert(&nic->pairs, pair->number, pair, GFP_KERNEL);
	if (error)
		xa_erase(&pair->program->pairs, pair->number);
	return error;
}

static int begin_selective(struct roce_pair *pair)
{
	if (!pair->nic->port->config.roce.selective)
		return 0;
	pair->selective = kvzalloc(sizeof(*pair->selective), GFP_KERNEL);
	return pair->selective ? 0 : -ENOMEM;
}

/* Under RTNL and `roce_life`. */
static int join(struct roce_pair *pair, struct net_device *dev)
{
	struct switch_port *port;
	int error;

	rcu_read_lock();
	port = switch_port_of_device(dev);
	rcu_read_unlock();
	if (!port || !port->roce || !port->config.roce.mtu)
		return -ENODEV;
	if (longest_frame(&port->config.roce) > dev->mtu + ETH_HLEN)
		return -EMSGSIZE;
	/* A packet may come as soon as the NIC knows the pair. */
	pair->nic = port->roce;
	error = begin_selective(pair) ?: roce_control_begin(pair) ?: insert(pair, port->roce);
	return error == -EBUSY ? -EADDRINUSE : error;
}

int roce_connect_pair(struct roce_program *program, const struct roce_connect *connect)
{
	struct flowi4 flow = { .daddr = connect->peer, .flowi4_proto = IPPROTO_UDP };
	struct rtable *route;
	struct roce_pair *pair;
	u8 gateway[ETH_ALEN];
	int error;

	if (!connect->pair || connect->pair > ROCE_PAIR_MAX || !connect->peer_pair ||
	    connect->peer_pair > ROCE_PAIR_MAX)
		return -EINVAL;
	route = ip_route_output_key(program->net, &flow);
	if (IS_ERR(route))
		return PTR_ERR(route);
	error = resolve(route, connect->peer, gateway);
	pair = error ? NULL : new_pair(program, connect);
	if (!pair) {
		ip_rt_put(route);
		return error ?: -ENOMEM;
	}
	put_headers(pair, connect, route->dst.dev, gateway, flow.saddr);
	rtnl_lock();
	mutex_lock(&roce_life);
	error = join(pair, route->dst.dev);
	mutex_unlock(&roce_life);
	rtnl_unlock();
	ip_rt_put(route);
	if (error)
		roce_pair_free(pair);
	return error;
}
