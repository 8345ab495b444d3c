// SPDX-License-Identifier: GPL-2.0
/*
 * Active queue management: WRED over a queue's bytes when a frame comes, over its delay
 * when it leaves, and phantom queues.
 */
#include <net/inet_ecn.h>

#include "switch.h"

/* A length (bytes or ns) on the queue's WRED curve. False: the frame is to be dropped. */
static bool switch_wred_passes(struct switch_port *port, int number, struct sk_buff *skb,
			       u64 length)
{
	const struct switch_queue_config *config = &port->config.queue[number];
	struct switch_queue *queue = &port->queue[number];
	u64 probability = switch_wred_probability(
		&config->wred, switch_wred_sample(&config->wred, &queue->average, length));

	if (!probability || (probability < SWITCH_WRED_CERTAIN &&
			     prandom_u32_state(&port->random) >= probability))
		return true;
	if (config->wred_flags & TC_SWITCH_WRED_ECN && INET_ECN_set_ce(skb)) {
		queue->stats.marks[TC_SWITCH_MARK_WRED]++;
		port->stats.marks++;
		return true;
	}
	return config->wred_flags & TC_SWITCH_WRED_KEEP_NON_ECT;
}

/* Whether a queue has a WRED curve over bytes (`delay` 0) or over delay (TC_SWITCH_WRED_DELAY). */
static bool switch_wred_by(const struct switch_queue_config *config, u8 delay)
{
	return config->has_wred && (config->wred_flags & TC_SWITCH_WRED_DELAY) == delay;
}

/* A frame is about to be queued; nothing of it is counted yet. False: it is to be dropped. */
bool switch_aqm_arrival(struct switch_port *port, int number, struct sk_buff *skb)
{
	return !switch_wred_by(&port->config.queue[number], 0) ||
	       switch_wred_passes(port, number, skb, port->queue[number].bytes);
}

static void switch_phantom_mark(struct switch_port *port, int number, struct sk_buff *skb, u64 now,
				u32 bytes)
{
	struct switch_queue *queue = &port->queue[number];

	if (!switch_phantom_send(&port->config.queue[number].phantom, &queue->phantom, now, bytes))
		return;
	if (!INET_ECN_set_ce(skb))
		return;
	queue->stats.marks[TC_SWITCH_MARK_PHANTOM]++;
	port->stats.marks++;
}

/* A frame is about to leave its queue. False: it is to be dropped. */
bool switch_aqm_departure(struct switch_port *port, int number, struct sk_buff *skb, u64 now,
			  u32 wire_bytes)
{
	const struct switch_queue_config *config = &port->config.queue[number];

	if (switch_wred_by(config, TC_SWITCH_WRED_DELAY) &&
	    !switch_wred_passes(port, number, skb, now - switch_frame(skb)->time_ns))
		return false;
	if (config->phantom.rate_bps)
		switch_phantom_mark(port, number, skb, now, wire_bytes);
	return true;
}
