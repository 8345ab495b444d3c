// SPDX-License-Identifier: GPL-2.0
/*
 * What a port holds, for who looks at the machine while it is idle.
 *
 * The look brings the chip up to a time before the next timer of the machine. What is
 * late then are departures onto wires that carry frames already (switch.h): they have no
 * effect outside, and no timer is set for them. Were a port to wait for something now,
 * its wire's timer still comes before that, and arms the chip's as it would have.
 */
#include <net/gen_stats.h>
#include <net/switch_port.h>

#include "switch.h"

static u32 switch_look_paused(const struct switch_port *port)
{
	u32 held = switch_pause_held(port), priorities = 0;
	int priority;

	for (priority = 0; priority < SWITCH_QUEUES; priority++)
		if (held & BIT(port->config.maps.priority_to_queue[priority]))
			priorities |= BIT(priority);
	return priorities & port->config.pfc.priorities;
}

static u32 switch_look_pausing(const struct switch_port *port)
{
	const struct switch_ingress *ingress = port->ingress;
	u32 priorities = 0;
	int priority;

	for (priority = 0; priority < SWITCH_QUEUES; priority++)
		if (ingress->group[port->config.maps.priority_to_group[priority]].xoff)
			priorities |= BIT(priority);
	return priorities & port->config.pfc.priorities;
}

static void switch_look_account(struct switch_chip *chip, const struct switch_memory *memory,
				const struct switch_account *held, struct live_account *account)
{
	u32 slice = switch_fullest_slice(chip, held);
	const struct switch_pool *pool = switch_memory_pool(chip, memory, slice);
	u64 cells = switch_limit_now(&memory->account.limit, pool);

	account->limit = cells == SWITCH_UNLIMITED ? LIVE_UNKNOWN : cells * chip->cell_bytes;
	account->reserved = memory->account.reserved * chip->cell_bytes;
}

static void switch_look_port(struct switch_port *port, const struct switch_look *look)
{
	struct live_switch_port head = {
		.rate_bps = port->config.rate_bps,
		.paused = switch_look_paused(port),
		.pausing = switch_look_pausing(port),
	};
	struct tc_switch_port_xstats stats;

	switch_port_read_stats(port, &stats);
	look->tell(LIVE_RECORD_SWITCH_PORT, 0, &head, sizeof(head), &stats, sizeof(stats));
}

static void switch_look_queue(struct switch_port *port, int number, const struct switch_look *look)
{
	struct switch_memory *memory = &port->config.queue[number].memory;
	struct live_account head = {};
	struct tc_switch_queue_xstats stats;
	const struct sk_buff *skb;

	switch_look_account(port->chip, memory, port->queue[number].account, &head);
	switch_queue_read_stats(port, number, look->until, &stats);
	look->tell(LIVE_RECORD_QUEUE, number, &head, sizeof(head), &stats, sizeof(stats));
	if (!look->frames)
		return;
	for (skb = port->queue[number].frames.head; skb; skb = skb->next)
		look->tell_frame(number, skb, look->until - switch_frame(skb)->time_ns);
}

static void switch_look_group(struct switch_port *port, int number, const struct switch_look *look)
{
	const struct switch_group *group = &port->ingress->group[number];
	struct live_account head = { .xoff = group->xoff };
	struct tc_switch_group_xstats stats;

	switch_look_account(port->chip, &group->memory, group->account, &head);
	switch_group_read_stats(port, number, look->until, &stats);
	look->tell(LIVE_RECORD_GROUP, number, &head, sizeof(head), &stats, sizeof(stats));
}

bool switch_port_look(struct Qdisc *sch, const struct switch_look *look)
{
	struct switch_port *port = switch_port_of_qdisc(sch);
	int number;

	if (!port || !port->chip)
		return false;
	spin_lock(&port->chip->lock);
	switch_chip_advance_to(port->chip, look->until);
	switch_look_port(port, look);
	for (number = 0; number < SWITCH_QUEUES; number++)
		if (switch_queue_in_use(port, number))
			switch_look_queue(port, number, look);
	for (number = 0; number < SWITCH_QUEUES; number++)
		if (switch_group_in_use(port, number))
			switch_look_group(port, number, look);
	spin_unlock(&port->chip->lock);
	return true;
}

bool switch_port_dump_stats(struct Qdisc *sch, u64 until, struct gnet_dump *dump)
{
	struct switch_port *port = switch_port_of_qdisc(sch);
	struct tc_switch_port_xstats stats;

	if (!port || !port->chip)
		return false;
	spin_lock(&port->chip->lock);
	switch_chip_advance_to(port->chip, until);
	switch_port_sync_stats(port);
	switch_port_read_stats(port, &stats);
	spin_unlock(&port->chip->lock);
	return !gnet_stats_copy_app(dump, &stats, sizeof(stats));
}

bool switch_port_count(struct Qdisc *sch, struct switch_counts *counts)
{
	const struct switch_port *port = switch_port_of_qdisc(sch);

	if (!port)
		return false;
	counts->drops = port->stats.drops + switch_nic_dropped(port);
	counts->marks = port->stats.marks;
	counts->pauses = port->stats.pauses_sent + port->stats.pauses_received;
	return true;
}

bool switch_port_watch(struct Qdisc *sch, void (*changed)(struct Qdisc *sch), u64 until)
{
	struct switch_port *port = switch_port_of_qdisc(sch);

	if (!port || !port->chip)
		return false;
	if (port->changed == changed)
		return true;
	spin_lock(&port->chip->lock);
	switch_chip_advance_to(port->chip, until);
	port->changed = changed;
	spin_unlock(&port->chip->lock);
	return true;
}

u64 switch_port_next_event(struct Qdisc *sch)
{
	struct switch_port *port = switch_port_of_qdisc(sch);
	struct timerqueue_node *next = NULL;

	if (port && port->chip)
		next = timerqueue_getnext(&port->chip->events);
	return next ? ktime_to_ns(next->expires) : U64_MAX;
}

u64 switch_port_standing(struct Qdisc *sch, u32 queue, bool in_packets)
{
	const struct switch_port *port = switch_port_of_qdisc(sch);

	if (queue >= SWITCH_QUEUES)
		return in_packets ? port->packets : port->bytes;
	return in_packets ? port->queue[queue].packets : port->queue[queue].bytes;
}
