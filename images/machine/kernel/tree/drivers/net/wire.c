// SPDX-License-Identifier: GPL-2.0
/*
 * A cable's end. What is sent at t arrives at the other end at t plus the cable's delay,
 * whether that end is in this machine or in another one (arch/um/kernel/wires.c).
 *
 * A cable has a number; its ends are wires 2 * number and 2 * number + 1. Frames under way
 * stand in lanes by the times of their arrival: those of one machine with one delay come
 * in that order by themselves. What arrives at one instant is received by the numbers of
 * the wires. A cable keeps the order of its frames, also where its delay becomes shorter.
 * Without a delay a frame arrives at the instant at which it is sent, once nothing else of
 * that instant is left to do: no stack grows with the number of hops.
 *
 * A cable is up while both ends are; when it goes down it loses what is under way. Of an
 * end in another machine nobody knows: that one is taken to be as this one is.
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
#include <linux/if_vlan.h>
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
	WIRE_DELAY_NS,	/* u64: of what this end sends; it may change */
	WIRE_PART,	/* u32: the machine that the other end is in; absent: this one */
	WIRE_DELAY_IN_NS,	/* u64: of what comes from the other end; likewise */
	__WIRE_MAX
};

struct wire_lane {
	struct sk_buff_head frames;
	u64 delay_ns;
	u32 part;
	u32 wires;	/* whose frames come by it */
};

struct wire_way {
	u64 sent;
	u64 arrival;
	u32 wire;
	u32 place;	/* among all frames of this wire */
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

/* NULL: it is in another machine, or not made. */
static struct wire *other_end(const struct wire *wire)
{
	return wire->part == U32_MAX ? wire_end(wire->number ^ 1) : NULL;
}

static void put_under_way(struct wire *to, struct sk_buff *skb, u64 sent, u64 arrival)
{
	struct sk_buff *before;

	way(skb)->sent = sent;
	way(skb)->arrival = arrival;
	way(skb)->wire = to->number;
	way(skb)->place = to->place++;
	/* It is the last one, but where a delay has changed. */
	skb_queue_reverse_walk(&to->lane->frames, before)
		if (way(before)->arrival <= arrival)
			break;
	__skb_queue_after(&to->lane->frames, before, skb);
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

void wire_take(const struct wire_passage *passage, const void *bytes, u32 length)
{
	struct wire *to = wire_end(passage->wire);
	struct sk_buff *skb = to ? new_frame(length, passage->stamp) : NULL;

	/* Its machine is larger than what stands in the rings: without memory it can't go on. */
	if (!skb)
		panic("fabriclab.wires: no %s wire %u\n", to ? "memory for a frame of" : "",
		      passage->wire);
	skb_put_data(skb, bytes, length);
	skb->ip_summed = passage->checksum;
	put_under_way(to, skb, passage->sent, passage->arrival);
}

/* -- Arrival ------------------------------------------------------------------------- */

/* Whether the cable was down at some time while the frame was under way, or it is too long. */
static bool is_lost(const struct wire *to, const struct sk_buff *skb)
{
	return !to->open || !netif_carrier_ok(to->dev) || way(skb)->sent < to->up_since ||
	       skb->len > to->longest;
}

static void receive(struct sk_buff *skb)
{
	struct wire *to = wire_end(way(skb)->wire);
	struct net_device *dev = to ? to->dev : NULL;

	skb->dev = dev;
	if (!dev || is_lost(to, skb)) {
		if (dev)
			dev_core_stats_rx_dropped_inc(dev);
		kfree_skb(skb);
		return;
	}
	dev_sw_netstats_rx_add(dev, skb->len);
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
	const struct wire_way *first = way(list_entry(a, struct sk_buff, list));
	const struct wire_way *second = way(list_entry(b, struct sk_buff, list));

	if (first->wire != second->wire)
		return first->wire > second->wire;
	return (s32)(first->place - second->place) > 0;
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

/* Who sends is taken at its word, as long as it has said anything: nothing changes a frame. */
static u8 checksum_of(const struct sk_buff *skb)
{
	return skb->ip_summed == CHECKSUM_PARTIAL || skb->ip_summed == CHECKSUM_UNNECESSARY ?
		       CHECKSUM_UNNECESSARY : CHECKSUM_NONE;
}

static netdev_tx_t wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct wire *wire = netdev_priv(dev), *to = other_end(wire);
	struct wire_passage passage = {
		.sent = time_travel_now(),
		.wire = wire->number ^ 1,
		.checksum = checksum_of(skb),
	};
	u32 length = skb->len;

	if (skb_is_gso(skb) || !netif_carrier_ok(dev)) {
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
	passage.arrival = max(passage.sent + wire->delay_ns, wire->last_arrival);
	wire->last_arrival = passage.arrival;
	if (to) {
		skb->ip_summed = passage.checksum;
		put_under_way(to, skb, passage.sent, passage.arrival);
	} else {
		passage.stamp = skb_hwtstamps(skb)->hwtstamp;
		wires_send(wire->part, &passage, skb->data, length);
		consume_skb(skb);
	}
	return NETDEV_TX_OK;
}

static void come_up(struct wire *wire)
{
	wire->up_since = time_travel_now();
	wire->last_arrival = 0;
	netif_carrier_on(wire->dev);
}

static int wire_open(struct net_device *dev)
{
	struct wire *wire = netdev_priv(dev), *other = other_end(wire);

	wire_nic_open(wire);
	wire->open = true;
	if (wire->part == U32_MAX && !(other && other->open))
		return 0;
	come_up(wire);
	if (other)
		come_up(other);
	return 0;
}

static int wire_stop(struct net_device *dev)
{
	struct wire *wire = netdev_priv(dev), *other = other_end(wire);

	wire->open = false;
	netif_carrier_off(dev);
	if (other)
		netif_carrier_off(other->dev);
	wire_nic_stop(wire);
	return 0;
}

/* As veth: what IEEE 802.1Q adds is no part of the MTU. */
static void set_mtu(struct wire *wire, u32 mtu)
{
	wire->dev->mtu = mtu;
	wire->longest = mtu + wire->dev->hard_header_len + VLAN_HLEN;
}

static int wire_change_mtu(struct net_device *dev, int mtu)
{
	set_mtu(netdev_priv(dev), mtu);
	return 0;
}

/* What TCP or GRO made one is cut before a line sends it. */
static netdev_features_t wire_features_check(struct sk_buff *skb, struct net_device *dev,
					     netdev_features_t features)
{
	return vlan_features_check(skb, features) & ~NETIF_F_GSO_MASK;
}

static const struct net_device_ops wire_operations = {
	.ndo_open		= wire_open,
	.ndo_stop		= wire_stop,
	.ndo_start_xmit		= wire_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_change_mtu		= wire_change_mtu,
	.ndo_features_check	= wire_features_check,
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
	dev->vlan_features = WIRE_FEATURES;
	/* PID 1 switches bursts of TCP off: there is something that it can switch. */
	dev->hw_features = WIRE_FEATURES | NETIF_F_ALL_TSO;
}

bool wire_has_not_begun(const struct net_device *dev)
{
	return dev->netdev_ops == &wire_operations && time_travel_now() < wires_begin();
}

/* A lane that has that delay, else one that nobody uses; all lanes are in use: any will do. */
static struct wire_lane *find_lane(u32 part, u64 delay_ns)
{
	struct wire_lane *lane, *unused = NULL;

	for (lane = lanes; lane < lanes + lane_count; lane++) {
		if (lane->part == part && lane->delay_ns == delay_ns)
			return lane;
		if (!lane->wires && skb_queue_empty(&lane->frames))
			unused = lane;
	}
	if (!unused && lane_count == WIRE_LANES_MAX)
		return lanes;
	if (!unused) {
		unused = &lanes[lane_count++];
		__skb_queue_head_init(&unused->frames);
	}
	unused->part = part;
	unused->delay_ns = delay_ns;
	return unused;
}

/* What comes in by this wire has that delay from now on. */
static void join_lane(struct wire *wire, u64 delay_ns)
{
	if (wire->lane)
		wire->lane->wires--;
	wire->lane = find_lane(wire->part, delay_ns);
	wire->lane->wires++;
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
	if (wire->part != U32_MAX && !wire->delay_ns) {
		NL_SET_ERR_MSG_MOD(reasons, "between machines there is a delay");
		return -EINVAL;
	}
	set_mtu(wire, dev->mtu);
	status = make_room(wire->number);
	if (status)
		return status;
	if (wire_ends[wire->number])
		return -EEXIST;
	wire_nic_init(wire);
	status = register_netdevice(dev);
	if (status)
		return status;
	netif_carrier_off(dev);
	join_lane(wire, nla_get_u64(data[WIRE_DELAY_IN_NS]));
	wire_ends[wire->number] = wire;
	return 0;
}

/* Frames that are under way keep their time. */
static int wire_changelink(struct net_device *dev, struct nlattr *attributes[],
			   struct nlattr *data[], struct netlink_ext_ack *reasons)
{
	struct wire *wire = netdev_priv(dev);

	if (!data || data[WIRE_NUMBER] || data[WIRE_PART] ||
	    (wire->part != U32_MAX && data[WIRE_DELAY_NS] && !nla_get_u64(data[WIRE_DELAY_NS]))) {
		NL_SET_ERR_MSG_MOD(reasons, "of a wire its delays may change, above 0 between machines");
		return -EINVAL;
	}
	if (data[WIRE_DELAY_NS])
		wire->delay_ns = nla_get_u64(data[WIRE_DELAY_NS]);
	if (data[WIRE_DELAY_IN_NS])
		join_lane(wire, nla_get_u64(data[WIRE_DELAY_IN_NS]));
	return 0;
}

static void wire_dellink(struct net_device *dev, struct list_head *head)
{
	struct wire *wire = netdev_priv(dev);

	wire_ends[wire->number] = NULL;
	wire->lane->wires--;
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
	.changelink	= wire_changelink,
	.dellink	= wire_dellink,
	.policy		= wire_policy,
	.maxtype	= __WIRE_MAX - 1,
};

static int __init wire_init(void)
{
	return rtnl_link_register(&wire_link_operations);
}
device_initcall(wire_init);
