// SPDX-License-Identifier: GPL-2.0
/*
 * From netlink to a port's configuration in the making. Under RTNL.
 */
#include <net/netlink.h>

#include "change.h"
#include "trim.h"

#define SWITCH_RATE_MIN 8000ULL
#define SWITCH_RATE_MAX 1600000000000ULL /* IEEE 802.3dj */
#define SWITCH_BYTES_MAX ((1ULL << 31) - 1)	/* of what is turned into times */
#define SWITCH_LENGTH_MAX (1ULL << 48)		/* of WRED: bytes or ns */
#define SWITCH_QUANTUM_MIN 64

static const struct nla_policy switch_port_policy[TCA_SWITCH_PORT_MAX + 1] = {
	[TCA_SWITCH_PORT_RATE] = { .type = NLA_U64 },
	[TCA_SWITCH_PORT_DELAY] = { .type = NLA_U64 },
	[TCA_SWITCH_PORT_OVERHEAD] = NLA_POLICY_MAX(NLA_U32, 1024),
	[TCA_SWITCH_PORT_MPU] = NLA_POLICY_MAX(NLA_U32, 16384),
	[TCA_SWITCH_PORT_LOSS] = { .type = NLA_U32 },
	[TCA_SWITCH_PORT_DSCP_TO_TC] = NLA_POLICY_EXACT_LEN(64),
	[TCA_SWITCH_PORT_TC_TO_QUEUE] = NLA_POLICY_EXACT_LEN(SWITCH_QUEUES),
	[TCA_SWITCH_PORT_TC_TO_PG] = NLA_POLICY_EXACT_LEN(SWITCH_QUEUES),
	[TCA_SWITCH_PORT_PRIORITY_TO_QUEUE] = NLA_POLICY_EXACT_LEN(SWITCH_QUEUES),
	[TCA_SWITCH_PORT_PRIORITY_TO_PG] = NLA_POLICY_EXACT_LEN(SWITCH_QUEUES),
	[TCA_SWITCH_PORT_PFC] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_pfc)),
	[TCA_SWITCH_PORT_BUFFER] = { .type = NLA_NESTED },
	[TCA_SWITCH_PORT_QUEUE] = { .type = NLA_NESTED },
	[TCA_SWITCH_PORT_GROUP] = { .type = NLA_NESTED },
	[TCA_SWITCH_PORT_RING] = { .type = NLA_U64 },
	[TCA_SWITCH_PORT_TX_QUEUES] = NLA_POLICY_RANGE(NLA_U8, 1, SWITCH_QUEUES),
	[TCA_SWITCH_PORT_PACER] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_pacer)),
	[TCA_SWITCH_PORT_QCN] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_qcn_limiter)),
	[TCA_SWITCH_PORT_SLICE] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_slice)),
	[TCA_SWITCH_PORT_ROCE] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_roce)),
	[TCA_SWITCH_PORT_ROCE_CONTROL] = { .type = NLA_NUL_STRING, .len = ROCE_CONTROL_NAME_MAX - 1 },
	[TCA_SWITCH_PORT_ROCE_OPTIONS] = { .type = NLA_NUL_STRING, .len = ROCE_OPTIONS_MAX - 1 },
	[TCA_SWITCH_PORT_TELEMETRY] = { .type = NLA_FLAG },
	[TCA_SWITCH_PORT_TRIMMING] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_trimming)),
};

static const struct nla_policy switch_buffer_policy[TCA_SWITCH_BUFFER_MAX + 1] = {
	[TCA_SWITCH_BUFFER_CELL] = NLA_POLICY_RANGE(NLA_U32, 1, 32767),
	[TCA_SWITCH_BUFFER_POOL] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_pool)),
	[TCA_SWITCH_BUFFER_SLICES] = { .type = NLA_U32 },
};

static const struct nla_policy switch_queue_policy[TCA_SWITCH_QUEUE_MAX + 1] = {
	[TCA_SWITCH_QUEUE_INDEX] = NLA_POLICY_MAX(NLA_U8, SWITCH_QUEUES - 1),
	[TCA_SWITCH_QUEUE_SCHEDULER] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_scheduler)),
	[TCA_SWITCH_QUEUE_ACCOUNT] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_account)),
	[TCA_SWITCH_QUEUE_WRED] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_wred)),
	[TCA_SWITCH_QUEUE_PHANTOM] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_phantom)),
	[TCA_SWITCH_QUEUE_VOQ_LIMIT] = { .type = NLA_U64 },
	[TCA_SWITCH_QUEUE_EVENT] = { .type = NLA_U64 },
	[TCA_SWITCH_QUEUE_QCN] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_qcn_point)),
	[TCA_SWITCH_QUEUE_SHARING] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_sharing)),
	[TCA_SWITCH_QUEUE_TRIM] = { .type = NLA_FLAG },
};

static const struct nla_policy switch_group_policy[TCA_SWITCH_GROUP_MAX + 1] = {
	[TCA_SWITCH_GROUP_INDEX] = NLA_POLICY_MAX(NLA_U8, SWITCH_QUEUES - 1),
	[TCA_SWITCH_GROUP_ACCOUNT] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_account)),
	[TCA_SWITCH_GROUP_LOSSLESS] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_switch_lossless)),
};

/* -- Parts ------------------------------------------------------------------------------------- */

static int switch_parse_memory(struct switch_change *change, const struct nlattr *attribute,
			       struct switch_memory *memory)
{
	const struct tc_switch_account *account;
	u32 cell = change->cell_bytes;

	if (!attribute)
		return 0;
	account = nla_data(attribute);
	if (account->pool != TC_SWITCH_NO_POOL && account->pool >= TC_SWITCH_POOLS)
		return switch_refuse(change, "pool %u: there are pools 0 to %d", account->pool,
				     TC_SWITCH_POOLS - 1);
	if (account->pool == TC_SWITCH_NO_POOL && account->dynamic)
		return switch_refuse(change, "a dynamic limit needs a pool");
	if (account->pool != TC_SWITCH_NO_POOL && !change->pool[account->pool].size)
		return switch_refuse(change, "pool %u has no size", account->pool);
	if (account->dynamic && (account->alpha_log < SWITCH_ALPHA_LOG_MIN ||
				 account->alpha_log > SWITCH_ALPHA_LOG_MAX))
		return switch_refuse(change, "alpha 2^%d is not in 2^-8 to 2^7",
				     account->alpha_log);
	memory->pool = account->pool;
	memory->account.reserved = DIV_ROUND_UP_ULL(account->reserved, cell);
	memory->account.limit.dynamic = account->dynamic;
	memory->account.limit.alpha_log = account->alpha_log;
	memory->account.limit.cells = account->limit == SWITCH_UNLIMITED ?
					      SWITCH_UNLIMITED :
					      div_u64(account->limit, cell);
	return 0;
}

static int switch_parse_scheduler(struct switch_change *change, const struct nlattr *attribute,
				  int number)
{
	struct switch_queue_config *queue = &change->config.queue[number];
	const struct tc_switch_scheduler *scheduler;

	if (!attribute)
		return 0;
	scheduler = nla_data(attribute);
	if (scheduler->scheduling > TC_SWITCH_WRR)
		return switch_refuse(change, "queue %d: no such scheduling: %u", number,
				     scheduler->scheduling);
	if (scheduler->scheduling == TC_SWITCH_DWRR && scheduler->quantum < SWITCH_QUANTUM_MIN)
		return switch_refuse(change, "queue %d: quantum %u is below 64 bytes", number,
				     scheduler->quantum);
	if (scheduler->scheduling == TC_SWITCH_WRR && !scheduler->quantum)
		return switch_refuse(change, "queue %d: a quantum of no frames", number);
	if (scheduler->cir_bps > SWITCH_RATE_MAX || scheduler->pir_bps > SWITCH_RATE_MAX ||
	    scheduler->cbs > SWITCH_BYTES_MAX || scheduler->pbs > SWITCH_BYTES_MAX)
		return switch_refuse(change,
				     "queue %d: cir or pir above 1600 Gbit/s, or a burst above 2 GiB",
				     number);
	if (scheduler->pir_bps && scheduler->pir_bps < scheduler->cir_bps)
		return switch_refuse(change, "queue %d: pir %llu below cir %llu", number,
				     scheduler->pir_bps, scheduler->cir_bps);
	change->config.share[number].scheduling = scheduler->scheduling;
	change->config.share[number].quantum = scheduler->quantum ?: 1;
	switch_bucket_configure(&queue->cir, scheduler->cir_bps, scheduler->cbs);
	switch_bucket_configure(&queue->pir, scheduler->pir_bps, scheduler->pbs);
	return 0;
}

static int switch_parse_wred(struct switch_change *change, const struct nlattr *attribute,
			     int number)
{
	struct switch_queue_config *queue = &change->config.queue[number];
	const struct tc_switch_wred *wred;

	if (!attribute)
		return 0;
	wred = nla_data(attribute);
	if (wred->min > wred->max || wred->max > SWITCH_LENGTH_MAX)
		return switch_refuse(change,
				     "queue %d: WRED min %llu, max %llu: min <= max <= 2^48",
				     number, wred->min, wred->max);
	if (wred->weight_log > SWITCH_WRED_WEIGHT_LOG_MAX)
		return switch_refuse(change, "queue %d: WRED weight 2^-%u: at least 2^-15", number,
				     wred->weight_log);
	queue->has_wred = true;
	queue->wred_flags = wred->flags;
	queue->wred = (struct switch_wred_curve) {
		.min = wred->min,
		.max = wred->max,
		.probability = wred->probability == U32_MAX ? SWITCH_WRED_CERTAIN :
							      wred->probability,
		.weight_log = wred->weight_log,
	};
	return 0;
}

static int switch_parse_phantom(struct switch_change *change, const struct nlattr *attribute,
				int number)
{
	const struct tc_switch_phantom *phantom;

	if (!attribute)
		return 0;
	phantom = nla_data(attribute);
	if (phantom->rate_bps > SWITCH_RATE_MAX || phantom->threshold > SWITCH_BYTES_MAX)
		return switch_refuse(change, "queue %d: phantom queue above 1600 Gbit/s or 2 GiB",
				     number);
	switch_phantom_configure(&change->config.queue[number].phantom, phantom->rate_bps,
				 phantom->threshold);
	return 0;
}

static int switch_parse_queue(struct switch_change *change, const struct nlattr *nest)
{
	struct nlattr *tb[TCA_SWITCH_QUEUE_MAX + 1];
	struct switch_queue_config *queue;
	int number, error;

	error = nla_parse_nested(tb, TCA_SWITCH_QUEUE_MAX, nest, switch_queue_policy,
				 change->extack);
	if (error)
		return error;
	if (!tb[TCA_SWITCH_QUEUE_INDEX])
		return switch_refuse(change, "a queue without an index");
	number = nla_get_u8(tb[TCA_SWITCH_QUEUE_INDEX]);
	switch_default_queue(&change->config, number);
	queue = &change->config.queue[number];
	queue->configured = true;
	error = switch_parse_memory(change, tb[TCA_SWITCH_QUEUE_ACCOUNT], &queue->memory) ?:
		switch_sharing_parse(change, tb[TCA_SWITCH_QUEUE_SHARING], number) ?:
		switch_parse_scheduler(change, tb[TCA_SWITCH_QUEUE_SCHEDULER], number) ?:
		switch_parse_wred(change, tb[TCA_SWITCH_QUEUE_WRED], number) ?:
		switch_parse_phantom(change, tb[TCA_SWITCH_QUEUE_PHANTOM], number) ?:
		switch_qcn_parse_point(change, tb[TCA_SWITCH_QUEUE_QCN], number);
	if (error)
		return error;
	if (tb[TCA_SWITCH_QUEUE_VOQ_LIMIT])
		queue->voq_limit = nla_get_u64(tb[TCA_SWITCH_QUEUE_VOQ_LIMIT]);
	queue->trims = nla_get_flag(tb[TCA_SWITCH_QUEUE_TRIM]);
	if (tb[TCA_SWITCH_QUEUE_EVENT])
		queue->event_threshold = nla_get_u64(tb[TCA_SWITCH_QUEUE_EVENT]);
	return 0;
}

static int switch_parse_group(struct switch_change *change, const struct nlattr *nest)
{
	struct nlattr *tb[TCA_SWITCH_GROUP_MAX + 1];
	const struct tc_switch_lossless *lossless;
	struct switch_group_config *group;
	int number, error;

	error = nla_parse_nested(tb, TCA_SWITCH_GROUP_MAX, nest, switch_group_policy,
				 change->extack);
	if (error)
		return error;
	if (!tb[TCA_SWITCH_GROUP_INDEX])
		return switch_refuse(change, "a priority group without an index");
	number = nla_get_u8(tb[TCA_SWITCH_GROUP_INDEX]);
	switch_default_group(&change->config, number);
	group = &change->config.group[number];
	group->configured = true;
	error = switch_parse_memory(change, tb[TCA_SWITCH_GROUP_ACCOUNT], &group->memory);
	if (error || !tb[TCA_SWITCH_GROUP_LOSSLESS])
		return error;
	lossless = nla_data(tb[TCA_SWITCH_GROUP_LOSSLESS]);
	if (!lossless->headroom)
		return switch_refuse(change, "priority group %d: lossless without headroom",
				     number);
	group->memory.account.headroom = DIV_ROUND_UP_ULL(lossless->headroom, change->cell_bytes);
	group->pfc.xon = div_u64(lossless->xon, change->cell_bytes);
	group->pfc.xon_offset = div_u64(lossless->xon_offset, change->cell_bytes);
	return 0;
}

static int switch_parse_pool(struct switch_change *change, const struct nlattr *attribute)
{
	const struct tc_switch_pool *pool = nla_data(attribute);
	u32 cells_bytes;	/* a cell of each slice */

	if (pool->index >= TC_SWITCH_POOLS)
		return switch_refuse(change, "pool %u: there are pools 0 to %d", pool->index,
				     TC_SWITCH_POOLS - 1);
	cells_bytes = change->cell_bytes * change->slices;
	change->pool[pool->index].size = div_u64(pool->size, cells_bytes);
	change->pool[pool->index].headroom_size = div_u64(pool->headroom, cells_bytes);
	return 0;
}

static int switch_parse_buffer(struct switch_change *change, const struct nlattr *nest, bool first)
{
	struct nlattr *tb[TCA_SWITCH_BUFFER_MAX + 1];
	struct nlattr *attribute;
	int rest, error;

	if (!nest)
		return 0;
	error = nla_parse_nested(tb, TCA_SWITCH_BUFFER_MAX, nest, switch_buffer_policy,
				 change->extack);
	if (error)
		return error;
	if (tb[TCA_SWITCH_BUFFER_CELL])
		change->cell_bytes = nla_get_u32(tb[TCA_SWITCH_BUFFER_CELL]);
	if (change->cell_bytes != change->chip->cell_bytes && !(first && change->chip->ports == 1))
		return switch_refuse(change, "the switch's cells have %u bytes already",
				     change->chip->cell_bytes);
	error = switch_parse_slices(change, tb[TCA_SWITCH_BUFFER_SLICES], first);
	if (error)
		return error;
	nla_for_each_nested(attribute, nest, rest) {
		if (nla_type(attribute) == TCA_SWITCH_BUFFER_POOL)
			error = switch_parse_pool(change, attribute);
		if (error)
			return error;
	}
	return 0;
}

static int switch_parse_pfc(struct switch_change *change, const struct nlattr *attribute)
{
	const struct tc_switch_pfc *pfc;

	if (!attribute)
		return 0;
	pfc = nla_data(attribute);
	if (pfc->priorities && pfc->quanta < 2)
		return switch_refuse(change, "pauses of %u quanta: at least 2", pfc->quanta);
	if (pfc->storm_action > TC_SWITCH_STORM_FORWARD)
		return switch_refuse(change, "no such action against pause storms: %u",
				     pfc->storm_action);
	if (pfc->detection_ns && !pfc->restoration_ns)
		return switch_refuse(change, "a pause watchdog without a restoration time");
	change->config.pfc = *pfc;
	change->config.watchdog.detection_ns = pfc->detection_ns;
	change->config.watchdog.restoration_ns = pfc->restoration_ns;
	return 0;
}

static int switch_parse_line(struct switch_change *change, struct nlattr **tb)
{
	struct switch_port_config *config = &change->config;

	if (tb[TCA_SWITCH_PORT_RATE])
		config->rate_bps = nla_get_u64(tb[TCA_SWITCH_PORT_RATE]);
	if (config->rate_bps < SWITCH_RATE_MIN || config->rate_bps > SWITCH_RATE_MAX)
		return switch_refuse(change, "rate %llu is not in 8 kbit/s to 1600 Gbit/s",
				     config->rate_bps);
	if (tb[TCA_SWITCH_PORT_DELAY])
		config->delay_ns = nla_get_u64(tb[TCA_SWITCH_PORT_DELAY]);
	if (config->delay_ns > 3600 * SWITCH_NS_PER_SEC)
		return switch_refuse(change, "delay %llu ns is more than an hour", config->delay_ns);
	if (tb[TCA_SWITCH_PORT_OVERHEAD])
		config->overhead = nla_get_u32(tb[TCA_SWITCH_PORT_OVERHEAD]);
	if (tb[TCA_SWITCH_PORT_MPU])
		config->mpu = nla_get_u32(tb[TCA_SWITCH_PORT_MPU]);
	if (tb[TCA_SWITCH_PORT_LOSS])
		config->loss = nla_get_u32(tb[TCA_SWITCH_PORT_LOSS]);
	return 0;
}

static int switch_parse_nic(struct switch_change *change, struct nlattr **tb)
{
	struct switch_port_config *config = &change->config;

	if (tb[TCA_SWITCH_PORT_RING])
		config->ring_bytes = nla_get_u64(tb[TCA_SWITCH_PORT_RING]);
	if (config->ring_bytes > SWITCH_BYTES_MAX)
		return switch_refuse(change, "a ring of %llu bytes is above 2 GiB",
				     config->ring_bytes);
	if (change->port->has_front && !config->ring_bytes)
		return switch_refuse(change, "a qdisc in front of a queue needs a ring");
	if (tb[TCA_SWITCH_PORT_TX_QUEUES])
		config->tx_queues = nla_get_u8(tb[TCA_SWITCH_PORT_TX_QUEUES]);
	return 0;
}

static int switch_parse_queues(struct switch_change *change, const struct nlattr *options)
{
	struct nlattr *attribute;
	int rest, error = 0;

	nla_for_each_nested(attribute, options, rest) {
		if (nla_type(attribute) == TCA_SWITCH_PORT_QUEUE)
			error = switch_parse_queue(change, attribute);
		else if (nla_type(attribute) == TCA_SWITCH_PORT_GROUP)
			error = switch_parse_group(change, attribute);
		if (error)
			return error;
	}
	return 0;
}

/* Reads a request's options into `change`. */
int switch_parse(struct switch_change *change, struct nlattr *options, bool first)
{
	struct nlattr *tb[TCA_SWITCH_PORT_MAX + 1];
	int error;

	error = nla_parse_nested(tb, TCA_SWITCH_PORT_MAX, options, switch_port_policy,
				 change->extack);
	if (error)
		return error;
	return switch_parse_line(change, tb) ?:
	       switch_parse_maps(change, tb) ?:
	       switch_parse_nic(change, tb) ?:
	       switch_parse_pfc(change, tb[TCA_SWITCH_PORT_PFC]) ?:
	       switch_parse_trimming(change, tb[TCA_SWITCH_PORT_TRIMMING]) ?:
	       switch_pacer_parse(change, tb[TCA_SWITCH_PORT_PACER]) ?:
	       switch_qcn_parse_limiter(change, tb[TCA_SWITCH_PORT_QCN]) ?:
	       roce_parse(change, tb) ?:
	       switch_parse_buffer(change, tb[TCA_SWITCH_PORT_BUFFER], first) ?:
	       switch_parse_slice(change, tb[TCA_SWITCH_PORT_SLICE]) ?:
	       switch_parse_queues(change, options);
}

