// SPDX-License-Identifier: GPL-2.0
/*
 * A port's configuration: defaults, checks of the whole, and how it is put in force: as
 * a whole or not at all. Under RTNL.
 */
#include <net/netlink.h>

#include "change.h"

/* -- Defaults ---------------------------------------------------------------------------------- */

static void switch_default_memory(struct switch_memory *memory)
{
	*memory = (struct switch_memory) {
		.pool = TC_SWITCH_NO_POOL,
		.account.limit.cells = SWITCH_UNLIMITED,
	};
}

void switch_default_queue(struct switch_port_config *config, int queue)
{
	config->share[queue] =
		(struct switch_queue_share) { .scheduling = SWITCH_STRICT, .quantum = 1 };
	config->queue[queue] = (struct switch_queue_config) {
		.voq_limit = SWITCH_UNLIMITED,
		.event_threshold = SWITCH_UNLIMITED,
	};
	switch_default_memory(&config->queue[queue].memory);
}

void switch_default_group(struct switch_port_config *config, int group)
{
	config->group[group] = (struct switch_group_config) {};
	switch_default_memory(&config->group[group].memory);
}

static void switch_default_port(struct switch_port_config *config)
{
	int number;

	config->overhead = 24;
	config->mpu = 84;
	config->tx_queues = 1;
	for (number = 0; number < 64; number++)
		config->maps.dscp_to_tc[number] = number / 8;
	for (number = 0; number < SWITCH_QUEUES; number++) {
		config->maps.tc_to_queue[number] = number;
		config->maps.tc_to_group[number] = number;
		config->maps.priority_to_queue[number] = number;
		config->maps.priority_to_group[number] = number;
		switch_default_queue(config, number);
		switch_default_group(config, number);
	}
}

/* -- Checks of the whole ----------------------------------------------------------------------- */

/* What the port's queues and groups reserve of a pool, in cells. */
static u64 switch_port_reserved(const struct switch_port_config *config, u8 pool)
{
	u64 cells = 0;
	int number;

	for (number = 0; number < SWITCH_QUEUES; number++) {
		if (config->queue[number].memory.pool == pool)
			cells += config->queue[number].memory.account.reserved;
		if (config->group[number].memory.pool == pool)
			cells += config->group[number].memory.account.reserved;
	}
	return cells;
}

static int switch_check_pools(struct switch_change *change)
{
	int number;

	for (number = 0; number < TC_SWITCH_POOLS; number++) {
		struct switch_pool *pool = &change->pool[number];

		pool->reserved += switch_port_reserved(&change->config, number) -
				  switch_port_reserved(&change->port->config, number);
		if (pool->reserved > pool->size)
			return switch_refuse(change, "pool %d: %llu cells reserved of %llu", number,
					     pool->reserved, pool->size);
	}
	return 0;
}

static int switch_check_scheduling(struct switch_change *change)
{
	bool found[TC_SWITCH_WRR + 1] = {};
	int queue;

	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		found[change->config.share[queue].scheduling] = true;
	if (found[TC_SWITCH_DWRR] && found[TC_SWITCH_WRR])
		return switch_refuse(change, "DWRR and WRR on one port");
	return 0;
}

static void switch_summarise(struct switch_port_config *config)
{
	int queue;

	config->shaped = false;
	for (queue = 0; queue < SWITCH_QUEUES; queue++)
		if (config->queue[queue].cir.rate_bps || config->queue[queue].pir.rate_bps)
			config->shaped = true;
}

/* -- In force ---------------------------------------------------------------------------------- */

/* Gives an account, with what it holds, another place and limit. */
void switch_memory_move(struct switch_chip *chip, const struct switch_account *account,
			struct switch_memory *from, const struct switch_memory *to)
{
	struct switch_pool *pool;
	u32 slice;

	for (slice = 0; slice < chip->slices; slice++) {
		pool = switch_memory_pool(chip, from, slice);
		if (pool) {
			pool->shared -= switch_account_shared(&account[slice], &from->account);
			pool->headroom -= account[slice].headroom;
			pool->reserved -= from->account.reserved;
		}
		pool = switch_memory_pool(chip, to, slice);
		if (pool) {
			pool->shared += switch_account_shared(&account[slice], &to->account);
			pool->headroom += account[slice].headroom;
			pool->reserved += to->account.reserved;
		}
	}
	*from = *to;
}

static void switch_commit_memory(struct switch_port *port, struct switch_port_config *config)
{
	struct switch_chip *chip = port->chip;
	int number;

	for (number = 0; number < SWITCH_QUEUES; number++) {
		struct switch_group *group = &port->ingress->group[number];
		struct switch_queue_config *before = &port->config.queue[number];

		if (before->sharing.ops != config->queue[number].sharing.ops ||
		    before->memory.pool != config->queue[number].memory.pool)
			switch_sharing_forget(port, number);
		switch_memory_move(chip, port->queue[number].account, &before->memory,
				   &config->queue[number].memory);
		switch_memory_move(chip, group->account, &group->memory,
				   &config->group[number].memory);
		group->pfc = config->group[number].pfc;
	}
}

/* Starts to count a queue's bytes by ingress port. */
static void switch_queue_count_by_ingress(struct switch_port *port, int number, u64 *bytes)
{
	struct switch_queue *queue = &port->queue[number];
	struct sk_buff *skb;

	for (skb = queue->frames.head; skb; skb = skb->next)
		bytes[switch_frame(skb)->slot] += qdisc_pkt_len(skb);
	queue->ingress_bytes = bytes;
}

static int switch_allocate(struct switch_port *port, const struct switch_port_config *config)
{
	int number;

	for (number = 0; number < SWITCH_QUEUES; number++) {
		struct switch_queue *queue = &port->queue[number];
		bool events = config->queue[number].event_threshold != SWITCH_UNLIMITED;
		u64 *bytes;

		if (events && !queue->event.ingress_bytes)
			queue->event.ingress_bytes =
				kvcalloc(SWITCH_SLOTS, sizeof(u64), GFP_KERNEL);
		if (events && !queue->event.ingress_bytes)
			return -ENOMEM;
		if (queue->ingress_bytes ||
		    !(events || config->queue[number].voq_limit != SWITCH_UNLIMITED))
			continue;
		bytes = kvcalloc(SWITCH_SLOTS, sizeof(u64), GFP_KERNEL);
		if (!bytes)
			return -ENOMEM;
		switch_chip_lock(port->chip);
		switch_queue_count_by_ingress(port, number, bytes);
		switch_chip_unlock(port->chip);
	}
	return 0;
}

static void switch_commit(struct switch_change *change)
{
	struct switch_port *port = change->port;
	struct switch_chip *chip = change->chip;
	u64 now = switch_chip_lock(chip);
	int number;
	u32 slice;

	chip->cell_bytes = change->cell_bytes;
	chip->slices = change->slices;
	for (slice = 0; slice < chip->slices; slice++)
		for (number = 0; number < TC_SWITCH_POOLS; number++) {
			chip->pool[slice][number].size = change->pool[number].size;
			chip->pool[slice][number].headroom_size =
				change->pool[number].headroom_size;
		}
	switch_commit_memory(port, &change->config);
	if (change->config.rate_bps != port->config.rate_bps)
		switch_line_set_rate(&port->line);
	port->config = change->config;
	switch_port_run(port, now);
	switch_chip_unlock(chip);
}

/* Applies a request's options; `first`: to a port that has none yet. */
int switch_port_configure(struct switch_port *port, struct nlattr *options, bool first,
			  struct netlink_ext_ack *extack)
{
	struct switch_change *change;
	int error;

	if (!options) {
		NL_SET_ERR_MSG(extack, "a switch port needs a rate");
		return -EINVAL;
	}
	change = kvzalloc(sizeof(*change), GFP_KERNEL);
	if (!change)
		return -ENOMEM;
	change->chip = port->chip;
	change->port = port;
	change->extack = extack;
	change->config = port->config;
	change->cell_bytes = port->chip->cell_bytes;
	change->slices = port->chip->slices;
	memcpy(change->pool, port->chip->pool[0], sizeof(change->pool));
	error = switch_parse(change, options, first) ?: switch_check_pools(change) ?:
		switch_check_scheduling(change);
	if (!error) {
		switch_summarise(&change->config);
		error = switch_allocate(port, &change->config) ?:
			switch_pacer_prepare(port, &change->config.pacer, extack) ?:
			roce_prepare(port, &change->config.roce, extack);
	}
	if (!error)
		switch_commit(change);
	kvfree(change);
	return error;
}

/* What a port is before its first configuration. */
void switch_port_set_defaults(struct switch_port *port)
{
	switch_default_port(&port->config);
}

/* Gives back what the port has reserved; frames of its groups may still be in the switch. */
void switch_port_unconfigure(struct switch_port *port)
{
	struct switch_port_config *defaults =
		kvzalloc(sizeof(*defaults), GFP_KERNEL | __GFP_NOFAIL);
	int number;

	switch_default_port(defaults);
	switch_chip_lock(port->chip);
	switch_commit_memory(port, defaults);
	switch_chip_unlock(port->chip);
	for (number = 0; number < SWITCH_QUEUES; number++) {
		kvfree(port->queue[number].ingress_bytes);
		kvfree(port->queue[number].event.ingress_bytes);
	}
	kvfree(defaults);
}
