// SPDX-License-Identifier: GPL-2.0
/*
 * The NIC's pairs take turns: whenever the line is free for its queue, the port asks for a
 * frame. A pair that may send now stands in a list, one that its rate makes wait in a
 * queue of times. So no frame waits in the NIC but the one that is staged, and a pause
 * stops the pairs themselves.
 */
#include <linux/netdevice.h>

#include "../switch.h"

/* -- Turns --------------------------------------------------------------------------------------- */

void roce_pair_leave(struct roce_pair *pair)
{
	if (pair->turn == ROCE_READY)
		list_del(&pair->ready);
	else if (pair->turn == ROCE_PACED)
		timerqueue_del(&pair->nic->paced, &pair->paced);
	pair->turn = ROCE_IDLE;
}

/* When its rate lets it send; the rate may have changed since it sent last. */
static u64 due(struct roce_pair *pair)
{
	if (pair->last_bytes && pair->last_bps != pair->flow.rate_bps) {
		pair->line.free_ns = pair->last_ns;
		switch_line_set_rate(&pair->line);
		pair->last_bps = pair->flow.rate_bps;
		switch_line_send(&pair->line, pair->last_bps, pair->last_ns, pair->last_bytes);
	}
	return pair->line.free_ns;
}

void roce_pair_turn(struct roce_pair *pair, u64 now)
{
	struct roce_nic *nic = pair->nic;
	u64 when;

	if (pair->failed || !roce_pair_has_work(pair)) {
		roce_pair_leave(pair);
		return;
	}
	if (pair->turn == ROCE_READY)
		return;
	roce_pair_leave(pair);
	roce_control_run(pair, now);
	when = due(pair);
	if (when <= now) {
		list_add_tail(&pair->ready, &nic->ready);
		pair->turn = ROCE_READY;
		return;
	}
	/* A rate that rises before then makes it sooner. */
	if (roce_flow_is_limited(&pair->flow))
		when = min(when, roce_control_next(pair));
	pair->paced.expires = ns_to_ktime(when);
	timerqueue_add(&nic->paced, &pair->paced);
	pair->turn = ROCE_PACED;
}

/* -- The port asks ------------------------------------------------------------------------------- */

static int data_queue(const struct switch_port *port)
{
	const struct switch_maps *maps = &port->config.maps;

	return maps->tc_to_queue[maps->dscp_to_tc[port->config.roce.dscp]];
}

/* Whether its queue takes no frame now. Whoever changes that has the port run. */
static bool is_held(const struct switch_port *port)
{
	const struct net_device *dev = qdisc_dev(port->sch);

	return (port->backlogged | switch_pause_held(port)) & BIT(data_queue(port)) ||
	       !netif_running(dev) || !netif_carrier_ok(dev);
}

/* When a pair has a frame. */
static u64 next_of_pairs(struct switch_port *port, u64 now)
{
	struct timerqueue_node *first = timerqueue_getnext(&port->roce->paced);

	if ((list_empty(&port->roce->ready) && !first) || is_held(port))
		return SWITCH_NEVER;
	if (!list_empty(&port->roce->ready))
		return now;
	return max_t(u64, now, ktime_to_ns(first->expires));
}

u64 roce_nic_next(struct switch_port *port, u64 now)
{
	return min(next_of_pairs(port, now), roce_credit_next(port->roce, now));
}

/* Those whose time has come: to the list, or back by what their rate is now. */
static void take_due(struct roce_nic *nic, u64 now)
{
	struct timerqueue_node *first;

	while ((first = timerqueue_getnext(&nic->paced)) && ktime_to_ns(first->expires) <= now)
		roce_pair_turn(container_of(first, struct roce_pair, paced), now);
}

void roce_nic_stage(struct switch_port *port, u64 now)
{
	struct roce_nic *nic = port->roce;
	int queue = data_queue(port);
	struct roce_pair *pair;
	struct sk_buff *skb;

	roce_credits_give(nic, now);
	if (is_held(port))
		return;
	take_due(nic, now);
	pair = list_first_entry_or_null(&nic->ready, struct roce_pair, ready);
	if (!pair)
		return;
	roce_pair_leave(pair);
	skb = roce_pair_send(pair, now);
	if (skb)
		switch_port_enqueue_staged(port, skb, queue, now);
	else
		pair->line.free_ns = now + NSEC_PER_USEC;
	roce_pair_turn(pair, now);
}

/* -- Timeouts ------------------------------------------------------------------------------------ */

static u64 deadline(const struct roce_nic *nic)
{
	const struct roce_pair *first = list_first_entry(&nic->waiting, struct roce_pair, waiting);

	return first->progress_ns + nic->port->config.roce.timeout_ns;
}

void roce_pair_wait(struct roce_pair *pair, u64 now)
{
	struct roce_nic *nic = pair->nic;

	list_del_init(&pair->waiting);
	if (pair->asked <= pair->oldest)
		return;
	pair->progress_ns = now;
	list_add_tail(&pair->waiting, &nic->waiting);
	/* It is not moved for each acknowledgement: when it ends early it goes on. */
	if (!hrtimer_is_queued(&nic->timeout))
		hrtimer_start(&nic->timeout, ns_to_ktime(deadline(nic)), HRTIMER_MODE_ABS_SOFT);
}

enum hrtimer_restart roce_nic_timeout(struct hrtimer *timer)
{
	struct roce_nic *nic = container_of(timer, struct roce_nic, timeout);
	struct switch_port *port = nic->port;
	u64 now = switch_chip_lock(port->chip);

	while (!list_empty(&nic->waiting) && deadline(nic) <= now)
		roce_pair_timed_out(list_first_entry(&nic->waiting, struct roce_pair, waiting), now);
	if (!list_empty(&nic->waiting))
		hrtimer_start(timer, ns_to_ktime(deadline(nic)), HRTIMER_MODE_ABS_SOFT);
	switch_port_run(port, now);
	switch_port_sync_stats(port);
	switch_chip_unlock(port->chip);
	return HRTIMER_NORESTART;
}

/* -- Statistics ---------------------------------------------------------------------------------- */

void roce_nic_read_stats(const struct switch_port *port, struct tc_switch_roce_xstats *stats)
{
	struct roce_pair *pair;
	unsigned long number;

	*stats = port->roce->stats;
	xa_for_each(&port->roce->pairs, number, pair) {
		stats->pairs++;
		stats->limited += roce_flow_is_limited(&pair->flow);
		stats->rate_bps += pair->cursor || roce_pair_answers(pair) ? pair->flow.rate_bps : 0;
	}
}
