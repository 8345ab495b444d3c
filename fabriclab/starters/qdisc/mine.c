// SPDX-License-Identifier: GPL-2.0
/*
 * mine: a qdisc of your own, to begin with: the queue of a port.
 *
 * It is a drop-tail queue with one threshold: what finds more bytes than that
 * waiting is marked (ECN), or queued all the same where its sender knows no ECN.
 * What finds the buffer full is dropped.
 *
 * It is written like Linux's own, net/sched/sch_*.c: those are the best examples
 * (sch_fifo.c, sch_codel.c), and include/net/sch_generic.h (struct Qdisc_ops)
 * says what each function is for. A line (tbf) and a delay (netem) stand before
 * it already: it only says which packet is next, which is marked, which dropped.
 */
#include <linux/module.h>
#include <net/inet_ecn.h>
#include <net/own_qdisc.h>
#include <net/pkt_sched.h>

/* What each port has. */
struct mine {
	u64	buffer;		/* bytes, of the lab's `buffer` or `queue` */
	u64	threshold;	/* bytes, of the lab's options */
	u32	marks;
};

/* A packet comes: queue it, or drop it. */
static int mine_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	struct mine *q = qdisc_priv(sch);

	if (sch->qstats.backlog + qdisc_pkt_len(skb) > q->buffer)
		return qdisc_drop(skb, sch, to_free);
	if (sch->qstats.backlog >= q->threshold && INET_ECN_set_ce(skb))
		q->marks++;
	return qdisc_enqueue_tail(skb, sch);
}

/* What the lab says: `options: "threshold 30KB"`. Called once, and when it changes while the lab runs. */
static int mine_change(struct Qdisc *sch, struct nlattr *options,
		       struct netlink_ext_ack *extack)
{
	struct mine *q = qdisc_priv(sch);
	const struct own_option known[] = {
		{ "buffer", &q->buffer },
		{ "threshold", &q->threshold },
	};

	return own_options(options, known, ARRAY_SIZE(known), extack);
}

static int mine_init(struct Qdisc *sch, struct nlattr *options,
		     struct netlink_ext_ack *extack)
{
	struct mine *q = qdisc_priv(sch);

	q->buffer = 100000;
	q->threshold = 30000;
	return mine_change(sch, options, extack);
}

/* The number of marks, for the column `marks` of the results. */
static int mine_dump_stats(struct Qdisc *sch, struct gnet_dump *dump)
{
	struct mine *q = qdisc_priv(sch);

	return own_dump_marks(dump, q->marks);
}

static struct Qdisc_ops mine_qdisc_ops __read_mostly = {
	/* At most 15 characters. */
	.id		= "mine",
	.priv_size	= sizeof(struct mine),
	.enqueue	= mine_enqueue,
	/* First in, first out: the head of the queue is next. */
	.dequeue	= qdisc_dequeue_head,
	.peek		= qdisc_peek_head,
	.init		= mine_init,
	.change		= mine_change,
	.reset		= qdisc_reset_queue,
	.dump_stats	= mine_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init mine_register(void)
{
	return register_qdisc(&mine_qdisc_ops);
}

module_init(mine_register);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A qdisc to begin with");
