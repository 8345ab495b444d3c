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
 * With GRO on an end is a NIC's: wire_nic.c. Frames on their way: wire_way.c.
 */
#include <linux/etherdevice.h>
#include <linux/fabriclab_wires.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/prandom.h>
#include <linux/rtnetlink.h>
#include <linux/time-internal.h>
#include <linux/version.h>
#include <net/rtnetlink.h>
#include "wire.h"

#define WIRES_MAX (1 << 20)
#define WIRE_MILLION 1000000

enum {
	WIRE_UNSPEC,
	WIRE_NUMBER,	/* u32: this end's number */
	WIRE_DELAY_NS,	/* u64: of what this end sends; it may change */
	WIRE_PART,	/* u32: the machine that the other end is in; absent: this one */
	WIRE_DELAY_IN_NS,	/* u64: of what comes from the other end; likewise */
	WIRE_LOSS_PPM,	/* u32: frames of a million that it loses of what this end sends; 0 at first */
	__WIRE_MAX
};

static struct wire **wire_ends;
static u32 wire_count;

struct wire *wire_end(u32 number)
{
	return number < wire_count ? wire_ends[number] : NULL;
}

/* NULL: it is in another machine, or not made. */
static struct wire *other_end(const struct wire *wire)
{
	return wire->part == U32_MAX ? wire_end(wire->number ^ 1) : NULL;
}

/* -- The device ---------------------------------------------------------------------- */

/* Each end draws from a stream of its own, which is the same however the lab is cut. */
static bool loses(struct wire *wire)
{
	if (likely(!wire->loss_ppm))
		return false;
	if (!wire->draws)
		prandom_seed_state(&wire->random, wires_seed() ^ (u64)wire->number << 32);
	wire->draws = true;
	return mul_u32_u32(prandom_u32_state(&wire->random), WIRE_MILLION) >> 32 < wire->loss_ppm;
}

/*
 * Who sends is taken at its word, as long as it has said anything: nothing changes a frame. A
 * checksum that nobody filled in stays so, as over veth: a tunnel's begin looks for it.
 */
static void tell_checksum(struct wire_passage *passage, const struct sk_buff *skb)
{
	passage->checksum = skb->ip_summed == CHECKSUM_COMPLETE ? CHECKSUM_NONE : skb->ip_summed;
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return;
	passage->csum_start = skb_checksum_start_offset(skb);
	passage->csum_offset = skb->csum_offset;
}

static netdev_tx_t wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct wire *wire = netdev_priv(dev), *to = other_end(wire);
	struct wire_passage passage = {
		.sent = time_travel_now(),
		.wire = wire->number ^ 1,
	};
	u32 length = skb->len;

	tell_checksum(&passage, skb);
	if (skb_is_gso(skb) || !netif_carrier_ok(dev) || loses(wire)) {
		dev_core_stats_tx_dropped_inc(dev);
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	skb = wire_own_buffer(skb);
	if (!skb) {
		dev_core_stats_tx_dropped_inc(dev);
		return NETDEV_TX_OK;
	}
	dev_sw_netstats_tx_add(dev, 1, length);
	passage.arrival = max(passage.sent + wire->delay_ns, wire->last_arrival);
	wire->last_arrival = passage.arrival;
	if (to) {
		wire_know_checksum(skb, &passage);
		wire_put_under_way(to, skb, passage.sent, passage.arrival);
	} else {
		passage.stamp = skb_hwtstamps(skb)->hwtstamp;
		wires_send(wire->part, &passage, skb->data, length);
		consume_skb(skb);
	}
	return NETDEV_TX_OK;
}

/*
 * A carrier follows when all that is done at an instant is done: whichever end of a cable was
 * set up or down first, and whichever machines its ends are in, what a node is told of is the
 * same. An end in another machine is set up and down at the same instants.
 */
static void wire_follow(struct work_struct *work)
{
	struct wire *wire = container_of(work, struct wire, carrier), *other = other_end(wire);
	bool is_lit = wire->open && (other ? other->open : wire->part != U32_MAX);

	if (is_lit == netif_carrier_ok(wire->dev))
		return;
	if (!is_lit) {
		netif_carrier_off(wire->dev);
		return;
	}
	wire->up_since = time_travel_now();
	wire->last_arrival = 0;
	netif_carrier_on(wire->dev);
}

static void carriers_follow(struct wire *wire)
{
	struct wire *other = other_end(wire);

	schedule_work(&wire->carrier);
	if (other)
		schedule_work(&other->carrier);
}

static int wire_open(struct net_device *dev)
{
	struct wire *wire = netdev_priv(dev);
	int status = dev->features & NETIF_F_GRO ? wire_nic_start(wire) : 0;

	if (status)
		return status;
	wire->open = true;
	carriers_follow(wire);
	return 0;
}

static int wire_stop(struct net_device *dev)
{
	struct wire *wire = netdev_priv(dev);

	wire->open = false;
	netif_carrier_off(dev);
	carriers_follow(wire);
	wire_nic_stop(wire);
	return 0;
}

static void wire_free(struct net_device *dev)
{
	struct wire *wire = netdev_priv(dev);

	cancel_work_sync(&wire->carrier);
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

static int wire_set_features(struct net_device *dev, netdev_features_t features)
{
	return features & NETIF_F_GRO && netif_running(dev) ? wire_nic_start(netdev_priv(dev)) : 0;
}

static const struct net_device_ops wire_operations = {
	.ndo_open		= wire_open,
	.ndo_stop		= wire_stop,
	.ndo_start_xmit		= wire_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_change_mtu		= wire_change_mtu,
	.ndo_set_features	= wire_set_features,
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
	dev->priv_destructor = wire_free;
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_NO_QUEUE;
	dev->lltx = true;
	dev->max_mtu = ETH_MAX_MTU;
	dev->features |= WIRE_FEATURES;
	dev->vlan_features = WIRE_FEATURES;
	dev->hw_enc_features = WIRE_FEATURES;
	/* PID 1 switches bursts of TCP off: there is something that it can switch. */
	dev->hw_features = WIRE_FEATURES | NETIF_F_ALL_TSO;
}

bool wire_has_not_begun(const struct net_device *dev)
{
	return dev->netdev_ops == &wire_operations && time_travel_now() < wires_begin();
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

/*
 * What is drawn for a device, as how long its neighbours count as reachable, follows from its
 * node and its number alone; and nothing that the node draws later follows from it.
 */
static int register_alone(struct net_device *dev, u32 number)
{
	struct net *network = dev_net(dev);
	u64 stream = network->wire_stream;
	int status;

	wires_work_for(network);
	network->wire_stream = stream + number;
	status = register_netdevice(dev);
	network->wire_stream = stream;
	wires_work_for(NULL);
	return status;
}

static int make_wire(struct net_device *dev, struct nlattr *data[],
		     struct netlink_ext_ack *reasons)
{
	struct wire *wire = netdev_priv(dev);
	int status;

	if (!wires_are_on || !data || !data[WIRE_NUMBER] || !data[WIRE_DELAY_NS] ||
	    !data[WIRE_DELAY_IN_NS]) {
		NL_SET_ERR_MSG_MOD(reasons, "a wire has a number and two delays, in a machine with fabriclab.wires=");
		return -EINVAL;
	}
	wire->dev = dev;
	INIT_WORK(&wire->carrier, wire_follow);
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
	status = register_alone(dev, wire->number);
	if (status)
		return status;
	netif_carrier_off(dev);
	wire_join_lane(wire, nla_get_u64(data[WIRE_DELAY_IN_NS]));
	wire_ends[wire->number] = wire;
	return 0;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
static int wire_newlink(struct net_device *dev, struct rtnl_newlink_params *asked,
			struct netlink_ext_ack *reasons)
{
	return make_wire(dev, asked->data, reasons);
}
#else
static int wire_newlink(struct net *source, struct net_device *dev, struct nlattr *attributes[],
			struct nlattr *data[], struct netlink_ext_ack *reasons)
{
	return make_wire(dev, data, reasons);
}
#endif

/* Frames that are under way keep their time. */
static int wire_changelink(struct net_device *dev, struct nlattr *attributes[],
			   struct nlattr *data[], struct netlink_ext_ack *reasons)
{
	struct wire *wire = netdev_priv(dev);

	if (!data || data[WIRE_NUMBER] || data[WIRE_PART] ||
	    (data[WIRE_LOSS_PPM] && nla_get_u32(data[WIRE_LOSS_PPM]) > WIRE_MILLION) ||
	    (wire->part != U32_MAX && data[WIRE_DELAY_NS] && !nla_get_u64(data[WIRE_DELAY_NS]))) {
		NL_SET_ERR_MSG_MOD(reasons, "of a wire delays and loss may change; between machines there is a delay");
		return -EINVAL;
	}
	if (data[WIRE_DELAY_NS])
		wire->delay_ns = nla_get_u64(data[WIRE_DELAY_NS]);
	if (data[WIRE_DELAY_IN_NS])
		wire_join_lane(wire, nla_get_u64(data[WIRE_DELAY_IN_NS]));
	if (data[WIRE_LOSS_PPM])
		wire->loss_ppm = nla_get_u32(data[WIRE_LOSS_PPM]);
	return 0;
}

static void wire_dellink(struct net_device *dev, struct list_head *head)
{
	struct wire *wire = netdev_priv(dev);

	wire_ends[wire->number] = NULL;
	wire_leave_lane(wire);
	unregister_netdevice_queue(dev, head);
}

static const struct nla_policy wire_policy[__WIRE_MAX] = {
	[WIRE_NUMBER]	= { .type = NLA_U32 },
	[WIRE_DELAY_NS]	= { .type = NLA_U64 },
	[WIRE_PART]	= { .type = NLA_U32 },
	[WIRE_DELAY_IN_NS]	= { .type = NLA_U64 },
	[WIRE_LOSS_PPM]	= { .type = NLA_U32 },
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
