// SPDX-License-Identifier: GPL-2.0
/*
 * The way out: schedule, send, deliver; and what a port does by itself as time goes on.
 * All of it under the chip's lock.
 */
#include <net/frame_fetch.h>

#include "switch.h"

/* -- Service ----------------------------------------------------------------------------------- */

/* Of `queues` those whose bucket has tokens. */
static u32 switch_port_in_rate(const struct switch_port *port, u32 queues, u64 now)
{
	unsigned int number;

	for (number = 0; number < SWITCH_QUEUES; number++) {
		const struct switch_bucket_config *pir = &port->config.queue[number].pir;

		if (switch_bucket_ready(pir, &port->queue[number].pir) > now)
			queues &= ~BIT(number);
	}
	return queues;
}

/* Of `queues` those that have not had what they are guaranteed. */
static u32 switch_port_guaranteed(const struct switch_port *port, u32 queues, u64 now)
{
	unsigned int number;

	for (number = 0; number < SWITCH_QUEUES; number++) {
		const struct switch_bucket_config *cir = &port->config.queue[number].cir;

		if (!cir->rate_bps || switch_bucket_ready(cir, &port->queue[number].cir) > now)
			queues &= ~BIT(number);
	}
	return queues;
}

/* Queues with a guarantee take turns, frame by frame. */
static int switch_port_next_guaranteed(struct switch_port *port, u32 queues)
{
	u32 later = queues & ~(BIT(port->guaranteed_turn + 1) - 1);

	port->guaranteed_turn = __ffs(later ?: queues);
	return port->guaranteed_turn;
}

/* The queue to serve, or -1: none may send. */
static int switch_port_pick(struct switch_port *port, u64 now)
{
	u32 ready = port->backlogged & ~switch_pause_held(port);
	u32 heads[SWITCH_QUEUES] = {};
	u32 guaranteed;
	unsigned int number;

	if (port->config.shaped) {
		ready = switch_port_in_rate(port, ready, now);
		guaranteed = switch_port_guaranteed(port, ready, now);
		if (guaranteed)
			return switch_port_next_guaranteed(port, guaranteed);
	}
	if (!(ready & (ready - 1)))
		return ready ? __ffs(ready) : -1;
	for (number = 0; number < SWITCH_QUEUES; number++)
		if (ready & BIT(number))
			heads[number] =
				switch_frame_wire_bytes(port, port->queue[number].frames.head);
	return switch_schedule(&port->round, port->config.share, ready, heads);
}

static struct sk_buff *switch_queue_pop(struct switch_port *port, int number)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&port->queue[number].frames);

	if (!port->queue[number].frames.head) {
		port->backlogged &= ~BIT(number);
		switch_round_leave(&port->round, number);
	}
	return skb;
}

static void switch_drop_queued(struct switch_port *port, struct sk_buff *skb,
			       enum tc_switch_drop cause, u64 now)
{
	struct switch_frame *frame = switch_frame(skb);

	switch_count_drop(port, frame->queue, cause);
	switch_unaccount_frame(port, frame, qdisc_pkt_len(skb), now);
	kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
}

/*
 * Puts a frame on the line; it arrives at the other end in the order in which it left.
 * It stays its socket's until then: when this is called depends on who looks at the chip.
 */
static void switch_port_send(struct switch_port *port, struct sk_buff *skb, u64 now, u32 wire_bytes)
{
	u64 end = switch_line_send(&port->line, port->config.rate_bps, now, wire_bytes) +
		  port->config.delay_ns;

	if (port->wire.tail)
		end = max(end, switch_frame(port->wire.tail)->time_ns);
	switch_frame(skb)->time_ns = end;
	/* A host's own, whose TCP wants to know when its first bit left (net/tcp_delay.h). */
	if (skb->sk && skb_hwtstamps(skb)->hwtstamp)
		skb_hwtstamps(skb)->hwtstamp = ns_to_ktime(now);
	if (!port->wire.head)
		qdisc_watchdog_schedule_ns(&port->watchdog, end);
	__qdisc_enqueue_tail(skb, &port->wire);
}

static void switch_port_send_control(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	port->stats.pauses_sent += skb->protocol == htons(ETH_P_PAUSE);
	switch_port_send(port, skb, now, switch_frame_wire_bytes(port, skb));
}

/* A frame leaves its queue for the line: its memory is free from now on. */
static void switch_queue_count_sent(struct switch_port *port, struct sk_buff *skb, u64 now,
				    u32 wire_bytes)
{
	const struct switch_frame *frame = switch_frame(skb);
	const struct switch_queue_config *config = &port->config.queue[frame->queue];
	struct switch_queue *queue = &port->queue[frame->queue];
	u32 bytes = qdisc_pkt_len(skb);

	switch_bucket_take(&config->cir, &queue->cir, now, wire_bytes);
	switch_bucket_take(&config->pir, &queue->pir, now, wire_bytes);
	queue->stats.sent_bytes += bytes;
	queue->stats.sent_packets++;
	switch_unaccount_frame(port, frame, bytes, now);
}

/* Starts with the next frame, if there is one that may be sent. The line is free. */
static void switch_port_serve(struct switch_port *port, u64 now)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&port->control);
	u32 wire_bytes;
	int number;

	if (skb) {
		switch_port_send_control(port, skb, now);
		return;
	}
	if (port->roce)
		roce_nic_stage(port, now);
	do {
		number = port->backlogged ? switch_port_pick(port, now) : -1;
		if (number < 0)
			return;
		skb = switch_queue_pop(port, number);
		frame_fetch(skb);
		wire_bytes = switch_frame_wire_bytes(port, skb);
		if (switch_aqm_departure(port, number, skb, now, wire_bytes))
			break;
		switch_drop_queued(port, skb, TC_SWITCH_DROP_WRED, now);
	} while (true);

	switch_queue_count_sent(port, skb, now, wire_bytes);
	if (port->config.telemetry) {
		roce_stamp(port, number, skb, now);
		port->sent_wire_bytes += wire_bytes;
	}
	switch_port_send(port, skb, now, wire_bytes);
	if (port->config.queue[number].sharing.ops)
		switch_sharing_served(port, number, now);
}

/* -- Events ------------------------------------------------------------------------------------ */

/* When a queue that is shaped may send again. */
static u64 switch_port_next_tokens(const struct switch_port *port)
{
	u32 waiting = port->backlogged & ~switch_pause_held(port);
	u64 next = SWITCH_NEVER;
	unsigned int number;

	if (!port->config.shaped)
		return next;
	for (number = 0; number < SWITCH_QUEUES; number++) {
		const struct switch_bucket_config *pir = &port->config.queue[number].pir;

		if (waiting & BIT(number))
			next = min(next, switch_bucket_ready(pir, &port->queue[number].pir));
	}
	return next;
}

static void switch_port_set_waiting(struct switch_port *port, bool waiting)
{
	port->chip->urgent += waiting - port->waiting;
	port->waiting = waiting;
}

static void switch_port_set_event(struct switch_port *port, u64 when)
{
	if (timerqueue_node_queued(&port->event))
		timerqueue_del(&port->chip->events, &port->event);
	if (when == SWITCH_NEVER)
		return;
	port->event.expires = ns_to_ktime(when);
	timerqueue_add(&port->chip->events, &port->event);
}

/* When the NIC has a frame to send; the line may be busy until then. */
static u64 switch_port_next_of_nic(struct switch_port *port, u64 now)
{
	u64 next = port->roce ? roce_nic_next(port, now) : SWITCH_NEVER;

	return next == SWITCH_NEVER ? next : max(next, port->line.free_ns);
}

static void switch_port_schedule(struct switch_port *port, u64 now)
{
	bool busy = switch_port_busy(port, now);
	u64 of_nic = switch_port_next_of_nic(port, now), next = of_nic;

	if (port->backlogged || port->control.head)
		next = min(next, busy ? port->line.free_ns : switch_port_next_tokens(port));
	next = min(next, switch_pause_next(port));
	if (port->pacer)
		next = min(next, switch_pacer_next(port));
	if (!list_empty(&port->limiters))
		next = min(next, switch_qcn_next(port));
	switch_port_set_waiting(port, next != SWITCH_NEVER &&
				      (port->stopped || switch_pacer_waits(port) ||
				       switch_qcn_waits(port) || (!busy && port->backlogged) ||
				       (of_nic != SWITCH_NEVER &&
					(!busy || of_nic > port->line.free_ns))));
	switch_port_set_event(port, next);
}

/*
 * Has the port run as soon as what goes on now is done: ports don't run each other, so
 * that no stack grows with their number.
 */
void switch_port_kick(struct switch_port *port, u64 now)
{
	port->chip->kicked = true;
	switch_port_set_event(port, now);
}

/* Does what is due at `now` on this port; nothing is due before. */
void switch_port_run(struct switch_port *port, u64 now)
{
	switch_pause_run(port, now);
	if (port->pacer)
		switch_pacer_run(port, now);
	if (!list_empty(&port->limiters))
		switch_qcn_run(port, now);
	if (!switch_port_busy(port, now))
		switch_port_serve(port, now);
	switch_port_schedule(port, now);
}

/* Whether the wire loses a frame; U32_MAX is all of them. */
static bool switch_wire_loses(struct switch_port *port)
{
	u32 loss = port->config.loss;

	return loss && (loss == U32_MAX || prandom_u32_state(&port->random) < loss);
}

/* A frame that has arrived at the cable's end, or NULL: then the watchdog tells of the next. */
struct sk_buff *switch_port_arrive(struct switch_port *port, u64 now)
{
	struct sk_buff *skb;

	while ((skb = port->wire.head)) {
		if (switch_frame(skb)->time_ns > now) {
			qdisc_watchdog_schedule_ns(&port->watchdog, switch_frame(skb)->time_ns);
			return NULL;
		}
		frame_fetch(skb);
		__qdisc_dequeue_head(&port->wire);
		if (!switch_wire_loses(port))
			return skb;
		port->stats.lost++;
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
	}
	return NULL;
}

/* -- Reset ------------------------------------------------------------------------------------- */

static void switch_port_purge(struct switch_port *port, int queue, enum tc_switch_drop cause,
			      u64 now)
{
	while (port->queue[queue].frames.head)
		switch_drop_queued(port, switch_queue_pop(port, queue), cause, now);
}

/* The pause watchdog drops what a queue holds. */
void switch_port_drop_queue(struct switch_port *port, int queue, u64 now)
{
	switch_port_purge(port, queue, TC_SWITCH_DROP_STORM, now);
}

static void switch_list_purge(struct qdisc_skb_head *list)
{
	struct sk_buff *skb;

	while ((skb = __qdisc_dequeue_head(list)))
		kfree_skb_reason(skb, SKB_DROP_REASON_QUEUE_PURGE);
}

/* Port down: everything in the queues and on the wire is gone. */
void switch_port_reset(struct switch_port *port, u64 now)
{
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		switch_port_purge(port, queue, TC_SWITCH_DROP_RESET, now);
	switch_list_purge(&port->control);
	switch_list_purge(&port->received);
	switch_list_purge(&port->wire);
	switch_pause_reset(port, now);
	switch_pacer_reset(port);
	switch_qcn_reset(port);
	memset(&port->round, 0, sizeof(port->round));
	port->line.free_ns = now;
	switch_port_schedule(port, now);
}
