// SPDX-License-Identifier: GPL-2.0
/*
 * The way in: classify a frame, ask for memory, queue it; and the books of the memory.
 * All of it under the chip's lock.
 */
#include <linux/if_cnm.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>

#include "switch.h"
#include "trim.h"

/*
 * TCP keeps up to 1 ms of its rate below its socket (sk_pacing_shift). Along a cable that
 * takes much of it a frame is no longer its socket's, which then fills this queue; so in
 * netem (patch 0016).
 */
#define SWITCH_SHORT_DELAY_NS (500 * NSEC_PER_USEC)

/* -- Classification ---------------------------------------------------------------------------- */

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
	void *slot = skb->port_iif ? xa_load(&chip->slots, skb->port_iif) : NULL;

	return slot ? xa_to_value(slot) : SWITCH_CPU_SLOT;
}

/* The class is the ingress port's to say, the queue is the egress port's. */
void switch_classify(struct switch_port *port, struct sk_buff *skb, u64 now)
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
		.class = class,
		.slice = in->config.slice.in | port->config.slice.out,
	};
}

/* The queue of a frame of the node's own. */
int switch_egress_queue(const struct switch_port *port, struct sk_buff *skb)
{
	return port->config.maps.tc_to_queue[port->config.maps.dscp_to_tc[switch_dscp(skb)]];
}

/* -- Accounts ---------------------------------------------------------------------------------- */

static struct switch_group *switch_frame_group(struct switch_port *port,
					       const struct switch_frame *frame)
{
	return &port->chip->ingress[frame->slot]->group[frame->group];
}

static enum switch_admission switch_ask(struct switch_chip *chip,
					const struct switch_account *account,
					const struct switch_memory *memory,
					const struct switch_frame *frame)
{
	return switch_admit(&account[frame->slice], &memory->account,
			    switch_memory_pool(chip, memory, frame->slice), frame->cells);
}

/* Counts a frame in; `ingress` is what its priority group said. */
static void switch_account_frame(struct switch_port *port, const struct switch_frame *frame,
				 u32 bytes, enum switch_admission ingress)
{
	struct switch_queue *queue = &port->queue[frame->queue];
	struct switch_memory *memory = &port->config.queue[frame->queue].memory;
	struct switch_group *group = switch_frame_group(port, frame);
	struct switch_chip *chip = port->chip;
	u32 slice = frame->slice;
	struct switch_pool *pool = switch_memory_pool(chip, &group->memory, slice);

	if (ingress == SWITCH_ADMIT_HEADROOM)
		switch_charge_headroom(&group->account[slice], pool, frame->cells);
	else
		switch_charge(&group->account[slice], &group->memory.account, pool, frame->cells);
	group->watermark = max(group->watermark, switch_held(chip, group->account));
	group->stats.received_bytes += bytes;
	group->stats.received_packets++;

	switch_charge(&queue->account[slice], &memory->account,
		      switch_memory_pool(chip, memory, slice), frame->cells);
	queue->bytes += bytes;
	queue->packets++;
	if (port->config.queue[frame->queue].sharing.ops)
		switch_sharing_arrived(port, frame);
	queue->stats.watermark_bytes = max(queue->stats.watermark_bytes, queue->bytes);
	if (queue->ingress_bytes)
		queue->ingress_bytes[frame->slot] += bytes;
	port->bytes += bytes;
	port->packets++;
	if (port->changed)
		port->changed(port->sch);
}

/* Counts a frame out. */
void switch_unaccount_frame(struct switch_port *port, const struct switch_frame *frame, u32 bytes,
			    u64 now)
{
	struct switch_chip *chip = port->chip;
	struct switch_ingress *ingress = chip->ingress[frame->slot];
	struct switch_group *group = &ingress->group[frame->group];
	struct switch_queue *queue = &port->queue[frame->queue];
	struct switch_memory *memory = &port->config.queue[frame->queue].memory;

	switch_release(&queue->account[frame->slice], &memory->account,
		       switch_memory_pool(chip, memory, frame->slice), frame->cells);
	queue->bytes -= bytes;
	queue->packets--;
	if (port->config.queue[frame->queue].sharing.ops)
		switch_sharing_departed(port, frame, now);
	if (queue->ingress_bytes)
		queue->ingress_bytes[frame->slot] -= bytes;
	port->bytes -= bytes;
	port->packets--;
	if (port->changed)
		port->changed(port->sch);
	if (queue->event.open)
		switch_event_departure(port, frame->queue, now);

	switch_release(&group->account[frame->slice], &group->memory.account,
		       switch_memory_pool(chip, &group->memory, frame->slice), frame->cells);
	if (group->xoff)
		switch_group_check_xon(chip, ingress, frame->group, now);
}

/* -- Enqueue ----------------------------------------------------------------------------------- */

static enum tc_switch_drop switch_queue_refusal(enum switch_admission admission)
{
	return admission == SWITCH_REFUSE_POOL ? TC_SWITCH_DROP_QUEUE_POOL :
						 TC_SWITCH_DROP_QUEUE_LIMIT;
}

/* Admits a frame and counts it in (TC_SWITCH_DROPS), or says why not. */
enum tc_switch_drop switch_port_admit(struct switch_port *port, struct sk_buff *skb)
{
	struct switch_frame *frame = switch_frame(skb);
	const struct switch_queue_config *config = &port->config.queue[frame->queue];
	struct switch_queue *queue = &port->queue[frame->queue];
	struct switch_group *group = switch_frame_group(port, frame);
	enum switch_admission ingress, egress;
	u32 bytes = qdisc_pkt_len(skb);

	if (queue->watchdog.storm && port->config.pfc.storm_action == TC_SWITCH_STORM_DROP)
		return TC_SWITCH_DROP_STORM;
	ingress = switch_ask(port->chip, group->account, &group->memory, frame);
	if (ingress > SWITCH_ADMIT_HEADROOM)
		return TC_SWITCH_DROP_INGRESS;
	egress = config->sharing.ops ? switch_sharing_admit(port, frame) :
				       switch_ask(port->chip, queue->account, &config->memory,
						  frame);
	if (egress != SWITCH_ADMIT)
		return switch_queue_refusal(egress);
	if (config->voq_limit != SWITCH_UNLIMITED &&
	    queue->ingress_bytes[frame->slot] + bytes > config->voq_limit)
		return TC_SWITCH_DROP_VOQ;
	if (!switch_aqm_arrival(port, frame->queue, skb))
		return TC_SWITCH_DROP_WRED;
	switch_account_frame(port, frame, bytes, ingress);
	return TC_SWITCH_DROPS;
}

void switch_count_drop(struct switch_port *port, int queue, enum tc_switch_drop cause)
{
	port->queue[queue].stats.drops[cause]++;
	port->stats.drops++;
}

/* A frame did not come in. */
static void switch_count_refused(struct switch_port *port, const struct switch_frame *frame,
				 enum tc_switch_drop cause)
{
	switch_count_drop(port, frame->queue, cause);
	if (cause == TC_SWITCH_DROP_INGRESS)
		switch_frame_group(port, frame)->stats.discards++;
}

/* Takes in a frame that is classed, if there is room for it; else it is still the caller's. */
static int switch_port_take(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	struct switch_frame *frame = switch_frame(skb);
	enum tc_switch_drop refusal;
	struct switch_group *group;

	refusal = switch_port_admit(port, skb);
	if (refusal != TC_SWITCH_DROPS && port->config.queue[frame->queue].trims &&
	    port->config.trimming.size)
		refusal = switch_port_trim(port, skb, refusal, now);
	if (refusal != TC_SWITCH_DROPS) {
		switch_count_refused(port, frame, refusal);
		return refusal == TC_SWITCH_DROP_WRED ? NET_XMIT_CN : NET_XMIT_DROP;
	}
	group = switch_frame_group(port, frame);
	if (group->account[frame->slice].headroom && !group->xoff)
		switch_group_xoff(port->chip->ingress[frame->slot], frame->group, now);
	if (port->config.queue[frame->queue].event_threshold != SWITCH_UNLIMITED)
		switch_event_arrival(port, frame->queue, frame->slot, qdisc_pkt_len(skb), now);
	if (port->config.queue[frame->queue].qcn.set_point)
		switch_qcn_arrival(port, skb, now);
	if (port->config.delay_ns > SWITCH_SHORT_DELAY_NS)
		skb_orphan_partial(skb);
	__qdisc_enqueue_tail(skb, &port->queue[frame->queue].frames);
	port->backlogged |= BIT(frame->queue);
	return NET_XMIT_SUCCESS;
}

/* Puts a frame that is classed into its queue, or into the pacer or a limiter. */
static int switch_port_admit_classed(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	int verdict = NET_XMIT_SUCCESS;

	if (!switch_pacer_holds(port, skb, now) && !switch_qcn_holds(port, skb, now))
		verdict = switch_port_take(port, skb, now);
	/*
	 * A port that is busy and has nobody paused goes on at the time of its event; a
	 * pacer's or a limiter's event is not the line's.
	 */
	if (verdict == NET_XMIT_SUCCESS &&
	    (port->stopped || port->pacer || !list_empty(&port->limiters) ||
	     !timerqueue_node_queued(&port->event) || !switch_port_busy(port, now)))
		switch_port_run(port, now);
	return verdict;
}

/*
 * Takes a frame in. Returns NET_XMIT_SUCCESS, _CN (early drop) or _DROP: then the frame
 * is still the caller's.
 */
int switch_port_enqueue(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	/* A notification on its way to a source goes before all data, as a pause does. */
	if (skb->protocol == htons(ETH_P_CNM)) {
		__qdisc_enqueue_tail(skb, &port->control);
		switch_port_run(port, now);
		return NET_XMIT_SUCCESS;
	}
	switch_classify(port, skb, now);
	return switch_port_admit_classed(port, skb, now);
}

/* The same, into a queue that was chosen before. */
int switch_port_enqueue_at(struct switch_port *port, struct sk_buff *skb, int queue, u64 now)
{
	switch_classify(port, skb, now);
	switch_frame(skb)->queue = queue;
	return switch_port_admit_classed(port, skb, now);
}

/* A frame that has waited for the pacer or a limiter comes to its queue; the port runs anyway. */
void switch_port_enqueue_paced(struct switch_port *port, struct sk_buff *skb, u64 now)
{
	switch_frame(skb)->time_ns = now;
	if (switch_port_take(port, skb, now) != NET_XMIT_SUCCESS)
		kfree_skb_reason(skb, SKB_DROP_REASON_QDISC_DROP);
}

/* A frame that the NIC makes because the line is free for it. */
void switch_port_enqueue_staged(struct switch_port *port, struct sk_buff *skb, int queue, u64 now)
{
	switch_classify(port, skb, now);
	switch_frame(skb)->queue = queue;
	switch_port_enqueue_paced(port, skb, now);
}
