// SPDX-License-Identifier: GPL-2.0
/*
 * Priority flow control: pauses that ports send for their priority groups, pauses that
 * they receive for their queues, and the watchdog against storms of them.
 *
 * A pause is a real MAC control frame. It is sent behind the frame in service and
 * before all data, takes its time on the line and the cable like any other, and takes
 * effect at the neighbour after the reaction time configured there.
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/pkt_sched.h>

#include "switch.h"

static const u8 switch_pause_address[ETH_ALEN] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

/* -- Sending ----------------------------------------------------------------------------------- */

static struct sk_buff *switch_pause_frame(struct net_device *dev, const struct switch_pause *pause)
{
	struct sk_buff *skb = alloc_skb(ETH_ZLEN, GFP_ATOMIC);
	struct ethhdr *header;

	if (!skb)
		return NULL;
	skb_reset_mac_header(skb);
	header = skb_put_zero(skb, ETH_ZLEN);
	ether_addr_copy(header->h_dest, switch_pause_address);
	ether_addr_copy(header->h_source, dev->dev_addr);
	header->h_proto = htons(ETH_P_PAUSE);
	switch_pause_encode(pause, (u8 *)(header + 1));
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = htons(ETH_P_PAUSE);
	skb->priority = TC_PRIO_CONTROL;
	skb->dev = dev;
	switch_set_frame_length(skb);
	return skb;
}

/* Tells the neighbour that the priorities of `groups` (bit mask) are to pause for `quanta`. */
static void switch_pause_send(struct switch_port *port, u32 groups, u16 quanta, u64 now)
{
	struct switch_pause pause = {};
	struct sk_buff *skb;
	int priority;

	for (priority = 0; priority < SWITCH_QUEUES; priority++) {
		if (!(groups & BIT(port->config.maps.priority_to_group[priority])))
			continue;
		pause.priorities |= BIT(priority) & port->config.pfc.priorities;
		pause.quanta[priority] = quanta;
	}
	if (!pause.priorities)
		return;
	/* Without memory this one is lost, as on a bad cable; a pause is repeated. */
	skb = switch_pause_frame(qdisc_dev(port->sch), &pause);
	if (skb)
		__qdisc_enqueue_tail(skb, &port->control);
	switch_port_kick(port, now);
}

static u32 switch_ingress_xoff(const struct switch_ingress *ingress)
{
	u32 groups = 0;
	int group;

	for (group = 0; group < SWITCH_QUEUES; group++)
		if (ingress->group[group].xoff)
			groups |= BIT(group);
	return groups;
}

static u64 switch_refresh_time(const struct switch_port *port, u64 now)
{
	return now + max(1ULL, switch_pause_ns(port->config.pfc.quanta, port->config.rate_bps) / 2);
}

/* A frame had to go to the group's headroom. */
void switch_group_xoff(struct switch_ingress *ingress, int group, u64 now)
{
	struct switch_port *port = ingress->port;

	if (!port)
		return;
	ingress->group[group].xoff = true;
	ingress->group[group].xoff_since = now;
	ingress->group[group].stats.xoffs++;
	port->chip->urgent++;
	if (!port->refresh_ns)
		port->refresh_ns = switch_refresh_time(port, now);
	switch_pause_send(port, BIT(group), port->config.pfc.quanta, now);
}

/* The group is in XOFF no longer; the neighbour is not told. */
static void switch_group_forget_xoff(struct switch_chip *chip, struct switch_group *group, u64 now)
{
	if (!group->xoff)
		return;
	group->xoff = false;
	group->stats.xoff_ns += now - group->xoff_since;
	chip->urgent--;
}

/* A frame of a group in XOFF has left: may the neighbour go on? */
void switch_group_check_xon(struct switch_chip *chip, struct switch_ingress *ingress, int number,
			    u64 now)
{
	struct switch_group *group = &ingress->group[number];
	u32 slice;

	for (slice = 0; slice < chip->slices; slice++)
		if (!switch_may_resume(&group->account[slice], &group->pfc, &group->memory.account,
				       switch_memory_pool(chip, &group->memory, slice)))
			return;
	switch_group_forget_xoff(chip, group, now);
	if (!switch_ingress_xoff(ingress))
		ingress->port->refresh_ns = 0;
	switch_pause_send(ingress->port, BIT(number), 0, now);
}

static void switch_pause_refresh(struct switch_port *port, u64 now)
{
	port->refresh_ns = switch_refresh_time(port, now);
	switch_pause_send(port, switch_ingress_xoff(port->ingress), port->config.pfc.quanta, now);
}

/* -- Receiving --------------------------------------------------------------------------------- */

static void switch_queue_resume(struct switch_queue *queue, u64 now)
{
	if (!queue->paused)
		return;
	queue->paused = false;
	queue->stats.paused_ns += now - queue->paused_since;
}

static void switch_queue_pause(struct switch_queue *queue, u64 now, u64 duration)
{
	queue->paused_until = now + duration;
	if (queue->paused)
		return;
	queue->paused = true;
	queue->paused_since = now;
	queue->stats.pauses_received++;
}

static void switch_pause_apply(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	u64 rate_bps = port->config.rate_bps;
	struct switch_pause pause;
	int priority;

	if (!switch_pause_decode(&pause, skb->data, skb_headlen(skb)))
		return;
	for (priority = 0; priority < SWITCH_QUEUES; priority++) {
		int number = port->config.maps.priority_to_queue[priority];
		struct switch_queue *queue = &port->queue[number];

		if (!(pause.priorities & port->config.pfc.priorities & BIT(priority)))
			continue;
		if (pause.quanta[priority])
			switch_queue_pause(queue, now,
					   switch_pause_ns(pause.quanta[priority], rate_bps));
		else
			switch_queue_resume(queue, now);
	}
}

static void switch_pause_apply_due(struct switch_port *port, u64 now)
{
	struct sk_buff *skb;

	while ((skb = port->received.head) && switch_frame(skb)->time_ns <= now) {
		__qdisc_dequeue_head(&port->received);
		switch_pause_apply(port, skb, now);
		consume_skb(skb);
	}
}

static void switch_pause_accept(struct switch_port *port, struct switch_chip *chip,
				struct sk_buff *skb)
{
	u64 now = switch_chip_lock(chip);

	if (port->chip != chip) {
		/* The port went while we waited for the lock. */
		consume_skb(skb);
	} else {
		port->stats.pauses_received++;
		switch_frame(skb)->time_ns = now + port->config.pfc.reaction_ns;
		__qdisc_enqueue_tail(skb, &port->received);
		switch_port_run(port, now);
	}
	switch_chip_unlock(chip);
}

/* A MAC control frame has come in by `original`; `dev` may be its bond. Under rcu_read_lock(). */
static int switch_pause_receive(struct sk_buff *skb, struct net_device *dev,
				struct packet_type *type, struct net_device *original)
{
	struct switch_port *port = switch_port_of_device(original);
	struct switch_chip *chip = port ? READ_ONCE(port->chip) : NULL;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	if (!chip || !pskb_may_pull(skb, SWITCH_PAUSE_BODY_BYTES)) {
		consume_skb(skb);
		return NET_RX_SUCCESS;
	}
	switch_pause_accept(port, chip, skb);
	return NET_RX_SUCCESS;
}

static struct packet_type switch_pause_type = {
	.type = htons(ETH_P_PAUSE),
	.func = switch_pause_receive,
};

void switch_pause_register(void)
{
	dev_add_pack(&switch_pause_type);
}

/* -- Time -------------------------------------------------------------------------------------- */

static void switch_queue_watch(struct switch_port *port, int number, u64 now)
{
	struct switch_queue *queue = &port->queue[number];

	if (!switch_watchdog_update(&queue->watchdog, &port->config.watchdog, now, queue->paused,
				    queue->frames.head != NULL))
		return;
	if (!queue->watchdog.storm)
		return;
	queue->stats.storms++;
	if (port->config.pfc.storm_action == TC_SWITCH_STORM_DROP)
		switch_port_drop_queue(port, number, now);
}

static bool switch_pause_idle(const struct switch_port *port)
{
	return !port->received.head && !port->stopped && !port->refresh_ns;
}

/* Does what is due: pauses that take effect or end, storms that begin or end, pauses to repeat. */
void switch_pause_run(struct switch_port *port, u64 now)
{
	int number;

	if (switch_pause_idle(port))
		return;
	switch_pause_apply_due(port, now);
	port->stopped = 0;
	for (number = 0; number < SWITCH_QUEUES; number++) {
		struct switch_queue *queue = &port->queue[number];

		if (queue->paused && queue->paused_until <= now)
			switch_queue_resume(queue, now);
		switch_queue_watch(port, number, now);
		if (queue->paused || queue->watchdog.storm)
			port->stopped |= BIT(number);
	}
	if (port->refresh_ns && port->refresh_ns <= now)
		switch_pause_refresh(port, now);
}

/* When switch_pause_run() is due next. */
u64 switch_pause_next(const struct switch_port *port)
{
	u64 next = port->refresh_ns ?: SWITCH_NEVER;
	int number;

	if (port->received.head)
		next = min(next, switch_frame(port->received.head)->time_ns);
	for (number = 0; port->stopped && number < SWITCH_QUEUES; number++) {
		const struct switch_queue *queue = &port->queue[number];

		if (queue->paused)
			next = min(next, queue->paused_until);
		next = min(next,
			   switch_watchdog_deadline(&queue->watchdog, &port->config.watchdog));
	}
	return next;
}

/* Bit mask of the queues that a pause keeps from sending. */
u32 switch_pause_held(const struct switch_port *port)
{
	u32 held = 0;
	int number;

	for (number = 0; port->stopped && number < SWITCH_QUEUES; number++)
		if (port->queue[number].paused && !port->queue[number].watchdog.storm)
			held |= BIT(number);
	return held;
}

/* Port down: nobody is paused by it, and it is paused by nobody. */
void switch_pause_reset(struct switch_port *port, u64 now)
{
	int number;

	for (number = 0; number < SWITCH_QUEUES; number++) {
		switch_group_forget_xoff(port->chip, &port->ingress->group[number], now);
		switch_queue_resume(&port->queue[number], now);
		port->queue[number].watchdog = (struct switch_watchdog) {};
	}
	port->refresh_ns = 0;
	port->stopped = 0;
}
