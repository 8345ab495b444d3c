// SPDX-License-Identifier: GPL-2.0
/*
 * Queues whose limit is a policy's threshold: ABM, or one of a user's own. The accounts
 * are those of every queue (shared_buffer.h); this says how much they may hold, and keeps
 * what policies look at. All of it under the chip's lock, but for what netlink asks.
 */
#include <linux/mutex.h>
#include <net/netlink.h>

#include "change.h"

#define SWITCH_INTERVAL_MIN_NS 1000U
#define SWITCH_INTERVAL_MAX_NS 1000000000U

/* -- Policies ---------------------------------------------------------------------------------- */

static u64 switch_sharing_abm(const struct switch_sharing_view *view)
{
	return switch_abm_threshold(view->free, view->alpha_log, view->congested_parts,
				    view->served_ns, view->waiting_ns);
}

static struct switch_sharing_ops switch_abm_ops = {
	.name = "abm",
	.threshold = switch_sharing_abm,
};

static LIST_HEAD(switch_sharing_policies);
static DEFINE_MUTEX(switch_sharing_mutex);

static const struct switch_sharing_ops *switch_sharing_find(const char *name)
{
	const struct switch_sharing_ops *ops;

	list_for_each_entry(ops, &switch_sharing_policies, list)
		if (!strcmp(ops->name, name))
			return ops;
	return NULL;
}

int register_switch_sharing(struct switch_sharing_ops *ops)
{
	int error = 0;

	if (!ops->threshold || !ops->name[0] ||
	    strnlen(ops->name, sizeof(ops->name)) == sizeof(ops->name))
		return -EINVAL;
	mutex_lock(&switch_sharing_mutex);
	if (switch_sharing_find(ops->name))
		error = -EEXIST;
	else
		list_add_tail(&ops->list, &switch_sharing_policies);
	mutex_unlock(&switch_sharing_mutex);
	return error;
}
EXPORT_SYMBOL_GPL(register_switch_sharing);

int switch_sharing_register(void)
{
	return register_switch_sharing(&switch_abm_ops);
}

/* -- Thresholds -------------------------------------------------------------------------------- */

static u64 switch_sharing_threshold(const struct switch_port *port, int number, u32 slice,
				    bool unscheduled, u64 now)
{
	const struct switch_queue_config *config = &port->config.queue[number];
	const struct switch_queue *queue = &port->queue[number];
	const struct switch_chip *chip = port->chip;
	const struct switch_pool *pool = &chip->pool[slice][config->memory.pool];
	struct switch_sharing_view view = {
		.queue = switch_account_shared(&queue->account[slice], &config->memory.account),
		.pool = switch_excess(pool->size, pool->reserved),
		.free = switch_pool_free(pool),
		.congested = chip->congested[slice][config->memory.pool][number] /
			     SWITCH_ABM_PARTS,
		.congested_parts = chip->congested[slice][config->memory.pool][number],
		.priority = number,
		.alpha_log = unscheduled ? config->sharing.unscheduled_alpha_log :
				     config->memory.account.limit.alpha_log,
		.unscheduled = unscheduled,
		.served_ns = queue->drain.last_served_ns,
		.waiting_ns = queue->drain.last_waiting_ns,
		.rate_bps = port->config.rate_bps,
		.now_ns = now,
	};

	return config->sharing.ops->threshold(&view);
}

static void switch_sharing_set_congested(struct switch_port *port, int number, u32 slice, u32 parts)
{
	struct switch_queue *queue = &port->queue[number];
	u8 pool = port->config.queue[number].memory.pool;

	port->chip->congested[slice][pool][number] += parts - queue->congested[slice];
	queue->congested[slice] = parts;
}

/* Looks anew how congested a queue is; unscheduled frames do not change what that means. */
static void switch_sharing_look(struct switch_port *port, int number, u32 slice, u64 now)
{
	const struct switch_queue_config *config = &port->config.queue[number];
	u64 cells = switch_account_shared(&port->queue[number].account[slice],
					  &config->memory.account);
	u32 length = config->sharing.congested_cells;
	u32 parts = length ? switch_abm_filled(cells, length) :
		    switch_abm_congested(cells, switch_sharing_threshold(port, number, slice,
									 false, now));

	switch_sharing_set_congested(port, number, slice, parts);
}

/* What switch_admit() is for other limits; a queue has no headroom. */
enum switch_admission switch_sharing_admit(struct switch_port *port,
					   const struct switch_frame *frame)
{
	const struct switch_queue_config *config = &port->config.queue[frame->queue];
	const struct switch_account_config *limits = &config->memory.account;
	struct switch_queue *queue = &port->queue[frame->queue];
	const struct switch_account *account = &queue->account[frame->slice];
	u64 shared = switch_account_shared(account, limits);
	u64 more = switch_excess(account->used + frame->cells, limits->reserved) - shared;
	bool unscheduled = config->sharing.unscheduled_classes & BIT(frame->class);
	u64 now = frame->time_ns;

	switch_drain_look(&queue->drain, now, config->sharing.interval_ns);
	if (!more)
		return SWITCH_ADMIT;
	if (more > switch_pool_free(&port->chip->pool[frame->slice][config->memory.pool]))
		return SWITCH_REFUSE_POOL;
	if (shared < switch_sharing_threshold(port, frame->queue, frame->slice, unscheduled, now))
		return SWITCH_ADMIT;
	switch_sharing_look(port, frame->queue, frame->slice, now);
	return SWITCH_REFUSE_LIMIT;
}

/* A frame is counted in. */
void switch_sharing_arrived(struct switch_port *port, const struct switch_frame *frame)
{
	port->queue[frame->queue].drain.waiting = true;
	switch_sharing_look(port, frame->queue, frame->slice, frame->time_ns);
}

/* A frame is counted out. */
void switch_sharing_departed(struct switch_port *port, const struct switch_frame *frame, u64 now)
{
	struct switch_queue *queue = &port->queue[frame->queue];

	switch_drain_look(&queue->drain, now, port->config.queue[frame->queue].sharing.interval_ns);
	queue->drain.waiting = queue->packets > 0;
	switch_sharing_look(port, frame->queue, frame->slice, now);
}

/* A queue's frame has begun, and keeps the line until it is free again. */
void switch_sharing_served(struct switch_port *port, int number, u64 now)
{
	port->queue[number].drain.served_ns += port->line.free_ns - now;
}

/* Before a queue has another policy or pool, or none. */
void switch_sharing_forget(struct switch_port *port, int number)
{
	u32 slice;

	for (slice = 0; slice < port->chip->slices; slice++)
		switch_sharing_set_congested(port, number, slice, 0);
	port->queue[number].drain = (struct switch_drain) {};
}

/* -- Netlink ----------------------------------------------------------------------------------- */

int switch_sharing_parse(struct switch_change *change, const struct nlattr *attribute, int number)
{
	struct switch_queue_config *queue = &change->config.queue[number];
	const struct tc_switch_sharing *sharing;
	char name[SWITCH_SHARING_NAME_MAX];

	if (!attribute)
		return 0;
	sharing = nla_data(attribute);
	strscpy(name, sharing->policy, sizeof(name));
	mutex_lock(&switch_sharing_mutex);
	queue->sharing.ops = switch_sharing_find(name);
	mutex_unlock(&switch_sharing_mutex);
	if (!queue->sharing.ops)
		return switch_refuse(change, "queue %d: no such sharing: %s", number, name);
	if (!queue->memory.account.limit.dynamic)
		return switch_refuse(change, "queue %d: sharing by %s needs a pool and an alpha",
				     number, name);
	if (sharing->interval_ns < SWITCH_INTERVAL_MIN_NS ||
	    sharing->interval_ns > SWITCH_INTERVAL_MAX_NS)
		return switch_refuse(change, "queue %d: an interval of %u ns: 1 us to 1 s", number,
				     sharing->interval_ns);
	if (sharing->unscheduled_alpha_log < SWITCH_ALPHA_LOG_MIN ||
	    sharing->unscheduled_alpha_log > SWITCH_ALPHA_LOG_MAX)
		return switch_refuse(change, "queue %d: alpha 2^%d is not in 2^-8 to 2^7", number,
				     sharing->unscheduled_alpha_log);
	queue->sharing.interval_ns = sharing->interval_ns;
	queue->sharing.congested_cells = DIV_ROUND_UP(sharing->congested, change->cell_bytes);
	queue->sharing.unscheduled_alpha_log = sharing->unscheduled_alpha_log;
	queue->sharing.unscheduled_classes = sharing->unscheduled_classes;
	return 0;
}

int switch_sharing_dump(const struct switch_queue_config *queue, u32 cell_bytes,
			struct sk_buff *skb)
{
	struct tc_switch_sharing dump = {
		.interval_ns = queue->sharing.interval_ns,
		.unscheduled_alpha_log = queue->sharing.unscheduled_alpha_log,
		.unscheduled_classes = queue->sharing.unscheduled_classes,
		.congested = queue->sharing.congested_cells * cell_bytes,
	};

	if (!queue->sharing.ops)
		return 0;
	strscpy(dump.policy, queue->sharing.ops->name, sizeof(dump.policy));
	return nla_put(skb, TCA_SWITCH_QUEUE_SHARING, sizeof(dump), &dump);
}
