// SPDX-License-Identifier: GPL-2.0
/*
 * QCN's congestion point (qcn.h), and the way of its notifications.
 *
 * A congestion notification message (CNM) is the frame of IEEE 802.1Qau, clause 33: it
 * tells the quantised feedback and has the first bytes of the frame that was sampled.
 * 802.1Qau knows bridges alone: there the CNM goes to the frame's source MAC address. In
 * a routed fabric that address is the last router's, so here the CNM goes by what it
 * encapsulates: out by the port that the sampled frame came in by, and each router that
 * it comes to passes it on by its own routes towards the IPv4 source of that frame. The
 * host that has this address is where it ends. A frame of the node itself, and what is
 * not IPv4, tells nobody.
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/if_cnm.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/pkt_sched.h>
#include <net/arp.h>
#include <net/neighbour.h>
#include <net/netlink.h>
#include <net/route.h>

#include "change.h"

#define SWITCH_QCN_SAMPLE_MIN 10000ULL	/* ieee8021CnCpMinSampleBase */
#define SWITCH_QCN_BYTES_MAX 1000000000ULL
#define SWITCH_QCN_WEIGHT_MAX 1024
#define SWITCH_CNM_UNIT_LOG 6		/* queue lengths are told in 64 bytes */
#define SWITCH_CNM_MSDU 64

/* IEEE 802.1Qau, 33.4: the PDU of a CNM. */
struct switch_cnm {
	__be16 version_feedback;	/* 4 bits version, 6 reserved, 6 feedback */
	u8 point[8];			/* CPID: MAC address and queue */
	__be16 offset;			/* of the queue from its set point, in 64 bytes */
	__be16 change;			/* since the sample before */
	__be16 priority;		/* of the frame: its queue, in the upper 3 bits */
	u8 destination[ETH_ALEN];	/* of the frame */
	__be16 length;			/* of what follows */
	__be16 type;			/* with its EtherType it begins */
	u8 msdu[SWITCH_CNM_MSDU - sizeof(__be16)];
} __packed;

/* Nearest bridge: on a point-to-point line whoever is at its other end. */
static const u8 switch_cnm_address[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e };

/* -- Sampling ---------------------------------------------------------------------------------- */

static __be16 switch_cnm_units(s64 bytes)
{
	return htons((u16)clamp_t(s64, bytes >> SWITCH_CNM_UNIT_LOG, S16_MIN, S16_MAX));
}

/* Of the frame `sampled`, which is on its way out by `port`. */
static struct sk_buff *switch_cnm_frame(struct switch_port *port, struct sk_buff *sampled,
					s64 offset, s64 change, u8 quantised)
{
	const struct ethhdr *sampled_header = (struct ethhdr *)skb_mac_header(sampled);
	int network = skb_network_offset(sampled), queue = switch_frame(sampled)->queue;
	int length = min_t(int, sampled->len - network, sizeof_field(struct switch_cnm, msdu));
	struct sk_buff *skb = alloc_skb(ETH_HLEN + sizeof(struct switch_cnm), GFP_ATOMIC);
	struct switch_cnm *cnm;
	struct ethhdr *header;

	/* Without memory this one is lost; the next sample comes soon. */
	if (!skb)
		return NULL;
	skb_reset_mac_header(skb);
	header = skb_put(skb, ETH_HLEN);
	ether_addr_copy(header->h_dest, switch_cnm_address);
	header->h_proto = htons(ETH_P_CNM);
	skb_set_network_header(skb, ETH_HLEN);
	cnm = skb_put_zero(skb, sizeof(*cnm));
	cnm->version_feedback = htons(quantised);
	ether_addr_copy(cnm->point, qdisc_dev(port->sch)->dev_addr);
	cnm->point[7] = queue;
	cnm->offset = switch_cnm_units(offset);
	cnm->change = switch_cnm_units(change);
	cnm->priority = htons(queue << 13);
	ether_addr_copy(cnm->destination, sampled_header->h_dest);
	cnm->length = htons(sizeof(cnm->type) + length);
	cnm->type = sampled->protocol;
	if (skb_copy_bits(sampled, network, cnm->msdu, length)) {
		kfree_skb(skb);
		return NULL;
	}
	skb->protocol = htons(ETH_P_CNM);
	skb->priority = TC_PRIO_CONTROL;
	switch_set_frame_length(skb);
	return skb;
}

/* A frame has been counted into a queue that is a congestion point. */
void switch_qcn_arrival(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	const struct switch_frame *frame = switch_frame(skb);
	const struct switch_qcn_point_config *config = &port->config.queue[frame->queue].qcn;
	struct switch_port *in = port->chip->ingress[frame->slot]->port;
	struct switch_queue *queue = &port->queue[frame->queue];
	u64 before = queue->qcn.before;
	struct sk_buff *cnm;
	u8 quantised;

	if (!switch_qcn_samples(&queue->qcn, qdisc_pkt_len(skb)))
		return;
	queue->stats.samples++;
	quantised = switch_qcn_sample(config, &queue->qcn, queue->bytes,
				      prandom_u32_state(&port->random));
	if (!quantised || !in || skb->protocol != htons(ETH_P_IP))
		return;
	cnm = switch_cnm_frame(port, skb, queue->bytes - config->set_point, queue->bytes - before,
			       quantised);
	if (!cnm)
		return;
	queue->stats.notifications++;
	cnm->dev = qdisc_dev(in->sch);
	ether_addr_copy(eth_hdr(cnm)->h_source, cnm->dev->dev_addr);
	__qdisc_enqueue_tail(cnm, &in->control);
	switch_port_kick(in, now);
}

/* -- On the way -------------------------------------------------------------------------------- */

/* Sends a CNM on towards an address. Consumes it. */
static void switch_cnm_forward(struct sk_buff *skb, __be32 address)
{
	struct flowi4 flow = { .daddr = address };
	struct rtable *route = ip_route_output_key(dev_net(skb->dev), &flow);
	struct neighbour *neighbour;
	struct net_device *dev;

	if (IS_ERR(route)) {
		kfree_skb(skb);
		return;
	}
	dev = route->dst.dev;
	neighbour = dst_neigh_lookup(&route->dst, &address);
	if (!neighbour || !(neighbour->nud_state & NUD_VALID) ||
	    dev_hard_header(skb, dev, ETH_P_CNM, neighbour->ha, NULL, skb->len) < 0) {
		kfree_skb(skb);
	} else {
		skb->dev = dev;
		skb->priority = TC_PRIO_CONTROL;
		dev_queue_xmit(skb);
	}
	if (neighbour)
		neigh_release(neighbour);
	ip_rt_put(route);
}

/* Who sent the frame that a CNM tells of; false: it isn't known. */
static bool switch_cnm_flow(const struct switch_cnm *cnm, struct switch_flow_key *key)
{
	const struct iphdr *ip = (const struct iphdr *)cnm->msdu;
	unsigned int ports = ip->ihl * 4;

	if (cnm->type != htons(ETH_P_IP) || ip->version != 4 || ports < sizeof(*ip) ||
	    sizeof(cnm->type) + ports + 2 * sizeof(__be16) > ntohs(cnm->length) ||
	    ntohs(cnm->length) > SWITCH_CNM_MSDU)
		return false;
	key->source = ip->saddr;
	key->destination = ip->daddr;
	memcpy(&key->source_port, cnm->msdu + ports, 2 * sizeof(__be16));
	return true;
}

static void switch_cnm_hear(struct switch_port *port, const struct switch_flow_key *key,
			    u8 quantised)
{
	struct switch_chip *chip = port ? READ_ONCE(port->chip) : NULL;
	u64 now;

	if (!chip)
		return;
	now = switch_chip_lock(chip);
	/* Unless the port went while we waited for the lock. */
	if (port->chip == chip)
		switch_qcn_hear(port, key, quantised, now);
	switch_chip_unlock(chip);
}

/* A CNM has come in by `original`; `dev` may be its bond. Under rcu_read_lock(). */
static int switch_cnm_receive(struct sk_buff *skb, struct net_device *dev,
			      struct packet_type *type, struct net_device *original)
{
	struct switch_flow_key key;
	struct switch_cnm cnm;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	if (skb_copy_bits(skb, 0, &cnm, sizeof(cnm)) || !switch_cnm_flow(&cnm, &key)) {
		kfree_skb(skb);
		return NET_RX_SUCCESS;
	}
	if (inet_addr_type(dev_net(dev), key.source) != RTN_LOCAL) {
		switch_cnm_forward(skb, key.source);
		return NET_RX_SUCCESS;
	}
	switch_cnm_hear(switch_port_of_device(original), &key,
			ntohs(cnm.version_feedback) & SWITCH_QCN_QUANTA);
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

static struct packet_type switch_cnm_type = {
	.type = htons(ETH_P_CNM),
	.func = switch_cnm_receive,
};

void switch_qcn_register(void)
{
	dev_add_pack(&switch_cnm_type);
}

/* -- Netlink. Under RTNL ----------------------------------------------------------------------- */

int switch_qcn_parse_point(struct switch_change *change, const struct nlattr *attribute, int queue)
{
	const struct tc_switch_qcn_point *point;

	if (!attribute)
		return 0;
	point = nla_data(attribute);
	if (point->set_point > SWITCH_QCN_BYTES_MAX || point->weight > SWITCH_QCN_WEIGHT_MAX)
		return switch_refuse(change, "queue %d: a set point is at most 1 GB, a weight 1024",
				     queue);
	if (point->set_point &&
	    (point->sample < SWITCH_QCN_SAMPLE_MIN || point->sample > SWITCH_QCN_BYTES_MAX))
		return switch_refuse(change, "queue %d: samples are 10 KB to 1 GB apart", queue);
	change->config.queue[queue].qcn = (struct switch_qcn_point_config) {
		.set_point = point->set_point,
		.sample_bytes = point->sample,
		.weight = point->weight,
	};
	return 0;
}

int switch_qcn_dump_point(const struct switch_queue_config *queue, struct sk_buff *skb)
{
	struct tc_switch_qcn_point dump = {
		.set_point = queue->qcn.set_point,
		.sample = queue->qcn.sample_bytes,
		.weight = queue->qcn.weight,
	};

	return dump.set_point ? nla_put(skb, TCA_SWITCH_QUEUE_QCN, sizeof(dump), &dump) : 0;
}
