// SPDX-License-Identifier: GPL-2.0
/*
 * The qdisc "switch_port": the root qdisc of a device that makes it a port of a switch.
 * Glue between the qdisc core and the port; the classes of the qdisc are its eight
 * queues and eight priority groups, for their statistics.
 */
#include <linux/init.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/gso.h>
#include <net/netlink.h>

#include "switch.h"

/* -- Data path --------------------------------------------------------------------------------- */

static int switch_enqueue_frame(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct switch_port *port = qdisc_priv(sch);
	struct switch_chip *chip = port->chip;
	u64 now = switch_chip_lock(chip);
	int verdict = switch_port_enqueue(port, skb, now);

	switch_port_sync_stats(port);
	switch_chip_unlock(chip);
	if (verdict != NET_XMIT_SUCCESS)
		__qdisc_drop(skb, to_free);
	return verdict;
}

/*
 * A line sends frames, and TCP makes GSO frames of many whatever the device's features
 * are (net/core/sock.c, sk_setup_caps()). As in net/sched/sch_tbf.c, tbf_segment().
 */
static int switch_enqueue_segments(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb) & ~NETIF_F_GSO_MASK;
	struct sk_buff *segment = skb_gso_segment(skb, features), *next;
	int verdict = NET_XMIT_DROP;

	if (IS_ERR_OR_NULL(segment))
		return qdisc_drop(skb, sch, to_free);
	skb_list_walk_safe(segment, segment, next) {
		skb_mark_not_on_list(segment);
		switch_set_frame_length(segment);
		if (switch_enqueue_frame(segment, sch, to_free) == NET_XMIT_SUCCESS)
			verdict = NET_XMIT_SUCCESS;
	}
	consume_skb(skb);
	return verdict;
}

/* Brings what the qdisc core counts up to the present. */
static void switch_qdisc_sync(struct switch_port *port)
{
	switch_chip_lock(port->chip);
	switch_port_sync_stats(port);
	switch_chip_unlock(port->chip);
}

static int switch_qdisc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct switch_port *port = qdisc_priv(sch);

	if (port->has_front) {
		int verdict = switch_nic_enqueue(port, skb, to_free);

		switch_qdisc_sync(port);
		return verdict;
	}
	return skb_is_gso(skb) ? switch_enqueue_segments(skb, sch, to_free) :
				 switch_enqueue_frame(skb, sch, to_free);
}

static struct sk_buff *switch_qdisc_dequeue(struct Qdisc *sch)
{
	struct switch_port *port = qdisc_priv(sch);
	struct switch_chip *chip = port->chip;
	struct sk_buff *skb;
	u64 now;

	if (port->has_front)
		switch_nic_fill(port);
	now = switch_chip_lock(chip);
	skb = switch_port_arrive(port, now);
	switch_port_sync_stats(port);
	switch_chip_unlock(chip);
	if (skb)
		qdisc_bstats_update(sch, skb);
	return skb;
}

static void switch_qdisc_reset(struct Qdisc *sch)
{
	struct switch_port *port = qdisc_priv(sch);
	struct switch_chip *chip = port->chip;
	u64 now;

	if (!chip)
		return;
	switch_nic_reset(port);
	now = switch_chip_lock(chip);
	switch_port_reset(port, now);
	switch_port_sync_stats(port);
	switch_chip_unlock(chip);
	qdisc_watchdog_cancel(&port->watchdog);
}

/* -- Life -------------------------------------------------------------------------------------- */

static int switch_qdisc_init(struct Qdisc *sch, struct nlattr *options,
			     struct netlink_ext_ack *extack)
{
	struct switch_port *port = qdisc_priv(sch);
	struct switch_chip *chip;

	if (sch->parent != TC_H_ROOT) {
		NL_SET_ERR_MSG(extack, "a switch port is the root of its device");
		return -EOPNOTSUPP;
	}
	port->sch = sch;
	timerqueue_init(&port->event);
	INIT_LIST_HEAD(&port->limiters);
	prandom_seed_state(&port->random, get_random_u64());
	qdisc_watchdog_init(&port->watchdog, sch);
	qdisc_watchdog_init(&port->refill, sch);
	switch_port_set_defaults(port);
	chip = switch_chip_join(port, extack);
	if (IS_ERR(chip))
		return PTR_ERR(chip);
	port->chip = chip;
	return switch_port_configure(port, options, true, extack);
}

static int switch_qdisc_change(struct Qdisc *sch, struct nlattr *options,
			       struct netlink_ext_ack *extack)
{
	return switch_port_configure(qdisc_priv(sch), options, false, extack);
}

/* Also after an init that failed. */
static void switch_qdisc_destroy(struct Qdisc *sch)
{
	struct switch_port *port = qdisc_priv(sch);

	if (!port->chip)
		return;
	switch_pacer_destroy(port);
	roce_nic_destroy(port);
	switch_qdisc_reset(sch);
	switch_port_unconfigure(port);
	switch_chip_leave(port);
	/* Until then a frame that another port lets go could arm it. */
	qdisc_watchdog_cancel(&port->watchdog);
	switch_nic_destroy(port);
}

/* -- Netlink ----------------------------------------------------------------------------------- */

static int switch_qdisc_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct switch_port *port = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);

	if (!nest || switch_port_dump_config(port, skb))
		return -1;
	nla_nest_end(skb, nest);
	switch_qdisc_sync(port);
	return skb->len;
}

static int switch_qdisc_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct switch_port *port = qdisc_priv(sch);
	struct tc_switch_port_xstats stats;

	switch_chip_lock(port->chip);
	switch_port_sync_stats(port);
	switch_port_read_stats(port, &stats);
	switch_chip_unlock(port->chip);
	return gnet_stats_copy_app(dump, &stats, sizeof(stats));
}

/* -- Classes: a queue's or a priority group's number is the low part of the class id ----------- */

static int switch_class_queue(unsigned long class)
{
	return class >= TC_SWITCH_QUEUE_CLASS && class < TC_SWITCH_QUEUE_CLASS + SWITCH_QUEUES ?
	       class - TC_SWITCH_QUEUE_CLASS : -1;
}

static int switch_class_group(unsigned long class)
{
	return class >= TC_SWITCH_GROUP_CLASS && class < TC_SWITCH_GROUP_CLASS + SWITCH_QUEUES ?
	       class - TC_SWITCH_GROUP_CLASS : -1;
}

static int switch_class_front(unsigned long class)
{
	return class >= TC_SWITCH_FRONT_CLASS && class < TC_SWITCH_FRONT_CLASS + SWITCH_QUEUES ?
	       class - TC_SWITCH_FRONT_CLASS : -1;
}

static unsigned long switch_class_find(struct Qdisc *sch, u32 class_id)
{
	unsigned long class = TC_H_MIN(class_id);

	if (switch_class_queue(class) >= 0 || switch_class_group(class) >= 0 ||
	    switch_class_front(class) >= 0)
		return class;
	return 0;
}

static struct Qdisc *switch_class_leaf(struct Qdisc *sch, unsigned long class)
{
	struct switch_port *port = qdisc_priv(sch);
	int front = switch_class_front(class);

	return front >= 0 ? port->front[front] : NULL;
}

static int switch_class_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new,
			      struct Qdisc **old, struct netlink_ext_ack *extack)
{
	int front = switch_class_front(class);

	if (front < 0) {
		NL_SET_ERR_MSG(extack, "a qdisc stands in front of a queue: 1:21 to 1:28");
		return -EOPNOTSUPP;
	}
	if (new && !((struct switch_port *)qdisc_priv(sch))->config.ring_bytes) {
		NL_SET_ERR_MSG(extack, "a qdisc in front of a queue needs a ring");
		return -EINVAL;
	}
	switch_nic_graft(qdisc_priv(sch), front, new, old);
	return 0;
}

/* Whether there is something to tell of a queue, or of a priority group. */
bool switch_queue_in_use(const struct switch_port *port, int queue)
{
	return port->config.queue[queue].configured || port->queue[queue].stats.watermark_bytes;
}

bool switch_group_in_use(const struct switch_port *port, int group)
{
	return port->config.group[group].configured || port->ingress->group[group].watermark;
}

static bool switch_class_in_use(struct switch_port *port, unsigned long class)
{
	int queue = switch_class_queue(class), group = switch_class_group(class);

	if (queue >= 0)
		return switch_queue_in_use(port, queue);
	return group >= 0 && switch_group_in_use(port, group);
}

static void switch_class_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	unsigned long class;

	if (walker->stop)
		return;
	for (class = TC_SWITCH_QUEUE_CLASS; class < TC_SWITCH_GROUP_CLASS + SWITCH_QUEUES; class++)
		if (switch_class_in_use(qdisc_priv(sch), class) &&
		    !tc_qdisc_stats_dump(sch, class, walker))
			break;
}

static int switch_class_dump(struct Qdisc *sch, unsigned long class, struct sk_buff *skb,
			     struct tcmsg *message)
{
	struct switch_port *port = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	int queue = switch_class_queue(class);

	message->tcm_parent = TC_H_ROOT;
	message->tcm_handle |= class;
	if (!nest)
		return -EMSGSIZE;
	if (queue >= 0 ? switch_queue_dump_config(port, queue, skb) :
			 switch_group_dump_config(port, switch_class_group(class), skb))
		return -EMSGSIZE;
	return nla_nest_end(skb, nest);
}

static u64 switch_sum_drops(const struct tc_switch_queue_xstats *stats)
{
	u64 drops = 0;
	int cause;

	for (cause = 0; cause < TC_SWITCH_DROPS; cause++)
		drops += stats->drops[cause];
	return drops;
}

static int switch_class_copy(struct gnet_dump *dump, u64 sent_bytes, u64 sent_packets,
			     struct gnet_stats_queue *queue, void *stats, int size)
{
	struct gnet_stats_basic_sync basic;

	gnet_stats_basic_sync_init(&basic);
	_bstats_update(&basic, sent_bytes, sent_packets);
	if (gnet_stats_copy_basic(dump, NULL, &basic, false) < 0 ||
	    gnet_stats_copy_queue(dump, NULL, queue, queue->qlen) < 0)
		return -1;
	return gnet_stats_copy_app(dump, stats, size);
}

static int switch_queue_class_stats(struct switch_port *port, int number, struct gnet_dump *dump)
{
	struct tc_switch_queue_xstats stats;
	struct gnet_stats_queue queue = {};

	switch_queue_read_stats(port, number, switch_chip_lock(port->chip), &stats);
	switch_chip_unlock(port->chip);
	queue.qlen = stats.packets;
	queue.backlog = stats.bytes;
	queue.drops = switch_sum_drops(&stats);
	return switch_class_copy(dump, stats.sent_bytes, stats.sent_packets, &queue, &stats,
				 sizeof(stats));
}

static int switch_group_class_stats(struct switch_port *port, int number, struct gnet_dump *dump)
{
	struct tc_switch_group_xstats stats;
	struct gnet_stats_queue queue = {};

	switch_group_read_stats(port, number, switch_chip_lock(port->chip), &stats);
	switch_chip_unlock(port->chip);
	queue.backlog = stats.bytes;
	queue.drops = stats.discards;
	return switch_class_copy(dump, stats.received_bytes, stats.received_packets, &queue, &stats,
				 sizeof(stats));
}

static int switch_class_dump_stats(struct Qdisc *sch, unsigned long class, struct gnet_dump *dump)
{
	struct switch_port *port = qdisc_priv(sch);
	int queue = switch_class_queue(class);

	return queue >= 0 ? switch_queue_class_stats(port, queue, dump) :
			    switch_group_class_stats(port, switch_class_group(class), dump);
}

static const struct Qdisc_class_ops switch_class_ops = {
	.find = switch_class_find,
	.leaf = switch_class_leaf,
	.graft = switch_class_graft,
	.walk = switch_class_walk,
	.dump = switch_class_dump,
	.dump_stats = switch_class_dump_stats,
};

static struct Qdisc_ops switch_qdisc_ops __read_mostly = {
	.id = "switch_port",
	.priv_size = sizeof(struct switch_port),
	.cl_ops = &switch_class_ops,
	.enqueue = switch_qdisc_enqueue,
	.dequeue = switch_qdisc_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = switch_qdisc_init,
	.reset = switch_qdisc_reset,
	.destroy = switch_qdisc_destroy,
	.change = switch_qdisc_change,
	.dump = switch_qdisc_dump,
	.dump_stats = switch_qdisc_dump_stats,
	.owner = THIS_MODULE,
};

/* The port that a qdisc is, or NULL. */
struct switch_port *switch_port_of_qdisc(struct Qdisc *sch)
{
	return sch && sch->ops == &switch_qdisc_ops ? qdisc_priv(sch) : NULL;
}

/* The port that a device is, or NULL. Under rcu_read_lock(). */
struct switch_port *switch_port_of_device(struct net_device *dev)
{
	return switch_port_of_qdisc(rcu_dereference(dev->qdisc));
}

static int __init switch_port_register(void)
{
	int error = switch_sharing_register() ?: switch_chips_register() ?:
		    switch_events_register() ?:
		    register_qdisc(&switch_qdisc_ops) ?: roce_register();

	if (!error) {
		switch_pause_register();
		switch_qcn_register();
	}
	return error;
}
device_initcall(switch_port_register);
