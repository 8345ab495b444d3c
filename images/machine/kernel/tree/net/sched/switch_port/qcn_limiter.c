// SPDX-License-Identifier: GPL-2.0
/*
 * QCN's reaction point (qcn.h): the limiters of a NIC, one for each flow of which a
 * notification came. Frames of such a flow wait, behind the segmentation and before
 * their queue, until its rate lets them go; all others pass by. When a flow is as fast as
 * the line again and none of its frames wait, its limiter goes.
 *
 * A flow is a TCP or UDP connection over IPv4. (The standard's own NIC knows its flows by
 * a tag that it puts on frames, CN-TAG; here it looks at the addresses in what the
 * notification encapsulates.)
 */
#include <linux/ip.h>
#include <net/ip.h>
#include <net/netlink.h>

#include "change.h"

#define SWITCH_QCN_CYCLE_BYTES_MIN 1000ULL
#define SWITCH_QCN_CYCLE_BYTES_MAX 1000000000ULL
#define SWITCH_QCN_RATE_MIN 8000ULL
#define SWITCH_QCN_RATE_MAX 1000000000000ULL

struct switch_limiter {
	struct list_head list;
	struct switch_flow_key key;
	struct switch_qcn_limiter state;
	struct switch_line line;	/* of the limiter's rate */
	struct qdisc_skb_head frames;
};

/* -- Flows ------------------------------------------------------------------------------------- */

/* The flow of a frame of the host's own; false: it is none. */
static bool switch_flow_of_frame(const struct sk_buff *skb, struct switch_flow_key *key)
{
	int offset = skb_network_offset(skb);
	const struct iphdr *ip;
	struct iphdr room;

	if (skb->protocol != htons(ETH_P_IP))
		return false;
	ip = skb_header_pointer(skb, offset, sizeof(room), &room);
	if (!ip || (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP) ||
	    ip->frag_off & htons(IP_OFFSET))
		return false;
	key->source = ip->saddr;
	key->destination = ip->daddr;
	return !skb_copy_bits(skb, offset + ip->ihl * 4, &key->source_port, 2 * sizeof(__be16));
}

static struct switch_limiter *switch_limiter_find(struct switch_port *port,
						  const struct switch_flow_key *key)
{
	struct switch_limiter *limiter;

	list_for_each_entry(limiter, &port->limiters, list)
		if (!memcmp(&limiter->key, key, sizeof(*key)))
			return limiter;
	return NULL;
}

static struct switch_limiter *switch_limiter_new(struct switch_port *port,
						 const struct switch_flow_key *key)
{
	struct switch_limiter *limiter = kzalloc(sizeof(*limiter), GFP_ATOMIC);

	/* Without memory it isn't limited; the next notification may limit it. */
	if (!limiter)
		return NULL;
	limiter->key = *key;
	switch_qcn_begin(&port->config.qcn, &limiter->state, port->config.rate_bps);
	list_add_tail(&limiter->list, &port->limiters);
	return limiter;
}

static void switch_limiter_end(struct switch_limiter *limiter)
{
	list_del(&limiter->list);
	kfree(limiter);
}

/* A notification has come for a flow of this port's host. */
void switch_qcn_hear(struct switch_port *port, const struct switch_flow_key *key, u8 quantised,
		     u64 now)
{
	struct switch_limiter *limiter;

	if (!port->config.qcn.least_bps)
		return;
	limiter = switch_limiter_find(port, key) ?: switch_limiter_new(port, key);
	if (!limiter)
		return;
	port->stats.qcn.notifications++;
	switch_qcn_notify(&port->config.qcn, &limiter->state, quantised, now,
			  prandom_u32_state(&port->random));
	switch_port_run(port, now);
}

/* -- Frames ------------------------------------------------------------------------------------ */

static void switch_limiter_count(struct switch_port *port, const struct sk_buff *skb, int sign)
{
	s64 bytes = (s64)qdisc_pkt_len(skb) * sign;

	port->stats.qcn.bytes += bytes;
	port->stats.qcn.packets += sign;
	port->bytes += bytes;
	port->packets += sign;
	if (port->changed)
		port->changed(port->sch);
}

/* A frame of the flow goes. */
static void switch_limiter_send(struct switch_port *port, struct switch_limiter *limiter,
				const struct sk_buff *skb, u64 now)
{
	u32 wire_bytes = switch_frame_wire_bytes(port, skb);

	switch_line_send(&limiter->line, limiter->state.rate_bps, now, wire_bytes);
	if (!switch_qcn_sends(&limiter->state, wire_bytes))
		return;
	port->stats.qcn.cycles++;
	switch_qcn_end_byte_cycle(&port->config.qcn, &limiter->state, port->config.rate_bps,
				  prandom_u32_state(&port->random));
	switch_line_set_rate(&limiter->line);
}

/* A frame, classed, on its way to its queue: whether it is a limiter's now. */
bool switch_qcn_holds(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	struct switch_limiter *limiter;
	struct switch_flow_key key;

	if (list_empty(&port->limiters) || !switch_flow_of_frame(skb, &key))
		return false;
	limiter = switch_limiter_find(port, &key);
	if (!limiter)
		return false;
	if (!limiter->frames.head && limiter->line.free_ns <= now) {
		switch_limiter_send(port, limiter, skb, now);
		return false;
	}
	__qdisc_enqueue_tail(skb, &limiter->frames);
	switch_limiter_count(port, skb, 1);
	return true;
}

/* Does what is due of one flow. */
static void switch_limiter_run(struct switch_port *port, struct switch_limiter *limiter, u64 now)
{
	struct sk_buff *skb;

	while (limiter->state.timer_ns <= now) {
		port->stats.qcn.cycles++;
		switch_qcn_end_timer_cycle(&port->config.qcn, &limiter->state,
					   port->config.rate_bps,
					   prandom_u32_state(&port->random));
		switch_line_set_rate(&limiter->line);
	}
	while (limiter->frames.head && limiter->line.free_ns <= now) {
		skb = __qdisc_dequeue_head(&limiter->frames);
		switch_limiter_count(port, skb, -1);
		switch_limiter_send(port, limiter, skb, now);
		switch_port_enqueue_paced(port, skb, now);
	}
	if (!limiter->frames.head && switch_qcn_ends(&limiter->state, port->config.rate_bps))
		switch_limiter_end(limiter);
}

/* Does what is due: cycles of timers, frames whose time has come, flows that are let go. */
void switch_qcn_run(struct switch_port *port, u64 now)
{
	struct switch_limiter *limiter, *next;

	list_for_each_entry_safe(limiter, next, &port->limiters, list)
		switch_limiter_run(port, limiter, now);
}

/* When switch_qcn_run() is due next. */
u64 switch_qcn_next(const struct switch_port *port)
{
	const struct switch_limiter *limiter;
	u64 next = SWITCH_NEVER;

	list_for_each_entry(limiter, &port->limiters, list) {
		next = min(next, limiter->state.timer_ns);
		if (limiter->frames.head)
			next = min(next, limiter->line.free_ns);
	}
	return next;
}

/* Whether a frame waits for its limiter. */
bool switch_qcn_waits(const struct switch_port *port)
{
	return port->stats.qcn.packets;
}

/* -- Netlink, and life ------------------------------------------------------------------------- */

int switch_qcn_parse_limiter(struct switch_change *change, const struct nlattr *attribute)
{
	const struct tc_switch_qcn_limiter *limiter;

	if (!attribute)
		return 0;
	limiter = nla_data(attribute);
	if (limiter->least_bps &&
	    (limiter->least_bps < SWITCH_QCN_RATE_MIN || limiter->least_bps > SWITCH_QCN_RATE_MAX ||
	     limiter->active_bps > SWITCH_QCN_RATE_MAX || limiter->hyper_bps > SWITCH_QCN_RATE_MAX))
		return switch_refuse(change, "rates of QCN are 8 kbit/s to 1 Tbit/s");
	if (limiter->least_bps && (limiter->cycle_bytes < SWITCH_QCN_CYCLE_BYTES_MIN ||
				   limiter->cycle_bytes > SWITCH_QCN_CYCLE_BYTES_MAX ||
				   limiter->cycle_ns < NSEC_PER_USEC ||
				   limiter->cycle_ns > NSEC_PER_SEC))
		return switch_refuse(change, "QCN's cycles are 1 KB to 1 GB and 1 us to 1 s");
	change->config.qcn = (struct switch_qcn_limiter_config) {
		.least_bps = limiter->least_bps,
		.active_bps = limiter->active_bps,
		.hyper_bps = limiter->hyper_bps,
		.cycle_bytes = limiter->cycle_bytes,
		.cycle_ns = limiter->cycle_ns,
	};
	return 0;
}

int switch_qcn_dump_limiter(const struct switch_port *port, struct sk_buff *skb)
{
	const struct switch_qcn_limiter_config *config = &port->config.qcn;
	struct tc_switch_qcn_limiter dump = {
		.least_bps = config->least_bps,
		.active_bps = config->active_bps,
		.hyper_bps = config->hyper_bps,
		.cycle_bytes = config->cycle_bytes,
		.cycle_ns = config->cycle_ns,
	};

	return dump.least_bps ? nla_put(skb, TCA_SWITCH_PORT_QCN, sizeof(dump), &dump) : 0;
}

void switch_qcn_read_stats(const struct switch_port *port, struct tc_switch_qcn_xstats *stats)
{
	const struct switch_limiter *limiter;

	list_for_each_entry(limiter, &port->limiters, list) {
		stats->flows++;
		stats->rate_bps += limiter->state.rate_bps;
	}
}

/* Port down: nothing waits, nobody is limited. Under the chip's lock. */
void switch_qcn_reset(struct switch_port *port)
{
	struct switch_limiter *limiter, *next;
	struct sk_buff *skb;

	list_for_each_entry_safe(limiter, next, &port->limiters, list) {
		while ((skb = __qdisc_dequeue_head(&limiter->frames))) {
			switch_limiter_count(port, skb, -1);
			switch_count_drop(port, switch_frame(skb)->queue, TC_SWITCH_DROP_RESET);
			kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
		}
		switch_limiter_end(limiter);
	}
}
