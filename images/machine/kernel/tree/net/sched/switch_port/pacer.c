// SPDX-License-Identifier: GPL-2.0
/*
 * A NIC's pacer (pacer.h): frames of the flows that had marks wait for tokens behind the
 * segmentation and before their queue; all others pass by.
 *
 * As the hardware does, the NIC looks at the frames that come in (an rx_handler of its
 * device): one with ACK and ECE takes its flow in, with a probability. What is drawn comes
 * from the port's own generator. A flow is a TCP connection over IPv4.
 *
 * While a flow is taken in the rate changes every interval: an event of the port, which
 * needs a timer only while frames wait. When no flow has sent anything for the idle time
 * all are let go, and the port is as one without a pacer.
 */
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/netlink.h>

#include "change.h"

#define SWITCH_PACER_BUCKET_MAX 1000000
#define SWITCH_PACER_BETA_MAX 10000

struct switch_pacer_flow {
	struct hlist_node chain;
	struct switch_flow_key key;
	u64 last_ns;			/* when its last frame came */
};

/* -- Flows ------------------------------------------------------------------------------------- */

static struct hlist_head *switch_pacer_chain(struct switch_pacer *pacer,
					     const struct switch_flow_key *key)
{
	return &pacer->flows[jhash(key, sizeof(*key), 0) % SWITCH_PACER_CHAINS];
}

static void switch_pacer_let_go(struct switch_pacer *pacer, struct switch_pacer_flow *flow)
{
	hlist_del(&flow->chain);
	kfree(flow);
	pacer->stats.flows--;
}

/* The flow, or NULL. Who is idle on the way there is let go; nobody while frames wait, else
 * the flow's next frame would overtake them.
 */
static struct switch_pacer_flow *switch_pacer_find(struct switch_port *port,
						   const struct switch_flow_key *key, u64 now)
{
	struct switch_pacer *pacer = port->pacer;
	struct switch_pacer_flow *flow, *found = NULL;
	struct hlist_node *next;

	hlist_for_each_entry_safe(flow, next, switch_pacer_chain(pacer, key), chain) {
		if (!pacer->frames.head &&
		    switch_pacer_lets_go(&port->config.pacer, flow->last_ns, now))
			switch_pacer_let_go(pacer, flow);
		else if (!memcmp(&flow->key, key, sizeof(*key)))
			found = flow;
	}
	return found;
}

static void switch_pacer_let_all_go(struct switch_pacer *pacer)
{
	struct switch_pacer_flow *flow;
	struct hlist_node *next;
	int chain;

	for (chain = 0; chain < SWITCH_PACER_CHAINS; chain++)
		hlist_for_each_entry_safe(flow, next, &pacer->flows[chain], chain)
			switch_pacer_let_go(pacer, flow);
	pacer->active = false;
}

static void switch_pacer_take_in(struct switch_port *port, const struct switch_flow_key *key,
				 u64 now)
{
	struct switch_pacer *pacer = port->pacer;
	struct switch_pacer_flow *flow;

	if (switch_pacer_find(port, key, now) ||
	    !switch_pacer_takes_in(&port->config.pacer, prandom_u32_state(&port->random)))
		return;
	flow = kmalloc(sizeof(*flow), GFP_ATOMIC);
	/* Without memory it isn't paced; the next mark may take it in. */
	if (!flow)
		return;
	flow->key = *key;
	flow->last_ns = now;
	hlist_add_head(&flow->chain, switch_pacer_chain(pacer, key));
	pacer->stats.flows++;
	pacer->stats.taken_in++;
	pacer->last_ns = now;
	if (pacer->active)
		return;
	pacer->active = true;
	switch_pacer_begin(&port->config.pacer, &pacer->bucket, port->config.rate_bps, now);
	switch_port_run(port, now);
}

/* -- Receiving --------------------------------------------------------------------------------- */

/* The TCP header of a frame whose IPv4 header is at `offset`, or NULL. */
static const struct tcphdr *switch_pacer_headers(const struct sk_buff *skb, int offset,
						 struct iphdr *ip, struct tcphdr *tcp)
{
	const struct iphdr *ip_found;

	if (skb->protocol != htons(ETH_P_IP))
		return NULL;
	ip_found = skb_header_pointer(skb, offset, sizeof(*ip), ip);
	if (!ip_found || ip_found->protocol != IPPROTO_TCP ||
	    ip_found->frag_off & htons(IP_OFFSET))
		return NULL;
	if (ip_found != ip)
		*ip = *ip_found;
	return skb_header_pointer(skb, offset + ip->ihl * 4, sizeof(*tcp), tcp);
}

static void switch_pacer_hear(struct switch_port *port, const struct switch_flow_key *key)
{
	struct switch_chip *chip = READ_ONCE(port->chip);
	u64 now;

	if (!chip)
		return;
	now = switch_chip_lock(chip);
	if (port->config.pacer.bucket_bytes)
		switch_pacer_take_in(port, key, now);
	switch_chip_unlock(chip);
}

/* A frame has come in. */
static rx_handler_result_t switch_pacer_receive(struct sk_buff **frame)
{
	struct switch_port *port = rcu_dereference((*frame)->dev->rx_handler_data);
	struct tcphdr tcp_room;
	struct iphdr ip;
	const struct tcphdr *tcp = switch_pacer_headers(*frame, 0, &ip, &tcp_room);
	struct switch_flow_key key;

	if (!tcp || !tcp->ece || !tcp->ack || tcp->syn)
		return RX_HANDLER_PASS;
	key = (struct switch_flow_key) { ip.daddr, ip.saddr, tcp->dest, tcp->source };
	switch_pacer_hear(port, &key);
	return RX_HANDLER_PASS;
}

/* -- Sending ----------------------------------------------------------------------------------- */

static struct switch_pacer_flow *switch_pacer_flow_of(struct switch_port *port,
						      const struct sk_buff *skb, u64 now)
{
	struct tcphdr tcp_room;
	struct iphdr ip;
	const struct tcphdr *tcp =
		switch_pacer_headers(skb, skb_network_offset(skb), &ip, &tcp_room);
	struct switch_flow_key key;

	if (!tcp)
		return NULL;
	key = (struct switch_flow_key) { ip.saddr, ip.daddr, tcp->source, tcp->dest };
	return switch_pacer_find(port, &key, now);
}

static void switch_pacer_count(struct switch_port *port, const struct sk_buff *skb, int sign)
{
	struct switch_pacer *pacer = port->pacer;
	s64 bytes = (s64)qdisc_pkt_len(skb) * sign;

	pacer->bits += 8LL * switch_frame_wire_bytes(port, skb) * sign;
	pacer->stats.bytes += bytes;
	pacer->stats.packets += sign;
	pacer->stats.watermark_bytes = max(pacer->stats.watermark_bytes, pacer->stats.bytes);
	port->bytes += bytes;
	port->packets += sign;
	if (port->changed)
		port->changed(port->sch);
}

/* A frame, classed, on its way to its queue: whether it is the pacer's now. */
bool switch_pacer_holds(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	const struct switch_pacer_config *config = &port->config.pacer;
	struct switch_pacer *pacer = port->pacer;
	struct switch_pacer_flow *flow;
	u32 wire_bytes;

	if (!pacer || !pacer->active)
		return false;
	flow = switch_pacer_flow_of(port, skb, now);
	if (!flow)
		return false;
	flow->last_ns = pacer->last_ns = now;
	wire_bytes = switch_frame_wire_bytes(port, skb);
	pacer->bucket.bits += 8 * wire_bytes;
	switch_pacer_fill(config, &pacer->bucket, now);
	if (!pacer->frames.head && switch_pacer_ready(config, &pacer->bucket, wire_bytes) <= now) {
		switch_pacer_take(config, &pacer->bucket, now, wire_bytes);
		pacer->stats.passed++;
		return false;
	}
	__qdisc_enqueue_tail(skb, &pacer->frames);
	switch_pacer_count(port, skb, 1);
	pacer->stats.held++;
	return true;
}

/* When the frame that is next may go. */
static u64 switch_pacer_head_ready(const struct switch_port *port)
{
	const struct switch_pacer *pacer = port->pacer;

	return switch_pacer_ready(&port->config.pacer, &pacer->bucket,
				  switch_frame_wire_bytes(port, pacer->frames.head));
}

/* Does what is due: a rate that changes, frames that have their tokens, flows that are idle. */
void switch_pacer_run(struct switch_port *port, u64 now)
{
	const struct switch_pacer_config *config = &port->config.pacer;
	struct switch_pacer *pacer = port->pacer;
	struct sk_buff *skb;

	if (!pacer->active)
		return;
	if (pacer->bucket.tick_ns <= now)
		switch_pacer_tick(config, &pacer->bucket, pacer->bits, port->config.rate_bps);
	while (pacer->frames.head && switch_pacer_head_ready(port) <= now) {
		skb = __qdisc_dequeue_head(&pacer->frames);
		switch_pacer_take(config, &pacer->bucket, now, switch_frame_wire_bytes(port, skb));
		switch_pacer_count(port, skb, -1);
		switch_port_enqueue_paced(port, skb, now);
	}
	if (!pacer->frames.head && switch_pacer_lets_go(config, pacer->last_ns, now))
		switch_pacer_let_all_go(pacer);
}

/* When switch_pacer_run() is due next. */
u64 switch_pacer_next(const struct switch_port *port)
{
	const struct switch_pacer *pacer = port->pacer;

	if (!pacer->active)
		return SWITCH_NEVER;
	if (!pacer->frames.head)
		return pacer->bucket.tick_ns;
	return min(pacer->bucket.tick_ns, switch_pacer_head_ready(port));
}

/* -- Netlink, and life. Under RTNL ------------------------------------------------------------- */

int switch_pacer_parse(struct switch_change *change, const struct nlattr *attribute)
{
	const struct tc_switch_pacer *pacer;

	if (!attribute)
		return 0;
	pacer = nla_data(attribute);
	if (pacer->bucket > SWITCH_PACER_BUCKET_MAX || pacer->beta > SWITCH_PACER_BETA_MAX)
		return switch_refuse(change, "a pacer's bucket has at most 1 MB, its beta is at most 10,000");
	if (pacer->interval_ns < NSEC_PER_USEC || pacer->interval_ns > 10 * NSEC_PER_MSEC ||
	    pacer->idle_ns > NSEC_PER_SEC)
		return switch_refuse(change,
				     "a pacer's interval is 1 us to 10 ms, its idle time at most 1 s");
	if (!pacer->bucket && switch_pacer_waits(change->port))
		return switch_refuse(change, "frames wait in the pacer");
	change->config.pacer = (struct switch_pacer_config) {
		.bucket_bytes = pacer->bucket,
		.interval_ns = pacer->interval_ns,
		.idle_ns = pacer->idle_ns,
		.eta = pacer->eta,
		.beta = pacer->beta,
		.probability = pacer->probability,
	};
	return 0;
}

int switch_pacer_dump(const struct switch_port *port, struct sk_buff *skb)
{
	const struct switch_pacer_config *pacer = &port->config.pacer;
	struct tc_switch_pacer dump = {
		.bucket = pacer->bucket_bytes,
		.interval_ns = pacer->interval_ns,
		.idle_ns = pacer->idle_ns,
		.eta = pacer->eta,
		.beta = pacer->beta,
		.probability = pacer->probability,
	};

	return dump.bucket ? nla_put(skb, TCA_SWITCH_PORT_PACER, sizeof(dump), &dump) : 0;
}

/* Makes what a port with this configuration needs. */
int switch_pacer_prepare(struct switch_port *port, const struct switch_pacer_config *config,
			 struct netlink_ext_ack *extack)
{
	struct switch_pacer *pacer;
	int error;

	if (!config->bucket_bytes || port->pacer)
		return 0;
	pacer = kzalloc(sizeof(*pacer), GFP_KERNEL);
	if (!pacer)
		return -ENOMEM;
	error = netdev_rx_handler_register(qdisc_dev(port->sch), switch_pacer_receive, port);
	if (error) {
		NL_SET_ERR_MSG(extack, "a pacer hears what its device receives, which another does");
		kfree(pacer);
		return error;
	}
	switch_chip_lock(port->chip);
	port->pacer = pacer;
	switch_chip_unlock(port->chip);
	return 0;
}

void switch_pacer_read_stats(const struct switch_port *port, struct tc_switch_pacer_xstats *stats)
{
	*stats = port->pacer->stats;
	stats->rate_bps = port->pacer->active ? port->pacer->bucket.rate_bps : 0;
}

/* Port down: nothing waits, nobody is paced. */
void switch_pacer_reset(struct switch_port *port)
{
	struct switch_pacer *pacer = port->pacer;
	struct sk_buff *skb;

	if (!pacer)
		return;
	while ((skb = __qdisc_dequeue_head(&pacer->frames))) {
		switch_pacer_count(port, skb, -1);
		switch_count_drop(port, switch_frame(skb)->queue, TC_SWITCH_DROP_RESET);
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
	}
	switch_pacer_let_all_go(pacer);
}

void switch_pacer_destroy(struct switch_port *port)
{
	struct switch_pacer *pacer = port->pacer;

	if (!pacer)
		return;
	netdev_rx_handler_unregister(qdisc_dev(port->sch));
	switch_chip_lock(port->chip);
	switch_pacer_reset(port);
	port->pacer = NULL;
	switch_chip_unlock(port->chip);
	kfree(pacer);
}
