// SPDX-License-Identifier: GPL-2.0
/*
 * Conditions at which the time of a live machine stops.
 *
 * They are looked at in the idle loop, when all that happens at an instant has happened
 * and before the next timer event does. So time stands at the very instant at which one
 * came true. What is cheap to compare is a counter; a queue of a switch's port tells by
 * itself whenever it changes (net/sched/switch_port), for its departures are known late.
 *
 * A condition changes nothing but the pace.
 */
#include <linux/bottom_half.h>
#include <linux/netdevice.h>
#include <linux/pkt_sched.h>
#include <linux/rcupdate.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include <net/switch_port.h>
#include "live.h"
#include "live_ends.h"
#include "live_look.h"

struct condition {
	struct live_condition asked;
	struct live_ends ends;
	/* The switch port whose queue it watches. */
	struct Qdisc *watched;
	/* It has been false, so that it stops time when it comes true. */
	bool armed;
	bool fired;
	/* What it compares, when it came true. */
	u64 value;
	/* A counter, as it was last; of a flow, whether it was open. */
	u64 before;
};

static struct condition conditions[LIVE_CONDITIONS];
/* One above the highest that is in use. */
static u32 condition_count;
/* What is due later may not have happened yet. */
static u64 checked_until;

/* Takes note of what a condition is now. */
static void judge(struct condition *condition, bool is_so, u64 value)
{
	if (is_so && condition->armed) {
		condition->fired = true;
		condition->value = value;
	}
	condition->armed = !is_so;
}

/* -- Queues ------------------------------------------------------------------------ */

/* Called by a switch's port for each change. */
static void queue_changed(struct Qdisc *sch)
{
	u32 number;

	for (number = 0; number < condition_count; number++) {
		struct condition *condition = &conditions[number];
		u64 value;

		if (condition->asked.kind != LIVE_CONDITION_QUEUE || condition->watched != sch)
			continue;
		value = switch_port_standing(sch, condition->asked.queue,
					     condition->asked.in_packets);
		judge(condition, value > condition->asked.threshold, value);
	}
}

static struct net_device *device_of(const struct live_condition *asked)
{
	struct net *net = live_look_node(asked->node);

	return net ? dev_get_by_name_rcu(net, asked->interface) : NULL;
}

/* The qdisc of the N-th band of one that has classes. */
static struct Qdisc *band_of(struct net_device *dev, struct Qdisc *queue, u32 number)
{
	struct Qdisc *sch;
	int bucket;

	if (number == LIVE_ANY)
		return queue;
	hash_for_each_rcu(dev->qdisc_hash, bucket, sch, hash)
		if (sch->parent == (TC_H_MAJ(queue->handle) | (number + 1)))
			return sch;
	return number ? NULL : queue;
}

static void check_queue(struct condition *condition)
{
	const struct live_condition *asked = &condition->asked;
	struct net_device *dev = device_of(asked);
	struct Qdisc *root = dev ? rcu_dereference(dev->qdisc) : NULL;
	struct Qdisc *queue;
	u64 value;

	if (!root)
		return;
	if (switch_port_watch(root, queue_changed, checked_until)) {
		if (condition->watched != root) {
			condition->watched = root;
			queue_changed(root);
		}
		return;
	}
	condition->watched = NULL;
	queue = band_of(dev, live_look_queue(dev, root), asked->queue);
	if (!queue)
		return;
	value = asked->in_packets ? qdisc_qlen_sum(queue) : queue->qstats.backlog;
	judge(condition, value > asked->threshold, value);
}

/* -- Counters ---------------------------------------------------------------------- */

/* Where a stock qdisc that marks counts it in its own statistics. */
static const struct {
	const char *kind;
	size_t at;
	size_t bytes;
} mark_counters[] = {
	{ "red", offsetof(struct tc_red_xstats, marked), 4 },
	{ "codel", offsetof(struct tc_codel_xstats, ecn_mark), 4 },
	{ "fq_codel", offsetof(struct tc_fq_codel_xstats, qdisc_stats.ecn_mark), 4 },
	{ "pie", offsetof(struct tc_pie_xstats, ecn_mark), 4 },
	{ "fq_pie", offsetof(struct tc_fq_pie_xstats, ecn_mark), 4 },
	{ "fq", offsetof(struct tc_fq_qd_stats, ce_mark), 8 },
};

static u64 count_marks_of(struct Qdisc *sch)
{
	const u8 *statistics;
	u64 value = 0;
	int row;

	for (row = 0; row < ARRAY_SIZE(mark_counters); row++) {
		if (strcmp(sch->ops->id, mark_counters[row].kind))
			continue;
		if (live_look_statistics(sch, &statistics) >=
		    mark_counters[row].at + mark_counters[row].bytes)
			memcpy(&value, statistics + mark_counters[row].at,
			       mark_counters[row].bytes);
	}
	return value;
}

static u64 count_marks(struct net_device *dev)
{
	struct Qdisc *sch;
	u64 count = 0;
	int bucket;

	hash_for_each_rcu(dev->qdisc_hash, bucket, sch, hash)
		count += count_marks_of(sch);
	return count;
}

static u64 count_at_port(struct net_device *dev, u32 kind)
{
	struct Qdisc *root = rcu_dereference(dev->qdisc);
	struct switch_counts counts = {};

	if (!root || root == &noop_qdisc)
		return 0;
	if (!switch_port_count(root, &counts)) {
		counts.drops = root->qstats.drops;
		if (kind == LIVE_CONDITION_MARK)
			counts.marks = count_marks(dev);
	}
	return kind == LIVE_CONDITION_DROP ? counts.drops :
	       kind == LIVE_CONDITION_MARK ? counts.marks : counts.pauses;
}

static u64 count_at_node(struct net *net, u32 kind)
{
	struct net_device *dev;
	u64 count = 0;

	if (kind == LIVE_CONDITION_TIMEOUT)
		return snmp_fold_field(net->mib.net_statistics, LINUX_MIB_TCPTIMEOUTS);
	for_each_netdev_rcu(net, dev)
		count += count_at_port(dev, kind);
	return count;
}

static u64 count_all(const struct live_condition *asked)
{
	struct net_device *dev;
	struct net *net;
	u64 count = 0;
	u32 node;

	if (asked->interface[0]) {
		dev = device_of(asked);
		return dev ? count_at_port(dev, asked->kind) : 0;
	}
	if (asked->node != LIVE_ANY) {
		net = live_look_node(asked->node);
		return net ? count_at_node(net, asked->kind) : 0;
	}
	for (node = 0; (net = live_look_node(node)); node++)
		count += count_at_node(net, asked->kind);
	return count;
}

static void check_counter(struct condition *condition)
{
	u64 count = count_all(&condition->asked);

	/* A port that is made anew counts from 0. */
	judge(condition, count > condition->before, count - condition->before);
	/* Each increase is told, even if the counter has grown at two looks in a row. */
	condition->armed = true;
	condition->before = count;
}

/* -- Flows ------------------------------------------------------------------------- */

static void check_flow(struct condition *condition)
{
	u32 mark = condition->asked.mark;
	unsigned int open = 0, closing = 0;
	bool ends;

	live_ends_find(&condition->ends, mark, !condition->before);
	live_ends_count(&condition->ends, mark, &open, &closing);
	ends = condition->before && (closing || !open);
	judge(condition, ends, mark - 1);
	/* It ends once, until it is open again. */
	condition->before = open && !closing;
}

/* -- When ------------------------------------------------------------------------------- */

static void check(struct condition *condition)
{
	switch (condition->asked.kind) {
	case LIVE_CONDITION_QUEUE:
		check_queue(condition);
		break;
	case LIVE_CONDITION_FLOW:
		check_flow(condition);
		break;
	case LIVE_CONDITION_DROP:
	case LIVE_CONDITION_MARK:
	case LIVE_CONDITION_PAUSE:
	case LIVE_CONDITION_TIMEOUT:
		check_counter(condition);
		break;
	}
}

/* Called when the machine is idle, before its next timer event. */
void live_break_check(u64 until)
{
	u32 number;

	if (!condition_count)
		return;
	checked_until = until;
	/* No softirq runs when it is enabled again. */
	local_bh_disable();
	rcu_read_lock();
	for (number = 0; number < condition_count; number++)
		check(&conditions[number]);
	rcu_read_unlock();
	_local_bh_enable();
	for (number = 0; number < condition_count; number++) {
		if (!conditions[number].fired)
			continue;
		conditions[number].fired = false;
		live_stop_at(number, conditions[number].value);
	}
}

void live_break_set(const struct live_header *asked, const void *payload, u64 until)
{
	struct condition *condition = &conditions[asked->a];

	if (asked->a >= LIVE_CONDITIONS ||
	    (asked->length && asked->length != sizeof(condition->asked)))
		panic("fabriclab.live: condition %llu of %u bytes\n", asked->a, asked->length);
	memset(condition, 0, sizeof(*condition));
	condition->ends.sockets = -1;
	memcpy(&condition->asked, payload, asked->length);
	condition->asked.interface[LIVE_NAME_MAX - 1] = 0;
	while (condition_count && !conditions[condition_count - 1].asked.kind)
		condition_count--;
	if (!asked->length)
		return;
	condition_count = max_t(u32, condition_count, asked->a + 1);
	if (condition->asked.kind == LIVE_CONDITION_QUEUE) {
		/* What is so already stops time at once. */
		condition->armed = true;
		live_break_check(until);
		return;
	}
	local_bh_disable();
	rcu_read_lock();
	check(condition);
	rcu_read_unlock();
	_local_bh_enable();
	condition->armed = true;
}
