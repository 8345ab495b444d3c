// SPDX-License-Identifier: GPL-2.0
/*
 * A host's port as its NIC: in front of each queue may stand a qdisc (fq, a fifo), as in
 * front of a NIC's transmit queue; the queue itself is the NIC's ring.
 *
 * The ring takes from the qdisc while it holds less than its limit, as a driver does with
 * byte queue limits (lib/dynamic_queue_limits.c), and cuts what it takes into frames: a
 * burst of TSO leaves back to back at the line's rate. It takes again when half of it has
 * left: a NIC tells of frames that are sent in batches, too.
 */
#include <linux/math64.h>
#include <net/gso.h>

#include "switch.h"

/* The queue that a frame of the host itself goes to. */
static int switch_nic_queue(struct switch_port *port, struct sk_buff *skb)
{
	if (port->config.tx_queues > 1)
		return reciprocal_scale(skb_get_hash(skb), port->config.tx_queues);
	return switch_egress_queue(port, skb);
}

/* Puts one frame into the ring. */
static void switch_nic_put(struct switch_port *port, struct sk_buff *skb, int queue)
{
	struct switch_chip *chip = port->chip;
	u64 now = switch_chip_lock(chip);
	int verdict = switch_port_enqueue_at(port, skb, queue, now);

	switch_chip_unlock(chip);
	if (verdict != NET_XMIT_SUCCESS)
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
}

/* What the qdisc gave, in frames. */
static void switch_nic_take(struct switch_port *port, struct sk_buff *skb, int queue)
{
	struct sk_buff *segment, *next;

	if (!skb_is_gso(skb)) {
		switch_nic_put(port, skb, queue);
		return;
	}
	segment = skb_gso_segment(skb, netif_skb_features(skb) & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segment)) {
		port->stats.drops++;
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segment, segment, next) {
		skb_mark_not_on_list(segment);
		switch_set_frame_length(segment);
		switch_nic_put(port, segment, queue);
	}
}

/* What a queue's ring holds now. */
static u64 switch_nic_ring(struct switch_port *port, int queue)
{
	u64 bytes;

	switch_chip_lock(port->chip);
	bytes = port->queue[queue].bytes;
	switch_chip_unlock(port->chip);
	return bytes;
}

/* Fills one ring; whether its qdisc has more than it takes. */
static bool switch_nic_fill_queue(struct switch_port *port, int queue)
{
	struct Qdisc *front = port->front[queue];
	struct sk_buff *skb;

	while (front->q.qlen) {
		if (switch_nic_ring(port, queue) >= port->config.ring_bytes)
			return true;
		skb = front->dequeue(front);
		/* A qdisc that paces has its own timer. */
		if (!skb)
			return false;
		switch_nic_take(port, skb, queue);
	}
	return false;
}

/* Fills the rings, and comes back when one that is full has half of it sent. */
void switch_nic_fill(struct switch_port *port)
{
	bool full = false;
	u64 half_ns;
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		if (port->front[queue])
			full |= switch_nic_fill_queue(port, queue);
	if (!full)
		return;
	half_ns = mul_u64_u64_div_u64(port->config.ring_bytes, 4 * NSEC_PER_SEC,
				      port->config.rate_bps);
	qdisc_watchdog_schedule_range_ns(&port->refill, ktime_get_ns() + half_ns, 0);
}

/* A frame, or a GSO frame of many, from the host. */
int switch_nic_enqueue(struct switch_port *port, struct sk_buff *skb, struct sk_buff **to_free)
{
	struct Qdisc *front = port->front[switch_nic_queue(port, skb)];
	int verdict;	/* what the qdisc drops it counts itself: switch_nic_dropped() */

	if (!front) {
		port->stats.drops++;
		return qdisc_drop(skb, port->sch, to_free);
	}
	verdict = qdisc_enqueue(skb, front, to_free);
	switch_nic_fill(port);
	return verdict;
}

/* What waits in front of the rings. */
void switch_nic_waiting(const struct switch_port *port, u64 *packets, u64 *bytes)
{
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++) {
		const struct Qdisc *front = port->front[queue];

		*packets += front ? front->q.qlen : 0;
		*bytes += front ? front->qstats.backlog : 0;
	}
}

/* What the qdiscs in front of the rings dropped, here or when they gave a frame. */
u64 switch_nic_dropped(const struct switch_port *port)
{
	u64 dropped = 0;
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		dropped += port->front[queue] ? port->front[queue]->qstats.drops : 0;
	return dropped;
}

/* Puts another qdisc in front of a queue; NULL: none. Under RTNL. */
void switch_nic_graft(struct switch_port *port, int queue, struct Qdisc *front, struct Qdisc **old)
{
	*old = qdisc_replace(port->sch, front, &port->front[queue]);
	port->has_front = memchr_inv(port->front, 0, sizeof(port->front));
}

void switch_nic_reset(struct switch_port *port)
{
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		if (port->front[queue])
			qdisc_reset(port->front[queue]);
	qdisc_watchdog_cancel(&port->refill);
}

void switch_nic_destroy(struct switch_port *port)
{
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		qdisc_put(port->front[queue]);
}
