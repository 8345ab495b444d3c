// SPDX-License-Identifier: GPL-2.0
/*
 * How queues share a pool by ABM (abm.h), as a library for the tests: the formula, how a
 * queue's drain is measured, and queues that are at their thresholds.
 */
#include <stdlib.h>

#include "abm.h"
#include "shared_buffer.h"

u64 abm_threshold(u64 free, s8 alpha_log, u32 parts, u64 served_ns, u64 waiting_ns)
{
	return switch_abm_threshold(free, alpha_log, parts, served_ns, waiting_ns);
}

bool abm_congested(u64 cells, u64 threshold)
{
	return switch_abm_congested(cells, threshold);
}

u32 abm_filled(u64 cells, u32 length)
{
	return switch_abm_filled(cells, length);
}

/* A queue at whose times frames wait from then on or not, with what it is served then. */
void drain_run(int events, const u64 *times, const u8 *waiting, const u64 *served, u64 interval_ns,
	       u64 *last_served, u64 *last_waiting)
{
	struct switch_drain drain = {};
	int i;

	for (i = 0; i < events; i++) {
		switch_drain_look(&drain, times[i], interval_ns);
		drain.waiting = waiting[i];
		drain.served_ns += served[i];
		last_served[i] = drain.last_served_ns;
		last_waiting[i] = drain.last_waiting_ns;
	}
}

/* Queues of one pool that all have the whole of their lines. */
struct abm_pool {
	struct switch_pool pool;
	int queues;
	struct abm_queue {
		struct switch_account_config config;
		struct switch_account account;
		int priority;
		u32 congested;
	} queue[64];
	u32 congested[8];
};

struct abm_pool *abm_new(u64 size, int queues, const s8 *alpha_log, const u8 *priority)
{
	struct abm_pool *all = calloc(1, sizeof(*all));
	int i;

	all->pool.size = size;
	all->queues = queues;
	for (i = 0; i < queues; i++) {
		all->queue[i].config.limit.dynamic = true;
		all->queue[i].config.limit.alpha_log = alpha_log[i];
		all->queue[i].priority = priority[i];
	}
	return all;
}

void abm_free(struct abm_pool *all)
{
	free(all);
}

u64 abm_limit(const struct abm_pool *all, int number)
{
	const struct abm_queue *queue = &all->queue[number];

	return switch_abm_threshold(switch_pool_free(&all->pool), queue->config.limit.alpha_log,
				    all->congested[queue->priority], 0, 0);
}

static void abm_look(struct abm_pool *all, int number)
{
	struct abm_queue *queue = &all->queue[number];
	u32 parts = switch_abm_congested(queue->account.used, abm_limit(all, number));

	all->congested[queue->priority] += parts - queue->congested;
	queue->congested = parts;
}

bool abm_arrive(struct abm_pool *all, int number, u64 cells)
{
	struct abm_queue *queue = &all->queue[number];
	bool fits = cells <= switch_pool_free(&all->pool) &&
		    queue->account.used < abm_limit(all, number);

	if (fits)
		switch_charge(&queue->account, &queue->config, &all->pool, cells);
	abm_look(all, number);
	return fits;
}

void abm_leave(struct abm_pool *all, int number, u64 cells)
{
	struct abm_queue *queue = &all->queue[number];

	switch_release(&queue->account, &queue->config, &all->pool, cells);
	abm_look(all, number);
}

u64 abm_used(const struct abm_pool *all, int number)
{
	return all->queue[number].account.used;
}

bool abm_is_congested(const struct abm_pool *all, int number)
{
	return all->queue[number].congested;
}

u32 abm_congested_queues(const struct abm_pool *all, int priority)
{
	return all->congested[priority] / SWITCH_ABM_PARTS;
}

u64 abm_shared(const struct abm_pool *all)
{
	return all->pool.shared;
}
