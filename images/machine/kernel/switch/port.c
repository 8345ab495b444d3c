// SPDX-License-Identifier: GPL-2.0
/*
 * A port's data path: classify, admit, queue, schedule, send, deliver. All of it under
 * the chip's lock.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/random.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "switch.h"

/* -- Classification --------------------------------------------------------------------------------- */

/* What is not IP (ARP, LLDP) has DSCP 0. */
static u8 switch_dscp(struct sk_buff *skb)
{
	int offset = skb_network_offset(skb);

	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (pskb_may_pull(skb, offset + sizeof(struct iphdr)))
			return ipv4_get_dsfield(ip_hdr(skb)) >> 2;
		break;
	case htons(ETH_P_IPV6):
		if (pskb_may_pull(skb, offset + sizeof(struct ipv6hdr)))
			return ipv6_get_dsfield(ipv6_hdr(skb)) >> 2;
		break;
	}
	return 0;
}

/* The slot of the port that a frame came in by. */
static u16 switch_ingress_slot(struct switch_chip *chip, const struct sk_buff *skb)
{
	void *slot = skb->skb_iif ? xa_load(&chip->slots, skb->skb_iif) : NULL;

	return slot ? xa_to_value(slot) : SWITCH_CPU_SLOT;
}

/* The class is the ingress port's to say, the queue is the egress port's. */
static void switch_classify(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	struct switch_chip *chip = port->chip;
	u16 slot = switch_ingress_slot(chip, skb);
	const struct switch_port *in = chip->ingress[slot]->port ?: port;
	u8 class = in->config.maps.dscp_to_tc[switch_dscp(skb)];

	*switch_frame(skb) = (struct switch_frame) {
		.time_ns = now,
		.cells = switch_cells(qdisc_pkt_len(skb), chip->cell_bytes),
		.slot = slot,
		.group = in->config.maps.tc_to_group[class],
		.queue = port->config.maps.tc_to_queue[class],
	};
}

/* -- Accounts --------------------------------------------------------------------------------------- */

static struct switch_group *switch_frame_group(struct switch_port *port, const struct switch_frame *frame)
{
	return &port->chip->ingress[frame->slot]->group[frame->group];
}

static enum switch_admission switch_ask(struct switch_chip *chip, const struct switch_account *account,
					const struct switch_memory *memory, u32 cells)
{
	return switch_admit(account, &memory->account, switch_memory_pool(chip, memory), cells);
}

/* Counts a frame in; `ingress` is what its priority group said. */
static void switch_account_frame(struct switch_port *port, const struct switch_frame *frame, u32 bytes,
				 enum switch_admission ingress)
{
	struct switch_queue *queue = &port->queue[frame->queue];
	struct switch_memory *memory = &port->config.queue[frame->queue].memory;
	struct switch_group *group = switch_frame_group(port, frame);
	struct switch_pool *pool = switch_memory_pool(port->chip, &group->memory);

	if (ingress == SWITCH_ADMIT_HEADROOM)
		switch_charge_headroom(&group->account, pool, frame->cells);
	else
		switch_charge(&group->account, &group->memory.account, pool, frame->cells);
	group->stats.received_bytes += bytes;
	group->stats.received_packets++;

	switch_charge(&queue->account, &memory->account, switch_memory_pool(port->chip, memory), frame->cells);
	queue->bytes += bytes;
	queue->packets++;
	queue->stats.watermark_bytes = max(queue->stats.watermark_bytes, queue->bytes);
	if (queue->ingress_bytes)
		queue->ingress_bytes[frame->slot] += bytes;
	port->bytes += bytes;
	port->packets++;
}

/* Counts a frame out. */
static void switch_unaccount_frame(struct switch_port *port, const struct switch_frame *frame, u32 bytes, u64 now)
{
	struct switch_chip *chip = port->chip;
	struct switch_ingress *ingress = chip->ingress[frame->slot];
	struct switch_group *group = &ingress->group[frame->group];
	struct switch_queue *queue = &port->queue[frame->queue];
	struct switch_memory *memory = &port->config.queue[frame->queue].memory;

	switch_release(&queue->account, &memory->account, switch_memory_pool(chip, memory), frame->cells);
	queue->bytes -= bytes;
	queue->packets--;
	if (queue->ingress_bytes)
		queue->ingress_bytes[frame->slot] -= bytes;
	port->bytes -= bytes;
	port->packets--;
	if (queue->event.open)
		switch_event_departure(port, frame->queue, now);

	switch_release(&group->account, &group->memory.account, switch_memory_pool(chip, &group->memory), frame->cells);
	if (group->xoff)
		switch_group_check_xon(chip, ingress, frame->group, now);
}

/* -- Active queue management ------------------------------------------------------------------------ */

/* A length (bytes or ns) on the queue's WRED curve. False: the frame is to be dropped. */
static bool switch_wred_passes(struct switch_port *port, int number, struct sk_buff *skb, u64 length)
{
	const struct switch_queue_config *config = &port->config.queue[number];
	struct switch_queue *queue = &port->queue[number];
	u64 probability = switch_wred_probability(&config->wred,
						  switch_wred_sample(&config->wred, &queue->average, length));

	if (!probability || (probability < SWITCH_WRED_CERTAIN && get_random_u32() >= probability))
		return true;
	if (config->wred_flags & TC_SWITCH_WRED_ECN && INET_ECN_set_ce(skb)) {
		queue->stats.marks[TC_SWITCH_MARK_WRED]++;
		port->stats.marks++;
		return true;
	}
	return config->wred_flags & TC_SWITCH_WRED_KEEP_NON_ECT;
}

static bool switch_wred_by(const struct switch_queue_config *config, u8 delay)
{
	return config->has_wred && (config->wred_flags & TC_SWITCH_WRED_DELAY) == delay;
}

static void switch_phantom_mark(struct switch_port *port, int number, struct sk_buff *skb, u64 now, u32 bytes)
{
	struct switch_queue *queue = &port->queue[number];

	if (!switch_phantom_send(&port->config.queue[number].phantom, &queue->phantom, now, bytes))
		return;
	if (!INET_ECN_set_ce(skb))
		return;
	queue->stats.marks[TC_SWITCH_MARK_PHANTOM]++;
	port->stats.marks++;
}

/* -- Enqueue ---------------------------------------------------------------------------------------- */

static enum tc_switch_drop switch_queue_refusal(enum switch_admission admission)
{
	return admission == SWITCH_REFUSE_POOL ? TC_SWITCH_DROP_QUEUE_POOL : TC_SWITCH_DROP_QUEUE_LIMIT;
}

/* Admits a frame and counts it in, or says why not (an enum tc_switch_drop); TC_SWITCH_DROPS: admitted. */
static enum tc_switch_drop switch_port_admit(struct switch_port *port, struct sk_buff *skb)
{
	struct switch_frame *frame = switch_frame(skb);
	const struct switch_queue_config *config = &port->config.queue[frame->queue];
	struct switch_queue *queue = &port->queue[frame->queue];
	struct switch_group *group = switch_frame_group(port, frame);
	enum switch_admission ingress, egress;
	u32 bytes = qdisc_pkt_len(skb);

	if (queue->watchdog.storm && port->config.pfc.storm_action == TC_SWITCH_STORM_DROP)
		return TC_SWITCH_DROP_STORM;
	ingress = switch_ask(port->chip, &group->account, &group->memory, frame->cells);
	if (ingress > SWITCH_ADMIT_HEADROOM) {
		group->stats.discards++;
		return TC_SWITCH_DROP_INGRESS;
	}
	egress = switch_ask(port->chip, &queue->account, &config->memory, frame->cells);
	if (egress != SWITCH_ADMIT)
		return switch_queue_refusal(egress);
	if (config->voq_limit != SWITCH_UNLIMITED && queue->ingress_bytes[frame->slot] + bytes > config->voq_limit)
		return TC_SWITCH_DROP_VOQ;
	if (switch_wred_by(config, 0) && !switch_wred_passes(port, frame->queue, skb, queue->bytes))
		return TC_SWITCH_DROP_WRED;
	switch_account_frame(port, frame, bytes, ingress);
	return TC_SWITCH_DROPS;
}

static void switch_count_drop(struct switch_port *port, int queue, enum tc_switch_drop cause)
{
	port->queue[queue].stats.drops[cause]++;
	port->stats.drops++;
}

/* Takes a frame in. Returns NET_XMIT_SUCCESS, _CN (early drop) or _DROP: then the frame is still the caller's. */
int switch_port_enqueue(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	struct switch_frame *frame = switch_frame(skb);
	enum tc_switch_drop refusal;
	struct switch_group *group;

	switch_classify(port, skb, now);
	refusal = switch_port_admit(port, skb);
	if (refusal != TC_SWITCH_DROPS) {
		switch_count_drop(port, frame->queue, refusal);
		return refusal == TC_SWITCH_DROP_WRED ? NET_XMIT_CN : NET_XMIT_DROP;
	}
	group = switch_frame_group(port, frame);
	if (group->account.headroom && !group->xoff)
		switch_group_xoff(port->chip->ingress[frame->slot], frame->group, now);
	if (port->config.queue[frame->queue].event_threshold != SWITCH_UNLIMITED)
		switch_event_arrival(port, frame->queue, frame->slot, qdisc_pkt_len(skb), now);
	__qdisc_enqueue_tail(skb, &port->queue[frame->queue].frames);
	port->backlogged |= BIT(frame->queue);
	if (!port->busy || port->stopped)
		switch_port_run(port, now);
	return NET_XMIT_SUCCESS;
}

/* -- Service ---------------------------------------------------------------------------------------- */

static u32 switch_port_wire_bytes(const struct switch_port *port, const struct sk_buff *skb)
{
	return switch_wire_bytes(qdisc_pkt_len(skb), port->config.overhead, port->config.mpu);
}

/* Of `queues` those whose bucket has tokens. */
static u32 switch_port_in_rate(const struct switch_port *port, u32 queues, u64 now)
{
	unsigned int number;

	for (number = 0; number < SWITCH_QUEUES; number++)
		if (switch_bucket_ready(&port->config.queue[number].pir, &port->queue[number].pir) > now)
			queues &= ~BIT(number);
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
			heads[number] = switch_port_wire_bytes(port, port->queue[number].frames.head);
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

static void switch_drop_queued(struct switch_port *port, struct sk_buff *skb, enum tc_switch_drop cause, u64 now)
{
	struct switch_frame *frame = switch_frame(skb);

	switch_count_drop(port, frame->queue, cause);
	switch_unaccount_frame(port, frame, qdisc_pkt_len(skb), now);
	kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
}

/* Puts a frame on the line; it arrives at the other end in the order in which it left. */
static void switch_port_send(struct switch_port *port, struct sk_buff *skb, u64 now, u32 wire_bytes)
{
	u64 end = switch_line_send(&port->line, port->config.rate_bps, now, wire_bytes) + port->config.delay_ns;

	port->busy = true;
	if (port->wire.tail)
		end = max(end, switch_frame(port->wire.tail)->time_ns);
	switch_frame(skb)->time_ns = end;
	if (!port->wire.head)
		qdisc_watchdog_schedule_ns(&port->watchdog, end);
	__qdisc_enqueue_tail(skb, &port->wire);
}

static void switch_port_send_control(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	port->service_bytes = 0;
	port->stats.pauses_sent++;
	switch_port_send(port, skb, now, switch_port_wire_bytes(port, skb));
}

/* What a queue's AQM does to a frame that is to leave. False: it is dropped. */
static bool switch_queue_leave(struct switch_port *port, int number, struct sk_buff *skb, u64 now, u32 wire_bytes)
{
	const struct switch_queue_config *config = &port->config.queue[number];

	if (switch_wred_by(config, TC_SWITCH_WRED_DELAY) &&
	    !switch_wred_passes(port, number, skb, now - switch_frame(skb)->time_ns)) {
		switch_drop_queued(port, skb, TC_SWITCH_DROP_WRED, now);
		return false;
	}
	if (config->phantom.rate_bps)
		switch_phantom_mark(port, number, skb, now, wire_bytes);
	return true;
}

/* Starts with the next frame, if there is one that may be sent. The line is free. */
static void switch_port_serve(struct switch_port *port, u64 now)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&port->control);
	struct switch_queue *queue;
	u32 wire_bytes;
	int number;

	if (skb) {
		switch_port_send_control(port, skb, now);
		return;
	}
	do {
		number = port->backlogged ? switch_port_pick(port, now) : -1;
		if (number < 0)
			return;
		skb = switch_queue_pop(port, number);
		wire_bytes = switch_port_wire_bytes(port, skb);
	} while (!switch_queue_leave(port, number, skb, now, wire_bytes));

	queue = &port->queue[number];
	switch_bucket_take(&port->config.queue[number].cir, &queue->cir, now, wire_bytes);
	switch_bucket_take(&port->config.queue[number].pir, &queue->pir, now, wire_bytes);
	port->service = *switch_frame(skb);
	port->service_bytes = qdisc_pkt_len(skb);
	switch_port_send(port, skb, now, wire_bytes);
}

/* The last bit of the frame in service has left. */
static void switch_port_complete(struct switch_port *port, u64 now)
{
	struct switch_queue *queue = &port->queue[port->service.queue];

	port->busy = false;
	if (!port->service_bytes)
		return;
	queue->stats.sent_bytes += port->service_bytes;
	queue->stats.sent_packets++;
	switch_unaccount_frame(port, &port->service, port->service_bytes, now);
}

/* -- Events ----------------------------------------------------------------------------------------- */

/* When a queue that is shaped may send again. */
static u64 switch_port_next_tokens(const struct switch_port *port)
{
	u32 waiting = port->backlogged & ~switch_pause_held(port);
	u64 next = SWITCH_NEVER;
	unsigned int number;

	if (!port->config.shaped)
		return next;
	for (number = 0; number < SWITCH_QUEUES; number++)
		if (waiting & BIT(number))
			next = min(next, switch_bucket_ready(&port->config.queue[number].pir, &port->queue[number].pir));
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

static void switch_port_schedule(struct switch_port *port)
{
	u64 next = port->busy ? port->line.free_ns : switch_port_next_tokens(port);

	next = min(next, switch_pause_next(port));
	switch_port_set_waiting(port, !port->busy && port->backlogged && next != SWITCH_NEVER);
	switch_port_set_event(port, next);
}

/* Has the port run as soon as what goes on now is done: ports don't run each other, so that no stack grows with their number. */
void switch_port_kick(struct switch_port *port, u64 now)
{
	port->chip->kicked = true;
	switch_port_set_event(port, now);
}

/* Does what is due at `now` on this port; nothing is due before. */
void switch_port_run(struct switch_port *port, u64 now)
{
	if (port->busy && port->line.free_ns <= now)
		switch_port_complete(port, now);
	switch_pause_run(port, now);
	if (!port->busy)
		switch_port_serve(port, now);
	switch_port_schedule(port);
}

/* A frame that has arrived at the other end of the cable, or NULL: then the watchdog tells of the next. */
struct sk_buff *switch_port_arrive(struct switch_port *port, u64 now)
{
	struct sk_buff *skb;

	while ((skb = port->wire.head)) {
		if (switch_frame(skb)->time_ns > now) {
			qdisc_watchdog_schedule_ns(&port->watchdog, switch_frame(skb)->time_ns);
			return NULL;
		}
		__qdisc_dequeue_head(&port->wire);
		if (!port->config.loss || get_random_u32() >= port->config.loss)
			return skb;
		port->stats.lost++;
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
	}
	return NULL;
}

/* -- Reset ------------------------------------------------------------------------------------------ */

static void switch_port_purge(struct switch_port *port, int queue, enum tc_switch_drop cause, u64 now)
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
		kfree_skb(skb);
}

/* Port down: everything in the queues and on the wire is gone. */
void switch_port_reset(struct switch_port *port, u64 now)
{
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		switch_port_purge(port, queue, TC_SWITCH_DROP_RESET, now);
	if (port->busy) {
		port->line.free_ns = now;
		switch_port_complete(port, now);
	}
	switch_list_purge(&port->control);
	switch_list_purge(&port->received);
	switch_list_purge(&port->wire);
	switch_pause_reset(port, now);
	memset(&port->round, 0, sizeof(port->round));
	switch_port_schedule(port);
}
