// SPDX-License-Identifier: GPL-2.0
/*
 * From a port's configuration and statistics to netlink.
 */
#include <net/netlink.h>

#include "switch.h"
#include "trim.h"

/* -- Configuration ----------------------------------------------------------------------------- */

static int switch_put_pools(struct sk_buff *skb, const struct switch_chip *chip)
{
	int number;

	for (number = 0; number < TC_SWITCH_POOLS; number++) {
		const struct switch_pool *pool = &chip->pool[0][number];
		u64 cells_bytes = (u64)chip->cell_bytes * chip->slices;
		struct tc_switch_pool dump = {
			.size = pool->size * cells_bytes,
			.headroom = pool->headroom_size * cells_bytes,
			.index = number,
		};

		if (pool->size && nla_put(skb, TCA_SWITCH_BUFFER_POOL, sizeof(dump), &dump))
			return -EMSGSIZE;
	}
	return 0;
}

static int switch_put_buffer(struct sk_buff *skb, const struct switch_chip *chip)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_SWITCH_PORT_BUFFER);

	if (!nest || nla_put_u32(skb, TCA_SWITCH_BUFFER_CELL, chip->cell_bytes) ||
	    nla_put_u32(skb, TCA_SWITCH_BUFFER_SLICES, chip->slices) ||
	    switch_put_pools(skb, chip))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int switch_put_maps(struct sk_buff *skb, const struct switch_maps *maps)
{
	const u8 *to_queue = maps->priority_to_queue, *to_group = maps->priority_to_group;

	return nla_put(skb, TCA_SWITCH_PORT_DSCP_TO_TC, sizeof(maps->dscp_to_tc),
		       maps->dscp_to_tc) ?:
	       nla_put(skb, TCA_SWITCH_PORT_TC_TO_QUEUE, SWITCH_QUEUES, maps->tc_to_queue) ?:
	       nla_put(skb, TCA_SWITCH_PORT_TC_TO_PG, SWITCH_QUEUES, maps->tc_to_group) ?:
	       nla_put(skb, TCA_SWITCH_PORT_PRIORITY_TO_QUEUE, SWITCH_QUEUES, to_queue) ?:
	       nla_put(skb, TCA_SWITCH_PORT_PRIORITY_TO_PG, SWITCH_QUEUES, to_group);
}

/* The port's own options; those of queues and groups are their classes'. */
int switch_port_dump_config(struct switch_port *port, struct sk_buff *skb)
{
	const struct switch_port_config *config = &port->config;

	return nla_put_u64_64bit(skb, TCA_SWITCH_PORT_RATE, config->rate_bps,
				 TCA_SWITCH_PORT_PAD) ?:
	       nla_put_u64_64bit(skb, TCA_SWITCH_PORT_DELAY, config->delay_ns,
				 TCA_SWITCH_PORT_PAD) ?:
	       nla_put_u32(skb, TCA_SWITCH_PORT_OVERHEAD, config->overhead) ?:
	       nla_put_u32(skb, TCA_SWITCH_PORT_MPU, config->mpu) ?:
	       nla_put_u32(skb, TCA_SWITCH_PORT_LOSS, config->loss) ?:
	       nla_put_u64_64bit(skb, TCA_SWITCH_PORT_RING, config->ring_bytes,
				 TCA_SWITCH_PORT_PAD) ?:
	       nla_put_u8(skb, TCA_SWITCH_PORT_TX_QUEUES, config->tx_queues) ?:
	       switch_put_maps(skb, &config->maps) ?:
	       nla_put(skb, TCA_SWITCH_PORT_PFC, sizeof(config->pfc), &config->pfc) ?:
	       switch_dump_trimming(port, skb) ?:
	       switch_pacer_dump(port, skb) ?:
	       roce_dump(port, skb) ?:
	       switch_qcn_dump_limiter(port, skb) ?:
	       nla_put(skb, TCA_SWITCH_PORT_SLICE, sizeof(config->slice), &config->slice) ?:
	       switch_put_buffer(skb, port->chip);
}

static struct tc_switch_account switch_account_options(const struct switch_chip *chip,
						       const struct switch_memory *memory)
{
	const struct switch_limit *limit = &memory->account.limit;

	return (struct tc_switch_account) {
		.reserved = memory->account.reserved * chip->cell_bytes,
		.limit = limit->cells == SWITCH_UNLIMITED ? SWITCH_UNLIMITED :
							    limit->cells * chip->cell_bytes,
		.pool = memory->pool,
		.dynamic = limit->dynamic,
		.alpha_log = limit->alpha_log,
	};
}

static int switch_put_scheduler(struct sk_buff *skb, const struct switch_queue_share *share,
				const struct switch_queue_config *queue)
{
	struct tc_switch_scheduler dump = {
		.cir_bps = queue->cir.rate_bps,
		.cbs = queue->cir.burst_bytes,
		.pir_bps = queue->pir.rate_bps,
		.pbs = queue->pir.burst_bytes,
		.quantum = share->quantum,
		.scheduling = share->scheduling,
	};

	return nla_put(skb, TCA_SWITCH_QUEUE_SCHEDULER, sizeof(dump), &dump);
}

static int switch_put_wred(struct sk_buff *skb, const struct switch_queue_config *queue)
{
	struct tc_switch_wred dump = {
		.min = queue->wred.min,
		.max = queue->wred.max,
		.probability = min_t(u64, queue->wred.probability, U32_MAX),
		.weight_log = queue->wred.weight_log,
		.flags = queue->wred_flags,
	};

	return queue->has_wred ? nla_put(skb, TCA_SWITCH_QUEUE_WRED, sizeof(dump), &dump) : 0;
}

static int switch_put_phantom(struct sk_buff *skb, const struct switch_phantom_config *phantom)
{
	struct tc_switch_phantom dump = {
		.rate_bps = phantom->rate_bps,
		.threshold = phantom->threshold_bytes,
	};

	return phantom->rate_bps ? nla_put(skb, TCA_SWITCH_QUEUE_PHANTOM, sizeof(dump), &dump) : 0;
}

static int switch_put_limit(struct sk_buff *skb, int attribute, u64 bytes)
{
	if (bytes == SWITCH_UNLIMITED)
		return 0;
	return nla_put_u64_64bit(skb, attribute, bytes, TCA_SWITCH_QUEUE_PAD);
}

int switch_queue_dump_config(struct switch_port *port, int number, struct sk_buff *skb)
{
	const struct switch_queue_config *queue = &port->config.queue[number];
	struct tc_switch_account account = switch_account_options(port->chip, &queue->memory);

	return nla_put_u8(skb, TCA_SWITCH_QUEUE_INDEX, number) ?:
	       switch_put_scheduler(skb, &port->config.share[number], queue) ?:
	       nla_put(skb, TCA_SWITCH_QUEUE_ACCOUNT, sizeof(account), &account) ?:
	       switch_put_wred(skb, queue) ?:
	       switch_put_phantom(skb, &queue->phantom) ?:
	       switch_qcn_dump_point(queue, skb) ?:
	       switch_sharing_dump(queue, port->chip->cell_bytes, skb) ?:
	       (queue->trims ? nla_put_flag(skb, TCA_SWITCH_QUEUE_TRIM) : 0) ?:
	       switch_put_limit(skb, TCA_SWITCH_QUEUE_VOQ_LIMIT, queue->voq_limit) ?:
	       switch_put_limit(skb, TCA_SWITCH_QUEUE_EVENT, queue->event_threshold);
}

int switch_group_dump_config(struct switch_port *port, int number, struct sk_buff *skb)
{
	const struct switch_group_config *group = &port->config.group[number];
	struct tc_switch_account account = switch_account_options(port->chip, &group->memory);
	u32 cell = port->chip->cell_bytes;
	struct tc_switch_lossless lossless = {
		.headroom = group->memory.account.headroom * cell,
		.xon = group->pfc.xon * cell,
		.xon_offset = group->pfc.xon_offset * cell,
	};

	if (nla_put_u8(skb, TCA_SWITCH_GROUP_INDEX, number) ||
	    nla_put(skb, TCA_SWITCH_GROUP_ACCOUNT, sizeof(account), &account))
		return -EMSGSIZE;
	if (!lossless.headroom)
		return 0;
	return nla_put(skb, TCA_SWITCH_GROUP_LOSSLESS, sizeof(lossless), &lossless);
}

/* -- Statistics -------------------------------------------------------------------------------- */

/* What every qdisc tells: the qdisc core's counters follow the port's. */
void switch_port_sync_stats(struct switch_port *port)
{
	struct Qdisc *sch = port->sch;
	u64 packets = port->packets, bytes = port->bytes;

	if (port->has_front)
		switch_nic_waiting(port, &packets, &bytes);
	sch->q.qlen = packets;
	sch->qstats.backlog = bytes;
	sch->qstats.drops = port->stats.drops + switch_nic_dropped(port);
	sch->qstats.overlimits = port->stats.marks;
}

static void switch_pool_read_stats(const struct switch_chip *chip, int number,
				   struct tc_switch_pool_xstats *stats)
{
	u32 cell = chip->cell_bytes, slice;

	*stats = (struct tc_switch_pool_xstats) {};
	for (slice = 0; slice < chip->slices; slice++) {
		const struct switch_pool *pool = &chip->pool[slice][number];

		stats->size += pool->size * cell;
		stats->reserved += pool->reserved * cell;
		stats->used += pool->shared * cell;
		stats->watermark += pool->watermark * cell;
		stats->headroom += pool->headroom * cell;
		stats->headroom_watermark += pool->headroom_watermark * cell;
	}
}

void switch_port_read_stats(struct switch_port *port, struct tc_switch_port_xstats *stats)
{
	int number;

	*stats = port->stats;
	stats->wire_frames = port->wire.qlen;
	stats->ports = port->chip->ports;
	if (port->roce)
		roce_nic_read_stats(port, &stats->roce);
	if (port->pacer)
		switch_pacer_read_stats(port, &stats->pacer);
	switch_qcn_read_stats(port, &stats->qcn);
	for (number = 0; number < TC_SWITCH_POOLS; number++)
		switch_pool_read_stats(port->chip, number, &stats->pool[number]);
}

void switch_queue_read_stats(struct switch_port *port, int number, u64 now,
			     struct tc_switch_queue_xstats *stats)
{
	const struct switch_queue *queue = &port->queue[number];

	*stats = queue->stats;
	stats->bytes = queue->bytes;
	stats->packets = queue->packets;
	stats->cells = switch_held(port->chip, queue->account);
	if (queue->paused)
		stats->paused_ns += now - queue->paused_since;
}

void switch_group_read_stats(struct switch_port *port, int number, u64 now,
			     struct tc_switch_group_xstats *stats)
{
	const struct switch_group *group = &port->ingress->group[number];
	u32 cell = port->chip->cell_bytes, slice;

	*stats = group->stats;
	stats->bytes = switch_held(port->chip, group->account) * cell;
	for (slice = 0; slice < port->chip->slices; slice++)
		stats->headroom_bytes += group->account[slice].headroom * cell;
	stats->watermark_bytes = group->watermark * cell;
	if (group->xoff)
		stats->xoff_ns += now - group->xoff_since;
}
