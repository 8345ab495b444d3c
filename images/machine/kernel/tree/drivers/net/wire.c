// SPDX-License-Identifier: GPL-2.0
/*
 * A cable's end. What is sent at t arrives at the other end at t plus the cable's delay,
 * whether that end is in this machine or in another one (arch/um/kernel/wires.c).
 *
 * A cable has a number; its ends are wires 2 * number and 2 * number + 1. Frames under way
 * stand in lanes: all those of one machine with one delay arrive in the order in which
 * they were sent. What arrives at one instant is received by the numbers of the wires.
 *
 * Nothing but its bytes, and the stamp that NICs put on it (net/tcp_delay.h), tells a
 * frame's receiver of its sender: each frame is put into a
 * buffer of its own when it first enters a cable, of a size that follows from its length,
 * as a NIC's driver does. So what TCP reckons of buffers does not depend on where the
 * sender runs, nor on whether it still holds the data.
 * With GRO on an end is a NIC's: wire_nic.c.
 */
#include <linux/etherdevice.h>
#include <linux/fabriclab_wires.h>
#include <linux/hardirq.h>
#include <linux/interrupt.h>
#include <linux/list_sort.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/time-internal.h>
#include <net/rtnetlink.h>
#include "wire.h"

#define WIRE_LANES_MAX 256
#define WIRES_MAX (1 << 20)
#define WIRE_HEADROOM NET_SKB_PAD
/* In a part of a buffer that is for time stamps of sockets: a cable made it. */
#define WIRE_MADE 0x57495245

enum {
	WIRE_UNSPEC,
	WIRE_NUMBER,	/* u32: this end's number */
	WIRE_DELAY_NS,	/* u64: of what this end sends */
	WIRE_PART,	/* u32: the machine that the other end is in; absent: this one */
	WIRE_DELAY_IN_NS,	/* u64: of what comes from the other end */
	__WIRE_MAX
};

struct wire_lane {
	struct sk_buff_head frames;
	u64 delay_ns;
	u32 part;
};

struct wire_way {
	u64 arrival;
	u32 wire;
};

static struct wire_lane lanes[WIRE_LANES_MAX];
static unsigned int lane_count;
static struct wire **wire_ends;
static u32 wire_count;
static u64 next_arrival = U64_MAX;
static struct net *receiving;
static LIST_HEAD(due);

static struct wire_way *way(const struct sk_buff *skb)
{
	return (struct wire_way *)skb->cb;
}

struct net *wire_receiving(void)
{
	return in_serving_softirq() ? receiving : NULL;
}

void wire_serve(struct net *network)
{
	receiving = network;
}

u64 wire_next_arrival(void)
{
	return next_arrival;
}

/* -- On the way ---------------------------------------------------------------------- */

static struct wire *wire_end(u32 number)
{
	return number < wire_count ? wire_ends[number] : NULL;
}

static void put_under_way(struct wire *to, struct sk_buff *skb, u64 arrival)
{
	way(skb)->arrival = arrival;
	way(skb)->wire = to->number;
	__skb_queue_tail(&to->lane->frames, skb);
	next_arrival = min(next_arrival, arrival);
}

static struct sk_buff *new_frame(u32 length, u64 stamp)
{
	struct sk_buff *skb = alloc_skb(WIRE_HEADROOM + length, GFP_ATOMIC);

	if (skb) {
		skb_reserve(skb, WIRE_HEADROOM);
		skb_shinfo(skb)->tskey = WIRE_MADE;
		skb_hwtstamps(skb)->hwtstamp = stamp;
	}
	return skb;
}

static bool is_ours(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->tskey == WIRE_MADE && !skb_is_nonlinear(skb) &&
	       !skb_cloned(skb) && skb_headroom(skb) == WIRE_HEADROOM;
}

/* The frame in a buffer of its own; NULL: there is no memory. */
static struct sk_buff *in_own_buffer(struct sk_buff *skb)
{
	struct sk_buff *own;

	if (is_ours(skb)) {
		skb_orphan(skb);
		skb_scrub_packet(skb, true);
		skb_clear_hash(skb);
		skb->priority = 0;
		skb->queue_mapping = 0;
		skb->tc_index = 0;
		return skb;
	}
	own = new_frame(skb->len, skb_hwtstamps(skb)->hwtstamp);
	if (own && skb_copy_bits(skb, 0, skb_put(own, skb->len), skb->len)) {
		kfree_skb(own);
		own = NULL;
	}
	consume_skb(skb);
	return own;
}

void wire_take(u64 arrival, u32 number, u64 stamp, const void *bytes, u32 length)
{
	struct wire *to = wire_end(number);
	struct sk_buff *skb = to ? new_frame(length, stamp) : NULL;

	/* Its machine is larger than what stands in the rings: without memory it can't go on. */
	if (!skb)
		panic("fabriclab.wires: no %s wire %u\n", to ? "memory for a frame of" : "", number);
	skb_put_data(skb, bytes, length);
	put_under_way(to, skb, arrival);
}

/* -- Arrival ------------------------------------------------------------------------- */

static void receive(struct sk_buff *skb)
{
	struct wire *to = wire_end(way(skb)->wire);
	struct net_device *dev = to ? to->dev : NULL;

	if (!dev || !netif_running(dev)) {
		kfree_skb(skb);
		return;
	}
	dev_sw_netstats_rx_add(dev, skb->len);
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->protocol = eth_type_trans(skb, dev);
	if (dev->features & NETIF_F_GRO) {
		wire_nic_take(to, skb);
		return;
	}
	wire_serve(dev_net(dev));
	netif_receive_skb(skb);
	wire_serve(NULL);
}

/* One after another, to the end: no other work of the kernel comes between two of them. */
static void receive_due(struct tasklet_struct *unused)
{
	struct sk_buff *skb, *next;

	list_for_each_entry_safe(skb, next, &due, list) {
		skb_list_del_init(skb);
		receive(skb);
	}
}
static DECLARE_TASKLET(arrivals, receive_due);

static int by_wire(void *unused, const struct list_head *a, const struct list_head *b)
{
	u32 first = way(list_entry(a, struct sk_buff, list))->wire;
	u32 second = way(list_entry(b, struct sk_buff, list))->wire;

	return first > second;
}

static void take_due(struct wire_lane *lane, u64 now)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&lane->frames)) && way(skb)->arrival == now) {
		__skb_unlink(skb, &lane->frames);
		list_add_tail(&skb->list, &due);
	}
	if (skb)
		next_arrival = min(next_arrival, way(skb)->arrival);
}

void wire_deliver(u64 now)
{
	unsigned int i;

	next_arrival = U64_MAX;
	for (i = 0; i < lane_count; i++)
		take_due(&lanes[i], now);
	list_sort(NULL, &due, by_wire);
	irq_enter();
	tasklet_hi_schedule(&arrivals);
	irq_exit();
}

/* -- The device ---------------------------------------------------------------------- */

static netdev_tx_t wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct wire *wire = netdev_priv(dev);
	u32 there = wire->number ^ 1, length = skb->len;
	u64 now = time_travel_now();
	struct wire *to = NULL;

	if (wire->part == U32_MAX)
		to = wire_end(there);
	if (skb_is_gso(skb) || (wire->part == U32_MAX && !to)) {
		dev_core_stats_tx_dropped_inc(dev);
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	skb = in_own_buffer(skb);
	if (!skb) {
		dev_core_stats_tx_dropped_inc(dev);
		return NETDEV_TX_OK;
	}
	dev_sw_netstats_tx_add(dev, 1, length);
	if (to) {
		put_under_way(to, skb, now + wire->delay_ns);
	} else {
		wires_send(wire->part, now + wire->delay_ns, there,
			   skb_hwtstamps(skb)->hwtstamp, skb->data, length);
		consume_skb(skb);
	}
	return NETDEV_TX_OK;
}

static int wire_open(struct net_device *dev)
{
	wire_nic_open(netdev_priv(dev));
	netif_carrier_on(dev);
	return 0;
}

static int wire_stop(struct net_device *dev)
{
	netif_carrier_off(dev);
	wire_nic_stop(netdev_priv(dev));
	return 0;
}

static const struct net_device_ops wire_operations = {
	.ndo_open		= wire_open,
	.ndo_stop		= wire_stop,
	.ndo_start_xmit		= wire_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_get_stats64	= dev_get_tstats64,
};

#define WIRE_FEATURES (NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | NETIF_F_HIGHDMA)

static void wire_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &wire_operations;
	dev->ethtool_ops = &wire_ethtool;
	dev->needs_free_netdev = true;
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_NO_QUEUE;
	dev->lltx = true;
	dev->max_mtu = ETH_MAX_MTU;
	dev->features |= WIRE_FEATURES;
	/* PID 1 switches bursts of TCP off: there is something that it can switch. */
	dev->hw_features = WIRE_FEATURES | NETIF_F_ALL_TSO;
}

bool wire_has_not_begun(const struct net_device *dev)
{
	return dev->netdev_ops == &wire_operations && time_travel_now() < wires_begin();
}

static struct wire_lane *find_lane(u32 part, u64 delay_ns)
{
	struct wire_lane *lane;

	for (lane = lanes; lane < lanes + lane_count; lane++)
		if (lane->part == part && lane->delay_ns == delay_ns)
			return lane;
	if (lane_count == WIRE_LANES_MAX)
		return NULL;
	lane_count++;
	__skb_queue_head_init(&lane->frames);
	lane->part = part;
	lane->delay_ns = delay_ns;
	return lane;
}

static int make_room(u32 number)
{
	u32 count = max(64U, roundup_pow_of_two(number + 1));
	struct wire **larger;

	if (number < wire_count)
		return 0;
	if (number >= WIRES_MAX)
		return -ERANGE;
	larger = krealloc_array(wire_ends, count, sizeof(*larger), GFP_KERNEL | __GFP_ZERO);
	if (!larger)
		return -ENOMEM;
	wire_ends = larger;
	memset(larger + wire_count, 0, (count - wire_count) * sizeof(*larger));
	wire_count = count;
	return 0;
}

static int wire_newlink(struct net *source, struct net_device *dev, struct nlattr *attributes[],
			struct nlattr *data[], struct netlink_ext_ack *reasons)
{
	struct wire *wire = netdev_priv(dev);
	int status;

	if (!wires_are_on || !data || !data[WIRE_NUMBER] || !data[WIRE_DELAY_NS] ||
	    !data[WIRE_DELAY_IN_NS]) {
		NL_SET_ERR_MSG_MOD(reasons, "a wire has a number and two delays, in a machine with fabriclab.wires=");
		return -EINVAL;
	}
	wire->dev = dev;
	wire->number = nla_get_u32(data[WIRE_NUMBER]);
	wire->delay_ns = nla_get_u64(data[WIRE_DELAY_NS]);
	wire->part = data[WIRE_PART] ? nla_get_u32(data[WIRE_PART]) : U32_MAX;
	wire->lane = find_lane(wire->part, nla_get_u64(data[WIRE_DELAY_IN_NS]));
	if (!wire->lane || !wire->delay_ns || !wire->lane->delay_ns) {
		NL_SET_ERR_MSG_MOD(reasons, "delays are above 0, and of 256 different lengths at most");
		return -EINVAL;
	}
	status = make_room(wire->number);
	if (status)
		return status;
	if (wire_ends[wire->number])
		return -EEXIST;
	wire_nic_init(wire);
	status = register_netdevice(dev);
	if (!status)
		wire_ends[wire->number] = wire;
	return status;
}

static void wire_dellink(struct net_device *dev, struct list_head *head)
{
	struct wire *wire = netdev_priv(dev);

	wire_ends[wire->number] = NULL;
	unregister_netdevice_queue(dev, head);
}

static const struct nla_policy wire_policy[__WIRE_MAX] = {
	[WIRE_NUMBER]	= { .type = NLA_U32 },
	[WIRE_DELAY_NS]	= { .type = NLA_U64 },
	[WIRE_PART]	= { .type = NLA_U32 },
	[WIRE_DELAY_IN_NS]	= { .type = NLA_U64 },
};

static struct rtnl_link_ops wire_link_operations = {
	.kind		= "wire",
	.priv_size	= sizeof(struct wire),
	.setup		= wire_setup,
	.newlink	= wire_newlink,
	.dellink	= wire_dellink,
	.policy		= wire_policy,
	.maxtype	= __WIRE_MAX - 1,
};

static int __init wire_init(void)
{
	return rtnl_link_register(&wire_link_operations);
}
device_initcall(wire_init);
